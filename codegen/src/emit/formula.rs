//! Expressions and statements of a [`Plan`] as text that C, C++ and CUDA share, or as Rust.
//!
//! The text computes exactly what the expression says, in the same grouping: parentheses appear only where the
//! language needs them, a sum with a negated term is a difference, and a product starts with its constant. A fused
//! multiply-add reads `a * b + c`; the compilers of both targets contract it, that of
//! Rust does not.

use std::collections::{BTreeMap, BTreeSet};

use lbm_bundle::Real;
use lbm_bundle::formula::Function;
use lbm_dsl::expr::{Compare, Expr, ExprId, LevelSymbol, Rational, Symbol};
use num_traits::Signed;

use super::function::library;
use super::number::literal;
use crate::ir::Plan;

/// Longest line of emitted text.
const WIDTH: usize = 118;

/// What reads the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// C, C++ and CUDA.
    C,
    /// Rust.
    Rust,
}

/// How tightly a text binds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Choice,
    Sum,
    Product,
    Atom,
}

/// A magnitude, its sign kept apart.
struct Term {
    negative: bool,
    binding: Binding,
    text: String,
}

impl Term {
    fn new(binding: Binding, text: String) -> Self {
        Self { negative: false, binding, text }
    }

    /// The magnitude, in parentheses unless it binds at least as tightly as `least`.
    fn magnitude(&self, least: Binding) -> String {
        if self.binding >= least { self.text.clone() } else { format!("({})", self.text) }
    }

    /// The whole value as the first operand of something.
    fn first(&self, least: Binding) -> String {
        if self.negative { format!("-{}", self.magnitude(Binding::Product)) } else { self.magnitude(least) }
    }
}

/// Prints the expressions of one plan.
#[derive(Clone)]
pub struct Printer<'a> {
    plan: &'a Plan,
    real: Real,
    language: Language,
    symbols: BTreeMap<Symbol, String>,
    names: BTreeMap<ExprId, &'a str>,
}

impl<'a> Printer<'a> {
    /// A printer for the expressions of `plan` in the type `real`.
    pub fn new(plan: &'a Plan, real: Real, language: Language) -> Self {
        let symbols = plan.dag().symbols().iter().map(|(symbol, name)| (*symbol, name.clone()));
        let mut names = BTreeMap::new();
        for statement in plan.sections().iter().flat_map(|section| &section.statements) {
            names.entry(statement.value).or_insert(statement.name.as_str());
        }
        Self { plan, real, language, symbols: symbols.collect(), names }
    }

    /// Prints the symbol as `text` from now on.
    pub fn spell(&mut self, symbol: Symbol, text: String) {
        self.symbols.insert(symbol, text);
    }

    /// From now on prints values where they are used that the formula of `root` uses once.
    pub fn inline_below(&mut self, root: ExprId) {
        let exprs = self.plan.dag().exprs();
        let mut uses: BTreeMap<ExprId, usize> = BTreeMap::new();
        let mut open = vec![root];
        while let Some(id) = open.pop() {
            for operand in exprs.get(id).operands() {
                let count = uses.entry(operand).or_default();
                *count += 1;
                if *count == 1 {
                    open.push(operand);
                }
            }
        }
        self.names.retain(|id, _| uses.get(id).is_some_and(|count| *count > 1));
    }

    /// The formula of `id`, even if a statement computes it.
    pub fn formula(&self, id: ExprId) -> String {
        self.node(id).first(Binding::Choice)
    }

    /// The value `id` where it is used: its name if a statement computes it, else its formula.
    pub fn operand(&self, id: ExprId) -> String {
        let term = self.term(id);
        term.first(Binding::Choice)
    }

    /// The statement that computes `id` under `name`, in lines: `const float rho = ...;`.
    pub fn statement(&self, name: &str, id: ExprId) -> Vec<String> {
        let term = if self.names.get(&id) == Some(&name) { self.node(id) } else { self.term(id) };
        let head = match self.language {
            Language::C => format!("const {} {name} = ", real_name(self.real)),
            Language::Rust => format!("let {name} = "),
        };
        wrap(&head, &(term.first(Binding::Choice) + ";"))
    }

