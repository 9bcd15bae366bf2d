//! Streaming and collision: the blocks that each phase of a step works on, and the kernel of the phase.

use lbm_bundle::mesh::Group;

use crate::device::{Int, Part};
use crate::kernels;
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::fields::Fields;
use crate::solver::arrays::params::Level;
use crate::solver::arrays::walls;
use crate::solver::error::StepError;
use crate::solver::halo::edges::Edges;
use crate::solver::inbox::Inbox;
use crate::solver::plan::phase::{Items, Phase};
use crate::solver::plan::task::Side;
use crate::solver::solids::bodies::Bodies;
use crate::solver::subdomain::{Subdomain, own_level};

impl Subdomain {
    /// Stores the values that cells of a level expose to their neighbours; `start`: whether the step of the level is the first of two.
    /// Blocks with solids are in two lists: the second launch gives the right values.
    pub(crate) fn expose(
        &mut self,
        Level { params, current }: &Level,
        level: usize,
        start: bool,
    ) -> Result<(), StepError> {
        let (program, params) = (&self.program, params.packed());
        let neighbours = &self.grid.tables().neighbours;
        let walls::Walls { rules: wall_rules, values: wall_values } = &self.walls;
        let populations = &mut self.fields.populations[*current];
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            edges: self.edges.as_ref().map(|edges| (edges, Side::All)),
            bodies: self.bodies.as_ref(),
            inbox: self.inbox.as_ref(),
        };
        let ids = blocks(lists, Phase::StreamCollide, level);
        program.launch(kernels::Expose { ids, neighbours, populations, params })?;
        let ids = blocks(lists, Phase::StreamCollideWalls, level);
        program.launch(kernels::ExposeWalls { ids, neighbours, wall_rules, wall_values, populations, params })?;
        if let Some(inbox) = &self.inbox {
            let (rows, (masks, inbox)) = (&self.grid.tables().rows, inbox.read(start));
            let ids = blocks(lists, Phase::StreamCollideInterface, level);
            program.launch(kernels::ExposeInterface { ids, neighbours, rows, masks, inbox, populations, params })?;
            let ids = blocks(lists, Phase::StreamCollideInterfaceWalls, level);
            program.launch(kernels::ExposeInterfaceWalls {
                ids,
                neighbours,
                rows,
                masks,
                inbox,
                wall_rules,
                wall_values,
                populations,
                params,
            })?;
        }
        let Some(bodies) = &self.bodies else { return Ok(()) };
        Ok(program.launch(kernels::ExposeSolid {
            ids: blocks(lists, Phase::StreamCollideSolid, level),
            neighbours,
            wall_rules,
            wall_values,
            rows: &bodies.rows,
            links: &bodies.links,
            distances: &bodies.distances,
            populations,
            params,
        })?)
    }

    /// Streams and collides the blocks of a phase on a level, or some of them; `start`: whether the step of the level is the first of two.
    pub(crate) fn stream_collide(
        &mut self,
        (phase, side): (Phase, Side),
        Level { params, current }: &Level,
        level: usize,
        start: bool,
    ) -> Result<(), StepError> {
        let (program, params, tables) = (&self.program, params.packed(), self.grid.tables());
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            edges: self.edges.as_ref().map(|edges| (edges, side)),
            bodies: self.bodies.as_ref(),
            inbox: self.inbox.as_ref(),
        };
        let ids = blocks(lists, phase, level);
        let (neighbours, rows) = (&tables.neighbours, &tables.rows);
        let walls::Walls { rules: wall_rules, values: wall_values } = &self.walls;
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

/// The lists of blocks of a subdomain.
#[derive(Clone, Copy)]
pub(crate) struct Lists<'a> {
    pub(crate) grid: &'a Grid,
    pub(crate) owned: Option<&'a Owned>,
    /// If there are several subdomains: the lists of edge blocks and interior blocks, and which of these to take.
    pub(crate) edges: Option<(&'a Edges, Side)>,
    pub(crate) bodies: Option<&'a Bodies>,
    pub(crate) inbox: Option<&'a Inbox>,
}

/// The blocks, or cells, that a phase works on in a step of a level.
pub(crate) fn blocks<'a>(lists: Lists<'a>, phase: Phase, level: usize) -> Part<'a, Int> {
    let Lists { grid, owned, edges, bodies, inbox } = lists;
    let (tables, levels) = (grid.tables(), grid.levels());
    let listed = own_level(grid, owned, level);
    let of_finer = |group: Group| match level + 1 < levels.len() {
        true => own_level(grid, owned, level + 1).group(group),
        false => 0..0,
    };
    let holds = grid.forest().holds();
    let together = inbox.and_then(|inbox| inbox.together(level));
    let of_group = |group: Group| match edges {
        Some((edges, side)) => edges.group(level, group, side),
        None => tables.leaves.part(listed.group(group)),
    };
    let range = match phase.items() {
        Items::Cut => match bodies {
            Some(bodies) => return bodies.list.part(bodies.levels[level].clone()),
            None => 0..0,
        },
        _ if together == Some(phase) => match edges {
            Some((edges, _)) => return edges.level(level),
            None => levels[level].leaves.clone(),
        },
        _ if together.is_some() && Phase::STREAMING.contains(&phase) => 0..0,
        Items::Leaves(group) => return of_group(group),
        Items::Held if holds => return tables.held.part(listed.held.clone()),
        Items::Cells => match inbox {
            Some(inbox) => return inbox.cells_of(level),
            None => 0..0,
        },
        Items::AtBoth { finer: true } if !holds => of_finer(Group::Both),
        Items::AtBoth { finer: false } if !holds => listed.group(Group::Both),
        Items::Held | Items::AtBoth { .. } => 0..0,
        Items::Own => unreachable!("{phase:?} has lists of its own"),
    };
    tables.leaves.part(range)
}
