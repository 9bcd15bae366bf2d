//! Formulas as LaTeX.
//!
//! In: a formula, and which names are vectors. After: text for a mathematical environment, with balanced braces and delimiters, in ASCII.
//! Parentheses are those that the precedence of operators needs, not those that were written.

use num_traits::{One, ToPrimitive};

use super::name::{Symbol, written};
use crate::ast::{Binary, Binder, Expr, ExprKind, Fold, Range, Unary};
use crate::expr::Rational;

/// How tightly a formula binds, the loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bond {
    /// A choice, whose last line has no end.
    Choice,
    Or,
    And,
    Not,
    Comparison,
    Sum,
    /// A sum over indices, which takes in the factors behind it.
    Fold,
    Product,
    /// What carries a superscript or arguments.
    Power,
    Atom,
}

/// What is known where a formula stands.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Names that are vectors where they stand without an index.
    pub vectors: Vec<String>,
    /// Index variables.
    pub bound: Vec<String>,
}

impl Scope {
    /// The same with these index variables.
    pub fn with(&self, binders: &[Binder]) -> Scope {
        let mut scope = self.clone();
        scope.bound.extend(binders.iter().map(|binder| binder.name.text.clone()));
        scope
    }

    /// A formula by itself.
    pub fn formula(&self, expr: &Expr) -> String {
        self.bonded(expr).0
    }

    /// The terms of a sum, each with its sign.
    pub fn terms(&self, expr: &Expr) -> Vec<(bool, String)> {
        match &expr.kind {
            ExprKind::Binary(sign @ (Binary::Add | Binary::Sub), left, right) => {
                let mut terms = self.terms(left);
                terms.push((*sign == Binary::Sub, self.within(right, Bond::Fold)));
                terms
            }
            ExprKind::Unary(Unary::Minus, inner) => vec![(true, self.within(inner, Bond::Fold))],
            _ => vec![(false, self.formula(expr))],
        }
    }

    /// A name with indices: `f_{i}`.
    pub fn indexed(&self, name: &str, indices: &[Expr]) -> String {
        self.symbol(name, indices).text()
    }

    /// An index variable.
    pub fn index(&self, name: &str) -> String {
        match name {
            "a" => "\\alpha".into(),
            "b" => "\\beta".into(),
            "g" => "\\gamma".into(),
            _ => written(name).text(),
        }
    }

    /// What a variable runs over, if that is whole numbers: `x \in \{0, \dots, 2\}`.
    pub fn range(&self, binder: &Binder) -> Option<String> {
        let Range::Whole { .. } = &binder.range else { return None };
        let (low, high) = self.ends(binder)?;
        Some(format!("{} \\in \\{{{low}, \\dots, {high}\\}}", self.index(&binder.name.text)))
    }

    /// The first and the last value of a variable that runs over whole numbers.
    fn ends(&self, binder: &Binder) -> Option<(String, String)> {
        let Range::Whole { low, high, inclusive } = &binder.range else { return None };
        let last = match &high.kind {
            _ if *inclusive => self.formula(high),
            ExprKind::Number(number) => (number - Rational::one()).to_string(),
            _ => format!("{} - 1", self.within(high, Bond::Sum)),
        };
        Some((self.formula(low), last))
    }

    /// A formula in parentheses where it binds less tightly.
    fn within(&self, expr: &Expr, least: Bond) -> String {
        bracketed(self.bonded(expr), least)
    }

    fn bonded(&self, expr: &Expr) -> (String, Bond) {
        match &expr.kind {
            ExprKind::Number(number) => (decimal(number), Bond::Atom),
            ExprKind::Cs2(set) => (format!("c_{{s, {}}}^{{2}}", written(&set.text).text()), Bond::Power),
            ExprKind::Vector(parts) => (format!("\\left({}\\right)", self.list(parts)), Bond::Atom),
            ExprKind::Name { name, indices, args: None } => self.name(&name.text, indices),
            ExprKind::Name { name, indices, args: Some(args) } => self.call(&name.text, indices, args),
            ExprKind::Unary(Unary::Minus, inner) => (format!("-{}", self.within(inner, Bond::Fold)), Bond::Sum),
            ExprKind::Unary(Unary::Not, inner) => (format!("\\lnot {}", self.within(inner, Bond::Not)), Bond::Not),
            ExprKind::Binary(operator, left, right) => self.binary(*operator, left, right),
            ExprKind::Fold { fold, binders, filter, body } => {
                let scope = self.with(binders);
                let sign = if *fold == Fold::Sum { "\\sum" } else { "\\prod" };
                let body = scope.within(body, Bond::Fold);
                (format!("{} {body}", scope.over(sign, binders, filter.as_deref())), Bond::Fold)
            }
            ExprKind::If(..) => (self.choice(expr), Bond::Choice),
        }
    }

