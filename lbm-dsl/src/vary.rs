//! Parameters that a case makes vary, as statements of the text.
//!
//! In: a tree and [`Variation`]s. After: such a parameter is a value of the spec, as if its text had computed it from fields, from numbers
//! that cells keep, and from other parameters. For `drag = drag_unit * (drag_place_0 * rho)` the statement `param drag: 1 / time;` becomes
//!
//! ```text
//! param drag_unit: 1 / time;
//! place drag_place_0;                              // a state that stays as it is, and a field that gives it
//! let   drag = drag_unit * (drag_place_0 * rho);   // above what uses it first
//! observe drag: 1 / time;
//! ```
//!
//! Of the rate that sets the viscosity the formula is that of the viscosity.

use std::collections::BTreeSet;

use lbm_bundle::Formula;
use lbm_bundle::formula::Function;
use lbm_bundle::variation::{VISCOSITY, Variation};
use num_rational::BigRational;
use num_traits::{One, Pow, Zero};

use crate::ast::{Absorbing, Assign, Ast, Binary, Block, Expr, ExprKind, Item, Let, Name, ObserveDef, ParamDef, Unary};
use crate::expr::Rational;
use crate::source::Span;
use crate::unit::Unit;

/// Unit of a kinematic viscosity.
const OF_VISCOSITY: Unit = Unit { length: 2, time: -1 };

impl Ast {
    /// Makes a parameter vary; nothing for one that the text does not have.
    pub fn vary(&mut self, variation: &Variation) {
        let is_it = |item: &Item| matches!(item, Item::Param(def) if def.name.text == variation.param);
        let Some(at) = self.items.iter().position(is_it) else { return };
        let Item::Param(def) = self.items.remove(at) else { return };
        let unit = if variation.viscosity { Some(OF_VISCOSITY) } else { def.unit };
        let given = |text: &String, unit: Unit| {
            let name = Name { text: text.clone(), span: def.name.span };
            let doc = format!("of `{}`, which varies", def.name.text);
            Item::Param(ParamDef { name, indices: vec![], default: None, range: None, unit: Some(unit), doc })
        };
        let of_unit = variation.unit.iter().map(|name| given(name, unit.unwrap_or_default()));
        let numbers = variation.numbers.iter().map(|name| given(name, Unit::default()));
        let places = variation.places.iter().map(|name| Item::Place(named(name, def.name.span)));
        let made: Vec<Item> = of_unit.chain(numbers).chain(places).collect();
        let behind = at + made.len();
        self.items.splice(at..at, made);

        let first = self.first_use(&def.name.text).unwrap_or(self.items.len()).max(behind);
        let above = self.raise(first, &self.needed(&read(&variation.formulas)));
        let (values, observed) = defined(variation, &def, &self.vectors());
        self.items.splice(above..above, values.into_iter().map(Item::Varied));
        let known =
            |name: &str| self.items.iter().any(|item| matches!(item, Item::Observe(def) if def.name.text == name));
        if !known(&observed) {
            let name = named(&observed, def.name.span);
            self.items.push(Item::Observe(ObserveDef { name, unit, value: None, doc: def.doc }));
        }
    }

    /// A field that a formula of the variation reads and that is itself computed with the parameter, if there is one.
    pub fn circular(&self, variation: &Variation) -> Option<String> {
        let read = read(&variation.formulas);
        read.into_iter().find(|field| self.needed(&BTreeSet::from([field.clone()])).contains(&variation.param))
    }

    /// Names of the fields that are vectors.
    fn vectors(&self) -> BTreeSet<String> {
        let is_field =
            |name: &str| self.items.iter().any(|item| matches!(item, Item::Field(field) if field.text == name));
        let vectors = self.items.iter().filter_map(|item| match item {
            Item::Let(Let { name, indices, .. }) if !indices.is_empty() && is_field(&name.text) => Some(&name.text),
            _ => None,
        });
        vectors.cloned().collect()
    }

    /// The statement that reads a name first.
    fn first_use(&self, name: &str) -> Option<usize> {
        self.items.iter().position(|item| names_in(item).contains(name))
    }

