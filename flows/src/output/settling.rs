//! Converged values of forces on solids: means, extremes and the Strouhal number.
//!
//! Means are taken over the rows in a window, which is reported, each row weighted with its interval
//! ([`average`](super::average)). If the force across the flow is periodic, the window consists of the last periods
//! that agree. Otherwise it is the longest of the last half, quarter, eighth, ... of the samples whose two halves have
//! the same means. If there is none, it is the last half, and the force has not converged.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::average::{average, mean, weights};
use super::forces::{Forces, area, torques};
use crate::case::{Body, Case};

/// Largest relative difference of length and height between a period and the last one, in a periodic flow.
const ALIKE: f64 = 0.02;
/// Least number of periods in a periodic flow.
const PERIODS: usize = 3;
/// Least number of samples in a window.
const FEWEST: usize = 8;
/// Largest relative difference of the means of both halves of a window, if the force has converged.
const CONVERGED: f64 = 1e-4;
/// If the mean of a coefficient is smaller than this fraction of the mean drag, differences are relative to that
/// fraction of the drag.
const SMALL: f64 = 1e-2;
/// Fluctuations of the force across the flow below this fraction of its mean and of the drag are noise, not periods.
const NOISE: f64 = 1e-4;

/// Statistics of a coefficient over the samples in [`Settled::window`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settling {
    /// Mean over time.
    pub mean: f64,
    /// Minimum.
    pub min: f64,
    /// Maximum.
    pub max: f64,
    /// Root mean square of the deviation from the mean.
    pub rms: f64,
    /// Value at the last step.
    pub last: f64,
    /// Standard error of the mean due to the finite number of correlated samples; `None` if the force is periodic or
    /// there are fewer than eight samples.
    #[serde(default)]
    pub standard_error: Option<f64>,
    /// Number of independent samples with the same standard error.
    #[serde(default)]
    pub independent_samples: Option<f64>,
}

/// The averaging window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Window {
    /// Step of the first sample.
    pub from_step: u64,
    /// Step of the last sample.
    pub to_step: u64,
    /// Time of the first sample, in L/U.
    pub from_time: f64,
    /// Time of the last sample, in L/U.
    pub to_time: f64,
    /// Number of samples.
    pub samples: usize,
}

/// Converged force on a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settled {
    /// Number of the solid, in the order of the case, from 1.
    pub solid: usize,
    /// The part of its surface, if parts have boundary conditions of their own; `None` for the whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// Reference area in units of cells of the coarsest level; a length in two dimensions.
    pub area: f64,
    /// The averaging window; `None` without a reference velocity.
    pub window: Option<Window>,
    /// Whether the force has converged: it is periodic, or both halves of the window have the same means.
    pub converged: bool,
    /// Largest relative difference of the means of both halves of the window, if the force is not periodic; relative to
    /// a hundredth of the drag if the mean is smaller than that. `None` for a single sample.
    pub drift: Option<f64>,
    /// Coefficient of the force along x; `None` without a reference velocity.
    pub drag: Option<Settling>,
    /// Coefficient of the force along y, in two dimensions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub lift: Option<Settling>,
    /// Coefficient of the force along y, in three dimensions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cy: Option<Settling>,
    /// Coefficient of the force along z, in three dimensions.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub cz: Option<Settling>,
    /// Torque on the solid about its pivot over the window, if solids rotate: about z in two dimensions, about x, y and
    /// z in three; in the unit of force times length.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub torque: Option<Vec<Settling>>,
    /// Number of agreeing periods of the force across the flow, along the axis with the largest fluctuation, on which
    /// the means and the Strouhal number are based; 0 if it is not periodic.
    pub periods: usize,
    /// Strouhal number: frequency of that force times reference length over reference velocity, if it is periodic.
    pub strouhal: Option<f64>,
}

