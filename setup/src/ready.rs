//! A case made ready to run: from its text to a valid case, and the kernels of its method on a device.

use lbm_bundle::criteria::CriteriaBundle;
use lbm_bundle::prescribed::PrescribedBundle;
use lbm_bundle::slides::{SLIP, SOURCE};
use lbm_bundle::statistics::StatisticsBundle;
use lbm_bundle::variation::MIXING;
use lbm_bundle::{Bundle, Layout, Manifest, Real, Storage};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{is_link_wise, sides_at_walls, sides_on_levels};
use lbm_dsl::model::levels::Exchange;
use lbm_dsl::model::{Boundary, Model, Param};
use lbm_dsl::prove::{edge, inviscid, moments};
use lbm_flows::case::{Buffers, Case, Diagnostic, RawCase, TargetChoice};
use lbm_flows::flow::{self, Placement};
use lbm_runtime::device::Device;
use lbm_runtime::mesh::{Filled, preferred_block};
use lbm_runtime::processes::Processes;
use miette::{IntoDiagnostic, Report, Result};

use crate::alternatives;
use crate::cases::CaseFile;
use crate::notes;
use crate::spec::{self, Spec};
use crate::unstable::{self, Unstable};

/// A case and what it is run with.
pub struct Ready {
    /// The case as it is written, with what was set.
    pub raw: RawCase,
    /// Its method.
    pub spec: Spec,
    /// The valid case.
    pub case: Case,
    /// Where it runs, if it takes no more GPUs.
    pub placement: Placement,
    /// How many GPUs may share it, with the first of `placement` the first of them: one where the case says on what it runs, and on the host.
    pub gpus: usize,
    /// Kernels of the method.
    pub method: Bundle,
    /// Kernels of the criteria of refinement, for a case that is refined.
    pub criteria: Option<CriteriaBundle>,
    /// Kernels of what depends on time at walls, for a case that has such.
    pub prescribed: Option<PrescribedBundle>,
    /// Kernels of statistics, for a case that has such.
    pub statistics: Option<StatisticsBundle>,
    /// The model of the method.
    pub model: Model,
    /// Pairs of faces between which disturbances grow.
    pub unstable: Vec<Unstable>,
}

impl Ready {
    /// Of a case file, with some values overridden: keys and TOML values. `writes` is whether results go where the case says. What is
    /// remarkable is reported on standard error.
    pub fn new(file: &CaseFile, overrides: &[(String, String)], writes: bool) -> Result<Ready> {
        Ready::in_processes(&Processes::default(), file, overrides, writes)
    }

    /// The same in each of several processes, which share the cores of their hosts.
    pub fn in_processes(
        processes: &Processes,
        file: &CaseFile,
        overrides: &[(String, String)],
        writes: bool,
    ) -> Result<Ready> {
        let (mut ready, warnings) = Ready::of(processes, file, overrides, writes)?;
        warnings.into_iter().for_each(|warning| notes::warning(Report::new(warning)));
        ready.unstable = unstable::of_case(&ready.spec, &ready.model, &ready.case);
        ready.unstable.iter().for_each(|pair| notes::warning(pair.warning()));
        Ok(ready)
    }

