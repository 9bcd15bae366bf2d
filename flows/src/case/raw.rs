//! A case file as written: every value has the right type and a unit of the right kind. What depends on the method is
//! left to `resolve`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path};
use std::sync::Arc;

use lbm_bundle::{Real, Storage};
use lbm_runtime::geometry::solid::{Surface, Voxels};

use super::diag::{self, CaseError, Diagnostic, Report, Span, Spanned};
use super::formula::Formula;
use super::image::{self, Kind};
use super::refinement::COUPLING;
use super::samples::Samples;
use super::statistics::Measure;
use super::table::TableFile;
use super::tree::Table;
use super::units::Dimension;
use super::vary::Varied;
use super::{Devices, TargetChoice};

/// A case file that makes sense by itself: the method it asks for can now be compiled, then see `RawCase::resolve`.
#[derive(Clone, Debug)]
pub struct RawCase {
    /// Where it was read.
    pub(super) name: String,
    pub(super) title: Option<String>,
    /// All that is written in it, overrides applied.
    pub(super) root: Table,
    pub(super) spec: Spanned<String>,
    pub(super) target: TargetChoice,
    pub(super) devices: Option<Spanned<Devices>>,
    /// How many devices it may take where it does not say it.
    pub(super) may_take: usize,
    /// How many processes run it, each as many parts.
    pub(super) processes: usize,
    pub(super) real: Real,
    pub(super) block: Option<Spanned<Vec<u32>>>,
    pub(super) si: Option<RawUnits>,
    pub(super) size: Spanned<Vec<Spanned<f64>>>,
    pub(super) resolution: Option<Spanned<f64>>,
    pub(super) fluid: RawFluid,
    pub(super) params: Vec<RawParam>,
    /// The parameters that vary, once the method is known.
    pub(super) varied: Vec<Varied>,
    pub(super) faces: RawFaces,
    pub(super) storage: Option<Spanned<Storage>>,
    pub(super) start: Vec<RawStart>,
    pub(super) solids: Vec<Spanned<RawSolid>>,
    pub(super) refinement: Option<RawRefinement>,
    pub(super) stop: RawStop,
    pub(super) output: RawOutput,
    pub(super) report: Vec<RawReport>,
    pub(super) fields: Vec<RawField>,
    pub(super) probes: Vec<Spanned<RawProbe>>,
    pub(super) pictures: Vec<Spanned<RawPicture>>,
    pub(super) views: Vec<Spanned<RawView>>,
    pub(super) statistics: Vec<Spanned<RawStatistics>>,
    pub(super) fluxes: Vec<Spanned<RawFlux>>,
    /// The tables of its formulas by file, once they are read.
    pub(super) tables: BTreeMap<String, TableFile>,
    /// What tells this flow from others, by key.
    pub(super) keys: BTreeMap<String, String>,
    pub(super) warnings: Vec<Diagnostic>,
}

/// A field at the start, in m, kg, s or in lattice units.
#[derive(Clone, Debug)]
pub(super) struct RawStart {
    /// Its name in the file: `density`.
    pub(super) key: Spanned<String>,
    pub(super) span: Span,
    pub(super) given: RawGiven,
}

/// What a field is at the start.
#[derive(Clone, Debug)]
pub(super) enum RawGiven {
    /// A formula for each component.
    Formulas(Vec<Spanned<Formula>>),
    /// What a file has.
    File {
        file: Spanned<String>,
        /// Which array of the file; else that called as the field.
        array: Option<Spanned<String>>,
        /// What the file holds, once it is read.
        bytes: Vec<u8>,
        samples: Option<Arc<Samples>>,
    },
}

/// `[units]` of a case in SI units.
#[derive(Clone, Debug)]
pub(super) struct RawUnits {
    pub(super) step: Option<Spanned<f64>>,
    pub(super) mach: Option<Spanned<f64>>,
    pub(super) density: Option<Spanned<f64>>,
}

