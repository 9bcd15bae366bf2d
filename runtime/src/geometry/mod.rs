//! Geometry: blocks of cells, the box that they fill with its six faces, and solids in it.
//!
//! This module knows neither devices nor kernels nor populations.
//!
//! | module | job |
//! | --- | --- |
//! | `solid` | solids in the flow: shapes, and the links that they cut |

pub mod solid;

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

    /// The faces at the low and at the high end of an axis (0, 1, 2).
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

/// The domain: the box of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Domain {
    /// Number of axes.
    pub dim: usize,
    /// Cells of the coarsest level along each axis; 1 beyond the dimension.
    pub size: [usize; 3],
    /// Whether an axis is periodic; true beyond the dimension.
    pub periodic: [bool; 3],
}

impl Domain {
    /// Cells of a level along each axis; 1 beyond the dimension.
    pub fn size_of(&self, level: usize) -> [usize; 3] {
        std::array::from_fn(|axis| if axis < self.dim { self.size[axis] << level } else { 1 })
    }

    /// Whether a cell lies in the domain: blocks may reach beyond its upper ends.
    pub fn contains(&self, cell: Cell) -> bool {
        let size = self.size_of(cell.level);
        (0..self.dim).all(|axis| cell.at[axis] < size[axis])
    }

    /// The cell of the domain that is nearest to a cell of a block.
    pub fn nearest(&self, cell: Cell) -> Cell {
        let size = self.size_of(cell.level);
        let inside = |axis: usize| if axis < self.dim { cell.at[axis].min(size[axis] - 1) } else { cell.at[axis] };
        Cell { at: [0, 1, 2].map(inside), ..cell }
    }
}

/// A block of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block {
    /// Its level, 0 the coarsest.
    pub level: usize,
    /// Its position in blocks of its level, 0 beyond the dimension.
    pub place: [usize; 3],
}

impl Block {
    /// The block of the next coarser level that contains it; `None` on the coarsest level.
    pub fn parent(self) -> Option<Block> {
        Some(Block { level: self.level.checked_sub(1)?, place: self.place.map(|at| at / 2) })
    }

    /// Whether it overlaps the box between `from` and `to`, in cells of the coarsest level. `cells`: the cells of a block along each
    /// axis, 1 beyond the dimension.
    pub fn overlaps(self, cells: [usize; 3], from: &[f64; 3], to: &[f64; 3]) -> bool {
        let width = 0.5f64.powi(self.level as i32);
        let corner = |axis: usize, upper: usize| ((self.place[axis] + upper) * cells[axis]) as f64 * width;
        (0..3).all(|axis| cells[axis] == 1 || corner(axis, 0) < to[axis] && corner(axis, 1) > from[axis])
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