    fn name(&self, name: &str, indices: &[Expr]) -> (String, Bond) {
        match (name, indices) {
            ("cs2", []) => ("c_s^{2}".into(), Bond::Power),
            ("dim", []) => ("D".into(), Bond::Atom),
            (_, []) if self.bound.iter().any(|bound| bound == name) => (self.index(name), Bond::Atom),
            (_, []) if self.vectors.iter().any(|vector| vector == name) => (bold(&written(name)), Bond::Atom),
            ("c", [direction]) => (format!("\\mathbf{{c}}_{{{}}}", self.formula(direction)), Bond::Atom),
            _ => {
                let symbol = self.symbol(name, indices);
                (symbol.text(), if symbol.above.is_empty() { Bond::Atom } else { Bond::Power })
            }
        }
    }

    fn symbol(&self, name: &str, indices: &[Expr]) -> Symbol {
        let mut symbol = written(name);
        let texts: Vec<String> = indices.iter().map(|index| self.formula(index)).collect();
        let is_plain = |index: &Expr| matches!(&index.kind, ExprKind::Name { args: None, .. });
        let between = if indices.iter().all(is_plain) { " " } else { ", " };
        if !texts.is_empty() {
            symbol.below.push(texts.join(between));
        }
        symbol
    }

    fn list(&self, parts: &[Expr]) -> String {
        parts.iter().map(|part| self.formula(part)).collect::<Vec<_>>().join(", ")
    }

    fn call(&self, name: &str, indices: &[Expr], args: &[Expr]) -> (String, Bond) {
        let plain = |function: &str| (format!("{function}\\left({}\\right)", self.list(args)), Bond::Power);
        match (name, indices, args) {
            ("dot", [], [one, other]) => {
                let [one, other] = [one, other].map(|vector| self.within(vector, Bond::Power));
                (format!("{one} \\cdot {other}"), Bond::Product)
            }
            ("delta", [], _) => (format!("\\delta_{{{}}}", self.list(args)), Bond::Atom),
            ("opp", [], [direction]) => (format!("\\bar{{{}}}", self.formula(direction)), Bond::Atom),
            ("sqrt", [], [value]) => (format!("\\sqrt{{{}}}", self.formula(value)), Bond::Atom),
            ("abs", [], [value]) => (format!("\\left|{}\\right|", self.formula(value)), Bond::Atom),
            ("exp" | "ln" | "sin" | "cos" | "tan" | "sinh" | "cosh" | "tanh" | "min" | "max", [], _) => {
                plain(&format!("\\{name}"))
            }
            ("asin" | "acos" | "atan", [], _) => plain(&format!("\\arc{}", &name[1..])),
            ("log10", [], _) => plain("\\log_{10}"),
            ("neighbour", [direction], [value]) => {
                let place = format!("\\mathbf{{x}} + \\mathbf{{c}}_{{{}}}", self.formula(direction));
                (format!("\\left.{}\\right|_{{{place}}}", self.within(value, Bond::Product)), Bond::Power)
            }
            ("gradient", [axis], [value]) => {
                let axis = self.formula(axis);
                (format!("\\partial_{{{axis}}} {}", self.within(value, Bond::Power)), Bond::Product)
            }
            ("laplacian", [], [value]) => (format!("\\nabla^{{2}} {}", self.within(value, Bond::Power)), Bond::Product),
            _ => plain(&self.indexed(name, indices)),
        }
    }

