//! The order of the phases in a step of the grid.

use crate::solver::parts::Parts;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::Task;

/// What a step of the grid consists of, in an order in which it can be done; `current`: the current set of populations of each level.
pub(crate) fn tasks(parts: &Parts, current: &[usize]) -> Vec<Task> {
    let sets = current.iter().enumerate().map(|(level, set)| (*set as u64) << level);
    let mut schedule = Schedule { parts, sets: sets.sum(), fresh: 0, tasks: vec![] };
    schedule.advance(0, 0);
    schedule.phases(&[Phase::Tick], 0, 0);
    schedule.tasks
}

/// A step of the grid that is being laid out.
struct Schedule<'a> {
    parts: &'a Parts,
    sets: u64,
    /// Of which levels all parts have what they read of others, in the first set and in the second, a bit for each.
    fresh: u64,
    tasks: Vec<Task>,
}

impl Schedule<'_> {
    /// One step of a level and all finer ones, the one with that number in a step of the grid.
    fn advance(&mut self, level: usize, number: i32) {
        let finer = level + 1 < self.parts.first().grid.levels().len();
        let second = number % 2 == 1;
        self.phases(&[Phase::Prescribe], level, number);
        if finer {
            self.phases(&Phase::TO_FINE, level, number);
            self.advance(level + 1, 2 * number);
            // The finer level has had walls as they are in its own steps.
            self.phases(&[Phase::Prescribe], level, number);
            self.phases(&Phase::TO_COARSE, level, number);
        }
        self.phases(&[Phase::Expose, Phase::Exchange], level, number);
        self.phases(&Phase::STREAMING, level, number);
        if second {
            self.phases(&[Phase::Restrict], level, number);
        }
        if finer {
            self.advance(level + 1, 2 * number + 1);
            self.phases(&[Phase::Send, Phase::Prolong], level, number);
        }
        self.sets ^= 1 << level;
        self.phases(&[Phase::Move], level, number);
    }

    /// Those phases that have anything to do. What crosses before them is the same in all processes, whatever each has to do; only where
    /// nothing moves, nothing crosses for that.
    fn phases(&mut self, phases: &[Phase], level: usize, number: i32) {
        let (sets, start, half) = (self.sets, level > 0 && number % 2 == 0, 2 * number + 1);
        for phase in phases.iter().copied() {
            let has = self.parts.has(phase, level);
            if phase == Phase::Move && !has {
                continue;
            }
            for level in phase.reads_blocks_around(level) {
                self.refresh(level, half);
            }
            if phase.reads_saved() && self.parts.exchanges_saved(level) {
                self.tasks.push(Task { phase: Phase::HaloSaved, level, start: false, half, sets });
            }
            if has {
                self.tasks.push(Task { phase, level, start, half, sets });
            }
            match phase {
                // What cells expose lies beside their populations.
                Phase::Expose if self.exposes() => self.fresh &= !self.bit(level, 0),
                Phase::Move => self.fresh &= !self.bit(level, 0),
                Phase::Prolong => self.fresh &= !self.bit(level + 1, 0),
                _ if Phase::STREAMING.contains(&phase) => self.fresh &= !self.bit(level, 1),
                _ => {}
            }
        }
    }

    /// Whether cells of the method expose values to their neighbours: the same in all processes.
    fn exposes(&self) -> bool {
        !self.parts.first().program.manifest().shown.is_empty()
    }

    /// Lets parts get what they read of others' blocks of a level, unless they have it.
    fn refresh(&mut self, level: usize, half: i32) {
        let bit = self.bit(level, 0);
        if self.parts.exchanges(level) && self.fresh & bit == 0 {
            self.tasks.push(Task { phase: Phase::Halo, level, start: false, half, sets: self.sets });
            self.fresh |= bit;
        }
    }

    /// The bit of the current set of a level, or of the other one.
    fn bit(&self, level: usize, other: u64) -> u64 {
        1 << (2 * level as u64 + (self.sets >> level & 1 ^ other))
    }
}
