//! An unstructured grid: every cell of every level is a pixel or a voxel, and adjacent cells share points.
//!
//! At refinement interfaces the corners of fine cells lie on faces of coarse ones without being points of these
//! (hanging nodes).

use std::io::{self, Write};

use lbm_bundle::Real;
use lbm_runtime::geometry::Block;
use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::{Appended, Array, Values, time};
use crate::case::{Dimension, Quantity, Units};

/// VTK cell types; their points are ordered by x, then y, then z.
const PIXEL: u8 = 8;
const VOXEL: u8 = 11;

/// A point in cells of the finest level: z, y, x, the order in which points are numbered.
type Point = [u32; 3];

/// Writes the fields of a snapshot in the units of the case, named as in `write_image`, and the level of each cell.
pub fn write_unstructured(
    out: &mut dyn Write,
    snapshot: &Snapshot,
    fields: Option<&[Quantity]>,
    units: &Units,
    real: Real,
) -> io::Result<()> {
    let points = points(snapshot);
    let cells: usize = snapshot.blocks().iter().map(|block| count(snapshot, block).iter().product::<usize>()).sum();
    let corners = 1usize << snapshot.dim();
    let width = units.scale(Dimension::LENGTH) * 0.5f64.powi(snapshot.finest() as i32);
    let place = |point: &Point| point.map(|at| f64::from(at) * width);
    let kind = if snapshot.dim() == 2 { PIXEL } else { VOXEL };
    let array = |name: &str, components: usize, ty: &'static str, bytes: Vec<u8>| Array {
        name: name.into(),
        components,
        ty,
        values: Values::Bytes(bytes),
    };
    let mut appended = Appended::default();
    let places = points.iter().flat_map(|point| place(point).into_iter().rev().flat_map(f64::to_le_bytes)).collect();
    let places = appended.add(array("Points", 3, "Float64", places));
    let connectivity = appended.add(array("connectivity", 1, "Int64", connectivity(snapshot, &points)));
    let offsets = (1..=cells).flat_map(|cell| ((cell * corners) as i64).to_le_bytes()).collect();
    let offsets = appended.add(array("offsets", 1, "Int64", offsets));
    let types = appended.add(array("types", 1, "UInt8", vec![kind; cells]));
    let values = appended.cells(snapshot, fields, units, real);
    let content = format!(
        "    <Piece NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">\n      <Points>\n        {places}\n      </Points>\n      \
         <Cells>\n        {connectivity}\n        {offsets}\n        {types}\n      </Cells>\n{values}    </Piece>\n",
        points.len()
    );
    appended.write(out, "UnstructuredGrid", time(snapshot, units), "<UnstructuredGrid>", &content)
}

/// How many cells of a block along each axis lie in the domain.
fn count(snapshot: &Snapshot, block: &Block) -> [usize; 3] {
    let (side, size) = (snapshot.block(), snapshot.size_of(block.level));
    [0, 1, 2].map(|axis| size[axis].saturating_sub(block.place[axis] * side[axis]).min(side[axis]))
}

/// The corners of a block's cells in the domain, x fastest.
fn of_block(snapshot: &Snapshot, block: &Block) -> impl Iterator<Item = Point> + use<> {
    let (side, dim, block, count) = (snapshot.block(), snapshot.dim(), *block, count(snapshot, block));
    let width = 1 << (snapshot.finest() - block.level);
    let end = |axis: usize| if axis < dim { count[axis] + 1 } else { 1 };
    let at = move |axis: usize, cell: usize| ((block.place[axis] * side[axis] + cell) * width) as u32;
    let (x_end, y_end, z_end) = (end(0), end(1), if count.contains(&0) { 0 } else { end(2) });
    (0..z_end).flat_map(move |z| (0..y_end).flat_map(move |y| (0..x_end).map(move |x| [at(2, z), at(1, y), at(0, x)])))
}

