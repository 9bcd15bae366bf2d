//! Counts the arithmetic of a kernel, whichever stage it is in.
//!
//! Every distinct operation that a root needs counts once. A multiply-add is one `fma` and two flops, a function one; negations,
//! comparisons and choices are free; what is computed from constants alone is folded by any compiler and not counted,
//! while what is computed from run-time parameters alone (`1 - omega`) is.

use lbm_bundle::Cost;
use lbm_dsl::expr::{Expr, ExprId, Exprs};

/// Operations that the `roots` need. Loads, stores and bytes are left at zero: they belong to the whole kernel.
pub fn count(exprs: &Exprs, roots: &[ExprId]) -> Cost {
    let needed = exprs.needed(roots);
    let mut constant = vec![false; exprs.len()];
    let mut cost = Cost::default();
    for (id, node) in exprs.iter() {
        let at = id.index();
        constant[at] = match node {
            Expr::Const(_) => true,
            Expr::Symbol(_) => false,
            _ => node.operands().iter().all(|operand| constant[operand.index()]),
        };
        if !needed[at] || constant[at] {
            continue;
        }
        match node {
            Expr::Add(..) | Expr::Sub(..) => cost.adds += 1,
            Expr::Mul(..) => cost.muls += 1,
            Expr::Div(..) => cost.divs += 1,
            Expr::Sqrt(..) => cost.sqrts += 1,
            Expr::Call(..) => cost.calls += 1,
            Expr::Fma(..) => cost.fmas += 1,
            Expr::Const(_) | Expr::Symbol(_) | Expr::Neg(_) | Expr::Again(_) | Expr::Select { .. } => {}
        }
    }
    cost.flops = cost.adds + cost.muls + 2 * cost.fmas + cost.divs + cost.sqrts + cost.calls;
    cost
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbm_dsl::expr::Symbol;

    fn omega(exprs: &mut Exprs) -> ExprId {
        exprs.symbol(Symbol::Param { param: 0, component: 0 })
    }

    #[test]
    fn shared_nodes_count_once() {
        let mut exprs = Exprs::new();
        let x = omega(&mut exprs);
        let square = exprs.times(x, x);
        let double = exprs.plus(square, square);
        let cost = count(&exprs, &[double, square]);
        assert_eq!((cost.muls, cost.adds, cost.flops), (1, 1, 2));
    }

    #[test]
    fn unneeded_nodes_do_not_count() {
        let mut exprs = Exprs::new();
        let x = omega(&mut exprs);
        exprs.times(x, x);
        assert_eq!(count(&exprs, &[x]).flops, 0);
    }

    #[test]
    fn constants_fold_and_parameters_do_not() {
        let mut exprs = Exprs::new();
        let x = omega(&mut exprs);
        let (one, three) = (exprs.int(1), exprs.int(3));
        let third = exprs.add(Expr::Div(one, three));
        let rest = exprs.minus(one, x);
        let scaled = exprs.times(third, rest);
        let cost = count(&exprs, &[scaled]);
        assert_eq!((cost.divs, cost.adds, cost.muls), (0, 1, 1));
    }

    #[test]
    fn multiply_add_is_two_flops_and_negation_none() {
        let mut exprs = Exprs::new();
        let x = omega(&mut exprs);
        let minus = exprs.neg(x);
        let fma = exprs.add(Expr::Fma(x, minus, x));
        assert_eq!(count(&exprs, &[fma]).flops, 2);
    }
}
