//! State of the recorder in resumed runs. After [`Recorder::resume`] with the result of [`Recorder::recorded`], the
//! recorder writes the same output as that of an uninterrupted run.

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
    /// Starts a run that is resumed from `file`, given the output written before. Files that are not in the folder of
    /// `file` are considered absent.
    pub fn resume(&mut self, inputs: &[InputFile], file: &Path, recorded: &Recorded) -> Result<(), OutputError> {
        let real = |path: &Path| path.canonicalize().ok();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_here = real(file).is_some_and(|file| real(&self.sink.folder().join(&name)) == Some(file));
        // Tables may have rows beyond the step of the restart file, so they are rewritten.
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

    /// The output written so far.
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
