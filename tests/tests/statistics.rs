//! Statistics over time: against what the same samples give on the host, on grids that change, and in runs whose means, fluctuations and
//! stresses are known.

use std::f64::consts::PI;
use std::path::Path;

use lbm_bundle::statistics::Statistic;
use lbm_bundle::{Bundle, Real};
use lbm_codegen::statistics;
use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Control, Kernels, Placement};
use lbm_flows::output::summary::Summary;
use lbm_runtime::device::{Available, Device};
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Cell, Face};
use lbm_runtime::kernels::Statistics;
use lbm_runtime::solver::velocity::Velocity;
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation};
use lbm_tests::compiled::{self, Random};
use lbm_tests::criteria::{criteria, criterion, level};
use lbm_tests::flows::devices;

/// Quantities with all that is accumulated of them.
fn all_of(formulas: &[&str], pairs: &[[usize; 2]]) -> Statistic {
    let all: Vec<usize> = (0..formulas.len()).collect();
    Statistic {
        quantities: formulas.iter().map(|text| text.parse().expect(text)).collect(),
        pairs: pairs.to_vec(),
        least: all.clone(),
        greatest: all,
    }
}

/// A periodic box, with statistics.
fn spec(device: &Device, bundle: &Bundle, size: [usize; 3], all: &[Statistic]) -> GridSpec {
    let kernels = statistics::bundle(&bundle.manifest, all).expect("known names");
    let statistics = Some(Statistics::load(device, &kernels).expect("kernels"));
    GridSpec { statistics, ..GridSpec::periodic(size) }
}

/// The accumulators of a statistic by the position of cells.
fn found(flow: &Simulation, number: usize) -> Vec<(Cell, Vec<f64>)> {
    let snapshot = flow.accumulators(number).expect("readable").expect("a statistic");
    let cells = snapshot.components[0].data.len();
    let of = |at: usize| snapshot.components.iter().map(|component| component.data[at]).collect();
    (0..cells).map(|at| (snapshot.cell(at), of(at))).collect()
}

/// A mean of a million with a fluctuation of a thousandth: a sum of squares, of 1e12 each, would know nothing of variances of 1e-6.
#[test]
fn a_small_fluctuation_about_a_large_mean_keeps_its_digits() {
    const SAMPLES: usize = 200;
    for device in devices() {
        let model = compiled::model("d2q9_scalar");
        let bundle = compiled::compile(&model, device.target(), Real::F64, [4, 4, 1]).bundle;
        let statistic = all_of(&["phi", "ux * ux"], &[[0, 0], [0, 1]]);
        let grid = spec(&device, &bundle, [8, 4, 1], &[statistic]);
        let params: Vec<(String, Vec<f64>)> = bundle
            .manifest
            .params
            .iter()
            .map(|param| {
                (param.name.clone(), vec![if param.components == 1 { 1.0 } else { 0.0 }; param.components as usize])
            })
            .collect();
        let mut flow = Simulation::new(&device, &bundle, &grid, &params).expect("a flow");
        let names = bundle.manifest.component_names();
        let place = |name: &str| names.iter().position(|known| known == name).expect(name);
        let value = |sample: usize| 1e6 + 1e-3 * (2.0 * PI * sample as f64 / SAMPLES as f64).sin();
        for sample in 0..SAMPLES {
            flow.init(|_, out| {
                out.fill(0.0);
                (out[place("rho")], out[place("phi")]) = (1.0, value(sample));
            })
            .expect("a start");
            flow.accumulate(&[0]).expect("a sample");
        }
        assert_eq!(flow.samples(), [SAMPLES as u64]);
        for (cell, values) in found(&flow, 0) {
            let [mean, _, square, product, least, _, greatest, _] = values[..] else { panic!("eight accumulators") };
            let variance = square / SAMPLES as f64;
            assert!((mean - 1e6).abs() < 1e-9, "{cell:?}: {mean}");
            assert!((variance / 0.5e-6 - 1.0).abs() < 1e-5, "{cell:?}: {variance}");
            assert!(product.abs() < 1e-20, "{cell:?}: {product}");
            assert!((greatest - 1e6 - 1e-3).abs() < 1e-9 && (least - 1e6 + 1e-3).abs() < 1e-9, "{cell:?}");
        }
    }
}

