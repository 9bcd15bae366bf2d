//! The adjoint of a flow: derivatives of an objective by populations, parameters and values of walls, from the last step to the first.
//!
//! A step from populations `f` streams, `g = S(f)`, and collides, `C(g, p)`. Derivatives `a` by `C(g, p)` become those by `f` in two passes:
//!
//! ```text
//! collide backwards   h = (dC/dg)^T a            g is gathered again from f; adds (dC/dp)^T a, cell by cell
//! stream backwards    a = (dS/df)^T h            each cell takes h from the cell that reads its population; what a wall has sent to a
//!                                                cell goes to the populations of the cell that the wall has made it of
//! ```
//!
//! Each value has one writer, so the bits do not depend on the number of threads. Blocks at walls, and with cut links, have kernels of their own.
//! On a grid of one level all others stream backwards and collide backwards in one pass, at the beginning of the next step backwards: until then they
//! have `h`.
//!
//! | module | job |
//! | --- | --- |
//! | `slots` | lists blocks by what they need |
//! | `crossing` | what crosses refinement interfaces, as tables of shares |
//! | `levels` | a step backwards of several levels |
//! | `state` | states of a flow |
//! | `revolve` | visits the states of a flow backwards, with memory for a few of them |
//! | `start` | derivatives by the fields that a flow starts with |

mod crossing;
mod levels;
pub mod revolve;
mod slots;
mod start;
mod state;

pub use state::State;

use std::time::Instant;

use lbm_bundle::Role;

use crate::device::{Buffer, Double, Int, Real, Stored};
use crate::geometry::{Cell, Face};
use crate::kernels;
use crate::kernels::layout::Layout;
use crate::solver::adjoint::crossing::Crossing;
use crate::solver::adjoint::levels::Levels;
use crate::solver::adjoint::slots::Slots;
use crate::solver::arrays::cells;
use crate::solver::arrays::params::{self, LevelState};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::spec::{FaceSpec, GridSpec};
use crate::solver::subdomain::Subdomain;

/// Walls whose values are asked for: those with one rule and one set of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallGroup {
    /// The wall at a face.
    Face(Face),
    /// The surface of a solid, by its number.
    Solid(usize),
}

/// Derivatives of an objective by the populations of a flow at one step, and what steps backwards have added up.
pub struct Adjoint {
    /// Derivatives by the current populations, those of blocks inside only if they are not behind; and those by what has arrived in cells in the
    /// step that has been taken backwards last.
    sets: [Buffer<Stored>; 2],
    /// In which of them those by the populations of each level are: between steps in the same for all levels.
    current: Vec<usize>,
    /// Whether blocks inside have yet to stream backwards.
    behind: bool,
    /// `[slot][member][cell]`
    by_members: Buffer<Double>,
    /// `[slot][group][value][cell]`
    by_walls: Buffer<Double>,
    /// The group of each wall.
    groups: Buffer<Int>,
    asked: usize,
    /// Derivatives by the force on each solid in a step of each level, `[solid][axis]`; zeros behind them.
    pulls: Vec<Buffer<Double>>,
    /// Room for derivatives by fields.
    by_fields: Buffer<Real>,
    /// Derivatives by what blocks have read of the inbox: in the step at hand, and in each of two steps.
    crossed: Buffer<Real>,
    slots: Vec<Slots>,
    /// Of a grid of several levels.
    levels: Option<Levels>,
    /// How long steps backwards have taken, in seconds.
    seconds: f64,
}

/// A flow, as steps backwards read it.
#[derive(Clone, Copy)]
struct Flow<'a> {
    subdomain: &'a Subdomain,
    levels: &'a [LevelState],
}

impl Flow<'_> {
    fn of(flow: &Simulation) -> Flow<'_> {
        Flow { subdomain: flow.subdomains.first(), levels: &flow.stepper.levels }
    }
}

