//! Final output of a run. After [`Recorder::finish`] all files exist and the summary lists them; after
//! [`Recorder::broken`] and [`Recorder::fail`] the files of a failed run.

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;
use serde::Serialize;

use super::output::{Broken, End};
use super::record::Recorder;
use crate::output::flux::Fluxes;
use crate::output::report;
use crate::output::sink::{OutputError, SUMMARY};
use crate::output::summary::{Failed, Failure, Measured, Observed, Status, Summary};
use crate::output::units;

impl Recorder<'_> {
    /// Writes the final output, the summary last. `snapshot` is required if the
    /// [schedule](super::Schedule::ends_with_fields) says so.
    pub fn finish(
        &mut self,
        snapshot: Option<&Snapshot>,
        manifest: &Manifest,
        measured: &Measured,
    ) -> Result<Summary, OutputError> {
        let case = self.case;
        let mut summary = Summary::new(self.about.clone(), manifest, measured);
        if let Some(from) = case.output.average_from.filter(|from| *from > measured.steps) {
            self.files.notices.push(format!(
                "there are no means of forces, heat, probes and fluxes: they begin at step {from} (`output.average_from`), and the run has \
                 ended at step {}",
                measured.steps
            ));
        }
        for output in &mut self.outputs {
            output.rows(&mut self.files)?;
            output.finish(End { snapshot, manifest }, &mut self.files, &mut summary)?;
        }
        self.close()?;
        summary.fluxes = snapshot.and_then(|snapshot| Fluxes::new(case, snapshot));
        summary.observed = snapshot.map_or(vec![], |snapshot| Observed::all(manifest, snapshot));
        summary.report = report::all(case, &summary, snapshot);
        (summary.inputs, summary.files) = (self.files.sink.inputs().to_vec(), self.files.sink.files().to_vec());
        summary.units = units::of(case, &summary);
        self.write_summary(&summary)?;
        Ok(summary)
    }

    /// Writes the fields of a snapshot that is not finite, if given, those of the last finite one, the rows until then,
    /// and the pictures.
    pub fn broken(
        &mut self,
        snapshot: Option<&Snapshot>,
        good: Option<&Snapshot>,
        manifest: &Manifest,
    ) -> Result<(), OutputError> {
        for output in &mut self.outputs {
            output.rows(&mut self.files)?;
        }
        for output in &mut self.outputs {
            output.broken(Broken { snapshot, good, manifest }, &mut self.files)?;
        }
        Ok(())
    }

    /// Writes what is made of existing files, and the summary of a failed run.
    pub fn fail(&mut self, error: &dyn miette::Diagnostic) -> Result<(), OutputError> {
        let closed = self.close();
        let text = |part: Option<Box<dyn std::fmt::Display + '_>>| part.map(|part| part.to_string());
        self.write_summary(&Failed {
            about: self.about.clone(),
            status: Status::Failed,
            error: Failure { code: text(error.code()), message: error.to_string(), help: text(error.help()) },
            steps: self.reached,
            inputs: self.files.sink.inputs().to_vec(),
            files: self.files.sink.files().to_vec(),
        })?;
        closed
    }

    fn close(&mut self) -> Result<(), OutputError> {
        self.outputs.iter_mut().try_for_each(|output| output.close(self.reached, &mut self.files))
    }

    fn write_summary(&mut self, summary: &impl Serialize) -> Result<(), OutputError> {
        self.files.sink.put(SUMMARY, |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            writeln!(out)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::output::Data;
    use super::*;
    use crate::case::{Frames, Picture, Quantity};
    use crate::output::fixture;

    #[test]
    fn a_run_leaves_what_the_case_asks_for() {
        let (mut case, mut snapshot) = fixture::cavity(32);
        case.output.every = Some(5);
        case.output.series = Some(10);
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, fixture::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        snapshot.step = 5;
        recorder.record(Data::Fields(&snapshot)).unwrap();
        snapshot.step = 10;
        recorder.record(Data::Fields(&snapshot)).unwrap();
        recorder.record(Data::Means(10, &fixture::means())).unwrap();
        let summary = recorder.finish(Some(&snapshot), &fixture::manifest(), &fixture::measured()).unwrap();
        let expected = [
            "fields_00000005.vti",
            "fields.pvd",
            "fields_00000010.vti",
            "profile_x.csv",
            "profile_y.csv",
            "profiles.png",
            "series.csv",
            "series.png",
            "velocity.png",
            "vorticity.png",
        ];
        assert_eq!(summary.files, expected);
        assert_eq!(summary.compared.len(), 2);
        let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap().files, expected);
        for file in expected {
            assert!(folder.path().join(file).metadata().unwrap().len() > 0, "{file}");
        }
    }

    #[test]
    fn a_picture_at_the_end_makes_no_film() {
        let (mut case, snapshot) = fixture::cavity(16);
        let all = Quantity::all(&lbm_runtime::fixture::manifest());
        let field = all.into_iter().find(|field| field.name() == "speed").unwrap();
        let frames = Frames { name: "speed".into(), every: None, film: Some(20) };
        case.output.pictures = vec![Picture::of(field, frames)];
        (case.output.profiles, case.output.picture, case.output.vtk) = (false, false, None);
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, fixture::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        recorder.reach(10);
        let summary = recorder.finish(Some(&snapshot), &fixture::manifest(), &fixture::measured()).unwrap();
        assert_eq!(summary.files, ["speed.png"]);
        assert!(recorder.notices().is_empty());
    }
}
