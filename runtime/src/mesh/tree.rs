//! The host's copy of a forest after a change: the tree of its nodes, and the surroundings of leaves at subdomain boundaries.
//!
//! Nodes are identified by their positions in [`Tables::order`](super::forest::Tables::order): level by level, each along the curve, so
//! that the children of refined nodes are consecutive in the order of their parents. The tree follows from the slots of nodes alone, and
//! the neighbours of a node follow from those of its parent. Subtrees whose neighbours all belong to the same subdomain are skipped, so
//! the work is proportional to the subdomain boundaries.

use std::ops::Range;

use rayon::prelude::*;

use super::forest::Forest;
use super::partition::{Partition, SubdomainId};
use crate::device::DeviceError;
use crate::kernels::layout::SlotId;

/// Most places around a node, including its own.
const MOST_NEAR: usize = 27;

/// Roots whose trees one thread traverses at a time.
const ROOTS_AT_ONCE: usize = 16;

/// Numbers that one thread looks at alone.
const FEW: usize = 1 << 15;

/// The largest of some numbers from 0 on, and 1; 0 without any.
fn up_to_last(numbers: &[i32]) -> usize {
    numbers.par_iter().with_min_len(FEW).max().map_or(0, |last| *last as usize + 1)
}

/// The nodes of a forest, by their positions in its list of all nodes.
pub struct Tree {
    dim: usize,
    /// The range of nodes of each level, the coarsest first.
    levels: Vec<Range<usize>>,
    /// The number of each node in the tables.
    nodes: Vec<i32>,
    /// The slot of each leaf; negative for refined nodes.
    slot: Vec<i32>,
    /// The first child of each refined node; negative for leaves.
    child: Vec<i32>,
    /// The slots of all leaves, as [`Tables::leaves`](super::forest::Tables::leaves) lists them.
    listed: Vec<i32>,
    /// Slots up to the last that a leaf has.
    slots: usize,
    /// Numbers of nodes in the tables, up to the last.
    numbers: usize,
    /// If covered blocks have data: the slot and the node of the first family.
    covered: Option<(i32, i32)>,
}

/// A leaf at a subdomain boundary.
pub struct Meeting<'a> {
    /// Its node.
    pub node: usize,
    /// Its level.
    pub level: usize,
    /// Nodes of its level around it, including itself; negative where there is none.
    pub near: &'a [i32],
    /// Bit mask of the places in `near` with leaves of other subdomains.
    pub others: u32,
    /// Nodes of its parent's level around the parent; empty for a root.
    pub near_parent: &'a [i32],
    /// Bit mask of the places in `near_parent` that may have leaves of other subdomains.
    pub others_of_parent: u32,
    /// Nodes of its level within two blocks of it, if requested.
    pub wide: &'a [i32],
}

impl Meeting<'_> {
    /// A node without surroundings.
    fn of(node: usize, level: usize) -> Self {
        Meeting { node, level, near: &[], others: 0, near_parent: &[], others_of_parent: 0, wide: &[] }
    }

    /// Nodes around it with leaves of other subdomains, and their places.
    pub fn near_others(&self) -> impl Iterator<Item = (usize, usize)> {
        at_places(self.near, self.others)
    }

    /// Nodes around its parent that may have such leaves.
    pub fn near_others_of_parent(&self) -> impl Iterator<Item = usize> {
        at_places(self.near_parent, self.others_of_parent).map(|(_, node)| node)
    }
}

/// The nodes at the places of a mask, with these places.
fn at_places(near: &[i32], mut places: u32) -> impl Iterator<Item = (usize, usize)> {
    std::iter::from_fn(move || {
        let place = (places != 0).then(|| places.trailing_zeros() as usize)?;
        places &= places - 1;
        Some((place, near[place] as usize))
    })
}

/// How the nodes around a child follow from those around its parent: for each, a place around the parent, and the child of the node
/// there.
type Links = Vec<(usize, usize)>;

