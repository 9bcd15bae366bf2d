//! Final output of a run. After [`Recorder::finish`] all files exist and the summary lists them; after
//! [`Recorder::broken`] and [`Recorder::fail`] the files of a failed run.

use lbm_bundle::Manifest;
use lbm_runtime::solver::snapshot::Snapshot;
use serde::Serialize;

use super::Recorder;
use crate::case::Reference;
use crate::output::flux::Fluxes;
use crate::output::profile::{self, Profile};
use crate::output::sink::{OutputError, SUMMARY};
use crate::output::summary::{Failed, Failure, Measured, Observed, Status, Summary};
use crate::output::{plot, report, units};

impl Recorder<'_> {
    /// Writes the final output, the summary last. `snapshot` is required if the case
    /// [`ends_with_fields`](crate::case::Case::ends_with_fields).
    pub fn finish(
        &mut self,
        snapshot: Option<&Snapshot>,
        manifest: &Manifest,
        measured: &Measured,
    ) -> Result<Summary, OutputError> {
        let (case, output) = (self.case, &self.case.output);
        let mut summary = Summary::new(self.about.clone(), manifest, measured);
        if let Some(snapshot) = snapshot.filter(|_| output.vtk.is_some()) {
            self.fields(snapshot)?;
        }
        if let Some(snapshot) = snapshot.filter(|_| output.profiles) {
            let profiles: Vec<Profile> = (0..case.dim).filter_map(|axis| Profile::new(case, snapshot, axis)).collect();
            for profile in &profiles {
                let name = format!("profile_{}.csv", ["x", "y", "z"][profile.axis]);
                self.sink.write(&name, |out| profile.write(case, snapshot.step, out))?;
            }
            if let Some(reference) = &output.compare {
                summary.compared = profile::compare(&profiles, reference);
            }
            let image = plot::draw(case, &profiles).png();
            self.sink.write("profiles.png", |out| out.write_all(&image))?;
        }
        if output.series.is_some() {
            self.series()?;
            if let Some(Reference::Series { title, moments }) = &output.compare {
                summary.decay = self.series.compare(title, moments);
            }
        }
        self.tables()?;
        self.draw_forces()?;
        if output.forces.is_some() {
            summary.forces = self.forces.settled(case);
        }
        summary.heat = self.heat.means(case);
        if let Some(from) = output.average_from.filter(|from| *from > measured.steps) {
            self.notices.push(format!(
                "there are no means of forces, heat, probes and fluxes: they begin at step {from} (`output.average_from`), and the run has \
                 ended at step {}",
                measured.steps
            ));
        }
        let planes = output.fluxes.iter().zip(&self.fluxes);
        summary.planes = planes.filter_map(|(plane, fluxed)| fluxed.mean(case, plane)).collect();
        let probes = output.probes.iter().zip(&self.probes);
        summary.probes = probes.flat_map(|(probe, probed)| probed.means(case, probe)).collect();
        summary.statistics = std::mem::take(&mut self.statistics);
        summary.fluxes = snapshot.and_then(|snapshot| Fluxes::new(case, snapshot));
        summary.observed = snapshot.map_or(vec![], |snapshot| Observed::all(manifest, snapshot));
        summary.report = report::all(case, &summary, snapshot);
        if let Some(snapshot) = snapshot {
            self.surfaces(snapshot)?;
            self.pictures_at_end(snapshot, manifest)?;
        }
        self.films()?;
        (summary.inputs, summary.files) = (self.sink.inputs().to_vec(), self.sink.files().to_vec());
        summary.units = units::of(case, &summary);
        self.write_summary(&summary)?;
        Ok(summary)
    }

    /// Writes the fields of a snapshot that is not finite, if given, those of the last finite one, the time series
    /// until then, and the pictures.
    pub fn broken(
        &mut self,
        snapshot: Option<&Snapshot>,
        good: Option<&Snapshot>,
        manifest: &Manifest,
    ) -> Result<(), OutputError> {
        if self.case.output.series.is_some() {
            self.series()?;
        }
        self.tables()?;
        self.draw_forces()?;
        // Frames are in the order of time, and frames written during the run may be later than the last finite
        // snapshot.
        let later = |good: &&Snapshot| self.frames.last().is_none_or(|(step, _)| *step < good.step);
        if let Some(good) = good.filter(later) {
            self.fields(good)?;
        }
        let Some(snapshot) = snapshot else { return Ok(()) };
        self.fields(snapshot)?;
        self.pictures_at_end(snapshot, manifest)
    }

    /// Writes the films of existing pictures, and the summary of a failed run.
    pub fn fail(&mut self, error: &dyn miette::Diagnostic) -> Result<(), OutputError> {
        let films = self.films();
        let text = |part: Option<Box<dyn std::fmt::Display + '_>>| part.map(|part| part.to_string());
        self.write_summary(&Failed {
            about: self.about.clone(),
            status: Status::Failed,
            error: Failure { code: text(error.code()), message: error.to_string(), help: text(error.help()) },
            steps: self.reached,
            inputs: self.sink.inputs().to_vec(),
            files: self.sink.files().to_vec(),
        })?;
        films
    }

    fn write_summary(&mut self, summary: &impl Serialize) -> Result<(), OutputError> {
        self.sink.put(SUMMARY, |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            writeln!(out)
        })
    }

    /// Draws the force coefficients over time.
    fn draw_forces(&mut self) -> Result<(), OutputError> {
        if self.case.output.forces.is_none() {
            return Ok(());
        }
        let image = self.forces.draw(self.case).png();
        self.sink.write("forces.png", |out| out.write_all(&image))
    }

    fn series(&mut self) -> Result<(), OutputError> {
        let (case, series) = (self.case, &self.series);
        self.sink.write("series.csv", |out| series.write(case, 0..series.len(), out))?;
        let published = match &case.output.compare {
            Some(Reference::Series { title, moments }) => Some((*title, &moments[..])),
            _ => None,
        };
        let image = series.draw(case, published).png();
        self.sink.write("series.png", |out| out.write_all(&image))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;
    use crate::output::summary::StopReason;

    #[test]
    fn a_run_leaves_what_the_case_asks_for() {
        let (mut case, mut snapshot) = example::cavity(32);
        case.output.every = Some(5);
        case.output.series = Some(10);
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, example::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        snapshot.step = 5;
        recorder.fields(&snapshot).unwrap();
        snapshot.step = 10;
        recorder.fields(&snapshot).unwrap();
        recorder.row(10, &example::means()).unwrap();
        let measured = Measured {
            levels: vec![1024],
            updates: 1024,
            adaptations: None,
            phases: Default::default(),
            steps: 10,
            seconds: 0.5,
            seconds_waiting_for_output: 0.0,
            first_step: 0.1,
            memory: example::memory(),
            memory_bandwidth: None,
            mass_start: 1024.0,
            mass_end: 1024.0,
            is_closed: true,
            scalars: vec![],
            residual: None,
            stop: StopReason::Steps,
        };
        let summary = recorder.finish(Some(&snapshot), &example::manifest(), &measured).unwrap();
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
}
