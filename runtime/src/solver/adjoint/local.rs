//! Derivatives on one subdomain, and the kernels of steps backwards there.

use std::ops::Range;

use crate::device::{Buffer, Double, Element, Int, Real, Stored};
use crate::geometry::Cell;
use crate::kernels;
use crate::kernels::layout::Layout;
use crate::solver::adjoint::crossing::{Shares, Tables};
use crate::solver::adjoint::slots::Slots;
use crate::solver::adjoint::state;
use crate::solver::adjoint::walls::Groups;
use crate::solver::arrays::cells;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::subdomain::Subdomain;

/// Derivatives by what a subdomain owns.
pub(super) struct Local {
    /// Derivatives by the current populations, those of blocks that may be [`behind`](Self::behind) only if they are not; and those by what
    /// has arrived in cells in the step that has been taken backwards last.
    sets: [Buffer<Stored>; 2],
    /// In which of them those by the populations of each level are: between steps in the same for all levels.
    current: Vec<usize>,
    /// Whether blocks inside, and those at walls if these are taken in one pass, have yet to stream backwards.
    behind: bool,
    /// `[slot][member][cell]`
    pub(super) by_members: Buffer<Double>,
    /// `[slot][group][value][cell]`
    pub(super) by_walls: Buffer<Double>,
    /// The group of each wall.
    groups: Buffer<Int>,
    asked: usize,
    /// Derivatives by the force on each solid in a step of each level, `[solid][axis]`; zeros behind them.
    pulls: Vec<Buffer<Double>>,
    /// Room for derivatives by fields.
    by_fields: Buffer<Real>,
    /// Derivatives by what blocks have read of the inbox: in the step at hand, and in each of two steps.
    pub(super) crossed: Buffer<Real>,
    slots: Vec<Slots>,
}

/// A subdomain of a flow, as steps backwards read it.
#[derive(Clone, Copy)]
pub(super) struct Flow<'a> {
    pub(super) subdomain: &'a Subdomain,
    pub(super) levels: &'a [LevelState],
}

/// All subdomains of a flow.
#[derive(Clone, Copy)]
pub(super) struct Flows<'a> {
    subdomains: &'a [Subdomain],
    levels: &'a [LevelState],
}

impl<'a> Flows<'a> {
    pub(super) fn of(flow: &'a Simulation) -> Flows<'a> {
        Flows { subdomains: &flow.subdomains.here, levels: &flow.stepper.levels }
    }

    /// Each of them.
    pub(super) fn each(self) -> impl Iterator<Item = Flow<'a>> {
        self.subdomains.iter().map(move |subdomain| Flow { subdomain, levels: self.levels })
    }
}

/// What a step of a level has begun with.
#[derive(Clone, Copy)]
pub(super) struct Before<'a> {
    /// Populations.
    pub(super) src: &'a Buffer<Stored>,
    /// What has entered blocks from other levels.
    pub(super) inbox: Option<&'a Buffer<Real>>,
    /// The neighbours that blocks read.
    pub(super) neighbours: &'a Buffer<Int>,
}

impl<'a> Before<'a> {
    /// Of a flow on one level, as it is.
    pub(super) fn of(flow: Flow<'a>) -> Before<'a> {
        let src = state::populations(flow.subdomain, flow.levels[0].current);
        Before { src, inbox: None, neighbours: &flow.subdomain.grid().tables().neighbours }
    }
}

impl Local {
    /// Derivatives that are zero. `crossed`: how many values blocks read of the inbox.
    pub(super) fn new(flow: Flow<'_>, groups: &Groups, crossed: usize, is_divided: bool) -> Result<Local, StepError> {
        let Flow { subdomain, levels } = flow;
        let (program, grid) = (subdomain.program(), subdomain.grid());
        let (manifest, device) = (program.manifest(), program.device());
        let axes = subdomain.bodies().map_or(0, |bodies| bodies.count) * manifest.dim as usize;
        let count = grid.levels().len();
        let populations = state::populations(subdomain, levels[0].current);
        // A subdomain has memory for its own blocks.
        let of_blocks = if is_divided { device.sparse() } else { device.clone() };
        let leaves = subdomain.own_leaves()?;
        let own = |layout: Layout| -> Vec<Range<usize>> {
            cells::runs(&leaves).map(|run| cells::range(run, layout)).collect()
        };
        let length = |layout: Layout| (grid.slots() * layout.slot_len()).max(1);
        let doubles = |numbers: usize| {
            let layout = Layout::accumulators(manifest, numbers);
            backed(of_blocks.alloc_doubles(length(layout))?, own(layout))
        };
        let of_fields = Layout::fields(manifest);
        Ok(Local {
            sets: [device.alloc_like(populations)?, device.alloc_like(populations)?],
            current: vec![0; count],
            behind: false,
            by_members: doubles(manifest.members.len())?,
            by_walls: doubles(groups.count * manifest.wall_stride as usize)?,
            groups: device.ints(&groups.of_walls)?,
            asked: groups.count,
            pulls: (0..=count).map(|_| device.alloc_doubles(axes.max(1))).collect::<Result<_, _>>()?,
            by_fields: backed(of_blocks.alloc_reals(manifest.real, length(of_fields))?, own(of_fields))?,
            crossed: device.alloc_reals(manifest.real, (3 * crossed).max(1))?,
            slots: (0..count).map(|level| Slots::of(subdomain, level)).collect::<Result<_, _>>()?,
        })
    }

