//! Fields at points over time: tables, and for probes on a grid a file for ParaView at each step, listed in one that collects all steps.

use lbm_runtime::solver::probe::Reading;

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Dimension, Probe};
use crate::output::probes::{self, Probed};
use crate::output::recorded::Recorded;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;
use crate::output::vtk::{self, PointGrid};

#[derive(Debug)]
pub(super) struct Probes<'a> {
    case: &'a Case,
    /// Rows of the probes of the case, in order.
    rows: Vec<Probed>,
}

impl<'a> Probes<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Probes { case, rows: vec![Probed::default(); case.output.probes.len()] }
    }

    /// The probes with their rows.
    fn all(&self) -> impl Iterator<Item = (&'a Probe, &Probed)> {
        self.case.output.probes.iter().zip(&self.rows)
    }

    fn grow(&self, probe: &Probe, rows: &Probed, files: &mut Files) -> Result<(), OutputError> {
        let name = probes::file_name(probe);
        files.grow(&name, rows.len(), |from, out| rows.write(self.case, probe, from, out))
    }

    /// Writes the readings of a probe on a grid.
    fn frame(
        &self,
        probe: &Probe,
        grid: [usize; 3],
        step: u64,
        readings: &[Reading],
        files: &mut Files,
    ) -> Result<(), OutputError> {
        let (case, name) = (self.case, probes::frame_name(probe, step));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        if files.sink.files().contains(&name) {
            return Ok(());
        }
        let columns = probes::columns(case, probe, readings);
        let end = |point: Option<&[f64; 3]>| point.copied().unwrap_or_default();
        let grid = PointGrid { counts: grid, first: end(probe.points.first()), last: end(probe.points.last()) };
        files.write(&name, |out| vtk::write_points(out, grid, time(step), &columns, case))?;
        let there = files.sink.files().iter();
        let mut frames: Vec<(u64, String)> =
            there.filter_map(|name| Some((probes::step_of_frame(probe, name)?, name.clone()))).collect();
        frames.sort_unstable();
        let frames: Vec<(f64, &str)> = frames.iter().map(|(step, name)| (time(*step), &name[..])).collect();
        files.write(&format!("probe_{}.pvd", probe.name), |out| vtk::write_series(out, &frames))
    }
}

impl Output for Probes<'_> {
    fn takes(&self) -> Vec<Taken> {
        let probes = self.case.output.probes.iter().enumerate();
        probes.map(|(number, probe)| Taken { source: Source::Probe(number), every: probe.every }).collect()
    }

    fn grows(&self, name: &str) -> bool {
        name.starts_with("probe_") && name.ends_with(".csv")
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        let probes = self.case.output.probes.iter();
        self.rows = probes.map(|probe| Probed::of_saved(probe, &recorded.probes)).collect();
        self.rows(files)
    }

    fn save(&self, recorded: &mut Recorded) {
        let tables = self.all().filter(|(probe, _)| probe.grid.is_none());
        recorded.probes = tables.map(|(probe, rows)| rows.saved(probe)).collect();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Probe(number, step, readings) = *data else { return Ok(()) };
        let probe = &self.case.output.probes[number];
        if let Some(grid) = probe.grid {
            return self.frame(probe, grid, step, readings, files);
        }
        self.rows[number].add(probe, step, readings);
        self.grow(probe, &self.rows[number], files)
    }

    fn rows(&mut self, files: &mut Files) -> Result<(), OutputError> {
        let mut tables = self.all().filter(|(probe, _)| probe.grid.is_none());
        tables.try_for_each(|(probe, rows)| self.grow(probe, rows, files))
    }

    fn finish(&mut self, _: End<'_>, _: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        summary.probes = self.all().flat_map(|(probe, rows)| rows.means(self.case, probe)).collect();
        Ok(())
    }
}
