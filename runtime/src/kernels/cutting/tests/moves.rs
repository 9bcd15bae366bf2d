//! Moves by kernels alone, without a solver.

use std::ops::Range;

use lbm_bundle::Manifest;
use lbm_bundle::cutting::{NEAR_LEAVES, NEAR_SHAPES, PASS_COUNTS, PASS_LISTS, SCANNED_SHARE, parts_of};

use super::super::*;
use super::{BOX, ROOM, SIDE};
use crate::geometry::solid::{Cutters, Flat, Rate};

/// The links and distances of all blocks after some moves, by kernels: `[block][direction][cell]`. Also the values of walls.
pub(super) fn by_kernels(
    manifest: &Manifest,
    moves: &[Cutters],
    blocks: &[Block],
    rate: Option<Rate>,
) -> (Vec<i32>, Vec<f64>, Vec<f64>) {
    by_kernels_of(manifest, moves, blocks, (rate, 0..blocks.len(), Some(ROOM)))
}

/// The same, with the links of some blocks cut, and surfaces scanned, with room for so many links in a list, or searched. If it is one link, all
/// lists are full.
pub(super) fn by_kernels_of(
    manifest: &Manifest,
    moves: &[Cutters],
    blocks: &[Block],
    (rate, own, room): (Option<Rate>, Range<usize>, Option<usize>),
) -> (Vec<i32>, Vec<f64>, Vec<f64>) {
    let (dim, device) = (manifest.dim as usize, Device::host(1).unwrap());
    let (cells, q, stride) = (manifest.cells(), manifest.q(), manifest.wall_stride as usize);
    let solids = &moves[0].solids;
    let (mut flat, first) = (Flat::new(solids), moves[0].first + solids.count());
    if room.is_none() {
        flat.leaf_of.clear();
    }
    let are_full = room == Some(1);
    let room = room.unwrap_or(1);
    let around = BOX / SIDE;
    let neighbour = |block: &Block, code: usize| {
        let mut number = 0;
        for axis in (0..dim).rev() {
            let at = block.place[axis] as i64 + (code / 3usize.pow(axis as u32) % 3) as i64 - 1;
            if axis == 0 && !(0..around as i64).contains(&at) {
                return -1;
            }
            number = number * around + at.rem_euclid(around as i64) as usize;
        }
        number as i32
    };
    let near = 3usize.pow(dim as u32);
    let neighbours: Vec<i32> =
        blocks.iter().flat_map(|block| (0..near).map(move |code| neighbour(block, code))).collect();
    let place = |(at, block): (usize, &Block)| {
        let lowest = [0, 1, 2].map(|axis| (block.place[axis] * manifest.block[axis] as usize) as i32);
        [at as i32, at as i32, lowest[0], lowest[1], lowest[2]]
    };
    let ints = |values: &[i32]| device.ints(if values.is_empty() { &[0] } else { values }).unwrap();
    let doubles = |values: &[f64]| {
        let mut buffer = device.alloc_doubles(values.len().max(1)).unwrap();
        buffer.write_reals(0, values).unwrap();
        buffer
    };
    let all = blocks.len() * cells;
    let kernels = Cutting::load(&device, manifest).unwrap();
    let items = ints(&(0..(all * q) as i32).collect::<Vec<_>>());
    let form = ints(&moves[0].form(manifest, moves[0].first, first));
    let places = ints(&blocks.iter().enumerate().flat_map(place).collect::<Vec<_>>());
    let (tree, meets, bits, columns) = (ints(&flat.tree), ints(&flat.meets), ints(&flat.bits), ints(&flat.columns));
    let (boxes, triangles) = (doubles(&flat.boxes), doubles(&flat.triangles));
    let (leaf_of, map) = (ints(&flat.leaf_of), map_of(blocks));
    let entries = ints(&map);
    let found = || Found { map: &entries, entries: map.len() as i32, from: 0, to: blocks.len() as i32 };
    let rows_of_cells = blocks.len() * (cells / SCANNED_SHARE);
    let mut fractions = device.alloc_doubles((rows_of_cells * q).max(1)).unwrap();
    let mut passages = device.alloc_ints(5 * PASS_LISTS * room).unwrap();
    let mut passed = ints(&[0; PASS_COUNTS]);
    let mut marks = device.alloc_ints(blocks.len() * parts_of(manifest.block)).unwrap();
    let rows = ints(&(0..blocks.len() as i32).collect::<Vec<_>>());
    let mut states = device.alloc_ints(all).unwrap();
    let mut links = device.alloc_ints(all * q).unwrap();
    let mut distances = device.alloc_reals(Precision::F64, all * q).unwrap();
    let walls = first + all * q;
    let (mut rules, mut owners) = (device.alloc_ints(walls).unwrap(), device.alloc_ints(walls).unwrap());
    let mut values = device.alloc_reals(Precision::F64, walls * stride).unwrap();
    let parts = blocks.len() * parts_of(manifest.block);
    let mut near_shapes = device.alloc_ints(parts * NEAR_SHAPES).unwrap();
    let mut near_leaves = device.alloc_ints(parts * NEAR_LEAVES).unwrap();
    let (mut near_counts, mut near_cells) = (device.alloc_ints(2).unwrap(), device.alloc_ints(all).unwrap());
    let (mut detours, mut beside) = (device.alloc_ints(2 * all).unwrap(), device.alloc_ints(all * q).unwrap());
    let neighbours = ints(&neighbours);
    for cutters in moves {
        let shapes = flat.shapes(&cutters.solids, |_| rate.map(|rate| (0, rate)));
        let (kinds, numbers) = (ints(&shapes.kinds), doubles(&shapes.numbers));
        let placed = || Placed { form: &form, level: 0, places: &places };
        let all_shapes = || AllShapes { shapes: shapes.count() as i32, kinds: &kinds, numbers: &numbers };
        let surfaces = || Surfaces {
            tree: &tree,
            boxes: &boxes,
            triangles: &triangles,
            meets: &meets,
            bits: &bits,
            columns: &columns,
            scanned: flat.leaf_of.len() as i32,
        };
        kernels
            .launch(Pass {
                items: items.slice(0..5),
                workers: 5,
                form: &form,
                level: 0,
                solids: all_shapes(),
                surfaces: surfaces(),
                leaf_of: &leaf_of,
                room: room as i32,
                passages: &mut passages,
                passed: &mut passed,
            })
            .unwrap();
        kernels
            .launch(Mark {
                items: items.slice(0..5),
                workers: 5,
                placed: placed(),
                found: found(),
                solids: all_shapes(),
                surfaces: surfaces(),
                leaf_of: &leaf_of,
                room: room as i32,
                passages: &passages,
                passed: &passed,
                marks: &mut marks,
            })
            .unwrap();
        kernels
            .launch(List {
                items: items.slice(0..parts),
                first_part: 0,
                parts: parts as i32,
                placed: placed(),
                solids: all_shapes(),
                surfaces: surfaces(),
                near_shapes: &mut near_shapes,
                near_leaves: &mut near_leaves,
                near_counts: &mut near_counts,
                marks: &marks,
                passed: &mut passed,
            })
            .unwrap();
        kernels
            .launch(Occupy {
                items: items.slice(0..all),
                placed: placed(),
                near: NearShapes { near_shapes: &near_shapes, near_leaves: &near_leaves },
                solids: all_shapes(),
                surfaces: surfaces(),
                own_from: own.start as i32,
                own_to: own.end as i32,
                states: &mut states,
                links: &mut links,
                distances: &mut distances,
                near_counts: &mut near_counts,
                near_cells: &mut near_cells,
                fractions: &mut fractions,
                marks: &mut marks,
            })
            .unwrap();
        kernels
            .launch(Scan {
                items: items.slice(0..5),
                workers: 5,
                placed: placed(),
                found: found(),
                solids: all_shapes(),
                surfaces: surfaces(),
                leaf_of: &leaf_of,
                room: room as i32,
                passages: &passages,
                passed: &passed,
                states: &states,
                fractions: &mut fractions,
            })
            .unwrap();
        if are_full {
            // Nor is there room in the list of links that are looked at edge by edge.
            near_counts.write_ints(1, &[i32::MAX / 2]).unwrap();
        }
        kernels
            .launch(Cut {
                items: items.slice(0..7),
                workers: 7,
                own_from: own.start as i32,
                own_to: own.end as i32,
                placed: placed(),
                near: NearShapes { near_shapes: &near_shapes, near_leaves: &near_leaves },
                solids: all_shapes(),
                surfaces: surfaces(),
                neighbours: &neighbours,
                rows: &rows,
                near_counts: &mut near_counts,
                near_cells: &near_cells,
                states: &states,
                fractions: &fractions,
                links: &mut links,
                distances: &mut distances,
                wall_rules: &mut rules,
                wall_values: &mut values,
                owners: &mut owners,
                detours: &mut detours,
                beside: &mut beside,
            })
            .unwrap();
        if are_full {
            continue;
        }
        kernels
            .launch(Detour {
                items: items.slice(0..5),
                workers: 5,
                own_from: own.start as i32,
                own_to: own.end as i32,
                placed: placed(),
                near: NearShapes { near_shapes: &near_shapes, near_leaves: &near_leaves },
                solids: all_shapes(),
                surfaces: surfaces(),
                neighbours: &neighbours,
                rows: &rows,
                near_counts: &near_counts,
                states: &states,
                fractions: &fractions,
                links: &mut links,
                distances: &mut distances,
                wall_rules: &mut rules,
                wall_values: &mut values,
                owners: &mut owners,
                detours: &mut detours,
                beside: &mut beside,
            })
            .unwrap();
    }
    let values = values.read_reals(0..walls * stride).unwrap();
    (links.read_ints(0..all * q).unwrap(), distances.read_reals(0..all * q).unwrap(), values)
}
