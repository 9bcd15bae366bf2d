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
//! Each value has one writer, so the bits do not depend on the number of threads. Blocks with cut links have kernels of their own; all
//! others share one.
//!
//! | module | job |
//! | --- | --- |
//! | `revolve` | visits the states of a flow backwards, with memory for a few of them |

pub mod revolve;

use std::time::Instant;

use lbm_bundle::Role;

use crate::device::{Buffer, Device, Double, Int, Real, Stored};
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
    /// Derivatives by the current populations, and room for those before the step.
    populations: Buffer<Stored>,
    before: Buffer<Stored>,
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
    /// Slots of blocks without cut links, and with some.
    whole: Buffer<Int>,
    cut: Buffer<Int>,
    /// How long steps backwards have taken, in seconds.
    seconds: f64,
}

impl Adjoint {
    /// Derivatives that are zero, of a flow in the box `spec`. An error says why a flow has no adjoint.
    pub fn new(flow: &Simulation, spec: &GridSpec, walls: &[WallGroup]) -> Result<Adjoint, StepError> {
        check(flow, spec)?;
        let (device, manifest, subdomain) = (flow.device(), flow.manifest(), flow.subdomains.first());
        let (slots, cells) = (flow.grid().slots(), manifest.cells());
        let populations = slots * Layout::populations(manifest).slot_len();
        let bodies = subdomain.bodies();
        let rows = bodies.map(|bodies| bodies.rows.read_ints(0..slots)).transpose()?;
        let is_cut = |slot: usize| rows.as_ref().is_some_and(|rows| rows[slot] >= 0);
        let leaves = flow.grid().leaves()?.iter().map(|leaf| leaf.slot.index());
        let (cut, whole): (Vec<usize>, Vec<usize>) = leaves.partition(|slot| is_cut(*slot));
        let list = |slots: Vec<usize>| -> Vec<i32> { slots.into_iter().map(|slot| slot as i32).collect() };
        let mut groups = vec![-1; subdomain.walls().rules.len().max(1)];
        for (group, wall) in walls.iter().enumerate() {
            groups[wall_of(flow, spec, *wall)?] = group as i32;
        }
        let solids = bodies.map_or(0, |bodies| bodies.count);
        Ok(Adjoint {
            populations: device.alloc_stored(manifest.real, populations)?,
            before: device.alloc_stored(manifest.real, populations)?,
            by_members: device.alloc_doubles((slots * manifest.members.len() * cells).max(1))?,
            by_walls: device.alloc_doubles((slots * walls.len() * manifest.wall_stride as usize * cells).max(1))?,
            groups: device.ints(&groups)?,
            asked: walls.len(),
            pulls: device.alloc_doubles((solids * manifest.dim as usize).max(1))?,
            by_fields: device.alloc_reals(manifest.real, slots * Layout::fields(manifest).slot_len())?,
            whole: device.ints(&list(whole))?,
            cut: device.ints(&list(cut))?,
            seconds: 0.0,
        })
    }

    /// Changes derivatives by populations, cell by cell: `change(cell, derivatives)`.
    pub fn change(&mut self, flow: &Simulation, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        let layout = Layout::populations(flow.manifest());
        Ok(cells::update(&mut self.populations, layout, flow.grid(), flow.grid().leaves()?, change)?)
    }

    /// Adds derivatives by the macroscopic fields of the current step: `by_fields(cell, derivatives)` writes a number for each component.
    pub fn add_by_fields(
        &mut self,
        flow: &Simulation,
        by_fields: impl Fn(Cell, &mut [f64]) + Sync,
    ) -> Result<(), StepError> {
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
            for list in [&self.whole, &self.cut] {
                program.launch(kernels::MacroscopicAdjoint {
                    ids: list.slice(0..list.len()),
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
        flow.device().synchronize()?;
        let began = Instant::now();
        flow.device().scope(|| self.step_back_inside(subdomain, src, params))?;
        flow.device().synchronize()?;
        self.seconds += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// How long steps backwards have taken so far, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    fn step_back_inside(
        &mut self,
        subdomain: &Subdomain,
        src: &Buffer<Stored>,
        params: &kernels::Params,
    ) -> Result<(), StepError> {
        let (program, bodies) = (subdomain.program(), subdomain.bodies());
        let neighbours = &subdomain.grid().tables().neighbours;
        let has_walls = !program.manifest().boundaries.is_empty();
        for (list, bodies) in [(&self.whole, None), (&self.cut, bodies)] {
            program.launch(kernels::Gather {
                ids: list.slice(0..list.len()),
                sources: kernels::Sources {
                    neighbours: Some(neighbours),
                    walls: has_walls.then(|| subdomain.walls().arguments()),
                    links: bodies.map(|bodies| bodies.arguments()),
                    ..Default::default()
                },
                action: kernels::Action::CollideAdjoint {
                    src,
                    adjoint: &mut self.populations,
                    by_members: &mut self.by_members,
                },
                params,
            })?;
        }
        if !has_walls {
            program.launch(kernels::StreamAdjoint {
                ids: self.whole.slice(0..self.whole.len()),
                neighbours,
                arrived: &self.populations,
                adjoint: &mut self.before,
            })?;
        } else {
            program.launch(kernels::StreamAdjointWalls {
                ids: self.whole.slice(0..self.whole.len()),
                neighbours,
                walls: subdomain.walls().arguments(),
                backwards: kernels::Backwards {
                    src,
                    arrived: &self.populations,
                    groups: &self.groups,
                    asked: self.asked as i32,
                    by_walls: &mut self.by_walls,
                },
                adjoint: &mut self.before,
            })?;
            if let Some(bodies) = bodies {
                program.launch(kernels::StreamAdjointSolid {
                    ids: self.cut.slice(0..self.cut.len()),
                    neighbours,
                    walls: subdomain.walls().arguments(),
                    links: bodies.arguments(),
                    owners: &bodies.owners,
                    pulls: &self.pulls,
                    backwards: kernels::Backwards {
                        src,
                        arrived: &self.populations,
                        groups: &self.groups,
                        asked: self.asked as i32,
                        by_walls: &mut self.by_walls,
                    },
                    adjoint: &mut self.before,
                })?;
            }
        }
        std::mem::swap(&mut self.populations, &mut self.before);
        Ok(())
    }

    /// Visits derivatives by the populations of every cell: `each(cell, derivatives)`.
    pub fn visit(&self, flow: &Simulation, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
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
    let reasons = [
        (flow.manifest().kernel(Role::MacroscopicAdjoint).is_none(), "its kernels were compiled without"),
        (flow.subdomains() > 1, "it is divided among several devices or processes"),
        (flow.grid().levels().len() > 1 || flow.subdomains.first().is_adapted(), "its grid is refined"),
        (spec.motions.iter().any(Option::is_some), "solids move"),
        (spec.laws.iter().any(Option::is_some), "surfaces slide by a law of the wall"),
        (spec.prescribed.is_some(), "values of walls depend on time"),
        (flow.stepper.courses.is_some(), "parameters of the method depend on time"),
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
