//! Fields at points over time, as CSV: one row per time and point.

use std::io::{self, Write};

use lbm_runtime::solver::probe::Reading;
use serde::{Deserialize, Serialize};

use super::average::{Average, average, weights, window};
use super::bits::Bits;
use super::csv;
use super::profile::{cells, real_name};
use crate::case::{Case, Dimension, Probe, Quantity};

const AXES: [&str; 3] = ["x", "y", "z"];

/// Name of the table of a probe.
pub fn file_name(probe: &Probe) -> String {
    format!("probe_{}.csv", probe.name)
}

/// Name of the file of a probe on a grid at a step.
pub fn frame_name(probe: &Probe, step: u64) -> String {
    format!("probe_{}_{step:08}.vti", probe.name)
}

/// The step of a file named by [`frame_name`].
pub fn step_of_frame(probe: &Probe, name: &str) -> Option<u64> {
    let step = name.strip_prefix(&format!("probe_{}_", probe.name))?.strip_suffix(".vti")?.parse().ok()?;
    (frame_name(probe, step) == name).then_some(step)
}

/// The fields of a probe at all points, in the units of the case: for each its name, its number of components, and its
/// values, the component fastest.
pub fn columns(case: &Case, probe: &Probe, readings: &[Reading]) -> Vec<(String, usize, Vec<f64>)> {
    let column = |field: &Quantity| {
        let (components, scale) = (field.columns().len(), field.scale(&case.units));
        let of = |reading: &Reading| {
            let values = field.at(|at| reading.values[at], &reading.gradient, reading.level);
            values.map(|value| scale * value).into_iter().take(components)
        };
        (field.name().to_string(), components, readings.iter().flat_map(of).collect())
    };
    probe.fields.iter().map(column).collect()
}

/// Rows recorded by a probe.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Probed {
    /// Step of each row.
    steps: Vec<u64>,
    /// In lattice units, index `[row][point][component]`.
    values: Vec<f64>,
}

/// Bit-exact copy for restart files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedProbe {
    name: String,
    points: Vec<[Bits; 3]>,
    /// Definition of each column: its name, and its formula if the case has one.
    columns: Vec<String>,
    pub(super) steps: Vec<u64>,
    values: Vec<Bits>,
}

/// Largest number of points of a probe whose means are in the summary.
const FEW: usize = 16;

/// Mean of a component at a point of a probe, in the units of the case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProbeMean {
    /// Name of the probe.
    pub probe: String,
    /// Coordinates of the point.
    pub point: Vec<f64>,
    /// Name of the component.
    pub field: String,
    /// Its unit.
    pub unit: String,
    /// First and last step of the averaging window.
    pub window: [u64; 2],
    /// Number of rows in the window.
    pub samples: usize,
    /// The mean and its uncertainty.
    #[serde(flatten)]
    pub average: Average,
}

/// The columns of a field; that of a formula with the formula.
fn defined(field: &Quantity) -> Vec<String> {
    let columns = field.columns();
    if columns.len() == 1 { vec![field.definition()] } else { columns }
}

impl SavedProbe {
    /// Whether the number of values matches the numbers of points, columns and rows.
    pub(super) fn is_whole(&self) -> bool {
        let of_row = self.points.len().checked_mul(self.columns.len());
        of_row.and_then(|of_row| of_row.checked_mul(self.steps.len())) == Some(self.values.len())
    }
}

impl Probed {
    /// Adds a row. A step that already has one is ignored.
    pub fn add(&mut self, probe: &Probe, step: u64, readings: &[Reading]) {
        if self.steps.last() == Some(&step) {
            return;
        }
        self.steps.push(step);
        for Reading { level, values, gradient, .. } in readings {
            for field in &probe.fields {
                let components = field.at(|at| values[at], gradient, *level);
                self.values.extend(&components[..field.columns().len()]);
            }
        }
    }

    /// Bit-exact copy for restart files.
    pub(super) fn saved(&self, probe: &Probe) -> SavedProbe {
        SavedProbe {
            name: probe.name.clone(),
            points: probe.points.iter().map(|point| point.map(Bits)).collect(),
            columns: probe.fields.iter().flat_map(defined).collect(),
            steps: self.steps.clone(),
            values: self.values.iter().copied().map(Bits).collect(),
        }
    }

