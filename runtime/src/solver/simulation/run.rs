//! Runs of many steps: how they are divided at adaptations and where recordings are read on, which steps are timed phase by phase, and which are recorded.
//!
//! On GPUs pairs of steps are recorded once and replayed. This saves small grids the launch overhead, and subdomains on several GPUs wait
//! for each other only where data depend on each other.

use crate::device::Devices;
use crate::solver::arrays::fields::Sets;
use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::simulation::Simulation;
use crate::solver::step::exchanges::MOST_LEFT;

/// Approximate number of phases in a recording: large enough that launching it costs little per step, and small, since recording takes
/// some microseconds per phase.
const PHASES_RECORDED: usize = 64;

/// The same if solids move: for each replay the host computes what their moves do, while the device is at work on the one before.
const PHASES_RECORDED_WITH_MOVES: usize = 128;

/// Most pairs of steps in a recording.
const PAIRS_RECORDED: usize = 8;

/// Fewer pairs of steps are not recorded where there is no room for what more would leave for the host.
const LEAST_PAIRS: u64 = 4;

/// How often a recording must be replayed before the grid changes to repay its cost, and where solids move, which have many small kernels.
const LEAST_REPEATED: u64 = 4;
const LEAST_REPEATED_WITH_MOVES: u64 = 8;

/// The same if solids move and fewer steps can be recorded: most of the cost is that of each step.
const REPEATED_WITH_MOVES: u64 = 32;

/// The same of steps that are recorded one by one, in parts.
const REPEATED_IN_PARTS: u64 = 32;

impl Simulation {
    /// Advances by `steps` steps and waits for them.
    pub fn run(&mut self, steps: u64) -> Result<(), StepError> {
        let devices = self.subdomains.devices().clone();
        devices.first().scope(|| self.run_inside(&devices, steps))
    }

    fn run_inside(&mut self, devices: &Devices, steps: u64) -> Result<(), StepError> {
        let step = self.stepper.step;
        self.subdomains.forget_posted();
        self.subdomains.iter_mut().try_for_each(|subdomain| {
            subdomain.forget_fields();
            subdomain.set_clock(step)
        })?;
        let mut left = steps;
        let mut sampled = self.monitor.timings.steps_to_sample();
        while left > 0 {
            let until_change = self.adapter.steps_until_change(self.stepper.step);
            let interval = until_change.map_or(left, |until| left.min(until));
            // What solids exchange with the fluid is read before each step.
            let each = self.has_one_set() && !self.subdomains.exchanged.is_empty();
            let interval = self.load_recordings(if each { interval.min(1) } else { interval })?;
            let start = devices.event()?;
            self.run_interval(devices, interval, until_change, &mut sampled)?;
            self.bring_back()?;
            let updates = interval * self.grid().updates() as u64;
            let end = devices.event()?;
            if until_change == Some(interval) {
                self.adapt()?;
            }
            let done = devices.event()?;
            let (seconds, adapting) = (devices.seconds(&start, &done)?, devices.seconds(&end, &done)?);
            self.monitor.timings.ran(interval, updates, seconds, adapting);
            left -= interval;
        }
        self.monitor.timings.settle(devices)?;
        Ok(())
    }

    /// Whether steps replace populations in the only set.
    fn has_one_set(&self) -> bool {
        self.subdomains.first().sets() == Sets::One
    }

    /// Brings populations of the only set back to the cells that have sent them, where the last step has not left them there. So nothing but a step
    /// finds them elsewhere.
    fn bring_back(&mut self) -> Result<(), StepError> {
        let is_one = self.has_one_set();
        let Simulation { subdomains, stepper, .. } = self;
        for (number, level) in stepper.levels.iter_mut().enumerate() {
            if is_one && level.current == PopulationSet::Second {
                subdomains.iter_mut().try_for_each(|subdomain| subdomain.bring_back(level, number))?;
                level.current = PopulationSet::First;
            }
        }
        Ok(())
    }

    /// Reads what walls take of recordings in the next steps, and returns how many of these may be taken until more is read.
    fn load_recordings(&mut self, steps: u64) -> Result<u64, StepError> {
        let step = self.stepper.step;
        let until = self.subdomains.first().reach_of_recordings(step, step + steps);
        self.subdomains.iter_mut().try_for_each(|subdomain| subdomain.load_recordings([step, until]))?;
        Ok(until - step)
    }