/// Random samples in cells of two levels, and in a grid so large that its fields are computed in pieces.
#[test]
fn accumulators_are_those_of_the_same_samples_on_the_host() {
    for (spec_name, side, levels) in [("d2q9_bgk", 32, 2), ("d3q19_bgk", 8, 2), ("d2q9_bgk", 1216, 1)] {
        for device in devices() {
            let model = compiled::model_with_coupling(spec_name, "volumetric_shifted");
            let dim = model.lattice().dim();
            let block = if dim == 2 { [8, 8, 1] } else { [4, 4, 4] };
            let bundle = compiled::compile_levels(&model, device.target(), Real::F64, block);
            let all = [all_of(&["ux", "uy * rho"], &[[0, 0], [0, 1]]), all_of(&["rho"], &[[0, 0]])];
            let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
            let grid = spec(&device, &bundle, size, &all);
            let params = [("omega".to_string(), vec![1.2])];
            let refine = |block: lbm_runtime::geometry::Block| levels > 1 && block.level == 0 && block.place[0] == 1;
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params, levels, refine).expect("a flow");
            let of = |cell: Cell, sample: usize| {
                let at = cell.centre();
                let wave =
                    |factor: f64| (factor * (at[0] + 2.0 * at[1] + 3.0 * at[2]) + (sample * sample) as f64).sin();
                [1.0 + 0.01 * wave(0.7), 0.1 * wave(0.3), 0.05 + 0.02 * wave(1.1)]
            };
            let samples = if side > 1000 { 3 } else { 7 };
            for sample in 0..samples {
                flow.init_cells(|cell, out| {
                    out.fill(0.0);
                    out[..3].copy_from_slice(&of(cell, sample));
                })
                .expect("a start");
                // The second has every other sample.
                flow.accumulate(if sample % 2 == 0 { &[0, 1] } else { &[0] }).expect("a sample");
            }
            for (cell, values) in found(&flow, 0).into_iter().step_by(if side > 1000 { 97 } else { 1 }) {
                let x: Vec<[f64; 2]> =
                    (0..samples).map(|sample| of(cell, sample)).map(|[rho, ux, uy]| [ux, uy * rho]).collect();
                let mean = [0, 1].map(|at| x.iter().map(|x| x[at]).sum::<f64>() / samples as f64);
                let product = |a: usize, b: usize| x.iter().map(|x| (x[a] - mean[a]) * (x[b] - mean[b])).sum::<f64>();
                let least = |at: usize| x.iter().map(|x| x[at]).fold(f64::INFINITY, f64::min);
                let greatest = |at: usize| x.iter().map(|x| x[at]).fold(f64::NEG_INFINITY, f64::max);
                let expected =
                    [mean[0], mean[1], product(0, 0), product(0, 1), least(0), least(1), greatest(0), greatest(1)];
                for (found, expected) in values.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-14, "{spec_name}, {cell:?}: {values:?} {expected:?}");
                }
            }
            assert_eq!(flow.samples(), [samples as u64, samples.div_ceil(2) as u64]);
        }
    }
}

