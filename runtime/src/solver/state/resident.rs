//! Arrays of a simulation in the memory of its device, for other programs to read in place.

use crate::device::{Buffer, Element, Scalar};
use crate::kernels::layout::Layout;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

/// An array on a device, index `[slot][component][z][y][x]`: a slot has the values of a block. It exists as long as the simulation, at a
/// fixed address.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resident {
    /// Address of the first value, in the memory of its device.
    pub address: u64,
    /// The number of the GPU; `None` on the host.
    pub gpu: Option<usize>,
    /// The number that DLPack has for its memory (`DLDeviceType`).
    pub dlpack: i32,
    /// Type of the values.
    pub scalar: Scalar,
    /// Slots, components, and cells of a block along z, y and x.
    pub shape: [usize; 5],
    /// Number of values from one entry to the next along each index.
    pub strides: [usize; 5],
}

impl Simulation {
    /// The current populations of a level, in the order of the manifest, as they are stored: as differences from rest, or as moments.
    /// Slots of other levels have other data. Steps swap two such arrays, so the next step does not change this one and the step after it
    /// overwrites it. `None` if there is no such level, if the flow has several subdomains, or if the moments of a cell are stored side
    /// by side.
    pub fn resident_populations(&self, level: usize) -> Result<Option<Resident>, StepError> {
        let Some(current) = self.stepper.levels.get(level).map(|level| level.current) else { return Ok(None) };
        if self.subdomains() != 1 || self.manifest().is_side_by_side() {
            return Ok(None);
        }
        let array = &self.subdomains.first().fields().populations[current.index()];
        self.resident(array, Layout::populations(self.manifest())).map(Some)
    }

    /// The macroscopic fields of the current step, their components in the order of the manifest, in lattice units. The next call
    /// overwrites them. `None` if the flow has several subdomains.
    pub fn resident_fields(&mut self) -> Result<Option<Resident>, StepError> {
        if self.subdomains() != 1 {
            return Ok(None);
        }
        self.sample()?;
        self.resident(&self.subdomains.first().fields().macroscopic, Layout::fields(self.manifest())).map(Some)
    }

    /// Waits for all launches so far.
    fn resident<E: Element>(&self, array: &Buffer<E>, layout: Layout) -> Result<Resident, StepError> {
        self.device().synchronize()?;
        let ([x, y, z], pitch) = (layout.block(), layout.slot_len() / layout.components().max(1));
        Ok(Resident {
            address: array.address(),
            gpu: self.device().ordinal(),
            dlpack: self.device().dlpack(),
            scalar: array.scalar(),
            shape: [self.grid().slots(), layout.components(), z, y, x],
            strides: [layout.slot_len(), pitch, x * y, x, 1],
        })
    }
}
