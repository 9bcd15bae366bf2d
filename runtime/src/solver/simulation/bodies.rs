//! Solids that move, for whoever uses a flow: where they are, and what something other than the fluid does to them.

use crate::geometry::solid::{BodyState, Change, Pose, Rate, Unchanged};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::solids::layers::Layers;
use crate::solver::subdomain::Subdomain;

impl Simulation {
    /// The states of the bodies that the fluid moves, with the numbers of their solids, at the end of the last step.
    pub fn bodies(&self) -> Vec<(usize, BodyState)> {
        self.cutters().map_or(vec![], |cutters| cutters.solids.states())
    }

    /// Sets states of bodies that the fluid moves, before [populations](Self::write_populations) of the same step are written, which places
    /// the bodies.
    pub fn set_bodies(&mut self, states: &[(usize, BodyState)]) {
        self.subdomains.iter_mut().for_each(|subdomain| subdomain.set_states(states));
    }

    /// The states of surfaces under boundary layers: numbers that a flow which is [continued](Self::set_slips) needs; a collective call.
    pub fn slips(&self) -> Result<Vec<f64>, StepError> {
        self.subdomains.slips()
    }

    /// What the laws of the wall of such surfaces have found in the last step, if there are any; a collective call.
    pub(crate) fn layers(&self) -> Result<Option<Layers>, StepError> {
        let slides = self.subdomains.first().bodies().and_then(|bodies| bodies.slides.as_ref());
        let Some(beside) = slides.map(|slides| slides.beside.clone()) else { return Ok(None) };
        Ok(Some(Layers { beside, states: self.slips()? }))
    }

    /// Sets states of surfaces under boundary layers; false, and none is set, if they are not those of such surfaces.
    pub fn set_slips(&mut self, states: &[f64]) -> Result<bool, StepError> {
        self.forget();
        let mut fit = true;
        for subdomain in self.subdomains.iter_mut() {
            fit &= subdomain.set_slips(states)?;
        }
        Ok(fit)
    }

    /// Where a solid that moves is, relative to its given place, and its velocity in the next step; `None` of a solid at rest.
    pub fn lies(&self, solid: usize) -> Option<(Pose, Rate)> {
        self.cutters()?.solids.lies(solid, self.step() as f64)
    }

    /// Changes the state of a body that the fluid moves, between two steps. If it is elsewhere then, its links are cut again, and cells that
    /// it has left are filled, as in a step; else those that it has left in the last step have its new velocity.
    pub fn change_body(&mut self, solid: usize, change: &Change) -> Result<(), StepError> {
        let (step, sound) = (self.step(), self.manifest().main().cs2.sqrt());
        let not_free = StepError::NotMoved { solid: solid + 1 };
        let Some(cutters) = self.cutters() else { return Err(not_free) };
        let state = cutters.solids.changed(solid, change, sound).map_err(|unchanged| match unchanged {
            Unchanged::NotFree => not_free,
            Unchanged::Held => StepError::NotTurned { solid: solid + 1 },
            Unchanged::Astray(astray) => StepError::astray(astray, step, sound),
        })?;
        self.set_bodies(&[(solid, state)]);
        for level in 0..self.stepper.levels.len() {
            let Simulation { subdomains, stepper, .. } = self;
            if subdomains.first().has_free(level) {
                let state = &stepper.levels[level];
                subdomains.iter_mut().try_for_each(|subdomain| {
                    match change.by {
                        Some(_) => subdomain.move_solids(level, step as f64)?,
                        None => subdomain.redirect_solids(level, step as f64)?,
                    }
                    subdomain.refill((level, subdomain.link_set(level)), state)
                })?;
            }
        }
        self.subdomains.iter_mut().for_each(Subdomain::forget_fields);
        Ok(())
    }
}