/// Means and extremes of slopes of samples on two levels between walls, with a solid and without, are those of the slopes that output has.
#[test]
fn slopes_are_those_of_output() {
    lbm_tests::in_turn!();
    for (spec_name, side, has_solid) in
        [("d2q9_bgk", 32, false), ("d2q9_bgk", 32, true), ("d3q19_bgk", 16, false), ("d3q19_bgk", 16, true)]
    {
        for device in devices() {
            let model = compiled::model_with_all(spec_name, &["bounce_back"], Some("volumetric_shifted"));
            let dim = model.lattice().dim();
            let block = if dim == 2 { [8, 8, 1] } else { [4, 4, 4] };
            let real = if has_solid { Real::F32 } else { Real::F64 };
            let bundle = compiled::compile_solids(&model, device.target(), real, block);
            let axes = &["x", "y", "z"][..dim];
            let all: Vec<String> =
                axes.iter().flat_map(|axis| axes.iter().map(move |of| format!("d{axis}_u{of}"))).collect();
            let product = "-0.5 * dx_uy * dy_ux + rho".to_string();
            let texts: Vec<&str> = all.iter().chain([&product]).map(String::as_str).collect();
            let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
            let grid = spec(&device, &bundle, size, &[all_of(&texts, &[[0, 1]])]);
            let grid = grid.with_wall(Face::YMin, "bounce_back", &[]).with_wall(Face::YMax, "bounce_back", &[]);
            let (rule, level) = ("bounce_back".to_string(), 1);
            let sphere = match dim {
                2 => Shape::Sphere { centre: [12.3, 15.1, 0.0], radius: 2.4 },
                _ => Shape::Sphere { centre: [6.1, 8.2, 8.3], radius: 1.4 },
            };
            let solid = Solid { shape: sphere, rule, values: vec![], level, shells: vec![] };
            let grid = if has_solid { grid.with_solid(solid) } else { grid };
            let params = [("omega".to_string(), vec![1.2])];
            let refine = |block: lbm_runtime::geometry::Block| block.level == 0 && block.place[0] == 1;
            let mut flow = Simulation::refined(&device, &bundle, &grid, &params, 2, refine).expect("a flow");
            let (mut samples, mut solid): (Vec<Vec<Vec<f64>>>, Vec<bool>) = (vec![], vec![]);
            for sample in 0..3 {
                flow.init_cells(|cell, out| {
                    let at = cell.centre();
                    let wave = |factor: f64| (factor * (at[0] + 2.0 * at[1] + 3.0 * at[2]) + f64::from(sample)).sin();
                    out[0] = 1.0 + 0.01 * wave(0.7);
                    (1..=dim).for_each(|axis| out[axis] = 0.1 * wave(0.3 * axis as f64));
                })
                .expect("a start");
                flow.accumulate(&[0]).expect("a sample");
                let snapshot = flow.snapshot().expect("fields");
                let velocity = Velocity::new(&snapshot).expect("a velocity");
                let density = snapshot.get("rho").expect("a density");
                let of = |at: usize| {
                    let slopes = velocity.gradient(at);
                    let mut values: Vec<f64> = (0..dim).flat_map(|axis| slopes[axis][..dim].to_vec()).collect();
                    values.push(-0.5 * slopes[0][1] * slopes[1][0] + density[at]);
                    values
                };
                samples.push((0..density.len()).map(of).collect());
                solid = snapshot.solid.clone();
            }
            assert_eq!(solid.contains(&true), has_solid);
            let levels: Vec<usize> = found(&flow, 0).iter().map(|(cell, _)| cell.level).collect();
            assert!(levels.contains(&0) && levels.contains(&1), "{spec_name} {has_solid}");
            let is_fluid = |at: usize| !solid.get(at).is_some_and(|solid| *solid);
            for (at, (cell, values)) in found(&flow, 0).into_iter().enumerate().filter(|(at, _)| is_fluid(*at)) {
                let count = texts.len();
                for number in 0..count {
                    let of = |sample: usize| samples[sample][at][number];
                    let mean = (of(0) + of(1) + of(2)) / 3.0;
                    let (least, greatest) = (of(0).min(of(1)).min(of(2)), of(0).max(of(1)).max(of(2)));
                    let found = [values[number], values[count + 1 + number], values[2 * count + 1 + number]];
                    for (found, expected) in found.iter().zip([mean, least, greatest]) {
                        let name = texts[number];
                        assert!((found - expected).abs() < 1e-14, "{spec_name} {name} {cell:?}: {found} {expected}");
                    }
                }
            }
        }
    }
}

