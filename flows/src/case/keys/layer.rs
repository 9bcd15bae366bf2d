//! `solids.layer`: the boundary layer above the surface of a solid.

use super::params::RawParam;
use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::Spanned;
use crate::case::formula::Formula;
use crate::case::layer::LAWS;
use crate::case::takes::{QUANTITY, TEXT, Takes, VALUE};
use crate::case::tree::{Kind, Value};
use crate::case::units::Dimension;

/// A layer, to show how one is written.
const LAYER: &str = "layer = { law = \"reichardt\", roughness = 0.02 }";

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "solids.layer.law",
        TEXT,
        "law of the wall above a surface that slides: reichardt, werner_wengle, or a formula of u+ in `y_plus` and, for rough walls, \
         `k_plus`; default: reichardt",
    ),
    key(
        "solids.layer.sample",
        Takes::Number,
        "height above the surface at which the law applies, in cells of its level, at most the least side of a block; default: 3.5",
    ),
    key(
        "solids.layer.viscosity",
        QUANTITY,
        "kinematic viscosity in the law, where that of the fluid is not one number; default: that of the fluid",
    ),
    key(
        "solids.layer.roughness",
        QUANTITY,
        "height of the grains of sand to which the roughness of the surface is equivalent; of a roughness length of the ground, 30 times \
         that; default: smooth",
    ),
    key(
        "solids.layer.velocity",
        VALUE,
        "velocity of the surface along itself, of a belt or of a wheel that turns in its place: for each axis a number or a formula of position; \
         default: at rest",
    ),
];

/// The boundary layer above a surface.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawLayer {
    /// u+, of names that are not known yet.
    pub(in crate::case) law: Option<Spanned<Formula>>,
    pub(in crate::case) sample: Option<Spanned<f64>>,
    /// In m or in cells.
    pub(in crate::case) roughness: Option<Spanned<f64>>,
    /// In m^2/s or in cells and steps.
    pub(in crate::case) viscosity: Option<Spanned<f64>>,
    pub(in crate::case) velocity: Option<RawParam>,
}

impl Reader {
    pub(super) fn layer(&mut self, value: &Value) -> Option<Spanned<RawLayer>> {
        let example = format!("for example `{LAYER}`");
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        self.only_keys(table, &["law", "sample", "roughness", "viscosity", "velocity"], "a boundary layer")?;
        let (length, viscosity) = match self.si {
            true => (Dimension::LENGTH, Dimension::VISCOSITY),
            false => (Dimension::NUMBER, Dimension::NUMBER),
        };
        let mut number = |key: &str, dimension: Dimension| match table.get(key) {
            None => Some(None),
            Some(entry) => {
                let (value, _) = self.quantity(&entry.value, Some(dimension))?;
                Some(Some(Spanned { value, span: entry.value.span.clone() }))
            }
        };
        let (sample, roughness) = (number("sample", Dimension::NUMBER)?, number("roughness", length)?);
        let viscosity = number("viscosity", viscosity)?;
        let law = match table.get("law") {
            None => None,
            Some(entry) => {
                let text = self.text(table, "law")?.value;
                let named = LAWS.into_iter().find(|(name, _)| *name == text);
                match Formula::parse_with_names(named.map_or(&text, |(_, formula)| formula)) {
                    Ok(formula) => Some(Spanned { value: formula, span: entry.value.span.clone() }),
                    Err(error) => return self.no_formula(&entry.value, &text, error),
                }
            }
        };
        let velocity = match table.get("velocity") {
            None => None,
            Some(entry) => Some(self.params(std::slice::from_ref(entry)).pop()?),
        };
        Some(Spanned { value: RawLayer { law, sample, roughness, viscosity, velocity }, span: value.span.clone() })
    }
}