    /// The inverse of [`Self::saved`] for a probe of the same name, points and fields; empty if `all` does not have it.
    pub(super) fn of_saved(probe: &Probe, all: &[SavedProbe]) -> Probed {
        let none = Probed::default().saved(probe);
        let same = |saved: &&SavedProbe| {
            saved.name == none.name && saved.points == none.points && saved.columns == none.columns
        };
        all.iter().find(same).map_or(Probed::default(), |saved| Probed {
            steps: saved.steps.clone(),
            values: saved.values.iter().map(|bits| bits.0).collect(),
        })
    }

    /// Means of all columns, over the rows from the step that the case gives, or over the last half. Empty for a probe
    /// of many points.
    pub(super) fn means(&self, case: &Case, probe: &Probe) -> Vec<ProbeMean> {
        let rows = window(&self.steps, case.output.average_from).filter(|_| probe.points.len() <= FEW);
        let Some(rows) = rows else { return vec![] };
        let weights = weights(&self.steps, rows.clone());
        let length = case.units.scale(Dimension::LENGTH);
        let fields = probe.fields.iter().flat_map(|field| field.columns().into_iter().map(move |name| (field, name)));
        let columns: Vec<_> = fields.collect();
        let mut means = vec![];
        for (at, point) in probe.points.iter().enumerate() {
            for (column, (field, name)) in columns.iter().enumerate() {
                let place = |row: usize| row * probe.numbers() + at * columns.len() + column;
                let scale = field.scale(&case.units);
                let values: Vec<f64> = rows.clone().map(|row| scale * self.values[place(row)]).collect();
                let Some(average) = average(&values, &weights) else { continue };
                means.push(ProbeMean {
                    probe: probe.name.clone(),
                    point: point[..case.dim].iter().map(|place| place * length).collect(),
                    field: name.clone(),
                    unit: field.unit(&case.units),
                    window: [self.steps[rows.start], self.steps[rows.end - 1]],
                    samples: rows.len(),
                    average,
                });
            }
        }
        means
    }

