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
//! All others stream backwards and collide backwards in one pass, at the beginning of the next step backwards: until then they have `h`.
//!
//! | module | job |
//! | --- | --- |
//! | `revolve` | visits the states of a flow backwards, with memory for a few of them |
//! | `start` | derivatives by the fields that a flow starts with |

pub mod revolve;
mod start;

use std::time::Instant;

use lbm_bundle::Role;

use crate::device::{Buffer, Device, Double, Int, Real, Slice, Stored};
use crate::geometry::{Cell, Face};
use crate::kernels;
use crate::kernels::layout::Layout;
use crate::solver::arrays::cells;
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
    /// Derivatives by the current populations; those of blocks inside only if they are not behind.
    populations: Buffer<Stored>,
    /// Derivatives by what has arrived in cells in the step that has been taken backwards last.
    arrived: Buffer<Stored>,
    /// Whether blocks inside have yet to stream backwards.
    behind: bool,
    /// `[slot][member][cell]`
    by_members: Buffer<Double>,
    /// `[slot][group][value][cell]`
    by_walls: Buffer<Double>,
    /// The group of each wall.
    groups: Buffer<Int>,
    asked: usize,
    /// Derivatives by the force on each solid, `[solid][axis]`.
    pulls: Buffer<Double>,
    /// Room for derivatives by fields.
    by_fields: Buffer<Real>,
    slots: Slots,
    /// How long steps backwards have taken, in seconds.
    seconds: f64,
}

/// Slots of blocks, by what they need.
struct Slots {
    /// Those that read cells alone, and that cells alone read.
    inside: Buffer<Int>,
    /// All others: those without cut links in or beside them, those with some beside them alone, and those with some in them.
    others: Buffer<Int>,
    /// Where the second and the third of these begin.
    beside: usize,
    cut: usize,
}

impl Slots {
    fn of(flow: &Simulation) -> Result<Slots, StepError> {
        let (device, subdomain, slots) = (flow.device(), flow.subdomains.first(), flow.grid().slots());
        let near = 3usize.pow(flow.grid().dim() as u32);
        let neighbours = subdomain.grid().tables().neighbours.read_ints(0..slots * near)?;
        let rows = subdomain.bodies().map(|bodies| bodies.rows.read_ints(0..slots)).transpose()?;
        let is_cut = |slot: usize| rows.as_ref().is_some_and(|rows| rows[slot] >= 0);
        let around = |slot: usize| &neighbours[slot * near..(slot + 1) * near];
        let is_beside = |slot: usize| around(slot).iter().any(|other| *other >= 0 && is_cut(*other as usize));
        let [mut inside, mut walls, mut beside, mut cut] = [const { Vec::new() }; 4];
        for leaf in flow.grid().leaves()? {
            let slot = leaf.slot.index();
            let list = match () {
                () if is_cut(slot) => &mut cut,
                () if is_beside(slot) => &mut beside,
                () if around(slot).iter().any(|other| *other < 0) => &mut walls,
                () => &mut inside,
            };
            list.push(slot as i32);
        }
        let (first, second) = (walls.len(), walls.len() + beside.len());
        let others = [walls, beside, cut].concat();
        Ok(Slots { inside: device.ints(&inside)?, others: device.ints(&others)?, beside: first, cut: second })
    }

