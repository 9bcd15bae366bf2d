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

use lbm_bundle::mesh::Group;
use lbm_bundle::{Manifest, Role};

use super::timing::Phase;
use super::{Simulation, StepError, blocks, launch, setup};
use crate::device::{Buffer, Device, DeviceError, Scalar};
use crate::kernels::{Given, Program};
use crate::mesh::{self, Grid};

/// Rows and masks of the blocks at interfaces.
pub(super) struct Inbox {
    /// What enters, for a first step and for a second one `[row][value]`.
    rows: [Buffer; 2],
    /// From which neighbours each block reads its row `[row]`.
    masks: Buffer,
}

impl Inbox {
    /// That of a grid, full of NaN; none for a coupling of ghosts, or without levels.
    pub(super) fn new(program: &Program, grid: &Grid, walls: &setup::Walls) -> Result<Option<Inbox>, StepError> {
        let manifest = program.manifest();
        if manifest.coupling.is_none() || mesh::holds(manifest) {
            return Ok(None);
        }
        let (rows, masks) = room(program.device(), manifest, grid.interfaces())?;
        let mut inbox = Inbox { rows, masks };
        inbox.set_masks(program, grid, walls)?;
        Ok(Some(inbox))
    }

    /// After the grid has changed. Nothing is kept between steps.
    pub(super) fn follow(&mut self, program: &Program, grid: &Grid, walls: &setup::Walls) -> Result<(), StepError> {
        let interfaces = grid.interfaces();
        if interfaces > self.masks.len() {
            let (device, manifest) = (program.device(), program.manifest());
            (self.rows, self.masks) = room(device, manifest, 0)?;
            (self.rows, self.masks) = room(device, manifest, interfaces + interfaces / 4)?;
        }
        self.set_masks(program, grid, walls)
    }

    fn set_masks(&mut self, program: &Program, grid: &Grid, walls: &setup::Walls) -> Result<(), StepError> {
        let tables = grid.tables();
        for level in grid.levels() {
            for group in [Group::Jump, Group::Both] {
                let listed = level.group(group);
                if listed.is_empty() {
                    continue;
                }
                let mut given = vec![
                    ("ids", Given::ReadFrom(&tables.leaves, listed.start)),
                    ("count", Given::Int(listed.len() as i32)),
                    ("nodes", Given::Read(&tables.node)),
                    ("near", Given::Read(&tables.near)),
                    ("children", Given::Read(&tables.child)),
                    ("rows", Given::Read(&tables.rows)),
                    ("masks", Given::Write(&mut self.masks)),
                ];
                if !program.manifest().mirror_rules.is_empty() {
                    given.push(("wall_rules", Given::Read(&walls.rules)));
                }
                program.launch(Role::InterfaceMasks, listed.len(), given)?;
            }
        }
        Ok(())
    }

    /// What a kernel takes that reads the rows of blocks in a step; `start`: the first of two.
    pub(super) fn read(&self, start: bool) -> [(&'static str, Given<'_>); 2] {
        [("masks", Given::Read(&self.masks)), ("inbox", Given::Read(&self.rows[usize::from(!start)]))]
    }
}

fn room(device: &Device, manifest: &Manifest, interfaces: usize) -> Result<([Buffer; 2], Buffer), DeviceError> {
    let set = || {
        let mut rows = device.alloc(Scalar::from(manifest.real), interfaces * manifest.inbox_row())?;
        rows.poison()?;
        Ok::<_, DeviceError>(rows)
    };
    Ok(([set()?, set()?], device.alloc(Scalar::I32, interfaces)?))
}

impl Simulation {
    /// What a level sends to the next finer one for both of its steps, or gets from it after the first; `start`: whether the step of the
    /// level is itself the first of two.
    pub(super) fn exchange_inbox(&mut self, phase: Phase, level: usize, start: bool) -> Result<(), StepError> {
        let walls = !self.program.manifest().boundaries.is_empty();
        let (ids, listed, role) = blocks(&self.grid, self.bodies.as_ref(), walls, phase, level);
        let (Some(inbox), tables) = (&mut self.inbox, self.grid.tables()) else {
            unreachable!("packets cross through the inbox");
        };
        let [on_coarse, on_fine] = [level, level + 1].map(|level| self.levels[level].current);
        let populations = &self.fields.populations;
        let [first, second] = &mut inbox.rows;
        let mut given = vec![
            ("ids", Given::ReadFrom(ids, listed.start)),
            ("count", Given::Int(listed.len() as i32)),
            ("nodes", Given::Read(&tables.node)),
            ("near", Given::Read(&tables.near)),
            ("children", Given::Read(&tables.child)),
            ("slots", Given::Read(&tables.slot)),
            ("rows", Given::Read(&tables.rows)),
        ];
        let to_fine = matches!(role, Role::ToFine | Role::ToFineWalls);
        let walls = matches!(role, Role::ToFineWalls | Role::ToCoarseWalls);
        if walls {
            given.push(("wall_rules", Given::Read(&self.walls.rules)));
            given.push(("wall_values", Given::Read(&self.walls.values)));
        } else {
            given.push(("masks", Given::Read(&inbox.masks)));
        }
        if role != Role::ToCoarse {
            given.push(("coarse", Given::Read(&populations[on_coarse])));
        }
        if to_fine {
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
