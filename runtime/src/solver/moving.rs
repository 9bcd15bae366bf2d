//! Solids that move as prescribed: after each step of their level links are cut where they are then, and cells that they have left are filled.
//!
//! In a step a solid is where it is when the step begins, and its surface has the mean velocity of the step. So populations of cells that
//! a solid has left are those after a collision, as in all other cells, and what a solid cuts follows from the step alone: a flow that is
//! resumed has the same bits.
//!
//! The host cuts the links of blocks that a surface touches, or did before, and what is others goes to the device. A kernel that cuts them
//! there would take the place of [`Cutters::cut`] and of the [`Cell`]s that are found from it.

use std::collections::BTreeMap;

use lbm_bundle::{Direction, Manifest};

use super::StepError;
use super::bodies::{Bodies, velocity_at};
use super::setup::{GridSpec, Walls};
use super::step::Level;
use super::subdomain::Subdomain;
use super::turning::{Turning, turned};
use crate::device::{Buffer, Device, Int};
use crate::geometry::Block;
use crate::geometry::solid::{Cut, Cutters, Rate, Row, SolidError, Vector};
use crate::kernels;
use crate::kernels::layout::{Layout, SlotId};
use crate::mesh::{Grid, Owned};

/// Share of the rows by which there are more when they do not suffice.
const MORE_ROWS: f64 = 0.25;

/// Rows that have changed: of each its links, and its distances.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) links: BTreeMap<usize, Vec<i32>>,
    distances: BTreeMap<usize, Vec<f64>>,
}

/// The first row of those that follow each other, and the values of all of these: a copy to a device takes its time however short it is.
fn runs<T>(rows: BTreeMap<usize, Vec<T>>) -> Vec<(usize, Vec<T>)> {
    let mut runs: Vec<(usize, Vec<T>)> = vec![];
    let mut next = None;
    for (row, values) in rows {
        match runs.last_mut().filter(|_| next == Some(row)) {
            Some((_, run)) => run.extend(values),
            None => runs.push((row, values)),
        }
        next = Some(row + 1);
    }
    runs
}

/// What the host knows of blocks with cut links, where solids move.
pub(super) struct Moving {
    leaves: BTreeMap<Block, Leaf>,
    /// The rows of blocks that have one.
    pub(super) rows: BTreeMap<Block, usize>,
    /// Rows that no block has.
    free: Vec<usize>,
    /// What blocks have of cut links that moving solids touch.
    pub(super) cuts: BTreeMap<Block, Cut>,
    /// For each solid that moves, where its velocity is among the values of its wall.
    velocities: BTreeMap<usize, usize>,
    /// Those of them that turn.
    pub(super) turning: Option<Turning>,
}

/// Where a leaf is: among all along the curve, its node, and its slot.
struct Leaf {
    rank: usize,
    node: usize,
    slot: usize,
}

/// A cell that a solid has left or come to.
struct Cell {
    block: Block,
    slot: usize,
    cell: usize,
    around: i32,
    towards: i32,
    velocity: Vector,
}

impl Moving {
    /// Of tables as they were made for all leaves; none where nothing moves.
    pub(super) fn new(
        manifest: &Manifest,
        grid: &Grid,
        spec: &GridSpec,
        rows: BTreeMap<Block, usize>,
        turning: Option<Turning>,
    ) -> Result<Option<Moving>, StepError> {
        let mut velocities = BTreeMap::new();
        for (number, (solid, motion)) in spec.solids.iter().zip(&spec.motions).enumerate() {
            if motion.is_some() {
                velocities.insert(number, velocity_at(manifest, solid)?);
            }
        }
        if velocities.is_empty() {
            return Ok(None);
        }
        let leaves = leaves(grid)?;
        Ok(Some(Moving { leaves, rows, free: vec![], cuts: BTreeMap::new(), velocities, turning }))
    }

    /// The slot of a block, if it is a leaf.
    pub(super) fn slot(&self, block: Block) -> Option<usize> {
        Some(self.leaves.get(&block)?.slot)
    }

    /// All blocks with rows, level by level, each level along the curve, with their nodes and these.
    pub(super) fn listed(&self) -> Vec<(Block, i32, i32)> {
        let listed = self.rows.iter().filter_map(|(block, row)| Some((self.leaves.get(block)?, *block, *row)));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable_by_key(|(leaf, ..)| leaf.rank);
        listed.into_iter().map(|(leaf, block, row)| (block, leaf.node as i32, row as i32)).collect()
    }

