//! Per-block arrays, cell by cell: filled, changed and visited on the host.

use std::ops::Range;

use rayon::prelude::*;

use crate::device::{Buffer, DeviceError, Floating};
use crate::geometry::Cell;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::Grid;
use crate::mesh::forest::Leaf;

/// Slots that are copied between device and host at a time: some megabytes, so that the allocator reuses the same memory for each copy.
pub(crate) const SLOTS_AT_ONCE: usize = 1024;

/// Runs of leaves with consecutive slots, each of at most [`SLOTS_AT_ONCE`] leaves.
pub(crate) fn runs(leaves: &[Leaf]) -> impl Iterator<Item = &[Leaf]> {
    leaves.chunk_by(|one, next| one.slot.0 + 1 == next.slot.0).flat_map(|run| run.chunks(SLOTS_AT_ONCE))
}

/// The range of the values of such a run in an array.
pub(crate) fn range(run: &[Leaf], layout: Layout) -> Range<usize> {
    let first = run.first().map_or(0, |leaf| leaf.slot.index() * layout.slot_len());
    first..first + run.len() * layout.slot_len()
}

/// Fills an array `[slot - first][component][cell]` for the cells of some leaves. `value(cell, out)` writes one value per component;
/// components that it does not write are 0. Blocks are filled in parallel.
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

/// Changes the values of some leaves in an array `[slot][component][cell]`, cell by cell: `change(cell, values)` gets the components of the
/// cell. Blocks are changed in parallel; cells beyond the domain are left as they are.
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
        let domain = grid.domain();
        change_cells(&mut values, run, layout, grid, &|cell: Cell, values: &mut [f64]| {
            if domain.contains(cell) {
                change(cell, values);
            }
        });
        array.write_reals(range.start, &values)?;
    }
    Ok(())
}

/// Changes the values of leaves with consecutive slots.
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

/// Visits every cell of the domain in an array `[slot][component][cell]`, block by block: `each(cell, values)`. `read` returns the values of a range; if
/// it returns none, the cells of that range are skipped.
pub fn visit<E: From<DeviceError>>(
    read: impl Fn(Range<usize>) -> Result<Vec<f64>, E>,
    layout: Layout,
    grid: &Grid,
    mut each: impl FnMut(Cell, &[f64]),
) -> Result<(), E> {
    let mut of_cell = vec![0.0; layout.components()];
    let domain = grid.domain();
    for run in runs(grid.leaves()?) {
        let values = read(range(run, layout))?;
        for (slot, leaf) in run.iter().enumerate().filter(|_| !values.is_empty()) {
            let origin = grid.origin(leaf.block);
            for cell in layout.all_cells() {
                let inside = layout.position(cell);
                let here = Cell { at: std::array::from_fn(|axis| origin.at[axis] + inside[axis]), ..origin };
                if !domain.contains(here) {
                    continue;
                }
                for (component, value) in of_cell.iter_mut().enumerate() {
                    *value = values[layout.offset(SlotId(slot as u32), component, cell)];
                }
                each(here, &of_cell);
            }
        }
    }
    Ok(())
}
