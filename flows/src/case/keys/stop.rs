//! `[stop]`.

use super::reader::Reader;
use crate::case::diag::{Span, Spanned};
use crate::case::takes::{COUNT, QUANTITY};
use crate::case::tree::Table;
use crate::case::units::Dimension;

keys! {
    /// `[stop]`.
    RawStop, "stop." {
        steps: Spanned<f64> = count(), COUNT,
            "number of time steps of level 0 after which the run ends at the latest";
        time: Spanned<f64> = positive(Dimension::TIME), QUANTITY,
            "time at which the run ends at the latest";
        steady: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "change of velocity between checks, divided by the reference velocity, below which the flow is steady and the run ends";
        check_every: Spanned<f64> = count(), COUNT,
            "time steps between checks for steady flow; default: 1000";
        wall_minutes: Spanned<f64> = positive(Dimension::NUMBER), QUANTITY,
            "minutes of wall-clock time after which the run ends with a restart file, as if it had been interrupted";
    }
}

/// Keys of which a case gives one.
pub(in crate::case) const EXCLUSIVE: &[&str] = &["stop.steps", "stop.time"];

impl Reader {
    pub(in crate::case) fn stop(&mut self, table: &Table, span: &Span) -> Option<RawStop> {
        self.exclusive(table, EXCLUSIVE, true, "when the run ends at the latest");
        self.only_with(table, "check_every", "steady", "only `steady` checks anything");
        RawStop::read(self, table, span)
    }
}
