//! The progress line of a run: step, speed, fraction of memory bandwidth, residual, remaining time.
//!
//! On a terminal the line is updated in place. Elsewhere a line is printed from time to time, so that logs stay short.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::summary::mlups;
use crate::case::Stop;

/// Prints a line to standard error. If it is closed, the error is ignored; the macro of the standard library would
/// panic.
macro_rules! eprintln {
    ($($text:tt)*) => {{ let _ = writeln!(io::stderr(), $($text)*); }};
}

/// Interval between plain lines.
const PLAIN: Duration = Duration::from_secs(10);
/// Interval between reports to a callback.
const REPORT: Duration = Duration::from_secs(1);
/// Number of residuals used to estimate the time to steady flow.
const REMEMBERED: usize = 6;
/// Weight of a new estimate of the remaining steps in the running mean of logarithms. An estimate that is off by a
/// factor of ten changes the mean by a factor of two.
const NEW: f64 = 0.3;

/// Properties of a run that the line needs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Facts {
    /// Cell updates per step.
    pub updates: usize,
    /// Memory traffic of a cell update, in bytes.
    pub bytes_per_update: f64,
    /// Memory bandwidth of the device (device-to-device copy), bytes read and written per second, if measured.
    pub memory_bandwidth: Option<f64>,
    /// Completed steps at the start of the run.
    pub from: u64,
    /// Stopping criteria of the run.
    pub stop: Stop,
    /// Time step: 1, or in seconds for a case in SI units.
    pub time_step: f64,
}

/// State of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Status {
    /// Completed steps.
    pub step: u64,
    /// Largest number of steps of the run.
    pub steps: u64,
    /// Time of the flow: in steps, or in seconds for a case in SI units.
    pub time: f64,
    /// Million cell updates per second, averaged over the last seconds.
    pub mlups: f64,
    /// Change of velocity at the last check, relative to the reference velocity.
    pub residual: Option<f64>,
    /// Seconds for which the flow was waiting for earlier output to be written.
    pub seconds_waiting_for_output: f64,
    /// Estimated seconds until the run ends; `None` if unknown.
    pub remaining: Option<f64>,
    /// Once the flow has ended and its objective is derived: how far that is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub back: Option<Back>,
}

/// How far the steps backwards of a gradient are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Back {
    /// Completed steps backwards.
    pub step: u64,
    /// Largest number of steps backwards.
    pub steps: u64,
    /// Estimated seconds until the last one is done; `None` if unknown.
    pub remaining: Option<f64>,
}

/// How progress is shown.
#[derive(Clone, Copy, Default)]
pub enum Show<'a> {
    /// As a line on standard error.
    #[default]
    Line,
    /// Not at all.
    Nothing,
    /// By a call of this function about once per second, and at every check.
    Each(&'a dyn Fn(&Status)),
}

/// The progress of a run.
pub struct Progress<'a> {
    facts: Facts,
    show: Show<'a>,
    bar: Option<ProgressBar>,
    printed: Instant,
    residuals: Residuals,
    /// Seconds of waiting for output.
    waited: f64,
    /// Time and step of the previous update, for the current speed.
    last: (Instant, u64),
    speed: Speed,
}