    /// The same with what is remarkable about the case; pairs of faces are not looked at.
    pub fn of(
        processes: &Processes,
        file: &CaseFile,
        overrides: &[(String, String)],
        writes: bool,
    ) -> Result<(Ready, Vec<Diagnostic>)> {
        let parameters = |spec: &str| Spec::parameters(&file.beside(spec));
        let mut raw = RawCase::parse_with(&file.name, &file.text, overrides, &parameters)?;
        raw.find_stacks(|pattern| file.stack(pattern))?;
        raw.load(|name| file.read(name))?;
        raw.open_recordings(|name| file.open(name))?;
        if writes {
            raw.writes_below()?;
        }

        // Where there are none, the device says so.
        let gpus = match raw.target() {
            TargetChoice::Gpu(target) => {
                Device::gpus(target).ok().filter(|known| *known > 0).map(|known| (target, known))
            }
            TargetChoice::Auto => Device::kind_of_gpus(),
            TargetChoice::Cpu | TargetChoice::Checked => None,
        };
        if let Some((_, known)) = gpus {
            raw.check_gpus(known)?;
            if processes.are_several() {
                raw.take_gpus(processes.place_on_host(), known);
            }
        }
        raw.in_processes(processes.count());
        let device = match raw.target() {
            TargetChoice::Cpu => Device::host(processes.threads())?,
            TargetChoice::Checked => Device::checked(processes.threads())?,
            TargetChoice::Gpu(target) => Device::gpu(target, raw.gpu().unwrap_or(0))?,
            TargetChoice::Auto => match (raw.gpu(), gpus) {
                (Some(number), Some((target, _))) => Device::gpu(target, number)?,
                (Some(number), None) => Device::cuda(number)?,
                (None, _) => {
                    let (device, why) = Device::find()?;
                    notes::note(&why);
                    // Where processes find GPUs, each has taken its own.
                    if processes.are_several() { Device::host(processes.threads())? } else { device }
                }
            },
        };
        let gpus = free_gpus(&raw, &device, processes);
        raw.may_take(gpus);
        let spec = Spec::find(&file.beside(raw.spec())).map_err(|error| {
            Report::new(raw.reject_spec(&error.to_string(), error.help().map(|help| help.to_string())))
        })?;
        let mut variations = vec![];
        if raw.may_vary() {
            variations = raw.vary(&spec.method()?)?;
            if variations.iter().any(|variation| variation.param == MIXING) && !raw.gives(MIXING) {
                notes::note(
                    "`mixing`: cells below laws of the wall have a mixing length; `params.mixing = 0` is without",
                );
            }
            if let Some((variation, field)) = spec.circular(&variations)? {
                return Err(raw.reject_circular(variation, &field).into());
            }
        }
        let (rules, coupling, criterion) = (raw.rules(), raw.coupling(), raw.criterion());
        let model = spec.model_with(&rules, coupling, criterion, &variations).map_err(|error| {
            match spec.misfit(&rules, coupling, criterion, &variations) {
                Some((name, why, help)) => Report::new(raw.reject_choice(name, &why, help)),
                None => error,
            }
        })?;
        let model = model.observing(&raw.fields());
        let coupling = match raw.coupling() {
            None => None,
            Some(name) => Some(spec::coupling(&model, name).map_err(|error| {
                Report::new(raw.reject_coupling(&error.to_string(), error.help().map(|help| help.to_string())))
            })?),
        };
        let large = raw.storage() != Storage::Populations && device.target().is_gpu() && coupling.is_none();
        let large = large && model.lattice().dim() == 3 && raw.cells().iter().all(|side| side.is_multiple_of(8));
        let dim = model.lattice().dim();
        let pads = raw.upper_faces().map(|(rule, may)| may && model.shown().is_empty() && is_link_wise(&model, rule));
        let pads: [bool; 3] = std::array::from_fn(|axis| axis < dim && pads[axis]);
        let block = raw.block(dim).or(large.then_some([8; 3])).unwrap_or_else(|| {
            let levels = coupling.map(|at| sides_on_levels(&model, &model.couplings()[at]));
            let layers = raw.sides_under_layers(|rule| slides(&model, rule));
            let least = sides_at_walls(&model, raw.cuts_links()).max(layers);
            let (target, real) = (device.target(), raw.real());
            let plain = model.shown().is_empty() && raw.storage() == Storage::Populations && !raw.cuts_links();
            block(&Filled {
                target,
                real,
                dim,
                size: raw.cells(),
                periodic: raw.periodic(),
                plain,
                pads,
                least,
                levels,
            })
        });
        // Where blocks do not fit, resolving the case says why.
        let size = raw.cells();
        let partial = |axis: usize| block[axis] > 0 && !size[axis].is_multiple_of(block[axis] as usize);
        let is_padded = (0..dim).any(|axis| partial(axis) && pads[axis]);
        let (target, real, solids) = (device.target(), raw.real(), raw.cuts_links() || is_padded);
        let options = Options { target, real, layout: Layout::Blocks, block, coupling, solids };
        let ghosts = coupling.map(|at| &model.couplings()[at]);
        let ghosts = ghosts.filter(|coupling| matches!(coupling.exchange(), Exchange::Ghosts { .. }));
        let shown = model.shown().first();
        let needs_two = raw.needs_two_sets().map(str::to_string);
        let needs_two = needs_two
            .or(shown.map(|shown| format!("cells of `{}` read `{}` of their neighbours", model.name(), shown.name)))
            .or(ghosts.map(|coupling| format!("ghosts of the coupling `{}` read other cells", coupling.name())));
        let in_place = match (raw.buffers(), needs_two) {
            (Buffers::Two, _) => false,
            (Buffers::One, Some(why)) => {
                return Err(raw.reject_buffers(&why).into());
            }
            (Buffers::Auto, Some(why)) => {
                notes::note(&format!("`buffers`: two sets of populations, because {why}"));
                false
            }
            (Buffers::One | Buffers::Auto, None) => true,
        };
        let method = match raw.storage() {
            Storage::Moments if raw.is_derived() => {
                return Err(raw.reject_adjoint("there is no adjoint of moments in the place of populations").into());
            }
            _ if raw.is_derived() => spec::compile_adjoint(&model, &options)
                .map_err(|error| Report::new(raw.reject_adjoint(&error.to_string())))?,
            Storage::Populations | Storage::Auto if in_place => spec::compile_in_place(&model, &options)?,
            Storage::Populations => spec::compile(&model, &options)?,
            Storage::Moments => spec::compile_stored(&model, &options, true)
                .map_err(|error| Report::new(raw.reject_storage(&error.to_string())))?,
            Storage::Auto => {
                let (in_moments, why) = faster(&model, &options);
                notes::note(&why);
                spec::compile_stored(&model, &options, in_moments)?
            }
        };
        let (case, mut warnings) = raw.resolve(
            &method.manifest,
            &spec.prelude_rules()?,
            flow::available(processes, std::slice::from_ref(&device)),
        )?;
        warnings.extend(little_viscosity(&model, &method.manifest, &raw, &case));
        warnings.extend(unstable_ends(&model, &raw, &case));
        let placement = Placement::of(&case, &device)?.in_processes(processes);

        let criteria = case.refinement.as_ref().map(|refinement| {
            let criteria = refinement.criteria(case.dim);
            lbm_codegen::criteria::bundle_within(&method.manifest, case.size, &criteria).into_diagnostic()
        });
        let criteria = criteria.transpose()?;
        let formulas = case.prescribed();
        let prescribed = (!formulas.is_empty())
            .then(|| lbm_codegen::prescribed::bundle(&method.manifest, &formulas).into_diagnostic())
            .transpose()?;
        let accumulated = case.accumulated();
        let statistics = (!accumulated.is_empty())
            .then(|| lbm_codegen::statistics::bundle(&method.manifest, &accumulated).into_diagnostic())
            .transpose()?;
        let unstable = vec![];
        let ready =
            Ready { raw, spec, case, placement, gpus, method, criteria, prescribed, statistics, model, unstable };
        Ok((ready, warnings))
    }
}

