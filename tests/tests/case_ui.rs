//! Every diagnostic of a case file has a case in `case_ui`, and every case there its text in `snapshots/case_ui`.
//!
//! A file `c0102_x.toml` must yield code C0102, a file `ok_x.toml` none. Comments at the top of a file: `# set: KEY=VALUE`
//! is an override, or takes a key away, `# method: NAME` takes another method than the plain one, `# available: BYTES` is the memory that there is,
//! `# growth: RATE` is what `lbmc run` finds of its collision.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use lbm_bundle::variation::Variation;
use lbm_bundle::{
    ABI, AtFace, Boundary, Criterion, Direction, Field, Layout, Manifest, Param, Populations, Real, Shown, Target,
    Transport, Unit,
};
use lbm_codegen::pipeline::CompileError;
use lbm_dsl::model::Model;
use lbm_dsl::prove::inviscid;
use lbm_dsl::prove::moments::NotStored;
use lbm_flows::case::{Buffers, CODES, Case, CaseError, Code, Diagnostic, Method, RawCase};
use lbm_runtime::device::Available;
use lbm_tests::compiled;
use lbm_tests::sample::sample;
use miette::{GraphicalReportHandler, GraphicalTheme};
use num_traits::ToPrimitive;

#[test]
fn every_case_yields_its_diagnostics() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../../snapshots/case_ui");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut seen = BTreeSet::new();
    for path in files("case_ui").into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")) {
        let stem = stem(&path);
        let text = fs::read_to_string(&path).expect("readable");
        let (story, codes) = run(&format!("{stem}.toml"), &text);
        match stem.split_once('_').expect("code_what.toml") {
            ("ok", _) => assert!(codes.is_empty(), "{stem}: {story}"),
            (code, _) => assert!(codes.iter().any(|found| found.id.eq_ignore_ascii_case(code)), "{stem}: {story}"),
        }
        seen.extend(codes);
        settings.bind(|| insta::assert_snapshot!(stem.clone(), story));
    }
    let unseen: Vec<&Code> = CODES.iter().filter(|code| !seen.contains(code)).collect();
    assert!(unseen.is_empty(), "codes without a case: {unseen:?}");
}

#[test]
fn every_snapshot_has_its_case() {
    let cases: BTreeSet<_> = files("case_ui").iter().map(|path| stem(path)).collect();
    for path in files("../snapshots/case_ui") {
        assert!(cases.contains(&stem(&path)), "{} has no case", path.display());
    }
}

#[test]
fn every_shipped_case_is_valid_without_warnings_but_those_it_speaks_of() {
    let cases = files("../cases").into_iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"));
    for path in sample(cases) {
        let text = fs::read_to_string(&path).expect("readable");
        let mut raw = RawCase::parse(&stem(&path), &text, &[]).unwrap_or_else(|error| panic!("{}", render(&error)));
        raw.load(|file| fs::read(path.with_file_name(file)).map_err(|error| error.to_string())).expect("files");
        let (manifest, model) = shipped(&mut raw);
        match raw.resolve(&manifest, &[], Available::default()) {
            Ok((case, mut warnings)) => {
                let value = |name: &str| case.params.iter().find(|(own, _)| own == name).expect("a value").1.clone();
                let params: Vec<Vec<f64>> = model.params().iter().map(|param| value(&param.name)).collect();
                let is_stable = || inviscid::is_stable(&model, &params).unwrap_or(false);
                warnings.extend(raw.near_limit(&manifest, &case).filter(|_| !is_stable()));
                let unspoken = warnings.iter().find(|warning| !text.contains(warning.code().id));
                assert!(unspoken.is_none(), "{}", unspoken.map(|warning| render(warning)).unwrap_or_default());
            }
            Err(error) => panic!("{}", render(&error)),
        }
    }
}

#[test]
fn the_same_cavity_in_si_units_is_the_same_on_the_lattice() {
    let case = |name: &str| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../cases").join(name);
        resolve(name, &fs::read_to_string(path).expect("readable"), &[], None, Available::default(), None)
            .expect("valid")
            .0
    };
    let (lattice, si) = (case("cavity2d.toml"), case("cavity2d_si.toml"));
    assert_eq!(lattice.size, si.size);
    let ratio = lattice.scales.re.expect("known") / si.scales.re.expect("known");
    assert!((ratio - 1.0).abs() < 1e-12, "{ratio}");
    assert!((si.scales.mach - 0.17).abs() < 1e-12);
}