/// `[fluid]`.
#[derive(Clone, Debug)]
pub(super) struct RawFluid {
    pub(super) span: Span,
    pub(super) re: Option<Spanned<f64>>,
    pub(super) viscosity: Option<Spanned<f64>>,
    /// The viscosity where it is a formula.
    pub(super) varied: Option<RawParam>,
    pub(super) omega: Option<Spanned<f64>>,
    /// Of the scalar that the method carries.
    pub(super) diffusivity: Option<Spanned<f64>>,
    /// Viscosity over that diffusivity.
    pub(super) prandtl: Option<Spanned<f64>>,
    pub(super) velocity: Option<Spanned<f64>>,
    pub(super) length: Option<Spanned<f64>>,
}

/// A parameter of the method or of a boundary rule: a number or a list of them, each with the dimension of its unit. Where
/// they may vary they are formulas of place and time, all but constants of which have a unit that fits the parameter's name.
#[derive(Clone, Debug)]
pub(super) struct RawParam {
    pub(super) name: Spanned<String>,
    pub(super) span: Span,
    pub(super) values: Vec<(Formula, Dimension)>,
}

impl RawParam {
    /// Its formulas, each with a place that shows it.
    pub(super) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let span = &self.span;
        self.values.iter_mut().map(move |(value, _)| (span, value))
    }
}

/// What a face is.
#[derive(Clone, Debug)]
pub(super) struct RawFace {
    pub(super) rule: Spanned<String>,
    pub(super) params: Vec<RawParam>,
    pub(super) patches: Vec<RawPatch>,
}

impl RawFace {
    /// What it is and what its patches are.
    pub(super) fn all(&self) -> impl Iterator<Item = &RawFace> {
        std::iter::once(self).chain(self.patches.iter().map(|patch| &patch.face))
    }

    /// All formulas of parameters and regions, each with a place that shows it.
    pub(super) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let of_patches = self.patches.iter_mut().flat_map(RawPatch::formulas);
        self.params.iter_mut().flat_map(RawParam::formulas).chain(of_patches)
    }
}

/// A part of a face.
#[derive(Clone, Debug)]
pub(super) struct RawPatch {
    pub(super) region: RawRegion,
    pub(super) span: Span,
    /// Without patches.
    pub(super) face: RawFace,
}

impl RawPatch {
    /// All formulas of its region and its parameters.
    pub(super) fn formulas(&mut self) -> impl Iterator<Item = (&Span, &mut Formula)> {
        let region = match &mut self.region {
            RawRegion::Where(formula) => Some((&formula.span, &mut formula.value)),
            _ => None,
        };
        region.into_iter().chain(self.face.params.iter_mut().flat_map(RawParam::formulas))
    }
}

/// Which part, in m or in cells.
#[derive(Clone, Debug)]
pub(super) enum RawRegion {
    Box {
        from: RawVector,
        to: RawVector,
    },
    Disc {
        centre: RawVector,
        radius: Spanned<f64>,
    },
    Where(Spanned<Formula>),
    /// What a solid of that name is of the surface in an STL file.
    Solid(Spanned<String>),
}

/// `[faces]`.
#[derive(Clone, Debug)]
pub(super) struct RawFaces {
    pub(super) span: Span,
    /// In the order of `schema::FACES`, with the place of the name.
    pub(super) named: [Option<Spanned<RawFace>>; 6],
    pub(super) others: Option<Spanned<RawFace>>,
}

/// A solid.
#[derive(Clone, Debug)]
pub(super) struct RawSolid {
    pub(super) shape: RawShape,
    /// Whether it is what lies outside of the shape.
    pub(super) inverted: bool,
    pub(super) surface: RawFace,
    pub(super) level: Option<Spanned<f64>>,
    /// With the dimension of its unit.
    pub(super) area: Option<Spanned<(f64, Dimension)>>,
    pub(super) nusselt: Option<Spanned<RawNusselt>>,
    pub(super) shells: Vec<RawShell>,
    pub(super) motion: Option<Spanned<RawMotion>>,
}