    /// Advances by steps between which the grid does not change. `until_change`: steps until it may, of which later calls take the others.
    fn run_interval(
        &mut self,
        devices: &Devices,
        steps: u64,
        until_change: Option<u64>,
        sampled: &mut u64,
    ) -> Result<(), StepError> {
        let Simulation { subdomains, stepper, adapter, monitor, .. } = self;
        let mut left = steps;
        // These steps are timed phase by phase.
        let mut in_parts = stepper.courses.is_none() && subdomains.records() && subdomains.moves_by_host();
        while left > 0 && ((stepper.levels[0].current == PopulationSet::Second && !in_parts) || *sampled > 0) {
            stepper.advance(subdomains, Some(&mut monitor.timings))?;
            subdomains.sum_many_exchanges()?;
            *sampled = sampled.saturating_sub(1);
            left -= 1;
        }
        // After each change of the grid another recording is made, and where solids move, after each look whether it is to change.
        let ahead = until_change.map(|until| until - (steps - left));
        in_parts &= ahead.is_none_or(|ahead| ahead >= REPEATED_IN_PARTS);
        while in_parts && left > 0 {
            in_parts = stepper.advance_in_parts(devices, subdomains)?;
            left -= 1;
        }
        let (phases, least, repeated) = match subdomains.first().moves() {
            true if ahead.is_none() => (PHASES_RECORDED_WITH_MOVES, 1, 1),
            true => (PHASES_RECORDED_WITH_MOVES, LEAST_REPEATED_WITH_MOVES, REPEATED_WITH_MOVES),
            false if adapter.settled => (PHASES_RECORDED, 1, 1),
            false => (PHASES_RECORDED, LEAST_REPEATED, LEAST_REPEATED),
        };
        let pairs = (phases / stepper.tasks(subdomains).len().max(1) / 2).clamp(1, PAIRS_RECORDED) as u64;
        let pairs = pairs.min(ahead.map_or(pairs, |ahead| (ahead / (2 * repeated)).max(1)));
        // A recording has fixed parameters, and there is room for what its steps leave for the host.
        let left_by_pair = if subdomains.exchanged.is_empty() { 0 } else { 2 * ((1 << stepper.levels.len()) - 1) };
        let room = MOST_LEFT.checked_div(left_by_pair).map_or(pairs, |room| room as u64);
        let pairs = if room < pairs.min(LEAST_PAIRS) { 0 } else { pairs.min(room) };
        let records = stepper.courses.is_none() && subdomains.records();
        // Processes record the same steps: together they read what these leave.
        let pairs = subdomains.least(if records { pairs } else { 0 });
        let mut records = pairs > 0;
        while left > 0 {
            let steps = subdomains.recordings.steps.as_ref().map_or(2 * pairs, |recording| recording.steps);
            let first = stepper.levels[0].current == PopulationSet::First;
            if records && first && left >= steps && subdomains.agree(subdomains.can_record(stepper.step + steps)) {
                // Devices may still be at work on the steps before.
                let moves = subdomains.foresee_moves(stepper.step, steps)?;
                let recorded = subdomains.recordings.steps.as_ref();
                let fits = recorded.is_some_and(|recording| recording.arrays_of_moves == moves);
                if !subdomains.agree(fits) {
                    subdomains.recordings.steps = match ahead.unwrap_or(left) >= steps * least {
                        true => stepper.record(devices, subdomains, steps, moves)?,
                        false => None,
                    };
                }
                if subdomains.replay(stepper.step)? {
                    stepper.step += steps;
                    left -= steps;
                    continue;
                }
                records = false;
            }
            stepper.advance(subdomains, None)?;
            subdomains.sum_many_exchanges()?;
            left -= 1;
        }
        subdomains.sum_exchanges(1)
    }
}

impl Subdomains {
    /// Whether this is so in all processes, where solids move; else it is the same in all. A collective call.
    pub(super) fn agree(&self, own: bool) -> bool {
        if self.first().moves() { self.least(u64::from(own)) == 1 } else { own }
    }

    /// Whether all that steps do can be recorded up to a step.
    fn can_record(&self, until: u64) -> bool {
        self.here.iter().all(|subdomain| subdomain.can_record(until as f64))
    }

    /// Tells the devices how solids move in `steps` steps after a step, and returns which arrays their moves work on.
    pub(super) fn foresee_moves(&mut self, step: u64, steps: u64) -> Result<Vec<u64>, StepError> {
        self.here.iter_mut().map(|subdomain| subdomain.foresee_moves(step as f64, steps)).collect()
    }
}
