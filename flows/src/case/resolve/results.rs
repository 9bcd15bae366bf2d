//! The names of all results, none of them twice.

use super::resolver::Resolver;
use crate::case::diag::{self, Span};
use crate::case::resolved::Case;
use crate::case::results::{ResultName, Results};
use crate::case::vtk::Vtk;

impl Resolver<'_> {
    /// Names of the files that a run of the case writes; two things with one name are an error.
    pub(super) fn results(&mut self, case: &Case) -> Results {
        let (raw, output) = (self.raw, &case.output);
        let mut results = Results::of_all();
        let fixed = |wanted: bool, names: &[&str]| -> Vec<ResultName> {
            names.iter().filter(|_| wanted).map(|name| ResultName::one(*name)).collect()
        };
        let format = output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim));
        // Fields that are not finite are written even where none are asked for.
        let mut own = vec![ResultName::sequence("fields", &format!(".{}", format.ending()))];
        own.extend(fixed(true, &["fields.pvd", "fields.vtkhdf.series"]));
        own.extend(fixed(output.profiles, &["profile_x.csv", "profile_y.csv", "profile_z.csv", "profiles.png"]));
        own.extend(fixed(case.stop.steady.is_some(), &["residual.csv", "residual.png"]));
        own.extend(fixed(output.series.is_some(), &["series.csv", "series.png"]));
        own.extend(fixed(output.forces.is_some(), &["forces.csv", "forces.png"]));
        own.extend(fixed(output.heat.is_some(), &["heat.csv"]));
        own.extend(fixed(!output.fluxes.is_empty(), &["fluxes.csv"]));
        own.extend(fixed(output.picture, &["velocity.png", "vorticity.png"]));
        own.extend(fixed(case.gradient.is_some(), &["gradient.json"]));
        own.extend(case.gradient.iter().map(|_| ResultName::one(format!("gradient.{}", format.ending()))));
        let varying = case.walls.iter().filter(|wall| !wall.formulas.is_empty() && case.gradient.is_some());
        own.extend(varying.map(|wall| ResultName::one(format!("gradient_{}.csv", wall.face.name()))));
        if output.picture {
            let drawn = self.manifest.fields.iter().filter(|field| field.components == 1 && field.is_own());
            own.extend(drawn.map(|field| ResultName::one(format!("{}.png", field.name))));
        }
        if let Some(surfaces) = &output.surfaces {
            for body in case.bodies() {
                let ending = if case.dim == 3 { ".vtp" } else { ".csv" };
                own.push(ResultName::sequence(format!("surface_{}", body.solid), ending));
                let sections = 1..=surfaces.sections.len();
                own.extend(sections.map(|at| ResultName::sequence(format!("section_{}_{at}", body.solid), ".csv")));
            }
            for wall in case.walls.iter().filter(|wall| wall.has_friction(case.size)) {
                let ending = if case.dim == 3 { ".vtp" } else { ".csv" };
                own.push(ResultName::sequence(format!("face_{}", wall.face.name()), ending));
            }
        }
        for name in own {
            // A field of the method may be called as a picture of all methods.
            results.add(name);
        }

        for (given, probe) in raw.probes.iter().zip(&output.probes) {
            let begin = format!("probe_{}", probe.name);
            let names = match probe.grid {
                None => vec![ResultName::one(begin + ".csv")],
                Some(_) => vec![ResultName::one(format!("{begin}.pvd")), ResultName::sequence(begin, ".vti")],
            };
            self.take(&mut results, names, &given.value.name.span, &probe.name);
        }
        for (given, recording) in raw.recordings.iter().zip(&output.recordings) {
            let names = vec![ResultName::one(recording.file_name())];
            self.take(&mut results, names, &given.value.name.span, &recording.name);
        }
        for (given, of) in raw.statistics.iter().zip(&output.statistics) {
            self.take(&mut results, vec![ResultName::one(of.file_name(format))], &given.value.name.span, &of.name);
        }
        let of_pictures = raw.pictures.iter().map(|given| (given.value.frames(), &given.span));
        let given = of_pictures.chain(raw.views.iter().map(|given| (given.value.frames(), &given.span)));
        for ((given, span), frames) in given.zip(output.frames()) {
            let mut names = vec![match frames.every {
                Some(_) => ResultName::sequence(&frames.name, ".png"),
                None => ResultName::one(frames.file_name(0)),
            }];
            names.extend(frames.film.map(|_| ResultName::one(frames.film_name())));
            let span = given.name.as_ref().map_or(span, |name| &name.span);
            self.take(&mut results, names, span, &frames.name);
        }
        results
    }

    /// Adds names of what is called `name` in the case; that there are such already is an error.
    fn take(&mut self, results: &mut Results, names: Vec<ResultName>, span: &Span, name: &str) {
        for taken in names.into_iter().filter_map(|file| (!results.add(file.clone())).then_some(file)) {
            let message = format!("two results of this case would be the file `{taken}`: one is called `{name}`");
            let help = "give one of them another `name`".to_string();
            self.report.add::<()>(diag::CONFLICT, span, message, "taken", help);
        }
    }
}
