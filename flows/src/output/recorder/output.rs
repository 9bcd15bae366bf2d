//! What an output is: a value that says what it takes and when, and writes its files from it.

use std::fmt;
use std::io::{self, Write};

use lbm_bundle::Manifest;
use lbm_runtime::solver::observe::Means;
use lbm_runtime::solver::probe::Reading;
use lbm_runtime::solver::snapshot::Snapshot;

use crate::output::canvas::Canvas;
use crate::output::derivatives::Derivatives;
use crate::output::recorded::Recorded;
use crate::output::sink::{OutputError, Sink};
use crate::output::summary::Summary;
use crate::output::tables::Tables;

/// What outputs are made of during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The fields of all cells.
    Fields,
    /// Means over the flow.
    Means,
    /// Forces on solids.
    Forces,
    /// Scalars that solids release.
    Heat,
    /// Readings of the probe with this number.
    Probe(usize),
    /// Readings at the points of the flux plane with this number.
    Flux(usize),
    /// Readings at the points of the recording with this number.
    Plane(usize),
}

/// What was measured at a step.
#[derive(Clone, Copy, Debug)]
pub enum Data<'d> {
    /// The fields, at a step at which an output takes them.
    Fields(&'d Snapshot),
    /// The fields, at a step at which a user has ordered files of them.
    Ordered(&'d Snapshot),
    /// Means over the flow at a step.
    Means(u64, &'d Means),
    /// The change of velocity at a check for steady flow, over the reference velocity: at every check, whatever outputs take.
    Check(u64, f64),
    /// The force on each entry of the case's solids at a step, in lattice units; if solids rotate, followed by the torque on each.
    Forces(u64, &'d [[f64; 3]]),
    /// The release of each scalar from each entry of the case's solids in a step, in lattice units.
    Heat(u64, &'d [f64]),
    /// The readings of the probe with this number at a step.
    Probe(usize, u64, &'d [Reading]),
    /// The readings at the points of the flux plane with this number at a step.
    Flux(usize, u64, &'d [Reading]),
    /// The readings at the points of the recording with this number at a step.
    Plane(usize, u64, &'d [Reading]),
    /// Statistics at the end.
    Statistics(Sampled<'d>),
    /// Derivatives of the objective of the case, at the end.
    Gradient(&'d Derivatives),
    /// The statistics with this number have no samples in a run that ended at a step.
    NoSamples(usize, u64),
}

/// Statistics that have samples.
#[derive(Clone, Copy, Debug)]
pub struct Sampled<'d> {
    /// Which of the case's.
    pub number: usize,
    /// What they have come to.
    pub evaluated: &'d Snapshot,
    /// Number of samples.
    pub samples: u64,
    /// Steps of the first and the last sample.
    pub steps: [u64; 2],
}

/// Steps between what an output takes during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Taken {
    pub(super) source: Source,
    pub(super) every: u64,
}

impl Taken {
    /// Whether it is taken at a step. Fields at the start are those that the case states.
    pub(super) fn is_due(&self, source: Source, step: u64) -> bool {
        self.source == source && step.is_multiple_of(self.every) && (step > 0 || source != Source::Fields)
    }
}

/// The last step of a run, with the fields if an output [ends with them](Output::ends_with_fields).
#[derive(Clone, Copy)]
pub(super) struct End<'e> {
    pub(super) snapshot: Option<&'e Snapshot>,
    pub(super) manifest: &'e Manifest,
}

/// The step at which a flow is not finite, with its fields if there is memory for them, and the last finite ones.
#[derive(Clone, Copy)]
pub(super) struct Broken<'e> {
    pub(super) snapshot: Option<&'e Snapshot>,
    pub(super) good: Option<&'e Snapshot>,
    pub(super) manifest: &'e Manifest,
}

/// Where outputs write.
#[derive(Debug)]
pub(super) struct Files {
    pub(super) sink: Sink,
    /// State of growing tables.
    pub(super) tables: Tables,
    /// Notices for the user.
    pub(super) notices: Vec<String>,
}

impl Files {
    /// Writes a file of the results.
    pub(super) fn write(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.sink.write(name, content)
    }

    /// Writes a picture.
    pub(super) fn draw(&mut self, name: &str, canvas: &Canvas) -> Result<(), OutputError> {
        let image = canvas.png();
        self.write(name, |out| out.write_all(&image))
    }

    /// Appends missing rows to a table.
    pub(super) fn grow(
        &mut self,
        name: &str,
        rows: usize,
        write: impl Fn(usize, &mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.tables.grow(&mut self.sink, name, rows, write)
    }
}

/// An output of a run. One that the case does not request takes and writes nothing, but passes on what a restart file has of it.
pub(super) trait Output: fmt::Debug + Send {
    /// What it takes during the run, and how often.
    fn takes(&self) -> Vec<Taken> {
        vec![]
    }

    /// Whether it is made of the fields of the last step.
    fn ends_with_fields(&self) -> bool {
        false
    }

    /// Whether it takes the fields of a step.
    fn is_due(&self, step: u64) -> bool {
        self.takes().iter().any(|taken| taken.is_due(Source::Fields, step))
    }

    /// Whether a file is one of its growing tables.
    fn grows(&self, _name: &str) -> bool {
        false
    }

    /// Goes on with what an earlier run has recorded.
    fn resume(&mut self, _recorded: &Recorded, _files: &mut Files) -> Result<(), OutputError> {
        Ok(())
    }

    /// Adds what it has recorded to a restart file.
    fn save(&self, _recorded: &mut Recorded) {}

    /// Records what was measured, and writes the files that follow.
    fn record(&mut self, _data: &Data<'_>, _files: &mut Files) -> Result<(), OutputError> {
        Ok(())
    }

    /// Writes what is made of its rows at the end of a run, whether the flow is finite or not.
    fn rows(&mut self, _files: &mut Files) -> Result<(), OutputError> {
        Ok(())
    }

    /// Writes what is made of the last step, and adds its results to the summary.
    fn finish(&mut self, _end: End<'_>, _files: &mut Files, _summary: &mut Summary) -> Result<(), OutputError> {
        Ok(())
    }

    /// Writes what may help to find why a flow is not finite.
    fn broken(&mut self, _broken: Broken<'_>, _files: &mut Files) -> Result<(), OutputError> {
        Ok(())
    }

    /// Writes what is made of files that exist; `reached` is the last step of the run.
    fn close(&mut self, _reached: u64, _files: &mut Files) -> Result<(), OutputError> {
        Ok(())
    }
}
