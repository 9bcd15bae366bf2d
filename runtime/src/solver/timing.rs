//! Where the time goes: total seconds of all runs, and the share of each phase from a sample of steps.

use crate::device::{DeviceError, Devices, Marks};

/// A part of a time step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Blocks away from walls.
    StreamCollide,
    /// Blocks that touch walls.
    StreamCollideWalls,
    /// Blocks beside coarser or finer ones.
    StreamCollideInterface,
    /// Blocks beside coarser or finer ones that touch walls.
    StreamCollideInterfaceWalls,
    /// Blocks with solids in them.
    StreamCollideSolid,
    /// Cells that refined blocks hold.
    StreamCollideHeld,
    /// What cells show to those around them.
    Expose,
    /// What solids and the fluid exchange.
    Exchange,
    /// What coarse blocks send to finer ones.
    ToFine,
    /// What enters fine blocks that touch walls, from coarser ones.
    ToFineWalls,
    /// What comes out of fine blocks into coarser ones.
    ToCoarse,
    /// What enters coarse blocks that touch walls, beside finer ones.
    ToCoarseWalls,
    /// Means over finer cells.
    Restrict,
    /// What is to be interpolated to ghosts.
    Send,
    /// Ghosts.
    Prolong,
    /// What formulas say of walls.
    Prescribe,
    /// Solids that move: links that are cut anew, cells that are filled.
    Move,
    /// The clock of these formulas.
    Tick,
    /// What parts of a flow read of each other's blocks.
    Halo,
    /// What they read of what these save for ghosts.
    HaloSaved,
}

impl Phase {
    /// All phases in the order of a step.
    pub const ALL: [Phase; 20] = [
        Phase::StreamCollide,
        Phase::StreamCollideWalls,
        Phase::StreamCollideInterface,
        Phase::StreamCollideInterfaceWalls,
        Phase::StreamCollideSolid,
        Phase::StreamCollideHeld,
        Phase::Expose,
        Phase::Exchange,
        Phase::ToFine,
        Phase::ToFineWalls,
        Phase::ToCoarse,
        Phase::ToCoarseWalls,
        Phase::Restrict,
        Phase::Send,
        Phase::Prolong,
        Phase::Prescribe,
        Phase::Move,
        Phase::Tick,
        Phase::Halo,
        Phase::HaloSaved,
    ];

    /// Those that fill the inbox before the first step of the next finer level, and after it.
    pub(super) const TO_FINE: [Phase; 2] = [Phase::ToFine, Phase::ToFineWalls];
    pub(super) const TO_COARSE: [Phase; 2] = [Phase::ToCoarse, Phase::ToCoarseWalls];

    /// Those in which populations stream: in leaves, each in blocks of its own; then again in some of these blocks, or in refined ones.
    pub(super) const STREAMING: [Phase; 6] = [
        Phase::StreamCollide,
        Phase::StreamCollideWalls,
        Phase::StreamCollideInterface,
        Phase::StreamCollideInterfaceWalls,
        Phase::StreamCollideSolid,
        Phase::StreamCollideHeld,
    ];

    /// Levels of whose blocks it reads those beside others, of the set that is current.
    pub(super) fn reads_blocks_around(self, level: usize) -> std::ops::Range<usize> {
        match self {
            Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => level..level + 2,
            Phase::Move | Phase::Expose | Phase::Exchange => level..level + 1,
            _ if Phase::STREAMING.contains(&self) => level..level + 1,
            _ => level..level,
        }
    }

    /// Whether it reads what blocks of its level save for ghosts, those of other parts too.
    pub(super) fn reads_saved(self) -> bool {
        matches!(self, Phase::Restrict | Phase::Prolong)
    }

    /// Whether it is what crosses between parts.
    pub(super) fn crosses(self) -> bool {
        matches!(self, Phase::Halo | Phase::HaloSaved)
    }

    /// Name as in reports.
    pub fn name(self) -> &'static str {
        [
            "stream_collide",
            "stream_collide_walls",
            "stream_collide_interface",
            "stream_collide_interface_walls",
            "stream_collide_solid",
            "stream_collide_held",
            "expose",
            "exchange",
            "to_fine",
            "to_fine_walls",
            "to_coarse",
            "to_coarse_walls",
            "restrict",
            "send",
            "prolong",
            "prescribe",
            "move",
            "tick",
            "halo",
            "halo_saved",
        ][self as usize]
    }
}

/// Time spent by a simulation.
#[derive(Default)]
pub struct Timings {
    steps: u64,
    updates: u64,
    seconds: f64,
    adapting: f64,
    sampled: u64,
    phases: [f64; Phase::ALL.len()],
    /// Marks before and after phases whose times have not been asked for yet.
    pending: Vec<(Phase, Marks, Marks)>,
}

impl Timings {
    /// Steps at the start of each run whose phases are timed.
    pub(super) const SAMPLED_STEPS: u64 = 2;

    /// A phase of a sampled step.
    pub(super) fn sample(&mut self, phase: Phase, start: Marks, end: Marks) {
        self.pending.push((phase, start, end));
    }

    /// All phases of a step have been sampled.
    pub(super) fn sampled(&mut self) {
        self.sampled += 1;
    }

    /// So many steps and cell updates took so many seconds, those spent on changes of the grid among them.
    pub(super) fn ran(&mut self, steps: u64, updates: u64, seconds: f64, adapting: f64) {
        self.steps += steps;
        self.updates += updates;
        self.seconds += seconds;
        self.adapting += adapting;
    }

    /// Turns marks into times; called when the steps are done.
    pub(super) fn settle(&mut self, devices: &Devices) -> Result<(), DeviceError> {
        for (phase, start, end) in std::mem::take(&mut self.pending) {
            self.phases[phase as usize] += devices.seconds(&start, &end)?;
        }
        Ok(())
    }

    /// Steps run so far.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Seconds spent in all of them.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Cell updates so far.
    pub fn updates(&self) -> u64 {
        self.updates
    }

    /// Seconds spent in changes of the grid.
    pub fn adapting(&self) -> f64 {
        self.adapting
    }

    /// Cell updates per second over all runs, 0 before the first.
    pub fn updates_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.updates as f64 / self.seconds } else { 0.0 }
    }

    /// Steps per second over all runs, 0 before the first.
    pub fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.steps as f64 / self.seconds } else { 0.0 }
    }

    /// Mean seconds of a phase per step, from a sample of steps; 0 before the first.
    pub fn phase(&self, phase: Phase) -> f64 {
        if self.sampled > 0 { self.phases[phase as usize] / self.sampled as f64 } else { 0.0 }
    }
}
