//! Ranges of values: where every node of a graph lies, given where its inputs lie.
//!
//! A range is an affine form, `centre + sum(parts[k] s_k) + rest s` with every `s` between -1 and 1, where `s_k` is the same variable in all ranges: so
//! what is a sum of inputs, as the momentum is, has the range that these inputs leave it, not that of populations that know nothing of each other
//! (de Figueiredo & Stolfi, Numer. Algorithms 37 (2004) 147). Beside it are bounds that other reasons give, as a square's.
//!
//! After: a range contains the exact value, and the value that 32 bits give in any order of rounding: each operation widens it by a rounding.

use lbm_dsl::expr::{Compare, Expr, ExprId, Exprs, Symbol};
use lbm_dsl::function::Function;
use num_traits::ToPrimitive;

/// The largest relative error of a rounding to 32 bits, and a little for those of this analysis in 64.
pub const ROUNDING: f64 = 1.0001 / 16_777_216.0;
/// Roundings of a function of the mathematical library, at most.
pub const OF_FUNCTION: f64 = 8.0;

/// Where a value lies.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    centre: f64,
    /// Behind its end there are zeros.
    parts: Vec<f64>,
    rest: f64,
    /// Bounds, which may be narrower than the affine form's.
    pub low: f64,
    /// See `low`.
    pub high: f64,
}

impl Range {
    /// Just that number.
    pub fn point(value: f64) -> Self {
        Range { centre: value, parts: vec![], rest: 0.0, low: value, high: value }
    }

    /// `centre + radius s`, where `s` is the variable of that number.
    pub fn variable(centre: f64, radius: f64, number: usize) -> Self {
        let mut parts = vec![0.0; number + 1];
        parts[number] = radius;
        Range { centre, parts, rest: 0.0, low: centre - radius, high: centre + radius }
    }

    /// Between two numbers, whatever other values are.
    pub fn between(low: f64, high: f64) -> Self {
        Range { centre: 0.5 * (low + high), parts: vec![], rest: 0.5 * (high - low), low, high }
    }

    /// Nothing is known.
    fn unknown() -> Self {
        Self::between(f64::NEG_INFINITY, f64::INFINITY)
    }

