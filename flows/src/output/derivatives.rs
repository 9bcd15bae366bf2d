//! Derivatives of the objective of a case, as they are written.

use lbm_runtime::solver::snapshot::Snapshot;

/// Values by name, each with all its components.
pub(super) type Named = Vec<(String, Vec<f64>)>;

/// What was done for derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// Steps of the flow, and as many backwards.
    pub steps: u64,
    /// Steps that were taken again.
    pub again: u64,
    /// How long both took.
    pub seconds: f64,
    /// How long steps backwards took.
    pub of_backwards: f64,
}

/// Derivatives of an objective, in lattice units.
#[derive(Clone, Debug)]
pub struct Derivatives {
    /// Its value.
    pub objective: f64,
    /// What was done for them.
    pub work: Work,
    /// By parameters of the method.
    pub params: Named,
    /// By values of walls at faces: what these are called, and their values.
    pub faces: Vec<(String, Named)>,
    /// By values of surfaces of solids.
    pub solids: Vec<(String, Named)>,
    /// By parameters as each cell takes them, and by states that cells have at the start.
    pub cells: Snapshot,
}
