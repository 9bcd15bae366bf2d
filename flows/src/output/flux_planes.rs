//! Fluxes through planes over time, as CSV, and their means.
//!
//! A plane is divided into squares of the cell size of the finest permitted level. At the centre of each square the
//! fields are interpolated as for probes, linearly between cell centres, and `u.n`, `rho u.n` and `phi u.n` are summed,
//! times the area of the square. Squares inside solids do not contribute. The diffusive flux is the diffusivity times
//! the negative normal gradient of the scalar there. On faces between cells of one level the velocity is the mean of
//! the cells on both sides: the sum is of second order.

use std::collections::BTreeMap;
use std::io::{self, Write};

use lbm_runtime::solver::probe::Reading;
use serde::{Deserialize, Serialize};

use super::average::{Average, average, weights, window};
use super::bits::Bits;
use super::csv;
use super::profile::{cells, real_name};
use crate::case::{Case, Dimension, FluxPlane};

/// Rows recorded for a plane, in lattice units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fluxed {
    /// Step of each row.
    steps: Vec<u64>,
    /// Index `[row][column]`: area outside solids, volume per step, mass per step, convective flux of each scalar per
    /// step, and diffusive flux of each scalar with diffusion.
    values: Vec<f64>,
}

/// Bit-exact copy for restart files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedFlux {
    name: String,
    /// Normal, corners and numbers of squares.
    plane: Vec<Bits>,
    columns: usize,
    pub(super) steps: Vec<u64>,
    values: Vec<Bits>,
}

/// Mean fluxes through a plane, in the units of the case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FluxMean {
    /// Name of the plane.
    pub name: String,
    /// The axis along which a flux is positive.
    pub normal: String,
    /// Area outside solids at the last row.
    pub area: f64,
    /// First and last step of the averaging window.
    pub window: [u64; 2],
    /// Number of rows in the window.
    pub samples: usize,
    /// Volume per time.
    pub volume: Option<Average>,
    /// Mass per time.
    pub mass: Option<Average>,
    /// Fluxes of the scalars.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub scalars: Vec<ScalarMean>,
}

/// Mean fluxes of a scalar, in its unit times that of the volume flux.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ScalarMean {
    /// Name of the scalar.
    pub name: String,
    /// Convective flux per time.
    pub carried: Option<Average>,
    /// Diffusive flux per time, if the diffusivity is known.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub diffused: Option<Average>,
}

impl FluxMean {
    /// One line of text.
    pub fn describe(&self, units: &BTreeMap<String, String>) -> String {
        let Some(volume) = &self.volume else { return String::new() };
        let error = volume.standard_error.map_or(String::new(), |error| format!(" +- {error:.2e}"));
        let unit = units.get("planes.volume").map_or("", |unit| unit);
        let [from, to] = self.window;
        format!("through `{}`: {:.6e}{error} {unit}, mean of steps {from} to {to}\n", self.name, volume.mean)
    }
}

impl SavedFlux {
    /// Whether the number of values matches the number of rows.
    pub(super) fn is_whole(&self) -> bool {
        self.columns.checked_mul(self.steps.len()) == Some(self.values.len())
    }
}

/// Numbers per row.
fn width(plane: &FluxPlane) -> usize {
    3 + plane.scalars.len() + plane.diffusing.len()
}

impl Fluxed {
    /// Adds a row from the readings at the points of a plane. A step that already has a row is ignored.
    pub fn add(&mut self, case: &Case, plane: &FluxPlane, step: u64, readings: &[Reading]) {
        if self.steps.last() == Some(&step) {
            return;
        }
        let mut sums = vec![0.0; width(plane)];
        // Readings inside solids are NaN.
        let diffusivity = |scalar: &usize| case.diffusivity(&case.scalars[*scalar], step).unwrap_or(f64::NAN);
        let diffusivities: Vec<f64> = plane.diffusing.iter().map(diffusivity).collect();
        for Reading { values, slopes, .. } in readings.iter().filter(|reading| !reading.values[plane.velocity].is_nan())
        {
            let velocity = values[plane.velocity];
            sums[0] += 1.0;
            sums[1] += velocity;
            sums[2] += plane.density.map_or(1.0, |density| values[density]) * velocity;
            for (sum, (_, at)) in sums[3..].iter_mut().zip(&plane.scalars) {
                *sum += values[*at] * velocity;
            }
            let diffusing = sums[3 + plane.scalars.len()..].iter_mut().zip(&diffusivities);
            for ((sum, diffusivity), slope) in diffusing.zip(slopes) {
                *sum -= diffusivity * slope[plane.normal];
            }
        }
        let area = plane.area_of_part(case.dim);
        self.steps.push(step);
        self.values.extend(sums.into_iter().map(|sum| sum * area));
    }

    /// Bit-exact copy for restart files.
    pub(super) fn saved(&self, plane: &FluxPlane) -> SavedFlux {
        let numbers = [plane.normal as f64].into_iter().chain(plane.from).chain(plane.to);
        let parts = plane.parts.iter().map(|parts| *parts as f64);
        SavedFlux {
            name: plane.name.clone(),
            plane: numbers.chain(parts).map(Bits).collect(),
            columns: width(plane),
            steps: self.steps.clone(),
            values: self.values.iter().copied().map(Bits).collect(),
        }
    }

    /// The inverse of [`Self::saved`] for the same plane; empty if `all` does not have it.
    pub(super) fn of_saved(plane: &FluxPlane, all: &[SavedFlux]) -> Fluxed {
        let none = Fluxed::default().saved(plane);
        let same =
            |saved: &&SavedFlux| (&saved.name, &saved.plane, saved.columns) == (&none.name, &none.plane, none.columns);
        all.iter().find(same).map_or(Fluxed::default(), |saved| Fluxed {
            steps: saved.steps.clone(),
            values: saved.values.iter().map(|bits| bits.0).collect(),
        })
    }

