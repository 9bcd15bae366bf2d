//! What subdomains read of each other's blocks in a step: populations, fields, and what is saved for ghosts.

use crate::solver::error::StepError;
use crate::solver::parts::{Division, Parts};

impl Parts {
    /// Whether levels have anything to get from other parts.
    pub(crate) fn exchanges(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.of_level(level).is_empty())
    }

    /// Whether parts read what others' blocks of a level save for ghosts.
    pub(crate) fn exchanges_saved(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.saved_of_level(level).is_empty())
    }

    /// Gives all parts, in several processes, what they read of that.
    pub(crate) fn exchange_saved(&mut self, level: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        routes.exchange_saved(&mut self.here, halo, level, processes)
    }

    /// Gives it to a part, in a lane of a level.
    pub(crate) fn cross_saved(&mut self, level: usize, lane: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &self.division else { return Ok(()) };
        routes.cross_saved(&mut self.here, halo, (level, lane))
    }

    /// Gives all parts the populations of one set that they read of others' blocks of a level.
    pub(crate) fn exchange(&mut self, level: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        if processes.are_several() {
            return routes.exchange(&mut self.here, halo, (level, set), processes);
        }
        let lanes = halo.of_level(level).len();
        self.devices.meet()?;
        (0..lanes).try_for_each(|lane| self.cross(level, lane, set))?;
        Ok(self.devices.meet()?)
    }

    /// Gives a part those that it reads of another's blocks, in a lane of a level.
    pub(crate) fn cross(&mut self, level: usize, lane: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &self.division else { return Ok(()) };
        routes.cross(&mut self.here, halo, (level, lane), set)
    }

    /// Whether what crosses may be on its way while blocks inside stream: parts are in several processes, and nothing but streaming changes
    /// populations.
    pub(crate) fn posts(&self) -> bool {
        self.processes().is_some() && !self.first().moves() && !self.first().grid.forest().holds()
    }

    /// Begins to send what other processes read of a level's blocks, which has been written to a set of populations.
    pub(crate) fn post(&mut self, level: usize, set: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &mut self.division else { return Ok(()) };
        routes.post(&mut self.here, halo, level, set)
    }

    /// Populations may have changed since they were posted.
    pub(crate) fn forget_posted(&mut self) {
        self.division.iter_mut().for_each(|division| division.routes.forget());
    }

    /// Gives all parts the fields that they read of others' blocks.
    pub(crate) fn exchange_fields(&mut self) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        self.devices.meet()?;
        routes.exchange_fields(&mut self.here, halo, processes)?;
        Ok(self.devices.meet()?)
    }
}
