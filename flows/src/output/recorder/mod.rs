//! Writes the files of a run, each when it is due: rows and fields during the run, and the final output. After each
//! call all files in the folder are complete, and the recorder knows which ones it has written.
//!
//! | module | writes |
//! | --- | --- |
//! | `fields` | fields for ParaView: on all cells, on grids of probes, on solids |
//! | `rows` | rows of growing tables |
//! | `pictures` | pictures, views and films |
//! | `statistics` | statistics and their pictures |
//! | `resume` | restores the state of the recorder for a resumed run |
//! | `finish` | final output of a run, successful or not; the summary last |

mod fields;
mod finish;
mod pictures;
mod resume;
mod rows;
mod statistics;

use std::io::{self, Write};
use std::path::Path;

use crate::case::{Case, InputFile};
use crate::output::flux_planes::Fluxed;
use crate::output::forces::Forces;
use crate::output::heat::Heat;
use crate::output::probes::Probed;
use crate::output::series::Series;
use crate::output::sink::{OutputError, Place, RESTART, Sink};
use crate::output::summary::{About, Accumulated};
use crate::output::tables::Tables;

/// Writes the output that a case requests.
#[derive(Debug)]
pub struct Recorder<'a> {
    case: &'a Case,
    about: About,
    sink: Sink,
    /// The last step reached, as reported by [`Recorder::reach`].
    reached: u64,
    /// Steps and names of the VTK files so far.
    frames: Vec<(u64, String)>,
    series: Series,
    forces: Forces,
    heat: Heat,
    /// Rows of the probes of the case, in order.
    probes: Vec<Probed>,
    /// Notices for the user.
    notices: Vec<String>,
    /// Rows of the flux planes of the case, in order.
    fluxes: Vec<Fluxed>,
    /// The statistics written so far.
    statistics: Vec<Accumulated>,
    /// State of growing tables.
    tables: Tables,
}

impl<'a> Recorder<'a> {
    /// Checks, before anything runs, that the folder is writable. Its contents do not change.
    pub fn create(case: &'a Case, about: About, folder: Place<'_>) -> Result<Recorder<'a>, OutputError> {
        Ok(Recorder {
            case,
            about,
            sink: Sink::create(folder)?,
            reached: 0,
            frames: vec![],
            series: Series::default(),
            forces: Forces::default(),
            heat: Heat::default(),
            probes: vec![Probed::default(); case.output.probes.len()],
            notices: vec![],
            fluxes: vec![Fluxed::default(); case.output.fluxes.len()],
            statistics: vec![],
            tables: Tables::default(),
        })
    }

    /// Starts a run: removes the results of earlier runs, and writes the input files of this one.
    pub fn begin(&mut self, inputs: &[InputFile]) -> Result<(), OutputError> {
        self.sink.begin(inputs, &self.case.results, &[])
    }

    /// Records the last step reached.
    pub fn reach(&mut self, step: u64) {
        self.reached = step;
    }

    /// Writes the restart file, in place of the previous one.
    pub fn restart(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        self.sink.put(RESTART, content)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.sink.folder()
    }

    /// Takes the notices for the user.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}
