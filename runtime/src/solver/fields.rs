//! Populations and macroscopic arrays of a grid, and their way to dense arrays on the host.

use std::ops::Range;

use lbm_bundle::Manifest;
use rayon::prelude::*;

use super::snapshot::{Component, Snapshot};
use crate::device::{Buffer, Device, DeviceError, Floating, Packing, Real, Stored};
use crate::geometry::solid::{Cutters, Solids};
use crate::geometry::{Cell, Domain};
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::forest::Leaf;
use crate::mesh::{self, Grid, Owned, OwnedLevel};

/// Slots that cross between device and host at a time: some megabytes, for which the same memory is taken each time.
pub(super) const SLOTS_AT_ONCE: usize = 1024;

/// Bytes of fields that are computed at a time where not those of all slots are kept: enough to keep a device busy.
const WINDOW: usize = 32 << 20;

/// The per-block arrays of a grid.
pub struct Fields {
    /// Two sets of post-collision populations; which one is current on a level is known to the stepper.
    pub populations: [Buffer<Stored>; 2],
    /// For a coupling of ghosts, what blocks at refinement interfaces keep for other levels, `[row][direction][cell]`.
    pub saved: Buffer<Real>,
    /// Macroscopic fields: of all slots, or of as many that follow each other as it has room for.
    pub macroscopic: Buffer<Real>,
}

/// Slots whose macroscopic fields there is room for, of so many: all of them if `whole`.
pub(crate) fn slots_of_fields(manifest: &Manifest, slots: usize, whole: bool) -> usize {
    let window = WINDOW / (Layout::fields(manifest).slot_len() * manifest.real.bytes()).max(1);
    if whole { slots } else { slots.min(window.max(SLOTS_AT_ONCE)) }
}

impl Fields {
    /// Arrays for a grid, populations full of NaN; with room for the macroscopic fields of all slots if `whole`. Says what is missing
    /// before it allocates. Of a part, arrays that are written where its own blocks are; on [sparse](Device::sparse) devices they take no more memory,
    /// and are to be [sealed](Self::seal).
    pub fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        whole: bool,
        owned: Option<&Owned>,
    ) -> Result<Self, DeviceError> {
        let (layout, of_fields) = (Layout::populations(manifest), Layout::fields(manifest).slot_len());
        let whole = whole || owned.is_some();
        let fields = slots_of_fields(manifest, grid.slots(), whole);
        let sparse = owned.filter(|_| device.is_sparse());
        let [written, of_fields_written] = sparse.map_or([grid.slots(), fields], |owned| [owned.leaf_count(); 2]);
        let bytes = 2 * written * layout.slot_len() * manifest.real.stored_bytes()
            + of_fields_written * of_fields * manifest.real.bytes()
            + at_interfaces(manifest, grid.interfaces()).all();
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(device.out_of_memory(bytes));
        }
        let length = grid.slots() * layout.slot_len();
        let mut populations =
            [device.alloc_stored(manifest.real, length)?, device.alloc_stored(manifest.real, length)?];
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
        if let Some(owned) = owned.filter(|_| grid.forest().holds()) {
            let of_level = |owned: &OwnedLevel| grid.tables().held.read_ints(owned.held.clone());
            let held = owned.levels.iter().map(of_level).collect::<Result<Vec<_>, _>>()?.concat();
            let of = |layout: Layout| {
                let length = layout.slot_len();
                held.iter().map(move |slot| *slot as usize * length..(*slot as usize + 1) * length)
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

    /// Makes room for what a part gets of another's populations and fields.
    pub fn make_room_for(&mut self, populations: &Packing, fields: &Packing) -> Result<(), DeviceError> {
        self.populations.iter_mut().try_for_each(|set| set.back(populations.ranges()))?;
        self.macroscopic.back(fields.ranges())
    }

    /// There is room for all that a part has and gets.
    pub fn seal(&mut self) -> Result<(), DeviceError> {
        self.populations.iter_mut().try_for_each(Buffer::seal)?;
        self.macroscopic.seal()
    }

    /// Bytes for the data of a slot, with its part of what blocks at refinement interfaces have: that may be all blocks where they
    /// have ghosts; of others about half. GPUs share the first, and each has all of the second.
    pub fn bytes_of_slot(manifest: &Manifest) -> [usize; 2] {
        let (populations, fields) = (Layout::populations(manifest).slot_len(), Layout::fields(manifest).slot_len());
        let share = if mesh::holds(manifest) { 1 } else { 2 };
        let own = 2 * populations * manifest.real.stored_bytes() + fields * manifest.real.bytes();
        let AtInterfaces { shared, tables } = at_interfaces(manifest, 1);
        [own + shared / share, tables / share]
    }

    /// After the grid has changed: room for what is kept at interfaces. Nothing is kept between steps.
    pub fn make_room(&mut self, device: &Device, manifest: &Manifest, grid: &Grid) -> Result<(), DeviceError> {
        let interfaces = grid.interfaces();
        if mesh::holds(manifest) && interfaces * Layout::beside_populations(manifest).slot_len() > self.saved.len() {
            self.saved = device.alloc_reals(manifest.real, 0)?;
            self.saved = saved_for(device, manifest, interfaces + interfaces / 4)?;
        }
        Ok(())
    }
}

/// Bytes of what blocks at refinement interfaces have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AtInterfaces {
    /// What parts have of their own blocks alone.
    pub(crate) shared: usize,
    /// What they have of all.
    pub(crate) tables: usize,
}