/// What a Nusselt number refers to.
#[derive(Clone, Debug)]
pub(super) struct RawNusselt {
    pub(super) difference: f64,
    /// With the dimension of its unit.
    pub(super) area: Option<Spanned<(f64, Dimension)>>,
}

/// How a solid moves.
#[derive(Clone, Debug)]
pub(super) struct RawMotion {
    /// In m or in cells; none of one that turns only.
    pub(super) displacement: Option<Spanned<Vec<Spanned<Formula>>>>,
    pub(super) turn: Option<RawTurn>,
}

/// How a solid turns.
#[derive(Clone, Debug)]
pub(super) struct RawTurn {
    /// In radians.
    pub(super) angle: Spanned<Formula>,
    pub(super) axis: Option<RawVector>,
    pub(super) pivot: Option<RawVector>,
}

/// What lies within a distance of a surface, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawShell {
    pub(super) level: Spanned<f64>,
    pub(super) within: f64,
}

/// A point or a vector, in m or in cells.
pub(super) type RawVector = Spanned<Vec<Spanned<f64>>>;

/// A plane that cuts the surface of a file, in its units.
#[derive(Clone, Debug)]
pub(super) struct RawSection {
    pub(super) normal: usize,
    pub(super) at: f64,
}

/// The shape of a solid, in m or in cells.
#[derive(Clone, Debug)]
pub(super) enum RawShape {
    Sphere {
        centre: RawVector,
        radius: Spanned<f64>,
    },
    Box {
        from: RawVector,
        to: RawVector,
    },
    Cylinder {
        centre: RawVector,
        radius: Spanned<f64>,
        axis: Option<RawVector>,
        length: Option<Spanned<f64>>,
    },
    Stl {
        file: Spanned<String>,
        /// What the file holds, once it is read.
        bytes: Vec<u8>,
        surface: Option<Surface>,
        /// Names of the solids in the file, by the numbers of parts of the surface.
        names: Vec<String>,
        scale: Option<Spanned<f64>>,
        centre: Option<RawVector>,
        rotate: Option<RawVector>,
        section: Option<Spanned<RawSection>>,
        /// Extent of the largest hole that is closed.
        close: Option<Spanned<f64>>,
    },
    Image {
        file: Spanned<String>,
        kind: Kind,
        /// The files that a name with `*` stands for, once they are known.
        stack: Vec<String>,
        /// What the file holds, once it is read; of pictures their voxels as an NRRD file.
        bytes: Vec<u8>,
        voxels: Option<Arc<Voxels>>,
        /// How many voxels there are along each axis, of plain bytes.
        size: [usize; 3],
        from: Option<RawVector>,
        scale: Option<Spanned<f64>>,
        solid: image::Solid,
    },
}

/// `[refinement]`.
#[derive(Clone, Debug)]
pub(super) struct RawRefinement {
    pub(super) span: Span,
    pub(super) finest: Spanned<f64>,
    pub(super) coarsest: Option<Spanned<f64>>,
    pub(super) level: Option<Spanned<Formula>>,
    pub(super) boxes: Vec<Spanned<RawBox>>,
    pub(super) coupling: Option<Spanned<String>>,
    pub(super) memory: Option<usize>,
    pub(super) follow: Option<RawFollow>,
}

/// What the grid of `[refinement]` follows.
#[derive(Clone, Debug)]
pub(super) struct RawFollow {
    /// Besides solids that move.
    pub(super) indicator: Option<RawIndicator>,
    pub(super) every: u64,
    pub(super) pinned: Vec<Spanned<RawBox>>,
}