    /// Whether something is known.
    pub fn is_known(&self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    /// The largest absolute value.
    pub fn size(&self) -> f64 {
        self.low.abs().max(self.high.abs())
    }

    fn radius(&self) -> f64 {
        self.parts.iter().map(|part| part.abs()).sum::<f64>() + self.rest
    }

    /// With the bounds that the affine form gives, and others.
    fn bounded(centre: f64, parts: Vec<f64>, rest: f64, low: f64, high: f64) -> Self {
        let mut range = Range { centre, parts, rest, low, high };
        let radius = range.radius();
        if !radius.is_finite() || !centre.is_finite() {
            return if low.is_finite() && high.is_finite() { Self::between(low, high) } else { Self::unknown() };
        }
        range.low = low.max(centre - radius);
        range.high = high.min(centre + radius);
        range
    }

    /// `a self + b other + c`, `rest` wider, between these bounds.
    fn joined(&self, other: &Range, [a, b, c]: [f64; 3], rest: f64, [low, high]: [f64; 2]) -> Self {
        let count = self.parts.len().max(other.parts.len());
        let part = |range: &Range, at: usize| range.parts.get(at).copied().unwrap_or(0.0);
        let parts = (0..count).map(|at| a * part(self, at) + b * part(other, at)).collect();
        let all = a.abs() * self.rest + b.abs() * other.rest + rest;
        Self::bounded(a * self.centre + b * other.centre + c, parts, all, low, high)
    }

    /// `a self + c`, `rest` wider, between these bounds.
    fn scaled(&self, a: f64, c: f64, rest: f64, bounds: [f64; 2]) -> Self {
        self.joined(&Range::point(0.0), [a, 0.0, c], rest, bounds)
    }

    /// After a rounding to 32 bits.
    fn rounded(self, roundings: f64) -> Self {
        // What is not negative stays so.
        let part = roundings * ROUNDING;
        let (low, high) = (self.low - part * self.low.abs(), self.high + part * self.high.abs());
        Range { rest: self.rest + part * self.size(), low, high, ..self }
    }

    /// Less something exact.
    pub fn less(&self, value: f64) -> Self {
        self.scaled(1.0, -value, 0.0, [self.low - value, self.high - value])
    }

    /// And something else beside it.
    pub fn and(&self, other: &Range) -> Self {
        self.joined(other, [1.0, 1.0, 0.0], 0.0, [self.low + other.low, self.high + other.high])
    }

    fn minus(&self, other: &Range) -> Self {
        self.joined(other, [1.0, -1.0, 0.0], 0.0, [self.low - other.high, self.high - other.low])
    }

    fn times(&self, other: &Range) -> Self {
        let (a, b) = (other.centre, self.centre);
        let bounds = hull(corners(self, other, |x, y| x * y));
        // What is left is the product of what is not constant in both.
        self.joined(other, [a, b, -a * b], self.radius() * other.radius(), bounds)
    }

    fn square(&self) -> Self {
        let radius = self.radius();
        let low = if self.low <= 0.0 && self.high >= 0.0 { 0.0 } else { self.low.abs().min(self.high.abs()).powi(2) };
        // The square of what is not constant lies between zero and the square of its radius.
        let half = 0.5 * radius * radius;
        self.scaled(2.0 * self.centre, half - self.centre * self.centre, half, [low, self.size().powi(2)])
    }

    fn inverse(&self) -> Self {
        if self.low <= 0.0 && self.high >= 0.0 || !self.is_known() {
            return Self::unknown();
        }
        let sign = self.low.signum();
        let (low, high) = (self.low.abs().min(self.high.abs()), self.low.abs().max(self.high.abs()));
        // 1/x + x / (low high) is largest at both ends and least between them.
        let slope = -1.0 / (low * high);
        let (most, least) = (1.0 / low + 1.0 / high, 2.0 / (low * high).sqrt());
        let bounds = [1.0 / self.high, 1.0 / self.low];
        self.scaled(slope, sign * 0.5 * (most + least), 0.5 * (most - least), bounds)
    }

    fn sqrt(&self) -> Self {
        if self.high < 0.0 || !self.is_known() {
            return Self::unknown();
        }
        let (low, high) = (self.low.max(0.0).sqrt(), self.high.sqrt());
        if high == 0.0 {
            return Self::point(0.0);
        }
        // The root less its secant is least at both ends.
        let slope = 1.0 / (low + high);
        let (least, most) = (low * high * slope, 0.25 / slope);
        self.scaled(slope, 0.5 * (most + least), 0.5 * (most - least), [low, high])
    }

    fn call(function: Function, operands: &[&Range]) -> Self {
        // Those that rise or fall with each operand, where they have a value.
        let values: Vec<f64> = match (function, operands) {
            (Function::Exp | Function::Tanh, [a]) => vec![function.of(&[a.low]), function.of(&[a.high])],
            (Function::Ln | Function::Log10, [a]) if a.low > 0.0 => vec![function.of(&[a.low]), function.of(&[a.high])],
            (Function::Power, [a, b]) if a.low > 0.0 || a.low == 0.0 && b.low > 0.0 => {
                corners(a, b, |a, b| function.of(&[a, b])).to_vec()
            }
            _ => return Self::unknown(),
        };
        let [low, high] = hull(values);
        Self::between(low, high)
    }

    /// One of two values, between these bounds.
    fn either(&self, other: &Range, bounds: [f64; 2]) -> Self {
        let half = 0.5 * self.minus(other).size();
        self.joined(other, [0.5, 0.5, 0.0], half, bounds)
    }
}

/// The answer, if it is the same in all the range of a difference.
fn decided(compare: Compare, difference: &Range) -> Option<bool> {
    let zero = [difference.low, difference.high]
        .map(|end| <f64 as lbm_dsl::expr::Number>::select(compare, &end, &0.0, &1.0, &0.0) > 0.0);
    // What holds at both ends holds between, but for an equality.
    let is_order = !matches!(compare, Compare::Equal);
    let apart = difference.low > 0.0 || difference.high < 0.0;
    (zero[0] == zero[1] && (is_order || apart)).then_some(zero[0])
}

fn corners(a: &Range, b: &Range, of: impl Fn(f64, f64) -> f64) -> [f64; 4] {
    [of(a.low, b.low), of(a.low, b.high), of(a.high, b.low), of(a.high, b.high)]
}

/// The least and the largest.
pub fn hull(values: impl IntoIterator<Item = f64>) -> [f64; 2] {
    let all =
        values.into_iter().map(|value| if value.is_nan() { [f64::NEG_INFINITY, f64::INFINITY] } else { [value; 2] });
    all.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]).expect("there are some")
}

/// Whether an operation of such operands rounds nothing: a product with a power of two.
pub fn is_exact_factor(exprs: &Exprs, id: ExprId) -> bool {
    let value = exprs.as_const(id).and_then(ToPrimitive::to_f64);
    value.is_some_and(|value| value != 0.0 && value.abs().log2().fract() == 0.0)
}

/// Where the nodes of a graph lie.
pub struct Ranges {
    /// Of those that some roots need.
    nodes: Vec<Option<Range>>,
    /// For each choice, whether it is always the same.
    answers: Vec<Option<bool>>,
}

impl Ranges {
    /// Where a node lies that the roots need.
    pub fn of(&self, id: ExprId) -> &Range {
        self.nodes[id.index()].as_ref().expect("the roots need it")
    }

    /// The answer to the question of a choice, if it is always the same.
    pub fn answer(&self, id: ExprId) -> Option<bool> {
        self.answers[id.index()]
    }
}

