//! A simulation: a method's kernels on a grid, advanced step by step.

pub mod adjoint;
mod arrays;
mod decomposition;
mod error;
mod halo;
mod inbox;
mod measure;
pub mod observe;
mod plan;
mod remesh;
mod setup;
mod simulation;
mod solids;
mod spec;
mod state;
mod step;
mod subdomain;

pub use arrays::places::PlaceValues;
pub use arrays::{fields, memory};
pub use error::StepError;
pub use measure::{at_points, capture, probe, snapshot, velocity};
pub use plan::phase::Phase;
pub use remesh::Adaptations;
pub use setup::prepare::Prepared;
pub use simulation::Simulation;
pub use solids::layers;
pub use spec::{
    Adaptivity, Course, FaceSpec, GridSpec, Patch, Profile, Region, SHARE_OF_MEMORY, Varying, Velocity, WallLaw,
    WallSpec,
};
pub use state::{resident, restore};
pub use step::timing::Timings;

#[cfg(test)]
mod sizes;
#[cfg(test)]
mod tests;
