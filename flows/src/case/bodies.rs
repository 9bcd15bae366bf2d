//! The solids of a case as wholes and by their parts, and where they are.

use std::ops::Range;

use lbm_runtime::geometry::solid::{BodyState, Solid, Solids};

use super::resolved::Case;
use super::solids::{Moves, Part, SolidBody};
use super::words::plain;

/// A solid as the case has it, or a part of its surface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Body<'a> {
    /// Number of the solid in the case, from 1.
    pub solid: usize,
    /// The part; none for the whole.
    pub part: Option<&'a Part>,
    /// The entries of [`Case::solids`] that make it up.
    pub entries: Range<usize>,
}

impl Body<'_> {
    /// As a part of names in formulas: `1`, `1_lid`.
    pub(super) fn word(&self) -> String {
        self.part.map_or(self.solid.to_string(), |part| format!("{}_{}", self.solid, plain(&part.name)))
    }

    /// For people: `solid 1`, `solid 1, lid`.
    pub fn title(&self) -> String {
        let part = self.part.map_or(String::new(), |part| format!(", {}", part.name));
        format!("solid {}{part}", self.solid)
    }
}

/// Entries of solids as wholes, in their order.
fn wholes(solids: &[SolidBody]) -> impl Iterator<Item = Body<'_>> {
    let mut first = 0;
    solids.chunk_by(|one, next| one.of == next.of).map(move |parts| {
        let entries = first..first + parts.len();
        first = entries.end;
        Body { solid: parts[0].of + 1, part: None, entries }
    })
}

/// The same, each followed by its parts, if it has any.
pub(super) fn wholes_and_parts(solids: &[SolidBody]) -> impl Iterator<Item = Body<'_>> {
    wholes(solids).flat_map(|whole| {
        let part = |at: usize| Some(Body { part: Some(solids[at].part.as_ref()?), entries: at..at + 1, ..whole });
        let parts: Vec<Body<'_>> = whole.entries.clone().filter_map(part).collect();
        std::iter::once(whole).chain(parts)
    })
}

impl Case {
    /// The solids of the case as wholes, in their order.
    pub fn bodies(&self) -> impl Iterator<Item = Body<'_>> {
        wholes(&self.solids)
    }

    /// The same, each followed by its parts, if it has any.
    pub fn bodies_and_parts(&self) -> impl Iterator<Item = Body<'_>> {
        wholes_and_parts(&self.solids)
    }

    /// Whether solids turn.
    pub fn turns(&self) -> bool {
        self.solids.iter().any(|body| body.moves.as_ref().is_some_and(Moves::turns))
    }

    /// Whether some solid moves.
    pub fn moves(&self) -> bool {
        self.solids.iter().any(|body| body.moves.is_some())
    }

    /// Whether the fluid moves some solid.
    pub fn floats(&self) -> bool {
        self.solids.iter().any(|body| body.free().is_some())
    }

    /// Its solids where they are at a step, on a grid of blocks of so many cells; `states`: those of the bodies that the fluid moves.
    pub fn solids_at(&self, block: [usize; 3], step: u64, states: &[(usize, BodyState)]) -> Solids {
        let bodies: Vec<Solid> = self.solids.iter().map(|body| body.solid.clone()).collect();
        let motions: Vec<_> = self.solids.iter().map(|body| body.motion(self.stop.steps)).collect();
        let solids = Solids::new(&bodies, self.dim, self.size, block, self.periodic);
        let mut solids = solids.moving(&bodies, &motions);
        solids.set_states(states);
        bodies.iter().for_each(|solid| solids.set_time(solid.level, step as f64));
        solids
    }
}
