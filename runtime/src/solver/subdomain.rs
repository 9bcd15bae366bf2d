//! The part of a simulation that one device has.
//!
//! All that lies on the device is here: kernels, blocks, populations, what is around them, and steps that were recorded. What time
//! it is on each level, how often the grid changes and which walls there are belongs to the [`Simulation`](super::Simulation),
//! which tells a subdomain what to do.

use std::ops::Range;
use std::sync::Arc;

use super::StepError;
use super::adapt::Corners;
use super::bodies::Bodies;
use super::edges::{Edges, Side};
use super::fields::Fields;
use super::inbox::Inbox;
use super::places::Places;
use super::prescribed::Prescribed;
use super::setup::Walls;
use super::statistics::Statistics;
use super::step::{Level, Task};
use super::stream::{Lists, blocks};
use super::timing::Phase;
use crate::device::{Buffer, Device, DeviceError, Graph, Int, Part, Real};
use crate::kernels::layout::Layout;
use crate::kernels::{self, Criterion, Program};
use crate::mesh::forest::Leaf;
use crate::mesh::{Grid, Owned, OwnedLevel};

/// Blocks of a grid on a device, with all that their kernels read and write.
pub(super) struct Subdomain {
    pub(super) program: Program,
    /// Its device, on which the inbox takes what memory it needs.
    pub(super) of_rows: Device,
    pub(super) grid: Grid,
    /// What it has of the grid, where that is not all.
    pub(super) owned: Option<Owned>,
    /// Its blocks as phases stream them, where it is one of several parts.
    pub(super) edges: Option<Edges>,
    pub(super) walls: Walls,
    pub(super) prescribed: Option<Prescribed>,
    pub(super) bodies: Option<Bodies>,
    pub(super) fields: Fields,
    pub(super) inbox: Option<Inbox>,
    /// Whether the macroscopic fields are those of the current populations.
    pub(super) sampled: bool,
    /// Fields of an earlier step, to compare with.
    pub(super) reference: Option<Buffer<Real>>,
    /// What is accumulated over time.
    pub(super) statistics: Option<Statistics>,
    /// What cells keep for parameters that vary, if it is known.
    pub(super) places: Option<Places>,
    /// What the grid follows, if it changes.
    pub(super) criterion: Option<Criterion>,
    /// Boxes whose blocks stay as they are, in cells of the coarsest level: lower and upper corners.
    pub(super) frozen: Vec<Corners>,
    pub(super) recording: Option<Recording>,
}

/// Steps that can be repeated.
pub(super) struct Recording {
    pub(super) graph: Graph,
    /// How many they are, an even number.
    pub(super) steps: u64,
}

impl Subdomain {
    /// Its lists on a level.
    pub(super) fn own_level(&self, level: usize) -> OwnedLevel {
        own_level(&self.grid, self.owned.as_ref(), level)
    }

    /// Its leaves, level by level, each level along the curve.
    pub(super) fn own_leaves(&self) -> Result<Arc<[Leaf]>, DeviceError> {
        match &self.owned {
            Some(owned) => owned.leaves(&self.grid),
            None => self.grid.shared_leaves(),
        }
    }