/// What of the flow the grid follows.
#[derive(Clone, Debug)]
pub(super) struct RawIndicator {
    pub(super) criterion: Spanned<String>,
    /// The same as a formula, which it is unless the method has a criterion of that name.
    pub(super) formula: Formula,
    /// A number, or a formula of the time.
    pub(super) threshold: Spanned<Formula>,
    pub(super) ratio: f64,
    pub(super) hysteresis: f64,
}

/// A box of `[refinement]`, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawBox {
    /// None for a box of pinned blocks.
    pub(super) level: Option<Spanned<f64>>,
    pub(super) from: Spanned<Vec<Spanned<f64>>>,
    pub(super) to: Spanned<Vec<Spanned<f64>>>,
}

/// What lies between two times at which something is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Interval {
    /// So many steps of the coarsest level.
    Steps(u64),
    /// So many seconds.
    Seconds(f64),
}

/// `[stop]`.
#[derive(Clone, Debug)]
pub(super) struct RawStop {
    pub(super) steps: Option<Spanned<f64>>,
    pub(super) time: Option<Spanned<f64>>,
    pub(super) steady: Option<f64>,
    pub(super) check_every: Option<Spanned<f64>>,
}

/// A plane for pictures, in m or in cells.
#[derive(Clone, Debug)]
pub(super) struct RawSlice {
    pub(super) normal: usize,
    pub(super) at: Spanned<f64>,
}

/// Whether and how fields are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RawVtk {
    /// As suits the grid.
    Default,
    Amr,
    Unstructured,
}

/// `[output]`.
#[derive(Clone, Debug)]
pub(super) struct RawOutput {
    pub(super) directory: Option<Spanned<String>>,
    pub(super) profiles: bool,
    pub(super) picture: bool,
    pub(super) slice: Option<Spanned<RawSlice>>,
    pub(super) grid: Option<Spanned<bool>>,
    pub(super) vtk: Option<Spanned<RawVtk>>,
    pub(super) fields: Option<Vec<Spanned<String>>>,
    pub(super) every: Option<Spanned<Interval>>,
    pub(super) series: Option<Spanned<Interval>>,
    pub(super) restart: Option<Spanned<Interval>>,
    pub(super) forces: Option<Spanned<Interval>>,
    pub(super) heat: Option<Spanned<Interval>>,
    pub(super) surfaces: Option<Spanned<Interval>>,
    pub(super) sections: Vec<Spanned<RawSlice>>,
    pub(super) compare: Option<Spanned<String>>,
    pub(super) average_from: Option<Spanned<Interval>>,
}

/// A formula of `[fields]`.
#[derive(Clone, Debug)]
pub(super) struct RawField {
    pub(super) name: Spanned<String>,
    pub(super) formula: Spanned<lbm_bundle::Formula>,
}

/// A formula of `[report]`.
#[derive(Clone, Debug)]
pub(super) struct RawReport {
    pub(super) name: Spanned<String>,
    pub(super) text: String,
    pub(super) formula: Spanned<lbm_bundle::Formula>,
}

/// A probe.
#[derive(Clone, Debug)]
pub(super) struct RawProbe {
    pub(super) name: Spanned<String>,
    pub(super) points: RawPoints,
    pub(super) fields: Option<Vec<Spanned<String>>>,
    pub(super) every: Spanned<Interval>,
}

/// A plane through which fluxes are measured.
#[derive(Clone, Debug)]
pub(super) struct RawFlux {
    pub(super) name: Spanned<String>,
    /// In the order of `schema::FACES`.
    pub(super) face: Option<Spanned<usize>>,
    pub(super) plane: Option<Spanned<RawSlice>>,
    pub(super) from: Option<RawVector>,
    pub(super) to: Option<RawVector>,
    pub(super) every: Spanned<Interval>,
}

/// What is accumulated over time.
#[derive(Clone, Debug)]
pub(super) struct RawStatistics {
    pub(super) name: Spanned<String>,
    pub(super) fields: Option<Vec<Spanned<String>>>,
    pub(super) of: Vec<Measure>,
    /// From the start of the flow.
    pub(super) from: Spanned<Interval>,
    pub(super) every: Spanned<Interval>,
}

