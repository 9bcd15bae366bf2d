//! The arithmetic of a kernel as a small language.
//!
//! A [`KernelIr`] is straight-line arithmetic for one cell: inputs are [`Symbol`]s, expressions live in a hash-consed
//! [`Exprs`], some of them carry the names of the spec's `let`s, and each output has a name. There are no loops, no
//! memory and no indices: gathering the inputs and storing the outputs belongs to the target's template.
//!
//! - [`KernelIr`]: as the spec says it, every index expanded, of whole populations or of stored ones. Sums are left-associated
//!   chains of `Add` and `Sub`.
//! - [`Dag`]: the same values after simplification: shared, factored, with [`Expr::Fma`]. Made by `simplify` only.
//! - [`Plan`]: the `Dag` in an order, every temporary named. Made by `schedule` only.
//!
//! [`Expr::Fma`]: lbm_dsl::expr::Expr::Fma

use std::collections::BTreeSet;

use lbm_bundle::Cost;
use lbm_dsl::expr::{Expr, ExprId, Exprs, Pop, Symbol};

/// A name that the spec gives to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Expanded name: `rho`, `ux`, `feq_7`.
    pub name: String,
    /// Family as written: `rho`, `u`, `feq`. Consecutive values of one family make a section of the kernel.
    pub family: String,
    /// The value.
    pub value: ExprId,
    /// Source file, without folder.
    pub file: String,
    /// Line in that file, from 1.
    pub line: usize,
}

/// An output of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// Name: `post_7`, `rho`, `ux`.
    pub name: String,
    /// Its value.
    pub value: ExprId,
    /// The population that it is, if it is one; moments that are stored are counted on from the populations.
    pub population: Option<Pop>,
}

/// Arithmetic as the spec says it.
#[derive(Clone, Debug)]
pub struct KernelIr {
    /// Name: `collide`, `init`, `macroscopic`, `wall_bounce_back`.
    pub name: String,
    /// Every expression.
    pub exprs: Exprs,
    /// Named values in the order of the spec.
    pub lets: Vec<Named>,
    /// Outputs in order.
    pub outputs: Vec<Output>,
    /// How the inputs are called in the emitted text: `f_3`, `omega`, `ux`.
    pub symbols: Vec<(Symbol, String)>,
}

/// The same values, simplified. Every expression in `exprs` is needed by an output; nothing is computed twice but what is made
/// of [`Expr::Again`](lbm_dsl::expr::Expr::Again).
#[derive(Clone, Debug)]
pub struct Dag {
    pub(crate) name: String,
    pub(crate) exprs: Exprs,
    pub(crate) lets: Vec<Named>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) symbols: Vec<(Symbol, String)>,
    pub(crate) algebra: Cost,
}

impl Dag {
    /// Name of the kernel.
    pub fn name(&self) -> &str {
        &self.name
    }
    /// Every expression.
    pub fn exprs(&self) -> &Exprs {
        &self.exprs
    }
    /// Named values that survived simplification; a name whose value was folded away is gone.
    pub fn lets(&self) -> &[Named] {
        &self.lets
    }
    /// Outputs in the order of the `KernelIr`.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }
    /// How the inputs are called.
    pub fn symbols(&self) -> &[(Symbol, String)] {
        &self.symbols
    }
    /// The same without inputs that it has no use for, as those of a sum that vanishes.
    pub fn trimmed(mut self) -> Self {
        let read: BTreeSet<Symbol> = {
            let symbol =
                |(_, node): (ExprId, &Expr)| if let Expr::Symbol(symbol) = node { Some(*symbol) } else { None };
            self.exprs.iter().filter_map(symbol).collect()
        };
        self.symbols.retain(|(symbol, _)| read.contains(symbol));
        self
    }
    /// What the kernel cost after exact linear algebra, before the e-graph.
    pub fn algebra(&self) -> Cost {
        self.algebra
    }
}

/// What a statement computes from: a name or a constant. Constants are exact and printed by the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Statement {
    /// The temporary it defines: a name of the spec, or `t0`, `t1`, ... in order of emission.
    pub name: String,
    /// The expression in the `Plan`'s graph that it computes. Its operands are symbols, constants, other statements'
    /// values, or single-use expressions that are printed inline.
    pub value: ExprId,
}

/// A run of statements that compute one family of the spec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// Heading: the family's name, `post` for the outputs.
    pub title: String,
    /// Where the spec defines it, `d3q19_bgk.lbm:14`; empty for sections of the compiler's own.
    pub cite: String,
    /// In order.
    pub statements: Vec<Statement>,
}

/// A `Dag` in an order. An expression that is no statement is printed inside its only user.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(crate) dag: Dag,
    pub(crate) sections: Vec<Section>,
    pub(crate) live: usize,
}

impl Plan {
    /// Most values alive at once, inputs included: about the registers that it needs.
    pub fn live(&self) -> usize {
        self.live
    }

    /// The expressions.
    pub fn dag(&self) -> &Dag {
        &self.dag
    }
    /// The statements in order.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// What one of the outputs needs, computed in the same way.
    pub fn of_output(&self, at: usize) -> Plan {
        let output = &self.dag.outputs[at];
        let (exprs, new) = self.dag.exprs.subgraph(&[output.value]);
        let outputs = vec![Output { value: new[output.value], ..output.clone() }];
        let lets = self.dag.lets.iter().filter_map(|own| Some(Named { value: new.get(own.value)?, ..own.clone() }));
        let dag = Dag { lets: lets.collect(), exprs, outputs, ..self.dag.clone() };
        let statement = |own: &Statement| Some(Statement { name: own.name.clone(), value: new.get(own.value)? });
        let section = |own: &Section| Section {
            statements: own.statements.iter().filter_map(statement).collect(),
            ..own.clone()
        };
        let sections = self.sections.iter().map(section).filter(|section| !section.statements.is_empty()).collect();
        Plan { dag: dag.trimmed(), sections, live: self.live }
    }
}
