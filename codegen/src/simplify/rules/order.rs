//! Operands may change places.

use super::Rule;

/// Rules.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    ("swap-sum",     "(+ ?a ?b)", "(+ ?b ?a)"),
    ("swap-product", "(* ?a ?b)", "(* ?b ?a)"),
];

/// What each rule is needed for: name, start, goal.
#[cfg(test)]
pub(super) const GOALS: &[Rule] = &[("swap-sum", "(+ x0 x1)", "(+ x1 x0)"), ("swap-product", "(* x0 x1)", "(* x1 x0)")];
