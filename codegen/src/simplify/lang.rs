//! Expressions as egg sees them.
//!
//! Leaves are exact constants and numbers of inputs, never `egg::Symbol`, whose order depends on what ran before.

use std::fmt;
use std::str::FromStr;

use egg::{Analysis, DidMerge, EGraph, Id, RecExpr, define_language};
use lbm_dsl::expr::{Compare, Expr, ExprId, Exprs, Number, Rational, Symbol};
use lbm_dsl::function::Function;

/// An exact constant as a leaf.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Constant(pub(super) Rational);

impl fmt::Display for Constant {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(out)
    }
}

impl FromStr for Constant {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        text.parse().map(Constant).map_err(|_| format!("{text} is no rational"))
    }
}

/// An input of the kernel, by number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Input(u32);

impl fmt::Display for Input {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "x{}", self.0)
    }
}

impl FromStr for Input {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let number = text.strip_prefix('x').and_then(|number| number.parse().ok());
        number.map(Input).ok_or_else(|| format!("{text} is no input"))
    }
}

/// A function, as the operation that rules know nothing of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Opaque(Function);

impl fmt::Display for Opaque {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "call-{}", self.0.name())
    }
}

impl FromStr for Opaque {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let named = |function: &&Function| text.strip_prefix("call-") == Some(function.name());
        let function = Function::ALL.iter().find(named);
        function.map(|function| Opaque(*function)).ok_or_else(|| format!("{text} is no function"))
    }
}

define_language! {
    /// The operations of [`Expr`].
    pub(super) enum Math {
        "neg" = Neg([Id; 1]),
        "+" = Add([Id; 2]),
        "-" = Sub([Id; 2]),
        "*" = Mul([Id; 2]),
        "/" = Div([Id; 2]),
        "fma" = Fma([Id; 3]),
        "sqrt" = Sqrt([Id; 1]),
        "less" = Less([Id; 4]),
        "less-equal" = LessEqual([Id; 4]),
        "equal" = Equal([Id; 4]),
        Call(Opaque, Vec<Id>),
        Constant(Constant),
        Input(Input),
    }
}

/// Which classes are constants; those are folded.
#[derive(Clone, Debug, Default)]
pub(super) struct Folding;

impl Analysis<Math> for Folding {
    type Data = Option<Rational>;

    fn make(egraph: &mut EGraph<Math, Self>, node: &Math, _: Id) -> Self::Data {
        let value = |id: &Id| egraph[*id].data.clone();
        match node {
            Math::Constant(Constant(value)) => Some(value.clone()),
            Math::Neg([a]) => value(a).neg(),
            Math::Add([a, b]) => value(a).add(&value(b)),
            Math::Sub([a, b]) => value(a).sub(&value(b)),
            Math::Mul([a, b]) => value(a).mul(&value(b)),
            Math::Div([a, b]) => value(a).div(&value(b)),
            Math::Fma([a, b, c]) => value(a).fma(&value(b), &value(c)),
            _ => None,
        }
    }

    fn merge(&mut self, to: &mut Self::Data, from: Self::Data) -> DidMerge {
        egg::merge_option(to, from, |_, _| DidMerge(false, false))
    }

    fn modify(egraph: &mut EGraph<Math, Self>, id: Id) {
        if let Some(value) = egraph[id].data.clone() {
            let constant = egraph.add(Math::Constant(Constant(value)));
            egraph.union(id, constant);
        }
    }
}

/// Expressions for egg, where each of them is, and the inputs by number.
pub(super) fn to_egg(exprs: &Exprs) -> (RecExpr<Math>, Vec<Symbol>) {
    let mut out = RecExpr::default();
    let mut inputs = Vec::new();
    for (_, node) in exprs.iter() {
        let at = |id: ExprId| Id::from(id.index());
        let node = match node {
            Expr::Const(value) => Math::Constant(Constant(value.clone())),
            Expr::Symbol(symbol) => {
                inputs.push(*symbol);
                Math::Input(Input(inputs.len() as u32 - 1))
            }
            Expr::Neg(a) => Math::Neg([at(*a)]),
            Expr::Add(a, b) => Math::Add([at(*a), at(*b)]),
            Expr::Sub(a, b) => Math::Sub([at(*a), at(*b)]),
            Expr::Mul(a, b) => Math::Mul([at(*a), at(*b)]),
            Expr::Div(a, b) => Math::Div([at(*a), at(*b)]),
            Expr::Again(_) => unreachable!("phases are simplified one by one"),
            Expr::Sqrt(a) => Math::Sqrt([at(*a)]),
            Expr::Call(function, operands) => {
                Math::Call(Opaque(*function), operands.iter().map(|operand| at(*operand)).collect())
            }
            Expr::Fma(a, b, c) => Math::Fma([at(*a), at(*b), at(*c)]),
            Expr::Select { compare, left, right, then, otherwise } => {
                let sides = [at(*left), at(*right), at(*then), at(*otherwise)];
                match compare {
                    Compare::Less => Math::Less(sides),
                    Compare::LessEqual => Math::LessEqual(sides),
                    Compare::Equal => Math::Equal(sides),
                }
            }
        };
        out.add(node);
    }
    (out, inputs)
}

/// One node from egg, its operands already translated.
pub(super) fn from_egg(node: &Math, inputs: &[Symbol], mut at: impl FnMut(Id) -> ExprId) -> Expr {
    let mut select = |compare, [left, right, then, otherwise]: [Id; 4]| Expr::Select {
        compare,
        left: at(left),
        right: at(right),
        then: at(then),
        otherwise: at(otherwise),
    };
    match node {
        Math::Less(sides) => return select(Compare::Less, *sides),
        Math::LessEqual(sides) => return select(Compare::LessEqual, *sides),
        Math::Equal(sides) => return select(Compare::Equal, *sides),
        _ => {}
    }
    match node {
        Math::Neg([a]) => Expr::Neg(at(*a)),
        Math::Add([a, b]) => Expr::Add(at(*a), at(*b)),
        Math::Sub([a, b]) => Expr::Sub(at(*a), at(*b)),
        Math::Mul([a, b]) => Expr::Mul(at(*a), at(*b)),
        Math::Div([a, b]) => Expr::Div(at(*a), at(*b)),
        Math::Sqrt([a]) => Expr::Sqrt(at(*a)),
        Math::Call(Opaque(function), operands) => {
            Expr::Call(*function, operands.iter().map(|operand| at(*operand)).collect())
        }
        Math::Fma([a, b, c]) => Expr::Fma(at(*a), at(*b), at(*c)),
        Math::Input(Input(number)) => Expr::Symbol(inputs[*number as usize]),
        Math::Constant(Constant(value)) => Expr::Const(value.clone()),
        Math::Less(_) | Math::LessEqual(_) | Math::Equal(_) => unreachable!("handled above"),
    }
}
