//! Fields for ParaView on all cells. After each call the file of this step exists and is listed in the file that collects all steps.

use std::io::{self, Write};

use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Broken, Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Dimension, Quantity, Vtk};
use crate::output::recorded::Recorded;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;
use crate::output::vtk;

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

/// The format of the fields of a case. Non-finite fields and statistics are written even if the case requests no fields.
pub(super) fn format_of(case: &Case) -> Vtk {
    case.output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim))
}

#[derive(Debug)]
pub(super) struct Fields<'a> {
    case: &'a Case,
    /// Steps and names of the files so far.
    frames: Vec<(u64, String)>,
}

impl<'a> Fields<'a> {
    pub(super) fn new(case: &'a Case) -> Self {
        Fields { case, frames: vec![] }
    }

    fn write(&mut self, snapshot: &Snapshot, files: &mut Files) -> Result<(), OutputError> {
        let (case, format) = (self.case, format_of(self.case));
        let name = vtk::frame_name(snapshot.step, format);
        if self.frames.last().is_some_and(|(_, last)| *last == name) {
            return Ok(());
        }
        let fields = case.output.fields.as_deref();
        files.write(&name, |out| write_vtk(out, format, snapshot, fields, case))?;
        self.frames.push((snapshot.step, name));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        let frames: Vec<(f64, &str)> = self.frames.iter().map(|(step, name)| (time(*step), &name[..])).collect();
        match format {
            Vtk::Amr => files.write("fields.vtkhdf.series", |out| vtk::write_file_series(out, &frames)),
            _ => files.write("fields.pvd", |out| vtk::write_series(out, &frames)),
        }
    }
}

impl Output for Fields<'_> {
    fn takes(&self) -> Vec<Taken> {
        let every = self.case.output.vtk.and(self.case.output.every);
        every.into_iter().map(|every| Taken { source: Source::Fields, every }).collect()
    }

    fn ends_with_fields(&self) -> bool {
        self.case.output.vtk.is_some()
    }

    fn resume(&mut self, recorded: &Recorded, files: &mut Files) -> Result<(), OutputError> {
        self.frames = recorded.frames.iter().filter(|(_, name)| files.sink.has(name)).cloned().collect();
        Ok(())
    }

    fn save(&self, recorded: &mut Recorded) {
        recorded.frames = self.frames.clone();
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        match data {
            Data::Fields(snapshot) if self.is_due(snapshot.step) => self.write(snapshot, files),
            Data::Ordered(snapshot) => self.write(snapshot, files),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, end: End<'_>, files: &mut Files, _: &mut Summary) -> Result<(), OutputError> {
        match end.snapshot.filter(|_| self.ends_with_fields()) {
            Some(snapshot) => self.write(snapshot, files),
            None => Ok(()),
        }
    }

    fn broken(&mut self, broken: Broken<'_>, files: &mut Files) -> Result<(), OutputError> {
        // Frames are in the order of time, and frames written during the run may be later than the last finite
        // snapshot.
        let later = |good: &&Snapshot| self.frames.last().is_none_or(|(step, _)| *step < good.step);
        let good = broken.good.filter(later);
        good.into_iter().chain(broken.snapshot).try_for_each(|snapshot| self.write(snapshot, files))
    }
}
