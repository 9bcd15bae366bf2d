//! Laurent series in a small quantity `eps`, with rational functions of the parameters as coefficients.
//!
//! Why not dual numbers: near rest some collisions divide two quantities that both vanish there (the rate of KBC). Along a
//! ray towards rest the quotient has a limit, which the leading terms give.

use num_traits::{Signed, Zero};

use crate::expr::{Compare, Exact, Expr, ExprId, Exprs, Number, Rational, Symbol};
use crate::function::Function;
use crate::prove::budget::Budget;
use crate::prove::ratio::Ratio;

/// `eps^order (c0 + c1 eps + ...)`, known up to but without `eps^known`. `c0` is not zero; without coefficients the series
/// is zero as far as it is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    order: i32,
    coefficients: Vec<Ratio>,
    known: i32,
}

/// Largest size of a coefficient; one that grows beyond is not followed.
const MAX_SIZE: usize = 40;
/// `known` of a series that is known entirely.
const EXACT: i32 = i32::MAX / 4;

impl Series {
    /// The polynomial with these coefficients, from `eps^0`.
    pub fn exact(coefficients: Vec<Ratio>) -> Self {
        Self { order: 0, coefficients, known: EXACT }.trimmed(usize::MAX)
    }

    /// The coefficient of `eps^power`, if it is known.
    pub fn coefficient(&self, power: i32) -> Option<Ratio> {
        if power >= self.known {
            return None;
        }
        let at = usize::try_from(power - self.order).ok();
        Some(at.and_then(|at| self.coefficients.get(at).cloned()).unwrap_or(Ratio::whole(0)))
    }

    fn trimmed(mut self, terms: usize) -> Self {
        let zeros = self.coefficients.iter().take_while(|c| c.is_zero()).count();
        self.coefficients.drain(..zeros);
        self.order += zeros as i32;
        if self.coefficients.is_empty() {
            self.order = self.known;
        } else if self.coefficients.len() > terms {
            self.coefficients.truncate(terms);
            self.known = self.known.min(self.order + terms as i32);
        }
        self
    }

    /// One past the last power that has a coefficient.
    fn end(&self) -> i32 {
        if self.coefficients.is_empty() { i32::MIN } else { self.order + self.coefficients.len() as i32 }
    }

    /// How much there is to it, one at least.
    fn size(&self) -> usize {
        self.coefficients.iter().map(Ratio::size).sum::<usize>().max(1)
    }

    fn at(&self, power: i32) -> Ratio {
        self.coefficient(power).unwrap_or(Ratio::whole(0))
    }

    fn is_zero(&self) -> bool {
        self.coefficients.is_empty() && self.known == EXACT
    }

    fn neg(&self) -> Self {
        let coefficients = self.coefficients.iter().map(Ratio::neg).collect();
        Self { order: self.order, coefficients, known: self.known }
    }

    fn add(&self, other: &Series, terms: usize, budget: &Budget) -> Option<Self> {
        let known = self.known.min(other.known);
        let order = self.order.min(other.order).min(known);
        let end = self.end().max(other.end()).min(known).max(order);
        let sum = |power| self.at(power).add(&other.at(power), budget);
        let coefficients = (order..end).map(sum).collect::<Option<_>>()?;
        Some(Self { order, coefficients, known }.trimmed(terms))
    }

    fn mul(&self, other: &Series, terms: usize, budget: &Budget) -> Option<Self> {
        let known = if self.known == EXACT && other.known == EXACT {
            EXACT
        } else {
            self.known.saturating_add(other.order).min(other.known.saturating_add(self.order)).min(EXACT)
        };
        if self.coefficients.is_empty() || other.coefficients.is_empty() {
            return Some(Self { order: known, coefficients: Vec::new(), known });
        }
        let order = self.order + other.order;
        let all = self.coefficients.len() + other.coefficients.len() - 1;
        let count = all.min(terms).min((known - order) as usize);
        let mut coefficients = vec![Ratio::whole(0); count];
        for (i, left) in self.coefficients.iter().enumerate().take(count) {
            for (j, right) in other.coefficients.iter().enumerate().take(count - i) {
                coefficients[i + j] = coefficients[i + j].add(&left.mul(right, budget)?, budget)?;
            }
        }
        let known = if count < all { known.min(order + count as i32) } else { known };
        Some(Self { order, coefficients, known }.trimmed(terms))
    }

