//! What the flow starts from, and whether anything drives it.

use lbm_bundle::AtFace;

use super::resolver::{Grid, Resolver, Values, axis_name, short};
use crate::case::density::misfit;
use crate::case::diag;
use crate::case::formula::Formula;
use crate::case::keys::start::{RawGiven, RawStart};
use crate::case::samples::Placed;
use crate::case::solids::SolidBody;
use crate::case::start::{Start, StartField, StartValue};
use crate::case::units::{Dimension, Units};
use crate::case::varied::Place;
use crate::case::walls::{Wall, points};
use crate::case::words;

impl<'a> Resolver<'a> {
    /// The state at the start in the units of the case, checked on every cell, and its largest speed.
    pub(super) fn start(&mut self, Grid { size, cell }: Grid) -> Option<(Start, f64)> {
        let raw = self.raw;
        let own = || self.manifest.fields.iter().filter(|field| field.is_own());
        let keys: Vec<&str> = own().map(|field| start_key(&field.name)).collect();
        for given in &raw.start {
            let key = &given.key.value;
            if !keys.contains(&&key[..]) {
                let message = format!("{} has no field `{key}`", self.manifest.spec);
                let help = words::suggest(key, &keys);
                return self.report.add(diag::UNKNOWN_KEY, &given.key.span, message, "unknown field", help);
            }
            let RawGiven::Formulas(components) = &given.given else { continue };
            for component in components {
                if let Some(name) = component.value.beyond(self.dim) {
                    let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
                    return self.report.add(diag::WRONG_DIMENSION, &component.span, message, "no such axis", None);
                }
            }
        }
        let mut start = Start { fields: vec![] };
        for field in own() {
            let count = field.components as usize;
            let components = match self.started(&field.name) {
                Some(RawStart { given: RawGiven::Formulas(given), .. }) if given.len() == count => {
                    given.iter().map(|component| StartValue::Formula(component.value.on(size, cell))).collect()
                }
                Some(RawStart { given: RawGiven::Formulas(given), span, .. }) => {
                    let key = start_key(&field.name);
                    let message = format!("`{key}` has {count} components, not {}", given.len());
                    return self.report.add(diag::COMPONENTS, span, message, format!("{count} expected"), None);
                }
                Some(given) => self.of_file(given, count, size)?,
                None => {
                    let number = if field.name == "rho" { 1.0 } else { 0.0 };
                    vec![StartValue::Formula(Formula::number(number)); count]
                }
            };
            start.fields.push(StartField { name: field.name.clone(), components });
        }
        for field in self.manifest.fields.iter().filter(|field| field.place) {
            let formula = match self.raw.place(&field.name)?.1 {
                Place::Formula(formula) => formula.on(size, cell),
                // Known once solids are.
                Place::Mixing => Formula::number(0.0),
            };
            let components = vec![StartValue::Formula(formula)];
            start.fields.push(StartField { name: field.name.clone(), components });
        }
        let survey = start.survey(size);
        for wrong in &survey.wrong {
            let name = &start.fields[wrong.field].name;
            if let Some((varied, Place::Formula(formula))) = self.raw.place(name) {
                let message = format!("`{formula:?}`, a part of `{}`, is not finite everywhere", varied.param.name);
                self.report.add::<()>(diag::BAD_VALUE, &varied.raw.span, message, "not finite", None);
            }
            let Some(given) = self.started(name) else { continue };
            let place = match start.is_uniform() {
                true => String::new(),
                false => {
                    let cell = wrong.cell[..self.dim].iter().map(usize::to_string);
                    format!(" at cell ({})", cell.collect::<Vec<_>>().join(", "))
                }
            };
            let key = start_key(name);
            let span = match &given.given {
                RawGiven::Formulas(formulas) => &formulas[wrong.component].span,
                RawGiven::File { file, .. } => &file.span,
            };
            let several = start.fields[wrong.field].components.len() > 1;
            let (message, label) = if name == "rho" {
                (format!("the density must be positive, and is {}{place}", short(wrong.value)), "not positive")
            } else if several {
                (format!("the {key} along {} is not finite{place}", axis_name(wrong.component)), "not finite")
            } else {
                (format!("`{key}` is not finite{place}"), "not finite")
            };
            self.report.add::<()>(diag::BAD_VALUE, span, message, label, None);
        }
        survey.wrong.is_empty().then_some((start, survey.fastest))
    }

