//! Fluxes through planes over time.

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::Case;
use crate::output::flux_planes::{self, Fluxed};
use crate::output::recorded::Recorded;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

/// Name of the table.
const TABLE: &str = "fluxes.csv";

#[derive(Debug)]
pub(super) struct Fluxes<'a> {
    case: &'a Case,
    /// Rows of the flux planes of the case, in order.
    rows: Vec<Fluxed>,
}

impl<'a> Fluxes<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Fluxes { case, rows: vec![Fluxed::default(); case.output.fluxes.len()] }
    }

    fn grow(&self, files: &mut Files) -> Result<(), OutputError> {
        let rows = flux_planes::rows(&self.rows);
        files.grow(TABLE, rows, |from, out| flux_planes::write(self.case, &self.rows, from, out))
    }
}

impl Output for Fluxes<'_> {
    fn takes(&self) -> Vec<Taken> {
        let planes = self.case.output.fluxes.iter().enumerate();
        planes.map(|(number, plane)| Taken { source: Source::Flux(number), every: plane.every }).collect()
    }

    fn grows(&self, name: &str) -> bool {
        name == TABLE
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        let planes = self.case.output.fluxes.iter();
        self.rows = planes.map(|plane| Fluxed::of_saved(plane, &recorded.fluxes)).collect();
        self.rows(files)
    }

    fn save(&self, recorded: &mut Recorded) {
        let planes = self.case.output.fluxes.iter().zip(&self.rows);
        recorded.fluxes = planes.map(|(plane, rows)| rows.saved(plane)).collect();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Flux(number, step, readings) = *data else { return Ok(()) };
        self.rows[number].add(self.case, &self.case.output.fluxes[number], step, readings);
        self.grow(files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        if self.case.output.fluxes.is_empty() { Ok(()) } else { self.grow(files) }
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        let planes = self.case.output.fluxes.iter().zip(&self.rows);
        summary.planes = planes.filter_map(|(plane, rows)| rows.mean(self.case, plane)).collect();
        Ok(())
    }
}