/// All corners of cells, sorted and without duplicates.
fn points(snapshot: &Snapshot) -> Vec<Point> {
    let mut points: Vec<Point> =
        snapshot.blocks().par_iter().flat_map_iter(|block| of_block(snapshot, block)).collect();
    points.par_sort_unstable();
    points.dedup();
    points
}

/// For each cell the indices of its corners, as bytes.
fn connectivity(snapshot: &Snapshot, points: &[Point]) -> Vec<u8> {
    let corners = 1usize << snapshot.dim();
    let of_block = |block: &Block| {
        let number = |point: Point| points.partition_point(|other| *other < point) as i64;
        let numbers: Vec<i64> = of_block(snapshot, block).map(number).collect();
        let mut bytes = Vec::with_capacity(snapshot.block_cells() * corners * size_of::<i64>());
        let side = count(snapshot, block);
        let (width, height) = (side[0] + 1, side[1] + 1);
        for cell in 0..side.iter().product() {
            let [x, y, z] = [cell % side[0], cell / side[0] % side[1], cell / (side[0] * side[1])];
            for corner in 0..corners {
                let at = x + (corner & 1) + width * (y + (corner >> 1 & 1) + height * (z + (corner >> 2)));
                bytes.extend(numbers[at].to_le_bytes());
            }
        }
        bytes
    };
    snapshot.blocks().par_iter().flat_map_iter(of_block).collect()
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::snapshots;
    use lbm_runtime::geometry::{Cell, Domain};

    use super::*;
    use crate::output::vtk::tests::read;

    fn numbers<T>(bytes: &[u8], number: impl Fn([u8; 8]) -> T) -> Vec<T> {
        bytes.chunks(8).map(|bytes| number(bytes.try_into().unwrap())).collect()
    }

    #[test]
    fn every_cell_stands_where_it_is_and_shares_its_points() {
        let two = snapshots::levels(false, &[("rho", &|[x, y, _]| x + 100.0 * y)]);
        let domain = Domain { dim: 3, size: [8, 4, 4], periodic: [true; 3] };
        let three = snapshots::refined(
            domain,
            |block| block.level + block.place[0] == 0,
            &[("rho", &|[x, y, z]| x + 10.0 * (y + 10.0 * z))],
        );
        // The points of the coarsest lattice, and the additional points of a refined block.
        for (snapshot, points) in [(two, 17 * 9 + 2 * (81 - 25)), (three, 9 * 5 * 5 + 9 * 9 * 9 - 5 * 5 * 5)] {
            let units = Units { si: true, cell: 0.5, step: 1.0, density: None };
            let mut file = vec![];
            write_unstructured(&mut file, &snapshot, None, &units, Real::F64).unwrap();
            let places = numbers(&read(&file, "Points").1, f64::from_le_bytes);
            let corners = numbers(&read(&file, "connectivity").1, i64::from_le_bytes);
            let offsets = numbers(&read(&file, "offsets").1, i64::from_le_bytes);
            let values = numbers(&read(&file, "density").1, f64::from_le_bytes);
            let levels = read(&file, "level").1;
            assert_eq!(places.len(), 3 * points, "points are shared");
            assert_eq!((values.len(), levels.len(), offsets.len()), (offsets.len(), offsets.len(), values.len()));
            let of_cell = 1 << snapshot.dim();
            for cell in 0..offsets.len() {
                assert_eq!(offsets[cell] as usize, (cell + 1) * of_cell);
                let Cell { level, at } = snapshot.cell(cell);
                assert_eq!((usize::from(levels[cell]), values[cell]), (level, snapshot.get("rho").unwrap()[cell]));
                for (corner, point) in corners[cell * of_cell..][..of_cell].iter().enumerate() {
                    for axis in 0..snapshot.dim() {
                        let expected = 0.5 * (at[axis] + (corner >> axis & 1)) as f64 / f64::from(1 << level);
                        assert_eq!(places[3 * *point as usize + axis], expected, "{cell} {corner} {axis}");
                    }
                }
            }
        }
    }
}