fn files(folder: &str) -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut files: Vec<_> =
        fs::read_dir(folder).expect("folder").map(|entry| entry.expect("readable").path()).collect();
    files.sort();
    files
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file").to_string_lossy().into_owned()
}

/// What a user reads, and the codes in it.
fn run(name: &str, text: &str) -> (String, Vec<Code>) {
    let comments = |key: &str| {
        let prefix = format!("# {key}: ");
        text.lines().filter_map(|line| line.strip_prefix(&prefix).map(String::from)).collect::<Vec<_>>()
    };
    let split = |set: String| {
        let (key, value) = set.split_once('=').unwrap_or((&set, ""));
        (key.to_string(), value.to_string())
    };
    let overrides: Vec<_> = comments("set").into_iter().map(split).collect();
    let available = comments("available").first().map(|bytes| bytes.parse().expect("a number of bytes"));
    let available = Available { device: available, host: None };
    let growth = comments("growth").first().map(|rate| rate.parse().expect("a number"));
    match resolve(name, text, &overrides, comments("method").first().map(String::as_str), available, growth) {
        Ok((case, warnings)) if warnings.is_empty() => (format!("{case:#?}"), vec![]),
        Ok((_, warnings)) => (warnings.iter().map(|warning| render(warning)).collect(), codes(&warnings)),
        Err(error) => (render(&error), codes(error.diagnostics())),
    }
}

fn resolve(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    method: Option<&str>,
    available: Available,
    growth: Option<f64>,
) -> Result<(Case, Vec<Diagnostic>), CaseError> {
    let mut raw = RawCase::parse(name, text, overrides)?;
    raw.load(|file| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("case_ui").join(file);
        fs::read(path).map_err(|_| "there is no such file".to_string())
    })?;
    raw.open_recordings(|file| {
        let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("case_ui").join(file);
        let opened = fs::File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        opened.map(|(length, file)| (file, length)).map_err(|_| "there is no such file".to_string())
    })?;
    if method == Some("none") {
        let help = "did you mean `d2q9_bgk`?".to_string();
        return Err(raw.reject_spec("there is no spec `d2q9_bkg`", Some(help)));
    }
    if method == Some("misfit") {
        let why = "populations without a formula: `free_slip` is a boundary condition for `f` alone, and this method has `g` too";
        return Err(raw.reject_choice("free_slip", why, None));
    }
    if let (Buffers::One, Some(why)) = (raw.buffers(), raw.needs_two_sets()) {
        return Err(raw.reject_buffers(why));
    }
    if method == Some("all") {
        return Err(raw.reject_storage(&CompileError::NotStored(NotStored::All(9, None)).to_string()));
    }
    let manifest = manifest(&raw, method.unwrap_or("bgk"));
    let manifest = varied(&mut raw, manifest)?;
    let (case, mut warnings) = raw.resolve(&manifest, &["free_slip".to_string()], available)?;
    warnings.extend(raw.near_limit(&manifest, &case));
    warnings.extend(growth.map(|growth| raw.unstable_ends(growth, case.scales.velocity, None)));
    Ok((case, warnings))
}

/// What a case makes vary of the method of a manifest.
fn variations(raw: &mut RawCase, manifest: &Manifest) -> Result<Vec<Variation>, CaseError> {
    let (name, dim) = (manifest.spec.clone(), manifest.dim as usize);
    let (params, fields) = (manifest.params.clone(), manifest.fields.clone());
    let rate = manifest.viscosity.rate.clone();
    if raw.may_vary() { raw.vary(&Method { name, dim, params, fields, rate }) } else { Ok(vec![]) }
}

/// The manifest of a method that is compiled with the parameters that a case makes vary.
fn varied(raw: &mut RawCase, mut manifest: Manifest) -> Result<Manifest, CaseError> {
    for variation in variations(raw, &manifest)? {
        if variation.formulas.iter().any(|formula| formula.names().contains("ux")) {
            return Err(raw.reject_circular(&variation, "u"));
        }
        manifest.params.retain(|param| param.name != variation.param);
        let given = |name: &String| Param {
            name: name.clone(),
            components: 1,
            default: None,
            range: None,
            unit: None,
            doc: String::new(),
        };
        manifest.params.extend(variation.unit.iter().chain(&variation.numbers).map(given));
        manifest.fields.extend(variation.places.iter().map(|name| Field { place: true, ..Field::own(name, 1) }));
    }
    Ok(manifest)
}

