//! Overlapping AMR in one file (VTKHDF): on each level boxes of cells, nested in those of the next coarser level.
//!
//! A refined cell has the mean over the cells that refine it; readers blank it. Blocks are merged into boxes: along x,
//! then those of equal extent along y, then along z. Data are not compressed.
//!
//! Readers support only three dimensions. A two-dimensional flow is therefore written as a slab with a thickness of one
//! cell of the coarsest level: on level `l` its values are repeated `2^l` times.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use lbm_bundle::Real;
use lbm_runtime::geometry::{Block, Cell};
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::hdf5::{self, Attribute, Group, Node, Type};
use super::{HIDDEN, Kind, kinds};
use crate::case::{Dimension, Quantity, Units};

/// Number of rows of cells written at a time.
const ROWS_AT_ONCE: usize = 1024;

/// A box of cells of one level, from a corner to another one (exclusive).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Region {
    from: [usize; 3],
    to: [usize; 3],
}

impl Region {
    fn cells(&self) -> usize {
        (0..3).map(|axis| self.to[axis] - self.from[axis]).product()
    }
}

/// Writes the fields of a snapshot in the units of the case, named as in `write_image`.
pub fn write_amr(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    fields: Option<&[Quantity]>,
    units: &Units,
    real: Real,
) -> io::Result<()> {
    let regions: Vec<Vec<Region>> = (0..=snapshot.finest()).map(|level| regions(snapshot, level)).collect();
    let kinds = kinds(snapshot, fields, units);
    let cell = units.scale(Dimension::LENGTH);
    let text = |name: &'static str, text: &str| Attribute {
        name,
        ty: Type::Text(text.len()),
        shape: vec![],
        bytes: text.as_bytes().to_vec(),
    };
    let reals = |name: &'static str, values: [f64; 3]| Attribute {
        name,
        ty: Type::F64,
        shape: vec![3],
        bytes: values.map(f64::to_le_bytes).as_flattened().to_vec(),
    };
    let mut main = Group::default();
    let version = [2i64, 2].map(|number| (number as i32).to_le_bytes()).as_flattened().to_vec();
    main.attributes.push(Attribute { name: "Version", ty: Type::I32, shape: vec![2], bytes: version });
    main.attributes.push(text("Type", "OverlappingAMR"));
    main.attributes.push(text("GridDescription", "XYZ"));
    main.attributes.push(reals("Origin", [0.0; 3]));
    let ty = if real.computed() == Real::F32 { Type::F32 } else { Type::F64 };
    for (level, regions) in regions.iter().enumerate() {
        let cells: usize = regions.iter().map(Region::cells).sum();
        let mut fields = Group::default();
        for kind in &kinds {
            let shape = [cells as u64, 3][..if kind.components == 1 { 1 } else { 2 }].to_vec();
            let values = move |out: &mut dyn Write| write_field(out, snapshot, level, regions, kind, real);
            fields.add(&kind.name, Node::Data { ty, shape, values: Box::new(values) });
        }
        if snapshot.has_solids() {
            for (name, value) in [("solid", 1), ("vtkGhostType", HIDDEN)] {
                let values = move |out: &mut dyn Write| write_solid(out, snapshot, level, regions, value);
                fields.add(name, Node::Data { ty: Type::U8, shape: vec![cells as u64], values: Box::new(values) });
            }
        }
        let mut group = Group::default();
        group.attributes.push(reals("Spacing", [cell * 0.5f64.powi(level as i32); 3]));
        let boxes = move |out: &mut dyn Write| {
            let ends = |region: &Region| {
                let end = |at: usize| region.from[at / 2] + at % 2 * (region.to[at / 2] - region.from[at / 2] - 1);
                std::array::from_fn::<_, 6, _>(|at| (end(at) as i32).to_le_bytes())
            };
            regions.iter().try_for_each(|region| out.write_all(ends(region).as_flattened()))
        };
        let shape = vec![regions.len() as u64, 6];
        group.add("AMRBox", Node::Data { ty: Type::I32, shape, values: Box::new(boxes) });
        group.add("CellData", Node::Group(fields));
        // The reader of VTK 9.3 warns if these are missing.
        group.add("PointData", Node::Group(Group::default()));
        group.add("FieldData", Node::Group(Group::default()));
        main.add(&format!("Level{level}"), Node::Group(group));
    }
    let mut root = Group::default();
    root.add("VTKHDF", Node::Group(main));
    hdf5::write(out, &root)
}

