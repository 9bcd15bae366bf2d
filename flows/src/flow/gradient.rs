//! Derivatives of the objective of a case: the flow again from its start, and then backwards.

use std::path::Path;
use std::time::Instant;

use lbm_bundle::DISTANCE;
use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::adjoint::revolve::{Visit, backward, forward_steps};
use lbm_runtime::solver::adjoint::{Adjoint, State, WallGroup};
use lbm_runtime::solver::snapshot::{Component, Snapshot};
use lbm_runtime::solver::{Simulation, StepError, fields};

use super::backwards::Backwards;
use super::control::{Control, Kernels};
use super::error::FlowError;
use super::objective::Seen;
use super::placement::Placement;
use super::run::Run;
use super::setup::fill;
use crate::case::{Case, Gradient, Steady, StopReason};
use crate::output::progress::{Back, Progress};
use crate::output::{Data, Derivatives, DerivedProfile as Profile, Recorder, Settled, Work};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Seconds between two moments at which whoever waits for a steady flow learns of it.
const MOMENT: f64 = 0.1;

/// Why steps backwards have ended before the first step.
enum Ended {
    Early(StopReason),
    Failed(FlowError),
}

impl<E: Into<FlowError>> From<E> for Ended {
    fn from(error: E) -> Ended {
        Ended::Failed(error.into())
    }
}

impl<'a> Run<'a> {
    /// Derives the objective of the case, if it has one, and records the result. The flow is then at its start; or, if that has ended early for
    /// the reason that is returned, at its end as it was.
    pub(super) fn derive(
        &mut self,
        recorder: &mut Option<Recorder<'a>>,
        control: Control<'_>,
        progress: &mut Progress<'_>,
    ) -> Result<Option<StopReason>, FlowError> {
        let (Some(mut backwards), Some(gradient)) = (self.backwards.take(), &self.case.gradient) else {
            return Ok(None);
        };
        let (is_steady, case, step) = (self.is_steady(), self.case, self.flow.step());
        // A steady flow stays where it is.
        let (steps, end) = match gradient.steady {
            Some(_) => (0, None),
            None => (step, Some(State::of(&self.flow)?)),
        };
        if end.is_some() {
            fill(case, &mut self.flow)?;
        }
        // Without results, as of other processes, files are where the system has those of no name.
        let folder = recorder.as_ref().map_or_else(std::env::temp_dir, |recorder| recorder.folder().to_path_buf());
        let (processes, began) = (self.processes.clone(), self.began);
        let mut pace = |back: Back| {
            progress.update_back(step, back);
            control.early(case, &processes, began).map_or(Ok(()), |reason| Err(Ended::Early(reason)))
        };
        let done = back::<Ended>(case, gradient, &mut self.flow, (&mut backwards, &folder), steps, (None, &mut pace));
        progress.finish();
        let (objective, mut work) = match done {
            Ok(done) => done,
            Err(Ended::Failed(error)) => return Err(error),
            Err(Ended::Early(reason)) => {
                end.map_or(Ok(()), |end| end.restore(&mut self.flow))?;
                return Ok(Some(reason));
            }
        };
        work.settled.iter_mut().for_each(|settled| settled.is_steady = is_steady);
        let flow = &mut self.flow;
        let mut cells = Cells::new(flow, &mut backwards.adjoint)?;
        cells.add_start(case, flow, &mut backwards.adjoint)?;
        let found = found(case, gradient, flow, &mut backwards, cells, (objective, work))?;
        recorder.as_mut().map_or(Ok(()), |recorder| recorder.record(Data::Gradient(&found)))?;
        Ok(None)
    }
}

/// Derivatives by components of the fields in all cells, each with the position of its component.
pub type ByFields = Vec<(usize, Vec<f64>)>;

/// Is told from time to time how far steps backwards are, and ends them with an error.
pub type Pace<'a, E> = &'a mut dyn FnMut(Back) -> Result<(), E>;

/// An objective of the fields at the end: its value and its derivatives.
pub type AtEnd<'a, E> = &'a mut dyn FnMut(&Snapshot) -> Result<(f64, ByFields), E>;

/// Derivatives of an objective, and those by each population in all cells.
pub type WithPopulations = (Derivatives, Vec<Vec<f64>>);

