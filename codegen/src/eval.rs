//! Interprets a kernel: the oracle that every other execution is compared with.
//!
//! In: a `KernelIr` or a `Dag` and the values of its inputs. Out: the outputs, in any kind of [`Number`]: exact rationals
//! for proofs, `f32` and `f64` for rounding.

use lbm_dsl::expr::{ExprId, Number, Symbol};

use crate::ir::{Dag, KernelIr};

/// The outputs of a kernel as the spec says it, in order.
pub fn eval_ir<N: Number>(kernel: &KernelIr, input: impl Fn(Symbol) -> N) -> Vec<N> {
    let roots: Vec<ExprId> = kernel.outputs.iter().map(|output| output.value).collect();
    kernel.exprs.eval(&roots, input)
}

/// The outputs of a simplified kernel, in order.
pub fn eval_dag<N: Number>(dag: &Dag, input: impl Fn(Symbol) -> N) -> Vec<N> {
    let roots: Vec<ExprId> = dag.outputs().iter().map(|output| output.value).collect();
    dag.exprs().eval(&roots, input)
}
