//! Populations and macroscopic arrays of a grid, and their way to dense arrays on the host.

use std::ops::Range;

use lbm_bundle::Manifest;
use rayon::prelude::*;

use crate::device::{Buffer, Device, DeviceError, Scalar};
use crate::layout::{Layout, SlotId};
use crate::mesh::forest::Leaf;
use crate::mesh::{Cell, Grid};
use crate::observe::Sum;
use crate::snapshot::{Component, Snapshot};

/// Slots that cross between device and host at a time.
const SLOTS_AT_ONCE: usize = 4096;

/// The per-block arrays of a grid.
pub struct Fields {
    /// Two sets of post-collision populations; which one is current on a level is known to `step`.
    pub populations: [Buffer; 2],
    /// What paths that cut corners of coarse cells keep between two steps, `[corner][direction][cell]`.
    pub saved: Buffer,
    /// Macroscopic fields.
    pub macroscopic: Buffer,
}

impl Fields {
    /// Arrays for a grid, populations full of NaN. Says what is missing before it allocates.
    pub fn new(device: &Device, manifest: &Manifest, grid: &Grid) -> Result<Self, DeviceError> {
        let scalar = Scalar::from(manifest.real);
        let length = grid.slots() * Layout::populations(manifest).slot_len();
        let field_length = grid.slots() * Layout::fields(manifest).slot_len();
        let saved = grid.corners() * Layout::populations(manifest).slot_len();
        let bytes = (2 * length + saved + field_length) * scalar.bytes();
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(device.out_of_memory(bytes));
        }
        let mut populations = [device.alloc(scalar, length)?, device.alloc(scalar, length)?];
        for buffer in &mut populations {
            buffer.poison()?;
        }
        let mut saved = device.alloc(scalar, saved)?;
        saved.poison()?;
        Ok(Fields { populations, saved, macroscopic: device.alloc(scalar, field_length)? })
    }
}

/// Names of the field components in the order of their values: `rho`, `ux`, `uy`.
pub fn component_names(manifest: &Manifest) -> Vec<String> {
    let expand = |name: &str, components: u32| match components {
        1 => vec![name.to_string()],
        _ => (0..components as usize).map(|axis| format!("{name}{}", ["x", "y", "z"][axis])).collect(),
    };
    manifest.fields.iter().flat_map(|field| expand(&field.name, field.components)).collect()
}

/// Leaves whose slots follow each other, as many as cross between device and host at a time.
fn runs(leaves: &[Leaf]) -> impl Iterator<Item = &[Leaf]> {
    leaves.chunk_by(|one, next| one.slot.0 + 1 == next.slot.0).flat_map(|run| run.chunks(SLOTS_AT_ONCE))
}

/// Where the values of these leaves are.
fn range(run: &[Leaf], layout: Layout) -> Range<usize> {
    let first = run.first().map_or(0, |leaf| leaf.slot.index() * layout.slot_len());
    first..first + run.len() * layout.slot_len()
}

/// Fills an array `[slot][component][cell]` from the values of cells: `value(cell, out)` writes one value per component
/// for the cell; what it does not write is 0. Blocks are filled in parallel.
pub fn scatter(
    to: &mut Buffer,
    layout: Layout,
    grid: &Grid,
    value: impl Fn(Cell, &mut [f64]) + Sync,
) -> Result<(), DeviceError> {
    for run in runs(grid.leaves()?) {
        let range = range(run, layout);
        let mut values = vec![0.0; range.len()];
        change_cells(&mut values, run, layout, grid, &value);
        to.write_reals(range.start, &values)?;
    }
    Ok(())
}

