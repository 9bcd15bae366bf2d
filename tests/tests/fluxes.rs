//! What flows through planes: against the flow between plates, and the same through all planes of a steady flow around a body.

use std::path::Path;

use lbm_bundle::Real;
use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::summary::Summary;
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;

/// Runs a case of a method with these boundary conditions into a folder.
fn run(spec: &str, rules: &[&str], text: &str, folder: &Path, resume: Option<&Path>, set: &[(&str, &str)]) -> Summary {
    let set: Vec<(String, String)> = set.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
    let raw = RawCase::parse("flux.toml", text, &set).expect("a case");
    let coupling = raw.coupling().map(String::from);
    let model = compiled::model_with_all(spec, rules, coupling.as_deref());
    let device = Device::host(1).expect("the host");
    let block = if model.lattice().dim() == 2 { [4, 4, 1] } else { [4, 4, 4] };
    let method = match coupling.is_some() || raw.cuts_links() {
        true => compiled::compile_solids(&model, device.target(), Real::F64, block),
        false => compiled::compile(&model, device.target(), Real::F64, block).bundle,
    };
    let (case, _) = raw.resolve(&method.manifest, &[], Available::default()).expect("valid");
    let levels = case.refinement.as_ref().map(|refinement| refinement.criteria(case.dim));
    let criteria = levels.map(|levels| lbm_codegen::criteria::bundle(&method.manifest, &levels).expect("known names"));
    let kernels = Kernels { method: &method, criteria: criteria.as_ref(), prescribed: None, statistics: None };
    let placement = Placement::of(&case, &device).expect("its devices");
    flow::run(&case, kernels, &placement, folder, Control { resume, ..Control::default() }, |_| {}).expect("it runs")
}

/// The mean of the volume that flows through a plane.
fn volume(summary: &Summary, name: &str) -> f64 {
    let plane = summary.planes.iter().find(|plane| plane.name == name).expect(name);
    plane.volume.as_ref().expect("rows").mean
}

/// A force per volume that makes the flow between plates.
const FORCE: f64 = 1e-5;

/// Plates so many cells apart, a fluid between them that is pushed, at the viscosity at which half-way bounce-back puts the plates where they
/// should be for a single rate, on the level that there is at the plates.
fn plates(cells: usize, levels: usize) -> (String, f64) {
    let viscosity = 3f64.sqrt() / 12.0 / levels as f64;
    let refinement = match levels {
        1 => String::new(),
        _ => format!(
            "[refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [0, 0], to = [8, {quarter}] }}, \
             {{ level = 1, from = [0, {most}], to = [8, {cells}] }}]\n",
            quarter = cells / 4,
            most = cells - cells / 4
        ),
    };
    let text = format!(
        "spec = \"d2q9_guo\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [8, {cells}]\n[fluid]\n\
         omega = {:?}\nvelocity = 0.01\n[params]\nforce = [{FORCE:?}, 0]\n[faces]\nleft = \"periodic\"\nright = \"periodic\"\n\
         others = \"bounce_back\"\n[stop]\nsteps = {steps}\n[output]\ndirectory = \"unused\"\nrestart = 100_000\n{refinement}\
         [[fluxes]]\nname = \"whole\"\nplane = {{ normal = \"x\", at = 3 }}\nevery = 50\n\
         [[fluxes]]\nname = \"lower\"\nplane = {{ normal = \"x\", at = 3 }}\nto = [{half}]\nevery = 50\n\
         [[fluxes]]\nname = \"upper\"\nplane = {{ normal = \"x\", at = 3 }}\nfrom = [{half}]\nevery = 50\n\
         [[fluxes]]\nname = \"plate\"\nface = \"bottom\"\nevery = 50\n\
         [report]\npermeability = \"viscosity * whole_volume / (whole_area * forcex)\"\n\
         of_all = \"viscosity * mean_ux * porosity / forcex\"\nratio = \"of_all / permeability * lx / 8\"\nnothing = \"1 / (lx - 8)\"\n",
        1.0 / (3.0 * viscosity + 0.5),
        steps = 30 * cells * cells * levels,
        half = cells / 2,
    );
    (text, FORCE / (12.0 * viscosity) * (cells as f64).powi(3))
}

