//! Criteria: what a grid may follow.
//!
//! In: a program whose names are in order, and the method's fields. After: each criterion is one formula of the fields and their
//! derivatives, without conditions, and has a unit.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::Signed;

use crate::ast::{CriterionDef, Expr, Item, Name};
use crate::check::build::Builder;
use crate::check::elaborate::{Elaborator, Eval, Poisoned};
use crate::check::naming;
use crate::check::program::{Def, ModuleId, Program};
use crate::check::value::{Dim, Tensor, Value};
use crate::diag::{Code, suggest};
use crate::expr::{Expr as Node, ExprId, Symbol};
use crate::model::{Criterion, Field};
use crate::source::Span;
use crate::unit::Unit;

/// Longest formula: what a text says twice stands in it twice.
const MAX_TEXT: usize = 1 << 14;

/// The criteria that the spec defines or chooses, each with the module that has its text.
fn definitions(program: &Program) -> impl Iterator<Item = Result<(ModuleId, &CriterionDef), &Name>> {
    program.spec().iter().filter_map(|item| match item {
        Item::Criterion(def) => Some(Ok((ModuleId::SPEC, def))),
        Item::CriterionChoice(name) => Some(match program.find(ModuleId::SPEC, &name.text) {
            Some((home, Def::Criterion(def))) => Ok((home, def)),
            _ => Err(name),
        }),
        _ => None,
    })
}

impl Builder<'_> {
    /// The criteria that the spec defines or chooses.
    pub(super) fn criteria(&mut self, fields: &[Field]) -> Vec<Criterion> {
        let program = self.work.program;
        let mut criteria = Vec::new();
        for found in definitions(program) {
            let criterion = match found {
                Ok((home, def)) => {
                    let scope = std::mem::take(&mut self.work.scope);
                    self.work.criterion = true;
                    let criterion = self.work.inside(home, |work| work.criterion_of(def, fields));
                    self.work.criterion = false;
                    self.work.scope = scope;
                    criterion
                }
                Err(name) => self.no_criterion(name),
            };
            criteria.extend(criterion);
        }
        criteria
    }

    fn no_criterion<T>(&mut self, name: &Name) -> Eval<T> {
        match self.work.program.find(ModuleId::SPEC, &name.text) {
            Some((_, other)) => {
                let label = format!("`{}` is {}, not a criterion", name.text, other.kind());
                self.work.fault(Code::NameKind, name.span, label)
            }
            None => {
                let names = self.work.program.names(ModuleId::SPEC);
                let hint =
                    suggest::did_you_mean(&name.text, names, "define it, or import it: `use criteria::vorticity;`");
                self.work.hinted(Code::Undefined, name.span, "there is no criterion of that name", hint)
            }
        }
    }
}

/// The components of a field as a formula is given them.
pub(super) fn given(work: &mut Elaborator, at: usize, field: &Field) -> Value {
    let count = field.components.len() as u8;
    let symbol = |component| Symbol::Field { field: at as u16, component };
    let data: Rc<[ExprId]> = (0..count).map(|component| work.exprs.symbol(symbol(component))).collect();
    if count == 1 {
        Value::Number(data[0])
    } else {
        Value::Tensor(Tensor { dims: vec![Dim::Axes(count.into())], data })
    }
}