/// The manifest of a shipped method with the boundary rules that a case names, and the method.
fn shipped(raw: &mut RawCase) -> (Manifest, Model) {
    let spec = raw.spec();
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(format!("../generated/{spec}.json"));
    let text = fs::read_to_string(path).expect("readable");
    let mut manifest = Manifest::from_json(&text).expect("a manifest");
    let variations = variations(raw, &manifest).unwrap_or_else(|error| panic!("{}", render(&error)));
    let model = compiled::model_varied(raw.spec(), &raw.rules(), None, &variations).observing(&raw.fields());
    manifest.fields = model
        .fields()
        .iter()
        .map(|field| Field { place: field.place, ..Field::own(&field.name, field.components.len()) })
        .collect();
    manifest.params.clear();
    manifest.fields.extend(model.asked().iter().map(|found| Field {
        name: found.name.clone(),
        components: found.components.len() as u32,
        observed: true,
        place: false,
        unit: found.unit.map(|unit| Unit { length: unit.length, time: unit.time }),
    }));
    let param = |param: &lbm_dsl::model::Param| Param {
        name: param.name.clone(),
        components: param.components as u32,
        default: param.default.as_ref().and_then(|value| value.to_f64()),
        range: param.range.as_ref().and_then(|(low, high)| Some((low.to_f64()?, high.to_f64()?))),
        unit: param.unit.map(|unit| Unit { length: unit.length, time: unit.time }),
        doc: param.doc.clone(),
    };
    manifest.params.extend(model.params().iter().map(param));
    let boundaries = model.boundaries().iter().zip(0..).map(|(rule, code)| Boundary {
        name: rule.name.clone(),
        code,
        nodes: matches!(rule.rule, lbm_dsl::model::Rule::Node(_)),
        at_face: AtFace::Unknown,
        unit_density: false,
        params: rule.params.iter().map(param).collect(),
        doc: rule.doc.clone(),
    });
    let fits = |code: &i32| lbm_codegen::lower::solids::fits(&model, *code as usize);
    let solid_rules = (0..model.boundaries().len() as i32).filter(fits).collect();
    let block = raw.block(manifest.dim as usize).unwrap_or(manifest.block);
    let boundaries = boundaries.collect();
    (Manifest { block, boundaries, solid_rules, criteria: vorticity(), ..manifest }, model)
}

/// The criterion of that name in two dimensions.
fn vorticity() -> Vec<Criterion> {
    let formula = "sqrt((dx_uy - dy_ux)^2)".parse().expect("a formula");
    vec![Criterion { name: "vorticity".into(), doc: String::new(), formula, unit: Unit { length: 0, time: -1 } }]
}

