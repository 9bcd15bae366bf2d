//! Changes of a forest; the documentation of the module gives their order.

use std::ops::{Range, RangeInclusive};
use std::sync::OnceLock;

use lbm_bundle::mesh::{CHANGES, CHUNK, KINDS, REFINED};

use super::transfer::{Change, Moves, Remap};
use super::{Forest, ForestError, LEVELS, Level, Tables};
use crate::device::{Buffer, Int};
use crate::kernels::mesh as kernels;
use crate::kernels::{KernelError, MeshProgram};

/// Length of the class table that `rank` writes: the begin of each class on each level, and the number of nodes that have a class.
pub(super) const BEGINS: usize = TOTAL + 1;

/// Position of that number.
const TOTAL: usize = LEVELS * KINDS;

/// The outcome of a change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Leaves that were to be refined, for their target level or for 2:1 balance.
    pub asked: usize,
    /// Leaves that were refined.
    pub refined: usize,
    /// Families that were removed.
    pub coarsened: usize,
}

impl Outcome {
    /// Refinements that were refused for lack of room.
    pub fn refused(&self) -> usize {
        self.asked - self.refined
    }

    /// Adds the outcome of a further change; the refused refinements are those of the last.
    pub fn add(&mut self, next: Outcome) {
        self.asked = self.refined + next.asked;
        self.refined += next.refined;
        self.coarsened += next.coarsened;
    }

    /// Whether the forest has changed.
    pub fn changed(&self) -> bool {
        self.refined + self.coarsened > 0
    }
}

/// Numbers of nodes that change, for each level.
struct Decision {
    /// Leaves to be refined, as far as there is room.
    refined: Vec<usize>,
    /// Nodes whose children are removed.
    coarsened: Vec<usize>,
    outcome: Outcome,
}

/// The keys by which nodes are sorted.
enum Class {
    /// How they change.
    Mark,
    /// Their kind.
    Kind,
    /// Whether they have a slot.
    Slot,
    /// Whether they are at refinement interfaces.
    Interface,
}

impl Forest {
    /// Changes the forest towards the target levels of its leaves, within `levels`; `remap` transfers the data. Each leaf changes by one
    /// level at most. After an error the forest must not be used any more.
    pub fn adapt(&mut self, levels: RangeInclusive<usize>, remap: &mut impl Remap) -> Result<Outcome, ForestError> {
        if self.stays {
            return Err(ForestError::Stays);
        }
        let (coarsest, finest) = levels.into_inner();
        if coarsest > finest || finest >= LEVELS {
            return Err(ForestError::Levels { coarsest, finest });
        }
        let Decision { refined, coarsened, outcome } = self.decide(coarsest, finest)?;
        if !outcome.changed() {
            return Ok(outcome);
        }
        let nodes = self.levels.iter().map(|level| level.nodes.len()).chain([0]);
        let mut nodes: Vec<usize> = nodes.collect();
        for level in 0..refined.len() {
            nodes[level + 1] = nodes[level + 1] + refined[level] * self.children_per_node()
                - coarsened[level] * self.children_per_node();
        }
        nodes.truncate(nodes.iter().position(|count| *count == 0).unwrap_or(nodes.len()));

        self.coarsen(outcome.asked..outcome.asked + outcome.coarsened, remap)?;
        if outcome.coarsened > 0 && outcome.refined > 0 {
            for level in 0..self.levels.len() {
                self.link(self.levels[level].nodes.clone())?;
            }
            self.classify(0..self.nodes())?;
        }
        self.refine(outcome.refined, remap)?;
        self.renew(&nodes)?;
        Ok(outcome)
    }

    /// Moves the leaves to the slots from 0 on in the order of the curve, level by level, after many changes have fragmented them:
    /// kernels are faster if neighbours are close in memory.
    pub fn reorder(&mut self, remap: &mut impl Remap) -> Result<(), ForestError> {
        if self.stays {
            return Err(ForestError::Stays);
        }
        let (all, leaves) = (self.nodes(), self.leaves());
        self.rank(0..all, Class::Slot)?;
        self.program.launch(kernels::Arrange {
            ids: self.tables.order.slice(0..all),
            rank: &self.work.rank,
            slot: &mut self.tables.slot,
            node: &mut self.tables.node,
            from: &mut self.work.coarse,
        })?;
        self.program.launch(kernels::Clear {
            unused: self.work.every.slice(leaves..leaves + self.free.slots),
            all: self.pool.slots as i32,
            node: &mut self.tables.node,
            free_slots: &mut self.tables.free_slots,
        })?;
        remap.reorder(Moves {
            slots: &self.work.every,
            count: leaves,
            from: &self.work.coarse,
            covered: &self.tables.covered,
            covered_count: if self.stores_covered { all - leaves } else { 0 },
            every: &self.work.every,
        })?;
        let nodes: Vec<usize> = self.levels.iter().map(|level| level.nodes.len()).collect();
        self.renew(&nodes)
    }

