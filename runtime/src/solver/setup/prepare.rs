//! A grid that is set up and has no data yet, so that its memory is known before it is allocated.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use lbm_bundle::Bundle;

use crate::device::{Device, Devices};
use crate::geometry::Block;
use crate::geometry::solid::{Cutters, Motion};
use crate::kernels::{Criterion, Program};
use crate::mesh::forest::{Bound, Outcome};
use crate::mesh::{self, Grid, MOST_SUBDOMAINS, Partition};
use crate::processes::Processes;
use crate::solver::arrays::fields::Sets;
use crate::solver::arrays::memory::{Copies, Memory, Shared};
use crate::solver::arrays::params::{LevelState, Params};
use crate::solver::arrays::statistics;
use crate::solver::decomposition::Subdomains;
use crate::solver::error::StepError;
use crate::solver::plan::task::PopulationSet;
use crate::solver::remesh::{self, Adaptations, Adapter};
use crate::solver::setup::surroundings::Surroundings;
use crate::solver::setup::{one_set, refine, room};
use crate::solver::simulation::{Monitor, Simulation};
use crate::solver::solids::{moving, slides};
use crate::solver::spec::{self, Adaptivity, Corners, GridSpec};
use crate::solver::step::Stepper;
use crate::solver::subdomain::{Allocators, Common, Subdomain};

/// A grid with its kernels, before it has data.
pub struct Prepared<'a> {
    device: Device,
    program: Program,
    /// One program for each subdomain of this process, if the flow is divided.
    programs: Vec<Program>,
    processes: Processes,
    grid: Grid,
    spec: &'a GridSpec,
    surroundings: Surroundings,
    /// The number of levels that there may be.
    levels: usize,
    /// The step at which it begins.
    step: u64,
    /// The criterion that the grid will follow, the steps between adaptations, and the levels that leaves may have.
    follows: Option<(Criterion, u64, RangeInclusive<usize>)>,
    /// Boxes whose blocks are pinned: lower and upper corners.
    pinned: Vec<Corners>,
    adaptations: Adaptations,
    /// How GPUs share the memory of blocks, if the flow is divided.
    shared: Shared,
    notices: Vec<String>,
    sets: Sets,
}

impl<'a> Prepared<'a> {
    /// On `levels` levels, refined as in [`Grid::refined`]; the size of `spec` is that of the coarsest level.
    pub fn refined(
        device: &Device,
        bundle: &Bundle,
        spec: &'a GridSpec,
        levels: usize,
        refine: impl Fn(Block) -> bool + Sync,
    ) -> Result<Self, StepError> {
        let mut surroundings = Surroundings::new(&bundle.manifest, spec, levels, 0, None)?;
        let mut grid = loop {
            let finer =
                |block: Block| surroundings.level(block, block.level + usize::from(refine(block))) > block.level;
            let grid = Grid::refined(device, &bundle.manifest, spec.size, surroundings.faces, levels, finer)?;
            if !surroundings.raise_padding(grid.leaves()?) {
                break grid;
            }
        };
        grid.stay()?;
        let program = Program::load(device, bundle)?;
        let adaptations = Adaptations::default();
        let (device, programs) = (device.clone(), vec![]);
        let (step, follows, pinned, shared, notices) = (0, None, vec![], Shared::Evenly, vec![]);
        Ok(Prepared {
            device,
            program,
            programs,
            processes: Processes::default(),
            grid,
            spec,
            surroundings,
            levels,
            step,
            follows,
            pinned,
            adaptations,
            shared,
            notices,
            sets: Sets::Two,
        })
    }

