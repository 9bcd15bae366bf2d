//! Which expressions have the same value, whatever their form.
//!
//! A fingerprint is the value of an expression modulo a large prime at random places of its inputs: two expressions that
//! are equal as fractions of polynomials have the same one, two that are not differ but for a chance of about 1e-30. It
//! finds the spec's names in a graph that simplification has cut anew, and duplicates in different disguise.

use std::collections::BTreeMap;

use lbm_dsl::expr::{Expr, ExprId, Exprs, LevelSymbol, Rational, Symbol};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

/// The prime 2^61 - 1.
const PRIME: u64 = (1 << 61) - 1;

/// Value at two places.
pub(super) type Print = [u64; 2];

fn multiply(a: u64, b: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(PRIME)) as u64
}

fn add(a: u64, b: u64) -> u64 {
    (a + b) % PRIME
}

fn power(base: u64, mut exponent: u64) -> u64 {
    let (mut value, mut square) = (1, base);
    while exponent > 0 {
        if exponent & 1 == 1 {
            value = multiply(value, square);
        }
        square = multiply(square, square);
        exponent >>= 1;
    }
    value
}

fn inverse(a: u64) -> u64 {
    power(a, PRIME - 2)
}

fn constant(value: &Rational) -> u64 {
    let modulus = BigInt::from(PRIME);
    let part = |value: &BigInt| (((value % &modulus) + &modulus) % &modulus).to_u64().unwrap_or_default();
    multiply(part(value.numer()), inverse(part(value.denom())))
}

/// Mixes numbers into one that looks random.
fn mix(parts: &[u64]) -> u64 {
    let mut mixed = 0x243f_6a88_85a3_08d3u64;
    for part in parts {
        mixed = (mixed ^ part).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed ^= mixed >> 27;
        mixed = mixed.wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
    }
    mixed % PRIME
}

fn symbol_code(symbol: Symbol) -> [u64; 3] {
    match symbol {
        Symbol::Population(pop) => [1, pop.index() as u64, 0],
        Symbol::Param { param, component } => [2, param.into(), component.into()],
        Symbol::WallParam { param, component } => [3, param.into(), component.into()],
        Symbol::Field { field, component } => [4, field.into(), component.into()],
        Symbol::Level(LevelSymbol::Width) => [13, 0, 0],
        Symbol::Level(LevelSymbol::Sample(number)) => [5, number.into(), 0],
        Symbol::Level(LevelSymbol::Shared(number)) => [15, number.into(), 0],
        Symbol::Level(LevelSymbol::Kind { child }) => [6, child.into(), 0],
        Symbol::Level(LevelSymbol::Position { axis }) => [8, axis.into(), 0],
        Symbol::Level(LevelSymbol::Slope { axis, pop, .. }) => [7, axis.into(), pop.index() as u64],
        Symbol::Gradient { field, component, axis } => [11, field.into(), u64::from(component) << 8 | u64::from(axis)],
        Symbol::Kept(number) => [12, number.into(), 0],
        Symbol::Moment(number) => [14, number.into(), 0],
        Symbol::Change(pop) => [18, pop.index() as u64, 0],
        Symbol::ParamChange { param, component } => [19, param.into(), component.into()],
        Symbol::Adjoint(pop) => [20, pop.index() as u64, 0],
        Symbol::Neighbour { shown, dir } => [16, shown.into(), dir.index() as u64],
        Symbol::Mirrored(dir) => [8, dir.index() as u64, 0],
        Symbol::Streamed(dir) => [9, dir.index() as u64, 0],
        Symbol::Inside(dir) => [10, dir.index() as u64, 0],
        Symbol::Deep(dir) => [17, dir.index() as u64, 0],
    }
}

/// Fingerprints of all expressions, in order.
pub(super) fn prints(exprs: &Exprs) -> Vec<Print> {
    let mut prints: Vec<Print> = Vec::with_capacity(exprs.len());
    for (_, node) in exprs.iter() {
        let print = [0, 1].map(|place: usize| {
            let at = |id: ExprId| prints[id.index()][place];
            let minus = |a: u64| (PRIME - a) % PRIME;
            match node {
                Expr::Const(value) => constant(value),
                Expr::Symbol(symbol) => {
                    let [kind, major, minor] = symbol_code(*symbol);
                    mix(&[place as u64, kind, major, minor])
                }
                Expr::Neg(a) => minus(at(*a)),
                Expr::Add(a, b) => add(at(*a), at(*b)),
                Expr::Sub(a, b) => add(at(*a), minus(at(*b))),
                Expr::Mul(a, b) => multiply(at(*a), at(*b)),
                Expr::Div(a, b) => multiply(at(*a), inverse(at(*b))),
                Expr::Fma(a, b, c) => add(multiply(at(*a), at(*b)), at(*c)),
                Expr::Again(a) => at(*a),
                Expr::Sqrt(a) => mix(&[place as u64, 5, at(*a)]),
                Expr::Call(function, operands) => {
                    let operands = operands.iter().map(|operand| at(*operand));
                    mix(&[place as u64, 9, *function as u64].into_iter().chain(operands).collect::<Vec<_>>())
                }
                Expr::Select { compare, left, right, then, otherwise } => {
                    mix(&[place as u64, 6 + *compare as u64, at(*left), at(*right), at(*then), at(*otherwise)])
                }
            }
        });
        prints.push(print);
    }
    prints
}

/// For expressions of `old`, the expressions of `new` with the same value.
pub(super) fn counterparts(old: &Exprs, new: &Exprs) -> Vec<Option<ExprId>> {
    let mut by_print: BTreeMap<Print, ExprId> = BTreeMap::new();
    for ((id, _), print) in new.iter().zip(prints(new)) {
        by_print.entry(print).or_insert(id);
    }
    prints(old).iter().map(|print| by_print.get(print).copied()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_does_not_matter() {
        let mut exprs = Exprs::new();
        let x = exprs.symbol(Symbol::Param { param: 0, component: 0 });
        let y = exprs.symbol(Symbol::Param { param: 1, component: 0 });
        let (sum, difference) = (exprs.plus(x, y), exprs.minus(x, y));
        let product = exprs.times(sum, difference);
        let (xx, yy) = (exprs.times(x, x), exprs.times(y, y));
        let squares = exprs.minus(xx, yy);
        let prints = prints(&exprs);
        assert_eq!(prints[product.index()], prints[squares.index()]);
        assert_ne!(prints[sum.index()], prints[difference.index()]);
    }
}