impl<'a> Progress<'a> {
    /// Starts the clock.
    pub fn new(facts: Facts, show: Show<'a>) -> Progress<'a> {
        let live = matches!(show, Show::Line) && io::stderr().is_terminal();
        let bar = live.then(|| {
            let bar = ProgressBar::with_draw_target(Some(facts.stop.steps), ProgressDrawTarget::stderr_with_hz(8));
            let style = ProgressStyle::with_template("{bar:24.cyan/dim} {msg}").expect("the template is sound");
            bar.set_style(style.progress_chars("━╸─"));
            bar
        });
        let now = Instant::now();
        // The first plain line comes early, to show that the run is alive.
        let printed = now - PLAIN + PLAIN / 5;
        Progress {
            facts,
            show,
            bar,
            printed,
            residuals: Residuals::default(),
            waited: 0.0,
            last: (now, facts.from),
            speed: Speed::default(),
        }
    }

    /// Updates the line after `step` steps, on a grid with `updates` cell updates per step; with the residual if it was
    /// just checked, and the total seconds of waiting for output.
    pub fn update(&mut self, step: u64, updates: usize, residual: Option<f64>, waited: f64) {
        self.facts.updates = updates;
        self.waited = waited;
        let now = Instant::now();
        if let Some(residual) = residual {
            self.residuals.add(self.facts.stop, step, residual);
        }
        let (before, done) = self.last;
        let seconds = (now - before).as_secs_f64();
        if seconds > 0.05 {
            self.speed.add((step - done) as f64, seconds);
            self.last = (now, step);
        }
        self.put(now, residual.is_some(), step, |own| own.line(step), |own| own.status(step));
    }

    /// Updates the line after steps backwards from `step`, the last of the flow.
    pub fn update_back(&mut self, step: u64, back: Back) {
        if let Some(bar) = self.bar.as_ref().filter(|bar| bar.is_finished()) {
            bar.reset();
            bar.set_length(back.steps);
        }
        let status = |own: &Self| Status { remaining: back.remaining, back: Some(back), ..own.status(step) };
        self.put(Instant::now(), back.step == 0, back.step, |_| back.line(), status);
    }

    /// Shows a line at its position, and now at once where a call `is_due`.
    fn put(
        &mut self,
        now: Instant,
        is_due: bool,
        position: u64,
        line: impl Fn(&Self) -> String,
        status: impl Fn(&Self) -> Status,
    ) {
        let since = now.saturating_duration_since(self.printed);
        match (&self.bar, self.show) {
            (Some(bar), _) => {
                bar.set_position(position);
                bar.set_message(line(self));
            }
            (None, Show::Line) if since >= PLAIN => {
                self.printed = now;
                eprintln!("{}", line(self));
            }
            (None, Show::Each(report)) if since >= REPORT || is_due => {
                self.printed = now;
                report(&status(self));
            }
            (None, _) => {}
        }
    }

    /// Goes on after a pause, which does not count for the speed.
    pub fn go_on(&mut self) {
        self.last.0 = Instant::now();
    }

    /// Calls a function that prints, without disturbing the live line.
    pub fn aside(&self, print: impl FnOnce()) {
        match &self.bar {
            Some(bar) => bar.suspend(print),
            None => print(),
        }
    }

    /// Removes the live line; an update shows it again.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// State after `step` steps.
    pub fn status(&self, step: u64) -> Status {
        let Facts { updates, stop, time_step, .. } = self.facts;
        let rate = self.speed.steps_per_second();
        let end = self.residuals.end(stop, step).filter(|_| self.speed.is_known());
        Status {
            step,
            steps: stop.steps,
            time: step as f64 * time_step,
            mlups: mlups(updates as u64, if rate > 0.0 { 1.0 / rate } else { 0.0 }),
            residual: self.residuals.last(),
            seconds_waiting_for_output: self.waited,
            remaining: end.map(|end| (end - step) as f64 / rate),
            back: None,
        }
    }

    fn line(&self, step: u64) -> String {
        let Facts { bytes_per_update, memory_bandwidth, stop, .. } = self.facts;
        let Status { mlups, residual, remaining, .. } = self.status(step);
        let mut line = format!("step {step} of {}, {mlups:.0} MLUPS", stop.steps);
        if let Some(bandwidth) = memory_bandwidth {
            let rate = mlups * 1e6 * bytes_per_update;
            line += &format!(", {:.1} GB/s ({:.0} % of memory bandwidth)", rate / 1e9, 100.0 * rate / bandwidth);
        }
        if let (Some(steady), Some(residual)) = (stop.steady, residual) {
            line += &format!(", change {residual:.1e} (steady at {:.0e})", steady.tolerance);
        }
        if self.waited >= 1.0 {
            line += &format!(", waited {} for output", duration(self.waited));
        }
        if let Some(seconds) = remaining {
            line += &format!(", {} left", duration(seconds));
        }
        line
    }
}

impl Back {
    fn line(self) -> String {
        let left = self.remaining.map_or_else(String::new, |seconds| format!(", {} left", duration(seconds)));
        format!("step {} of {} backwards{left}", self.step, self.steps)
    }
}

/// Steps per second, averaged over the last seconds.
#[derive(Debug, Default)]
struct Speed {
    steps: f64,
    seconds: f64,
}

impl Speed {
    /// Time constant of the average, in seconds.
    const MEMORY: f64 = 3.0;
    /// Seconds of steps required for an average: the first steps are slower.
    const LEAST: f64 = 1.0;

    fn add(&mut self, steps: f64, seconds: f64) {
        let keep = (-seconds / Self::MEMORY).exp();
        self.steps = keep * self.steps + steps;
        self.seconds = keep * self.seconds + seconds;
    }

    /// Whether the speed predicts that of future steps.
    fn is_known(&self) -> bool {
        self.seconds >= Self::LEAST && self.steps > 0.0
    }

    fn steps_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.steps / self.seconds } else { 0.0 }
    }
}

/// The last residuals with their steps.
#[derive(Debug, Default)]
struct Residuals {
    checks: Vec<(u64, f64)>,
    /// Estimated step at which the flow becomes steady, smoothed.
    steady: Option<f64>,
}

impl Residuals {
    fn add(&mut self, stop: Stop, step: u64, residual: f64) {
        if self.checks.len() == REMEMBERED {
            self.checks.remove(0);
        }
        self.checks.push((step, residual));
        let now = step as f64;
        let left = |end: f64| (end - now).max(1.0).ln();
        self.steady = match (self.steady, self.decayed(stop)) {
            (Some(before), Some(end)) => Some(now + ((1.0 - NEW) * left(before) + NEW * left(end)).exp()),
            (before, end) => end.or(before),
        };
    }

    fn last(&self) -> Option<f64> {
        self.checks.last().map(|(_, residual)| *residual)
    }

    /// Estimated last step of the run. `None` if a steady flow is required and its residual is not known well enough.
    fn end(&self, stop: Stop, step: u64) -> Option<u64> {
        let end = if stop.steady.is_some() { self.steady?.round() as u64 } else { stop.steps };
        Some(end.max(step))
    }