impl Settled {
    /// One line of text.
    pub fn describe(&self) -> String {
        let part = self.part.as_ref().map_or(String::new(), |part| format!(", {part}"));
        let name = format!("solid {}{part}", self.solid);
        let Some(drag) = &self.drag else {
            return format!("{name}: no coefficients, without a reference velocity or without rows to average\n");
        };
        let across = [("lift", &self.lift), ("along y", &self.cy), ("along z", &self.cz)];
        let across = |value: &dyn Fn(&Settling) -> String| -> String {
            let each = across.iter().filter_map(|(name, of)| Some(format!(", {name} {}", value(of.as_ref()?))));
            each.collect()
        };
        let window = self.window.as_ref().map_or(String::new(), |window| match window.samples {
            1 => format!("a single sample, of step {}", window.to_step),
            many => format!("mean of {many} samples, steps {} to {}", window.from_step, window.to_step),
        });
        let torque = self.torque.iter().map(|torque| {
            let means: Vec<String> = torque.iter().map(|of| format!("{:.6}", of.mean)).collect();
            format!(", torque {}", means.join(" "))
        });
        let torque: String = torque.collect();
        let state = match self.drift {
            _ if self.converged => String::new(),
            Some(drift) => format!("; not converged: the means of its halves differ by {:.2} %", 100.0 * drift),
            None => "; not converged".to_string(),
        };
        match self.strouhal {
            Some(strouhal) => format!(
                "{name}: drag coefficient {:.5} ({:.5} to {:.5}){}{torque}, Strouhal number {strouhal:.5}, over {} periods, {window}\n",
                drag.mean,
                drag.min,
                drag.max,
                across(&|of| format!("{:.5} to {:.5}", of.min, of.max)),
                self.periods
            ),
            None => format!(
                "{name}: drag coefficient {:.6}{}{torque}, {window}{state}\n",
                drag.mean,
                across(&|of| format!("{:.6}", of.mean))
            ),
        }
    }
}

impl Forces {
    /// Torque on a body over some rows, by axis, in the unit of force times length, for a case in which solids rotate;
    /// `None` without rows. `periodic`: the rows are whole periods.
    fn torques(&self, case: &Case, body: &Body<'_>, rows: &Range<usize>, periodic: bool) -> Option<Vec<Settling>> {
        let unit = case.units.force(case.dim).0 * case.units.cell;
        let weights = weights(&self.steps(), rows.clone());
        let about = |axis: usize| {
            let curve: Vec<_> =
                self.rows.iter().map(|row| (row.step as f64, row.torque(case, body)[axis] * unit)).collect();
            settling(&curve, rows, &weights, periodic)
        };
        torques(case.dim).map(about).collect()
    }

    /// Converged force on each solid and on each of its parts.
    pub fn settled(&self, case: &Case) -> Vec<Settled> {
        let steps = self.steps();
        let of_body = |body: Body<'_>| {
            let curves: Vec<_> = (0..case.dim).map(|axis| self.curve(case, &body, axis)).collect();
            let height = |curve: &&Vec<(f64, f64)>| {
                let (low, high) = swing(curve);
                high - low
            };
            let swings = curves[1..].iter().max_by(|one, other| height(one).total_cmp(&height(other)));
            let scale = curves[0].last().map_or(0.0, |point| point.1.abs());
            let periods = swings.map(|curve| periods(curve, scale)).unwrap_or_default();
            let length = match (periods.first(), periods.last()) {
                (Some(first), Some(last)) => Some((first.begin, last.end)),
                _ => None,
            };
            let inside = |time: f64| curves[0].partition_point(|point| point.0 < time);
            // A window that the case specifies takes precedence.
            let asked = case.output.average_from.filter(|_| !curves[0].is_empty());
            let asked = asked.map(|from| steps.partition_point(|step| *step < from)..steps.len());
            let length = length.filter(|_| asked.is_none());
            let (rows, drift) = match (length, asked) {
                (_, Some(rows)) => (rows.clone(), drift_of(&curves, &steps, &rows)),
                (Some((begin, end)), None) => (inside(begin)..inside(end), None),
                (None, None) => converged(&curves, &steps),
            };
            let weights = weights(&steps, rows.clone());
            let of = |axis: usize| settling(curves.get(axis)?, &rows, &weights, length.is_some());
            let window = rows.clone().next_back().map(|last| Window {
                from_step: steps[rows.start],
                to_step: steps[last],
                from_time: curves[0][rows.start].0,
                to_time: curves[0][last].0,
                samples: rows.len(),
            });
            let (lift, cy) = if case.dim == 2 { (of(1), None) } else { (None, of(1)) };
            Settled {
                solid: body.solid,
                part: body.part.map(|part| part.name.clone()),
                area: area(case, &body),
                window,
                converged: length.is_some() || drift.is_some_and(|drift| drift < CONVERGED),
                drift,
                drag: of(0),
                lift,
                cy,
                cz: of(2),
                torque: case.turns().then(|| self.torques(case, &body, &rows, length.is_some())).flatten(),
                periods: if length.is_some() { periods.len() } else { 0 },
                // Times are already in L/U.
                strouhal: length.map(|(begin, end)| periods.len() as f64 / (end - begin)),
            }
        };
        case.bodies_and_parts().map(of_body).collect()
    }
}

