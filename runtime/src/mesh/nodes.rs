//! The nodes of a block forest, found one by one on the host.
//!
//! In: a box of root blocks, what lies behind its faces, and which blocks are refined. After [`Nodes::new`]: leaves that
//! touch, diagonals included, differ by at most one level; nodes are numbered and tables filled as follows.
//!
//! Nodes: the roots in Morton order, then families of `2^dim` siblings; a node is `roots + family * 2^dim + octant`, and bit
//! `a` of the octant says on which side of its parent it lies along axis `a`. Slots belong to leaves, in the order of the
//! space-filling curve, one level after the other.
//!
//! | table | entry |
//! | --- | --- |
//! | `near[node * 3^dim + k]` | node of the same level at the offset `k`; `-(w + 1)` where wall `w` is; [`COARSER`] |
//! | `children[node]` | its first child, or -1 |
//! | `parents[node]` | -1 for roots |
//! | `slots[node]`, `nodes[slot]` | the slot of a leaf, or -1, and back |
//! | `neighbours[slot * 3^dim + k]` | slot of the leaf of the same level; `-(w + 1)`; [`COARSER`] for any other node |
//! | `corners[slot]` | its number among the slots whose paths cut corners of coarser cells, or -1 |

use std::collections::BTreeMap;

use super::roots::{beyond, offsets};
use super::{Behind, WallId, morton};
use crate::layout::SlotId;

/// In the place of a neighbour: it is covered by a coarser leaf, or (for slots) refined.
pub const COARSER: i32 = i32::MIN;

/// A block of the forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Block {
    /// Its level, 0 the coarsest.
    pub level: usize,
    /// Its position in blocks of its level.
    pub place: [usize; 3],
}

/// The leaves of one level by what their kernels need, each in the order of the curve.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    /// All neighbours are leaves of the same level.
    pub interior: Vec<SlotId>,
    /// Some are walls, the others leaves of the same level.
    pub walls: Vec<SlotId>,
    /// Some are coarser or refined, none is a wall.
    pub jump: Vec<SlotId>,
    /// Some are coarser or refined, some are walls.
    pub both: Vec<SlotId>,
}

impl Lists {
    /// Every slot of the level.
    pub fn all(&self) -> impl Iterator<Item = SlotId> {
        [&self.interior, &self.walls, &self.jump, &self.both].into_iter().flatten().copied()
    }
}

/// Tables of a forest; see the module for their entries.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the table of the module has them")]
pub struct Nodes {
    pub near: Vec<i32>,
    pub children: Vec<i32>,
    pub parents: Vec<i32>,
    pub slots: Vec<i32>,
    pub nodes: Vec<i32>,
    pub neighbours: Vec<i32>,
    pub corners: Vec<i32>,
    /// How many slots have a place in `corners`.
    pub corner_count: usize,
    /// The block of each slot.
    pub blocks: Vec<Block>,
    /// For each level, its leaves.
    pub levels: Vec<Lists>,
}

/// Every block of a forest, refined or not, with whether it is refined.
struct Tree {
    dim: usize,
    roots: [usize; 3],
    faces: [Behind; 6],
    refined: BTreeMap<Block, bool>,
}

impl Tree {
    fn count(&self, level: usize) -> [usize; 3] {
        std::array::from_fn(|axis| if axis < self.dim { self.roots[axis] << level } else { 1 })
    }

    fn children(&self, block: Block) -> impl Iterator<Item = Block> + use<> {
        let dim = self.dim;
        (0..1usize << dim).map(move |octant| Block {
            level: block.level + 1,
            place: std::array::from_fn(
                |axis| if axis < dim { 2 * block.place[axis] + (octant >> axis & 1) } else { 0 },
            ),
        })
    }

    fn parent(block: Block) -> Block {
        Block { level: block.level - 1, place: block.place.map(|at| at / 2) }
    }

    fn around(&self, block: Block, offset: [i64; 3]) -> Result<Block, WallId> {
        let place = beyond(block.place, offset, self.count(block.level), self.faces)?;
        Ok(Block { level: block.level, place })
    }

    /// Refines a block, and first whatever must be for balance.
    fn refine(&mut self, block: Block) {
        match self.refined.get(&block) {
            Some(true) => return,
            Some(false) => {}
            None => self.refine(Self::parent(block)),
        }
        // What touches a block that is refined is a leaf of its level or finer.
        for offset in offsets(self.dim).collect::<Vec<_>>() {
            if let Ok(near) = self.around(block, offset)
                && !self.refined.contains_key(&near)
            {
                self.refine(Self::parent(near));
            }
        }
        self.refined.insert(block, true);
        for child in self.children(block) {
            self.refined.insert(child, false);
        }
    }
}

