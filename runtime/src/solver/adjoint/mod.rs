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
//! A divided flow has derivatives on each subdomain, by what it owns; what blocks of others have is exchanged between the two passes. Sums are over cells
//! in the order of the grid, so the bits do not depend on the number of subdomains, either.
//!
//! | module | job |
//! | --- | --- |
//! | `walls` | groups of walls by whose values is derived |
//! | `slots` | lists blocks by what they need |
//! | `lanes` | what subdomains read of each other's blocks |
//! | `crossing` | what crosses refinement interfaces, as tables of shares |
//! | `local` | derivatives on a subdomain, and the kernels of a step backwards there |
//! | `levels` | a step backwards of several levels |
//! | `state`, `shelf` | states of a flow, in memory and on disk |
//! | `revolve` | visits the states of a flow backwards, with room for a few of them |
//! | `start` | derivatives by the fields that a flow starts with |

mod crossing;
mod lanes;
mod levels;
mod local;
pub mod revolve;
mod shelf;
mod slots;
mod start;
mod state;
mod walls;

pub use shelf::Shelf;
pub use state::State;
pub use walls::{AtPlace, WallGroup};

use std::ops::Range;
use std::time::Instant;

use lbm_bundle::{AtFace, Role};

use crate::device::{Buffer, Floating};
use crate::geometry::Cell;
use crate::kernels::layout::Layout;
use crate::solver::adjoint::crossing::Crossing;
use crate::solver::adjoint::lanes::Lanes;
use crate::solver::adjoint::levels::Levels;
use crate::solver::adjoint::local::{Before, Flows, Local};
use crate::solver::adjoint::walls::Groups;
use crate::solver::arrays::{cells, params};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::spec::{FaceSpec, GridSpec};

/// Derivatives of an objective by the populations of a flow at one step, and what steps backwards have added up.
pub struct Adjoint {
    /// On each subdomain.
    locals: Vec<Local>,
    /// What these exchange of the blocks of each level.
    lanes: Vec<Lanes>,
    /// Of a grid of several levels.
    levels: Option<Levels>,
    /// Walls by whose values is derived.
    groups: Groups,
    /// How long steps backwards have taken, in seconds.
    seconds: f64,
}

impl Adjoint {
    /// Derivatives that are zero, of a flow in the box `spec`. An error says why a flow has no adjoint.
    pub fn new(flow: &Simulation, spec: &GridSpec, walls: &[WallGroup]) -> Result<Adjoint, StepError> {
        check(flow, spec)?;
        let (manifest, count) = (flow.manifest(), flow.grid().levels().len());
        let groups = Groups::new(flow, spec, walls)?;
        let packets = manifest.coupling.as_ref().and_then(|coupling| coupling.packets.as_ref());
        let crossing = packets.filter(|_| count > 1).map(|packets| Crossing::new(flow, spec, packets)).transpose()?;
        let crossed = crossing.as_ref().map_or(0, Crossing::count);
        let local = |of| Local::new(of, &groups, crossed, flow.subdomains() > 1);
        Ok(Adjoint {
            locals: Flows::of(flow).each().map(local).collect::<Result<_, _>>()?,
            lanes: (0..count).map(|level| Lanes::of_level(flow, level)).collect::<Result<_, _>>()?,
            levels: crossing.map(|crossing| Levels::new(flow, crossing)).transpose()?,
            groups,
            seconds: 0.0,
        })
    }

    /// Changes derivatives by populations, cell by cell: `change(cell, derivatives)`.
    pub fn change(&mut self, flow: &Simulation, change: impl Fn(Cell, &mut [f64]) + Sync) -> Result<(), StepError> {
        self.catch_up(flow)?;
        self.locals.iter_mut().zip(Flows::of(flow).each()).try_for_each(|(local, flow)| local.change(flow, &change))
    }

    /// Adds derivatives by the macroscopic fields of the current step: `by_fields(cell, derivatives)` writes a number for each component.
    pub fn add_by_fields(
        &mut self,
        flow: &Simulation,
        by_fields: impl Fn(Cell, &mut [f64]) + Sync,
    ) -> Result<(), StepError> {
        self.catch_up(flow)?;
        self.locals
            .iter_mut()
            .zip(Flows::of(flow).each())
            .try_for_each(|(local, flow)| local.add_by_fields(flow, &by_fields))
    }

    /// Makes derivatives by the populations after a step to those by the populations before it, which are those of the flow. `pulls`: for each
    /// solid the derivatives by the force on it in that step; zero for those that are not there.
    pub fn step_back(&mut self, flow: &mut Simulation, pulls: &[[f64; 3]]) -> Result<(), StepError> {
        let dim = flow.grid().dim();
        let pulls: Vec<f64> = pulls.iter().flat_map(|pull| &pull[..dim]).copied().collect();
        self.locals.iter_mut().try_for_each(|local| local.pull(&pulls, dim))?;
        if let Some(mut levels) = self.levels.take() {
            let done = self.levels_back(flow, &mut levels);
            self.levels = Some(levels);
            return done;
        }
        let set = flow.stepper.levels[0].current;
        self.lanes[0].exchange(&mut flow.subdomains.here, |subdomain| subdomain.populations_mut(set))?;
        self.timed(flow, |Adjoint { locals, lanes, .. }, flow| {
            for (local, flow) in locals.iter_mut().zip(flow.each()) {
                local.collide_back(flow, 0, Before::of(flow))?;
                local.leave_inside();
            }
            lanes[0].exchange(locals, |local| local.arrived_mut(0))?;
            let mut each = locals.iter_mut().zip(flow.each());
            each.try_for_each(|(local, flow)| local.stream_back(flow, 0, Before::of(flow), true))
        })
    }

