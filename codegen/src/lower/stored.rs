//! Populations as they are stored: each as its difference from the value at rest.
//!
//! In: a [`KernelIr`] of whole populations. Out: one of stored ones. After: what is stored keeps the digits that matter, because the
//! constants have cancelled before anything is rounded: with a density of `1 + d`, `d` is the sum of what is stored.
//!
//! Every value is `r + d`, where `r` is its value at rest, exact and a function of scalar parameters alone, and `d` a formula of
//! differences:
//!
//! | value | `r` | `d` |
//! | --- | --- | --- |
//! | `a + b` | `ra + rb` | `da + db` |
//! | `a * b` | `ra * rb` | `a * db + rb * da` |
//! | `a / b` | `ra / rb` | `(da - r * db) / b` |
//! | `sqrt(a)` | `sqrt(ra)` | `da / (sqrt(a) + r)` |
//!
//! A value that is zero at rest is its own difference. So is one whose value at rest is not known, as that of other functions.

use lbm_dsl::expr::{Exact, Expr, ExprId, Exprs, Number, Pop, Rational, Symbol};
use lbm_dsl::model::{Field, Model, Param, Populations};
use num_traits::{One, Zero};

use crate::ir::{KernelIr, Named, Output};

/// Each population at rest, all sets one after the other: what `init` gives where scalar fields are 1, vectors zero. Where that
/// depends on a parameter, or differs within a shell, it is the weight of the direction.
pub fn rest(model: &Model) -> Vec<Rational> {
    let at_rest = |symbol| match symbol {
        Symbol::Field { field, .. } if is_scalar(&model.fields()[usize::from(field)]) => Some(Rational::one()),
        Symbol::Field { .. } => Some(Rational::zero()),
        Symbol::Param { param, .. } if model.params()[usize::from(param)].components > 1 => Some(Rational::zero()),
        _ => None,
    };
    let started = model.exprs().eval::<Exact>(&model.started().outputs, at_rest);
    let of_set = |set: &Populations| {
        let lattice = &set.lattice;
        let own = &started[set.first..set.first + lattice.q()];
        let shell = |dir| {
            let mut speeds: Vec<i32> = lattice.velocity(dir).iter().map(|c| c.abs()).collect();
            speeds.sort_unstable();
            speeds
        };
        let dirs: Vec<_> = lattice.dirs().collect();
        let alike = dirs.iter().zip(own).all(|(dir, value)| {
            let like = dirs.iter().position(|other| shell(*other) == shell(*dir)).expect("it is one of its own shell");
            value.is_some() && *value == own[like]
        });
        match alike {
            true => own.iter().flatten().cloned().collect::<Vec<_>>(),
            false => dirs.iter().map(|dir| lattice.weight(*dir).clone()).collect(),
        }
    };
    let mut rest: Vec<Rational> = model.populations().iter().flat_map(of_set).collect();
    // A state is stored as it is; what cells show, as its difference from the value at rest, if that is a number.
    rest.resize(model.q(), Rational::zero());
    let shown: Vec<ExprId> = model.shown().iter().map(|shown| shown.value).collect();
    let of_rest = |symbol| match symbol {
        Symbol::Population(pop) if pop.index() < model.moving() => Some(rest[pop.index()].clone()),
        _ => None,
    };
    for (at, value) in model.exprs().eval::<Exact>(&shown, of_rest).into_iter().enumerate() {
        rest[model.row(at).index()] = value.unwrap_or_else(Rational::zero);
    }
    rest
}

/// Whether a field is 1 at rest. What cells keep for a parameter that varies has no value of its own there, and none is taken from it.
fn is_scalar(field: &Field) -> bool {
    field.components.len() == 1 && !field.place
}

/// The same kernel for stored populations, of which `rest` has the values at rest, and behind them those of moments that are stored: its inputs and outputs that are populations go
/// without these. `wall_params` are the parameters of the boundary rule at hand.
pub fn stored(kernel: KernelIr, model: &Model, rest: &[Rational], wall_params: &[Param]) -> KernelIr {
    let mut named = vec![false; kernel.exprs.len()];
    for own in &kernel.lets {
        named[kernel.exprs.core(own.value).index()] = true;
    }
    let mut work = Work { kernel: &kernel, model, rest, wall_params, named, both: vec![false; kernel.exprs.len()] };
    // Once to see of which values both the whole and the difference are needed.
    let (to, values, outputs) = work.differences();
    let needed = to.needed(&outputs);
    let is_needed = |value: &Value| needed[value.whole.index()] && needed[value.apart.index()];
    work.both = values.iter().enumerate().map(|(at, value)| work.named[at] && is_needed(value)).collect();
    let (to, values, outputs) = work.differences();

    let (exprs, new) = to.subgraph(&outputs);
    let mut lets = Vec::new();
    for own in &kernel.lets {
        let value = &values[own.value.index()];
        let apart = (value.apart != value.whole).then(|| Named {
            name: format!("d_{}", own.name.trim_end_matches('_')),
            family: format!("d_{}", own.family),
            value: value.apart,
            ..own.clone()
        });
        let both = apart.into_iter().chain([Named { value: value.whole, ..own.clone() }]);
        let kept = both.filter_map(|own| Some(Named { value: new.get(own.value)?, ..own }));
        lets.extend(kept.filter(|own| !matches!(exprs.get(own.value), Expr::Const(_) | Expr::Symbol(_))));
    }
    let outputs = kernel.outputs.iter().zip(outputs).map(|(own, value)| Output { value: new[value], ..own.clone() });
    KernelIr { lets, outputs: outputs.collect(), exprs, ..kernel }
}