    /// Where its leaves of all levels are listed, in as few runs as that takes.
    pub(super) fn own_runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = vec![];
        for run in (0..self.grid.levels().len()).flat_map(|level| self.own_level(level).runs()) {
            match runs.last_mut().filter(|last| last.end == run.start) {
                Some(last) => last.end = run.end,
                None => runs.push(run),
            }
        }
        runs
    }

    /// Whether a phase of a step of a level has anything to do.
    pub(super) fn has(&self, phase: Phase, level: usize) -> bool {
        match phase {
            Phase::Prescribe => self.prescribed.as_ref().is_some_and(|prescribed| prescribed.has(level)),
            Phase::Move => self.has_motions(level),
            // A step is laid out before its solids move: in its second half a finer level may have them in other blocks.
            Phase::StreamCollideSolid if self.has_motions(level) => true,
            Phase::Tick => self.prescribed.is_some(),
            Phase::Restrict | Phase::Send | Phase::Prolong => self.grid.forest().holds(),
            Phase::Exchange | Phase::Halo | Phase::HaloSaved => false,
            Phase::Expose => !self.program.manifest().shown.is_empty() && !self.own_level(level).runs().is_empty(),
            _ => {
                let (grid, owned) = (&self.grid, self.owned.as_ref());
                let (bodies, inbox) = (self.bodies.as_ref(), self.inbox.as_ref());
                let edges = self.edges.as_ref().map(|edges| (edges, Side::All));
                !blocks(Lists { grid, owned, edges, bodies, inbox }, phase, level).is_empty()
            }
        }
    }

    /// Whether solids of a level move.
    fn has_motions(&self, level: usize) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.cutters.solids.motions(level).next().is_some())
    }

    /// The phase in which all blocks of a level stream, in one launch, if they do.
    pub(super) fn together(&self, level: usize) -> Option<Phase> {
        self.inbox.as_ref().and_then(|inbox| inbox.together(level))
    }

    /// A phase of a step of a level, on some of its blocks.
    pub(super) fn run(&mut self, task: Task, side: Side, levels: &[Level]) -> Result<(), StepError> {
        let Task { phase, level, start, half, .. } = task;
        match phase {
            Phase::Prescribe => Ok(self.prescribe(level, half)?),
            Phase::Tick => Ok(self.tick()?),
            Phase::Move | Phase::Exchange | Phase::Halo | Phase::HaloSaved => {
                unreachable!("whoever has all parts does that")
            }
            Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => {
                self.exchange_inbox(phase, levels, level, start)
            }
            Phase::Expose => self.expose(&levels[level], level),
            Phase::Restrict => self.restrict(levels, level - 1),
            Phase::Send => self.send(levels, level),
            Phase::Prolong => self.prolong(levels, level + 1),
            _ => self.stream_collide((phase, side), &levels[level], level, start),
        }
    }

    /// Computes the macroscopic fields of the current sets of populations, unless they are known; makes room for all of them.
    pub(super) fn sample(&mut self, levels: &[Level]) -> Result<(), StepError> {
        if self.sampled {
            return Ok(());
        }
        self.make_whole()?;
        let tables = self.grid.tables();
        for (number, level) in levels.iter().take(self.grid.levels().len()).enumerate() {
            let own = self.own_level(number);
            let held = if self.grid.forest().holds() { own.held.clone() } else { 0..0 };
            let runs = own.runs();
            for ids in runs.into_iter().map(|run| tables.leaves.part(run)).chain([tables.held.part(held)]) {
                self.program.launch(kernels::Macroscopic {
                    ids,
                    src: &self.fields.populations[level.current],
                    first: 0,
                    level: number as i32,
                    fields: &mut self.fields.macroscopic,
                    params: level.params.packed(),
                })?;
            }
        }
        self.sampled = true;
        Ok(())
    }

    /// Computes those of one of the [windows](Self::windows).
    pub(super) fn sample_window(&mut self, levels: &[Level], window: &Range<usize>) -> Result<(), StepError> {
        if self.is_whole() {
            return self.sample(levels);
        }
        for (number, (level, listed)) in levels.iter().zip(self.grid.levels()).enumerate() {
            self.program.launch(kernels::Macroscopic {
                ids: ids_in(&self.grid, &listed.leaves, window),
                src: &self.fields.populations[level.current],
                first: window.start as i32,
                level: number as i32,
                fields: &mut self.fields.macroscopic,
                params: level.params.packed(),
            })?;
        }
        Ok(())
    }

    /// Runs of slots whose macroscopic fields there is room for at a time, in the order of memory: all leaves have theirs in one.
    pub(super) fn windows(&self) -> Vec<Range<usize>> {
        let room = self.room_for_fields();
        let slots = if self.is_whole() { room } else { self.grid.leaf_count() };
        (0..slots).step_by(room.max(1)).map(|first| first..slots.min(first + room)).collect()
    }

    /// Whether there is room for the macroscopic fields of all slots. Else the grid stays as it is, and the leaves of each level have the
    /// slots of the numbers under which they are listed, in the order of the curve.
    pub(super) fn is_whole(&self) -> bool {
        self.room_for_fields() >= self.grid.slots()
    }

    /// Slots whose macroscopic fields there is room for.
    fn room_for_fields(&self) -> usize {
        let of_slot = Layout::fields(self.program.manifest()).slot_len();
        self.fields.macroscopic.len().checked_div(of_slot).unwrap_or(self.grid.slots())
    }

    /// Makes room for the macroscopic fields of all slots; an error where they do not fit.
    pub(super) fn make_whole(&mut self) -> Result<(), StepError> {
        // Parts have it from the beginning, and it takes memory for their own blocks.
        if !self.is_whole() {
            let (device, manifest) = (self.program.device(), self.program.manifest());
            let length = self.grid.slots() * Layout::fields(manifest).slot_len();
            let bytes = length * manifest.real.bytes();
            if device.memory_available().is_some_and(|available| bytes > available) {
                return Err(device.out_of_memory(bytes).into());
            }
            self.fields.macroscopic = device.alloc_reals(manifest.real, length)?;
        }
        Ok(())
    }
}

/// What a part has of a level: all of it, where it has all of the grid.
pub(super) fn own_level(grid: &Grid, owned: Option<&Owned>, level: usize) -> OwnedLevel {
    match owned {
        Some(owned) => owned.levels[level].clone(),
        None => OwnedLevel::all(&grid.levels()[level]),
    }
}

/// The slots of leaves of a level that are in a window.
pub(super) fn ids_in<'a>(grid: &'a Grid, leaves: &Range<usize>, window: &Range<usize>) -> Part<'a, Int> {
    let start = leaves.start.max(window.start);
    grid.forest().every().part(start..leaves.end.min(window.end).max(start))
}