    /// Changes derivatives by populations of its cells.
    pub(super) fn change(
        &mut self,
        flow: Flow<'_>,
        change: &(impl Fn(Cell, &mut [f64]) + Sync),
    ) -> Result<(), StepError> {
        let (layout, grid) = (Layout::populations(flow.subdomain.program().manifest()), flow.subdomain.grid());
        Ok(cells::update(&mut self.sets[self.current[0]], layout, grid, &flow.subdomain.own_leaves()?, change)?)
    }

    /// Adds derivatives by macroscopic fields of its cells.
    pub(super) fn add_by_fields(
        &mut self,
        Flow { subdomain, levels }: Flow<'_>,
        by_fields: &(impl Fn(Cell, &mut [f64]) + Sync),
    ) -> Result<(), StepError> {
        let (program, grid) = (subdomain.program(), subdomain.grid());
        let value = |cell: Cell, out: &mut [f64]| {
            if grid.domain().contains(cell) {
                by_fields(cell, out);
            }
        };
        let leaves = subdomain.own_leaves()?;
        cells::scatter(&mut self.by_fields, Layout::fields(program.manifest()), grid, (&leaves, 0), value)?;
        program.device().scope(|| {
            for (level, slots) in self.slots.iter().enumerate() {
                let state = &levels[level];
                for ids in slots.all().into_iter().filter(|ids| !ids.is_empty()) {
                    program.launch(kernels::MacroscopicAdjoint {
                        ids,
                        src: state::populations(subdomain, state.current),
                        level: level as i32,
                        by_fields: &self.by_fields,
                        adjoint: &mut self.sets[self.current[level]],
                        by_members: &mut self.by_members,
                        params: state.params.packed(),
                    })?;
                }
            }
            Ok(())
        })
    }

    /// Sets derivatives by the force on each solid in the steps that are next.
    pub(super) fn pull(&mut self, pulls: &[f64], dim: usize) -> Result<(), StepError> {
        for (level, own) in self.pulls[..self.slots.len()].iter_mut().enumerate() {
            // A force in cells and steps of a finer level is that much smaller.
            let scale = 0.5f64.powi((level * (dim - 1)) as i32);
            own.write_reals(0, &pulls.iter().map(|pull| scale * pull).collect::<Vec<_>>())?;
        }
        Ok(())
    }

    /// Derivatives by the current populations of a flow whose levels are together.
    pub(super) fn by_populations(&self) -> &Buffer<Stored> {
        &self.sets[self.current[0]]
    }

    /// Derivatives by what has arrived in cells of a level, after these have [collided backwards](Self::collide_back).
    pub(super) fn arrived_mut(&mut self, level: usize) -> &mut Buffer<Stored> {
        &mut self.sets[1 - self.current[level]]
    }

    /// Derivatives by the populations of a level, and those by what has arrived in its cells.
    fn sets(sets: &mut [Buffer<Stored>; 2], current: usize) -> (&mut Buffer<Stored>, &mut Buffer<Stored>) {
        let [first, second] = sets;
        if current == 0 { (first, second) } else { (second, first) }
    }

