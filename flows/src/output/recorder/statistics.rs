//! Statistics at the end of a run. After each call their file and their pictures exist, or a notice gives the reason.

use lbm_runtime::solver::snapshot::Snapshot;

use super::Recorder;
use super::fields::write_vtk;
use crate::case::Vtk;
use crate::output::picture;
use crate::output::sink::OutputError;
use crate::output::summary::Accumulated;

impl Recorder<'_> {
    /// Writes the statistics with this number and draws their pictures, from accumulated sums over `samples` samples
    /// between these steps.
    pub fn statistics(
        &mut self,
        number: usize,
        accumulated: Snapshot,
        samples: u64,
        [from_step, to_step]: [u64; 2],
    ) -> Result<(), OutputError> {
        let (case, of) = (self.case, &self.case.output.statistics[number]);
        let (results, snapshot) = (of.results(), of.evaluate(accumulated, samples));
        let format = case.output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim));
        let name = of.file_name(format);
        self.sink.write(&name, |out| write_vtk(out, format, &snapshot, Some(&results), case))?;
        for picture in case.output.pictures.iter().filter(|picture| picture.statistics == Some(number)) {
            self.draw(&picture.frames, snapshot.step, picture::draw(case, &snapshot, picture))?;
        }
        self.statistics.push(Accumulated { name: of.name.clone(), from_step, to_step, samples });
        Ok(())
    }

    /// Adds a notice that the statistics with this number have no samples in a run that ended at `step`.
    pub fn lacks_samples(&mut self, number: usize, step: u64) {
        let of = &self.case.output.statistics[number];
        let drawn = self.case.output.pictures.iter().filter(|picture| picture.statistics == Some(number));
        let pictures: String = drawn.map(|picture| format!(", no picture `{}`", picture.frames.name)).collect();
        self.notices.push(format!(
            "there is no file of the statistics `{}`{pictures}: their first sample is of step {}, and the run has ended at step {step}; \
             begin earlier (`statistics.from`), or let it go on longer (`stop`)",
            of.name, of.from
        ));
    }
}
