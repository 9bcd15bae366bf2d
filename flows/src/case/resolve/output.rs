//! When to stop and what to write.

use super::resolver::{Resolver, axis_name, short};
use crate::case::diag::{self, Spanned};
use crate::case::heat::Scalar;
use crate::case::keys::output::RawVtk;
use crate::case::keys::values::{Interval, RawSlice};
use crate::case::output::Output;
use crate::case::quantity::Quantity;
use crate::case::reference::{self, Reference};
use crate::case::resolved::Scales;
use crate::case::slice::Slice;
use crate::case::solids::Surfaces;
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};
use crate::case::vtk::Vtk;
use crate::case::words;

/// Part of an interval by which it may differ, unreported, from the whole steps that it is rounded to.
const ROUNDED: f64 = 1e-3;

impl Resolver<'_> {
    /// The first step of means, which the run should reach.
    fn average_from(&mut self, units: &Units, stop: Stop) -> Option<u64> {
        let given = self.raw.output.average_from.as_ref()?;
        let from = self.interval(given, units)?;
        if from > stop.steps {
            let message = format!("means would begin at step {from}; the run ends at step {}", stop.steps);
            let help = "begin earlier, or take more steps".to_string();
            self.report.add::<()>(diag::NO_SAMPLES, &given.span, message, "after the end", help);
        }
        Some(from)
    }

    /// What is written, but for lists: probes, pictures, views, statistics, fluxes and reports. Faces may be walls that have friction.
    pub(super) fn output(
        &mut self,
        size: [usize; 3],
        units: &Units,
        scales: &Scales,
        stop: Stop,
        has_walls: bool,
    ) -> Output {
        let raw = &self.raw.output;
        let vtk = raw.vtk.as_ref().map(|vtk| self.vtk(vtk));
        // What is observed is written where it is asked for.
        let observes = !self.manifest.fields.iter().all(lbm_bundle::Field::is_own);
        let fields = match &raw.fields {
            Some(names) => self.quantities(names),
            None => observes.then(|| Quantity::of_method(self.manifest)),
        };
        let slice = raw.slice.as_ref().and_then(|slice| self.slice(slice, size, units));
        if let Some(grid) = &raw.grid {
            self.has_levels(grid);
        }
        Output {
            directory: match &raw.directory {
                Some(directory) => directory.value.clone(),
                None => format!("out/{}", self.raw.title()),
            },
            profiles: raw.profiles,
            picture: raw.picture,
            slice,
            grid: raw.grid.as_ref().is_none_or(|grid| grid.value),
            vtk,
            fields,
            every: raw.every.as_ref().and_then(|every| self.interval(every, units)),
            series: raw.series.as_ref().and_then(|every| self.interval(every, units)),
            restart: raw.restart.as_ref().and_then(|every| self.interval(every, units)),
            forces: self.forces(units),
            heat: self.heat(units),
            surfaces: self.surfaces(size, units, scales, has_walls),
            compare: raw.compare.as_ref().and_then(|name| self.compare(name, scales.re)),
            average_from: self.average_from(units, stop),
            ..Output::default()
        }
    }

    fn vtk(&mut self, vtk: &Spanned<RawVtk>) -> Vtk {
        let refined = self.raw.refinement.is_some();
        match (vtk.value, refined) {
            (RawVtk::Amr, true) => return Vtk::Amr,
            (RawVtk::Unstructured, true) => return Vtk::Unstructured,
            (RawVtk::Default, _) => {}
            _ => {
                let message = "a format of fields has no effect on a grid of one level, which is image data";
                let help = "write `vtk = true`".to_string();
                self.report.add::<()>(diag::NO_EFFECT, &vtk.span, message, "has no effect", help);
            }
        }
        Vtk::default_for(refined, self.dim)
    }

    fn slice(&mut self, slice: &Spanned<RawSlice>, size: [usize; 3], units: &Units) -> Option<Slice> {
        if self.dim == 3 && !self.raw.output.picture {
            let (message, help) = ("`slice` has no effect without `picture`", "add `picture = true`".to_string());
            return self.report.add(diag::NO_EFFECT, &slice.span, message, "has no effect", help);
        }
        self.plane(slice, size, units)
    }

    fn section(&mut self, plane: &Spanned<RawSlice>, size: [usize; 3], units: &Units) -> Option<Slice> {
        if self.dim == 2 {
            let message = "`sections` has no effect in two dimensions";
            let help = "take it away: `surfaces` writes the contour".to_string();
            return self.report.add(diag::NO_EFFECT, &plane.span, message, "has no effect", help);
        }
        self.plane(plane, size, units)
    }

    /// A plane through the domain.
    pub(super) fn plane(&mut self, slice: &Spanned<RawSlice>, size: [usize; 3], units: &Units) -> Option<Slice> {
        if self.dim == 2 {
            let message = "`slice` has no effect in two dimensions";
            let help = "take it away: the plane is the domain".to_string();
            return self.report.add(diag::NO_EFFECT, &slice.span, message, "has no effect", help);
        }
        let RawSlice { normal, at } = &slice.value;
        let (at, cells) = (at.value / units.scale(Dimension::LENGTH), size[*normal]);
        if (0.0..=cells as f64).contains(&at) {
            return Some(Slice { normal: *normal, at });
        }
        let message = format!("the slice lies {} cells along {}, outside the domain", short(at), axis_name(*normal));
        let help = format!("the domain has 0 to {cells} cells along {}", axis_name(*normal));
        self.report.add(diag::OUTSIDE, &slice.value.at.span, message, "outside", help)
    }

    /// An interval in steps: of a time, the number nearest to it.
    pub(super) fn interval(&mut self, interval: &Spanned<Interval>, units: &Units) -> Option<u64> {
        let seconds = match interval.value {
            Interval::Steps(steps) => return Some(steps),
            Interval::Seconds(seconds) => seconds,
        };
        let steps = (seconds / units.step).round();
        if steps >= 1.0 {
            let rounded = steps * units.step;
            if (rounded / seconds - 1.0).abs() > ROUNDED {
                let message = format!(
                    "{} s are no whole number of time steps of {} s, and rounded to {} s",
                    short(seconds),
                    short(units.step),
                    short(rounded)
                );
                let help = format!("for whole steps: `[units] step = \"{} s\"`", short(seconds / steps));
                let label = format!("{steps} steps");
                self.report.add::<()>(diag::ROUNDED, &interval.span, message, label, help);
            }
            return Some(steps as u64);
        }
        let message = format!("{} s are less than a time step, which is {} s", short(seconds), short(units.step));
        let help = "give a longer time, or a number of steps without a unit: `every = 1`".to_string();
        self.report.add(diag::BAD_VALUE, &interval.span, message, "less than a step", help)
    }

    fn forces(&mut self, units: &Units) -> Option<u64> {
        let every = self.raw.output.forces.as_ref()?;
        if self.raw.solids.is_empty() {
            let help = "only solids have forces: add `[[solids]]`".to_string();
            return self.report.add(diag::NO_EFFECT, &every.span, "`forces` has no effect", "has no effect", help);
        }
        self.interval(every, units)
    }

    fn heat(&mut self, units: &Units) -> Option<u64> {
        let every = self.raw.output.heat.as_ref()?;
        if self.raw.solids.is_empty() {
            let help = "add `[[solids]]`; what flows through faces is in `[[fluxes]]`".to_string();
            return self.report.add(diag::NO_EFFECT, &every.span, "`heat` has no effect", "has no effect", help);
        }
        if Scalar::all(self.manifest).is_empty() {
            let message =
                format!("`heat` has no effect: `{}` carries no temperature or other scalar", self.manifest.spec);
            let help = super::resolver::WITH_SCALARS.to_string();
            return self.report.add(diag::NO_EFFECT, &every.span, message, "has no effect", help);
        }
        self.interval(every, units)
    }

    fn surfaces(&mut self, size: [usize; 3], units: &Units, scales: &Scales, has_walls: bool) -> Option<Surfaces> {
        let every = self.raw.output.surfaces.as_ref()?;
        if self.raw.solids.is_empty() && !has_walls {
            let help = "solids, and faces that are walls, have surfaces: add `[[solids]]`".to_string();
            return self.report.add(diag::NO_EFFECT, &every.span, "`surfaces` has no effect", "has no effect", help);
        }
        let all = Quantity::all(self.manifest);
        let field = |name: &str| all.iter().find(|field| field.name() == name).cloned();
        let (Some(density), Some(pressure), Some(velocity)) = (field("density"), field("pressure"), field("velocity"))
        else {
            let message =
                format!("`surfaces` has no effect: `{}` has no density `rho` and velocity `u`", self.manifest.spec);
            return self.report.add(diag::NO_EFFECT, &every.span, message, "has no effect", None);
        };
        if scales.viscosity.is_none() {
            let message = format!(
                "the pressure on solids is written and the friction is not: no number is the viscosity of `{}`",
                self.manifest.spec
            );
            let help = "forces have it: `output.forces`".to_string();
            self.report.add::<()>(diag::NO_FRICTION, &every.span, message, "without friction", help);
        }
        let raw = self.raw;
        let sections = raw.output.sections.iter().filter_map(|plane| self.section(plane, size, units)).collect();
        Some(Surfaces { every: self.interval(every, units)?, sections, density, pressure, velocity })
    }

    fn compare(&mut self, name: &Spanned<String>, re: Option<f64>) -> Option<Reference> {
        let names = reference::names();
        if !names.contains(&&name.value[..]) {
            let message = format!("there is no reference data `{}`", name.value);
            let help = words::suggest(&name.value, &names);
            return self.report.add(diag::UNKNOWN_WORD, &name.span, message, "unknown word", help);
        }
        let found = re.and_then(|re| reference::find(&name.value, self.dim, re));
        if found.is_none() {
            let tables: Vec<String> =
                reference::reynolds_numbers(&name.value, self.dim).iter().map(|re| format!("Re {re}")).collect();
            let help = match tables.is_empty() {
                true => format!("it has no data in {} dimensions", self.dim),
                false => format!("it has {}", tables.join(", ")),
            };
            let message = match re {
                Some(re) => format!("`{}` has no data for Re {}", name.value, short(re)),
                None => format!("`{}` needs a Reynolds number to choose by", name.value),
            };
            return self.report.add(diag::NO_REFERENCE, &name.span, message, "nothing to compare with", help);
        }
        let (needs, given) = match &found {
            Some(Reference::Profiles { .. }) => ("profiles = true", self.raw.output.profiles),
            _ => ("series = 100", self.raw.output.series.is_some()),
        };
        if !given {
            let message = format!("`{}` is compared with what `{needs}` writes", name.value);
            let help = format!("add `{needs}`");
            return self.report.add(diag::NO_EFFECT, &name.span, message, "has no effect", help);
        }
        found
    }
}