    /// Blocks that have not yet stream backwards.
    fn catch_up(&mut self, flow: &Simulation) -> Result<(), StepError> {
        self.timed(flow, |Adjoint { locals, .. }, flow| {
            locals.iter_mut().zip(flow.each()).try_for_each(|(local, flow)| local.catch_up(flow))
        })
    }

    fn timed(
        &mut self,
        flow: &Simulation,
        run: impl FnOnce(&mut Adjoint, Flows<'_>) -> Result<(), StepError> + Send,
    ) -> Result<(), StepError> {
        let devices = flow.subdomains.devices();
        devices.synchronize()?;
        let began = Instant::now();
        let flow = Flows::of(flow);
        devices.first().scope(|| run(self, flow))?;
        devices.synchronize()?;
        self.seconds += began.elapsed().as_secs_f64();
        Ok(())
    }

    /// How long steps backwards have taken so far, in seconds.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Visits derivatives by the populations of every cell: `each(cell, derivatives)`.
    pub fn visit(&mut self, flow: &Simulation, each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        self.catch_up(flow)?;
        self.visit_array(flow, Layout::populations(flow.manifest()), Local::by_populations, each)
    }

    /// Visits every cell in an array of its subdomain.
    fn visit_array<E: Floating>(
        &self,
        flow: &Simulation,
        layout: Layout,
        array: impl Fn(&Local) -> &Buffer<E>,
        each: impl FnMut(Cell, &[f64]),
    ) -> Result<(), StepError> {
        let length = layout.slot_len().max(1);
        let read = |range: Range<usize>| {
            let mut values = Vec::with_capacity(range.len());
            for (id, slots) in flow.subdomains.runs(range.start / length..range.end / length) {
                let own = array(&self.locals[id.index()]);
                values.extend(own.read_reals(slots.start * length..slots.end * length)?);
            }
            Ok::<_, StepError>(values)
        };
        cells::visit(read, layout, flow.grid(), each)
    }

    /// Visits derivatives by the parameters of the method on the coarsest level, as every cell takes those of its own, in the order of the members of
    /// their struct.
    pub fn visit_params(&self, flow: &Simulation, mut each: impl FnMut(Cell, &[f64])) -> Result<(), StepError> {
        let (manifest, levels) = (flow.manifest(), &flow.stepper.levels);
        let slopes = params::by_coarsest(manifest, levels);
        let layout = Layout::accumulators(manifest, manifest.members.len());
        let mut by_coarsest = vec![0.0; manifest.members.len()];
        self.visit_array(
            flow,
            layout,
            |local| &local.by_members,
            |cell, values| {
                for (by, slopes) in by_coarsest.iter_mut().zip(&slopes[cell.level]) {
                    *by = slopes.iter().zip(values).map(|(slope, value)| slope * value).sum();
                }
                each(cell, &by_coarsest);
            },
        )
    }

    /// Derivatives by the parameters of the method, in the order of the members of their struct.
    pub fn by_params(&self, flow: &Simulation) -> Result<Vec<f64>, StepError> {
        let mut sums = vec![0.0; flow.manifest().members.len()];
        self.visit_params(flow, |_, values| sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value))?;
        Ok(sums)
    }

    /// Derivatives by the values of the walls that were asked for, in the order of the parameters of their rules: by a change that is the same
    /// everywhere, where they vary.
    pub fn by_walls(&mut self, flow: &Simulation) -> Result<Vec<Vec<f64>>, StepError> {
        self.catch_up(flow)?;
        let stride = flow.manifest().wall_stride as usize;
        let mut sums = vec![0.0; self.groups.count * stride];
        let layout = Layout::accumulators(flow.manifest(), sums.len());
        self.visit_array(
            flow,
            layout,
            |local| &local.by_walls,
            |_, values| {
                sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
            },
        )?;
        Ok(self.groups.of_asked(&sums, stride))
    }

    /// Derivatives by the values at each place of the face of that number among the walls that were asked for, if they vary along it.
    pub fn by_places(&mut self, flow: &Simulation, number: usize) -> Result<Vec<AtPlace>, StepError> {
        self.catch_up(flow)?;
        let stride = flow.manifest().wall_stride as usize;
        let length = Layout::accumulators(flow.manifest(), self.groups.count * stride).slot_len();
        self.groups.at_places(flow, number, |slot| {
            let own = &self.locals[flow.subdomains.owner(slot).index()].by_walls;
            Ok(own.read_reals(slot.index() * length..(slot.index() + 1) * length)?)
        })
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
        (flow.subdomains.processes().is_some(), "it is divided among several processes"),
        (flow.subdomains.first().is_adapted(), "its grid follows the flow"),
        (
            flow.grid().levels().len() > 1 && packets.is_none(),
            "the coupling of its levels is none of packets that are sums of populations",
        ),
        (
            flow.grid().levels().len() > 1
                && flow.manifest().boundaries.iter().any(|rule| rule.at_face == AtFace::Slip),
            "its grid is refined and has a symmetry plane",
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
