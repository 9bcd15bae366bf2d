//! What a run is started with: its kernels, and how it begins and may be cut short. Nothing is changed during the run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use lbm_bundle::Bundle;
use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::prescribed::PrescribedBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_runtime::processes::Processes;

use crate::case::InputFile;
use crate::output::progress::Show;

/// What a case is run with.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// Those of its method.
    pub method: &'a Bundle,
    /// Those of [`criteria`](crate::case::Refinement::criteria), for a case that is refined.
    pub criteria: Option<&'a CriteriaBundle>,
    /// Those of [`prescribed`](crate::case::Case::prescribed), for a case with something that depends on time.
    pub prescribed: Option<&'a PrescribedBundle>,
    /// Those of [`accumulated`](crate::case::Case::accumulated), for a case with statistics.
    pub statistics: Option<&'a StatisticsBundle>,
}

/// How a run begins, and how it may be cut short.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// A restart file to go on from.
    pub resume: Option<&'a Path>,
    /// Whether kernels may be other machine code than they were, and the last bits of results other than those of an unbroken run.
    pub resume_anyway: bool,
    /// What the run is made from, for the folder of its results.
    pub inputs: &'a [InputFile],
    /// Set to true by whoever wants the run to end before its time: with all that belongs to its end, and a restart file.
    pub interrupted: Option<&'a AtomicBool>,
    /// Where progress is shown.
    pub show: Show<'a>,
    /// Whether to measure the memory bandwidth of the device, which takes a while, for the fraction that the run reaches.
    pub bandwidth: bool,
    /// The processes that run the flow together, each with the same arguments; without them this one alone. The first writes the files.
    pub processes: Option<&'a Processes>,
}

impl Control<'_> {
    pub(super) fn is_interrupted(&self) -> bool {
        self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    /// The processes.
    pub(super) fn processes(&self) -> Processes {
        self.processes.cloned().unwrap_or_default()
    }
}
