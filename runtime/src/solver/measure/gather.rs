//! Converts arrays of blocks into dense arrays on the host.

use std::ops::Range;

use lbm_bundle::Manifest;
use rayon::prelude::*;

use crate::geometry::Domain;
use crate::geometry::solid::{Cutters, Solids};
use crate::kernels::layout::Layout;
use crate::mesh::forest::Leaf;
use crate::solver::arrays::cells::SLOTS_AT_ONCE;
use crate::solver::arrays::fields::component_names;
use crate::solver::measure::snapshot::{Component, Snapshot};

/// The layout of the macroscopic fields, and the names of their components.
pub(crate) fn of_fields(manifest: &Manifest) -> (Layout, Vec<String>) {
    (Layout::fields(manifest), component_names(manifest))
}

/// Gathers an array of the leaves that cover a domain, given its layout and the names of its components. `read` gives its values range by
/// range in memory order. A grid of one level becomes a single block, without cells beyond the domain. Where `read` gives nothing, values
/// are zero.
pub fn gather<E>(
    mut read: impl FnMut(Range<usize>) -> Result<Vec<f64>, E>,
    (layout, names): (Layout, Vec<String>),
    domain: Domain,
    leaves: &[Leaf],
    step: u64,
) -> Result<Snapshot, E> {
    let (side, cells) = (layout.block(), layout.cells());
    let uniform = leaves.iter().all(|leaf| leaf.block.level == 0);
    let count = if uniform { domain.size.iter().product() } else { leaves.len() * cells };
    let empty = names.into_iter().map(|name| Component { name, data: vec![0.0; count] });
    let mut snapshot = match uniform {
        true => Snapshot::uniform(step, domain, empty.collect()),
        false => {
            let blocks = leaves.iter().map(|leaf| leaf.block).collect();
            Snapshot::new(step, domain, side, blocks, empty.collect())
        }
    };
    let (size, last_axis) = (domain.size, domain.dim - 1);
    let layer = size[..last_axis].iter().product::<usize>() * side[last_axis];
    // The first cell of a row of a block, and how many of its cells lie in the domain.
    let row_of = |leaf: &Leaf, row: usize| {
        let [x, y, z]: [usize; 3] = std::array::from_fn(|axis| leaf.block.place[axis] * side[axis]);
        let (y, z) = (y + row % side[1], z + row / side[1]);
        let inside = if y < size[1] && z < size[2] { size[0].saturating_sub(x).min(side[0]) } else { 0 };
        (x + size[0] * (y + size[1] * z), inside)
    };
    // Memory is read in order, whatever the order of the leaves.
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
            // Layers of blocks along the last axis are contiguous in the values of a component, so they are filled in parallel.
            let mut leaves_of_layers: Vec<Vec<&Leaf>> = vec![vec![]; size[last_axis].div_ceil(side[last_axis])];
            run.iter().for_each(|at| leaves_of_layers[leaves[*at].block.place[last_axis]].push(&leaves[*at]));
            snapshot.components.par_iter_mut().enumerate().for_each(|(component, to)| {
                let layers = to.data.par_chunks_mut(layer).zip(&leaves_of_layers).enumerate();
                layers.filter(|(_, (_, leaves))| !leaves.is_empty()).for_each(|(at, (to, leaves))| {
                    for leaf in leaves {
                        for (row, values) in of(leaf, component).chunks(side[0]).enumerate() {
                            let (first, inside) = row_of(leaf, row);
                            if inside > 0 {
                                to[first - at * layer..][..inside].copy_from_slice(&values[..inside]);
                            }
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

/// Marks the solid cells in a snapshot of these leaves, and those beyond the domain; notes where free bodies are.
pub fn mask_solid(snapshot: &mut Snapshot, manifest: &Manifest, leaves: &[Leaf], cutters: Option<&Cutters>) {
    let side = manifest.block.map(|side| side as usize);
    snapshot.bodies = cutters.map_or(vec![], |cutters| cutters.solids.states());
    snapshot.solid = cutters.map_or(vec![], |cutters| solid_cells(snapshot, side, leaves, &cutters.solids));
    if snapshot.is_padded() {
        let is_solid = |at: usize| {
            !snapshot.domain.contains(snapshot.cell(at)) || snapshot.solid.get(at).is_some_and(|solid| *solid)
        };
        let count = snapshot.blocks().len() * snapshot.block_cells();
        snapshot.solid = (0..count).into_par_iter().map(is_solid).collect();
    }
}

/// Which cells of a snapshot of these leaves are solid, in the order of its values; empty if none is.
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
    use crate::device::Device;
    use crate::fixture::manifest;
    use crate::geometry::Cell;
    use crate::kernels::layout::SlotId;
    use crate::mesh::{Behind, Grid};
    use crate::solver::arrays::cells::{scatter, update};
    use crate::solver::arrays::fields::{Fields, Sets};

    #[test]
    fn gather_inverts_scatter() {
        let device = Device::host(1).unwrap();
        let manifest = manifest();
        let grid = Grid::new(&device, &manifest, [24, 16, 1], [Behind::Periodic; 6]).unwrap();
        let mut fields = Fields::new(&device, &manifest, &grid, (true, Sets::Two), None).unwrap();
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
        let mut fields = Fields::new(&device, &manifest, &grid, (true, Sets::Two), None).unwrap();
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
        let fields = Fields::new(&device, &manifest, &grid, (true, Sets::Two), None).unwrap();
        assert!(fields.populations[1].read_reals(0..9).unwrap().iter().all(|value| value.is_nan()));
    }
}
