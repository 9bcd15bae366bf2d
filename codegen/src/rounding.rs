//! How far a step in 32 bits may be from the exact one: a bound that holds in all of a stated range of states.
//!
//! Each operation gives `(1 + d) x`, with its exact result `x` and a `|d|` of at most a rounding. By the theorem of the mean the error of an output is a
//! sum over operations of `d x` times a slope: that of the output by the result, somewhere in the ranges of all values, which are wide enough
//! for their own roundings ([`range`](crate::range)). So nothing is left out as being of second order. Slopes are intervals, found backwards from each
//! output. A product that is added may be rounded or not. Where a choice is not the same in all the range, both its ways count, and the answer is taken to
//! be that of exact numbers.
//!
//! States are those of a fluid whose fields lie in [`FIELDS`], with populations that differ from the equilibrium by [`OUT_OF_EQUILIBRIUM`]. What is given,
//! populations and parameters, are numbers of 32 bits. Errors are in parts of each population at rest, its weight.

use lbm_dsl::expr::{Expr, ExprId, Exprs, Pop, Rational, Symbol};
use lbm_dsl::function::{self, Function};
use lbm_dsl::model::Model;
use num_traits::ToPrimitive;

use crate::ir::{Dag, KernelIr, Output};
use crate::lower;
use crate::range::{OF_FUNCTION, ROUNDING, Range, Ranges, hull, is_exact_factor, ranges};
use crate::simplify::random::Random;

/// Scalars lie so far around 1, and components of the velocity around 0.
pub const FIELDS: f64 = 0.1;
/// By what populations differ from the equilibrium, over their weights.
pub const OUT_OF_EQUILIBRIUM: f64 = 0.01;
/// States of which the errors are measured.
pub const STATES: usize = 400;

/// What is known of the errors of a collision in 32 bits, each in parts of a population at rest.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rounding {
    /// No error of the kernel is larger, if that is known.
    pub bound: Option<f64>,
    /// The same of the formulas in the order in which the spec has them, of whole populations.
    pub bound_as_written: Option<f64>,
    /// The largest error of the kernel in some random states.
    pub measured: f64,
}

impl Rounding {
    /// Whether formulas as they are written lose digits that the kernel keeps: more than what whole populations cost.
    pub fn loses_digits(&self) -> bool {
        matches!((self.bound, self.bound_as_written), (Some(kernel), Some(written)) if written > LOSES * kernel)
    }
}

/// Whole populations have this many times the error, of shipped methods at most; what is beyond is the order of operations.
const LOSES: f64 = 32.0;

/// Boxes of fields into which their ranges are divided, at most.
const BOXES: usize = 48;
/// A bound that is not more than so many times what is measured is near enough.
const NEAR: f64 = 30.0;

/// For each component of the fields its middle and by how much it may differ from it.
type Fields = Vec<[f64; 2]>;

/// What is known of the errors of a collision: of the kernel, and of the formulas as they are written.
pub fn rounding(states: &States, kernel: &Dag, written: &KernelIr) -> Rounding {
    let measured = states.measured(kernel.exprs(), kernel.outputs());
    let bound = states.bound(kernel.exprs(), kernel.outputs(), false, NEAR * measured);
    let enough = bound.map_or(f64::INFINITY, |bound| 0.5 * LOSES * bound);
    Rounding { bound, bound_as_written: states.bound(&written.exprs, &written.outputs, true, enough), measured }
}

/// States of a method, in which errors are found.
pub struct States<'m> {
    model: &'m Model,
    /// What populations are stored without.
    rest: &'m [Rational],
    /// `params[param][component]`, rounded to 32 bits.
    params: Vec<Vec<f64>>,
    weights: Vec<f64>,
}

impl<'m> States<'m> {
    /// With values of all parameters: `params[param][component]`.
    pub fn new(model: &'m Model, rest: &'m [Rational], params: &[Vec<f64>]) -> Self {
        let rounded = |values: &Vec<f64>| values.iter().map(|value| f64::from(*value as f32)).collect();
        let weights = model.weights().iter().map(|weight| weight.to_f64().unwrap_or(f64::NAN)).collect();
        States { model, rest, params: params.iter().map(rounded).collect(), weights }
    }

    fn param(&self, symbol: Symbol) -> Option<f64> {
        match symbol {
            Symbol::Param { param, component } => Some(self.params[usize::from(param)][usize::from(component)]),
            _ => None,
        }
    }