    /// What blocks have of cut links that moving solids of a level touch, or did before.
    fn cut(
        &self,
        cutters: &Cutters,
        level: usize,
        directions: &[Direction],
    ) -> Result<BTreeMap<Block, Cut>, SolidError> {
        let before = self.cuts.keys().filter(|block| block.level == level).copied();
        let mut blocks = cutters.solids.touched(level);
        blocks.extend(before);
        blocks.sort_unstable();
        blocks.dedup();
        blocks.retain(|block| self.leaves.contains_key(block));
        cutters.cut_moved(blocks, |block| self.leaves.contains_key(&block), directions)
    }

    /// What a cell is filled from that a solid has left: directions to cells that are fluid and were so before, and that of them which
    /// is nearest to the direction in which these are. `open` says where nothing lies between.
    fn around(
        &self,
        cutters: [&Cutters; 2],
        (block, cell): (Block, usize),
        directions: &[Direction],
        open: impl Fn(&Direction) -> bool,
    ) -> (i32, i32) {
        let next = |direction: &Direction| {
            let (block, cell) = cutters[0].next(block, cell, direction).filter(|_| open(direction))?;
            let fluid = cutters.iter().all(|cutters| cutters.solid_at(block, cell).is_none());
            (fluid && self.leaves.contains_key(&block)).then_some(direction.c)
        };
        let moving = directions.iter().enumerate().filter(|(_, direction)| direction.c != [0; 3]);
        let fluid: Vec<(usize, [i32; 3])> = moving.filter_map(|(at, direction)| Some((at, next(direction)?))).collect();
        let normal = [0, 1, 2].map(|axis| fluid.iter().map(|(_, c)| c[axis]).sum::<i32>());
        // Along the normal, over the length of the direction.
        let along = |c: [i32; 3]| {
            let square: i32 = c.iter().map(|c| c * c).sum();
            f64::from((0..3).map(|axis| c[axis] * normal[axis]).sum::<i32>()) / f64::from(square).sqrt()
        };
        let best = |best: Option<(usize, f64)>, (at, c): &(usize, [i32; 3])| match best {
            Some((_, most)) if most >= along(*c) => best,
            _ => Some((*at, along(*c))),
        };
        let towards = fluid.iter().fold(None, best).map_or(-1, |(at, _)| at as i32);
        (fluid.iter().fold(0, |all, (at, _)| all | 1 << at), towards)
    }
}

fn leaves(grid: &Grid) -> Result<BTreeMap<Block, Leaf>, StepError> {
    let leaves = grid.forest().read_leaf_nodes()?.into_iter().enumerate();
    Ok(leaves.map(|(rank, (node, leaf))| (leaf.block, Leaf { rank, node, slot: leaf.slot.index() })).collect())
}

impl Bodies {
    /// Gives a block a row if it has none, and leaves that to be written; says whether it had another.
    fn give(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        (block, row): (Block, &Row),
        changed: &mut Rows,
    ) -> Result<bool, StepError> {
        let length = row.links.len();
        let moving = self.moving.as_mut().expect("something moves");
        let (at, is_new) = match moving.rows.get(&block) {
            Some(at) if *at > 0 => (*at, false),
            _ => {
                if moving.free.is_empty() {
                    let room = self.links.len() / length;
                    let more = ((room as f64 * MORE_ROWS) as usize).max(1);
                    self.links = longer(&self.links, device.alloc_ints((room + more) * length)?)?;
                    self.distances =
                        longer(&self.distances, device.alloc_reals(manifest.real, (room + more) * length)?)?;
                    moving.free.extend((room..room + more).rev());
                }
                let at = moving.free.pop().expect("there is room");
                moving.rows.insert(block, at);
                (at, true)
            }
        };
        changed.links.insert(at, row.links.clone());
        changed.distances.insert(at, row.distances.clone());
        Ok(is_new)
    }

    /// Writes rows that have changed.
    fn write(&mut self, changed: Rows) -> Result<(), StepError> {
        let Rows { links, distances } = changed;
        let length = links.values().next().map_or(0, Vec::len);
        runs(links).iter().try_for_each(|(row, links)| self.links.write_ints(row * length, links))?;
        Ok(runs(distances).iter().try_for_each(|(row, all)| self.distances.write_reals(row * length, all))?)
    }

    /// Takes over what a block has of cut links; says whether it has another row than before, or none.
    fn take(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        (block, cut): (Block, &Cut),
        changed: &mut Rows,
    ) -> Result<bool, StepError> {
        let shared = match cut {
            Cut::Some(row) => return self.give(device, manifest, (block, row), changed),
            Cut::All => Some(0),
            Cut::Nothing => None,
        };
        let moving = self.moving.as_mut().expect("something moves");
        let before = match shared {
            Some(row) => moving.rows.insert(block, row),
            None => moving.rows.remove(&block),
        };
        moving.free.extend(before.filter(|row| *row > 0));
        Ok(before != shared)
    }

