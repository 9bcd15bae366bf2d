//! The inbox: what enters blocks at refinement interfaces from other levels, for couplings of packets.
//!
//! A block at an interface has a row in each of two arrays: a step that is the first of two in one of the coarser level reads the first,
//! the second step, and every step of the coarsest level, the second. Each value of a row that is read has been written by one thread
//! before the block streams:
//!
//! 1. *to fine*, when a step of level `l` begins, before the first of level `l + 1`: all that level `l` sends there in both
//! 2. *to coarse*, after that first step: what comes out of level `l + 1` into level `l`
//!
//! Blocks that touch walls as well are served by kernels of their own: there things come back, and there are few of them.

use std::ops::Range;

use lbm_bundle::mesh::Group;
use lbm_bundle::{Manifest, Role};

use super::timing::Phase;
use super::{Simulation, StepError, blocks, launch, setup};
use crate::device::{Buffer, Device, DeviceError, Scalar};
use crate::kernels::{Given, KernelError, Program};
use crate::mesh::forest::Level;
use crate::mesh::{self, Grid};

/// What blocks at interfaces read, and what it is made from.
pub(super) struct Inbox {
    /// What enters, for a first step and for a second one `[row][value]`.
    rows: [Buffer; 2],
    /// From which neighbours each block reads its row `[row]`.
    masks: Buffer,
    /// Where the cells of each block begin in `cells` `[row]`.
    begins: Buffer,
    /// What is around blocks of all levels but the finest `[row][value]`.
    tables: Buffer,
    /// Which coarse cells are refined around each cell of these blocks `[row][cell]`.
    cell_masks: Buffer,
    /// Cells beside refined ones, level by level, each as `row * cells of a block + cell`.
    cells: Buffer,
    /// Where those of each level are listed.
    of_levels: Vec<Range<usize>>,
    /// Whether all blocks of a level stream in one launch: where there are few, launches cost more than what they do.
    together: Vec<bool>,
}

impl Inbox {
    /// That of a grid, full of NaN; none for a coupling of ghosts, or without levels.
    pub(super) fn new(program: &Program, grid: &mut Grid, walls: &setup::Walls) -> Result<Option<Inbox>, StepError> {
        let (device, manifest) = (program.device(), program.manifest());
        if manifest.coupling.is_none() || mesh::holds(manifest) {
            return Ok(None);
        }
        let none = || device.alloc(Scalar::I32, 0);
        let mut inbox = Inbox {
            rows: rows(device, manifest, 0)?,
            masks: none()?,
            begins: none()?,
            tables: none()?,
            cell_masks: none()?,
            cells: none()?,
            of_levels: vec![],
            together: vec![],
        };
        inbox.follow(program, grid, walls)?;
        Ok(Some(inbox))
    }

    /// After the grid has changed. Nothing is kept between steps.
    pub(super) fn follow(&mut self, program: &Program, grid: &mut Grid, walls: &setup::Walls) -> Result<(), StepError> {
        let (device, manifest) = (program.device(), program.manifest());
        let at_interfaces = |level: &Level| level.group(Group::Jump).start..level.group(Group::Both).end;
        let levels: Vec<Range<usize>> = grid.levels().iter().map(at_interfaces).collect();
        let few = device.concurrency() / manifest.cells();
        let together =
            |level: &Level| level.leaves.len() < few && level.group(Group::Interior).len() < level.leaves.len();
        self.together = grid.levels().iter().map(together).collect();
        let before: Vec<usize> = levels
            .iter()
            .scan(0, |next, level| {
                *next += level.len();
                Some(*next - level.len())
            })
            .collect();
        // Nothing is finer than the finest level.
        let (all, senders) = (grid.interfaces(), before.last().copied().unwrap_or(0));
        if all > self.masks.len() {
            let room = room(self.masks.len(), all);
            self.rows = rows(device, manifest, 0)?;
            self.rows = rows(device, manifest, room)?;
            (self.masks, self.begins) = (device.alloc(Scalar::I32, room)?, device.alloc(Scalar::I32, room)?);
        }
        grow(device, &mut self.tables, senders * manifest.around())?;
        grow(device, &mut self.cell_masks, senders * manifest.cells())?;
        for listed in &levels {
            self.set_masks(program, grid, walls, listed.clone())?;
        }
        let count = grid.forest_mut().scan(&mut self.begins, all)?;
        grow(device, &mut self.cells, count)?;
        let begin =
            |row: &usize| Ok(if *row < all { self.begins.read_ints(*row..*row + 1)?[0] as usize } else { count });
        let mut begins = before.iter().map(begin).collect::<Result<Vec<_>, DeviceError>>()?;
        begins.push(count);
        self.of_levels = begins.windows(2).map(|pair| pair[0]..pair[1]).collect();
        for listed in levels.iter().take(levels.len().saturating_sub(1)) {
            self.set_cells(program, grid, listed.clone())?;
        }
        Ok(())
    }

    /// Masks of the listed blocks, and how many of their cells are beside refined ones.
    fn set_masks(
        &mut self,
        program: &Program,
        grid: &Grid,
        walls: &setup::Walls,
        listed: Range<usize>,
    ) -> Result<(), KernelError> {
        if listed.is_empty() {
            return Ok(());
        }
        let tables = grid.tables();
        let mut given = vec![
            ("ids", Given::ReadFrom(&tables.leaves, listed.start)),
            ("count", Given::Int(listed.len() as i32)),
            ("nodes", Given::Read(&tables.node)),
            ("near", Given::Read(&tables.near)),
            ("children", Given::Read(&tables.child)),
            ("rows", Given::Read(&tables.rows)),
            ("masks", Given::Write(&mut self.masks)),
            ("counts", Given::Write(&mut self.begins)),
        ];
        if !program.manifest().mirror_rules.is_empty() {
            given.push(("wall_rules", Given::Read(&walls.rules)));
        }
        program.launch(Role::InterfaceMasks, listed.len(), given)
    }

