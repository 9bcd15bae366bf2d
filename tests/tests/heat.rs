//! What solids give of a scalar to the fluid, and what diffuses through planes: against conduction between concentric cylinders and through a slab.

use std::f64::consts::{PI, TAU};
use std::path::Path;

use lbm_bundle::Real;
use lbm_dsl::model::Model;
use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::summary::Summary;
use lbm_runtime::device::{Available, Device};
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;
use lbm_tests::flows::devices;

/// A wall where the scalar of D3Q7 has a given value (anti-bounce-back).
const FIXED: &str = "boundary fixed_value {\n    param value;\n    link f[i] <- 2 * w[i] * value - f[opp(i)];\n}\n";

/// Runs a case of a method into a folder.
fn run(model: &Model, text: &str, folder: &Path, resume: Option<&Path>, set: &[(&str, &str)]) -> Summary {
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let raw = RawCase::parse("heat.toml", text, &set).expect("a case");
    let device = Device::host(1).expect("the host");
    let block = if model.lattice().dim() == 2 { [4, 4, 1] } else { [4, 4, 4] };
    let method = compiled::compile_solids(model, device.target(), Real::F64, block);
    let (case, _) =
        raw.resolve(&method.manifest, &[], Available::default()).unwrap_or_else(|error| panic!("{error:?}"));
    let levels = case.refinement.as_ref().map(|refinement| refinement.criteria(case.dim));
    let criteria = levels.map(|levels| lbm_codegen::criteria::bundle(&method.manifest, &levels).expect("known names"));
    let kernels = Kernels { method: &method, criteria: criteria.as_ref(), prescribed: None, statistics: None };
    let placement = Placement::of(&case, &device).expect("its devices");
    flow::run(&case, kernels, &placement, folder, Control { resume, ..Control::default() }, |_| {}).expect("it runs")
}

/// The mean of what a solid gives, and its Nusselt number.
fn of_solid(summary: &Summary, solid: usize) -> (f64, Option<f64>) {
    let found = summary.heat.iter().find(|of| of.solid == solid && of.part.is_none()).expect("a mean");
    (found.rate.as_ref().expect("rows").mean, found.nusselt.as_ref().map(|of| of.mean))
}

/// A fluid at rest between a warm cylinder and a cold one around it, with this diffusivity.
fn cylinders(radii: [f64; 2], shift: [f64; 2], diffusivity: f64) -> String {
    let [inner, outer] = radii;
    let side = (2.0 * outer + 6.0).ceil() as usize / 4 * 4 + 4;
    let centre = shift.map(|shift| side as f64 / 2.0 + shift);
    let time = ((outer - inner) / PI).powi(2) / diffusivity;
    format!(
        "spec = \"d2q9_scalar\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [{side}, {side}]\n\
         [fluid]\nomega = 1\nvelocity = 0.01\nlength = {inner:?}\n[params]\nomega_g = {rate:?}\n[faces]\nothers = \"bounce_back\"\n\
         [[solids]]\nshape = \"cylinder\"\ncentre = {centre:?}\nradius = {inner:?}\nrule = \"fixed_value\"\nvalue = 1\n\
         nusselt = {{ difference = 1 }}\n\
         [[solids]]\nshape = \"cylinder\"\ninverted = true\ncentre = {centre:?}\nradius = {outer:?}\nrule = \"fixed_value\"\nvalue = 0\n\
         [stop]\nsteps = {steps}\n[output]\ndirectory = \"unused\"\nheat = 10\naverage_from = {steps}\nrestart = 100_000\n",
        rate = 1.0 / (3.0 * diffusivity + 0.5),
        steps = (2.5 * time) as u64 * 10,
    )
}

/// Places of the cylinders on the grid.
const PLACES: usize = 10;