/// How many GPUs may share a flow, from the first on.
fn free_gpus(raw: &RawCase, device: &Device, processes: &Processes) -> usize {
    // Derivatives are those of a flow on one device.
    let is_alone = raw.names_devices() || raw.is_derived() || processes.are_several();
    let is_free = device.ordinal() == Some(0) && !is_alone;
    if is_free { Device::gpus(device.target()).unwrap_or(1) } else { 1 }
}

/// Whether a flow is faster with moments in the place of populations, and a sentence that says so. Fewer values are moved then, but more is
/// computed: on a GPU, in blocks large enough that few cells around them are computed again. Where blocks have walls of solids or
/// touch other levels, populations are computed one by one; with 9 moments of 27 populations a refined grid is faster all the same.
fn faster(model: &Model, options: &Options) -> (bool, String) {
    let populations = |why: &str| (false, format!("`storage`: populations, because {why}"));
    let moments = match moments::stored(model) {
        Ok(stored) => stored.moments.len() - model.states().len(),
        Err(reason) => return populations(&reason.to_string()),
    };
    match options {
        Options { real: Real::F16F32, .. } if model.lattice().dim() == 2 => {
            populations("in two dimensions those of 16 bits are faster")
        }
        Options { target, .. } if !target.is_gpu() => populations("a host computes them no faster than it loads them"),
        _ if !model.shown().is_empty() => populations("cells read values of their neighbours: moments take two passes"),
        Options { coupling: Some(_), real: Real::F16F32, .. } => populations("the grid is refined"),
        Options { coupling: Some(_), .. } if 2 * moments >= model.moving() => {
            populations("the grid is refined, and moments are half as many or more")
        }
        Options { solids: true, .. } => populations("there are solids"),
        Options { block, .. } if block.iter().product::<u32>() < FEWEST_CELLS => {
            populations("blocks are small: take `block = [8, 8, 8]`")
        }
        _ => (true, format!("`storage`: {moments} moments in the place of {} populations", model.moving())),
    }
}

