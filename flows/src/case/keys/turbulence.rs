//! `faces.*.turbulence`: eddies that a face adds to its velocity.

use super::reader::Reader;
use super::values::RawVector;
use crate::case::diag::{self, Span, Spanned};
use crate::case::formula::Formula;
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// Turbulence, to show how it is written.
const TURBULENCE: &str = "turbulence = { intensity = 0.05, length = 12 }";

/// Names of the stresses, each with its axes.
pub(in crate::case) const STRESSES: [(&str, [usize; 2]); 6] =
    [("uu", [0, 0]), ("uv", [0, 1]), ("uw", [0, 2]), ("vv", [1, 1]), ("vw", [1, 2]), ("ww", [2, 2])];

/// Eddies at a face.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawTurbulence {
    pub(in crate::case) size: RawFluctuation,
    /// One for all axes, or one for each, in m or in cells.
    pub(in crate::case) length: RawVector,
    /// With which they are carried along, in m/s or in cells per step.
    pub(in crate::case) velocity: Option<RawVector>,
    pub(in crate::case) seed: u32,
}

/// How large fluctuations are.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawFluctuation {
    /// Covariances of components of the velocity, by the place in [`STRESSES`], in m^2/s^2 or in cells and steps.
    Stresses(Vec<(usize, Spanned<Formula>)>),
    /// Their root mean square over the velocity.
    Intensity(Spanned<Formula>),
}

impl RawTurbulence {
    /// All formulas, each with a place that shows it.
    pub(in crate::case) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let (stresses, intensity) = match &mut self.size {
            RawFluctuation::Stresses(stresses) => (&mut stresses[..], None),
            RawFluctuation::Intensity(intensity) => (&mut [][..], Some(intensity)),
        };
        let all = stresses.iter_mut().map(|(_, stress)| stress).chain(intensity);
        all.map(|Spanned { value, span }| (&*span, value))
    }
}

impl Reader {
    /// The turbulence of a face or a patch, if it has some; `None` where it cannot be read.
    pub(super) fn turbulence(&mut self, face: &Table) -> Option<Option<Spanned<RawTurbulence>>> {
        let Some(entry) = face.get("turbulence") else { return Some(None) };
        let Kind::Table(table) = &entry.value.kind else {
            return self.wrong_type(&entry.value, "a table", format!("for example `{TURBULENCE}`"));
        };
        self.only_keys(table, &["stresses", "intensity", "length", "velocity", "seed"], "turbulence")?;
        self.exclusive(table, &["stresses", "intensity"], true, "how large the fluctuations are");
        if table.get("length").is_none() {
            let help = format!("for example `{TURBULENCE}`");
            return self.missing(&entry.value.span, "length", "how large the eddies are", help);
        }
        let size = match (table.get("stresses"), table.get("intensity")) {
            (Some(entry), None) => self.stresses(&entry.value).map(RawFluctuation::Stresses),
            (None, Some(entry)) => {
                let value = self.formula(&entry.value, Dimension::NUMBER);
                value.map(|value| RawFluctuation::Intensity(Spanned { value, span: entry.value.span.clone() }))
            }
            _ => None,
        };
        let length = self.eddy_lengths(&table.get("length")?.value);
        let velocity = match table.get("velocity") {
            None => Some(None),
            Some(_) => {
                let component =
                    |reader: &mut Self, value: &Value| Some(reader.quantity(value, Some(Dimension::VELOCITY))?.0);
                self.vector(table, "velocity", component).map(Some)
            }
        };
        let seed = self.seed(table)?;
        let turbulence = RawTurbulence { size: size?, length: length?, velocity: velocity?, seed };
        Some(Some(Spanned { value: turbulence, span: entry.span.clone() }))
    }

    fn stresses(&mut self, value: &Value) -> Option<Vec<(usize, Spanned<Formula>)>> {
        let Kind::Table(table) = &value.kind else {
            let help = "for example `stresses = { uu = 4e-5, vv = 2e-5, ww = 2e-5, uv = -1e-5 }`".to_string();
            return self.wrong_type(value, "a table", help);
        };
        self.only_keys(table, &STRESSES.map(|(name, _)| name), "stresses")?;
        let formulas: Vec<_> = table
            .entries
            .iter()
            .filter_map(|entry| {
                let formula = self.formula(&entry.value, Dimension::KINEMATIC_STRESS)?;
                let which = STRESSES.iter().position(|(name, _)| *name == entry.key)?;
                Some((which, Spanned { value: formula, span: entry.value.span.clone() }))
            })
            .collect();
        (formulas.len() == table.entries.len()).then_some(formulas)
    }

    /// One length, or one for each axis.
    fn eddy_lengths(&mut self, value: &Value) -> Option<RawVector> {
        let list = match &value.kind {
            Kind::List(list) => &list[..],
            _ => std::slice::from_ref(value),
        };
        let mut lengths = vec![];
        for value in list {
            let (length, _) = self.quantity(value, Some(Dimension::LENGTH))?;
            if length <= 0.0 {
                let message = "`length` must be positive";
                return self.report.add(diag::BAD_VALUE, &value.span, message, "not positive", None);
            }
            lengths.push(Spanned { value: length, span: value.span.clone() });
        }
        Some(Spanned { value: lengths, span: value.span.clone() })
    }

    /// 1 where nothing is said.
    fn seed(&mut self, table: &Table) -> Option<u32> {
        let Some(entry) = table.get("seed") else { return Some(1) };
        match entry.value.kind {
            Kind::Integer(seed) if u32::try_from(seed).is_ok() => u32::try_from(seed).ok(),
            Kind::Integer(_) => {
                let message = "`seed` is a whole number from 0 to 4294967295";
                self.report.add(diag::BAD_VALUE, &entry.value.span, message, "out of range", None)
            }
            _ => self.wrong_type(&entry.value, "an integer", "write `seed = 7`".to_string()),
        }
    }
}