    /// Number of listed nodes.
    fn nodes(&self) -> usize {
        self.levels.last().map_or(0, |level| level.nodes.end)
    }

    /// Marks nodes, ranks those that change and lists them.
    fn decide(&mut self, coarsest: usize, finest: usize) -> Result<Decision, ForestError> {
        let all = self.nodes();
        self.program.launch(kernels::Mark {
            nodes: self.tables.order.slice(0..all),
            level: &self.tables.level,
            child: &self.tables.child,
            target: &self.targets.level,
            bound: &self.targets.bound,
            coarsest: coarsest as i32,
            finest: finest as i32,
            mark: &mut self.work.mark,
        })?;
        // Vetoes of pinned leaves pass from coarse to fine levels; refinement for 2:1 balance and coarsening pass from fine to coarse
        // levels.
        let parents = &self.levels[..self.levels.len().saturating_sub(1)];
        let (Tables { order, near, child, .. }, mark) = (&self.tables, &mut self.work.mark);
        for level in parents {
            self.program.launch(kernels::Yield { nodes: order.slice(level.nodes.clone()), near, child, mark })?;
        }
        for level in parents.iter().rev() {
            self.program.launch(kernels::Spread { nodes: order.slice(level.nodes.clone()), near, child, mark })?;
        }
        for level in parents.iter().rev() {
            self.program.launch(kernels::Dissolve { nodes: order.slice(level.nodes.clone()), near, child, mark })?;
        }
        self.rank(0..all, Class::Mark)?;
        self.program.launch(kernels::Pick {
            nodes: self.tables.order.slice(0..all),
            mark: &self.work.mark,
            rank: &self.work.rank,
            picked: &mut self.work.picked,
        })?;

        let begins = self.begins()?;
        let counts = |class: usize| -> Vec<usize> {
            let end = if class + 1 < CHANGES { begins[class + 1] } else { begins[TOTAL] };
            let of_class = |level: usize| begins[level * CHANGES + class];
            let count = self.levels.len();
            (0..count)
                .map(|level| if level + 1 < count { of_class(level + 1) } else { end } - of_class(level))
                .collect()
        };
        let (asked, coarsened) = (counts(0), counts(1));
        let gone: usize = coarsened.iter().sum();
        // Each family that is removed frees its slots and takes one.
        let slots = self.free.slots + gone * (self.children_per_node() - 1);
        let mut room = (self.free.families + gone).min(slots.saturating_sub(1) / self.children_per_node());
        let grant = |asked: &usize| {
            let granted = room.min(*asked);
            room -= granted;
            granted
        };
        let refined: Vec<usize> = asked.iter().map(grant).collect();
        let outcome =
            Outcome { asked: asked.iter().sum(), refined: refined.iter().sum(), coarsened: coarsened.iter().sum() };
        Ok(Decision { refined, coarsened, outcome })
    }

    /// Removes the children of the nodes with these ranks, as many at a time as there are free slots for the coarse blocks.
    fn coarsen(&mut self, mut ranks: Range<usize>, remap: &mut impl Remap) -> Result<(), ForestError> {
        while !ranks.is_empty() {
            let count = ranks.len().min(self.free.slots);
            self.program.launch(kernels::Merge {
                ids: self.work.picked.slice(ranks.start..ranks.start + count),
                rank: &self.work.rank,
                first: ranks.start as i32,
                child: &self.tables.child,
                slots: self.free.slots as i32,
                free_slots: &self.tables.free_slots,
                slot: &mut self.tables.slot,
                node: &mut self.tables.node,
                coarse: &mut self.work.coarse,
                child_slots: &mut self.work.child_slots,
            })?;
            self.free.slots -= count;
            remap.average(Change {
                slots: &self.work.coarse,
                count,
                child_slots: &self.work.child_slots,
                tables: &self.tables,
            })?;
            self.program.launch(kernels::Drop {
                ids: self.work.picked.slice(ranks.start..ranks.start + count),
                rank: &self.work.rank,
                first: ranks.start as i32,
                roots: self.roots as i32,
                families: self.free.families as i32,
                slots: self.free.slots as i32,
                child: &mut self.tables.child,
                parent: &mut self.tables.parent,
                slot: &mut self.tables.slot,
                node: &mut self.tables.node,
                free_families: &mut self.tables.free_families,
                free_slots: &mut self.tables.free_slots,
            })?;
            self.free.families += count;
            self.free.slots += count * self.children_per_node();
            ranks.start += count;
        }
        Ok(())
    }

