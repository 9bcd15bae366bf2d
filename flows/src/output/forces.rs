//! Forces on solids over time, as CSV and as a picture; [`settling`](super::settling) has their converged values.
//!
//! The coefficient of a force along an axis is `2 F / (rho U^2 A)` with density 1, the reference velocity U of the case
//! and the reference area A of the solid. Drag is the force along x. In two dimensions lift is the force along y. In
//! three dimensions it depends on the body which of the other components is lift and which is side force, so they are
//! named by their axes.

use std::io::{self, Write};
use std::ops::Range;

use lbm_runtime::geometry::solid::Motion;

use super::bits::Bits;
use super::canvas::Canvas;
use super::chart::{COLOURS, Chart, Curve, Panel, Style};
use super::csv;
use super::profile::real_name;
use super::series::scales;
use crate::case::{Body, Case};

/// Names of the coefficients along x, y and z.
fn names(dim: usize) -> &'static [&'static str] {
    if dim == 2 { &["cd", "cl"] } else { &["cd", "cy", "cz"] }
}

/// Vectors of each solid in a row of a case in which the fluid moves bodies: displacement, angle, velocity and angular velocity.
pub(crate) const STATES: usize = 4;

/// Time series of forces.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Forces {
    pub(super) rows: Vec<Row>,
}

/// The forces at one step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Row {
    pub(super) step: u64,
    /// Force on each entry of [`Case::solids`], in lattice units; if solids rotate, followed by the torque on each; if the fluid moves
    /// any, by [`STATES`] vectors of each.
    pub(super) forces: Vec<[f64; 3]>,
}

impl Row {
    /// Force on a body, in lattice units.
    fn force(&self, body: &Body<'_>) -> [f64; 3] {
        sum(&self.forces[body.entries.clone()])
    }

    /// Torque on a body, in lattice units, of a case in which solids rotate.
    pub(super) fn torque(&self, case: &Case, body: &Body<'_>) -> [f64; 3] {
        sum(&self.forces[case.solids.len()..][body.entries.clone()])
    }

    /// Displacement, angle times axis, velocity and angular velocity of a body with this motion. The angle is along
    /// z where the table has one column for it.
    fn place(&self, case: &Case, body: &Body<'_>, motion: Option<&Motion>) -> [[f64; 3]; STATES] {
        let Some(motion) = motion else { return [[0.0; 3]; STATES] };
        if motion.body().is_some() {
            let first = vectors(case) - STATES * (case.solids.len() - body.entries.start);
            return std::array::from_fn(|at| self.forces[first + at]);
        }
        let pose = motion.at(self.step as f64);
        let along = |axis: usize| if angles(case).len() == 1 { 1.0 } else { pose.axis[axis] };
        let rate = motion.rate(self.step as f64 - 0.5, self.step as f64 + 0.5);
        [pose.by, [0, 1, 2].map(|axis| pose.angle * along(axis)), rate.velocity, rate.rotation]
    }
}

/// Vectors of a row of a case.
pub(super) fn vectors(case: &Case) -> usize {
    case.solids.len() * (1 + usize::from(case.turns()) + if case.floats() { STATES } else { 0 })
}

fn sum(of: &[[f64; 3]]) -> [f64; 3] {
    [0, 1, 2].map(|axis| of.iter().map(|of| of[axis]).sum())
}

/// Axes of the torques.
pub(super) fn torques(dim: usize) -> Range<usize> {
    if dim == 2 { 2..3 } else { 0..3 }
}

/// Columns of the angle: about z, or along all axes if the fluid turns bodies in three dimensions.
fn angles(case: &Case) -> Range<usize> {
    if case.dim == 3 && case.floats() { 0..3 } else { 2..3 }
}

/// Reference area of a body.
pub(super) fn area(case: &Case, body: &Body<'_>) -> f64 {
    case.solids[body.entries.start].area
}

impl Forces {
    /// Adds the [vectors](vectors) of a step. A step that already has a row is ignored.
    pub fn add(&mut self, step: u64, forces: Vec<[f64; 3]>) {
        if self.rows.last().is_none_or(|last| last.step < step) {
            self.rows.push(Row { step, forces });
        }
    }

    /// Rows for a restart file.
    pub fn saved(&self) -> Vec<(u64, Vec<[Bits; 3]>)> {
        let of_row = |row: &Row| (row.step, row.forces.iter().map(|force| force.map(Bits)).collect());
        self.rows.iter().map(of_row).collect()
    }

