//! The time series of sums over the flow. Its table has all rows but the last, which depends on the next one, until the run ends.

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Moment, Reference};
use crate::output::recorded::Recorded;
use crate::output::series::Series as Rows;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

/// Name of the table.
const TABLE: &str = "series.csv";

#[derive(Debug)]
pub(super) struct Series<'a> {
    case: &'a Case,
    rows: Rows,
}

impl<'a> Series<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Series { case, rows: Rows::default() }
    }

    fn published(&self) -> Option<(&'a str, &'a [Moment])> {
        match &self.case.output.compare {
            Some(Reference::Series { title, moments }) => Some((*title, &moments[..])),
            _ => None,
        }
    }

    fn grow(&self, files: &mut Files) -> Result<(), OutputError> {
        match self.rows.settled() {
            0 => Ok(()),
            rows => files.grow(TABLE, rows, |from, out| self.rows.write(self.case, from..rows, out)),
        }
    }
}

impl Output for Series<'_> {
    fn takes(&self) -> Vec<Taken> {
        self.case.output.series.into_iter().map(|every| Taken { source: Source::Means, every }).collect()
    }

    fn grows(&self, name: &str) -> bool {
        name == TABLE
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        self.rows = Rows::of_saved(&recorded.series);
        if self.case.output.series.is_some() { self.grow(files) } else { Ok(()) }
    }

    fn save(&self, recorded: &mut Recorded) {
        recorded.series = self.rows.saved();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Means(step, means) = data else { return Ok(()) };
        self.rows.add(self.case, *step, means);
        self.grow(files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        if self.case.output.series.is_none() {
            return Ok(());
        }
        files.write(TABLE, |out| self.rows.write(self.case, 0..self.rows.len(), out))?;
        files.draw("series.png", &self.rows.draw(self.case, self.published()))
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        if let Some((title, moments)) = self.published().filter(|_| self.case.output.series.is_some()) {
            summary.decay = self.rows.compare(title, moments);
        }
        Ok(())
    }
}
