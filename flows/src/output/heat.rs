//! Release of a temperature or another scalar from solids to the fluid over time, as CSV, and its means.
//!
//! A cut link takes a population of the scalar out of a cell and returns another. The difference is what the solid
//! releases in a step, for any boundary condition, just as the momentum exchange on the same links is the force (Ladd,
//! J. Fluid Mech. 271 (1994) 285). Thus no gradient is evaluated at the surface, and the release of all solids equals
//! the gain of the fluid. The Nusselt number is the release per step times the reference length, divided by the
//! diffusivity, the area and the difference that the case gives.

use std::io::{self, Write};

use serde::{Deserialize, Serialize};

use super::average::{Average, average, weights, window};
use super::bits::Bits;
use super::csv;
use super::flux_planes;
use super::profile::real_name;
use crate::case::{Body, Case, Scalar};

/// Release from solids over time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Heat {
    steps: Vec<u64>,
    /// Release per step in lattice units, index `[row][entry of the case's solids][scalar]`.
    values: Vec<f64>,
}

/// Bit-exact copy for restart files.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SavedHeat {
    pub(super) steps: Vec<u64>,
    values: Vec<Bits>,
}

/// Mean release from a solid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeatMean {
    /// Number of the solid, in the order of the case, from 1.
    pub solid: usize,
    /// The part of its surface, if parts have boundary conditions of their own; `None` for the whole.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub part: Option<String>,
    /// Name of the scalar.
    pub scalar: String,
    /// First and last step of the averaging window.
    pub window: [u64; 2],
    /// Number of rows in the window.
    pub samples: usize,
    /// Release to the fluid per time, in the units of the case.
    pub rate: Option<Average>,
    /// Nusselt number, if the case gives its reference quantities.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub nusselt: Option<Average>,
}

impl HeatMean {
    /// One line of text.
    pub fn describe(&self) -> String {
        let part = self.part.as_ref().map_or(String::new(), |part| format!(", {part}"));
        let Some(rate) = &self.rate else { return String::new() };
        let nusselt = self.nusselt.as_ref().map_or(String::new(), |of| format!(", Nusselt number {:.6}", of.mean));
        let ([from, to], name) = (self.window, &self.scalar);
        format!(
            "solid {}{part}: {name} {:.6e} per time{nusselt}, mean of steps {from} to {to}\n",
            self.solid, rate.mean
        )
    }
}

/// Numbers per row.
fn width(case: &Case) -> usize {
    case.solids.len() * case.scalars.len()
}

impl SavedHeat {
    /// Whether the number of values matches the number of rows.
    pub(super) fn fits(&self, case: &Case) -> bool {
        width(case).checked_mul(self.steps.len()) == Some(self.values.len())
    }
}

impl Heat {
    /// Adds a row: the release of each scalar from each entry of the case's solids. A step that already has a row is
    /// ignored.
    pub fn add(&mut self, step: u64, values: Vec<f64>) {
        if self.steps.last().is_none_or(|last| *last < step) {
            self.steps.push(step);
            self.values.extend(values);
        }
    }

    /// Bit-exact copy for restart files.
    pub(super) fn saved(&self) -> SavedHeat {
        SavedHeat { steps: self.steps.clone(), values: self.values.iter().copied().map(Bits).collect() }
    }

    /// The inverse of [`Self::saved`].
    pub(super) fn of_saved(saved: &SavedHeat) -> Heat {
        Heat { steps: saved.steps.clone(), values: saved.values.iter().map(|bits| bits.0).collect() }
    }

    /// Release of a scalar from a body, row by row.
    fn of(&self, case: &Case, body: &Body<'_>, scalar: usize) -> Vec<f64> {
        self.values.chunks_exact(width(case).max(1)).map(|row| given(case, row, body, scalar)).collect()
    }

    /// Number of rows per solid.
    pub(super) fn len(&self) -> usize {
        self.steps.len()
    }

