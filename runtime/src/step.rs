//! A simulation: a method's kernels on a grid, advanced step by step.
//!
//! A step of a level is four phases, for blocks with or without walls and refinement interfaces beside them, and a fifth that does
//! again what those cannot know of: blocks with solids in them. All read one set of
//! post-collision populations and write the other; what enters from other levels they read from the [`inbox`]. Fields are moments of the current set: collision conserves them, so
//! before and after are the same.
//!
//! A step of the grid is one of its coarsest level. Level `l` takes `2^l` of them, in an order in which nothing but the two
//! sets is needed (`lbm_dsl::model::levels` in the compiler has the rule):
//!
//! ```text
//! advance(l):  send to level l + 1, if there is such a level
//!              advance(l + 1)                               its first step in this one
//!              send from level l + 1
//!              stream and collide level l
//!              advance(l + 1)                               its second
//!              exchange the two sets of level l
//! ```
//!
//! On a GPU pairs of steps are recorded once and repeated, which spares small grids the cost of launching.

mod adapt;
mod bodies;
mod carry;
mod error;
mod ghosts;
mod inbox;
mod look;
mod prepare;
mod restore;
mod setup;
mod stream;
mod stress;
mod timing;

use std::ops::RangeInclusive;

use lbm_bundle::{Bundle, Manifest};

pub use adapt::{Adaptations, Adaptivity};
pub use error::StepError;
pub use prepare::Prepared;
pub use setup::{FaceSpec, GridSpec, WallSpec};
pub use timing::{Phase, Timings};

use crate::device::{Buffer, Device, Graph, Real};
use crate::fields::{self, Fields};
use crate::kernels::{self, Program};
use crate::layout::Layout;
use crate::mesh::forest::{Bound, Outcome};
use crate::mesh::{Behind, Block, Cell, Grid};
use crate::snapshot::Snapshot;
use crate::solid::Cutters;
use bodies::Bodies;
use inbox::Inbox;
use setup::Params;
use stream::blocks;

/// Pairs of steps in a recording: enough that launching it costs little per step.
const PAIRS_RECORDED: u64 = 8;

/// Pairs of steps in a recording of a grid that changes, which will not be repeated often.
const PAIRS_OF_A_CHANGING_GRID: u64 = 1;

/// How often a recording must be repeated to be worth its making.
const LEAST_REPEATED: u64 = 4;

/// A level in the course of time.
struct Level {
    /// The method's parameters on it.
    params: Params,
    /// Which of the two sets of populations is current.
    current: usize,
}

/// Steps that can be repeated.
struct Recording {
    graph: Graph,
    /// How many they are, an even number.
    steps: u64,
}

/// Fields of an earlier step, to compare with.
struct Kept {
    fields: Buffer<Real>,
    step: u64,
}

/// What is around the cells: walls behind the faces, and solids.
struct Around {
    faces: [Behind; 6],
    instances: Vec<setup::Instance>,
    cutters: Option<Cutters>,
}

impl Around {
    fn new(manifest: &Manifest, spec: &GridSpec, levels: usize) -> Result<Self, StepError> {
        let (faces, mut instances) = setup::faces(manifest, spec, levels)?;
        let cutters = bodies::cutters(manifest, spec, instances.len());
        instances.extend(bodies::surfaces(manifest, &spec.solids)?);
        Ok(Around { faces, instances, cutters })
    }

    /// Whether a block must stay as it is.
    fn holds(&self, block: Block) -> bool {
        self.cutters.as_ref().is_some_and(|cutters| cutters.holds(block))
    }

    /// What a block may not do. Where a shell wants a level, what is finer may still become that coarse.
    fn bound(&self, block: Block) -> Option<Bound> {
        let shells = || self.cutters.as_ref()?.solids.level_of_shells(block);
        if self.holds(block) {
            Some(Bound::Level)
        } else {
            shells().filter(|level| *level >= block.level).map(|_| Bound::LeastLevel)
        }
    }

    /// The level of a block that wishes one: that of a surface which cuts it, else at least that of shells.
    fn level(&self, block: Block, wished: usize) -> usize {
        let Some(cutters) = &self.cutters else { return wished };
        let shells = || cutters.solids.level_of_shells(block).map_or(wished, |level| wished.max(level));
        cutters.solids.level(block).unwrap_or_else(shells)
    }
}