impl AtInterfaces {
    /// All together.
    pub(crate) fn all(self) -> usize {
        self.shared.saturating_add(self.tables)
    }
}

/// What so many blocks at refinement interfaces have: populations that they keep for ghosts, or two rows of the inbox and what these are
/// made from.
pub(crate) fn at_interfaces(manifest: &Manifest, interfaces: usize) -> AtInterfaces {
    let [shared, tables] = match (mesh::holds(manifest), &manifest.coupling) {
        (true, _) => [0, Layout::beside_populations(manifest).slot_len() * manifest.real.bytes()],
        (false, Some(_)) => {
            // Rows, a mask and a place; and, but on the finest level, what is around, masks of cells, and a list of them.
            let ints = 2 + manifest.around() + 2 * manifest.cells();
            [2 * manifest.inbox_row() * manifest.real.bytes(), ints * size_of::<i32>()]
        }
        (false, None) => [0, 0],
    };
    AtInterfaces { shared: interfaces.saturating_mul(shared), tables: interfaces.saturating_mul(tables) }
}

/// Each part has all of it.
fn saved_for(device: &Device, manifest: &Manifest, interfaces: usize) -> Result<Buffer<Real>, DeviceError> {
    let kept = if mesh::holds(manifest) { interfaces * Layout::beside_populations(manifest).slot_len() } else { 0 };
    let mut saved = device.whole().alloc_reals(manifest.real, kept)?;
    saved.poison()?;
    Ok(saved)
}

/// What each population is at rest, or each moment that is stored in their place: it is stored without that.
pub fn rest(manifest: &Manifest) -> Vec<f64> {
    let populations: Vec<f64> = manifest.directions.iter().map(lbm_bundle::Direction::rest_value).collect();
    if manifest.moments.is_empty() { populations } else { in_moments(manifest, |pop| populations[pop]) }
}

/// The moments that are stored of populations.
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

/// How the macroscopic fields lie, and what their components are called.
pub(super) fn of_fields(manifest: &Manifest) -> (Layout, Vec<String>) {
    (Layout::fields(manifest), component_names(manifest))
}

/// Leaves whose slots follow each other, as many as cross between device and host at a time.
pub(crate) fn runs(leaves: &[Leaf]) -> impl Iterator<Item = &[Leaf]> {
    leaves.chunk_by(|one, next| one.slot.0 + 1 == next.slot.0).flat_map(|run| run.chunks(SLOTS_AT_ONCE))
}

/// Where the values of these leaves are.
pub(crate) fn range(run: &[Leaf], layout: Layout) -> Range<usize> {
    let first = run.first().map_or(0, |leaf| leaf.slot.index() * layout.slot_len());
    first..first + run.len() * layout.slot_len()
}

