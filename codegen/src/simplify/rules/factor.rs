//! Common factors.

use super::Rule;

/// Rules.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    ("factor-sum",          "(+ (* ?a ?b) (* ?a ?c))", "(* ?a (+ ?b ?c))"),
    ("factor-difference",   "(- (* ?a ?b) (* ?a ?c))", "(* ?a (- ?b ?c))"),
    ("distribute-twice",    "(+ (+ ?a ?b) ?b)",        "(fma 2 ?b ?a)"),
    ("twice-is-sum",        "(fma 2 ?a ?b)",           "(+ ?a (+ ?a ?b))"),
];

/// What each rule is needed for: name, start, goal.
#[cfg(test)]
#[rustfmt::skip]
pub(super) const GOALS: &[Rule] = &[
    ("factor-sum",          "(+ (* x0 x1) (* x0 x2))", "(* x0 (+ x1 x2))"),
    ("factor-difference",   "(- (* x0 x1) (* x0 x2))", "(* x0 (- x1 x2))"),
    ("distribute-twice",    "(+ (+ x0 x1) x1)",        "(fma 2 x1 x0)"),
    ("twice-is-sum",        "(fma 2 x0 x1)",           "(+ x0 (+ x0 x1))"),
];
