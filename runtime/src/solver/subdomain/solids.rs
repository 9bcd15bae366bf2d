//! Solids in a subdomain: they move at the end of a step of their level, and their exchange with the fluid is summed.

use std::sync::Arc;

use crate::geometry::solid::BodyState;
use crate::solver::arrays::params::LevelState;
use crate::solver::error::StepError;
use crate::solver::solids::bodies::Bodies;
use crate::solver::solids::exchanges::Exchanges;
use crate::solver::subdomain::Subdomain;

impl Subdomain {
    /// Lists the blocks that moving solids may touch, after the grid has changed, blocks have been sorted, or another interval has been
    /// reserved for the motions.
    pub(crate) fn renew_solids(&mut self) -> Result<(), StepError> {
        let Subdomain { program, grid, owned, walls, bodies, .. } = self;
        let Some(bodies) = bodies else { return Ok(()) };
        bodies.renew(program.device(), program.manifest(), grid, owned.as_ref(), walls)?;
        self.lists_solids = true;
        match self.streamed.take() {
            Some(streamed) => self.list_streamed(streamed.into_edge()),
            None => Ok(()),
        }
    }

    /// The same after another interval has been reserved for the motions, on a grid that is the same.
    pub(crate) fn renew_interval(&mut self) -> Result<(), StepError> {
        let is_listed = self.bodies.as_ref().is_none_or(Bodies::lists_interval);
        if is_listed { Ok(()) } else { self.renew_solids() }
    }

    /// Refuses solids that come to where they must not within the reserved interval.
    pub(crate) fn check_way(&self) -> Result<(), StepError> {
        let Some(bodies) = &self.bodies else { return Ok(()) };
        Ok(bodies.check_places(self.program.manifest())?)
    }

    /// Moves all moving solids to their positions at a time, on several levels, without filling cells.
    pub(crate) fn place_solids(&mut self, levels: usize, time: f64) -> Result<(), StepError> {
        let Subdomain { program, walls, bodies, .. } = self;
        let Some(bodies) = bodies.as_mut().filter(|bodies| bodies.moves()) else { return Ok(()) };
        (0..levels).try_for_each(|level| bodies.place(program, walls, level, time))?;
        self.reserve_from(time)
    }

    /// The current set of links of a level.
    pub(crate) fn link_set(&self, level: usize) -> usize {
        self.bodies().map_or(0, |bodies| bodies.current[level])
    }

    /// Whether moves of a level write other links than its steps read.
    pub(crate) fn alternates(&self, level: usize) -> bool {
        self.bodies().is_some_and(|bodies| bodies.alternates(level))
    }

    /// Whether the fluid moves solids of a level.
    pub(crate) fn has_free(&self, level: usize) -> bool {
        self.bodies().is_some_and(|bodies| bodies.cutters.solids.has_free(level))
    }

    /// Sets the states of free bodies; they are there after the next move.
    pub(crate) fn set_states(&mut self, states: &[(usize, BodyState)]) {
        if let Some(bodies) = &mut self.bodies {
            Arc::make_mut(&mut bodies.cutters).solids.set_states(states);
        }
    }

    /// Reserves an interval of the motions from a time on, and lists the blocks that solids may touch in it.
    fn reserve_from(&mut self, time: f64) -> Result<(), StepError> {
        let follows = self.is_adapted();
        if let Some(bodies) = &mut self.bodies {
            bodies.reserve_from(time, follows)?;
        }
        self.renew_solids()?;
        self.check_way()
    }

    /// Moves the solids of a level to their positions at a time, in steps of the coarsest level, sets the velocities of their surfaces for the
    /// step that begins then, and finds the cells that they have left since the previous position.
    pub(crate) fn move_solids(&mut self, level: usize, time: f64) -> Result<(), StepError> {
        if !self.has_motions(level) {
            return Ok(());
        }
        if self.is_beyond(time) {
            self.reserve_from(time - 1.0)?;
        }
        let Subdomain { program, grid, walls, bodies: Some(bodies), .. } = self else { return Ok(()) };
        bodies.advance(program.device(), grid, walls, level, time)
    }

    /// Fills the cells that the solids of a level have left in the move to a set of links.
    pub(crate) fn refill(&mut self, at: (usize, usize), state: &LevelState) -> Result<(), StepError> {
        let Subdomain { program, grid, bodies: Some(bodies), fields, places, .. } = self else { return Ok(()) };
        let populations = &mut fields.populations[state.current.index()];
        bodies.refill(program, grid, places.as_ref(), at, &state.params, populations)
    }

    /// Whether the moves of solids can be recorded until a time.
    pub(crate) fn can_record(&self, until: f64) -> bool {
        // Constants of cells that solids leave are computed by the host.
        self.bodies().is_none_or(|bodies| !bodies.moves() || (self.places.is_none() && bodies.can_record(until)))
    }

