//! Surfaces between nodes inside and nodes outside, by marching tetrahedra (Doi & Koide, IEICE Trans. E74 (1991) 214).
//!
//! Each cell is divided into the six tetrahedra around its diagonal from the lower to the upper corner (Kuhn, IBM J.
//! Res. Dev. 4 (1960) 518). In each of them a plane separates the corners inside from those outside. Faces of cells are
//! divided along their diagonals from lower to upper corners, so that the surfaces of neighbouring cells match. The
//! division of a cell is also consistent with that of the eight cells that refine it: if values on a finer level are
//! linear along the edges and diagonals of a coarser one, the surfaces of both levels match.

use lbm_runtime::solver::snapshot::Snapshot;

/// Corners of the tetrahedra of a cell, as bits of x, y and z.
const TETRAHEDRA: [[usize; 4]; 6] =
    [[0, 1, 3, 7], [0, 1, 5, 7], [0, 2, 3, 7], [0, 2, 6, 7], [0, 4, 5, 7], [0, 4, 6, 7]];

/// Largest number of cells along a side of a tile.
const SIDE: usize = 16;

/// A box of cells of one level: a section of a block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) level: usize,
    /// The first cell along each axis.
    pub(super) low: [usize; 3],
    /// Cells along each axis.
    pub(super) size: [usize; 3],
}

impl Tile {
    /// Number of tiles in the leaves of a snapshot.
    pub(super) fn count(snapshot: &Snapshot) -> usize {
        snapshot.blocks().len() * Tile::of_block(snapshot).iter().product::<usize>()
    }

    fn of_block(snapshot: &Snapshot) -> [usize; 3] {
        snapshot.block().map(|side| side.div_ceil(SIDE))
    }

    /// The tile with this number.
    pub(super) fn new(snapshot: &Snapshot, number: usize) -> Tile {
        let (tiles, block) = (Tile::of_block(snapshot), snapshot.block());
        let count: usize = tiles.iter().product();
        let (leaf, inside) = (snapshot.blocks()[number / count], number % count);
        let place = [inside % tiles[0], inside / tiles[0] % tiles[1], inside / (tiles[0] * tiles[1])];
        let first = place.map(|at| at * SIDE);
        Tile {
            level: leaf.level,
            low: [0, 1, 2].map(|axis| leaf.place[axis] * block[axis] + first[axis]),
            size: [0, 1, 2].map(|axis| SIDE.min(block[axis] - first[axis])),
        }
    }

    /// Cell size, in cells of the coarsest level.
    pub(super) fn width(&self) -> f64 {
        0.5f64.powi(self.level as i32)
    }

    pub(super) fn cells(&self) -> usize {
        self.size.iter().product()
    }

    /// Positions of its cells inside the tile, x fastest.
    pub(super) fn places(&self) -> impl Iterator<Item = [usize; 3]> + use<> {
        let [width, height, _] = self.size;
        (0..self.cells()).map(move |at| [at % width, at / width % height, at / (width * height)])
    }
}

/// Position of a corner of a cell.
pub(super) fn corner(place: [usize; 3], corner: usize) -> [usize; 3] {
    [0, 1, 2].map(|axis| place[axis] + (corner >> axis & 1))
}

/// The triangles of a cell. `inside` tells for each corner whether it is inside; `None` excludes the tetrahedra that
/// have the corner. `between` makes a vertex between two corners, the lower number first; it must give the same result
/// in all triangles. `emit` receives a triangle, with a corner inside and a corner outside.
pub(super) fn march<V: Copy>(
    inside: [Option<bool>; 8],
    mut between: impl FnMut(usize, usize) -> V,
    mut emit: impl FnMut([V; 3], [usize; 2]),
) {
    if inside.iter().all(|corner| *corner != Some(true)) || inside.iter().all(|corner| *corner != Some(false)) {
        return;
    }
    for corners in TETRAHEDRA {
        if corners.iter().any(|corner| inside[*corner].is_none()) {
            continue;
        }
        let is_inside = |corner: &usize| inside[*corner] == Some(true);
        let mut vertex = |a: usize, b: usize| between(a.min(b), a.max(b));
        let count = corners.iter().filter(|corner| is_inside(corner)).count();
        let ordered = |first: bool| {
            let mut ordered = corners;
            // A stable sort: the order inside each group is preserved.
            ordered.sort_by_key(|corner| is_inside(corner) != first);
            ordered
        };
        match count {
            1 | 3 => {
                let [one, a, b, c] = ordered(count == 1);
                let sides = if count == 1 { [one, a] } else { [a, one] };
                emit([vertex(one, a), vertex(one, b), vertex(one, c)], sides);
            }
            2 => {
                let [a, b, c, d] = ordered(true);
                let [ac, ad, bd, bc] = [vertex(a, c), vertex(a, d), vertex(b, d), vertex(b, c)];
                emit([ac, ad, bd], [a, c]);
                emit([ac, bd, bc], [a, c]);
            }
            _ => {}
        }
    }
}