    /// Creates the children of the leaves with ranks below `count`.
    fn refine(&mut self, count: usize, remap: &mut impl Remap) -> Result<(), ForestError> {
        if count == 0 {
            return Ok(());
        }
        self.program.launch(kernels::Split {
            ids: self.work.picked.slice(0..count),
            rank: &self.work.rank,
            roots: self.roots as i32,
            families: self.free.families as i32,
            slots: self.free.slots as i32,
            free_families: &self.tables.free_families,
            free_slots: &self.tables.free_slots,
            child: &mut self.tables.child,
            parent: &mut self.tables.parent,
            level: &mut self.tables.level,
            place: &mut self.tables.place,
            slot: &mut self.tables.slot,
            node: &mut self.tables.node,
            bound: &mut self.targets.bound,
            coarse: &mut self.work.coarse,
            child_slots: &mut self.work.child_slots,
        })?;
        self.free.families -= count;
        self.free.slots -= count * self.children_per_node();
        self.least_free = self.least_free.min(self.free.slots);
        remap.fill(Change {
            slots: &self.work.coarse,
            count,
            child_slots: &self.work.child_slots,
            tables: &self.tables,
        })?;
        self.program.launch(kernels::Vacate {
            ids: self.work.picked.slice(0..count),
            rank: &self.work.rank,
            slots: self.free.slots as i32,
            slot: &mut self.tables.slot,
            node: &mut self.tables.node,
            free_slots: &mut self.tables.free_slots,
        })?;
        self.free.slots += count;
        Ok(())
    }

    /// Updates links, neighbours, kinds and lists, from the roots down; `nodes` is the number of nodes on each level.
    pub(super) fn renew(&mut self, nodes: &[usize]) -> Result<(), ForestError> {
        self.known = OnceLock::new();
        let mut levels: Vec<Level> = vec![];
        let (mut first, mut first_leaf, mut first_covered) = (0, 0, 0);
        for (level, &count) in nodes.iter().enumerate() {
            let next = nodes.get(level + 1).copied().unwrap_or(0);
            let (listed, leaf_count) = (first..first + count, count - next / self.children_per_node());
            self.classify(listed.clone())?;
            self.rank(listed.clone(), Class::Kind)?;
            self.program.launch(kernels::Expand {
                positions: self.work.every.slice(first..first + count),
                kind: &self.tables.kind,
                rank: &self.work.rank,
                child: &self.tables.child,
                slot: &self.tables.slot,
                first_leaf: first_leaf as i32,
                leaf_count: leaf_count as i32,
                first_covered: first_covered as i32,
                first_next: listed.end as i32,
                roots: self.roots as i32,
                slots: self.pool.slots as i32,
                leaves: &mut self.tables.leaves,
                covered: &mut self.tables.covered,
                order: &mut self.tables.order,
            })?;
            self.link(listed.clone())?;
            let leaves = first_leaf..first_leaf + leaf_count;
            let covered = first_covered..first_covered + count - leaf_count;
            (first, first_leaf, first_covered) = (listed.end, leaves.end, covered.end);
            levels.push(Level { nodes: listed, leaves, covered, ..Level::default() });
        }
        let begins = self.begins()?;
        for (at, level) in levels.iter_mut().enumerate() {
            let begin = |group: usize| level.leaves.start + begins[at * KINDS + group];
            level.groups = std::array::from_fn(|group| begin(group)..begin(group + 1));
        }
        self.levels = levels;
        if self.stores_covered {
            self.hold()?;
        }
        self.number_interfaces()
    }

