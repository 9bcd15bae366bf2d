//! Derivatives of formulas by names, as formulas.
//!
//! A choice has the derivative of the branch that it takes, and comparisons have none.

use super::{Formula, Function};

impl Formula {
    /// The derivative by a name; `None` where a table or noise depends on it.
    pub fn derivative(&self, name: &str) -> Option<Formula> {
        if !self.names().contains(name) {
            return Some(Formula::Number(0.0));
        }
        let (function, operands) = match self {
            Formula::Number(_) | Formula::Table(..) | Formula::Noise(..) => return None,
            Formula::Name(_) => return Some(Formula::Number(1.0)),
            Formula::Apply(function, operands) => (*function, operands),
        };
        let slopes: Option<Vec<Formula>> = operands.iter().map(|operand| operand.derivative(name)).collect();
        let slopes = slopes?;
        let (a, da) = (&operands[0], &slopes[0]);
        let pair = || operands.get(1).zip(slopes.get(1));
        let number = Formula::Number;
        let (zero, one, two) = (number(0.0), number(1.0), number(2.0));
        let square = |of: &Formula| product(of, of);
        // The derivative of a function of one operand, times that of the operand.
        let chain = |slope: Formula| product(&slope, da);
        Some(match (function, pair()) {
            (Function::Add, Some((_, db))) => sum(da, db),
            (Function::Subtract, Some((_, db))) => difference(da, db),
            (Function::Multiply, Some((b, db))) => sum(&product(da, b), &product(a, db)),
            (Function::Divide, Some((b, db))) => difference(&quotient(da, b), &quotient(&product(a, db), &square(b))),
            (Function::Power, Some((b, db))) if is(db, 0.0) => {
                let lower = Formula::apply(Function::Power, [a.clone(), difference(b, &one)]);
                chain(product(b, &lower))
            }
            (Function::Power, Some((b, db))) => {
                let by_exponent = product(db, &of(Function::Ln, a));
                product(self, &sum(&by_exponent, &quotient(&product(b, da), a)))
            }
            (Function::Negate, _) => difference(&zero, da),
            (Function::If, _) => Formula::apply(Function::If, [a.clone(), slopes[1].clone(), slopes[2].clone()]),
            (Function::Min, Some((b, db))) => choice(Function::Less, b, a, db, da),
            (Function::Max, Some((b, db))) => choice(Function::Less, a, b, db, da),
            (Function::Abs, _) => choice(Function::Less, a, &zero, &difference(&zero, da), da),
            (Function::Sin, _) => chain(of(Function::Cos, a)),
            (Function::Cos, _) => difference(&zero, &chain(of(Function::Sin, a))),
            (Function::Tan, _) => chain(sum(&one, &square(self))),
            (Function::Asin, _) => quotient(da, &of(Function::Sqrt, &difference(&one, &square(a)))),
            (Function::Acos, _) => difference(&zero, &quotient(da, &of(Function::Sqrt, &difference(&one, &square(a))))),
            (Function::Atan, _) => quotient(da, &sum(&one, &square(a))),
            (Function::Atan2, Some((b, db))) => {
                quotient(&difference(&product(b, da), &product(a, db)), &sum(&square(a), &square(b)))
            }
            (Function::Sinh, _) => chain(of(Function::Cosh, a)),
            (Function::Cosh, _) => chain(of(Function::Sinh, a)),
            (Function::Tanh, _) => chain(difference(&one, &square(self))),
            (Function::Exp, _) => chain(self.clone()),
            (Function::Ln, _) => quotient(da, a),
            (Function::Log10, _) => quotient(da, &product(&number(std::f64::consts::LN_10), a)),
            (Function::Sqrt, _) => quotient(da, &product(&two, self)),
            // Comparisons do not change but where they jump.
            _ => zero,
        })
    }
}

fn is(formula: &Formula, value: f64) -> bool {
    *formula == Formula::Number(value)
}

fn of(function: Function, a: &Formula) -> Formula {
    Formula::apply(function, [a.clone()])
}

fn sum(a: &Formula, b: &Formula) -> Formula {
    match (is(a, 0.0), is(b, 0.0)) {
        (true, _) => b.clone(),
        (_, true) => a.clone(),
        _ => Formula::apply(Function::Add, [a.clone(), b.clone()]),
    }
}

fn difference(a: &Formula, b: &Formula) -> Formula {
    match (a, b) {
        _ if is(b, 0.0) => a.clone(),
        (Formula::Number(a), Formula::Number(b)) => Formula::number(a - b),
        _ if is(a, 0.0) => of(Function::Negate, b),
        _ => Formula::apply(Function::Subtract, [a.clone(), b.clone()]),
    }
}

fn product(a: &Formula, b: &Formula) -> Formula {
    match (a, b) {
        _ if is(a, 0.0) || is(b, 0.0) => Formula::Number(0.0),
        _ if is(a, 1.0) => b.clone(),
        _ if is(b, 1.0) => a.clone(),
        _ => Formula::apply(Function::Multiply, [a.clone(), b.clone()]),
    }
}

fn quotient(a: &Formula, b: &Formula) -> Formula {
    if is(a, 0.0) { a.clone() } else { Formula::apply(Function::Divide, [a.clone(), b.clone()]) }
}

/// One of two where a comparison of `a` and `b` holds, else the other.
fn choice(compare: Function, a: &Formula, b: &Formula, then: &Formula, otherwise: &Formula) -> Formula {
    let condition = Formula::apply(compare, [a.clone(), b.clone()]);
    Formula::apply(Function::If, [condition, then.clone(), otherwise.clone()])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_of_all_functions_are_slopes() {
        let operands = |function: Function| function.operands().len();
        for function in Function::ALL {
            let inner = ["0.3 + x / 3", "0.9 - x^2 / 5", "x * y"].map(|text| text.parse::<Formula>().unwrap());
            let formula = Formula::apply(*function, &inner[..operands(*function)]);
            let slope = formula.derivative("x").unwrap();
            for x in [0.2, 0.7] {
                let at =
                    |formula: &Formula, x: f64| formula.value(&|name| Some(if name == "x" { x } else { 0.4 })).unwrap();
                let width = 1e-5;
                let expected = (at(&formula, x + width) - at(&formula, x - width)) / (2.0 * width);
                let found = at(&slope, x);
                assert!((found - expected).abs() < 1e-8, "{formula} at {x}: {slope} is {found}, not {expected}");
            }
        }
        assert_eq!("y^2".parse::<Formula>().unwrap().derivative("x"), Some(Formula::Number(0.0)));
        assert_eq!("table(\"a.csv\", x)".parse::<Formula>().unwrap().derivative("x"), None);
    }
}
