//! What a run leaves behind: fields for ParaView, profiles, pictures, a summary, and a line that says how it goes.
//!
//! In: a case and snapshots. After: every file in the folder is whole, tables as far as the run has come; the summary
//! names them. A folder has the results of one
//! run: `case.toml` and what it reads, from which they can be made again, and a summary if the run has ended, well or not.
//!
//! | module | writes |
//! | --- | --- |
//! | `lock` | nothing: one run at a time in a folder |
//! | `owned` | `.lbmc.files`: which files of a folder runs have written |
//! | [`sink`] | nothing of its own: the folder, without what earlier runs have left, and files that appear only when they are whole |
//! | [`vtk`] | `fields_*.vti` and `fields.pvd`; refined, `fields_*.vtkhdf` and `fields.vtkhdf.series`, or `fields_*.vtu` |
//! | [`profile`] | `profile_x.csv`, ... and how far they are from published ones |
//! | [`picture`] | pictures of fields by name, also on the way; `velocity.png`: speed and streamlines; `vorticity.png`; `phi.png` and the like |
//! | `surfaces` | `surface_*.vtp`, `surface_*.csv`, `section_*.csv`: pressure and friction on solids |
//! | `film` | films of pictures or views: `NAME.gif` |
//! | `views` | views of surfaces in three dimensions: `march`, `isosurface` and `hull` make triangles, `raster` draws them |
//! | [`plot`] | `profiles.png`: profiles and published points |
//! | [`series`] | `series.csv`, `series.png`: energy, dissipation and the like over time, and how far from published ones |
//! | [`forces`] | `forces.csv`, `forces.png`: forces on solids over time, and what they are like in the end |
//! | [`heat`] | `heat.csv`: what solids give of a temperature or another scalar to the fluid over time |
//! | [`probes`] | `probe_*.csv`: fields at points over time; `probe_*.vti` on grids of points |
//! | [`derived`] | nothing: fields by name on all cells |
//! | [`flux`] | nothing of its own: what flows through open faces |
//! | [`mass`] | nothing: whether mass changes where nothing is open |
//! | [`flux_planes`] | `fluxes.csv`: what flows through planes over time |
//! | [`average`] | nothing: means in time, and how uncertain they are |
//! | [`report`] | nothing: what a case makes of its results |
//! | [`chart`], [`bars`] | nothing of their own: lines and points; bars |
//! | `tables`, `csv` | nothing of their own: rows of tables as they come; what their cells have |
//! | `recorded` | nothing: what has been written so far, for a run that goes on |
//! | [`summary`], `units` | `summary.json`, and what its numbers are measured in |
//! | [`progress`] | the terminal |

pub mod average;
mod axes;
pub mod bars;
mod canvas;
pub mod chart;
mod colours;
mod contours;
mod csv;
pub mod derived;
#[cfg(test)]
mod example;
mod film;
pub mod flux;
pub mod flux_planes;
pub mod forces;
mod heading;
pub mod heat;
mod hull;
mod isosurface;
mod lock;
mod march;
pub mod mass;
mod owned;
pub mod picture;
mod plane;
pub mod plot;
pub mod probes;
pub mod profile;
pub mod progress;
mod raster;
mod recorded;
pub mod report;
mod scale;
pub mod series;
pub mod sink;
mod streamlines;
pub mod summary;
mod surfaces;
mod tables;
mod units;
mod views;
pub mod vtk;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use lbm_bundle::Manifest;
use serde::Serialize;

pub use recorded::{Bits, Recorded};

use lbm_runtime::solver::observe::Means;
use lbm_runtime::solver::probe::Reading;
use lbm_runtime::solver::snapshot::Snapshot;

use crate::case::{Case, Dimension, Frames, InputFile, Probe, Quantity, Reference, Vtk};
pub use canvas::Canvas;
use flux::Fluxes;
use flux_planes::Fluxed;
use forces::Forces;
use heat::Heat;
use probes::Probed;
use profile::Profile;
use series::Series;
use sink::{OutputError, Place, RESTART, SUMMARY, Sink};
use summary::{About, Accumulated, Failed, Failure, Measured, Observed, Status, Summary};
use surfaces::Bodies;
use tables::Tables;

