//! Moving solids: links are cut again at the end of a step of their level, and cells that solids have left are filled.

use std::collections::BTreeMap;

use lbm_bundle::Direction;

use crate::device::{Buffer, Int};
use crate::geometry::Block;
use crate::geometry::solid::{Cut, Rate, Vector};
use crate::kernels;
use crate::kernels::layout::{Layout, SlotId};
use crate::solver::arrays::params::Level;
use crate::solver::error::StepError;
use crate::solver::solids::rows::Rows;
use crate::solver::subdomain::Subdomain;

/// A cell that a solid has left or entered.
struct Cell {
    block: Block,
    slot: usize,
    cell: usize,
    around: i32,
    towards: i32,
    velocity: Vector,
}

impl Subdomain {
    /// Updates the tables of solids after the grid has changed or blocks have been sorted.
    pub(crate) fn renew_solids(&mut self) -> Result<(), StepError> {
        let Subdomain { program, grid, owned, walls, bodies, .. } = self;
        let Some(bodies) = bodies else { return Ok(()) };
        bodies.renew(program.device(), program.manifest(), grid, owned.as_ref(), walls)
    }

    /// Moves all moving solids to their positions at a time, on several levels, without filling cells.
    pub(crate) fn place_solids(&mut self, levels: usize, time: f64) -> Result<(), StepError> {
        (0..levels).try_for_each(|level| self.move_solids(level, time, None))
    }

    /// Moves the solids of a level to their positions at a time, in steps of the coarsest level, and sets the velocities of their surfaces
    /// for the step that begins then. If `refilled` gives the level, cells that solids have left since the previous position are filled.
    pub(crate) fn move_solids(&mut self, level: usize, time: f64, refilled: Option<&Level>) -> Result<(), StepError> {
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

        // For each solid of the level, its velocity at this time, from its positions one step earlier and one step later, and its
        // displacement since the earlier one.
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
                let slot = moving.slot(*block).expect("a block that is cut is a leaf");
                // Cells that a solid has entered are at rest. A neighbour counts if the link along which populations arrive from it is not
                // cut.
                let open = |to: &Direction| !cut.is_link_cut(to.opposite as usize * manifest.cells() + cell);
                let (around, towards, velocity) = match before.arm_at(*block, cell) {
                    Some((number, arm)) => {
                        let (around, towards) = moving.around([&before, &cutters], (*block, cell), directions, open);
                        // Relative to the pivot, which has moved since.
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