/// The manifest of a method with one rate (`bgk`), which reads densities of neighbours besides (`neighbours`), with a force (`guo`, or `driven` where it has a unit), with a second rate (`trt`), or whose viscosity depends on both (`mrt`), or which carries a scalar whose diffusivity does (`mixed`).
fn manifest(raw: &RawCase, method: &str) -> Manifest {
    let spec = raw.spec();
    let dim = if spec.starts_with("d3") { 3 } else { 2 };
    let param = |name: &str, components: u32, range: Option<(f64, f64)>, doc: &str| Param {
        name: name.into(),
        components,
        default: None,
        range,
        unit: (method == "driven" && name == "force").then_some(Unit { length: 1, time: -2 }),
        doc: doc.into(),
    };
    let mut params = vec![param("omega", 1, Some((0.0, 2.0)), "relaxation rate of the stress")];
    if method == "guo" || method == "driven" {
        params.push(param("force", dim, None, "on a cell"));
    } else if method == "trt" || method == "mrt" {
        params.push(param("s_nu", 1, Some((0.0, 2.0)), "relaxation rate of the odd moments"));
    }
    let field = |name: &str, components: u32| Field::own(name, components as usize);
    let mut fields = vec![field("rho", 1), field("u", dim)];
    let populations = |name: &str, of: &str, diffusivity: Option<Transport>| Populations {
        name: name.into(),
        lattice: if dim == 2 { "D2Q9" } else { "D3Q19" }.into(),
        cs2: 1.0 / 3.0,
        first: 0,
        count: 0,
        field: Some(of.into()),
        diffusivity,
    };
    let mut sets = vec![populations("f", "rho", None)];
    if spec == "d2q9_scalar" {
        let rate = (method != "mixed").then(|| "omega_g".to_string());
        let formula = if rate.is_some() { "1/3*(1/omega_g - 1/2)" } else { "1/6*(1/omega + 1/omega_g - 1)" }.into();
        sets.push(populations("g", "phi", Some(Transport { formula, rate })));
        params.push(param("omega_g", 1, Some((0.0, 2.0)), "relaxation rate of the scalar's flux"));
        fields.push(field("phi", 1));
    }
    let direction = Direction { c: [0; 3], weight: "1".into(), rest: "0".into(), opposite: 0 };
    Manifest {
        abi: ABI,
        spec: spec.into(),
        target: Target::C,
        real: Real::F32,
        layout: Layout::Blocks,
        dim,
        populations: sets,
        directions: vec![direction; if dim == 2 { 9 } else { 19 }],
        states: vec![],
        shown: if method == "neighbours" { vec![Shown { name: "rho".into(), value: 0, axis: None }] } else { vec![] },
        seen: vec![],
        moments: vec![],
        block: raw.block(dim as usize).unwrap_or(if dim == 2 { [8, 8, 1] } else { [4, 4, 4] }),
        wall_stride: dim,
        params,
        fields,
        boundaries: vec![
            Boundary {
                name: "bounce_back".into(),
                code: 0,
                nodes: false,
                at_face: AtFace::Prescribed,
                unit_density: false,
                params: vec![],
                doc: String::new(),
            },
            Boundary {
                name: "moving_wall".into(),
                code: 1,
                nodes: false,
                at_face: AtFace::Prescribed,
                unit_density: true,
                params: vec![param("velocity", dim, None, "of the wall")],
                doc: String::new(),
            },
            Boundary {
                name: "interpolated_bounce_back".into(),
                code: 2,
                nodes: true,
                at_face: AtFace::Unknown,
                unit_density: false,
                params: vec![param("distance", 1, Some((0.0, 2.0)), "of the wall")],
                doc: String::new(),
            },
            Boundary {
                name: "zou_he_velocity".into(),
                code: 3,
                nodes: true,
                at_face: AtFace::Unknown,
                unit_density: false,
                params: vec![param("velocity", dim, None, "of the fluid at the wall")],
                doc: String::new(),
            },
        ],
        members: vec![],
        solid_rules: vec![0, 1, 2],
        mirror_rules: vec![],
        one_level_rules: vec![],
        in_place_rules: vec![],
        in_place_face_rules: vec![],
        coupling: None,
        criteria: vorticity(),
        kernels: vec![],
        viscosity: Transport {
            formula: if method == "mrt" { "1/6*(1/omega + 1/s_nu - 1)" } else { "1/3*(1/omega - 1/2)" }.into(),
            rate: (method != "mrt").then(|| "omega".into()),
        },
    }
}

#[test]
fn a_report_about_a_long_line_is_short() {
    let base = "spec = \"d2q9_bgk\"\ndomain.size = [32, 32]\nfluid.omega = 1\nstop.steps = 10\n";
    let numbers = vec!["0.125"; 200_000].join(", ");
    let words = vec!["\"vörticity\""; 100_000].join(", ");
    for line in [
        format!("start.velocity = [[{numbers}], [{numbers}]]"),
        format!("output.vtk = [{words}]"),
        format!("output.fields = [1, {words}, 2, {words}, 3]"),
        format!("pictures = [{{ field = \"speed\", name = \"{}\" }}]", "../".repeat(100_000)),
        format!("output.{} = 1", "x".repeat(1_000_000)),
    ] {
        let start = &line[..12];
        let Err(error) = RawCase::parse("case.toml", &format!("{base}{line}\n"), &[]) else { panic!("{start}") };
        let shown = render(&error);
        assert!(shown.len() < 20_000, "{start}: {} bytes: {}", shown.len(), &shown[..1000]);
        assert!(shown.contains("case.toml:5:"), "{start}: {shown}");
    }
}

fn codes(diagnostics: &[Diagnostic]) -> Vec<Code> {
    diagnostics.iter().map(Diagnostic::code).collect()
}

fn render(diagnostic: &dyn miette::Diagnostic) -> String {
    let mut text = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(110)
        .render_report(&mut text, diagnostic)
        .expect("a string takes all");
    text
}