    /// These names, and all that the values of the text read which have them.
    fn needed(&self, names: &BTreeSet<String>) -> BTreeSet<String> {
        let (mut needed, mut next) = (BTreeSet::new(), names.iter().cloned().collect::<Vec<_>>());
        while let Some(name) = next.pop() {
            if needed.insert(name.clone()) {
                let of = self.items.iter().filter(|item| matches!(item, Item::Let(def) if def.name.text == name));
                next.extend(of.flat_map(names_in));
            }
        }
        needed
    }

    /// Moves the values of these names above a statement, in their order; says where that is then.
    fn raise(&mut self, statement: usize, names: &BTreeSet<String>) -> usize {
        let is_one = |item: &Item| matches!(item, Item::Let(def) if names.contains(&def.name.text));
        let (raised, rest): (Vec<Item>, Vec<Item>) = self.items.drain(statement..).partition(is_one);
        self.items.extend(raised);
        let above = self.items.len();
        self.items.extend(rest);
        above
    }
}

/// What the parameter is, and the name by which output has it.
fn defined(variation: &Variation, def: &ParamDef, vectors: &BTreeSet<String>) -> (Vec<Let>, String) {
    let span = def.name.span;
    let formulas = variation.formulas.iter().map(|formula| expr(formula, vectors, span));
    let value = match def.indices.first() {
        None => formulas.into_iter().next(),
        Some(binder) => formulas.enumerate().collect::<Vec<_>>().into_iter().rev().fold(None, |rest, (axis, value)| {
            let Some(rest) = rest else { return Some(value) };
            let is_axis = binary(Binary::Equal, name(&binder.name.text, span), number(axis as i64, span), span);
            Some(Expr { kind: ExprKind::If(Box::new(is_axis), Box::new(value), Box::new(rest)), span })
        }),
    };
    let value = value.unwrap_or_else(|| number(0, span));
    let value = match &variation.unit {
        Some(unit) => binary(Binary::Mul, name(unit, span), value, span),
        None => value,
    };
    if !variation.viscosity {
        let own = Let { name: def.name.clone(), indices: def.indices.clone(), value };
        return (vec![own], def.name.text.clone());
    }
    let viscosity = Let { name: named(VISCOSITY, span), indices: vec![], value };
    let cs2 = Expr { kind: ExprKind::Cs2(named("f", span)), span };
    let time = binary(Binary::Div, name(VISCOSITY, span), cs2, span);
    let half = binary(Binary::Div, number(1, span), number(2, span), span);
    let time = binary(Binary::Add, time, half, span);
    let rate = Let { name: def.name.clone(), indices: vec![], value: binary(Binary::Div, number(1, span), time, span) };
    (vec![viscosity, rate], VISCOSITY.into())
}

/// Names of the fields that formulas may read: `u` for `ux`. What is no field does no harm.
fn read(formulas: &[Formula]) -> BTreeSet<String> {
    let names = formulas.iter().flat_map(Formula::names);
    names.flat_map(|name| [Some(name), component(name).map(|(vector, _)| vector)]).flatten().map(String::from).collect()
}

/// The vector and the axis of `ux`.
fn component(name: &str) -> Option<(&str, usize)> {
    let (at, axis) = name.char_indices().next_back()?;
    let axis = ['x', 'y', 'z'].iter().position(|known| *known == axis)?;
    Some((&name[..at], axis)).filter(|(vector, _)| !vector.is_empty())
}

/// Names that a statement reads of those that the statements above it define.
fn names_in(item: &Item) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut add = |expr: &Expr| {
        expr.visit(&mut |part| {
            if let ExprKind::Name { name, .. } = &part.kind {
                found.insert(name.text.clone());
            }
        });
    };
    let mut add_block = |Block { lets, assigns, .. }: &Block| {
        lets.iter().for_each(|item| add(&item.value));
        assigns.iter().for_each(|Assign { filter, value, .. }| filter.iter().chain([value]).for_each(&mut add));
    };
    match item {
        Item::Let(def) | Item::Varied(def) | Item::Observe(ObserveDef { value: Some(def), .. }) => add(&def.value),
        Item::Init(block) | Item::Collide(block) => add_block(block),
        Item::Absorbing(Absorbing { rate, .. }) => {
            found.insert(rate.text.clone());
        }
        _ => {}
    }
    found
}

fn named(text: &str, span: Span) -> Name {
    Name { text: text.into(), span }
}

fn name(text: &str, span: Span) -> Expr {
    Expr { kind: ExprKind::Name { name: named(text, span), indices: vec![], args: None }, span }
}