/// The averaging window for curves that are not periodic, and the difference of the means of its halves, if it has two
/// samples or more. The first curve is the drag.
fn converged(curves: &[Vec<(f64, f64)>], steps: &[u64]) -> (Range<usize>, Option<f64>) {
    let count = curves[0].len();
    let drift = |rows: &Range<usize>| drift_of(curves, steps, rows);
    let half = count / 2..count;
    let windows = (1..).map(|power| count - (count >> power)..count).take_while(|rows| rows.len() >= FEWEST);
    let found =
        windows.map(|rows| (drift(&rows), rows)).find(|(drift, _)| drift.is_some_and(|drift| drift < CONVERGED));
    let (drift, rows) = found.unwrap_or_else(|| (drift(&half), half));
    (rows, drift)
}

/// Largest relative difference of the means of both halves of some samples, if there are two or more.
fn drift_of(curves: &[Vec<(f64, f64)>], steps: &[u64], rows: &Range<usize>) -> Option<f64> {
    let middle = rows.start + rows.len() / 2;
    let windows = [rows.clone(), rows.start..middle, middle..rows.end];
    let weights = windows.clone().map(|rows| weights(steps, rows));
    let means = |curve: &[(f64, f64)]| {
        let of = |at: usize| mean(&values(curve, &windows[at]), &weights[at]);
        [of(0), of(1), of(2)]
    };
    let of = |curve: &Vec<(f64, f64)>| {
        let [whole, first, second] = means(curve);
        let scale = whole.abs().max(SMALL * means(&curves[0])[0].abs());
        let difference = (second - first).abs();
        if difference > 0.0 { difference / scale } else { 0.0 }
    };
    (rows.len() > 1).then(|| curves.iter().map(of).fold(0.0, f64::max))
}

/// The values of a curve in some rows.
fn values(curve: &[(f64, f64)], rows: &Range<usize>) -> Vec<f64> {
    curve[rows.clone()].iter().map(|point| point.1).collect()
}

/// Statistics of a curve over some weighted rows; without an error if they are whole periods.
fn settling(curve: &[(f64, f64)], rows: &Range<usize>, weights: &[f64], periodic: bool) -> Option<Settling> {
    let last = curve.last()?.1;
    let inside = values(curve, rows);
    let average = average(&inside, weights)?;
    let (min, max) = inside.iter().fold((f64::MAX, f64::MIN), |(min, max), value| (min.min(*value), max.max(*value)));
    let (standard_error, independent_samples) = match periodic {
        true => (None, None),
        false => (average.standard_error, average.independent_samples),
    };
    Some(Settling { mean: average.mean, min, max, rms: average.rms, last, standard_error, independent_samples })
}

/// From one upward crossing of a curve through its mid-value to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Period {
    begin: f64,
    end: f64,
    /// Maximum minus minimum.
    height: f64,
}

/// Minimum and maximum of the second half of a curve, which an initial transient does not affect.
fn swing(curve: &[(f64, f64)]) -> (f64, f64) {
    let later = &curve[curve.len() / 2..];
    later.iter().fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at.1), high.max(at.1)))
}

