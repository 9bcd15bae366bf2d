//! Streaming and collision: the blocks that each phase of a step works on, and the kernel of the phase.

use lbm_bundle::mesh::Group;

use crate::device::{Buffer, Int, Real, Slice};
use crate::kernels;
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::fields::{Fields, Sets};
use crate::solver::arrays::params::LevelState;
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::inbox::Inbox;
use crate::solver::plan::phase::{Items, Phase};
use crate::solver::plan::task::{PopulationSet, Side, Task};
use crate::solver::solids::bodies::Bodies;
use crate::solver::subdomain::one_pass::OnePass;
use crate::solver::subdomain::streamed::Streamed;
use crate::solver::subdomain::{Subdomain, own_level};

impl Subdomain {
    /// Stores the values that cells of a level expose to their neighbours.
    /// If blocks with solids are in two lists, the second launch gives the right values.
    pub(super) fn expose(&mut self, task: Task, LevelState { params, current }: &LevelState) -> Result<(), StepError> {
        let Task { level, start, .. } = task;
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            streamed: self.streamed.as_ref().map(|streamed| (streamed, Side::All)),
            bodies: self.bodies.as_ref(),
            link_set: task.link_set(level),
            inbox: self.inbox.as_ref(),
        };
        let walls = (!self.program.manifest().boundaries.is_empty()).then_some(&self.walls);
        let together = self.together(level);
        for phase in Phase::STREAMING {
            let ids = match in_one_pass(&self.one_pass, phase, together) {
                Some(lists) => lists.exposed(level),
                None => blocks(lists, phase, level),
            };
            if ids.is_empty() {
                continue;
            }
            self.program.launch(kernels::Gather {
                ids,
                sources: sources(lists, (phase, level, start), walls, None),
                action: kernels::Action::Expose { populations: &mut self.fields.populations[current.index()] },
                params: params.packed(),
            })?;
        }
        Ok(())
    }

    /// Streams and collides the blocks of a phase on a level, or some of them.
    pub(super) fn stream_collide(
        &mut self,
        (task, side): (Task, Side),
        LevelState { params, current }: &LevelState,
    ) -> Result<(), StepError> {
        let Task { phase, level, start, .. } = task;
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            streamed: self.streamed.as_ref().map(|streamed| (streamed, side)),
            bodies: self.bodies.as_ref(),
            link_set: task.link_set(level),
            inbox: self.inbox.as_ref(),
        };
        let together = self.together(level);
        let walls = (!self.program.manifest().boundaries.is_empty()).then_some(&self.walls);
        let Fields { populations: [first, second], saved, .. } = &mut self.fields;
        if self.sets == Sets::One {
            let (ids, set) = (blocks(lists, phase, level), first);
            if ids.is_empty() {
                return Ok(());
            }
            let action = match current {
                PopulationSet::First => kernels::Action::CollideOut { set },
                PopulationSet::Second => kernels::Action::CollideBack { set },
            };
            let mut sources = sources(lists, (phase, level, start), walls, None);
            if *current == PopulationSet::Second && sources.walls.is_none() && sources.inbox.is_none() {
                sources.neighbours = None;
            }
            return Ok(self.program.launch(kernels::Gather { ids, sources, action, params: params.packed() })?);
        }
        let (src, dst) = match current {
            PopulationSet::First => (&*first, second),
            PopulationSet::Second => (&*second, first),
        };
        let one_pass = in_one_pass(&self.one_pass, phase, together);
        if let Some(ids) = one_pass.map(|lists| lists.alone(level)).filter(|ids| !ids.is_empty()) {
            self.program.launch(kernels::Gather {
                ids,
                sources: sources(lists, (phase, level, start), None, None),
                action: kernels::Action::ExposeCollide { src, dst: &mut *dst },
                params: params.packed(),
            })?;
        }
        let ids = one_pass.map_or_else(|| blocks(lists, phase, level), |lists| lists.others(level));
        if ids.is_empty() {
            return Ok(());
        }
        Ok(self.program.launch(kernels::Gather {
            ids,
            sources: sources(lists, (phase, level, start), walls, Some(saved)),
            action: kernels::Action::Collide { src, dst },
            params: params.packed(),
        })?)
    }
}

