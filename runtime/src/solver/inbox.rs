//! The inbox: what enters blocks at refinement interfaces from other levels, for packet couplings: populations and, behind them in a row, the
//! values that cells read of their neighbours there.
//!
//! A block at an interface has a row in each of two arrays. The first of two steps within a step of the coarser level reads the first
//! array. The second step, and every step of the coarsest level, reads the second array. One thread writes each value of a row that is
//! read, before the block streams:
//!
//! 1. *to fine*, when a step of level `l` begins, before the first step of level `l + 1`: all that level `l` sends to level `l + 1` for
//!    both of its steps
//! 2. *to coarse*, after that first step: what leaves level `l + 1` into level `l`
//! 3. *expose across*, when cells of level `l` have exposed their values: those that they read on levels `l - 1` and `l + 1`
//!
//! Blocks that also touch walls have kernels of their own, because walls send packets back. Such blocks are few.

use std::ops::Range;

use lbm_bundle::Manifest;
use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Device, DeviceError, Int, Real, Slice, Stored};
use crate::kernels::layout::SlotId;
use crate::kernels::{self, KernelError, Program};
use crate::mesh::forest::Level;
use crate::mesh::{self, Grid, Owned, OwnedLevel};
use crate::solver::arrays::fields::Sets;
use crate::solver::arrays::params::LevelState;
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::plan::phase::Phase;
use crate::solver::plan::task::PopulationSet;

/// A level streams in one launch if it has fewer than 1/`FEW` of the cells that the device processes at the same time.
const FEW: usize = 8;

/// What a subdomain owns of a grid, and for each level the slots of other subdomains' coarse blocks that send populations into its blocks.
pub(crate) type Own<'a> = (&'a Owned, &'a [Vec<SlotId>]);

/// The inbox of a grid, and the tables from which kernels fill it.
pub(crate) struct Inbox {
    /// Values that enter blocks, in a first step and in a second step `[row][value]`.
    rows: [Buffer<Real>; 2],
    /// The neighbours whose populations each block reads from its row, a bit each `[row]`.
    masks: Buffer<Int>,
    /// Offset of the cells of each block in `cells` `[row]`.
    begins: Buffer<Int>,
    /// Slots and inbox rows around blocks of all levels but the finest ([`Manifest::around`]) `[row][value]`.
    tables: Buffer<Int>,
    /// For each cell of these blocks, the coarse cells around it that are refined, a bit each `[row][cell]`.
    cell_masks: Buffer<Int>,
    /// Cells next to refined cells, level by level, each as `row * cells of a block + cell`.
    cells: Buffer<Int>,
    /// The range of each level in `cells`.
    of_levels: Vec<Range<usize>>,
    /// The phase in which all blocks of a level stream in one launch. If a level has few blocks, a launch costs more than its work.
    together: Vec<Option<Phase>>,
}

/// The grid around an inbox, its walls and its populations.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub(crate) program: &'a Program,
    pub(crate) grid: &'a Grid,
    pub(crate) walls: &'a Walls,
    pub(crate) populations: &'a [Buffer<Stored>; 2],
    pub(crate) sets: Sets,
}

/// A step of a level; `start`: whether it is the first of the two in a step of the next coarser level.
#[derive(Clone, Copy)]
pub(crate) struct HalfStep {
    pub(crate) level: usize,
    pub(crate) start: bool,
}

/// Parts of what comes out of fine cells: of their populations from before the first of their steps, and from after it.
const BEFORE: i32 = 1;
const AFTER: i32 = 2;

impl Inbox {
    /// The inbox of a grid, filled with NaN; `None` for a ghost coupling or a method without a coupling. In a divided flow it contains what
    /// enters the subdomain's blocks, and `own` lists for each level the blocks of other subdomains that send populations into these.
    pub(crate) fn new(
        program: &Program,
        of_rows: &Device,
        grid: &mut Grid,
        walls: &Walls,
        own: Option<Own<'_>>,
    ) -> Result<Option<Inbox>, StepError> {
        let (device, manifest) = (program.device(), program.manifest());
        if manifest.coupling.is_none() || mesh::stores_covered(manifest) {
            return Ok(None);
        }
        let none = || device.alloc_ints(0);
        let mut inbox = Inbox {
            rows: rows(device, manifest, 0, None)?,
            masks: none()?,
            begins: none()?,
            tables: none()?,
            cell_masks: none()?,
            cells: none()?,
            of_levels: vec![],
            together: vec![],
        };
        inbox.follow(program, of_rows, grid, walls, own)?;
        Ok(Some(inbox))
    }

