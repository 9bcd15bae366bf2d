//! Parameters of the method that vary, once it is known.

use lbm_bundle::Param;
use lbm_bundle::variation::Variation;

use super::formula::Formula;
use super::keys::params::RawParam;
use super::units::Dimension;

/// A parameter that varies.
#[derive(Clone, Debug)]
pub(super) struct Varied {
    /// What the method is compiled with.
    pub(super) variation: Variation,
    /// What it is: that of the method, or the viscosity.
    pub(super) param: Param,
    /// As it is written.
    pub(super) raw: RawParam,
    /// What its formulas are measured in.
    pub(super) dimension: Dimension,
    /// The places of the variation, in its order.
    pub(super) places: Vec<Place>,
    /// The numbers of the variation, in its order.
    pub(super) numbers: Vec<Number>,
}

/// What a cell keeps for a parameter that varies.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Place {
    /// A formula of its position.
    Formula(Formula),
    /// The mixing length below laws of the wall.
    Mixing,
}

impl Varied {
    /// Whether it depends on fields of the flow.
    pub(super) fn reads_fields(&self) -> bool {
        self.raw.values.iter().any(|(formula, _)| formula.reads_fields())
    }
}

/// What is the same everywhere.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Number {
    /// A formula of the time.
    Course(Formula),
    /// What a field of this dimension is measured in, in cells and steps.
    Scale(Dimension),
}