    /// Writes the rows from number `from` on as CSV; the first is preceded by comments that describe them.
    pub fn write(&self, case: &Case, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let bodies: Vec<Body<'_>> = case.bodies_and_parts().collect();
        let has_parts = bodies.iter().any(|body| body.part.is_some());
        let has_number = bodies.iter().any(|body| refers(case, body).is_some());
        if from == 0 {
            write_head(case, &bodies, has_parts, has_number, out)?;
        }
        let scale = flux_planes::scales(case)[1].0;
        for (step, row) in self.steps.iter().zip(self.values.chunks_exact(width(case).max(1))).skip(from) {
            for body in &bodies {
                write!(out, "{step},{},{}", csv::number(*step as f64 * case.units.step), body.solid)?;
                if has_parts {
                    write!(out, ",{}", body.part.map_or(String::new(), |part| csv::name(&part.name)))?;
                }
                for scalar in 0..case.scalars.len() {
                    write!(out, ",{}", csv::number(given(case, row, body, scalar) * scale))?;
                }
                match (has_number, nusselt(case, body, *step)) {
                    (true, Some(unit)) => write!(out, ",{}", csv::number(given(case, row, body, 0) / unit))?,
                    (true, None) => write!(out, ",")?,
                    (false, _) => {}
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }

    /// Means over the rows from the step that the case gives, or over the last half.
    pub(super) fn means(&self, case: &Case) -> Vec<HeatMean> {
        let Some(rows) = window(&self.steps, case.output.average_from) else { return vec![] };
        let weights = weights(&self.steps, rows.clone());
        let scale = flux_planes::scales(case)[1].0;
        let mean = |(body, scalar): (&Body<'_>, usize)| {
            let values = &self.of(case, body, scalar)[rows.clone()];
            let steps = &self.steps[rows.clone()];
            let numbers: Option<Vec<f64>> =
                values.iter().zip(steps).map(|(value, step)| Some(value / nusselt(case, body, *step)?)).collect();
            HeatMean {
                solid: body.solid,
                part: body.part.map(|part| part.name.clone()),
                scalar: case.scalars[scalar].name.clone(),
                window: [steps[0], steps[steps.len() - 1]],
                samples: steps.len(),
                rate: average(&values.iter().map(|value| value * scale).collect::<Vec<_>>(), &weights),
                nusselt: numbers.and_then(|numbers| average(&numbers, &weights)),
            }
        };
        let bodies: Vec<Body<'_>> = case.bodies_and_parts().collect();
        bodies.iter().flat_map(|body| (0..case.scalars.len()).map(move |scalar| (body, scalar))).map(mean).collect()
    }
}

/// Release of a scalar from a body in one row.
fn given(case: &Case, row: &[f64], body: &Body<'_>, scalar: usize) -> f64 {
    body.entries.clone().map(|entry| row[entry * case.scalars.len() + scalar]).sum()
}

fn write_head(
    case: &Case,
    bodies: &[Body<'_>],
    has_parts: bool,
    has_number: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let names: Vec<&str> = case.scalars.iter().map(|scalar| &scalar.name[..]).collect();
    writeln!(out, "# {}: what solids give to the fluid per time", case.name)?;
    writeln!(out, "# {}, {}; solids in the order of the case", case.spec, real_name(case))?;
    let seconds = if case.units.si { "s" } else { "steps" };
    writeln!(out, "# time: {seconds}; {}: their units times {}", names.join(", "), flux_planes::scales(case)[1].1)?;
    if case.moves() {
        writeln!(out, "# rows: means over the steps since the row before")?;
    }
    if has_number {
        writeln!(out, "# nusselt: with L = {} cells, and these differences and areas:", case.scales.length)?;
        for body in bodies {
            let Some((difference, area)) = refers(case, body) else { continue };
            writeln!(out, "# {}: {difference}, {area} cells{}", body.title(), if case.dim == 3 { "^2" } else { "" })?;
        }
    }
    if has_parts {
        writeln!(out, "# part: of the surface of a solid; rows without are of the whole")?;
    }
    let columns = ["step", "time", "solid"].into_iter().chain(has_parts.then_some("part"));
    let columns: Vec<&str> = columns.chain(names).chain(has_number.then_some("nusselt")).collect();
    writeln!(out, "{}", columns.join(","))
}

/// The difference and the area to which the Nusselt number of a body refers.
fn refers(case: &Case, body: &Body<'_>) -> Option<(f64, f64)> {
    let of = case.solids[body.entries.start].nusselt?;
    let area = if body.part.is_some() { of.area } else { Some(of.whole) };
    Some((of.difference, area?))
}

/// A rate in lattice units divided by this factor is the Nusselt number at a step.
fn nusselt(case: &Case, body: &Body<'_>, step: u64) -> Option<f64> {
    let (difference, area) = refers(case, body)?;
    let diffusivity = case.scalars.first().and_then(|scalar: &Scalar| case.diffusivity(scalar, step))?;
    Some(diffusivity * area * difference / case.scales.length)
}
