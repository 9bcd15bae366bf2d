//! Writes the files of a run, each when it is due: rows and fields during the run, and the final output. After each
//! call all files in the folder are complete, and the recorder knows which ones it has written.
//!
//! Outputs are values in a list ([`outputs`]), each in a file of its own, which says what the output takes and when, how it
//! is resumed, and what it writes. The order of the list is that in which the files of a step are written.
//!
//! | module | content |
//! | --- | --- |
//! | `output` | what an output is, what it is made of, and where it writes |
//! | `fields`, `profiles`, `residual`, `series`, `forces`, `heat`, `probes`, `fluxes`, `statistics`, `surfaces`, `overview`, `drawings`, `films` | an output each |
//! | `schedule` | when outputs are due, for the flow |
//! | `finish` | the end of a run, successful or not; the summary last |

mod drawings;
mod fields;
mod films;
mod finish;
mod fluxes;
mod forces;
mod heat;
mod output;
mod overview;
mod probes;
mod profiles;
mod residual;
mod schedule;
mod series;
mod statistics;
mod surfaces;

use std::io::{self, Write};
use std::path::Path;

use crate::case::{Case, InputFile};
use crate::output::recorded::Recorded;
use crate::output::sink::{OutputError, Place, RESTART, Sink};
use crate::output::summary::About;
use crate::output::tables::Tables;
pub use output::{Data, Sampled, Source};
use output::{Files, Output};
pub use schedule::Schedule;

/// All outputs, in the order in which they write.
fn outputs(case: &Case) -> Vec<Box<dyn Output + '_>> {
    vec![
        Box::new(fields::Fields::new(case)),
        Box::new(profiles::Profiles(case)),
        Box::new(residual::Residual::new(case)),
        Box::new(series::Series::new(case)),
        Box::new(forces::Forces::new(case)),
        Box::new(heat::Heat::new(case)),
        Box::new(probes::Probes::new(case)),
        Box::new(fluxes::Fluxes::new(case)),
        Box::new(statistics::Statistics::new(case)),
        Box::new(surfaces::Surfaces(case)),
        Box::new(overview::Overview(case)),
        Box::new(drawings::Drawings(case)),
        Box::new(films::Films(case)),
    ]
}

/// Writes the output that a case requests.
#[derive(Debug)]
pub struct Recorder<'a> {
    case: &'a Case,
    about: About,
    outputs: Vec<Box<dyn Output + 'a>>,
    files: Files,
    /// The last step reached, as reported by [`Recorder::reach`].
    reached: u64,
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
