//! What a case makes of the results of its run: named formulas of what the summary has.
//!
//! Formulas are of numbers in the units of the case. What the case knows, its viscosity, say, is put in when it is resolved; what a run finds is
//! a [`Source`].

use std::collections::BTreeSet;

use super::{Case, Quantity};

/// Most formulas of a case.
pub(super) const MOST_REPORTS: usize = 256;
/// Most points of a probe whose means have names.
const FEW: usize = 16;

/// A number that follows from the results.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// Its name.
    pub name: String,
    /// As the case has it.
    pub text: String,
    /// Of the names of [`Sources`], and of reports before it.
    pub formula: lbm_bundle::Formula,
}

/// What a run finds. Numbers are those in the case, from 0.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Of a plane of fluxes: its area, the mean of the volume or the mass per time.
    Plane(usize, Through),
    /// The mean of a coefficient of the force on a body, by its place among the bodies and parts.
    Force(usize, Coefficient),
    /// The mean of what a body gives of a scalar per time.
    Heat(usize, usize),
    /// The mean of the Nusselt number of a body.
    Nusselt(usize),
    /// The mean of a column of a probe at a point.
    Probe(usize, usize, String),
    /// The mean over the fluid of a component of the fields at the end, by its name, and a lattice unit of it in the units of the case.
    Mean(String, f64),
    /// The part of the domain that is fluid.
    Porosity,
    /// The last step.
    Steps,
}

/// What passes a plane.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Through {
    /// The area outside of solids.
    Area,
    /// Volume per time.
    Volume,
    /// Mass per time.
    Mass,
    /// What the flow carries of a scalar, by its number.
    Carried(usize),
    /// What diffuses of it.
    Diffused(usize),
}

/// A coefficient of a force.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coefficient {
    /// Along x.
    Drag,
    /// In two dimensions along y.
    Lift,
    /// In three dimensions along y.
    Y,
    /// Along z.
    Z,
}

/// Names with what they stand for.
pub type Sources = Vec<(String, Source)>;

/// A name as formulas have it: letters, digits and `_`.
fn plain(name: &str) -> String {
    name.chars().map(|letter| if letter.is_alphanumeric() { letter } else { '_' }).collect()
}

/// Whether reports of a case are made of the fields of all cells.
pub(super) fn reads_fields(case: &Case) -> bool {
    let named: BTreeSet<&str> = case.output.report.iter().flat_map(|report| report.formula.names()).collect();
    let of_fields = |source: &Source| matches!(source, Source::Mean(..) | Source::Porosity);
    sources(case).iter().any(|(name, source)| of_fields(source) && named.contains(&name[..]))
}

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
        let of = match body.part {
            Some(part) => format!("{}_{}", body.solid, plain(&part.name)),
            None => body.solid.to_string(),
        };
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
