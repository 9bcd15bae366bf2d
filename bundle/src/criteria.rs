//! Bundles of criterion kernels, which compute the target levels of blocks.
//!
//! They are compiled for the fields of a method and a case. A criterion is a list of [`TargetLevel`]s, each of which gives every cell a level. The
//! target level of a block is the finest of all its cells. All arithmetic is in 64 bits, and no operation is fused with another, so that the same
//! blocks are refined on every device.
//!
//! Formulas may use the names of [`variables`]: the centre of a cell, `x`, `y` and `z`, and its `width`, in cells of level 0; each component of the fields, `ux`, and
//! its derivatives, `dx_ux`, per cell of level 0; and the time `t` in steps of level 0.

mod kernels;

use std::collections::BTreeMap;

pub use kernels::CriterionRole;

use crate::{Arg, File, Formula, Manifest, Real, Target};

/// A level for each position.
#[derive(Clone, Debug, PartialEq)]
pub enum TargetLevel {
    /// The value of a formula, rounded down; 0 where that is negative or no number.
    Level(Formula),
    /// A level within a box, 0 outside.
    Within {
        /// The level of cells that overlap the box.
        level: usize,
        /// Its lower corner in cells of level 0, for each axis.
        from: Vec<f64>,
        /// Its upper corner.
        to: Vec<f64>,
    },
    /// The finest level whose threshold a formula reaches.
    Above {
        /// What is compared.
        formula: Formula,
        /// Thresholds of level 1, 2 and so on.
        thresholds: Vec<f64>,
        /// Share of its threshold below which a level is given up by what has it.
        given_up: f64,
    },
}

/// What a formula may read at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Variable {
    /// Position of the centre along an axis, in cells of level 0.
    Position(usize),
    /// Width of the cell, in cells of level 0.
    Width,
    /// Steps of level 0 that are done.
    Time,
    /// A component of the fields.
    Component(usize),
    /// Its derivative along an axis, per cell of level 0.
    Derivative {
        /// The component.
        component: usize,
        /// The axis.
        axis: usize,
    },
}

/// Name of the time.
pub const TIME: &str = "t";

/// Name of the width of a cell.
pub const WIDTH: &str = "width";

/// The variables of a method of `dim` axes whose fields have these components, by name. A position, the width
/// and the time come before a field of their name.
pub fn variables(dim: usize, components: &[String]) -> BTreeMap<String, Variable> {
    const AXES: [&str; 3] = ["x", "y", "z"];
    let fields = components.iter().enumerate().flat_map(|(component, name)| {
        let derivative =
            move |axis: usize| (format!("d{}_{name}", AXES[axis]), Variable::Derivative { component, axis });
        (0..dim).map(derivative).chain([(name.clone(), Variable::Component(component))])
    });
    let positions = (0..dim).map(|axis| (AXES[axis].to_string(), Variable::Position(axis)));
    let others = [(WIDTH.to_string(), Variable::Width), (TIME.to_string(), Variable::Time)];
    fields.chain(positions).chain(others).collect()
}

/// The kernel of one criterion.
#[derive(Clone, Debug, PartialEq)]
pub struct CriterionKernel {
    /// Symbol in the compiled code: `d2q9_bgk_target_levels_0`. On the host, `<symbol>_packed` takes an array of pointers to the
    /// arguments.
    pub symbol: String,
    /// Arguments in order: those of [`CriterionRole::TargetLevels`].
    pub args: Vec<Arg>,
    /// CUDA: threads of a thread block, which works on one block.
    pub threads: u32,
}

/// Everything but the source text.
#[derive(Clone, Debug, PartialEq)]
pub struct CriteriaManifest {
    /// [`ABI`](crate::ABI) of the compiler that wrote it.
    pub abi: u32,
    /// Name of the method's spec.
    pub spec: String,
    /// Target.
    pub target: Target,
    /// Real type of the fields.
    pub real: Real,
    /// Number of axes, 2 or 3.
    pub dim: u32,
    /// Cells of a block along each axis.
    pub block: [u32; 3],
    /// Components of the method's fields.
    pub components: Vec<String>,
    /// A kernel for each criterion, in the order in which they were given.
    pub kernels: Vec<CriterionKernel>,
}

impl CriteriaManifest {
    /// Whether the kernels are made for the fields and blocks of a method.
    pub fn is_for(&self, method: &Manifest) -> bool {
        (self.target, self.real, self.dim, self.block) == (method.target, method.real, method.dim, method.block)
            && self.spec == method.spec
            && self.components == method.component_names()
    }
}

/// Criterion kernels of a case for one target, ready to be compiled and launched.
#[derive(Clone, Debug, PartialEq)]
pub struct CriteriaBundle {
    /// Signatures.
    pub manifest: CriteriaManifest,
    /// The kernel source: CUDA or C.
    pub source: File,
}
