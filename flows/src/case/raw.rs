//! A case file as written: every value has the right type and a unit of the right kind. What depends on the method is
//! left to `resolve`.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Component, Path};

use lbm_bundle::{Real, Storage};

use super::devices::{Buffers, Devices, TargetChoice};
use super::diag::{self, CaseError, Diagnostic, Report, Span, Spanned};
use super::keys::absorbing::RawAbsorbing;
use super::keys::domain::RawDomain;
use super::keys::faces::{RawFace, RawFaces};
use super::keys::fields::RawField;
use super::keys::fluid::RawFluid;
use super::keys::fluxes::RawFlux;
use super::keys::gradient::RawGradient;
use super::keys::output::RawOutput;
use super::keys::params::RawParam;
use super::keys::pictures::RawPicture;
use super::keys::probes::RawProbe;
use super::keys::recordings::RawRecording;
use super::keys::refinement::RawRefinement;
use super::keys::report::RawReport;
use super::keys::solids::RawSolid;
use super::keys::start::RawStart;
use super::keys::statistics::RawStatistics;
use super::keys::stop::RawStop;
use super::keys::top::RawTop;
use super::keys::units::RawUnits;
use super::keys::views::RawView;
use super::layer::SAMPLE;
use super::refinement::COUPLING;
use super::table::TableFile;
use super::tree::Table;
use super::varied::Varied;

/// A case file that makes sense by itself: the method it asks for can now be compiled, then see `RawCase::resolve`.
#[derive(Clone, Debug)]
pub struct RawCase {
    /// Where it was read.
    pub(super) name: String,
    /// All that is written in it, overrides applied.
    pub(super) root: Table,
    pub(super) top: RawTop,
    /// How many devices it may take where it does not say it.
    pub(super) may_take: usize,
    /// How many processes run it, each as many parts.
    pub(super) processes: usize,
    pub(super) si: Option<RawUnits>,
    pub(super) domain: RawDomain,
    pub(super) fluid: RawFluid,
    pub(super) fluid_span: Span,
    pub(super) params: Vec<RawParam>,
    /// The parameters that vary, once the method is known.
    pub(super) varied: Vec<Varied>,
    pub(super) faces: RawFaces,
    pub(super) absorbing: Option<RawAbsorbing>,
    pub(super) start: Vec<RawStart>,
    pub(super) solids: Vec<Spanned<RawSolid>>,
    pub(super) refinement: Option<RawRefinement>,
    pub(super) stop: RawStop,
    pub(super) output: RawOutput,
    pub(super) report: Vec<RawReport>,
    pub(super) gradient: Option<RawGradient>,
    pub(super) fields: Vec<RawField>,
    pub(super) probes: Vec<Spanned<RawProbe>>,
    pub(super) pictures: Vec<Spanned<RawPicture>>,
    pub(super) views: Vec<Spanned<RawView>>,
    pub(super) statistics: Vec<Spanned<RawStatistics>>,
    pub(super) fluxes: Vec<Spanned<RawFlux>>,
    pub(super) recordings: Vec<Spanned<RawRecording>>,
    /// The tables of its formulas by file, once they are read.
    pub(super) tables: BTreeMap<String, TableFile>,
    /// What tells this flow from others, by key.
    pub(super) keys: BTreeMap<String, String>,
    pub(super) warnings: Vec<Diagnostic>,
}

impl RawCase {
    /// The method: the name of a shipped spec, or a path.
    pub fn spec(&self) -> &str {
        &self.top.spec.value
    }

    /// What it is called: by itself, else its file without folder and ending.
    pub(super) fn title(&self) -> &str {
        self.top.name.as_deref().unwrap_or_else(|| stem(&self.name))
    }

    /// Where to run.
    pub fn target(&self) -> TargetChoice {
        self.top.target
    }

    /// The number of the GPU to run on, or of the first of several; none where any will do.
    pub fn gpu(&self) -> Option<usize> {
        match &self.top.devices.as_ref()?.value {
            Devices::Gpus(numbers) => numbers.first().copied(),
            Devices::Count(_) => None,
        }
    }

    /// Whether it says what it runs on.
    pub fn names_devices(&self) -> bool {
        self.top.devices.is_some()
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
        let taken = match self.top.devices.as_ref().map(|devices| &devices.value) {
            None => vec![place % known],
            Some(Devices::Count(count)) => (0..*count).map(|number| (place * count + number) % known).collect(),
            Some(Devices::Gpus(numbers)) => vec![numbers[place % numbers.len()]],
        };
        let span = self.top.devices.as_ref().map_or(self.top.spec.span.clone(), |devices| devices.span.clone());
        self.top.devices = Some(Spanned { value: Devices::Gpus(taken), span });
    }