impl Subdomain {
    /// In the only set of populations, after a step that has left them in the cells in which they arrive: brings them back to those that have sent
    /// them. These are then current in the first set, as all but the next step expects it.
    pub(crate) fn bring_back(&mut self, LevelState { params, .. }: &LevelState, level: usize) -> Result<(), StepError> {
        let lists = Lists {
            grid: &self.grid,
            owned: self.owned.as_ref(),
            streamed: self.streamed.as_ref().map(|streamed| (streamed, Side::All)),
            bodies: self.bodies.as_ref(),
            link_set: self.link_set(level),
            inbox: self.inbox.as_ref(),
        };
        let walls = (!self.program.manifest().boundaries.is_empty()).then_some(&self.walls);
        for phase in Phase::STREAMING {
            let ids = blocks(lists, phase, level);
            if !ids.is_empty() {
                self.program.launch(kernels::Gather {
                    ids,
                    sources: sources(lists, (phase, level, false), walls, None),
                    action: kernels::Action::BringBack { set: &mut self.fields.populations[0] },
                    params: params.packed(),
                })?;
            }
        }
        Ok(())
    }
}

/// The lists of blocks that stream and collide in one pass, and of others, if a phase has both. `together`: the phase in which all blocks of the
/// level stream in one launch, if there is one.
fn in_one_pass(lists: &Option<OnePass>, phase: Phase, together: Option<Phase>) -> Option<&OnePass> {
    lists.as_ref().filter(|_| phase == Phase::StreamCollide && together.is_none())
}

/// Where values come from in the blocks of a phase; `start`: whether the step is the first of two. `walls`, if the method has boundary
/// rules; `saved`, if what streams in is kept for ghosts.
fn sources<'a>(
    Lists { grid, bodies, link_set, inbox, .. }: Lists<'a>,
    (phase, level, start): (Phase, usize, bool),
    walls: Option<&'a Walls>,
    saved: Option<&'a mut Buffer<Real>>,
) -> kernels::Sources<'a> {
    let beside_levels = phase.is_beside_levels();
    kernels::Sources {
        neighbours: Some(&grid.tables().neighbours),
        walls: walls.filter(|_| phase.is_beside_walls()).map(Walls::arguments),
        inbox: inbox.filter(|_| beside_levels).map(|inbox| inbox.arguments(grid, start)),
        ghosts: saved.filter(|_| beside_levels && inbox.is_none()).map(|saved| (grid.ghosts(), saved)),
        links: bodies.filter(|_| phase.has_cut_links()).map(|bodies| bodies.arguments(level, link_set)),
    }
}

/// The lists of blocks of a subdomain.
#[derive(Clone, Copy)]
pub(super) struct Lists<'a> {
    pub(super) grid: &'a Grid,
    pub(super) owned: Option<&'a Owned>,
    /// The blocks that phases stream, if these are not all of a level and group, and which of them to take.
    pub(super) streamed: Option<(&'a Streamed, Side)>,
    pub(super) bodies: Option<&'a Bodies>,
    /// The current set of cut links of the level.
    pub(super) link_set: usize,
    pub(super) inbox: Option<&'a Inbox>,
}

/// The blocks, or cells, that a phase works on in a step of a level.
pub(super) fn blocks<'a>(lists: Lists<'a>, phase: Phase, level: usize) -> Slice<'a, Int> {
    let Lists { grid, owned, streamed, bodies, inbox, .. } = lists;
    let (tables, levels) = (grid.tables(), grid.levels());
    let listed = own_level(grid, owned, level);
    let of_finer = |group: Group| match level + 1 < levels.len() {
        true => own_level(grid, owned, level + 1).group(group),
        false => 0..0,
    };
    let stores_covered = grid.forest().stores_covered();
    let together = inbox.and_then(|inbox| inbox.together(level));
    let of_group = |group: Group| match streamed {
        Some((streamed, side)) => streamed.group(level, group, side),
        None => tables.leaves.slice(listed.group(group)),
    };
    let range = match phase.items() {
        Items::Cut { at_interfaces } => match bodies {
            Some(bodies) => return bodies.list.slice(bodies.own.of(at_interfaces)[level].clone()),
            None => 0..0,
        },
        _ if together == Some(phase) => match streamed {
            Some((streamed, _)) => return streamed.level(level),
            None => levels[level].leaves.clone(),
        },
        _ if together.is_some() && Phase::STREAMING.contains(&phase) => 0..0,
        Items::Leaves(group) => return of_group(group),
        Items::Covered if stores_covered => return tables.covered.slice(listed.covered.clone()),
        Items::Cells => match inbox {
            Some(inbox) => return inbox.cells_of(level),
            None => 0..0,
        },
        Items::AtBoth { finer: true } if !stores_covered => of_finer(Group::Both),
        Items::AtBoth { finer: false } if !stores_covered => listed.group(Group::Both),
        Items::Covered | Items::AtBoth { .. } => 0..0,
        Items::Own => unreachable!("{phase:?} has lists of its own"),
    };
    tables.leaves.slice(range)
}
