//! The memory that a grid needs, computed before its arrays are allocated.

use std::fmt;

use lbm_bundle::{Manifest, Target};

use crate::device::{Available, Bytes};
use crate::kernels::layout::Layout;
use crate::mesh::Blocks;
use crate::solver::arrays::fields::{self, Sets};

/// Copies that exist at the same time while they are written to files and the flow goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Number of copies of the macroscopic fields.
    pub fields: usize,
    /// Number of copies of all data of a restart file: populations, and the reference fields if there are any.
    pub states: usize,
    /// Whether the fields of all cells are copied to the host, in double precision, for output.
    pub outputs: bool,
}

/// How much of the data of blocks each GPU has in a flow with several subdomains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// Its own blocks: the grid is fixed.
    Evenly,
    /// Its own blocks and spare room: the grid is adaptive.
    WithSpare,
    /// As much as one GPU alone.
    No,
}

/// Memory of a subdomain of an adaptive grid over its equal share of all blocks. Subdomains differ in work, and each needs room for its
/// halo and for blocks that arrive before others leave.
const WITH_SPARE: f64 = 1.1 * UNEVEN;

impl Shared {
    /// The bytes of the data of blocks on each of several GPUs, from the `bytes` of all blocks.
    pub(crate) fn of(self, bytes: usize, gpus: usize) -> usize {
        match self {
            Shared::Evenly => bytes.div_ceil(gpus.max(1)),
            Shared::WithSpare => bytes.min((bytes as f64 * WITH_SPARE / gpus.max(1) as f64).ceil() as usize),
            Shared::No => bytes,
        }
    }
}

/// The memory of a grid in bytes; `usize::MAX` if the count overflows. With several subdomains on GPUs: the memory of each GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    target: Target,
    /// Number of GPUs that need this memory.
    devices: usize,
    /// The sets of populations.
    pub populations: usize,
    /// The inbox of blocks at refinement interfaces, or the populations that they save for ghosts.
    pub interfaces: usize,
    /// The part of `interfaces` that a subdomain has for its own blocks only.
    of_interfaces_shared: usize,
    /// Macroscopic fields, of all cells or of some at a time, and reference fields.
    pub fields: usize,
    /// Accumulators of statistics; on an adaptive grid also a second copy of the largest one, in order to move it.
    pub statistics: usize,
    /// The neighbours and all other tables of blocks.
    pub tables: usize,
    /// Cut links of solids and of faces along which values vary, with their distances.
    pub solids: usize,
    /// Fields for output on the host, in double precision.
    pub outputs: usize,
    /// Copies for output on the host. A GPU has as much for them in addition, if there is room.
    pub copies: usize,
}

impl Memory {
    /// The memory of a grid without statistics. `whole`: whether the fields of all cells are needed at a time; `reference`: whether there
    /// are reference fields in addition.
    pub fn new(manifest: &Manifest, blocks: Blocks, whole: bool, reference: bool, copies: Copies) -> Memory {
        let (real, stored) = (manifest.real.bytes(), manifest.real.stored_bytes());
        let product = |factors: &[usize]| factors.iter().fold(1usize, |all, factor| all.saturating_mul(*factor));
        let (populations, of_fields) = (Layout::populations(manifest).slot_len(), Layout::fields(manifest).slot_len());
        let beside = Layout::beside_populations(manifest).slot_len();
        let at_interfaces = fields::at_interfaces(manifest, blocks.interfaces);
        let of_fields_copied = copies.fields + if reference { copies.states } else { 0 };
        Memory {
            target: manifest.target,
            devices: 1,
            populations: product(&[2, blocks.slots, populations, stored]),
            interfaces: at_interfaces.all(),
            of_interfaces_shared: at_interfaces.shared,
            fields: product(&[
                fields::slots_of_fields(manifest, blocks.slots, whole || reference)
                    + usize::from(reference) * blocks.slots,
                of_fields,
                real,
            ]),
            statistics: 0,
            tables: blocks.tables,
            solids: product(&[blocks.cut, beside, size_of::<i32>() + real]),
            outputs: product(&[usize::from(copies.outputs), blocks.leaves, of_fields, size_of::<f64>()]),
            copies: product(&[copies.states, blocks.slots, populations, stored]).saturating_add(product(&[
                of_fields_copied,
                blocks.slots,
                of_fields,
                real,
            ])),
        }
    }

    /// The same with so many sets of populations in the place of two.
    pub fn with_sets(self, sets: Sets) -> Memory {
        Memory { populations: self.populations / 2 * sets.count(), ..self }
    }

    /// The same with `statistics` bytes of accumulators, and `copied` bytes of copies of these.
    pub(crate) fn with_statistics(self, statistics: usize, copied: usize) -> Memory {
        Memory { statistics, copies: self.copies.saturating_add(copied), ..self }
    }

    /// The same with `bytes` for solids that move, or under laws of the wall.
    pub(crate) fn with_solids(self, bytes: usize) -> Memory {
        Memory { solids: self.solids.saturating_add(bytes), ..self }
    }

    /// The same for several subdomains, each of which has the tables of all blocks. On GPUs each has its share of the other arrays: on a
    /// fixed grid without its halo, on an adaptive grid the most that it needs while the work is about balanced.
    pub fn in_subdomains(self, subdomains: usize, shared: Shared) -> Memory {
        let of = |bytes: usize| shared.of(bytes, subdomains);
        match self.target.is_gpu() {
            false => Memory { tables: self.tables.saturating_mul(subdomains), ..self },
            true => Memory {
                devices: subdomains,
                populations: of(self.populations),
                interfaces: self.interfaces - self.of_interfaces_shared + of(self.of_interfaces_shared),
                of_interfaces_shared: of(self.of_interfaces_shared),
                fields: of(self.fields),
                statistics: of(self.statistics),
                ..self
            },
        }
    }

