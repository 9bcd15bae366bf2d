//! Solids that move: their motions against the method, the grid and the speed of sound.

use lbm_runtime::geometry::solid::{MOST_PLACES, Shape, Solids};

use super::resolver::{Grid, Resolver, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::keys::params::RawParam;
use crate::case::keys::solids::{RawMotion, RawSolid, RawTurn};
use crate::case::resolved::MACH_ADVISED;
use crate::case::solids::{Moves, SolidBody, Turn};
use crate::case::stop::Stop;
use crate::case::units::{Dimension, Units};

/// Times at which a motion is looked at.
const TIMES: u64 = 4096;

impl Resolver<'_> {
    /// Refuses solids that come to too many places of a refined grid.
    pub(super) fn ways(&mut self, bodies: &[Vec<SolidBody>], size: [usize; 3], units: &Units) -> Option<()> {
        let (raw, steps) = (self.raw, Stop::new(&self.raw.stop, units).steps);
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
    pub(super) fn moves(
        &mut self,
        raw: &RawSolid,
        motion: &Spanned<RawMotion>,
        shape: &Shape,
        Grid { size, cell }: Grid,
        units: &Units,
    ) -> Option<Moves> {
        let (displacement, turn) = match &motion.value {
            RawMotion::Given { displacement, turn } => (displacement.as_ref(), turn.as_deref()),
            RawMotion::Free(_) => (None, None),
        };
        if let Some(given) = displacement.filter(|given| given.value.len() != self.dim) {
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
        let may_turn = turn.is_some() || matches!(motion.value, RawMotion::Free(_));
        let timed = |param: &&RawParam| may_turn && param.values.iter().any(|(value, _)| value.varies_in_time());
        if let Some(param) = raw.surface.params.iter().find(timed) {
            let message = format!("`{}` depends on time at the surface of a solid that turns", param.name.value);
            return self.report.add(diag::MOTION, &param.span, message, "depends on time", None);
        }
        let span = displacement.map_or(&motion.span, |given| &given.span);
        self.reference_velocity(span, "a motion")?;
        if let RawMotion::Free(free) = &motion.value {
            return Some(Moves::Free(Box::new(self.free(free, &motion.span, shape, units)?)));
        }
        let mut formula = |Spanned { value, span }: &Spanned<Formula>, what: &str| {
            if value.varies_in_place() {
                let message = format!("{what} is a formula of the time `t` alone: the solid moves as a whole");
                return self.report.add(diag::MOTION, span, message, "depends on the place", None);
            }
            Some(value.on(size, cell).in_steps(units.scale(Dimension::TIME)))
        };
        let displaced = displacement.into_iter().flat_map(|given| &given.value);
        let displaced =
            displaced.map(|given| Some(formula(given, "a displacement")?.over(cell))).collect::<Option<_>>()?;
        let angle = match turn {
            Some(turn) => Some(formula(&turn.angle, "an angle")?),
            None => None,
        };
        let raw_turn = turn;
        let turn = match turn.zip(angle) {
            Some((turn, angle)) => Some(self.turn(turn, angle, shape, cell)?),
            None => None,
        };
        let span = raw_turn.map_or(span, |turn| &turn.angle.span);
        let moves = Moves::Given { displacement: displaced, turn };
        self.speed_of_motion(&moves, shape, span, units)?;
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
    fn speed_of_motion(&mut self, moves: &Moves, shape: &Shape, span: &Span, units: &Units) -> Option<()> {
        let what = if moves.turns() { "`angle`" } else { "`displacement`" };
        let (steps, sound) = (Stop::new(&self.raw.stop, units).steps, self.manifest.main().cs2.sqrt());
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
            let speed = super::resolver::norm(rate.velocity.into_iter())
                + reach * super::resolver::norm(rate.rotation.into_iter());
            if !speed.is_finite() {
                let message = format!("{what} is not finite at step {}", short(time));
                return self.report.add(diag::BAD_VALUE, span, message, "not finite", None);
            }
            if speed > fastest.1 {
                fastest = (time, speed);
            }
        }
        let (time, mach) = (fastest.0, fastest.1 / sound);
        let place = if moves.turns() { " at its farthest point" } else { "" };
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
}
