//! Derivatives of values by the populations, at points of a prime field.

use crate::expr::{Expr, ExprId, Exprs, Symbol};
use crate::function::Function;
use crate::model::Model;
use crate::prove::residue::{Any, POINTS, Residue, Rows, chance};

/// A value and its derivatives by the populations; none of them for a constant.
#[derive(Clone)]
struct Jet {
    value: Residue,
    slopes: Vec<Residue>,
}

impl Jet {
    /// `value`, with the slopes of these values times their factors.
    fn joined(value: Residue, parts: &[(&Jet, Residue)]) -> Jet {
        let mut slopes: Vec<Residue> = Vec::new();
        for (jet, factor) in parts.iter().filter(|(jet, _)| !jet.slopes.is_empty()) {
            slopes.resize(jet.slopes.len(), Residue::ZERO);
            slopes.iter_mut().zip(&jet.slopes).for_each(|(sum, slope)| *sum = sum.plus(slope.times(*factor)));
        }
        Jet { value, slopes }
    }
}

/// Whether values change with the populations through some quantities alone: at points of the prime field their derivatives are combinations of
/// those of the quantities. States keep their values.
pub(in crate::prove) fn depend_on_no_more(model: &Model, values: &[ExprId], quantities: &[ExprId]) -> bool {
    let roots = [quantities, values].concat();
    (0..POINTS).all(|point| {
        let Some(rows) = slopes(model, &roots, point, &|_| false) else { return false };
        let (known, own) = rows.split_at(quantities.len());
        let mut space = Rows::default();
        known.iter().for_each(|row| _ = space.add(row.clone()));
        own.iter().all(|row| !space.add(row.clone()))
    })
}

/// Derivatives of `roots` by the populations at one state, unless one has no value there.
pub(super) fn slopes(
    model: &Model,
    roots: &[ExprId],
    state: u64,
    is_fixed: &dyn Fn(ExprId) -> bool,
) -> Option<Vec<Vec<Residue>>> {
    let count = model.moving();
    let symbol = |symbol: Symbol| {
        let slopes = match symbol {
            Symbol::Population(pop) if pop.index() < count => {
                (0..count).map(|at| if at == pop.index() { Residue::ONE } else { Residue::ZERO }).collect()
            }
            _ => Vec::new(),
        };
        Jet { value: chance(state, symbol), slopes }
    };
    let row = |jet: Jet| if jet.slopes.is_empty() { vec![Residue::ZERO; count] } else { jet.slopes };
    Some(jets(&model.exprs, roots, &symbol, is_fixed)?.into_iter().map(row).collect())
}

/// Values of `roots` with their derivatives, unless there is a division by zero.
fn jets(
    exprs: &Exprs,
    roots: &[ExprId],
    symbol: &dyn Fn(Symbol) -> Jet,
    is_fixed: &dyn Fn(ExprId) -> bool,
) -> Option<Vec<Jet>> {
    let needed = exprs.needed(roots);
    let mut values: Vec<Option<Jet>> = vec![None; exprs.len()];
    for (id, node) in exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let operands = node.operands();
        let known: Vec<&Jet> =
            operands.iter().map(|id| values[id.index()].as_ref().expect("operands come first")).collect();
        let minus = Residue::ONE.negated();
        let mut value = match *node {
            Expr::Const(ref value) => Jet { value: Residue::of(value)?, slopes: Vec::new() },
            Expr::Symbol(given) => symbol(given),
            Expr::Neg(_) => Jet::joined(known[0].value.negated(), &[(known[0], minus)]),
            Expr::Again(_) => known[0].clone(),
            Expr::Add(..) => {
                let sum = known[0].value.plus(known[1].value);
                Jet::joined(sum, &[(known[0], Residue::ONE), (known[1], Residue::ONE)])
            }
            Expr::Sub(..) => {
                let difference = known[0].value.plus(known[1].value.negated());
                Jet::joined(difference, &[(known[0], Residue::ONE), (known[1], minus)])
            }
            Expr::Mul(..) | Expr::Fma(..) => {
                let (a, b) = (known[0], known[1]);
                let product = a.value.times(b.value);
                match known.get(2) {
                    Some(c) => Jet::joined(product.plus(c.value), &[(a, b.value), (b, a.value), (c, Residue::ONE)]),
                    None => Jet::joined(product, &[(a, b.value), (b, a.value)]),
                }
            }
            Expr::Div(..) => {
                let inverse = known[1].value.inverse()?;
                let quotient = known[0].value.times(inverse);
                Jet::joined(quotient, &[(known[0], inverse), (known[1], quotient.times(inverse).negated())])
            }
            Expr::Sqrt(_) | Expr::Call(..) | Expr::Select { .. } => {
                // Its derivatives are taken by chance, too.
                let any = match *node {
                    Expr::Call(function, _) => Any::Function(function),
                    Expr::Select { compare, .. } => Any::Choice(compare),
                    _ => Any::Function(Function::Sqrt),
                };
                let value = any.of(known.iter().map(|jet| Some(jet.value)));
                let parts: Vec<_> = known.iter().zip(1..).map(|(jet, at)| (*jet, value.mixed(at))).collect();
                Jet::joined(value, &parts)
            }
        };
        if is_fixed(id) {
            value.slopes.clear();
        }
        values[id.index()] = Some(value);
    }
    Some(roots.iter().map(|root| values[root.index()].clone().expect("roots are needed")).collect())
}