fn number(value: i64, span: Span) -> Expr {
    Expr { kind: ExprKind::Number(Rational::from_integer(value.into())), span }
}

fn binary(operator: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    Expr { kind: ExprKind::Binary(operator, Box::new(left), Box::new(right)), span }
}

/// A formula of a case as one of the text, which has these vectors among its fields. Tables and noise are no functions of the text: here they
/// are what they are read at.
fn expr(formula: &Formula, vectors: &BTreeSet<String>, span: Span) -> Expr {
    let of = |kind| Expr { kind, span };
    match formula {
        Formula::Number(value) => of(ExprKind::Number(decimal(*value))),
        Formula::Name(text) => match component(text) {
            Some((vector, axis)) if vectors.contains(vector) => {
                let indices = vec![number(axis as i64, span)];
                of(ExprKind::Name { name: named(vector, span), indices, args: None })
            }
            _ => name(text, span),
        },
        Formula::Apply(function, operands) => {
            let parts: Vec<Expr> = operands.iter().map(|operand| expr(operand, vectors, span)).collect();
            match (function, compared(*function), &parts[..]) {
                (_, Some(_), [..]) => {
                    let [yes, no] = [1, 0].map(|value| Box::new(number(value, span)));
                    of(ExprKind::If(Box::new(condition(formula, vectors, span)), yes, no))
                }
                (Function::If, _, [_, then, otherwise]) => {
                    let condition = Box::new(condition(&operands[0], vectors, span));
                    of(ExprKind::If(condition, Box::new(then.clone()), Box::new(otherwise.clone())))
                }
                (Function::Negate, _, [a]) => of(ExprKind::Unary(Unary::Minus, Box::new(a.clone()))),
                (_, _, [a, b]) if infix(*function).is_some() => {
                    binary(infix(*function).unwrap_or(Binary::Add), a.clone(), b.clone(), span)
                }
                _ => of(ExprKind::Name { name: named(function.name(), span), indices: vec![], args: Some(parts) }),
            }
        }
        Formula::Table(_, at) => expr(at, vectors, span),
        Formula::Noise(_, point) | Formula::Recorded(_, point) => {
            let [x, y, z] = point.each_ref().map(|at| expr(at, vectors, span));
            binary(Binary::Add, binary(Binary::Add, x, y, span), z, span)
        }
    }
}

/// Whether a formula is not 0.
fn condition(formula: &Formula, vectors: &BTreeSet<String>, span: Span) -> Expr {
    if let Formula::Apply(function, operands) = formula
        && let (Some(operator), [a, b]) = (compared(*function), &operands[..])
    {
        return binary(operator, expr(a, vectors, span), expr(b, vectors, span), span);
    }
    binary(Binary::NotEqual, expr(formula, vectors, span), number(0, span), span)
}

fn compared(function: Function) -> Option<Binary> {
    Some(match function {
        Function::Less => Binary::Less,
        Function::LessEqual => Binary::LessEqual,
        Function::Greater => Binary::Greater,
        Function::GreaterEqual => Binary::GreaterEqual,
        Function::Equal => Binary::Equal,
        Function::NotEqual => Binary::NotEqual,
        _ => return None,
    })
}

fn infix(function: Function) -> Option<Binary> {
    Some(match function {
        Function::Add => Binary::Add,
        Function::Subtract => Binary::Sub,
        Function::Multiply => Binary::Mul,
        Function::Divide => Binary::Div,
        Function::Power => Binary::Power,
        _ => return None,
    })
}

/// The shortest decimal number that is read as this one, exactly.
fn decimal(value: f64) -> Rational {
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let exponent = exponent.parse::<i32>().unwrap_or(0) - part.len() as i32;
    let digits = format!("{whole}{part}").parse().unwrap_or_else(|_| Zero::zero());
    let ten = Rational::from_integer(10.into());
    BigRational::new(digits, One::one()) * Pow::pow(ten, exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_is_written() {
        for (value, expected) in [(0.1, (1, 10)), (12.5, (25, 2)), (3e-4, (3, 10_000)), (0.0, (0, 1)), (7e3, (7000, 1))]
        {
            let (above, below): (i64, i64) = expected;
            assert_eq!(decimal(value), Rational::new(above.into(), below.into()), "{value}");
        }
    }
}