/// Fills an array `[slot - first][component][cell]` from the values of the cells of some leaves: `value(cell, out)` writes one value
/// per component for the cell; what it does not write is 0. Blocks are filled in parallel.
pub fn scatter<E: Floating>(
    to: &mut Buffer<E>,
    layout: Layout,
    grid: &Grid,
    (leaves, first): (&[Leaf], usize),
    value: impl Fn(Cell, &mut [f64]) + Sync,
) -> Result<(), DeviceError> {
    for run in runs(leaves) {
        let range = range(run, layout);
        let mut values = vec![0.0; range.len()];
        change_cells(&mut values, run, layout, grid, &value);
        to.write_reals(range.start - first * layout.slot_len(), &values)?;
    }
    Ok(())
}

/// Changes what some leaves have in an array `[slot][component][cell]`, cell by cell: `change(cell, values)` has the components of the
/// cell. Blocks are changed in parallel.
pub fn update<E: Floating>(
    array: &mut Buffer<E>,
    layout: Layout,
    grid: &Grid,
    leaves: &[Leaf],
    change: impl Fn(Cell, &mut [f64]) + Sync,
) -> Result<(), DeviceError> {
    for run in runs(leaves) {
        let range = range(run, layout);
        let mut values = array.read_reals(range.clone())?;
        change_cells(&mut values, run, layout, grid, &change);
        array.write_reals(range.start, &values)?;
    }
    Ok(())
}

/// Changes the values of some leaves whose slots follow each other.
fn change_cells(
    values: &mut [f64],
    run: &[Leaf],
    layout: Layout,
    grid: &Grid,
    change: &(impl Fn(Cell, &mut [f64]) + Sync),
) {
    values.par_chunks_mut(layout.slot_len()).zip(run).for_each(|(values, leaf)| {
        let mut of_cell = vec![0.0; layout.components()];
        let origin = grid.origin(leaf.block);
        for cell in layout.all_cells() {
            let inside = layout.position(cell);
            let place = |component: usize| layout.offset(SlotId(0), component, cell);
            for (component, value) in of_cell.iter_mut().enumerate() {
                *value = values[place(component)];
            }
            change(Cell { at: std::array::from_fn(|axis| origin.at[axis] + inside[axis]), ..origin }, &mut of_cell);
            for (component, value) in of_cell.iter().enumerate() {
                values[place(component)] = *value;
            }
        }
    });
}

/// Every cell of an array `[slot][component][cell]`, `read` range by range, block by block: `each(cell, values)`; none of a range of which
/// nothing is read.
pub fn visit<E: From<DeviceError>>(
    read: impl Fn(Range<usize>) -> Result<Vec<f64>, E>,
    layout: Layout,
    grid: &Grid,
    mut each: impl FnMut(Cell, &[f64]),
) -> Result<(), E> {
    let mut of_cell = vec![0.0; layout.components()];
    for run in runs(grid.leaves()?) {
        let values = read(range(run, layout))?;
        for (slot, leaf) in run.iter().enumerate().filter(|_| !values.is_empty()) {
            let origin = grid.origin(leaf.block);
            for cell in layout.all_cells() {
                let inside = layout.position(cell);
                for (component, value) in of_cell.iter_mut().enumerate() {
                    *value = values[layout.offset(SlotId(slot as u32), component, cell)];
                }
                each(Cell { at: std::array::from_fn(|axis| origin.at[axis] + inside[axis]), ..origin }, &of_cell);
            }
        }
    }
    Ok(())
}