/// Changes an array `[slot][component][cell]` cell by cell: `change(cell, values)` has the components of the cell.
/// Blocks are changed in parallel.
pub fn update(
    array: &mut Buffer,
    layout: Layout,
    grid: &Grid,
    change: impl Fn(Cell, &mut [f64]) + Sync,
) -> Result<(), DeviceError> {
    for run in runs(grid.leaves()?) {
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

/// The sum of each component of arrays `[slot][component][cell]` over all cells, each times its volume in cells of the
/// coarsest level, without loss; the same on any number of threads. `of_level` gives the array of a level.
pub fn sums<'a>(of_level: impl Fn(usize) -> &'a Buffer, layout: Layout, grid: &Grid) -> Result<Vec<f64>, DeviceError> {
    let mut totals = vec![Sum::default(); layout.components()];
    for leaves in grid.leaves()?.chunk_by(|one, next| one.block.level == next.block.level) {
        let level = leaves[0].block.level;
        let volume = 0.5f64.powi((level * grid.dim()) as i32);
        for run in runs(leaves) {
            let values = of_level(level).read_reals(range(run, layout))?;
            let of_blocks: Vec<Sum> = values
                .par_chunks(layout.cells())
                .map(|cells| cells.iter().map(|value| volume * value).collect())
                .collect();
            for (at, sum) in of_blocks.into_iter().enumerate() {
                totals[at % layout.components()].merge(sum);
            }
        }
    }
    Ok(totals.into_iter().map(Sum::value).collect())
}

/// Every cell of an array `[slot][component][cell]`, block by block: `each(cell, values)`.
pub fn visit(
    from: &Buffer,
    layout: Layout,
    grid: &Grid,
    mut each: impl FnMut(Cell, &[f64]),
) -> Result<(), DeviceError> {
    let mut of_cell = vec![0.0; layout.components()];
    for run in runs(grid.leaves()?) {
        let values = from.read_reals(range(run, layout))?;
        for (slot, leaf) in run.iter().enumerate() {
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

/// The macroscopic array as dense arrays of the coarsest level: refined cells are means over what refines them.
pub fn gather(from: &Buffer, manifest: &Manifest, grid: &Grid, step: u64) -> Result<Snapshot, DeviceError> {
    let components = component_names(manifest)
        .into_iter()
        .map(|name| Component { name, data: vec![0.0; grid.size().iter().product()] })
        .collect();
    let mut snapshot = Snapshot { step, dim: grid.dim(), size: grid.size(), components };
    visit(from, Layout::fields(manifest), grid, |cell, values| {
        let ([x, y, z], volume) = (cell.at.map(|at| at >> cell.level), cell.width().powi(grid.dim() as i32));
        let to = snapshot.index(x, y, z);
        for (component, value) in snapshot.components.iter_mut().zip(values) {
            component.data[to] += volume * value;
        }
    })?;
    Ok(snapshot)
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
        let mut fields = Fields::new(&device, &manifest, &grid).unwrap();
        let layout = Layout::fields(&manifest);
        scatter(&mut fields.macroscopic, layout, &grid, |Cell { at, .. }, out| {
            out.copy_from_slice(&[at[0] as f64, at[1] as f64, 0.5]);
        })
        .unwrap();
        let snapshot = gather(&fields.macroscopic, &manifest, &grid, 3).unwrap();
        assert_eq!((snapshot.step, snapshot.size), (3, [24, 16, 1]));
        for (x, y) in (0..24).flat_map(|x| (0..16).map(move |y| (x, y))) {
            let at = snapshot.index(x, y, 0);
            let values: Vec<f64> =
                ["rho", "ux", "uy"].iter().map(|name| snapshot.get(name).expect("a component")[at]).collect();
            assert_eq!(values, [x as f64, y as f64, 0.5]);
        }
    }

    #[test]
    fn an_update_sees_and_changes_its_own_cell() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        let mut fields = Fields::new(&device, &manifest, &grid).unwrap();
        let layout = Layout::fields(&manifest);
        scatter(&mut fields.macroscopic, layout, &grid, |cell, out| out[1] = cell.at[0] as f64).unwrap();
        update(&mut fields.macroscopic, layout, &grid, |cell, values| values[1] -= 2.0 * cell.at[0] as f64).unwrap();
        let snapshot = gather(&fields.macroscopic, &manifest, &grid, 0).unwrap();
        let expected: Vec<f64> = (0..24 * 16).map(|at| -((at % 24) as f64)).collect();
        assert_eq!(snapshot.get("ux").unwrap(), expected);
        assert!(snapshot.get("uy").unwrap().iter().all(|uy| *uy == 0.0));
    }

    #[test]
    fn sums_are_per_component_and_exact() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        let mut buffer = device.alloc(Scalar::F64, 6 * 64 * 3).unwrap();
        let layout = Layout::fields(&manifest);
        scatter(&mut buffer, layout, &grid, |Cell { at, .. }, out| {
            out.copy_from_slice(&[1.0, if at[0] == 0 { 1e16 } else { 1.0 }, if at[1] < 8 { 1e16 } else { -1e16 }]);
        })
        .unwrap();
        assert_eq!(sums(|_| &buffer, layout, &grid).unwrap(), [384.0, 16e16 + 368.0, 0.0]);
    }

    #[test]
    fn populations_start_as_nan() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [8, 8, 1], [Behind::Periodic; 6]).unwrap();
        let fields = Fields::new(&device, &manifest, &grid).unwrap();
        assert!(fields.populations[1].read_reals(0..9).unwrap().iter().all(|value| value.is_nan()));
    }
}
