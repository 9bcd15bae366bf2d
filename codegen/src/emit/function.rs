//! Functions by the names that the mathematical library of C and CUDA has for them in 64 bits.

use lbm_bundle::formula::Function;

/// The name of a function; one in 32 bits ends with `f`.
///
/// # Panics
/// For an operator: it is no call.
pub fn library(function: Function) -> &'static str {
    use Function::*;
    match function {
        Add | Subtract | Multiply | Divide | Negate => unreachable!("an operator"),
        Less | LessEqual | Greater | GreaterEqual | Equal | NotEqual | If => unreachable!("an operator"),
        Power => "pow",
        Sin => "sin",
        Cos => "cos",
        Tan => "tan",
        Asin => "asin",
        Acos => "acos",
        Atan => "atan",
        Atan2 => "atan2",
        Sinh => "sinh",
        Cosh => "cosh",
        Tanh => "tanh",
        Exp => "exp",
        Ln => "log",
        Log10 => "log10",
        Sqrt => "sqrt",
        Abs => "fabs",
        Min => "fmin",
        Max => "fmax",
    }
}
