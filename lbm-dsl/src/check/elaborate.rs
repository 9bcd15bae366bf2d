//! Formulas to nodes: indices expanded, functions inlined, constant conditions decided.
//!
//! In: trees whose names are known to be visible. After: a [`Value`], or [`Poisoned`] with the reason in the report. A branch
//! that a constant condition does not choose is not looked at.

use num_traits::{Signed, ToPrimitive, Zero};

use crate::ast::{Binary, Binder, Expr, ExprKind, Fold, Name, Range, StencilDef, Unary};
use crate::check::arith;
use crate::check::program::{ModuleId, Program};
use crate::check::value::{Condition, Dim, Direction, Dirs, LatticeId, Tensor, Value};
use crate::diag::{Code, Diagnostic, Report};
use crate::expr::{Compare, ExprId, Exprs, Rational, Symbol};
use crate::function::Function;
use crate::lattice::{Dir, Lattice};
use crate::model::levels::Stencil;
use crate::model::{Field, Populations};
use crate::source::{Source, Span};

/// Most nodes of the graph.
const MAX_NODES: usize = 200_000;
/// Most formulas looked at.
const MAX_STEPS: usize = 4_000_000;
/// Most values of an index.
const MAX_RANGE: i64 = 4096;
/// Most components of a family.
const MAX_FAMILY: usize = 20_000;
/// Largest exponent.
const MAX_EXPONENT: i64 = 64;
/// Most bits of a constant.
const MAX_BITS: u64 = 8192;
/// Deepest nesting, functions included.
const MAX_DEPTH: usize = 400;

/// The value could not be found; the report says why.
#[derive(Clone, Copy, Debug)]
pub struct Poisoned;

pub type Eval<T> = Result<T, Poisoned>;

/// The children of one cell, or the packets of one of its populations: all have the same names with values of their own.
#[derive(Clone, Debug)]
pub struct Siblings {
    /// For each child position, the visible names.
    pub scopes: Vec<Vec<(String, Value)>>,
    /// The same names for a child of which nothing is known.
    pub any: Vec<(String, Value)>,
}

/// The state of an expansion.
pub struct Elaborator<'a> {
    /// Where functions are found.
    pub program: &'a Program,
    /// Where directions come from.
    pub populations: &'a [Populations],
    /// The velocity set that a function is called for. Elsewhere none, and directions are those of the first populations.
    pub called_for: Option<LatticeId>,
    /// Where nodes go.
    pub exprs: Exprs,
    /// Where faults go.
    pub report: Report,
    /// The module whose text is expanded.
    pub module: ModuleId,
    /// Visible names, the innermost last.
    pub scope: Vec<(String, Value)>,
    /// In a coupling, where a formula is one for each child position, the names that each of them sees.
    pub siblings: Option<Siblings>,
    /// Whether stencils may be applied to populations: in a coupling.
    pub slopes: bool,
    /// The stencils of the method.
    pub stencils: Vec<Stencil>,
    /// Positions in that list by definition, of those that were applied.
    pub applied: Vec<(&'a StencilDef, usize)>,
    /// In a node rule, how many walls meet: the first axes are their inward normals, whatever axes these are in space.
    pub normals: Option<usize>,
    /// Whether the text is that of a criterion, which may take gradients of fields.
    pub criterion: bool,
    /// Whether the text may read values of the cells around one: in values of the spec and in collisions.
    pub looks_around: bool,
    /// Values that cells show to those around them, in the order in which the text reads them.
    pub shown: Vec<ExprId>,
    steps: usize,
    depth: usize,
}

impl<'a> Elaborator<'a> {
    /// Nothing expanded yet.
    pub fn new(program: &'a Program, populations: &'a [Populations]) -> Self {
        Self {
            program,
            populations,
            called_for: None,
            exprs: Exprs::new(),
            report: Report::new(),
            module: ModuleId::SPEC,
            scope: Vec::new(),
            siblings: None,
            slopes: false,
            stencils: Vec::new(),
            applied: Vec::new(),
            normals: None,
            criterion: false,
            looks_around: false,
            shown: Vec::new(),
            steps: 0,
            depth: 0,
        }
    }

