//! A subdomain: the part of a simulation on one device.
//!
//! It has all that lies on the device: kernels, blocks, populations, the tables that describe the neighbourhood of blocks, and recorded
//! steps. The number of steps, the parameters of each level and the interval of adaptations are the same on all devices. They belong to the
//! [`Simulation`](crate::solver::simulation::Simulation), which controls the subdomains.

use std::collections::HashSet;
use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use crate::device::{Buffer, Device, DeviceError, Graph, Int, Part, Real};
use crate::geometry::Block;
use crate::kernels::layout::{CellId, Layout};
use crate::kernels::{self, Criterion, KernelError, Program};
use crate::mesh::forest::Leaf;
use crate::mesh::{Grid, Owned, OwnedLevel};
use crate::solver::arrays::fields::Fields;
use crate::solver::arrays::pages::Arrays;
use crate::solver::arrays::params::Level;
use crate::solver::arrays::places::Places;
use crate::solver::arrays::prescribed::Prescribed;
use crate::solver::arrays::statistics::Statistics;
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::halo::edges::Edges;
use crate::solver::inbox::Inbox;
use crate::solver::plan::phase::Phase;
use crate::solver::solids::bodies::Bodies;
use crate::solver::spec::Corners;

impl Subdomain {
    /// The blocks whose cells already have their place values, so that [`Self::give_places`] can skip them; `None` if the method has no
    /// place values.
    pub(crate) fn placed(&self) -> Result<Option<HashSet<Block>>, DeviceError> {
        let of_leaves = |leaves: &[Leaf]| leaves.iter().map(|leaf| leaf.block).collect();
        self.places.as_ref().map(|_| self.grid.leaves().map(of_leaves)).transpose()
    }

    /// Writes the place values of the cells of some leaves, into the set of populations that is current on their level.
    pub(crate) fn give_places(&mut self, current: &[usize], to: impl Fn(&Leaf) -> bool) -> Result<(), DeviceError> {
        let Subdomain { program, grid, fields, places: Some(places), .. } = self else { return Ok(()) };
        let layout = Layout::populations(program.manifest());
        let cells: Vec<CellId> = layout.all_cells().collect();
        let new: Vec<&Leaf> = grid.leaves()?.iter().filter(|leaf| to(leaf)).collect();
        for some in new.chunks(crate::solver::arrays::cells::SLOTS_AT_ONCE) {
            let of = |leaf: &&Leaf| places.of(layout, grid.origin(leaf.block), &cells);
            let values: Vec<Vec<Vec<f64>>> = some.par_iter().map(of).collect();
            for (leaf, values) in some.iter().zip(values) {
                let to = &mut fields.populations[current[leaf.block.level]];
                for (component, values) in places.components.iter().zip(values) {
                    to.write_reals(layout.offset(leaf.slot, *component, CellId(0)), &values)?;
                }
            }
        }
        Ok(())
    }
}

/// The blocks of a grid on one device, with all data that their kernels read and write.
pub(crate) struct Subdomain {
    pub(crate) program: Program,
    /// The same device as the inbox allocates on it; it may be [sparse](Device::sparse).
    pub(crate) of_rows: Device,
    pub(crate) grid: Grid,
    /// What the subdomain owns of the grid; `None` if it owns all of it.
    pub(crate) owned: Option<Owned>,
    /// Its edge blocks and interior blocks, as phases stream them, if the flow has several subdomains.
    pub(crate) edges: Option<Edges>,
    pub(crate) walls: Walls,
    pub(crate) prescribed: Option<Prescribed>,
    pub(crate) bodies: Option<Bodies>,
    pub(crate) fields: Fields,
    pub(crate) inbox: Option<Inbox>,
    /// Whether the macroscopic fields belong to the current populations.
    pub(crate) sampled: bool,
    /// Reference fields: those of an earlier step, to compare with.
    pub(crate) reference: Option<Buffer<Real>>,
    /// Statistics over time.
    pub(crate) statistics: Option<Statistics>,
    /// Constants of cells for parameters that vary in space, if known.
    pub(crate) places: Option<Places>,
    /// The refinement criterion, if the grid is adapted.
    pub(crate) criterion: Option<Criterion>,
    /// Boxes whose blocks are pinned, in cells of the coarsest level: lower and upper corners.
    pub(crate) frozen: Vec<Corners>,
    pub(crate) recording: Option<Recording>,
}

/// Recorded steps, which can be replayed.
pub(crate) struct Recording {
    pub(crate) graph: Graph,
    /// Number of steps, which is even.
    pub(crate) steps: u64,
}

impl Subdomain {
    /// Sets the clock of the time-dependent formulas to the number of completed steps of level 0.
    pub(crate) fn set_clock(&mut self, step: u64) -> Result<(), StepError> {
        self.prescribed.as_mut().map_or(Ok(()), |prescribed| Ok(prescribed.set_clock(step)?))
    }