/// Cells of a block from which on moments are worth it.
const FEWEST_CELLS: u32 = 256;

/// Whether surfaces with a rule slide by a law of the wall.
fn slides(model: &Model, rule: &str) -> bool {
    let has = |name| move |boundary: &&Boundary| boundary.params.iter().any(|param| param.name == name);
    model.boundaries().iter().filter(has(SLIP)).filter(has(SOURCE)).any(|boundary| boundary.name == rule)
}

/// The block that fills a domain; says so where it is not the usual one. Where there is none, resolving the case says that.
fn block(filled: &Filled) -> [u32; 3] {
    let show = |sides: &[String]| sides.join("x");
    let sides = |block: [u32; 3]| show(&block[..filled.dim].iter().map(u32::to_string).collect::<Vec<_>>());
    let size = show(&filled.size[..filled.dim].iter().map(usize::to_string).collect::<Vec<_>>());
    let Some(chosen) = filled.block() else {
        return preferred_block(filled.target, filled.dim, filled.real, None);
    };
    let reached: Vec<usize> =
        (0..filled.dim).map(|axis| filled.size[axis].next_multiple_of(chosen.sides[axis] as usize)).collect();
    let is_padded = reached != filled.size[..filled.dim];
    if is_padded || chosen.sides != chosen.usual {
        let usual = (0..filled.dim).map(|axis| filled.size[axis].next_multiple_of(chosen.usual[axis] as usize));
        let usual = show(&usual.map(|cells| cells.to_string()).collect::<Vec<_>>());
        let slower = (100.0 * (1.0 - chosen.speed)).round();
        let speed = match slower > 0.0 {
            true => format!("a cell takes an estimated {slower} % more time than one of {usual} cells"),
            false => format!("they should be as fast as those that divide {usual} cells"),
        };
        let padding = match is_padded {
            true => format!(", padded to {}", show(&reached.iter().map(usize::to_string).collect::<Vec<_>>())),
            false => String::new(),
        };
        let others =
            if chosen.sides == chosen.usual { "they".into() } else { format!("those of {}", sides(chosen.usual)) };
        notes::note(&format!(
            "blocks of {}{padding}, because {others} do not divide {size} cells: {speed}",
            sides(chosen.sides),
        ));
        if filled.levels.is_some() && is_padded {
            notes::note(
                "blocks at the upper end of a padded axis are on one level, the finest that the case asks for anywhere at such an end, \
                 and do not change",
            );
        }
        if filled.levels.is_some() && (0..3).any(|axis| chosen.sides[axis] > 2 * chosen.usual[axis]) {
            notes::note(
                "whole blocks are refined: with blocks this large, more cells may be refined than the case asks \
                         for",
            );
        }
    }
    chosen.sides
}

