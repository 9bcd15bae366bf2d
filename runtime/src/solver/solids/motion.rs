//! The motion of solids on their way: kernels place the shapes of a level, and fill the cells that solids have left.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbm_bundle::cutting::SOLID_NUMBERS;

use crate::device::{Buffer, Device, Int, Stored};
use crate::geometry::solid::{FlatShapes, Rate};
use crate::kernels::cutting::{Place, UNCHANGED, Uncover};
use crate::kernels::layout::Layout;
use crate::kernels::{self, Placed, Program};
use crate::mesh::Grid;
use crate::solver::arrays::params::Params;
use crate::solver::arrays::places::Places;
use crate::solver::arrays::walls::Walls;
use crate::solver::error::StepError;
use crate::solver::solids::bodies::{Bodies, LinkRows, Surfaces};
use crate::solver::solids::moving::{LeftCells, SETS, Timeline};

/// Most steps of a level whose moves are computed in advance.
const STEPS_AHEAD: usize = 64;

impl Bodies {
    /// Whether the links of a level are in its current set. Where solids of several levels move, those of the coarsest stay in the first set, so
    /// that the links of all levels are in the same set after each step of the coarsest.
    pub(crate) fn alternates(&self, level: usize) -> bool {
        level > 0 || self.levels_with_moves().all(|level| level == 0)
    }

    /// The index of the set in which the links of a level are.
    pub(super) fn set_of_links(&self, level: usize, set: usize) -> usize {
        if self.alternates(level) { set } else { 0 }
    }

