//! The grid: blocks of cells that fill a box, on one level or several, and what lies behind each face.
//!
//! In: a size in cells, a block, the six faces, and which blocks are refined. After [`Grid::new`]: the leaves of the grid's
//! [`Forest`](forest::Forest) have the slots from 0 on, level by level along a space-filling curve, so that neighbours in space are close
//! in memory.
//!
//! ```text
//! neighbours of a slot in two dimensions:   6 7 8    y
//!                                           3 4 5    |
//!                                           0 1 2    +-- x
//! ```
//!
//! If a direction leaves the box through several faces at once, periodic axes wrap first; of the remaining walls, that of the x-face has
//! priority over y, and y over z.

mod choice;
mod count;
mod error;
pub mod forest;
mod morton;
mod partition;
mod roots;
mod tree;

use std::ops::RangeInclusive;
use std::sync::{Arc, OnceLock};

use lbm_bundle::Manifest;

pub use choice::{ChosenBlock, Filled, preferred_block};
pub use error::GridError;
pub use partition::{MOST_SUBDOMAINS, Owned, OwnedLevel, Partition, SubdomainId};
pub use tree::{Meeting, Tree};

use forest::{Forest, ForestError, Leaf, Level, Outcome, Pool, Remap, Tables, Targets};

use crate::device::{Buffer, Device, DeviceError, Int};
use crate::geometry::{Block, Cell, Domain, Face};
use crate::kernels;

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

/// The memory for the blocks of a grid, in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Most blocks that there may be, at least one more than roots.
    pub most: usize,
    /// Whether memory is reserved for all of them, for a grid that will change; else only for those that it starts with.
    pub all: bool,
}

/// Numbers of blocks and the memory of their tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    /// Leaves of all levels.
    pub leaves: usize,
    /// Slots for data.
    pub slots: usize,
    /// Bytes of tables.
    pub tables: usize,
    /// Slots at refinement interfaces, which store data for other levels.
    pub interfaces: usize,
    /// Blocks with cut links.
    pub cut: usize,
}

impl Blocks {
    /// Blocks of one level.
    pub fn uniform(dim: usize, roots: usize) -> Blocks {
        let tables = Pool { families: 0, slots: roots }.bytes_that_stay(dim, roots, false);
        Blocks { leaves: roots, slots: roots, tables, interfaces: 0, cut: 0 }
    }
}

/// Blocks that fill a box, on one level or several.
pub struct Grid {
    size: [usize; 3],
    block: [usize; 3],
    periodic: [bool; 3],
    forest: Forest,
    slots: usize,
    /// The leaves, once the host has read them.
    leaves: OnceLock<Arc<[Leaf]>>,
    /// The tree of nodes, once the host has read it.
    tree: OnceLock<Arc<Tree>>,
    /// If blocks reach beyond the domain: how many cells of each level lie in it.
    inside: Option<Vec<usize>>,
}

impl Grid {
    /// A grid of `size` cells (1 beyond the dimension) for a bundle's blocks, on one level.
    pub fn new(
        device: &Device,
        manifest: &Manifest,
        size: [usize; 3],
        faces: [Behind; 6],
    ) -> Result<Self, ForestError> {
        Self::refined(device, manifest, size, faces, 1, |_| false)
    }

    /// The same with `levels` levels; `size` is that of the coarsest. Blocks are refined while `refine` returns true, and where 2:1
    /// balance requires it.
    pub fn refined(
        device: &Device,
        manifest: &Manifest,
        size: [usize; 3],
        faces: [Behind; 6],
        levels: usize,
        refine: impl Fn(Block) -> bool + Sync,
    ) -> Result<Self, ForestError> {
        let room = Room { most: usize::MAX, all: false };
        Self::with_room(device, manifest, size, faces, room, |forest| refine_all(forest, levels, &refine))
            .map(|made| made.0)
    }

