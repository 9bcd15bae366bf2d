//! What the modules of `resolve` work on: a case on the way to its method, and what was found wrong with it.

use lbm_bundle::Manifest;
use lbm_runtime::device::Available;

use crate::case::diag::{self, Report, Span};
use crate::case::formula::Formula;
use crate::case::quantity::Quantity;
use crate::case::raw::RawCase;

/// What to do where a method carries no scalar, and one is asked for.
pub(super) const WITH_SCALARS: &str = "shipped methods that do: `d2q9_boussinesq`, `d2q9_scalar`";

/// Parameters by name, each with all its components.
pub(super) type Values = Vec<(String, Vec<f64>)>;

/// Parameters by name, each with the formulas of all its components.
pub(super) type Formulas = Vec<(String, Vec<Formula>)>;

/// A velocity that the case states, in its own units, with the place to point at.
pub(super) struct Speed {
    pub(super) value: f64,
    pub(super) span: Span,
}

/// The cells of level 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    /// Their number along each axis.
    pub(super) size: [usize; 3],
    /// The size of one, in the units of the case.
    pub(super) cell: f64,
}

/// A case on the way to its method, and what was found wrong with it.
pub(super) struct Resolver<'a> {
    pub(super) raw: &'a RawCase,
    pub(super) manifest: &'a Manifest,
    pub(super) others: &'a [String],
    pub(super) available: Available,
    pub(super) dim: usize,
    /// Fields that the case defines.
    pub(super) own: Vec<Quantity>,
    pub(super) report: Report,
}

impl Resolver<'_> {
    pub(super) fn wrong_dimension(&mut self, span: &Span, what: &str, found: usize) {
        let message =
            format!("{what} has {found} components, but {} has {} axes", self.manifest.main().lattice, self.dim);
        let label = format!("{} expected", self.dim);
        self.report.add::<()>(diag::WRONG_DIMENSION, span, message, label, None);
    }
}

pub(super) fn norm(components: impl Iterator<Item = f64>) -> f64 {
    components.map(|component| component * component).sum::<f64>().sqrt()
}

pub(super) fn axis_name(axis: usize) -> &'static str {
    ["x", "y", "z"][axis]
}

/// A number with six digits, without trailing zeros.
pub(super) fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.5e}").parse().unwrap_or(value);
    if (1e-4..1e6).contains(&rounded.abs()) || rounded == 0.0 { format!("{rounded}") } else { format!("{rounded:e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        for (value, text) in
            [(100.00000000000004, "100"), (7.96875e-3, "0.00796875"), (1e-9, "1e-9"), (1.999999994, "2"), (0.0, "0")]
        {
            assert_eq!(short(value), text);
        }
    }
}