    /// Evaluates the time-dependent parameters of walls for a step of a level; `half`: the time from the last tick to the middle of the
    /// step, in half steps of the level.
    pub(crate) fn prescribe(&mut self, level: usize, half: i32) -> Result<(), KernelError> {
        let Subdomain { program, prescribed: Some(prescribed), walls, .. } = self else { return Ok(()) };
        prescribed.compute(program.manifest(), (level, half), &mut walls.values)
    }

    /// The lists of its blocks on a level.
    pub(crate) fn own_level(&self, level: usize) -> OwnedLevel {
        own_level(&self.grid, self.owned.as_ref(), level)
    }

    /// Its leaves, level by level, each level along the space-filling curve.
    pub(crate) fn own_leaves(&self) -> Result<Arc<[Leaf]>, DeviceError> {
        match &self.owned {
            Some(owned) => owned.leaves(&self.grid),
            None => self.grid.shared_leaves(),
        }
    }

    /// The ranges of its leaves in the lists of all levels, merged into as few runs as possible.
    pub(crate) fn own_runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = vec![];
        for run in (0..self.grid.levels().len()).flat_map(|level| self.own_level(level).runs()) {
            match runs.last_mut().filter(|last| last.end == run.start) {
                Some(last) => last.end = run.end,
                None => runs.push(run),
            }
        }
        runs
    }

    /// The phase in which all blocks of a level stream in one launch, if there is one.
    pub(crate) fn together(&self, level: usize) -> Option<Phase> {
        self.inbox.as_ref().and_then(|inbox| inbox.together(level))
    }

    /// Computes the macroscopic fields of the current populations, unless they are up to date. Makes room for the fields of all slots.
    pub(crate) fn sample(&mut self, levels: &[Level]) -> Result<(), StepError> {
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

    /// Computes the fields in one of the [windows](Self::windows).
    pub(crate) fn sample_window(&mut self, levels: &[Level], window: &Range<usize>) -> Result<(), StepError> {
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

    /// Ranges of slots whose macroscopic fields fit in memory at the same time, in the order of memory. One window covers all leaves if the
    /// fields of all slots fit.
    pub(crate) fn windows(&self) -> Vec<Range<usize>> {
        let room = self.room_for_fields();
        let slots = if self.is_whole() { room } else { self.grid.leaf_count() };
        (0..slots).step_by(room.max(1)).map(|first| first..slots.min(first + room)).collect()
    }

    /// Whether there is memory for the macroscopic fields of all slots. Otherwise the grid is fixed, and the slot of each leaf is its
    /// position in the list of leaves: level by level, along the space-filling curve.
    pub(crate) fn is_whole(&self) -> bool {
        self.room_for_fields() >= self.grid.slots()
    }

    /// Number of slots whose macroscopic fields fit in their array.
    fn room_for_fields(&self) -> usize {
        let of_slot = Layout::fields(self.program.manifest()).slot_len();
        self.fields.macroscopic.len().checked_div(of_slot).unwrap_or(self.grid.slots())
    }

    /// Makes room for the macroscopic fields of all slots; an error if they do not fit.
    pub(crate) fn make_whole(&mut self) -> Result<(), StepError> {
        // Subdomains of a divided flow have room for them from the start, with memory for their own blocks.
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

/// What a subdomain owns of a level; all of the level if it owns the whole grid.
pub(crate) fn own_level(grid: &Grid, owned: Option<&Owned>, level: usize) -> OwnedLevel {
    match owned {
        Some(owned) => owned.levels[level].clone(),
        None => OwnedLevel::all(&grid.levels()[level]),
    }
}

/// The slots of those leaves of a level that lie in a window.
pub(crate) fn ids_in<'a>(grid: &'a Grid, leaves: &Range<usize>, window: &Range<usize>) -> Part<'a, Int> {
    let start = leaves.start.max(window.start);
    grid.forest().every().part(start..leaves.end.min(window.end).max(start))
}

impl Subdomain {
    /// Whether any solid moves.
    pub(crate) fn moves(&self) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.moving.is_some())
    }
}

impl Subdomain {
    /// Whether memory of its arrays is mapped and released while the grid changes.
    pub(crate) fn is_by_page(&self) -> bool {
        self.fields.populations[0].array().is_by_page()
    }

    /// All its arrays that have values for each slot.
    pub(crate) fn arrays(&mut self) -> Arrays<'_> {
        let Subdomain { program, fields, reference, statistics, .. } = self;
        let of_fields = std::iter::once(&mut fields.macroscopic).chain(reference);
        let statistics = statistics.iter_mut().flat_map(|statistics| statistics.arrays(program.manifest()));
        Arrays::new(program.manifest(), &mut fields.populations, of_fields, statistics)
    }
}
