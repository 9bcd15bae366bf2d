//! A subdomain: all of a simulation that lies on one device.
//!
//! It has kernels, blocks, populations and the tables that describe the neighbourhood of blocks. Its fields are private to this folder: the
//! rooms above it run phases, read arrays, and send values into them, but what belongs together changes together. The number of steps, the
//! state of each level and the interval of adaptations are the same on all devices. They belong to the
//! [`Simulation`](crate::solver::simulation::Simulation), which controls the subdomains.
//!
//! | module | job |
//! | --- | --- |
//! | `run` | from a task of the step to the function that launches its kernels |
//! | `stream`, `packets`, `ghosts`, `solids` | these functions, for each kind of phase |
//! | `streamed` | which blocks each phase streams |
//! | `one_pass` | which blocks stream and collide in one pass, of methods that read values of neighbours |
//! | `fields` | macroscopic fields: computed, and kept as reference |
//! | `cells` | values that the host gives to cells |
//! | `adapt`, `transfer` | the grid changes, and data follow it |
//! | `reduce`, `statistics`, `probe` | what is measured on the device |

mod adapt;
mod cells;
mod fields;
mod ghosts;
mod one_pass;
mod packets;
mod probe;
mod reduce;
mod run;
mod solids;
mod statistics;
mod stream;
pub(crate) mod streamed;
mod transfer;

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::Role;
use lbm_bundle::formula::Plane;

use crate::device::{Buffer, Device, DeviceError, Double, Int, Packing, Real, Stored};
use crate::geometry::solid::Cutters;
use crate::kernels::layout::{Layout, SlotId};
use crate::kernels::{self, Criterion, KernelError, Program};
use crate::mesh::forest::{Leaf, Targets};
use crate::mesh::{Grid, Owned, OwnedLevel, Tree};
use crate::solver::arrays::fields::{Fields, Sets};
use crate::solver::arrays::pages::Arrays;
use crate::solver::arrays::places::Places;
use crate::solver::arrays::prescribed::{Item, Prescribed};
use crate::solver::arrays::statistics::Statistics;
use crate::solver::arrays::walls::{Instance, Walls};
use crate::solver::error::StepError;
use crate::solver::halo::Halo;
use crate::solver::inbox::Inbox;
use crate::solver::plan::task::PopulationSet;
use crate::solver::solids::bodies::Bodies;
use crate::solver::spec::{Corners, GridSpec};
pub(crate) use crate::solver::subdomain::adapt::set_targets;
use crate::solver::subdomain::one_pass::OnePass;
pub(crate) use crate::solver::subdomain::probe::ReadBlocks;
use crate::solver::subdomain::streamed::Streamed;

/// The blocks of a grid on one device, with all data that their kernels read and write.
pub(crate) struct Subdomain {
    program: Program,
    /// The same device as the inbox allocates on it; it may be [sparse](Device::sparse).
    of_rows: Device,
    grid: Grid,
    /// What the subdomain owns of the grid; `None` if it owns all of it.
    owned: Option<Owned>,
    /// Its blocks as phases stream them, if these are not all blocks of a level and group: see [`Self::list_blocks`].
    streamed: Option<Streamed>,
    walls: Walls,
    prescribed: Option<Prescribed>,
    /// The recordings that walls of the flow read, here or elsewhere.
    recordings: Vec<Plane>,
    bodies: Option<Bodies>,
    /// Whether the lists of blocks that moving solids may touch are those of the grid as it is.
    lists_solids: bool,
    fields: Fields,
    sets: Sets,
    inbox: Option<Inbox>,
    /// Blocks that stream and collide in one pass; not if the flow has several subdomains or solids that move.
    one_pass: Option<OnePass>,
    /// Whether the macroscopic fields belong to the current populations.
    sampled: bool,
    /// Reference fields: those of an earlier step, to compare with.
    reference: Option<Buffer<Real>>,
    /// Statistics over time.
    statistics: Option<Statistics>,
    /// Constants of cells for parameters that vary in space, if known.
    places: Option<Places>,
    /// The refinement criterion, if the grid is adapted.
    criterion: Option<Criterion>,
    /// Boxes whose blocks are pinned, in cells of the coarsest level: lower and upper corners.
    pinned: Vec<Corners>,
}

