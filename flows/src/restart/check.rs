//! Checks whether the contents of a restart file are possible for a flow. Hashes show that the file is complete, not
//! that a run has written it.

use std::collections::HashSet;

use lbm_bundle::Manifest;
use lbm_runtime::geometry::Block;
use lbm_runtime::mesh;

use super::course::{Course, Sampled, SavedBody, SavedStatistics};
use super::head::{CHECKED, Head, POPULATIONS};
use crate::case::Case;
use crate::case::saved::{FIELDS, LEAVES};
use crate::output::Bits;

/// Upper bound for all counts of steps, updates and so on.
const MOST: u64 = 1 << 53;

/// What the flow permits.
pub(super) struct Expected<'a> {
    pub(super) case: &'a Case,
    pub(super) manifest: &'a Manifest,
}

impl Expected<'_> {
    /// The first inconsistency of a head, if there is one.
    pub(super) fn wrong_head(&self, head: &Head) -> Option<&'static str> {
        let names: Vec<&str> = head.sections.iter().map(|section| &section.name[..]).collect();
        let of_fields = [LEAVES, POPULATIONS, CHECKED];
        let of_fields = &of_fields[..if head.checked.is_some() { 3 } else { 2 }];
        let of_statistics: Vec<String> = head.course.statistics.iter().map(SavedStatistics::section).collect();
        let saved = head.fields.iter().map(|_| FIELDS);
        let of_statistics = of_statistics.iter().map(String::as_str);
        let expected: Vec<&str> = of_fields.iter().copied().chain(of_statistics).chain(saved).collect();
        let rest = names.get(expected.len()..).unwrap_or_default();
        let known = |name: &&str| [LEAVES, POPULATIONS, CHECKED, FIELDS].contains(name) || expected.contains(name);
        let twice = (0..expected.len()).any(|at| expected[..at].contains(&expected[at]));
        if !names.starts_with(&expected) || twice || rest.iter().any(known) {
            return Some("a section is missing, or there is one too many");
        }
        if !head.sections[0].bytes.is_multiple_of(16) {
            return Some("its list of blocks is cut off");
        }
        if head.checked.is_some_and(|checked| checked >= head.course.step) {
            return Some("its last check for steady flow is later than its step");
        }
        self.wrong_course(&head.course)
    }

    fn wrong_course(&self, course: &Course) -> Option<&'static str> {
        let Course { step, seconds, waited, updates, adaptations, scattered, start, residual, .. } = course;
        let counts = [*step, *updates, adaptations.looks, adaptations.changes, adaptations.refusals];
        let more =
            [adaptations.reorderings, adaptations.most_refused as u64, adaptations.room as u64, *scattered as u64];
        if counts.iter().chain(&more).any(|count| *count >= MOST) {
            return Some("it has a count that no run reaches");
        }
        let is_time = |seconds: &Bits| seconds.0 >= 0.0 && seconds.0.is_finite();
        if !is_time(seconds) || !is_time(waited) || residual.is_some_and(|change| change.0 < 0.0) {
            return Some("it has a time or a change of velocity that is no such thing");
        }
        let sums = start.iter().map(|(name, _)| name).eq(self.manifest.populations.iter().map(|set| &set.name));
        if !sums {
            return Some("its sums at the start are not those of the method's populations");
        }
        let is_possible = |of: &SavedStatistics| {
            let Sampled { first, last } = of.steps;
            first <= last && last <= *step && (1..MOST).contains(&of.samples) && of.samples - 1 <= last - first
        };
        if !course.statistics.iter().all(is_possible) {
            return Some("its statistics are of steps that cannot be");
        }
        let (solids, sets) = (self.case.solids.len(), self.manifest.populations.len());
        if !course.exchanged.iter().all(|of| of.fits(solids, sets, *step)) {
            return Some("what its solids have exchanged is not that of this flow's");
        }
        let free = self.case.solids.iter().enumerate().filter(|(_, body)| body.free().is_some()).map(|(at, _)| at);
        let saved: Option<Vec<_>> = course.bodies.iter().map(SavedBody::state).collect();
        let fits = saved.is_some_and(|saved| {
            let (solids, mut times) =
                (saved.iter().map(|(solid, _)| *solid), saved.iter().map(|(_, state)| state.time));
            free.eq(solids) && times.all(|time| time == *step as f64)
        });
        if !fits {
            return Some("the states of its bodies are not those of this flow's");
        }
        course.recorded.wrong(self.case, *step)
    }

    /// The set of leaves that this flow's grid permits.
    pub(super) fn leaves(&self) -> Option<Leaves> {
        let block = self.manifest.block.map(|cells| cells as usize);
        let roots = mesh::roots(self.case.size, block, self.case.periodic).ok()?;
        let finest = self.case.refinement.as_ref().map_or(0, |refinement| refinement.finest);
        let dim = self.case.dim;
        let parts = |level: usize| 1u128.checked_shl((dim * (finest - level)) as u32);
        let all = roots.iter().try_fold(parts(0)?, |all, count| all.checked_mul(*count as u128))?;
        Some(Leaves { roots, finest, dim, missing: all, found: HashSet::new() })
    }
}

/// Collects blocks that must fill a box exactly. Memory is bounded by the number of blocks that fill it, no matter how
/// many are offered.
pub(super) struct Leaves {
    roots: [usize; 3],
    finest: usize,
    dim: usize,
    /// Volume that is not yet filled, in blocks of the finest level.
    missing: u128,
    found: HashSet<Block>,
}

impl Leaves {
    /// Adds a block if it lies in the box, is new and there is room for it; returns whether it was added.
    pub(super) fn take(&mut self, block: Block) -> bool {
        let Block { level, place } = block;
        let inside = |axis: usize| match axis < self.dim {
            true => place[axis] >> level < self.roots[axis],
            false => place[axis] == 0,
        };
        if level > self.finest || !(0..3).all(inside) {
            return false;
        }
        let volume = 1u128 << (self.dim * (self.finest - level));
        match self.missing.checked_sub(volume) {
            Some(missing) if self.found.insert(block) => {
                self.missing = missing;
                true
            }
            _ => false,
        }
    }

    /// Whether the box is filled.
    pub(super) fn fill(&self) -> bool {
        self.missing == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn leaves() -> Leaves {
        Leaves { roots: [2, 1, 1], finest: 2, dim: 2, missing: 32, found: HashSet::new() }
    }

    fn block(level: usize, x: usize, y: usize) -> Block {
        Block { level, place: [x, y, 0] }
    }

    #[test]
    fn blocks_fill_a_box_once() {
        let mut leaves = leaves();
        let quarters = [(2, 0), (3, 0), (2, 1), (3, 1)].map(|(x, y)| block(1, x, y));
        assert!(leaves.take(block(0, 0, 0)) && !leaves.fill());
        assert!(!leaves.take(block(0, 0, 0)), "it is there");
        assert!(quarters.into_iter().all(|quarter| leaves.take(quarter)) && leaves.fill());
        assert!(!leaves.take(block(2, 4, 0)), "nothing is left");
    }

    #[test]
    fn blocks_outside_are_refused() {
        for wrong in [block(0, 2, 0), block(0, 0, 1), block(1, 4, 0), block(3, 0, 0), block(u32::MAX as usize, 0, 0)] {
            assert!(!leaves().take(wrong), "{wrong:?}");
        }
        assert!(!leaves().take(Block { level: 0, place: [0, 0, 1] }));
    }
}