/// A picture.
#[derive(Clone, Debug)]
pub(super) struct RawPicture {
    pub(super) frames: RawFrames,
    pub(super) field: Spanned<String>,
    pub(super) statistics: Option<Spanned<String>>,
    pub(super) title: Option<Spanned<String>>,
    pub(super) range: Option<RawRange>,
    pub(super) scale: Option<Spanned<String>>,
    pub(super) colours: Option<Spanned<String>>,
    pub(super) contours: Option<Spanned<RawContours>>,
    pub(super) slice: Option<Spanned<RawSlice>>,
    pub(super) from: Option<RawVector>,
    pub(super) to: Option<RawVector>,
    pub(super) streamlines: Option<Span>,
    pub(super) grid: Option<Spanned<bool>>,
    pub(super) size: Option<Spanned<f64>>,
}

/// A value of a field: in units of the colour bar, or in SI units a value with a unit, in m, kg, s.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawAmount {
    pub(super) value: f64,
    /// That of its unit, if it has one.
    pub(super) dimension: Option<Dimension>,
}

/// Values at the ends of a colour bar.
pub(super) type RawRange = Spanned<[Spanned<RawAmount>; 2]>;

/// Lines along which a field is constant.
#[derive(Clone, Debug)]
pub(super) enum RawContours {
    Number(usize),
    At(Vec<Spanned<RawAmount>>),
}

/// A view.
#[derive(Clone, Debug)]
pub(super) struct RawView {
    pub(super) frames: RawFrames,
    pub(super) isosurface: Spanned<String>,
    pub(super) value: Spanned<RawAmount>,
    pub(super) colour: Option<Spanned<String>>,
    pub(super) range: Option<RawRange>,
    pub(super) colours: Option<Spanned<String>>,
    pub(super) from: Option<[f64; 3]>,
    pub(super) size: Option<Spanned<f64>>,
}

/// The files of a picture or a view.
#[derive(Clone, Debug)]
pub(super) struct RawFrames {
    pub(super) name: Option<Spanned<String>>,
    pub(super) every: Option<Spanned<Interval>>,
    /// Pictures a second of a film.
    pub(super) film: Option<u32>,
}

/// Points, in m or in cells.
#[derive(Clone, Debug)]
pub(super) enum RawPoints {
    At(Vec<RawVector>),
    Line { from: RawVector, to: RawVector, points: Spanned<f64> },
    Grid { from: RawVector, to: RawVector, points: Spanned<Vec<usize>> },
}

impl RawCase {
    /// The method: the name of a shipped spec, or a path.
    pub fn spec(&self) -> &str {
        &self.spec.value
    }

    /// What it is called: by itself, else its file without folder and ending.
    pub(super) fn title(&self) -> &str {
        self.title.as_deref().unwrap_or_else(|| super::resolve::stem(&self.name))
    }

    /// Where to run.
    pub fn target(&self) -> TargetChoice {
        self.target
    }

    /// The number of the GPU to run on, or of the first of several; none where any will do.
    pub fn gpu(&self) -> Option<usize> {
        match &self.devices.as_ref()?.value {
            Devices::Gpus(numbers) => numbers.first().copied(),
            Devices::Count(_) => None,
        }
    }

    /// Whether it says what it runs on.
    pub fn names_devices(&self) -> bool {
        self.devices.is_some()
    }

    /// It may take so many devices where it does not say on what it runs: memory is that of all of them.
    pub fn may_take(&mut self, devices: usize) {
        self.may_take = devices;
    }

    /// It is run by so many processes, each as many parts.
    pub fn in_processes(&mut self, count: usize) {
        self.processes = count;
    }

