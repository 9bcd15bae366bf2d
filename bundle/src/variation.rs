//! Parameters of a method that a case makes vary in space, or with the fields of the flow.
//!
//! In the method such a parameter becomes a value that is computed in each cell: a formula of fields, of *places*, which cells keep, and of
//! *numbers*, which are parameters in its stead. A case gives places by formulas of the position, and numbers as other parameters.

use crate::Formula;

/// A parameter that varies.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// Its name.
    pub param: String,
    /// A formula for each component: of components of fields by their names (`rho`, `ux`), of `places` and of `numbers`. Its value is in
    /// what `unit` says, or in cells and steps of level 0.
    pub formulas: Vec<Formula>,
    /// Names of values that a cell keeps: the same on all levels, as those of fields are.
    pub places: Vec<String>,
    /// Names of parameters that are pure numbers.
    pub numbers: Vec<String>,
    /// Name of a parameter with the unit of this one, which its formulas are multiplied with: on finer levels it is what the unit is there.
    pub unit: Option<String>,
    /// Whether the formula is that of the kinematic viscosity, from which this parameter, a relaxation rate, follows.
    pub viscosity: bool,
}

/// Name of the value of the method that is its kinematic viscosity, if a case makes that vary.
pub const VISCOSITY: &str = "viscosity";

/// Name of the rate of an absorbing layer: a parameter that every method gets where a case makes it vary.
pub const ABSORBING: &str = "absorbing";

/// Names of the parameters that are the density and the velocity beyond the layer.
pub const FAR_DENSITY: &str = "absorbing_density";
/// See [`FAR_DENSITY`].
pub const FAR_VELOCITY: &str = "absorbing_velocity";

/// Name of the mixing length of the shear, in cells: a parameter of methods with an eddy viscosity. Below laws of the wall a case sets it.
pub const MIXING: &str = "mixing";
