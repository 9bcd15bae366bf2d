//! Solids against the method: their boundary conditions, levels, and reference values.

use lbm_bundle::{DISTANCE, slides};
use lbm_runtime::geometry::solid::{Shape, Shell, Solid, Vector};

use super::resolver::{Formulas, Grid, Resolver, Values};
use crate::case::diag::{self, Spanned};
use crate::case::heat::{Nusselt, Scalar};
use crate::case::keys::faces::{RawFace, RawRegion};
use crate::case::keys::shapes::RawShape;
use crate::case::keys::solids::{RawNusselt, RawSolid};
use crate::case::solids::{Moves, Part, REST, SolidBody};
use crate::case::sound::on_surface;
use crate::case::units::{Dimension, Units};
use crate::case::walls::Wall;
use crate::case::words;

impl Resolver<'_> {
    /// The solids; `length` is the reference length in cells, `viscosity` that of the fluid, if it is known.
    pub(super) fn solids(
        &mut self,
        grid: Grid,
        units: &Units,
        (length, viscosity): (f64, Option<f64>),
        walls: &[Wall],
    ) -> Option<Vec<SolidBody>> {
        let raw = self.raw;
        let bodies: Vec<Option<Vec<SolidBody>>> = raw
            .solids
            .iter()
            .enumerate()
            .map(|(of, given)| self.solid(of, given, grid, units, (length, viscosity)))
            .collect();
        let bodies = bodies.into_iter().collect::<Option<Vec<_>>>()?;
        for (given, parts) in raw.solids.iter().zip(&bodies) {
            if let Some(body) = parts.first() {
                self.covered_face(&given.span, &body.solid.shape, grid.size, walls);
            }
        }
        self.ways(&bodies, grid.size, units)?;
        let mut bodies: Vec<SolidBody> = bodies.into_iter().flatten().collect();
        for body in &mut bodies {
            if let Some(Moves::Free(body)) = &mut body.moves {
                body.viscosity = viscosity;
            }
        }
        Some(bodies)
    }

    fn solid(
        &mut self,
        of: usize,
        given: &Spanned<RawSolid>,
        grid: Grid,
        units: &Units,
        (length, viscosity): (f64, Option<f64>),
    ) -> Option<Vec<SolidBody>> {
        let raw = &given.value;
        let Grid { size, cell } = grid;
        let shape = self.shape(given, cell)?;
        if raw.inverted {
            self.inside_domain(&given.span, &shape, size)?;
        }
        let shape = if raw.inverted { Shape::Outside(Box::new(shape)) } else { shape };
        let level = match &raw.level {
            Some(level) => self.level(level)?,
            None => self.finest().unwrap_or(0),
        };
        let shells = raw
            .shells
            .iter()
            .map(|shell| Some(Shell { level: self.level(&shell.level)?, within: shell.within / cell }));
        let shells = shells.collect::<Option<Vec<_>>>()?;
        self.inside_domain(&given.span, &shape, size)?;
        self.thick_enough(&given.span, &shape, level, size)?;
        let moves = match &raw.motion {
            Some(motion) => Some(self.moves(raw, motion, &shape, grid, units)?),
            None => None,
        };
        let surfaces = self.patched(given, shape)?;
        let surface = on_surface(&surfaces.first()?.0, size, self.dim);
        let area = match &raw.area {
            Some(area) => self.area(area, cell)?,
            None => match &surfaces.first()?.0 {
                Shape::Sphere { radius, .. } => std::f64::consts::PI * radius * radius,
                Shape::Cylinder { centre, axis, radius, length: long } if self.dim == 3 => {
                    2.0 * radius * long.or_else(|| length_inside(*centre, *axis, size)).unwrap_or(length)
                }
                _ => length.powi(self.dim as i32 - 1),
            },
        };
        let nusselt = match &raw.nusselt {
            Some(nusselt) => {
                let shapes: Vec<&Shape> = surfaces.iter().map(|(shape, ..)| shape).collect();
                self.nusselt(nusselt, &shapes, cell)
            }
            None => None,
        };
        if let Some(layer) = &raw.layer {
            self.needs_to_slide(layer, &surfaces.iter().map(|(.., face)| &face.rule).collect::<Vec<_>>());
        }
        let body = |(shape, part, face): (Shape, Option<Part>, &RawFace)| {
            let (values, formulas) = self.surface(face, (&surface, raw.motion.is_some()), grid, units)?;
            let at = (&surface[..], grid, level);
            let layer = self.layer(&face.rule, raw.layer.as_ref(), raw.motion.is_some(), at, (units, viscosity))?;
            let (rule, shells) = (face.rule.value.clone(), shells.clone());
            Some(SolidBody {
                of,
                nusselt: nusselt.map(|of| Nusselt { area: shape.area(self.dim), ..of }),
                part,
                solid: Solid { shape, rule, values, level, shells },
                formulas,
                area,
                moves: moves.clone(),
                layer,
            })
        };
        surfaces.into_iter().map(body).collect()
    }

    /// What the Nusselt numbers of a solid and its parts refer to.
    fn nusselt(&mut self, given: &Spanned<RawNusselt>, shapes: &[&Shape], cell: f64) -> Option<Nusselt> {
        let raw = &given.value;
        if self.raw.output.heat.is_none() {
            let help = "add `output.heat = 100`".to_string();
            return self.report.add(diag::NO_EFFECT, &given.span, "`nusselt` has no effect", "without `heat`", help);
        }
        match &Scalar::all(self.manifest)[..] {
            [Scalar { rate: Some(_), .. }] => {}
            [one] => {
                let message =
                    format!("the diffusivity of `{}` follows from more than one rate: no Nusselt number", one.name);
                return self.report.add(diag::NO_EFFECT, &given.span, message, "has no effect", None);
            }
            _ => {
                let message = format!("`{}` carries no scalar, or several: no Nusselt number", self.manifest.spec);
                return self.report.add(diag::NO_EFFECT, &given.span, message, "has no effect", None);
            }
        }
        let whole = match &raw.area {
            Some(area) => Some(self.area(area, cell)?),
            None => shapes.iter().map(|shape| shape.area(self.dim)).sum(),
        };
        let Some(whole) = whole else {
            let message = "the area of this surface is not known, so its Nusselt number needs one";
            let help = "add it: `nusselt = { difference = 1, area = 100 }`".to_string();
            return self.report.add(diag::MISSING_KEY, &given.span, message, "without `area`", help);
        };
        Some(Nusselt { difference: raw.difference, whole, area: None })
    }

    /// The parts of a solid with boundary conditions of their own: the rest, where there is one, then the patches in their order. All have
    /// the same inside; each is met by the links that cross its part of the surface.
    fn patched<'a>(
        &mut self,
        given: &'a Spanned<RawSolid>,
        shape: Shape,
    ) -> Option<Vec<(Shape, Option<Part>, &'a RawFace)>> {
        let face = &given.value.surface;
        let (RawShape::Stl { names, file, .. }, false) = (&given.value.shape, face.patches.is_empty()) else {
            return Some(vec![(shape, None, face)]);
        };
        let only = |parts: &[u16]| match &shape {
            Shape::Surface(surface) => Some(Shape::Surface(surface.only(parts)?)),
            Shape::Outside(inside) => match &**inside {
                Shape::Surface(surface) => Some(Shape::Outside(Box::new(Shape::Surface(surface.only(parts)?)))),
                _ => None,
            },
            _ => None,
        };
        let (mut rest, mut found): (Vec<u16>, _) = ((0..names.len() as u16).collect(), vec![]);
        for patch in &face.patches {
            let RawRegion::Solid(name) = &patch.region else { unreachable!("surfaces have solids") };
            let number = names.iter().position(|known| *known == name.value).map(|at| at as u16);
            let part =
                number.filter(|number| rest.contains(number)).and_then(|number| Some((number, only(&[number])?)));
            let Some((number, part)) = part else {
                let known: Vec<&str> =
                    names.iter().map(String::as_str).filter(|name| !name.is_empty()).take(20).collect();
                let message = match number {
                    Some(_) => format!("the solid `{}` has a boundary condition already, or is not cut", name.value),
                    None => format!("`{}` has no solid `{}`", file.value, name.value),
                };
                let help = match known.is_empty() {
                    true => "solids have names in text files alone: `solid NAME` to `endsolid NAME`".to_string(),
                    false => words::suggest(&name.value, &known),
                };
                return self.report.add(diag::UNKNOWN_WORD, &name.span, message, "no such part of the surface", help);
            };
            rest.retain(|other| *other != number);
            found.push((part, Some(Part { number: found.len() + 1, name: name.value.clone() }), &patch.face));
        }
        let rest = only(&rest).map(|shape| (shape, Some(Part { number: 0, name: REST.to_string() }), face));
        Some(rest.into_iter().chain(found).collect())
    }

    fn finest(&self) -> Option<usize> {
        self.raw.refinement.as_ref().map(|refinement| refinement.finest.value as usize)
    }

    /// A level that the case has.
    fn level(&mut self, level: &Spanned<f64>) -> Option<usize> {
        if level.value <= self.finest().unwrap_or(0) as f64 {
            return Some(level.value as usize);
        }
        let (message, help) = match self.finest() {
            Some(finest) => {
                let help = format!("raise `refinement.finest` to {}", level.value);
                (format!("level {} is finer than the finest, {finest}", level.value), help)
            }
            None => {
                let help = format!("add `[refinement] finest = {}`", level.value);
                ("the case has one level, 0".to_string(), help)
            }
        };
        self.report.add(diag::BAD_VALUE, &level.span, message, "too fine", help)
    }

    /// Parameters of the rule of a surface, formulas of which are looked at on it, in lattice units, without the distance that the geometry gives: those that are
    /// the same all over it and at all times, and formulas of others.
    fn surface(
        &mut self,
        face: &RawFace,
        (near, moves): (&[Vector], bool),
        grid: Grid,
        units: &Units,
    ) -> Option<(Values, Formulas)> {
        let rule = &face.rule;
        let manifest = self.manifest;
        let Some(boundary) = manifest.boundaries.iter().find(|boundary| boundary.name == rule.value) else {
            let fitting = manifest.boundaries.iter().filter(|boundary| manifest.solid_rules.contains(&boundary.code));
            let known: Vec<&str> = fitting.map(|boundary| &boundary.name[..]).collect();
            let message = format!("{} has no boundary condition `{}`", manifest.spec, rule.value);
            let help = super::faces::suggest_rule(&rule.value, &known);
            return self.report.add(diag::UNKNOWN_RULE, &rule.span, message, "unknown boundary condition", help);
        };
        if !manifest.solid_rules.contains(&boundary.code) {
            let message = format!("`{}` cannot be the boundary condition of a solid", boundary.name);
            let help =
                "take a link-wise boundary condition, such as `bounce_back`, or `interpolated_bounce_back`".to_string();
            return self.report.add(diag::NOT_FOR_SOLIDS, &rule.span, message, "needs a face of the domain", help);
        }
        // That of a solid which moves follows from its motion; those of one that slides the solver finds.
        let slides = slides::offsets_of(boundary, self.manifest.dim).is_some();
        let is_found = |name: &str| slides && (name == slides::SLIP || name == slides::SOURCE);
        let given = |name: &str| name != DISTANCE && !(name == "velocity" && moves) && !is_found(name);
        let wanted: Vec<_> = boundary.params.iter().filter(|param| given(&param.name)).collect();
        let known: Vec<&str> = wanted.iter().map(|param| &param.name[..]).collect();
        for param in face.params.iter().filter(|param| !known.contains(&&param.name.value[..])) {
            if param.name.value == DISTANCE && boundary.params.iter().any(|param| param.name == DISTANCE) {
                let message = "the distance of a solid's surface is that of its shape";
                return self.report.add(diag::RULE_PARAMETER, &param.name.span, message, "not to be given", None);
            }
            self.surplus(param, &boundary.name, &known);
        }
        let (mut values, mut formulas) = (Vec::new(), Vec::new());
        for wanted in wanted {
            let Some(param) = face.params.iter().find(|param| param.name.value == wanted.name) else {
                if wanted.default.is_some() {
                    values.push((wanted.name.clone(), self.default(wanted, &rule.span)?));
                    continue;
                }
                let message = format!("`{}` needs `{}`", boundary.name, wanted.name);
                let help = format!("write `{} = ...` below `rule`: {}", wanted.name, wanted.doc);
                let help = help.trim_end_matches(": ").to_string();
                return self.report.add(diag::RULE_PARAMETER, &rule.span, message, "parameter missing", help);
            };
            if param.values.iter().all(|(value, _)| value.constant().is_some()) {
                values.push((wanted.name.clone(), self.values(param, wanted, units)?));
                continue;
            }
            if wanted.name == "velocity" {
                self.reference_velocity(&param.span, "place or time")?;
            }
            let along = param.values.iter().any(|(value, _)| value.varies_in_place());
            let points = if along { near } else { &[[0.0; 3]][..] };
            let lattice = self.formulas(param, wanted, units, grid, points)?;
            self.subsonic(param, &lattice, points, units)?;
            formulas.push((wanted.name.clone(), lattice));
        }
        Some((values, formulas))
    }

    fn area(&mut self, area: &Spanned<(f64, Dimension)>, cell: f64) -> Option<f64> {
        let (value, dimension) = area.value;
        let wanted = Dimension { m: self.dim as i32 - 1, ..Dimension::NUMBER };
        if self.raw.si.is_some() && dimension != wanted {
            let message = if self.dim == 2 { "in two dimensions `area` is a length" } else { "`area` is no area" };
            let help = format!("for example \"{}\"", if self.dim == 2 { "10 mm" } else { "100 mm^2" });
            return self.report.add(diag::WRONG_UNIT, &area.span, message, "of another kind", help);
        }
        Some(value / cell.powi(self.dim as i32 - 1))
    }
}

/// The length of a line in the domain, if it goes through it.
fn length_inside(through: Vector, axis: Vector, size: [usize; 3]) -> Option<f64> {
    let ends = |along: usize| [0.0, size[along] as f64].map(|end| (end - through[along]) / axis[along]);
    let between = (0..3).filter(|along| axis[*along] != 0.0).map(ends);
    let (from, to) = between.fold((f64::NEG_INFINITY, f64::INFINITY), |(from, to), [one, other]| {
        (from.max(one.min(other)), to.min(one.max(other)))
    });
    (to > from).then_some(to - from)
}
