//! Rows of cut links that change: assigned to blocks that moving solids touch, freed by blocks that they have left, and written to the
//! device.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;

use crate::device::{Buffer, Device};
use crate::geometry::Block;
use crate::geometry::solid::{Arm, Cut, Row};
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::solids::bodies::Bodies;
use crate::solver::solids::moving::leaves;
use crate::solver::solids::turning::Surface;

/// Fraction of the rows that is added when they run out.
const MORE_ROWS: f64 = 0.25;

/// Rows that have changed: the links and the distances of each.
#[derive(Default)]
pub(crate) struct Rows {
    pub(crate) links: BTreeMap<usize, Vec<i32>>,
    distances: BTreeMap<usize, Vec<f64>>,
}

/// Runs of consecutive rows: the first row, and the values of all rows of the run. A copy to a device has a fixed cost however short it
/// is.
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

/// Fraction of the walls that is added when they run out.
const MORE_WALLS: f64 = 0.25;

/// The row of a block if it has links that meet rotating solids.
pub(crate) fn turned(cut: &Cut) -> Option<&Row> {
    match cut {
        Cut::Some(row) if !row.arms.is_empty() => Some(row),
        _ => None,
    }
}

impl Bodies {
    /// Assigns a row to a block that has none, and registers its values to be written; returns whether the row is new.
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

    /// Writes changed rows to the device.
    pub(crate) fn write(&mut self, changed: Rows) -> Result<(), StepError> {
        let Rows { links, distances } = changed;
        let length = links.values().next().map_or(0, Vec::len);
        runs(links).iter().try_for_each(|(row, links)| self.links.write_ints(row * length, links))?;
        Ok(runs(distances).iter().try_for_each(|(row, all)| self.distances.write_reals(row * length, all))?)
    }

    /// Updates the cut links of a block; returns whether its row is another than before, or none now.
    pub(crate) fn take(
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

    /// Updates the rows after the grid has changed or the data have been reordered: frees the rows of blocks that no longer exist, and
    /// cuts the links of new blocks.
    pub(crate) fn renew(
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

    /// Lists the blocks that have rows, and of a subdomain its own.
    pub(crate) fn list_again(&mut self, device: &Device, grid: &Grid, owned: Option<&Owned>) -> Result<(), StepError> {
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

impl Bodies {
    /// Gives each link that meets a rotating solid a wall with the local velocity of the surface.
    pub(crate) fn turn(
        &mut self,
        device: &Device,
        manifest: &Manifest,
        walls: &mut Walls,
        changed: &mut Rows,
    ) -> Result<(), StepError> {
        let Some(moving) = &mut self.moving else { return Ok(()) };
        let Some(turning) = &mut moving.turning else { return Ok(()) };
        let (dim, stride) = (manifest.dim as usize, manifest.wall_stride as usize);
        let (mut rules, mut values, mut numbers) = (vec![], vec![], vec![]);
        for (block, row) in moving.cuts.iter().filter_map(|(block, cut)| Some((block, turned(cut)?))) {
            let mut links = row.links.clone();
            for (number, Arm { link, solid, arm }) in row.arms.iter().enumerate() {
                let Surface { wall, velocity, rate } = &turning.surfaces[solid];
                links[*link] = (turning.first + rules.len()) as i32 + 1;
                rules.push(wall.rule);
                numbers.push(number as i32);
                let at = values.len() + velocity;
                values.extend(&wall.values);
                values[at..at + dim].copy_from_slice(&rate.at(*arm)[..dim]);
            }
            changed.links.insert(moving.rows[block], links);
        }
        let (first, count) = (turning.first, turning.first + rules.len());
        if walls.rules.len() < count {
            let count = count + (rules.len() as f64 * MORE_WALLS) as usize;
            walls.rules = longer(&walls.rules, device.alloc_ints(count)?)?;
            walls.values = longer(&walls.values, device.alloc_reals(manifest.real, count * stride)?)?;
            turning.numbers = longer(&turning.numbers, device.alloc_ints(count)?)?;
            self.owners = longer(&self.owners, device.alloc_ints(count)?)?;
            // The exchanges of these walls are summed link by link.
            self.owners.write_ints(first, &vec![-1; count - first])?;
        }
        walls.rules.write_ints(first, &rules)?;
        walls.values.write_reals(first * stride, &values)?;
        Ok(turning.numbers.write_ints(first, &numbers)?)
    }
}

/// A buffer with the values of a shorter one.
pub(crate) fn longer<E: crate::device::Element>(from: &Buffer<E>, mut to: Buffer<E>) -> Result<Buffer<E>, StepError> {
    let mut bytes = vec![0; from.bytes()];
    from.read_raw(0, &mut bytes)?;
    to.write_raw(0, &bytes)?;
    Ok(to)
}
