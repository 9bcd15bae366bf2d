//! Streaming and collision: which blocks each phase of a step works on, and the kernel for them.

use lbm_bundle::mesh::Group;

use super::bodies::Bodies;
use super::fields::Fields;
use super::inbox::Inbox;
use super::step::Level;
use super::subdomain::Subdomain;
use super::timing::Phase;
use super::{StepError, setup};
use crate::device::{Int, Part};
use crate::kernels;
use crate::mesh::Grid;

impl Subdomain {
    /// Streams and collides the blocks of a phase on a level; `start`: whether its step is the first of two.
    pub(super) fn stream_collide(
        &mut self,
        phase: Phase,
        Level { params, current }: &Level,
        level: usize,
        start: bool,
    ) -> Result<(), StepError> {
        let (program, params, tables) = (&self.program, params.packed(), self.grid.tables());
        let ids = blocks((&self.grid, self.bodies.as_ref(), self.inbox.as_ref()), phase, level);
        let (neighbours, rows) = (&tables.neighbours, &tables.rows);
        let setup::Walls { rules: wall_rules, values: wall_values } = &self.walls;
        let Fields { populations: [first, second], saved, .. } = &mut self.fields;
        let (src, dst) = if *current == 0 { (&*first, second) } else { (&*second, first) };
        let beside_walls = match phase {
            Phase::StreamCollideHeld => !program.manifest().boundaries.is_empty(),
            _ => phase == Phase::StreamCollideInterfaceWalls,
        };
        match (phase, &self.inbox, &self.bodies) {
            (Phase::StreamCollide, ..) => {
                program.launch(kernels::StreamCollide { ids, neighbours, src, dst, params })?;
            }
            (Phase::StreamCollideWalls, ..) => {
                let walls = kernels::StreamCollideWalls { ids, neighbours, wall_rules, wall_values, src, dst, params };
                program.launch(walls)?;
            }
            (Phase::StreamCollideSolid, _, None) => {}
            (Phase::StreamCollideSolid, _, Some(bodies)) => program.launch(kernels::StreamCollideSolid {
                ids,
                neighbours,
                wall_rules,
                wall_values,
                rows: &bodies.rows,
                links: &bodies.links,
                distances: &bodies.distances,
                src,
                dst,
                params,
            })?,
            (_, Some(inbox), _) => {
                let (masks, inbox) = inbox.read(start);
                if beside_walls {
                    program.launch(kernels::StreamCollideInterfaceWalls {
                        ids,
                        neighbours,
                        rows,
                        masks,
                        inbox,
                        wall_rules,
                        wall_values,
                        src,
                        dst,
                        params,
                    })?;
                } else {
                    let interior =
                        kernels::StreamCollideInterface { ids, neighbours, rows, masks, inbox, src, dst, params };
                    program.launch(interior)?;
                }
            }
            (_, None, _) => {
                let (sides, held) = (&tables.sides, self.grid.forest().pool().slots as i32);
                if beside_walls {
                    program.launch(kernels::StreamCollideGhostsWalls {
                        ids,
                        neighbours,
                        sides,
                        rows,
                        held,
                        wall_rules,
                        wall_values,
                        saved,
                        src,
                        dst,
                        params,
                    })?;
                } else {
                    let interior =
                        kernels::StreamCollideGhosts { ids, neighbours, sides, rows, held, saved, src, dst, params };
                    program.launch(interior)?;
                }
            }
        }
        Ok(())
    }
}

/// The blocks, or cells, of a phase of a step of a level.
pub(super) fn blocks<'a>(
    (grid, bodies, inbox): (&'a Grid, Option<&'a Bodies>, Option<&'a Inbox>),
    phase: Phase,
    level: usize,
) -> Part<'a, Int> {
    let (tables, levels) = (grid.tables(), grid.levels());
    let listed = &levels[level];
    let finer = levels.get(level + 1);
    let of_finer = |group: Group| finer.map_or(0..0, |finer| finer.group(group));
    let holds = grid.forest().holds();
    let together = inbox.and_then(|inbox| inbox.together(level));
    let range = match phase {
        Phase::StreamCollideSolid => match bodies {
            Some(bodies) => return bodies.list.part(bodies.levels[level].clone()),
            None => 0..0,
        },
        _ if together == Some(phase) => listed.leaves.clone(),
        _ if together.is_some() && Phase::STREAMING.contains(&phase) => 0..0,
        Phase::StreamCollide => listed.group(Group::Interior),
        Phase::StreamCollideWalls => listed.group(Group::Walls),
        Phase::StreamCollideInterface => listed.group(Group::Jump),
        Phase::StreamCollideInterfaceWalls => listed.group(Group::Both),
        Phase::StreamCollideHeld if holds => return tables.held.part(listed.held.clone()),
        Phase::ToFine | Phase::ToCoarse => match inbox {
            Some(inbox) => return inbox.cells_of(level),
            None => 0..0,
        },
        Phase::ToFineWalls if !holds => of_finer(Group::Both),
        Phase::ToCoarseWalls if !holds => listed.group(Group::Both),
        Phase::StreamCollideHeld | Phase::ToFineWalls | Phase::ToCoarseWalls => 0..0,
        Phase::Restrict | Phase::Send | Phase::Prolong => unreachable!("ghosts have lists of their own"),
        Phase::Prescribe | Phase::Move | Phase::Tick => unreachable!("walls are no blocks"),
    };
    tables.leaves.part(range)
}