    /// Tells the device what moves do in `steps` steps of the coarsest level from a time on, and returns which arrays they work on.
    pub(crate) fn foresee_moves(&mut self, time: f64, steps: u64) -> Result<u64, StepError> {
        let Subdomain { program, bodies: Some(bodies), .. } = self else { return Ok(0) };
        bodies.foresee(program.device(), time, steps)?;
        Ok(bodies.arrays_of_moves())
    }

    /// Whether the host moves solids from step to step, with the fluid, and moves can be recorded one by one.
    pub(crate) fn moves_by_host(&self) -> bool {
        self.places.is_none() && self.bodies().is_some_and(Bodies::moves_by_host)
    }

    /// Whether a move to a time leads beyond what is reserved.
    pub(crate) fn is_beyond(&self, time: f64) -> bool {
        self.bodies().is_some_and(|bodies| bodies.is_beyond(time))
    }

    /// Prepares the next moves of levels, to these times, and returns which arrays they work on.
    pub(crate) fn prepare_moves(&mut self, moves: &[(usize, f64)]) -> Result<u64, StepError> {
        let Subdomain { program, bodies: Some(bodies), .. } = self else { return Ok(0) };
        bodies.prepare_timeline(program.device(), moves.to_vec())?;
        Ok(bodies.arrays_of_moves())
    }

    /// Tells the device what the moves do that have been prepared.
    pub(crate) fn enqueue_moves(&mut self) -> Result<(), StepError> {
        self.bodies.as_mut().map_or(Ok(()), Bodies::enqueue_timeline)
    }

    /// Which arrays moves work on.
    pub(crate) fn arrays_of_moves(&self) -> u64 {
        self.bodies().map_or(0, Bodies::arrays_of_moves)
    }

    /// How many of the moves that are written for the device have been made.
    pub(crate) fn moves_made(&self) -> usize {
        self.bodies().and_then(|bodies| bodies.moving.as_ref()).map_or(0, |moving| moving.timeline.next)
    }

    /// Gives the solids of a level, where they are since their last move, other velocities, as if they had been moved with them.
    pub(crate) fn redirect_solids(&mut self, level: usize, time: f64) -> Result<(), StepError> {
        let Subdomain { program, grid, walls, bodies: Some(bodies), .. } = self else { return Ok(()) };
        bodies.redirect(program.device(), grid, walls, level, time)
    }

    /// Sets the states of surfaces that slide; false if they are not as many.
    pub(crate) fn set_slips(&mut self, states: &[f64]) -> Result<bool, StepError> {
        let Some(bodies) = &mut self.bodies else { return Ok(states.is_empty()) };
        bodies.set_slips(states)
    }

    /// Whether surfaces of a level slide under boundary layers.
    pub(crate) fn slides_on(&self, level: usize) -> bool {
        self.bodies().and_then(|bodies| bodies.slides.as_ref()).is_some_and(|slides| slides.has(level))
    }

    /// Gives these surfaces the velocities of the step that begins.
    pub(crate) fn slide(&mut self, level: usize, state: &LevelState) -> Result<(), StepError> {
        let Subdomain { program, grid, walls, bodies: Some(bodies), fields, .. } = self else { return Ok(()) };
        bodies.slide(program, grid, walls, &fields.populations[state.current.index()], level)
    }

    /// Sums the exchange along the links of a level, with its current set, in its next step, and leaves the sums on the device.
    pub(crate) fn leave_exchanges(&mut self, at: (usize, usize), state: &LevelState) -> Result<(), StepError> {
        let Subdomain { program, grid, walls, bodies: Some(bodies), fields, sets, .. } = self else { return Ok(()) };
        bodies.sum_links(program, grid, walls, &fields.populations[sets.array(state.current)], at)
    }

    /// Takes the sums that steps have left on the device as those of recorded steps.
    pub(crate) fn record_exchanges(&mut self) -> Exchanges {
        self.bodies.as_mut().map_or(Exchanges::default(), |bodies| bodies.left.record())
    }

    /// Copies to the host the sums that the device leaves in recorded steps, which it has been told to run.
    pub(crate) fn copy_exchanges(&mut self, recorded: &Exchanges) -> Result<(), StepError> {
        let Subdomain { program, bodies, .. } = self;
        bodies.iter_mut().try_for_each(|bodies| bodies.left.replay(program.device(), recorded))
    }

    /// Follows on the host the moves that are written for the device, which it has been told to make.
    pub(crate) fn follow_moves(&mut self) {
        self.bodies.iter_mut().for_each(Bodies::follow_moves);
    }

    /// Reads the sums of its blocks that the first steps of levels have left on the device, as many.
    pub(crate) fn take_exchanges(&mut self, count: usize) -> Result<Vec<Vec<f64>>, StepError> {
        self.bodies.as_mut().map_or(Ok(vec![]), |bodies| bodies.left.take(count))
    }
}