    /// Variables of the ranges: components of fields first, then populations.
    fn fields(&self) -> usize {
        self.model.fields().iter().map(|field| field.components.len()).sum()
    }

    fn field(&self, field: u16, component: u8) -> (usize, f64) {
        let before: usize = self.model.fields()[..usize::from(field)].iter().map(|field| field.components.len()).sum();
        let is_scalar = self.model.fields()[usize::from(field)].components.len() == 1;
        (before + usize::from(component), if is_scalar { 1.0 } else { 0.0 })
    }

    fn stored_without(&self, value: usize, whole: bool) -> f64 {
        if whole { 0.0 } else { self.rest[value].to_f64().unwrap_or(f64::NAN) }
    }

    /// Where whole values of a cell lie that is by itself: populations near the equilibrium of its fields, and states.
    fn cell(&self, fields: &Fields) -> Vec<Range> {
        let init = lower::init(self.model);
        let roots: Vec<ExprId> = init.outputs.iter().map(|output| output.value).collect();
        let all = ranges(&init.exprs, &roots, |symbol| match symbol {
            Symbol::Field { field, component } => {
                let (number, _) = self.field(field, component);
                let [centre, radius] = fields[number];
                Range::variable(centre, radius, number)
            }
            other => Range::point(self.param(other).unwrap_or(f64::NAN)),
        });
        let value = |(at, root): (usize, &ExprId)| {
            let started = all.of(*root).clone();
            match (self.weights.get(at), self.model.states().get(at.saturating_sub(self.weights.len()))) {
                (Some(weight), _) => {
                    started.and(&Range::variable(0.0, OUT_OF_EQUILIBRIUM * weight, self.fields() + at))
                }
                (None, Some(state)) => match &state.range {
                    Some((low, high)) => {
                        let [low, high] = [low, high].map(|end| end.to_f64().unwrap_or(f64::NAN));
                        Range::between(low, high)
                    }
                    None => Range::between(started.low, started.high),
                },
                (None, None) => started,
            }
        };
        roots.iter().enumerate().map(value).collect()
    }

    /// Where the inputs of a kernel lie: of whole populations, or of stored ones.
    fn inputs(&self, fields: &Fields, whole: bool) -> impl Fn(Symbol) -> Range {
        let cell = self.cell(fields);
        move |symbol| match symbol {
            Symbol::Population(pop) => cell[pop.index()].less(self.stored_without(pop.index(), whole)),
            // What a cell around has is like what this one has, and independent of it.
            Symbol::Neighbour { shown, .. } => {
                let row = self.model.row(shown.into()).index();
                let shown = cell[row].less(self.stored_without(row, whole));
                Range::between(shown.low, shown.high)
            }
            other => Range::point(self.param(other).unwrap_or(f64::NAN)),
        }
    }

    /// A bound of the errors of the populations that a kernel gives; nothing where a value has none. Where it is not small enough, boxes of fields are
    /// halved: the bound is the largest of all.
    fn bound(&self, exprs: &Exprs, outputs: &[Output], whole: bool, enough: f64) -> Option<f64> {
        let fields = self.model.fields().iter().flat_map(|field| {
            let count = field.components.len();
            vec![[if count == 1 { 1.0 } else { 0.0 }, FIELDS]; count]
        });
        let fields: Fields = fields.collect();
        let mut boxes = vec![(self.bound_in(exprs, outputs, whole, &fields), fields)];
        let largest = |boxes: &[(f64, Fields)]| (0..boxes.len()).max_by(|a, b| boxes[*a].0.total_cmp(&boxes[*b].0));
        while boxes.len() < BOXES {
            let Some(at) = largest(&boxes).filter(|at| boxes[*at].0 > enough) else { break };
            let (_, fields) = boxes.swap_remove(at);
            // Components of the velocity come last.
            let widest = (0..fields.len()).max_by(|a, b| fields[*a][1].total_cmp(&fields[*b][1])).unwrap_or(0);
            for side in [-0.5, 0.5] {
                let mut half = fields.clone();
                let [centre, radius] = half[widest];
                half[widest] = [centre + side * radius, 0.5 * radius];
                boxes.push((self.bound_in(exprs, outputs, whole, &half), half));
            }
        }
        // As much as the population itself is no bound.
        largest(&boxes).map(|at| boxes[at].0).filter(|bound| *bound < 1.0)
    }