    fn div(&self, other: &Series, terms: usize, budget: &Budget) -> Option<Self> {
        let lead = other.coefficients.first()?.recip()?;
        if self.coefficients.is_empty() {
            let known = if self.known == EXACT { EXACT } else { self.known - other.order };
            return Some(Self { order: known, coefficients: Vec::new(), known });
        }
        let order = self.order - other.order;
        if other.coefficients.len() == 1 && other.known == EXACT {
            let coefficients = self.coefficients.iter().map(|c| c.mul(&lead, budget)).collect::<Option<_>>()?;
            let known = if self.known == EXACT { EXACT } else { self.known - other.order };
            return Some(Self { order, coefficients, known });
        }
        let exact = (self.known - self.order).min(other.known - other.order).min(terms as i32);
        let mut quotient: Vec<Ratio> = Vec::new();
        for at in 0..exact as usize {
            let mut rest = self.coefficients.get(at).cloned().unwrap_or(Ratio::whole(0));
            for (back, earlier) in quotient.iter().enumerate() {
                if let Some(factor) = other.coefficients.get(at - back) {
                    rest = rest.sub(&earlier.mul(factor, budget)?, budget)?;
                }
            }
            quotient.push(rest.mul(&lead, budget)?);
        }
        Some(Self { order, coefficients: quotient, known: order + exact }.trimmed(terms))
    }

    /// The square root. Where the leading coefficient has no root among rational functions, all that is known of it is
    /// its order: `sqrt(2 eps^2)` vanishes as `eps` does.
    fn sqrt(&self, terms: usize, budget: &Budget) -> Option<Self> {
        let unknown = |order: i32| {
            let known = order.div_euclid(2);
            Some(Self { order: known, coefficients: Vec::new(), known })
        };
        let Some(lead) = self.coefficients.first() else {
            return if self.known == EXACT { Some(self.clone()) } else { unknown(self.known) };
        };
        if matches!(lead, Ratio::Constant(value) if value.is_negative()) {
            return None;
        }
        let root = if self.order % 2 == 0 { lead.sqrt(budget) } else { None };
        let Some(root) = root else { return unknown(self.order) };
        let half = Ratio::whole(2).mul(&root, budget)?.recip()?;
        let order = self.order / 2;
        let count = (self.known - self.order).min(terms as i32) as usize;
        let mut coefficients = vec![root];
        for at in 1..count {
            let mut rest = self.coefficients.get(at).cloned().unwrap_or(Ratio::whole(0));
            for back in 1..at {
                rest = rest.sub(&coefficients[back].mul(&coefficients[at - back], budget)?, budget)?;
            }
            coefficients.push(rest.mul(&half, budget)?);
        }
        let known = if self.known == EXACT && self.coefficients.len() == 1 { EXACT } else { order + count as i32 };
        Some(Self { order, coefficients, known }.trimmed(terms))
    }

    /// The sign for small positive `eps`, the parameters having sample values; `None` where it is not known.
    fn sign(&self, sample: &dyn Fn(usize) -> f64) -> Option<i32> {
        match self.coefficients.first() {
            None => (self.known == EXACT).then_some(0),
            Some(lead) => {
                let value = lead.at(sample);
                (value != 0.0).then_some(if value > 0.0 { 1 } else { -1 })
            }
        }
    }
}

/// Values of `roots` as series with at most `terms` terms, `None` where a value is undefined or not known, or the budget is exceeded; and
/// whether some were given up because they got too long.
pub fn eval(
    exprs: &Exprs,
    roots: &[ExprId],
    terms: usize,
    symbol: &dyn Fn(Symbol) -> Series,
    sample: &dyn Fn(usize) -> f64,
    budget: &Budget,
) -> (Vec<Option<Series>>, bool) {
    let needed = exprs.needed(roots);
    let mut values: Vec<Option<Series>> = vec![None; exprs.len()];
    let mut given_up = false;
    for (id, node) in exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let get = |id: &ExprId| values[id.index()].as_ref();
        if budget.spend(node.operands().iter().map(|id| get(id).map_or(1, Series::size)).sum::<usize>()).is_none() {
            break;
        }
        let value = match node {
            Expr::Const(value) => Some(Series::exact(vec![Ratio::Constant(value.clone())])),
            Expr::Symbol(given) => Some(symbol(*given)),
            Expr::Neg(a) => get(a).map(Series::neg),
            Expr::Add(a, b) => both(get(a), get(b)).and_then(|(a, b)| a.add(b, terms, budget)),
            Expr::Sub(a, b) => both(get(a), get(b)).and_then(|(a, b)| a.add(&b.neg(), terms, budget)),
            // Nothing times what is not known is nothing.
            Expr::Mul(a, b) => match (get(a), get(b)) {
                (Some(zero), None) | (None, Some(zero)) => zero.is_zero().then(|| zero.clone()),
                (a, b) => both(a, b).and_then(|(a, b)| a.mul(b, terms, budget)),
            },
            Expr::Div(a, b) => both(get(a), get(b)).and_then(|(a, b)| a.div(b, terms, budget)),
            Expr::Again(a) => get(a).cloned(),
            Expr::Sqrt(a) => get(a).and_then(|a| a.sqrt(terms, budget)),
            Expr::Call(function, operands) => {
                operands.iter().map(&get).collect::<Option<Vec<_>>>().and_then(|operands| call(*function, &operands))
            }
            Expr::Fma(a, b, c) => {
                both(get(a), get(b)).and_then(|(a, b)| a.mul(b, terms, budget)?.add(get(c)?, terms, budget))
            }
            Expr::Select { compare, left, right, then, otherwise } => {
                let difference = both(get(left), get(right)).and_then(|(a, b)| a.add(&b.neg(), terms, budget));
                difference.and_then(|difference| difference.sign(sample)).and_then(|sign| {
                    let yes = match compare {
                        Compare::Less => sign < 0,
                        Compare::LessEqual => sign <= 0,
                        Compare::Equal => sign == 0,
                    };
                    get(if yes { then } else { otherwise }).cloned()
                })
            }
        };
        let is_short = |value: &Series| value.coefficients.iter().all(|c| c.size() <= MAX_SIZE);
        given_up |= value.as_ref().is_some_and(|value| !is_short(value));
        values[id.index()] = value.filter(is_short);
    }
    (roots.iter().map(|root| values[root.index()].clone()).collect(), given_up)
}

