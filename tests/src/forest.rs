//! A forest of blocks by definition: sets and searches in the place of links.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use lbm_bundle::mesh::NONE;
use lbm_runtime::geometry::Face;
use lbm_runtime::mesh::Behind;

/// A block: its level, and its position in blocks of that level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Block {
    /// 0 for a root.
    pub level: u32,
    /// 0 beyond the dimension.
    pub place: [i64; 3],
}

impl Block {
    /// Position on the space-filling curve, among blocks of the same level.
    pub fn key(&self) -> u128 {
        let bit = |at: usize| u128::from((self.place[at % 3] >> (at / 3) & 1) as u8) << at;
        (0..96).map(bit).sum()
    }

    /// Its parent, on level 1 and above.
    pub fn parent(&self) -> Block {
        Block { level: self.level - 1, place: self.place.map(|at| at >> 1) }
    }
}

/// The box.
#[derive(Clone, Copy, Debug)]
pub struct Domain {
    /// Number of axes.
    pub dim: usize,
    /// Roots along each axis.
    pub roots: [usize; 3],
    /// What lies behind each face.
    pub faces: [Behind; 6],
}

/// What is in one of the directions from a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum There {
    /// A position of the same level inside the box.
    Block(Block),
    /// A wall, as tables have it.
    Wall(i32),
}

impl Domain {
    /// Offsets to all places around a block, in the order of tables.
    pub fn offsets(&self) -> Vec<[i64; 3]> {
        let depth = if self.dim == 3 { -1..=1 } else { 0..=0 };
        depth.flat_map(|z| (-1..=1).flat_map(move |y| (-1..=1).map(move |x| [x, y, z]))).collect()
    }

    /// What is at an offset from a block. Periodic axes wrap; of the walls in the way, that of x is met first, then y.
    pub fn there(&self, block: Block, offset: [i64; 3]) -> There {
        let mut place = block.place;
        for axis in 0..self.dim {
            let size = (self.roots[axis] as i64) << block.level;
            let at = place[axis] + offset[axis];
            let [low, high] = Face::of_axis(axis);
            let face = if at < 0 { low } else { high };
            place[axis] = match self.faces[face.index()] {
                _ if (0..size).contains(&at) => at,
                Behind::Periodic => at.rem_euclid(size),
                Behind::Wall(wall) => return There::Wall(-1 - wall.0 as i32),
            };
        }
        There::Block(Block { level: block.level, place })
    }

    /// The positions around a block, itself included, that lie in the box.
    pub fn around(&self, block: Block) -> impl Iterator<Item = Block> {
        let found = self.offsets().into_iter().filter_map(move |offset| match self.there(block, offset) {
            There::Block(there) => Some(there),
            There::Wall(_) => None,
        });
        found.collect::<Vec<_>>().into_iter()
    }

    /// The children that a block would have, in the order of their octants.
    pub fn children(&self, block: Block) -> Vec<Block> {
        let child = |octant: usize| {
            let bit = |axis: usize| if axis < self.dim { (octant >> axis & 1) as i64 } else { 0 };
            Block { level: block.level + 1, place: std::array::from_fn(|axis| 2 * block.place[axis] + bit(axis)) }
        };
        (0..1 << self.dim).map(child).collect()
    }

    /// Whether two blocks touch, by the extents of both, in the box or across its periodic faces.
    fn touch(&self, one: Block, other: Block) -> bool {
        let finest = one.level.max(other.level);
        let extent = |block: Block, axis: usize| {
            let width = 1i64 << (finest - block.level);
            (block.place[axis] * width, (block.place[axis] + 1) * width)
        };
        (0..self.dim).all(|axis| {
            let (a, b) = (extent(one, axis), extent(other, axis));
            let size = (self.roots[axis] as i64) << finest;
            let periodic = self.faces[2 * axis] == Behind::Periodic;
            let images = if periodic { [-size, 0, size] } else { [0; 3] };
            images.iter().any(|shift| a.0 <= b.1 + shift && b.0 + shift <= a.1)
        })
    }
}

/// Room for refinement.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// Families in all.
    pub families: usize,
    /// Slots in all.
    pub slots: usize,
}

/// What a change is expected to bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Leaves to refine, for their target level or for balance.
    pub asked: usize,
    /// As far as there is room.
    pub refined: usize,
    /// Families that go.
    pub coarsened: usize,
}

/// A forest.
#[derive(Clone, Debug)]
pub struct Forest {
    /// Its box.
    pub domain: Domain,
    /// The blocks that have children.
    pub refined: HashSet<Block>,
    /// Leaves that do not change.
    pub frozen: HashSet<Block>,
}

impl Forest {
    /// Roots only.
    pub fn new(domain: Domain) -> Self {
        Forest { domain, refined: HashSet::new(), frozen: HashSet::new() }
    }

