//! Fields for ParaView: on all cells, on grids of probes, on solids. After each call the file of this step exists and
//! is listed in the file that collects all steps, if there is one.

use std::io::{self, Write};

use lbm_runtime::solver::probe::Reading;
use lbm_runtime::solver::snapshot::Snapshot;

use super::Recorder;
use crate::case::{Case, Dimension, Probe, Quantity, Vtk};
use crate::output::sink::OutputError;
use crate::output::surfaces::Bodies;
use crate::output::{probes, vtk};

/// Writes fields for ParaView.
pub(super) fn write_vtk(
    out: &mut dyn Write,
    format: Vtk,
    snapshot: &Snapshot,
    fields: Option<&[Quantity]>,
    case: &Case,
) -> io::Result<()> {
    match format {
        Vtk::Image => vtk::write_image(out, snapshot, fields, &case.units, case.real),
        Vtk::Amr => vtk::write_amr(out, snapshot, fields, &case.units, case.real),
        Vtk::Unstructured => vtk::write_unstructured(out, snapshot, fields, &case.units, case.real),
    }
}

impl Recorder<'_> {
    /// Writes the fields of a step.
    pub fn fields(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let case = self.case;
        // Non-finite fields are written even if the case requests none.
        let format = case.output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim));
        let name = vtk::frame_name(snapshot.step, format);
        if self.frames.last().is_some_and(|(_, last)| *last == name) {
            return Ok(());
        }
        let fields = case.output.fields.as_deref();
        self.sink.write(&name, |out| write_vtk(out, format, snapshot, fields, case))?;
        self.frames.push((snapshot.step, name));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        let frames: Vec<(f64, &str)> = self.frames.iter().map(|(step, name)| (time(*step), &name[..])).collect();
        match format {
            Vtk::Amr => self.sink.write("fields.vtkhdf.series", |out| vtk::write_file_series(out, &frames)),
            _ => self.sink.write("fields.pvd", |out| vtk::write_series(out, &frames)),
        }
    }

    /// Writes the readings of a probe on a grid.
    pub(super) fn probe_frame(
        &mut self,
        probe: &Probe,
        grid: [usize; 3],
        step: u64,
        readings: &[Reading],
    ) -> Result<(), OutputError> {
        let (case, name) = (self.case, probes::frame_name(probe, step));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        if self.sink.files().contains(&name) {
            return Ok(());
        }
        let columns = probes::columns(case, probe, readings);
        let ends = [probe.points.first(), probe.points.last()];
        let ends = ends.map(|end| end.copied().unwrap_or_default());
        self.sink.write(&name, |out| vtk::write_points(out, (grid, ends), time(step), &columns, case))?;
        let files = self.sink.files().iter();
        let mut frames: Vec<(u64, &str)> =
            files.filter_map(|name| Some((probes::step_of_frame(probe, name)?, &name[..]))).collect();
        frames.sort_unstable();
        let frames: Vec<(f64, String)> =
            frames.into_iter().map(|(step, name)| (time(step), name.to_string())).collect();
        let frames: Vec<(f64, &str)> = frames.iter().map(|(time, name)| (*time, &name[..])).collect();
        self.sink.write(&format!("probe_{}.pvd", probe.name), |out| vtk::write_series(out, &frames))
    }

    /// Writes pressure and friction on solids, if requested.
    pub(super) fn surfaces(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let case = self.case;
        let Some(surfaces) = &case.output.surfaces else { return Ok(()) };
        let bodies = Bodies::new(case, snapshot, surfaces);
        for body in case.bodies() {
            let loaded = bodies.surface(&body);
            self.sink.write(&bodies.file_name(&body), |out| bodies.write(&body, &loaded, out))?;
            for (number, plane) in surfaces.sections.iter().enumerate() {
                let name = bodies.section_name(&body, number);
                self.sink.write(&name, |out| bodies.write_section(&body, &loaded, plane, out))?;
            }
        }
        Ok(())
    }
}
