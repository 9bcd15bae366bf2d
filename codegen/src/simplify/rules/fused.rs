//! Multiply-add: one instruction, two flops.

use super::Rule;

/// Rules.
#[rustfmt::skip]
pub(super) const RULES: &[Rule] = &[
    ("fuse-sum",              "(+ (* ?a ?b) ?c)",             "(fma ?a ?b ?c)"),
    ("fuse-difference",       "(- (* ?a ?b) ?c)",             "(fma ?a ?b (neg ?c))"),
    ("fuse-subtrahend",       "(- ?c (* ?a ?b))",             "(fma (neg ?a) ?b ?c)"),
    ("split",                 "(fma ?a ?b ?c)",               "(+ (* ?a ?b) ?c)"),
    ("negative-fused",        "(neg (fma ?a ?b ?c))",         "(fma (neg ?a) ?b (neg ?c))"),
];

/// What each rule is needed for: name, start, goal.
#[cfg(test)]
#[rustfmt::skip]
pub(super) const GOALS: &[Rule] = &[
    ("fuse-sum",              "(+ (* x0 x1) x2)",             "(fma x0 x1 x2)"),
    ("fuse-difference",       "(- (* x0 x1) x2)",             "(fma x0 x1 (neg x2))"),
    ("fuse-subtrahend",       "(- x2 (* x0 x1))",             "(fma (neg x0) x1 x2)"),
    ("split",                 "(fma x0 x1 x2)",               "(+ (* x0 x1) x2)"),
    ("negative-fused",        "(neg (fma x0 x1 x2))",         "(fma (neg x0) x1 (neg x2))"),
];
