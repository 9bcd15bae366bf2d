//! What is cheap.

use lbm_dsl::expr::{Expr, ExprId, Exprs};

use super::lang::Math;
use crate::count::count;

/// Weights: flops and instructions count alike, so a multiply-add costs less than its parts and more than one of them.
const PLAIN: u32 = 2;
const FUSED: u32 = 3;

/// Weight of a division, a root or another function, by what the targets' units take.
const SLOW: u32 = 16;

/// Price of expressions. A product that only one addition needs counts as fused with it, which it may yet be.
pub(super) fn price(exprs: &Exprs, roots: &[ExprId]) -> u32 {
    let cost = count(exprs, roots);
    let needed = exprs.needed(roots);
    let uses = exprs.uses(roots);
    let product = |id: ExprId| matches!(exprs.get(id), Expr::Mul(..)) && uses[id.index()] == 1;
    let fusable = exprs.iter().filter(|(id, node)| match node {
        Expr::Add(a, b) | Expr::Sub(a, b) => needed[id.index()] && (product(*a) || product(*b)),
        _ => false,
    });
    let fused = fusable.count() as u32;
    let plain = PLAIN * (cost.adds + cost.muls) - (2 * PLAIN - FUSED) * fused;
    plain + FUSED * cost.fmas + SLOW * (cost.divs + cost.sqrts + cost.calls)
}

/// Price of one operation.
pub(super) fn node_price(node: &Math) -> u32 {
    match node {
        Math::Add(_) | Math::Sub(_) | Math::Mul(_) => PLAIN,
        Math::Fma(_) => FUSED,
        Math::Div(_) | Math::Sqrt(_) | Math::Call(..) => SLOW,
        Math::Neg(_) | Math::Less(_) | Math::LessEqual(_) | Math::Equal(_) | Math::Constant(_) | Math::Input(_) => 0,
    }
}
