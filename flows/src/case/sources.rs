//! What formulas of `[report]` may name of the results of a case.

use std::collections::BTreeSet;

use lbm_bundle::Manifest;

use super::quantity::Quantity;
use super::report::{Coefficient, OnSurface, Range, Source, Through};
use super::resolved::Case;
use super::words::plain;

/// Most points of a probe whose means have names.
const FEW: usize = 16;

/// Names with what they stand for.
pub type Sources = Vec<(String, Source)>;

/// What formulas of a case may name of its results.
pub fn sources(case: &Case) -> Sources {
    let output = &case.output;
    let mut all: Sources = vec![("steps".into(), Source::Steps), ("porosity".into(), Source::Porosity)];
    all.extend(case.means.iter().map(|(name, scale)| (format!("mean_{name}"), Source::Mean(name.clone(), *scale))));
    for (number, plane) in output.fluxes.iter().enumerate() {
        let mut add =
            |what: &str, of: Through| all.push((format!("{}_{what}", plain(&plane.name)), Source::Plane(number, of)));
        add("area", Through::Area);
        add("volume", Through::Volume);
        add("mass", Through::Mass);
        for (at, (name, _)) in plane.scalars.iter().enumerate() {
            add(name, Through::Carried(at));
            if plane.diffusing.iter().any(|scalar| case.scalars[*scalar].name == *name) {
                add(&format!("{name}_diffused"), Through::Diffused(at));
            }
        }
    }
    for (number, body) in case.bodies_and_parts().enumerate() {
        let of = body.word();
        if output.forces.is_some() && case.scales.velocity > 0.0 {
            let across: &[_] = match case.dim {
                2 => &[("lift", Coefficient::Lift)],
                _ => &[("cy", Coefficient::Y), ("cz", Coefficient::Z)],
            };
            let along = [("drag", Coefficient::Drag)];
            let names = along.iter().chain(across);
            all.extend(names.map(|(name, of_force)| (format!("{name}_{of}"), Source::Force(number, *of_force))));
        }
        if output.heat.is_some() {
            let scalars = case.scalars.iter().enumerate();
            all.extend(scalars.map(|(at, scalar)| (format!("{}_{of}", scalar.name), Source::Heat(number, at))));
            if case.solids[body.entries.start].nusselt.is_some() {
                all.push((format!("nusselt_{of}"), Source::Nusselt(number)));
            }
        }
    }
    if output.surfaces.is_some() {
        let solids = case.bodies().map(|body| (body.solid.to_string(), OnSurface::Solid(body.solid)));
        let walls = case.walls.iter().filter(|wall| wall.has_friction(case.size));
        let faces = walls.map(|wall| (wall.face.name().to_string(), OnSurface::Face(wall.face)));
        for (name, surface) in solids.chain(faces) {
            let ranges = [("least", Range::Least), ("mean", Range::Mean), ("greatest", Range::Greatest)];
            all.extend(ranges.map(|(what, range)| (format!("y_plus_{what}_{name}"), Source::YPlus(surface, range))));
        }
    }
    for (number, probe) in
        output.probes.iter().enumerate().filter(|(_, probe)| probe.grid.is_none() && probe.points.len() <= FEW)
    {
        for point in 0..probe.points.len() {
            let at = if probe.points.len() == 1 { String::new() } else { format!("{}_", point + 1) };
            let columns = probe.fields.iter().flat_map(Quantity::columns);
            all.extend(
                columns.map(|column| {
                    (format!("{}_{at}{column}", plain(&probe.name)), Source::Probe(number, point, column))
                }),
            );
        }
    }
    all
}

/// Whether reports of a case are made of the fields of all cells.
fn reads_fields(case: &Case) -> bool {
    let named: BTreeSet<&str> = case.output.report.iter().flat_map(|report| report.formula.names()).collect();
    let of_fields = |source: &Source| matches!(source, Source::Mean(..) | Source::Porosity);
    sources(case).iter().any(|(name, source)| of_fields(source) && named.contains(&name[..]))
}

impl Case {
    /// Whether the summary needs the fields of all cells at the end, by a method with this manifest: for fluxes through open faces, means
    /// over the fluid.
    pub fn sums_up_fields(&self, manifest: &Manifest) -> bool {
        let observes = manifest.fields.iter().any(|field| field.observed);
        observes || reads_fields(self) || self.walls.iter().any(|wall| wall.may_be_open(self.size))
    }
}