/// An array of the leaves that cover a domain, with its layout and the names of its components, `read` range by range in the order of
/// memory. One level becomes a single block. Where nothing is read, there are zeros.
pub fn gather<E>(
    mut read: impl FnMut(Range<usize>) -> Result<Vec<f64>, E>,
    (layout, names): (Layout, Vec<String>),
    domain: Domain,
    leaves: &[Leaf],
    step: u64,
) -> Result<Snapshot, E> {
    let (side, cells) = (layout.block(), layout.cells());
    let empty = names.into_iter().map(|name| Component { name, data: vec![0.0; leaves.len() * cells] });
    let uniform = leaves.iter().all(|leaf| leaf.block.level == 0);
    let mut snapshot = match uniform {
        true => Snapshot::uniform(step, domain, empty.collect()),
        false => {
            let blocks = leaves.iter().map(|leaf| leaf.block).collect();
            Snapshot::new(step, domain, side, blocks, empty.collect())
        }
    };
    let (width, last_axis) = (domain.size[0], domain.dim - 1);
    let layer = domain.size[..last_axis].iter().product::<usize>() * side[last_axis];
    let first_cell = |leaf: &Leaf| {
        let [x, y, z]: [usize; 3] = std::array::from_fn(|axis| leaf.block.place[axis] * side[axis]);
        x + width * (y + domain.size[1] * z)
    };
    // Memory is read in its order, whatever that of the leaves is.
    let mut order: Vec<usize> = (0..leaves.len()).collect();
    order.sort_by_key(|at| leaves[*at].slot);
    let mut rest = &order[..];
    while let Some(first) = rest.first().map(|at| leaves[*at].slot.index()) {
        let near = rest.partition_point(|at| leaves[*at].slot.index() < first + SLOTS_AT_ONCE);
        let (run, later) = rest.split_at(near);
        let last = leaves[run[run.len() - 1]].slot.index();
        let values = read(first * layout.slot_len()..(last + 1) * layout.slot_len())?;
        rest = later;
        if values.is_empty() {
            continue;
        }
        let of = |leaf: &Leaf, component: usize| {
            &values[((leaf.slot.index() - first) * layout.components() + component) * cells..][..cells]
        };
        if uniform {
            // Rows of blocks along the last axis that there is lie apart in the values of a component.
            let mut leaves_of_layers: Vec<Vec<&Leaf>> = vec![vec![]; domain.size[last_axis] / side[last_axis]];
            run.iter().for_each(|at| leaves_of_layers[leaves[*at].block.place[last_axis]].push(&leaves[*at]));
            snapshot.components.par_iter_mut().enumerate().for_each(|(component, to)| {
                let layers = to.data.par_chunks_mut(layer).zip(&leaves_of_layers).enumerate();
                layers.filter(|(_, (_, leaves))| !leaves.is_empty()).for_each(|(at, (to, leaves))| {
                    for leaf in leaves {
                        let first_cell = first_cell(leaf) - at * layer;
                        for (row, values) in of(leaf, component).chunks(side[0]).enumerate() {
                            let row = width * (row % side[1] + domain.size[1] * (row / side[1]));
                            to[first_cell + row..][..side[0]].copy_from_slice(values);
                        }
                    }
                });
            });
        } else {
            snapshot.components.par_iter_mut().enumerate().for_each(|(component, to)| {
                for at in run {
                    to.data[at * cells..][..cells].copy_from_slice(of(&leaves[*at], component));
                }
            });
        }
    }
    Ok(snapshot)
}

/// Says in a snapshot of these leaves which cells are solid.
pub fn mark_solid(snapshot: &mut Snapshot, manifest: &Manifest, leaves: &[Leaf], cutters: Option<&Cutters>) {
    let side = manifest.block.map(|side| side as usize);
    snapshot.solid = cutters.map_or(vec![], |cutters| solid_cells(snapshot, side, leaves, &cutters.solids));
}