    /// The same with limited room; `set_up` refines a forest of roots and returns the number of refinements refused for lack of room,
    /// which is also returned here.
    pub fn with_room(
        device: &Device,
        manifest: &Manifest,
        size: [usize; 3],
        faces: [Behind; 6],
        room: Room,
        mut set_up: impl FnMut(&mut Forest) -> Result<usize, ForestError>,
    ) -> Result<(Self, usize), ForestError> {
        let dim = manifest.dim as usize;
        let block = manifest.block.map(|n| n as usize);
        let periodic = std::array::from_fn(|axis| {
            axis >= dim || Face::of_axis(axis).iter().all(|face| faces[face.index()] == Behind::Periodic)
        });
        let count = roots(size, block, periodic)?;
        roots::check(dim, count, faces)?;
        let bundle = kernels::mesh_bundle(dim, device.target())?;
        let roots: usize = count.iter().product();
        let stores_covered = stores_covered(manifest);
        let mut slots = if room.all { room.most } else { (roots + 1).min(room.most) };
        let (forest, refused) = loop {
            let mut forest =
                Forest::new(device, &bundle, count, faces, Pool::with_slots(dim, roots, slots), stores_covered)?;
            let refused = set_up(&mut forest)?;
            // Slots of covered blocks lie behind all others, so there should be no more of the others than needed.
            let spare = stores_covered && !room.all && forest.most_used() + 1 < slots;
            if (refused == 0 && !spare) || slots == room.most {
                forest.reorder(&mut ())?;
                break (forest, refused);
            }
            slots = if refused == 0 { forest.most_used() + 1 } else { (2 * slots + (1 << dim)).min(room.most) };
        };
        let slots = if room.all || stores_covered { forest.pool().data_slots(stores_covered) } else { forest.leaves() };
        let (leaves, tree) = (OnceLock::new(), OnceLock::new());
        let mut grid = Grid { size, block, periodic, slots, forest, leaves, tree, inside: None };
        grid.count_inside()?;
        Ok((grid, refused))
    }

    /// The same grid on another device: nodes and slots have the same numbers.
    pub fn on(&self, device: &Device) -> Result<Self, ForestError> {
        let bundle = kernels::mesh_bundle(self.dim(), device.target())?;
        let forest = self.forest.on(device, &bundle)?;
        let (leaves, tree, inside) = (self.leaves.clone(), self.tree.clone(), self.inside.clone());
        Ok(Grid { forest, leaves, tree, inside, ..*self })
    }

    /// Releases what only changes of the grid need: it can no longer change.
    pub fn stay(&mut self) -> Result<(), ForestError> {
        self.forest.stay()?;
        if self.forest.stores_covered() {
            self.slots = self.forest.pool().data_slots(true);
        }
        Ok(())
    }

    /// Number of axes.
    pub fn dim(&self) -> usize {
        self.forest.dim()
    }

    /// Cells along each axis, 1 beyond the dimension.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Whether an axis is periodic; true beyond the dimension.
    pub fn periodic(&self) -> [bool; 3] {
        self.periodic
    }

    /// The domain.
    pub fn domain(&self) -> Domain {
        Domain { dim: self.dim(), size: self.size, periodic: self.periodic }
    }

    /// Data slots: one for each leaf, the free ones, and those of covered blocks with data.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of leaves.
    pub fn leaf_count(&self) -> usize {
        self.forest.leaves()
    }

    /// The numbers of blocks and the bytes of tables, with `cut` blocks that have cut links.
    pub(crate) fn blocks(&self, cut: usize) -> Blocks {
        Blocks {
            leaves: self.leaf_count(),
            slots: self.slots(),
            tables: self.forest.bytes(),
            interfaces: self.interfaces(),
            cut,
        }
    }

    /// The first slot of covered blocks and the number of roots, if covered blocks have data.
    pub(crate) fn covered(&self) -> Option<[usize; 2]> {
        self.forest.stores_covered().then(|| [self.forest.pool().slots, self.levels()[0].nodes.len()])
    }

    /// The forest of the blocks.
    pub fn forest(&self) -> &Forest {
        &self.forest
    }

    /// The forest, to be changed; copies on the host are discarded.
    pub fn forest_mut(&mut self) -> &mut Forest {
        self.forget();
        &mut self.forest
    }

    fn forget(&mut self) {
        (self.leaves, self.tree) = (OnceLock::new(), OnceLock::new());
    }

    /// [`Forest::adapt`]; copies on the host are discarded if the forest has changed.
    pub fn adapt(&mut self, levels: RangeInclusive<usize>, remap: &mut impl Remap) -> Result<Outcome, ForestError> {
        let outcome = self.forest.adapt(levels, remap);
        if outcome.as_ref().map_or(true, Outcome::changed) {
            self.forget();
            self.count_inside()?;
        }
        outcome
    }

    /// [`Forest::targets`].
    pub fn targets(&mut self) -> (&Tables, &mut Targets) {
        self.forest.targets()
    }

    /// [`Forest::scan`].
    pub fn scan(&mut self, counts: &mut Buffer<Int>, size: usize) -> Result<usize, ForestError> {
        self.forest.scan(counts, size)
    }

    /// The lowest cell of a block.
    pub fn origin(&self, block: Block) -> Cell {
        Cell { level: block.level, at: std::array::from_fn(|axis| block.place[axis] * self.block[axis]) }
    }

    /// All leaves, level by level, each level along the curve.
    pub fn leaves(&self) -> Result<&[Leaf], DeviceError> {
        self.known_leaves().map(|leaves| &leaves[..])
    }

    /// The same, shared, for use after the grid has changed.
    pub fn shared_leaves(&self) -> Result<Arc<[Leaf]>, DeviceError> {
        self.known_leaves().cloned()
    }