/// A field on all cells of the regions of a level, region by region, x fastest.
fn write_field(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    level: usize,
    regions: &[Region],
    kind: &Kind<'_>,
    real: Real,
) -> io::Result<()> {
    let of = |at: usize| -> [f64; 3] { std::array::from_fn(|part| kind.parts.get(part).map_or(0.0, |part| part[at])) };
    for Region { from, to } in regions {
        let (height, depth) = (to[1] - from[1], to[2] - from[2]);
        let row = |row: usize| {
            let mut bytes = Vec::with_capacity((to[0] - from[0]) * kind.components * real.bytes());
            for x in from[0]..to[0] {
                let at = [x, from[1] + row % height, if snapshot.dim() == 2 { 0 } else { from[2] + row / height }];
                for value in &snapshot.read(Cell { level, at }, &of)[..kind.components] {
                    match real {
                        Real::F32 | Real::F16F32 => bytes.extend(((value * kind.scale) as f32).to_le_bytes()),
                        Real::F64 => bytes.extend((value * kind.scale).to_le_bytes()),
                    }
                }
            }
            bytes
        };
        for first in (0..height * depth).step_by(ROWS_AT_ONCE) {
            let rows = first..(first + ROWS_AT_ONCE).min(height * depth);
            let rows: Vec<Vec<u8>> = rows.into_par_iter().map(row).collect();
            rows.iter().try_for_each(|bytes| out.write_all(bytes))?;
        }
    }
    Ok(())
}

/// `value` for solid cells and 0 for others, in the order of `write_field`. Refined cells are blanked by readers.
fn write_solid(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    level: usize,
    regions: &[Region],
    value: u8,
) -> io::Result<()> {
    for Region { from, to } in regions {
        let (height, depth) = (to[1] - from[1], to[2] - from[2]);
        let row = |row: usize| -> Vec<u8> {
            let is_solid = |x: usize| {
                let at = [x, from[1] + row % height, if snapshot.dim() == 2 { 0 } else { from[2] + row / height }];
                snapshot.cover(Cell { level, at }).is_some_and(|(position, _)| snapshot.solid[position])
            };
            (from[0]..to[0]).map(|x| if is_solid(x) { value } else { 0 }).collect()
        };
        let rows: Vec<Vec<u8>> = (0..height * depth).into_par_iter().map(row).collect();
        rows.iter().try_for_each(|bytes| out.write_all(bytes))?;
    }
    Ok(())
}

/// The cells of a level, present or refined, as few boxes.
fn regions(snapshot: &Snapshot, level: usize) -> Vec<Region> {
    if level == 0 {
        return vec![Region { from: [0; 3], to: snapshot.size() }];
    }
    // Families of sibling blocks, by the position of the parent: z, y, x.
    let family = |block: &Block| {
        let [x, y, z] = block.place.map(|at| at >> (block.level - level + 1));
        [z, y, x]
    };
    let mut families: Vec<[usize; 3]> =
        snapshot.blocks().par_iter().filter(|block| block.level >= level).map(family).collect();
    families.par_sort_unstable();
    families.dedup();
    let boxes = families.into_iter().map(|place| (place, place.map(|at| at + 1)));
    let boxes = [2, 1, 0].into_iter().fold(boxes.collect(), merged);
    let side: [usize; 3] =
        std::array::from_fn(|axis| if axis < snapshot.dim() { 2 * snapshot.block()[axis] } else { 1 << level });
    // Blocks may reach beyond the domain.
    let mut end = snapshot.size_of(level);
    end[snapshot.dim()..].fill(1 << level);
    let cells = |place: [usize; 3]| std::array::from_fn(|axis| (place[2 - axis] * side[axis]).min(end[axis]));
    let regions = boxes.into_iter().map(|(from, to)| Region { from: cells(from), to: cells(to) });
    regions.filter(|region| region.cells() > 0).collect()
}

type Corners = ([usize; 3], [usize; 3]);