/// The flow is the parabola of Poiseuille: volume per time `F H^3 / (12 nu)`.
#[test]
fn the_flow_between_plates_is_that_of_poiseuille_to_second_order() {
    lbm_tests::in_turn!();
    for levels in [1, 2] {
        let errors = [16, 32].map(|cells| {
            let folder = tempfile::tempdir().expect("a folder");
            let (text, expected) = plates(cells, levels);
            let summary = run("d2q9_guo", &["bounce_back"], &text, folder.path(), None, &[]);
            let whole = volume(&summary, "whole");
            let parts = volume(&summary, "lower") + volume(&summary, "upper");
            assert!((parts / whole - 1.0).abs() < 1e-12, "{parts} {whole}");
            assert!(volume(&summary, "plate").abs() < 1e-9 * whole, "{}", volume(&summary, "plate"));
            let plane = &summary.planes[0];
            assert!((plane.area - cells as f64).abs() < 1e-12 && plane.normal == "x", "{plane:?}");
            assert!((plane.mass.as_ref().expect("rows").mean / whole - 1.0).abs() < 1e-3, "{plane:?}");
            assert_eq!(summary.units["planes.volume"], "cells²/step");
            let [permeability, of_all, ratio, nothing] = &summary.report[..] else { panic!("{:?}", summary.report) };
            let found = permeability.value.expect("a value") / ((cells * cells) as f64 / 12.0);
            assert!((found / (whole / expected) - 1.0).abs() < 1e-12 && permeability.name == "permeability", "{found}");
            let (of_all, ratio) = (of_all.value.expect("a value"), ratio.value.expect("a value"));
            assert!(
                (ratio * permeability.value.unwrap_or(0.0) / of_all - 1.0).abs() < 1e-12 && nothing.value.is_none()
            );
            // The mean over all cells, which a plane through the middle of squares is not, but to second order.
            assert!((ratio - 1.0).abs() < 5e-3, "{ratio}");
            whole / expected - 1.0
        });
        println!("{levels} levels: {errors:?}");
        assert!((errors[0] / errors[1]).log2() > 1.8 && errors[1].abs() < 3e-3, "{levels} levels: {errors:?}");
    }
}

/// A run that ends before a second row is due has its last row as its mean, and not that of the start; a last row that comes early counts by its steps.
#[test]
fn the_last_row_counts_by_the_steps_that_it_ends() {
    let (text, _) = plates(16, 1);
    let text = text.replace("[output]", "[output]\naverage_from = 1").replace("every = 50", "every = 500");
    let found = [40, 500, 700].map(|steps| {
        let folder = tempfile::tempdir().expect("a folder");
        let summary =
            run("d2q9_guo", &["bounce_back"], &text, folder.path(), None, &[("stop.steps", &steps.to_string())]);
        let plane = summary.planes.iter().find(|plane| plane.name == "whole").expect("a plane");
        let rows = std::fs::read_to_string(folder.path().join("fluxes.csv")).expect("a table");
        let last = rows.lines().rfind(|row| row.contains(",whole,")).expect("rows").to_string();
        (plane.clone(), last.split(',').nth(4).and_then(|value| value.parse::<f64>().ok()).expect("a volume"))
    });
    let mean = |at: usize| found[at].0.volume.as_ref().expect("rows").mean;
    assert!(mean(0) == found[0].1 && mean(0) > 0.0 && found[0].0.window == [40, 40], "{found:?}");
    assert_eq!((mean(1), found[2].0.window), (found[1].1, [500, 700]));
    let expected = (500.0 * found[1].1 + 200.0 * found[2].1) / 700.0;
    assert!((mean(2) / expected - 1.0).abs() < 1e-12, "{found:?}");
}

