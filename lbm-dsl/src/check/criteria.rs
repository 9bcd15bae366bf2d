//! Criteria: what a grid may follow.
//!
//! In: a program whose names are in order, and the method's fields. After: each criterion is one formula of the fields and their
//! derivatives, and has a unit. Written out, it is of limited length and depth.

use std::collections::BTreeMap;

use num_traits::Zero;

use crate::ast::{CriterionDef, Expr, Item, Name};
use crate::check::build::Builder;
use crate::check::elaborate::{Elaborator, Eval, Poisoned};
use crate::check::program::{Def, ModuleId, Program};
use crate::check::value::{Dim, Value};
use crate::diag::{Code, suggest};
use crate::expr::{Expr as Node, ExprId, Symbol};
use crate::function::Function;
use crate::model::{Criterion, Field};
use crate::source::Span;
use crate::unit::Unit;

/// Longest formula, written out: what is used twice stands in it twice.
const MAX_LENGTH: usize = 1 << 14;

/// Most operations inside each other of a formula.
const MAX_DEPTH: usize = 400;

/// A part of a formula.
#[derive(Clone, Copy)]
struct Part {
    /// Its unit; none for zero, which has any.
    unit: Option<Unit>,
    /// At most so many characters.
    length: usize,
    depth: usize,
}

/// The criteria that the spec defines or chooses and those chosen besides, each with the module that has its text.
fn definitions(program: &Program) -> impl Iterator<Item = Result<(ModuleId, &CriterionDef), &Name>> {
    let own = program.spec().iter().filter_map(|item| match item {
        Item::Criterion(def) => Some(Ok((ModuleId::SPEC, def))),
        Item::CriterionChoice(name) => Some(match program.find(ModuleId::SPEC, &name.text) {
            Some((home, Def::Criterion(def))) => Ok((home, def)),
            _ => Err(name),
        }),
        _ => None,
    });
    own.chain(program.added().filter_map(|(home, def)| match def {
        Def::Criterion(def) => Some(Ok((home, def))),
        _ => None,
    }))
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
            let value = self.field(at, &fields[at]);
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
        let unit = self.unit_of(value, fields, body.span)?;
        Ok(Criterion { name: def.function.name.text.clone(), formula: value, unit, doc: def.doc.clone() })
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

    /// The unit of a formula; only what has the same is added, compared or chosen from.
    fn unit_of(&mut self, value: ExprId, fields: &[Field], span: Span) -> Eval<Unit> {
        // Of the fields, the velocity has a unit.
        let unit_of =
            |field: u16| if fields[usize::from(field)].name == "u" { Unit::VELOCITY } else { Unit::default() };
        let needed = self.exprs.needed(&[value]);
        let nodes: Vec<(ExprId, Node)> =
            self.exprs.iter().filter(|(id, _)| needed[id.index()]).map(|(id, node)| (id, node.clone())).collect();
        let mut found: BTreeMap<ExprId, Part> = BTreeMap::new();
        for (id, node) in nodes {
            let parts: Vec<Part> = node.operands().iter().map(|operand| found[operand]).collect();
            let units: Vec<Option<Unit>> = parts.iter().map(|part| part.unit).collect();
            let (unit, own) = match node {
                Node::Const(ref value) if value.is_zero() => (None, 1),
                Node::Const(_) => (Some(Unit::default()), 50),
                Node::Symbol(Symbol::Field { field, .. }) => {
                    (Some(unit_of(field)), fields[usize::from(field)].name.len() + 1)
                }
                Node::Symbol(Symbol::Gradient { field, .. }) => {
                    (Some(unit_of(field) / Unit::LENGTH), fields[usize::from(field)].name.len() + 4)
                }
                Node::Symbol(_) | Node::Fma(..) | Node::Again(_) => {
                    let label = "this is neither a field nor a derivative of one";
                    return self.fault(Code::CriterionForm, span, label);
                }
                Node::Neg(_) => (units[0], 3),
                Node::Sqrt(_) => {
                    let Unit { length, time } = units[0].unwrap_or_default();
                    if length % 2 != 0 || time % 2 != 0 {
                        let label = format!("this takes a square root of {}", Unit { length, time }.describe());
                        return self.fault(Code::CriterionForm, span, label);
                    }
                    (Some(Unit { length: length / 2, time: time / 2 }), 6)
                }
                Node::Call(function, _) => (Some(self.unit_of_function(function, &units, span)?), 8),
                Node::Mul(..) => (Some(units[0].unwrap_or_default() * units[1].unwrap_or_default()), 5),
                Node::Div(..) => (Some(units[0].unwrap_or_default() / units[1].unwrap_or_default()), 5),
                Node::Add(..) | Node::Sub(..) => (self.unit_of_both("adds", units[0], units[1], span)?, 5),
                Node::Select { .. } => {
                    self.unit_of_both("compares", units[0], units[1], span)?;
                    (self.unit_of_both("chooses from", units[2], units[3], span)?, 20)
                }
            };
            let length = parts.iter().fold(own, |length, part| length.saturating_add(part.length));
            let own = 1 + usize::from(matches!(node, Node::Select { .. }));
            let depth = own + parts.iter().map(|part| part.depth).max().unwrap_or(0);
            if length > MAX_LENGTH || depth > MAX_DEPTH {
                let label = format!("a criterion has at most {MAX_LENGTH} characters, {MAX_DEPTH} operations deep");
                return self.fault(Code::TooLarge, span, label);
            }
            found.insert(id, Part { unit, length, depth });
        }
        Ok(found.get(&value).ok_or(Poisoned)?.unit.unwrap_or_default())
    }

    /// The unit of a function, which is of numbers; but the angle of a point is one whatever its coordinates are measured in.
    fn unit_of_function(&mut self, function: Function, units: &[Option<Unit>], span: Span) -> Eval<Unit> {
        let number = Unit::default();
        if let (Function::Atan2, [one, other]) = (function, units) {
            self.unit_of_both("takes the angle of", *one, *other, span)?;
            return Ok(number);
        }
        let Some(unit) = units.iter().flatten().find(|unit| **unit != number) else { return Ok(number) };
        let what = match function {
            Function::Power => "a fractional power".into(),
            _ => format!("`{}`", function.name()),
        };
        let label = format!("this takes {what} of {}", unit.describe());
        self.hinted(Code::CriterionForm, span, label, "functions are of numbers: divide by what has the same unit")
    }

    /// The unit of two values, which must have the same.
    fn unit_of_both(&mut self, does: &str, one: Option<Unit>, other: Option<Unit>, span: Span) -> Eval<Option<Unit>> {
        match (one, other) {
            (Some(one), Some(other)) if one != other => {
                let label = format!("this {does} {} and {}", one.describe(), other.describe());
                self.fault(Code::CriterionForm, span, label)
            }
            _ => Ok(one.or(other)),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixture::compile_with;
    use crate::shipped::{self, Prelude};
    use crate::source::Source;

    #[test]
    fn those_of_the_prelude_have_a_unit() {
        let source = Source::new("d2q9_bgk.lbm", shipped::spec("d2q9_bgk").unwrap());
        for (criterion, unit) in [
            ("vorticity", "time^-1"),
            ("q", "time^-2"),
            ("velocity_gradient", "time^-1"),
            ("density_gradient", "length^-1"),
        ] {
            let model = compile_with(&source, &Prelude, &[], None, Some(criterion)).unwrap();
            let [found] = model.criteria() else { panic!("one is chosen") };
            assert_eq!((&found.name[..], &found.unit.describe()[..]), (criterion, unit));
            assert!(!found.doc.is_empty());
        }
    }
}
