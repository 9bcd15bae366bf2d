//! Pressure and friction on solids, and on faces that are walls.

use lbm_runtime::solver::snapshot::Snapshot;

use super::output::{Data, End, Files, Output, Source, Taken};
use crate::case::Case;
use crate::output::sink::OutputError;
use crate::output::summary::Summary;
use crate::output::surfaces::{Bodies, YPlus};

#[derive(Debug)]
pub(super) struct Surfaces<'a> {
    case: &'a Case,
    /// The last step that was written, and what is known of y+ then.
    written: Option<(u64, Vec<YPlus>)>,
}

impl<'a> Surfaces<'a> {
    pub(super) fn new(case: &'a Case) -> Surfaces<'a> {
        Surfaces { case, written: None }
    }

    /// Writes the files of a snapshot, and keeps what is known of y+ on each body and face.
    fn write(&mut self, snapshot: &Snapshot, files: &mut Files) -> Result<(), OutputError> {
        let case = self.case;
        let mut found = vec![];
        let Some(surfaces) = &case.output.surfaces else { return Ok(()) };
        let bodies = Bodies::new(case, snapshot, surfaces);
        for body in case.bodies() {
            let loaded = bodies.surface(&body);
            files.write(&bodies.file_name(&body), |out| bodies.write(&body, &loaded, out))?;
            for (number, plane) in surfaces.sections.iter().enumerate() {
                let name = bodies.section_name(&body, number);
                files.write(&name, |out| bodies.write_section(&body, &loaded, plane, out))?;
            }
            found.extend(bodies.y_plus(&body, &loaded));
        }
        for wall in bodies.walls() {
            let loaded = bodies.face(wall);
            files.write(&bodies.face_name(wall.face), |out| bodies.write_face(wall.face, &loaded, out))?;
            found.extend(bodies.y_plus_at(wall, &loaded));
        }
        self.written = Some((snapshot.step, found));
        Ok(())
    }
}

impl Output for Surfaces<'_> {
    fn takes(&self) -> Vec<Taken> {
        let every = self.case.output.surfaces.as_ref().map(|surfaces| surfaces.every);
        every.into_iter().map(|every| Taken { source: Source::Fields, every }).collect()
    }

    fn ends_with_fields(&self) -> bool {
        self.case.output.surfaces.is_some()
    }

    fn record(&mut self, data: &Data<'_>, files: &mut Files) -> Result<(), OutputError> {
        match data {
            Data::Fields(snapshot) if self.is_due(snapshot.step) => self.write(snapshot, files),
            _ => Ok(()),
        }
    }

    fn finish(&mut self, end: End<'_>, files: &mut Files, summary: &mut Summary) -> Result<(), OutputError> {
        let Some(snapshot) = end.snapshot else { return Ok(()) };
        if self.written.as_ref().is_none_or(|(step, _)| *step != snapshot.step) {
            self.write(snapshot, files)?;
        }
        summary.y_plus = self.written.take().map_or(vec![], |(_, found)| found);
        Ok(())
    }
}