    /// Rebuilds the tables after the grid has changed. No value is kept between steps.
    pub(crate) fn follow(
        &mut self,
        program: &Program,
        of_rows: &Device,
        grid: &mut Grid,
        walls: &Walls,
        own: Option<Own<'_>>,
    ) -> Result<(), StepError> {
        let (device, manifest) = (program.device(), program.manifest());
        let at_interfaces = |level: &Level| level.group(Group::Jump).start..level.group(Group::Both).end;
        let levels: Vec<Range<usize>> = grid.levels().iter().map(at_interfaces).collect();
        let few = device.concurrency() / manifest.cells() / FEW;
        let together =
            |level: &Level| level.leaves.len() < few && level.group(Group::Interior).len() < level.leaves.len();
        let with_walls = !manifest.boundaries.is_empty();
        let general = if with_walls { Phase::StreamCollideInterfaceWalls } else { Phase::StreamCollideInterface };
        // The same in all subdomains, whatever they own of the level, because kernels may differ in the last bits.
        self.together = grid.levels().iter().map(|level| together(level).then_some(general)).collect();
        let before: Vec<usize> = levels
            .iter()
            .scan(0, |next, level| {
                *next += level.len();
                Some(*next - level.len())
            })
            .collect();
        // The finest level has no finer level to send to.
        let (all, senders) = (grid.interfaces(), before.last().copied().unwrap_or(0));
        let own_rows = own.map(|(owned, _)| rows_of(owned, &levels, &before));
        if all > self.masks.len() {
            let room = room(self.masks.len(), all);
            self.rows = rows(device, manifest, 0, None)?;
            self.rows = rows(of_rows, manifest, room, own_rows.as_deref())?;
            (self.masks, self.begins) = (device.alloc_ints(room)?, device.alloc_ints(room)?);
        } else if let Some(own_rows) = &own_rows {
            self.rows.iter_mut().try_for_each(|rows| rows.back_only(values_of(manifest, own_rows)))?;
        }
        grow(device, &mut self.tables, senders * manifest.around())?;
        grow(device, &mut self.cell_masks, senders * manifest.cells())?;
        let listed: Vec<Vec<Range<usize>>> = match own {
            None => levels.iter().map(|level| vec![level.clone()]).collect(),
            Some((owned, _)) => {
                let of = |level: &OwnedLevel| vec![level.group(Group::Jump), level.group(Group::Both)];
                owned.levels.iter().map(of).collect()
            }
        };
        let others = match own {
            None => vec![],
            Some((_, senders)) => {
                // Blocks that send nothing into this subdomain have no cells: their count is 0.
                self.begins.write_ints(0, &vec![0; all])?;
                let slots = |of: &Vec<SlotId>| of.iter().map(|slot| slot.0 as i32).collect::<Vec<_>>();
                senders.iter().map(|of| device.ints(&slots(of))).collect::<Result<Vec<_>, _>>()?
            }
        };
        for runs in &listed {
            runs.iter()
                .try_for_each(|run| self.set_masks(program, grid, walls, grid.tables().leaves.slice(run.clone())))?;
        }
        others.iter().try_for_each(|slots| self.set_masks(program, grid, walls, slots.slice(0..slots.len())))?;
        let count = grid.scan(&mut self.begins, all)?;
        grow(device, &mut self.cells, count)?;
        let begin =
            |row: &usize| Ok(if *row < all { self.begins.read_ints(*row..*row + 1)?[0] as usize } else { count });
        let mut begins = before.iter().map(begin).collect::<Result<Vec<_>, DeviceError>>()?;
        begins.push(count);
        self.of_levels = begins.windows(2).map(|pair| pair[0]..pair[1]).collect();
        let finest = levels.len().saturating_sub(1);
        for runs in listed.iter().take(finest) {
            runs.iter().try_for_each(|run| self.set_cells(program, grid, grid.tables().leaves.slice(run.clone())))?;
        }
        others.iter().take(finest).try_for_each(|slots| self.set_cells(program, grid, slots.slice(0..slots.len())))?;
        Ok(())
    }

