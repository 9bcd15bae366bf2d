//! `[fluid]`.

use super::params::RawParam;
use super::reader::Reader;
use crate::case::diag::{Span, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::QUANTITY;
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

keys! {
    /// `[fluid]`.
    RawFluid, "fluid." {
        re: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "Reynolds number";
        viscosity: RawViscosity = viscosity(), QUANTITY,
            "kinematic viscosity: a number, or a formula of position, time and fields";
        omega: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "relaxation rate that sets the viscosity";
        diffusivity: Spanned<f64> = positive(Dimension::VISCOSITY), QUANTITY,
            "diffusivity of the temperature or other scalar that the method transports, or mobility of a phase: sets its relaxation rate";
        prandtl: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "viscosity over the diffusivity of the scalar: the Prandtl number of a temperature, the Schmidt number of a concentration";
        velocity: Spanned<f64> = positive(Dimension::VELOCITY), QUANTITY,
            "reference velocity";
        length: Spanned<f64> = positive(Dimension::LENGTH), QUANTITY,
            "reference length";
    }
}

/// Keys of which a case gives at most one.
pub(in crate::case) const EXCLUSIVE: [&[&str]; 2] =
    [&["fluid.re", "fluid.viscosity", "fluid.omega"], &["fluid.diffusivity", "fluid.prandtl"]];

/// The viscosity.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawViscosity {
    Number(Spanned<f64>),
    Formula(RawParam),
}

impl RawFluid {
    /// What sets the relaxation rate of the viscosity, where it is a number: of these keys a case has one.
    pub(in crate::case) fn sets_rate(&self) -> Option<&Spanned<f64>> {
        self.re.as_ref().or(self.number()).or(self.omega.as_ref())
    }

    /// The viscosity where it is a number.
    pub(in crate::case) fn number(&self) -> Option<&Spanned<f64>> {
        match &self.viscosity {
            Some(RawViscosity::Number(number)) => Some(number),
            _ => None,
        }
    }

    /// The viscosity where it is a formula.
    pub(in crate::case) fn varied(&self) -> Option<&RawParam> {
        match &self.viscosity {
            Some(RawViscosity::Formula(formula)) => Some(formula),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub(in crate::case) fn varied_mut(&mut self) -> Option<&mut RawParam> {
        match &mut self.viscosity {
            Some(RawViscosity::Formula(formula)) => Some(formula),
            _ => None,
        }
    }
}

impl Reader {
    pub(in crate::case) fn fluid(&mut self, table: &Table, span: &Span) -> Option<RawFluid> {
        EXCLUSIVE.iter().for_each(|keys| self.exclusive(table, keys, false, ""));
        RawFluid::read(self, table, span)
    }

    fn viscosity(&mut self, table: &Table, key: &str) -> Option<RawViscosity> {
        let is_number = |value: &Value| match &value.kind {
            Kind::Text(text) => !Formula::parse_named(text).is_ok_and(|(formula, _)| formula.constant().is_none()),
            _ => true,
        };
        let entry = table.get(key)?;
        if is_number(&entry.value) {
            return self.positive(table, key, Dimension::VISCOSITY).map(RawViscosity::Number);
        }
        let formula = self.named_formula(&entry.value, Some(Dimension::VISCOSITY))?;
        let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
        Some(RawViscosity::Formula(RawParam { name, span: entry.value.span.clone(), values: vec![formula] }))
    }
}