/// A function of constants, where its value is known to be rational.
fn call(function: Function, operands: &[&Series]) -> Option<Series> {
    let constant = |operand: &&Series| match (&operand.coefficients[..], operand.order, operand.known) {
        ([], _, EXACT) => Some(Rational::zero()),
        ([Ratio::Constant(value)], 0, EXACT) => Some(value.clone()),
        _ => None,
    };
    let constants: Vec<Exact> = operands.iter().map(constant).collect();
    Some(Series::exact(vec![Ratio::Constant(Exact::call(function, &constants)?)]))
}

fn both<'a>(a: Option<&'a Series>, b: Option<&'a Series>) -> Option<(&'a Series, &'a Series)> {
    Some((a?, b?))
}

/// The parameter with that number, or zero.
pub fn parameter(variable: Option<usize>) -> Series {
    Series::exact(vec![variable.map_or(Ratio::Constant(Rational::zero()), Ratio::variable)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(order: i32, coefficients: &[i64]) -> Series {
        let mut series = Series::exact(coefficients.iter().map(|c| Ratio::whole(*c)).collect());
        series.order += order;
        series
    }

    #[test]
    fn zero_over_zero_has_a_limit() {
        // (2 eps^2 + eps^3) / (eps^2 - eps^3) = 2 + 3 eps + 3 eps^2 + ...
        let quotient = series(2, &[2, 1]).div(&series(2, &[1, -1]), 3, &Budget::new()).unwrap();
        let found: Vec<_> = (0..4).map(|power| quotient.coefficient(power)).collect();
        assert_eq!(found, [Some(Ratio::whole(2)), Some(Ratio::whole(3)), Some(Ratio::whole(3)), None]);
    }

    #[test]
    fn what_cancels_is_lost_and_said_so() {
        let a = series(0, &[1]).div(&series(0, &[1, 1]), 2, &Budget::new()).unwrap();
        let difference = a.add(&series(0, &[1, -1]).neg(), 2, &Budget::new()).unwrap();
        assert_eq!(difference.coefficient(1), Some(Ratio::whole(0)));
        assert_eq!(difference.coefficient(2), None);
        assert_eq!(difference.sign(&|_| 0.0), None);
        assert_eq!(series(0, &[1]).div(&difference, 2, &Budget::new()), None);
    }

    #[test]
    fn products_of_polynomials_stay_exact_while_short() {
        let square = series(0, &[1, 1]).mul(&series(0, &[1, 1]), 4, &Budget::new()).unwrap();
        assert_eq!(square.coefficient(9), Some(Ratio::whole(0)));
        let cut = series(0, &[1, 1]).mul(&series(0, &[1, 1]), 2, &Budget::new()).unwrap();
        assert_eq!((cut.coefficient(1), cut.coefficient(2)), (Some(Ratio::whole(2)), None));
    }

    #[test]
    fn roots_square_back() {
        let square = series(2, &[4, 4, 1]);
        let root = square.sqrt(3, &Budget::new()).unwrap();
        assert_eq!((root.coefficient(1), root.coefficient(2)), (Some(Ratio::whole(2)), Some(Ratio::whole(1))));
        assert_eq!(series(0, &[-4]).sqrt(3, &Budget::new()), None);
    }

    #[test]
    fn of_an_irrational_root_the_order_is_known() {
        let root = series(2, &[2, 1]).sqrt(3, &Budget::new()).unwrap();
        assert_eq!((root.coefficient(0), root.coefficient(1)), (Some(Ratio::whole(0)), None));
        let sum = series(0, &[9]).add(&root, 3, &Budget::new()).unwrap().sqrt(3, &Budget::new()).unwrap();
        assert_eq!((sum.coefficient(0), sum.coefficient(1)), (Some(Ratio::whole(3)), None));
        assert_eq!(series(1, &[1]).sqrt(3, &Budget::new()).unwrap().coefficient(0), None);
    }
}
