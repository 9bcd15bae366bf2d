//! Inputs of a run: its kernels, how it starts and how it may be interrupted. They do not change during the run.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use lbm_bundle::Bundle;
use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::prescribed::PrescribedBundle;
use lbm_bundle::statistics::StatisticsBundle;
use lbm_runtime::processes::Processes;

use crate::case::{Case, InputFile, StopReason};
use crate::output::progress::Show;
use crate::watch::Desk;

/// The compiled kernels of a case.
#[derive(Clone, Copy)]
pub struct Kernels<'a> {
    /// Kernels of its method.
    pub method: &'a Bundle,
    /// Kernels of its [`criteria`](crate::case::Refinement::criteria), for a case with refinement.
    pub criteria: Option<&'a CriteriaBundle>,
    /// Kernels of its [`prescribed`](crate::case::Case::prescribed) formulas, for a case with time-dependent
    /// boundaries.
    pub prescribed: Option<&'a PrescribedBundle>,
    /// Kernels of its [`accumulated`](crate::case::Case::accumulated) statistics, for a case with statistics.
    pub statistics: Option<&'a StatisticsBundle>,
}

/// How a run starts and how it may be interrupted.
#[derive(Clone, Copy, Default)]
pub struct Control<'a> {
    /// Restart file from which to resume.
    pub resume: Option<&'a Path>,
    /// Whether to resume even if kernels compile to other machine code, so that the last bits of results may differ
    /// from those of an uninterrupted run.
    pub resume_anyway: bool,
    /// Input files of the run, to be copied to its folder of results.
    pub inputs: &'a [InputFile],
    /// Set to true to end the run early, with all its final output and a restart file.
    pub interrupted: Option<&'a AtomicBool>,
    /// Where progress is shown.
    pub show: Show<'a>,
    /// Where pages meet the flow, if it may be looked at; in several processes each has one, and pages are at that of the first.
    pub desk: Option<&'a Desk>,
    /// What is known of the case that makes a flow blow up, a sentence each; asked for when one has.
    pub known: Option<&'a dyn Fn() -> Vec<String>>,
    /// Whether to measure the memory bandwidth of the device, to report the fraction that the run reaches. This takes a
    /// moment.
    pub bandwidth: bool,
}

impl Control<'_> {
    /// Why a run that began then ends now, whatever the flow: the same in all processes.
    pub(super) fn early(self, case: &Case, processes: &Processes, began: Instant) -> Option<StopReason> {
        if processes.any(self.interrupted.is_some_and(|flag| flag.load(Ordering::Relaxed))) {
            return Some(StopReason::Interrupted);
        }
        let may_take = case.stop.wall_seconds?;
        processes.any(began.elapsed().as_secs_f64() >= may_take).then_some(StopReason::WallTime)
    }
}