/// What all subdomains of a flow have in common.
#[derive(Clone)]
pub(crate) struct Common<'a> {
    pub(crate) spec: &'a GridSpec,
    pub(crate) levels: usize,
    pub(crate) sets: Sets,
    /// Walls behind the faces and on solids.
    pub(crate) instances: Vec<Instance>,
    /// Their values that depend on time.
    pub(crate) items: Vec<Item>,
    /// What cuts links at solids, if there are any.
    pub(crate) cutters: Option<Cutters>,
    /// The refinement criterion, if the grid is adapted.
    pub(crate) criterion: Option<Criterion>,
    /// Boxes whose blocks are pinned, in cells of the coarsest level.
    pub(crate) pinned: Vec<Corners>,
}

/// The device of a subdomain twice: each allocates its own kind of arrays, and either may be [sparse](Device::sparse).
pub(crate) struct Allocators {
    pub(crate) of_blocks: Device,
    pub(crate) of_rows: Device,
}

impl Subdomain {
    /// A grid, or what a subdomain owns of it, with memory for its data but without an inbox.
    pub(crate) fn new(
        Allocators { of_blocks, of_rows }: Allocators,
        program: Program,
        grid: Grid,
        owned: Option<Owned>,
        common: Common<'_>,
    ) -> Result<Subdomain, StepError> {
        let (manifest, device, own) = (program.manifest(), program.device(), owned.as_ref());
        let Common { spec, levels, sets, mut instances, mut items, cutters, criterion, pinned } = common;
        // Before the populations are allocated: cutting links takes more memory than the cut links.
        let bodies = match cutters {
            None => None,
            Some(cutters) => {
                let walls = (&mut instances, &mut items);
                // All subdomains need the tables of all blocks if blocks migrate, if solids move to other subdomains, if slopes read
                // fields of adjacent blocks, if packets come off faces along which values vary, if patches of surfaces reach over several, or
                // if steps backwards look for links in adjacent blocks.
                let moves = spec.motions.iter().any(Option::is_some) || spec.laws.iter().any(Option::is_some);
                let sloped = spec.statistics.as_ref().is_some_and(|statistics| statistics.read_slopes());
                let across = levels > 1 && cutters.varying.contains(&true);
                let derived = manifest.kernel(Role::StreamAdjointSolid).is_some();
                let tabled = own.filter(|_| criterion.is_none() && !moves && !sloped && !across && !derived);
                let mut bodies = Bodies::new(device, manifest, &grid, spec, levels, (cutters, tabled), walls)?;
                if let Some(own) = own.filter(|_| tabled.is_none()) {
                    bodies.keep_own(device, own)?;
                }
                Some(bodies)
            }
        };
        let walls = Walls::new(device, manifest, &instances)?;
        let prescribed = Prescribed::new(device, manifest, spec, &items, levels)?;
        let fields = Fields::new(&of_blocks, manifest, &grid, (criterion.is_some(), sets), own)?;
        let statistics = spec.statistics.as_ref();
        let statistics = statistics.map(|kernels| kernels.on(device)).transpose()?;
        let statistics =
            statistics.map(|kernels| Statistics::new(&of_blocks, manifest, &grid, kernels, own)).transpose()?;
        Ok(Subdomain {
            criterion: criterion.map(|criterion| criterion.on(device)).transpose()?,
            of_rows,
            program,
            grid,
            owned,
            streamed: None,
            walls,
            prescribed,
            recordings: spec.prescribed.iter().flat_map(|prescribed| prescribed.recordings().to_vec()).collect(),
            bodies,
            lists_solids: false,
            fields,
            sets,
            inbox: None,
            one_pass: None,
            sampled: false,
            reference: None,
            statistics,
            pinned,
            places: None,
        })
    }