/// What is linear in space stays on its plane where cells are refined and made coarse again, wherever their data lie.
#[test]
fn accumulators_follow_a_grid_that_changes() {
    for (spec_name, side, coupling) in [
        ("d2q9_bgk", 64, "volumetric_shifted"),
        ("d3q19_bgk", 16, "volumetric_shifted"),
        ("d2q9_bgk", 64, "interpolated_means"),
    ] {
        for device in devices() {
            let model = compiled::model_with_coupling(spec_name, coupling);
            let dim = model.lattice().dim();
            let block = if dim == 2 { [8, 8, 1] } else { [4, 4, 4] };
            let bundle = compiled::compile_levels(&model, device.target(), Real::F64, block);
            let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
            let grid = spec(&device, &bundle, size, &[all_of(&["ux", "uy"], &[[0, 0], [0, 1]])]);
            let mut random = Random(7);
            let adaptivity = Adaptivity {
                levels: 0..=1,
                start: criterion(&device, &bundle, vec![]),
                during: Some((u64::MAX, criterion(&device, &bundle, vec![]))),
                pinned: vec![],
                memory: None,
                sharing: 1,
                keeps: false,
            };
            let params = [("omega".to_string(), vec![1.2])];
            let mut flow = Simulation::adaptive(&device, &bundle, &grid, &params, &adaptivity, None).expect("a flow");
            let line = |cell: Cell| 0.001 * cell.centre()[0] - 0.0005 * cell.centre()[1];
            for sign in [1.0, -0.5] {
                flow.init_cells(|cell, out| {
                    out.fill(0.0);
                    (out[0], out[1], out[2]) = (1.0, 0.01 + line(cell), 0.02 * sign);
                })
                .expect("a start");
                flow.accumulate(&[0]).expect("a sample");
            }
            let mut strip = |_| {
                let middle = (random.draw() + 1.0) / 2.0 * side as f64;
                vec![level(&format!("if(abs(x - {middle:?}) < {:?}, 1, 0)", side as f64 / 8.0))]
            };
            let changes = criteria(&device, &bundle, &(0..12).map(&mut strip).collect::<Vec<_>>());
            for criterion in &changes {
                flow.adapt_to(criterion).expect("a change");
            }
            assert!(flow.adaptations().changes > 8 && flow.adaptations().reorderings > 0, "{:?}", flow.adaptations());
            let mut seen = [0; 2];
            for (cell, values) in found(&flow, 0) {
                seen[cell.level] += 1;
                // Where the box closes, the line jumps.
                let inside = (0..dim).all(|axis| {
                    let at = cell.centre()[axis];
                    at > 0.25 * side as f64 && at < 0.75 * side as f64
                });
                let [mean_x, mean_y, _, _, _, least_y, _, greatest_y] = values[..] else {
                    panic!("eight accumulators")
                };
                assert!(!inside || (mean_x - 0.01 - line(cell)).abs() < 1e-14, "{cell:?}: {mean_x}");
                let expected =
                    [(mean_y, 0.005), (least_y, -0.01), (greatest_y, 0.02), (values[2], 0.0), (values[3], 0.0)];
                assert!(expected.iter().all(|(found, expected)| (found - expected).abs() < 1e-14), "{values:?}");
            }
            assert!(seen.iter().all(|count| *count > 0), "{seen:?}");
        }
    }
}

/// Steps of a period of the forces, and the amplitudes of the velocity that they make.
const PERIOD: u64 = 200;
const AMPLITUDES: [f64; 2] = [0.02, 0.01];
/// By how much the second force is ahead.
const LAG: f64 = 0.6;

/// A fluid that is pushed to and fro in a periodic box.
fn swinging(more: &str) -> String {
    let force =
        |amplitude: f64, lag: f64| format!("{:?} * cos(2*pi*t/{PERIOD} + {lag})", amplitude * 2.0 * PI / PERIOD as f64);
    let [x, y] = [force(AMPLITUDES[0], 0.0), force(AMPLITUDES[1], LAG)];
    format!(
        "spec = \"d2q9_guo\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [16, 16]\n[fluid]\n\
         omega = 1.2\nvelocity = 0.02\n[faces]\nothers = \"periodic\"\n[params]\nforce = [\"{x}\", \"{y}\"]\n[stop]\nsteps = 600\n[output]\ndirectory = \"unused\"\n{more}\n\
         [fields]\nuxuy = \"ux * uy\"\n[[statistics]]\nname = \"all\"\nfields = [\"velocity\", \"speed\", \"uxuy\"]\nfrom = 200\nevery = 2\n\
         of = [\"mean\", \"rms\", \"stresses\", \"min\", \"max\"]\n[[statistics]]\nname = \"late\"\nfrom = 301\nevery = 150\n\
         [[probes]]\nname = \"all\"\nat = [2.5, 2.5]\nfields = [\"velocity\"]\nevery = 2\n[[pictures]]\nstatistics = \"all\"\nfield = \"stress_xy\"\nsize = 200\n"
    )
}

