//! Rows of tables. After each call the table has all rows so far, except the last row of the time series, which depends
//! on the next one.

use lbm_runtime::solver::observe::Means;
use lbm_runtime::solver::probe::Reading;

use super::Recorder;
use crate::output::sink::OutputError;
use crate::output::{flux_planes, probes};

impl Recorder<'_> {
    /// Records the force on each entry of the case's solids, in lattice units.
    pub fn forces(&mut self, step: u64, forces: Vec<[f64; 3]>) -> Result<(), OutputError> {
        self.forces.add(step, forces);
        self.forces_table()
    }

    /// Records the release of each scalar from each entry of the case's solids in a step, in lattice units.
    pub fn heat(&mut self, step: u64, values: Vec<f64>) -> Result<(), OutputError> {
        self.heat.add(step, values);
        self.heat_table()
    }

    /// Records the readings of the probe with this number.
    pub fn probe(&mut self, number: usize, step: u64, readings: &[Reading]) -> Result<(), OutputError> {
        let probe = &self.case.output.probes[number];
        if let Some(grid) = probe.grid {
            return self.probe_frame(probe, grid, step, readings);
        }
        self.probes[number].add(probe, step, readings);
        self.probe_table(number)
    }

    /// Records the readings at the points of the flux plane with this number.
    pub fn flux(&mut self, number: usize, step: u64, readings: &[Reading]) -> Result<(), OutputError> {
        self.fluxes[number].add(self.case, &self.case.output.fluxes[number], step, readings);
        self.fluxes_table()
    }

    /// Records a row of the time series.
    pub fn row(&mut self, step: u64, means: &Means) -> Result<(), OutputError> {
        self.series.add(self.case, step, means);
        self.series_table()
    }

    /// Appends missing rows to all growing tables.
    pub(super) fn tables(&mut self) -> Result<(), OutputError> {
        let case = self.case;
        if case.output.forces.is_some() {
            self.forces_table()?;
        }
        if case.output.heat.is_some() {
            self.heat_table()?;
        }
        let mut tables = (0..case.output.probes.len()).filter(|number| case.output.probes[*number].grid.is_none());
        tables.try_for_each(|number| self.probe_table(number))?;
        if !case.output.fluxes.is_empty() {
            self.fluxes_table()?;
        }
        Ok(())
    }

    /// Omits the last row: its dissipation depends on the next one.
    pub(super) fn series_table(&mut self) -> Result<(), OutputError> {
        let (case, series) = (self.case, &self.series);
        match series.settled() {
            0 => Ok(()),
            rows => {
                self.tables.grow(&mut self.sink, "series.csv", rows, |from, out| series.write(case, from..rows, out))
            }
        }
    }

    fn forces_table(&mut self) -> Result<(), OutputError> {
        let (case, forces) = (self.case, &self.forces);
        self.tables.grow(&mut self.sink, "forces.csv", forces.len(), |from, out| forces.write(case, from, out))
    }

    fn heat_table(&mut self) -> Result<(), OutputError> {
        let (case, heat) = (self.case, &self.heat);
        self.tables.grow(&mut self.sink, "heat.csv", heat.len(), |from, out| heat.write(case, from, out))
    }

    fn probe_table(&mut self, number: usize) -> Result<(), OutputError> {
        let (case, probe, probed) = (self.case, &self.case.output.probes[number], &self.probes[number]);
        let name = probes::file_name(probe);
        self.tables.grow(&mut self.sink, &name, probed.len(), |from, out| probed.write(case, probe, from, out))
    }

    fn fluxes_table(&mut self) -> Result<(), OutputError> {
        let (case, all) = (self.case, &self.fluxes);
        self.tables.grow(&mut self.sink, "fluxes.csv", flux_planes::rows(all), |from, out| {
            flux_planes::write(case, all, from, out)
        })
    }
}