    /// Refuses devices that there are not, of so many GPUs of the numbers from 0 on; points at `devices` in the file.
    pub fn check_gpus(&self, known: usize) -> Result<(), CaseError> {
        let Some(devices) = &self.top.devices else { return Ok(()) };
        let Some(missing) = devices.value.gpus().into_iter().find(|number| *number >= known) else { return Ok(()) };
        let mut report = Report::default();
        let known = match known {
            1 => "one, number 0".to_string(),
            known => format!("{known}, numbers 0 to {}", known.saturating_sub(1)),
        };
        let message = format!("GPU {missing} is asked for, and the driver knows {known}");
        let help =
            "take GPUs that there are; `CUDA_VISIBLE_DEVICES` or `HIP_VISIBLE_DEVICES` may hide some".to_string();
        report.add::<()>(diag::NO_DEVICES, &devices.span, message, "more than there are", Some(help));
        report.finish::<()>(&self.name, None).map(|_| ())
    }

    /// Precision.
    pub fn real(&self) -> Real {
        self.top.precision
    }

    /// What is stored of a cell.
    pub fn storage(&self) -> Storage {
        self.top.storage.as_ref().map_or(Storage::default(), |storage| storage.value)
    }

    /// The error that moments cannot be stored, pointing at `storage` in the file.
    pub fn reject_storage(&self, message: &str) -> CaseError {
        let mut report = Report::default();
        let span = self.top.storage.as_ref().map_or(&self.top.spec.span, |storage| &storage.span);
        let help =
            "`storage = \"populations\"` is always possible, and \"auto\" takes moments where they are".to_string();
        report.add::<()>(diag::NOT_STORED, span, message, "asked for here", Some(help));
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// How many sets of populations there are.
    pub fn buffers(&self) -> Buffers {
        self.top.buffers.as_ref().map_or(Buffers::default(), |buffers| buffers.value)
    }

    /// Why the flow needs two sets of populations, if that is known before its method is compiled.
    pub fn needs_two_sets(&self) -> Option<&'static str> {
        let parts = self.top.devices.as_ref().map_or(1, |devices| devices.value.count());
        let follows = self.refinement.as_ref().is_some_and(|refinement| refinement.follow.is_some());
        let reasons = [
            (follows, "cells of a grid that follows the flow take populations of others"),
            (parts > 1 || self.processes > 1, "parts of a flow read each other's populations"),
            (self.moves(), "solids that move leave cells, which are filled with populations of others"),
            (self.is_derived(), "gradients take the states between steps"),
            (self.storage() == Storage::Moments, "moments are stored in the place of populations"),
        ];
        reasons.into_iter().find(|(is, _)| *is).map(|(_, why)| why)
    }

