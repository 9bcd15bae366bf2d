//! Measured quantities, and macroscopic fields on the host.

pub(crate) mod around_point;
pub mod at_points;
pub mod capture;
pub(crate) mod gather;
pub(crate) mod monitor;
pub mod probe;
pub mod snapshot;
pub(crate) mod statistics;
pub mod velocity;