/// Runs a case into a folder.
fn run(text: &str, threads: usize, folder: &Path, resume: Option<&Path>, until: Option<u64>) -> Summary {
    let set: Vec<(String, String)> =
        until.map(|steps| ("stop.steps".to_string(), steps.to_string())).into_iter().collect();
    let raw = RawCase::parse("swinging.toml", text, &set).expect("a case");
    let coupling = text.contains("[refinement]").then_some("volumetric_shifted");
    let model = compiled::model_with_all("d2q9_guo", &[], coupling);
    let device = Device::host(threads).expect("the host");
    let method = match coupling {
        Some(_) if text.contains("[[solids]]") => {
            compiled::compile_solids(&model, device.target(), Real::F64, [4, 4, 1])
        }
        Some(_) => compiled::compile_levels(&model, device.target(), Real::F64, [4, 4, 1]),
        None => compiled::compile(&model, device.target(), Real::F64, [4, 4, 1]).bundle,
    };
    let (case, _) = raw.resolve(&method.manifest, &[], Available::default()).expect("valid");
    let levels = case.refinement.as_ref().map(|refinement| refinement.criteria(case.dim));
    let criteria = levels.map(|levels| lbm_codegen::criteria::bundle(&method.manifest, &levels).expect("known names"));
    let statistics = statistics::bundle(&method.manifest, &case.accumulated()).expect("known names");
    let kernels =
        Kernels { method: &method, criteria: criteria.as_ref(), prescribed: None, statistics: Some(&statistics) };
    let control = Control { resume, ..Control::default() };
    let placement = Placement::of(&case, &device).expect("its devices");
    flow::run(&case, kernels, &placement, folder, control, |_| {}).expect("it runs")
}

/// The values of an array of 64 bits of a file for ParaView, knowing nothing of the writer but the format, with its components.
fn array(file: &[u8], name: &str) -> Vec<f64> {
    let marker = b"<AppendedData encoding=\"raw\">_";
    let start = file.windows(marker.len()).position(|window| window == marker).expect("data") + marker.len();
    let xml = String::from_utf8_lossy(&file[..start]).into_owned();
    let tag = xml.lines().find(|line| line.contains(&format!("Name=\"{name}\""))).expect(name);
    let offset = tag.split("offset=\"").nth(1).and_then(|rest| rest.split('"').next()).expect("an offset");
    let data = &file[start + offset.parse::<usize>().expect("a number")..];
    let bytes = u64::from_le_bytes(data[..8].try_into().expect("eight bytes")) as usize;
    data[8..8 + bytes].as_chunks::<8>().0.iter().map(|value| f64::from_le_bytes(*value)).collect()
}

