//! What steps backwards work on. After [`Backwards::new`] a flow is known to have an adjoint, and memory for it is there.

use std::path::Path;

use lbm_runtime::geometry;
use lbm_runtime::solver::adjoint::revolve::{Room, states_on_disk};
use lbm_runtime::solver::adjoint::{Adjoint, Shelf, State, WallGroup};
use lbm_runtime::solver::{Simulation, StepError};

use super::control::Kernels;
use super::error::FlowError;
use super::grid::grid_of;
use super::placement::Placement;
use crate::case::{self, Case};

/// A group of walls with the name of its owner and that of its rule.
pub(super) struct Group {
    pub(super) walls: WallGroup,
    pub(super) owner: String,
    pub(super) rule: String,
}

/// What steps backwards work on.
pub(super) struct Backwards {
    pub(super) adjoint: Adjoint,
    /// The walls by whose values is derived, in the order of the adjoint.
    pub(super) groups: Vec<Group>,
    /// States that there is room for in memory, and those beside on disk.
    pub(super) memory: u64,
    pub(super) on_disk: u64,
}

impl Backwards {
    /// For a case that asks for derivatives; an error says why its flow has none.
    pub(super) fn new(
        case: &Case,
        kernels: Kernels<'_>,
        placement: &Placement,
        flow: &Simulation,
        steps: u64,
    ) -> Result<Option<Backwards>, FlowError> {
        let Some(gradient) = &case.gradient else { return Ok(None) };
        let groups = groups(case);
        let walls: Vec<WallGroup> = groups.iter().map(|group| group.walls).collect();
        let grid = grid_of(case, kernels, placement.first())?;
        let adjoint = Adjoint::new(flow, &grid, &walls)?;
        // That of the end of a run, and one beside those of the schedule.
        let states = gradient.states.min(steps).saturating_add(2);
        let bytes = usize::try_from(states).unwrap_or(usize::MAX).saturating_mul(State::bytes(flow));
        let device = placement.first();
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(StepError::from(device.out_of_memory(bytes)).into());
        }
        let on_disk = states_on_disk(steps, gradient.states, gradient.disk / Shelf::bytes(flow)?.max(1));
        Ok(Some(Backwards { adjoint, groups, memory: gradient.states, on_disk }))
    }
}

impl Backwards {
    /// Room for states, those on disk in a file in a folder.
    pub(super) fn room(&self, folder: &Path) -> Result<Room, StepError> {
        let shelf = || Ok::<_, StepError>(Shelf::new(Shelf::file(folder)?, self.on_disk));
        Ok(Room { memory: self.memory, disk: (self.on_disk > 0).then(shelf).transpose()? })
    }
}

/// Walls whose rules have values, those at faces also where they vary along these.
fn groups(case: &Case) -> Vec<Group> {
    let has_values = |wall: &&case::Wall| !wall.values.is_empty() || !wall.formulas.is_empty();
    let faces = case.walls.iter().filter(has_values).filter(|wall| wall.patches.is_empty());
    let of_face = |wall: &case::Wall| Group {
        walls: WallGroup::Face(geometry::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)]),
        owner: wall.face.name().to_string(),
        rule: wall.rule.clone(),
    };
    let solids = case.solids.iter().enumerate();
    let solids = solids.filter(|(_, body)| !body.solid.values.is_empty() && body.formulas.is_empty());
    let of_solid = |(number, body): (usize, &case::SolidBody)| Group {
        walls: WallGroup::Solid(number),
        owner: (number + 1).to_string(),
        rule: body.solid.rule.clone(),
    };
    faces.map(of_face).chain(solids.map(of_solid)).collect()
}
