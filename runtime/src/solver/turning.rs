//! Solids that turn: each link that meets one has a wall of its own, with the velocity of the surface there.
//!
//! These walls come after all others. They are numbered anew when solids move, block by block, and written as a whole; links of a row refer to them.
//! The force on such a solid is the sum of what its links exchange, each relative to its own velocity, and the torque that of its moments.

use std::collections::BTreeMap;

use lbm_bundle::Manifest;

use super::StepError;
use super::bodies::{Bodies, velocity_at};
use super::exchanges::{OfLink, OfLinks};
use super::moving::{Rows, longer};
use super::setup::{GridSpec, Instance, Walls};
use super::step::Level;
use super::subdomain::Subdomain;
use crate::device::{Buffer, Device, Int};
use crate::geometry::solid::{Arm, Cut, Cutters, Rate, Row};
use crate::kernels;

/// Share of the walls by which there are more when they do not suffice.
const MORE_WALLS: f64 = 0.25;

/// Walls of links that meet solids which turn.
pub(super) struct Turning {
    /// How many other walls there are.
    first: usize,
    /// The surface of each solid that turns.
    surfaces: BTreeMap<usize, Surface>,
    /// For each wall, which of those of its block it is, from 0; -1 for others.
    numbers: Buffer<Int>,
}

/// The surface of a solid that turns.
struct Surface {
    /// The wall that all of it has, where it does not turn.
    wall: Instance,
    /// Where its velocity is among the values of the wall.
    velocity: usize,
    /// How fast it moves in the step that begins.
    rate: Rate,
}

impl Turning {
    /// Of solids whose surfaces have the walls from one on; none where none turns.
    pub(super) fn new(
        device: &Device,
        manifest: &Manifest,
        spec: &GridSpec,
        cutters: &Cutters,
        walls: &[Instance],
    ) -> Result<Option<Turning>, StepError> {
        let mut surfaces = BTreeMap::new();
        for (number, (solid, motion)) in spec.solids.iter().zip(&spec.motions).enumerate() {
            if motion.as_ref().is_some_and(|motion| motion.turns()) {
                let mut wall = walls[cutters.first + number].clone();
                wall.values.resize(manifest.wall_stride as usize, 0.0);
                let velocity = velocity_at(manifest, solid)?;
                surfaces.insert(number, Surface { wall, velocity, rate: Rate::default() });
            }
        }
        if surfaces.is_empty() {
            return Ok(None);
        }
        Ok(Some(Turning { first: walls.len(), surfaces, numbers: device.ints(&vec![-1; walls.len()])? }))
    }

    /// Sets how fast a solid moves in the step that begins, if it turns.
    pub(super) fn set_rate(&mut self, solid: usize, rate: Rate) {
        if let Some(surface) = self.surfaces.get_mut(&solid) {
            surface.rate = rate;
        }
    }
}

impl Bodies {
    /// Gives each link that meets a solid which turns a wall with the velocity of the surface there.
    pub(super) fn turn(
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
            // What they exchange is added up link by link.
            self.owners.write_ints(first, &vec![-1; count - first])?;
        }
        walls.rules.write_ints(first, &rules)?;
        walls.values.write_reals(first * stride, &values)?;
        Ok(turning.numbers.write_ints(first, &numbers)?)
    }
}

/// The row of a block that has links which meet solids that turn.
pub(super) fn turned(cut: &Cut) -> Option<&Row> {
    match cut {
        Cut::Some(row) if !row.arms.is_empty() => Some(row),
        _ => None,
    }
}

impl Subdomain {
    /// Leaves what solids that turn get along each of their links in blocks of a level.
    pub(super) fn leave_turned(&mut self, at: usize, level: &Level) -> Result<Option<OfLinks>, StepError> {
        let Some(bodies) = &mut self.bodies else { return Ok(None) };
        let Some((moving, turning)) = bodies.moving.as_ref().and_then(|of| Some((of, of.turning.as_ref()?))) else {
            return Ok(None);
        };
        let listed = bodies.levels[at].clone();
        // The place of each block among those of the level, its slot and its row.
        let blocks = moving.listed().into_iter().skip(listed.start).take(listed.len()).enumerate();
        let rows: Vec<_> = blocks
            .filter_map(|(place, (block, ..))| Some((place, moving.slot(block)?, turned(moving.cuts.get(&block)?)?)))
            .collect();
        let most = rows.iter().map(|(.., row)| row.arms.len()).max().unwrap_or(0);
        if most == 0 {
            return Ok(None);
        }
        let (dim, sums, device) = (self.grid.dim(), bodies.sums, self.program.device());
        let ids = device.ints(&rows.iter().map(|(_, slot, _)| *slot as i32).collect::<Vec<_>>())?;
        let count = rows.len() * most * sums;
        let mut values = bodies.left.room(device, count)?;
        self.program.launch(kernels::Force {
            shares: self.grid.forest().every().part(0..rows.len()),
            ids: ids.part(0..rows.len()),
            per: 1,
            neighbours: &self.grid.tables().neighbours,
            wall_rules: &self.walls.rules,
            wall_values: &self.walls.values,
            rows: &bodies.rows,
            links: &bodies.links,
            distances: &bodies.distances,
            src: &self.fields.populations[level.current],
            exchanged: &mut values,
            owners: &turning.numbers,
            // Each link has a velocity of its own, which is taken into account on the host.
            frames: &device.alloc_doubles(most * dim)?,
            bodies: most as i32,
        })?;
        let of_block = |(number, (place, _, row)): (usize, &(usize, usize, &Row))| {
            let of_link = |(link, Arm { solid, arm, .. }): (usize, &Arm)| OfLink {
                from: (number * most + link) * sums,
                to: (place * bodies.count + solid) * (sums + 3),
                arm: *arm,
                velocity: turning.surfaces[solid].rate.at(*arm),
            };
            row.arms.iter().enumerate().map(of_link).collect::<Vec<_>>()
        };
        let links = rows.iter().enumerate().flat_map(of_block).collect();
        Ok(Some(OfLinks { values: (values, count), links }))
    }
}
