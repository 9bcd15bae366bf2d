//! Pictures of fields by name, and views of surfaces. After each call every one that was due exists as a file.

use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Broken, Data, End, Files, Output, Source, Taken};
use crate::case::{Case, Frames, Picture, View};
use crate::output::canvas::Canvas;
use crate::output::picture;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;
use crate::output::views;

/// What is drawn.
enum Drawing<'a> {
    Picture(&'a Picture),
    View(&'a View),
}

impl Drawing<'_> {
    fn frames(&self) -> &Frames {
        match self {
            Drawing::Picture(of) => &of.frames,
            Drawing::View(of) => &of.frames,
        }
    }

    fn draw(&self, case: &Case, snapshot: &Snapshot) -> Option<Canvas> {
        match self {
            Drawing::Picture(of) => picture::draw(case, snapshot, of),
            Drawing::View(of) => views::draw(case, snapshot, of),
        }
    }
}

#[derive(Debug)]
pub(super) struct Drawings<'a>(pub(super) &'a Case);

impl<'a> Drawings<'a> {
    /// Those of the flow. Statistics draw theirs.
    fn all(&self) -> impl Iterator<Item = Drawing<'a>> {
        let output = &self.0.output;
        let pictures = output.pictures.iter().filter(|picture| picture.statistics.is_none());
        pictures.map(Drawing::Picture).chain(output.views.iter().map(Drawing::View))
    }

    fn write(&self, snapshot: &Snapshot, files: &mut Files, due: impl Fn(&Frames) -> bool) -> Result<(), OutputError> {
        for drawing in self.all().filter(|drawing| due(drawing.frames())) {
            if let Some(canvas) = drawing.draw(self.0, snapshot) {
                files.draw(&drawing.frames().file_name(snapshot.step), &canvas)?;
            }
        }
        Ok(())
    }
}

impl Output for Drawings<'_> {
    fn takes(&self) -> Vec<Taken> {
        let every = self.all().filter_map(|drawing| drawing.frames().every);
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
