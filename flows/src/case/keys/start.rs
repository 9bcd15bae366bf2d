//! `[start]`.

use std::sync::Arc;

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::{Span, Spanned};
use crate::case::formula::Formula;
use crate::case::samples::Samples;
use crate::case::takes::START;
use crate::case::tree::{Entry, Kind, Table};
use crate::case::units::Dimension;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[
    key(
        "start.density",
        START,
        "density at the start: a number, a formula of position, or { file = \"rho.npy\" }; default: 1 (in SI: units.density)",
    ),
    key(
        "start.velocity",
        START,
        "velocity at the start: for each axis a number or a formula of position, or { file = \"u.npy\" }; default: 0",
    ),
    key(
        "start.*",
        START,
        "another field of the method at the start, by its name: a number, a formula of position or a file; default: 0",
    ),
];

/// A field at the start, in m, kg, s or in lattice units.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawStart {
    /// Its name in the file: `density`.
    pub(in crate::case) key: Spanned<String>,
    pub(in crate::case) span: Span,
    pub(in crate::case) given: RawGiven,
}

/// What a field is at the start.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawGiven {
    /// A formula for each component.
    Formulas(Vec<Spanned<Formula>>),
    /// What a file has.
    File {
        file: Spanned<String>,
        /// Which array of the file; else that called as the field.
        array: Option<Spanned<String>>,
        /// What the file holds, once it is read.
        bytes: Vec<u8>,
        samples: Option<Arc<Samples>>,
    },
}

impl Reader {
    /// A field at the start; those called `velocity` and `density` are what they say, any other is a number or a temperature.
    pub(in crate::case) fn start(&mut self, table: &Table, entry: &Entry) -> Option<RawStart> {
        let (key, span) = (&entry.key, &entry.value.span);
        let name = || Spanned { value: key.clone(), span: entry.span.clone() };
        if let Kind::Table(of_file) = &entry.value.kind {
            self.only_keys(of_file, &["file", "array"], "a field of a file")?;
            let Some(file) = self.text(of_file, "file") else {
                let help = format!("write `{key} = {{ file = \"{key}.npy\" }}`");
                return self.missing(span, "file", "the file that has the field", help);
            };
            let array = self.text(of_file, "array");
            let given = RawGiven::File { file, array, bytes: vec![], samples: None };
            return Some(RawStart { key: name(), span: span.clone(), given });
        }
        let components = if key == "velocity" || matches!(entry.value.kind, Kind::List(_)) {
            let dimension = if key == "velocity" { Dimension::VELOCITY } else { Dimension::TEMPERATURE };
            self.vector(table, key, |reader, value| reader.formula(value, dimension))?.value
        } else {
            let dimension = if key == "density" { Dimension::DENSITY } else { Dimension::TEMPERATURE };
            vec![Spanned { value: self.formula(&entry.value, dimension)?, span: span.clone() }]
        };
        Some(RawStart { key: name(), span: span.clone(), given: RawGiven::Formulas(components) })
    }
}