    /// Gives it an inbox and lists of blocks that take one pass, if its method needs these. `senders`: the blocks of other subdomains that send populations into its own.
    pub(crate) fn make_inbox(&mut self, senders: Option<&[Vec<SlotId>]>) -> Result<(), StepError> {
        let Subdomain { program, of_rows, grid, walls, owned, .. } = self;
        self.inbox = Inbox::new(program, of_rows, grid, walls, owned.as_ref().zip(senders))?;
        self.list_blocks()
    }

    /// Lists the blocks that stream apart: in one pass, or with solids. The lists of a grid that follows the flow past solids at rest have all
    /// blocks, because they are on the device as they are; edge blocks of several subdomains are listed when the halo is known.
    fn list_blocks(&mut self) -> Result<(), StepError> {
        let divided = self.owned.is_some();
        self.one_pass = match divided || self.moves() {
            true => None,
            false => OnePass::new(&self.program, &self.grid, self.bodies.as_ref())?,
        };
        let is_apart = self.bodies.is_some() && (self.moves() || !self.is_adapted());
        if is_apart && !divided && self.streamed.is_none() { self.list_streamed(Arc::default()) } else { Ok(()) }
    }

    /// Lists its blocks as phases stream them; `edge`: for each slot, whether its block is at an edge.
    fn list_streamed(&mut self, edge: Arc<[bool]>) -> Result<(), StepError> {
        let mut apart = vec![];
        if let Some(bodies) = &self.bodies {
            apart.extend(bodies.slots(false)?);
            // With two sets, such blocks are streamed again.
            if self.sets == Sets::One {
                apart.extend(bodies.slots(true)?);
            }
        }
        apart.sort_unstable();
        let Subdomain { program, grid, owned, .. } = self;
        self.streamed = Some(Streamed::new(program.device(), grid, owned.as_ref(), &apart, edge)?);
        Ok(())
    }

    pub(crate) fn program(&self) -> &Program {
        &self.program
    }

    pub(crate) fn grid(&self) -> &Grid {
        &self.grid
    }

    /// The target levels of nodes.
    pub(crate) fn targets_mut(&mut self) -> &mut Targets {
        self.grid.targets().1
    }

    /// The walls behind the faces and on solids.
    pub(crate) fn walls(&self) -> &Walls {
        &self.walls
    }

    /// Takes the populations of its blocks of a level from another array, with `slots` the numbers of all slots.
    pub(crate) fn copy_populations(
        &mut self,
        level: usize,
        slots: &Buffer<Int>,
        src: &Buffer<Stored>,
        set: PopulationSet,
    ) -> Result<(), KernelError> {
        for run in self.own_level(level).runs() {
            let (ids, dst) = (self.grid.tables().leaves.slice(run), &mut self.fields.populations[set.index()]);
            self.program.launch(kernels::Relocate { ids, from: slots, src, dst })?;
        }
        Ok(())
    }

    /// What enters blocks at refinement interfaces, for a coupling of packets.
    pub(crate) fn inbox(&self) -> Option<&Inbox> {
        self.inbox.as_ref()
    }

    /// The solids, and faces along which values vary.
    pub(crate) fn bodies(&self) -> Option<&Bodies> {
        self.bodies.as_ref()
    }

    /// How many sets of populations it has.
    pub(crate) fn sets(&self) -> Sets {
        self.sets
    }

    /// Whether any solid moves.
    pub(crate) fn moves(&self) -> bool {
        self.bodies.as_ref().is_some_and(Bodies::moves)
    }

    /// Whether the grid follows the flow.
    pub(crate) fn is_adapted(&self) -> bool {
        self.criterion.is_some()
    }
}

/// The part of the grid that it owns.
impl Subdomain {
    /// Sets what it owns of the grid.
    pub(crate) fn set_owned(&mut self, owned: &Owned) -> Result<(), StepError> {
        if let Some(bodies) = &mut self.bodies {
            bodies.keep_own(self.program.device(), owned)?;
        }
        self.owned = Some(owned.clone());
        self.sampled = false;
        self.lists_solids = false;
        Ok(())
    }