    /// Means over the rows from the step that the case gives, or over the last half.
    pub(super) fn mean(&self, case: &Case, plane: &FluxPlane) -> Option<FluxMean> {
        let rows = window(&self.steps, case.output.average_from)?;
        let weights = weights(&self.steps, rows.clone());
        let columns = width(plane);
        let scales = scales(case);
        let of = |column: usize| {
            let scale = scales.get(column).unwrap_or(&scales[1]).0;
            let values: Vec<f64> = rows.clone().map(|row| scale * self.values[row * columns + column]).collect();
            average(&values, &weights)
        };
        let scalar = |(at, (name, _)): (usize, &(String, usize))| {
            let diffused = plane.diffusing.iter().position(|scalar| case.scalars[*scalar].name == *name);
            ScalarMean {
                name: name.clone(),
                carried: of(3 + at),
                diffused: diffused.and_then(|at| of(3 + plane.scalars.len() + at)),
            }
        };
        let last = self.values.len().checked_sub(columns)?;
        Some(FluxMean {
            name: plane.name.clone(),
            normal: ["x", "y", "z"][plane.normal].to_string(),
            area: scales[0].0 * self.values[last],
            window: [self.steps[rows.start], self.steps[rows.end - 1]],
            samples: rows.len(),
            volume: of(1),
            mass: of(2),
            scalars: plane.scalars.iter().enumerate().map(scalar).collect(),
        })
    }
}

/// Factor from lattice units to the units of the case for area, volume flux and mass flux, and the symbol of the unit.
pub(super) fn scales(case: &Case) -> [(f64, String); 3] {
    let (units, dim) = (&case.units, case.dim as i32);
    let length = units.scale(Dimension::LENGTH);
    let volume = length.powi(dim) / units.scale(Dimension::TIME);
    let powers = ["", "", "²", "³"];
    if !units.si {
        let (across, whole) = (if dim == 2 { "cells" } else { "cells²" }, if dim == 2 { "cells²" } else { "cells³" });
        return [
            (1.0, across.to_string()),
            (1.0, format!("{whole}/step")),
            (1.0, format!("{whole}/step of a fluid of density 1")),
        ];
    }
    let of_volume = format!("m{}/s", powers[case.dim]);
    let mass = match (units.density, dim) {
        (None, _) => (volume, format!("{of_volume} (over the density at rest)")),
        (Some(density), 2) => (density * volume, "kg/(m s)".to_string()),
        (Some(density), _) => (density * volume, "kg/s".to_string()),
    };
    [(length.powi(dim - 1), format!("m{}", if dim == 2 { "" } else { "²" })), (volume, of_volume), mass]
}

/// Total number of rows of all planes.
pub(super) fn rows(all: &[Fluxed]) -> usize {
    all.iter().map(|fluxed| fluxed.steps.len()).sum()
}

/// Writes the rows of all planes from number `from` on, in the order of steps; the first is preceded by comments that
/// describe them.
pub fn write(case: &Case, all: &[Fluxed], from: usize, out: &mut dyn Write) -> io::Result<()> {
    if from == 0 {
        write_head(case, out)?;
    }
    let scales = scales(case);
    let time = case.units.scale(Dimension::TIME);
    // No plane contributes more rows than are written in total.
    let wanted = rows(all).saturating_sub(from);
    let of_plane = |(number, fluxed): (usize, &Fluxed)| -> Vec<(u64, usize, usize)> {
        let count = fluxed.steps.len();
        (count.saturating_sub(wanted)..count).map(|row| (fluxed.steps[row], number, row)).collect()
    };
    let mut last: Vec<_> = all.iter().enumerate().flat_map(of_plane).collect();
    last.sort_unstable();
    for &(step, number, row) in &last[last.len() - wanted..] {
        let plane = &case.output.fluxes[number];
        write!(out, "{step},{},{}", csv::number(step as f64 * time), plane.name)?;
        for (at, value) in all[number].values[row * width(plane)..][..width(plane)].iter().enumerate() {
            write!(out, ",{}", csv::number(value * scales.get(at).unwrap_or(&scales[1]).0))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn write_head(case: &Case, out: &mut dyn Write) -> io::Result<()> {
    let [area, volume, mass] = scales(case);
    writeln!(out, "# {}: what flows through planes, positive along their normals", case.name)?;
    writeln!(out, "# {}, {}, {}", case.spec, cells(case, " x "), real_name(case))?;
    let seconds = if case.units.si { "s" } else { "steps" };
    writeln!(out, "# time: {seconds}; area outside of solids: {}; volume: {}; mass: {}", area.1, volume.1, mass.1)?;
    let Some(plane) = case.output.fluxes.first() else { return Ok(()) };
    let names: Vec<&str> = plane.scalars.iter().map(|(name, _)| &name[..]).collect();
    if !names.is_empty() {
        writeln!(out, "# {}: carried by the flow, their units times that of the volume", names.join(", "))?;
    }
    let diffused: Vec<String> =
        plane.diffusing.iter().map(|scalar| format!("{}_diffused", case.scalars[*scalar].name)).collect();
    if !diffused.is_empty() {
        writeln!(out, "# {}: by diffusion, the same units; what passes is the sum of both", diffused.join(", "))?;
    }
    let columns = names.into_iter().chain(diffused.iter().map(String::as_str));
    let columns: String = columns.map(|name| format!(",{name}")).collect();
    writeln!(out, "step,time,plane,area,volume,mass{columns}")
}