/// The links to nodes within `reach` blocks of each child.
fn links(dim: usize, reach: i64) -> Vec<Links> {
    let side = 2 * reach + 1;
    let link = |octant: usize, place: i64| {
        let (mut near, mut part) = (0, 0);
        for axis in 0..dim {
            let at = (octant >> axis & 1) as i64 + place / side.pow(axis as u32) % side - reach;
            near += 3usize.pow(axis as u32) * (at.div_euclid(2) + 1) as usize;
            part |= (at.rem_euclid(2) as usize) << axis;
        }
        (near, part)
    };
    (0..1 << dim).map(|octant| (0..side.pow(dim as u32)).map(|place| link(octant, place)).collect()).collect()
}

impl Tree {
    /// The tree of a forest in its present state.
    pub(super) fn read(forest: &Forest) -> Result<Tree, DeviceError> {
        let (tables, children) = (forest.tables(), 1 << forest.dim());
        let levels: Vec<Range<usize>> = forest.levels().iter().map(|level| level.nodes.clone()).collect();
        let nodes = tables.order.read_ints(0..levels.last().map_or(0, |level| level.end))?;
        let numbers = up_to_last(&nodes);
        let of_node = tables.slot.read_ints(0..numbers)?;
        let slot: Vec<i32> = nodes.par_iter().with_min_len(FEW).map(|node| of_node[*node as usize]).collect();
        let mut child = Vec::with_capacity(nodes.len());
        for level in &levels {
            let mut next = level.end;
            child.extend(slot[level.clone()].iter().map(|slot| {
                let first = if *slot < 0 { next as i32 } else { -1 };
                next += if *slot < 0 { children } else { 0 };
                first
            }));
        }
        let listed = tables.leaves.read_ints(0..forest.leaves())?;
        let slots = up_to_last(&listed);
        let roots = levels.first().map_or(0, |level| level.len() as i32);
        let covered = forest.stores_covered().then(|| (forest.pool().slots as i32, roots));
        Ok(Tree { dim: forest.dim(), levels, nodes, slot, child, listed, slots, numbers, covered })
    }

    /// Slots up to the last that a leaf has.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Numbers of nodes in the tables, up to the last.
    pub fn numbers(&self) -> usize {
        self.numbers
    }

    /// The slots of all leaves, as [`Tables::leaves`](super::forest::Tables::leaves) lists them.
    pub fn listed(&self) -> &[i32] {
        &self.listed
    }

    /// All leaves, level by level, each level along the curve: level, number of the node in the tables, slot.
    pub fn leaves(&self) -> impl Iterator<Item = (usize, usize, SlotId)> {
        self.levels.iter().enumerate().flat_map(move |(level, places)| {
            let of = std::iter::zip(&self.nodes[places.clone()], &self.slot[places.clone()]);
            of.filter_map(move |(node, slot)| Some((level, *node as usize, SlotId(u32::try_from(*slot).ok()?))))
        })
    }

    /// The data slot of a node: of a leaf, or of a covered block if these have data.
    pub fn data_slot(&self, node: usize) -> Option<SlotId> {
        match usize::try_from(self.child[node]) {
            Err(_) => Some(SlotId(self.slot[node] as u32)),
            Ok(child) => {
                let (first, roots) = self.covered?;
                Some(SlotId((first + ((self.nodes[child] - roots) >> self.dim)) as u32))
            }
        }
    }

    /// The slots of covered blocks of a level, as [`Tables::covered`](super::forest::Tables::covered) lists them.
    pub fn covered(&self, level: usize) -> impl Iterator<Item = SlotId> {
        let nodes = self.levels.get(level).filter(|_| self.covered.is_some()).cloned().unwrap_or_default();
        nodes.filter(|node| !self.is_leaf(*node)).filter_map(|node| self.data_slot(node))
    }

