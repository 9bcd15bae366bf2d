//! Whose data each slot has.

use std::collections::HashMap;

use lbm_bundle::mesh::NONE;
use lbm_runtime::kernels::KernelError;
use lbm_runtime::mesh::forest::{Change, Forest, Moves, Remap};
use lbm_tests::forest::{Block, Domain, Forest as Oracle, There};

use super::tables::{blocks, ints};

/// Moves nothing, but knows which block's data each slot has, and that kernels would find what they need.
pub struct Contents {
    domain: Domain,
    /// The block whose data a slot has `[slot]`.
    pub of: Vec<Option<Block>>,
    /// How many blocks were averaged into, of each time.
    pub averaged: Vec<usize>,
    /// How many blocks were filled from.
    pub filled: usize,
}

impl Contents {
    /// Of a forest whose leaves have their data.
    pub fn of(forest: &Forest, domain: Domain) -> Contents {
        let mut contents = Contents { domain, of: vec![None; forest.pool().slots], averaged: vec![], filled: 0 };
        for (slot, node) in ints(&forest.tables().node).iter().enumerate() {
            contents.of[slot] = blocks(forest).get(node).copied();
        }
        contents
    }

    fn families(&self, change: &Change<'_>) -> Vec<(usize, Vec<usize>)> {
        let (slots, parts) = (ints(change.slots), ints(change.child_slots));
        let count = 1 << self.domain.dim;
        let family = |slot: &i32| {
            let parts = &parts[*slot as usize * count..][..count];
            (*slot as usize, parts.iter().map(|part| *part as usize).collect())
        };
        slots[..change.count].iter().map(family).collect()
    }

    /// After a change: the leaves' slots have the leaves' data, and the others are free.
    pub fn settle(&mut self, forest: &Forest, oracle: &Oracle) {
        let slot = ints(&forest.tables().slot);
        let mut kept = vec![None; self.of.len()];
        for (node, block) in blocks(forest).into_iter().filter(|(_, block)| !oracle.refined.contains(block)) {
            let slot = slot[node as usize] as usize;
            assert_eq!(self.of[slot], Some(block));
            kept[slot] = Some(block);
        }
        self.of = kept;
    }
}

impl Remap for Contents {
    fn average(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        self.averaged.push(change.count);
        for (slot, parts) in self.families(&change) {
            let children: Vec<Block> = parts.iter().map(|part| self.of[*part].take().expect("data")).collect();
            let block = children[0].parent();
            assert_eq!(children, self.domain.children(block));
            assert_eq!(self.of[slot].replace(block), None, "a slot for the coarse block");
        }
        Ok(())
    }

    fn fill(&mut self, change: Change<'_>) -> Result<(), KernelError> {
        self.filled += change.count;
        let neighbours = ints(&change.tables.neighbours);
        let places = 3usize.pow(self.domain.dim as u32);
        let known: HashMap<Block, i32> =
            self.of.iter().enumerate().filter_map(|(slot, block)| Some(((*block)?, slot as i32))).collect();
        let families = self.families(&change);
        for (slot, _) in &families {
            let block = self.of[*slot].expect("data of the block");
            for (entry, offset) in neighbours[slot * places..][..places].iter().zip(self.domain.offsets()) {
                let expected = match self.domain.there(block, offset) {
                    There::Wall(wall) => wall,
                    There::Block(there) => known.get(&there).copied().unwrap_or(NONE),
                };
                assert_eq!(*entry, expected, "what has data around {block:?}");
            }
        }
        for (slot, parts) in families {
            let children = self.domain.children(self.of[slot].expect("data of the block"));
            for (part, child) in parts.into_iter().zip(children) {
                assert_eq!(self.of[part].replace(child), None, "a slot for a child");
            }
        }
        Ok(())
    }

    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError> {
        let (slots, from) = (ints(moves.slots), ints(moves.from));
        let none = vec![None; self.of.len()];
        let before = std::mem::replace(&mut self.of, none);
        for slot in &slots[..moves.count] {
            self.of[*slot as usize] = before[from[*slot as usize] as usize];
        }
        Ok(())
    }
}
