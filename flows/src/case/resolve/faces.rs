//! Faces against the rules of the method.

use lbm_bundle::Boundary;

use super::resolver::{Grid, Resolver};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::faces::{RawFace, RawPatch, RawRegion};
use crate::case::keys::params::RawParam;
use crate::case::keys::values::RawVector;
use crate::case::region::Region;
use crate::case::units::Units;
use crate::case::walls::{FACES, Face, Patch, Wall, points};
use crate::case::words;

/// The parameter to which turbulence is added.
const VELOCITY: &str = "velocity";

/// What other programs call a boundary condition, and what it is here.
const ELSEWHERE: &[(&[&str], &[&str])] = &[
    (&["wall", "no_slip", "noslip"], &["bounce_back"]),
    (&["slip", "symmetry", "mirror"], &["free_slip"]),
    (
        &["inlet", "inflow", "velocity_inlet", "velocity"],
        &["moving_wall", "zou_he_velocity", "regularized_velocity", "characteristic_velocity"],
    ),
    (
        &["outlet", "outflow", "pressure_outlet", "pressure", "open"],
        &[
            "anti_bounce_back",
            "zou_he_pressure",
            "regularized_pressure",
            "convective_outflow",
            "characteristic_pressure",
            "characteristic_pressure_transverse",
        ],
    ),
    (&["nscbc", "lodi", "non_reflecting", "nonreflecting"], &["characteristic_pressure", "characteristic_velocity"]),
    (&["isothermal", "fixed_temperature", "temperature", "dirichlet"], &["heated", "fixed_value"]),
    (&["adiabatic", "neumann", "insulated"], &["bounce_back"]),
];

/// What may be meant by a boundary condition that is none of those known.
pub(super) fn suggest_rule(rule: &str, known: &[&str]) -> String {
    let lower = rule.to_lowercase().replace('-', "_");
    let same = ELSEWHERE.iter().find(|(names, _)| names.contains(&&lower[..]));
    let here: Vec<&str> =
        same.iter().flat_map(|(_, here)| here.iter().copied()).filter(|name| known.contains(name)).collect();
    if here.is_empty() { words::suggest(rule, known) } else { format!("here it is called {}", words::list(here)) }
}