/// The objective of a case, or another one, and its derivatives, of a flow that takes so many steps from where it is; it is there again afterwards,
/// also if the `pace` ends it.
/// Derivatives by its populations stand beside. The state is taken as given, unless it is the start `of_case`: that depends on parameters. Nothing of a
/// case without `[gradient]`.
pub fn gradient<E: From<FlowError> + From<StepError>>(
    case: &Case,
    kernels: Kernels<'_>,
    placement: &Placement,
    flow: &mut Simulation,
    (steps, of_case): (u64, bool),
    (at_end, pace): (Option<AtEnd<'_, E>>, Pace<'_, E>),
) -> Result<Option<WithPopulations>, E> {
    let backwards = Backwards::new(case, kernels, placement, flow, steps)?;
    let (Some(mut backwards), Some(gradient)) = (backwards, &case.gradient) else { return Ok(None) };
    let done = back(case, gradient, flow, (&mut backwards, &std::env::temp_dir()), steps, (at_end, pace))?;
    let mut cells = Cells::new(flow, &mut backwards.adjoint)?;
    if of_case {
        cells.add_start(case, flow, &mut backwards.adjoint)?;
    }
    let mut populations = vec![vec![0.0; cells.places.components[0].data.len()]; flow.manifest().values()];
    backwards.adjoint.visit(flow, |cell, values| {
        let Some(at) = index(&cells.places, cell) else { return };
        populations.iter_mut().zip(values).for_each(|(own, value)| own[at] = *value);
    })?;
    Ok(Some((found(case, gradient, flow, &mut backwards, cells, done)?, populations)))
}

/// Takes so many steps and goes back: the objective, and what was done for its derivatives. The flow is then where it was.
fn back<E: From<FlowError> + From<StepError>>(
    case: &Case,
    gradient: &Gradient,
    flow: &mut Simulation,
    (backwards, folder): (&mut Backwards, &Path),
    steps: u64,
    (mut at_end, pace): (Option<AtEnd<'_, E>>, Pace<'_, E>),
) -> Result<(f64, Work), E> {
    if let Some(steady) = gradient.steady {
        return back_from_steady(case, (gradient, steady), flow, backwards, steps, (at_end, pace));
    }
    let (began, mut objective) = (Instant::now(), 0.0);
    let (names, end) = (fields::component_names(flow.manifest()), flow.step() + steps);
    let last = if at_end.is_some() { 1 } else { gradient.steps.min(steps) };
    let (from, share) = (end + 1 - last.max(1), 1.0 / last.max(1) as f64);
    let (room, states) = (backwards.room(folder)?, backwards.memory.saturating_add(backwards.on_disk));
    let (forward, begun, mut derived) = (forward_steps(steps, states) + 1, Taken::by(flow), 0);
    pace(Back { steps, ..Back::default() })?;
    backward(flow, (steps, from), room, &mut |flow: &mut Simulation, visit: Visit| {
        pace(Back {
            step: derived,
            steps,
            remaining: begun.remaining(flow, forward, &backwards.adjoint, (derived, steps)),
        })?;
        derived += u64::from(visit == Visit::Back);
        if visit == Visit::Back {
            let mut pulls = vec![[0.0; 3]; case.solids.len()];
            // The force in the step that begins here.
            if at_end.is_none() && gradient.forces.is_some() && flow.step() + last >= end {
                let (value, slopes) = gradient.slope_by_forces(&flow.forces()?);
                objective += share * value;
                pulls = slopes.into_iter().map(|slope| slope.map(|slope| share * slope)).collect();
            }
            backwards.adjoint.step_back(flow, &pulls)?;
        }
        let is_due = flow.step() >= from && (visit == Visit::Forward || flow.step() < end);
        if visit == Visit::Passing || !is_due || at_end.is_none() && gradient.objective.is_none() {
            return Ok::<(), E>(());
        }
        if let Some(of_fields) = &mut at_end {
            objective = add_at_end(flow, &mut backwards.adjoint, of_fields)?;
            return Ok(());
        }
        let seen = Seen { snapshot: flow.snapshot()?, gradient, names: &names, share };
        if visit == Visit::Forward {
            objective += seen.objective();
        }
        // Of the state at the end, derivatives are there before the first step backwards.
        if visit == Visit::Back || flow.step() == end {
            backwards.adjoint.add_by_fields(flow, |cell, out| seen.slopes(cell, out))?;
        }
        Ok(())
    })?;
    // A step backwards of several levels takes the step once more.
    let of_levels = if flow.grid().levels().len() > 1 { steps } else { 0 };
    let again = forward + of_levels;
    let (seconds, of_backwards) = (began.elapsed().as_secs_f64(), backwards.adjoint.seconds());
    Ok((objective, Work { steps, again, on_disk: backwards.on_disk, settled: None, seconds, of_backwards }))
}