    /// The components of the field of that position as a formula is given them.
    pub(super) fn field(&mut self, at: usize, field: &Field) -> Value {
        let count = field.components.len() as u8;
        let symbol = |component| self.exprs.symbol(Symbol::Field { field: at as u16, component });
        let data: Vec<ExprId> = (0..count).map(symbol).collect();
        match data[..] {
            [component] => Value::Number(component),
            _ => Value::Tensor(Tensor { dims: vec![Dim::Axes(count.into())], data: data.into() }),
        }
    }

    /// A velocity set.
    pub fn lattice(&self, id: LatticeId) -> &'a Lattice {
        &self.populations[id.0].lattice
    }

    /// The velocity set whose directions an index without a range runs over.
    pub fn here(&self) -> LatticeId {
        self.called_for.unwrap_or(LatticeId(0))
    }

    /// Number of axes.
    pub fn axes(&self) -> usize {
        self.populations[0].lattice.dim()
    }

    /// The populations of that name.
    pub fn set(&mut self, name: &Name) -> Eval<&'a Populations> {
        match self.populations.iter().find(|set| set.name == name.text) {
            Some(set) => Ok(set),
            None => self.fault(Code::Undefined, name.span, format!("there are no populations `{}` here", name.text)),
        }
    }

    /// The velocity set of some populations; sets on equal ones share it.
    pub fn lattice_of(&self, populations: &Populations) -> LatticeId {
        let same = |other: &Populations| other.lattice == populations.lattice;
        LatticeId(self.populations.iter().position(same).unwrap_or(0))
    }

    /// What an index over the directions of a velocity set runs over.
    pub fn dirs(&self, lattice: LatticeId) -> Dim {
        Dim::Dirs(Dirs { lattice, count: self.lattice(lattice).q() })
    }

    /// The text that is expanded.
    pub fn source(&self) -> Source {
        self.program.module(self.module).source.clone()
    }

    /// Reports a fault.
    pub fn fault<T>(&mut self, code: Code, span: Span, label: impl Into<String>) -> Eval<T> {
        let diagnostic = Diagnostic::new(code, &self.source(), span, label);
        self.report.push(diagnostic);
        Err(Poisoned)
    }

    /// Reports a fault with a hint of its own.
    pub fn hinted<T>(&mut self, code: Code, span: Span, label: impl Into<String>, hint: impl Into<String>) -> Eval<T> {
        let diagnostic = Diagnostic::new(code, &self.source(), span, label).hint(hint);
        self.report.push(diagnostic);
        Err(Poisoned)
    }

    /// The number that a formula stands for.
    pub fn number(&mut self, expr: &Expr) -> Eval<ExprId> {
        match self.eval(expr)? {
            Value::Number(id) => Ok(id),
            Value::Poison => Err(Poisoned),
            Value::Condition(_) => self.hinted(
                Code::NotCondition,
                expr.span,
                "a condition where a number is due",
                "choose: `if c then 1 else 0`",
            ),
            Value::Dir(_) => self.hinted(
                Code::NotScalar,
                expr.span,
                "a direction where a number is due",
                "directions are no numbers: use `c[i, a]`, `w[i]` or compare them",
            ),
            other => {
                let hint = match &other {
                    Value::Tensor(tensor) if matches!(tensor.dims[..], [Dim::Axes(_)]) => {
                        "take a component, `u[a]`, or a product, `dot(u, v)`"
                    }
                    _ => "take a component of it with `[ ]`",
                };
                self.hinted(Code::NotScalar, expr.span, format!("{} where a number is due", other.describe()), hint)
            }
        }
    }

    /// The condition that a formula stands for.
    pub fn condition(&mut self, expr: &Expr) -> Eval<Condition> {
        match self.eval(expr)? {
            Value::Condition(condition) => Ok(condition),
            Value::Poison => Err(Poisoned),
            other => {
                let label = format!("{} where a condition is due", other.describe());
                self.hinted(Code::NotCondition, expr.span, label, "compare it: `x > 0`")
            }
        }
    }

    /// The condition, decided now.
    pub fn decided(&mut self, expr: &Expr) -> Eval<bool> {
        match self.condition(expr)? {
            Condition::Known(known) => Ok(known),
            _ => self.fault(Code::NotConstant, expr.span, "this depends on run-time values"),
        }
    }

    /// Refuses a number that is not known exactly when formulas are expanded.
    pub fn not_constant<T>(&mut self, span: Span, id: ExprId) -> Eval<T> {
        let given = self.exprs.symbols(&[id]).next().is_some();
        let label = if given { "this depends on run-time values" } else { "this is not known to be rational" };
        self.fault(Code::NotConstant, span, label)
    }

    /// The whole constant that a formula stands for.
    pub fn whole(&mut self, expr: &Expr) -> Eval<i64> {
        let id = self.number(expr)?;
        let Some(value) = self.exprs.as_const(id).cloned() else {
            return self.not_constant(expr.span, id);
        };
        match value.is_integer().then(|| value.to_integer().to_i64()).flatten() {
            Some(whole) => Ok(whole),
            None => self.fault(Code::NotWhole, expr.span, format!("this is {value}")),
        }
    }

    /// What an index variable runs over.
    pub fn dim(&mut self, binder: &Binder) -> Eval<Dim> {
        match &binder.range {
            Range::Directions => Ok(self.dirs(self.here())),
            Range::DirectionsOf(name) => {
                let set = self.set(name)?;
                Ok(self.dirs(self.lattice_of(set)))
            }
            Range::Axes => Ok(Dim::Axes(self.axes())),
            Range::Whole { low, high, inclusive } => {
                let span = low.span.to(high.span);
                let (low, high) = (self.whole(low)?, self.whole(high)?);
                let high = high.saturating_sub(i64::from(!inclusive));
                if high < low {
                    return self.fault(Code::OutOfRange, span, "this range is empty");
                }
                if high.saturating_sub(low) >= MAX_RANGE {
                    return self.fault(Code::TooLarge, span, format!("more than {MAX_RANGE} values"));
                }
                Ok(Dim::Whole(low, high))
            }
        }
    }

    /// The value of an index at a position of what it runs over.
    pub fn index_value(&mut self, dim: Dim, position: usize) -> Value {
        match dim {
            Dim::Dirs(dirs) => Value::Dir(Direction { lattice: dirs.lattice, dir: Dir(position as u8) }),
            _ => Value::Number(self.exprs.int(dim.at(position))),
        }
    }

    /// Runs `each` for every value of the binders, the last fastest, with the variables in scope.
    pub fn for_each(&mut self, binders: &[Binder], each: &mut dyn FnMut(&mut Self) -> Eval<()>) -> Eval<()> {
        let Some((first, rest)) = binders.split_first() else {
            return each(self);
        };
        let dim = self.dim(first)?;
        for position in 0..dim.len() {
            let value = self.index_value(dim, position);
            self.scope.push((first.name.text.clone(), value));
            let result = self.for_each(rest, each);
            self.scope.pop();
            result?;
        }
        Ok(())
    }

    /// The numbers of a family, or the one number where there are no indices.
    pub fn family(&mut self, name: &Name, binders: &[Binder], value: &Expr) -> Eval<Tensor> {
        let dims = binders.iter().map(|binder| self.dim(binder)).collect::<Eval<Vec<Dim>>>()?;
        let size = dims.iter().map(|dim| dim.len()).fold(1, usize::saturating_mul);
        if size > MAX_FAMILY {
            return self.fault(Code::TooLarge, name.span, format!("`{}` has {size} components", name.text));
        }
        let mut data = Vec::with_capacity(size);
        self.for_each(binders, &mut |this| {
            data.push(this.number(value)?);
            Ok(())
        })?;
        Ok(Tensor { dims, data: data.into() })
    }

    /// What a formula stands for.
    pub fn eval(&mut self, expr: &Expr) -> Eval<Value> {
        self.steps += 1;
        if self.exprs.len() > MAX_NODES || self.steps > MAX_STEPS {
            let label = format!("here the method passes {MAX_NODES} operations");
            // One place is enough: whatever is expanded next is too large as well.
            return if self.report.diagnostics().iter().any(|old| old.code() == Code::TooLarge) {
                Err(Poisoned)
            } else {
                self.fault(Code::TooLarge, expr.span, label)
            };
        }
        if self.depth == MAX_DEPTH {
            return self.fault(Code::Nesting, expr.span, format!("more than {MAX_DEPTH} operations deep"));
        }
        self.depth += 1;
        let result = self.eval_kind(expr);
        self.depth -= 1;
        if let Ok(Value::Number(id)) = &result
            && self.exprs.as_const(*id).is_some_and(|value| value.numer().bits() + value.denom().bits() > MAX_BITS)
        {
            return self.fault(Code::TooLarge, expr.span, "this constant has thousands of digits");
        }
        result
    }

    fn eval_kind(&mut self, expr: &Expr) -> Eval<Value> {
        match &expr.kind {
            ExprKind::Number(value) => Ok(Value::Number(self.exprs.constant(value.clone()))),
            ExprKind::Name { name, indices, args } => self.named(expr.span, name, indices, args.as_deref()),
            ExprKind::Cs2(name) => {
                let cs2 = self.set(name)?.lattice.cs2().clone();
                Ok(Value::Number(self.exprs.constant(cs2)))
            }
            ExprKind::Vector(parts) => self.vector(expr.span, parts),
            ExprKind::Unary(Unary::Minus, inner) => {
                let inner = self.number(inner)?;
                Ok(Value::Number(arith::neg(&mut self.exprs, inner)))
            }
            ExprKind::Unary(Unary::Not, inner) => Ok(Value::Condition(self.condition(inner)?.negate())),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right),
            ExprKind::Fold { fold, binders, filter, body } => self.fold(*fold, binders, filter.as_deref(), body),
            ExprKind::If(condition, then, otherwise) => match self.condition(condition)? {
                Condition::Known(true) => self.eval(then),
                Condition::Known(false) => self.eval(otherwise),
                condition => {
                    let (then, otherwise) = (self.number(then), self.number(otherwise));
                    Ok(Value::Number(arith::select(&mut self.exprs, &condition, then?, otherwise?)))
                }
            },
        }
    }

    fn vector(&mut self, span: Span, parts: &[Expr]) -> Eval<Value> {
        if self.normals.is_some() {
            return self.fault(Code::FrameAxis, span, "this names the components along numbered axes");
        }
        let data = parts.iter().map(|part| self.number(part)).collect::<Eval<Vec<ExprId>>>()?;
        if data.len() != self.axes() {
            let name = self.lattice(self.here()).name();
            let label = format!("{} components, but {name} has {} axes", data.len(), self.axes());
            return self.fault(Code::NotScalar, span, label);
        }
        Ok(Value::Tensor(Tensor { dims: vec![Dim::Axes(data.len())], data: data.into() }))
    }

    fn binary(&mut self, op: Binary, left: &Expr, right: &Expr) -> Eval<Value> {
        if matches!(op, Binary::And | Binary::Or) {
            return self.junction(op == Binary::Or, left, right);
        }
        if matches!(op, Binary::Equal | Binary::NotEqual)
            && let Some(equal) = self.equal_dirs(left, right)?
        {
            return Ok(Value::Condition(Condition::Known(equal == (op == Binary::Equal))));
        }
        if op == Binary::Power {
            return self.power(left, right);
        }
        // Both sides are looked at even if one is wrong.
        let (a, b) = (self.number(left), self.number(right));
        let (a, b) = (a?, b?);
        let exprs = &mut self.exprs;
        Ok(match op {
            Binary::Add => Value::Number(arith::add(exprs, a, b)),
            Binary::Sub => Value::Number(arith::sub(exprs, a, b)),
            Binary::Mul => Value::Number(arith::mul(exprs, a, b)),
            Binary::Div if exprs.as_const(b).is_some_and(Zero::is_zero) => {
                return self.fault(Code::DivisionByZero, right.span, "this is zero");
            }
            Binary::Div => Value::Number(arith::div(exprs, a, b)),
            Binary::Equal => Value::Condition(arith::compare(exprs, Compare::Equal, a, b)),
            Binary::NotEqual => Value::Condition(arith::compare(exprs, Compare::Equal, a, b).negate()),
            Binary::Less => Value::Condition(arith::compare(exprs, Compare::Less, a, b)),
            Binary::LessEqual => Value::Condition(arith::compare(exprs, Compare::LessEqual, a, b)),
            Binary::Greater => Value::Condition(arith::compare(exprs, Compare::Less, b, a)),
            _ => Value::Condition(arith::compare(exprs, Compare::LessEqual, b, a)),
        })
    }

    /// `left && right` or `left || right`; a side that does not matter is not looked at.
    fn junction(&mut self, or: bool, left: &Expr, right: &Expr) -> Eval<Value> {
        let flip = |condition: Condition| if or { condition.negate() } else { condition };
        let first = flip(self.condition(left)?);
        if matches!(first, Condition::Known(false)) {
            return Ok(Value::Condition(flip(first)));
        }
        let second = flip(self.condition(right)?);
        Ok(Value::Condition(flip(first.and(second))))
    }

    /// Whether two directions are the same, if these are directions.
    fn equal_dirs(&mut self, left: &Expr, right: &Expr) -> Eval<Option<bool>> {
        let left_value = self.eval(left)?;
        let right_value = self.eval(right)?;
        match (left_value, right_value) {
            (Value::Dir(a), Value::Dir(b)) => Ok(Some(self.same(left.span.to(right.span), a, b)?)),
            (Value::Dir(_), _) => self.fault(Code::IndexKind, right.span, "a direction is compared with this"),
            (_, Value::Dir(_)) => self.fault(Code::IndexKind, left.span, "a direction is compared with this"),
            _ => Ok(None),
        }
    }

    /// Whether two directions of one velocity set are the same.
    pub fn same(&mut self, span: Span, a: Direction, b: Direction) -> Eval<bool> {
        if a.lattice != b.lattice {
            let (a, b) = (self.lattice(a.lattice).name(), self.lattice(b.lattice).name());
            return self.fault(Code::IndexKind, span, format!("a direction of {a} is compared with one of {b}"));
        }
        Ok(a.dir == b.dir)
    }

    /// A whole power is a product, one with half of a whole number is that of the square root; others are functions.
    fn power(&mut self, base: &Expr, exponent: &Expr) -> Eval<Value> {
        let span = base.span.to(exponent.span);
        let (a, n) = (self.number(base), self.number(exponent));
        let (a, n) = (a?, n?);
        let Some(constant) = self.exprs.as_const(n).cloned() else {
            return Ok(Value::Number(self.apply(span, Function::Power, &[a, n])?));
        };
        if constant.is_negative() && self.exprs.as_const(a).is_some_and(Zero::is_zero) {
            return self.fault(Code::DivisionByZero, base.span, "this is zero, its power negative");
        }
        let halves = &constant * Rational::from_integer(2.into());
        if !halves.is_integer() {
            return Ok(Value::Number(self.apply(span, Function::Power, &[a, n])?));
        }
        if constant.abs() > Rational::from_integer(MAX_EXPONENT.into()) {
            let label = format!("whole exponents, and halves, go from -{MAX_EXPONENT} to {MAX_EXPONENT}");
            return self.fault(Code::TooLarge, exponent.span, label);
        }
        let (base, exponent) = match constant.is_integer() {
            true => (a, constant),
            false => (self.apply(span, Function::Sqrt, &[a])?, halves),
        };
        Ok(Value::Number(arith::power(&mut self.exprs, base, exponent.to_i32().unwrap_or(0))))
    }

    fn fold(&mut self, fold: Fold, binders: &[Binder], filter: Option<&Expr>, body: &Expr) -> Eval<Value> {
        let mut total: Option<ExprId> = None;
        self.for_each(binders, &mut |this| {
            if let Some(filter) = filter
                && !this.decided(filter)?
            {
                return Ok(());
            }
            let term = this.number(body)?;
            total = Some(match (total, fold) {
                (None, _) => term,
                (Some(sum), Fold::Sum) => arith::add(&mut this.exprs, sum, term),
                (Some(product), Fold::Product) => arith::mul(&mut this.exprs, product, term),
            });
            Ok(())
        })?;
        let empty = Rational::from_integer(if fold == Fold::Sum { 0 } else { 1 }.into());
        Ok(Value::Number(total.unwrap_or_else(|| self.exprs.constant(empty))))
    }

    /// The direction with a velocity of constant components.
    pub fn direction(&mut self, span: Span, lattice: LatticeId, components: &[ExprId]) -> Eval<Dir> {
        let mut velocity = Vec::new();
        for id in components {
            match self.exprs.as_const(*id) {
                Some(value) if value.is_integer() && value.abs() < Rational::from_integer(100.into()) => {
                    velocity.push(value.to_integer().to_i32().unwrap_or(0));
                }
                _ => return self.fault(Code::NotConstant, span, "a direction is found by whole constants"),
            }
        }
        match self.lattice(lattice).find(&velocity) {
            Some(dir) => Ok(dir),
            None => {
                let parts: Vec<String> = velocity.iter().map(i32::to_string).collect();
                let label = format!("{} has no velocity ({})", self.lattice(lattice).name(), parts.join(", "));
                self.fault(Code::NoSuchVelocity, span, label)
            }
        }
    }
}