    /// Covered blocks with data and each of their children: the level and the slot of the child, and the slot of the parent.
    pub fn children(&self) -> impl Iterator<Item = (usize, SlotId, SlotId)> {
        let levels = self.levels.iter().enumerate().filter(|_| self.covered.is_some());
        let nodes = levels.flat_map(|(level, nodes)| nodes.clone().map(move |node| (level, node)));
        nodes.filter_map(|(level, node)| Some((level, node, usize::try_from(self.child[node]).ok()?))).flat_map(
            move |(level, node, first)| {
                let children = first..first + (1 << self.dim);
                children.filter_map(move |child| Some((level + 1, self.data_slot(child)?, self.data_slot(node)?)))
            },
        )
    }

    /// Assigns covered blocks to the owner of their first descendant leaf: `owner[slot]` has the owner of each leaf.
    pub fn give_covered(&self, owner: &mut Vec<SubdomainId>) {
        let Some((first, _)) = self.covered else { return };
        owner.truncate(first as usize);
        let mut of_node = vec![SubdomainId::NONE; self.slot.len()];
        for node in (0..self.slot.len()).rev() {
            match usize::try_from(self.child[node]) {
                Err(_) => of_node[node] = owner[self.slot[node] as usize],
                Ok(child) => {
                    of_node[node] = of_node[child];
                    let slot = self.data_slot(node).map_or(0, SlotId::index);
                    owner.resize(owner.len().max(slot + 1), SubdomainId::NONE);
                    owner[slot] = of_node[node];
                }
            }
        }
    }

    /// Whether a node is a leaf.
    pub fn is_leaf(&self, node: usize) -> bool {
        self.child[node] < 0
    }

    /// The slot of a leaf, or the slots of those children of a refined node that are leaves.
    pub fn leaves_of(&self, node: usize) -> impl Iterator<Item = SlotId> {
        let first = usize::try_from(self.child[node]);
        let nodes = first.map_or(node..node + 1, |first| first..first + (1 << self.dim));
        self.slot[nodes].iter().filter_map(|slot| Some(SlotId(u32::try_from(*slot).ok()?)))
    }

    /// Calls `each` with the slot and the level of each leaf, along the curve.
    pub fn along_curve(&self, mut each: impl FnMut(SlotId, usize)) {
        let roots = self.levels.first().cloned().unwrap_or_default();
        roots.for_each(|root| self.along(root, 0, &mut each));
    }

    fn along(&self, node: usize, level: usize, each: &mut impl FnMut(SlotId, usize)) {
        match usize::try_from(self.child[node]) {
            Ok(first) => (first..first + (1 << self.dim)).for_each(|child| self.along(child, level + 1, each)),
            Err(_) => each(SlotId(self.slot[node] as u32), level),
        }
    }

    /// The owner of all leaves of each node, [`SubdomainId::NONE`] if there are several; `owner[slot]` has the owner of each leaf.
    pub(super) fn holders(&self, owner: &[SubdomainId]) -> Vec<SubdomainId> {
        let mut holder = vec![SubdomainId::NONE; self.slot.len()];
        for node in (0..self.slot.len()).rev() {
            holder[node] = match usize::try_from(self.child[node]) {
                Err(_) => owner[self.slot[node] as usize],
                Ok(first) => {
                    let of = &holder[first..first + (1 << self.dim)];
                    if of.iter().all(|owner| *owner == of[0]) { of[0] } else { SubdomainId::NONE }
                }
            };
        }
        holder
    }