/// Steps that a flow has taken, and their time in seconds.
struct Taken {
    steps: u64,
    seconds: f64,
}

impl Taken {
    fn by(flow: &Simulation) -> Taken {
        Taken { steps: flow.timings().steps(), seconds: flow.timings().seconds() }
    }

    /// The time for the rest of so many `forward` steps since then, and of those backwards, once both have been taken.
    fn remaining(&self, flow: &Simulation, forward: u64, adjoint: &Adjoint, (back, of): (u64, u64)) -> Option<f64> {
        let now = Taken::by(flow);
        let taken = now.steps.saturating_sub(self.steps);
        let of_forward = (now.seconds - self.seconds) / taken.max(1) as f64 * forward.saturating_sub(taken) as f64;
        (back > 0).then(|| of_forward + adjoint.seconds() / back as f64 * (of - back) as f64)
    }
}

/// Adds derivatives of an objective by the fields of the flow; its value.
fn add_at_end<E: From<StepError>>(
    flow: &mut Simulation,
    adjoint: &mut Adjoint,
    of_fields: AtEnd<'_, E>,
) -> Result<f64, E> {
    let snapshot = flow.snapshot()?;
    let (value, slopes) = of_fields(&snapshot)?;
    adjoint.add_by_fields(flow, |cell, out| {
        let at = index(&snapshot, cell).filter(|at| !snapshot.solid.get(*at).is_some_and(|solid| *solid));
        at.into_iter().for_each(|at| slopes.iter().for_each(|(component, data)| out[*component] = data[at]));
    })?;
    Ok(value)
}

/// Lets the flow become steady in so many steps at most, and goes back from there. A step leaves the steady state `f` as it is, `f = F(f, p)`, so all steps
/// backwards are those of one linear map. With `a` the derivative of the objective by `f`, that by `p` is the sum over `n` of `(dF/dp)^T (dF/df)^n^T a`.
fn back_from_steady<E: From<FlowError> + From<StepError>>(
    case: &Case,
    (gradient, steady): (&Gradient, Steady),
    flow: &mut Simulation,
    Backwards { adjoint, .. }: &mut Backwards,
    steps: u64,
    (at_end, pace): (Option<AtEnd<'_, E>>, Pace<'_, E>),
) -> Result<(f64, Work), E> {
    let (began, state) = (Instant::now(), (steps > 0).then(|| State::of(flow)).transpose()?);
    let result = settle_and_go_back(case, (gradient, steady), flow, adjoint, steps, (at_end, pace));
    // Where it was, also if that has ended early.
    state.map_or(Ok(()), |state| state.restore(flow))?;
    let (objective, mut work) = result?;
    (work.seconds, work.of_backwards) = (began.elapsed().as_secs_f64(), adjoint.seconds());
    Ok((objective, work))
}

fn settle_and_go_back<E: From<FlowError> + From<StepError>>(
    case: &Case,
    (gradient, steady): (&Gradient, Steady),
    flow: &mut Simulation,
    adjoint: &mut Adjoint,
    steps: u64,
    (at_end, pace): (Option<AtEnd<'_, E>>, Pace<'_, E>),
) -> Result<(f64, Work), E> {
    let of = case.stop.steps;
    pace(Back { steps: of, ..Back::default() })?;
    let (waited, is_steady) = settle(case, flow, steps, pace)?;
    let (names, mut pulls) = (fields::component_names(flow.manifest()), vec![[0.0; 3]; case.solids.len()]);
    let objective = match at_end {
        Some(of_fields) => add_at_end(flow, adjoint, of_fields)?,
        None => {
            let seen = Seen { snapshot: flow.snapshot()?, gradient, names: &names, share: 1.0 };
            adjoint.add_by_fields(flow, |cell, out| seen.slopes(cell, out))?;
            let (of_forces, slopes) = gradient.slope_by_forces(&flow.forces()?);
            pulls = slopes;
            seen.objective() + of_forces
        }
    };
    let (mut taken, mut change, mut before) = (0, f64::INFINITY, None);
    while taken < of && change >= steady.tolerance {
        // Nobody knows when derivatives are steady.
        pace(Back { step: taken, steps: of, remaining: None })?;
        adjoint.step_back(flow, &pulls)?;
        pulls.fill([0.0; 3]);
        taken += 1;
        if taken.is_multiple_of(steady.check_every) {
            let now = Cells::new(flow, adjoint)?.by;
            change = before.replace(now.clone()).map_or(f64::INFINITY, |before| change_of(&before, &now));
        }
    }
    let of_levels = if flow.grid().levels().len() > 1 { taken } else { 0 };
    let settled = Some(Settled { is_steady, change });
    Ok((objective, Work { steps: taken, again: waited + of_levels, settled, ..Work::default() }))
}