    /// Refined as `adaptivity` says; the grid may be adapted to the flow and to moving solids. The kernels must have a coupling between
    /// levels. If `refined` is given, it selects the blocks to refine, with the step of an earlier run from which they come, and replaces
    /// the start criterion of `adaptivity`.
    pub fn adaptive(
        device: &Device,
        bundle: &Bundle,
        spec: &'a GridSpec,
        adaptivity: &Adaptivity,
        refined: Option<(&(dyn Fn(Block) -> bool + Sync), u64)>,
    ) -> Result<Self, StepError> {
        let manifest = &bundle.manifest;
        let levels = adaptivity.levels.end() + 1;
        let step = refined.map_or(0, |(_, step)| step);
        let every = adaptivity.during.as_ref().and_then(|(every, _)| remesh::interval(*every));
        let mut surroundings = Surroundings::new(manifest, spec, levels, step, every)?;
        let program = Program::load(device, bundle)?;
        let (room, shared) = room::room(device, manifest, spec, adaptivity)?;
        let mut last = Outcome::default();
        let (mut grid, refused) =
            Grid::with_room(device, manifest, spec.size, surroundings.faces, room, |forest| match refined {
                Some((refined, _)) => mesh::refine_all(forest, levels, &refined),
                None => {
                    last = refine::set_up(device, &program, forest, adaptivity, &mut surroundings)?;
                    Ok(last.refused())
                }
            })?;
        while surroundings.raise_padding(grid.leaves()?) {}
        let unsettled = last.changed() && refused == 0;
        if surroundings.cutters.is_some() || !adaptivity.pinned.is_empty() {
            let cells = manifest.block.map(|side| side as usize);
            let pins = |block| spec::pins(&adaptivity.pinned, block, cells).then_some(Bound::Level);
            grid.forest_mut().bind(|block| pins(block).or_else(|| surroundings.bound(block)))?;
        }
        if adaptivity.during.is_none() {
            grid.stay()?;
        }
        let follows = adaptivity.during.clone().map(|(every, criterion)| (criterion, every, adaptivity.levels.clone()));
        let adaptations = Adaptations {
            room: room.most,
            refusals: u64::from(refused > 0),
            most_refused: refused,
            ..Adaptations::default()
        };
        let unsettled = unsettled.then(|| remesh::unsettled(&adaptivity.levels, last));
        let notices = adaptivity.start.notices().iter().cloned().chain(unsettled).collect();
        let (device, programs, pinned) = (device.clone(), vec![], adaptivity.pinned.clone());
        Ok(Prepared {
            device,
            program,
            programs,
            processes: Processes::default(),
            grid,
            spec,
            surroundings,
            levels,
            step,
            follows,
            pinned,
            adaptations,
            shared,
            notices,
            sets: Sets::Two,
        })
    }

    /// The same divided into subdomains, one on each of these devices; the kernels are loaded there. Refuses flows with features that
    /// subdomains do not support yet, and devices that would not compute the same bits. The first device must be the one on which this
    /// was prepared.
    pub fn in_subdomains(self, devices: &[Device], bundle: &Bundle) -> Result<Self, StepError> {
        self.in_processes(&Processes::default(), devices, bundle)
    }

    /// The same with one set of populations, which steps replace in place. The kernels must be made for that. Refuses features whose kernels read
    /// what other cells replace.
    pub fn in_one_set(self) -> Result<Self, StepError> {
        self.fits_one_set()?;
        Ok(Prepared { sets: Sets::One, ..self })
    }

    /// Why the flow cannot have one set of populations, if it cannot.
    pub fn fits_one_set(&self) -> Result<(), StepError> {
        let is_divided = self.programs.len() * self.processes.count() > 1;
        let of_grid = [(self.follows.is_some(), "grids that follow the flow"), (is_divided, "several devices")];
        match of_grid.into_iter().find(|(is, _)| *is) {
            Some((_, what)) => Err(StepError::OneSet { what: what.into() }),
            None => one_set::check(self.program.manifest(), self.spec, &self.surroundings.instances),
        }
    }

    /// The same with another sentence for the user.
    pub fn noting(mut self, notice: String) -> Self {
        self.notices.push(notice);
        self
    }