    /// In one of several processes of a host, `place` of them: takes GPUs of its own of so many that there are, as many as it asks for, or the
    /// next of those that it lists. Where there are more processes than GPUs, several take the same.
    pub fn take_gpus(&mut self, place: usize, known: usize) {
        let taken = match self.devices.as_ref().map(|devices| &devices.value) {
            None => vec![place % known],
            Some(Devices::Count(count)) => (0..*count).map(|number| (place * count + number) % known).collect(),
            Some(Devices::Gpus(numbers)) => vec![numbers[place % numbers.len()]],
        };
        let span = self.devices.as_ref().map_or(self.spec.span.clone(), |devices| devices.span.clone());
        self.devices = Some(Spanned { value: Devices::Gpus(taken), span });
    }

    /// Refuses devices that there are not, of so many GPUs of the numbers from 0 on; points at `devices` in the file.
    pub fn check_gpus(&self, known: usize) -> Result<(), CaseError> {
        let Some(devices) = &self.devices else { return Ok(()) };
        let Some(missing) = devices.value.gpus().into_iter().find(|number| *number >= known) else { return Ok(()) };
        let mut report = Report::default();
        let known = match known {
            1 => "one, number 0".to_string(),
            known => format!("{known}, numbers 0 to {}", known.saturating_sub(1)),
        };
        let message = format!("GPU {missing} is asked for, and the CUDA driver knows {known}");
        let help = "take GPUs that there are; `CUDA_VISIBLE_DEVICES` may hide some".to_string();
        report.add::<()>(diag::NO_DEVICES, &devices.span, message, "more than there are", Some(help));
        report.finish::<()>(&self.name, None).map(|_| ())
    }

    /// Precision.
    pub fn real(&self) -> Real {
        self.real
    }

    /// What is stored of a cell.
    pub fn storage(&self) -> Storage {
        self.storage.as_ref().map_or(Storage::default(), |storage| storage.value)
    }