/// The root mean square over places of the cylinders on the grid of the relative error of what the inner one gives, `2 pi D / ln(r2 / r1)`: cells
/// are cut half-way, so it is of first order.
#[test]
fn concentric_cylinders_conduct_what_the_logarithm_of_their_radii_says() {
    lbm_tests::in_turn!();
    let (model, diffusivity) = (compiled::model("d2q9_scalar"), 1.0 / 6.0);
    let errors = [8.0, 16.0].map(|inner| {
        let expected = TAU * diffusivity / 2f64.ln();
        let error = |shift: [f64; 2]| {
            let folder = tempfile::tempdir().expect("a folder");
            let summary = run(&model, &cylinders([inner, 2.0 * inner], shift, diffusivity), folder.path(), None, &[]);
            let ((warm, number), (cold, none)) = (of_solid(&summary, 1), of_solid(&summary, 2));
            assert!((warm + cold).abs() < 1e-9 * warm, "steady: {warm} {cold}");
            let number = number.expect("a Nusselt number");
            assert!((number / (warm / (TAU * diffusivity)) - 1.0).abs() < 1e-12 && none.is_none(), "{number} {warm}");
            (warm / expected - 1.0).abs()
        };
        let shift = |place: usize| [0.618_034, 0.414_214].map(|step| (place as f64 * step).fract());
        ((0..PLACES).map(|place| error(shift(place)).powi(2)).sum::<f64>() / PLACES as f64).sqrt()
    });
    println!("{errors:?}");
    assert!(errors[1] < 0.01 && (errors[0] / errors[1]).log2() > 0.9, "{errors:?}");
}

/// The table of a run that was stopped is that of one that was not.
#[test]
fn a_resumed_run_has_the_heat_of_an_unbroken_one() {
    let text = cylinders([4.0, 8.0], [0.2, 0.3], 0.1);
    let go = |folder: &Path, resume: Option<&Path>, steps: &str| {
        run(&compiled::model("d2q9_scalar"), &text, folder, resume, &[("stop.steps", steps), ("average_from", "50")])
    };
    let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
    let once = go(whole.path(), None, "105");
    go(parts.path(), None, "42");
    let last = go(parts.path(), Some(&parts.path().join("restart.lbmc")), "105");
    assert_eq!(once.heat, last.heat);
    let read = |folder: &Path| std::fs::read_to_string(folder.join("heat.csv")).expect("a table");
    assert_eq!(read(whole.path()), read(parts.path()));
    assert!(read(parts.path()).contains("\nstep,time,solid,phi,nusselt\n0,"), "{}", read(parts.path()));
    assert_eq!(once.units["heat.rate"], "unit of the scalar times cells²/step");
}

/// In each step the sum of the scalar changes by what solids give, to round-off, while the flow's own mass does not; on two levels, too.
#[test]
fn what_solids_give_is_what_the_fluid_gains() {
    for device in devices() {
        let model = compiled::model("d2q9_scalar");
        let bundle = compiled::compile_solids(&model, device.target(), Real::F64, [8, 8, 1]);
        let circle = |x: f64, y: f64, value: f64| Solid {
            shape: Shape::Cylinder { centre: [x, y, 0.0], axis: [0.0, 0.0, 1.0], radius: 5.3, length: None },
            rule: "fixed_value".into(),
            values: vec![("value".into(), vec![value])],
            level: 0,
            shells: vec![],
        };
        let grid =
            GridSpec::periodic([48, 32, 1]).with_solid(circle(14.2, 15.1, 1.0)).with_solid(circle(37.4, 2.3, 0.25));
        let params = [("omega", 1.3), ("omega_g", 1.2)].map(|(name, value)| (name.to_string(), vec![value]));
        let mut flow = Simulation::new(&device, &bundle, &grid, &params).expect("a flow");
        flow.init(|[x, y, _], out| out.copy_from_slice(&[1.0, 0.02 + 0.001 * y as f64, 0.01, 0.1 + 0.002 * x as f64]))
            .expect("a start");
        for steps in [1, 2, 30] {
            flow.run(steps).expect("steps");
            let (before, given) = (flow.sums().expect("sums"), flow.exchanges().expect("exchanges"));
            flow.run(1).expect("a step");
            let after = flow.sums().expect("sums");
            for set in [0, 1] {
                let all: f64 = given.iter().map(|of| of.gains[set]).sum();
                let gained = after[set].mass - before[set].mass;
                assert!((gained - all).abs() < 1e-11, "set {set}: {gained:e} for {all:e}");
            }
            assert!(given[0].gains[1] > 0.1 && given[0].gains[0].abs() < 1e-12, "{given:?}");
        }
    }
}