    /// Sets the masks of the listed blocks, and counts their cells next to refined cells.
    fn set_masks(
        &mut self,
        program: &Program,
        grid: &Grid,
        walls: &Walls,
        ids: Slice<'_, Int>,
    ) -> Result<(), KernelError> {
        let tables = grid.tables();
        program.launch(kernels::InterfaceMasks {
            ids,
            tree: tables.nodes(),
            rows: &tables.rows,
            wall_rules: &walls.rules,
            masks: &mut self.masks,
            counts: &mut self.begins,
        })
    }

    /// Lists these cells, and fills the tables of what lies around the listed blocks.
    fn set_cells(&mut self, program: &Program, grid: &Grid, ids: Slice<'_, Int>) -> Result<(), KernelError> {
        let tables = grid.tables();
        program.launch(kernels::InterfaceCells {
            ids,
            tree: tables.nodes(),
            slots: &tables.slot,
            rows: &tables.rows,
            masks: &self.masks,
            begins: &self.begins,
            tables: &mut self.tables,
            cell_masks: &mut self.cell_masks,
            cells: &mut self.cells,
        })
    }

    /// The phase in which all blocks of a level stream in one launch, if there is one.
    pub(crate) fn together(&self, level: usize) -> Option<Phase> {
        self.together[level]
    }

    /// The cells of a level next to refined cells.
    pub(crate) fn cells_of(&self, level: usize) -> Slice<'_, Int> {
        self.cells.slice(self.of_levels[level].clone())
    }

    /// Writes to the inbox what a level sends to the next finer level for both of its steps, or what it receives from that level after the
    /// first step. `ids`: blocks that touch walls, for the phases on such blocks.
    pub(crate) fn exchange(
        &mut self,
        Around { program, grid, walls, populations, sets }: Around<'_>,
        levels: &[LevelState],
        phase: Phase,
        HalfStep { level, start }: HalfStep,
        ids: Slice<'_, Int>,
        mask: kernels::Mask<'_>,
    ) -> Result<(), KernelError> {
        let (params, tables) = (levels[level].params.packed(), grid.tables());
        let [on_coarse, on_fine] = [level, level + 1].map(|level| levels[level].current);
        let of = |set: PopulationSet| &populations[sets.array(set)];
        // After the first step of the finer level, the other set has its populations from before that step.
        let (coarse, fine, before) = (of(on_coarse), of(on_fine), of(on_fine.other()));
        let Inbox { rows: [first, second], tables: around, cell_masks, cells, of_levels, .. } = self;
        let beside = kernels::Beside { cells: cells.slice(of_levels[level].clone()), tables: around, cell_masks };
        let (tree, slots, rows, walls) = (tables.nodes(), &tables.slot, &tables.rows, walls.arguments());
        if Phase::TO_FINE.contains(&phase) {
            let across = kernels::ToFiner { coarse, fine, inbox_0: first, inbox_1: second };
            return match phase {
                Phase::ToFine => program.launch(kernels::ToFine { beside, across, start: i32::from(start), params }),
                _ => {
                    let parents = &tables.parent;
                    program.launch(kernels::ToFineWalls {
                        ids,
                        tree,
                        parents,
                        slots,
                        rows,
                        walls,
                        mask,
                        across,
                        params,
                    })
                }
            };
        }
        let parts = match (sets, Phase::TO_COARSE_BEFORE.contains(&phase)) {
            (Sets::Two, _) => BEFORE | AFTER,
            (Sets::One, true) => BEFORE,
            (Sets::One, false) => AFTER,
        };
        let across = kernels::ToCoarser { before, after: fine, parts, inbox: if start { first } else { second } };
        match phase {
            Phase::ToCoarse | Phase::ToCoarseBefore => program.launch(kernels::ToCoarse { beside, across }),
            Phase::ToCoarseWalls | Phase::ToCoarseWallsBefore => {
                program.launch(kernels::ToCoarseWalls { ids, tree, slots, rows, walls, mask, coarse, across, params })
            }
            _ => unreachable!("{phase:?} does not cross an interface"),
        }
    }

    /// Writes to the inbox the values that cells of the listed blocks read in cells of other levels.
    pub(crate) fn expose_across(
        &mut self,
        Around { program, grid, walls, populations, .. }: Around<'_>,
        levels: &[LevelState],
        HalfStep { level, start }: HalfStep,
        ids: Slice<'_, Int>,
    ) -> Result<(), KernelError> {
        let tables = grid.tables();
        let current = |level: usize| levels.get(level).map_or(PopulationSet::First, |level| level.current);
        let Inbox { rows: [first, second], .. } = self;
        program.launch(kernels::ExposeAcross {
            ids,
            tree: tables.nodes(),
            parents: &tables.parent,
            slots: &tables.slot,
            neighbours: &tables.neighbours,
            rows: &tables.rows,
            wall_rules: &walls.rules,
            coarser: &populations[current(level.saturating_sub(1)).index()],
            own: &populations[current(level).index()],
            // The finer level has done the first of its steps: the other set has what its cells exposed in it.
            finer: &populations[current(level + 1).other().index()],
            inbox: if start { first } else { second },
        })
    }

    /// Sets all values of the inbox to NaN.
    pub(crate) fn poison(&mut self) -> Result<(), DeviceError> {
        self.rows.iter_mut().try_for_each(Buffer::poison)
    }

    /// What blocks of the grid read of it in a step; `start`: whether it is the first of two.
    pub(crate) fn arguments<'a>(&'a self, grid: &'a Grid, start: bool) -> kernels::Inbox<'a> {
        let rows = &grid.tables().rows;
        kernels::Inbox { rows, masks: &self.masks, inbox: &self.rows[usize::from(!start)] }
    }
}

