//! `[params]`: parameters of the method; and parameters of boundary rules, which are written alike.

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::{Span, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::VALUE;
use crate::case::tree::{Entry, Kind, Value};
use crate::case::units::Dimension;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[key(
    "params.*",
    VALUE,
    "a parameter of the method: a number, or a formula of position, time and fields; the rate that sets the viscosity must be a number",
)];

/// A parameter of the method or of a boundary rule: a number or a list of them, each with the dimension of its unit. Where
/// they may vary they are formulas of place and time, all but constants of which have a unit that fits the parameter's name.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawParam {
    pub(in crate::case) name: Spanned<String>,
    pub(in crate::case) span: Span,
    pub(in crate::case) values: Vec<(Formula, Dimension)>,
}

impl RawParam {
    /// Its formulas, each with a place that shows it.
    pub(in crate::case) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let span = &self.span;
        self.values.iter_mut().map(move |(value, _)| (span, value))
    }
}

impl Reader {
    /// Parameters whose dimension the case file's unit states; those called `velocity` and `density` are what they say.
    pub(super) fn params(&mut self, entries: &[Entry]) -> Vec<RawParam> {
        self.components(entries, |reader, value, wanted| reader.timed_formula(value, wanted))
    }

    /// Parameters of the method, whose formulas may have names of fields.
    pub(in crate::case) fn varying(&mut self, entries: &[Entry]) -> Vec<RawParam> {
        self.components(entries, |reader, value, wanted| reader.named_formula(value, wanted))
    }

    fn components(
        &mut self,
        entries: &[Entry],
        formula: impl Fn(&mut Self, &Value, Option<Dimension>) -> Option<(Formula, Dimension)>,
    ) -> Vec<RawParam> {
        let mut params = vec![];
        for entry in entries {
            let wanted = match &entry.key[..] {
                "velocity" => Some(Dimension::VELOCITY),
                "density" => Some(Dimension::DENSITY),
                _ => None,
            };
            let list = match &entry.value.kind {
                Kind::List(list) => &list[..],
                _ => std::slice::from_ref(&entry.value),
            };
            let values: Vec<_> = list.iter().filter_map(|value| self.param(value, wanted, &formula)).collect();
            if values.len() == list.len() {
                let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
                params.push(RawParam { name, span: entry.value.span.clone(), values });
            }
        }
        params
    }

    /// A number with the dimension of its unit, or a formula.
    fn param(
        &mut self,
        value: &Value,
        wanted: Option<Dimension>,
        formula: &impl Fn(&mut Self, &Value, Option<Dimension>) -> Option<(Formula, Dimension)>,
    ) -> Option<(Formula, Dimension)> {
        if let Kind::Text(text) = &value.kind {
            let parsed = Formula::parse_named(text);
            let varies = match &parsed {
                Ok((formula, _)) => formula.constant().is_none(),
                Err(_) => text.contains(['(', '*']),
            };
            if varies {
                return formula(self, value, wanted);
            }
        }
        let (value, dimension) = self.quantity(value, wanted)?;
        Some((Formula::number(value), dimension))
    }
}