/// What a step of a level has begun with.
#[derive(Clone, Copy)]
struct Before<'a> {
    /// Populations.
    src: &'a Buffer<Stored>,
    /// What has entered blocks from other levels.
    inbox: Option<&'a Buffer<Real>>,
    /// The neighbours that blocks read.
    neighbours: &'a Buffer<Int>,
}

impl Adjoint {
    /// Derivatives that are zero, of a flow in the box `spec`. An error says why a flow has no adjoint.
    pub fn new(flow: &Simulation, spec: &GridSpec, walls: &[WallGroup]) -> Result<Adjoint, StepError> {
        check(flow, spec)?;
        let (device, manifest, subdomain) = (flow.device(), flow.manifest(), flow.subdomains.first());
        let (slots, cells) = (flow.grid().slots(), manifest.cells());
        let populations = slots * Layout::populations(manifest).slot_len();
        let bodies = subdomain.bodies();
        let mut groups = vec![-1; subdomain.walls().rules.len().max(1)];
        for (group, wall) in walls.iter().enumerate() {
            groups[wall_of(flow, spec, *wall)?] = group as i32;
        }
        let axes = bodies.map_or(0, |bodies| bodies.count) * manifest.dim as usize;
        let packets = manifest.coupling.as_ref().and_then(|coupling| coupling.packets.as_ref());
        let count = flow.grid().levels().len();
        let crossing = packets.filter(|_| count > 1).map(|packets| Crossing::new(flow, spec, packets)).transpose()?;
        let crossed = crossing.as_ref().map_or(0, Crossing::count);
        let alloc = || device.alloc_stored(manifest.real, populations);
        Ok(Adjoint {
            sets: [alloc()?, alloc()?],
            current: vec![0; count],
            behind: false,
            by_members: device.alloc_doubles((slots * manifest.members.len() * cells).max(1))?,
            by_walls: device.alloc_doubles((slots * walls.len() * manifest.wall_stride as usize * cells).max(1))?,
            groups: device.ints(&groups)?,
            asked: walls.len(),
            pulls: (0..=count).map(|_| device.alloc_doubles(axes.max(1))).collect::<Result<_, _>>()?,
            by_fields: device.alloc_reals(manifest.real, slots * Layout::fields(manifest).slot_len())?,
            crossed: device.alloc_reals(manifest.real, (3 * crossed).max(1))?,
            slots: (0..count).map(|level| Slots::of(flow, level)).collect::<Result<_, _>>()?,
            levels: crossing.map(|crossing| Levels::new(flow, crossing)).transpose()?,
            seconds: 0.0,
        })
    }

    /// Changes derivatives by populations, cell by cell: `change(cell, derivatives)`.
    pub fn change(&mut self, flow: &Simulation, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        self.catch_up(flow)?;
        let layout = Layout::populations(flow.manifest());
        Ok(cells::update(&mut self.sets[self.current[0]], layout, flow.grid(), flow.grid().leaves()?, change)?)
    }

    /// Adds derivatives by the macroscopic fields of the current step: `by_fields(cell, derivatives)` writes a number for each component.
    pub fn add_by_fields(
        &mut self,
        flow: &Simulation,
        by_fields: impl Fn(Cell, &mut [f64]) + Sync,
    ) -> Result<(), StepError> {
        self.catch_up(flow)?;
        let layout = Layout::fields(flow.manifest());
        let (leaves, domain) = (flow.grid().leaves()?, flow.grid().domain());
        let value = |cell: Cell, out: &mut [f64]| {
            if domain.contains(cell) {
                by_fields(cell, out);
            }
        };
        cells::scatter(&mut self.by_fields, layout, flow.grid(), (leaves, 0), value)?;
        let Flow { subdomain, levels } = Flow::of(flow);
        let program = subdomain.program();
        program.device().scope(|| {
            for (level, slots) in self.slots.iter().enumerate() {
                let state = &levels[level];
                for ids in slots.all().into_iter().filter(|ids| !ids.is_empty()) {
                    program.launch(kernels::MacroscopicAdjoint {
                        ids,
                        src: state::populations(subdomain, state.current),
                        level: level as i32,
                        by_fields: &self.by_fields,
                        adjoint: &mut self.sets[self.current[level]],
                        by_members: &mut self.by_members,
                        params: state.params.packed(),
                    })?;
                }
            }
            Ok(())
        })
    }