/// Two arrays of rows, filled with NaN. A subdomain has memory for its own rows only.
fn rows(
    device: &Device,
    manifest: &Manifest,
    interfaces: usize,
    own: Option<&[Range<usize>]>,
) -> Result<[Buffer<Real>; 2], DeviceError> {
    let set = || {
        let mut rows = device.alloc_reals(manifest.real, interfaces * manifest.inbox_row())?;
        match own {
            None => rows.poison()?,
            Some(own) => {
                rows.back(values_of(manifest, own))?;
                values_of(manifest, own).try_for_each(|values| rows.poison_part(values))?;
                rows.seal()?;
            }
        }
        Ok::<_, DeviceError>(rows)
    };
    Ok([set()?, set()?])
}

/// The ranges of the values of some rows.
fn values_of<'a>(manifest: &Manifest, rows: &'a [Range<usize>]) -> impl Iterator<Item = Range<usize>> + 'a {
    let values = manifest.inbox_row();
    rows.iter().map(move |run| run.start * values..run.end * values)
}

/// The rows that a subdomain owns, from the ranges in which blocks at interfaces are listed on each level, and the number of rows before
/// each level.
fn rows_of(owned: &Owned, levels: &[Range<usize>], before: &[usize]) -> Vec<Range<usize>> {
    let of_level = |((own, level), before): ((&OwnedLevel, &Range<usize>), &usize)| {
        let row = |at: usize| before + at - level.start;
        [Group::Jump, Group::Both].map(|group| own.group(group)).map(|run| row(run.start)..row(run.end))
    };
    let all = owned.levels.iter().zip(levels).zip(before).flat_map(of_level);
    all.filter(|run| !run.is_empty()).collect()
}

/// The capacity of an array that must have `needed` entries. One that has grown gets a quarter more, because it may grow again.
fn room(before: usize, needed: usize) -> usize {
    if before == 0 { needed } else { needed + needed / 4 }
}

/// Makes room for `length` integers. A buffer that grows loses its content.
fn grow(device: &Device, buffer: &mut Buffer<Int>, length: usize) -> Result<(), DeviceError> {
    if length > buffer.len() {
        let room = room(buffer.len(), length);
        *buffer = device.alloc_ints(0)?;
        *buffer = device.alloc_ints(room)?;
    }
    Ok(())
}
