//! Files of pressure and friction on surfaces: their names, triangles for ParaView, and tables along curves.

use std::io::{self, Write};

use super::{AXES, Bodies, Load, Loaded};
use crate::case::{Body, Dimension, Face, Slice};
use crate::output::csv;
use crate::output::hull::dot;
use crate::output::profile::real_name;
use crate::output::vtk;

impl Bodies<'_> {
    /// File name of a body at the step of the snapshot.
    pub(in crate::output) fn file_name(&self, body: &Body<'_>) -> String {
        self.surface_name(&format!("surface_{}", body.solid))
    }

    /// File name of a face.
    pub(in crate::output) fn face_name(&self, face: Face) -> String {
        self.surface_name(&format!("face_{}", face.name()))
    }

    fn surface_name(&self, begin: &str) -> String {
        let ending = if self.case.dim == 3 { "vtp" } else { "csv" };
        format!("{begin}_{:08}.{ending}", self.snapshot.step)
    }

    /// File name of a section of a body, by its number.
    pub(in crate::output) fn section_name(&self, body: &Body<'_>, number: usize) -> String {
        format!("section_{}_{}_{:08}.csv", body.solid, number + 1, self.snapshot.step)
    }

    /// Writes the surface of a body.
    pub(in crate::output) fn write(&self, body: &Body<'_>, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        self.write_surface(&format!("contour of {}", body.title()), loaded, out)
    }

    /// Writes a face.
    pub(in crate::output) fn write_face(&self, face: Face, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        self.write_surface(&format!("face {}", face.name()), loaded, out)
    }

    fn write_surface(&self, title: &str, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        match self.case.dim {
            3 => self.polygons(loaded, out),
            _ => self.contour(loaded, 2, title, out),
        }
    }

    /// Writes a section of the surface of a body.
    pub(in crate::output) fn write_section(
        &self,
        body: &Body<'_>,
        loaded: &Loaded,
        plane: &Slice,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let units = &self.case.units;
        let at = plane.at * units.scale(Dimension::LENGTH);
        let unit = if units.si { "m" } else { "cells" };
        let title = format!("section of {} at {} = {at} {unit}", body.title(), AXES[plane.normal]);
        self.contour(&self.section(body, loaded, plane), plane.normal, &title, out)
    }

    /// Whether parts of a surface have boundary conditions of their own.
    fn has_parts(&self, loaded: &Loaded) -> bool {
        loaded.entries.first().is_some_and(|entry| self.case.solids[*entry].part.is_some())
    }

    fn polygons(&self, loaded: &Loaded, out: &mut dyn Write) -> io::Result<()> {
        let units = &self.case.units;
        let (length, stress) = (units.scale(Dimension::LENGTH), self.surfaces.pressure.scale(units));
        let mut points = vec![];
        loaded.points.iter().for_each(|point| points.push(point.at.map(|at| at * length)));
        let normals: Vec<[f64; 3]> = loaded.points.iter().map(|point| point.normal).collect();
        let pressure: Vec<f64> = loaded.loads.iter().map(|load| load.pressure * stress).collect();
        let friction: Option<Vec<[f64; 3]>> = self
            .case
            .scales
            .viscosity
            .map(|_| loaded.loads.iter().map(|load| load.friction.map(|part| part * stress)).collect());
        let y_plus: Vec<f64> = loaded.loads.iter().map(|load| load.y_plus).collect();
        // A triangle across the border of two parts belongs to the one with two of its corners.
        let part = |corners: &[usize; 3]| {
            let [a, b, c] = corners.map(|at| loaded.entries[at]);
            self.case.solids[if b == c { b } else { a }].part.as_ref().map_or(0, |part| part.number as i32)
        };
        let parts: Option<Vec<i32>> = self.has_parts(loaded).then(|| loaded.triangles.iter().map(part).collect());
        let surface =
            vtk::Polygons { points: &points, triangles: &loaded.triangles, normals: &normals, parts: parts.as_deref() };
        let friction = friction.as_deref().map(|friction| (friction, &y_plus[..]));
        vtk::write_polygons(out, &surface, &pressure, friction, self.snapshot, units)
    }

    /// Writes curves in a plane with this normal.
    fn contour(&self, loaded: &Loaded, normal: usize, title: &str, out: &mut dyn Write) -> io::Result<()> {
        let (case, units) = (self.case, &self.case.units);
        let axes = &AXES[..case.dim];
        let across: Vec<usize> = (0..3).filter(|axis| *axis != normal).collect();
        let (length, pressure) = (units.scale(Dimension::LENGTH), &self.surfaces.pressure);
        let stress = pressure.scale(units);
        let dynamic = 0.5 * case.scales.velocity.powi(2);
        let (has_friction, has_coefficients) = (case.scales.viscosity.is_some(), dynamic > 0.0);
        writeln!(out, "# {}: {title} at step {}", case.name, self.snapshot.step)?;
        writeln!(out, "# {}, {}", case.spec, real_name(case))?;
        match units.si {
            true => writeln!(out, "# arc, {}: m; pressure, friction: {}", axes.join(", "), pressure.symbol(units))?,
            false => writeln!(out, "# units: cells and time steps of level 0; the density at rest is 1")?,
        }
        writeln!(
            out,
            "# arc: along the contour, the solid on the left{}; angle: around the middle of the contour, from {} to {}, in degrees",
            if case.dim == 3 { format!(" where {} comes towards one", AXES[normal]) } else { String::new() },
            AXES[across[0]],
            AXES[across[1]]
        )?;
        writeln!(
            out,
            "# pressure: that above a fluid at rest; friction: force of the fluid on an area along the surface"
        )?;
        if has_friction {
            writeln!(
                out,
                "# y_plus: of the height of the law of the wall; without a law, of the middle of a cell at the wall"
            )?;
        }
        if has_coefficients {
            writeln!(
                out,
                "# cp, cf: over rho U^2 / 2 with U = {} cells per step; cf: of the friction along the arc",
                case.scales.velocity
            )?;
        }
        let has_parts = self.has_parts(loaded);
        if has_parts {
            writeln!(out, "# part: of the surface, which has the point")?;
        }
        let mut columns = vec!["curve"];
        columns.extend(has_parts.then_some("part"));
        columns.push("arc");
        columns.extend(axes);
        columns.extend(["angle", "pressure"]);
        let friction_columns = ["friction_x", "friction_y", "friction_z"];
        columns.extend(friction_columns.into_iter().take(if has_friction { case.dim } else { 0 }));
        columns.extend(has_friction.then_some("y_plus"));
        columns.extend(has_coefficients.then_some("cp"));
        columns.extend((has_friction && has_coefficients).then_some("cf"));
        writeln!(out, "{}", columns.join(","))?;
        for (curve, numbers) in loaded.curves.iter().enumerate() {
            let at = |number: &usize| loaded.points[*number].at;
            let count = numbers.len() as f64;
            let middle = [0, 1, 2].map(|axis| numbers.iter().map(|number| at(number)[axis]).sum::<f64>() / count);
            let mut arc = 0.0;
            for (place, number) in numbers.iter().enumerate() {
                if place > 0 {
                    let last = at(&numbers[place - 1]);
                    let way = [0, 1, 2].map(|axis| at(number)[axis] - last[axis]);
                    arc += dot(way, way).sqrt();
                }
                let (here, Load { pressure, friction, y_plus }) = (at(number), loaded.loads[*number]);
                let off = |axis: usize| here[axis] - middle[axis];
                let angle = off(across[1]).atan2(off(across[0])).to_degrees();
                let mut row = vec![arc * length];
                row.extend(here[..case.dim].iter().map(|at| at * length));
                row.extend([angle, pressure * stress]);
                if has_friction {
                    row.extend(friction[..case.dim].iter().map(|part| part * stress));
                    row.push(y_plus);
                }
                if has_coefficients {
                    row.push(pressure / dynamic);
                }
                if has_friction && has_coefficients {
                    row.push(dot(friction, along(normal, loaded.points[*number].normal)) / dynamic);
                }
                let row: Vec<String> = row.iter().map(|value| csv::number(*value)).collect();
                let part = loaded.entries.get(*number).and_then(|entry| case.solids[*entry].part.as_ref());
                let part = part.map_or(String::new(), |part| format!("{},", csv::name(&part.name)));
                writeln!(out, "{curve},{part}{}", row.join(","))?;
            }
        }
        Ok(())
    }
}

/// Unit tangent of a curve that has the solid on its left, in a plane normal to `axis`, where the surface has this
/// normal: the normal rotated counter-clockwise by 90 degrees.
pub(super) fn along(axis: usize, normal: [f64; 3]) -> [f64; 3] {
    let mut along = [0.0; 3];
    let (next, last) = ((axis + 1) % 3, (axis + 2) % 3);
    (along[next], along[last]) = (-normal[last], normal[next]);
    let norm = dot(along, along).sqrt().max(f64::MIN_POSITIVE);
    along.map(|part| part / norm)
}
