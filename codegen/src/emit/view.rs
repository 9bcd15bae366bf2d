//! What the templates print of every kernel: finished strings and their repetition, no decisions left. What they print of one subject is
//! beside what fills it.

use serde::Serialize;

/// One kernel.
#[derive(Debug, Serialize)]
pub struct Kernel {
    /// What is around its text.
    #[serde(flatten)]
    pub head: Head,
    /// Its arithmetic, if it has some of its own.
    #[serde(flatten)]
    pub formulas: Formulas,
}

/// What the templates put around the text of a kernel.
#[derive(Debug, Serialize)]
pub struct Head {
    /// Symbol.
    pub symbol: String,
    /// What it does, in lines.
    pub doc: Vec<&'static str>,
    /// Declarations of its arguments.
    pub args: Vec<String>,
    /// Statements that take the parameters which it reads out of their struct.
    pub unpack: Vec<String>,
    /// CUDA: threads of a thread block.
    pub threads: u32,
    /// CUDA: how many of its thread blocks a processor shall hold at the same time, if that is said.
    pub resident: Option<u32>,
    /// How it comes from item to item.
    #[serde(flatten)]
    pub work: Work,
}

/// What is around that which a kernel does for an item.
#[derive(Debug, Default, Serialize)]
pub struct Work {
    /// Statements before it, in lines.
    pub begin: Vec<String>,
    /// What ends them.
    pub end: Vec<String>,
    /// Columns by which what stands between is indented.
    pub indent: usize,
    /// Statement that goes on to the next item.
    pub skip: &'static str,
}

/// A host kernel as it is called with an array of pointers.
#[derive(Debug, Serialize)]
pub struct Packed {
    /// Its symbol.
    pub symbol: String,
    /// Its arguments as they are read.
    pub args: Vec<String>,
}

/// Arithmetic.
#[derive(Debug, Default, Serialize)]
pub struct Formulas {
    /// Inputs: name and position.
    pub inputs: Vec<Value>,
    /// Its arithmetic, in lines.
    pub body: Vec<String>,
    /// Outputs: value and position.
    pub outputs: Vec<Value>,
}

/// A value and its position among its kind.
#[derive(Debug, Serialize)]
pub struct Value {
    /// Name or formula.
    pub text: String,
    /// Direction or component.
    pub at: usize,
}

/// Where a direction pulls from.
#[derive(Debug, Serialize)]
pub struct Pull {
    /// Direction, or the position of a value that is seen behind all values of a cell.
    pub at: usize,
    /// Where cells have it.
    pub row: usize,
    /// Its number among the values that are seen, if it is one.
    pub seen: Option<usize>,
    /// Whether it is a population, or a state that the spec names.
    pub own: bool,
    /// Its velocity, `1, 0, -1`.
    pub velocity: String,
    /// The opposite of that.
    pub back: String,
    /// The opposite direction.
    pub opposite: usize,
    /// Whether it is the rest direction.
    pub rest: bool,
    /// CUDA: position of the neighbour that holds the upwind cell.
    pub near: String,
    /// CUDA: the same as an index among the neighbours.
    pub entry: String,
    /// CUDA: index of the upwind cell there.
    pub cell: String,
    /// Velocity along x.
    pub along: i32,
    /// CUDA: position of the neighbour that holds the cell which is upwind along the other axes.
    pub row_near: String,
    /// CUDA: index of that cell there.
    pub row_cell: String,
}