    fn known_leaves(&self) -> Result<&Arc<[Leaf]>, DeviceError> {
        match self.leaves.get() {
            Some(leaves) => Ok(leaves),
            None => {
                let leaves = self.forest.read_leaves()?.into();
                Ok(self.leaves.get_or_init(|| leaves))
            }
        }
    }

    /// The tree of nodes on the host.
    pub fn tree(&self) -> Result<Arc<Tree>, DeviceError> {
        match self.tree.get() {
            Some(tree) => Ok(tree.clone()),
            None => {
                let tree = Arc::new(Tree::read(&self.forest)?);
                Ok(self.tree.get_or_init(|| tree).clone())
            }
        }
    }

    /// Takes the tree from another grid whose forest has undergone the same changes.
    pub fn know(&self, tree: &Arc<Tree>) {
        self.tree.get_or_init(|| tree.clone());
    }

    /// The ranges of each level in the list of leaves, coarsest first.
    pub fn levels(&self) -> &[Level] {
        self.forest.levels()
    }

    /// The tables that kernels read.
    pub fn tables(&self) -> &Tables {
        self.forest.tables()
    }

    /// The arguments of kernels that work on ghosts.
    pub fn ghosts(&self) -> kernels::Ghosts<'_> {
        let Tables { sides, rows, .. } = self.tables();
        kernels::Ghosts { sides, rows, first_covered: self.forest.pool().slots as i32 }
    }

    /// Number of blocks that have populations: leaves, and covered blocks if they have data.
    pub fn blocks_with_populations(&self) -> usize {
        let covered = self.levels().iter().map(|level| level.covered.len()).sum::<usize>();
        self.leaf_count() + if self.forest.stores_covered() { covered } else { 0 }
    }

    /// Number of slots with a place in [`Tables::rows`].
    pub fn interfaces(&self) -> usize {
        self.forest.interfaces()
    }

    /// What the user should know about loading the kernels, a sentence each.
    pub fn notices(&self) -> &[String] {
        self.forest.notices()
    }
}

/// Whether covered blocks have data, for ghosts.
pub(crate) fn stores_covered(manifest: &Manifest) -> bool {
    manifest.coupling.as_ref().is_some_and(|coupling| coupling.ghosts > 0)
}

/// Blocks along each axis of a box of `size` cells; the last ones may reach beyond it. Refuses sizes that are not multiples of the block
/// along periodic axes: there the cell next to the last one would not be the first of a block.
pub fn roots(size: [usize; 3], block: [usize; 3], periodic: [bool; 3]) -> Result<[usize; 3], GridError> {
    for axis in 0..3 {
        if size[axis] == 0 || periodic[axis] && !size[axis].is_multiple_of(block[axis]) {
            return Err(GridError::Size { axis: ["x", "y", "z"][axis], size: size[axis], block: block[axis] });
        }
    }
    Ok(std::array::from_fn(|axis| size[axis].div_ceil(block[axis])))
}

/// Refines all blocks that `refine` selects, on `levels` levels; returns the number of refinements refused for lack of room.
pub(crate) fn refine_all(
    forest: &mut Forest,
    levels: usize,
    refine: &(impl Fn(Block) -> bool + Sync),
) -> Result<usize, ForestError> {
    if levels < 2 {
        return Ok(0);
    }
    let finest = levels - 1;
    loop {
        forest.overrule(|block, _| block.level + usize::from(block.level < finest && refine(block)))?;
        let outcome = forest.adapt(0..=finest, &mut ())?;
        if !outcome.changed() || outcome.refused() > 0 {
            return Ok(outcome.refused());
        }
    }
}

#[cfg(test)]
mod tests {
    use lbm_bundle::mesh::Group;
    use miette::Diagnostic;

    use super::*;
    use crate::fixture::manifest;

    const PERIODIC: [Behind; 6] = [Behind::Periodic; 6];

    fn walls() -> [Behind; 6] {
        std::array::from_fn(|face| Behind::Wall(WallId(face as u32)))
    }

    fn manifest_with(dim: u32, block: [u32; 3]) -> Manifest {
        Manifest { dim, block, ..manifest() }
    }

    fn grid(manifest: &Manifest, size: [usize; 3], faces: [Behind; 6]) -> Result<Grid, ForestError> {
        Grid::new(&Device::host(1).unwrap(), manifest, size, faces)
    }

    fn neighbours(grid: &Grid) -> Vec<i32> {
        grid.tables().neighbours.read_ints(0..grid.slots() * 3usize.pow(grid.dim() as u32)).unwrap()
    }

    fn count(grid: &Grid, group: Group) -> usize {
        grid.levels()[0].group(group).len()
    }

