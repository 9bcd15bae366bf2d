//! The partition of the leaves into subdomains: the space-filling curve is cut into sections of about equal work.
//!
//! All subdomains have the tables of the whole grid and number nodes and slots alike. The leaves of a subdomain on a level, and in each
//! group of the list of a level, are contiguous, so kernels run on a section of a list as on the list.

use std::ops::Range;
use std::sync::{Arc, OnceLock};

use lbm_bundle::mesh::Group;

use super::forest::{Leaf, Level};
use super::{Grid, Tree};
use crate::device::DeviceError;
use crate::kernels::layout::SlotId;

/// A subdomain, by its position along the curve; the same in all processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SubdomainId(u16);

impl SubdomainId {
    /// The owner of free slots.
    pub const NONE: SubdomainId = SubdomainId(u16::MAX);

    /// The subdomain at a position, which is less than [`MOST_SUBDOMAINS`].
    pub fn new(index: usize) -> SubdomainId {
        SubdomainId(index as u16)
    }

    /// Its position.
    pub fn index(self) -> usize {
        self.0.into()
    }
}

/// Most subdomains.
pub const MOST_SUBDOMAINS: usize = u16::MAX as usize;

/// The partition of a grid into subdomains.
#[derive(Default)]
pub struct Partition {
    /// The owner of each slot.
    owner: Arc<Vec<SubdomainId>>,
    subdomains: Vec<Owned>,
    /// The owner of all leaves of each node of the tree, once they are needed.
    holders: OnceLock<Vec<SubdomainId>>,
}

/// What a subdomain owns of a grid.
#[derive(Clone)]
pub struct Owned {
    /// The subdomain.
    pub id: SubdomainId,
    /// Its lists on each level.
    pub levels: Vec<OwnedLevel>,
    /// The owner of each slot.
    owner: Arc<Vec<SubdomainId>>,
}

impl Owned {
    /// Whether the subdomain owns a slot.
    pub fn has(&self, slot: SlotId) -> bool {
        self.owner.get(slot.index()).is_some_and(|owner| *owner == self.id)
    }

    /// Its own leaves among those of the grid, in their order.
    pub fn leaves(&self, grid: &Grid) -> Result<Arc<[Leaf]>, DeviceError> {
        Ok(grid.leaves()?.iter().filter(|leaf| self.has(leaf.slot)).copied().collect())
    }

    /// Number of its leaves.
    pub fn leaf_count(&self) -> usize {
        self.levels.iter().map(OwnedLevel::leaf_count).sum()
    }

    /// The same, with each leaf counted as often as it is updated in a step of the coarsest level.
    pub fn updates(&self) -> usize {
        let of_level = |(level, owned): (usize, &OwnedLevel)| owned.leaf_count() << level;
        self.levels.iter().enumerate().map(of_level).sum()
    }
}

/// What a subdomain owns of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnedLevel {
    groups: [Range<usize>; 4],
    /// Its covered blocks with data, in [`Tables::covered`](super::forest::Tables::covered).
    pub covered: Range<usize>,
}

impl OwnedLevel {
    /// The whole level.
    pub fn all(level: &Level) -> OwnedLevel {
        OwnedLevel { groups: level.groups.clone(), covered: level.covered.clone() }
    }

    /// Its leaves of a group, in [`Tables::leaves`](super::forest::Tables::leaves).
    pub fn group(&self, group: Group) -> Range<usize> {
        self.groups[group.index()].clone()
    }

    /// Number of its leaves.
    pub fn leaf_count(&self) -> usize {
        self.groups.iter().map(Range::len).sum()
    }

    /// All its leaves there, in the fewest runs.
    pub fn runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = vec![];
        for group in self.groups.iter().filter(|group| !group.is_empty()) {
            match runs.last_mut().filter(|last| last.end == group.start) {
                Some(last) => last.end = group.end,
                None => runs.push(group.clone()),
            }
        }
        runs
    }
}

impl Partition {
    /// Divides a grid into subdomains of about the same work: cells, weighted by the number of their updates in a step of the coarsest
    /// level.
    pub fn new(grid: &Grid, subdomains: usize) -> Result<Partition, DeviceError> {
        let tree = grid.tree()?;
        let of_level = |(level, listed): (usize, &Level)| (listed.leaves.len() as u64) << level;
        let total: u64 = grid.levels().iter().enumerate().map(of_level).sum();
        let (mut owner, mut before) = (vec![SubdomainId::NONE; tree.slots()], 0);
        tree.along_curve(|slot, level| {
            let work = 1u64 << level;
            // A leaf belongs to the section that contains its middle.
            let section = (2 * before + work) * subdomains as u64 / (2 * total);
            owner[slot.index()] = SubdomainId::new(section as usize);
            before += work;
        });
        Self::of_owners(grid, subdomains, owner)
    }