/// Cases of one level, refined in a box, and refined as a whole while the fluid goes to the right.
///
/// With each, how far the flow itself is from the solution, over the amplitude: by the square of a step's angle, 1e-3, on one level; by some
/// hundredths of that angle, 0.03, where two levels are pushed at times of their own; and by about that angle where the whole grid changes its
/// level, since the half of a step's push that belongs to the velocity is another then. All go to zero with the angle.
fn grids() -> [(&'static str, String, f64); 3] {
    let boxes = "[refinement]\nfinest = 1\nboxes = [{ level = 1, from = [4, 4], to = [8, 12] }]";
    let follows = "[refinement]\nfinest = 1\ncriterion = \"ux\"\nthreshold = 0.01\nevery = 10";
    [("vti", swinging(""), 3e-4), ("vtu", swinging(boxes), 2e-3), ("vtu", swinging(follows), 0.04)]
}

/// The velocity is A (sin(w t + lag) - sin(lag)): its mean over whole periods is -A sin(lag), the root mean square of its fluctuation
/// A / sqrt(2), and the stress of both components A B cos(lag) / 2.
#[test]
fn a_swinging_fluid_has_the_statistics_of_its_oscillation() {
    for (ending, text, bound) in grids() {
        let folder = tempfile::tempdir().expect("a folder");
        // The last step would be a sample of the next period.
        let summary = run(&text, 2, folder.path(), None, Some(599));
        let file = std::fs::read(folder.path().join(format!("statistics_all.{ending}"))).expect("a file");
        let [a, b] = AMPLITUDES;
        let expected: [(&str, &[f64]); 8] = [
            ("mean_velocity", &[0.0, -b * LAG.sin(), 0.0]),
            ("rms_velocity", &[a / 2f64.sqrt(), b / 2f64.sqrt(), 0.0]),
            ("stress_xx", &[a * a / 2.0]),
            ("stress_xy", &[a * b * LAG.cos() / 2.0]),
            ("stress_yy", &[b * b / 2.0]),
            // One of the means is zero.
            ("mean_uxuy", &[a * b * LAG.cos() / 2.0]),
            ("min_velocity", &[-a, -b * (1.0 + LAG.sin()), 0.0]),
            ("max_velocity", &[a, b * (1.0 - LAG.sin()), 0.0]),
        ];
        for (name, expected) in expected {
            let values = array(&file, name);
            assert!(values.len() >= 256 * expected.len(), "{name}: {}", values.len());
            let scale = if name.starts_with("stress") || name.ends_with("uxuy") { a * a } else { a };
            for (at, value) in values.iter().enumerate() {
                let off = (value - expected[at % expected.len()]) / scale;
                assert!(off.abs() < bound, "{ending}: {name} is {value} and not {expected:?}");
            }
        }
        // In the cell of the probe they are those of what it has read, whatever the flow is.
        let rows = std::fs::read_to_string(folder.path().join("probe_all.csv")).expect("a table");
        let rows = rows.lines().filter(|line| line.starts_with(|first: char| first.is_ascii_digit()));
        let rows: Vec<Vec<f64>> =
            rows.map(|row| row.split(',').map(|value| value.parse().expect("a number")).collect()).collect();
        let samples: Vec<[f64; 2]> =
            rows.iter().filter(|row| row[0] >= 200.0 && row[0] < 599.0).map(|row| [row[4], row[5]]).collect();
        let mean = |of: &dyn Fn(&[f64; 2]) -> f64| samples.iter().map(of).sum::<f64>() / samples.len() as f64;
        let [x, y] = [mean(&|u| u[0]), mean(&|u| u[1])];
        let read = [
            ("stress_xy", mean(&|u| (u[0] - x) * (u[1] - y))),
            ("mean_uxuy", mean(&|u| u[0] * u[1])),
            ("rms_speed", {
                let speed = mean(&|u| u[0].hypot(u[1]));
                mean(&|u| (u[0].hypot(u[1]) - speed).powi(2)).sqrt()
            }),
        ];
        assert_eq!(samples.len(), 200);
        for (name, expected) in read {
            let least = array(&file, name).iter().map(|value| (value - expected).abs()).fold(f64::MAX, f64::min);
            assert!(least < 1e-9 * expected.abs().max(1e-3), "{ending}: {name} off by {least} of {expected}");
        }
        assert!(folder.path().join("stress_xy.png").is_file());
        let [all, late] = &summary.statistics[..] else { panic!("{:?}", summary.statistics) };
        assert_eq!((all.samples, all.from_step, all.to_step), (200, 200, 598));
        assert_eq!((late.samples, late.from_step, late.to_step), (2, 301, 451));
        assert!(summary.files.contains(&format!("statistics_late.{ending}")));
        assert!(summary.memory.contains_key("statistics"));
    }
}

/// Stopped between samples and at one, before the first sample of one of them, and on another number of threads: the same bytes.
#[test]
fn a_resumed_run_has_the_statistics_of_an_unbroken_one() {
    lbm_tests::in_turn!();
    for (ending, text, _) in grids() {
        let text = text.replace("directory = \"unused\"", "directory = \"unused\"\nrestart = 1000");
        let whole = tempfile::tempdir().expect("a folder");
        let once = run(&text, 2, whole.path(), None, None);
        let parts = tempfile::tempdir().expect("a folder");
        let mut last = None;
        for (until, threads) in [(252, 2), (304, 1), (451, 2), (600, 1)] {
            let restart = parts.path().join("restart.lbmc");
            let resume = restart.is_file().then_some(&restart);
            last = Some(run(&text, threads, parts.path(), resume.map(|path| path.as_path()), Some(until)));
        }
        assert_eq!(once.statistics, last.expect("a summary").statistics);
        for name in ["all", "late"] {
            let read =
                |folder: &Path| std::fs::read(folder.join(format!("statistics_{name}.{ending}"))).expect("a file");
            assert_eq!(read(whole.path()), read(parts.path()), "{ending}: {name}");
        }
    }
}

/// The grid follows a strip past a solid, so that blocks away from it take slots in which those at it were.
#[test]
fn slopes_at_a_solid_are_those_of_the_fields_while_the_grid_follows() {
    let text = "spec = \"d2q9_guo\"\ntarget = \"cpu\"\nprecision = \"f64\"\nblock = [4, 4]\n[domain]\nsize = [64, 32]\n\
                [fluid]\nomega = 1.2\nvelocity = 0.04\n[faces]\nothers = \"periodic\"\n[params]\nforce = [0, 0]\n\
                [start]\nvelocity = [\"0.04 * sin(2*pi*y/ly)\", 0]\n[stop]\nsteps = 12\n\
                [[solids]]\nshape = \"cylinder\"\ncentre = [32, 16]\nradius = 3\nrule = \"bounce_back\"\n\
                [refinement]\nfinest = 1\nevery = 4\ncriterion = \"if(abs(x - 8 - t) < 6, 1, 0)\"\nthreshold = 0.5\n\
                [output]\ndirectory = \"unused\"\nrestart = 1000\nvtk = true\nfields = [\"vorticity\"]\n\
                [[statistics]]\nname = \"last\"\nfields = [\"vorticity\"]\nof = [\"mean\"]\nfrom = 12\nevery = 100\n";
    let folder = tempfile::tempdir().expect("a folder");
    let summary = run(text, 2, folder.path(), None, None);
    assert!(summary.adaptations.expect("it follows").reorderings > 0);
    let read = |folder: &Path, name: &str| std::fs::read(folder.join(name)).expect("a file");
    let array = |file: &str, name: &str| array(&read(folder.path(), file), name);
    let (field, mean) = (array("fields_00000012.vtu", "vorticity"), array("statistics_last.vtu", "mean_vorticity"));
    let worst = field.iter().zip(&mean).map(|(field, mean)| (field - mean).abs()).fold(0.0, f64::max);
    assert!(field.len() == mean.len() && worst < 1e-12, "{worst}");
    let parts = tempfile::tempdir().expect("a folder");
    run(text, 2, parts.path(), None, Some(9));
    run(text, 2, parts.path(), Some(&parts.path().join("restart.lbmc")), None);
    assert_eq!(read(folder.path(), "statistics_last.vtu"), read(parts.path(), "statistics_last.vtu"));
}

/// A run goes on with statistics that its restart file does not have, or that are defined otherwise: they begin then.
#[test]
fn statistics_that_are_new_begin_where_a_run_goes_on() {
    let text = swinging("restart = 1000");
    let folder = tempfile::tempdir().expect("a folder");
    run(&text, 1, folder.path(), None, Some(400));
    let restart = folder.path().join("restart.lbmc");
    let other = text.replace("every = 2", "every = 4");
    let summary = run(&other, 1, folder.path(), Some(&restart), Some(600));
    let [all, late] = &summary.statistics[..] else { panic!("{:?}", summary.statistics) };
    assert_eq!((all.samples, all.from_step), (51, 400));
    assert_eq!((late.samples, late.from_step), (2, 301));
}
