//! What a case makes of the results of its run: named formulas of what the summary has.
//!
//! Formulas are of numbers in the units of the case. What the case knows, its viscosity, say, is put in when it is resolved; what a run finds is
//! a [`Source`].

use super::walls::Face;

/// Most formulas of a case.
pub(super) const MOST_REPORTS: usize = 256;
/// A number that follows from the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// As the case has it.
    pub text: String,
    /// Of the names of [`Sources`], and of reports before it.
    pub formula: lbm_bundle::Formula,
}

/// What a run finds. Numbers are those in the case, from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Of a plane of fluxes: its area, the mean of the volume or the mass per time.
    Plane(usize, Through),
    /// The mean of a coefficient of the force on a body, by its place among the bodies and parts.
    Force(usize, Coefficient),
    /// The mean of what a body gives of a scalar per time.
    Heat(usize, usize),
    /// The mean of the Nusselt number of a body.
    Nusselt(usize),
    /// The mean of a column of a probe at a point.
    Probe(usize, usize, String),
    /// y+ on a surface.
    YPlus(OnSurface, Range),
    /// The mean over the fluid of a component of the fields at the end, by its name, and a lattice unit of it in the units of the case.
    Mean(String, f64),
    /// The part of the domain that is fluid.
    Porosity,
    /// The last step.
    Steps,
}

/// A surface at which there is friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnSurface {
    /// That of a solid, by its number from 1.
    Solid(usize),
    /// A face of the domain.
    Face(Face),
}

/// What passes a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Through {
    /// The area outside of solids.
    Area,
    /// Volume per time.
    Volume,
    /// Mass per time.
    Mass,
    /// What the flow carries of a scalar, by its number.
    Carried(usize),
    /// What diffuses of it.
    Diffused(usize),
}

/// Which value of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// The least one.
    Least,
    /// The mean over its area.
    Mean,
    /// The greatest one.
    Greatest,
}

/// A coefficient of a force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    /// Along x.
    Drag,
    /// In two dimensions along y.
    Lift,
    /// In three dimensions along y.
    Y,
    /// Along z.
    Z,
}