    /// Number of rows per point.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Writes the rows from number `from` on, in the units of the case; the first is preceded by comments that describe
    /// them.
    pub fn write(&self, case: &Case, probe: &Probe, from: usize, out: &mut dyn Write) -> io::Result<()> {
        if from == 0 {
            Self::write_head(case, probe, out)?;
        }
        let units = &case.units;
        let (length, time) = (units.scale(Dimension::LENGTH), units.scale(Dimension::TIME));
        let scales: Vec<f64> =
            probe.fields.iter().flat_map(|field| vec![field.scale(units); field.columns().len()]).collect();
        for (step, row) in self.steps.iter().zip(self.values.chunks(probe.numbers())).skip(from) {
            for (point, values) in probe.points.iter().zip(row.chunks(scales.len())) {
                write!(out, "{step},{}", csv::number(*step as f64 * time))?;
                for place in &point[..case.dim] {
                    write!(out, ",{}", csv::number(place * length))?;
                }
                for (value, scale) in values.iter().zip(&scales) {
                    write!(out, ",{}", csv::number(value * scale))?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn write_head(case: &Case, probe: &Probe, out: &mut dyn Write) -> io::Result<()> {
        let (units, axes) = (&case.units, &AXES[..case.dim]);
        let points =
            if probe.points.len() == 1 { "1 point".to_string() } else { format!("{} points", probe.points.len()) };
        writeln!(out, "# {}: probe `{}`, {points}, every {} steps", case.name, probe.name, probe.every)?;
        writeln!(out, "# {}, {}, {}", case.spec, cells(case, " x "), real_name(case))?;
        let re = case.scales.re.map_or(String::new(), |re| format!("Re = {re:.6}; "));
        let (u, l) = (case.scales.velocity, case.scales.length);
        writeln!(out, "# {re}reference velocity U = {u} cells per step, reference length L = {l} cells")?;
        let described = probe.fields.iter().map(|field| {
            let (columns, symbol) = (field.columns().join(", "), field.symbol(units));
            if symbol.is_empty() { columns } else { format!("{columns}: {symbol}") }
        });
        let described: Vec<String> = described.collect();
        match units.si {
            true => writeln!(out, "# time: s; {}: m; {}", axes.join(", "), described.join("; "))?,
            false => writeln!(out, "# units: cells and time steps of level 0; the density at rest is 1")?,
        }
        writeln!(out, "# values: linear between cell centres; NaN inside solids")?;
        writeln!(out, "step,time,{},{}", axes.join(","), probe.columns().join(","))
    }
}

#[cfg(test)]
mod tests {
    use lbm_runtime::fixture::manifest;

    use super::*;
    use crate::case::{Quantity, Units};
    use crate::output::fixture;

    fn probe(points: Vec<[f64; 3]>, fields: &[&str]) -> Probe {
        let all = Quantity::all(&manifest()).into_iter();
        let fields = all.filter(|field| fields.contains(&field.name())).collect();
        Probe { name: "wake".into(), points, grid: None, fields, every: 10 }
    }

    fn reading(density: f64) -> Reading {
        let gradient = [[0.0, 0.02, 0.0], [0.01, 0.0, 0.0], [0.0; 3]];
        Reading { level: 1, values: vec![density, 0.1, -0.2], gradient, slopes: vec![] }
    }

    /// Whether a row has these numbers up to round-off.
    fn is_near(row: &str, numbers: &[f64]) -> bool {
        let cells: Vec<f64> = row.split(',').filter_map(|cell| cell.parse().ok()).collect();
        cells.len() == numbers.len() && cells.iter().zip(numbers).all(|(cell, number)| (cell - number).abs() < 1e-13)
    }

    #[test]
    fn rows_are_in_the_units_of_the_case() {
        let (mut case, _) = fixture::cavity(32);
        let probe = probe(vec![[4.0, 8.5, 0.0], [5.0, 8.0, 0.0]], &["velocity", "pressure", "vorticity", "level"]);
        let mut probed = Probed::default();
        for step in [0, 10, 10] {
            probed.add(&probe, step, &[reading(1.03), reading(f64::NAN)]);
        }
        let mut lines = |units: Units| {
            case.units = units;
            let mut text = vec![];
            probed.write(&case, &probe, 0, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            let (comments, rows): (Vec<_>, Vec<_>) =
                text.lines().map(String::from).partition(|line| line.starts_with('#'));
            (comments.join("\n"), rows)
        };
        let (_, rows) = lines(Units::LATTICE);
        assert_eq!(rows[0], "step,time,x,y,pressure,ux,uy,vorticity,level");
        assert_eq!(rows.len(), 5);
        assert!(is_near(&rows[3], &[10.0, 10.0, 4.0, 8.5, 0.01, 0.1, -0.2, 0.01, 1.0]), "{}", rows[3]);
        assert!(rows[4].starts_with("10,10,5,8,NaN,"), "{}", rows[4]);
        let (comments, rows) = lines(Units { si: true, cell: 1e-3, step: 1e-2, density: Some(1000.0) });
        assert!(
            comments.contains("# time: s; x, y: m; pressure: Pa; ux, uy: m/s; vorticity: 1/s; level"),
            "{comments}"
        );
        assert!(is_near(&rows[3], &[10.0, 0.1, 0.004, 0.0085, 0.1, 0.01, -0.02, 1.0, 1.0]), "{}", rows[3]);
    }

    #[test]
    fn a_probe_goes_on_with_its_rows_and_one_that_is_another_begins_anew() {
        let this = probe(vec![[4.0, 8.5, 0.0]], &["velocity"]);
        let mut probed = Probed::default();
        probed.add(&this, 0, &[reading(1.0 / 3.0)]);
        let saved = [probed.saved(&this)];
        assert!(saved[0].is_whole());
        assert_eq!(Probed::of_saved(&Probe { every: 7, ..this.clone() }, &saved), probed);
        let others = [
            probe(vec![[4.0, 8.0, 0.0]], &["velocity"]),
            probe(vec![[4.0, 8.5, 0.0]], &["speed"]),
            Probe { name: "other".into(), ..this },
        ];
        assert!(others.iter().all(|other| Probed::of_saved(other, &saved) == Probed::default()));
    }
}