    /// Visits all leaves with leaves of other subdomains of a partition around them, and possibly more; returns what the visits find, in an
    /// order that does not depend on threads. If `is_wide`, blocks within two blocks of a leaf count as
    /// well.
    pub fn meetings<Found: Default + Send>(
        &self,
        forest: &Forest,
        partition: &Partition,
        is_wide: bool,
        visit: impl Fn(Meeting<'_>, &mut Found) + Sync,
    ) -> Result<Vec<Found>, DeviceError> {
        let places = 3usize.pow(self.dim as u32);
        let count = self.levels.first().map_or(0, Range::len);
        // Roots are listed in the order of their numbers.
        let near = forest.tables().near.read_ints(0..count * places)?;
        let wide = is_wide.then(|| links(self.dim, 2));
        let walk = Walk { tree: self, holder: partition.holders(self), links: links(self.dim, 1), wide, visit };
        let of_some = |(chunk, rows): (usize, &[i32])| {
            let mut found = Found::default();
            for (at, row) in rows.chunks(places).enumerate() {
                let node = chunk * ROOTS_AT_ONCE + at;
                let around = row.iter().filter_map(|near| usize::try_from(*near).ok());
                let wide: Vec<i32> = match is_wide {
                    true => around.flat_map(|root| &near[root * places..][..places]).copied().collect(),
                    false => vec![],
                };
                walk.from(Meeting { near: row, wide: &wide, ..Meeting::of(node, 0) }, &mut found);
            }
            found
        };
        Ok(near.par_chunks(ROOTS_AT_ONCE * places).enumerate().map(of_some).collect())
    }
}

/// A traversal of a tree to the leaves at subdomain boundaries.
struct Walk<'a, Visit> {
    tree: &'a Tree,
    holder: &'a [SubdomainId],
    links: Vec<Links>,
    wide: Option<Vec<Links>>,
    visit: Visit,
}

impl<Visit> Walk<'_, Visit> {
    fn from<Found>(&self, at: Meeting<'_>, found: &mut Found)
    where
        Visit: Fn(Meeting<'_>, &mut Found),
    {
        let others = self.others(&at);
        let Ok(first) = usize::try_from(self.tree.child[at.node]) else {
            if others != 0 || at.others_of_parent != 0 || !at.wide.is_empty() {
                (self.visit)(Meeting { others, ..at }, found);
            }
            return;
        };
        // The surroundings of a node include those of all leaves beneath it.
        if others == 0 {
            return;
        }
        for (octant, links) in self.links.iter().enumerate() {
            let mut near = [-1; MOST_NEAR];
            near.iter_mut().zip(self.linked(at.near, links)).for_each(|(near, node)| *near = node);
            let wide = self.wide.as_ref().map_or(vec![], |wide| self.linked(at.near, &wide[octant]).collect());
            let (near, near_parent, others_of_parent) = (&near[..links.len()], at.near, others);
            let child = Meeting::of(first + octant, at.level + 1);
            self.from(Meeting { near, near_parent, others_of_parent, wide: &wide, ..child }, found);
        }
    }

    /// The nodes of these links, for a node with these nodes around it.
    fn linked(&self, near: &[i32], links: &[(usize, usize)]) -> impl Iterator<Item = i32> {
        links.iter().map(|(place, part)| match usize::try_from(near[*place]).map(|node| self.tree.child[node]) {
            Ok(first @ 0..) => first + *part as i32,
            _ => -1,
        })
    }

    /// Bit mask of the places around a node, including its own, whose leaves do not all belong to the owner of the node; all places, if
    /// it has several owners.
    fn others(&self, at: &Meeting<'_>) -> u32 {
        let own = self.holder[at.node];
        let is_other = |near: &i32| *near >= 0 && (own == SubdomainId::NONE || self.holder[*near as usize] != own);
        at.near.iter().enumerate().fold(0, |others, (place, near)| others | u32::from(is_other(near)) << place)
    }
}

const _: () = assert!(MOST_NEAR == 3usize.pow(3));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_lead_to_what_a_child_is_next_to() {
        // Left of the right child is the left child; left of that is the right child of the parent's left neighbour.
        let links = links(2, 1);
        assert_eq!((links[1][3], links[0][3]), ((4, 0), (3, 1)));
        assert_eq!(links[3][8], (8, 0));
    }
}
