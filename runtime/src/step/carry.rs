//! The populations follow when the forest changes.

use lbm_bundle::Role;

use crate::device::Buffer;
use crate::kernels::{Given, KernelError, Program};
use crate::mesh::forest::{Carry, Change, Moves, Tables};

/// The two sets of populations of a forest that changes.
pub(super) struct Populations<'a> {
    pub(super) program: &'a Program,
    pub(super) sets: &'a mut [Buffer; 2],
    /// Which set is current on each level.
    pub(super) current: Vec<usize>,
}

impl Populations<'_> {
    fn between_levels<'a>(
        &'a mut self,
        slots: &'a Buffer,
        parts: &'a Buffer,
        count: usize,
        tables: &'a Tables,
    ) -> (&'a Program, Vec<(&'a str, Given<'a>)>) {
        let sets = self.current.iter().enumerate().map(|(level, set)| (*set as i32) << level).sum();
        let [first, second] = &mut *self.sets;
        let given = vec![
            ("ids", Given::Read(slots)),
            ("count", Given::Int(count as i32)),
            ("parts", Given::Read(parts)),
            ("nodes", Given::Read(&tables.node)),
            ("levels", Given::Read(&tables.level)),
            ("sets", Given::Int(sets)),
            ("populations_0", Given::Write(first)),
            ("populations_1", Given::Write(second)),
        ];
        (self.program, given)
    }

    /// Copies what some slots have in one set from slots of the other: `from[slot]`.
    pub(super) fn relocate(
        &mut self,
        slots: Given<'_>,
        count: usize,
        from: &Buffer,
        source: usize,
    ) -> Result<(), KernelError> {
        let [first, second] = &mut *self.sets;
        let (src, dst) = if source == 0 { (first, second) } else { (second, first) };
        let given = vec![
            ("ids", slots),
            ("count", Given::Int(count as i32)),
            ("from", Given::Read(from)),
            ("src", Given::Read(src)),
            ("dst", Given::Write(dst)),
        ];
        self.program.launch(Role::Relocate, count, given)
    }
}

impl Carry for Populations<'_> {
    fn average(&mut self, Change { slots, count, parts, tables }: Change<'_>) -> Result<(), KernelError> {
        let (program, given) = self.between_levels(slots, parts, count, tables);
        program.launch(Role::Average, count, given)
    }

    fn fill(&mut self, Change { slots, count, parts, tables }: Change<'_>) -> Result<(), KernelError> {
        let (program, mut given) = self.between_levels(slots, parts, count, tables);
        given.push(("neighbours", Given::Read(&tables.neighbours)));
        program.launch(Role::Fill, count, given)
    }

    /// All levels must have the same current set; afterwards it is the other one.
    fn reorder(&mut self, Moves { slots, count, from }: Moves<'_>) -> Result<(), KernelError> {
        let source = self.current.first().copied().unwrap_or(0);
        self.relocate(Given::Read(slots), count, from, source)
    }
}
