//! The grid: blocks of cells that fill a box, their neighbours and what lies behind each face.
//!
//! In: a size in cells, a block and the six faces; which blocks are refined. After [`Grid::new`]: slots are in Morton order,
//! level by level, so that neighbours in space are near in memory; every entry of the neighbour table is a slot, a wall or
//! [`COARSER`]; each slot is in exactly one of the lists of its level.
//!
//! ```text
//! neighbours of a slot in two dimensions:   6 7 8    y
//!                                           3 4 5    |
//!                                           0 1 2    +-- x
//! ```
//!
//! Where a direction leaves the box through several faces at once, periodic axes wrap first; of the walls that remain,
//! that of the x-face wins over y, and y over z.

pub mod forest;
mod morton;
mod nodes;
mod roots;
mod tables;

use lbm_bundle::Manifest;
use miette::Diagnostic;
use thiserror::Error;

pub use nodes::{Block, COARSER, Lists, Nodes};
pub use tables::{LevelTables, Tables};

use crate::layout::SlotId;

/// A face of the box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Face {
    /// x = 0
    XMin,
    /// x = size
    XMax,
    /// y = 0
    YMin,
    /// y = size
    YMax,
    /// z = 0
    ZMin,
    /// z = size
    ZMax,
}

impl Face {
    /// All faces in the order of arrays over faces.
    pub const ALL: [Face; 6] = [Face::XMin, Face::XMax, Face::YMin, Face::YMax, Face::ZMin, Face::ZMax];

    /// The faces of an axis (0, 1, 2), at its low and its high end.
    pub fn of_axis(axis: usize) -> [Face; 2] {
        [Face::ALL[2 * axis], Face::ALL[2 * axis + 1]]
    }

    /// Position in arrays over faces.
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name in messages: `x_min`.
    pub fn name(self) -> &'static str {
        ["x_min", "x_max", "y_min", "y_max", "z_min", "z_max"][self.index()]
    }
}

/// A wall instance: a boundary rule with values for its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WallId(pub u32);

/// What lies behind a face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// The opposite end of the box.
    Periodic,
    /// A wall half a cell behind the outermost cells' centres.
    Wall(WallId),
}

/// Why there is no such grid.
#[derive(Debug, Error, Diagnostic)]
pub enum GridError {
    /// The size is not a multiple of the block.
    #[error("{size} cells along {axis} are no multiple of the block of {block}")]
    #[diagnostic(code(lbmc::grid::size), help("use {}", suggestion(*.size, *.block)))]
    Size {
        /// Name of the axis.
        axis: &'static str,
        /// Cells asked for.
        size: usize,
        /// Cells of a block.
        block: usize,
    },

    /// One face of an axis is periodic and the other is not.
    #[error("{periodic} is periodic and {wall} is not")]
    #[diagnostic(code(lbmc::grid::half_periodic), help("make both ends of the axis periodic, or none"))]
    HalfPeriodic {
        /// The periodic face.
        periodic: &'static str,
        /// Its opposite.
        wall: &'static str,
    },

    /// More blocks than a 32-bit index can name.
    #[error("the grid has {blocks} blocks, at most {} can be numbered", i32::MAX)]
    #[diagnostic(code(lbmc::grid::blocks), help("use larger blocks"))]
    Blocks {
        /// Number of blocks.
        blocks: usize,
    },
}

fn suggestion(size: usize, block: usize) -> String {
    match size / block * block {
        0 => format!("{block}"),
        low => format!("{low} or {}", low + block),
    }
}

/// A cell: its level, 0 the coarsest, and its position in cells of that level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its level.
    pub level: usize,
    /// Its position along each axis, 0 beyond the dimension.
    pub at: [usize; 3],
}

impl Cell {
    /// Its width in cells of the coarsest level.
    pub fn width(&self) -> f64 {
        0.5f64.powi(self.level as i32)
    }

    /// Its centre in cells of the coarsest level, from the lower corner of the box.
    pub fn centre(&self) -> [f64; 3] {
        self.at.map(|at| (at as f64 + 0.5) * self.width())
    }
}

/// Blocks that fill a box, on one level or several.
#[derive(Clone, Debug)]
pub struct Grid {
    dim: usize,
    size: [usize; 3],
    block: [usize; 3],
    periodic: [bool; 3],
    nodes: Nodes,
}

impl Grid {
    /// A grid of `size` cells (1 beyond the dimension) for a bundle's blocks, on one level.
    pub fn new(manifest: &Manifest, size: [usize; 3], faces: [Behind; 6]) -> Result<Self, GridError> {
        Self::refined(manifest, size, faces, 1, |_| false)
    }

    /// The same with so many levels; `size` is that of the coarsest. Those blocks are refined that `refine` says, and
    /// whatever must be so that blocks that touch differ by at most one level. It is asked for children of refined blocks
    /// only.
    pub fn refined(
        manifest: &Manifest,
        size: [usize; 3],
        faces: [Behind; 6],
        levels: usize,
        refine: impl Fn(Block) -> bool,
    ) -> Result<Self, GridError> {
        let dim = manifest.dim as usize;
        let block = manifest.block.map(|n| n as usize);
        let mut count = [1; 3];
        for axis in 0..3 {
            if size[axis] == 0 || !size[axis].is_multiple_of(block[axis]) {
                return Err(GridError::Size { axis: ["x", "y", "z"][axis], size: size[axis], block: block[axis] });
            }
            count[axis] = size[axis] / block[axis];
        }
        roots::check(dim, count, faces)?;
        let periodic = std::array::from_fn(|axis| {
            axis >= dim || Face::of_axis(axis).iter().all(|face| faces[face.index()] == Behind::Periodic)
        });
        Ok(Grid { dim, size, block, periodic, nodes: Nodes::new(dim, count, faces, levels, refine) })
    }

