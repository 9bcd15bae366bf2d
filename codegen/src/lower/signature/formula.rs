//! Expressions of a model as formulas of a manifest.

use lbm_bundle::Formula;
use lbm_bundle::formula::Function;
use lbm_dsl::expr::{Compare, Expr, ExprId, Rational, Symbol};
use lbm_dsl::model::Model;
use num_traits::{Signed, ToPrimitive};

const AXES: [&str; 3] = ["x", "y", "z"];

/// An expression of scalar parameters, or of components of the fields and their derivatives: `omega`, `ux`, `dx_ux`.
///
/// # Panics
/// Where the expression has anything else: neither a rate of a level nor a criterion has.
pub fn formula(model: &Model, id: ExprId) -> Formula {
    let of = |id| formula(model, id);
    let apply =
        |function, operands: &[ExprId]| Formula::apply(function, operands.iter().map(|id| of(*id)).collect::<Vec<_>>());
    match *model.exprs().get(id) {
        Expr::Const(ref value) => constant(value),
        Expr::Symbol(Symbol::Param { param, .. }) => Formula::name(&model.params()[usize::from(param)].name),
        Expr::Symbol(Symbol::Field { field, component }) => Formula::name(&name(model, field, component)),
        Expr::Symbol(Symbol::Gradient { field, component, axis }) => {
            Formula::name(&format!("d{}_{}", AXES[usize::from(axis)], name(model, field, component)))
        }
        Expr::Symbol(other) => unreachable!("{other:?} in a rate of a level or a criterion"),
        Expr::Neg(a) => apply(Function::Negate, &[a]),
        Expr::Sqrt(a) => apply(Function::Sqrt, &[a]),
        Expr::Call(function, ref operands) => apply(function, operands),
        Expr::Again(a) => of(a),
        Expr::Add(a, b) => apply(Function::Add, &[a, b]),
        Expr::Sub(a, b) => apply(Function::Subtract, &[a, b]),
        // What stands twice would be written twice.
        Expr::Mul(a, b) if a == b => Formula::apply(Function::Power, [of(a), Formula::number(2.0)]),
        Expr::Mul(a, b) => apply(Function::Multiply, &[a, b]),
        Expr::Div(a, b) => apply(Function::Divide, &[a, b]),
        Expr::Fma(a, b, c) => Formula::apply(Function::Add, [apply(Function::Multiply, &[a, b]), of(c)]),
        Expr::Select { compare, left, right, then, otherwise } => {
            let compare = match compare {
                Compare::Less => Function::Less,
                Compare::LessEqual => Function::LessEqual,
                Compare::Equal => Function::Equal,
            };
            Formula::apply(Function::If, [apply(compare, &[left, right]), of(then), of(otherwise)])
        }
    }
}

/// The name of a component of a field.
fn name(model: &Model, field: u16, component: u8) -> String {
    let field = &model.fields()[usize::from(field)];
    let axis = if field.components.len() == 1 { "" } else { AXES[usize::from(component)] };
    format!("{}{axis}", field.name)
}

/// A rational number: a quotient of whole numbers where these are exact.
fn constant(value: &Rational) -> Formula {
    let exact = |whole: &num_bigint::BigInt| (whole.bits() <= 53).then(|| whole.to_f64()).flatten();
    match (exact(value.numer()), exact(value.denom())) {
        (Some(above), Some(1.0)) => Formula::number(above),
        (Some(_), Some(below)) => {
            let size = value.abs();
            let above = size.numer().to_f64().unwrap_or(f64::NAN);
            let quotient = Formula::apply(Function::Divide, [Formula::number(above), Formula::number(below)]);
            if value.is_negative() { Formula::apply(Function::Negate, [quotient]) } else { quotient }
        }
        _ => Formula::number(value.to_f64().unwrap_or(f64::NAN)),
    }
}

#[cfg(test)]
mod tests {
    use lbm_dsl::compile_with;
    use lbm_dsl::shipped::{self, Prelude};
    use lbm_dsl::source::Source;

    use super::*;

    fn model(spec: &str, coupling: Option<&str>, criterion: Option<&str>) -> Model {
        let source = Source::new(&format!("{spec}.lbm"), shipped::spec(spec).unwrap());
        compile_with(&source, &Prelude, &[], coupling, criterion).unwrap()
    }

    #[test]
    fn criteria_are_formulas_of_fields_and_derivatives() {
        for (spec, criterion, expected) in [
            ("d2q9_bgk", "vorticity", "sqrt((dx_uy - dy_ux)^2)"),
            ("d2q9_bgk", "q", "-(1 / 2 * (dx_ux^2 + dx_uy * dy_ux + dy_ux * dx_uy + dy_uy^2))"),
            ("d2q9_bgk", "velocity_gradient", "sqrt(dx_ux^2 + dx_uy^2 + dy_ux^2 + dy_uy^2)"),
            ("d2q9_bgk", "density_gradient", "sqrt(dx_rho^2 + dy_rho^2)"),
            ("d3q19_bgk", "vorticity", "sqrt((dx_uy - dy_ux)^2 + (dx_uz - dz_ux)^2 + (dy_uz - dz_uy)^2)"),
        ] {
            let model = model(spec, None, Some(criterion));
            assert_eq!(formula(&model, model.criteria()[0].formula).to_string(), expected, "{criterion}");
        }
    }

    #[test]
    fn functions_are_those_of_formulas() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        for (criterion, expected) in [
            ("exp(-rho) + rho^0.3", "exp(-rho) + rho^(3 / 10)"),
            ("atan2(u[1], u[0])", "atan2(uy, ux)"),
            ("max(rho, 1)", "if(1 < rho, rho, 1)"),
        ] {
            let text = format!("{text}criterion own(rho, u[a]) = {criterion} + 0 * rho * u[0];");
            let model = lbm_dsl::compile(&Source::new("own.lbm", &text), &Prelude)
                .unwrap_or_else(|report| panic!("{}", report.render(100)));
            assert_eq!(formula(&model, model.criteria()[0].formula).to_string(), expected);
        }
    }

    #[test]
    fn rates_of_levels_are_formulas_of_parameters() {
        let model = model("d2q9_bgk", Some("volumetric_shifted"), None);
        let rate = formula(&model, model.couplings()[0].rates()[0].finer);
        let at = |omega: f64| rate.value(&|name| (name == "omega").then_some(omega)).unwrap();
        for omega in [0.5, 1.0, 1.9] {
            assert!((at(omega) - 2.0 * omega / (4.0 - omega)).abs() < 1e-15, "{rate}");
        }
    }
}