/// The table and the means of a run that was stopped twice are those of one that was not.
#[test]
fn a_resumed_run_has_the_fluxes_of_an_unbroken_one() {
    lbm_tests::in_turn!();
    for levels in [1, 2] {
        let (text, _) = plates(16, levels);
        let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        let go = |folder: &Path, resume: Option<&Path>, steps: &str| {
            run("d2q9_guo", &["bounce_back"], &text, folder, resume, &[("stop.steps", steps)])
        };
        let once = go(whole.path(), None, "1010");
        let restart = parts.path().join("restart.lbmc");
        go(parts.path(), None, "321");
        go(parts.path(), Some(&restart), "650");
        let last = go(parts.path(), Some(&restart), "1010");
        assert_eq!(once.planes, last.planes);
        let read = |folder: &Path| std::fs::read_to_string(folder.join("fluxes.csv")).expect("a table");
        assert_eq!(read(whole.path()), read(parts.path()));
        assert_eq!(read(whole.path()).lines().filter(|line| line.starts_with("50,")).count(), 4);
    }
}

#[test]
fn in_three_dimensions_a_uniform_flow_has_its_velocity_times_the_area() {
    let text = "spec = \"d3q19_bgk\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4, 4]\n[domain]\nsize = [8, 12, 16]\n[fluid]\n\
                omega = 1.2\n[faces]\nothers = \"periodic\"\n[start]\nvelocity = [0.05, -0.02, 0.01]\n[stop]\nsteps = 10\n[output]\n\
                directory = \"unused\"\n[[fluxes]]\nname = \"x\"\nplane = { normal = \"x\", at = 0 }\nevery = 5\n\
                [[fluxes]]\nname = \"y\"\nplane = { normal = \"y\", at = 5.3 }\nevery = 5\n\
                [[fluxes]]\nname = \"z\"\nplane = { normal = \"z\", at = 16 }\nfrom = [1, 2.5]\nto = [4, 6]\nevery = 5\n";
    let folder = tempfile::tempdir().expect("a folder");
    let summary = run("d3q19_bgk", &[], text, folder.path(), None, &[]);
    for (name, expected) in [("x", 0.05 * 192.0), ("y", -0.02 * 128.0), ("z", 0.01 * 10.5)] {
        let found = volume(&summary, name);
        assert!((found / expected - 1.0).abs() < 1e-12, "{name}: {found} {expected}");
    }
}

/// A channel with a cylinder in it, refined around: as much flows through all planes.
#[test]
fn as_much_flows_through_every_plane_of_a_steady_channel() {
    lbm_tests::in_turn!();
    let planes: String = [2.0, 12.0, 16.5, 20.0, 23.25, 30.0, 56.0]
        .iter()
        .map(|at| format!("[[fluxes]]\nname = \"{at}\"\nplane = {{ normal = \"x\", at = {at:?} }}\nevery = 100\n"))
        .collect();
    let text = format!(
        "spec = \"d2q9_trt\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [64, 32]\n[fluid]\nre = 20\n\
         velocity = 0.04\nlength = 8\n[params]\nmagic = 0.1875\n[faces]\nleft = {{ rule = \"moving_wall\", velocity = [\"0.06 * 4 * y * (ly - y) / ly^2\", 0] }}\n\
         right = {{ rule = \"anti_bounce_back\", density = 1 }}\nothers = \"bounce_back\"\n\
         [[solids]]\nshape = \"cylinder\"\ncentre = [20, 16.4]\nradius = 4\nrule = \"bounce_back\"\n\
         [refinement]\nfinest = 1\nboxes = [{{ level = 1, from = [12, 8], to = [32, 24] }}]\n\
         [stop]\nsteps = 20_000\nsteady = 1e-8\ncheck_every = 200\n[output]\ndirectory = \"unused\"\n{planes}"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let rules = ["bounce_back", "moving_wall", "anti_bounce_back"];
    let summary = run("d2q9_trt", &rules, &text, folder.path(), None, &[]);
    let mass: Vec<f64> = summary.planes.iter().map(|plane| plane.mass.as_ref().expect("rows").mean).collect();
    let mean = mass.iter().sum::<f64>() / mass.len() as f64;
    let off: Vec<f64> = mass.iter().map(|mass| mass / mean - 1.0).collect();
    println!("{mean} {off:?} {:?}", summary.planes.iter().map(|plane| plane.area).collect::<Vec<_>>());
    // The inlet brings two thirds of its largest velocity times its width.
    assert!((mean / (0.06 * 2.0 / 3.0 * 32.0) - 1.0).abs() < 0.02, "{mean}");
    assert!(off.iter().all(|off| off.abs() < 3e-3), "{off:?}");
}