/// Writes what a case asks for.
#[derive(Debug)]
pub struct Recorder<'a> {
    case: &'a Case,
    about: About,
    sink: Sink,
    /// The last step that it was told of.
    reached: u64,
    /// Steps and names of the VTK files so far.
    frames: Vec<(u64, String)>,
    series: Series,
    forces: Forces,
    heat: Heat,
    /// What the probes of the case have recorded, in their order.
    probes: Vec<Probed>,
    /// What the user should know.
    notices: Vec<String>,
    /// What has flowed through the planes of the case, in their order.
    fluxes: Vec<Fluxed>,
    /// The statistics that have been written.
    statistics: Vec<Accumulated>,
    /// Tables that grow.
    tables: Tables,
}

/// Name of the fields of a step.
fn frame_name(step: u64, format: Vtk) -> String {
    format!("fields_{step:08}.{}", format.ending())
}

/// Writes fields for ParaView.
fn write_vtk(
    out: &mut dyn Write,
    format: Vtk,
    snapshot: &Snapshot,
    fields: Option<&[Quantity]>,
    case: &Case,
) -> io::Result<()> {
    match format {
        Vtk::Image => vtk::write_image(out, snapshot, fields, &case.units, case.real),
        Vtk::Amr => vtk::write_amr(out, snapshot, fields, &case.units, case.real),
        Vtk::Unstructured => vtk::write_unstructured(out, snapshot, fields, &case.units, case.real),
    }
}

