//! Scalars that solids release over time.

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::Case;
use crate::output::heat::Heat as Rows;
use crate::output::recorded::Recorded;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

/// Name of the table.
const TABLE: &str = "heat.csv";

#[derive(Debug)]
pub(super) struct Heat<'a> {
    case: &'a Case,
    rows: Rows,
}

impl<'a> Heat<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Heat { case, rows: Rows::default() }
    }

    fn grow(&self, files: &mut Files) -> Result<(), OutputError> {
        files.grow(TABLE, self.rows.len(), |from, out| self.rows.write(self.case, from, out))
    }
}

impl Output for Heat<'_> {
    fn takes(&self) -> Vec<Taken> {
        self.case.output.heat.into_iter().map(|every| Taken { source: Source::Heat, every }).collect()
    }

    fn grows(&self, name: &str) -> bool {
        name == TABLE
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        self.rows = Rows::of_saved(&recorded.heat);
        self.rows(files)
    }

    fn save(&self, recorded: &mut Recorded) {
        recorded.heat = self.rows.saved();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Heat(step, values) = data else { return Ok(()) };
        self.rows.add(*step, values.to_vec());
        self.grow(files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        if self.case.output.heat.is_some() { self.grow(files) } else { Ok(()) }
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        summary.heat = self.rows.means(self.case);
        Ok(())
    }
}
