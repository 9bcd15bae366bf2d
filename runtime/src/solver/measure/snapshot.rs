//! Macroscopic fields on the host, for output and tests: every cell of every level, and interpolation between levels.

use std::collections::{BTreeMap, HashMap};

use crate::geometry::solid::BodyState;
use crate::geometry::{Block, Cell, Domain};
use crate::solver::solids::layers::Layers;

/// One scalar on every cell of the domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Component {
    /// Name: `rho`, `ux`.
    pub name: String,
    /// Values in lattice units, index `[block][cell]` with the cell `x + block[0] * (y + block[1] * z)`.
    pub data: Vec<f64>,
}

/// Fields of the whole domain at one time.
///
/// Blocks cover the domain, each place once. A grid of one level is a single block of the size of the domain, so its cells have the index
/// `x + size[0] * (y + size[1] * z)`. Blocks of several levels may reach beyond the upper ends of the domain; cells there count as solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// Time step, 0 before the first.
    pub step: u64,
    /// The domain.
    pub domain: Domain,
    /// The components of the fields. Solid cells have density 1 and are at rest; these values have no meaning.
    pub components: Vec<Component>,
    /// Which cells are solid, in the order of the values; empty if none is.
    pub solid: Vec<bool>,
    /// The states of the bodies that the fluid moves, with the numbers of their solids.
    pub bodies: Vec<(usize, BodyState)>,
    /// What laws of the wall have found for the surfaces that slide, if there are any.
    pub layers: Option<Layers>,
    block: [usize; 3],
    blocks: Vec<Block>,
    finest: usize,
    /// Position of a block in `blocks`.
    places: HashMap<Block, u32>,
}

impl Snapshot {
    /// A snapshot of a grid of one level: values have the index `x + size[0] * (y + size[1] * z)`.
    pub fn uniform(step: u64, domain: Domain, components: Vec<Component>) -> Snapshot {
        Snapshot::new(step, domain, domain.size, vec![Block { level: 0, place: [0; 3] }], components)
    }

    /// A snapshot of blocks that cover the domain, with `block` cells along each axis.
    pub fn new(
        step: u64,
        domain: Domain,
        block: [usize; 3],
        blocks: Vec<Block>,
        components: Vec<Component>,
    ) -> Snapshot {
        let places = blocks.iter().zip(0..).map(|(block, at)| (*block, at)).collect();
        let finest = blocks.iter().map(|block| block.level).max().unwrap_or(0);
        Snapshot {
            step,
            domain,
            components,
            solid: vec![],
            bodies: vec![],
            layers: None,
            block,
            blocks,
            finest,
            places,
        }
    }

    /// Number of axes.
    pub fn dim(&self) -> usize {
        self.domain.dim
    }

    /// Cells of the coarsest level along each axis.
    pub fn size(&self) -> [usize; 3] {
        self.domain.size
    }

    /// Cells of a block along each axis.
    pub fn block(&self) -> [usize; 3] {
        self.block
    }

    /// The blocks in the order of the values.
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// Number of cells of a block.
    pub fn block_cells(&self) -> usize {
        self.block.iter().product()
    }

    /// The finest level of any block.
    pub fn finest(&self) -> usize {
        self.finest
    }

    /// Whether the whole domain is one block of the coarsest level.
    pub fn is_uniform(&self) -> bool {
        self.blocks.len() == 1
    }

    /// Whether blocks reach beyond the domain.
    pub fn is_padded(&self) -> bool {
        (0..self.dim()).any(|axis| !self.size()[axis].is_multiple_of(self.block[axis]))
    }

    /// Whether any cell of the domain is solid.
    pub fn has_solids(&self) -> bool {
        let is_solid = |(at, solid): (usize, &bool)| *solid && self.domain.contains(self.cell(at));
        if self.is_padded() { self.solid.iter().enumerate().any(is_solid) } else { !self.solid.is_empty() }
    }

    /// Volume of a cell of a block, in cells of the coarsest level.
    pub fn volume(&self, block: usize) -> f64 {
        0.5f64.powi((self.blocks[block].level * self.dim()) as i32)
    }

    /// Values of the component with that name.
    pub fn get(&self, name: &str) -> Option<&[f64]> {
        self.components.iter().find(|component| component.name == name).map(|component| &component.data[..])
    }

    /// Values of the vector with that name, a slice for each axis: those of `ux`, `uy` (and `uz`) for `u`.
    pub fn vector(&self, name: &str) -> Option<Vec<&[f64]>> {
        ["x", "y", "z"][..self.dim()].iter().map(|axis| self.get(&format!("{name}{axis}"))).collect()
    }

