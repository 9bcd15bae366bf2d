//! Views of surfaces. After each call every view that was due exists as a file.

use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Broken, Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Frames, View};
use crate::output::sink::OutputError;
use crate::output::summary::Summary;
use crate::output::views;

#[derive(Debug)]
pub(super) struct Views<'a>(pub(super) &'a Case);

impl Views<'_> {
    fn all(&self) -> impl Iterator<Item = &View> {
        self.0.output.views.iter()
    }

    fn write(&self, snapshot: &Snapshot, files: &mut Files, due: impl Fn(&Frames) -> bool) -> Result<(), OutputError> {
        for of in self.all().filter(|of| due(&of.frames)) {
            if let Some(canvas) = views::draw(self.0, snapshot, of) {
                files.draw(&of.frames.file_name(snapshot.step), &canvas)?;
            }
        }
        Ok(())
    }
}

impl Output for Views<'_> {
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
