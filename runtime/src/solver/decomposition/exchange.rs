//! The halo exchange of a step: populations, fields, and saved populations for ghosts.

use crate::solver::decomposition::{Division, Subdomains};
use crate::solver::error::StepError;
use crate::solver::plan::task::{LaneId, PopulationSet};

impl Subdomains {
    /// Whether a level has a halo exchange.
    pub(crate) fn exchanges(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.of_level(level).is_empty())
    }

    /// Whether saved populations of a level are exchanged for ghosts.
    pub(crate) fn exchanges_saved(&self, level: usize) -> bool {
        self.division.as_ref().is_some_and(|division| !division.halo.saved_of_level(level).is_empty())
    }

    /// Whether processes send each other values through the host.
    fn is_by_host(&self) -> bool {
        self.division.as_ref().is_some_and(Division::is_by_host)
    }

    /// Exchanges these between all subdomains, through the host.
    pub(crate) fn exchange_saved(&mut self, level: usize) -> Result<(), StepError> {
        let Some(Division { halo, routes, processes, .. }) = &mut self.division else { return Ok(()) };
        routes.exchange_saved(&mut self.here, halo, level, processes)
    }

    /// Sends these along one lane.
    pub(crate) fn cross_saved(&mut self, lane: LaneId) -> Result<(), StepError> {
        let Some(Division { halo, routes, windows, .. }) = &mut self.division else { return Ok(()) };
        routes.cross_saved(&mut self.here, windows, halo, lane)
    }

    /// Exchanges the halo of a level between all subdomains, for one set of populations.
    pub(crate) fn exchange(&mut self, level: usize, set: PopulationSet) -> Result<(), StepError> {
        let Some(division) = &mut self.division else { return Ok(()) };
        if division.is_by_host() {
            let Division { halo, routes, processes, .. } = division;
            return routes.exchange(&mut self.here, halo, level, set, processes);
        }
        let lanes = division.routes.lanes(level, false);
        self.devices.meet()?;
        lanes.into_iter().try_for_each(|number| self.cross(LaneId { level, number }, set))?;
        Ok(self.devices.meet()?)
    }

    /// Sends populations of one set along one lane.
    pub(crate) fn cross(&mut self, lane: LaneId, set: PopulationSet) -> Result<(), StepError> {
        let Some(Division { halo, routes, windows, .. }) = &mut self.division else { return Ok(()) };
        routes.cross(&mut self.here, windows, halo, lane, set)
    }

    /// Whether communication through the host overlaps with the computation of interior blocks: subdomains lie in several processes, and only
    /// streaming changes what is stored of cells between two steps. On several levels, exposed values are computed again before the halo is exchanged.
    pub(crate) fn posts(&self) -> bool {
        let first = self.first();
        let exposes_again = !first.program().manifest().shown.is_empty() && first.grid().levels().len() > 1;
        self.is_by_host() && !first.moves() && !first.grid().forest().stores_covered() && !exposes_again
    }

    /// Begins to send the halo of a level to other processes, from a set of populations that has been written.
    pub(crate) fn post(&mut self, level: usize, set: PopulationSet) -> Result<(), StepError> {
        let Some(Division { halo, routes, .. }) = &mut self.division else { return Ok(()) };
        routes.post(&mut self.here, halo, level, set)
    }

    /// Discards what was posted, because populations may have changed since.
    pub(crate) fn forget_posted(&mut self) {
        self.division.iter_mut().for_each(|division| division.routes.forget());
    }

    /// Exchanges the halo of the fields between all subdomains.
    pub(crate) fn exchange_fields(&mut self) -> Result<(), StepError> {
        let Some(Division { halo, routes, windows, processes, .. }) = &mut self.division else { return Ok(()) };
        self.devices.meet()?;
        routes.exchange_fields(&mut self.here, windows, halo, processes)?;
        Ok(self.devices.meet()?)
    }
}
