//! What a formula stands for while it is expanded.
//!
//! Numbers, constants included, are nodes of the graph; families are dense arrays of them; directions and conditions
//! exist only during expansion.

use std::rc::Rc;

use crate::expr::{Compare, ExprId};
use crate::lattice::Dir;

/// A velocity set: the position of the first populations on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatticeId(pub usize);

/// The directions of a velocity set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dirs {
    /// The set.
    pub lattice: LatticeId,
    /// How many there are.
    pub count: usize,
}

/// A direction that knows its velocity set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Direction {
    /// The set.
    pub lattice: LatticeId,
    /// The direction there.
    pub dir: Dir,
}

/// What one index of a family runs over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dim {
    /// Directions.
    Dirs(Dirs),
    /// The axes, so many.
    Axes(usize),
    /// Whole numbers, both ends included.
    Whole(i64, i64),
}

impl Dim {
    /// How many values the index has.
    pub fn len(self) -> usize {
        match self {
            Dim::Dirs(dirs) => dirs.count,
            Dim::Axes(count) => count,
            Dim::Whole(low, high) => usize::try_from(high - low + 1).unwrap_or(0),
        }
    }

    /// The value at a position: an axis, a whole number, or the number of a direction.
    pub fn at(self, position: usize) -> i64 {
        match self {
            Dim::Dirs(_) | Dim::Axes(_) => position as i64,
            Dim::Whole(low, _) => low + position as i64,
        }
    }
}

/// Numbers in a dense array, the last index fastest.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// What its indices run over.
    pub dims: Vec<Dim>,
    /// Its numbers.
    pub data: Rc<[ExprId]>,
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Condition {
    /// Decided.
    Known(bool),
    /// Decided at run time.
    Ask(Compare, ExprId, ExprId),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// Not.
    Not(Box<Condition>),
}

impl Condition {
    /// Both, decided where one side is.
    pub fn and(self, other: Condition) -> Condition {
        match (self, other) {
            (Condition::Known(false), _) | (_, Condition::Known(false)) => Condition::Known(false),
            (Condition::Known(true), other) | (other, Condition::Known(true)) => other,
            (left, right) => Condition::And(Box::new(left), Box::new(right)),
        }
    }

    /// The contrary.
    pub fn negate(self) -> Condition {
        match self {
            Condition::Known(known) => Condition::Known(!known),
            Condition::Not(inner) => *inner,
            other => Condition::Not(Box::new(other)),
        }
    }
}

/// What a formula stands for.
#[derive(Clone, Debug)]
pub enum Value {
    /// A number.
    Number(ExprId),
    /// A direction.
    Dir(Direction),
    /// A condition.
    Condition(Condition),
    /// A family.
    Tensor(Tensor),
    /// Something that has been reported already.
    Poison,
}

impl Value {
    /// What it is, for messages.
    pub fn describe(&self) -> String {
        match self {
            Value::Number(_) => "a number".into(),
            Value::Dir(_) => "a direction".into(),
            Value::Condition(_) => "a condition".into(),
            Value::Poison => "undefined".into(),
            Value::Tensor(tensor) => match tensor.dims[..] {
                [Dim::Axes(count)] => format!("a vector of {count} components"),
                [Dim::Dirs(dirs)] => format!("a family over {} directions", dirs.count),
                [_] => "a family with one index".into(),
                _ => format!("a family with {} indices", tensor.dims.len()),
            },
        }
    }
}