    fn binary(&self, operator: Binary, left: &Expr, right: &Expr) -> (String, Bond) {
        let infix = |sign: &str, bond: Bond, of_right: Bond| {
            (format!("{} {sign} {}", self.within(left, bond), self.within(right, of_right)), bond)
        };
        let compared = |sign: &str| infix(sign, Bond::Comparison, Bond::Sum);
        match operator {
            Binary::Or => infix("\\lor", Bond::Or, Bond::And),
            Binary::And => infix("\\land", Bond::And, Bond::Not),
            Binary::Equal => compared("="),
            Binary::NotEqual => compared("\\neq"),
            Binary::Less => compared("<"),
            Binary::LessEqual => compared("\\le"),
            Binary::Greater => compared(">"),
            Binary::GreaterEqual => compared("\\ge"),
            Binary::Add => infix("+", Bond::Sum, Bond::Fold),
            Binary::Sub => infix("-", Bond::Sum, Bond::Fold),
            Binary::Mul => {
                let (left, right) = (self.within(left, Bond::Product), self.bonded(right));
                // A sum over indices at the end takes in what follows.
                let bond = if right.1 == Bond::Fold { Bond::Fold } else { Bond::Product };
                let right = bracketed(right, Bond::Fold);
                let sign = if right.starts_with(|first: char| first.is_ascii_digit()) { "\\cdot" } else { "\\," };
                (format!("{left} {sign} {right}"), bond)
            }
            Binary::Div => (format!("\\frac{{{}}}{{{}}}", self.formula(left), self.formula(right)), Bond::Power),
            Binary::Power => {
                let exponent = match (&left.kind, &right.kind) {
                    (ExprKind::Name { name, .. }, ExprKind::Number(power))
                        if name.text == "cs2" && power.is_integer() =>
                    {
                        return (format!("c_s^{{{}}}", power.numer() * 2), Bond::Power);
                    }
                    _ => self.formula(right),
                };
                (format!("{}^{{{exponent}}}", self.within(left, Bond::Atom)), Bond::Power)
            }
        }
    }

    /// The sign of a sum or product over variables, of those where the condition holds.
    fn over(&self, sign: &str, binders: &[Binder], filter: Option<&Expr>) -> String {
        let variable = |binder: &Binder| match &binder.range {
            Range::DirectionsOf(set) => format!("{} \\in {}", self.index(&binder.name.text), written(&set.text).text()),
            _ => self.range(binder).unwrap_or_else(|| self.index(&binder.name.text)),
        };
        let all = || binders.iter().map(variable).collect::<Vec<_>>().join(", ");
        let ends: Option<Vec<_>> = binders.iter().map(|binder| Some((binder, self.ends(binder)?))).collect();
        match (filter, ends) {
            (Some(filter), _) => format!("{sign}_{{\\substack{{{} \\\\ {}}}}}", all(), self.formula(filter)),
            (None, Some(ends)) => {
                let one = |(binder, (low, high)): (&Binder, (String, String))| {
                    format!("{sign}_{{{} = {low}}}^{{{high}}}", self.index(&binder.name.text))
                };
                ends.into_iter().map(one).collect::<Vec<_>>().join(" ")
            }
            (None, None) => format!("{sign}_{{{}}}", all()),
        }
    }

    /// A choice, and those in its last branch, as cases.
    fn choice(&self, expr: &Expr) -> String {
        let (mut lines, mut rest) = (vec![], expr);
        while let ExprKind::If(condition, then, otherwise) = &rest.kind {
            lines.push(format!("{} & \\text{{if }} {}", self.formula(then), self.formula(condition)));
            rest = otherwise;
        }
        lines.push(format!("{} & \\text{{otherwise}}", self.formula(rest)));
        format!("\\begin{{cases}} {} \\end{{cases}}", lines.join(" \\\\ "))
    }
}

/// A formula that binds so tightly, in parentheses where that is less than is due.
fn bracketed((text, bond): (String, Bond), least: Bond) -> String {
    if bond < least { format!("\\left({text}\\right)") } else { text }
}

/// A vector without an index.
fn bold(symbol: &Symbol) -> String {
    let base = if symbol.base.starts_with("\\mathrm") {
        symbol.base.replacen("rm", "bf", 1)
    } else {
        format!("\\mathbf{{{}}}", symbol.base)
    };
    Symbol { base, ..symbol.clone() }.text()
}

/// A number as it is written.
fn decimal(number: &Rational) -> String {
    match number.to_f64() {
        Some(value) if !number.is_integer() => value.to_string(),
        _ => number.to_string(),
    }
}
