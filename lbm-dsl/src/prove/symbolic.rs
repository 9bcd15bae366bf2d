//! Conservation as an identity between polynomials, as far as these stay short.
//!
//! Unknowns are the density and the momentum of each set of populations, which formulas divide by, and as many populations as
//! are left: the others follow from them. Whatever else formulas have is an unknown of its own: a quotient by more than one term, a
//! root, a function, a choice, a sum that gets too long. What is conserved whatever value these have is conserved. So the usual operators
//! stay polynomials over powers of the density, and what is conserved cancels to zero. Where it does not, random states decide.

use num_traits::{One, Zero};

use crate::expr::{Compare, Exact, Expr, ExprId, Number, Rational, Symbol};
use crate::model::{Conserved, Model};
use crate::prove::poly::Poly;
use crate::prove::ratio::Ratio;

/// Most terms of a function that is followed.
const MAX_TERMS: usize = 160;
/// Most products of terms for one set of formulas.
const MAX_WORK: usize = 100_000;

/// The unknowns.
struct Unknowns {
    /// How many there are.
    count: usize,
    /// Those that are one over a polynomial in earlier ones.
    inverses: Vec<(usize, Poly)>,
    /// Whether some stand for what is not followed.
    others: bool,
}

impl Unknowns {
    fn another(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    /// What stands for something that is not followed.
    fn other(&mut self) -> Ratio {
        self.others = true;
        Ratio::variable(self.another())
    }

    /// `1 / divisor`, unless that is zero.
    fn inverse(&mut self, divisor: &Ratio) -> Option<Ratio> {
        let inverse = divisor.recip()?;
        let (above, below) = inverse.parts();
        if below.len() == 1 {
            return Some(inverse);
        }
        let known = self.inverses.iter().find(|(_, divisor)| *divisor == below).map(|(unknown, _)| *unknown);
        let unknown = known.unwrap_or_else(|| {
            let unknown = self.another();
            self.inverses.push((unknown, below));
            unknown
        });
        Some(Ratio::polynomial(above).mul(&Ratio::variable(unknown)))
    }

    /// Whether a function is zero for all values of the unknowns, where that can be said.
    fn vanishes(&self, function: &Ratio) -> Option<bool> {
        let (mut above, _) = function.parts();
        for (unknown, divisor) in self.inverses.iter().rev() {
            // Times the divisor, as often as the unknown occurs in a term.
            let coefficients = above.coefficients(*unknown);
            let (mut power, mut sum) = (Poly::constant(Rational::one()), Poly::default());
            for (at, coefficient) in coefficients.iter().enumerate().rev() {
                sum = sum.plus(&Rational::one(), &coefficient.times(&power));
                if sum.len() > MAX_TERMS || at > 0 && power.len() * divisor.len() > MAX_TERMS {
                    return None;
                }
                power = power.times(divisor);
            }
            above = sum;
        }
        if above.is_zero() { Some(true) } else { (!self.others).then_some(false) }
    }
}

/// Values of `roots`; nothing where there is none, or that takes too long.
fn eval(
    model: &Model,
    roots: &[ExprId],
    unknowns: &mut Unknowns,
    symbol: impl Fn(Symbol) -> Ratio,
) -> Option<Vec<Ratio>> {
    let needed = model.exprs.needed(roots);
    let mut values: Vec<Ratio> = vec![Ratio::whole(0); model.exprs.len()];
    let mut work = 0;
    for (id, node) in model.exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let get = |id: &ExprId| &values[id.index()];
        let followed = match node {
            Expr::Const(value) => Some(Ratio::Constant(value.clone())),
            Expr::Symbol(given) => Some(symbol(*given)),
            Expr::Neg(a) => Some(get(a).neg()),
            Expr::Add(a, b) => Some(get(a).add(get(b))),
            Expr::Sub(a, b) => Some(get(a).add(&get(b).neg())),
            Expr::Mul(a, b) => Some(get(a).mul(get(b))),
            Expr::Div(a, b) => Some(get(a).mul(&unknowns.inverse(get(b))?)),
            Expr::Fma(a, b, c) => Some(get(a).mul(get(b)).add(get(c))),
            Expr::Again(a) => Some(get(a).clone()),
            Expr::Sqrt(a) => <Exact as Number>::sqrt(&constant(get(a))).map(Ratio::Constant),
            Expr::Call(function, operands) => {
                let operands: Vec<Exact> = operands.iter().map(|operand| constant(get(operand))).collect();
                Exact::call(*function, &operands).map(Ratio::Constant)
            }
            Expr::Select { compare, left, right, then, otherwise } => {
                constant(get(left)).zip(constant(get(right))).map(|(left, right)| {
                    let yes = match compare {
                        Compare::Less => left < right,
                        Compare::LessEqual => left <= right,
                        Compare::Equal => left == right,
                    };
                    get(if yes { then } else { otherwise }).clone()
                })
            }
        };
        work += node.operands().iter().map(|id| get(id).size().max(1)).product::<usize>();
        if work > MAX_WORK {
            return None;
        }
        let followed = followed.filter(|value| value.size() <= MAX_TERMS);
        values[id.index()] = followed.unwrap_or_else(|| unknowns.other());
    }
    Some(roots.iter().map(|root| values[root.index()].clone()).collect())
}

fn constant(ratio: &Ratio) -> Option<Rational> {
    if let Ratio::Constant(value) = ratio { Some(value.clone()) } else { None }
}

