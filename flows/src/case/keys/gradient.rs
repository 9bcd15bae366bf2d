//! `[gradient]`.

use super::reader::Reader;
use crate::case::diag::{Span, Spanned};
use crate::case::formula::Formula;
use crate::case::takes::{COUNT, FORMULA, QUANTITY, TEXT};
use crate::case::tree::Table;
use crate::case::units::Dimension;

/// States of a flow in memory, where a case does not say how many.
const STATES: f64 = 30.0;

/// What matters only to flows that change in time.
const OF_TIME: [&str; 3] = ["steps", "states", "disk"];

keys! {
    /// `[gradient]`.
    RawGradient, "gradient." {
        objective: Spanned<lbm_bundle::Formula> = objective(), FORMULA,
            "what each cell of the fluid adds to an objective: a formula of components of fields, \"(ux^2 + uy^2) / 2\", in lattice units, and of its position; \
             derivatives of it by parameters and walls are in gradient.json";
        forces: Spanned<lbm_bundle::Formula> = forces(), FORMULA,
            "what forces on solids add to the objective: a formula of `fx_1` and `fy_1`, the force on the first solid in a step, \"fx_1^2\", in lattice units";
        weight: Spanned<Formula> = position_formula(), FORMULA,
            "factor of each cell, a formula of its position: `x > 64` for a part of the domain; default: 1";
        steps: Spanned<f64> = count(), COUNT,
            "how many of the last steps the objective is the mean of; default: 1, the end alone";
        steady: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "the flow is steady at its end, and all steps backwards begin there: they end when derivatives have changed by less than this fraction \
             between two checks, `stop.check_every` steps apart; no states are kept";
        states: f64 = number_of_states(), COUNT,
            "how many states of the flow may be in memory at a time; with fewer of them more steps are computed again; default: 30", or STATES;
        disk: u64 = bytes_on_disk(), TEXT,
            "room for further states on disk, in a file that is gone after the run: \"20 GB\"; default: none", or 0;
    }
}

impl RawGradient {
    /// Where it says of what derivatives are wanted.
    pub(in crate::case) fn span(&self) -> Option<&Span> {
        self.objective.as_ref().or(self.forces.as_ref()).map(|given| &given.span)
    }
}

impl Reader {
    /// `[gradient]`, of something.
    pub(in crate::case) fn gradient(&mut self, table: &Table) -> Option<RawGradient> {
        if table.get("objective").or(table.get("forces")).is_none() {
            let help =
                "`objective = \"(ux^2 + uy^2) / 2\"`, or `forces = \"fx_1\"` for the force on a solid".to_string();
            return self.missing(&table.span, "gradient.objective", "of what derivatives are wanted", help);
        }
        if table.get("steady").is_some() {
            for entry in table.entries.iter().filter(|entry| OF_TIME.contains(&&entry.key[..])) {
                let help = "leave it out; or leave out `steady` for a flow that has not become steady".to_string();
                self.no_effect(&entry.span, &entry.key, " beside `steady`", Some(help));
            }
        }
        RawGradient::read(self, table, &table.span)
    }

    fn objective(&mut self, table: &Table, key: &str) -> Option<Spanned<lbm_bundle::Formula>> {
        let value = &table.get(key)?.value;
        let example = "objective = \"(ux^2 + uy^2) / 2\"";
        let (_, formula) = self.formula_of_names(value, "a formula of fields", example)?;
        Some(Spanned { value: formula, span: value.span.clone() })
    }

    fn forces(&mut self, table: &Table, key: &str) -> Option<Spanned<lbm_bundle::Formula>> {
        let value = &table.get(key)?.value;
        let (_, formula) = self.formula_of_names(value, "a formula of forces", "forces = \"fx_1\"")?;
        Some(Spanned { value: formula, span: value.span.clone() })
    }

    fn position_formula(&mut self, table: &Table, key: &str) -> Option<Spanned<Formula>> {
        let value = &table.get(key)?.value;
        let formula = self.formula(value, Dimension::NUMBER)?;
        Some(Spanned { value: formula, span: value.span.clone() })
    }

    fn bytes_on_disk(&mut self, table: &Table, key: &str) -> Option<u64> {
        self.bytes(table, key, "no size of files")
    }

    fn number_of_states(&mut self, table: &Table, key: &str) -> Option<f64> {
        Some(self.count(table, key)?.value)
    }
}
