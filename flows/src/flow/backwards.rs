//! What steps backwards work on. After [`Backwards::new`] a flow is known to have an adjoint, and memory for it is there.

use lbm_runtime::geometry;
use lbm_runtime::solver::adjoint::{Adjoint, State, WallGroup};
use lbm_runtime::solver::{Simulation, StepError};

use super::control::Kernels;
use super::error::FlowError;
use super::grid::grid_of;
use super::placement::Placement;
use crate::case::Case;

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
        // That of now is kept, and one beside those of the schedule.
        let states = gradient.states.min(steps).saturating_add(1);
        let bytes = usize::try_from(states).unwrap_or(usize::MAX).saturating_mul(State::bytes(flow));
        let device = placement.first();
        if device.memory_available().is_some_and(|available| bytes > available) {
            return Err(StepError::from(device.out_of_memory(bytes)).into());
        }
        Ok(Some(Backwards { adjoint, groups }))
    }
}

/// Walls whose rules have values that are the same everywhere and at any time.
fn groups(case: &Case) -> Vec<Group> {
    let faces =
        case.walls.iter().filter(|wall| !wall.values.is_empty() && wall.formulas.is_empty() && wall.patches.is_empty());
    let of_face = |wall: &crate::case::Wall| Group {
        walls: WallGroup::Face(geometry::Face::of_axis(wall.face.axis)[usize::from(wall.face.high)]),
        owner: wall.face.name().to_string(),
        rule: wall.rule.clone(),
    };
    let solids = case.solids.iter().enumerate();
    let solids = solids.filter(|(_, body)| !body.solid.values.is_empty() && body.formulas.is_empty());
    let of_solid = |(number, body): (usize, &crate::case::SolidBody)| Group {
        walls: WallGroup::Solid(number),
        owner: (number + 1).to_string(),
        rule: body.solid.rule.clone(),
    };
    faces.map(of_face).chain(solids.map(of_solid)).collect()
}