    /// All blocks, in two lists.
    fn all(&self) -> [Slice<'_, Int>; 2] {
        [&self.inside, &self.others].map(|list| list.slice(0..list.len()))
    }
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
        let solids = bodies.map_or(0, |bodies| bodies.count);
        Ok(Adjoint {
            populations: device.alloc_stored(manifest.real, populations)?,
            arrived: device.alloc_stored(manifest.real, populations)?,
            behind: false,
            by_members: device.alloc_doubles((slots * manifest.members.len() * cells).max(1))?,
            by_walls: device.alloc_doubles((slots * walls.len() * manifest.wall_stride as usize * cells).max(1))?,
            groups: device.ints(&groups)?,
            asked: walls.len(),
            pulls: device.alloc_doubles((solids * manifest.dim as usize).max(1))?,
            by_fields: device.alloc_reals(manifest.real, slots * Layout::fields(manifest).slot_len())?,
            slots: Slots::of(flow)?,
            seconds: 0.0,
        })
    }

    /// Changes derivatives by populations, cell by cell: `change(cell, derivatives)`.
    pub fn change(&mut self, flow: &Simulation, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        self.catch_up(flow)?;
        let layout = Layout::populations(flow.manifest());
        Ok(cells::update(&mut self.populations, layout, flow.grid(), flow.grid().leaves()?, change)?)
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
        let (program, src) = (flow.subdomains.first().program(), current(flow));
        let params = flow.stepper.levels[0].params.packed();
        program.device().scope(|| {
            for ids in self.slots.all() {
                program.launch(kernels::MacroscopicAdjoint {
                    ids,
                    src,
                    level: 0,
                    by_fields: &self.by_fields,
                    adjoint: &mut self.populations,
                    by_members: &mut self.by_members,
                    params,
                })?;
            }
            Ok(())
        })
    }

    /// Makes derivatives by the populations after a step to those by the populations before it, which are those of the flow. `pulls`: for each
    /// solid the derivatives by the force on it in that step; zero for those that are not there.
    pub fn step_back(&mut self, flow: &Simulation, pulls: &[[f64; 3]]) -> Result<(), StepError> {
        let dim = flow.grid().dim();
        let pulls: Vec<f64> = pulls.iter().flat_map(|pull| &pull[..dim]).copied().collect();
        self.pulls.write_reals(0, &pulls)?;
        let (subdomain, src) = (flow.subdomains.first(), current(flow));
        let params = flow.stepper.levels[0].params.packed();
        self.timed(flow, |adjoint| {
            adjoint.collide_back(subdomain, src, params)?;
            std::mem::swap(&mut adjoint.populations, &mut adjoint.arrived);
            adjoint.behind = true;
            adjoint.stream_back(subdomain, src)
        })
    }

    /// Blocks inside stream backwards, if they have not yet.
    fn catch_up(&mut self, flow: &Simulation) -> Result<(), StepError> {
        if !std::mem::take(&mut self.behind) {
            return Ok(());
        }
        let subdomain = flow.subdomains.first();
        self.timed(flow, |adjoint| {
            Ok(subdomain.program().launch(kernels::StreamAdjoint {
                ids: adjoint.slots.inside.slice(0..adjoint.slots.inside.len()),
                neighbours: &subdomain.grid().tables().neighbours,
                arrived: &adjoint.arrived,
                adjoint: &mut adjoint.populations,
            })?)
        })
    }

    fn timed(
        &mut self,
        flow: &Simulation,
        run: impl FnOnce(&mut Adjoint) -> Result<(), StepError> + Send,
    ) -> Result<(), StepError> {
        flow.device().synchronize()?;
        let began = Instant::now();
        flow.device().scope(|| run(self))?;
        flow.device().synchronize()?;
        self.seconds += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// How long steps backwards have taken so far, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Makes of derivatives by populations those by what has arrived in cells; of blocks inside that are behind, of what arrives in the next step.
    fn collide_back(
        &mut self,
        subdomain: &Subdomain,
        src: &Buffer<Stored>,
        params: &kernels::Params,
    ) -> Result<(), StepError> {
        let (program, bodies) = (subdomain.program(), subdomain.bodies());
        let Slots { inside, others, cut, .. } = &self.slots;
        let has_walls = !program.manifest().boundaries.is_empty();
        let lists = [
            (inside.slice(0..inside.len()), false, None),
            (others.slice(0..*cut), has_walls, None),
            (others.slice(*cut..others.len()), has_walls, bodies),
        ];
        for (at, (ids, walls, bodies)) in lists.into_iter().enumerate().filter(|(_, (ids, ..))| !ids.is_empty()) {
            let (adjoint, by_members) = (&mut self.populations, &mut self.by_members);
            program.launch(kernels::Gather {
                ids,
                sources: kernels::Sources {
                    neighbours: Some(&subdomain.grid().tables().neighbours),
                    walls: walls.then(|| subdomain.walls().arguments()),
                    links: bodies.map(|bodies| bodies.arguments()),
                    ..Default::default()
                },
                action: match at == 0 && self.behind {
                    true => kernels::Action::StepAdjoint { src, arrived: &self.arrived, adjoint, by_members },
                    false => kernels::Action::CollideAdjoint { src, adjoint, by_members },
                },
                params,
            })?;
        }
        Ok(())
    }

    /// Takes derivatives by populations of blocks that are not inside from those by what has arrived.
    fn stream_back(&mut self, subdomain: &Subdomain, src: &Buffer<Stored>) -> Result<(), StepError> {
        let (program, neighbours) = (subdomain.program(), &subdomain.grid().tables().neighbours);
        let Slots { others, beside, .. } = &self.slots;
        if *beside > 0 {
            program.launch(kernels::StreamAdjointWalls {
                ids: others.slice(0..*beside),
                neighbours,
                walls: subdomain.walls().arguments(),
                backwards: kernels::Backwards {
                    src,
                    arrived: &self.arrived,
                    groups: &self.groups,
                    asked: self.asked as i32,
                    by_walls: &mut self.by_walls,
                },
                adjoint: &mut self.populations,
            })?;
        }
        if let Some(bodies) = subdomain.bodies() {
            program.launch(kernels::StreamAdjointSolid {
                ids: others.slice(*beside..others.len()),
                neighbours,
                walls: subdomain.walls().arguments(),
                links: bodies.arguments(),
                owners: &bodies.owners,
                pulls: &self.pulls,
                backwards: kernels::Backwards {
                    src,
                    arrived: &self.arrived,
                    groups: &self.groups,
                    asked: self.asked as i32,
                    by_walls: &mut self.by_walls,
                },
                adjoint: &mut self.populations,
            })?;
        }
        Ok(())
    }

    /// Visits derivatives by the populations of every cell: `each(cell, derivatives)`.
    pub fn visit(&mut self, flow: &Simulation, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        self.catch_up(flow)?;
        let read = |range| self.populations.read_reals(range).map_err(StepError::from);
        cells::visit(read, Layout::populations(flow.manifest()), flow.grid(), each)
    }

    /// Visits derivatives by the parameters of the method as every cell takes them, in the order of the members of their struct.
    pub fn visit_params(&self, flow: &Simulation, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        let layout = Layout::accumulators(flow.manifest(), flow.manifest().members.len());
        let read = |range| self.by_members.read_reals(range).map_err(StepError::from);
        cells::visit(read, layout, flow.grid(), each)
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

/// The current populations.
fn current(flow: &Simulation) -> &Buffer<Stored> {
    &flow.subdomains.first().fields().populations[flow.stepper.levels[0].current.index()]
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
    let reasons = [
        (flow.manifest().kernel(Role::MacroscopicAdjoint).is_none(), "its kernels were compiled without"),
        (flow.subdomains() > 1, "it is divided among several devices or processes"),
        (flow.grid().levels().len() > 1 || flow.subdomains.first().is_adapted(), "its grid is refined"),
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

/// Populations of a flow at a step.
pub struct State {
    step: u64,
    populations: Buffer<Stored>,
}

impl State {
    /// A copy of the current one.
    pub fn of(flow: &Simulation) -> Result<State, StepError> {
        let device: &Device = flow.device();
        let mut populations = device.alloc_like(current(flow))?;
        device.copy(current(flow), &mut populations)?;
        Ok(State { step: flow.step(), populations })
    }

    /// Bytes that one takes.
    pub fn bytes(flow: &Simulation) -> usize {
        current(flow).bytes()
    }

    /// Gives it back to its flow.
    pub fn restore(&self, flow: &mut Simulation) -> Result<(), StepError> {
        let (device, set) = (flow.device().clone(), flow.stepper.levels[0].current);
        flow.stepper.step = self.step;
        flow.subdomains.iter_mut().try_for_each(|subdomain| {
            subdomain.forget_fields();
            Ok(device.copy(&self.populations, subdomain.populations_mut(set))?)
        })
    }
}
