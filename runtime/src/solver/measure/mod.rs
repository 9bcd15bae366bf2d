//! Measured quantities, and macroscopic fields on the host.

pub mod at_points;
pub mod capture;
pub(crate) mod gather;
pub(crate) mod monitor;
pub mod probe;
pub mod snapshot;
pub(crate) mod statistics;
pub(crate) mod stencil;
pub mod velocity;
