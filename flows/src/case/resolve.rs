//! A case file meets its method: a file for each part of the case. Data flows from sizes and faces over the units to
//! rates and parameters; what is wrong is collected on the way.

mod domain;
mod faces;
mod fields;
mod fluid;
mod fluxes;
mod free;
mod gradient;
mod layer;
mod motion;
mod output;
mod pictures;
mod probes;
mod recordings;
mod refinement;
mod report;
mod resolver;
mod results;
mod shapes;
mod solids;
mod start;
mod statistics;
mod thickness;
mod turbulence;
mod values;

use std::sync::Arc;

use lbm_bundle::Manifest;
use lbm_runtime::device::Available;

use super::devices::Devices;
use super::diag::{self, CaseError, Diagnostic, Report};
use super::heat::Scalar;
use super::mixing::Mixing;
use super::output::Output;
use super::raw::RawCase;
use super::resolved::Case;
use super::results::Results;
use super::stop::Stop;
use super::units::Dimension;
use resolver::{Grid, Resolver, Speed};

impl RawCase {
    /// The case for the method that the manifest describes, and advice. `others` are boundary rules that the manifest does
    /// not list but would if the case had named them; they are suggested where a name is unknown. A grid that needs more
    /// memory than is available is refused before anything looks at its cells.
    pub fn resolve(
        &self,
        manifest: &Manifest,
        others: &[String],
        available: Available,
    ) -> Result<(Case, Vec<Diagnostic>), CaseError> {
        let dim = manifest.dim as usize;
        let mut resolver =
            Resolver { raw: self, manifest, others, available, dim, own: vec![], report: Report::default() };
        resolver.own = resolver.own_fields();
        let case = resolver.case();
        let (case, warnings) = resolver.report.finish(&self.name, case)?;
        Ok((case, self.warnings.iter().cloned().chain(warnings).collect()))
    }
}

impl<'a> Resolver<'a> {
    fn case(&mut self) -> Option<Case> {
        let raw = self.raw;
        self.block();
        let domain = self.domain();
        let faces = self.faces();
        let grid = domain?;
        let Grid { size, cell } = grid;
        let start = self.start(grid);
        let speeds = self.speeds(&faces, start.as_ref().map_or(0.0, |(_, fastest)| *fastest), grid);
        let reference = match &raw.fluid.velocity {
            Some(given) => Some(Speed { value: given.value, span: given.span.clone() }),
            None => fluid::fastest(&speeds),
        };
        let units = self.units(cell, reference.as_ref());
        let (periodic, walls) = self.walls(&faces, units.as_ref(), grid);
        let units = units?;

        let velocity = reference.as_ref().map_or(0.0, |speed| speed.value) / units.scale(Dimension::VELOCITY);
        let length = match &raw.fluid.length {
            Some(given) => given.value / units.scale(Dimension::LENGTH),
            None => size[0] as f64,
        };
        let (params, courses, scales) = self.params(&units, velocity, length, grid);
        let solids = self.solids(grid, &units, (length, scales.viscosity), &walls);
        let refinement = self.refinement(grid, params.as_ref(), &scales, &units, &walls);
        self.mach(&speeds, reference, &units);
        let start = self.start_in_lattice(start.map(|(start, _)| start), &units);
        if courses.is_empty() && raw.varied.is_empty() {
            self.drive(&walls, solids.as_deref(), start.as_ref(), params.as_ref());
        }
        self.density_of_walls(&walls, solids.as_deref(), start.as_ref(), size);
        self.outlet(&walls, solids.as_deref(), size);
        self.nodes_of_levels(&faces, refinement.as_ref(), size);
        let stop = Stop::new(&raw.stop, &units);
        self.devices(size, refinement.is_some());
        let solids = solids?;
        let probes = self.probes(size, periodic, &units, &solids, stop);
        let statistics = self.statistics(&units, stop);
        let gradient = self.gradient(grid, stop, &units, &solids);
        let finest = refinement.as_ref().map_or(0, |refinement| refinement.finest);
        let fluxes = self.fluxes(size, &units, finest, stop);
        let recordings = self.recordings(size, &units, finest, stop);
        let (pictures, views) = self.pictures(size, &units, statistics.as_deref())?;
        let places = self.places(grid, &Arc::new(Mixing::new(&solids, size, periodic)));
        let start = start?.with_places(&places);
        let has_walls = walls.iter().any(|wall| wall.has_friction(size));
        let mut case = Case {
            name: raw.title().to_string(),
            spec: self.manifest.spec.clone(),
            target: raw.target(),
            devices: raw.top.devices.as_ref().map_or(Devices::Count(1), |devices| devices.value.clone()),
            buffers: raw.buffers(),
            real: raw.real(),
            dim: self.dim,
            size,
            block: self.manifest.block,
            periodic,
            walls,
            params: params?,
            defaults: self.defaults(),
            courses,
            scalars: Scalar::all(self.manifest),
            means: self.means(&units),
            places,
            start,
            solids,
            refinement,
            stop,
            gradient: gradient?,
            output: Output {
                probes: probes?,
                statistics: statistics?,
                fluxes: fluxes?,
                recordings: recordings?,
                pictures,
                views,
                ..self.output(size, &units, &scales, stop, has_walls)
            },
            units,
            results: Results::default(),
            scales,
            keys: raw.keys.clone(),
        };
        case.output.report = self.reports(&case)?;
        case.results = self.results(&case);
        Some(case)
    }

    /// Refuses several devices where the flow cannot be divided among them.
    fn devices(&mut self, size: [usize; 3], is_refined: bool) {
        let Some(devices) = &self.raw.top.devices else { return };
        let count = devices.value.count();
        if count < 2 {
            return;
        }
        let blocks: usize = (0..3).map(|axis| size[axis].div_ceil(self.manifest.block[axis] as usize)).product();
        if !is_refined && count > blocks {
            let message = format!("{count} parts need as many blocks, and the grid has {blocks}");
            let help = Some("take fewer devices, or smaller blocks: `block`".to_string());
            self.report.add::<()>(diag::NO_DEVICES, &devices.span, message, "too many", help);
        }
    }
}