impl<'a> Recorder<'a> {
    /// Makes sure, before anything runs, that the folder takes files. It is as it was.
    pub fn create(case: &'a Case, about: About, folder: Place<'_>) -> Result<Recorder<'a>, OutputError> {
        Ok(Recorder {
            case,
            about,
            sink: Sink::create(folder)?,
            reached: 0,
            frames: vec![],
            series: Series::default(),
            forces: Forces::default(),
            heat: Heat::default(),
            probes: vec![Probed::default(); case.output.probes.len()],
            notices: vec![],
            fluxes: vec![Fluxed::default(); case.output.fluxes.len()],
            statistics: vec![],
            tables: Tables::default(),
        })
    }

    /// Begins a run: takes the results of earlier ones away, and writes what this one is made from.
    pub fn begin(&mut self, inputs: &[InputFile]) -> Result<(), OutputError> {
        self.sink.begin(inputs, &self.case.results, &[])
    }

    /// Begins the next part of a run that goes on from `file`, with what the parts before have written. What is not in the folder
    /// of that file is not there.
    pub fn resume(&mut self, inputs: &[InputFile], file: &Path, recorded: &Recorded) -> Result<(), OutputError> {
        let real = |path: &Path| path.canonicalize().ok();
        let name = file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let is_here = real(file).is_some_and(|file| real(&self.sink.folder().join(&name)) == Some(file));
        // Tables may have rows of steps that the restart file does not know, and are written again.
        let stays = recorded.files.iter().filter(|name| !tables::is_table(name)).cloned();
        let stay = if is_here { stays.chain([name]).collect() } else { vec![] };
        self.sink.begin(inputs, &self.case.results, &stay)?;
        self.frames = recorded.frames.iter().filter(|(_, name)| self.sink.has(name)).cloned().collect();
        self.series = Series::of_saved(&recorded.series);
        self.forces = Forces::of_saved(&recorded.forces);
        self.heat = Heat::of_saved(&recorded.heat);
        let probes = self.case.output.probes.iter();
        self.probes = probes.map(|probe| Probed::of_saved(probe, &recorded.probes)).collect();
        let planes = self.case.output.fluxes.iter();
        self.fluxes = planes.map(|plane| Fluxed::of_saved(plane, &recorded.fluxes)).collect();
        if self.case.output.series.is_some() {
            self.series_table()?;
        }
        self.tables()?;
        self.sink.list(&recorded.files);
        Ok(())
    }

    /// Notes that a step was reached.
    pub fn reach(&mut self, step: u64) {
        self.reached = step;
    }

    /// What has been written so far.
    pub fn recorded(&self) -> Recorded {
        Recorded {
            files: self.sink.files().to_vec(),
            frames: self.frames.clone(),
            series: self.series.saved(),
            forces: self.forces.saved(),
            heat: self.heat.saved(),
            probes: self
                .case
                .output
                .probes
                .iter()
                .zip(&self.probes)
                .filter(|(probe, _)| probe.grid.is_none())
                .map(|(probe, of)| of.saved(probe))
                .collect(),
            fluxes: self.case.output.fluxes.iter().zip(&self.fluxes).map(|(plane, of)| of.saved(plane)).collect(),
        }
    }

    /// Writes the restart file in the place of the last one.
    pub fn restart(&mut self, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        self.sink.put(RESTART, content)
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        self.sink.folder()
    }

    /// Records the force on each entry of the case's solids, in lattice units.
    pub fn forces(&mut self, step: u64, forces: Vec<[f64; 3]>) -> Result<(), OutputError> {
        self.forces.add(step, forces);
        self.forces_table()
    }

    /// Records what each entry of the case's solids gives of each scalar in a step, in lattice units.
    pub fn heat(&mut self, step: u64, values: Vec<f64>) -> Result<(), OutputError> {
        self.heat.add(step, values);
        self.heat_table()
    }

    /// Records what a probe of the case, by its number, has read.
    pub fn probe(&mut self, number: usize, step: u64, readings: &[Reading]) -> Result<(), OutputError> {
        let probe = &self.case.output.probes[number];
        if let Some(grid) = probe.grid {
            return self.probe_frame(probe, grid, step, readings);
        }
        self.probes[number].add(probe, step, readings);
        self.probe_table(number)
    }

    /// Writes what a probe on a grid has read.
    fn probe_frame(
        &mut self,
        probe: &Probe,
        grid: [usize; 3],
        step: u64,
        readings: &[Reading],
    ) -> Result<(), OutputError> {
        let (case, name) = (self.case, probes::frame_name(probe, step));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        if self.sink.files().contains(&name) {
            return Ok(());
        }
        let columns = probes::columns(case, probe, readings);
        let ends = [probe.points.first(), probe.points.last()];
        let ends = ends.map(|end| end.copied().unwrap_or_default());
        self.sink.write(&name, |out| vtk::write_points(out, (grid, ends), time(step), &columns, case))?;
        let files = self.sink.files().iter();
        let mut frames: Vec<(u64, &str)> =
            files.filter_map(|name| Some((probes::step_of_frame(probe, name)?, &name[..]))).collect();
        frames.sort_unstable();
        let frames: Vec<(f64, String)> =
            frames.into_iter().map(|(step, name)| (time(step), name.to_string())).collect();
        let frames: Vec<(f64, &str)> = frames.iter().map(|(time, name)| (*time, &name[..])).collect();
        self.sink.write(&format!("probe_{}.pvd", probe.name), |out| vtk::write_series(out, &frames))
    }

    /// Records what was read at the points of a plane of the case, by its number.
    pub fn flux(&mut self, number: usize, step: u64, readings: &[Reading]) -> Result<(), OutputError> {
        self.fluxes[number].add(self.case, &self.case.output.fluxes[number], step, readings);
        self.fluxes_table()
    }

    /// Records a row of the series.
    pub fn row(&mut self, step: u64, means: &Means) -> Result<(), OutputError> {
        self.series.add(self.case, step, means);
        self.series_table()
    }

    /// Writes the fields of a snapshot that is not finite, if there is one, those of the last one that was, the series until then, and the pictures.
    pub fn broken(
        &mut self,
        snapshot: Option<&Snapshot>,
        good: Option<&Snapshot>,
        manifest: &Manifest,
    ) -> Result<(), OutputError> {
        if self.case.output.series.is_some() {
            self.series()?;
        }
        self.tables()?;
        self.draw_forces()?;
        // Frames are in the order of time, and those on the way may be later than the one that was kept.
        let later = |good: &&Snapshot| self.frames.last().is_none_or(|(step, _)| *step < good.step);
        if let Some(good) = good.filter(later) {
            self.fields(good)?;
        }
        let Some(snapshot) = snapshot else { return Ok(()) };
        self.fields(snapshot)?;
        self.pictures_at_end(snapshot, manifest)
    }

    /// Writes everything that belongs to the end, the summary last. `snapshot` is needed where [`Case::ends_with_fields`].
    pub fn finish(
        &mut self,
        snapshot: Option<&Snapshot>,
        manifest: &Manifest,
        measured: &Measured,
    ) -> Result<Summary, OutputError> {
        let (case, output) = (self.case, &self.case.output);
        let mut summary = Summary::new(self.about.clone(), manifest, measured);
        if let Some(snapshot) = snapshot.filter(|_| output.vtk.is_some()) {
            self.fields(snapshot)?;
        }
        if let Some(snapshot) = snapshot.filter(|_| output.profiles) {
            let profiles: Vec<Profile> = (0..case.dim).filter_map(|axis| Profile::new(case, snapshot, axis)).collect();
            for profile in &profiles {
                let name = format!("profile_{}.csv", ["x", "y", "z"][profile.axis]);
                self.sink.write(&name, |out| profile.write(case, snapshot.step, out))?;
            }
            if let Some(reference) = &output.compare {
                summary.compared = profile::compare(&profiles, reference);
            }
            let image = plot::draw(case, &profiles).png();
            self.sink.write("profiles.png", |out| out.write_all(&image))?;
        }
        if output.series.is_some() {
            self.series()?;
            if let Some(Reference::Series { title, moments }) = &output.compare {
                summary.decay = self.series.compare(title, moments);
            }
        }
        self.tables()?;
        self.draw_forces()?;
        if output.forces.is_some() {
            summary.forces = self.forces.settled(case);
        }
        summary.heat = self.heat.means(case);
        if let Some(from) = output.average_from.filter(|from| *from > measured.steps) {
            self.notices.push(format!(
                "there are no means of forces, heat, probes and fluxes: they begin at step {from} (`output.average_from`), and the run has ended at \
                 step {}",
                measured.steps
            ));
        }
        let planes = output.fluxes.iter().zip(&self.fluxes);
        summary.planes = planes.filter_map(|(plane, fluxed)| fluxed.mean(case, plane)).collect();
        let probes = output.probes.iter().zip(&self.probes);
        summary.probes = probes.flat_map(|(probe, probed)| probed.means(case, probe)).collect();
        summary.statistics = std::mem::take(&mut self.statistics);
        summary.fluxes = snapshot.and_then(|snapshot| Fluxes::new(case, snapshot));
        summary.observed = snapshot.map_or(vec![], |snapshot| Observed::all(manifest, snapshot));
        summary.report = report::all(case, &summary, snapshot);
        if let Some(snapshot) = snapshot {
            self.surfaces(snapshot)?;
            self.pictures_at_end(snapshot, manifest)?;
        }
        self.films()?;
        (summary.inputs, summary.files) = (self.sink.inputs().to_vec(), self.sink.files().to_vec());
        summary.units = units::of(case, &summary);
        self.write_summary(&summary)?;
        Ok(summary)
    }

    /// Draws those pictures and views of the case that are due at a step on the way, and writes what is due on solids.
    pub fn pictures_on_the_way(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        if self.case.output.wants_surfaces(snapshot.step) {
            self.surfaces(snapshot)?;
        }
        self.pictures(snapshot, |frames| frames.wants(snapshot.step))
    }

    /// Draws what a case shows of its last step.
    fn pictures_at_end(&mut self, snapshot: &Snapshot, manifest: &Manifest) -> Result<(), OutputError> {
        let case = self.case;
        if case.output.picture {
            let mut pictures = vec![
                ("velocity".to_string(), picture::draw_velocity(case, snapshot)),
                ("vorticity".to_string(), picture::draw_vorticity(case, snapshot)),
            ];
            // The density says little that the velocity does not; any other scalar is there to be seen.
            let scalars =
                (manifest.fields.iter()).filter(|field| field.components == 1 && field.name != "rho" && field.is_own());
            pictures
                .extend(scalars.map(|field| (field.name.clone(), picture::draw_scalar(case, snapshot, &field.name))));
            for (name, picture) in pictures {
                let Some(picture) = picture else { continue };
                let image = picture.png();
                self.sink.write(&format!("{name}.png"), |out| out.write_all(&image))?;
            }
        }
        self.pictures(snapshot, |_| true)
    }

    fn pictures(&mut self, snapshot: &Snapshot, wanted: impl Fn(&Frames) -> bool) -> Result<(), OutputError> {
        let case = self.case;
        let output = &case.output;
        let of_flow = output.pictures.iter().filter(|picture| picture.statistics.is_none());
        for picture in of_flow.filter(|picture| wanted(&picture.frames)) {
            self.draw(&picture.frames, snapshot.step, picture::draw(case, snapshot, picture))?;
        }
        for view in output.views.iter().filter(|view| wanted(&view.frames)) {
            self.draw(&view.frames, snapshot.step, views::draw(case, snapshot, view))?;
        }
        Ok(())
    }

    /// Writes pressure and friction on solids, if they are wanted.
    fn surfaces(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let case = self.case;
        let Some(surfaces) = &case.output.surfaces else { return Ok(()) };
        let bodies = Bodies::new(case, snapshot, surfaces);
        for body in case.bodies() {
            let loaded = bodies.surface(&body);
            self.sink.write(&bodies.file_name(&body), |out| bodies.write(&body, &loaded, out))?;
            for (number, plane) in surfaces.sections.iter().enumerate() {
                let name = bodies.section_name(&body, number);
                self.sink.write(&name, |out| bodies.write_section(&body, &loaded, plane, out))?;
            }
        }
        Ok(())
    }

    /// Writes statistics of the case, by their number, and draws their pictures: from what was accumulated in so many samples, the first and
    /// the last of these steps.
    pub fn statistics(
        &mut self,
        number: usize,
        accumulated: Snapshot,
        samples: u64,
        [from_step, to_step]: [u64; 2],
    ) -> Result<(), OutputError> {
        let (case, of) = (self.case, &self.case.output.statistics[number]);
        let (results, snapshot) = (of.results(), of.evaluate(accumulated, samples));
        let format = case.output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim));
        let name = of.file_name(format);
        self.sink.write(&name, |out| write_vtk(out, format, &snapshot, Some(&results), case))?;
        for picture in case.output.pictures.iter().filter(|picture| picture.statistics == Some(number)) {
            self.draw(&picture.frames, snapshot.step, picture::draw(case, &snapshot, picture))?;
        }
        self.statistics.push(Accumulated { name: of.name.clone(), from_step, to_step, samples });
        Ok(())
    }

    /// Notes that there are no samples of statistics of the case, by their number, in a run that has ended at a step.
    pub fn lacks_samples(&mut self, number: usize, step: u64) {
        let of = &self.case.output.statistics[number];
        let drawn = self.case.output.pictures.iter().filter(|picture| picture.statistics == Some(number));
        let pictures: String = drawn.map(|picture| format!(", no picture `{}`", picture.frames.name)).collect();
        self.notices.push(format!(
            "there is no file of the statistics `{}`{pictures}: their first sample is of step {}, and the run has ended at step {step}; begin \
             earlier (`statistics.from`), or let it go on longer (`stop`)",
            of.name, of.from
        ));
    }

    /// Writes the films of the pictures that there are.
    fn films(&mut self) -> Result<(), OutputError> {
        let frames: Vec<&Frames> = self.case.output.frames().collect();
        let films = frames.into_iter().filter_map(|frames| Some((frames, frames.every?, frames.film?)));
        for (frames, every, rate) in films {
            let files = self.sink.files().iter();
            let mut there: Vec<(u64, &String)> = files.filter_map(|name| Some((frames.step(name)?, name))).collect();
            there.sort();
            let is_there = |step: u64| there.binary_search_by_key(&step, |(step, _)| *step).is_ok();
            let mut missing = (1..=self.reached / every).filter(|at| !is_there(at * every)).count();
            let paths: Vec<PathBuf> = there.iter().map(|(_, name)| self.folder().join(name)).collect();
            if !paths.is_empty() {
                self.sink.write(&frames.film_name(), |out| {
                    missing += film::write(out, &paths, rate)?;
                    Ok(())
                })?;
            }
            if missing > 0 {
                let text = "are not in the folder, or of another size than the last, and so not in the film";
                self.notices.push(format!("{missing} pictures of `{}` {text}", frames.name));
            }
        }
        Ok(())
    }

    /// What the user should know of what was written.
    pub fn notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    fn draw(&mut self, frames: &Frames, step: u64, canvas: Option<Canvas>) -> Result<(), OutputError> {
        let Some(canvas) = canvas else { return Ok(()) };
        let image = canvas.png();
        self.sink.write(&frames.file_name(step), |out| out.write_all(&image))
    }

    /// Writes the films of what was drawn, and the summary of a run that failed.
    pub fn fail(&mut self, error: &dyn miette::Diagnostic) -> Result<(), OutputError> {
        let films = self.films();
        let text = |part: Option<Box<dyn std::fmt::Display + '_>>| part.map(|part| part.to_string());
        self.write_summary(&Failed {
            about: self.about.clone(),
            status: Status::Failed,
            error: Failure { code: text(error.code()), message: error.to_string(), help: text(error.help()) },
            steps: self.reached,
            inputs: self.sink.inputs().to_vec(),
            files: self.sink.files().to_vec(),
        })?;
        films
    }

    fn write_summary(&mut self, summary: &impl Serialize) -> Result<(), OutputError> {
        self.sink.put(SUMMARY, |out| {
            serde_json::to_writer_pretty(&mut *out, summary)?;
            writeln!(out)
        })
    }

    /// Records the fields of a step.
    pub fn fields(&mut self, snapshot: &Snapshot) -> Result<(), OutputError> {
        let case = self.case;
        // Fields that are not finite are written even where none are asked for.
        let format = case.output.vtk.unwrap_or_else(|| Vtk::default_for(case.refinement.is_some(), case.dim));
        let name = frame_name(snapshot.step, format);
        if self.frames.last().is_some_and(|(_, last)| *last == name) {
            return Ok(());
        }
        let fields = case.output.fields.as_deref();
        self.sink.write(&name, |out| write_vtk(out, format, snapshot, fields, case))?;
        self.frames.push((snapshot.step, name));
        let time = |step: u64| step as f64 * case.units.scale(Dimension::TIME);
        let frames: Vec<(f64, &str)> = self.frames.iter().map(|(step, name)| (time(*step), &name[..])).collect();
        match format {
            Vtk::Amr => self.sink.write("fields.vtkhdf.series", |out| vtk::write_file_series(out, &frames)),
            _ => self.sink.write("fields.pvd", |out| vtk::write_series(out, &frames)),
        }
    }

    /// Brings the tables that grow up to their last rows.
    fn tables(&mut self) -> Result<(), OutputError> {
        let case = self.case;
        if case.output.forces.is_some() {
            self.forces_table()?;
        }
        if case.output.heat.is_some() {
            self.heat_table()?;
        }
        let mut tables = (0..case.output.probes.len()).filter(|number| case.output.probes[*number].grid.is_none());
        tables.try_for_each(|number| self.probe_table(number))?;
        if !case.output.fluxes.is_empty() {
            self.fluxes_table()?;
        }
        Ok(())
    }

    /// Without the last row, which has another dissipation when the next one is known.
    fn series_table(&mut self) -> Result<(), OutputError> {
        let (case, series) = (self.case, &self.series);
        match series.settled() {
            0 => Ok(()),
            rows => {
                self.tables.grow(&mut self.sink, "series.csv", rows, |from, out| series.write(case, from..rows, out))
            }
        }
    }

    fn forces_table(&mut self) -> Result<(), OutputError> {
        let (case, forces) = (self.case, &self.forces);
        self.tables.grow(&mut self.sink, "forces.csv", forces.len(), |from, out| forces.write(case, from, out))
    }

    fn heat_table(&mut self) -> Result<(), OutputError> {
        let (case, heat) = (self.case, &self.heat);
        self.tables.grow(&mut self.sink, "heat.csv", heat.len(), |from, out| heat.write(case, from, out))
    }

    fn probe_table(&mut self, number: usize) -> Result<(), OutputError> {
        let (case, probe, probed) = (self.case, &self.case.output.probes[number], &self.probes[number]);
        let name = probes::file_name(probe);
        self.tables.grow(&mut self.sink, &name, probed.len(), |from, out| probed.write(case, probe, from, out))
    }

    fn fluxes_table(&mut self) -> Result<(), OutputError> {
        let (case, all) = (self.case, &self.fluxes);
        self.tables.grow(&mut self.sink, "fluxes.csv", flux_planes::rows(all), |from, out| {
            flux_planes::write(case, all, from, out)
        })
    }

    /// Draws the coefficients of forces over time.
    fn draw_forces(&mut self) -> Result<(), OutputError> {
        if self.case.output.forces.is_none() {
            return Ok(());
        }
        let image = self.forces.draw(self.case).png();
        self.sink.write("forces.png", |out| out.write_all(&image))
    }

    fn series(&mut self) -> Result<(), OutputError> {
        let (case, series) = (self.case, &self.series);
        self.sink.write("series.csv", |out| series.write(case, 0..series.len(), out))?;
        let published = match &case.output.compare {
            Some(Reference::Series { title, moments }) => Some((*title, &moments[..])),
            _ => None,
        };
        let image = series.draw(case, published).png();
        self.sink.write("series.png", |out| out.write_all(&image))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use summary::StopReason;

    #[test]
    fn a_picture_at_the_end_makes_no_film() {
        let (mut case, snapshot) = example::cavity(16);
        let all = Quantity::all(&lbm_runtime::fixture::manifest());
        let field = all.into_iter().find(|field| field.name() == "speed").unwrap();
        let frames = Frames { name: "speed".into(), every: None, film: Some(20) };
        case.output.pictures = vec![crate::case::Picture::of(field, frames)];
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, example::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        recorder.reach(10);
        recorder.pictures(&snapshot, |_| true).unwrap();
        recorder.films().unwrap();
        assert_eq!(recorder.sink.files(), ["speed.png"]);
        assert!(recorder.notices().is_empty());
    }

    #[test]
    fn a_run_leaves_what_the_case_asks_for() {
        let (mut case, mut snapshot) = example::cavity(32);
        case.output.every = Some(5);
        case.output.series = Some(10);
        let folder = tempfile::tempdir().unwrap();
        let mut recorder = Recorder::create(&case, example::about(&case), folder.path().into()).unwrap();
        recorder.begin(&[]).unwrap();
        snapshot.step = 5;
        recorder.fields(&snapshot).unwrap();
        snapshot.step = 10;
        recorder.fields(&snapshot).unwrap();
        recorder.row(10, &example::means()).unwrap();
        let measured = Measured {
            levels: vec![1024],
            updates: 1024,
            adaptations: None,
            phases: Default::default(),
            steps: 10,
            seconds: 0.5,
            seconds_waiting_for_output: 0.0,
            first_step: 0.1,
            memory: example::memory(),
            memory_bandwidth: None,
            mass_start: 1024.0,
            mass_end: 1024.0,
            is_closed: true,
            scalars: vec![],
            residual: None,
            stop: StopReason::Steps,
        };
        let summary = recorder.finish(Some(&snapshot), &example::manifest(), &measured).unwrap();
        let expected = [
            "fields_00000005.vti",
            "fields.pvd",
            "fields_00000010.vti",
            "profile_x.csv",
            "profile_y.csv",
            "profiles.png",
            "series.csv",
            "series.png",
            "velocity.png",
            "vorticity.png",
        ];
        assert_eq!(summary.files, expected);
        assert_eq!(summary.compared.len(), 2);
        let text = std::fs::read_to_string(folder.path().join("summary.json")).unwrap();
        assert_eq!(serde_json::from_str::<Summary>(&text).unwrap().files, expected);
        for file in expected {
            assert!(folder.path().join(file).metadata().unwrap().len() > 0, "{file}");
        }
    }
}