impl Nodes {
    /// The forest over a box of `roots` blocks (1 beyond the dimension), in which those blocks are refined that `refine`
    /// says, and whatever must be for balance. It is asked for blocks of levels below `levels - 1`, coarse ones first, and
    /// for children of refined blocks only.
    pub fn new(
        dim: usize,
        roots: [usize; 3],
        faces: [Behind; 6],
        levels: usize,
        refine: impl Fn(Block) -> bool,
    ) -> Self {
        let first: Vec<Block> = morton::order(roots).into_iter().map(|place| Block { level: 0, place }).collect();
        let refined = first.iter().map(|block| (*block, false)).collect();
        let mut tree = Tree { dim, roots, faces, refined };
        for level in 0..levels.saturating_sub(1) {
            let leaves: Vec<Block> = tree
                .refined
                .iter()
                .filter(|(block, refined)| block.level == level && !**refined)
                .map(|(b, _)| *b)
                .collect();
            for block in leaves.into_iter().filter(|block| refine(*block)) {
                tree.refine(block);
            }
        }
        Self::number(&tree, &first)
    }

    fn number(tree: &Tree, roots: &[Block]) -> Self {
        // Along the curve, a level after the other; children of a level's blocks are the next level's.
        let mut by_level = vec![roots.to_vec()];
        while let Some(last) = by_level.last() {
            let next: Vec<Block> =
                last.iter().filter(|block| tree.refined[block]).flat_map(|block| tree.children(*block)).collect();
            if next.is_empty() {
                break;
            }
            by_level.push(next);
        }
        let blocks: Vec<Block> = by_level.iter().flatten().copied().collect();
        let number: BTreeMap<Block, i32> = blocks.iter().enumerate().map(|(at, block)| (*block, at as i32)).collect();
        let first_child = |block: &Block| tree.children(*block).next().and_then(|child| number.get(&child).copied());
        let children: Vec<i32> = blocks.iter().map(|block| first_child(block).unwrap_or(-1)).collect();
        let parent = |block: &Block| if block.level == 0 { -1 } else { number[&Tree::parent(*block)] };
        let parents = blocks.iter().map(parent).collect();
        let entry = |block: &Block, offset| match tree.around(*block, offset) {
            Ok(near) => number.get(&near).copied().unwrap_or(COARSER),
            Err(WallId(wall)) => -(wall as i32 + 1),
        };
        let near: Vec<i32> =
            blocks.iter().flat_map(|block| offsets(tree.dim).map(move |offset| entry(block, offset))).collect();

        let leaves: Vec<usize> = (0..blocks.len()).filter(|node| children[*node] < 0).collect();
        let mut slots = vec![-1; blocks.len()];
        for (slot, node) in leaves.iter().enumerate() {
            slots[*node] = slot as i32;
        }
        let (width, of_slot) = (3usize.pow(tree.dim as u32), |entry: i32| match entry {
            0.. => match slots[entry as usize] {
                -1 => COARSER,
                slot => slot,
            },
            wall => wall,
        });
        let row = |node: usize| near[node * width..][..width].iter().map(|entry| of_slot(*entry));
        let neighbours: Vec<i32> = leaves.iter().flat_map(|node| row(*node)).collect();
        let mut levels = vec![Lists::default(); by_level.len()];
        for (slot, node) in leaves.iter().enumerate() {
            let lists = &mut levels[blocks[*node].level];
            let entries = &neighbours[slot * width..][..width];
            let jump = entries.contains(&COARSER);
            let walls = entries.iter().any(|entry| *entry < 0 && *entry != COARSER);
            let list = match (jump, walls) {
                (false, false) => &mut lists.interior,
                (false, true) => &mut lists.walls,
                (true, false) => &mut lists.jump,
                (true, true) => &mut lists.both,
            };
            list.push(SlotId(slot as u32));
        }
        let mut corner_count = 0;
        let mut corner = |node: &usize| {
            let cuts = cuts_corner(tree.dim, &near[node * width..][..width]);
            corner_count += usize::from(cuts);
            if cuts { corner_count as i32 - 1 } else { -1 }
        };
        let corners = leaves.iter().map(&mut corner).collect();
        Nodes {
            corners,
            corner_count,
            near,
            children,
            parents,
            slots,
            nodes: leaves.iter().map(|node| *node as i32).collect(),
            neighbours,
            blocks: leaves.iter().map(|node| blocks[*node]).collect(),
            levels,
        }
    }
}

/// Whether between a block and one of its neighbours of the same level, across an edge or a corner, there is a coarser one.
fn cuts_corner(dim: usize, near: &[i32]) -> bool {
    let place =
        |offset: [i64; 3]| (0..dim).map(|axis| (offset[axis] + 1) as usize * 3usize.pow(axis as u32)).sum::<usize>();
    offsets(dim).any(|offset| {
        let parts = (1..1usize << dim).map(|part| std::array::from_fn(|axis| offset[axis] * (part >> axis & 1) as i64));
        near[place(offset)] >= 0 && parts.into_iter().any(|part: [i64; 3]| near[place(part)] == COARSER)
    })
}