    /// The same in several processes with the same number of subdomains each, one on each of these devices of this process. All processes
    /// must have prepared the same grid: [`Adaptivity::memory`] must be given if it is refined.
    pub fn in_processes(
        mut self,
        processes: &Processes,
        devices: &[Device],
        bundle: &Bundle,
    ) -> Result<Self, StepError> {
        let subdomains = devices.len() * processes.count();
        if subdomains < 2 {
            return Ok(self);
        }
        let toolchain = devices[0].toolchain()?;
        for device in devices {
            if device.toolchain()? != toolchain {
                return Err(StepError::UnlikeDevices { first: devices[0].describe(), other: device.describe() });
            }
        }
        let blocks = self.grid.leaf_count();
        if subdomains > blocks.min(MOST_SUBDOMAINS) {
            return Err(StepError::ManySubdomains { subdomains, blocks });
        }
        // On a GPU each array chooses its kind of memory itself.
        let sparse = |device: &Device| if device.ordinal().is_none() { device.sparse() } else { device.clone() };
        let load = |device: &Device| Program::load(&sparse(device), bundle);
        self.programs = devices.iter().map(load).collect::<Result<_, _>>()?;
        self.processes = processes.clone();
        self.notices.extend(Devices::new(devices).connect()?);
        if self.shared == Shared::WithSpare {
            self.notices.push(
                "one GPU has not room for all blocks that the grid could have: the GPUs share their memory, and changes of the grid take \
                 longer"
                    .into(),
            );
        }
        Ok(self)
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The refinements refused for lack of room, and the number of blocks that there is room for.
    pub fn adaptations(&self) -> Adaptations {
        self.adaptations
    }

    /// What the user should know about the grid and about loading the kernels, a sentence each.
    pub fn notices(&self) -> Vec<String> {
        let mut notices: Vec<String> = vec![];
        let of_formulas = self.spec.prescribed.iter().flat_map(|prescribed| prescribed.notices());
        let of_statistics = self.spec.statistics.iter().flat_map(|statistics| statistics.notices());
        let kernels = self.program.notices().iter().chain(of_formulas).chain(of_statistics);
        for notice in kernels.chain(self.grid.notices()).chain(&self.notices) {
            if !notices.contains(notice) {
                notices.push(notice.clone());
            }
        }
        notices
    }

    /// The memory that the simulation will take. `whole`: the fields of all cells are needed at a time (other features may require that
    /// too); `reference`: fields of an earlier step are stored; `copies`: copies for output.
    pub fn memory(&self, whole: bool, reference: bool, copies: Copies) -> Result<Memory, StepError> {
        let (cut, places) = match &self.surroundings.cutters {
            None => (0, 0),
            Some(cutters) => {
                let blocks: Vec<Block> = self.grid.leaves()?.iter().map(|leaf| leaf.block).collect();
                let places = self.places(cutters, &blocks)?;
                // Row 0 is that of blocks that are completely solid.
                (1 + cutters.rows_at_most(&blocks) + places, places)
            }
        };
        let subdomains = self.programs.len().max(1) * self.processes.count();
        let whole = whole || self.follows.is_some() || copies.fields > 0 || subdomains > 1;
        let (manifest, blocks) = (self.program.manifest(), self.grid.blocks(cut));
        let [accumulated, most_moved] = statistics::bytes_of_slot(manifest, self.spec.statistics.as_ref());
        let moved = if self.follows.is_some() { most_moved } else { 0 };
        let statistics = blocks.slots.saturating_mul(accumulated + moved);
        let copied = copies.states.saturating_mul(blocks.slots.saturating_mul(accumulated));
        let memory = Memory::new(manifest, blocks, whole, reference, copies).with_sets(self.sets);
        let memory = memory.with_statistics(statistics, copied);
        let turns = self.spec.motions.iter().flatten().any(Motion::turns);
        let cutters = self.surroundings.cutters.as_ref();
        let scans = cutters.is_some_and(|cutters| cutters.solids.scanned().next().is_some());
        let of_places = places.saturating_mul(moving::bytes_of_place(manifest, turns, scans));
        // Solids that move have two sets of links.
        let memory = if places > 0 { memory.with_solids(memory.solids.saturating_add(of_places)) } else { memory };
        let of_slides = if self.spec.laws.iter().any(Option::is_some) { slides::bytes_of_row(manifest) } else { 0 };
        let memory = memory.with_solids(cut.saturating_mul(of_slides));
        Ok(memory.in_subdomains(subdomains, self.shared))
    }

    /// The number of blocks that moving solids may touch before the grid changes.
    fn places(&self, cutters: &Cutters, blocks: &[Block]) -> Result<usize, StepError> {
        if self.spec.motions.iter().all(Option::is_none) {
            return Ok(0);
        }
        let mut solids = cutters.solids.clone();
        if self.levels == 1 {
            solids.reserve_from(self.step as f64).ok_or(StepError::LongWay)?;
        }
        let known: HashSet<&Block> = blocks.iter().collect();
        let swept = (0..self.levels).flat_map(|level| solids.swept(level)).map(|(block, _)| block);
        Ok(swept.filter(|block| known.contains(block)).collect::<HashSet<Block>>().len())
    }

    /// Refuses what [`Self::simulation`] refuses, before memory is allocated: parameters, on finer levels too, and cut links beside
    /// refinement interfaces, for moving solids at their positions in the first step.
    pub fn check(&self, params: &[(String, Vec<f64>)]) -> Result<(), StepError> {
        let manifest = self.program.manifest();
        Params::new(manifest, params)?.of_levels(manifest, self.levels)?;
        let Some(cutters) = &self.surroundings.cutters else { return Ok(()) };
        let leaves: Vec<Block> = self.grid.leaves()?.iter().map(|leaf| leaf.block).collect();
        cutters.check(&leaves, &manifest.directions)?;
        let (mut cutters, known) = (cutters.clone(), leaves.into_iter().collect::<HashSet<Block>>());
        for level in 0..self.levels {
            cutters.solids.set_time(level, self.step as f64);
            let touched = cutters.solids.touched(level).into_iter().filter(|block| known.contains(block)).collect();
            cutters.cut_moved(touched, |block| known.contains(&block), &manifest.directions)?;
        }
        Ok(())
    }

    /// The simulation, with memory for its data. `params` gives each parameter of the method with all its components, on the coarsest
    /// level.
    pub fn simulation(self, params: &[(String, Vec<f64>)]) -> Result<Simulation, StepError> {
        let mut notices = self.notices();
        let Prepared {
            device,
            program,
            programs,
            processes,
            grid,
            spec,
            surroundings,
            levels,
            step,
            follows,
            pinned,
            adaptations,
            shared,
            sets,
            ..
        } = self;
        let params = Params::new(program.manifest(), params)?.of_levels(program.manifest(), levels)?;
        let (criterion, every, range) = match follows {
            None => (None, None, 0..=0),
            Some((criterion, every, range)) => (Some(criterion), Some(every).filter(|every| *every > 0), range),
        };
        let Surroundings { instances, items, cutters, .. } = surroundings;
        let common = Common { spec, levels, sets, instances, items, cutters, criterion, pinned };
        let mut subdomains = if programs.is_empty() {
            let allocators = Allocators { of_blocks: device.clone(), of_rows: device.clone() };
            let mut subdomain = Subdomain::new(allocators, program, grid, None, common)?;
            subdomain.make_inbox(None)?;
            Subdomains::one(subdomain)
        } else {
            in_subdomains(programs, processes, shared, &grid, &common)?
        };
        subdomains.iter_mut().try_for_each(|subdomain| subdomain.place_solids(levels, step as f64))?;
        notices.extend(subdomains.why_by_host().map(|reason| {
            format!("values go through the host between GPUs of several processes, which is slow, and steps are not recorded: {reason}")
        }));
        Ok(Simulation {
            subdomains,
            stepper: Stepper {
                levels: params.into_iter().map(|params| LevelState { params, current: PopulationSet::First }).collect(),
                step: 0,
                courses: None,
            },
            adapter: Adapter::new(every, range, adaptations),
            monitor: Monitor { notices, ..Monitor::default() },
        })
    }
}

/// Pages per subdomain in an array of blocks on an adaptive grid: a page of blocks beside those of a subdomain is then an eighth as wide
/// as the subdomain (512 = 8^3).
const PAGES_OF_BLOCKS: usize = 512;

/// The same for rows of an inbox, which are in order and move to larger arrays when there are more.
const PAGES_OF_ROWS: usize = 16;

/// A flow in one subdomain per program of all processes, each on its own device.
fn in_subdomains(
    programs: Vec<Program>,
    processes: Processes,
    shared: Shared,
    grid: &Grid,
    common: &Common<'_>,
) -> Result<Subdomains, StepError> {
    let first = processes.number() * programs.len();
    let partition = Partition::new(grid, programs.len() * processes.count())?;
    let (mut subdomains, count) = (vec![], partition.subdomains().len());
    for (program, owned) in programs.into_iter().zip(&partition.subdomains()[first..]) {
        let (device, owned) = (program.device().clone(), owned.clone());
        let grid = grid.on(&device)?;
        let takes = |pages: usize| match shared {
            Shared::Evenly => device.sparse(),
            Shared::WithSpare => device.sparse_for_now(pages * count),
            Shared::No => device.clone(),
        };
        let allocators = Allocators { of_blocks: takes(PAGES_OF_BLOCKS), of_rows: takes(PAGES_OF_ROWS) };
        subdomains.push(Subdomain::new(allocators, program, grid, Some(owned), common.clone())?);
    }
    Subdomains::several(subdomains, partition, processes)
}
