//! A method on a grid: the complete state of a flow.
//!
//! ```text
//! Prepared ──▶ Simulation { subdomains  all data of a device each
//!                           stepper     steps done; parameters and current set of each level
//!                           adapter     how often the grid is adapted, and statistics of that
//!                           monitor     for users: timings, the reference step, notices }
//! ```

pub(crate) mod adapt;
pub(crate) mod bodies;
pub(crate) mod in_parts;
pub(crate) mod record;
pub(crate) mod reordered;
pub(crate) mod run;

use std::sync::Arc;

use lbm_bundle::Manifest;

use crate::device::Device;
use crate::geometry::solid::Cutters;
use crate::mesh::{Grid, Owned};
use crate::solver::decomposition::Subdomains;
use crate::solver::decomposition::recordings::Recordings;
use crate::solver::error::StepError;
use crate::solver::remesh::Adapter;
use crate::solver::spec::Course;
use crate::solver::step::Stepper;
use crate::solver::step::timing::Timings;
use crate::solver::subdomain::Subdomain;

/// Data about a simulation for its user.
#[derive(Default)]
pub(crate) struct Monitor {
    pub(crate) timings: Timings,
    /// The step of the reference fields.
    pub(crate) reference: Option<u64>,
    /// What the user should know, a sentence each.
    pub(crate) notices: Vec<String>,
}

/// A method on a grid.
pub struct Simulation {
    pub(crate) subdomains: Subdomains,
    pub(crate) stepper: Stepper,
    pub(crate) adapter: Adapter,
    pub(crate) monitor: Monitor,
}

impl Simulation {
    /// Changes a parameter of the method from the next step on, unless it depends on time; the parameters of finer levels follow.
    pub fn set_param(&mut self, name: &str, values: &[f64]) -> Result<(), StepError> {
        let manifest = self.subdomains.first().program().manifest();
        let levels = &mut self.stepper.levels;
        let mut coarsest = levels[0].params.clone();
        coarsest.set(manifest, name, values)?;
        if let Some(courses) = &mut self.stepper.courses {
            courses.set(manifest, name, values)?;
        }
        let params = coarsest.of_levels(manifest, levels.len())?;
        levels.iter_mut().zip(params).for_each(|(level, params)| level.params = params);
        self.forget();
        Ok(())
    }

    /// Makes parameters of the method depend on time, in steps of the coarsest level, from now on: each by its name, with all its
    /// components. A collision uses the value at the end of its step. On a GPU steps are then not recorded.
    pub fn follow_courses(&mut self, courses: Vec<(String, Vec<Course>)>) -> Result<(), StepError> {
        self.forget();
        self.stepper.follow(self.subdomains.first().program().manifest(), courses)
    }

    /// Discards what depends on parameters: recordings and sampled fields.
    pub(crate) fn forget(&mut self) {
        self.subdomains.recordings = Recordings::default();
        self.subdomains.iter_mut().for_each(Subdomain::forget_fields);
    }

    /// Sets the halo data of all subdomains to NaN, to show that nothing stale is read. For tests.
    #[doc(hidden)]
    pub fn poison(&mut self) -> Result<(), StepError> {
        self.subdomains.poison()
    }

    /// Cell updates of each subdomain in a step of the coarsest level.
    pub fn work(&self) -> Vec<usize> {
        let cells = self.manifest().cells();
        let of = |owned: &Owned| cells * owned.updates();
        match self.subdomains.partition() {
            Some(partition) => partition.subdomains().iter().map(of).collect(),
            None => vec![self.grid().updates()],
        }
    }

    /// Number of subdomains, in all processes together.
    pub fn subdomains(&self) -> usize {
        self.subdomains.count()
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.stepper.step
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        self.subdomains.first().grid()
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        self.subdomains.first().program().manifest()
    }

    /// The solids at their positions in the current step, on the host.
    pub(crate) fn cutters(&self) -> Option<&Arc<Cutters>> {
        self.subdomains.first().bodies().map(|bodies| &bodies.cutters)
    }

    pub(crate) fn device(&self) -> &Device {
        self.subdomains.first().program().device()
    }
}
