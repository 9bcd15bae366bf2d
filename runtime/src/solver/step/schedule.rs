//! The order of the phases in a step of the grid.

use crate::solver::arrays::fields::Sets;
use crate::solver::decomposition::Subdomains;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::{PopulationSet, Task};

/// The tasks of the step of the grid with this number, in a valid order; `current`: the current set of populations of each level.
pub(crate) fn tasks(subdomains: &Subdomains, step: u64, current: &[PopulationSet]) -> Vec<Task> {
    let sets = current.iter().enumerate().map(|(level, set)| (set.index() as u64) << level);
    let in_place = subdomains.first().sets() == Sets::One;
    // Finer levels move an even number of times in each step.
    let link_sets = if subdomains.first().has_motions(0) { step & 1 } else { 0 };
    let mut schedule = Schedule { subdomains, step, in_place, sets: sets.sum(), link_sets, fresh: 0, tasks: vec![] };
    schedule.advance(0, 0);
    schedule.phases(&[Phase::Tick], 0, 0);
    schedule.tasks
}

/// A step of the grid under construction.
struct Schedule<'a> {
    subdomains: &'a Subdomains,
    step: u64,
    /// Whether there is one set of populations.
    in_place: bool,
    sets: u64,
    link_sets: u64,
    /// The levels whose halo is up to date in all subdomains: bit `2 * level + set` for each level and set of populations.
    fresh: u64,
    tasks: Vec<Task>,
}

impl Schedule<'_> {
    /// One step of a level and of all finer levels; `number`: its number within the step of the grid, among steps of the same level.
    fn advance(&mut self, level: usize, number: i32) {
        let finer = level + 1 < self.levels();
        let second = number % 2 == 1;
        self.phases(&[Phase::Prescribe], level, number);
        if finer {
            // In the first step of the finer level, these are values from before this step; in the second, those of `Phase::Expose`.
            self.phases(&[Phase::ExposeStored], level, number);
            self.phases(&Phase::TO_FINE, level, number);
            if self.in_place {
                self.phases(&Phase::TO_COARSE_BEFORE, level, number);
            }
            self.advance(level + 1, 2 * number);
            // The finer level has evaluated the parameters of walls at the times of its own steps.
            self.phases(&[Phase::Prescribe], level, number);
            self.phases(&Phase::TO_COARSE, level, number);
        }
        // What cells expose beside surfaces that slide follows from the velocities of this step.
        self.phases(&[Phase::Slide, Phase::Expose, Phase::ExposeAcross, Phase::Exchange], level, number);
        self.phases(&Phase::STREAMING, level, number);
        if second {
            self.phases(&[Phase::Restrict], level, number);
        }
        // The finer level reads them in the first arrangement.
        let brings_back = self.in_place && finer;
        if brings_back {
            self.phases(&[Phase::BringBack], level, number);
        }
        if finer {
            self.advance(level + 1, 2 * number + 1);
            self.phases(&[Phase::Send, Phase::Prolong], level, number);
        }
        if !brings_back {
            self.sets ^= 1 << level;
        }
        self.phases(&[Phase::Move], level, number);
        if self.subdomains.first().has_motions(level) {
            self.link_sets ^= 1 << level;
        }
        self.phases(&[Phase::Refill], level, number);
    }

    /// Adds those of the phases that have work to do. The halo exchange before them is the same in all processes, even if this process has
    /// no work. Without moving solids on the level, [`Phase::Refill`] needs no halo exchange.
    fn phases(&mut self, phases: &[Phase], level: usize, number: i32) {
        let (start, half) = (level > 0 && number % 2 == 0, 2 * number + 1);
        for phase in phases.iter().copied() {
            let has = self.subdomains.has(phase, level);
            if phase == Phase::Refill && !has {
                continue;
            }
            let read = phase.reads_blocks_around(level);
            for level in read.start..read.end.min(self.levels()) {
                self.refresh(level, half);
            }
            if phase.reads_saved() && self.subdomains.exchanges_saved(level) {
                self.tasks.push(self.task(Phase::HaloSaved, level, half));
            }
            if has {
                self.tasks.push(Task { start, ..self.task(phase, level, half) });
            }
            match phase {
                // Exposed values are stored beside the populations of a cell.
                Phase::Expose | Phase::ExposeStored if self.exposes() => self.fresh &= !self.bit(level, 0),
                Phase::Refill => self.fresh &= !self.bit(level, 0),
                Phase::Prolong => self.fresh &= !self.bit(level + 1, 0),
                _ if Phase::STREAMING.contains(&phase) => self.fresh &= !self.bit(level, 1),
                _ => {}
            }
        }
    }

    /// A phase of a level with the sets that are current now.
    fn task(&self, phase: Phase, level: usize, half: i32) -> Task {
        let Schedule { step, sets, link_sets, .. } = *self;
        Task { phase, level, start: false, step, half, sets, link_sets }
    }

    /// The number of levels.
    fn levels(&self) -> usize {
        self.subdomains.first().grid().levels().len()
    }

    /// Whether cells of the method expose values to their neighbours; the same in all processes.
    fn exposes(&self) -> bool {
        !self.subdomains.first().program().manifest().shown.is_empty()
    }

    /// Adds a halo exchange of a level, unless the halo is up to date.
    fn refresh(&mut self, level: usize, half: i32) {
        let bit = self.bit(level, 0);
        if self.subdomains.exchanges(level) && self.fresh & bit == 0 {
            self.tasks.push(self.task(Phase::Halo, level, half));
            self.fresh |= bit;
        }
    }

    /// The bit of the current set of a level (`other` is 0), or of the other set (1).
    fn bit(&self, level: usize, other: u64) -> u64 {
        1 << (2 * level as u64 + (self.sets >> level & 1 ^ other))
    }
}