    /// Number of axes.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// Cells along each axis, 1 beyond the dimension.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Whether an axis is periodic; true beyond the dimension.
    pub fn periodic(&self) -> [bool; 3] {
        self.periodic
    }

    /// Number of cells of all levels.
    pub fn cells(&self) -> usize {
        self.slots() * self.block.iter().product::<usize>()
    }

    /// Number of cells of each level, the coarsest first.
    pub fn cells_of_levels(&self) -> Vec<usize> {
        let of_block = self.block.iter().product::<usize>();
        self.nodes.levels.iter().map(|lists| lists.all().count() * of_block).collect()
    }

    /// Cells that are updated in a step of the coarsest level: those of level `l` are `2^l` times.
    pub fn updates(&self) -> usize {
        self.cells_of_levels().iter().enumerate().map(|(level, cells)| cells << level).sum()
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.nodes.blocks.len()
    }

    /// The lowest cell of a slot's block.
    pub fn origin(&self, slot: SlotId) -> Cell {
        let Block { level, place } = self.nodes.blocks[slot.index()];
        Cell { level, at: std::array::from_fn(|axis| place[axis] * self.block[axis]) }
    }

    /// Tables of all nodes.
    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    /// The slots of each level, coarsest first.
    pub fn levels(&self) -> &[Lists] {
        &self.nodes.levels
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::manifest;

    const PERIODIC: [Behind; 6] = [Behind::Periodic; 6];

    fn walls() -> [Behind; 6] {
        std::array::from_fn(|face| Behind::Wall(WallId(face as u32)))
    }

    fn manifest_with(dim: u32, block: [u32; 3]) -> Manifest {
        Manifest { dim, block, ..manifest() }
    }

    #[test]
    fn a_periodic_box_wraps_on_every_axis_and_is_all_interior() {
        let grid = Grid::new(&manifest_with(3, [4, 4, 4]), [8, 12, 16], PERIODIC).unwrap();
        assert_eq!((grid.slots(), grid.levels()[0].interior.len(), grid.levels()[0].walls.len()), (24, 24, 0));
        for slot in 0..24 {
            let origin = grid.origin(SlotId(slot)).at;
            for (entry, offset) in grid.nodes().neighbours[27 * slot as usize..][..27].iter().zip(roots::offsets(3)) {
                let expected: Vec<usize> = (0..3)
                    .map(|axis| (origin[axis] as i64 + 4 * offset[axis]).rem_euclid(grid.size()[axis] as i64) as usize)
                    .collect();
                assert_eq!(grid.origin(SlotId(*entry as u32)).at.to_vec(), expected);
            }
        }
    }

    #[test]
    fn of_two_walls_at_a_corner_that_of_x_wins() {
        let grid = Grid::new(&manifest_with(2, [8, 8, 1]), [8, 8, 1], walls()).unwrap();
        // Order of the table: (-1,-1) (0,-1) (1,-1) (-1,0) (0,0) (1,0) (-1,1) (0,1) (1,1); wall w is -(w + 1).
        assert_eq!(grid.nodes().neighbours, [-1, -3, -2, -1, 0, -2, -1, -4, -2]);
        assert_eq!((grid.levels()[0].interior.len(), grid.levels()[0].walls.len()), (0, 1));
    }

    #[test]
    fn a_periodic_axis_wraps_before_walls_are_met() {
        let mut faces = walls();
        faces[0] = Behind::Periodic;
        faces[1] = Behind::Periodic;
        let grid = Grid::new(&manifest_with(2, [8, 8, 1]), [8, 8, 1], faces).unwrap();
        assert_eq!(grid.nodes().neighbours, [-3, -3, -3, 0, 0, 0, -4, -4, -4]);
    }

    #[test]
    fn blocks_away_from_walls_are_interior() {
        let grid = Grid::new(&manifest_with(2, [8, 8, 1]), [32, 24, 1], walls()).unwrap();
        assert_eq!((grid.levels()[0].interior.len(), grid.levels()[0].walls.len()), (2, 10));
        let origins: Vec<_> = grid.levels()[0].interior.iter().map(|slot| grid.origin(*slot).at).collect();
        assert_eq!(origins, [[8, 8, 0], [16, 8, 0]]);
    }

    #[test]
    fn a_size_that_is_no_multiple_suggests_its_neighbours() {
        let error =
            Grid::new(&manifest_with(2, [8, 8, 1]), [100, 8, 1], PERIODIC).expect_err("100 is no multiple of 8");
        assert_eq!(Diagnostic::help(&error).unwrap().to_string(), "use 96 or 104");
        let small = Grid::new(&manifest_with(2, [8, 8, 1]), [8, 5, 1], PERIODIC).expect_err("5 is too small");
        assert_eq!(Diagnostic::help(&small).unwrap().to_string(), "use 8");
    }

    #[test]
    fn half_periodic_axes_are_refused_by_name() {
        let mut faces = walls();
        faces[Face::YMax.index()] = Behind::Periodic;
        let error = Grid::new(&manifest_with(2, [8, 8, 1]), [8, 8, 1], faces).expect_err("half periodic");
        assert_eq!(error.to_string(), "y_max is periodic and y_min is not");
    }
}
