//! Negations move to where they cost nothing.

use super::Rule;

/// Rules.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    ("sum-of-negative",        "(+ ?a (neg ?b))",      "(- ?a ?b)"),
    ("difference-of-negative", "(- ?a (neg ?b))",      "(+ ?a ?b)"),
    ("negative-of-negative",   "(neg (neg ?a))",       "?a"),
    ("reverse-difference",     "(- ?a ?b)",            "(neg (- ?b ?a))"),
    ("negative-product",       "(neg (* ?a ?b))",      "(* (neg ?a) ?b)"),
    ("product-of-negative",    "(* (neg ?a) ?b)",      "(neg (* ?a ?b))"),
    ("negative-minus",         "(- (neg ?a) ?b)",      "(neg (+ ?a ?b))"),
];

/// What each rule is needed for: name, start, goal.
#[cfg(test)]
#[rustfmt::skip]
pub(super) const GOALS: &[Rule] = &[
    ("sum-of-negative",        "(+ x0 (neg x1))",        "(- x0 x1)"),
    ("difference-of-negative", "(- x0 (neg x1))",        "(+ x0 x1)"),
    ("negative-of-negative",   "(neg (neg x0))",         "x0"),
    ("reverse-difference",     "(- x0 x1)",              "(neg (- x1 x0))"),
    ("negative-product",       "(neg (* x0 x1))",        "(* (neg x0) x1)"),
    ("product-of-negative",    "(* (neg x0) x1)",        "(neg (* x0 x1))"),
    ("negative-minus",         "(- (neg x0) x1)",        "(neg (+ x0 x1))"),
];