/// Takes steps until the flow is steady, so many at most: how many it has taken, and whether the flow is steady.
fn settle<E: From<StepError>>(
    case: &Case,
    flow: &mut Simulation,
    steps: u64,
    pace: Pace<'_, E>,
) -> Result<(u64, bool), E> {
    let (begin, mut is_steady) = (flow.step(), false);
    while let Some(steady) = case.stop.steady.filter(|_| !is_steady && flow.step() - begin < steps) {
        flow.set_reference()?;
        let check = flow.step() + steady.check_every.min(begin + steps - flow.step());
        while flow.step() < check {
            pace(Back { steps: case.stop.steps, ..Back::default() })?;
            let moment = (flow.timings().steps_per_second() * MOMENT) as u64;
            flow.run(moment.clamp(1, check - flow.step()))?;
        }
        is_steady = flow.check_fields()?.change.is_some_and(|change| case.residual(change) < steady.tolerance);
    }
    Ok((flow.step() - begin, is_steady))
}

/// The greatest of the changes of these arrays, each over the norm that it has now; NaN where one of them is not finite.
fn change_of(before: &[Vec<f64>], now: &[Vec<f64>]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>().sqrt();
    let change = |(before, now): (&Vec<f64>, &Vec<f64>)| {
        let change = norm(&mut before.iter().zip(now).map(|(before, now)| now - before));
        if change == 0.0 { 0.0 } else { change / norm(&mut now.iter().copied()) }
    };
    before
        .iter()
        .zip(now)
        .map(change)
        .fold(0.0, |most: f64, change| if change > most || change.is_nan() { change } else { most })
}

/// Derivatives by what each cell takes: by parameters as members of their struct, then by values that it keeps.
struct Cells {
    /// Of each of them, all cells of a snapshot.
    by: Vec<Vec<f64>>,
    members: usize,
    /// Where the numbers of a cell are.
    places: Snapshot,
}

impl Cells {
    /// What steps backwards have found.
    fn new(flow: &mut Simulation, adjoint: &mut Adjoint) -> Result<Cells, FlowError> {
        let places = flow.snapshot()?;
        let manifest = flow.manifest();
        let members = manifest.members.len();
        let by = vec![vec![0.0; places.components[0].data.len()]; members + manifest.states.len()];
        let mut cells = Cells { by, members, places };
        adjoint.visit_params(flow, |cell, values| cells.put(cell, 0, values))?;
        let first = manifest.first_state();
        adjoint.visit(flow, |cell, values| cells.put(cell, members, &values[first..]))?;
        Ok(cells)
    }

    fn put(&mut self, cell: Cell, first: usize, values: &[f64]) {
        let Some(at) = index(&self.places, cell) else { return };
        self.by[first..].iter_mut().zip(values).for_each(|(by, value)| by[at] += value);
    }

    /// Adds what comes of the start: populations there may depend on a force, say. They are polynomials of low order in it, so wide differences
    /// are exact.
    fn add_start(&mut self, case: &Case, flow: &mut Simulation, adjoint: &mut Adjoint) -> Result<(), FlowError> {
        const WIDTH: f64 = 1e-3;
        let manifest = flow.manifest().clone();
        let populations = manifest.first_state();
        let places = &self.places;
        let mut weights = vec![];
        adjoint.visit(flow, |_, values| weights.extend_from_slice(&values[..populations]))?;
        let add = |flow: &mut Simulation, change: f64, kept: Option<usize>, by: &mut [f64]| {
            flow.init_cells(|cell, out| {
                case.start.at(cell.centre(), out);
                kept.into_iter().for_each(|at| out[at] += change);
            })?;
            let mut next = weights.chunks(populations.max(1));
            Ok::<(), FlowError>(flow.visit_populations(|cell, values| {
                let sum: f64 = next.next().unwrap_or_default().iter().zip(values).map(|(weight, f)| weight * f).sum();
                if let Some(at) = index(places, cell) {
                    by[at] += sum / (2.0 * change);
                }
            })?)
        };
        let (of_members, of_kept) = self.by.split_at_mut(self.members);
        for (member, by) in manifest.members.iter().zip(of_members) {
            let Some((_, values)) = case.params.iter().find(|(name, _)| *name == member.param) else { continue };
            let value = values[member.component as usize];
            let range = manifest.params.iter().find(|param| param.name == member.param).and_then(|param| param.range);
            let width = range.map_or(WIDTH, |(low, high)| WIDTH.min(value - low).min(high - value) / 2.0);
            for change in [width, -width] {
                let mut changed = values.clone();
                changed[member.component as usize] += change;
                flow.set_param(&member.param, &changed)?;
                add(flow, change, None, by)?;
            }
            flow.set_param(&member.param, values)?;
        }
        let components = manifest.component_names();
        for (state, by) in manifest.states.iter().zip(of_kept) {
            let Some(at) = components.iter().position(|name| *name == state.name) else { continue };
            for change in [WIDTH, -WIDTH] {
                add(flow, change, Some(at), by)?;
            }
        }
        fill(case, flow)
    }
}

