//! Derivatives of formulas, as formulas of the same graph.
//!
//! In: a graph and some of its nodes. After: the graph has more nodes. [`changes`] are those of nodes where symbols change (forward mode);
//! [`adjoints`] are derivatives of a weighted sum of nodes by others (reverse mode), for about the work of a few evaluations, however many
//! symbols there are.
//!
//! A choice has the derivative of the branch that it takes, also where it changes from one to the other. What the branch not taken would
//! give has no effect, infinite or not. A root or a power of zero has an infinite slope or none: it is taken as zero, which is right for a
//! norm in its least point, where slopes on all sides cancel.

use num_traits::One;

use crate::expr::{Compare, Expr, ExprId, Exprs, Symbol};
use crate::function::Function;

/// The change of each node that `roots` need where symbols change; nothing where there is none. `of` gives the change of a symbol, if it
/// has one.
pub fn changes(
    exprs: &mut Exprs,
    roots: &[ExprId],
    mut of: impl FnMut(&mut Exprs, Symbol) -> Option<ExprId>,
) -> Vec<Option<ExprId>> {
    let needed = exprs.needed(roots);
    let nodes: Vec<(ExprId, Expr)> = exprs.iter().map(|(id, node)| (id, node.clone())).collect();
    let mut found: Vec<Option<ExprId>> = Vec::with_capacity(nodes.len());
    for (id, node) in nodes {
        let change = match node {
            _ if !needed[id.index()] => None,
            Expr::Symbol(symbol) => of(exprs, symbol),
            Expr::Select { compare, left, right, then, otherwise } => {
                match [then, otherwise].map(|branch| found[branch.index()]) {
                    [None, None] => None,
                    branches => {
                        let zero = exprs.int(0);
                        let [then, otherwise] = branches.map(|branch| branch.unwrap_or(zero));
                        Some(exprs.add(Expr::Select { compare, left, right, then, otherwise }))
                    }
                }
            }
            node => {
                let mut sum = None;
                for (place, operand) in node.operands().into_iter().enumerate() {
                    let Some(change) = found[operand.index()] else { continue };
                    let part = part(exprs, id, place, change);
                    sum = Some(total(exprs, sum, part));
                }
                sum
            }
        };
        found.push(change);
    }
    found
}

/// The derivative of a sum by each node: of nodes times their weights, as `of` lists them. `by` says which symbols may change; what does
/// not depend on them has no derivative here. Nodes that come later than those of the sum have none either.
pub fn adjoints(exprs: &mut Exprs, of: &[(ExprId, ExprId)], by: impl Fn(Symbol) -> bool) -> Vec<Option<ExprId>> {
    let nodes: Vec<(ExprId, Expr)> = exprs.iter().map(|(id, node)| (id, node.clone())).collect();
    let mut depends: Vec<bool> = Vec::with_capacity(nodes.len());
    for (_, node) in &nodes {
        depends.push(match node {
            Expr::Symbol(symbol) => by(*symbol),
            node => node.operands().iter().any(|operand| depends[operand.index()]),
        });
    }
    let mut found: Vec<Option<ExprId>> = vec![None; nodes.len()];
    for (node, weight) in of.iter().filter(|(node, _)| depends[node.index()]) {
        found[node.index()] = Some(total(exprs, found[node.index()], *weight));
    }
    // Users come after their operands: what a node has when its turn comes is all that it gets.
    for (id, node) in nodes.iter().rev() {
        let Some(own) = found[id.index()] else { continue };
        for (place, operand) in node.operands().into_iter().enumerate() {
            if !depends[operand.index()] {
                continue;
            }
            let given = match *node {
                Expr::Select { .. } if place < 2 => continue,
                Expr::Select { compare, left, right, .. } => {
                    let zero = exprs.int(0);
                    let (then, otherwise) = if place == 2 { (own, zero) } else { (zero, own) };
                    exprs.add(Expr::Select { compare, left, right, then, otherwise })
                }
                _ => part(exprs, *id, place, own),
            };
            found[operand.index()] = Some(total(exprs, found[operand.index()], given));
        }
    }
    found
}

/// `factor` times the slope of a node by the operand at a place; of any node but a choice.
fn part(exprs: &mut Exprs, id: ExprId, place: usize, factor: ExprId) -> ExprId {
    match (exprs.get(id).clone(), place) {
        (Expr::Neg(_), _) | (Expr::Sub(..), 1) => in_branch(exprs, factor, &|exprs, factor| exprs.neg(factor)),
        (Expr::Add(..) | Expr::Sub(..) | Expr::Again(_), _) | (Expr::Fma(..), 2) => factor,
        (Expr::Mul(a, b) | Expr::Fma(a, b, _), _) => scaled(exprs, factor, if place == 0 { b } else { a }),
        (Expr::Div(_, b), 0) => over(exprs, factor, b),
        (Expr::Div(a, b), _) => {
            let is_reciprocal = exprs.as_const(a).is_some_and(One::is_one);
            let quotient = if is_reciprocal { scaled(exprs, factor, id) } else { over(exprs, factor, b) };
            let part = scaled(exprs, quotient, id);
            in_branch(exprs, part, &|exprs, part| exprs.neg(part))
        }
        (Expr::Sqrt(_), _) => {
            let two = exprs.int(2);
            let twice = exprs.times(two, id);
            unless_zero(exprs, id, |exprs| over(exprs, factor, twice))
        }
        (Expr::Call(Function::Power, operands), _) => unless_zero(exprs, operands[0], |exprs| {
            let slope = slope(exprs, Function::Power, &operands, id, place);
            scaled(exprs, factor, slope)
        }),
        (Expr::Call(function, operands), _) => {
            let slope = slope(exprs, function, &operands, id, place);
            scaled(exprs, factor, slope)
        }
        (Expr::Const(_) | Expr::Symbol(_) | Expr::Select { .. }, _) => unreachable!("it has no slopes"),
    }
}

