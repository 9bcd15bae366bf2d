//! In: expressions. Out: the same values, with fewer roundings that do the same in every cell and step.
//!
//! After [`round_once`]: where `c (x (d y))` was, for constants `c` and `d` that binary fractions do not hold and a product used nowhere
//! else, stands `x ((c d) y)`, which costs as much and rounds one constant instead of two. Why it matters: the factor of
//! `rho` in an equilibrium is such a product. Two roundings of 1/3 leave it 6e-8 too large in 32 bits, the same way in
//! every cell and step, and a closed flow gains mass.
//!
//! After [`keep_shares`]: where `1 - p` was beside products `c p`, for a `c` that is rounded and has an exact inverse, stands
//! `1 - (1/c) (c p)`, whatever `c p` was rounded to. Why it matters: a relaxation leaves `1 - omega` of the momentum and gives back
//! so many times `omega/3`. Rounded each by itself they add up to 1 within 1e-7 only in 32 bits, and a flow at rest in the mean
//! speeds up or slows down by that much in every step (de Oliveira, Lugarini & Franco 2019 see it as a floor of their errors).

use std::collections::BTreeMap;

use lbm_dsl::expr::{Expr, ExprId, Exprs, Rational};
use num_traits::One;

/// Rebuilds the expressions that the roots need.
pub(super) fn round_once(exprs: &Exprs, roots: &[ExprId]) -> (Exprs, Vec<ExprId>) {
    let uses = exprs.uses(roots);
    let once = |id: ExprId| uses[id.index()] == 1;
    let mut out = Exprs::new();
    let new = exprs.rewrite(roots, &mut out, |out, old, node| {
        let joined = match (exprs.get(old), &node) {
            (Expr::Mul(a, b), Expr::Mul(x, y)) | (Expr::Fma(a, b, _), Expr::Fma(x, y, _)) => {
                join(out, (*x, *y), once(*b)).or_else(|| join(out, (*y, *x), once(*a)))
            }
            _ => None,
        };
        out.add(match (joined, node) {
            (Some((x, scaled)), Expr::Fma(_, _, c)) => Expr::Fma(x, scaled, c),
            (Some((x, scaled)), _) => Expr::Mul(x, scaled),
            (None, node) => node,
        })
    });
    (out, roots.iter().map(|root| new[*root]).collect())
}

/// For `c` and `x (d y)`: `x` and `(c d) y`.
fn join(exprs: &mut Exprs, (constant, product): (ExprId, ExprId), once: bool) -> Option<(ExprId, ExprId)> {
    let outer = rounded(exprs, constant)?;
    let Expr::Mul(a, b) = *exprs.get(product) else { return None };
    if !once {
        return None;
    }
    [(a, b), (b, a)].into_iter().find_map(|(x, scaled)| {
        let Expr::Mul(d, y) = *exprs.get(scaled) else { return None };
        let (inner, y) = rounded(exprs, d).map(|inner| (inner, y)).or_else(|| Some((rounded(exprs, y)?, d)))?;
        let both = exprs.constant(&outer * inner);
        Some((x, exprs.add(Expr::Mul(both, y))))
    })
}

/// The constant, if no binary fraction holds it.
fn rounded(exprs: &Exprs, id: ExprId) -> Option<Rational> {
    exprs.as_const(id).filter(|value| !is_exact(value)).cloned()
}

/// Whether a binary fraction holds a number.
fn is_exact(value: &Rational) -> bool {
    value.denom() >> value.denom().trailing_zeros().unwrap_or(0) == 1.into()
}