    /// The same in a box of fields; infinite where a value has no bound.
    fn bound_in(&self, exprs: &Exprs, outputs: &[Output], whole: bool, fields: &Fields) -> f64 {
        let of_population = |output: &&Output| output.population.is_some_and(|pop| pop.index() < self.weights.len());
        let outputs: Vec<&Output> = outputs.iter().filter(of_population).collect();
        let roots: Vec<ExprId> = outputs.iter().map(|output| output.value).collect();
        let all = ranges(exprs, &roots, self.inputs(fields, whole));
        let error = |output: &Output| {
            let pop = output.population.expect("only these");
            error(exprs, output.value, &all) / self.weights[pop.index()]
        };
        let errors = outputs.into_iter().map(error);
        errors.fold(0.0, |most: f64, error| if error.is_nan() { f64::INFINITY } else { most.max(error) })
    }

    /// The largest error of a kernel of stored populations in some random states.
    fn measured(&self, exprs: &Exprs, outputs: &[Output]) -> f64 {
        let init = lower::init(self.model);
        let started: Vec<ExprId> = init.outputs.iter().map(|output| output.value).collect();
        let roots: Vec<ExprId> = outputs.iter().map(|output| output.value).collect();
        let mut random = Random::new(1);
        let mut draw = || random.below(1 << 30) as f64 / f64::from(1 << 29) - 1.0;
        let state = |_| -> f64 {
            let fields: Vec<f64> = (0..self.fields()).map(|_| FIELDS * draw()).collect();
            let mut cell: Vec<f64> = init.exprs.eval(&started, |symbol| match symbol {
                Symbol::Field { field, component } => {
                    let (number, centre) = self.field(field, component);
                    centre + fields[number]
                }
                other => self.param(other).unwrap_or(f64::NAN),
            });
            for (value, weight) in cell.iter_mut().zip(&self.weights) {
                *value += OUT_OF_EQUILIBRIUM * weight * draw();
            }
            let given = |pop: Pop| (cell[pop.index()] - self.stored_without(pop.index(), false)) as f32;
            let input = |symbol: Symbol| match symbol {
                Symbol::Population(pop) => given(pop),
                Symbol::Neighbour { shown, .. } => given(self.model.row(shown.into())),
                other => self.param(other).unwrap_or(f64::NAN) as f32,
            };
            let found: Vec<f32> = exprs.eval(&roots, input);
            let exact: Vec<f64> = exprs.eval(&roots, |symbol| f64::from(input(symbol)));
            let errors = found.iter().zip(&exact).zip(&self.weights);
            errors.map(|((found, exact), weight)| (f64::from(*found) - exact).abs() / weight).fold(0.0, f64::max)
        };
        (0..STATES).map(state).fold(0.0, f64::max)
    }
}