    /// The step at which the residual, extrapolated with its recent exponential decay, reaches the tolerance; at most
    /// the last step.
    fn decayed(&self, stop: Stop) -> Option<f64> {
        let tolerance = stop.steady?.tolerance;
        let points: Vec<(f64, f64)> = self
            .checks
            .iter()
            .filter(|(_, residual)| *residual > 0.0 && residual.is_finite())
            .map(|(step, residual)| (*step as f64, residual.ln()))
            .collect();
        if points.len() < 3 {
            return None;
        }
        let count = points.len() as f64;
        let mean = points.iter().fold((0.0, 0.0), |sum, point| (sum.0 + point.0 / count, sum.1 + point.1 / count));
        let spread: f64 = points.iter().map(|point| (point.0 - mean.0).powi(2)).sum();
        let slope = points.iter().map(|point| (point.0 - mean.0) * (point.1 - mean.1)).sum::<f64>() / spread;
        let end = if slope < 0.0 { mean.0 + (tolerance.ln() - mean.1) / slope } else { f64::MAX };
        Some(end.min(stop.steps as f64))
    }
}

/// `5 s`, `3:20 min`, `1:05 h`.
pub fn duration(seconds: f64) -> String {
    let whole = seconds.max(0.0).round() as u64;
    match whole {
        0..60 => format!("{whole} s"),
        60..3600 => format!("{}:{:02} min", whole / 60, whole % 60),
        _ => format!("{}:{:02} h", whole / 3600, whole % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Steady;

    fn stop(steady: Option<f64>) -> Stop {
        Stop {
            steps: 100_000,
            steady: steady.map(|tolerance| Steady { tolerance, check_every: 1000 }),
            wall_seconds: None,
        }
    }

    #[test]
    fn the_end_follows_from_the_decay_of_the_residual() {
        let mut residuals = Residuals::default();
        for check in 1..10 {
            residuals.add(stop(Some(1e-6)), 1000 * check, 10f64.powf(-0.5 * check as f64));
        }
        assert_eq!(residuals.end(stop(Some(1e-6)), 9000), Some(12_000));
        assert_eq!(residuals.decayed(stop(Some(1e-80))), Some(100_000.0));
        assert_eq!(residuals.end(stop(None), 9000), Some(100_000));
    }

    #[test]
    fn an_estimate_that_is_off_by_ten_does_not_change_the_time_left_by_ten() {
        let mut residuals = Residuals::default();
        for check in 1..10 {
            residuals.add(stop(Some(1e-6)), 1000 * check, 10f64.powf(-0.5 * check as f64));
        }
        residuals.add(stop(Some(1e-6)), 10_000, 1.0);
        assert_eq!(residuals.decayed(stop(Some(1e-6))), Some(100_000.0));
        let left = residuals.end(stop(Some(1e-6)), 10_000).unwrap() - 10_000;
        assert!((2000..8000).contains(&left), "{left}");
    }

    #[test]
    fn a_residual_that_grows_leaves_the_last_step() {
        let mut residuals = Residuals::default();
        assert_eq!(residuals.end(stop(Some(1e-6)), 0), None);
        for check in 1..5 {
            residuals.add(stop(Some(1e-6)), check, check as f64);
        }
        assert_eq!(residuals.end(stop(Some(1e-6)), 4), Some(100_000));
    }

    #[test]
    fn the_speed_is_that_of_the_last_seconds() {
        let mut speed = Speed::default();
        assert_eq!(speed.steps_per_second(), 0.0);
        for _ in 0..20 {
            speed.add(10.0, 1.0);
        }
        for _ in 0..20 {
            speed.add(30.0, 1.0);
        }
        assert!((speed.steps_per_second() - 30.0).abs() < 0.1);
    }

    #[test]
    fn durations_read_well() {
        assert_eq!([4.4, 75.0, 3900.0].map(duration), ["4 s", "1:15 min", "1:05 h"]);
    }

    #[test]
    fn the_line_has_speed_and_fraction_of_bandwidth() {
        let facts = Facts {
            updates: 1_000_000,
            bytes_per_update: 72.0,
            memory_bandwidth: Some(7.2e9),
            from: 0,
            stop: stop(Some(1e-6)),
            time_step: 0.5,
        };
        let mut progress = Progress::new(facts, Show::Nothing);
        progress.speed.add(50.0, 1.0);
        progress.residuals.add(facts.stop, 1000, 1e-3);
        progress.waited = 75.0;
        let line = progress.line(1000);
        assert_eq!(
            line,
            "step 1000 of 100000, 50 MLUPS, 3.6 GB/s (50 % of memory bandwidth), change 1.0e-3 (steady at 1e-6), \
             waited 1:15 min for output"
        );
        let status = progress.status(1000);
        assert_eq!((status.step, status.time, status.residual, status.remaining), (1000, 500.0, Some(1e-3), None));
        assert_eq!(Back { step: 3, steps: 40, remaining: Some(75.0) }.line(), "step 3 of 40 backwards, 1:15 min left");
    }
}
