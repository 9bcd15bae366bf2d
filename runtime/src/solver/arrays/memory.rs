//! What a grid takes in memory, counted before its arrays are there.

use std::fmt;

use lbm_bundle::{Manifest, Target};

use crate::device::{Available, Bytes};
use crate::kernels::layout::Layout;
use crate::mesh::Blocks;
use crate::solver::arrays::fields;

/// How many copies there are at a time, on their way to files while the flow goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Copies {
    /// Of the macroscopic fields.
    pub fields: usize,
    /// Of all that a restart file has: populations, and fields of an earlier step if they are kept.
    pub states: usize,
    /// Whether the fields of all cells come to the host, in double precision, to be written.
    pub outputs: bool,
}

/// What each GPU has of what lies in the blocks of a flow in parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shared {
    /// Its own blocks: the grid stays.
    Evenly,
    /// Its own blocks, and some spare room: the grid follows the flow.
    WithSpare,
    /// As much as one GPU alone.
    No,
}

/// Room of a part of a grid that follows the flow, over that of its share of all blocks: parts differ in work, and each has room for its halo
/// and for blocks that come before others go.
const WITH_SPARE: f64 = 1.1 * UNEVEN;

impl Shared {
    /// So many bytes in blocks, on each of so many GPUs.
    pub(crate) fn of(self, bytes: usize, gpus: usize) -> usize {
        match self {
            Shared::Evenly => bytes.div_ceil(gpus.max(1)),
            Shared::WithSpare => bytes.min((bytes as f64 * WITH_SPARE / gpus.max(1) as f64).ceil() as usize),
            Shared::No => bytes,
        }
    }
}

/// What a grid takes, in bytes; beyond what can be counted it is `usize::MAX`. In parts on GPUs it is what each of them takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    target: Target,
    /// GPUs that take it.
    devices: usize,
    /// Two sets of populations.
    pub populations: usize,
    /// The inbox of blocks at refinement interfaces, or what they keep for ghosts.
    pub interfaces: usize,
    /// What parts have of that of their own blocks alone.
    of_interfaces_shared: usize,
    /// Macroscopic fields, of all cells or of some at a time, and those of an earlier step to compare with.
    pub fields: usize,
    /// Accumulators of statistics, and where the grid follows the flow as much again as one of them has, to move it.
    pub statistics: usize,
    /// Neighbours and all other tables of blocks.
    pub tables: usize,
    /// Links that solids and faces along which values vary cut, and their distances.
    pub solids: usize,
    /// Fields on the host, in double precision, from which files are written.
    pub outputs: usize,
    /// Copies on their way to files, on the host. A GPU has as much for them besides, where there is room for it.
    pub copies: usize,
}

impl Memory {
    /// Of a grid without statistics. `whole` is whether the fields of all cells are needed at a time, `reference` whether those of an earlier step are kept
    /// besides.
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

    /// The same with statistics of so many bytes, of which so many more are on their way to files.
    pub(crate) fn with_statistics(self, statistics: usize, copied: usize) -> Memory {
        Memory { statistics, copies: self.copies.saturating_add(copied), ..self }
    }

    /// The same in so many parts, each of which has the tables of all blocks. On GPUs each has its share of other arrays: where the grid stays,
    /// without its halo; where it follows the flow, the most that it takes while parts are about even.
    pub fn in_parts(self, parts: usize, shared: Shared) -> Memory {
        let of = |bytes: usize| shared.of(bytes, parts);
        match self.target.is_gpu() {
            false => Memory { tables: self.tables.saturating_mul(parts), ..self },
            true => Memory {
                devices: parts,
                populations: of(self.populations),
                interfaces: self.interfaces - self.of_interfaces_shared + of(self.of_interfaces_shared),
                of_interfaces_shared: of(self.of_interfaces_shared),
                fields: of(self.fields),
                statistics: of(self.statistics),
                ..self
            },
        }
    }

    /// Each part by its name, none of nothing.
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

    /// All that the device holds, or each of several GPUs. On the host that is all.
    pub fn on_device(&self) -> usize {
        let parts = [self.populations, self.interfaces, self.fields, self.statistics, self.tables, self.solids];
        let outputs = if self.target.is_gpu() { 0 } else { self.for_output() };
        parts.into_iter().fold(outputs, usize::saturating_add)
    }

    /// How many GPUs there are, in all processes; 1 on the host.
    pub fn devices(&self) -> usize {
        self.devices
    }

    /// All together, on the devices and on the host.
    pub fn total(&self) -> usize {
        match self.target.is_gpu() {
            false => self.on_device(),
            true => self.on_device().saturating_mul(self.devices).saturating_add(self.for_output()),
        }
    }

    /// What output takes on the host.
    fn for_output(&self) -> usize {
        self.outputs.saturating_add(self.copies)
    }

    /// What there is not enough of, if so: where, how much is needed there, and how much there is.
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
    /// Whether on the device that runs the kernels, else on the host beside it.
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

/// Work of a part over the mean of all from which on blocks go to other parts.
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
        let fields = Fields::new(&device, &manifest, &grid, true, None).unwrap();
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
        let (one, two) = (of(&on_gpus), of(&on_gpus).in_parts(2, Shared::Evenly));
        assert_eq!((2 * two.populations, 2 * two.fields, two.tables), (one.populations, one.fields, one.tables));
        assert_eq!(two.total(), 2 * two.on_device() + two.outputs);
        assert_eq!(of(&on_gpus).in_parts(2, Shared::No).on_device(), one.on_device());
        let (host, parts) = (of(&manifest()), of(&manifest()).in_parts(2, Shared::Evenly));
        assert_eq!((parts.populations, parts.tables), (host.populations, 2 * host.tables));
    }

    #[test]
    fn gpus_share_what_lies_in_blocks_of_a_grid_that_follows_the_flow_with_room_to_spare() {
        assert_eq!([1, 2, 4].map(|gpus| Shared::WithSpare.of(1000, gpus)), [1000, 606, 303]);
        let manifest = Manifest { target: Target::Cuda, ..manifest() };
        let one = Memory::new(&manifest, Blocks::uniform(2, 60), true, false, Copies::default());
        let four = one.in_parts(4, Shared::WithSpare);
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
