//! Values of formulas together with their derivatives, as dual numbers.
//!
//! A choice has the derivative of the branch that it takes, and comparisons have none.

use super::{Formula, Function};

impl Formula {
    /// Whether it has derivatives by its names: tables, noise and recordings have none.
    pub fn has_slopes(&self) -> bool {
        match self {
            Formula::Number(_) | Formula::Name(_) => true,
            Formula::Apply(_, operands) => operands.iter().all(Formula::has_slopes),
            Formula::Table(..) | Formula::Noise(..) | Formula::Recorded(..) => self.names().is_empty(),
        }
    }

    /// Its value and its derivative, given those of names; `None` where a name is unknown. Tables, noise and recordings are taken as constant.
    pub fn slope(&self, named: &dyn Fn(&str) -> Option<[f64; 2]>) -> Option<[f64; 2]> {
        match self {
            Formula::Name(name) => named(name),
            Formula::Apply(function, operands) => {
                let (mut values, mut slopes) = ([0.0; 3], [0.0; 3]);
                for (at, operand) in operands.iter().enumerate() {
                    [values[at], slopes[at]] = operand.slope(named)?;
                }
                let value = function.of(&values[..operands.len()]);
                let slope = if slopes == [0.0; 3] { 0.0 } else { function.slope(value, values, slopes) };
                Some([value, slope])
            }
            _ => Some([self.value(&|name| Some(named(name)?[0]))?, 0.0]),
        }
    }
}

impl Function {
    /// The derivative of its value, given the values of its operands and their derivatives.
    fn slope(self, value: f64, [a, b, _]: [f64; 3], [da, db, dc]: [f64; 3]) -> f64 {
        // What does not change adds nothing, whatever its factor is.
        let times = |slope: f64, factor: f64| if slope == 0.0 { 0.0 } else { slope * factor };
        match self {
            Function::Add => da + db,
            Function::Subtract => da - db,
            Function::Multiply => times(da, b) + times(db, a),
            Function::Divide => times(da, 1.0 / b) - times(db, a / (b * b)),
            Function::Power => times(da, b * Function::Power.of(&[a, b - 1.0])) + times(db, value * a.ln()),
            Function::Negate => -da,
            Function::If => {
                if a != 0.0 {
                    db
                } else {
                    dc
                }
            }
            Function::Min => {
                if b < a {
                    db
                } else {
                    da
                }
            }
            Function::Max => {
                if a < b {
                    db
                } else {
                    da
                }
            }
            Function::Abs => {
                if a < 0.0 {
                    -da
                } else {
                    da
                }
            }
            Function::Sin => da * a.cos(),
            Function::Cos => -da * a.sin(),
            Function::Tan => da * (1.0 + value * value),
            Function::Asin => da / (1.0 - a * a).sqrt(),
            Function::Acos => -da / (1.0 - a * a).sqrt(),
            Function::Atan => da / (1.0 + a * a),
            Function::Atan2 => (times(da, b) - times(db, a)) / (a * a + b * b),
            Function::Sinh => da * a.cosh(),
            Function::Cosh => da * a.sinh(),
            Function::Tanh => da * (1.0 - value * value),
            Function::Exp => da * value,
            Function::Ln => da / a,
            Function::Log10 => da / (std::f64::consts::LN_10 * a),
            Function::Sqrt => da / (2.0 * value),
            // Others change where they jump alone.
            _ => 0.0,
        }
    }
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
            for x in [0.2, 0.7] {
                let at = |x: f64| formula.value(&|name| Some(if name == "x" { x } else { 0.4 })).unwrap();
                let width = 1e-5;
                let expected = (at(x + width) - at(x - width)) / (2.0 * width);
                let [value, found] =
                    formula.slope(&|name| Some(if name == "x" { [x, 1.0] } else { [0.4, 0.0] })).unwrap();
                assert_eq!(value, at(x), "{formula}");
                assert!((found - expected).abs() < 1e-8, "{formula} at {x}: {found}, not {expected}");
            }
        }
        let slope = |text: &str| text.parse::<Formula>().unwrap().slope(&|name| (name == "x").then_some([0.0, 1.0]));
        assert_eq!(slope("sqrt(0) * (x + 2) + 0^0.5"), Some([0.0, 0.0]), "what is constant has no slope of its own");
        assert_eq!(slope("x * y"), None);
        let has = |text: &str| text.parse::<Formula>().unwrap().has_slopes();
        assert_eq!(["x^2", "x + table(\"a.csv\", 1)", "table(\"a.csv\", x)"].map(has), [true, true, false]);
    }
}