/// The largest error of a root, where nodes lie in these ranges.
fn error(exprs: &Exprs, root: ExprId, ranges: &Ranges) -> f64 {
    let get = |id: ExprId| ranges.of(id);
    let mut slopes: Vec<Option<[f64; 2]>> = vec![None; root.index() + 1];
    slopes[root.index()] = Some([1.0; 2]);
    let mut sum = 0.0;
    for (id, node) in exprs.iter().collect::<Vec<_>>().into_iter().rev().filter(|(id, _)| id.index() <= root.index()) {
        let Some(slope) = slopes[id.index()] else { continue };
        let size = slope[0].abs().max(slope[1].abs());
        if size == 0.0 {
            continue;
        }
        let mut give = |to: ExprId, by: [f64; 2]| {
            let more = hull([slope[0] * by[0], slope[0] * by[1], slope[1] * by[0], slope[1] * by[1]]);
            let all = slopes[to.index()].unwrap_or([0.0; 2]);
            slopes[to.index()] = Some([all[0] + more[0], all[1] + more[1]]);
        };
        let of = |id: ExprId| [get(id).low, get(id).high];
        let one = [1.0; 2];
        let once = ROUNDING * size * get(id).size();
        let product = |a: ExprId, b: ExprId| {
            let is_exact = is_exact_factor(exprs, a) || is_exact_factor(exprs, b);
            if is_exact { 0.0 } else { ROUNDING * size * get(a).size() * get(b).size() }
        };
        sum += match node {
            Expr::Const(value) => {
                let value = value.to_f64().unwrap_or(f64::NAN);
                if f64::from(value as f32) == value { 0.0 } else { once }
            }
            Expr::Symbol(_) | Expr::Neg(_) | Expr::Again(_) | Expr::Select { .. } => 0.0,
            Expr::Add(..) | Expr::Sub(..) | Expr::Div(..) | Expr::Sqrt(_) => once,
            Expr::Mul(a, b) => product(*a, *b),
            Expr::Fma(a, b, _) => once + product(*a, *b),
            Expr::Call(..) => OF_FUNCTION * once,
        };
        match node {
            Expr::Const(_) | Expr::Symbol(_) => {}
            Expr::Neg(a) => give(*a, [-1.0; 2]),
            Expr::Again(a) => give(*a, one),
            Expr::Add(a, b) => {
                give(*a, one);
                give(*b, one);
            }
            Expr::Sub(a, b) => {
                give(*a, one);
                give(*b, [-1.0; 2]);
            }
            Expr::Mul(a, b) | Expr::Fma(a, b, _) => {
                if a == b {
                    give(*a, of(*a).map(|end| 2.0 * end));
                } else {
                    give(*a, of(*b));
                    give(*b, of(*a));
                }
                if let Expr::Fma(_, _, c) = node {
                    give(*c, one);
                }
            }
            Expr::Div(a, b) => {
                let inverse = of(*b).map(|end| 1.0 / end);
                let inverse = if get(*b).low > 0.0 || get(*b).high < 0.0 { inverse } else { [f64::NAN; 2] };
                give(*a, hull(inverse));
                let [low, high] = of(id);
                give(*b, hull([low, high].into_iter().flat_map(|value| inverse.map(|inverse| -value * inverse))));
            }
            Expr::Sqrt(a) => match squares(exprs, *a) {
                // The slope of a norm by what is squared is one at most, times the root of the factor; each rounding in the sum is of a part of it.
                Some(Squares { of, roundings }) if 2.0 * get(id).low < get(id).high => {
                    sum += 0.5 * roundings as f64 * once;
                    of.iter().for_each(|(squared, factor)| give(*squared, [-factor.sqrt(), factor.sqrt()]));
                }
                _ => give(*a, of(id).map(|root| if root > 0.0 { 0.5 / root } else { f64::INFINITY })),
            },
            Expr::Call(function, operands) => {
                let ends: Vec<Vec<f64>> = corners(operands, &of);
                // Slopes rise or fall with each operand, where a range is known.
                let found: Vec<Vec<f64>> = ends.iter().map(|ends| function::slopes(*function, ends)).collect();
                for (at, operand) in operands.iter().enumerate() {
                    let mut by = hull(found.iter().map(|slopes| slopes[at]));
                    if *function == Function::Tanh {
                        by = [0.0, 1.0];
                    }
                    give(*operand, by);
                }
            }
            Expr::Select { then, otherwise, .. } => match ranges.answer(id) {
                Some(true) => give(*then, one),
                Some(false) => give(*otherwise, one),
                None => {
                    give(*then, [0.0, 1.0]);
                    give(*otherwise, [0.0, 1.0]);
                }
            },
        }
    }
    sum
}

/// A sum of squares, each with a factor that is not negative.
#[derive(Default)]
struct Squares {
    /// What is squared, and the factor.
    of: Vec<(ExprId, f64)>,
    /// Roundings on the way to the sum, at most.
    roundings: usize,
}

fn squares(exprs: &Exprs, root: ExprId) -> Option<Squares> {
    let mut found = Squares::default();
    let mut open = vec![(root, 1.0)];
    while let Some((id, factor)) = open.pop() {
        let positive = |id: ExprId| exprs.as_const(id).and_then(ToPrimitive::to_f64).filter(|value| *value >= 0.0);
        // An operation and a constant round once each, a sum and a product that are one operation twice.
        found.roundings += 3;
        match *exprs.get(id) {
            Expr::Add(a, b) => open.extend([(a, factor), (b, factor)]),
            Expr::Mul(a, b) | Expr::Fma(a, b, _) => {
                match (positive(a), positive(b)) {
                    _ if a == b => found.of.push((a, factor)),
                    (Some(by), _) => open.push((b, by * factor)),
                    (_, Some(by)) => open.push((a, by * factor)),
                    _ => return None,
                }
                if let Expr::Fma(_, _, c) = *exprs.get(id) {
                    open.push((c, factor));
                }
            }
            _ => return None,
        }
    }
    Some(found)
}

/// All combinations of the ends of operands' ranges.
fn corners(operands: &[ExprId], of: &impl Fn(ExprId) -> [f64; 2]) -> Vec<Vec<f64>> {
    operands.iter().fold(vec![vec![]], |all, operand| {
        all.iter().flat_map(|ends| of(*operand).map(|end| [&ends[..], &[end]].concat())).collect()
    })
}