    /// All blocks of each level, refined or not, along the curve.
    pub fn levels(&self) -> Vec<Vec<Block>> {
        let [x, y, z] = self.domain.roots.map(|count| count as i64);
        let roots = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
        let mut level: Vec<Block> = roots.map(|place| Block { level: 0, place }).collect();
        let mut levels = vec![];
        while !level.is_empty() {
            level.sort_by_key(Block::key);
            let refined = level.iter().filter(|block| self.refined.contains(block));
            let next = refined.flat_map(|block| self.domain.children(*block)).collect();
            levels.push(std::mem::replace(&mut level, next));
        }
        levels
    }

    /// Whether a position is a leaf or a refined block.
    pub fn exists(&self, block: Block) -> bool {
        block.level == 0 || self.refined.contains(&block.parent())
    }

    /// All leaves.
    pub fn leaves(&self) -> Vec<Block> {
        self.levels().into_iter().flatten().filter(|block| !self.refined.contains(block)).collect()
    }

    /// The leaf that covers a position of the box, if it is not a refined block.
    fn cover(&self, mut block: Block) -> Option<Block> {
        if self.refined.contains(&block) {
            return None;
        }
        while !self.exists(block) {
            block = block.parent();
        }
        Some(block)
    }

    /// Whether leaves around each leaf are at most one level coarser. Of two leaves that touch, the coarser one
    /// covers a position around the finer one.
    pub fn is_balanced(&self) -> bool {
        self.leaves().into_iter().all(|leaf| {
            let covers = self.domain.around(leaf).filter_map(|there| self.cover(there));
            covers.into_iter().all(|there| there.level + 1 >= leaf.level)
        })
    }

    /// The same by definition: every pair of leaves.
    pub fn is_balanced_by_pairs(&self) -> bool {
        let leaves = self.leaves();
        leaves
            .iter()
            .all(|one| leaves.iter().all(|other| one.level <= other.level + 1 || !self.domain.touch(*one, *other)))
    }

    /// Whether a leaf cannot be refined, because it or one that would have to be refined with it is frozen.
    fn is_stuck(&self, leaf: Block) -> bool {
        let covers = || self.domain.around(leaf).filter_map(|there| self.cover(there));
        self.frozen.contains(&leaf) || covers().any(|there| there.level < leaf.level && self.is_stuck(there))
    }

    /// Changes the forest by one level towards the target levels of the leaves in `targets`. Leaves that have no entry keep theirs.
    pub fn adapt(&mut self, targets: &BTreeMap<Block, u32>, room: Room) -> Expected {
        let leaves = self.leaves();
        let those = |are: fn(u32, u32) -> bool| {
            let are = |leaf: &&Block| targets.get(leaf).is_some_and(|target| are(*target, leaf.level));
            leaves.iter().filter(are).filter(|leaf| !self.frozen.contains(leaf)).copied().collect::<HashSet<_>>()
        };
        let (mut refine, down) = (those(|target, level| target > level), those(|target, level| target < level));
        refine.retain(|leaf| !self.is_stuck(*leaf));
        // Whatever is touched by a leaf that gets finer must not stay coarser than that leaf is now.
        let mut open: Vec<Block> = refine.iter().copied().collect();
        while let Some(leaf) = open.pop() {
            for there in self.domain.around(leaf).filter_map(|there| self.cover(there)) {
                if there.level < leaf.level && refine.insert(there) {
                    open.push(there);
                }
            }
        }

        let mut going: HashSet<Block> = HashSet::new();
        let mut parents: Vec<Block> = self.refined.iter().copied().collect();
        parents.sort_by_key(|block| std::cmp::Reverse(block.level));
        for parent in parents {
            let children = self.domain.children(parent);
            let finer =
                |there: &Block| refine.contains(there) || (self.refined.contains(there) && !going.contains(there));
            if children.iter().all(|child| down.contains(child) && !refine.contains(child))
                && !children.iter().any(|child| self.domain.around(*child).any(|there| finer(&there)))
            {
                going.insert(parent);
            }
        }

        let parts = 1 << self.domain.dim;
        let families = room.families - self.refined.len() + going.len();
        let slots = room.slots - leaves.len() + going.len() * (parts - 1);
        let ordered: BTreeSet<(u32, u128, Block)> =
            refine.iter().map(|block| (block.level, block.key(), *block)).collect();
        let granted: Vec<Block> =
            ordered.into_iter().map(|(_, _, block)| block).take(families.min((slots - 1) / parts)).collect();
        let expected = Expected { asked: refine.len(), refined: granted.len(), coarsened: going.len() };
        self.refined.retain(|block| !going.contains(block));
        self.refined.extend(granted);
        expected
    }

    /// What `near` has for a block, with the number of each block; what `neighbours` has, with the slot of each leaf.
    pub fn near(&self, block: Block, numbers: &HashMap<Block, i32>) -> Vec<i32> {
        let entry = |offset| match self.domain.there(block, offset) {
            There::Wall(wall) => wall,
            There::Block(there) => numbers.get(&there).copied().unwrap_or(NONE),
        };
        self.domain.offsets().into_iter().map(entry).collect()
    }
}
