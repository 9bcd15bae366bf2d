//! `[units]`.

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::{Span, Spanned};
use crate::case::takes::{QUANTITY, Takes};
use crate::case::tree::Table;
use crate::case::units::Dimension;

/// Systems of units.
const SYSTEMS: &[&str] = &["lattice", "si"];

/// Its key in lattice units as in SI.
pub(in crate::case) const KEYS: &[Key] =
    &[key("units.system", Takes::Word(SYSTEMS), "lattice or si; default: lattice")];

keys! {
    /// `[units]` of a case in SI units.
    RawUnits, "units." {
        step: Spanned<f64> = positive(Dimension::TIME), QUANTITY,
            "length of a time step (SI)";
        mach: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "Mach number that sets the time step (SI)";
        density: Spanned<f64> = positive(Dimension::DENSITY), QUANTITY,
            "density of the fluid at rest (SI)";
    }
}

/// Keys of which a case in SI units gives one.
pub(in crate::case) const EXCLUSIVE: &[&str] = &["units.step", "units.mach"];

impl Reader {
    /// Whether values have units, and which; what is read after this has them.
    pub(in crate::case) fn units(&mut self, table: &Table, span: &Span) -> Option<RawUnits> {
        self.si = self.word(table, "system", SYSTEMS).is_some_and(|word| word.value == "si");
        if !self.si {
            for entry in RawUnits::KEYS.iter().filter_map(|key| table.get(key.name())) {
                let help = Some("it belongs to `system = \"si\"`".to_string());
                self.no_effect(&entry.span, &entry.key, " in lattice units", help);
            }
            return None;
        }
        self.exclusive(table, EXCLUSIVE, true, "what sets the time step");
        RawUnits::read(self, table, span)
    }
}