/// The slope of a function by the operand at a place, where its value is `value`.
fn slope(exprs: &mut Exprs, function: Function, operands: &[ExprId], value: ExprId, place: usize) -> ExprId {
    use Function::{Acos, Asin, Atan, Atan2, Cos, Cosh, Exp, Ln, Log10, Power, Sin, Sinh, Tan, Tanh};
    let call = |exprs: &mut Exprs, function, operand| exprs.add(Expr::Call(function, vec![operand]));
    let one = exprs.int(1);
    let a = operands[0];
    let square = exprs.times(a, a);
    match (function, operands, place) {
        (Sin, _, _) => call(exprs, Cos, a),
        (Cos, _, _) => {
            let sine = call(exprs, Sin, a);
            exprs.neg(sine)
        }
        (Tan, _, _) => {
            let square = exprs.times(value, value);
            exprs.plus(one, square)
        }
        (Tanh, _, _) => {
            let square = exprs.times(value, value);
            exprs.minus(one, square)
        }
        (Asin | Acos, _, _) => {
            let rest = exprs.minus(one, square);
            let root = exprs.add(Expr::Sqrt(rest));
            let slope = exprs.over(one, root);
            if function == Asin { slope } else { exprs.neg(slope) }
        }
        (Atan, _, _) => {
            let sum = exprs.plus(one, square);
            exprs.over(one, sum)
        }
        (Atan2, [a, b], _) => {
            let squares = exprs.times(*b, *b);
            let sum = exprs.plus(square, squares);
            let above = if place == 0 { *b } else { exprs.neg(*a) };
            exprs.over(above, sum)
        }
        (Sinh, _, _) => call(exprs, Cosh, a),
        (Cosh, _, _) => call(exprs, Sinh, a),
        (Exp, _, _) => value,
        (Ln, _, _) => exprs.over(one, a),
        (Log10, _, _) => {
            let ten = exprs.int(10);
            let ln = call(exprs, Ln, ten);
            let scale = exprs.times(a, ln);
            exprs.over(one, scale)
        }
        (Power, [a, b], 0) => {
            let less = exprs.minus(*b, one);
            let power = exprs.add(Expr::Call(Power, vec![*a, less]));
            exprs.times(*b, power)
        }
        (Power, [a, _], _) => {
            let ln = call(exprs, Ln, *a);
            exprs.times(value, ln)
        }
        _ => unreachable!("`{}` is an operation of its own in a spec", function.name()),
    }
}

/// Nothing where `value` is zero, and what is made elsewhere.
fn unless_zero(exprs: &mut Exprs, value: ExprId, make: impl FnOnce(&mut Exprs) -> ExprId) -> ExprId {
    let made = make(exprs);
    let zero = exprs.int(0);
    exprs.add(Expr::Select { compare: Compare::Equal, left: value, right: zero, then: zero, otherwise: made })
}

/// A product. What a branch not taken has no part in is multiplied in the branch alone: zero times what may be infinite there is nothing.
fn scaled(exprs: &mut Exprs, a: ExprId, slope: ExprId) -> ExprId {
    in_branch(exprs, a, &|exprs, a| exprs.times(a, slope))
}

/// A quotient, in the same way.
fn over(exprs: &mut Exprs, a: ExprId, b: ExprId) -> ExprId {
    in_branch(exprs, a, &|exprs, a| exprs.over(a, b))
}

/// Applies what keeps zero to a value, to its one branch where it is a choice between something and zero.
fn in_branch(exprs: &mut Exprs, value: ExprId, apply: &impl Fn(&mut Exprs, ExprId) -> ExprId) -> ExprId {
    let zero = exprs.int(0);
    match *exprs.get(value) {
        Expr::Select { compare, left, right, then, otherwise } if otherwise == zero => {
            let then = in_branch(exprs, then, apply);
            exprs.add(Expr::Select { compare, left, right, then, otherwise })
        }
        Expr::Select { compare, left, right, then, otherwise } if then == zero => {
            let otherwise = in_branch(exprs, otherwise, apply);
            exprs.add(Expr::Select { compare, left, right, then, otherwise })
        }
        _ => apply(exprs, value),
    }
}

