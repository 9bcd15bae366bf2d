//! Sets up a flow: the grid and the kernels of a case on its devices. After [`set_up`] all of it is allocated, after a
//! check that memory suffices. After [`start`] the cells also have the initial values of the case.

use std::collections::HashSet;

use lbm_bundle::Bundle;
use lbm_bundle::criteria::CriterionRole;
use lbm_runtime::device::Available;
use lbm_runtime::geometry::Block;
use lbm_runtime::kernels::{Criterion, KernelError};
use lbm_runtime::solver::memory::Memory;
use lbm_runtime::solver::{Adaptations, GridSpec, Prepared, Simulation, StepError};

use super::control::Kernels;
use super::error::FlowError;
use super::grid::{courses_of, grid_of, places_of, resume_bodies};
use super::placement::Placement;
use super::processes;
use crate::case::{Buffers, Case};
use crate::output::{Schedule, Source};
use crate::restart::Restart;

/// A flow with uninitialised cells.
pub(super) fn set_up(
    case: &Case,
    kernels: Kernels<'_>,
    placement: &Placement,
    restart: Option<&Restart>,
) -> Result<(Simulation, Memory), FlowError> {
    let mut grid = grid_of(case, kernels, placement.first())?;
    if let Some(restart) = restart {
        resume_bodies(&mut grid, &restart.course().bodies);
    }
    let (prepared, memory) = prepare(case, kernels, placement, &grid, restart, placement.available())?;
    let mut flow = prepared.simulation(&case.params)?;
    if !case.courses.is_empty() {
        flow.follow_courses(courses_of(case))?;
    }
    if !case.places.is_empty() {
        flow.follow_places(places_of(case));
    }
    Ok((flow, memory))
}

/// Sets the initial values of a case.
pub(super) fn fill(case: &Case, flow: &mut Simulation) -> Result<(), FlowError> {
    flow.init_cells(|cell, out| case.start.at(cell.centre(), out))?;
    if let (false, Some(viscosity)) = (case.start.is_uniform(), case.scales.viscosity) {
        flow.start_with_stress(viscosity)?;
    }
    Ok(())
}

/// A case at its start, for programs that do the steps and observe them themselves; no output is written.
pub fn start(case: &Case, kernels: Kernels<'_>, placement: &Placement) -> Result<Simulation, FlowError> {
    let (mut flow, _) = set_up(case, kernels, placement, None)?;
    fill(case, &mut flow)?;
    Ok(flow)
}

/// The grid of a case, refined as the case or the restart file specifies. Refused if it does not fit into `available`.
pub(super) fn prepare<'a>(
    case: &Case,
    kernels: Kernels<'_>,
    placement: &Placement,
    grid: &'a GridSpec,
    restart: Option<&Restart>,
    available: Available,
) -> Result<(Prepared<'a>, Memory), FlowError> {
    let (device, devices, processes) = (placement.first(), placement.devices(), placement.processes());
    let steady = case.stop.steady.is_some();
    let prepared = match &case.refinement {
        None => Prepared::refined(device, kernels.method, grid, 1, |_| false)?,
        Some(refinement) => {
            let criteria =
                kernels.criteria.map(|bundle| Criterion::load(device, bundle)).transpose().map_err(StepError::from)?;
            let adaptivity = refinement.adaptivity(criteria.as_deref().unwrap_or_default(), steady);
            let adaptivity = adaptivity.ok_or_else(|| lacks_criteria(kernels.method))?;
            let adaptivity = processes::on(processes, devices, available, adaptivity).map_err(StepError::from)?;
            let refined = restart.map(|restart| refined(restart.leaves()));
            let refines = refined.as_ref().map(|refined| |block: Block| refined.contains(&block));
            let refines = refines.as_ref().map(|refines| refines as &(dyn Fn(Block) -> bool + Sync));
            let refines = refines.zip(restart.map(|restart| restart.course().step));
            let prepared = Prepared::adaptive(device, kernels.method, grid, &adaptivity, refines)?;
            let Adaptations { most_refused: refused, room, .. } = prepared.adaptations();
            // A grid that adapts to the flow continues with fewer refinements and reports it.
            if refused > 0 && adaptivity.during.is_none() {
                return Err(FlowError::Refused { refused, room });
            }
            prepared
        }
    };
    let prepared = prepared.in_processes(processes, devices, kernels.method)?;
    let prepared = if case.buffers == Buffers::One { prepared.in_one_set()? } else { prepared };
    prepared.check(&case.params)?;
    let schedule = Schedule::new(case, &kernels.method.manifest);
    let memory = |prepared: &Prepared| prepared.memory(schedule.takes(Source::Means), steady, schedule.copies());
    let of_two = memory(&prepared)?;
    let (prepared, memory) = match of_two.lack(available) {
        Some(lack) if case.buffers == Buffers::Auto && prepared.fits_one_set().is_ok() => {
            let why = format!("`buffers`: one set of populations, because two need {lack}");
            let prepared = prepared.in_one_set()?.noting(why);
            let of_one = memory(&prepared)?;
            (prepared, of_one)
        }
        None if case.buffers == Buffers::Auto => {
            (prepared.noting("`buffers`: two sets of populations, for which there is memory".into()), of_two)
        }
        _ => (prepared, of_two),
    };
    match memory.lack(available) {
        None => Ok((prepared, memory)),
        Some(lack) => Err(FlowError::Memory { lack, parts: memory.parts() }),
    }
}

/// The error for a case with refinement but without the kernels of its criteria.
fn lacks_criteria(method: &Bundle) -> StepError {
    let (spec, role) = (method.manifest.spec.clone(), CriterionRole::TargetLevels.name().into());
    KernelError::MissingRole { spec, role }.into()
}

/// All ancestors of the leaves.
fn refined(leaves: &[Block]) -> HashSet<Block> {
    let mut refined = HashSet::new();
    for leaf in leaves {
        for block in std::iter::successors(leaf.parent(), |block| block.parent()) {
            if !refined.insert(block) {
                break;
            }
        }
    }
    refined
}