    /// Makes of derivatives by populations of a level those by what has arrived in cells; of blocks that are behind, of what arrives in the next step.
    pub(super) fn collide_back(&mut self, flow: Flow<'_>, level: usize, before: Before<'_>) -> Result<(), StepError> {
        let (subdomain, src) = (flow.subdomain, before.src);
        let (program, bodies) = (subdomain.program(), subdomain.bodies());
        let has_walls = !program.manifest().boundaries.is_empty();
        let walls_at_once = takes_walls_at_once(subdomain);
        let inbox = subdomain.inbox().map(|inbox| inbox.arguments(subdomain.grid(), true));
        let inbox = inbox.zip(before.inbox).map(|(own, inbox)| kernels::Inbox { inbox, ..own });
        let slots = &self.slots[level];
        let [walls, others] = slots.at_walls();
        let lists = [
            (slots.inside(), false, None, None),
            (walls, has_walls, None, None),
            (slots.at_interfaces(), has_walls, inbox, None),
            (others, has_walls, None, None),
            (slots.cut(), has_walls, None, bodies),
        ];
        for (at, (ids, walls, inbox, bodies)) in lists.into_iter().enumerate().filter(|(_, (ids, ..))| !ids.is_empty())
        {
            let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
            let (by_members, groups, asked) = (&mut self.by_members, &self.groups, self.asked as i32);
            program.launch(kernels::Gather {
                ids,
                sources: kernels::Sources {
                    neighbours: Some(&subdomain.grid().tables().neighbours),
                    walls: walls.then(|| subdomain.walls().arguments()),
                    inbox,
                    links: bodies.map(|bodies| bodies.arguments(level, 0)),
                    ..Default::default()
                },
                action: match self.behind && (at == 0 || at == 1 && walls_at_once) {
                    true => {
                        let by_groups =
                            walls.then_some(kernels::ByGroups { groups, asked, by_walls: &mut self.by_walls });
                        kernels::Action::StepAdjoint { src, arrived, by_groups, adjoint, by_members }
                    }
                    false => kernels::Action::CollideAdjoint { src, adjoint, by_members },
                },
                params: flow.levels[level].params.packed(),
            })?;
        }
        self.current[level] = 1 - self.current[level];
        Ok(())
    }

    /// Takes derivatives by populations of blocks that are not inside from those by what has arrived; `pulled`: whether the forces on solids in this
    /// step of the level are part of the objective.
    pub(super) fn stream_back(
        &mut self,
        flow: Flow<'_>,
        level: usize,
        before: Before<'_>,
        pulled: bool,
    ) -> Result<(), StepError> {
        let subdomain = flow.subdomain;
        let is_later = self.behind && takes_walls_at_once(subdomain);
        self.walls_back(flow, level, before, is_later)?;
        let Before { src, neighbours, .. } = before;
        let links = self.slots[level].beside_solids();
        let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
        let (arrived, groups, asked) = (&*arrived, &self.groups, self.asked as i32);
        if let Some(bodies) = subdomain.bodies().filter(|_| !links.is_empty()) {
            let none = self.slots.len();
            subdomain.program().launch(kernels::StreamAdjointSolid {
                ids: links,
                neighbours,
                walls: subdomain.walls().arguments(),
                links: bodies.arguments(level, 0),
                owners: &bodies.owners,
                pulls: &self.pulls[if pulled { level } else { none }],
                backwards: kernels::Backwards { src, arrived },
                by_groups: kernels::ByGroups { groups, asked, by_walls: &mut self.by_walls },
                adjoint,
            })?;
        }
        Ok(())
    }

    /// The same of blocks at walls and interfaces, away from solids, or of those at interfaces alone.
    fn walls_back(
        &mut self,
        flow: Flow<'_>,
        level: usize,
        Before { src, neighbours, .. }: Before<'_>,
        at_interfaces_alone: bool,
    ) -> Result<(), StepError> {
        let (program, walls) = (flow.subdomain.program(), flow.subdomain.walls().arguments());
        let slots = &self.slots[level];
        let ids = if at_interfaces_alone { slots.at_interfaces() } else { slots.away_from_solids() };
        let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
        if ids.is_empty() {
            return Ok(());
        }
        match program.manifest().boundaries.is_empty() {
            true => Ok(program.launch(kernels::StreamAdjoint { ids, neighbours, arrived, adjoint })?),
            false => Ok(program.launch(kernels::StreamAdjointWalls {
                ids,
                neighbours,
                walls,
                backwards: kernels::Backwards { src, arrived },
                by_groups: kernels::ByGroups {
                    groups: &self.groups,
                    asked: self.asked as i32,
                    by_walls: &mut self.by_walls,
                },
                adjoint,
            })?),
        }
    }

