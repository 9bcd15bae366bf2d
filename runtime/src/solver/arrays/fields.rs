//! Populations and macroscopic fields of a grid: allocation, size, rest values and names.

use lbm_bundle::Manifest;

use crate::device::{Buffer, Device, DeviceError, Packing, Real, Stored};
use crate::kernels::layout::Layout;
use crate::mesh::{self, Grid, Owned, OwnedLevel};
use crate::solver::arrays::cells::{SLOTS_AT_ONCE, range, runs};
use crate::solver::plan::task::PopulationSet;

/// Bytes of macroscopic fields that are computed at a time if those of all slots are not stored: enough to keep a device busy.
const WINDOW: usize = 32 << 20;

/// How many sets of populations there are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sets {
    /// One: steps replace populations in it.
    One,
    /// Two: a step reads one and writes the other.
    #[default]
    Two,
}

impl Sets {
    /// Their number.
    pub fn count(self) -> usize {
        match self {
            Sets::One => 1,
            Sets::Two => 2,
        }
    }

    /// The array in which a set stands; where there is one array, a set is an arrangement of it.
    pub(crate) fn array(self, set: PopulationSet) -> usize {
        match self {
            Sets::One => 0,
            Sets::Two => set.index(),
        }
    }
}

/// The per-block arrays of a grid.
pub struct Fields {
    /// Two sets of post-collision populations. The stepper knows which set is current on each level. The second is empty if steps replace
    /// populations in the first.
    pub populations: [Buffer<Stored>; 2],
    /// For a ghost coupling: populations that blocks at refinement interfaces save for other levels, `[row][direction][cell]`.
    pub saved: Buffer<Real>,
    /// Macroscopic fields: of all slots, or of as many consecutive slots as fit.
    pub macroscopic: Buffer<Real>,
}

/// Number of slots, out of `slots`, whose macroscopic fields are stored: all if `whole`.
pub(crate) fn slots_of_fields(manifest: &Manifest, slots: usize, whole: bool) -> usize {
    let window = WINDOW / (Layout::fields(manifest).slot_len() * manifest.real.bytes()).max(1);
    if whole { slots } else { slots.min(window.max(SLOTS_AT_ONCE)) }
}

impl Fields {
    /// Allocates the arrays of a grid. Populations are NaN at first. `whole`: whether to store the macroscopic fields of all slots. If
    /// memory does not suffice, the error states the bytes that are needed, and nothing is allocated. For a subdomain, arrays are written
    /// where its own blocks are; on [sparse](Device::sparse) devices they take memory for these blocks only, and must be
    /// [sealed](Self::seal).
    pub fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        (whole, sets): (bool, Sets),
        owned: Option<&Owned>,
    ) -> Result<Self, DeviceError> {
        let (layout, of_fields) = (Layout::populations(manifest), Layout::fields(manifest).slot_len());
        let whole = whole || owned.is_some();
        let fields = slots_of_fields(manifest, grid.slots(), whole);
        let sparse = owned.filter(|_| device.is_sparse());
        let [written, of_fields_written] = sparse.map_or([grid.slots(), fields], |owned| [owned.leaf_count(); 2]);
        let bytes = sets.count() * written * layout.slot_len() * manifest.real.stored_bytes()
            + of_fields_written * of_fields * manifest.real.bytes()
            + at_interfaces(manifest, grid.interfaces()).all();
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(device.out_of_memory(bytes));
        }
        let length = grid.slots() * layout.slot_len();
        let second = length * (sets.count() - 1);
        let mut populations =
            [device.alloc_stored(manifest.real, length)?, device.alloc_stored(manifest.real, second)?];
        let mut macroscopic = device.alloc_reals(manifest.real, fields * of_fields)?;
        let own = owned.map(|owned| owned.leaves(grid)).transpose()?;
        for buffer in &mut populations {
            match &own {
                None => buffer.poison()?,
                Some(own) => {
                    buffer.back(runs(own).map(|run| range(run, layout)))?;
                    runs(own).try_for_each(|run| buffer.poison_part(range(run, layout)))?;
                }
            }
        }
        if let Some(owned) = owned.filter(|_| grid.forest().stores_covered()) {
            let of_level = |owned: &OwnedLevel| grid.tables().covered.read_ints(owned.covered.clone());
            let covered = owned.levels.iter().map(of_level).collect::<Result<Vec<_>, _>>()?.concat();
            let of = |layout: Layout| {
                let length = layout.slot_len();
                covered.iter().map(move |slot| *slot as usize * length..(*slot as usize + 1) * length)
            };
            populations.iter_mut().try_for_each(|set| set.back(of(layout)))?;
            macroscopic.back(of(Layout::fields(manifest)))?;
        }
        if let Some(own) = &own {
            macroscopic.back(runs(own).map(|run| range(run, Layout::fields(manifest))))?;
        }
        let saved = saved_for(device, manifest, grid.interfaces())?;
        Ok(Fields { populations, saved, macroscopic })
    }

    /// Maps memory for blocks that a subdomain receives from another, which `fields` selects: for all their populations, which steps backwards
    /// read.
    pub fn make_room_for(&mut self, manifest: &Manifest, fields: &Packing) -> Result<(), DeviceError> {
        let [of_populations, of_fields] = [Layout::populations, Layout::fields].map(|of| of(manifest).slot_len());
        let slots = || fields.ranges().map(|range| range.start / of_fields);
        let populations = || slots().map(|slot| slot * of_populations..(slot + 1) * of_populations);
        self.populations.iter_mut().try_for_each(|set| set.back(populations()))?;
        self.macroscopic.back(fields.ranges())
    }

    /// Ends the mapping of memory: all data that the subdomain owns or receives have some.
    pub fn seal(&mut self) -> Result<(), DeviceError> {
        self.populations.iter_mut().try_for_each(Buffer::seal)?;
        self.macroscopic.seal()
    }

    /// Bytes for the data of a slot, including a share of the data at refinement interfaces: with a ghost coupling all blocks may lie
    /// there, otherwise about half of them do. Several GPUs share the first number; each GPU has all of the second.
    pub fn bytes_of_slot(manifest: &Manifest, sets: Sets) -> [usize; 2] {
        let (populations, fields) = (Layout::populations(manifest).slot_len(), Layout::fields(manifest).slot_len());
        let share = if mesh::stores_covered(manifest) { 1 } else { 2 };
        let own = sets.count() * populations * manifest.real.stored_bytes() + fields * manifest.real.bytes();
        let AtInterfaces { shared, tables } = at_interfaces(manifest, 1);
        [own + shared / share, tables / share]
    }

    /// Makes room for saved populations after the grid has changed. No value is kept between steps.
    pub fn make_room(&mut self, device: &Device, manifest: &Manifest, grid: &Grid) -> Result<(), DeviceError> {
        let interfaces = grid.interfaces();
        if mesh::stores_covered(manifest)
            && interfaces * Layout::beside_populations(manifest).slot_len() > self.saved.len()
        {
            self.saved = device.alloc_reals(manifest.real, 0)?;
            self.saved = saved_for(device, manifest, interfaces + interfaces / 4)?;
        }
        Ok(())
    }
}