    /// Sum of the component with that name over the cells, each weighted by its volume in cells of the coarsest level.
    pub fn integral(&self, name: &str) -> Option<f64> {
        let mut sum = 0.0;
        for (at, values) in self.get(name)?.chunks(self.block_cells()).enumerate() {
            let (volume, first) = (self.volume(at), at * self.block_cells());
            let inside = (first..).zip(values).filter(|(at, _)| self.domain.contains(self.cell(*at)));
            inside.for_each(|(_, value)| sum += volume * value);
        }
        Some(sum)
    }

    /// Position of a cell of a grid of one level in `Component::data`.
    pub fn index(&self, x: usize, y: usize, z: usize) -> usize {
        self.inside([x, y, z])
    }

    /// The cell at a position in `Component::data`.
    pub fn cell(&self, position: usize) -> Cell {
        let Block { level, place } = self.blocks[position / self.block_cells()];
        let [width, height, _] = self.block;
        let inside = position % self.block_cells();
        let inside = [inside % width, inside / width % height, inside / (width * height)];
        Cell { level, at: std::array::from_fn(|axis| place[axis] * self.block[axis] + inside[axis]) }
    }

    /// Index of a cell in its block from its position along each axis.
    pub(crate) fn inside(&self, [x, y, z]: [usize; 3]) -> usize {
        x + self.block[0] * (y + self.block[1] * z)
    }

    /// Position of a block in the order of the values; `None` if there is no such block.
    pub fn find(&self, block: Block) -> Option<usize> {
        self.places.get(&block).map(|at| *at as usize)
    }

    /// Cells of a level along each axis.
    pub fn size_of(&self, level: usize) -> [usize; 3] {
        self.domain.size_of(level)
    }

    /// The cell that covers a cell, itself or a coarser one, with its position in `Component::data`; `None` where the cell is refined.
    pub fn cover(&self, cell: Cell) -> Option<(usize, Cell)> {
        (0..=cell.level).rev().find_map(|level| {
            let at = self.coarsened(cell, level).at;
            let place = std::array::from_fn(|axis| at[axis] / self.block[axis]);
            let block = self.find(Block { level, place })?;
            let inside = std::array::from_fn(|axis| at[axis] % self.block[axis]);
            Some((block * self.block_cells() + self.inside(inside), Cell { level, at }))
        })
    }

    fn coarsened(&self, cell: Cell, level: usize) -> Cell {
        Cell { level, at: cell.at.map(|at| at >> (cell.level - level)) }
    }

    /// Values at a cell of any level; `of` gives those at a position in `Component::data`. Where the cell is refined, they are the mean
    /// over the finer cells. Where a coarser cell covers it, they lie on the plane through that cell, with slopes from its neighbours
    /// (central; one-sided beside a wall).
    pub fn read<const N: usize>(&self, cell: Cell, of: &impl Fn(usize) -> [f64; N]) -> [f64; N] {
        let Some((position, around)) = self.cover(cell) else { return self.mean(cell, of) };
        let mut values = of(position);
        if around.level < cell.level {
            for axis in 0..self.dim() {
                let (low, high) = (self.beside(around, axis, false), self.beside(around, axis, true));
                let apart = f64::from(u8::from(low.is_some()) + u8::from(high.is_some())).max(1.0);
                let (low, high) = (self.read(low.unwrap_or(around), of), self.read(high.unwrap_or(around), of));
                let offset = (cell.centre()[axis] - around.centre()[axis]) / around.width();
                for (at, value) in values.iter_mut().enumerate() {
                    *value += offset * (high[at] - low[at]) / apart;
                }
            }
        }
        values
    }

    /// The mean over the cells that refine a cell.
    fn mean<const N: usize>(&self, cell: Cell, of: &impl Fn(usize) -> [f64; N]) -> [f64; N] {
        let (mut sum, parts) = ([0.0; N], self.parts(cell).len());
        for part in self.parts(cell) {
            sum.iter_mut().zip(self.read(part, of)).for_each(|(sum, value)| *sum += value);
        }
        sum.map(|sum| sum / parts as f64)
    }

    /// Adds the weights with which [`Self::read`] combines values for a cell, times a factor, to `weights`, by position in
    /// `Component::data`.
    pub(crate) fn weigh(&self, cell: Cell, factor: f64, weights: &mut BTreeMap<usize, f64>) {
        let Some((position, around)) = self.cover(cell) else {
            let share = factor / self.parts(cell).len() as f64;
            return self.parts(cell).for_each(|part| self.weigh(part, share, weights));
        };
        *weights.entry(position).or_default() += factor;
        for axis in (0..self.dim()).filter(|_| around.level < cell.level) {
            let (low, high) = (self.beside(around, axis, false), self.beside(around, axis, true));
            let apart = f64::from(u8::from(low.is_some()) + u8::from(high.is_some())).max(1.0);
            let slope = factor * (cell.centre()[axis] - around.centre()[axis]) / around.width() / apart;
            self.weigh(high.unwrap_or(around), slope, weights);
            self.weigh(low.unwrap_or(around), -slope, weights);
        }
    }