/// Where the numbers of a cell of the domain are among those of all cells.
fn index(places: &Snapshot, cell: Cell) -> Option<usize> {
    places.cover(cell).map(|(at, _)| at).filter(|_| places.domain.contains(cell))
}

/// What steps backwards have found.
fn found(
    case: &Case,
    gradient: &Gradient,
    flow: &mut Simulation,
    Backwards { adjoint, groups, .. }: &mut Backwards,
    Cells { by, members, .. }: Cells,
    (objective, work): (f64, Work),
) -> Result<Derivatives, FlowError> {
    let manifest = flow.manifest().clone();
    let mut params: Vec<(String, Vec<f64>)> = vec![];
    for (member, by) in manifest.members.iter().zip(&by) {
        let sum = by.iter().sum();
        match params.iter_mut().find(|(name, _)| *name == member.param) {
            Some((_, values)) => values.push(sum),
            None => params.push((member.param.clone(), vec![sum])),
        }
    }
    let mut cells = flow.snapshot()?;
    let of_start = adjoint.by_start(flow, &cells, case.scales.viscosity)?;
    let solid: Vec<bool> = cells.components[0].data.iter().map(|value| value.is_nan()).collect();
    let named = manifest.members.iter().map(|member| (member.name.trim_end_matches('_'), &member.param));
    let named = named.chain(manifest.states.iter().map(|state| (&state.name[..], &state.name)));
    let mut components = vec![];
    for (at, ((name, param), mut data)) in named.zip(by).enumerate() {
        data.iter_mut().zip(&solid).filter(|(_, solid)| **solid).for_each(|(value, _)| *value = f64::NAN);
        let kept = gradient.kept.iter().filter(|_| at >= members).find(|kept| kept.state == name);
        data.iter_mut().for_each(|value| *value /= kept.map_or(1.0, |kept| kept.unit));
        let name = kept.map_or(name, |kept| &kept.param);
        if !gradient.made.contains(param) {
            components.push(Component { name: format!("by_{name}"), data });
        }
    }
    let places: Vec<bool> =
        manifest.fields.iter().flat_map(|field| vec![field.place; field.components as usize]).collect();
    for ((name, data), _) in
        manifest.component_names().into_iter().zip(of_start).zip(places).filter(|(_, place)| !place)
    {
        components.push(Component { name: format!("by_start_{name}"), data });
    }
    params.retain(|(name, _)| !gradient.made.contains(name));
    cells.components = components;
    let (mut faces, mut solids, mut profiles) = (vec![], vec![], vec![]);
    for (number, (group, values)) in groups.iter().zip(adjoint.by_walls(flow)?).enumerate() {
        let Some(rule) = manifest.boundaries.iter().find(|rule| rule.name == group.rule) else { continue };
        let mut next = values.into_iter();
        let of_rule = rule
            .params
            .iter()
            .map(|param| (param.name.clone(), next.by_ref().take(param.components as usize).collect::<Vec<f64>>()));
        // The distance of a surface is another in each link.
        let named = (group.owner.clone(), of_rule.filter(|(name, _)| name != DISTANCE).collect());
        match group.walls {
            WallGroup::Face(_) => faces.push(named),
            WallGroup::Solid(_) => solids.push(named),
        }
        let places = adjoint.by_places(flow, number)?;
        if !places.is_empty() {
            let columns = rule.params.iter().flat_map(|param| match param.components {
                1 => vec![param.name.clone()],
                several => AXES[..several as usize].iter().map(|axis| format!("{}_{axis}", param.name)).collect(),
            });
            profiles.push(Profile { face: group.owner.clone(), columns: columns.collect(), places });
        }
    }
    Ok(Derivatives { objective, work, params, faces, solids, profiles, cells })
}