/// A method on a grid.
pub struct Simulation {
    program: Program,
    grid: Grid,
    walls: setup::Walls,
    cutters: Option<Cutters>,
    bodies: Option<Bodies>,
    fields: Fields,
    inbox: Option<Inbox>,
    kept: Option<Kept>,
    levels: Vec<Level>,
    step: u64,
    recording: Option<Recording>,
    timings: Timings,
    notices: Vec<String>,
    /// What the grid follows, if it changes, how often, and the levels of leaves.
    criterion: Option<adapt::Loaded>,
    every: u64,
    range: RangeInclusive<usize>,
    adaptations: Adaptations,
    /// Whether the last look at the flow has changed nothing.
    settled: bool,
    /// Blocks that have changed since the data were put into order.
    scattered: usize,
}

impl Simulation {
    /// Loads the kernels and allocates the grid. `params` gives each parameter of the method all its components.
    pub fn new(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
    ) -> Result<Self, StepError> {
        Self::refined(device, bundle, spec, params, 1, |_| false)
    }

    /// The same on so many levels, refined as [`Grid::refined`] says; the size of `spec` is that of the coarsest level, and
    /// `params` are its parameters.
    pub fn refined(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
        levels: usize,
        refine: impl Fn(Block) -> bool + Sync,
    ) -> Result<Self, StepError> {
        Prepared::refined(device, bundle, spec, levels, refine)?.simulation(params)
    }

    /// The same on a grid that is refined as [`Prepared::adaptive`] says, and may change with the flow.
    pub fn adaptive(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
        adaptivity: &Adaptivity,
        refined: Option<&(dyn Fn(Block) -> bool + Sync)>,
    ) -> Result<Self, StepError> {
        Prepared::adaptive(device, bundle, spec, adaptivity, refined)?.simulation(params)
    }

    /// Sets the fields of every cell and starts at step 0. `value(cell, out)` writes the components of all fields, in the
    /// order of the manifest (`rho, ux, uy, uz`), for the cell with its centre at `cell + 1/2` of its level.
    pub fn init(&mut self, value: impl Fn([usize; 3], &mut [f64]) + Sync) -> Result<(), StepError> {
        self.init_cells(|cell, out| value(cell.at, out))
    }

    /// The same for a grid of several levels.
    pub fn init_cells(&mut self, value: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        self.fill_cells(&value)?;
        let mut outcome = Outcome::default();
        for _ in adapt::first_looks(&self.range) {
            outcome = self.adapt()?;
            if !outcome.changed() {
                break;
            }
            self.fill_cells(&value)?;
        }
        if outcome.changed() {
            self.notices.push(adapt::unsettled(&self.range, outcome));
        }
        self.step = 0;
        Ok(())
    }

    fn fill_cells(&mut self, value: &(impl Fn(Cell, &mut [f64]) + Sync)) -> Result<(), StepError> {
        let layout = Layout::fields(self.manifest());
        // Solid cells are at rest and stay as they are.
        let rest: Vec<f64> =
            fields::component_names(self.manifest()).iter().map(|name| f64::from(name == "rho")).collect();
        let cutters = self.cutters.as_ref();
        let value = |cell: Cell, out: &mut [f64]| match cutters.and_then(|cutters| cutters.solids.at(cell.centre())) {
            Some(_) => out.copy_from_slice(&rest),
            None => value(cell, out),
        };
        fields::scatter(&mut self.fields.macroscopic, layout, &self.grid, value)?;
        for (level, listed) in self.levels.iter_mut().zip(self.grid.levels()) {
            level.current = 0;
            self.program.launch(kernels::Init {
                ids: self.grid.tables().leaves.part(listed.leaves.clone()),
                fields: &self.fields.macroscopic,
                dst: &mut self.fields.populations[0],
                params: level.params.packed(),
            })?;
        }
        self.hold_all()
    }