    /// Blocks inside have yet to stream backwards, and those at walls if these are taken in one pass.
    pub(super) fn leave_inside(&mut self) {
        self.behind = true;
    }

    /// They do, if they have not yet.
    pub(super) fn catch_up(&mut self, flow: Flow<'_>) -> Result<(), StepError> {
        if !std::mem::take(&mut self.behind) {
            return Ok(());
        }
        self.inside_back(flow, 0, &flow.subdomain.grid().tables().neighbours)?;
        match takes_walls_at_once(flow.subdomain) {
            true => self.walls_back(flow, 0, Before::of(flow), false),
            false => Ok(()),
        }
    }

    /// Takes derivatives by populations of blocks inside from those by what has arrived.
    pub(super) fn inside_back(
        &mut self,
        flow: Flow<'_>,
        level: usize,
        neighbours: &Buffer<Int>,
    ) -> Result<(), StepError> {
        let ids = self.slots[level].inside();
        let (adjoint, arrived) = Self::sets(&mut self.sets, self.current[level]);
        if ids.is_empty() {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::StreamAdjoint { ids, neighbours, arrived, adjoint })?)
    }

    /// All levels are in the same array again after their steps.
    pub(super) fn bring_together(&mut self, flow: Flow<'_>, slots: &Buffer<Int>) -> Result<(), StepError> {
        let [first, second] = &mut self.sets;
        match std::mem::take(&mut self.current[0]) {
            0 => Ok(()),
            _ => state::copy_level(flow.subdomain, 0, slots, second, first),
        }
    }

    /// Keeps derivatives by what blocks of a level have read of the inbox, in a step of this number.
    pub(super) fn receive(
        &mut self,
        flow: Flow<'_>,
        tables: &Tables,
        level: usize,
        number: usize,
    ) -> Result<(), StepError> {
        let items = tables.received(level);
        if items.is_empty() {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::ReceiveAdjoint {
            items,
            places: &tables.places,
            received: tables.count as i32,
            later: (number % 2) as i32,
            arrived: &self.sets[1 - self.current[level]],
            crossed: &mut self.crossed,
        })?)
    }

    /// Adds derivatives by populations of a level that have crossed.
    pub(super) fn cross(
        &mut self,
        flow: Flow<'_>,
        tables: &Tables,
        level: usize,
        of: &Shares,
    ) -> Result<(), StepError> {
        if of.count == 0 {
            return Ok(());
        }
        Ok(flow.subdomain.program().launch(kernels::CrossAdjoint {
            items: tables.numbers.slice(0..of.count),
            shares: of.arguments(&self.crossed),
            adjoint: &mut self.sets[self.current[level]],
        })?)
    }

    /// The same of what walls have sent back.
    pub(super) fn give_back(
        &mut self,
        flow: Flow<'_>,
        tables: &Tables,
        level: usize,
        src: &Buffer<Stored>,
    ) -> Result<(), StepError> {
        let (subdomain, of) = (flow.subdomain, &tables.levels[level].returned);
        if of.count == 0 || subdomain.program().manifest().kernel(lbm_bundle::Role::ReturnAdjoint).is_none() {
            return Ok(());
        }
        Ok(subdomain.program().launch(kernels::ReturnAdjoint {
            items: tables.numbers.slice(0..of.count),
            shares: of.arguments(&self.crossed),
            ways: &of.ways,
            walls: subdomain.walls().arguments(),
            src,
            by_groups: kernels::ByGroups {
                groups: &self.groups,
                asked: self.asked as i32,
                by_walls: &mut self.by_walls,
            },
            adjoint: &mut self.sets[self.current[level]],
        })?)
    }
}

/// Whether blocks at walls, too, stream and collide backwards in one pass.
fn takes_walls_at_once(subdomain: &Subdomain) -> bool {
    subdomain.program().manifest().kernel(lbm_bundle::Role::StepAdjointWalls).is_some()
}

/// An array with memory for these values.
fn backed<E: Element>(mut buffer: Buffer<E>, own: Vec<Range<usize>>) -> Result<Buffer<E>, StepError> {
    buffer.back(own.into_iter())?;
    buffer.seal()?;
    Ok(buffer)
}
