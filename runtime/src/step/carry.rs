//! The populations, and fields that are kept, follow when the forest changes.

use lbm_bundle::Role;

use super::ghosts::hold;
use crate::device::Buffer;
use crate::kernels::{Given, KernelError, Program};
use crate::layout::Layout;
use crate::mesh::forest::{Carry, Change, Held, Moves, Tables};

/// The two sets of populations of a forest that changes, and fields that are kept.
pub(super) struct Populations<'a> {
    pub(super) program: &'a Program,
    pub(super) sets: &'a mut [Buffer; 2],
    /// Which set is current on each level.
    pub(super) current: Vec<usize>,
    /// Fields that are kept.
    pub(super) kept: Option<&'a mut Buffer>,
    /// An array of their shape whose content is no longer needed.
    pub(super) spare: &'a mut Buffer,
    /// The first slot that refined blocks hold and the number of roots, if they hold any.
    pub(super) held: Option<[usize; 2]>,
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
        if count == 0 {
            return Ok(());
        }
        let [first, second] = &mut *self.sets;
        let (src, dst) = if source == 0 { (first, second) } else { (second, first) };
        let components = Layout::populations(self.program.manifest()).components();
        relocate(self.program, (slots, count), from, components, src, dst)
    }
}

/// Copies values to some slots from other slots, `from[slot]`, of another array.
fn relocate(
    program: &Program,
    (slots, count): (Given<'_>, usize),
    from: &Buffer,
    components: usize,
    src: &Buffer,
    dst: &mut Buffer,
) -> Result<(), KernelError> {
    let given = vec![
        ("ids", slots),
        ("count", Given::Int(count as i32)),
        ("from", Given::Read(from)),
        ("components", Given::Int(components as i32)),
        ("src", Given::Read(src)),
        ("dst", Given::Write(dst)),
    ];
    program.launch(Role::Relocate, count, given)
}

impl Carry for Populations<'_> {
    fn prepare(&mut self, Held { levels, tables }: Held<'_>) -> Result<(), KernelError> {
        match self.held {
            Some([first, _]) => hold(self.program, self.sets, &self.current, tables, levels, first, false),
            None => Ok(()),
        }
    }

    fn average(&mut self, Change { slots, count, parts, tables }: Change<'_>) -> Result<(), KernelError> {
        if let Some(kept) = &mut self.kept {
            let given = vec![
                ("ids", Given::Read(slots)),
                ("count", Given::Int(count as i32)),
                ("parts", Given::Read(parts)),
                ("fields", Given::Write(kept)),
            ];
            self.program.launch(Role::AverageFields, count, given)?;
        }
        let (program, given) = self.between_levels(slots, parts, count, tables);
        program.launch(Role::Average, count, given)
    }

    fn fill(&mut self, Change { slots, count, parts, tables }: Change<'_>) -> Result<(), KernelError> {
        if let Some(kept) = &mut self.kept {
            let given = vec![
                ("ids", Given::Read(slots)),
                ("count", Given::Int(count as i32)),
                ("neighbours", Given::Read(&tables.neighbours)),
                // What refined blocks hold of these fields is of another step or another place.
                ("held", Given::Int(self.held.map_or(i32::MAX, |[first, _]| first as i32))),
                ("parts", Given::Read(parts)),
                ("fields", Given::Write(kept)),
            ];
            self.program.launch(Role::FillFields, count, given)?;
        }
        let (program, mut given) = self.between_levels(slots, parts, count, tables);
        given.push(("neighbours", Given::Read(&tables.neighbours)));
        program.launch(Role::Fill, count, given)?;
        let Some([first, roots]) = self.held else { return Ok(()) };
        let (program, mut given) = self.between_levels(slots, parts, count, tables);
        given.retain(|(name, _)| *name != "parts");
        given.extend([
            ("children", Given::Read(&tables.child)),
            ("roots", Given::Int(roots as i32)),
            ("held", Given::Int(first as i32)),
        ]);
        program.launch(Role::Keep, count, given)
    }

    /// All levels must have the same current set; afterwards it is the other one.
    fn reorder(&mut self, moves: Moves<'_>) -> Result<(), KernelError> {
        if let Some(kept) = &mut self.kept {
            let components = Layout::fields(self.program.manifest()).components();
            let slots = (Given::Read(moves.slots), moves.count);
            relocate(self.program, slots, moves.from, components, kept, self.spare)?;
            std::mem::swap(&mut **kept, self.spare);
        }
        let source = self.current.first().copied().unwrap_or(0);
        self.relocate(Given::Read(moves.slots), moves.count, moves.from, source)?;
        self.relocate(Given::Read(moves.held), moves.held_count, moves.every, source)
    }
}