    /// The error that one set of populations does not suffice, pointing at `buffers` in the file.
    pub fn reject_buffers(&self, why: &str) -> CaseError {
        let message = format!("one set of populations does not suffice: {why}");
        let mut report = Report::default();
        let span = self.top.buffers.as_ref().map_or(&self.top.spec.span, |buffers| &buffers.span);
        let help = "`buffers = 2` is always possible, and \"auto\" takes 1 only where that is possible".to_string();
        report.add::<()>(diag::TWO_SETS, span, message, "asked for here", Some(help));
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

    /// The fewest cells that sides of blocks may have for the heights at which laws of walls apply, above surfaces whose rule slides.
    pub fn sides_under_layers(&self, slides: impl Fn(&str) -> bool) -> u32 {
        let has_layer = |solid: &&RawSolid| solid.surface.all().any(|face| slides(&face.rule.value));
        let solids = self.solids.iter().map(|solid| &solid.value).filter(has_layer);
        let sample = |solid: &RawSolid| solid.layer.as_ref()?.value.sample.as_ref().map(|sample| sample.value);
        solids.map(|solid| sample(solid).unwrap_or(SAMPLE)).fold(1.0, f64::max).ceil() as u32
    }

    pub(super) fn faces(&self) -> impl Iterator<Item = &RawFace> {
        self.faces.named.iter().flatten().chain(&self.faces.others).map(|face| &face.value)
    }

    /// Whether derivatives are wanted, for which it needs kernels of the adjoint.
    pub fn is_derived(&self) -> bool {
        self.gradient.is_some()
    }

    /// The error that the method, its boundary conditions or its storage have no adjoint.
    pub fn reject_adjoint(&self, message: &str) -> CaseError {
        let mut report = Report::default();
        let span = self.gradient.as_ref().and_then(RawGradient::span).unwrap_or(&self.top.spec.span);
        let help = "docs/adjoint.md lists what gradients go with".to_string();
        report.add::<()>(diag::NOT_DERIVED, span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// Whether it needs kernels for links that are cut one by one: it has solids, or faces along which values vary.
    pub fn cuts_links(&self) -> bool {
        let varies = |param: &RawParam| param.values.iter().any(|(value, _)| value.varies_in_place());
        let is_cut = |face: &RawFace| {
            let along = face.turbulence.is_some() || face.played.is_some() || face.params.iter().any(varies);
            along || !face.patches.is_empty()
        };
        !self.solids.is_empty() || self.faces().any(is_cut)
    }

    /// The boundary rule of the upper face of each axis, and whether blocks may reach beyond that face as far as the case says it: not if the axis
    /// is periodic, nor if solids move, whose links kernels cut that know of no faces inside of blocks, nor if the enstrophy is summed, which reads
    /// the cells beyond.
    pub fn upper_faces(&self) -> [(&str, bool); 3] {
        let (periodic, whole) = (self.periodic(), self.moves() || self.output.series.is_some());
        std::array::from_fn(|axis| {
            let face = self.faces.named[2 * axis + 1].as_ref().or(self.faces.others.as_ref());
            let rule = face.map_or("periodic", |face| face.value.rule.value.as_str());
            (rule, !periodic[axis] && rule != "periodic" && !whole)
        })
    }

    /// Whether any solid moves.
    pub(super) fn moves(&self) -> bool {
        self.solids.iter().any(|solid| solid.value.motion.is_some())
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
        let views = self.views.iter().flat_map(|view| [view.value.isosurface.as_ref(), view.value.colour.as_ref()]);
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
        report.add::<()>(diag::UNKNOWN_WORD, &named.unwrap_or(&self.top.spec).span, message, "asked for here", help);
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
        let span = named.into_iter().find(|named| named.value == name).map_or(&self.top.spec.span, |named| &named.span);
        let message = format!("`{name}` does not fit the method `{}`: {why}", self.spec());
        report.add::<()>(diag::DOES_NOT_FIT, span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// Cells of a block, if the case states them for so many axes, as [`Self::resolve`] asks for: 1 beyond these.
    pub fn block(&self, dim: usize) -> Option<[u32; 3]> {
        let block = self.top.block.as_ref().filter(|block| block.value.len() == dim)?;
        Some(std::array::from_fn(|axis| block.value.get(axis).copied().unwrap_or(1)))
    }

    /// Cells along each axis, 1 beyond those given, rounded where they are no whole number, which [`Self::resolve`] refuses.
    pub fn cells(&self) -> [usize; 3] {
        let size = &self.domain.size.value;
        let along_x = size.first().map_or(1.0, |size| size.value);
        let cell =
            self.domain.resolution.as_ref().filter(|_| self.si.is_some()).map_or(1.0, |cells| along_x / cells.value);
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
        report.add::<()>(diag::NO_SPEC, &self.top.spec.span, message, "asked for here", help);
        report.finish::<()>(&self.name, None).expect_err("there is no value")
    }

    /// The warning that disturbances at refinement interfaces, or at open faces of a uniform grid, grow by `exp(growth)` in a step of level 0,
    /// in a stream with that many cells per step, pointing at `spec` in the file. `other` is a shipped spec with which they do not
    /// grow.
    pub fn unstable_ends(&self, growth: f64, speed: f64, other: Option<&str>) -> Diagnostic {
        let percent = 100.0 * growth.exp_m1();
        let (place, step) = match self.refinement {
            Some(_) => ("refinement interfaces", "a step of level 0"),
            None => ("open faces", "a step"),
        };
        let message = format!(
            "with these rates, disturbances at {place} grow by {percent:.1} % {step} in a stream of {speed:.3} cells per step"
        );
        let closer = match other {
            Some(spec) => format!("take `{spec}`, with which they do not grow"),
            None => "bring the relaxation rates closer to each other (`bounded_odd` of the module `rates` bounds that of the odd \
                     moments)"
                .to_string(),
        };
        let help =
            format!("{closer}, lower the velocity in cells per step, or take smaller cells; see docs/couplings.md");
        let label = "its linearised collision amplifies them";
        Report::single(diag::UNSTABLE_ENDS, &self.top.spec.span, message, label, help)
    }
}

/// The name of a file without folder and ending.
fn stem(name: &str) -> &str {
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    file.strip_suffix(".toml").unwrap_or(file)
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
                raw.top.devices.expect("taken").value.gpus()
            };
            (0..3).map(taken).collect()
        };
        assert_eq!(taken("", 4), [[0], [1], [2]]);
        assert_eq!(taken("", 2), [[0], [1], [0]], "more processes than GPUs");
        assert_eq!(taken("devices = 2", 8), [[0, 1], [2, 3], [4, 5]]);
        assert_eq!(taken("devices = [3, 1]", 8), [[3], [1], [3]], "those that are listed");
    }

    #[test]
    fn the_name_of_a_case_is_its_file_s_stem() {
        assert_eq!(stem("cases/cavity2d.toml"), "cavity2d");
        assert_eq!(stem("a\\b.toml"), "b");
        assert_eq!(stem("plain"), "plain");
    }
}