/// Merges boxes that are adjacent along an axis and otherwise equal; sorted.
fn merged(boxes: Vec<Corners>, axis: usize) -> Vec<Corners> {
    let mut found = BTreeSet::new();
    // A box that may still grow, by its corners without the axis: where it begins and ends.
    let mut open: BTreeMap<Corners, (usize, usize)> = BTreeMap::new();
    let mut sorted = boxes;
    sorted.sort_unstable_by_key(|(from, _)| from[axis]);
    let mut close = |key: Corners, (begin, end): (usize, usize)| {
        let (mut from, mut to) = key;
        (from[axis], to[axis]) = (begin, end);
        found.insert((from, to));
    };
    for (from, to) in sorted {
        let mut key = (from, to);
        (key.0[axis], key.1[axis]) = (0, 0);
        match open.get_mut(&key) {
            Some((_, end)) if *end == from[axis] => *end = to[axis],
            _ => {
                if let Some(ended) = open.insert(key, (from[axis], to[axis])) {
                    close(key, ended);
                }
            }
        }
    }
    open.into_iter().for_each(|(key, ended)| close(key, ended));
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::Domain;

    use super::*;

    fn covered(regions: &[Region], cell: [usize; 3]) -> usize {
        regions
            .iter()
            .filter(|region| (0..3).all(|axis| (region.from[axis]..region.to[axis]).contains(&cell[axis])))
            .count()
    }

    /// The messages of an object header, with verified checksum: type and body.
    fn messages(file: &[u8], address: usize) -> Vec<(u8, &[u8])> {
        let length = number(&file[address + 6..], 4);
        assert_eq!(&file[address..address + 6], b"OHDR\x02\x02");
        let end = address + 10 + length;
        assert_eq!(number(&file[end..], 4), hdf5::checksum(&file[address..end]) as usize);
        let (mut rest, mut messages) = (&file[address + 10..end], vec![]);
        while !rest.is_empty() {
            let length = number(&rest[1..], 2);
            messages.push((rest[0], &rest[4..4 + length]));
            rest = &rest[4 + length..];
        }
        messages
    }

    fn number(bytes: &[u8], length: usize) -> usize {
        bytes[..length].iter().rev().fold(0, |sum, byte| 256 * sum + *byte as usize)
    }

    /// The bytes of a dataset, found by the names of its groups and its own.
    fn dataset<'a>(file: &'a [u8], path: &[&str]) -> &'a [u8] {
        assert_eq!(number(&file[44..], 4), hdf5::checksum(&file[..44]) as usize);
        assert_eq!(number(&file[28..], 8), file.len(), "the end that the file tells");
        let mut address = number(&file[36..], 8);
        for name in path {
            let links = messages(file, address).into_iter().filter(|(ty, _)| *ty == 6);
            let link = links.map(|(_, body)| body).find(|body| &body[3..body.len() - 8] == name.as_bytes());
            let link = link.unwrap_or_else(|| panic!("no {name} in {path:?}"));
            address = number(&link[link.len() - 8..], 8);
        }
        let layout = messages(file, address).into_iter().find(|(ty, _)| *ty == 8).expect("a dataset").1;
        &file[number(&layout[2..], 8)..][..number(&layout[10..], 8)]
    }

    #[test]
    fn what_is_written_is_read_back_on_every_level() {
        let domain = Domain { dim: 3, size: [12, 8, 8], periodic: [true; 3] };
        let linear = |[x, y, z]: [f64; 3]| x + 100.0 * y + 1e4 * z;
        let fields: [snapshots::Field<'_>; 4] =
            [("rho", &linear), ("ux", &|_| 1.0), ("uy", &|[_, y, _]| y), ("uz", &|_| -1.0)];
        let snapshot = snapshots::refined(domain, |block| block.level == 0 && block.place[0] == 1, &fields);
        let units = Units { si: true, cell: 0.5, step: 0.25, density: Some(2.0) };
        let mut file = vec![];
        write_amr(&mut file, &snapshot, None, &units, Real::F64).unwrap();
        for (level, region) in [(0, [0, 11, 0, 7, 0, 7]), (1, [8, 15, 0, 15, 0, 15])] {
            let of = |path: &[&str]| dataset(&file, &[&["VTKHDF", &format!("Level{level}")], path].concat());
            let ends: Vec<usize> = of(&["AMRBox"]).chunks(4).map(|bytes| number(bytes, 4)).collect();
            assert_eq!(ends, region);
            let real = |bytes: &[u8]| f64::from_le_bytes(bytes.try_into().unwrap());
            let density: Vec<f64> = of(&["CellData", "density"]).chunks(8).map(real).collect();
            let velocity: Vec<f64> = of(&["CellData", "velocity"]).chunks(8).map(real).collect();
            let width = 0.5f64.powi(level);
            let mut at = 0;
            for (z, y) in (region[4]..=region[5]).flat_map(|z| (region[2]..=region[3]).map(move |y| (z, y))) {
                for x in region[0]..=region[1] {
                    let centre = [x, y, z].map(|along| (along as f64 + 0.5) * width);
                    // Refined cells have means, which for a linear field are the values at their centres.
                    assert!((density[at] - 2.0 * linear(centre)).abs() < 1e-9, "level {level}, {centre:?}");
                    assert_eq!(velocity[3 * at..][..3], [2.0, 2.0 * centre[1], -2.0]);
                    at += 1;
                }
            }
            assert_eq!((density.len(), velocity.len()), (at, 3 * at));
        }
    }

    #[test]
    fn boxes_hold_each_cell_of_their_level_once_and_nothing_else() {
        // An L of refined blocks, one of them refined again: at least two boxes on level 1, one on level 2.
        let domain = Domain { dim: 2, size: [32, 32, 1], periodic: [true; 3] };
        let refines = |block: Block| match (block.level, block.place) {
            (0, [x, y, _]) => (2..6).contains(&x) && (2..6).contains(&y) && (x < 4 || y < 4),
            (1, place) => place == [5, 5, 0],
            _ => false,
        };
        let snapshot = snapshots::refined(domain, refines, &[]);
        let levels: Vec<Vec<Region>> = (0..3).map(|level| regions(&snapshot, level)).collect();
        assert_eq!(levels.iter().map(Vec::len).collect::<Vec<_>>(), [1, 2, 1], "{levels:?}");
        for (level, regions) in levels.iter().enumerate() {
            for (x, y) in (0..32 << level).flat_map(|x| (0..32 << level).map(move |y| (x, y))) {
                let cover = snapshot.cover(Cell { level, at: [x, y, 0] });
                let is_there = cover.is_none_or(|(_, cell)| cell.level == level);
                assert_eq!(covered(regions, [x, y, 0]), usize::from(is_there), "level {level}, ({x}, {y})");
            }
        }
    }
}