    /// What the case gives a field of the method at the start.
    fn started(&self, field: &str) -> Option<&'a RawStart> {
        self.raw.start.iter().find(|given| given.key.value == start_key(field))
    }

    /// So many components of what a file has.
    fn of_file(&mut self, given: &RawStart, count: usize, size: [usize; 3]) -> Option<Vec<StartValue>> {
        let RawGiven::File { file, samples: Some(samples), .. } = &given.given else { return None };
        let found = samples.shape(self.dim);
        if !samples.fits(count) {
            let message = format!("`{}` has {found}, and `{}` has {count} component(s)", file.value, given.key.value);
            return self.report.add(diag::COMPONENTS, &file.span, message, format!("{count} expected"), None);
        }
        if !samples.fills(size, self.dim) {
            let cells: Vec<String> = size[..self.dim].iter().map(usize::to_string).collect();
            let message = format!("`{}` has {found}, and the domain {} cells", file.value, cells.join(" x "));
            let help =
                "points fill the domain, as far apart along each axis: as many as cells, or so many times more or less";
            return self.report.add(diag::SAMPLES, &file.span, message, "another shape", help.to_string());
        }
        let placed = Placed { samples: samples.clone(), domain: size, periodic: self.raw.periodic(), scale: 1.0 };
        Some((0..count).map(|component| StartValue::Sample(placed.clone(), component)).collect())
    }

    pub(super) fn start_in_lattice(&mut self, start: Option<Start>, units: &Units) -> Option<Start> {
        let mut start = start?;
        for field in &mut start.fields {
            let Some(given) = self.started(&field.name) else { continue };
            let scale = match &field.name[..] {
                "rho" if units.si && units.density.is_none() => return self.needs_density(&given.span),
                "rho" => units.scale(Dimension::DENSITY),
                "u" => units.scale(Dimension::VELOCITY),
                _ => 1.0,
            };
            for component in &mut field.components {
                *component = component.over(scale);
            }
        }
        Some(start)
    }

    /// Warns of fluid that comes in and cannot leave, or the reverse. Faces and surfaces of solids whose rules fix the velocity are compared; where any
    /// other rule is, nothing is known.
    pub(super) fn outlet(&mut self, walls: &[Wall], solids: Option<&[SolidBody]>, size: [usize; 3]) {
        // Besides those that say so of the velocity at the face.
        const FIXING: [&str; 4] =
            ["interpolated_bounce_back", "interpolated_moving_wall", "zou_he_velocity", "regularized_velocity"];
        let fixes = |rule: &str| {
            let at_face = self.manifest.boundaries.iter().find(|known| known.name == rule).map(|known| known.at_face);
            FIXING.contains(&rule) || at_face.is_some_and(|at_face| at_face != AtFace::Unknown)
        };
        let is_velocity = |(name, _): &(String, Vec<Formula>)| name == "velocity";
        let through = |wall: &Wall| {
            if !fixes(&wall.rule) || wall.formulas.iter().any(is_velocity) || !wall.patches.is_empty() {
                return None;
            }
            let velocity = wall.stated_velocity([0.0; 3], 0.0).unwrap_or_default();
            let area =
                size.iter().enumerate().filter(|(axis, _)| *axis != wall.face.axis).map(|(_, cells)| *cells as f64);
            let inwards = if wall.face.high { -1.0 } else { 1.0 };
            Some(inwards * velocity[wall.face.axis] * area.product::<f64>())
        };
        if self.report.has_errors() {
            return; // a wall that was not understood may be the way out
        }
        // As much leaves a closed surface as enters it; of one that faces cut off, the part beyond them lacks.
        let through_solid = |body: &SolidBody| {
            let solid = &body.solid;
            if !fixes(&solid.rule) || body.formulas.iter().any(is_velocity) || body.moves.is_some() {
                return None;
            }
            let velocity = solid.values.iter().find(|(name, _)| name == "velocity");
            let cut_off = walls.iter().map(|wall| {
                let outwards = if wall.face.high { 1.0 } else { -1.0 };
                let along = velocity.map_or(0.0, |(_, velocity)| outwards * velocity[wall.face.axis]);
                if along == 0.0 {
                    return 0.0;
                }
                let inside = points(size, self.dim, wall.face, 0.5).filter(|point| solid.shape.contains(*point));
                -along * inside.count() as f64
            });
            Some(cut_off.sum::<f64>())
        };
        let Some(solids) = solids else { return };
        let through = walls.iter().map(through).chain(solids.iter().map(through_solid));
        let Some(through) = through.collect::<Option<Vec<f64>>>() else { return };
        let (sum, most) =
            (through.iter().sum::<f64>(), through.iter().fold(0.0, |most: f64, flux| most.max(flux.abs())));
        if sum.abs() > 1e-9 * most {
            let way = if sum > 0.0 { "comes in than goes out" } else { "goes out than comes in" };
            let what = if solids.is_empty() { "faces" } else { "faces and solids" };
            let message = format!("more fluid {way}, through {what} that fix its velocity");
            let help = "give a face a pressure or an outflow, for example `anti_bounce_back`".to_string();
            self.report.add::<()>(diag::NO_OUTLET, &self.raw.faces.span, message, "no way out", help);
        }
    }

    /// Warns of walls that move as those of a fluid of density 1 where the flow starts at another.
    pub(super) fn density_of_walls(
        &mut self,
        walls: &[Wall],
        solids: Option<&[SolidBody]>,
        start: Option<&Start>,
        size: [usize; 3],
    ) {
        let given = self.manifest.main().field.as_deref().and_then(|field| Some((field, self.started(field)?)));
        let (Some((field, given)), Some(solids), Some(start)) = (given, solids, start) else { return };
        let density = start.mean(field, size).unwrap_or(1.0);
        let Some(message) = misfit(self.manifest, walls, solids, density) else { return };
        let help = match &self.raw.si {
            Some(_) => "densities count relative to that of `[units]`: give it the density of the start",
            None => "start at a density of 1, which is only a scale: pressures and forces are in proportion to it",
        };
        self.report.add::<()>(diag::WALL_DENSITY, &given.span, message, "another density", help.to_string());
    }

    /// Warns of a flow that nothing drives: no wall, no solid, no force, and nothing at the start.
    pub(super) fn drive(
        &mut self,
        walls: &[Wall],
        solids: Option<&[SolidBody]>,
        start: Option<&Start>,
        params: Option<&Values>,
    ) {
        let (Some(solids), Some(start), Some(params)) = (solids, start, params) else { return };
        if self.report.has_errors() {
            return; // a wall that was not understood may be the one that moves
        }
        let surfaces = solids.iter().flat_map(|body| &body.solid.values);
        let rests = walls.iter().all(Wall::rests)
            && surfaces.flat_map(|(_, values)| values).all(|value| *value == 0.0)
            && solids.iter().all(|body| body.formulas.is_empty() && body.moves.is_none())
            && start.is_uniform()
            && start.fields.iter().all(|field| {
                field.name != "u" || field.components.iter().all(|component| component.constant() == Some(0.0))
            })
            && params.iter().all(|(_, values)| values.len() == 1 || values.iter().all(|value| *value == 0.0));
        if rests {
            let message = "nothing drives the flow: every wall and solid is at rest, and so is the fluid at the start";
            let help = "give a face, a solid or `[start]` a velocity, or the method a force".to_string();
            self.report.add::<()>(diag::NOTHING_MOVES, &self.raw.faces.span, message, "all at rest", help);
        }
    }
}

/// What `[start]` calls a field of the method.
fn start_key(field: &str) -> &str {
    match field {
        "rho" => "density",
        "u" => "velocity",
        other => other,
    }
}