    /// A partition with given owners of the slots of leaves, whose numbers do not decrease along the curve. A covered block belongs to
    /// the owner of its first descendant leaf.
    pub fn of_owners(grid: &Grid, subdomains: usize, owner: Vec<SubdomainId>) -> Result<Partition, DeviceError> {
        let tree = grid.tree()?;
        let mut owner = owner;
        tree.give_covered(&mut owner);
        let owner = Arc::new(owner);
        let covered = |level: usize| tree.covered(level).map(|slot| owner[slot.index()]).collect::<Vec<SubdomainId>>();
        let covered: Vec<Vec<SubdomainId>> = (0..grid.levels().len()).map(covered).collect();
        let own = |number: usize| {
            let of_group = |group: &Range<usize>| {
                let listed = &tree.listed()[group.clone()];
                let first = |id: usize| group.start + listed.partition_point(|slot| owner[*slot as usize].index() < id);
                first(number)..first(number + 1)
            };
            let of_level = |(level, covered): (&Level, &Vec<SubdomainId>)| {
                let first = |id: usize| level.covered.start + covered.partition_point(|owner| owner.index() < id);
                OwnedLevel { groups: level.groups.each_ref().map(of_group), covered: first(number)..first(number + 1) }
            };
            let levels = grid.levels().iter().zip(&covered).map(of_level).collect();
            Owned { id: SubdomainId::new(number), levels, owner: owner.clone() }
        };
        Ok(Partition { subdomains: (0..subdomains).map(own).collect(), owner, holders: OnceLock::new() })
    }

    /// The subdomains.
    pub fn subdomains(&self) -> &[Owned] {
        &self.subdomains
    }

    /// The owner of a slot, if a leaf or a covered block has it.
    pub fn owner(&self, slot: SlotId) -> Option<SubdomainId> {
        self.owner.get(slot.index()).copied().filter(|owner| *owner != SubdomainId::NONE)
    }

    /// The owner of each slot, up to the last that is in use; [`SubdomainId::NONE`] for free slots.
    pub fn owners(&self) -> &[SubdomainId] {
        &self.owner
    }

    /// The owner of all leaves of each node of its grid's tree, [`SubdomainId::NONE`] if there are several.
    pub(super) fn holders(&self, tree: &Tree) -> &[SubdomainId] {
        self.holders.get_or_init(|| tree.holders(&self.owner))
    }

    /// The largest work of a subdomain over the mean.
    pub fn imbalance(&self) -> f64 {
        let all: Vec<usize> = self.subdomains.iter().map(Owned::updates).collect();
        let (most, sum) = (all.iter().copied().max().unwrap_or(0), all.iter().sum::<usize>());
        if sum > 0 { (most * all.len()) as f64 / sum as f64 } else { 1.0 }
    }

    /// Divides slots into runs of one owner each. Free slots belong to the run before them.
    pub fn runs(&self, slots: Range<usize>) -> Vec<(SubdomainId, Range<usize>)> {
        let mut runs: Vec<(SubdomainId, Range<usize>)> = vec![];
        for slot in slots {
            let owner = self.owner(SlotId(slot as u32)).or(runs.last().map(|(id, _)| *id));
            let owner = owner.unwrap_or(SubdomainId::new(0));
            match runs.last_mut().filter(|(id, _)| *id == owner) {
                Some((_, run)) => run.end = slot + 1,
                None => runs.push((owner, slot..slot + 1)),
            }
        }
        runs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Device;
    use crate::fixture::manifest;
    use crate::mesh::{Behind, WallId};

    fn grid() -> Grid {
        let walls = std::array::from_fn(|face| Behind::Wall(WallId(face as u32)));
        Grid::new(&Device::host(1).unwrap(), &manifest(), [8 * 7, 8 * 5, 1], walls).unwrap()
    }

    #[test]
    fn each_leaf_is_in_one_subdomain_and_subdomains_are_runs_of_the_curve_of_the_same_work() {
        let grid = grid();
        for count in 1..=5 {
            let partition = Partition::new(&grid, count).unwrap();
            let of: Vec<SubdomainId> =
                grid.leaves().unwrap().iter().map(|leaf| partition.owner(leaf.slot).expect("a leaf")).collect();
            assert!(of.is_sorted(), "along the curve: {of:?}");
            for owned in partition.subdomains() {
                let (own, listed) = (owned.leaf_count(), owned.levels[0].runs());
                assert!(own.abs_diff(35 / count) <= 1, "{count}: {own}");
                assert_eq!(listed.iter().map(|run| run.len()).sum::<usize>(), own);
                assert_eq!(grid.leaves().unwrap().iter().filter(|leaf| owned.has(leaf.slot)).count(), own);
            }
        }
    }

    #[test]
    fn lists_of_a_subdomain_have_its_slots_and_no_others() {
        let grid = grid();
        let partition = Partition::new(&grid, 3).unwrap();
        for owned in partition.subdomains() {
            for run in owned.levels[0].runs() {
                for slot in grid.tables().leaves.read_ints(run).unwrap() {
                    assert_eq!(partition.owner(SlotId(slot as u32)), Some(owned.id));
                }
            }
        }
    }

    #[test]
    fn runs_of_slots_have_one_owner_each_and_what_nobody_has_goes_along() {
        let grid = grid();
        let mut partition = Partition::new(&grid, 2).unwrap();
        Arc::make_mut(&mut partition.owner)[3] = SubdomainId::NONE;
        let runs = partition.runs(0..35);
        assert_eq!(runs.iter().map(|(id, _)| id.index()).collect::<Vec<_>>(), [0, 1]);
        assert_eq!((runs[0].1.start, runs[0].1.end, runs[1].1.end), (0, runs[1].1.start, 35));
    }
}