    /// The arguments of kernels that read the cut links of a level; `set`: its current set.
    pub(crate) fn arguments(&self, level: usize, set: usize) -> kernels::Links<'_> {
        let LinkRows { links, distances } = &self.links[self.set_of_links(level, set)];
        kernels::Links { link_rows: &self.rows, links, distances }
    }

    /// The links of all levels after a step of the coarsest.
    pub(crate) fn links(&self) -> &Buffer<Int> {
        &self.links[self.set_of_links(0, self.current[0])].links
    }

    /// The current set of a level at the end of one of its steps.
    fn set_at(&self, level: usize, time: f64) -> usize {
        let steps = (time * f64::from(1 << level)) as usize;
        if self.moves_on(level) { steps % SETS } else { 0 }
    }

    /// Whether any solid moves.
    pub(crate) fn moves(&self) -> bool {
        self.moving.is_some()
    }

    /// Whether solids of a level move.
    pub(crate) fn moves_on(&self, level: usize) -> bool {
        self.cutters.solids.motions(level).next().is_some()
    }

    /// Whether a time lies after the reserved interval, or a free body has come further than blocks are reserved for it.
    pub(crate) fn is_beyond(&self, time: f64) -> bool {
        self.moving.as_ref().is_some_and(|moving| time > moving.until) || self.cutters.solids.strays()
    }

    /// Reserves an interval from a time on, unless changes of the grid (`follows`) do that. A refined grid that does not change has the
    /// level of the solids along all of their way.
    pub(crate) fn reserve_from(&mut self, time: f64, follows: bool) -> Result<(), StepError> {
        let Bodies { cutters, moving: Some(moving), own, .. } = self else { return Ok(()) };
        Arc::make_mut(cutters).solids.follow_free();
        let end = cutters.solids.end();
        moving.until = if follows {
            f64::INFINITY
        } else if own.levels() > 1 && time < end {
            end
        } else {
            Arc::make_mut(cutters).solids.reserve_from(time).ok_or(StepError::LongWay)?
        };
        Ok(())
    }

    /// The levels whose solids move.
    fn levels_with_moves(&self) -> impl Iterator<Item = usize> {
        (0..self.own.levels()).filter(|level| self.moves_on(*level))
    }

    /// Whether all solids that move do so as prescribed: their moves can be computed in advance.
    fn are_prescribed(&self) -> bool {
        !self.levels_with_moves().any(|level| self.cutters.solids.has_free(level))
    }

    /// Adds the moves of a level and of finer ones in a step of the level that begins at a time, in the order in which steps make them.
    fn moves_in(&self, level: usize, begin: f64, moves: &mut Vec<(usize, f64)>) {
        let step = 0.5f64.powi(level as i32);
        if level + 1 < self.own.levels() {
            self.moves_in(level + 1, begin, moves);
            self.moves_in(level + 1, begin + 0.5 * step, moves);
        }
        moves.extend(self.moves_on(level).then_some((level, begin + step)));
    }

    /// Whether moves can be recorded until a time: the device knows what they do, and blocks are reserved for them.
    pub(crate) fn can_record(&self, until: f64) -> bool {
        !self.moves() || (self.are_prescribed() && !self.is_beyond(until))
    }

    /// Writes for the device what moves do in `steps` steps of the coarsest level from a time on, as a recording of these steps reads it.
    pub(crate) fn foresee(&mut self, device: &Device, time: f64, steps: u64) -> Result<(), StepError> {
        if !self.moves() || !self.are_prescribed() {
            return Ok(());
        }
        let mut moves = vec![];
        (0..steps).for_each(|ahead| self.moves_in(0, time + ahead as f64, &mut moves));
        self.write_timeline(device, moves)
    }

    /// Whether the host moves solids from step to step, with the fluid.
    pub(crate) fn moves_by_host(&self) -> bool {
        self.moves() && !self.are_prescribed()
    }

    /// Follows recorded steps on the host: the moves that are written are done.
    pub(crate) fn follow_moves(&mut self) {
        let Bodies { cutters, moving: Some(moving), .. } = self else { return };
        let Timeline { moves, next, .. } = &mut moving.timeline;
        *next = moves.len();
        let solids = &mut Arc::make_mut(cutters).solids;
        // The last move of each level.
        let last: BTreeMap<usize, f64> = moves.iter().copied().collect();
        for (level, time) in &last {
            let step = 0.5f64.powi(*level as i32);
            solids.set_time(*level, *time);
            moving
                .rates
                .extend(solids.motions(*level).map(|(number, motion)| (number, motion.rate(*time, time + step))));
        }
        last.into_iter().for_each(|(level, time)| self.current[level] = self.set_at(level, time));
    }

    /// Which arrays the next moves work on: another number after one has been replaced, or if they begin with the other set of links.
    pub(crate) fn arrays_of_moves(&self) -> u64 {
        self.moving.as_ref().map_or(0, |moving| (SETS as u64) * moving.replaced + self.current[0] as u64)
    }

    /// On the host, moves the solids of a level to their positions at a time, in steps of the coarsest level, and sets the velocities of
    /// their surfaces for the step that begins then.
    pub(crate) fn place(
        &mut self,
        program: &Program,
        walls: &mut Walls,
        level: usize,
        time: f64,
    ) -> Result<(), StepError> {
        let (manifest, step) = (program.manifest(), 0.5f64.powi(level as i32));
        self.current[level] = self.set_at(level, time);
        let Bodies { cutters, surfaces, moving, current, .. } = self;
        Arc::make_mut(cutters).solids.set_time(level, time);
        let Some(moving) = moving else { return Ok(()) };
        let set = &mut surfaces[current[level]];
        let dim = manifest.dim as usize;
        for (number, motion) in cutters.solids.motions(level) {
            let rate = motion.rate(time, time + step);
            let velocity = &rate.velocity[..dim];
            let wall = (set.wall + number) * manifest.wall_stride as usize;
            walls.values.write_reals(wall + moving.velocities[&number], velocity)?;
            set.frames.write_reals(number * dim, velocity)?;
            moving.rates.insert(number, rate);
        }
        Ok(())
    }

    /// Moves the solids of a level to their positions at a time, sets the velocities of their surfaces for the step that begins then, cuts
    /// their links, in the set that is then current, and finds the cells that they have left.
    pub(crate) fn advance(
        &mut self,
        device: &Device,
        grid: &mut Grid,
        walls: &mut Walls,
        level: usize,
        time: f64,
    ) -> Result<(), StepError> {
        let set = self.set_at(level, time);
        if set == self.current[level] {
            // Moved once more, from where they are now.
            self.show(device)?;
            self.forget_parts()?;
        }
        self.place_shapes(device, walls, (level, set), time)?;
        self.occupy((level, set))?;
        self.cut((level, set), grid, walls)?;
        self.current[level] = set;
        self.uncover((level, set))
    }

    /// Sets the velocities of the surfaces of a level for the step that begins at a time, at which its solids are already, as if they had been
    /// moved with them.
    pub(crate) fn redirect(
        &mut self,
        device: &Device,
        grid: &mut Grid,
        walls: &mut Walls,
        level: usize,
        time: f64,
    ) -> Result<(), StepError> {
        let set = self.set_at(level, time);
        self.place_shapes(device, walls, (level, set), time)?;
        self.cut((level, set), grid, walls)?;
        self.uncover((level, set))
    }

    /// Moves the shapes of a level to their positions at a time, and sets the velocities of their surfaces for the step that begins then.
    fn place_shapes(
        &mut self,
        device: &Device,
        walls: &mut Walls,
        (level, set): (usize, usize),
        time: f64,
    ) -> Result<(), StepError> {
        let entry = self.entry(device, level, time)?;
        let Bodies { cutters, surfaces, count, moving: Some(moving), .. } = self else { return Ok(()) };
        let solids = &mut Arc::make_mut(cutters).solids;
        solids.set_time(level, time);
        let step = 0.5f64.powi(level as i32);
        for (number, motion) in solids.motions(level) {
            moving.rates.insert(number, motion.rate(time, time + step));
        }
        let Surfaces { frames, shapes, .. } = &mut surfaces[set];
        let (shapes, timeline) = (&mut shapes[level], &moving.timeline);
        moving.kernels.launch(Place {
            items: moving.numbers.slice(0..moving.numbers.len()),
            entry: entry as i32,
            shapes: shapes.room as i32,
            solids: *count as i32,
            all_kinds: &timeline.kinds,
            all_numbers: &timeline.numbers,
            all_rates: &timeline.rates,
            velocities: &moving.at_walls[level][set],
            kinds: &mut shapes.kinds,
            numbers: &mut shapes.numbers,
            rates: &mut moving.rates_at,
            frames,
            wall_values: &mut walls.values,
        })?;
        moving.timeline.next += 1;
        Ok(())
    }

    /// Finds the cells that the solids of a level have left in their last move, and the cells from which these are filled.
    fn uncover(&mut self, (level, set): (usize, usize)) -> Result<(), StepError> {
        let Bodies { surfaces, places: table, moving: Some(moving), .. } = self else { return Ok(()) };
        let (form, before) = (&surfaces[set].form, &surfaces[1 - set].shapes[level]);
        let cells = moving.own_cells(level);
        let LeftCells { around, towards, velocities } = &mut moving.swept.left[set];
        Ok(moving.kernels.launch(Uncover {
            items: moving.swept.items.slice(cells),
            placed: Placed { form, level: level as i32, places: table },
            solids: before.arguments(),
            surfaces: moving.surfaces.arguments(),
            rates: &moving.rates_at,
            states: &moving.states,
            beside: &moving.swept.beside,
            around,
            towards,
            velocities,
        })?)
    }

    /// Fills the cells that the solids of a level have left in their last move, to a set of links.
    pub(crate) fn refill(
        &self,
        program: &Program,
        grid: &Grid,
        places: Option<&Places>,
        (level, set): (usize, usize),
        params: &Params,
        populations: &mut Buffer<Stored>,
    ) -> Result<(), StepError> {
        let Bodies { places: table, moving: Some(moving), .. } = self else { return Ok(()) };
        let (own, cells) = (moving.own_cells(level), moving.cells);
        let LeftCells { around, towards, velocities } = &moving.swept.left[set];
        program.launch(kernels::Refill {
            items: moving.swept.items.slice(own.clone()),
            places: table,
            around,
            towards,
            velocities,
            neighbours: &grid.tables().neighbours,
            populations,
            params: params.packed(),
        })?;
        let Some(places) = places else { return Ok(()) };
        // Constants of cells follow from formulas that the host evaluates.
        let layout = Layout::populations(program.manifest());
        let around = around.read_ints(own.clone())?;
        for (at, _) in own.zip(around).filter(|(_, around)| *around != UNCHANGED) {
            let block = moving.swept.blocks[at / cells];
            let cell = (moving.leaves[&block].slot, at % cells);
            places.write_cell(layout, populations, grid.origin(block), cell)?;
        }
        Ok(())
    }

    /// The entry of the timeline for the step of a level that ends at a time; writes entries for that step and those after it if there is none.
    fn entry(&mut self, device: &Device, level: usize, time: f64) -> Result<usize, StepError> {
        let Some(moving) = &self.moving else { return Ok(0) };
        if let Some(entry) = moving.timeline.entry(level, time) {
            return Ok(entry);
        }
        // Where solids move on several levels, their steps alternate. Of free bodies only the next step is known.
        let is_one = self.levels_with_moves().count() == 1 && self.are_prescribed();
        let count = if is_one { STEPS_AHEAD } else { 1 };
        let step = 0.5f64.powi(level as i32);
        self.write_timeline(device, (0..count).map(|ahead| (level, time + ahead as f64 * step)).collect())?;
        Ok(0)
    }

    /// Writes a timeline: what these moves do, each of a level at the end of a step of it.
    fn write_timeline(&mut self, device: &Device, moves: Vec<(usize, f64)>) -> Result<(), StepError> {
        self.prepare_timeline(device, moves)?;
        self.enqueue_timeline()
    }

    /// Writes the timeline that has been prepared, if it has not been written.
    pub(crate) fn enqueue_timeline(&mut self) -> Result<(), StepError> {
        let Some(Timeline { kinds, numbers, rates, pending, .. }) =
            self.moving.as_mut().map(|moving| &mut moving.timeline)
        else {
            return Ok(());
        };
        if let Some((all_kinds, all_numbers, all_rates)) = pending.take() {
            kinds.enqueue_ints(&all_kinds)?;
            numbers.enqueue_doubles(&all_numbers)?;
            rates.enqueue_doubles(&all_rates)?;
        }
        Ok(())
    }

    /// Prepares a timeline, with room for it. Where the fluid moves bodies, it has moved them to these times.
    pub(crate) fn prepare_timeline(&mut self, device: &Device, moves: Vec<(usize, f64)>) -> Result<(), StepError> {
        let Some(moving) = &self.moving else { return Ok(()) };
        let (mut solids, mut rates) = (self.cutters.solids.clone(), moving.rates.clone());
        let (mut shapes, mut all_rates) = (vec![], vec![]);
        for (level, time) in &moves {
            let step = 0.5f64.powi(*level as i32);
            solids.set_time(*level, *time);
            let mut of_solids = vec![[0.0; SOLID_NUMBERS]; self.count];
            // Those of other levels keep their velocities.
            rates.iter().for_each(|(number, rate)| of_solids[*number][9..].copy_from_slice(&rate.velocity));
            for (number, motion) in solids.motions(*level) {
                // The velocity at this time, from the positions one step earlier and one step later, and the displacement since the earlier one.
                let (before, now) = (motion.at(time - step).by, motion.at(*time).by);
                let Rate { velocity, rotation } = motion.rate(time - step, time + step);
                let next = motion.rate(*time, time + step);
                let moved = [0, 1, 2].map(|axis| now[axis] - before[axis]);
                let all = [velocity, rotation, moved, next.velocity];
                of_solids[number].copy_from_slice(all.as_flattened());
                rates.insert(number, next);
            }
            all_rates.extend(of_solids);
            shapes.push(moving.shapes(&solids, &rates));
        }
        let room = shapes.iter().map(FlatShapes::count).max().unwrap_or(0);
        if self.make_room(device, room)? {
            self.show(device)?;
        }
        let room = self.room_for_shapes();
        let (mut kinds, mut numbers) = (vec![], vec![]);
        for shapes in shapes {
            let FlatShapes { kinds: own, numbers: of } = shapes.padded(room);
            kinds.extend(own);
            numbers.extend(of);
        }
        let Some(moving) = &mut self.moving else { return Ok(()) };
        let timeline = &mut moving.timeline;
        if timeline.kinds.len() < kinds.len() {
            moving.replaced += 1;
            timeline.kinds = device.alloc_ints(kinds.len())?;
            timeline.numbers = device.alloc_doubles(numbers.len())?;
            timeline.rates = device.alloc_doubles(SOLID_NUMBERS * all_rates.len())?;
        }
        timeline.pending = Some((kinds, numbers, all_rates.into_flattened()));
        (timeline.moves, timeline.next) = (moves, 0);
        Ok(())
    }
}
