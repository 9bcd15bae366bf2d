//! `[report]`.

use lbm_bundle::Formula;

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::raw::RawReport;
use crate::case::report::MOST_REPORTS;
use crate::case::tree::{Kind, Table};

impl Reader {
    pub(super) fn report_formulas(&mut self, table: &Table) -> Vec<RawReport> {
        if let Some(beyond) = table.entries.get(MOST_REPORTS) {
            let message = format!("{} formulas are more than {MOST_REPORTS}", table.entries.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        let mut found = vec![];
        for entry in table.entries.iter().take(MOST_REPORTS) {
            let Kind::Text(text) = &entry.value.kind else {
                let help = "for example `permeability = \"viscosity * mean_ux * porosity / forcex\"`".to_string();
                self.wrong_type::<()>(&entry.value, "a formula, in quotes", help);
                continue;
            };
            let parsed = Formula::parse(text).and_then(|parsed| parsed.complete().map(|()| parsed.formula));
            let formula = match parsed {
                Ok(formula) if formula.tables().is_empty() => formula,
                Ok(_) => {
                    let message = "a formula of results has no tables";
                    self.report.add::<()>(diag::FORMULA, &entry.value.span, message, "a table", None);
                    continue;
                }
                Err(error) => {
                    self.no_formula::<()>(&entry.value, text, error);
                    continue;
                }
            };
            found.push(RawReport {
                name: Spanned { value: entry.key.clone(), span: entry.span.clone() },
                text: text.clone(),
                formula: Spanned { value: formula, span: entry.value.span.clone() },
            });
        }
        found
    }
}