    /// Makes derivatives by the populations after a step to those by the populations before it, which are those of the flow. `pulls`: for each
    /// solid the derivatives by the force on it in that step; zero for those that are not there.
    pub fn step_back(&mut self, flow: &mut Simulation, pulls: &[[f64; 3]]) -> Result<(), StepError> {
        let dim = flow.grid().dim();
        let pulls: Vec<f64> = pulls.iter().flat_map(|pull| &pull[..dim]).copied().collect();
        for (level, own) in self.pulls[..self.slots.len()].iter_mut().enumerate() {
            // A force in cells and steps of a finer level is that much smaller.
            let scale = 0.5f64.powi((level * (dim - 1)) as i32);
            own.write_reals(0, &pulls.iter().map(|pull| scale * pull).collect::<Vec<_>>())?;
        }
        if let Some(mut levels) = self.levels.take() {
            let done = self.levels_back(flow, &mut levels);
            self.levels = Some(levels);
            return done;
        }
        let flow = Flow::of(flow);
        self.timed(flow, |adjoint| {
            let src = state::populations(flow.subdomain, flow.levels[0].current);
            let before = Before { src, inbox: None, neighbours: &flow.subdomain.grid().tables().neighbours };
            adjoint.collide_back(flow, 0, before)?;
            adjoint.current[0] = 1 - adjoint.current[0];
            adjoint.behind = true;
            adjoint.stream_back(flow, 0, before, true)
        })
    }

    /// Blocks inside stream backwards, if they have not yet.
    fn catch_up(&mut self, flow: &Simulation) -> Result<(), StepError> {
        if !std::mem::take(&mut self.behind) {
            return Ok(());
        }
        let flow = Flow::of(flow);
        self.timed(flow, |adjoint| adjoint.inside_back(flow, 0, &flow.subdomain.grid().tables().neighbours))
    }

    /// Derivatives by the populations of a level, and those by what has arrived in its cells.
    fn sets(sets: &mut [Buffer<Stored>; 2], current: usize) -> (&mut Buffer<Stored>, &mut Buffer<Stored>) {
        let [first, second] = sets;
        if current == 0 { (first, second) } else { (second, first) }
    }