/// Bytes of the data of blocks at refinement interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtInterfaces {
    /// Data that a subdomain has for its own blocks only.
    pub(crate) shared: usize,
    /// Data that every subdomain has for all blocks.
    pub(crate) tables: usize,
}

impl AtInterfaces {
    /// The sum of both.
    pub(crate) fn all(self) -> usize {
        self.shared.saturating_add(self.tables)
    }
}

/// Bytes for a number of blocks at refinement interfaces: saved populations for ghosts, or two rows of the inbox and the tables from which
/// these are filled.
pub(crate) fn at_interfaces(manifest: &Manifest, interfaces: usize) -> AtInterfaces {
    let [shared, tables] = match (mesh::stores_covered(manifest), &manifest.coupling) {
        (true, _) => [0, Layout::beside_populations(manifest).slot_len() * manifest.real.bytes()],
        (false, Some(_)) => {
            // Per row a mask and an offset; on all levels but the finest also the table of neighbours, the masks of cells and a list of
            // cells.
            let ints = 2 + manifest.around() + 2 * manifest.cells();
            [2 * manifest.inbox_row() * manifest.real.bytes(), ints * size_of::<i32>()]
        }
        (false, None) => [0, 0],
    };
    AtInterfaces { shared: interfaces.saturating_mul(shared), tables: interfaces.saturating_mul(tables) }
}

/// Every subdomain has the saved populations of all blocks.
fn saved_for(device: &Device, manifest: &Manifest, interfaces: usize) -> Result<Buffer<Real>, DeviceError> {
    let kept =
        if mesh::stores_covered(manifest) { interfaces * Layout::beside_populations(manifest).slot_len() } else { 0 };
    let mut saved = device.whole().alloc_reals(manifest.real, kept)?;
    saved.poison()?;
    Ok(saved)
}

/// The value at rest of each population, or of each moment that is stored in their place. Arrays store the difference from it.
pub fn rest(manifest: &Manifest) -> Vec<f64> {
    let populations: Vec<f64> = manifest.directions.iter().map(lbm_bundle::Direction::rest_value).collect();
    if manifest.moments.is_empty() { populations } else { in_moments(manifest, |pop| populations[pop]) }
}

/// The stored moments of populations.
pub fn in_moments(manifest: &Manifest, population: impl Fn(usize) -> f64) -> Vec<f64> {
    let of = |moment: &lbm_bundle::Moment| {
        moment.share_values().iter().enumerate().map(|(pop, share)| share * population(pop)).sum()
    };
    manifest.moments.iter().map(of).collect()
}

/// Names of the field components in the order of their values: `rho`, `ux`, `uy`.
pub fn component_names(manifest: &Manifest) -> Vec<String> {
    manifest.component_names()
}