/// An expression: `rest + apart`.
#[derive(Clone)]
struct Value {
    /// All of it.
    whole: ExprId,
    /// Its value at rest.
    rest: ExprId,
    /// That for one choice of the parameters, none of which is special: what is equal there is equal.
    number: Rational,
    /// The difference.
    apart: ExprId,
}

struct Work<'a> {
    kernel: &'a KernelIr,
    model: &'a Model,
    rest: &'a [Rational],
    wall_params: &'a [Param],
    /// For each expression, whether the spec names it, but for sign and a constant factor.
    named: Vec<bool>,
    /// For each expression, whether it is needed both whole and as a difference: then the one is made of the other.
    both: Vec<bool>,
}

impl Work<'_> {
    /// All expressions in terms of what is stored, and the outputs.
    fn differences(&self) -> (Exprs, Vec<Value>, Vec<ExprId>) {
        let mut to = Exprs::new();
        let mut values: Vec<Value> = Vec::with_capacity(self.kernel.exprs.len());
        for (id, node) in self.kernel.exprs.iter() {
            let mut value = self.value(&mut to, node, &values);
            if self.both[id.index()] && to.as_const(value.rest).is_some() {
                value.whole = to.plus(value.rest, value.apart);
            }
            values.push(value);
        }
        let mut outputs = Vec::with_capacity(self.kernel.outputs.len());
        for output in &self.kernel.outputs {
            let value = &values[output.value.index()];
            let less = output.population.map_or_else(Rational::zero, |pop| self.rest[pop.index()].clone());
            outputs.push(if value.number == less {
                value.apart
            } else if less.is_zero() {
                value.whole
            } else {
                let less = to.constant(less);
                let more = to.minus(value.rest, less);
                to.plus(value.apart, more)
            });
        }
        (to, values, outputs)
    }

    /// A node whose operands have these values.
    fn value(&self, to: &mut Exprs, node: &Expr, values: &[Value]) -> Value {
        let at = |id: ExprId| &values[id.index()];
        match *node {
            Expr::Const(ref value) => {
                let rest = to.constant(value.clone());
                fixed(to, rest, value.clone())
            }
            Expr::Symbol(symbol) => self.symbol(to, symbol),
            Expr::Neg(a) => {
                let a = at(a);
                let (whole, rest, apart) = (to.neg(a.whole), to.neg(a.rest), to.neg(a.apart));
                sum(to, whole, rest, -&a.number, apart)
            }
            Expr::Add(a, b) => {
                let (a, b) = (at(a), at(b));
                let (rest, apart) = (to.plus(a.rest, b.rest), to.plus(a.apart, b.apart));
                let whole = to.plus(a.whole, b.whole);
                sum(to, whole, rest, &a.number + &b.number, apart)
            }
            Expr::Sub(a, b) => {
                let (a, b) = (at(a), at(b));
                let (rest, apart) = (to.minus(a.rest, b.rest), to.minus(a.apart, b.apart));
                let whole = to.minus(a.whole, b.whole);
                sum(to, whole, rest, &a.number - &b.number, apart)
            }
            Expr::Mul(a, b) => {
                // What the spec names is taken whole.
                let (a, b) = if self.keeps(b) && !self.keeps(a) { (at(b), at(a)) } else { (at(a), at(b)) };
                let whole = to.times(a.whole, b.whole);
                if a.number.is_zero() || b.number.is_zero() {
                    return unknown(to, whole);
                }
                let (first, second) = (to.times(a.whole, b.apart), to.times(b.rest, a.apart));
                let (rest, apart) = (to.times(a.rest, b.rest), to.plus(first, second));
                Value { whole, rest, number: &a.number * &b.number, apart }
            }
            Expr::Div(a, b) => {
                let (a, b) = (at(a), at(b));
                let whole = to.over(a.whole, b.whole);
                if a.number.is_zero() || b.number.is_zero() {
                    return unknown(to, whole);
                }
                let rest = to.over(a.rest, b.rest);
                let less = to.times(rest, b.apart);
                let apart = to.minus(a.apart, less);
                Value { whole, rest, number: &a.number / &b.number, apart: to.over(apart, b.whole) }
            }
            Expr::Sqrt(a) => {
                let a = at(a);
                let whole = to.add(Expr::Sqrt(a.whole));
                match Some(a.number.clone()).sqrt() {
                    Some(number) if !number.is_zero() && to.as_const(a.rest).is_some() => {
                        let rest = to.constant(number.clone());
                        let both = to.plus(whole, rest);
                        Value { whole, rest, number, apart: to.over(a.apart, both) }
                    }
                    _ => unknown(to, whole),
                }
            }
            Expr::Call(function, ref operands) => {
                let operands = operands.iter().map(|operand| at(*operand).whole).collect();
                let whole = to.add(Expr::Call(function, operands));
                unknown(to, whole)
            }
            Expr::Fma(..) | Expr::Again(_) => unreachable!("specs have neither fused multiply-adds nor phases"),
            Expr::Select { compare, left, right, then, otherwise } => {
                let (left, right, then, otherwise) = (at(left), at(right), at(then), at(otherwise));
                let side = |value: &Value| if left.number == right.number { value.apart } else { value.whole };
                let (left, right) = (side(left), side(right));
                let mut choose = |then, otherwise| to.add(Expr::Select { compare, left, right, then, otherwise });
                if then.number != otherwise.number {
                    let whole = choose(then.whole, otherwise.whole);
                    return unknown(to, whole);
                }
                let (whole, apart) = (choose(then.whole, otherwise.whole), choose(then.apart, otherwise.apart));
                sum(to, whole, then.rest, then.number.clone(), apart)
            }
        }
    }

    /// Whether the spec names a value, but for sign and a constant factor.
    fn keeps(&self, id: ExprId) -> bool {
        self.named[self.kernel.exprs.core(id).index()]
    }

    fn symbol(&self, to: &mut Exprs, symbol: Symbol) -> Value {
        let given = to.symbol(symbol);
        let model = self.model;
        match symbol {
            Symbol::Population(pop) => self.population(to, given, pop),
            Symbol::Moment(number) => self.population(to, given, Pop(model.q() as u16 + number)),
            Symbol::Neighbour { shown, .. } => self.population(to, given, model.row(shown.into())),
            Symbol::Mirrored(dir) | Symbol::Streamed(dir) | Symbol::Inside(dir) | Symbol::Deep(dir) => {
                self.population(to, given, model.populations()[0].pop(dir))
            }
            // A scalar is at rest what it always is, a vector zero.
            Symbol::Param { param, .. } if model.params()[usize::from(param)].components == 1 => {
                fixed(to, given, Rational::new(1_000_003.into(), (611_953 + i64::from(param)).into()))
            }
            Symbol::WallParam { param, .. } if self.wall_params[usize::from(param)].components == 1 => {
                fixed(to, given, Rational::new(2_000_003.into(), (611_953 + i64::from(param)).into()))
            }
            Symbol::Field { field, .. } if is_scalar(&model.fields()[usize::from(field)]) => {
                let one = to.int(1);
                let apart = to.minus(given, one);
                Value { whole: given, rest: one, number: Rational::one(), apart }
            }
            _ => unknown(to, given),
        }
    }

    /// What is stored of a population.
    fn population(&self, to: &mut Exprs, given: ExprId, pop: Pop) -> Value {
        let number = self.rest[pop.index()].clone();
        let rest = to.constant(number.clone());
        let whole = to.plus(rest, given);
        Value { whole, rest, number, apart: given }
    }
}

/// What has a difference. Where its value at rest is a number, it is best made of that.
fn sum(to: &mut Exprs, whole: ExprId, rest: ExprId, number: Rational, apart: ExprId) -> Value {
    let rest = if number.is_zero() { to.int(0) } else { rest };
    let whole = if to.as_const(rest).is_some() { to.plus(rest, apart) } else { whole };
    Value { whole, rest, number, apart }
}

/// What is zero at rest, or not known there.
fn unknown(to: &mut Exprs, whole: ExprId) -> Value {
    Value { whole, rest: to.int(0), number: Rational::zero(), apart: whole }
}

/// What is at rest what it always is; `number` stands for it.
fn fixed(to: &mut Exprs, rest: ExprId, number: Rational) -> Value {
    Value { whole: rest, rest, number, apart: to.int(0) }
}
