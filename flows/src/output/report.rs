//! Results that a case derives by formulas, computed when the run ends.

use std::collections::BTreeMap;

use lbm_runtime::solver::snapshot::Snapshot;

use super::average::Average;
use super::settling::Settling;
use super::summary::{Reported, Summary};
use super::surfaces::YPlus;
use crate::case::{Case, Coefficient, Dimension, OnSurface, Range, Source, Through, sources};

/// All derived results of a case, in order. `snapshot`: the final fields, if formulas need them.
pub(super) fn all(case: &Case, summary: &Summary, snapshot: Option<&Snapshot>) -> Vec<Reported> {
    let named: BTreeMap<String, Source> = sources(case).into_iter().collect();
    let mut found: Vec<Reported> = vec![];
    for report in &case.output.report {
        let before = |name: &str| found.iter().find(|before| before.name == name).and_then(|before| before.value);
        let value = |name: &str| match named.get(name) {
            Some(source) => value(case, summary, snapshot, source),
            None => before(name),
        };
        let value = report.formula.value(&value).filter(|value| value.is_finite());
        found.push(Reported { name: report.name.clone(), formula: report.text.clone(), value });
    }
    found
}

/// Value of a name in a formula, in the units of the case.
fn value(case: &Case, summary: &Summary, snapshot: Option<&Snapshot>, source: &Source) -> Option<f64> {
    let mean = |average: &Option<Average>| average.as_ref().map(|average| average.mean);
    match source {
        Source::Plane(number, through) => {
            let name = &case.output.fluxes[*number].name;
            let plane = summary.planes.iter().find(|plane| plane.name == *name)?;
            match through {
                Through::Area => Some(plane.area),
                Through::Volume => mean(&plane.volume),
                Through::Mass => mean(&plane.mass),
                Through::Carried(at) => mean(&plane.scalars.get(*at)?.carried),
                Through::Diffused(at) => mean(&plane.scalars.get(*at)?.diffused),
            }
        }
        Source::Force(number, coefficient) => {
            let force = summary.forces.get(*number)?;
            let of: &Option<Settling> = match coefficient {
                Coefficient::Drag => &force.drag,
                Coefficient::Lift => &force.lift,
                Coefficient::Y => &force.cy,
                Coefficient::Z => &force.cz,
            };
            of.as_ref().map(|of| of.mean)
        }
        Source::Heat(number, scalar) => mean(&summary.heat.get(number * case.scalars.len() + scalar)?.rate),
        Source::Nusselt(number) => mean(&summary.heat.get(number * case.scalars.len())?.nusselt),
        Source::YPlus(surface, range) => {
            let is_of = |found: &&YPlus| match surface {
                OnSurface::Solid(number) => found.solid == Some(*number),
                OnSurface::Face(face) => found.face.as_deref() == Some(face.name()),
            };
            let found = summary.y_plus.iter().find(is_of)?;
            Some(match range {
                Range::Least => found.least,
                Range::Mean => found.mean,
                Range::Greatest => found.greatest,
            })
        }
        Source::Probe(number, point, column) => {
            let probe = &case.output.probes[*number];
            let length = case.units.scale(Dimension::LENGTH);
            let place: Vec<f64> = probe.points[*point][..case.dim].iter().map(|at| at * length).collect();
            let is_it =
                |of: &&super::probes::ProbeMean| of.probe == probe.name && of.field == *column && of.point == place;
            summary.probes.iter().find(is_it).map(|found| found.average.mean)
        }
        Source::Mean(name, scale) => {
            let snapshot = snapshot?;
            let values = snapshot.get(name)?;
            let (sum, fluid, _) = over_fluid(snapshot, |at| values[at]);
            Some(scale * sum / fluid)
        }
        Source::Porosity => {
            let (_, fluid, all) = over_fluid(snapshot?, |_| 0.0);
            Some(fluid / all)
        }
        Source::Steps => Some(summary.steps as f64),
    }
}

/// The integral over the fluid, the volume of the fluid, and the volume of the domain.
fn over_fluid(snapshot: &Snapshot, value: impl Fn(usize) -> f64) -> (f64, f64, f64) {
    let (mut sum, mut fluid, mut all) = (0.0, 0.0, 0.0);
    let cells = snapshot.components.first().map_or(0, |component| component.data.len());
    for at in 0..cells {
        let volume = snapshot.volume(at / snapshot.block_cells());
        all += volume;
        if !snapshot.solid.get(at).is_some_and(|solid| *solid) {
            (sum, fluid) = (sum + volume * value(at), fluid + volume);
        }
    }
    (sum, fluid, all)
}