/// A slab between plates of given values, on one level.
fn slab(cells: usize) -> String {
    let planes = [("plate = left", 0.0), ("", 3.0), ("", 5.5)];
    let planes: String = planes
        .iter()
        .enumerate()
        .map(|(at, (face, place))| {
            let plane = if face.is_empty() {
                format!("plane = {{ normal = \"x\", at = {place:?} }}")
            } else {
                "face = \"left\"".into()
            };
            format!("[[fluxes]]\nname = \"p{at}\"\n{plane}\nevery = 50\n")
        })
        .collect();
    format!(
        "spec = \"d2q9_scalar\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [{cells}, 8]\n[fluid]\nomega = 1\n\
         velocity = 0.01\n[params]\nomega_g = 1.25\n[faces]\nleft = {{ rule = \"fixed_value\", value = 1.5 }}\n\
         right = {{ rule = \"fixed_value\", value = 0.5 }}\nothers = \"periodic\"\n[stop]\nsteps = {steps}\n[output]\ndirectory = \"unused\"\n\
         restart = 100_000\n{planes}",
        steps = 60 * cells * cells,
    )
}

/// Through a slab of a length L diffuses `D dphi / L` on an area: exact in the scheme, on faces of the domain and everywhere inside.
#[test]
fn what_diffuses_through_a_slab_is_its_diffusivity_times_the_slope() {
    let (model, folder) = (compiled::model("d2q9_scalar"), tempfile::tempdir().expect("a folder"));
    let summary = run(&model, &slab(16), folder.path(), None, &[]);
    let expected = (1.0 / 1.25 - 0.5) / 3.0 / 16.0 * 8.0;
    for plane in &summary.planes {
        let [scalar] = &plane.scalars[..] else { panic!("{plane:?}") };
        let (carried, diffused) =
            (scalar.carried.as_ref().expect("rows").mean, scalar.diffused.as_ref().expect("rows").mean);
        assert!((diffused / expected - 1.0).abs() < 1e-9 && carried.abs() < 1e-12, "{plane:?}");
    }
    let table = std::fs::read_to_string(folder.path().join("fluxes.csv")).expect("a table");
    assert!(table.contains("\nstep,time,plane,area,volume,mass,phi,phi_diffused\n"), "{table}");
    let (parts, text) = (tempfile::tempdir().expect("a folder"), slab(16));
    run(&model, &text, parts.path(), None, &[("stop.steps", "333")]);
    let resumed = run(&model, &text, parts.path(), Some(&parts.path().join("restart.lbmc")), &[]);
    assert_eq!(resumed.planes, summary.planes);
}

/// A box in a medium that carries a scalar past it, in three dimensions: what it gives on two levels is within a tenth of what it gives on one, four
/// cells wide there.
#[test]
fn a_body_on_a_finer_level_gives_the_heat_of_one_on_a_coarser_within_a_tenth() {
    let model = {
        let text = lbm_dsl::shipped::spec("d3q7_advection").expect("shipped");
        let text = text.replace("param velocity[a];", "param velocity[a]: length / time;");
        let source = lbm_dsl::source::Source::new("d3q7_advection.lbm", &format!("{text}\n{FIXED}"));
        lbm_dsl::compile_with(&source, &lbm_dsl::shipped::Prelude, &[], Some("volumetric"), None)
            .unwrap_or_else(|report| panic!("{}", report.render(120)))
    };
    let text = "spec = \"d3q7_advection\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4, 4]\n[domain]\nsize = [24, 16, 16]\n\
                [fluid]\nvelocity = 0.05\nlength = 4\n[params]\nvelocity = [0.05, 0, 0]\nomega = 1.2\n[faces]\nothers = \"periodic\"\n\
                [start]\nphi = 1\n\
                [[solids]]\nshape = \"box\"\nfrom = [8, 6, 6]\nto = [12, 10, 10]\nrule = \"fixed_value\"\nvalue = 2\nnusselt = { difference = 1 }\n\
                [stop]\nsteps = 100\n[output]\ndirectory = \"unused\"\nheat = 20\n";
    let refined =
        format!("{text}[refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [4, 2, 2], to = [16, 14, 14] }}]\n");
    let folder = tempfile::tempdir().expect("a folder");
    let (one, two) = (run(&model, text, folder.path(), None, &[]), run(&model, &refined, folder.path(), None, &[]));
    let (one, two) = (of_solid(&one, 1), of_solid(&two, 1));
    assert!(one.0 > 0.0 && (two.0 / one.0 - 1.0).abs() < 0.1, "{one:?} {two:?}");
}