/// Whether each component of the quantity is the same before and after the collision, for all populations and parameters; `None`
/// where that is not followed. For vectors, vector parameters (forces) are zero.
pub fn conserves(model: &Model, quantity: &Conserved) -> Option<bool> {
    let still = quantity.components.len() > 1;
    let before = populations(model);
    let count = before.len();
    let param = |symbol: Symbol| match symbol {
        Symbol::Param { param, component } => {
            let components = |at: usize| model.params[at].components;
            if still && components(usize::from(param)) > 1 {
                return Ratio::whole(0);
            }
            let earlier: usize = (0..usize::from(param)).map(components).sum();
            Ratio::variable(count + earlier + usize::from(component))
        }
        _ => Ratio::whole(0),
    };
    let given = |populations: &[Ratio], symbol: Symbol| match symbol {
        Symbol::Population(pop) => populations[pop.index()].clone(),
        other => param(other),
    };
    let scalars: usize = model.params.iter().map(|param| param.components).sum();
    let mut unknowns = Unknowns { count: count + scalars, inverses: Vec::new(), others: false };
    let mut value = |roots: &[ExprId], populations: &[Ratio]| {
        eval(model, roots, &mut unknowns, |symbol| given(populations, symbol))
    };
    let after = value(&model.collide.outputs, &before)?;
    let (old, new) = (value(&quantity.components, &before)?, value(&quantity.components, &after)?);
    let kept: Vec<Option<bool>> =
        old.iter().zip(&new).map(|(old, new)| unknowns.vanishes(&new.add(&old.neg()))).collect();
    // One component that changes is enough.
    if kept.contains(&Some(false)) { Some(false) } else { kept.iter().all(Option::is_some).then_some(true) }
}

/// Every population in terms of the unknowns: as many of a set as have a say in density and momentum are solved for, and
/// their variables stand for those.
fn populations(model: &Model) -> Vec<Ratio> {
    let mut all = Vec::new();
    for set in model.populations() {
        let (lattice, q) = (&set.lattice, set.lattice.q());
        let whole = |value: i32| Rational::from_integer(value.into());
        let mut rows: Vec<Vec<Rational>> = vec![vec![Rational::one(); q]];
        rows.extend(
            (0..lattice.dim()).map(|axis| lattice.dirs().map(|dir| whole(lattice.velocity(dir)[axis])).collect()),
        );
        let count = rows.len();
        for (at, row) in rows.iter_mut().enumerate() {
            row.extend((0..count).map(|other| if other == at { Rational::one() } else { Rational::zero() }));
        }
        let pivots = reduce(&mut rows, q);
        let variable = |column: usize| Poly::variable(set.first + column);
        // Row by row: the pivot's population plus those of no pivot is a sum of density and momentum.
        all.extend((0..q).map(|column| {
            let Some(row) = pivots.iter().position(|pivot| *pivot == column) else {
                return Ratio::polynomial(variable(column));
            };
            let mut sum = Poly::default();
            for (other, factor) in rows[row][..q].iter().enumerate().filter(|(other, _)| !pivots.contains(other)) {
                sum = sum.plus(&-factor, &variable(other));
            }
            for (moment, factor) in pivots.iter().zip(&rows[row][q..]) {
                sum = sum.plus(factor, &variable(*moment));
            }
            Ratio::polynomial(sum)
        }));
    }
    all
}

/// Brings the first `columns` columns to reduced echelon form; the columns of the pivots, a row each.
pub(super) fn reduce(rows: &mut [Vec<Rational>], columns: usize) -> Vec<usize> {
    let mut pivots = Vec::new();
    for column in 0..columns {
        let at = pivots.len();
        let Some(found) = (at..rows.len()).find(|row| !rows[*row][column].is_zero()) else { continue };
        rows.swap(at, found);
        let lead = rows[at][column].clone();
        rows[at].iter_mut().for_each(|value| *value /= &lead);
        let pivot = rows[at].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(row, _)| *row != at) {
            let factor = row[column].clone();
            row.iter_mut().zip(&pivot).for_each(|(value, by)| *value -= &factor * by);
        }
        pivots.push(column);
    }
    pivots
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn all(name: &str, text: &str) -> Vec<Option<bool>> {
        let model = crate::compile(&Source::new(name, text), &shipped::Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(100)));
        model.conserved().iter().map(|quantity| conserves(&model, quantity)).collect()
    }

    #[test]
    fn single_rates_are_proved_and_entropic_ones_are_not_followed() {
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
            assert_eq!(all(name, shipped::spec(name).unwrap()), [Some(true); 2], "{name}");
        }
        assert_eq!(all("d3q27_kbc", shipped::spec("d3q27_kbc").unwrap()), [None; 2]);
    }

    #[test]
    fn a_defect_that_only_forces_make_is_none_of_momentum() {
        let text = shipped::spec("d2q9_bgk").unwrap().replace("param omega", "param g[a];\nparam omega");
        let text = text.replace("(feq[i] - f[i]);", "(feq[i] - f[i]) + 3 * w[i] * dot(c[i], g);");
        assert_eq!(all("forced", &text), [Some(true); 2]);
    }

    #[test]
    fn what_is_not_conserved_is_found_out() {
        let source = Source::new("bgk", shipped::spec("d2q9_bgk").unwrap());
        let mut model = crate::compile(&source, &shipped::Prelude).unwrap();
        model.collide.outputs.swap(1, 3);
        let found: Vec<Option<bool>> = model.conserved().iter().map(|quantity| conserves(&model, quantity)).collect();
        assert_eq!(found, [Some(true), Some(false)]);
    }
}
