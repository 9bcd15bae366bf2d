//! Time series of mass, energy, enstrophy, dissipation and largest speed, as CSV and as a picture, and their deviation
//! from published ones.
//!
//! Lengths are in units of the reference length and velocities in units of the reference velocity, or in cells and
//! steps without a reference velocity.

use std::io::{self, Write};
use std::ops::Range;

use lbm_runtime::solver::observe::Means;
use serde::{Deserialize, Serialize};

use super::axes::INK;
use super::bits::Bits;
use super::canvas::Canvas;
use super::chart::{COLOURS, Chart, Curve, Panel, Style};
use super::csv;
use super::profile::{cells, real_name};
use crate::case::{Case, Moment};

/// A time series.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    rows: Vec<Row>,
}

/// State at one time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    step: u64,
    /// Time in L/U.
    time: f64,
    /// Sum of the density over the fluid cells, in lattice units.
    mass: f64,
    /// Half the mean square of the velocity, over U^2.
    energy: f64,
    /// Half the mean square of the vorticity, over (U / L)^2.
    enstrophy: f64,
    /// Largest speed over U.
    speed: f64,
}

/// Largest dissipation, and the time at which it occurs, in units of U^3 / L and L / U.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Time.
    pub time: f64,
    /// Decay rate of the energy.
    pub dissipation: f64,
}

/// Deviation of a time series from a published one, at the published times that the run has reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Decay {
    /// Title of the publication.
    pub with: String,
    /// Last compared time, in L / U.
    pub until: f64,
    /// Root mean square of the differences of energy, over the initial energy.
    pub energy_rms: f64,
    /// Root mean square of the differences of the energy decay rate, over its published peak.
    pub dissipation_rms: f64,
    /// Computed peak.
    pub peak: Peak,
    /// Published peak up to the last compared time.
    pub published_peak: Peak,
}

/// Reference velocity and length in lattice units.
pub(super) fn scales(case: &Case) -> (f64, f64) {
    if case.scales.velocity > 0.0 { (case.scales.velocity, case.scales.length) } else { (1.0, 1.0) }
}

impl Series {
    /// The rows, bit-exact.
    pub(super) fn saved(&self) -> Vec<[Bits; 6]> {
        let saved = |row: &Row| {
            let step = Bits::from(row.step);
            [step, Bits(row.time), Bits(row.mass), Bits(row.energy), Bits(row.enstrophy), Bits(row.speed)]
        };
        self.rows.iter().map(saved).collect()
    }

    /// The inverse of [`Self::saved`].
    pub(super) fn of_saved(rows: &[[Bits; 6]]) -> Series {
        let row = |[step, time, mass, energy, enstrophy, speed]: &[Bits; 6]| Row {
            step: u64::from(*step),
            time: time.0,
            mass: mass.0,
            energy: energy.0,
            enstrophy: enstrophy.0,
            speed: speed.0,
        };
        Series { rows: rows.iter().map(row).collect() }
    }

    /// Whether the times match the steps, in the units of a case.
    pub(super) fn fits(&self, case: &Case) -> bool {
        let (u, l) = scales(case);
        self.rows.iter().all(|row| row.time.to_bits() == (row.step as f64 * u / l).to_bits())
    }

    /// Adds the state of a step. A step that already has a row is ignored.
    pub fn add(&mut self, case: &Case, step: u64, means: &Means) {
        if self.rows.last().is_some_and(|last| last.step == step) {
            return;
        }
        let (u, l) = scales(case);
        self.rows.push(Row {
            step,
            time: step as f64 * u / l,
            mass: means.mass,
            energy: means.energy / u.powi(2),
            enstrophy: means.enstrophy * (l / u).powi(2),
            speed: means.fastest / u,
        });
    }

    /// Decay rate of the energy at a row, from the parabola through it and its neighbours; NaN for a single row.
    fn dissipation(&self, at: usize) -> f64 {
        let count = self.rows.len().min(3);
        let first = at.saturating_sub(1).min(self.rows.len() - count);
        let nodes = &self.rows[first..first + count];
        let time = self.rows[at].time;
        if count < 2 {
            return f64::NAN;
        }
        // Derivative of the Lagrange polynomial of a node.
        let slope = |node: usize| -> f64 {
            let others = || (0..count).filter(move |other| *other != node);
            let below: f64 = others().map(|other| nodes[node].time - nodes[other].time).product();
            let factors = |left_out: usize| -> f64 {
                others().filter(|other| *other != left_out).map(|other| time - nodes[other].time).product()
            };
            others().map(factors).sum::<f64>() / below
        };
        -(0..count).map(|node| slope(node) * nodes[node].energy).sum::<f64>()
    }