    /// The statements whose values `root` needs, in order, without that of `root` itself.
    pub fn needs(&self, root: ExprId) -> Vec<ExprId> {
        let mut open = self.plan.dag().exprs().get(root).operands();
        let mut seen = BTreeSet::new();
        while let Some(id) = open.pop() {
            if seen.insert(id) {
                open.extend(self.plan.dag().exprs().get(id).operands());
            }
        }
        seen.into_iter().filter(|id| self.names.contains_key(id)).collect()
    }

    fn term(&self, id: ExprId) -> Term {
        match self.names.get(&id) {
            Some(name) => Term::new(Binding::Atom, name.to_string()),
            None => self.node(id),
        }
    }

    fn node(&self, id: ExprId) -> Term {
        match *self.plan.dag().exprs().get(id) {
            Expr::Const(ref value) => self.constant(value),
            Expr::Symbol(symbol) => Term::new(Binding::Atom, self.symbols[&symbol].to_string()),
            Expr::Neg(a) => match *self.plan.dag().exprs().get(a) {
                Expr::Sub(x, y) if !self.names.contains_key(&a) => sum(self.term(y), self.term(x), true),
                _ => {
                    let term = self.term(a);
                    Term { negative: !term.negative, ..term }
                }
            },
            Expr::Add(a, b) => sum(self.term(a), self.term(b), false),
            Expr::Sub(a, b) => sum(self.term(a), self.term(b), true),
            Expr::Fma(a, b, c) => sum(self.product(a, b), self.term(c), false),
            Expr::Mul(a, b) => self.product(a, b),
            // In 64 bits a GPU divides in many steps.
            Expr::Div(a, b) if self.language == Language::C && self.real == Real::F64 => {
                let text = format!("quotient({}, {})", self.operand(a), self.operand(b));
                Term::new(Binding::Atom, text)
            }
            Expr::Div(a, b) => {
                let (a, b) = (self.term(a), self.term(b));
                let text = format!("{} / {}", a.magnitude(Binding::Product), b.magnitude(Binding::Atom));
                Term { negative: a.negative != b.negative, binding: Binding::Product, text }
            }
            Expr::Again(a) if self.language == Language::C => {
                Term::new(Binding::Atom, format!("again({})", self.operand(a)))
            }
            Expr::Again(a) => self.term(a),
            Expr::Sqrt(a) => {
                let text = self.call(Function::Sqrt, &[a]);
                Term::new(Binding::Atom, text)
            }
            Expr::Call(function, ref operands) => Term::new(Binding::Atom, self.call(function, operands)),
            Expr::Select { compare, left, right, then, otherwise } => {
                let sign = match compare {
                    Compare::Less => "<",
                    Compare::LessEqual => "<=",
                    Compare::Equal => "==",
                };
                // Kinds are integers, and compared as such.
                let counts = |id| {
                    matches!(self.plan.dag().exprs().get(id), Expr::Symbol(Symbol::Level(LevelSymbol::Kind { .. })))
                };
                let side = |id, beside| match self.plan.dag().exprs().as_const(id) {
                    Some(number) if counts(beside) && number.is_integer() => number.to_string(),
                    _ => self.term(id).first(Binding::Sum),
                };
                let (left, right) = (side(left, right), side(right, left));
                let side = |id| self.term(id).first(Binding::Sum);
                let (then, otherwise) = (side(then), side(otherwise));
                let text = match self.language {
                    Language::C => format!("{left} {sign} {right} ? {then} : {otherwise}"),
                    Language::Rust => format!("if {left} {sign} {right} {{ {then} }} else {{ {otherwise} }}"),
                };
                Term::new(Binding::Choice, text)
            }
        }
    }

