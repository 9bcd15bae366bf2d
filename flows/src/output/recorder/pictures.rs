//! Pictures of fields by name. After each call every picture that was due exists as a file.

use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Broken, Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Frames, Picture};
use crate::output::picture;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;

#[derive(Debug)]
pub(super) struct Pictures<'a>(pub(super) &'a Case);

impl Pictures<'_> {
    /// Those of the flow. Statistics draw theirs.
    fn all(&self) -> impl Iterator<Item = &Picture> {
        self.0.output.pictures.iter().filter(|picture| picture.statistics.is_none())
    }

    fn write(&self, snapshot: &Snapshot, files: &mut Files, due: impl Fn(&Frames) -> bool) -> Result<(), OutputError> {
        for of in self.all().filter(|of| due(&of.frames)) {
            if let Some(canvas) = picture::draw(self.0, snapshot, of) {
                files.draw(&of.frames.file_name(snapshot.step), &canvas)?;
            }
        }
        Ok(())
    }
}

impl Output for Pictures<'_> {
    fn takes(&self) -> Vec<Taken> {
        let every = self.all().filter_map(|of| of.frames.every);
        every.map(|every| Taken { source: Source::Fields, every }).collect()
    }

    fn ends_with_fields(&self) -> bool {
        self.all().next().is_some()
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        let Data::Fields(snapshot) = data else { return Ok(()) };
        self.write(snapshot, files, |frames| frames.wants(snapshot.step))
    }

    fn finish(&mut self, end: End<'_>, files: &mut Files, _: &mut Summary) -> Result<(), OutputError> {
        end.snapshot.map_or(Ok(()), |snapshot| self.write(snapshot, files, |_| true))
    }

    fn broken(&mut self, broken: Broken<'_>, files: &mut Files) -> Result<(), OutputError> {
        broken.snapshot.map_or(Ok(()), |snapshot| self.write(snapshot, files, |_| true))
    }
}