    /// Viscous dissipation from the enstrophy, `2 nu Z`, which equals the energy decay rate in a periodic
    /// incompressible flow.
    fn viscous(&self, case: &Case, at: usize) -> Option<f64> {
        let (u, l) = scales(case);
        Some(2.0 * case.scales.viscosity? / (u * l) * self.rows[at].enstrophy)
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Number of rows that later rows do not change. The dissipation of a row depends on both neighbours, that of the
    /// first on two successors.
    pub(super) fn settled(&self) -> usize {
        if self.rows.len() < 3 { 0 } else { self.rows.len() - 1 }
    }

    /// Writes some rows as CSV; the first is preceded by comments that describe them.
    pub fn write(&self, case: &Case, rows: Range<usize>, out: &mut dyn Write) -> io::Result<()> {
        if rows.start == 0 {
            Self::write_head(case, out)?;
        }
        for at in rows {
            let row = &self.rows[at];
            let viscous = self.viscous(case, at).map_or(String::new(), csv::number);
            let before = [row.time, row.mass, row.energy, row.enstrophy, self.dissipation(at)].map(csv::number);
            writeln!(out, "{},{},{viscous},{}", row.step, before.join(","), csv::number(row.speed))?;
        }
        Ok(())
    }

    fn write_head(case: &Case, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# {}: {}, {}, {}", case.name, case.spec, cells(case, " x "), real_name(case))?;
        let (u, l) = scales(case);
        let re = case.scales.re.map_or(String::new(), |re| format!("Re = {re:.6}, "));
        writeln!(out, "# {re}units: L = {l} cells, U = {u} cells per step")?;
        writeln!(out, "# time: over L/U; mass: sum of the density over the fluid cells, in lattice units")?;
        writeln!(
            out,
            "# energy: <u.u>/2 over U^2; enstrophy: <w.w>/2 over (U/L)^2, w the vorticity by central differences"
        )?;
        writeln!(out, "# dissipation: rate at which the energy falls; viscous: 2 nu enstrophy; both over U^3/L")?;
        writeln!(out, "# speed: the largest, over U; <>: mean over the domain")?;
        writeln!(out, "step,time,mass,energy,enstrophy,dissipation,viscous,speed")
    }

    /// Draws energy and dissipation over time, with published points.
    pub fn draw(&self, case: &Case, published: Option<(&str, &[Moment])>) -> Canvas {
        let (time, unit) = match case.scales.velocity > 0.0 {
            true => ("t U / L", [" / U²", " L / U³"]),
            false => ("time / steps", ["", ""]),
        };
        let last = self.rows.last().map_or(1.0, |row| row.time).max(f64::MIN_POSITIVE);
        let line = |name: &str, colour: usize, value: &dyn Fn(usize) -> f64| Curve {
            name: name.to_string(),
            colour: COLOURS[colour],
            style: Style::Line,
            points: (0..self.rows.len()).map(|at| (self.rows[at].time, value(at))).collect(),
        };
        let rings = |value: &dyn Fn(&Moment) -> f64| {
            published.map(|(title, moments)| Curve {
                name: title.to_string(),
                colour: INK,
                style: Style::Rings,
                points: moments.iter().map(|moment| (moment.time, value(moment))).collect(),
            })
        };
        let energy = [line("energy", 0, &|at| self.rows[at].energy)];
        let viscous =
            case.scales.viscosity.map(|_| line("2 ν enstrophy", 2, &|at| self.viscous(case, at).unwrap_or(f64::NAN)));
        let fall = line("\u{2212}dE/dt", 1, &|at| self.dissipation(at));
        let panel = |y: String, curves: Vec<Curve>| Panel { x: time.to_string(), y, range: (0.0, last), curves };
        let panels = vec![
            panel(format!("energy{}", unit[0]), rings(&|moment| moment.energy).into_iter().chain(energy).collect()),
            panel(
                format!("dissipation{}", unit[1]),
                rings(&|moment| moment.dissipation).into_iter().chain(viscous).chain([fall]).collect(),
            ),
        ];
        let re = case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
        Chart { title: format!("{}{re}: energy and dissipation", case.name), panels }.draw()
    }

    /// Deviation from a published series; `None` if they have no time in common.
    pub fn compare(&self, title: &str, moments: &[Moment]) -> Option<Decay> {
        let (first, last) = (self.rows.first()?, self.rows.last()?);
        let reached: Vec<&Moment> =
            moments.iter().filter(|moment| (first.time..=last.time).contains(&moment.time)).collect();
        let falls: Vec<f64> = (0..self.rows.len()).map(|at| self.dissipation(at)).collect();
        // Linear interpolation between rows.
        let between = |time: f64, value: &dyn Fn(usize) -> f64| {
            let above = self.rows.partition_point(|row| row.time < time).max(1).min(self.rows.len() - 1);
            let (low, high) = (self.rows[above - 1].time, self.rows[above].time);
            value(above - 1) + (time - low) / (high - low) * (value(above) - value(above - 1))
        };
        if self.rows.len() < 2 || reached.is_empty() {
            return None;
        }
        let rms = |difference: &dyn Fn(&Moment) -> f64| {
            let squares: f64 = reached.iter().map(|moment| difference(moment).powi(2)).sum();
            (squares / reached.len() as f64).sqrt()
        };
        let peaks = reached.iter().map(|moment| Peak { time: moment.time, dissipation: moment.dissipation });
        let published_peak = highest(peaks)?;
        let peak =
            highest(falls.iter().zip(&self.rows).map(|(fall, row)| Peak { time: row.time, dissipation: *fall }))?;
        Some(Decay {
            with: title.to_string(),
            until: reached.last()?.time,
            energy_rms: rms(&|moment| between(moment.time, &|at| self.rows[at].energy) - moment.energy) / first.energy,
            dissipation_rms: rms(&|moment| between(moment.time, &|at| falls[at]) - moment.dissipation)
                / published_peak.dissipation,
            peak,
            published_peak,
        })
    }
}

fn highest(peaks: impl Iterator<Item = Peak>) -> Option<Peak> {
    peaks.max_by(|a, b| a.dissipation.total_cmp(&b.dissipation))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    /// A series of this energy at non-uniform times from 0 to 10.
    fn series(energy: impl Fn(f64) -> f64) -> Series {
        let times = (0..=40).map(|at| 0.25 * at as f64 + if at % 2 == 1 { 0.05 } else { 0.0 });
        let row = |(step, time): (usize, f64)| Row {
            step: step as u64,
            time,
            mass: 1.0,
            energy: energy(time),
            enstrophy: 0.375,
            speed: 1.0,
        };
        Series { rows: times.enumerate().map(row).collect() }
    }

    #[test]
    fn the_dissipation_of_a_parabola_is_exact_at_uneven_times() {
        let series = series(|time| 1.0 - 0.03 * time - 0.002 * time * time);
        for at in 0..series.rows.len() {
            let expected = 0.03 + 0.004 * series.rows[at].time;
            assert!((series.dissipation(at) - expected).abs() < 1e-12, "{at}");
        }
    }

    #[test]
    fn a_comparison_measures_what_differs() {
        // E = 1 - t^2/200: dissipation t/100, with its peak at the end.
        let exact = |time: f64| 1.0 - time * time / 200.0;
        let moment = |at: usize| {
            let time = 0.5 * at as f64;
            Moment { time, energy: exact(time), dissipation: time / 100.0, enstrophy: 0.0 }
        };
        let moments: Vec<Moment> = (0..=30).map(moment).collect();
        let same = series(exact).compare("them", &moments).unwrap();
        assert_eq!((same.until, same.published_peak.time), (10.0, 10.0));
        assert!(same.energy_rms < 1e-4 && same.dissipation_rms < 1e-12, "{same:?}");
        assert!((same.peak.dissipation - 0.1).abs() < 1e-12 && same.peak.time == 10.0);
        let lossy = series(|time| exact(time) - 0.002 * time).compare("them", &moments).unwrap();
        assert!((lossy.dissipation_rms - 0.02).abs() < 1e-9, "{lossy:?}");
        assert!(series(exact).compare("them", &moments[25..]).is_none());
    }

    #[test]
    fn a_series_is_in_reference_units() {
        let (case, snapshot) = fixture::cavity(32);
        let (means, mut series) = (fixture::means(), Series::default());
        series.add(&case, snapshot.step, &means);
        series.add(&case, snapshot.step, &means);
        series.add(&case, 20, &means);
        assert_eq!(series.rows.len(), 2);
        assert!((series.rows[1].time - 20.0 * 0.1 / 32.0).abs() < 1e-12);
        assert_eq!(series.rows[0].mass, 1024.0);
        assert!((series.rows[0].speed - 0.95).abs() < 1e-12);
        assert!((series.rows[0].energy - 0.05).abs() < 1e-12 && (series.rows[0].enstrophy - 2.0).abs() < 1e-12);
        let mut text = vec![];
        series.write(&case, 0..series.len(), &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text.lines().filter(|line| !line.starts_with('#')).count(), 3);
        series.draw(&case, None);
    }
}
