//! Parameters of the method that vary from cell to cell, as a user gives them.

use crate::solver::arrays::places::{PlaceValues, Places};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;

impl Simulation {
    /// Says what the places of the method are, from now on: it is what fields of the start have to give them, too.
    pub fn follow_places(&mut self, values: PlaceValues) {
        let places = Places::new(self.manifest(), values);
        self.parts.iter_mut().for_each(|subdomain| subdomain.places = Some(places.clone()));
    }
}

impl Simulation {
    /// Gives all cells other places of the method, from now on.
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
