//! Solids against the domain and the rules of the method.

use lbm_bundle::DISTANCE;
use lbm_runtime::geometry::solid::{
    Hole, Image, MOST_PLACES, Open, Shape, Shell, Solid, Solids, Surface, Thickness, Vector, Welds,
};

use super::{Formulas, Resolver, Values, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::raw::{RawFace, RawMotion, RawNusselt, RawParam, RawRegion, RawShape, RawSolid, RawTurn};
use crate::case::sound::on_surface;
use crate::case::units::{Dimension, Units};
use crate::case::{MACH_ADVISED, Moves, Nusselt, Part, REST, Scalar, SolidBody, Turn, Wall, schema};

/// Times at which a motion is looked at.
const TIMES: u64 = 4096;

/// How far corners of a surface may be apart that are meant to be one, over its extent: much less than a cell.
const WELDED: f64 = 1e-5;

/// Beyond every domain, for extents that have no end.
const FAR: f64 = f64::INFINITY;

impl Resolver<'_> {
    /// The solids; `cell` is the size of a cell in the units of the case, `length` the reference length in cells.
    pub(super) fn solids(
        &mut self,
        size: [usize; 3],
        cell: f64,
        units: &Units,
        length: f64,
        walls: &[Wall],
    ) -> Option<Vec<SolidBody>> {
        let raw = self.raw;
        let bodies: Vec<Option<Vec<SolidBody>>> =
            raw.solids.iter().enumerate().map(|(of, given)| self.solid(of, given, size, cell, units, length)).collect();
        let bodies = bodies.into_iter().collect::<Option<Vec<_>>>()?;
        for (given, parts) in raw.solids.iter().zip(&bodies) {
            if let Some(body) = parts.first() {
                self.covered_face(&given.span, &body.solid.shape, size, walls);
            }
        }
        self.ways(&bodies, size, units)?;
        Some(bodies.into_iter().flatten().collect())
    }

    /// Refuses solids that come to too many places of a refined grid.
    fn ways(&mut self, bodies: &[Vec<SolidBody>], size: [usize; 3], units: &Units) -> Option<()> {
        let (raw, steps) = (self.raw, self.stop(units).steps);
        let pair = |axis: usize| {
            let of = |face: usize| raw.faces.named[face].as_ref().or(raw.faces.others.as_ref());
            [2 * axis, 2 * axis + 1]
                .iter()
                .all(|face| of(*face).is_some_and(|face| face.value.rule.value == "periodic"))
        };
        let periodic = [0, 1, 2].map(|axis| axis >= self.dim || pair(axis));
        let block = self.manifest.block.map(|side| side as usize);
        for (given, parts) in raw.solids.iter().zip(bodies) {
            let moves = parts.first().and_then(|body| Some((body, body.motion(steps)?)));
            let (Some((body, motion)), Some(refinement)) = (moves, &raw.refinement) else { continue };
            let solid = std::slice::from_ref(&body.solid);
            let (reserved, when) = match &refinement.follow {
                Some(follow) => (Some(0.0..follow.every as f64), "until the grid changes"),
                None => (None, "in this run"),
            };
            let solids = Solids::new(solid, self.dim, size, block, periodic).moving(solid, &[Some(motion)]);
            if { solids }.reserve(reserved).is_none() {
                let message = format!("the solid comes to more than {MOST_PLACES} places of its level {when}");
                let help = match refinement.follow {
                    Some(_) => "take a smaller `refinement.every`".to_string(),
                    None => {
                        "let the grid follow it: `refinement.every = 32`; or take a coarser `level` for its surface"
                            .to_string()
                    }
                };
                let span = given.value.motion.as_ref().map_or(&given.span, |motion| &motion.span);
                return self.report.add(diag::LONG_WAY, span, message, "goes too far", help);
            }
        }
        Some(())
    }

    /// How a solid moves, in cells, at times in steps.
    fn moves(
        &mut self,
        raw: &RawSolid,
        motion: &Spanned<RawMotion>,
        shape: &Shape,
        (size, cell): ([usize; 3], f64),
        units: &Units,
    ) -> Option<Moves> {
        let RawMotion { displacement, turn } = &motion.value;
        if let Some(given) = displacement.as_ref().filter(|given| given.value.len() != self.dim) {
            self.wrong_dimension(&given.span, "`displacement`", given.value.len());
            return None;
        }
        if !raw.surface.patches.is_empty() {
            let message = "a solid that moves has one boundary condition all over its surface";
            let help = "leave out `patches`".to_string();
            return self.report.add(diag::MOTION, &motion.span, message, "of a solid with patches", help);
        }
        let (rule, wanted) = (&raw.surface.rule, self.dim as u32);
        let fitting = self.manifest.boundaries.iter().find(|boundary| boundary.name == rule.value);
        let takes = |param: &lbm_bundle::Param| param.name == "velocity" && param.components == wanted;
        if fitting.is_some_and(|boundary| !boundary.params.iter().any(takes)) {
            let message = format!("`{}` has no `velocity`: it is for surfaces that do not move", rule.value);
            let help = "take `interpolated_moving_wall`, or `moving_wall`".to_string();
            return self.report.add(diag::MOTION, &rule.span, message, "of a solid that moves", help);
        }
        if let Some(param) = raw.surface.params.iter().find(|param| param.name.value == "velocity") {
            let message = "the velocity of a solid that moves follows from its motion";
            let help = "leave out `velocity`".to_string();
            return self.report.add(diag::MOTION, &param.name.span, message, "not to be given", help);
        }
        let varies = |param: &&RawParam| param.values.iter().any(|(value, _)| value.varies_in_place());
        if let Some(param) = raw.surface.params.iter().find(varies) {
            let message = format!("`{}` varies over the surface of a solid that moves", param.name.value);
            return self.report.add(diag::MOTION, &param.span, message, "depends on the place", None);
        }
        let timed = |param: &&RawParam| turn.is_some() && param.values.iter().any(|(value, _)| value.varies_in_time());
        if let Some(param) = raw.surface.params.iter().find(timed) {
            let message = format!("`{}` depends on time at the surface of a solid that turns", param.name.value);
            return self.report.add(diag::MOTION, &param.span, message, "depends on time", None);
        }
        let span = displacement.as_ref().map_or(&motion.span, |given| &given.span);
        self.reference_velocity(span, "a motion")?;
        let mut formula = |Spanned { value, span }: &Spanned<Formula>, what: &str| {
            if value.varies_in_place() {
                let message = format!("{what} is a formula of the time `t` alone: the solid moves as a whole");
                return self.report.add(diag::MOTION, span, message, "depends on the place", None);
            }
            Some(value.on(size, cell).in_steps(units.scale(Dimension::TIME)))
        };
        let displaced = displacement.iter().flat_map(|given| &given.value);
        let displaced =
            displaced.map(|given| Some(formula(given, "a displacement")?.over(cell))).collect::<Option<_>>()?;
        let angle = match turn {
            Some(turn) => Some(formula(&turn.angle, "an angle")?),
            None => None,
        };
        let turn = match turn.as_ref().zip(angle) {
            Some((turn, angle)) => Some(self.turn(turn, angle, shape, cell)?),
            None => None,
        };
        let moves = Moves { displacement: displaced, turn };
        self.speed_of_motion(&moves, shape, motion, units)?;
        Some(moves)
    }

    /// How a solid turns by an angle.
    fn turn(&mut self, raw: &RawTurn, angle: Formula, shape: &Shape, cell: f64) -> Option<Turn> {
        let axis = match &raw.axis {
            Some(axis) if self.dim == 2 => {
                let message = "in two dimensions a solid turns in the plane";
                return self.report.add(diag::WRONG_DIMENSION, &axis.span, message, "has no effect", None);
            }
            Some(axis) => self.direction(axis)?,
            None if self.dim == 2 => [0.0, 0.0, 1.0],
            None => {
                let message = "`axis` is missing: the direction about which the solid turns";
                let help = "for example `axis = [0, 0, 1]`".to_string();
                return self.report.add(diag::MISSING_KEY, &raw.angle.span, message, "about which axis?", help);
            }
        };
        let pivot = match &raw.pivot {
            Some(pivot) if pivot.value.len() != self.dim => {
                self.wrong_dimension(&pivot.span, "`pivot`", pivot.value.len());
                return None;
            }
            Some(pivot) => [0, 1, 2].map(|axis| pivot.value.get(axis).map_or(0.0, |at| at.value / cell)),
            None => {
                let (from, to) = shape.bounds();
                [0, 1, 2].map(|axis| if axis < self.dim { 0.5 * (from[axis] + to[axis]) } else { 0.0 })
            }
        };
        if pivot.iter().any(|at| !at.is_finite()) {
            let message = "`pivot` is missing: the shape has no end, and so no middle";
            return self.report.add(diag::MISSING_KEY, &raw.angle.span, message, "about which point?", None);
        }
        Some(Turn { angle, axis, pivot })
    }

    /// Refuses motions that are not finite, or faster than sound.
    fn speed_of_motion(
        &mut self,
        moves: &Moves,
        shape: &Shape,
        motion: &Spanned<RawMotion>,
        units: &Units,
    ) -> Option<()> {
        let RawMotion { displacement, turn } = &motion.value;
        let (what, span) = match (turn, displacement) {
            (Some(turn), _) => ("`angle`", &turn.angle.span),
            (None, Some(given)) => ("`displacement`", &given.span),
            (None, None) => return Some(()),
        };
        let (steps, sound) = (self.stop(units).steps, self.manifest.main().cs2.sqrt());
        let times = steps.clamp(1, TIMES);
        let mut fastest = (0.0, 0.0);
        let motion = moves.motion(steps);
        let reach = motion.reach(shape);
        if !reach.is_finite() {
            let message = "a solid without end turns only about an axis along which it has none";
            return self.report.add(diag::MOTION, span, message, "turns what is infinite", None);
        }
        for number in 0..times {
            let time = (steps as f64 * number as f64 / times as f64).floor();
            let rate = motion.rate(time, time + 1.0);
            let speed = super::norm(rate.velocity.into_iter()) + reach * super::norm(rate.rotation.into_iter());
            if !speed.is_finite() {
                let message = format!("{what} is not finite at step {}", short(time));
                return self.report.add(diag::BAD_VALUE, span, message, "not finite", None);
            }
            if speed > fastest.1 {
                fastest = (time, speed);
            }
        }
        let (time, mach) = (fastest.0, fastest.1 / sound);
        let place = if turn.is_some() { " at its farthest point" } else { "" };
        let message = format!("Mach {mach:.2}{place} at step {}", short(time));
        let help = "move it more slowly: a tenth of a cell in a step is Mach 0.17".to_string();
        if mach >= 1.0 {
            let message = format!("{message}: faster than sound on this lattice");
            return self.report.add(diag::SUPERSONIC, span, message, "too fast", help);
        }
        if mach > MACH_ADVISED {
            let message =
                format!("{message}: the fluid is compressible, an error of about Mach² = {:.0} %", 100.0 * mach * mach);
            self.report.add::<()>(diag::COMPRESSIBLE, span, message, "fast", help);
        }
        Some(())
    }

    fn solid(
        &mut self,
        of: usize,
        given: &Spanned<RawSolid>,
        size: [usize; 3],
        cell: f64,
        units: &Units,
        length: f64,
    ) -> Option<Vec<SolidBody>> {
        let raw = &given.value;
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
            Some(motion) => Some(self.moves(raw, motion, &shape, (size, cell), units)?),
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
        let body = |(shape, part, face): (Shape, Option<Part>, &RawFace)| {
            let (values, formulas) = self.surface(face, (&surface, raw.motion.is_some()), (size, cell), units)?;
            let (rule, shells) = (face.rule.value.clone(), shells.clone());
            Some(SolidBody {
                of,
                nusselt: nusselt.map(|of| Nusselt { area: shape.area(self.dim), ..of }),
                part,
                solid: Solid { shape, rule, values, level, shells },
                formulas,
                area,
                moves: moves.clone(),
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
                    false => schema::suggest(&name.value, &known),
                };
                return self.report.add(diag::UNKNOWN_WORD, &name.span, message, "no such part of the surface", help);
            };
            rest.retain(|other| *other != number);
            found.push((part, Some(Part { number: found.len() + 1, name: name.value.clone() }), &patch.face));
        }
        let rest = only(&rest).map(|shape| (shape, Some(Part { number: 0, name: REST.to_string() }), face));
        Some(rest.into_iter().chain(found).collect())
    }

    /// In cells of the coarsest level.
    fn shape(&mut self, given: &Spanned<RawSolid>, cell: f64) -> Option<Shape> {
        let flat = self.dim == 2;
        let place = |resolver: &mut Self, what: &str, point: &Spanned<Vec<Spanned<f64>>>, rest: f64| {
            if point.value.len() != resolver.dim {
                resolver.wrong_dimension(&point.span, what, point.value.len());
                return None;
            }
            Some([0, 1, 2].map(|axis| point.value.get(axis).map_or(rest, |at| at.value / cell)))
        };
        match &given.value.shape {
            RawShape::Sphere { .. } | RawShape::Stl { section: None, .. } if flat => {
                let message = format!(
                    "{} has two axes: a solid is a `cylinder`, which is a circle, a `box`, an `image` or a section of an `stl`",
                    self.manifest.main().lattice
                );
                let help = matches!(given.value.shape, RawShape::Stl { .. })
                    .then(|| "say where it is cut: `section = { normal = \"z\", at = 0 }`".to_string());
                self.report.add(diag::WRONG_DIMENSION, &given.span, message, "has three axes", help)
            }
            RawShape::Stl { section: Some(section), .. } if !flat => {
                let message = "a surface is cut in two dimensions only";
                self.report.add(diag::WRONG_DIMENSION, &section.span, message, "has no effect on a body", None)
            }
            RawShape::Sphere { centre, radius } => {
                let centre = place(self, "`centre`", centre, 0.0)?;
                Some(Shape::Sphere { centre, radius: radius.value / cell })
            }
            RawShape::Box { from, to } => {
                let (low, high) = (place(self, "`from`", from, -FAR)?, place(self, "`to`", to, FAR)?);
                if let Some(axis) = (0..self.dim).find(|axis| low[*axis] >= high[*axis]) {
                    let message = format!("along {} the box ends where it begins, or before", axis_name(axis));
                    return self.report.add(diag::BAD_VALUE, &to.span, message, "not beyond `from`", None);
                }
                Some(Shape::Box { from: low, to: high })
            }
            RawShape::Cylinder { centre, radius, axis, length } => {
                let centre = place(self, "`centre`", centre, 0.0)?;
                let extra = [axis.as_ref().map(|axis| &axis.span), length.as_ref().map(|length| &length.span)];
                if let (true, Some(span)) = (flat, extra.into_iter().flatten().next()) {
                    let message = "in two dimensions a cylinder is a circle";
                    return self.report.add(diag::WRONG_DIMENSION, span, message, "has no effect on a circle", None);
                }
                let axis = match axis {
                    None if flat => [0.0, 0.0, 1.0],
                    None => {
                        let message = "`axis` is missing: the direction of the cylinder";
                        let help = "for example `axis = [0, 0, 1]`".to_string();
                        return self.report.add(diag::MISSING_KEY, &given.span, message, "not given here", help);
                    }
                    Some(axis) => self.direction(axis)?,
                };
                let length = length.as_ref().map(|length| length.value / cell);
                Some(Shape::Cylinder { centre, axis, radius: radius.value / cell, length })
            }
            RawShape::Stl { file, surface, scale, centre, rotate, section, close, .. } => {
                let Some(surface) = surface else {
                    let message = format!("`{}` has not been read", file.value);
                    return self.report.add(diag::NO_SURFACE, &file.span, message, "cannot be read", None);
                };
                let scale = scale.as_ref().map_or(1.0, |scale| scale.value) / cell;
                let welded = self.welded(&file.span, surface);
                let surface = welded.as_ref().unwrap_or(surface);
                let closed = close.as_ref().map(|most| self.without_holes(most, surface, most.value / cell / scale));
                let surface = closed.as_ref().unwrap_or(surface);
                if let Some(open) = surface.open() {
                    return self.open(&file.span, &open);
                }
                let turns = match rotate {
                    Some(turns) if turns.value.len() != 3 => {
                        self.wrong_dimension(&turns.span, "`rotate`", turns.value.len());
                        return None;
                    }
                    Some(turns) => [0, 1, 2].map(|axis| turns.value[axis].value.to_radians()),
                    None => [0.0; 3],
                };
                let turned = match section {
                    None => surface.map(|at| rotated(at.map(|at| at * scale), turns)),
                    Some(Spanned { value: plane, span }) => {
                        let turned = surface.map(|at| rotated(at, turns));
                        let Some(section) = turned.section(plane.normal, plane.at) else {
                            let (from, to) = turned.bounds();
                            let message = format!(
                                "the plane does not cut the surface, which goes from {} to {} along {}",
                                short(from[plane.normal]),
                                short(to[plane.normal]),
                                axis_name(plane.normal)
                            );
                            return self.report.add(diag::NO_SURFACE, span, message, "beside the surface", None);
                        };
                        section.map(|[x, y, z]| [x * scale, y * scale, z])
                    }
                };
                let (from, to) = turned.bounds();
                if turned.triangles() == 0 || from.iter().chain(&to).any(|at| !at.is_finite()) {
                    let extent =
                        if turned.triangles() == 0 { "smaller than any cell" } else { "larger than any domain" };
                    let message = format!("in the units of the domain the surface is {extent}");
                    let help = "`scale` is what a unit of the file is: cells, or a length in SI units".to_string();
                    return self.report.add(diag::NO_SURFACE, &file.span, message, "of no size", help);
                }
                let Some(centre) = centre else { return Some(Shape::Surface(turned)) };
                let centre = place(self, "`centre`", centre, 0.0)?;
                let (from, to) = Shape::Surface(turned.clone()).bounds();
                let by = [0, 1, 2].map(|axis| centre[axis] - 0.5 * (from[axis] + to[axis]));
                Some(Shape::Surface(turned).shifted(by))
            }
            RawShape::Image { file, voxels, from, scale, .. } => {
                let Some(voxels) = voxels else {
                    let message = format!("`{}` has not been read", file.value);
                    return self.report.add(diag::NO_IMAGE, &file.span, message, "cannot be read", None);
                };
                let [nx, ny, nz] = voxels.size();
                if flat != (nz == 1) {
                    let message = format!("the image has {nx} x {ny} x {nz} voxels, and the domain {} axes", self.dim);
                    let help = "a stack of pictures is named with a `*`, `slice_*.png`".to_string();
                    let help = (!flat).then_some(help);
                    return self.report.add(diag::WRONG_DIMENSION, &file.span, message, "of another dimension", help);
                }
                let width = scale.as_ref().map_or(1.0, |scale| scale.value) / cell;
                let from = match from {
                    Some(from) => place(self, "`from`", from, 0.0)?,
                    None => [0.0; 3],
                };
                let from = if flat { [from[0], from[1], -0.5 * width] } else { from };
                Some(Shape::Image(Image::new(voxels.clone(), from, width)))
            }
        }
    }

    /// An open surface with corners welded that nearly meet; says so. None where nothing is to be welded.
    fn welded(&mut self, span: &Span, surface: &Surface) -> Option<Surface> {
        surface.open()?;
        let (from, to) = surface.bounds();
        let extent = (0..3).map(|axis| to[axis] - from[axis]).fold(0.0, f64::max);
        let (welded, found) = surface.weld(WELDED * extent);
        let Welds { corners, farthest, doubled, divided } = found;
        let counted = |count: usize, one: &str, more: &str| match count {
            0 => None,
            1 => Some(format!("1 {one}")),
            _ => Some(format!("{count} {more}")),
        };
        let moved = counted(corners, "corner is moved", "corners are moved")
            .map(|what| format!("{what} to another, by {} of the file's units at most", short(farthest)));
        let all = [
            moved,
            counted(doubled, "triangle is left out that is there twice", "triangles are left out that are there twice"),
            counted(
                divided,
                "triangle is divided at corners of others on its edge",
                "triangles are divided at corners of others on their edges",
            ),
        ];
        let all: Vec<String> = all.into_iter().flatten().collect();
        if all.is_empty() {
            return None;
        }
        let still = if welded.open().is_some() { ", and some are still open" } else { "" };
        let message = format!("edges of the surface are open, and are welded{still}: {}", all.join("; "));
        let help = format!(
            "what is nearer than {} of the file's units, 1e-5 of its extent, counts as one place; export it with shared corners to have none of this",
            short(WELDED * extent)
        );
        self.report.add::<()>(diag::WELDED, span, message, "does not quite meet", help);
        Some(welded)
    }

    /// The surface with holes closed that are at most so wide, in units of the file; says which.
    fn without_holes(&mut self, close: &Spanned<f64>, surface: &Surface, most: f64) -> Surface {
        /// Holes that are listed.
        const LISTED: usize = 20;
        let (closed, holes) = surface.close(most);
        if holes.is_empty() {
            let message = "`close` has no effect: the surface has no hole that is so narrow";
            self.report.add::<()>(diag::NO_EFFECT, &close.span, message, "has no effect", None);
            return closed;
        }
        let hole = |hole: &Hole| {
            let at = hole.at.map(short).join(", ");
            format!("{} edges around ({at}), {} wide", hole.edges, short(hole.extent))
        };
        let listed: Vec<String> = holes.iter().take(LISTED).map(hole).collect();
        let more = if holes.len() > LISTED { format!("; and {} more", holes.len() - LISTED) } else { String::new() };
        let plural = if holes.len() == 1 { "hole is" } else { "holes are" };
        let message = format!("{} {plural} closed, in units of the file: {}{more}", holes.len(), listed.join("; "));
        let help = "look whether the surface is meant to be whole there".to_string();
        self.report.add::<()>(diag::HOLES_CLOSED, &close.span, message, "closes holes", help);
        closed
    }

    fn open<T>(&mut self, span: &Span, open: &Open) -> Option<T> {
        let at = open.at.map(short).join(", ");
        let edges = if open.edges == 1 { "1 edge has".to_string() } else { format!("{} edges have", open.edges) };
        let message = format!(
            "the surface is not closed: {edges} no triangle on one side, or one turned over; one is at ({at}) of the file"
        );
        let help = "close its holes and give all triangles outward normals; mesh editors call that making it manifold; `close = ...` \
                    closes holes up to that width"
            .to_string();
        self.report.add(diag::OPEN_SURFACE, span, message, "not watertight", help)
    }

    /// A vector of length 1.
    fn direction(&mut self, axis: &Spanned<Vec<Spanned<f64>>>) -> Option<Vector> {
        if axis.value.len() != 3 {
            self.wrong_dimension(&axis.span, "`axis`", axis.value.len());
            return None;
        }
        let norm = super::norm(axis.value.iter().map(|along| along.value));
        if norm == 0.0 {
            return self.report.add(diag::BAD_VALUE, &axis.span, "`axis` has no direction", "all zero", None);
        }
        Some([0, 1, 2].map(|at| axis.value[at].value / norm))
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

    fn inside_domain(&mut self, span: &Span, shape: &Shape, size: [usize; 3]) -> Option<()> {
        let (from, to) = shape.bounds();
        let outside = (0..self.dim).find(|axis| to[*axis] <= 0.0 || from[*axis] >= size[*axis] as f64);
        let Some(axis) = outside else { return Some(()) };
        let message = format!(
            "no part of the solid is in the domain: along {} it goes from {} to {} cells, the domain from 0 to {}",
            axis_name(axis),
            short(from[axis]),
            short(to[axis]),
            size[axis]
        );
        self.report.add(diag::OUTSIDE, span, message, "outside", None)
    }

    /// Refuses what has no cell's centre inside, or none across its thinnest part.
    fn thick_enough(&mut self, span: &Span, shape: &Shape, level: usize, size: [usize; 3]) -> Option<()> {
        let width = 0.5f64.powi(level as i32);
        if let Shape::Surface(surface) = shape {
            return self.thick_surface(span, surface, level, width, size);
        }
        if let Shape::Image(image) = shape {
            return self.thick_voxels(span, image, level, width, size);
        }
        let thickness = shape.thickness().unwrap_or(FAR);
        if thickness >= width {
            return Some(());
        }
        let message = format!("the solid is {} cells thick on level {level}, less than one", short(thickness / width));
        let help = finer(thickness);
        self.report.add(diag::TOO_THIN, span, message, "too thin for the grid", help)
    }

    /// Refuses an image without a cell's centre in a solid voxel; says where voxels are smaller than cells.
    fn thick_voxels(&mut self, span: &Span, image: &Image, level: usize, width: f64, size: [usize; 3]) -> Option<()> {
        let enough = (1.0 / image.width()).log2().ceil();
        let help =
            (image.width() < width).then(|| format!("`[refinement] finest = {enough}` has cells as small as voxels"));
        if !image.has_centres(width, self.dim, size.map(|cells| cells as f64)) {
            let message = format!("no cell of level {level} has its centre in a solid voxel");
            return self.report.add(diag::TOO_THIN, span, message, "too small for the grid", help);
        }
        if image.width() < width {
            let message = format!(
                "voxels are smaller than cells: {} cells of level {level} wide; a cell is solid if that at its centre is",
                short(image.width() / width)
            );
            self.report.add::<()>(diag::THIN_PARTS, span, message, "finer than the grid", help);
        }
        Some(())
    }

    /// Refuses a surface without a cell's centre inside; where parts are that thin, or shells overlap, says where.
    fn thick_surface(
        &mut self,
        span: &Span,
        surface: &Surface,
        level: usize,
        width: f64,
        size: [usize; 3],
    ) -> Option<()> {
        let mut end = size.map(|cells| cells as f64);
        if self.dim == 2 {
            // One line of cells along z, at which a section is the same.
            end[2] = width;
        }
        let found = surface.thickness(width, end);
        let Thickness { cells, thin, thinnest, .. } = found;
        let doubled = surface.doubled();
        if cells == 0 && doubled > 0 {
            let message = format!(
                "nothing is inside of the surface: {doubled} of its {} triangles are there twice and cancel each other",
                surface.triangles()
            );
            let help = "remove the copies: a sheet with two sides and nothing between them is no body".to_string();
            return self.report.add(diag::OPEN_SURFACE, span, message, "encloses nothing", help);
        }
        self.overlaps(span, &found, doubled, level);
        let (place, thickness) = match thinnest {
            Some((place, thickness)) => (place.map(short).join(", "), thickness),
            None if cells > 0 => return Some(()),
            None => {
                let message = format!("no cell of level {level} has its centre inside the solid");
                return self.report.add(diag::TOO_THIN, span, message, "too small for the grid", None);
            }
        };
        let parts = short(thickness / width);
        if cells == 0 {
            let message = format!(
                "no cell of level {level} has its centre inside the solid: at ({place}) it is {parts} cells thick"
            );
            let help = finer(thickness);
            return self.report.add(diag::TOO_THIN, span, message, "too thin for the grid", help);
        }
        let message = format!(
            "parts of the solid are thinner than a cell: along {thin} lines of cells of level {level} no centre is inside; the \
             thinnest is at ({place}), {parts} cells thick"
        );
        let help = "the flow sees walls there without cells between them: links are cut on both sides, by `bounce_back` half-way and by \
                    `interpolated_bounce_back` where the surface is"
            .to_string();
        self.report.add::<()>(diag::THIN_PARTS, span, message, "thin in parts", help);
        Some(())
    }

    /// Says how it is decided what is inside, where shells overlap.
    fn overlaps(&mut self, span: &Span, found: &Thickness, doubled: usize, level: usize) {
        let (message, help) = match (found.overlaps, found.turned) {
            ((cells, Some(place)), _) => {
                let place = place.map(short).join(", ");
                let twice = if doubled > 0 { format!("; {doubled} triangles are there twice") } else { String::new() };
                let message = format!(
                    "shells of the surface overlap: {cells} cells of level {level} are inside of more than one, such as that at \
                     ({place}){twice}; what is inside of any is solid"
                );
                (message, "that is right for parts that were put together; normals of a cavity must point into it")
            }
            (_, [true, true]) => {
                let message =
                    "some shells of the surface have normals that point outwards, and others inwards; what is inside \
                               of any is solid, but not where one of each overlap"
                        .to_string();
                (message, "give all bodies outward normals; only those of a cavity point into it")
            }
            _ => return,
        };
        self.report.add::<()>(diag::OVERLAPS, span, message, "has several shells", help.to_string());
    }

    /// Parameters of the rule of a surface, formulas of which are looked at on it, in lattice units, without the distance that the geometry gives: those that are
    /// the same all over it and at all times, and formulas of others.
    fn surface(
        &mut self,
        face: &RawFace,
        (near, moves): (&[Vector], bool),
        grid: ([usize; 3], f64),
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
        // That of a solid which moves follows from its motion.
        let given = |name: &str| name != DISTANCE && !(name == "velocity" && moves);
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

    /// Refuses a solid that fills all cells at a face through which something flows.
    fn covered_face(&mut self, span: &Span, shape: &Shape, size: [usize; 3], walls: &[Wall]) {
        for wall in walls.iter().filter(|wall| !wall.rests()) {
            if super::faces::points(size, self.dim, wall.face, 0.5).all(|point| shape.contains(point)) {
                let name = wall.face.name();
                let message = format!("the solid covers the face `{name}`");
                let help = format!("nothing gets through `{}` there: move the solid or make it smaller", wall.rule);
                return self.report.add::<()>(diag::COVERED, span, message, "covers a face", help).unwrap_or_default();
            }
        }
    }
}

/// Levels that are advised at most.
const MOST_ADVISED: f64 = 8.0;

/// What to do about a thickness, in cells of the coarsest level, that is less than a cell.
fn finer(thickness: f64) -> String {
    let enough = (1.0 / thickness).log2().ceil();
    match enough <= MOST_ADVISED {
        true => format!("`[refinement] finest = {enough}` has cells that fit in there; or make it thicker"),
        false => "make it thicker: no practical grid has cells that small".to_string(),
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

/// A point turned about x, then y, then z, by angles in radians.
fn rotated(at: Vector, turns: Vector) -> Vector {
    (0..3).fold(at, |at, axis| {
        let (one, other, (sine, cosine)) = ((axis + 1) % 3, (axis + 2) % 3, turns[axis].sin_cos());
        let mut turned = at;
        turned[one] = cosine * at[one] - sine * at[other];
        turned[other] = sine * at[one] + cosine * at[other];
        turned
    })
}
