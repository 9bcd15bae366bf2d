//! `[report]`.

use super::reader::Reader;
use super::table::{Key, key};
use crate::case::diag::{self, Spanned};
use crate::case::report::MOST_REPORTS;
use crate::case::takes::TEXT;
use crate::case::tree::Table;

/// Its keys.
pub(in crate::case) const KEYS: &[Key] = &[key(
    "report.*",
    TEXT,
    "a number computed from the results, under `[report]`: a formula, `permeability = \"viscosity * mean_ux * porosity / forcex\"`; \
         it is printed and in summary.json",
)];

/// A formula of `[report]`.
#[derive(Clone, Debug)]
pub(in crate::case) struct RawReport {
    pub(in crate::case) name: Spanned<String>,
    pub(in crate::case) text: String,
    pub(in crate::case) formula: Spanned<lbm_bundle::Formula>,
}

impl Reader {
    pub(in crate::case) fn report_formulas(&mut self, table: &Table) -> Vec<RawReport> {
        if let Some(beyond) = table.entries.get(MOST_REPORTS) {
            let message = format!("{} formulas are more than {MOST_REPORTS}", table.entries.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        let mut found = vec![];
        for entry in table.entries.iter().take(MOST_REPORTS) {
            let example = "permeability = \"viscosity * mean_ux * porosity / forcex\"";
            let Some((text, formula)) = self.formula_of_names(&entry.value, "a formula of results", example) else {
                continue;
            };
            found.push(RawReport {
                name: Spanned { value: entry.key.clone(), span: entry.span.clone() },
                text,
                formula: Spanned { value: formula, span: entry.value.span.clone() },
            });
        }
        found
    }
}
