//! Names in formulas: values, families with their indices, functions with their arguments.

use crate::ast::{Expr, ExprKind, FnDef, Name, Range};
use crate::check::arith;
use crate::check::elaborate::{Elaborator, Eval, Poisoned};
use crate::check::names::{AROUND, GRADIENT};
use crate::check::program::{Def, ModuleId};
use crate::check::value::{Condition, Dim, Direction, LatticeId, Tensor, Value};
use crate::diag::Code;
use crate::expr::{ExprId, Rational};
use crate::function::{self, Function};
use crate::model::NodeForm;
use crate::source::Span;

impl Elaborator<'_> {
    /// The value of `name[indices](args)`.
    pub(super) fn named(&mut self, span: Span, name: &Name, indices: &[Expr], args: Option<&[Expr]>) -> Eval<Value> {
        let variable = self.scope.iter().rev().find(|(other, _)| *other == name.text).map(|(_, value)| value.clone());
        if let Some(value) = variable {
            if args.is_some() {
                return self.not_a_function(name);
            }
            return self.component(span, name, value, indices);
        }
        match name.text.as_str() {
            "c" | "w" | "cs2" | "dim" if args.is_some() => return self.not_a_function(name),
            "c" | "w" | "cs2" | "dim" => {
                let value = self.of_lattice(name, indices.first())?;
                return self.component(span, name, value, indices);
            }
            "opp" | "dot" | "delta" | "known" => {
                let Some(args) = args else {
                    return self.fault(Code::NameKind, name.span, format!("`{}` is a function", name.text));
                };
                if !indices.is_empty() {
                    return self.fault(Code::IndexCount, span, format!("`{}` has no indices", name.text));
                }
                return self.builtin(span, &name.text, args);
            }
            _ => {}
        }
        if let ("mean", [], Some(args)) = (name.text.as_str(), indices, args) {
            return self.mean(span, args);
        }
        if let (GRADIENT, true, Some(args)) = (name.text.as_str(), self.criterion, args) {
            return self.gradient(span, indices, args);
        }
        match (self.program.find(self.module, &name.text), args) {
            (Some((home, Def::Fn(def))), Some(args)) => self.call(span, home, def, indices, args),
            (Some((_, Def::Stencil(_))), Some(args)) => self.sampled(span, name, indices, args),
            (Some((_, Def::Fn(_))), None) => {
                let hint = format!("give it its arguments: `{}(...)`", name.text);
                self.hinted(Code::NameKind, name.span, format!("`{}` is a function", name.text), hint)
            }
            (Some((_, other)), _) => {
                self.fault(Code::NameKind, name.span, format!("`{}` is {}, not a value", name.text, other.kind()))
            }
            (None, Some(args)) if AROUND.contains(&name.text.as_str()) => self.around(span, name, indices, args),
            (None, _) => match function::called(&name.text) {
                Some(function) => self.function(span, name, function, indices, args),
                None => self.fault(Code::Undefined, name.span, format!("`{}` is not defined here", name.text)),
            },
        }
    }

    /// `exp(x)`, `min(x, y)`: a function of numbers.
    fn function(
        &mut self,
        span: Span,
        name: &Name,
        function: Function,
        indices: &[Expr],
        args: Option<&[Expr]>,
    ) -> Eval<Value> {
        let text = &name.text;
        let Some(args) = args else {
            let hint = format!("give it its arguments: `{text}({})`", function.operands().join(", "));
            return self.hinted(Code::NameKind, name.span, format!("`{text}` is a function"), hint);
        };
        if !indices.is_empty() {
            return self.fault(Code::IndexCount, span, format!("`{text}` has no indices"));
        }
        let due = function.operands().len();
        if args.len() != due {
            let label = format!("`{text}` takes {}, not {}", count(due, "argument"), args.len());
            return self.fault(Code::Arguments, span, label);
        }
        // All arguments are looked at even if one is wrong.
        let operands: Vec<Eval<ExprId>> = args.iter().map(|arg| self.number(arg)).collect();
        Ok(Value::Number(self.apply(span, function, &operands.into_iter().collect::<Eval<Vec<_>>>()?)?))
    }

    /// A function of numbers; refused where it has no value, whatever the state.
    pub(super) fn apply(&mut self, span: Span, function: Function, operands: &[ExprId]) -> Eval<ExprId> {
        match arith::call(&mut self.exprs, function, operands) {
            Some(value) => Ok(value),
            None => {
                let form = match function {
                    Function::Power => "a^b".into(),
                    _ => format!("{}({})", function.name(), function.operands().join(", ")),
                };
                let given = self.exprs.as_const(operands[0]).map_or(String::new(), |value| format!(", a is {value}"));
                self.fault(
                    Code::OutOfDomain,
                    span,
                    format!("`{form}` has a value for {}{given}", function::domain(function)),
                )
            }
        }
    }

    fn not_a_function<T>(&mut self, name: &Name) -> Eval<T> {
        let hint = match function::called(&name.text) {
            Some(_) => {
                "here it is a value, which hides the function of that name: call the value something else".into()
            }
            None => format!("indices stand in square brackets: `{}[...]`; write a product with `*`", name.text),
        };
        self.hinted(Code::NameKind, name.span, format!("`{}` is no function", name.text), hint)
    }

    /// `c[i, a]`, `w[i]` of the velocity set that `i` belongs to; `cs2`, `dim`.
    fn of_lattice(&mut self, name: &Name, index: Option<&Expr>) -> Eval<Value> {
        let id = match index.map(|index| self.eval(index)).transpose()? {
            Some(Value::Dir(direction)) => direction.lattice,
            _ => self.here(),
        };
        if name.text == "cs2" {
            self.one_cs2(name)?;
        }
        let (lattice, dirs) = (self.lattice(id), self.dirs(id));
        let exprs = &mut self.exprs;
        Ok(match name.text.as_str() {
            "cs2" => Value::Number(exprs.constant(lattice.cs2().clone())),
            "dim" => Value::Number(exprs.int(lattice.dim() as i64)),
            "w" => {
                let data = lattice.dirs().map(|dir| exprs.constant(lattice.weight(dir).clone())).collect();
                Value::Tensor(Tensor { dims: vec![dirs], data })
            }
            _ => {
                let components = lattice.dirs().flat_map(|dir| lattice.velocity(dir));
                let data = components.map(|c| exprs.int(i64::from(*c))).collect();
                Value::Tensor(Tensor { dims: vec![dirs, Dim::Axes(lattice.dim())], data })
            }
        })
    }

    /// Refuses a bare `cs2` where it could be that of one velocity set or of another.
    fn one_cs2(&mut self, name: &Name) -> Eval<()> {
        let first = self.populations[0].lattice.cs2();
        if self.called_for.is_some() || self.populations.iter().all(|set| set.lattice.cs2() == first) {
            return Ok(());
        }
        let each = self.populations.iter().map(|set| format!("`{}.cs2` is {}", set.name, set.lattice.cs2()));
        let label = each.collect::<Vec<_>>().join(", ");
        self.fault(Code::Ambiguous, name.span, label)
    }

    /// `value[indices]`; fewer indices than there are leave a family over the rest.
    fn component(&mut self, span: Span, name: &Name, value: Value, indices: &[Expr]) -> Eval<Value> {
        if indices.is_empty() {
            return if matches!(value, Value::Poison) { Err(Poisoned) } else { Ok(value) };
        }
        let tensor = match value {
            Value::Tensor(tensor) => tensor,
            Value::Poison => return Err(Poisoned),
            other => {
                let label = format!("`{}` is {} and has no indices", name.text, other.describe());
                return self.fault(Code::IndexCount, span, label);
            }
        };
        if indices.len() > tensor.dims.len() {
            let label = format!("`{}` has {}, not {}", name.text, count(tensor.dims.len(), "index"), indices.len());
            return self.fault(Code::IndexCount, span, label);
        }
        let mut offset = 0;
        for (dim, index) in tensor.dims.iter().zip(indices) {
            offset = offset * dim.len() + self.position(*dim, index)?;
        }
        let rest = &tensor.dims[indices.len()..];
        if rest.is_empty() {
            return Ok(Value::Number(tensor.data[offset]));
        }
        let size: usize = rest.iter().map(|dim| dim.len()).product();
        let data = tensor.data[offset * size..(offset + 1) * size].into();
        Ok(Value::Tensor(Tensor { dims: rest.to_vec(), data }))
    }

    /// Where an index stands in what it must run over.
    pub(super) fn position(&mut self, dim: Dim, index: &Expr) -> Eval<usize> {
        let variable = matches!(&index.kind, ExprKind::Name { indices, args: None, .. } if indices.is_empty());
        if self.normals.is_some() && matches!(dim, Dim::Axes(_)) && !variable {
            return self.fault(Code::FrameAxis, index.span, "a numbered axis");
        }
        let value = self.eval(index)?;
        match (dim, value) {
            (_, Value::Poison) => Err(Poisoned),
            (Dim::Dirs(dirs), value) => {
                let found = self.as_direction(index.span, dirs.lattice, value)?;
                if found.lattice != dirs.lattice {
                    let (due, found) = (self.lattice(dirs.lattice).name(), self.lattice(found.lattice).name());
                    let label = format!("a direction of {found} where one of {due} is due");
                    let set = self.populations.iter().find(|set| set.lattice.name() == due);
                    let hint = set.map_or(String::new(), |set| format!("let it run over those: `i in {}`", set.name));
                    return self.hinted(Code::IndexKind, index.span, label, hint);
                }
                Ok(found.dir.index())
            }
            (_, Value::Dir(_)) => {
                let due = if matches!(dim, Dim::Axes(_)) { "an axis" } else { "a whole number" };
                self.fault(Code::IndexKind, index.span, format!("a direction where {due} is due"))
            }
            (dim, _) => {
                let whole = self.whole(index)?;
                let at = whole.checked_sub(dim.at(0)).and_then(|at| usize::try_from(at).ok());
                match at.filter(|at| *at < dim.len()) {
                    Some(at) => Ok(at),
                    None => {
                        let label = format!("{whole} is not in {}..={}", dim.at(0), dim.at(dim.len() - 1));
                        self.fault(Code::OutOfRange, index.span, label)
                    }
                }
            }
        }
    }

    /// A direction, given as one or by its velocity in a velocity set.
    fn as_direction(&mut self, span: Span, lattice: LatticeId, value: Value) -> Eval<Direction> {
        match value {
            Value::Dir(direction) => Ok(direction),
            Value::Tensor(tensor) if matches!(tensor.dims[..], [Dim::Axes(_)]) => {
                Ok(Direction { lattice, dir: self.direction(span, lattice, &tensor.data)? })
            }
            Value::Poison => Err(Poisoned),
            other => {
                let hint = "a direction is an index variable, `opp(i)` or a velocity: `f[(1, 0)]`";
                self.hinted(Code::IndexKind, span, format!("{} where a direction is due", other.describe()), hint)
            }
        }
    }

    fn builtin(&mut self, span: Span, name: &str, args: &[Expr]) -> Eval<Value> {
        let due = if matches!(name, "dot" | "delta") { 2 } else { 1 };
        if args.len() != due {
            let label = format!("`{name}` takes {}, not {}", count(due, "argument"), args.len());
            return self.fault(Code::Arguments, span, label);
        }
        match name {
            "opp" => {
                let value = self.eval(&args[0])?;
                let Direction { lattice, dir } = self.as_direction(args[0].span, self.here(), value)?;
                Ok(Value::Dir(Direction { lattice, dir: self.lattice(lattice).opposite(dir) }))
            }
            "known" => {
                let Some(normals) = self.normals else {
                    return self.fault(Code::NotVisible, span, "`known` exists in wet-node boundary conditions only");
                };
                let value = self.eval(&args[0])?;
                let Direction { lattice, dir } = self.as_direction(args[0].span, self.here(), value)?;
                let velocity = self.lattice(lattice).velocity(dir);
                Ok(Value::Condition(Condition::Known(NodeForm::known(velocity, normals))))
            }
            "delta" => {
                let (left, right) = (self.eval(&args[0])?, self.eval(&args[1])?);
                let same = match (left, right) {
                    (Value::Dir(a), Value::Dir(b)) => self.same(span, a, b)?,
                    _ => self.whole(&args[0])? == self.whole(&args[1])?,
                };
                Ok(Value::Number(self.exprs.int(i64::from(same))))
            }
            _ => {
                let (left, right) = (self.line(&args[0]), self.line(&args[1]));
                let (left, right) = (left?, right?);
                if left.dims != right.dims {
                    return self.fault(Code::NotScalar, span, "the two run over different indices");
                }
                let mut total = self.exprs.int(0);
                for (a, b) in left.data.iter().zip(right.data.iter()) {
                    let product = arith::mul(&mut self.exprs, *a, *b);
                    total = arith::add(&mut self.exprs, total, product);
                }
                Ok(Value::Number(total))
            }
        }
    }

    /// A family with one index, as `dot` takes.
    fn line(&mut self, expr: &Expr) -> Eval<Tensor> {
        match self.eval(expr)? {
            Value::Tensor(tensor) if tensor.dims.len() == 1 => Ok(tensor),
            Value::Poison => Err(Poisoned),
            other => {
                let name = match &expr.kind {
                    ExprKind::Name { name, .. } => name.text.as_str(),
                    _ => "u",
                };
                let hint = format!("leave out the last index: `{name}` instead of `{name}[a]`");
                self.hinted(Code::NotScalar, expr.span, format!("{} where a vector is due", other.describe()), hint)
            }
        }
    }

    /// `def[indices](args)`: the body with its own names only.
    fn call(&mut self, span: Span, home: ModuleId, def: &FnDef, indices: &[Expr], args: &[Expr]) -> Eval<Value> {
        let name = &def.name.text;
        if indices.len() != def.indices.len() {
            let label = format!("`{name}` has {}, not {}", count(def.indices.len(), "index"), indices.len());
            return self.fault(Code::IndexCount, span, label);
        }
        if args.len() != def.params.len() {
            let label = format!("`{name}` takes {}, not {}", count(def.params.len(), "argument"), args.len());
            return self.fault(Code::Arguments, span, label);
        }
        let mut scope = Vec::new();
        // The directions that it is given say which velocity set it is called for; else the caller does.
        let (mut called_for, mut given) = (self.called_for, false);
        for (binder, index) in def.indices.iter().zip(indices) {
            let value = if matches!(binder.range, Range::Directions) {
                let value = self.eval(index)?;
                let direction = self.as_direction(index.span, self.here(), value)?;
                if given && called_for != Some(direction.lattice) {
                    let label = format!("`{name}` is given directions of different velocity sets");
                    return self.fault(Code::IndexKind, index.span, label);
                }
                (called_for, given) = (Some(direction.lattice), true);
                Value::Dir(direction)
            } else {
                let dim = self.inside(home, |this| this.dim(binder))?;
                let position = self.position(dim, index)?;
                self.index_value(dim, position)
            };
            scope.push((binder.name.text.clone(), value));
        }
        for ((param, binders), arg) in def.params.iter().zip(args) {
            let value = self.eval(arg)?;
            if let (Value::Tensor(Tensor { dims, .. }), false) = (&value, given)
                && let Some(Dim::Dirs(dirs)) = dims.iter().find(|dim| matches!(dim, Dim::Dirs(_)))
            {
                (called_for, given) = (Some(dirs.lattice), true);
            }
            let outer = std::mem::replace(&mut self.called_for, called_for);
            let dims =
                self.inside(home, |this| binders.iter().map(|binder| this.dim(binder)).collect::<Eval<Vec<_>>>());
            self.called_for = outer;
            let dims = dims?;
            let fits = match &value {
                Value::Number(_) => dims.is_empty(),
                Value::Tensor(tensor) => tensor.dims == dims,
                Value::Poison => return Err(Poisoned),
                _ => false,
            };
            if !fits {
                let label =
                    format!("{} where `{name}` takes {} as `{}`", value.describe(), describe(&dims), param.text);
                return self.fault(Code::NotScalar, arg.span, label);
            }
            scope.push((param.text.clone(), value));
        }
        let outer = (std::mem::replace(&mut self.scope, scope), std::mem::replace(&mut self.called_for, called_for));
        let result = self.inside(home, |this| this.eval(&def.body));
        (self.scope, self.called_for) = outer;
        result
    }

    /// Runs `work` on the text of another module.
    pub(super) fn inside<T>(&mut self, module: ModuleId, work: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.module, module);
        let result = work(self);
        self.module = outer;
        result
    }

    /// A constant as a rational.
    pub(super) fn rational(&mut self, expr: &Expr) -> Eval<Rational> {
        let id: ExprId = self.number(expr)?;
        match self.exprs.as_const(id).cloned() {
            Some(value) => Ok(value),
            None => self.not_constant(expr.span, id),
        }
    }
}

