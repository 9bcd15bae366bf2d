//! Forces on solids over time.

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::Case;
use crate::output::forces::Forces as Rows;
use crate::output::recorded::Recorded;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

/// Name of the table.
const TABLE: &str = "forces.csv";

#[derive(Debug)]
pub(super) struct Forces<'a> {
    case: &'a Case,
    rows: Rows,
}

impl<'a> Forces<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Forces { case, rows: Rows::default() }
    }

    fn grow(&self, files: &mut Files) -> Result<(), OutputError> {
        files.grow(TABLE, self.rows.len(), |from, out| self.rows.write(self.case, from, out))
    }
}

impl Output for Forces<'_> {
    fn takes(&self) -> Vec<Taken> {
        self.case.output.forces.into_iter().map(|every| Taken { source: Source::Forces, every }).collect()
    }

    fn grows(&self, name: &str) -> bool {
        name == TABLE
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        self.rows = Rows::of_saved(&recorded.forces);
        if self.case.output.forces.is_some() { self.grow(files) } else { Ok(()) }
    }

    fn save(&self, recorded: &mut Recorded) {
        recorded.forces = self.rows.saved();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Forces(step, forces) = data else { return Ok(()) };
        self.rows.add(*step, forces.to_vec());
        self.grow(files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        if self.case.output.forces.is_none() {
            return Ok(());
        }
        self.grow(files)?;
        files.draw("forces.png", &self.rows.draw(self.case))
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        if self.case.output.forces.is_some() {
            summary.forces = self.rows.settled(self.case);
        }
        Ok(())
    }
}
