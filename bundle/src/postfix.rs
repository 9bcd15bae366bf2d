//! Formulas of parameters, for a reader that knows no language.

use serde::{Deserialize, Serialize};

/// A formula of named values, operands before their operators, one word each: `2 $omega * 4 $omega - /`.
///
/// Words are names, each behind a `$`, rational numbers (`1/3`), and the operators `+ - * /` of two operands, `neg` and `sqrt` of one, and
/// `less`, `less_equal`, `equal` of four: the third if the first two compare so, else the fourth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Postfix(pub String);

impl Postfix {
    /// Its value, given those of names; `None` where a name is unknown or the text is no formula.
    pub fn value(&self, named: impl Fn(&str) -> Option<f64>) -> Option<f64> {
        let mut stack: Vec<f64> = Vec::new();
        for word in self.0.split_whitespace() {
            let value = match word {
                "+" | "-" | "*" | "/" => {
                    let (b, a) = (stack.pop()?, stack.pop()?);
                    match word {
                        "+" => a + b,
                        "-" => a - b,
                        "*" => a * b,
                        _ => a / b,
                    }
                }
                "neg" => -stack.pop()?,
                "sqrt" => stack.pop()?.sqrt(),
                "less" | "less_equal" | "equal" => {
                    let (otherwise, then, b, a) = (stack.pop()?, stack.pop()?, stack.pop()?, stack.pop()?);
                    let holds = match word {
                        "less" => a < b,
                        "less_equal" => a <= b,
                        _ => a == b,
                    };
                    if holds { then } else { otherwise }
                }
                word => match word.strip_prefix('$') {
                    Some(name) => named(name)?,
                    None => {
                        let (above, below) = word.split_once('/').unwrap_or((word, "1"));
                        above.parse::<f64>().ok()? / below.parse::<f64>().ok()?
                    }
                },
            };
            stack.push(value);
        }
        match stack[..] {
            [value] => Some(value),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<f64> {
        Postfix(text.into()).value(|name| ["omega", "neg"].contains(&name).then_some(1.5))
    }

    #[test]
    fn operands_come_before_operators() {
        assert_eq!(value("2 $omega * 4 $omega - /"), Some(3.0 / 2.5));
        assert_eq!(value("-1/4 neg sqrt"), Some(0.5));
        assert_eq!(value("$omega 2 less_equal 1 3 less"), None);
        assert_eq!(value("$omega 2 7 8 less"), Some(7.0));
        assert_eq!(value("$omega 2 7 8 equal"), Some(8.0));
    }

    #[test]
    fn a_name_is_none_of_the_operators() {
        assert_eq!(value("2 $neg *"), Some(3.0));
    }

    #[test]
    fn what_is_no_formula_has_no_value() {
        for text in ["", "1 2", "+", "$tau", "omega", "1.x", "$omega /"] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