    /// A function of the mathematical library.
    fn call(&self, function: Function, operands: &[ExprId]) -> String {
        let texts = |operands: &[ExprId]| operands.iter().map(|id| self.operand(*id)).collect::<Vec<_>>().join(", ");
        match self.language {
            Language::C => {
                let suffix = if self.real.computed() == Real::F64 { "" } else { "f" };
                format!("{}{suffix}({})", library(function), texts(operands))
            }
            Language::Rust => {
                let term = self.term(operands[0]);
                let first = if term.negative {
                    format!("({})", term.first(Binding::Choice))
                } else {
                    term.magnitude(Binding::Atom)
                };
                let name = if function == Function::Power { "powf" } else { function.name() };
                format!("{first}.{name}({})", texts(&operands[1..]))
            }
        }
    }

    fn constant(&self, value: &Rational) -> Term {
        let mut text = literal(&value.abs(), self.real);
        if self.language == Language::Rust {
            // The type of a constant follows from what it meets, except where it meets nothing but constants.
            text = format!("{}_{}", text.trim_end_matches('f'), self.real.computed().name());
        }
        Term { negative: value.is_negative(), binding: Binding::Atom, text }
    }

    fn product(&self, a: ExprId, b: ExprId) -> Term {
        let is_const = |id| self.plan.dag().exprs().as_const(id).is_some();
        let (a, b) = if is_const(b) && !is_const(a) { (b, a) } else { (a, b) };
        let (a, b) = (self.term(a), self.term(b));
        // `a * (b * c)` where a is a single value reads `b * c * a`.
        let (a, b) = if a.binding == Binding::Atom
            && b.binding == Binding::Product
            && !b.text.contains('/')
            && !is_literal(&a)
        {
            (b, a)
        } else {
            (a, b)
        };
        let text = format!("{} * {}", a.magnitude(Binding::Product), b.magnitude(Binding::Atom));
        Term { negative: a.negative != b.negative, binding: Binding::Product, text }
    }
}

fn is_literal(term: &Term) -> bool {
    term.text.starts_with(|first: char| first.is_ascii_digit())
}

/// `a + b`, or `a - b` if `minus`. The sum of two values does not depend on their order, so the order that needs no
/// parentheses and no leading sign is printed.
fn sum(a: Term, mut b: Term, minus: bool) -> Term {
    b.negative ^= minus;
    let swap = match (a.negative, b.negative) {
        (true, false) => true,
        (false, true) => false,
        _ => b.binding == Binding::Sum && a.binding > Binding::Sum && !b.negative,
    };
    let (a, b) = if swap { (b, a) } else { (a, b) };
    let sign = if b.negative { '-' } else { '+' };
    let text = format!("{} {sign} {}", a.first(Binding::Sum), b.magnitude(Binding::Product));
    Term::new(Binding::Sum, text)
}

/// `float` or `double`.
pub fn real_name(real: Real) -> &'static str {
    match real.computed() {
        Real::F64 => "double",
        _ => "float",
    }
}

/// `head` and `text` in lines; a line that would be too long breaks before a sum's operator.
pub fn wrap(head: &str, text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = head.to_string();
    let mut word = String::new();
    let indent = "    ";
    let mut place = |line: &mut String, word: &mut String| {
        if line.len() + word.len() > WIDTH - 8 && line.trim() != "" {
            lines.push(line.trim_end().to_string());
            *line = format!("{indent}{}", word.trim_start());
        } else {
            line.push_str(word);
        }
        word.clear();
    };
    let mut rest = text;
    while !rest.is_empty() {
        let next = [" + ", " - ", " ? ", " : "].iter().filter_map(|sign| rest[1..].find(sign)).min();
        let cut = next.map_or(rest.len(), |at| at + 1);
        word.push_str(&rest[..cut]);
        rest = &rest[cut..];
        place(&mut line, &mut word);
    }
    lines.push(line);
    lines
}