    /// These cells, and what is around the listed blocks.
    fn set_cells(&mut self, program: &Program, grid: &Grid, listed: Range<usize>) -> Result<(), KernelError> {
        if listed.is_empty() {
            return Ok(());
        }
        let tables = grid.tables();
        let given = vec![
            ("ids", Given::ReadFrom(&tables.leaves, listed.start)),
            ("count", Given::Int(listed.len() as i32)),
            ("nodes", Given::Read(&tables.node)),
            ("near", Given::Read(&tables.near)),
            ("children", Given::Read(&tables.child)),
            ("slots", Given::Read(&tables.slot)),
            ("rows", Given::Read(&tables.rows)),
            ("masks", Given::Read(&self.masks)),
            ("begins", Given::Read(&self.begins)),
            ("tables", Given::Write(&mut self.tables)),
            ("cell_masks", Given::Write(&mut self.cell_masks)),
            ("cells", Given::Write(&mut self.cells)),
        ];
        program.launch(Role::InterfaceCells, listed.len(), given)
    }

    /// Whether all blocks of a level stream in one launch.
    pub(super) fn together(&self, level: usize) -> bool {
        self.together[level]
    }

    /// Where cells of a level beside refined ones are listed.
    pub(super) fn cells_of(&self, level: usize) -> (&Buffer, Range<usize>) {
        (&self.cells, self.of_levels[level].clone())
    }

    /// What a kernel takes that reads the rows of blocks in a step; `start`: the first of two.
    pub(super) fn read(&self, start: bool) -> [(&'static str, Given<'_>); 2] {
        [("masks", Given::Read(&self.masks)), ("inbox", Given::Read(&self.rows[usize::from(!start)]))]
    }
}

/// Two sets of rows, full of NaN.
fn rows(device: &Device, manifest: &Manifest, interfaces: usize) -> Result<[Buffer; 2], DeviceError> {
    let set = || {
        let mut rows = device.alloc(Scalar::from(manifest.real), interfaces * manifest.inbox_row())?;
        rows.poison()?;
        Ok::<_, DeviceError>(rows)
    };
    Ok([set()?, set()?])
}

/// Room for more than there was, with some to spare: where it has grown it may grow again.
fn room(before: usize, needed: usize) -> usize {
    if before == 0 { needed } else { needed + needed / 4 }
}

/// Room for so many integers.
fn grow(device: &Device, buffer: &mut Buffer, length: usize) -> Result<(), DeviceError> {
    if length > buffer.len() {
        let room = room(buffer.len(), length);
        *buffer = device.alloc(Scalar::I32, 0)?;
        *buffer = device.alloc(Scalar::I32, room)?;
    }
    Ok(())
}

impl Simulation {
    /// What a level sends to the next finer one for both of its steps, or gets from it after the first; `start`: whether the step of the
    /// level is itself the first of two.
    pub(super) fn exchange_inbox(&mut self, phase: Phase, level: usize, start: bool) -> Result<(), StepError> {
        let walls = !self.program.manifest().boundaries.is_empty();
        let parts = (&self.grid, self.bodies.as_ref(), self.inbox.as_ref());
        let (_, listed, role) = blocks(parts, walls, phase, level);
        let tables = self.grid.tables();
        let [on_coarse, on_fine] = [level, level + 1].map(|level| self.levels[level].current);
        let populations = &self.fields.populations;
        let Some(Inbox { rows: [first, second], tables: around, cell_masks, cells, .. }) = &mut self.inbox else {
            unreachable!("packets cross through the inbox")
        };
        let mut given = match role {
            Role::ToFine | Role::ToCoarse => vec![
                ("cells", Given::ReadFrom(cells, listed.start)),
                ("count", Given::Int(listed.len() as i32)),
                ("tables", Given::Read(around)),
                ("cell_masks", Given::Read(cell_masks)),
            ],
            _ => vec![
                ("ids", Given::ReadFrom(&tables.leaves, listed.start)),
                ("count", Given::Int(listed.len() as i32)),
                ("nodes", Given::Read(&tables.node)),
                ("near", Given::Read(&tables.near)),
                ("children", Given::Read(&tables.child)),
                ("slots", Given::Read(&tables.slot)),
                ("rows", Given::Read(&tables.rows)),
                ("wall_rules", Given::Read(&self.walls.rules)),
                ("wall_values", Given::Read(&self.walls.values)),
            ],
        };
        if role != Role::ToCoarse {
            given.push(("coarse", Given::Read(&populations[on_coarse])));
        }
        if matches!(role, Role::ToFine | Role::ToFineWalls) {
            given.push(("fine", Given::Read(&populations[on_fine])));
            given.push(("inbox_0", Given::Write(first)));
            given.push(("inbox_1", Given::Write(second)));
        } else {
            // The finer level has taken its first step.
            given.push(("before", Given::Read(&populations[1 - on_fine])));
            given.push(("after", Given::Read(&populations[on_fine])));
            given.push(("inbox", Given::Write(if start { first } else { second })));
        }
        match role {
            Role::ToFine => given.push(("start", Given::Int(i32::from(start)))),
            Role::ToFineWalls => given.push(("parents", Given::Read(&tables.parent))),
            _ => {}
        }
        launch(&self.program, role, listed.len(), given, &self.levels[level].params)
    }
}