    /// Lists its edge blocks and interior blocks again.
    pub(crate) fn list_edges(&mut self, tree: &Arc<Tree>, halo: &Halo) -> Result<(), StepError> {
        self.grid.know(tree);
        if self.owned.is_some() { self.list_streamed(halo.edge().clone()) } else { Ok(()) }
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
    fn own_runs(&self) -> Vec<Range<usize>> {
        let mut runs: Vec<Range<usize>> = vec![];
        for run in (0..self.grid.levels().len()).flat_map(|level| self.own_level(level).runs()) {
            match runs.last_mut().filter(|last| last.end == run.start) {
                Some(last) => last.end = run.end,
                None => runs.push(run),
            }
        }
        runs
    }
}

/// Its arrays, for the exchange with other subdomains and with the host.
impl Subdomain {
    /// The arrays of its blocks.
    pub(crate) fn fields(&self) -> &Fields {
        &self.fields
    }

    /// The reference fields.
    pub(crate) fn reference(&self) -> Option<&Buffer<Real>> {
        self.reference.as_ref()
    }

    pub(crate) fn statistics(&self) -> Option<&Statistics> {
        self.statistics.as_ref()
    }

    /// One of the two sets of populations.
    pub(crate) fn populations_mut(&mut self, set: PopulationSet) -> &mut Buffer<Stored> {
        &mut self.fields.populations[set.index()]
    }

    /// Populations that blocks at refinement interfaces save for ghosts.
    pub(crate) fn saved_mut(&mut self) -> &mut Buffer<Real> {
        &mut self.fields.saved
    }

    /// The macroscopic fields.
    pub(crate) fn macroscopic_mut(&mut self) -> &mut Buffer<Real> {
        &mut self.fields.macroscopic
    }

    pub(crate) fn reference_mut(&mut self) -> Option<&mut Buffer<Real>> {
        self.reference.as_mut()
    }

    /// The accumulators of a statistic, by its number.
    pub(crate) fn accumulators_mut(&mut self, number: usize) -> Option<&mut Buffer<Double>> {
        Some(&mut self.statistics.as_mut()?.values[number])
    }

    /// Maps memory for blocks that it receives from others, which `fields` selects.
    pub(crate) fn make_room_for(&mut self, fields: &Packing) -> Result<(), DeviceError> {
        self.fields.make_room_for(self.program.manifest(), fields)
    }

    /// Ends the mapping of memory.
    pub(crate) fn seal(&mut self) -> Result<(), DeviceError> {
        self.fields.seal()
    }

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

    /// Sets to NaN what it has in the slots of others' blocks, and what enters its blocks.
    pub(crate) fn poison(&mut self, is_own: impl Fn(SlotId) -> bool) -> Result<(), DeviceError> {
        let manifest = self.program.manifest();
        let (populations, fields) = (Layout::populations(manifest), Layout::fields(manifest));
        for slot in (0..self.grid.slots()).filter(|slot| !is_own(SlotId(*slot as u32))) {
            let range = |layout: Layout| slot * layout.slot_len()..(slot + 1) * layout.slot_len();
            for set in &mut self.fields.populations {
                set.poison_part(range(populations))?;
            }
            for array in std::iter::once(&mut self.fields.macroscopic).chain(&mut self.reference) {
                array.poison_part(range(fields))?;
            }
        }
        if let Some(inbox) = &mut self.inbox {
            inbox.poison()?;
        }
        self.fields.saved.poison()
    }
}

/// What a subdomain owns of a level; all of the level if it owns the whole grid.
fn own_level(grid: &Grid, owned: Option<&Owned>, level: usize) -> OwnedLevel {
    match owned {
        Some(owned) => owned.levels[level].clone(),
        None => OwnedLevel::all(&grid.levels()[level]),
    }
}