    /// After the grid has changed, or the data been put into another order: rows of blocks that have gone are free, and those of new ones
    /// are cut.
    fn renew(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        owned: Option<&Owned>,
        walls: &mut Walls,
    ) -> Result<(), StepError> {
        let Some(moving) = &mut self.moving else { return Ok(()) };
        let before = std::mem::replace(&mut moving.leaves, leaves(grid)?);
        let is_gone = |block: &Block| !moving.leaves.contains_key(block);
        let gone: Vec<Block> = moving.rows.keys().copied().filter(is_gone).collect();
        let rows: Vec<usize> = gone.iter().filter_map(|block| moving.rows.remove(block)).collect();
        moving.free.extend(rows.into_iter().filter(|row| *row > 0));
        moving.cuts.retain(|block, _| moving.leaves.contains_key(block));
        let new: Vec<Block> = moving.leaves.keys().copied().filter(|block| !before.contains_key(block)).collect();
        let cutters = self.cutters.clone();
        let cuts = cutters.cut_moved(new.clone(), |block| moving.leaves.contains_key(&block), &manifest.directions)?;
        let mut changed = Rows::default();
        for (block, cut) in &cuts {
            self.take(device, manifest, (*block, cut), &mut changed)?;
        }
        if let Some(moving) = &mut self.moving {
            moving.cuts.extend(cuts.into_iter().filter(|(_, cut)| turned(cut).is_some()));
        }
        self.turn(device, manifest, walls, &mut changed)?;
        self.write(changed)?;
        if gone.is_empty() && new.is_empty() { Ok(()) } else { self.list_again(device, grid, owned) }
    }

    /// Lists the blocks that have rows, and of a part its own.
    fn list_again(&mut self, device: &Device, grid: &Grid, owned: Option<&Owned>) -> Result<(), StepError> {
        let Some(moving) = &self.moving else { return Ok(()) };
        let listed = moving.listed();
        let before = |level: usize| listed.partition_point(|(block, ..)| block.level < level);
        self.listed = (0..self.levels.len()).map(|level| before(level)..before(level + 1)).collect();
        self.levels = self.listed.clone();
        self.nodes = device.ints(&listed.iter().map(|(_, node, _)| *node).collect::<Vec<_>>())?;
        self.row = device.ints(&listed.iter().map(|(.., row)| *row).collect::<Vec<_>>())?;
        self.list = device.alloc_ints(listed.len())?;
        self.follow(grid)?;
        owned.map_or(Ok(()), |owned| self.keep_own(owned))
    }
}

/// A buffer with the values of a shorter one.
pub(super) fn longer<E: crate::device::Element>(from: &Buffer<E>, mut to: Buffer<E>) -> Result<Buffer<E>, StepError> {
    let mut bytes = vec![0; from.bytes()];
    from.read_raw(0, &mut bytes)?;
    to.write_raw(0, &bytes)?;
    Ok(to)
}

impl Subdomain {
    /// Whether solids move.
    pub(super) fn moves(&self) -> bool {
        self.bodies.as_ref().is_some_and(|bodies| bodies.moving.is_some())
    }

    /// After the grid has changed, or the data been put into another order.
    pub(super) fn renew_solids(&mut self) -> Result<(), StepError> {
        let Subdomain { program, grid, owned, walls, bodies, .. } = self;
        let Some(bodies) = bodies else { return Ok(()) };
        bodies.renew(program.device(), program.manifest(), grid, owned.as_ref(), walls)
    }

    /// Puts all solids that move where they are at a time, on so many levels; no cell is filled.
    pub(super) fn place_solids(&mut self, levels: usize, time: f64) -> Result<(), StepError> {
        (0..levels).try_for_each(|level| self.move_solids(level, time, None))
    }

