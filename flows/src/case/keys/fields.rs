//! `[fields]`.

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::{self, Spanned};
use crate::case::takes::FORMULA;
use crate::case::tree::Table;

/// Most formulas of a case.
const MOST_FIELDS: usize = 64;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[key(
    "fields.*",
    FORMULA,
    "a field of your own, by its name: a formula of components of fields and of derivatives of the velocity, \"uy * temperature\"",
)];

/// A formula of `[fields]`.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawField {
    pub(in crate::case) name: Spanned<String>,
    pub(in crate::case) formula: Spanned<lbm_bundle::Formula>,
}

impl Reader {
    pub(in crate::case) fn own_fields(&mut self, table: &Table) -> Vec<RawField> {
        if let Some(beyond) = table.entries.get(MOST_FIELDS) {
            let message = format!("{} formulas are more than {MOST_FIELDS}", table.entries.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        let mut found = vec![];
        for entry in table.entries.iter().take(MOST_FIELDS) {
            let example = "transport = \"uy * temperature\"";
            let letters = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            if !entry.key.starts_with(|first: char| first.is_ascii_alphabetic()) || !entry.key.chars().all(letters) {
                let message = "the name of a field is letters, digits and `_`, a letter first";
                let help = format!("for example `{example}`");
                self.report.add::<()>(diag::BAD_VALUE, &entry.span, message, "not a name", help);
                continue;
            }
            let Some((_, formula)) = self.formula_of_names(&entry.value, "a formula of fields", example) else {
                continue;
            };
            let name = Spanned { value: entry.key.clone(), span: entry.span.clone() };
            found.push(RawField { name, formula: Spanned { value: formula, span: entry.value.span.clone() } });
        }
        found
    }
}