    /// Rows from a restart file.
    pub fn of_saved(rows: &[(u64, Vec<[Bits; 3]>)]) -> Forces {
        let of_row = |(step, forces): &(u64, Vec<[Bits; 3]>)| Row {
            step: *step,
            forces: forces.iter().map(|force| force.map(|value| value.0)).collect(),
        };
        Forces { rows: rows.iter().map(of_row).collect() }
    }

    /// A force in lattice units divided by this factor is its coefficient; `None` without a reference velocity.
    pub(super) fn unit(case: &Case, body: &Body<'_>) -> Option<f64> {
        let unit = 0.5 * case.scales.velocity.powi(2) * area(case, body);
        (unit > 0.0).then_some(unit)
    }

    /// Time series of a coefficient of a body; times in L/U.
    pub(super) fn curve(&self, case: &Case, body: &Body<'_>, axis: usize) -> Vec<(f64, f64)> {
        let Some(unit) = Self::unit(case, body) else { return Vec::new() };
        let (u, l) = scales(case);
        self.rows.iter().map(|row| (row.step as f64 * u / l, row.force(body)[axis] / unit)).collect()
    }

    /// Step of each row.
    pub(super) fn steps(&self) -> Vec<u64> {
        self.rows.iter().map(|row| row.step).collect()
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Writes the rows from number `from` on as CSV; the first is preceded by comments that describe them.
    pub fn write(&self, case: &Case, from: usize, out: &mut dyn Write) -> io::Result<()> {
        let bodies: Vec<Body<'_>> = case.bodies_and_parts().collect();
        let has_parts = bodies.iter().any(|body| body.part.is_some());
        let motion = |body: &Body<'_>| case.solids[body.entries.start].motion(case.stop.steps);
        let motions: Vec<_> = bodies.iter().map(motion).collect();
        let moves = motions.iter().any(Option::is_some);
        if from == 0 {
            Self::write_head(case, has_parts, moves, out)?;
        }
        let (newton, _) = case.units.force(case.dim);
        let (u, l) = scales(case);
        for row in &self.rows[from..] {
            for (body, motion) in bodies.iter().zip(&motions) {
                write!(out, "{},{},{}", row.step, csv::number(row.step as f64 * u / l), body.solid)?;
                if has_parts {
                    write!(out, ",{}", body.part.map_or(String::new(), |part| csv::name(&part.name)))?;
                }
                let force = row.force(body);
                for value in &force[..case.dim] {
                    write!(out, ",{}", csv::number(value * newton))?;
                }
                for value in &force[..case.dim] {
                    match Self::unit(case, body) {
                        Some(unit) => write!(out, ",{}", csv::number(value / unit))?,
                        None => write!(out, ",")?,
                    }
                }
                if moves {
                    let [by, turned, velocity, rotation] = row.place(case, body, motion.as_ref());
                    for value in &by[..case.dim] {
                        write!(out, ",{}", csv::number(value * case.units.cell))?;
                    }
                    if case.turns() {
                        for value in &turned[angles(case)] {
                            write!(out, ",{}", csv::number(*value))?;
                        }
                        for value in &row.torque(case, body)[torques(case.dim)] {
                            write!(out, ",{}", csv::number(value * newton * case.units.cell))?;
                        }
                    }
                    if case.floats() {
                        for value in &velocity[..case.dim] {
                            write!(out, ",{}", csv::number(value * case.units.cell / case.units.step))?;
                        }
                        for value in rotation[torques(case.dim)].iter().filter(|_| case.turns()) {
                            write!(out, ",{}", csv::number(value / case.units.step))?;
                        }
                    }
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }

    fn write_head(case: &Case, has_parts: bool, moves: bool, out: &mut dyn Write) -> io::Result<()> {
        let (u, l) = scales(case);
        let axes = ["x", "y", "z"];
        writeln!(out, "# {}: {}, {}", case.name, case.spec, real_name(case))?;
        writeln!(out, "# L = {l} cells, U = {u} cells per step; time: over L/U; solids in the order of the case")?;
        let (_, symbol) = case.units.force(case.dim);
        writeln!(out, "# force: {symbol}; coefficients: force over U^2 area / 2, with these areas:")?;
        for body in case.bodies() {
            let power = if case.dim == 3 { "^2" } else { "" };
            writeln!(out, "# {}: {} cells{power}", body.title(), area(case, &body))?;
        }
        if has_parts {
            writeln!(out, "# part: of the surface of a solid; rows without are of the whole")?;
        }
        let of = |what: &str, of: Range<usize>| {
            axes[of].iter().map(|axis| format!("{what}{axis}")).collect::<Vec<_>>().join(",")
        };
        let of_axes = |what: &str| of(what, 0..case.dim);
        let length = if case.units.si { "m" } else { "cells" };
        if moves {
            writeln!(out, "# rows: means over the steps since the row before")?;
            writeln!(out, "# dx and so on: displacement, {length}")?;
        }
        if case.turns() {
            let angle = if angles(case).len() == 1 { "angle:" } else { "ax and so on: direction of the axis times" };
            writeln!(
                out,
                "# {angle} that by which a solid has turned, radians; tz and so on: torque on it about its pivot, force times {length}"
            )?;
        }
        if case.floats() {
            let seconds = if case.units.si { "s" } else { "step" };
            writeln!(
                out,
                "# vx and so on: velocity of a body that the fluid moves, {length}/{seconds}; w: its angular velocity, 1/{seconds}"
            )?;
        }
        let angle = if angles(case).len() == 1 { "angle".to_string() } else { of("a", angles(case)) };
        let turns = if case.turns() { format!(",{angle},{}", of("t", torques(case.dim))) } else { String::new() };
        let rates = if case.turns() { format!(",{}", of("w", torques(case.dim))) } else { String::new() };
        let velocities = if case.floats() { format!(",{}{rates}", of_axes("v")) } else { String::new() };
        let displacements = if moves { format!(",{}{turns}{velocities}", of_axes("d")) } else { String::new() };
        let part = if has_parts { ",part" } else { "" };
        writeln!(out, "step,time,solid{part},{},{}{displacements}", of_axes("f"), names(case.dim).join(","))
    }

    /// Draws the coefficients over time. If the first tenth has much larger forces than the rest, as in an impulsive
    /// start, it is omitted.
    pub fn draw(&self, case: &Case) -> Canvas {
        let panel = |axis: usize, y: &str| {
            let curves = case.bodies_and_parts().enumerate().map(|(at, body)| Curve {
                name: body.title(),
                colour: COLOURS[at % COLOURS.len()],
                style: Style::Line,
                points: self.curve(case, &body, axis),
            });
            let mut curves: Vec<Curve> = curves.collect();
            let last = self.rows.last().map_or(0.0, |row| row.step as f64) * scales(case).0 / scales(case).1;
            let largest = |curves: &[Curve], from: f64| {
                let points = curves.iter().flat_map(|curve| curve.points.iter().filter(|point| point.0 >= from));
                points.map(|point| point.1.abs()).fold(0.0, f64::max)
            };
            if largest(&curves, 0.1 * last) < 0.5 * largest(&curves, 0.0) {
                curves.iter_mut().for_each(|curve| curve.points.retain(|point| point.0 >= 0.1 * last));
            }
            Panel { x: "t U / L".into(), y: y.into(), range: (0.0, last.max(f64::MIN_POSITIVE)), curves }
        };
        let across: &[&str] = match case.dim {
            2 => &["lift coefficient"],
            _ => &["force coefficient along y", "force coefficient along z"],
        };
        let across = across.iter().enumerate().map(|(at, name)| panel(1 + at, name));
        let panels = [panel(0, "drag coefficient")].into_iter().chain(across).collect();
        let re = case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
        Chart { title: format!("{}{re}: forces", case.name), panels }.draw()
    }
}

#[cfg(test)]
mod tests {
    use crate::output::fixture::forces;

    #[test]
    fn rows_have_forces_and_coefficients() {
        let (case, forces) = forces(|_| 0.25);
        let mut text = vec![];
        forces.write(&case, 0, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        let rows: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
        assert_eq!(rows[0], "step,time,solid,fx,fy,cd,cl");
        let last: Vec<f64> = rows[2000].split(',').map(|value| value.parse().unwrap()).collect();
        assert_eq!((last[0], last[2], last[5], last[6]), (39_980.0, 1.0, 1.5, 0.25));
        forces.draw(&case);
    }
}
