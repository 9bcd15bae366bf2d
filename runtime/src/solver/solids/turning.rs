//! Solids that turn: each link that meets one has a wall of its own, with the velocity of the surface there.
//!
//! These walls come after all others. They are numbered anew when solids move, block by block, and written as a whole; links of a row refer to them.
//! The force on such a solid is the sum of what its links exchange, each relative to its own velocity, and the torque that of its moments.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;

use crate::device::{Buffer, Device, Int};
use crate::geometry::solid::{Cutters, Rate, Vector};
use crate::solver::arrays::walls::Instance;
use crate::solver::error::StepError;
use crate::solver::solids::surfaces::velocity_at;
use crate::solver::spec::GridSpec;

/// Walls of links that meet solids which turn.
pub(crate) struct Turning {
    /// How many other walls there are.
    pub(crate) first: usize,
    /// The surface of each solid that turns.
    pub(crate) surfaces: BTreeMap<usize, Surface>,
    /// For each wall, which of those of its block it is, from 0; -1 for others.
    pub(crate) numbers: Buffer<Int>,
}

/// The surface of a solid that turns.
pub(crate) struct Surface {
    /// The wall that all of it has, where it does not turn.
    pub(crate) wall: Instance,
    /// Where its velocity is among the values of the wall.
    pub(crate) velocity: usize,
    /// How fast it moves in the step that begins.
    pub(crate) rate: Rate,
}

impl Turning {
    /// Of solids whose surfaces have the walls from one on; none where none turns.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        spec: &GridSpec,
        cutters: &Cutters,
        walls: &[Instance],
    ) -> Result<Option<Turning>, StepError> {
        let mut surfaces = BTreeMap::new();
        for (number, (solid, motion)) in spec.solids.iter().zip(&spec.motions).enumerate() {
            if motion.as_ref().is_some_and(|motion| motion.turns()) {
                let mut wall = walls[cutters.first + number].clone();
                wall.values.resize(manifest.wall_stride as usize, 0.0);
                let velocity = velocity_at(manifest, solid)?;
                surfaces.insert(number, Surface { wall, velocity, rate: Rate::default() });
            }
        }
        if surfaces.is_empty() {
            return Ok(None);
        }
        Ok(Some(Turning { first: walls.len(), surfaces, numbers: device.ints(&vec![-1; walls.len()])? }))
    }

    /// The velocity of the surface of a solid that turns, so far from its pivot.
    pub(crate) fn velocity(&self, solid: usize, arm: Vector) -> Vector {
        self.surfaces[&solid].rate.at(arm)
    }

    /// Sets how fast a solid moves in the step that begins, if it turns.
    pub(crate) fn set_rate(&mut self, solid: usize, rate: Rate) {
        if let Some(surface) = self.surfaces.get_mut(&solid) {
            surface.rate = rate;
        }
    }
}
