//! A simulation: a method's kernels on a grid, advanced step by step.
//!
//! A step of a level reads one set of post-collision populations and writes the other; what enters from other levels it reads from
//! the inbox, or from ghosts. Fields are moments of the current set: collision conserves them, so before and after are the same.
//!
//! ```text
//! Prepared ──▶ Simulation { parts       a subdomain each: all that lies on its device
//!                           stepper     steps done, parameters and current set of each level
//!                           adapter     how often the grid follows the flow, and what that has brought
//!                           monitor     what is known from outside: times, the reference, notices }
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | `step`, `accesses` | the time step: its phases, and in which order levels take them; what each reads and writes |
//! | `run` | many steps: where the grid changes between them, and which are recorded |
//! | `subdomain` | what a device has: kernels, blocks, populations |
//! | `parts`, `halo` | the subdomains of a flow, and what they read of each other's blocks |
//! | `edges`, `routes` | blocks of a part that wait for others, and those that do not; ways between devices |
//! | `stream`, `bodies`, `moving`, `turning` | streaming and collision, by kind of block; solids, those that move, and those that turn |
//! | `inbox`, `ghosts` | what crosses between levels, for couplings of packets and of ghosts |
//! | `timing` | phases, and where the time goes |
//! | `adapt`, `carry`, `transfer` | the grid follows the flow; populations follow the grid, from part to part too |
//! | `exchanges` | what solids and the fluid exchange: forces, torques, heat |
//! | `monitor`, `observe` | what is measured: conserved sums, energy and enstrophy, forces, change, the first value that is not finite |
//! | `statistics` | what is accumulated over time in each cell |
//! | `prescribed` | parameters of walls that depend on time |
//! | `places` | what cells keep for parameters of the method that vary |
//! | `setup`, `around`, `prepare` | from what a user says to a simulation with memory for its data |
//! | `fields`, `room`, `memory` | per-block arrays, where parts on GPUs have memory of them, and what they take |
//! | `state`, `digits`, `stress`, `restore` | what is in the cells: set, changed and read; the stress at the start; bytes for restart files |
//! | `resident` | arrays where they lie on their device, for other programs |
//! | `snapshot`, `capture` | macroscopic fields on the host; on their way there while the flow goes on |
//! | `probe`, `around_point` | fields at points, from the blocks around them alone |
//! | `at_points` | fields of a snapshot at points |
//! | `velocity` | slopes of the velocity, and vorticity |

mod accesses;
mod adapt;
mod around;
mod around_point;
pub mod at_points;
mod bodies;
pub mod capture;
mod carry;
mod digits;
mod edges;
mod error;
mod exchanges;
pub mod fields;
mod ghosts;
mod halo;
mod inbox;
pub mod memory;
mod monitor;
mod moving;
pub mod observe;
mod parts;
mod places;
mod prepare;
mod prescribed;
pub mod probe;
mod reordered;
pub mod resident;
pub mod restore;
mod room;
mod routes;
mod run;
mod setup;
pub mod snapshot;
mod state;
mod statistics;
mod step;
mod stream;
mod stress;
mod subdomain;
mod timing;
mod transfer;
mod turning;
pub mod velocity;

use std::sync::Arc;

use lbm_bundle::{Bundle, Manifest};

pub use adapt::{Adaptations, Adaptivity};
pub use error::StepError;
pub use places::PlaceValues;
pub use prepare::Prepared;
pub use setup::{FaceSpec, GridSpec, Patch, Profile, Region, SHARE_OF_MEMORY, Varying, WallSpec};
pub use step::Course;
pub use timing::{Phase, Timings};

use crate::device::Device;
use crate::geometry::Block;
use crate::geometry::solid::Cutters;
use crate::mesh::{Grid, Owned};
use adapt::Adapter;
use monitor::Monitor;
use parts::Parts;
use step::Stepper;

/// A method on a grid.
pub struct Simulation {
    parts: Parts,
    stepper: Stepper,
    adapter: Adapter,
    monitor: Monitor,
}

impl Simulation {
    /// Loads the kernels and allocates the grid. `params` gives each parameter of the method all its components.
    pub fn new(
        device: &Device,
        bundle: &Bundle,
        spec: &GridSpec,
        params: &[(String, Vec<f64>)],
    ) -> Result<Self, StepError> {
        Self::refined(device, bundle, spec, params, 1, |_| false)
    }

    /// The same on so many levels, refined as [`Grid::refined`] says; the size of `spec` is that of the coarsest level, and
    /// `params` are its parameters.
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

    /// The same on a grid that is refined as [`Prepared::adaptive`] says, and may change with the flow.
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

    /// Changes a parameter of the method from the next step on, unless it depends on time; finer levels follow.
    pub fn set_param(&mut self, name: &str, values: &[f64]) -> Result<(), StepError> {
        let manifest = self.parts.first().program.manifest();
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

    /// Lets parameters of the method depend on time, in steps of the coarsest level, from now on: each by its name, with all its
    /// components. Collisions have them as they are at the end of their step. On a GPU steps are not recorded then.
    pub fn follow_courses(&mut self, courses: Vec<(String, Vec<Course>)>) -> Result<(), StepError> {
        self.forget();
        self.stepper.follow(self.parts.first().program.manifest(), courses)
    }

    /// Forgets what follows from parameters.
    fn forget(&mut self) {
        for subdomain in self.parts.iter_mut() {
            subdomain.recording = None;
            subdomain.sampled = false;
        }
    }

    /// Sets to NaN what parts have in the place of others' blocks: nothing of it may be read. For tests.
    #[doc(hidden)]
    pub fn poison(&mut self) -> Result<(), StepError> {
        self.parts.poison()
    }

    /// Cell updates of each part in a step of the coarsest level.
    pub fn work(&self) -> Vec<usize> {
        let cells = self.manifest().cells();
        let of = |owned: &Owned| cells * owned.updates();
        match self.parts.partition() {
            Some(partition) => partition.parts().iter().map(of).collect(),
            None => vec![self.grid().updates()],
        }
    }

    /// In how many parts it is, in all processes together.
    pub fn parts(&self) -> usize {
        self.parts.count()
    }

    /// Steps done.
    pub fn step(&self) -> u64 {
        self.stepper.step
    }

    /// The grid.
    pub fn grid(&self) -> &Grid {
        &self.parts.first().grid
    }

    /// Signatures and layout of the method's kernels.
    pub fn manifest(&self) -> &Manifest {
        self.parts.first().program.manifest()
    }

    /// Solids where they are at the current step, on the host.
    fn cutters(&self) -> Option<&Arc<Cutters>> {
        self.parts.first().bodies.as_ref().map(|bodies| &bodies.cutters)
    }

    fn device(&self) -> &Device {
        self.parts.first().program.device()
    }
}

#[cfg(test)]
mod sizes;
#[cfg(test)]
mod tests;
