//! From the user's description to a simulation with memory for its data.

pub(crate) mod faces;
pub(crate) mod one_set;
pub(crate) mod prepare;
pub(crate) mod refine;
pub(crate) mod room;
pub(crate) mod surroundings;

use lbm_bundle::Bundle;

use crate::device::Device;
use crate::geometry::Block;
use crate::solver::error::StepError;
use crate::solver::setup::prepare::Prepared;
use crate::solver::simulation::Simulation;
use crate::solver::spec::{Adaptivity, GridSpec};

impl Simulation {
    /// Loads the kernels and allocates the grid. `params` gives each parameter of the method with all its components.
    pub fn new(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
    ) -> Result<Self, StepError> {
        Self::refined(device, bundle, spec, params, 1, |_| false)
    }

    /// The same on several levels, refined as in [`Grid::refined`](crate::mesh::Grid::refined); the size of `spec` is that of the
    /// coarsest level, and `params` are its parameters.
    pub fn refined(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
        levels: usize,
        refine: impl Fn(Block) -> bool + Sync,
    ) -> Result<Self, StepError> {
        Prepared::refined(device, bundle, spec, levels, refine)?.simulation(params)
    }

    /// The same on a grid that is refined as in [`Prepared::adaptive`], and may be adapted to the flow.
    pub fn adaptive(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
        adaptivity: &Adaptivity,
        refined: Option<(&(dyn Fn(Block) -> bool + Sync), u64)>,
    ) -> Result<Self, StepError> {
        Prepared::adaptive(device, bundle, spec, adaptivity, refined)?.simulation(params)
    }
}