    /// Updates slots and neighbours of all blocks with data, for ghost couplings, where covered blocks have data.
    fn hold(&mut self) -> Result<(), KernelError> {
        let all = self.nodes();
        self.program.launch(kernels::Hold {
            nodes: self.tables.order.slice(0..all),
            near: &self.tables.near,
            child: &self.tables.child,
            parent: &self.tables.parent,
            slot: &self.tables.slot,
            roots: self.roots as i32,
            slots: self.pool.slots as i32,
            data: &mut self.tables.data,
            neighbours: &mut self.tables.neighbours,
            sides: &mut self.tables.sides,
            interface: &mut self.work.interface,
            child_slots: &mut self.tables.child_slots,
            uppers: &mut self.tables.uppers,
        })
    }

    /// Numbers the slots at refinement interfaces.
    fn number_interfaces(&mut self) -> Result<(), ForestError> {
        let all = self.nodes();
        self.rank(0..all, Class::Interface)?;
        self.program.launch(kernels::Number {
            nodes: self.tables.order.slice(0..all),
            slot: if self.stores_covered { &self.tables.data } else { &self.tables.slot },
            interface: &self.work.interface,
            rank: &self.work.rank,
            rows: &mut self.tables.rows,
        })?;
        self.interfaces = self.begins()?[TOTAL];
        Ok(())
    }

    /// Updates the adjacent nodes of the children of listed nodes.
    fn link(&mut self, listed: Range<usize>) -> Result<(), KernelError> {
        self.program.launch(kernels::Link {
            nodes: self.tables.order.slice(listed.clone()),
            near: &mut self.tables.near,
            child: &self.tables.child,
        })
    }

    /// Updates the neighbours of listed leaves, and kinds.
    fn classify(&mut self, listed: Range<usize>) -> Result<(), KernelError> {
        self.program.launch(kernels::Classify {
            nodes: self.tables.order.slice(listed.clone()),
            near: &self.tables.near,
            child: &self.tables.child,
            slot: &self.tables.slot,
            neighbours: &mut self.tables.neighbours,
            kind: &mut self.tables.kind,
            interface: &mut self.work.interface,
        })
    }

    /// Computes the rank of each listed node that has a class, and where classes begin on each level.
    fn rank(&mut self, listed: Range<usize>, class: Class) -> Result<(), KernelError> {
        let (code, classes) = match class {
            Class::Mark => (&self.work.mark, CHANGES),
            Class::Kind => (&self.tables.kind, KINDS),
            Class::Slot => (&self.tables.slot, 1),
            Class::Interface => (&self.work.interface, 1),
        };
        let chunks = listed.len().div_ceil(CHUNK);
        self.program.launch(kernels::Tally {
            chunks: self.work.every.slice(0..chunks),
            order: &self.tables.order,
            first: listed.start as i32,
            size: listed.len() as i32,
            code,
            classes: classes as i32,
            counts: &mut self.work.counts,
        })?;
        scan(&self.program, &mut self.work.counts, chunks * classes, &mut self.work.begins, TOTAL)?;
        self.program.launch(kernels::Rank {
            chunks: self.work.every.slice(0..chunks),
            order: &self.tables.order,
            first: listed.start as i32,
            size: listed.len() as i32,
            code,
            classes: classes as i32,
            counts: &self.work.counts,
            level: &self.tables.level,
            begins: &mut self.work.begins,
            rank: &mut self.work.rank,
        })
    }

    /// Exclusive prefix sum of the first `size` numbers of an array, in place; returns the total.
    pub fn scan(&mut self, counts: &mut Buffer<Int>, size: usize) -> Result<usize, ForestError> {
        scan(&self.program, counts, size, &mut self.work.begins, TOTAL)?;
        Ok(self.begins()?[TOTAL])
    }

    /// The class table that `rank` has written.
    fn begins(&self) -> Result<Vec<usize>, ForestError> {
        let begins = self.work.begins.read_ints(0..BEGINS)?;
        Ok(begins.into_iter().map(|at| at as usize).collect())
    }
}

/// Exclusive prefix sum of the first `size` numbers of an array, in place; the total is written to position `total` of another array.
fn scan(
    program: &MeshProgram,
    counts: &mut Buffer<Int>,
    size: usize,
    begins: &mut Buffer<Int>,
    total: usize,
) -> Result<(), KernelError> {
    program.launch(kernels::Scan { counts, size: size as i32, begins, total: total as i32 })
}

const _: () = assert!(REFINED + 1 == KINDS && CHANGES <= KINDS);