    /// The children of a cell: its cells of the next finer level.
    fn parts(&self, cell: Cell) -> impl ExactSizeIterator<Item = Cell> + use<> {
        let dim = self.dim();
        (0..1usize << dim).map(move |part| {
            let at = |axis: usize| if axis < dim { 2 * cell.at[axis] + (part >> axis & 1) } else { 0 };
            Cell { level: cell.level + 1, at: std::array::from_fn(at) }
        })
    }

    /// The neighbour of a cell on the same level along an axis; `None` behind a wall.
    pub fn beside(&self, cell: Cell, axis: usize, high: bool) -> Option<Cell> {
        let (size, at) = (self.size_of(cell.level)[axis], cell.at[axis]);
        let next = match (high, self.domain.periodic[axis]) {
            (true, _) if at + 1 < size => at + 1,
            (false, _) if at > 0 => at - 1,
            (true, true) => 0,
            (false, true) => size - 1,
            (_, false) => return None,
        };
        let mut cell = cell;
        cell.at[axis] = next;
        Some(cell)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::snapshots::levels;

    fn read(snapshot: &Snapshot, level: usize, x: usize, y: usize) -> f64 {
        let values = snapshot.get("a").unwrap();
        snapshot.read(Cell { level, at: [x, y, 0] }, &|at| [values[at]])[0]
    }

    #[test]
    fn a_vector_has_a_slice_for_each_axis() {
        let component = |name: &str, value: f64| Component { name: name.to_string(), data: vec![value] };
        let components = vec![component("rho", 1.0), component("ux", 2.0), component("uy", 3.0)];
        let domain = Domain { dim: 2, size: [1; 3], periodic: [true; 3] };
        let mut snapshot = Snapshot::uniform(0, domain, components);
        assert_eq!(snapshot.vector("u"), Some(vec![&[2.0][..], &[3.0][..]]));
        snapshot.domain.dim = 3;
        assert_eq!(snapshot.vector("u"), None);
    }

    #[test]
    fn what_is_linear_is_read_exactly_on_every_level() {
        let linear = |[x, y, _]: [f64; 3]| 3.0 + 0.25 * x - 2.0 * y;
        let snapshot = levels(false, &[("a", &linear)]);
        for level in 0..4 {
            let width = 0.5f64.powi(level as i32);
            for (x, y) in (0..16 << level).flat_map(|x| (0..8 << level).map(move |y| (x, y))) {
                let expected = linear([(x as f64 + 0.5) * width, (y as f64 + 0.5) * width, 0.0]);
                let found = read(&snapshot, level, x, y);
                assert!((found - expected).abs() < 1e-12, "level {level}, ({x}, {y}): {found} {expected}");
            }
        }
    }

    #[test]
    fn a_cell_that_there_is_is_read_as_it_is() {
        let snapshot = levels(true, &[("a", &|[x, y, _]| (17.0 * x).sin() + y * y)]);
        for (at, value) in snapshot.get("a").unwrap().iter().enumerate() {
            let Cell { level, at: [x, y, _] } = snapshot.cell(at);
            assert_eq!(snapshot.cover(snapshot.cell(at)), Some((at, snapshot.cell(at))));
            assert_eq!(read(&snapshot, level, x, y), *value);
        }
    }

    #[test]
    fn weights_are_those_of_what_is_read() {
        for periodic in [false, true] {
            let snapshot = levels(periodic, &[("a", &|[x, y, _]| (17.0 * x).sin() + y * y)]);
            let values = snapshot.get("a").unwrap();
            for level in 0..=3 {
                let [width, height, _] = snapshot.size_of(level);
                for (x, y) in (0..width).flat_map(|x| (0..height).map(move |y| (x, y))) {
                    let mut weights = BTreeMap::new();
                    snapshot.weigh(Cell { level, at: [x, y, 0] }, 2.0, &mut weights);
                    let found: f64 = weights.iter().map(|(at, weight)| weight * values[*at]).sum();
                    let expected = 2.0 * read(&snapshot, level, x, y);
                    assert!((found - expected).abs() < 1e-11, "level {level}, ({x}, {y}): {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn an_integral_counts_cells_by_their_volume() {
        let snapshot = levels(false, &[("one", &|_| 1.0), ("half", &|[_, y, _]| f64::from(u8::from(y < 4.0)))]);
        assert_eq!((snapshot.integral("one"), snapshot.integral("half")), (Some(128.0), Some(64.0)));
        assert_eq!(snapshot.integral("other"), None);
    }
}