/// Where the nodes lie that some roots need.
pub fn ranges(exprs: &Exprs, roots: &[ExprId], input: impl Fn(Symbol) -> Range) -> Ranges {
    let needed = exprs.needed(roots);
    let mut all: Vec<Option<Range>> = vec![None; exprs.len()];
    let mut answers = vec![None; exprs.len()];
    for (id, node) in exprs.iter().filter(|(id, _)| needed[id.index()]) {
        let get = |id: ExprId| all[id.index()].as_ref().expect("operands precede users");
        let product = |a: ExprId, b: ExprId| {
            let product = if a == b { get(a).square() } else { get(a).times(get(b)) };
            let is_exact = is_exact_factor(exprs, a) || is_exact_factor(exprs, b);
            product.rounded(if is_exact { 0.0 } else { 1.0 })
        };
        let range = match node {
            Expr::Const(value) => {
                let value = value.to_f64().unwrap_or(f64::NAN);
                Range::point(value).rounded(if f64::from(value as f32) == value { 0.0 } else { 1.0 })
            }
            Expr::Symbol(symbol) => input(*symbol),
            Expr::Neg(a) => get(*a).scaled(-1.0, 0.0, 0.0, [-get(*a).high, -get(*a).low]),
            Expr::Add(a, b) => get(*a).and(get(*b)).rounded(1.0),
            Expr::Sub(a, b) => get(*a).minus(get(*b)).rounded(1.0),
            Expr::Mul(a, b) => product(*a, *b),
            Expr::Div(a, b) => get(*a).times(&get(*b).inverse()).rounded(1.0),
            Expr::Sqrt(a) => get(*a).sqrt().rounded(1.0),
            Expr::Call(function, operands) => {
                let operands: Vec<&Range> = operands.iter().map(|operand| get(*operand)).collect();
                Range::call(*function, &operands).rounded(OF_FUNCTION)
            }
            Expr::Again(a) => get(*a).clone(),
            Expr::Fma(a, b, c) => product(*a, *b).and(get(*c)).rounded(1.0),
            Expr::Select { compare, left, right, then, otherwise } => {
                answers[id.index()] = decided(*compare, &get(*left).minus(get(*right)));
                match answers[id.index()] {
                    Some(true) => get(*then).clone(),
                    Some(false) => get(*otherwise).clone(),
                    None => {
                        let (a, b) = (get(*then), get(*otherwise));
                        let is_order = !matches!(compare, Compare::Equal);
                        a.either(
                            b,
                            match (*then, *otherwise) {
                                // The smaller of both, and the larger.
                                both if is_order && both == (*left, *right) => [a.low.min(b.low), a.high.min(b.high)],
                                both if is_order && both == (*right, *left) => [a.low.max(b.low), a.high.max(b.high)],
                                _ => [a.low.min(b.low), a.high.max(b.high)],
                            },
                        )
                    }
                }
            }
        };
        all[id.index()] = Some(if range.is_known() { range } else { Range::unknown() });
    }
    Ranges { nodes: all, answers }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::random::Random;
    use lbm_dsl::expr::Rational;

    /// Values of random points lie in the ranges, and a sum that cancels is known to.
    #[test]
    fn values_lie_in_their_ranges() {
        let mut exprs = Exprs::new();
        let [x, y] = [0, 1].map(|param| exprs.symbol(Symbol::Param { param, component: 0 }));
        let third = exprs.constant(Rational::new(1.into(), 3.into()));
        let sum = exprs.plus(x, y);
        let difference = exprs.minus(sum, y);
        let product = exprs.times(sum, x);
        let square = exprs.times(y, y);
        let scaled = exprs.add(Expr::Fma(third, square, x));
        let quotient = exprs.add(Expr::Div(product, scaled));
        let root = exprs.add(Expr::Sqrt(square));
        let power = exprs.add(Expr::Call(Function::Power, vec![scaled, third]));
        let smaller = exprs.add(Expr::Select { compare: Compare::Less, left: x, right: sum, then: x, otherwise: sum });
        let roots = [difference, quotient, root, power, smaller];
        let given = |symbol: Symbol| match symbol {
            Symbol::Param { param: 0, .. } => Range::variable(2.0, 0.5, 0),
            _ => Range::variable(0.25, 0.75, 1),
        };
        let found = ranges(&exprs, &roots, given);
        let narrow = found.of(difference);
        assert!(narrow.low > 1.4999 && narrow.high < 2.5001, "{narrow:?}");
        assert!(found.of(root).low == 0.0 && found.of(smaller).high <= 2.5, "{:?}", found.of(smaller));
        let mut random = Random::new(7);
        let mut draw = || random.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0;
        for _ in 0..1000 {
            let (x, y) = (2.0 + 0.5 * draw(), 0.25 + 0.75 * draw());
            let values: Vec<f64> = exprs.eval(&roots, |symbol| match symbol {
                Symbol::Param { param: 0, .. } => x,
                _ => y,
            });
            for (root, value) in roots.iter().zip(values) {
                let range = found.of(*root);
                assert!(range.low <= value && value <= range.high, "{value} is not in {range:?}");
            }
        }
    }
}