impl Resolver<'_> {
    /// What each face is, `None` where the case says nothing or the face does not exist.
    pub(super) fn faces(&mut self) -> [Option<Spanned<RawFace>>; 6] {
        let raw = &self.raw.faces;
        for face in raw.named[2 * self.dim..].iter().flatten() {
            let name = &face.span.source.inner()[face.span.range.clone()];
            let message = format!("{} has {} axes and no face `{name}`", self.manifest.main().lattice, self.dim);
            let help = format!("its faces are {}", words::list(FACES[..2 * self.dim].iter().copied()));
            self.report.add::<()>(diag::WRONG_DIMENSION, &face.span, message, "no such face", help);
        }
        let named = raw.named[..2 * self.dim].iter().flatten().count();
        match &raw.others {
            Some(others) if named == 2 * self.dim => {
                let help = "every face has its own line".to_string();
                self.report.add::<()>(diag::NO_EFFECT, &others.span, "`others` has no effect", "has no effect", help);
            }
            None if named < 2 * self.dim => {
                let open = |face: &usize| raw.named[*face].is_none();
                let missing = (0..2 * self.dim).filter(open).map(|face| FACES[face]);
                let message = format!("no boundary condition for {}", words::list(missing).replace(" or ", " and "));
                let help = "give each face a boundary condition, or all that are left one: `others = \"bounce_back\"`"
                    .to_string();
                self.report.add::<()>(diag::MISSING_KEY, &raw.span, message, "not given here", help);
            }
            _ => {}
        }
        std::array::from_fn(|face| {
            let face = raw.named.get(face).filter(|_| face < 2 * self.dim)?;
            face.clone().or_else(|| raw.others.clone())
        })
    }

    /// Periodic axes and walls; each face with its rule's parameters in lattice units.
    pub(super) fn walls(
        &mut self,
        faces: &[Option<Spanned<RawFace>>; 6],
        units: Option<&Units>,
        grid: Grid,
    ) -> ([bool; 3], Vec<Wall>) {
        let mut periodic = [true; 3];
        let mut walls = vec![];
        for axis in 0..self.dim {
            let pair = [&faces[2 * axis], &faces[2 * axis + 1]];
            let is_periodic = |face: &Spanned<RawFace>| face.value.rule.value == "periodic";
            periodic[axis] = pair.into_iter().all(|face| face.as_ref().is_some_and(is_periodic));
            for (side, face) in pair.into_iter().enumerate() {
                let Some(face) = face else { continue };
                if !is_periodic(face) {
                    walls.extend(self.wall(Face { axis, high: side == 1 }, face, units, grid));
                    continue;
                }
                for param in &face.value.params {
                    self.surplus(param, "periodic", &[]);
                }
                if let Some(turbulence) = &face.value.turbulence {
                    self.no_eddies::<()>(&turbulence.span, "periodic");
                }
                if let Some(patch) = face.value.patches.first() {
                    self.no_patches::<()>(&patch.span, "periodic");
                }
                if pair[1 - side].is_some() && !periodic[axis] {
                    let (here, there) = (FACES[2 * axis + side], FACES[2 * axis + 1 - side]);
                    let message = format!("`{here}` is periodic, but `{there}` opposite is not");
                    let help = format!("what leaves on one side enters on the other: make `{there}` periodic too");
                    self.report.add::<()>(diag::PERIODIC_PAIR, &face.value.rule.span, message, "periodic", help);
                }
            }
        }
        (periodic, walls)
    }

    fn wall(&mut self, at: Face, face: &Spanned<RawFace>, units: Option<&Units>, grid: Grid) -> Option<Wall> {
        let wall = self.whole_wall(at, &face.value, units, grid, None);
        let patches: Vec<_> = face.value.patches.iter().map(|patch| self.patch(at, patch, units, grid)).collect();
        let mut wall = wall?;
        if let (Some(patch), false) = (face.value.patches.first(), self.is_link_wise(&wall.rule)) {
            return self.no_patches(&patch.span, &wall.rule);
        }
        wall.patches = patches.into_iter().collect::<Option<_>>()?;
        Some(wall)
    }

    pub(super) fn is_link_wise(&self, rule: &str) -> bool {
        let found = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule);
        found.is_some_and(|boundary| !boundary.nodes && self.manifest.solid_rules.contains(&boundary.code))
    }

    fn no_patches<T>(&mut self, span: &Span, rule: &str) -> Option<T> {
        let message = format!("`{rule}` is not link-wise: it cannot stand at a part of a face, nor beside patches");
        let help = "link-wise boundary conditions are for example `bounce_back`, `moving_wall`, `equilibrium` and \
                    `anti_bounce_back`"
            .to_string();
        self.report.add(diag::NOT_FOR_SOLIDS, span, message, "a part of the face", help)
    }

    fn patch(&mut self, at: Face, patch: &RawPatch, units: Option<&Units>, grid: Grid) -> Option<Patch> {
        let region = self.region(at, patch, grid)?;
        if !points(grid.size, self.dim, at, 0.0).any(|point| region.contains(at.axis, point)) {
            let message = format!("no cell at `{}` is in the patch", at.name());
            let help = "places are measured from the lower corner of the domain".to_string();
            return self.report.add(diag::OUTSIDE, &patch.span, message, "not on the face", help);
        }
        let wall = self.whole_wall(at, &patch.face, units, grid, Some(&region))?;
        if !self.is_link_wise(&wall.rule) {
            return self.no_patches(&patch.face.rule.span, &wall.rule);
        }
        Some(Patch { region, wall })
    }

    /// A part of a face, in cells.
    fn region(&mut self, at: Face, patch: &RawPatch, Grid { size, cell }: Grid) -> Option<Region> {
        let place = |resolver: &mut Self, what: &str, point: &RawVector| {
            if point.value.len() != resolver.dim {
                resolver.wrong_dimension(&point.span, what, point.value.len());
                return None;
            }
            Some([0, 1, 2].map(|axis| point.value.get(axis).map(|at| at.value / cell)))
        };
        let plane = if at.high { size[at.axis] as f64 } else { 0.0 };
        let off = |resolver: &mut Self| {
            let axis = super::resolver::axis_name(at.axis);
            let message =
                format!("the patch is not on `{}`, where {axis} is {} cells", at.name(), super::resolver::short(plane));
            resolver.report.add(diag::OUTSIDE, &patch.span, message, "elsewhere", None)
        };
        match &patch.region {
            RawRegion::Box { from, to } => {
                let (from, to) = (place(self, "`from`", from)?, place(self, "`to`", to)?);
                let (from, to) =
                    (from.map(|at| at.unwrap_or(f64::NEG_INFINITY)), to.map(|at| at.unwrap_or(f64::INFINITY)));
                if from[at.axis] > plane || to[at.axis] < plane {
                    return off(self);
                }
                Some(Region::Box { from, to })
            }
            RawRegion::Disc { centre, radius } => {
                let centre = place(self, "`centre`", centre)?.map(|at| at.unwrap_or(0.0));
                if (centre[at.axis] - plane).abs() > 0.5 {
                    return off(self);
                }
                Some(Region::Disc { centre, radius: radius.value / cell })
            }
            RawRegion::Where(formula) => {
                if let Some(name) = formula.value.beyond(self.dim) {
                    let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
                    return self.report.add(diag::WRONG_DIMENSION, &formula.span, message, "no such axis", None);
                }
                Some(Region::Where(formula.value.on(size, cell)))
            }
            RawRegion::Solid(_) => unreachable!("faces have no surfaces"),
        }
    }

    /// The wall of a face, or of a region of it, without patches.
    fn whole_wall(
        &mut self,
        at: Face,
        face: &RawFace,
        units: Option<&Units>,
        grid: Grid,
        region: Option<&Region>,
    ) -> Option<Wall> {
        let RawFace { rule, params, .. } = face;
        let Some(boundary) = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule.value) else {
            let mut known: Vec<&str> = self.manifest.boundaries.iter().map(|boundary| &boundary.name[..]).collect();
            known.extend(
                self.others.iter().map(String::as_str).filter(|name| !known.contains(name)).collect::<Vec<_>>(),
            );
            known.push("periodic");
            let message = format!("{} has no boundary condition `{}`", self.manifest.spec, rule.value);
            let help = suggest_rule(&rule.value, &known);
            return self.report.add(diag::UNKNOWN_RULE, &rule.span, message, "unknown boundary condition", help);
        };
        let known: Vec<&str> = boundary.params.iter().map(|param| &param.name[..]).collect();
        for param in params.iter().filter(|param| !known.contains(&&param.name.value[..])) {
            self.surplus(param, &boundary.name, &known);
        }
        if let Some(played) = face.played.as_ref().filter(|_| !known.contains(&VELOCITY)) {
            let message = format!("`{}` prescribes no velocity that a recording could give", boundary.name);
            let help = "boundary conditions with a velocity are for example `regularized_velocity` and `equilibrium`"
                .to_string();
            return self.report.add(diag::RULE_PARAMETER, &played.span, message, "unknown parameter", help);
        }
        let (mut values, mut formulas) = (vec![], vec![]);
        let mut sound = true;
        for wanted in &boundary.params {
            if let Some(played) = face.played.as_ref().filter(|_| wanted.name == VELOCITY) {
                self.may_vary(boundary, VELOCITY, &played.span)?;
                self.reference_velocity(&played.span, "time")?;
                let points: Vec<[f64; 3]> = self.points_of(at, boundary, grid, region).collect();
                let velocity = self.played(at, played, &points, (units?, grid))?;
                formulas.push((VELOCITY.to_string(), velocity));
                continue;
            }
            match params.iter().find(|param| param.name.value == wanted.name) {
                Some(param) if param.values.iter().any(|(value, _)| value.constant().is_none()) => {
                    let along = param.values.iter().any(|(value, _)| value.varies_in_place());
                    if along {
                        self.may_vary(boundary, &wanted.name, &param.span)?;
                    }
                    let in_time = param.values.iter().any(|(value, _)| value.varies_in_time());
                    let unsaid = if in_time { Some("time") } else { (along && region.is_some()).then_some("place") };
                    let unsaid = unsaid.filter(|_| wanted.name == VELOCITY);
                    if unsaid.is_some_and(|what| self.reference_velocity(&param.span, what).is_none()) {
                        sound = false;
                        continue;
                    }
                    let first = if along { usize::MAX } else { 1 };
                    let points: Vec<[f64; 3]> = self.points_of(at, boundary, grid, region).take(first).collect();
                    let units = units?;
                    let lattice = self.formulas(param, wanted, units, grid, &points);
                    // That of a whole face which does not depend on time is a speed of the case.
                    let is_new = in_time || region.is_some();
                    let lattice =
                        lattice.filter(|lattice| !is_new || self.subsonic(param, lattice, &points, units).is_some());
                    match lattice {
                        Some(lattice) => formulas.push((wanted.name.clone(), lattice)),
                        None => sound = false,
                    }
                }
                Some(param) => match self.values(param, wanted, units?) {
                    Some(lattice) => values.push((wanted.name.clone(), lattice)),
                    None => sound = false,
                },
                None if wanted.default.is_some() => match self.default(wanted, &rule.span) {
                    Some(lattice) => values.push((wanted.name.clone(), lattice)),
                    None => sound = false,
                },
                None => {
                    let message = format!("`{}` needs `{}`", boundary.name, wanted.name);
                    let help = rule_example(boundary);
                    self.report.add::<()>(diag::RULE_PARAMETER, &rule.span, message, "parameter missing", help);
                    sound = false;
                }
            }
        }
        if let Some(turbulence) = &face.turbulence {
            let Some(param) = params.iter().find(|param| param.name.value == VELOCITY && known.contains(&VELOCITY))
            else {
                return self.no_eddies(&turbulence.span, &boundary.name);
            };
            self.may_vary(boundary, VELOCITY, &turbulence.span)?;
            let mean: Vec<Formula> = match values.iter().position(|(name, _)| name == VELOCITY) {
                Some(at) => values.remove(at).1.into_iter().map(Formula::number).collect(),
                None => formulas.remove(formulas.iter().position(|(name, _)| name == VELOCITY)?).1,
            };
            let points: Vec<[f64; 3]> = self.points_of(at, boundary, grid, region).collect();
            let velocity = self.turbulent(at, turbulence, &mean, &points, (units?, grid))?;
            self.subsonic(param, &velocity, &points, units?)?;
            formulas.push((VELOCITY.to_string(), velocity));
        }
        let velocity = if formulas.is_empty() { wall_velocity(&values) } else { None };
        let at_face = boundary.at_face;
        let rule = boundary.name.clone();
        sound.then(|| Wall { face: at, rule, values, formulas, velocity, at_face, patches: vec![] })
    }

    /// Where a face has values of its own, cell by cell of the coarsest level: in a region of it, if one is given.
    fn points_of<'a>(
        &self,
        at: Face,
        boundary: &Boundary,
        grid: Grid,
        region: Option<&'a Region>,
    ) -> impl Iterator<Item = [f64; 3]> + use<'a> {
        let depth = if boundary.nodes { 0.5 } else { 0.0 };
        let points = points(grid.size, self.dim, at, depth);
        points.filter(move |point| region.is_none_or(|region| region.contains(at.axis, *point)))
    }

    /// Refuses values that vary along a face whose rule reads the same everywhere.
    fn may_vary(&mut self, boundary: &Boundary, name: &str, span: &Span) -> Option<()> {
        if boundary.nodes || self.manifest.solid_rules.contains(&boundary.code) {
            return Some(());
        }
        let message = format!("`{name}` of `{}` cannot vary along the face", boundary.name);
        let help = "parameters of other boundary conditions can: `moving_wall`, `equilibrium`, `anti_bounce_back`, \
                    `zou_he_velocity`"
            .to_string();
        self.report.add(diag::CANNOT_VARY, span, message, "a formula", help)
    }

    fn no_eddies<T>(&mut self, span: &Span, rule: &str) -> Option<T> {
        let message = format!("`{rule}` prescribes no velocity to which eddies could be added");
        let help = "boundary conditions with a velocity are for example `regularized_velocity`, `zou_he_velocity`, \
                    `characteristic_velocity` and `moving_wall`"
            .to_string();
        self.report.add(diag::RULE_PARAMETER, span, message, "turbulence without a velocity", help)
    }

    /// Demands that the case says which velocity is the scale of the flow, where a wall has one that depends on `what`.
    pub(super) fn reference_velocity(&mut self, span: &Span, what: &str) -> Option<()> {
        if self.raw.fluid.velocity.is_some() {
            return Some(());
        }
        let message = format!("this velocity depends on {what}, and no reference velocity is given");
        let help = "give what the Mach and Reynolds numbers refer to: `[fluid] velocity = ...`".to_string();
        self.report.add(diag::MISSING_KEY, span, message, "no scale of the flow", help)
    }

    pub(super) fn surplus(&mut self, param: &RawParam, rule: &str, known: &[&str]) {
        let message = format!("`{rule}` has no parameter `{}`", param.name.value);
        let help = if known.is_empty() { None } else { Some(words::suggest(&param.name.value, known)) };
        self.report.add::<()>(diag::RULE_PARAMETER, &param.name.span, message, "unknown parameter", help);
    }
}

/// The velocity of a wall: its parameter of that name, or rest where there are no parameters at all.
fn wall_velocity(values: &[(String, Vec<f64>)]) -> Option<[f64; 3]> {
    if values.is_empty() {
        return Some([0.0; 3]);
    }
    let (_, components) = values.iter().find(|(name, _)| name == VELOCITY)?;
    Some(std::array::from_fn(|axis| components.get(axis).copied().unwrap_or(0.0)))
}

/// How a rule with parameters is written.
fn rule_example(boundary: &Boundary) -> String {
    let params = boundary.params.iter().map(|param| match param.components {
        1 => format!("{} = ...", param.name),
        n => format!("{} = [{}]", param.name, vec!["..."; n as usize].join(", ")),
    });
    format!("write `{{ rule = \"{}\", {} }}`", boundary.name, params.collect::<Vec<_>>().join(", "))
}
