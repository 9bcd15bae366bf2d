//! The part of a simulation that one device has.
//!
//! All that lies on the device is here: kernels, blocks, populations, what is around them, and steps that were recorded. What time
//! it is on each level, how often the grid changes and which walls there are belongs to the [`Simulation`](super::Simulation),
//! which tells a subdomain what to do.

use super::StepError;
use super::bodies::Bodies;
use super::fields::Fields;
use super::inbox::Inbox;
use super::setup::Walls;
use super::step::Level;
use super::stream::blocks;
use super::timing::Phase;
use crate::device::{Buffer, Graph, Real};
use crate::kernels::{self, Criterion, Program};
use crate::mesh::Grid;

/// Blocks of a grid on a device, with all that their kernels read and write.
pub(super) struct Subdomain {
    pub(super) program: Program,
    pub(super) grid: Grid,
    pub(super) walls: Walls,
    pub(super) bodies: Option<Bodies>,
    pub(super) fields: Fields,
    pub(super) inbox: Option<Inbox>,
    /// Whether the macroscopic fields are those of the current populations.
    pub(super) sampled: bool,
    /// Fields of an earlier step, to compare with.
    pub(super) reference: Option<Buffer<Real>>,
    /// What the grid follows, if it changes.
    pub(super) criterion: Option<Criterion>,
    pub(super) recording: Option<Recording>,
}

/// Steps that can be repeated.
pub(super) struct Recording {
    pub(super) graph: Graph,
    /// How many they are, an even number.
    pub(super) steps: u64,
}

impl Subdomain {
    /// Whether a phase of a step of a level has anything to do.
    pub(super) fn has(&self, phase: Phase, level: usize) -> bool {
        match phase {
            Phase::Restrict | Phase::Send | Phase::Prolong => self.grid.forest().holds(),
            _ => !blocks((&self.grid, self.bodies.as_ref(), self.inbox.as_ref()), phase, level).is_empty(),
        }
    }

    /// A phase of a step of a level; `start`: whether the step is the first of two.
    pub(super) fn run(&mut self, phase: Phase, levels: &[Level], level: usize, start: bool) -> Result<(), StepError> {
        match phase {
            Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => {
                self.exchange_inbox(phase, levels, level, start)
            }
            Phase::Restrict => self.restrict(levels, level - 1),
            Phase::Send => self.send(levels, level),
            Phase::Prolong => self.prolong(levels, level + 1),
            _ => self.stream_collide(phase, &levels[level], level, start),
        }
    }

    /// Computes the macroscopic fields of the current sets of populations, unless they are known.
    pub(super) fn sample(&mut self, levels: &[Level]) -> Result<(), StepError> {
        if self.sampled {
            return Ok(());
        }
        let tables = self.grid.tables();
        for (level, listed) in levels.iter().zip(self.grid.levels()) {
            let held = if self.grid.forest().holds() { listed.held.clone() } else { 0..0 };
            for ids in [tables.leaves.part(listed.leaves.clone()), tables.held.part(held)] {
                self.program.launch(kernels::Macroscopic {
                    ids,
                    src: &self.fields.populations[level.current],
                    fields: &mut self.fields.macroscopic,
                    params: level.params.packed(),
                })?;
            }
        }
        self.sampled = true;
        Ok(())
    }
}
