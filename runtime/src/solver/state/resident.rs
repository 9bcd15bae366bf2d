//! Arrays of a simulation where they lie on their device, for other programs to read there.

use crate::device::{Buffer, Element, Scalar};
use crate::kernels::layout::Layout;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

/// An array on a device, index `[slot][component][z][y][x]`: a slot has the values of a block. It is there as long as the simulation is, and
/// stays where it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resident {
    /// Address of the first value, in the memory of its device.
    pub address: u64,
    /// The number of the GPU; nothing on the host.
    pub gpu: Option<usize>,
    /// Type of the values.
    pub scalar: Scalar,
    /// Slots, components, and cells of a block along z, y and x.
    pub shape: [usize; 5],
    /// Values from an entry to the next along each index.
    pub strides: [usize; 5],
}

impl Simulation {
    /// The current populations of a level, in the order of the manifest, as they are stored: less what they are at rest, or moments. Slots
    /// of other levels have something else. Steps swap two such arrays, so the next step leaves these as they are and the
    /// one after that overwrites them. `None` where there is no such level, where the flow is in several parts, or where moments of a cell lie side
    /// by side.
    pub fn resident_populations(&self, level: usize) -> Result<Option<Resident>, StepError> {
        let Some(current) = self.stepper.levels.get(level).map(|level| level.current) else { return Ok(None) };
        if self.parts() != 1 || self.manifest().is_side_by_side() {
            return Ok(None);
        }
        let array = &self.parts.first().fields.populations[current];
        self.resident(array, Layout::populations(self.manifest())).map(Some)
    }

    /// The macroscopic fields of the current step, their components in the order of the manifest, in lattice units. The next call
    /// overwrites them. `None` where the flow is in several parts.
    pub fn resident_fields(&mut self) -> Result<Option<Resident>, StepError> {
        if self.parts() != 1 {
            return Ok(None);
        }
        self.sample()?;
        self.resident(&self.parts.first().fields.macroscopic, Layout::fields(self.manifest())).map(Some)
    }

    /// After all launches so far.
    fn resident<E: Element>(&self, array: &Buffer<E>, layout: Layout) -> Result<Resident, StepError> {
        self.device().synchronize()?;
        let ([x, y, z], pitch) = (layout.block(), layout.slot_len() / layout.components().max(1));
        Ok(Resident {
            address: array.address(),
            gpu: self.device().ordinal(),
            scalar: array.scalar(),
            shape: [self.grid().slots(), layout.components(), z, y, x],
            strides: [layout.slot_len(), pitch, x * y, x, 1],
        })
    }
}