    /// Takes derivatives by populations of blocks inside from those by what has arrived.
    fn inside_back(&mut self, flow: Flow<'_>, level: usize, neighbours: &Buffer<Int>) -> Result<(), StepError> {
        let ids = self.slots[level].inside();
        let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
        if ids.is_empty() {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::StreamAdjoint { ids, neighbours, arrived, adjoint })?)
    }

    fn timed(
        &mut self,
        flow: Flow<'_>,
        run: impl FnOnce(&mut Adjoint) -> Result<(), StepError> + Send,
    ) -> Result<(), StepError> {
        let device = flow.subdomain.program().device();
        device.synchronize()?;
        let began = Instant::now();
        device.scope(|| run(self))?;
        device.synchronize()?;
        self.seconds += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// How long steps backwards have taken so far, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Makes of derivatives by populations of a level those by what has arrived in cells; of blocks inside that are behind, of what arrives in the
    /// next step.
    fn collide_back(&mut self, flow: Flow<'_>, level: usize, before: Before<'_>) -> Result<(), StepError> {
        let (subdomain, src) = (flow.subdomain, before.src);
        let (program, bodies) = (subdomain.program(), subdomain.bodies());
        let has_walls = !program.manifest().boundaries.is_empty();
        let inbox = subdomain.inbox().map(|inbox| inbox.arguments(subdomain.grid(), true));
        let inbox = inbox.zip(before.inbox).map(|(own, inbox)| kernels::Inbox { inbox, ..own });
        let slots = &self.slots[level];
        let [walls, others] = slots.at_walls();
        let lists = [
            (slots.inside(), false, None, None),
            (walls, has_walls, None, None),
            (slots.at_interfaces(), has_walls, inbox, None),
            (others, has_walls, None, None),
            (slots.cut(), has_walls, None, bodies),
        ];
        for (at, (ids, walls, inbox, bodies)) in lists.into_iter().enumerate().filter(|(_, (ids, ..))| !ids.is_empty())
        {
            let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
            let by_members = &mut self.by_members;
            program.launch(kernels::Gather {
                ids,
                sources: kernels::Sources {
                    neighbours: Some(&subdomain.grid().tables().neighbours),
                    walls: walls.then(|| subdomain.walls().arguments()),
                    inbox,
                    links: bodies.map(|bodies| bodies.arguments()),
                    ..Default::default()
                },
                action: match at == 0 && self.behind {
                    true => kernels::Action::StepAdjoint { src, arrived, adjoint, by_members },
                    false => kernels::Action::CollideAdjoint { src, adjoint, by_members },
                },
                params: flow.levels[level].params.packed(),
            })?;
        }
        Ok(())
    }

    /// Takes derivatives by populations of blocks that are not inside from those by what has arrived; `pulled`: whether the forces on solids in this
    /// step of the level are part of the objective.
    fn stream_back(
        &mut self,
        flow: Flow<'_>,
        level: usize,
        Before { src, neighbours, .. }: Before<'_>,
        pulled: bool,
    ) -> Result<(), StepError> {
        let subdomain = flow.subdomain;
        let program = subdomain.program();
        let [walls, links] = self.slots[level].outside();
        let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
        let (arrived, groups, asked) = (&*arrived, &self.groups, self.asked as i32);
        let has_walls = !program.manifest().boundaries.is_empty();
        if !walls.is_empty() && !has_walls {
            program.launch(kernels::StreamAdjoint { ids: walls, neighbours, arrived, adjoint })?;
        } else if !walls.is_empty() {
            program.launch(kernels::StreamAdjointWalls {
                ids: walls,
                neighbours,
                walls: subdomain.walls().arguments(),
                backwards: kernels::Backwards { src, arrived, groups, asked, by_walls: &mut self.by_walls },
                adjoint,
            })?;
        }
        if let Some(bodies) = subdomain.bodies().filter(|_| !links.is_empty()) {
            let none = self.slots.len();
            program.launch(kernels::StreamAdjointSolid {
                ids: links,
                neighbours,
                walls: subdomain.walls().arguments(),
                links: bodies.arguments(),
                owners: &bodies.owners,
                pulls: &self.pulls[if pulled { level } else { none }],
                backwards: kernels::Backwards { src, arrived, groups, asked, by_walls: &mut self.by_walls },
                adjoint,
            })?;
        }
        Ok(())
    }

    /// Visits derivatives by the populations of every cell: `each(cell, derivatives)`.
    pub fn visit(&mut self, flow: &Simulation, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        self.catch_up(flow)?;
        let read = |range| self.sets[self.current[0]].read_reals(range).map_err(StepError::from);
        cells::visit(read, Layout::populations(flow.manifest()), flow.grid(), each)
    }

    /// Visits derivatives by the parameters of the method on the coarsest level, as every cell takes those of its own, in the order of the members of
    /// their struct.
    pub fn visit_params(&self, flow: &Simulation, mut each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        let (manifest, levels) = (flow.manifest(), &flow.stepper.levels);
        let slopes = params::by_coarsest(manifest, levels);
        let layout = Layout::accumulators(manifest, manifest.members.len());
        let read = |range| self.by_members.read_reals(range).map_err(StepError::from);
        let mut by_coarsest = vec![0.0; manifest.members.len()];
        cells::visit(read, layout, flow.grid(), |cell, values| {
            for (by, slopes) in by_coarsest.iter_mut().zip(&slopes[cell.level]) {
                *by = slopes.iter().zip(values).map(|(slope, value)| slope * value).sum();
            }
            each(cell, &by_coarsest);
        })
    }

    /// Derivatives by the parameters of the method, in the order of the members of their struct.
    pub fn by_params(&self, flow: &Simulation) -> Result<Vec<f64>, StepError> {
        let mut sums = vec![0.0; flow.manifest().members.len()];
        self.visit_params(flow, |_, values| sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value))?;
        Ok(sums)
    }

    /// Derivatives by the values of each group of walls, in the order of the parameters of its rule.
    pub fn by_walls(&self, flow: &Simulation) -> Result<Vec<Vec<f64>>, StepError> {
        let stride = flow.manifest().wall_stride as usize;
        let mut sums = vec![0.0; self.asked * stride];
        let layout = Layout::accumulators(flow.manifest(), sums.len());
        let read = |range| self.by_walls.read_reals(range).map_err(StepError::from);
        cells::visit(read, layout, flow.grid(), |_, values| {
            sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        })?;
        Ok(sums.chunks(stride.max(1)).map(<[f64]>::to_vec).collect())
    }
}

