//! What writes the files of a run, each when it is due: rows and fields on the way, and what belongs to the end. After each call all files
//! in the folder are whole, and the recorder knows which it has written.
//!
//! | module | writes |
//! | --- | --- |
//! | `fields` | fields for ParaView: on all cells, on grids of probes, on solids |
//! | `rows` | rows of tables as they come |
//! | `pictures` | pictures, views and films |
//! | `statistics` | statistics, and their pictures |
//! | `resume` | what a run goes on with that was interrupted |
//! | `finish` | what belongs to the end of a run, well or not; the summary last |

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

/// Writes what a case asks for.
#[derive(Debug)]
pub struct Recorder<'a> {
    case: &'a Case,
    about: About,
    sink: Sink,
    /// The last step that it was told of.
    reached: u64,
    /// Steps and names of the VTK files so far.
    frames: Vec<(u64, String)>,
    series: Series,
    forces: Forces,
    heat: Heat,
    /// What the probes of the case have recorded, in their order.
    probes: Vec<Probed>,
    /// What the user should know.
    notices: Vec<String>,
    /// What has flowed through the planes of the case, in their order.
    fluxes: Vec<Fluxed>,
    /// The statistics that have been written.
    statistics: Vec<Accumulated>,
    /// Tables that grow.
    tables: Tables,
}

impl<'a> Recorder<'a> {
    /// Makes sure, before anything runs, that the folder takes files. It is as it was.
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

    /// Begins a run: takes the results of earlier ones away, and writes what this one is made from.
    pub fn begin(&mut self, inputs: &[InputFile]) -> Result<(), OutputError> {
        self.sink.begin(inputs, &self.case.results, &[])
    }

    /// Notes that a step was reached.
    pub fn reach(&mut self, step: u64) {
        self.reached = step;
    }

    /// Writes the restart file in the place of the last one.
    pub fn restart(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        self.sink.put(RESTART, content)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.sink.folder()
    }

    /// What the user should know of what was written.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }
}