    #[test]
    fn a_periodic_box_wraps_on_every_axis_and_is_all_interior() {
        let grid = grid(&manifest_with(3, [4, 4, 4]), [8, 12, 16], PERIODIC).unwrap();
        assert_eq!((grid.slots(), count(&grid, Group::Interior), count(&grid, Group::Walls)), (24, 24, 0));
        let (leaves, neighbours) = (grid.leaves().unwrap(), neighbours(&grid));
        for (slot, leaf) in leaves.iter().enumerate() {
            assert_eq!(leaf.slot.index(), slot);
            for (entry, offset) in neighbours[27 * slot..][..27].iter().zip(roots::offsets(3)) {
                let count = [2, 3, 4];
                let expected: [usize; 3] = std::array::from_fn(|axis| {
                    (leaf.block.place[axis] as i64 + offset[axis]).rem_euclid(count[axis]) as usize
                });
                assert_eq!(leaves[*entry as usize].block.place, expected);
            }
        }
    }

    #[test]
    fn of_two_walls_at_a_corner_that_of_x_wins() {
        let grid = grid(&manifest_with(2, [8, 8, 1]), [8, 8, 1], walls()).unwrap();
        // Order of the table: (-1,-1) (0,-1) (1,-1) (-1,0) (0,0) (1,0) (-1,1) (0,1) (1,1); wall w is -(w + 1).
        assert_eq!(neighbours(&grid), [-1, -3, -2, -1, 0, -2, -1, -4, -2]);
        assert_eq!((count(&grid, Group::Interior), count(&grid, Group::Walls)), (0, 1));
    }

    #[test]
    fn a_periodic_axis_wraps_before_walls_are_met() {
        let mut faces = walls();
        faces[0] = Behind::Periodic;
        faces[1] = Behind::Periodic;
        let grid = grid(&manifest_with(2, [8, 8, 1]), [8, 8, 1], faces).unwrap();
        assert_eq!(neighbours(&grid), [-3, -3, -3, 0, 0, 0, -4, -4, -4]);
    }

    #[test]
    fn blocks_away_from_walls_are_interior() {
        let grid = grid(&manifest_with(2, [8, 8, 1]), [32, 24, 1], walls()).unwrap();
        assert_eq!((count(&grid, Group::Interior), count(&grid, Group::Walls)), (2, 10));
        let level = &grid.levels()[0];
        let listed = grid.tables().leaves.read_ints(level.group(Group::Interior)).unwrap();
        let leaves = grid.leaves().unwrap();
        let origins: Vec<_> = listed.iter().map(|slot| grid.origin(leaves[*slot as usize].block).at).collect();
        assert_eq!(origins, [[8, 8, 0], [16, 8, 0]]);
    }

    #[test]
    fn a_size_that_is_no_multiple_suggests_its_neighbours() {
        let error = grid(&manifest_with(2, [8, 8, 1]), [100, 8, 1], PERIODIC).err().expect("100 is no multiple of 8");
        assert_eq!(Diagnostic::help(&error).unwrap().to_string(), "use 96 or 104");
        let small = grid(&manifest_with(2, [8, 8, 1]), [8, 5, 1], PERIODIC).err().expect("5 is too small");
        assert_eq!(Diagnostic::help(&small).unwrap().to_string(), "use 8");
    }

    #[test]
    fn half_periodic_axes_are_refused_by_name() {
        let mut faces = walls();
        faces[Face::YMax.index()] = Behind::Periodic;
        let error = grid(&manifest_with(2, [8, 8, 1]), [8, 8, 1], faces).err().expect("half periodic");
        assert_eq!(error.to_string(), "y_max is periodic and y_min is not");
    }

    #[test]
    fn a_grid_that_stays_has_the_same_blocks_and_gives_the_rest_back() {
        let device = Device::host(1).unwrap();
        let refine = |block: Block| block.place[0] == 1 && block.place[1] < 2;
        let mut grid = Grid::refined(&device, &manifest(), [48, 32, 1], [Behind::Periodic; 6], 3, refine).unwrap();
        let (before, bytes) = (grid.forest().read_leaves().unwrap(), grid.forest().bytes());
        let around = |grid: &Grid| grid.tables().neighbours.read_ints(0..9 * grid.slots()).unwrap();
        let (neighbours, slots) = (around(&grid), grid.slots());
        grid.stay().unwrap();
        assert_eq!((grid.forest().read_leaves().unwrap(), around(&grid), grid.slots()), (before, neighbours, slots));
        assert_eq!(grid.forest().bytes(), grid.forest().pool().bytes_that_stay(2, 24, false));
        assert!(2 * grid.forest().bytes() < bytes);
        assert!(matches!(grid.forest_mut().adapt(0..=2, &mut ()), Err(ForestError::Stays)));
        assert!(matches!(grid.forest_mut().reorder(&mut ()), Err(ForestError::Stays)));
    }
}
