//! Parameters of the method that vary from cell to cell, as the user gives them.

use crate::solver::arrays::places::{PlaceValues, Places};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

impl Simulation {
    /// Defines the position-dependent parameters of the method from now on. Initial fields must contain the same values.
    pub fn follow_places(&mut self, values: PlaceValues) {
        let places = Places::new(self.manifest(), self.grid().domain(), values);
        self.subdomains.iter_mut().for_each(|subdomain| subdomain.follow_places(places.clone()));
    }
}

impl Simulation {
    /// Sets the position-dependent parameters of all cells from now on.
    pub fn set_places(&mut self, values: PlaceValues) -> Result<(), StepError> {
        self.follow_places(values);
        let current = self.stepper.current();
        self.subdomains.iter_mut().try_for_each(|subdomain| Ok(subdomain.set_places(&current)?))
    }
}
