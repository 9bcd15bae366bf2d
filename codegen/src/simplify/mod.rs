//! In: a `KernelIr` as the spec says it. Out: a [`Dag`] of the same values.
//!
//! After: every expression is needed by an output, no expression occurs twice, every constant is exact.

use std::fmt;

use lbm_dsl::expr::{Expr, ExprId, Exprs};

use crate::ir::{Dag, KernelIr};

/// Why a kernel could not be simplified.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SimplifyError {
    /// The e-graph ran into its time limit, which would make the result depend on the machine.
    Time {
        /// Name of the kernel.
        kernel: String,
    },
}

impl fmt::Display for SimplifyError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time { kernel } => write!(out, "simplification of `{kernel}` ran out of time"),
        }
    }
}

impl std::error::Error for SimplifyError {}

/// Simplifies one kernel.
pub fn simplify(kernel: &KernelIr) -> Result<Dag, SimplifyError> {
    let mut needed = vec![false; kernel.exprs.len()];
    for output in &kernel.outputs {
        needed[output.value.index()] = true;
    }
    let nodes: Vec<(ExprId, &Expr)> = kernel.exprs.iter().collect();
    for (id, node) in nodes.iter().rev() {
        if needed[id.index()] {
            for operand in node.operands() {
                needed[operand.index()] = true;
            }
        }
    }
    let mut exprs = Exprs::new();
    let mut new: Vec<Option<ExprId>> = vec![None; nodes.len()];
    for (id, node) in nodes {
        if needed[id.index()] {
            let at = |old: ExprId| new[old.index()].expect("operands precede users");
            let node = match *node {
                Expr::Const(_) | Expr::Symbol(_) => node.clone(),
                Expr::Neg(a) => Expr::Neg(at(a)),
                Expr::Add(a, b) => Expr::Add(at(a), at(b)),
                Expr::Sub(a, b) => Expr::Sub(at(a), at(b)),
                Expr::Mul(a, b) => Expr::Mul(at(a), at(b)),
                Expr::Div(a, b) => Expr::Div(at(a), at(b)),
                Expr::Sqrt(a) => Expr::Sqrt(at(a)),
                Expr::Fma(a, b, c) => Expr::Fma(at(a), at(b), at(c)),
                Expr::Select { compare, left, right, then, otherwise } => {
                    Expr::Select { compare, left: at(left), right: at(right), then: at(then), otherwise: at(otherwise) }
                }
            };
            new[id.index()] = Some(exprs.add(node));
        }
    }
    let renamed = |old: ExprId| new[old.index()];
    let lets = kernel.lets.iter().filter_map(|named| {
        let value = renamed(named.value)?;
        Some(crate::ir::Named { value, ..named.clone() })
    });
    let outputs = kernel.outputs.iter().map(|output| crate::ir::Output {
        name: output.name.clone(),
        value: renamed(output.value).expect("outputs are needed"),
    });
    Ok(Dag {
        name: kernel.name.clone(),
        lets: lets.collect(),
        outputs: outputs.collect(),
        symbols: kernel.symbols.clone(),
        exprs,
    })
}