/// Rebuilds the expressions that the roots need. Of several products the one that is used most often counts, then the largest.
pub(super) fn keep_shares(exprs: &Exprs, roots: &[ExprId]) -> (Exprs, Vec<ExprId>) {
    let uses = exprs.uses(roots);
    let mut shares: BTreeMap<ExprId, (usize, Rational)> = BTreeMap::new();
    for (id, node) in exprs.iter() {
        let (Expr::Mul(a, b), 1..) = (node, uses[id.index()]) else { continue };
        for (constant, of) in [(*a, *b), (*b, *a)] {
            if let Some(share) = rounded(exprs, constant).filter(|share| is_exact(&share.recip())) {
                let found = (uses[id.index()], share);
                let best = shares.entry(of).or_insert_with(|| found.clone());
                *best = found.max(best.clone());
            }
        }
    }
    let mut out = Exprs::new();
    let new = exprs.rewrite(roots, &mut out, |out, old, node| {
        let (Expr::Sub(_, of), Expr::Sub(one, p)) = (exprs.get(old), &node) else { return out.add(node) };
        let share = shares.get(of).filter(|_| out.as_const(*one).is_some_and(One::is_one));
        let Some((_, share)) = share else { return out.add(node) };
        let constant = out.constant(share.clone());
        let product = out.times(constant, *p);
        let back = out.constant(-share.recip());
        out.add(Expr::Fma(back, product, *one))
    });
    (out, roots.iter().map(|root| new[*root]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbm_dsl::expr::{Exact, Symbol};

    fn third_of_rho_times_third_of_omega(exprs: &mut Exprs) -> (ExprId, ExprId) {
        let [rho, omega] = [0, 1].map(|param| exprs.symbol(Symbol::Param { param, component: 0 }));
        let third = exprs.constant(Rational::new(1.into(), 3.into()));
        let scaled = exprs.times(third, omega);
        let product = exprs.times(rho, scaled);
        (exprs.times(third, product), product)
    }

    #[test]
    fn two_thirds_become_one_ninth_at_the_same_cost() {
        let mut exprs = Exprs::new();
        let (root, _) = third_of_rho_times_third_of_omega(&mut exprs);
        let (after, roots) = round_once(&exprs, &[root]);
        let omega = |symbol| -> Exact {
            let Symbol::Param { param, .. } = symbol else { unreachable!() };
            Some(Rational::from_integer((7 + 4 * i64::from(param)).into()))
        };
        assert_eq!(exprs.eval(&[root], omega), after.eval(&roots, omega));
        let Expr::Mul(_, scaled) = *after.get(roots[0]) else { panic!("a product") };
        let Expr::Mul(constant, _) = *after.get(scaled) else { panic!("a product") };
        assert_eq!(after.as_const(constant), Some(&Rational::new(1.into(), 9.into())));
    }

    #[test]
    fn a_product_that_is_needed_elsewhere_stays() {
        let mut exprs = Exprs::new();
        let (root, product) = third_of_rho_times_third_of_omega(&mut exprs);
        let (after, _) = round_once(&exprs, &[root, product]);
        assert_eq!(after.len(), exprs.len());
    }

    #[test]
    fn what_is_kept_and_what_is_given_back_add_up_to_one() {
        let mut exprs = Exprs::new();
        let [omega, f, j] = [0, 1, 2].map(|param| exprs.symbol(Symbol::Param { param, component: 0 }));
        let (one, third) = (exprs.int(1), exprs.constant(Rational::new(1.into(), 3.into())));
        let kept = exprs.minus(one, omega);
        let kept = exprs.times(kept, f);
        let given = exprs.times(third, omega);
        let given = exprs.times(given, j);
        let (after, roots) = keep_shares(&exprs, &[kept, given]);
        let value = |symbol| -> Exact {
            let Symbol::Param { param, .. } = symbol else { unreachable!() };
            Some(Rational::new((7 + 4 * i64::from(param)).into(), 11.into()))
        };
        assert_eq!(exprs.eval(&[kept, given], value), after.eval(&roots, value));
        let (Expr::Mul(rest, _), Expr::Mul(share, _)) = (after.get(roots[0]), after.get(roots[1])) else {
            panic!("products")
        };
        let Expr::Fma(back, product, _) = *after.get(*rest) else { panic!("a share of the product") };
        assert_eq!((product, after.as_const(back)), (*share, Some(&Rational::from_integer((-3).into()))));
    }
}