impl Elaborator<'_> {
    fn criterion_of(&mut self, def: &CriterionDef, fields: &[Field]) -> Eval<Criterion> {
        for (name, binders) in &def.function.params {
            let Some(at) = fields.iter().position(|field| field.name == name.text) else {
                let names: Vec<&str> = fields.iter().map(|field| field.name.as_str()).collect();
                let label = format!("this method has no field `{}`", name.text);
                let hint = format!("a criterion takes fields by their names: {}", names.join(", "));
                return self.hinted(Code::Undefined, name.span, label, hint);
            };
            let dims = binders.iter().map(|binder| self.dim(binder)).collect::<Eval<Vec<Dim>>>()?;
            let value = given(self, at, &fields[at]);
            let fits = match &value {
                Value::Tensor(tensor) => tensor.dims == dims,
                _ => dims.is_empty(),
            };
            if !fits {
                let label = format!("the field `{}` is {}", name.text, value.describe());
                let form =
                    if matches!(value, Value::Tensor(_)) { format!("{}[a]", name.text) } else { name.text.clone() };
                return self.hinted(Code::NotScalar, name.span, label, format!("write `{form}`"));
            }
            self.scope.push((name.text.clone(), value));
        }
        let body = &def.function.body;
        let value = self.number(body)?;
        let (formula, unit) = self.formula_of(value, fields, body.span)?;
        Ok(Criterion { name: def.function.name.text.clone(), formula, unit, doc: def.doc.clone() })
    }

    /// `gradient[a](u[b])`
    pub(super) fn gradient(&mut self, span: Span, indices: &[Expr], args: &[Expr]) -> Eval<Value> {
        let form = "write the derivative of a component of a field along an axis: `gradient[a](u[b])`";
        let ([axis], [of]) = (indices, args) else {
            return self.hinted(Code::CriterionForm, span, "a gradient has one axis and one field", form);
        };
        let axis = self.whole(axis)?;
        let Some(axis) = u8::try_from(axis).ok().filter(|axis| usize::from(*axis) < self.axes()) else {
            return self.fault(Code::OutOfRange, indices[0].span, format!("{axis} is no axis"));
        };
        let value = self.number(of)?;
        let Node::Symbol(Symbol::Field { field, component }) = *self.exprs.get(value) else {
            return self.hinted(Code::CriterionForm, of.span, "this is not one component of a field", form);
        };
        Ok(Value::Number(self.exprs.symbol(Symbol::Gradient { field, component, axis })))
    }

    /// The formula as a case would write it, `sqrt((dx_uy - dy_ux)^2)`, and its unit; only what has the same is added.
    fn formula_of(&mut self, value: ExprId, fields: &[Field], span: Span) -> Eval<(String, Unit)> {
        let component = |field: u16, component: u8| {
            let field = &fields[usize::from(field)];
            let dims = if field.components.len() == 1 { vec![] } else { vec![Dim::Axes(field.components.len())] };
            naming::component(&field.name, &dims, usize::from(component))
        };
        // Of the fields, the velocity has a unit.
        let unit_of =
            |field: u16| if fields[usize::from(field)].name == "u" { Unit::VELOCITY } else { Unit::default() };
        let needed = self.exprs.needed(&[value]);
        let nodes: Vec<(ExprId, Node)> =
            self.exprs.iter().filter(|(id, _)| needed[id.index()]).map(|(id, node)| (id, node.clone())).collect();
        let mut found: BTreeMap<ExprId, (String, Unit)> = BTreeMap::new();
        for (id, node) in nodes {
            let (text, unit) = match node {
                Node::Const(value) if value.is_negative() || !value.is_integer() => {
                    (format!("({value})"), Unit::default())
                }
                Node::Const(value) => (value.to_string(), Unit::default()),
                Node::Symbol(Symbol::Field { field, component: at }) => (component(field, at), unit_of(field)),
                Node::Symbol(Symbol::Gradient { field, component: at, axis }) => {
                    let axis = ["x", "y", "z"][usize::from(axis)];
                    (format!("d{axis}_{}", component(field, at)), unit_of(field) / Unit::LENGTH)
                }
                Node::Neg(a) => (format!("(-{})", found[&a].0), found[&a].1),
                Node::Sqrt(a) => {
                    let (text, Unit { length, time }) = &found[&a];
                    if length % 2 != 0 || time % 2 != 0 {
                        let label = format!("this takes a square root of {}", found[&a].1.describe());
                        return self.fault(Code::CriterionForm, span, label);
                    }
                    (format!("sqrt({text})"), Unit { length: length / 2, time: time / 2 })
                }
                Node::Mul(a, b) if a == b => (format!("{}^2", found[&a].0), found[&a].1 * found[&a].1),
                Node::Mul(a, b) => (format!("({} * {})", found[&a].0, found[&b].0), found[&a].1 * found[&b].1),
                Node::Div(a, b) => (format!("({} / {})", found[&a].0, found[&b].0), found[&a].1 / found[&b].1),
                Node::Add(a, b) | Node::Sub(a, b) => {
                    let ((one, unit), (other, others)) = (&found[&a], &found[&b]);
                    if unit != others {
                        let label = format!("this adds {} and {}", unit.describe(), others.describe());
                        return self.fault(Code::CriterionForm, span, label);
                    }
                    let sign = if matches!(node, Node::Add(..)) { '+' } else { '-' };
                    (format!("({one} {sign} {other})"), *unit)
                }
                Node::Select { .. } | Node::Symbol(_) | Node::Fma(..) => {
                    let label = "this depends on conditions that only the flow decides";
                    let hint = "a criterion has conditions on indices only: `sum(a, b if a < b: ...)`";
                    return self.hinted(Code::CriterionForm, span, label, hint);
                }
            };
            if text.len() > MAX_TEXT {
                return self.fault(Code::TooLarge, span, format!("a criterion has at most {MAX_TEXT} characters"));
            }
            found.insert(id, (text, unit));
        }
        found.remove(&value).ok_or(Poisoned)
    }
}

#[cfg(test)]
mod tests {
    use crate::compile_with;
    use crate::shipped::{self, Prelude};
    use crate::source::Source;

    fn prelude(spec: &str, criterion: &str) -> (String, String) {
        let source = Source::new(&format!("{spec}.lbm"), shipped::spec(spec).unwrap());
        let model = compile_with(&source, &Prelude, &[], None, Some(criterion)).unwrap();
        let [found] = model.criteria() else { panic!("one is chosen") };
        assert_eq!(found.name, criterion);
        assert!(!found.doc.is_empty());
        (found.formula.clone(), found.unit.describe())
    }

    #[test]
    fn those_of_the_prelude_are_formulas_of_a_case_with_a_unit() {
        for (criterion, formula, unit) in [
            ("vorticity", "sqrt((dx_uy - dy_ux)^2)", "time^-1"),
            ("q", "(-((1/2) * (((dx_ux^2 + (dx_uy * dy_ux)) + (dy_ux * dx_uy)) + dy_uy^2)))", "time^-2"),
            ("velocity_gradient", "sqrt((((dx_ux^2 + dx_uy^2) + dy_ux^2) + dy_uy^2))", "time^-1"),
            ("density_gradient", "sqrt((dx_rho^2 + dy_rho^2))", "length^-1"),
        ] {
            assert_eq!(prelude("d2q9_bgk", criterion), (formula.to_string(), unit.to_string()), "{criterion}");
        }
        let (formula, _) = prelude("d3q19_bgk", "vorticity");
        assert_eq!(formula, "sqrt((((dx_uy - dy_ux)^2 + (dx_uz - dz_ux)^2) + (dy_uz - dz_uy)^2))");
    }
}