/// The wall of a group.
fn wall_of(flow: &Simulation, spec: &GridSpec, group: WallGroup) -> Result<usize, StepError> {
    let refused = |why: &str| Err(StepError::NoAdjoint { why: why.into() });
    match group {
        WallGroup::Face(face) => {
            let is_wall = |face: &&Face| matches!(spec.faces[face.index()], FaceSpec::Wall(_));
            match &spec.faces[face.index()] {
                FaceSpec::Periodic => refused("there is no wall at that face"),
                FaceSpec::Wall(wall) if !wall.varying.profiles.is_empty() => {
                    refused("values of that wall vary along it")
                }
                FaceSpec::Wall(_) => Ok(Face::ALL[..face.index()].iter().filter(is_wall).count()),
            }
        }
        WallGroup::Solid(number) => match flow.cutters() {
            Some(_) if spec.surfaces.get(number).is_some_and(|varying| !varying.profiles.is_empty()) => {
                refused("values of that surface vary along it")
            }
            Some(cutters) if number < spec.solids.len() => Ok(cutters.first + number),
            _ => refused("there is no such solid"),
        },
    }
}

/// Refuses flows whose steps have no adjoint.
fn check(flow: &Simulation, spec: &GridSpec) -> Result<(), StepError> {
    let on_nodes = |face: &FaceSpec| match face {
        FaceSpec::Wall(wall) => flow.manifest().boundaries.iter().any(|rule| rule.nodes && rule.name == wall.rule),
        FaceSpec::Periodic => false,
    };
    let packets = flow.manifest().coupling.as_ref().and_then(|coupling| coupling.packets.as_ref());
    let reasons = [
        (flow.manifest().kernel(Role::MacroscopicAdjoint).is_none(), "its kernels were compiled without"),
        (flow.subdomains() > 1, "it is divided among several devices or processes"),
        (flow.subdomains.first().is_adapted(), "its grid follows the flow"),
        (
            flow.grid().levels().len() > 1 && packets.is_none(),
            "the coupling of its levels is none of packets that are sums of populations",
        ),
        (spec.motions.iter().any(Option::is_some), "solids move"),
        (spec.laws.iter().any(Option::is_some), "surfaces slide by a law of the wall"),
        (spec.prescribed.is_some(), "values of walls depend on time"),
        (flow.stepper.courses.is_some(), "parameters of the method depend on time"),
        (spec.faces.iter().any(on_nodes), "a face has a wet-node boundary condition"),
    ];
    match reasons.into_iter().find(|(is, _)| *is) {
        Some((_, why)) => Err(StepError::NoAdjoint { why: why.into() }),
        None => Ok(()),
    }
}