    /// Changes the current populations cell by cell: `change(cell, populations)`, whole ones.
    pub fn update_cells(&mut self, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        let layout = Layout::populations(self.program.manifest());
        let rest = fields::rest(self.program.manifest());
        let [first, second] = &mut self.fields.populations;
        for (at, set) in [first, second].into_iter().enumerate() {
            let current: Vec<bool> = self.levels.iter().map(|level| level.current == at).collect();
            if current.contains(&true) {
                fields::update(set, layout, &self.grid, |cell, populations| {
                    if current[cell.level] {
                        populations.iter_mut().zip(&rest).for_each(|(population, rest)| *population += rest);
                        change(cell, populations);
                        populations.iter_mut().zip(&rest).for_each(|(population, rest)| *population -= rest);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// The current populations of every cell: `each(cell, populations)`, whole ones.
    pub fn visit_populations(&self, mut each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        let layout = Layout::populations(self.manifest());
        let rest = fields::rest(self.manifest());
        let mut whole = vec![0.0; rest.len()];
        for (at, set) in self.fields.populations.iter().enumerate() {
            let current: Vec<bool> = self.levels.iter().map(|level| level.current == at).collect();
            if current.contains(&true) {
                fields::visit(set, layout, &self.grid, |cell, populations| {
                    if current[cell.level] {
                        let parts = rest.iter().zip(populations);
                        whole.iter_mut().zip(parts).for_each(|(whole, (rest, population))| *whole = rest + population);
                        each(cell, &whole);
                    }
                })?;
            }
        }
        Ok(())
    }

    /// Macroscopic fields of every cell of the current step: `each(cell, values)`, in the order of the manifest.
    pub fn visit_cells(&mut self, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        self.sample()?;
        Ok(fields::visit(&self.fields.macroscopic, Layout::fields(self.manifest()), &self.grid, each)?)
    }

    /// Sets the fields from a snapshot of the same domain, whatever its levels, and starts at its step.
    pub fn init_fields(&mut self, snapshot: &Snapshot) -> Result<(), StepError> {
        let names = fields::component_names(self.manifest());
        if snapshot.size() != self.grid.size() {
            return Err(StepError::SnapshotSize { found: snapshot.size(), wanted: self.grid.size() });
        }
        let data = names
            .iter()
            .map(|name| {
                let found = snapshot.get(name);
                found.ok_or_else(|| StepError::SnapshotComponent { name: name.clone(), known: names.join(", ") })
            })
            .collect::<Result<Vec<_>, _>>()?;
        self.init_cells(|cell, out| {
            for (out, data) in out.iter_mut().zip(&data) {
                [*out] = snapshot.read(cell, &|at| [data[at]]);
            }
        })?;
        self.step = snapshot.step;
        Ok(())
    }

    /// Advances by `steps` steps and waits for them.
    pub fn run(&mut self, steps: u64) -> Result<(), StepError> {
        let device = self.program.device().clone();
        device.scope(|| self.run_inside(&device, steps))
    }

    fn run_inside(&mut self, device: &Device, steps: u64) -> Result<(), StepError> {
        let mut left = steps;
        let mut sampled = Timings::SAMPLED_STEPS;
        while left > 0 {
            let until_change = if self.every > 0 { self.every - self.step % self.every } else { left };
            let stretch = left.min(until_change);
            let start = device.mark()?;
            self.run_stretch(device, stretch, &mut sampled)?;
            let updates = stretch * self.grid.updates() as u64;
            let end = device.mark()?;
            if self.every > 0 && stretch == until_change {
                self.adapt()?;
            }
            let done = device.mark()?;
            self.timings.ran(stretch, updates, device.seconds(&start, &done)?, device.seconds(&end, &done)?);
            left -= stretch;
        }
        self.timings.settle(device)?;
        Ok(())
    }

    /// Steps between which the grid stays.
    fn run_stretch(&mut self, device: &Device, steps: u64, sampled: &mut u64) -> Result<(), StepError> {
        let mut left = steps;
        // The phases of these are timed one by one.
        while left > 0 && (self.levels[0].current == 1 || *sampled > 0) {
            self.advance_timed(device)?;
            *sampled = sampled.saturating_sub(1);
            left -= 1;
        }
        let pairs = if self.settled { PAIRS_RECORDED } else { PAIRS_OF_A_CHANGING_GRID };
        let least = if self.settled { 1 } else { LEAST_REPEATED };
        if left >= 2 * pairs * least && self.recording.is_none() {
            self.recording = self.record(device, pairs)?.map(|graph| Recording { graph, steps: 2 * pairs });
        }
        if let Some(recording) = &self.recording {
            while left >= recording.steps {
                recording.graph.launch()?;
                self.step += recording.steps;
                left -= recording.steps;
            }
        }
        for _ in 0..left {
            self.advance()?;
        }
        Ok(())
    }

    /// One step.
    fn advance(&mut self) -> Result<(), StepError> {
        self.advance_level(0, false, None)?;
        self.step += 1;
        Ok(())
    }

    /// One step, with marks around its phases.
    fn advance_timed(&mut self, device: &Device) -> Result<(), StepError> {
        self.advance_level(0, false, Some(device))?;
        self.timings.sampled();
        self.step += 1;
        Ok(())
    }

    /// One step of a level and all finer ones; `start`: the first of the two in a step of the coarser level.
    fn advance_level(&mut self, level: usize, start: bool, timed: Option<&Device>) -> Result<(), StepError> {
        let finer = level + 1 < self.grid.levels().len();
        if finer {
            self.phases(&Phase::TO_FINE, level, start, timed)?;
            self.advance_level(level + 1, true, timed)?;
            self.phases(&Phase::TO_COARSE, level, start, timed)?;
        }
        self.phases(&Phase::STREAMING, level, start, timed)?;
        for phase in Phase::STREAMING_AGAIN {
            self.phases(&[phase], level, start, timed)?;
        }
        self.exchange_ghosts(level, true, start, timed)?;
        if finer {
            self.advance_level(level + 1, false, timed)?;
        }
        self.exchange_ghosts(level, false, start, timed)?;
        self.levels[level].current = 1 - self.levels[level].current;
        Ok(())
    }

    /// Phases of a step of a level that do not depend on each other.
    fn phases(&mut self, phases: &[Phase], level: usize, start: bool, timed: Option<&Device>) -> Result<(), StepError> {
        let device = self.program.device().clone();
        let parts = (&self.grid, self.bodies.as_ref(), self.inbox.as_ref());
        let with_blocks: Vec<Phase> =
            phases.iter().copied().filter(|phase| !blocks(parts, *phase, level).is_empty()).collect();
        device.side_by_side(&with_blocks, |phase| {
            let from = timed.map(Device::mark).transpose()?;
            match phase {
                Phase::ToFine | Phase::ToFineWalls | Phase::ToCoarse | Phase::ToCoarseWalls => {
                    self.exchange_inbox(*phase, level, start)?;
                }
                _ => self.stream_collide(*phase, level, start)?,
            }
            if let (Some(from), Some(device)) = (from, timed) {
                self.timings.sample(*phase, from, device.mark()?);
            }
            Ok(())
        })
    }

    /// Pairs of steps as one recording; the current set of populations of the coarsest level must be the first. Finer levels
    /// take an even number of steps in each.
    fn record(&mut self, device: &Device, pairs: u64) -> Result<Option<Graph>, StepError> {
        let (step, current) = (self.step, self.levels.iter().map(|level| level.current).collect::<Vec<_>>());
        let mut failed = None;
        let recorded = device.record(|| {
            for _ in 0..2 * pairs {
                if let Err(error) = self.advance() {
                    failed = Some(error);
                    break;
                }
            }
            Ok(())
        });
        self.step = step;
        self.levels.iter_mut().zip(current).for_each(|(level, current)| level.current = current);
        match failed {
            Some(error) => Err(error),
            None => Ok(recorded?),
        }
    }

    /// Computes the macroscopic fields of the current step.
    fn sample(&mut self) -> Result<(), StepError> {
        sample(&self.program, &mut self.fields, &self.grid, &self.levels)
    }

    /// Macroscopic fields of the current step.
    pub fn snapshot(&mut self) -> Result<Snapshot, StepError> {
        self.sample()?;
        let (domain, leaves) = (self.grid.domain(), self.grid.leaves()?);
        let mut snapshot = fields::gather(&self.fields.macroscopic, self.manifest(), domain, leaves, self.step)?;
        if let Some(cutters) = &self.cutters {
            let side = self.manifest().block.map(|side| side as usize);
            snapshot.solid = fields::solid_cells(&snapshot, side, leaves, &cutters.solids);
        }
        Ok(snapshot)
    }

    /// Changes a parameter of the method from the next step on; finer levels follow.
    pub fn set_param(&mut self, name: &str, values: &[f64]) -> Result<(), StepError> {
        let manifest = self.program.manifest();
        let mut coarsest = self.levels[0].params.clone();
        coarsest.set(manifest, name, values)?;
        let params = coarsest.of_levels(manifest, self.levels.len())?;
        self.levels.iter_mut().zip(params).for_each(|(level, params)| level.params = params);
        self.recording = None;
        Ok(())
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.step
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        self.program.manifest()
    }

    /// What the user should know about loading, a sentence each.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Time spent so far.
    pub fn timings(&self) -> &Timings {
        &self.timings
    }

    /// Million cell updates per second, over all of [`run`](Self::run) so far; 0 before.
    pub fn mlups(&self) -> f64 {
        self.timings.updates_per_second() / 1e6
    }

    /// Share of a copy bandwidth (bytes per second) that `mlups` million cell updates per second are, counting every
    /// population read and written once.
    pub fn share_of_copy(&self, mlups: f64, bandwidth: f64) -> f64 {
        let bytes = 2 * self.manifest().q() * self.manifest().real.bytes();
        mlups * 1e6 * bytes as f64 / bandwidth
    }
}

/// Computes the macroscopic fields of the current sets of populations.
fn sample(program: &Program, fields: &mut Fields, grid: &Grid, levels: &[Level]) -> Result<(), StepError> {
    for (level, listed) in levels.iter().zip(grid.levels()) {
        let tables = grid.tables();
        let held = if grid.forest().holds() { listed.held.clone() } else { 0..0 };
        for ids in [tables.leaves.part(listed.leaves.clone()), tables.held.part(held)] {
            program.launch(kernels::Macroscopic {
                ids,
                src: &fields.populations[level.current],
                fields: &mut fields.macroscopic,
                params: level.params.packed(),
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
