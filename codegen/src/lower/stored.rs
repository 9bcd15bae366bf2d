//! Populations as they are stored: each as its difference from the value at rest.
//!
//! In: a [`KernelIr`] of whole populations. Out: one of stored ones. After: what is stored keeps the digits that matter, because the
//! constants have cancelled before anything is rounded: with a density of `1 + d`, `d` is the sum of what is stored.
//!
//! Every value `v` is `r + d`, where `r` is its value at rest, an exact constant, and `d` a formula of differences:
//!
//! | `v` | `d` |
//! | --- | --- |
//! | `a + b` | `da + db` |
//! | `a * b` | `a * db + rb * da` |
//! | `a / b` | `(da - r * db) / b` with `r = ra / rb` |
//! | `sqrt(a)` | `da / (sqrt(a) + r)` |
//!
//! A value that is zero at rest is its own difference. So is one whose value at rest is no number: it depends on a parameter, or rest
//! is no state of it.

use std::collections::BTreeMap;

use lbm_dsl::expr::{Exact, Expr, ExprId, Exprs, Number, Rational, Symbol};
use lbm_dsl::model::Model;
use num_traits::Zero;

use crate::ir::{KernelIr, Named, Output};
