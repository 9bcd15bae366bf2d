//! Programs that say which level a block wishes to have: what [`Role::Wish`](crate::Role::Wish) runs at every cell.
//!
//! A program is a list of pairs `[op, argument]` for a machine with a stack of real numbers. Values and functions leave
//! their result on the stack; a wish takes the top of it. A block has the finest level that one of its cells wishes.
//!
//! Variables: 0, 1, 2 the centre of the cell in cells of level 0; 3 its width in these; then, for each component of the
//! fields, its value and its derivatives along the axes, per cell of level 0.

/// Depth of the stack.
pub const STACK: usize = 32;

/// Ops from this one on take an operand.
pub const TAKING: i32 = 2;

/// Ops from this one on take two.
pub const BINARY: i32 = 64;

/// Leaves a constant; the argument is its position.
pub const CONSTANT: i32 = 0;

/// Leaves a variable; the argument is its number.
pub const VARIABLE: i32 = 1;

/// Wishes the operand as a level, rounded down.
pub const LEVEL: i32 = 2;

/// Wishes the level of the argument where the operand is positive.
pub const WITHIN: i32 = 3;

/// Wishes the finest level whose threshold the operand reaches: those of levels 1 to `finest` stand in the constants from
/// the argument on. Behind them stand the thresholds, for the same levels, below which a level is given up.
pub const ABOVE: i32 = 4;

/// A function of one number or two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Function {
    /// Name in formulas.
    pub name: &'static str,
    /// Its op.
    pub op: i32,
    /// In C, of `a` and `b`.
    pub formula: &'static str,
}

const fn one(name: &'static str, at: i32, formula: &'static str) -> Function {
    Function { name, op: 8 + at, formula }
}

const fn two(name: &'static str, at: i32, formula: &'static str) -> Function {
    Function { name, op: BINARY + at, formula }
}

/// All functions; operators have the names of their signs, but negation, which is `neg`.
pub const FUNCTIONS: [Function; 23] = [
    one("neg", 0, "-a"),
    one("sin", 1, "sin(a)"),
    one("cos", 2, "cos(a)"),
    one("tan", 3, "tan(a)"),
    one("asin", 4, "asin(a)"),
    one("acos", 5, "acos(a)"),
    one("atan", 6, "atan(a)"),
    one("sinh", 7, "sinh(a)"),
    one("cosh", 8, "cosh(a)"),
    one("tanh", 9, "tanh(a)"),
    one("exp", 10, "exp(a)"),
    one("ln", 11, "log(a)"),
    one("log10", 12, "log10(a)"),
    one("sqrt", 13, "sqrt(a)"),
    one("abs", 14, "fabs(a)"),
    two("+", 0, "a + b"),
    two("-", 1, "a - b"),
    two("*", 2, "a * b"),
    two("/", 3, "a / b"),
    two("^", 4, "pow(a, b)"),
    two("atan2", 5, "atan2(a, b)"),
    two("min", 6, "a < b ? a : b"),
    two("max", 7, "a > b ? a : b"),
];

/// The number of a variable: a component of the fields, or its derivative along an axis.
pub fn field(dim: usize, component: usize, axis: Option<usize>) -> i32 {
    (4 + component * (1 + dim) + axis.map_or(0, |axis| 1 + axis)) as i32
}