    /// Puts the solids of a level where they are at a time, in steps of the coarsest level, and gives their surfaces the velocity of the step
    /// that begins then. Where the level is given, cells that they have left since then are filled.
    pub(super) fn move_solids(&mut self, level: usize, time: f64, refilled: Option<&Level>) -> Result<(), StepError> {
        let Subdomain { program, grid, owned, walls, bodies, fields, places, .. } = self;
        let (device, manifest) = (program.device().clone(), program.manifest().clone());
        let Some(bodies) = bodies else { return Ok(()) };
        let Some(moving) = &mut bodies.moving else { return Ok(()) };
        let (before, dim, step) = (bodies.cutters.clone(), manifest.dim as usize, 0.5f64.powi(level as i32));
        if before.solids.motions(level).next().is_none() {
            return Ok(());
        }
        let mut cutters = (*before).clone();
        cutters.solids.set_time(level, time);

        for (number, motion) in cutters.solids.motions(level) {
            let rate = motion.rate(time, time + step);
            let velocity = &rate.velocity[..dim];
            let wall = (cutters.first + number) * manifest.wall_stride as usize;
            walls.values.write_reals(wall + moving.velocities[&number], velocity)?;
            bodies.frames.write_reals(number * dim, velocity)?;
            if let Some(turning) = &mut moving.turning {
                turning.set_rate(number, rate);
            }
        }

        // What the solids of the level carry at the time, in the middle between two of its steps.
        let rates: BTreeMap<usize, (Rate, Vector)> = cutters
            .solids
            .motions(level)
            .map(|(at, motion)| {
                let (before, now) = (motion.at(time - step).by, motion.at(time).by);
                (at, (motion.rate(time - step, time + step), [0, 1, 2].map(|axis| now[axis] - before[axis])))
            })
            .collect();
        let directions = &manifest.directions[manifest.main().range()];
        let cuts = moving.cut(&cutters, level, &manifest.directions)?;
        let (mut cells, mut changed): (Vec<Cell>, Vec<(Block, Cut)>) = (vec![], vec![]);
        for (block, cut) in &cuts {
            let old = moving.cuts.remove(block).unwrap_or_else(|| before.cut(*block, &manifest.directions));
            if old == *cut {
                continue;
            }
            let other = |cell: &usize| refilled.is_some() && old.is_solid(*cell) != cut.is_solid(*cell);
            for cell in (0..manifest.cells()).filter(other) {
                let slot = moving.leaves[block].slot;
                // What a solid comes to is at rest.
                // The way to a neighbour is that of what comes from there.
                let open = |to: &Direction| !cut.is_link_cut(to.opposite as usize * manifest.cells() + cell);
                let (around, towards, velocity) = match before.arm_at(*block, cell) {
                    Some((number, arm)) => {
                        let (around, towards) = moving.around([&before, &cutters], (*block, cell), directions, open);
                        // From the pivot, which has moved on.
                        let velocity = rates
                            .get(&number)
                            .map_or([0.0; 3], |(rate, moved)| rate.at([0, 1, 2].map(|axis| arm[axis] - moved[axis])));
                        (around, towards, velocity)
                    }
                    None => (0, -1, [0.0; 3]),
                };
                cells.push(Cell { block: *block, slot, cell, around, towards, velocity });
            }
            changed.push((*block, cut.clone()));
        }
        let touched = cutters.solids.touched(level);
        moving.cuts.extend(cuts.into_iter().filter(|(block, _)| touched.binary_search(block).is_ok()));
        let (mut listed, mut rows) = (false, Rows::default());
        for (block, cut) in &changed {
            listed |= bodies.take(&device, &manifest, (*block, cut), &mut rows)?;
        }
        bodies.cutters = cutters.into();
        bodies.turn(&device, &manifest, walls, &mut rows)?;
        bodies.write(rows)?;
        if listed {
            bodies.list_again(&device, grid, owned.as_ref())?;
        }

        if let Some(owned) = owned {
            cells.retain(|cell| owned.has(SlotId(cell.slot as u32)));
        }
        let Some(Level { params, current }) = refilled.filter(|_| !cells.is_empty()) else { return Ok(()) };
        let ints = |of: &dyn Fn(&Cell) -> i32| -> Result<Buffer<Int>, StepError> {
            Ok(device.ints(&cells.iter().map(of).collect::<Vec<_>>())?)
        };
        let velocities: Vec<f64> = cells.iter().flat_map(|cell| cell.velocity[..dim].to_vec()).collect();
        let mut on_device = device.alloc_doubles(velocities.len())?;
        on_device.write_reals(0, &velocities)?;
        let items = device.ints(&(0..cells.len() as i32).collect::<Vec<_>>())?;
        program.launch(kernels::Refill {
            items: items.part(0..cells.len()),
            slots: &ints(&|cell| cell.slot as i32)?,
            cells: &ints(&|cell| cell.cell as i32)?,
            around: &ints(&|cell| cell.around)?,
            towards: &ints(&|cell| cell.towards)?,
            velocities: &on_device,
            neighbours: &grid.tables().neighbours,
            populations: &mut fields.populations[*current],
            params: params.packed(),
        })?;
        if let Some(places) = places {
            let (layout, to) = (Layout::populations(&manifest), &mut fields.populations[*current]);
            cells.iter().try_for_each(|Cell { block, slot, cell, .. }| {
                places.write_cell(layout, to, grid.origin(*block), (*slot, *cell))
            })?;
        }
        Ok(())
    }
}