/// A warning if the rate of the viscosity is close to its limit and the collision is not known to be stable there.
fn little_viscosity(model: &Model, manifest: &Manifest, raw: &RawCase, case: &Case) -> Option<Diagnostic> {
    let warning = raw.near_limit(manifest, case)?;
    let is_stable = params(model, case).is_some_and(|params| inviscid::is_stable(model, &params).unwrap_or(false));
    (!is_stable).then_some(warning)
}

/// Values of the method's parameters in a case.
fn params(model: &Model, case: &Case) -> Option<Vec<Vec<f64>>> {
    let value = |param: &Param| Some(case.params.iter().find(|(name, _)| *name == param.name)?.1.clone());
    model.params().iter().map(value).collect()
}

/// A warning if the collision amplifies what the refinement interfaces or the open faces of the case disturb. Nothing is known of a collision
/// that has no derivative, or of which a state is part; of others the coarsest level is the least viscous.
fn unstable_ends(model: &Model, raw: &RawCase, case: &Case) -> Option<Diagnostic> {
    let ends = case.refinement.is_some() || case.walls.iter().any(|wall| wall.may_be_open(case.size));
    if !ends || !model.states().is_empty() {
        return None;
    }
    let params = params(model, case)?;
    let speed = case.scales.velocity;
    let velocity: Vec<f64> = (0..case.dim).map(|axis| if axis == 0 { speed } else { 0.0 }).collect();
    let growth = edge::growth(model, &params, &velocity).ok()?;
    let is_steady =
        |other: &Model, params: &[Vec<f64>]| Some(edge::growth(other, params, &velocity).ok()? <= edge::GROWS);
    let steadier = alternatives::method(model, &params, &[], is_steady);
    (growth > edge::GROWS).then(|| raw.unstable_ends(growth, speed, steadier))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    use lbm_runtime::device::cache::Cache;

    use crate::cases::Shipped;

    /// Codes of what is reported of a shipped case with another method.
    fn warnings(case: &str, spec: &str) -> Vec<&'static str> {
        let file = CaseFile::of(Shipped::find(case).unwrap());
        let overrides = [("spec", format!("\"{spec}\"")), ("target", "\"cpu\"".to_string())];
        let overrides = overrides.map(|(key, value)| (key.to_string(), value));
        let (_, warnings) = Ready::of(&Processes::default(), &file, &overrides, false).unwrap();
        warnings.iter().map(|warning| warning.code().id).collect()
    }

    #[test]
    fn little_viscosity_is_for_collisions_that_are_stable_with_it() {
        for (spec, code) in [("d2q9_bgk", Some("C0502")), ("d2q9_kbc", None), ("d2q9_recursive", None)] {
            assert_eq!(warnings("double_shear_layer", spec), Vec::from_iter(code), "{spec}");
        }
    }

    /// A box with an inlet and an outlet, and rules at its bottom and top.
    fn ready(spec: &str, numbers: &str, faces: &str) -> Ready {
        let text = format!(
            r#"
            spec = "{spec}"
            target = "cpu"
            domain = {{ size = [32, 16] }}
            {numbers}
            start = {{ velocity = [0.05, 0] }}
            stop = {{ steps = 10 }}
            [faces]
            {faces}
            "#
        );
        let file = CaseFile::written(Path::new("box.toml"), &text);
        Ready::of(&Processes::default(), &file, &[], false).unwrap_or_else(|error| panic!("{error:?}")).0
    }

    fn found(ready: &Ready) -> Vec<Unstable> {
        found_within(ready, u64::MAX)
    }

    fn found_within(ready: &Ready, most: u64) -> Vec<Unstable> {
        let folder = tempfile::tempdir().unwrap();
        let mut cache = Cache::open(&folder.path().join("kernels"));
        unstable::of_case_with(&mut cache, &ready.spec, &ready.model, &ready.case, most)
    }

    const INLET: &str = "left = { rule = \"moving_wall\", velocity = [0.05, 0] }\n";
    const PRESSURE: &str = "right = { rule = \"anti_bounce_back\", density = 1 }\n";

    #[test]
    fn what_was_found_is_taken_from_the_cache_unless_it_is_damaged() {
        let faces = [INLET, PRESSURE, "others = \"periodic\""].concat();
        let ready = ready("d2q9_bgk", "fluid = { omega = 1.981, velocity = 0.05, length = 16 }", &faces);
        let folder = tempfile::tempdir().unwrap();
        let kernels = folder.path().join("kernels");
        let ask = || {
            let mut cache = Cache::open(&kernels);
            let found = unstable::of_case_with(&mut cache, &ready.spec, &ready.model, &ready.case, u64::MAX);
            (found, cache.notices)
        };
        let (first, notices) = ask();
        assert!(first.len() == 1 && first[0].sentence().contains("at `right`") && notices.is_empty(), "{first:?}");
        let entry = std::fs::read_dir(&kernels).unwrap().next().unwrap().unwrap().path();
        let bytes = std::fs::read(&entry).unwrap();
        // An entry of its own, which says something else, is believed.
        let name = entry.file_name().unwrap().to_str().unwrap().to_string();
        Cache::open(&kernels).store(&name, b"[]");
        assert_eq!(ask(), (vec![], vec![]));
        // One that has other bytes is not.
        std::fs::write(&entry, [&bytes[..9], &b"?"[..], &bytes[10..]].concat()).unwrap();
        let (again, notices) = ask();
        assert!(again == first && notices.len() == 1 && notices[0].contains("made again"), "{again:?} {notices:?}");
        assert_eq!(ask(), (first.clone(), vec![]));
        // One that is sealed but no list is none.
        Cache::open(&kernels).store(&name, b"{}");
        assert_eq!(ask().0, first);
    }

    /// Both pairs are stable; between all four faces something grows. With walls that conserve mass nothing does.
    #[test]
    fn walls_along_the_stream_are_part_of_the_question() {
        let along = |rule: &str| {
            let outflow = "right = \"extrapolation_outflow\"\n";
            let walls = ["bottom", "top"].map(|face| format!("{face} = {rule}\n"));
            let faces = [INLET, outflow, &walls[0], &walls[1]].concat();
            found(&ready("d2q9_bgk", "fluid = { omega = 1.7, velocity = 0.05, length = 16 }", &faces))
        };
        let grows = along("{ rule = \"regularized_velocity\", velocity = [0.05, 0] }");
        let [one] = &grows[..] else { panic!("{grows:?}") };
        assert!(one.sentence().contains("`bottom` (regularized_velocity) and `top`"), "{}", one.sentence());
        assert!(one.help().contains("at `right` take"), "{}", one.help());
        assert_eq!(along("\"bounce_back\""), []);
        assert_eq!(along("\"free_slip\""), []);
    }

    /// What takes more products than there are is not called stable.
    #[test]
    fn an_examination_that_takes_too_much_says_that_it_was_given_up() {
        let walls =
            "right = \"extrapolation_outflow\"\nothers = { rule = \"regularized_velocity\", velocity = [0.05, 0] }\n";
        let numbers = "fluid = { omega = 1.7, velocity = 0.05, length = 16 }";
        let ready = ready("d2q9_bgk", numbers, &[INLET, walls].concat());
        let given_up = found_within(&ready, 1000);
        let [one, ..] = &given_up[..] else { panic!("nothing is said") };
        assert!(!one.grows() && one.sentence().contains("was not found out: it takes more than"), "{}", one.sentence());
        assert!(found(&ready).iter().any(Unstable::grows));
    }

    /// A viscosity that is a state of the cell is an unknown of the step.
    #[test]
    fn methods_with_states_are_asked_about() {
        let faces = [INLET, PRESSURE, "others = \"periodic\""].concat();
        let power_law = |viscosity: f64| {
            let numbers = format!(
                "fluid = {{ velocity = 0.05, length = 16 }}\n\
                 params = {{ viscosity = {viscosity}, reference = 0.01, index = 0.9, slowest = 1e-4, force = [0, 0] }}"
            );
            found(&ready("d2q9_power_law_state", &numbers, &faces))
        };
        assert_eq!(power_law(0.05), []);
        let grows = power_law(1e-3);
        assert!(grows.len() == 1 && grows[0].sentence().contains("at `right`"), "{grows:?}");
    }
}