    /// The memory of each kind of data, with its name; kinds that need none are left out.
    pub fn parts(&self) -> Vec<(&'static str, usize)> {
        let parts = [
            ("populations", self.populations),
            ("at refinement interfaces", self.interfaces),
            ("fields", self.fields),
            ("statistics", self.statistics),
            ("tables of blocks", self.tables),
            ("links cut by solids", self.solids),
            ("fields for output", self.outputs),
            ("copies for output", self.copies),
        ];
        parts.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
    }

    /// The memory on the device, or on each of several GPUs. On the host this is the total.
    pub fn on_device(&self) -> usize {
        let parts = [self.populations, self.interfaces, self.fields, self.statistics, self.tables, self.solids];
        let outputs = if self.target.is_gpu() { 0 } else { self.for_output() };
        parts.into_iter().fold(outputs, usize::saturating_add)
    }

    /// Number of GPUs in all processes; 1 on the host.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// The total on the devices and on the host.
    pub fn total(&self) -> usize {
        match self.target.is_gpu() {
            false => self.on_device(),
            true => self.on_device().saturating_mul(self.devices).saturating_add(self.for_output()),
        }
    }

    /// The memory for output on the host.
    fn for_output(&self) -> usize {
        self.outputs.saturating_add(self.copies)
    }

    /// Where memory does not suffice, if anywhere: the bytes needed there, and the bytes available.
    pub fn lack(&self, available: Available) -> Option<Lack> {
        let lack = |device: bool, needed: usize, available: Option<usize>| {
            let available = available.filter(|available| needed > *available)?;
            Some(Lack { device, needed, available })
        };
        let on_host = if self.target.is_gpu() { self.for_output() } else { 0 };
        lack(true, self.on_device(), available.device).or_else(|| lack(false, on_host, available.host))
    }
}

/// Too little memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lack {
    /// Whether it is that of the device that runs the kernels; otherwise that of the host beside it.
    pub device: bool,
    /// Bytes needed there.
    pub needed: usize,
    /// Bytes available there.
    pub available: usize,
}

impl fmt::Display for Lack {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = if self.device { "" } else { " of the host's memory, for output," };
        write!(out, "{}{place} where {} are available", Bytes(self.needed), Bytes(self.available))
    }
}

/// Work of a subdomain over the mean of all subdomains above which blocks migrate.
pub(crate) const UNEVEN: f64 = 1.1;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::fixture::manifest;
    use crate::mesh::{Behind, Grid};
    use crate::solver::arrays::fields::Fields;

    #[test]
    fn the_estimate_of_a_grid_is_what_its_arrays_have() {
        let (device, manifest) = (Device::host(1).unwrap(), manifest());
        let mut grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        grid.stay().unwrap();
        let fields = Fields::new(&device, &manifest, &grid, (true, Sets::Two), None).unwrap();
        let copies = Copies { fields: 2, states: 1, outputs: true };
        let memory = Memory::new(&manifest, Blocks::uniform(2, 6), true, true, copies);
        assert_eq!(memory.populations, fields.populations.iter().map(|set| set.bytes()).sum::<usize>());
        assert_eq!(memory.fields, 2 * fields.macroscopic.bytes());
        assert_eq!(memory.tables, grid.forest().bytes());
        assert_eq!(memory.copies, fields.populations[0].bytes() + 3 * fields.macroscopic.bytes());
    }

    #[test]
    fn gpus_share_what_lies_in_blocks_of_a_grid_that_stays_and_each_has_all_tables() {
        let on_gpus = Manifest { target: Target::Cuda, ..manifest() };
        let of = |manifest: &Manifest| Memory::new(manifest, Blocks::uniform(2, 60), true, false, Copies::default());
        let (one, two) = (of(&on_gpus), of(&on_gpus).in_subdomains(2, Shared::Evenly));
        assert_eq!((2 * two.populations, 2 * two.fields, two.tables), (one.populations, one.fields, one.tables));
        assert_eq!(two.total(), 2 * two.on_device() + two.outputs);
        assert_eq!(of(&on_gpus).in_subdomains(2, Shared::No).on_device(), one.on_device());
        let (host, parts) = (of(&manifest()), of(&manifest()).in_subdomains(2, Shared::Evenly));
        assert_eq!((parts.populations, parts.tables), (host.populations, 2 * host.tables));
    }

    #[test]
    fn gpus_share_what_lies_in_blocks_of_a_grid_that_follows_the_flow_with_room_to_spare() {
        assert_eq!([1, 2, 4].map(|gpus| Shared::WithSpare.of(1000, gpus)), [1000, 606, 303]);
        let manifest = Manifest { target: Target::Cuda, ..manifest() };
        let one = Memory::new(&manifest, Blocks::uniform(2, 60), true, false, Copies::default());
        let four = one.in_subdomains(4, Shared::WithSpare);
        assert_eq!((four.populations, four.tables), (Shared::WithSpare.of(one.populations, 4), one.tables));
        assert!(4 * four.populations > one.populations && 3 * four.populations < one.populations);
    }

    #[test]
    fn what_cannot_be_counted_does_not_fit() {
        let memory = Memory::new(&manifest(), Blocks::uniform(2, usize::MAX / 8), true, false, Copies::default());
        assert_eq!(memory.total(), usize::MAX);
        let available = Available { device: Some(1 << 40), host: None };
        assert_eq!(memory.lack(available).map(|lack| lack.available), Some(1 << 40));
        assert_eq!(memory.lack(Available::default()), None);
    }
}
