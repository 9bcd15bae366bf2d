//! Parameters of the method that vary from cell to cell, as the user gives them.

use crate::solver::arrays::places::{PlaceValues, Places};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

impl Simulation {
    /// Defines the position-dependent parameters of the method from now on. Initial fields must contain the same values.
    pub fn follow_places(&mut self, values: PlaceValues) {
        let places = Places::new(self.manifest(), values);
        self.parts.iter_mut().for_each(|subdomain| subdomain.places = Some(places.clone()));
    }
}

impl Simulation {
    /// Sets the position-dependent parameters of all cells from now on.
    pub fn set_places(&mut self, values: PlaceValues) -> Result<(), StepError> {
        self.follow_places(values);
        let current: Vec<usize> = self.stepper.levels.iter().map(|level| level.current).collect();
        for subdomain in self.parts.iter_mut() {
            subdomain.sampled = false;
            subdomain.give_places(&current, |_| true)?;
        }
        Ok(())
    }
}
