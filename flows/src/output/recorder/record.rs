//! The recorder while a run goes on: it begins or resumes, and writes outputs when they are due.

use std::io::{self, Write};
use std::path::Path;

use super::list::outputs;
use super::output::{Data, Files, Output};
use crate::case::{Case, InputFile};
use crate::output::recorded::Recorded;
use crate::output::sink::{OutputError, Place, RESTART, Sink};
use crate::output::summary::About;
use crate::output::tables::Tables;

/// Writes the output that a case requests.
#[derive(Debug)]
pub struct Recorder<'a> {
    pub(super) case: &'a Case,
    pub(super) about: About,
    pub(super) outputs: Vec<Box<dyn Output + 'a>>,
    pub(super) files: Files,
    /// The last step reached, as reported by [`Recorder::reach`].
    pub(super) reached: u64,
}

impl<'a> Recorder<'a> {
    /// Checks, before anything runs, that the folder is writable. Its contents do not change.
    pub fn create(case: &'a Case, about: About, folder: Place<'_>) -> Result<Recorder<'a>, OutputError> {
        let files = Files { sink: Sink::create(folder)?, tables: Tables::default(), notices: vec![] };
        Ok(Recorder { case, about, outputs: outputs(case), files, reached: 0 })
    }

    /// Starts a run: removes the results of earlier runs, and writes the input files of this one.
    pub fn begin(&mut self, inputs: &[InputFile]) -> Result<(), OutputError> {
        self.files.sink.begin(inputs, &self.case.results, &[])
    }

    /// Starts a run that is resumed from `file`, given the output written before, of which [`Recorder::recorded`] tells. Files that are
    /// not in the folder of `file` are considered absent. The output is then the same as that of an uninterrupted run.
    pub fn resume(&mut self, inputs: &[InputFile], file: &Path, recorded: &Recorded) -> Result<(), OutputError> {
        let real = |path: &Path| path.canonicalize().ok();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_here = real(file).is_some_and(|file| real(&self.folder().join(&name)) == Some(file));
        // Tables may have rows beyond the step of the restart file, so they are rewritten.
        let is_table = |name: &str| self.outputs.iter().any(|output| output.grows(name));
        let stays = recorded.files.iter().filter(|name| !is_table(name)).cloned();
        let stay = if is_here { stays.chain([name]).collect() } else { vec![] };
        self.files.sink.begin(inputs, &self.case.results, &stay)?;
        for output in &mut self.outputs {
            output.resume(recorded, &mut self.files)?;
        }
        self.files.sink.list(&recorded.files);
        Ok(())
    }

    /// The output written so far.
    pub fn recorded(&self) -> Recorded {
        let mut recorded = Recorded { files: self.files.sink.files().to_vec(), ..Recorded::default() };
        self.outputs.iter().for_each(|output| output.save(&mut recorded));
        recorded
    }

    /// Records what was measured at a step, and writes what is made of it.
    pub fn record(&mut self, data: Data<'_>) -> Result<(), OutputError> {
        self.outputs.iter_mut().try_for_each(|output| output.record(&data, &mut self.files))
    }

    /// Records the last step reached.
    pub fn reach(&mut self, step: u64) {
        self.reached = step;
    }

    /// Writes the restart file, in place of the previous one.
    pub fn restart(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        self.files.sink.put(RESTART, content)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.files.sink.folder()
    }

    /// Takes the notices for the user.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.files.notices)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Steady;
    use crate::output::fixture;

    #[test]
    fn a_resumed_run_has_the_table_of_residuals_of_an_unbroken_one() {
        let (mut case, _) = fixture::cavity(16);
        case.stop.steady = Some(Steady { tolerance: 1e-4, check_every: 10 });
        let [whole, parts] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let checks = [(10, 0.5), (20, 0.25), (30, 1e-5)];
        let recorder =
            |folder: &tempfile::TempDir| Recorder::create(&case, fixture::about(&case), folder.path().into()).unwrap();
        let record = |recorder: &mut Recorder<'_>, checks: &[(u64, f64)]| {
            checks.iter().for_each(|(step, residual)| recorder.record(Data::Check(*step, *residual)).unwrap());
        };
        let mut unbroken = recorder(&whole);
        unbroken.begin(&[]).unwrap();
        record(&mut unbroken, &checks);

        let mut first = recorder(&parts);
        first.begin(&[]).unwrap();
        record(&mut first, &checks[..1]);
        let saved = first.recorded();
        // Rows later than the restart file are written again.
        record(&mut first, &checks[1..2]);
        first.restart(|out| out.write_all(b"a state")).unwrap();
        drop(first);
        let file = parts.path().join("restart.lbmc");
        let mut second = recorder(&parts);
        second.resume(&[], &file, &saved).unwrap();
        record(&mut second, &checks[1..]);

        let table = |folder: &tempfile::TempDir| std::fs::read_to_string(folder.path().join("residual.csv")).unwrap();
        assert_eq!(table(&whole), table(&parts));
        let text = table(&whole);
        let rows: Vec<&str> = text.lines().skip_while(|line| *line != "step,time,residual").skip(1).collect();
        assert_eq!(rows, ["10,0.0625,0.5", "20,0.125,0.25", "30,0.1875,1e-5"]);
        assert_eq!(second.recorded(), unbroken.recorded());
    }
}