fn describe(dims: &[Dim]) -> String {
    match dims {
        [] => "a number".into(),
        _ => Value::Tensor(Tensor { dims: dims.to_vec(), data: [].into() }).describe(),
    }
}

pub(super) fn count(number: usize, thing: &str) -> String {
    match (number, thing) {
        (0, _) => format!("no {thing}"),
        (1, _) => format!("one {thing}"),
        (_, "index") => format!("{number} indices"),
        _ => format!("{number} {thing}s"),
    }
}

#[cfg(test)]
mod tests {
    use crate::expr::Expr;
    use crate::model::Model;
    use crate::shipped::{self, Prelude};
    use crate::source::Source;

    /// BGK on D2Q9 whose rate is `omega` times a formula, with more statements.
    fn method(more: &str, factor: &str) -> Model {
        let text = shipped::spec("d2q9_bgk").unwrap().replace("omega * (", &format!("omega * {factor} * ("));
        crate::fixture::compile(&Source::new("own.lbm", &format!("{more}\n{text}")), &Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(100)))
    }

    fn functions(model: &Model) -> usize {
        model.exprs().iter().filter(|(_, node)| matches!(node, Expr::Call(..))).count()
    }

    #[test]
    fn names_of_a_text_hide_functions() {
        assert_eq!(functions(&method("", "exp(rho)")), 1);
        assert_eq!(functions(&method("fn exp(x) = 1 + x;", "exp(rho)")), 0);
        assert_eq!(functions(&method("param exp in (0, 1);", "exp")), 0);
        assert_eq!(functions(&method("fn own(tanh) = tanh^2;", "own(rho) * tanh(rho)")), 1);
    }

    #[test]
    fn powers_are_products_and_roots_where_they_can_be() {
        for (factor, calls) in
            [("rho^3", 0), ("rho^(-2)", 0), ("rho^0.5", 0), ("rho^(-3/2)", 0), ("rho^0.3", 1), ("2^rho", 1)]
        {
            assert_eq!(functions(&method("", factor)), calls, "{factor}");
        }
    }
}
