//! A run that goes on: what the parts before it have written. After [`Recorder::resume`] with what [`Recorder::recorded`] has returned,
//! the recorder writes what that of an uninterrupted run does.

use std::path::Path;

use super::Recorder;
use crate::case::InputFile;
use crate::output::flux_planes::Fluxed;
use crate::output::forces::Forces;
use crate::output::heat::Heat;
use crate::output::probes::Probed;
use crate::output::recorded::Recorded;
use crate::output::series::Series;
use crate::output::sink::OutputError;
use crate::output::tables;

impl Recorder<'_> {
    /// Begins the next part of a run that goes on from `file`, with what the parts before have written. What is not in the folder
    /// of that file is not there.
    pub fn resume(&mut self, inputs: &[InputFile], file: &Path, recorded: &Recorded) -> Result<(), OutputError> {
        let real = |path: &Path| path.canonicalize().ok();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_here = real(file).is_some_and(|file| real(&self.sink.folder().join(&name)) == Some(file));
        // Tables may have rows of steps that the restart file does not know, and are written again.
        let stays = recorded.files.iter().filter(|name| !tables::is_table(name)).cloned();
        let stay = if is_here { stays.chain([name]).collect() } else { vec![] };
        self.sink.begin(inputs, &self.case.results, &stay)?;
        self.frames = recorded.frames.iter().filter(|(_, name)| self.sink.has(name)).cloned().collect();
        self.series = Series::of_saved(&recorded.series);
        self.forces = Forces::of_saved(&recorded.forces);
        self.heat = Heat::of_saved(&recorded.heat);
        let probes = self.case.output.probes.iter();
        self.probes = probes.map(|probe| Probed::of_saved(probe, &recorded.probes)).collect();
        let planes = self.case.output.fluxes.iter();
        self.fluxes = planes.map(|plane| Fluxed::of_saved(plane, &recorded.fluxes)).collect();
        if self.case.output.series.is_some() {
            self.series_table()?;
        }
        self.tables()?;
        self.sink.list(&recorded.files);
        Ok(())
    }

    /// What has been written so far.
    pub fn recorded(&self) -> Recorded {
        Recorded {
            files: self.sink.files().to_vec(),
            frames: self.frames.clone(),
            series: self.series.saved(),
            forces: self.forces.saved(),
            heat: self.heat.saved(),
            probes: self
                .case
                .output
                .probes
                .iter()
                .zip(&self.probes)
                .filter(|(probe, _)| probe.grid.is_none())
                .map(|(probe, of)| of.saved(probe))
                .collect(),
            fluxes: self.case.output.fluxes.iter().zip(&self.fluxes).map(|(plane, of)| of.saved(plane)).collect(),
        }
    }
}