    /// The error that moments cannot be stored, pointing at `storage` in the file.
    pub fn reject_storage(&self, message: &str) -> CaseError {
        let mut report = Report::default();
        let span = self.storage.as_ref().map_or(&self.spec.span, |storage| &storage.span);
        let help =
            "`storage = \"populations\"` is always possible, and \"auto\" takes moments where they are".to_string();
        report.add::<()>(diag::NOT_STORED, span, message, "asked for here", Some(help));
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// The boundary rules that its faces and solids name, each once; `periodic` is none.
    pub fn rules(&self) -> Vec<&str> {
        let surfaces = self.solids.iter().map(|solid| &solid.value.surface);
        let mut rules: Vec<&str> =
            self.faces().chain(surfaces).flat_map(RawFace::all).map(|face| face.rule.value.as_str()).collect();
        rules.retain(|rule| *rule != "periodic");
        rules.sort_unstable();
        rules.dedup();
        rules
    }

    fn faces(&self) -> impl Iterator<Item = &RawFace> {
        self.faces.named.iter().flatten().chain(&self.faces.others).map(|face| &face.value)
    }

    /// Whether it needs kernels for links that are cut one by one: it has solids, or faces along which values vary.
    pub fn cuts_links(&self) -> bool {
        let varies = |param: &RawParam| param.values.iter().any(|(value, _)| value.varies_in_place());
        !self.solids.is_empty() || self.faces().any(|face| !face.patches.is_empty() || face.params.iter().any(varies))
    }

    /// The coupling that level jumps take, if the case is refined.
    pub fn coupling(&self) -> Option<&str> {
        let refinement = self.refinement.as_ref()?;
        Some(refinement.coupling.as_ref().map_or(COUPLING, |name| &name.value))
    }

    /// What the grid follows, if it changes: the name of a criterion, or a formula.
    pub fn criterion(&self) -> Option<&str> {
        Some(&self.refinement.as_ref()?.follow.as_ref()?.indicator.as_ref()?.criterion.value)
    }

    /// The names of fields that output asks for, each where it does.
    pub(super) fn output_fields(&self) -> impl Iterator<Item = &Spanned<String>> {
        let probes = self.probes.iter().filter_map(|probe| probe.value.fields.as_ref());
        let sampled = self.statistics.iter().filter_map(|of| of.value.fields.as_ref());
        let listed = self.output.fields.iter().chain(probes).chain(sampled).flatten();
        let views = self.views.iter().flat_map(|view| [Some(&view.value.isosurface), view.value.colour.as_ref()]);
        let pictures = self.pictures.iter().map(|picture| &picture.value);
        // Those of statistics have names of results.
        let drawn = pictures.filter(|picture| picture.statistics.is_none()).map(|picture| &picture.field);
        listed.chain(drawn).chain(views.flatten())
    }

    /// Names of fields that output asks for or makes fields of its own from, or that the grid follows.
    pub fn fields(&self) -> Vec<&str> {
        let named = self.output_fields().map(|name| &name.value[..]);
        let made = self.fields.iter().flat_map(|field| field.formula.value.names());
        let indicator = self.refinement.as_ref().and_then(|refinement| refinement.follow.as_ref()?.indicator.as_ref());
        let followed = indicator.into_iter().flat_map(|indicator| indicator.formula.fields());
        named.chain(made).chain(followed).collect()
    }

    /// The error that the coupling cannot be had, pointing at its name in the file.
    pub fn reject_coupling(&self, message: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        let named = self.refinement.as_ref().and_then(|refinement| refinement.coupling.as_ref());
        report.add::<()>(diag::UNKNOWN_WORD, &named.unwrap_or(&self.spec).span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// The error that what the case names, a boundary rule, a coupling or a criterion, does not fit the method.
    pub fn reject_choice(&self, name: &str, why: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        let surfaces = self.solids.iter().map(|solid| &solid.value.surface);
        let rules = self.faces().chain(surfaces).flat_map(RawFace::all).map(|face| &face.rule);
        let refinement = self.refinement.as_ref();
        let coupling = refinement.and_then(|refinement| refinement.coupling.as_ref());
        let indicator = refinement.and_then(|refinement| refinement.follow.as_ref()?.indicator.as_ref());
        let named = rules.chain(coupling).chain(indicator.map(|indicator| &indicator.criterion));
        let span = named.into_iter().find(|named| named.value == name).map_or(&self.spec.span, |named| &named.span);
        let message = format!("`{name}` does not fit the method `{}`: {why}", self.spec());
        report.add::<()>(diag::DOES_NOT_FIT, span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// Cells of a block, if the case states them: 1 beyond the axes given.
    pub fn block(&self) -> Option<[u32; 3]> {
        self.block.as_ref().map(|block| std::array::from_fn(|axis| block.value.get(axis).copied().unwrap_or(1)))
    }

    /// Cells along each axis, 1 beyond those given, rounded where they are no whole number, which [`Self::resolve`] refuses.
    pub fn cells(&self) -> [usize; 3] {
        let size = &self.size.value;
        let along_x = size.first().map_or(1.0, |size| size.value);
        let cell = self.resolution.as_ref().filter(|_| self.si.is_some()).map_or(1.0, |cells| along_x / cells.value);
        std::array::from_fn(|axis| size.get(axis).map_or(1, |extent| (extent.value / cell).round().max(1.0) as usize))
    }

    /// Whether each axis is periodic, by what its faces say.
    pub fn periodic(&self) -> [bool; 3] {
        let is_periodic = |face: &Option<Spanned<RawFace>>| {
            let face = face.as_ref().or(self.faces.others.as_ref());
            face.is_none_or(|face| face.value.rule.value == "periodic")
        };
        std::array::from_fn(|axis| {
            is_periodic(&self.faces.named[2 * axis]) && is_periodic(&self.faces.named[2 * axis + 1])
        })
    }

    /// Whether the folder for the results is that of the file, and not one that the user has set.
    pub fn names_its_folder(&self) -> bool {
        let own = |directory: &Spanned<String>| directory.span.source.name() == self.name;
        self.output.directory.as_ref().is_none_or(own)
    }

    /// Refuses a folder for the results that the file, and not the user, puts elsewhere than below the one that the command runs in, or that
    /// is hidden: whoever runs a case of somebody else decides where it writes.
    pub fn writes_below(&self) -> Result<(), CaseError> {
        let Some(directory) = self.output.directory.as_ref().filter(|_| self.names_its_folder()) else { return Ok(()) };
        let seen = |name: &OsStr| !name.as_encoded_bytes().starts_with(b".");
        let fine = |part| matches!(part, Component::CurDir) || matches!(part, Component::Normal(name) if seen(name));
        if Path::new(&directory.value).components().all(fine) {
            return Ok(());
        }
        let mut report = Report::default();
        let message =
            format!("`{}` leads out of the folder that the command runs in, or into a hidden one", directory.value);
        let help = format!("take a path below it, or give this one on the command line: `--out {}`", directory.value);
        report.add::<()>(diag::BAD_VALUE, &directory.span, message, "not below", help);
        report.finish::<()>(&self.name, None).map(|_| ())
    }

    /// The error that the method cannot be had, pointing at `spec` in the file.
    pub fn reject_spec(&self, message: &str, help: Option<String>) -> CaseError {
        let mut report = Report::default();
        report.add::<()>(diag::NO_SPEC, &self.spec.span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// The warning that disturbances at refinement interfaces, or at open faces of a uniform grid, grow by `exp(growth)` in a step of level 0,
    /// in a stream with that many cells per step, pointing at `spec` in the file. `bounded` is a shipped spec of the method with its rates
    /// bounded.
    pub fn unstable_ends(&self, growth: f64, speed: f64, bounded: Option<&str>) -> Diagnostic {
        let percent = 100.0 * growth.exp_m1();
        let (place, step) = match self.refinement {
            Some(_) => ("refinement interfaces", "a step of level 0"),
            None => ("open faces", "a step"),
        };
        let message = format!(
            "with these rates, disturbances at {place} grow by {percent:.1} % {step} in a stream of {speed:.3} cells per step"
        );
        let closer = match bounded {
            Some(spec) => format!("take `{spec}`, which bounds the rate of the odd moments"),
            None => "bring the relaxation rates closer to each other (`bounded_odd` of the module `rates` bounds that of the odd \
                     moments)"
                .to_string(),
        };
        let help =
            format!("{closer}, lower the velocity in cells per step, or take smaller cells; see docs/couplings.md");
        let mut report = Report::default();
        report.add::<()>(
            diag::UNSTABLE_ENDS,
            &self.spec.span,
            message,
            "its linearised collision amplifies them",
            help,
        );
        let ((), mut warnings) = report.finish(&self.name, Some(())).expect("a warning is no error");
        warnings.remove(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_a_host_take_its_gpus_in_turn() {
        let taken = |devices: &str, known: usize| -> Vec<Vec<usize>> {
            let text = format!("spec = \"d2q9_bgk\"\n{devices}\n[domain]\nsize = [16, 16]\n[stop]\nsteps = 1\n");
            let taken = |place: usize| {
                let mut raw = RawCase::parse("flow.toml", &text, &[]).expect("valid");
                raw.take_gpus(place, known);
                raw.devices.expect("taken").value.gpus()
            };
            (0..3).map(taken).collect()
        };
        assert_eq!(taken("", 4), [[0], [1], [2]]);
        assert_eq!(taken("", 2), [[0], [1], [0]], "more processes than GPUs");
        assert_eq!(taken("devices = 2", 8), [[0, 1], [2, 3], [4, 5]]);
        assert_eq!(taken("devices = [3, 1]", 8), [[3], [1], [3]], "those that are listed");
    }
}
