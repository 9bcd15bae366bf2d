//! Rotating solids: each link that meets one has a wall of its own, with the local velocity of the surface.
//!
//! These walls come after all others. When solids move they are renumbered block by block and written as a whole; the links of a row
//! refer to them. The force on such a solid is the sum of the exchanges of its links, each relative to its own surface velocity, and the
//! torque the sum of their moments.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;

use crate::device::{Buffer, Device, Int};
use crate::geometry::solid::{Cutters, Rate, Vector};
use crate::solver::arrays::walls::Instance;
use crate::solver::error::StepError;
use crate::solver::solids::surfaces::velocity_at;
use crate::solver::spec::GridSpec;

/// Walls of links that meet rotating solids.
pub(crate) struct Turning {
    /// Number of other walls.
    pub(crate) first: usize,
    /// The surface of each rotating solid.
    pub(crate) surfaces: BTreeMap<usize, Surface>,
    /// For each wall, its index among such walls of its block, from 0; -1 for other walls.
    pub(crate) numbers: Buffer<Int>,
}

/// The surface of a rotating solid.
pub(crate) struct Surface {
    /// The wall of the whole surface; each link has a copy with its local velocity.
    pub(crate) wall: Instance,
    /// Offset of the velocity among the values of the wall.
    pub(crate) velocity: usize,
    /// Velocity of the solid in the step that begins.
    pub(crate) rate: Rate,
}

impl Turning {
    /// From solids whose walls begin at `cutters.first`; `None` if none rotates.
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

    /// The surface velocity of a rotating solid at a distance from its pivot.
    pub(crate) fn velocity(&self, solid: usize, arm: Vector) -> Vector {
        self.surfaces[&solid].rate.at(arm)
    }

    /// Sets the velocity of a solid in the step that begins, if it rotates.
    pub(crate) fn set_rate(&mut self, solid: usize, rate: Rate) {
        if let Some(surface) = self.surfaces.get_mut(&solid) {
            surface.rate = rate;
        }
    }
}