/// Which cells of a snapshot of these leaves are solid, in the order of its values; nothing if none is.
fn solid_cells(snapshot: &Snapshot, side: [usize; 3], leaves: &[Leaf], solids: &Solids) -> Vec<bool> {
    let masks: Vec<Option<Vec<bool>>> = leaves.par_iter().map(|leaf| solids.mask(leaf.block)).collect();
    if masks.iter().all(Option::is_none) {
        return vec![];
    }
    let cells: usize = side.iter().product();
    let (size, uniform) = (snapshot.size(), snapshot.is_uniform());
    let mut solid = vec![false; snapshot.blocks().len() * snapshot.block_cells()];
    for (at, (leaf, mask)) in leaves.iter().zip(masks).enumerate() {
        let Some(mask) = mask else { continue };
        if !uniform {
            solid[at * cells..][..cells].copy_from_slice(&mask);
            continue;
        }
        for (cell, is_solid) in mask.into_iter().enumerate() {
            let inside = [cell % side[0], cell / side[0] % side[1], cell / (side[0] * side[1])];
            let place: [usize; 3] = std::array::from_fn(|axis| leaf.block.place[axis] * side[axis] + inside[axis]);
            if (0..3).all(|axis| place[axis] < size[axis]) {
                solid[snapshot.index(place[0], place[1], place[2])] = is_solid;
            }
        }
    }
    solid
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::manifest;
    use crate::mesh::Behind;

    #[test]
    fn gather_inverts_scatter() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        let mut fields = Fields::new(&device, &manifest, &grid, true, None).unwrap();
        let layout = Layout::fields(&manifest);
        scatter(&mut fields.macroscopic, layout, &grid, (grid.leaves().unwrap(), 0), |Cell { at, .. }, out| {
            out.copy_from_slice(&[at[0] as f64, at[1] as f64, 0.5]);
        })
        .unwrap();
        let read = |range| fields.macroscopic.read_reals(range);
        let snapshot = gather(read, of_fields(&manifest), grid.domain(), grid.leaves().unwrap(), 3).unwrap();
        assert_eq!((snapshot.step, snapshot.size()), (3, [24, 16, 1]));
        for (x, y) in (0..24).flat_map(|x| (0..16).map(move |y| (x, y))) {
            let at = snapshot.index(x, y, 0);
            let values: Vec<f64> =
                ["rho", "ux", "uy"].iter().map(|name| snapshot.get(name).expect("a component")[at]).collect();
            assert_eq!(values, [x as f64, y as f64, 0.5]);
        }
    }

    #[test]
    fn cells_of_every_level_are_gathered_wherever_their_blocks_lie() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid =
            Grid::refined(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6], 2, |block| block.place[0] == 1)
                .unwrap();
        let layout = Layout::fields(&manifest);
        let mut leaves = grid.leaves().unwrap().to_vec();
        let last = leaves.len() - 1;
        // Slots in another order than the leaves, one of them far away.
        leaves.reverse();
        for (at, leaf) in leaves.iter_mut().enumerate() {
            leaf.slot = SlotId(if at == 0 { SLOTS_AT_ONCE as u32 + 9 } else { (last - at) as u32 });
        }
        let slots = leaves[0].slot.index() + 1;
        let mut array = device.alloc_reals(manifest.real, slots * layout.slot_len()).unwrap();
        let value = |cell: Cell| 100.0 * cell.centre()[0] + cell.centre()[1];
        for leaf in &leaves {
            for cell in layout.all_cells() {
                let inside = layout.position(cell);
                let at = std::array::from_fn(|axis| leaf.block.place[axis] * [8, 8, 1][axis] + inside[axis]);
                array
                    .write_reals(layout.offset(leaf.slot, 2, cell), &[value(Cell { level: leaf.block.level, at })])
                    .unwrap();
            }
        }
        let snapshot =
            gather(|range| array.read_reals(range), of_fields(&manifest), grid.domain(), &leaves, 0).unwrap();
        let uy = snapshot.get("uy").unwrap();
        assert_eq!(uy.len(), grid.cells());
        assert!((0..uy.len()).all(|at| uy[at] == value(snapshot.cell(at))));
    }

    #[test]
    fn an_update_sees_and_changes_its_own_cell() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        let mut fields = Fields::new(&device, &manifest, &grid, true, None).unwrap();
        let layout = Layout::fields(&manifest);
        scatter(&mut fields.macroscopic, layout, &grid, (grid.leaves().unwrap(), 0), |cell, out| {
            out[1] = cell.at[0] as f64
        })
        .unwrap();
        update(&mut fields.macroscopic, layout, &grid, grid.leaves().unwrap(), |cell, values| {
            values[1] -= 2.0 * cell.at[0] as f64
        })
        .unwrap();
        let read = |range| fields.macroscopic.read_reals(range);
        let snapshot = gather(read, of_fields(&manifest), grid.domain(), grid.leaves().unwrap(), 0).unwrap();
        let expected: Vec<f64> = (0..24 * 16).map(|at| -((at % 24) as f64)).collect();
        assert_eq!(snapshot.get("ux").unwrap(), expected);
        assert!(snapshot.get("uy").unwrap().iter().all(|uy| *uy == 0.0));
    }

    #[test]
    fn populations_start_as_nan() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [8, 8, 1], [Behind::Periodic; 6]).unwrap();
        let fields = Fields::new(&device, &manifest, &grid, true, None).unwrap();
        assert!(fields.populations[1].read_reals(0..9).unwrap().iter().all(|value| value.is_nan()));
    }
}