/// A sum; of two choices that ask the same, the sum of what they choose.
fn total(exprs: &mut Exprs, sum: Option<ExprId>, part: ExprId) -> ExprId {
    let Some(sum) = sum else { return part };
    match (exprs.get(sum).clone(), exprs.get(part).clone()) {
        (
            Expr::Select { compare, left, right, then, otherwise },
            Expr::Select { compare: asks, left: its_left, right: its_right, then: its_then, otherwise: its_otherwise },
        ) if (compare, left, right) == (asks, its_left, its_right) => {
            let (then, otherwise) = (exprs.plus(then, its_then), exprs.plus(otherwise, its_otherwise));
            exprs.add(Expr::Select { compare, left, right, then, otherwise })
        }
        _ => exprs.plus(sum, part),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::function::{self, called, names};

    const X: Symbol = Symbol::Kept(0);
    const Y: Symbol = Symbol::Kept(1);

    /// The derivatives of a formula of `x` and `y` at a point: forward, then backward.
    fn derivatives(make: impl Fn(&mut Exprs, ExprId, ExprId) -> ExprId, at: [f64; 2]) -> [[f64; 2]; 2] {
        let mut exprs = Exprs::new();
        let [x, y] = [X, Y].map(|symbol| exprs.symbol(symbol));
        let value = make(&mut exprs, x, y);
        let value_at = |symbol| if symbol == X { at[0] } else { at[1] };
        let forward = [X, Y].map(|changing| {
            let found = changes(&mut exprs, &[value], |exprs, symbol| (symbol == changing).then(|| exprs.int(1)));
            found[value.index()].map_or(0.0, |change| exprs.eval(&[change], value_at)[0])
        });
        let one = exprs.int(1);
        let found = adjoints(&mut exprs, &[(value, one)], |_| true);
        let backward = [x, y].map(|by| found[by.index()].map_or(0.0, |found| exprs.eval(&[found], value_at)[0]));
        [forward, backward]
    }

    #[test]
    fn functions_have_the_slopes_that_are_known_of_them_forward_and_backward() {
        let own = |function: &Function| !matches!(function, Function::Abs | Function::Min | Function::Max);
        for function in names().filter_map(called).filter(own).chain([Function::Power]) {
            let at = [0.3, 0.7];
            let count = function.operands().len();
            let make = |exprs: &mut Exprs, x, y| match function {
                Function::Sqrt => exprs.add(Expr::Sqrt(x)),
                _ => exprs.add(Expr::Call(function, [x, y][..count].to_vec())),
            };
            let expected = match function {
                Function::Sqrt => vec![0.5 / f64::sqrt(0.3)],
                _ => function::slopes(function, &at[..count]),
            };
            for found in derivatives(make, at) {
                for (found, expected) in found.iter().zip(&expected) {
                    assert!((found - expected).abs() < 1e-14, "{}: {found} {expected}", function.name());
                }
            }
        }
    }

    #[test]
    fn operations_follow_the_rules_of_calculus() {
        // (x - y / x) x y - (x + x): by x it is 2 x y - 2, by y it is x^2 - 2 y.
        let make = |exprs: &mut Exprs, x, y| {
            let quotient = exprs.over(y, x);
            let less = exprs.minus(x, quotient);
            let product = exprs.times(less, x);
            let twice = exprs.plus(x, x);
            let minus = exprs.neg(twice);
            exprs.add(Expr::Fma(product, y, minus))
        };
        let [x, y] = [0.75, -0.5];
        for [by_x, by_y] in derivatives(make, [x, y]) {
            assert!((by_x - (2.0 * x * y - 2.0)).abs() < 1e-15 && (by_y - (x * x - 2.0 * y)).abs() < 1e-15);
        }
    }

    #[test]
    fn a_branch_that_is_not_taken_has_no_effect_though_its_slope_is_infinite() {
        // if x > 0 then sqrt(y / x) / x else y
        let make = |exprs: &mut Exprs, x, y| {
            let quotient = exprs.over(y, x);
            let root = exprs.add(Expr::Sqrt(quotient));
            let then = exprs.over(root, x);
            let zero = exprs.int(0);
            exprs.add(Expr::Select { compare: Compare::Less, left: zero, right: x, then, otherwise: y })
        };
        assert_eq!(derivatives(make, [0.0, 3.0]), [[0.0, 1.0]; 2]);
        for [by_x, by_y] in derivatives(make, [0.25, 4.0]) {
            assert!((by_x + 1.5 * 2.0 / f64::powf(0.25, 2.5)).abs() < 1e-12 && (by_y - 2.0).abs() < 1e-14);
        }
    }

    #[test]
    fn a_norm_has_no_slope_in_its_least_point() {
        let make = |exprs: &mut Exprs, x, y| {
            let (xx, yy) = (exprs.times(x, x), exprs.times(y, y));
            let sum = exprs.plus(xx, yy);
            exprs.add(Expr::Sqrt(sum))
        };
        assert_eq!(derivatives(make, [0.0, 0.0]), [[0.0; 2]; 2]);
        for [by_x, by_y] in derivatives(make, [3.0, 4.0]) {
            assert!((by_x - 0.6).abs() < 1e-15 && (by_y - 0.8).abs() < 1e-15);
        }
    }
}