/// The last agreeing periods of a curve; empty if they are too few. Noise is relative to `scale`.
fn periods(curve: &[(f64, f64)], scale: f64) -> Vec<Period> {
    let (low, high) = swing(curve);
    let middle = 0.5 * (low + high);
    if !(high - low).is_finite() || high - low <= NOISE * scale.max(middle.abs()) {
        return Vec::new();
    }
    // An upward crossing starts in the lower quarter and ends in the upper one, so that small oscillations about the
    // mid-value count once.
    let quarter = 0.25 * (high - low);
    let (mut armed, mut crossed, mut rises): (bool, Option<f64>, Vec<f64>) = (false, None, Vec::new());
    for pair in curve.windows(2) {
        let ((t0, v0), (t1, v1)) = (pair[0], pair[1]);
        armed |= v0 < middle - quarter;
        if armed && v0 < middle && v1 >= middle {
            crossed = Some(t0 + (middle - v0) / (v1 - v0) * (t1 - t0));
        }
        if let (true, Some(time), true) = (armed, crossed, v1 > middle + quarter) {
            rises.push(time);
            (armed, crossed) = (false, None);
        }
    }
    let height = |begin: f64, end: f64| {
        let inside = curve.iter().filter(|point| begin <= point.0 && point.0 < end);
        let (low, high) = inside.fold((f64::MAX, f64::MIN), |(low, high), at| (low.min(at.1), high.max(at.1)));
        high - low
    };
    let all: Vec<Period> =
        rises.windows(2).map(|at| Period { begin: at[0], end: at[1], height: height(at[0], at[1]) }).collect();
    let Some(last) = all.last().copied() else { return Vec::new() };
    let alike = |period: &&Period| {
        let (length, of_last) = (period.end - period.begin, last.end - last.begin);
        (length / of_last - 1.0).abs() < ALIKE && (period.height / last.height - 1.0).abs() < ALIKE
    };
    let count = all.iter().rev().take_while(alike).count();
    if count < PERIODS { Vec::new() } else { all[all.len() - count..].to_vec() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture::forces;

    #[test]
    fn a_periodic_lift_has_its_strouhal_number() {
        // Grows at first, about a mean, with a third harmonic.
        let wave = |phase: f64| phase.sin() + 0.3 * (3.0 * phase).sin();
        let (case, forces) =
            forces(|time| 0.1 + 0.4 * (1.0 - (-time / 6.0).exp()) * wave(2.0 * std::f64::consts::PI * 0.17 * time));
        let settled = &forces.settled(&case)[0];
        assert!((settled.strouhal.unwrap() / 0.17 - 1.0).abs() < 1e-4, "{settled:?}");
        assert!(settled.periods >= 10, "{settled:?}");
        let (drag, lift) = (settled.drag.as_ref().unwrap(), settled.lift.as_ref().unwrap());
        assert!((drag.mean - 1.5).abs() < 1e-9 && drag.rms < 1e-9, "{drag:?}");
        assert_eq!(lift.standard_error, None, "of whole periods");
        assert!((lift.mean - 0.1).abs() < 2e-3 && (lift.max - 0.1 + (lift.min - 0.1)).abs() < 2e-3, "{lift:?}");
    }

    #[test]
    fn in_three_dimensions_each_axis_has_its_coefficient_and_any_may_be_periodic() {
        let (mut case, plane) = forces(|time| 0.1 + 0.4 * (2.0 * std::f64::consts::PI * 0.17 * time).sin());
        case.dim = 3;
        let mut forces = Forces::default();
        // A force along z is evaluated like one along y.
        plane
            .rows
            .iter()
            .for_each(|row| forces.add(row.step, row.forces.iter().map(|[x, y, _]| [*x, -y / 8.0, *y]).collect()));
        let settled = &forces.settled(&case)[0];
        assert!((settled.strouhal.unwrap() / 0.17 - 1.0).abs() < 1e-4, "{settled:?}");
        let mean = |of: &Option<Settling>| of.as_ref().unwrap().mean;
        assert!((mean(&settled.drag) - 1.5).abs() < 1e-9 && settled.lift.is_none(), "{settled:?}");
        assert!((mean(&settled.cy) + 0.0125).abs() < 1e-3 && (mean(&settled.cz) - 0.1).abs() < 2e-3, "{settled:?}");
        let mut text = vec![];
        forces.write(&case, 0, &mut text).unwrap();
        assert!(String::from_utf8(text).unwrap().contains("\nstep,time,solid,fx,fy,fz,cd,cy,cz\n"));
        assert!(settled.describe().contains(", along y -0.0") && settled.describe().contains(", along z -0."));
        forces.draw(&case);
    }

    #[test]
    fn what_is_not_periodic_has_none() {
        let decays = |time: f64| 0.2 + (-0.2 * time).exp() * (3.0 * time).sin();
        let constant = |_: f64| 0.2;
        let rises = |time: f64| 0.01 * time;
        for settled in [forces(decays), forces(constant), forces(rises)].map(|(case, forces)| forces.settled(&case)) {
            assert_eq!((settled[0].strouhal, settled[0].periods), (None, 0), "{settled:?}");
        }
    }

    #[test]
    fn what_is_not_periodic_is_averaged_over_a_window_that_is_stated() {
        // Converges exponentially: the longest window in which it has converged.
        let (case, forces_in_time) = forces(|time| 0.2 - 0.3 * (-0.1 * time).exp());
        let settled = &forces_in_time.settled(&case)[0];
        let (window, lift) = (settled.window.as_ref().unwrap(), settled.lift.as_ref().unwrap());
        assert!(settled.converged && settled.drift.is_some_and(|drift| drift < 1e-4), "{settled:?}");
        assert!((lift.mean - 0.2).abs() < 2e-5 && lift.rms > 0.0 && lift.min < lift.max, "{settled:?}");
        assert_eq!((window.to_step, window.samples), (39_980, ((39_980 - window.from_step) / 20 + 1) as usize));
        assert!((window.to_time - 39_980.0 * 0.1 / 32.0).abs() < 1e-9, "{window:?}");
        // A constant force has no error; a drifting one has few independent samples.
        let drag = settled.drag.as_ref().unwrap();
        assert_eq!((drag.standard_error, drag.independent_samples), (Some(0.0), Some(window.samples as f64)));
        assert!(lift.standard_error.is_some_and(|error| error > 0.0) && lift.independent_samples.unwrap() < 20.0);
        // A window that the case specifies.
        let mut asked = case.clone();
        asked.output.average_from = Some(30_000);
        let window = forces_in_time.settled(&asked)[0].window.clone().unwrap();
        assert_eq!((window.from_step, window.samples), (30_000, 500));
        asked.output.average_from = Some(1_000_000);
        assert_eq!(forces_in_time.settled(&asked)[0].window, None);
        // Grows without bound: the last half, whose halves differ.
        let (case, forces_in_time) = forces(|time| 0.01 * time);
        let settled = &forces_in_time.settled(&case)[0];
        let (window, lift) = (settled.window.as_ref().unwrap(), settled.lift.as_ref().unwrap());
        assert_eq!((settled.converged, window.from_step, window.samples), (false, 20_000, 1000));
        let halves = 0.01 * 10_000.0 * 0.1 / 32.0;
        assert!((settled.drift.unwrap() - halves / lift.mean).abs() < 1e-9, "{settled:?}");
        assert!(settled.describe().contains("not converged: the means of its halves differ by 33"), "{settled:?}");
    }

    #[test]
    fn a_single_sample_is_no_mean() {
        let (case, mut forces) = forces(|_| 0.25);
        forces.rows.truncate(1);
        let settled = &forces.settled(&case)[0];
        assert_eq!((settled.converged, settled.drift), (false, None), "{settled:?}");
        assert_eq!(settled.window.as_ref().unwrap().samples, 1);
        assert!(settled.describe().contains("a single sample, of step 0; not converged"), "{}", settled.describe());
        forces.rows.clear();
        assert_eq!(forces.settled(&case)[0].window, None);
    }
}
