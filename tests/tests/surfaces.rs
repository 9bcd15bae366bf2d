//! Pressure and friction on a cylinder against published figures, and against the force that the populations exert.

use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Kernels, Placement};
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;

/// Case 2D-1 of Schaefer & Turek, Notes on Numerical Fluid Mechanics 52 (1996) 547, with so many cells across the cylinder: the rows of its
/// contour (`curve,arc,x,y,angle,pressure,friction_x,friction_y,cp,cf`), and drag and lift by momentum exchange.
fn contour(cells: usize, steps: usize) -> (Vec<Vec<f64>>, [f64; 2]) {
    let text = std::fs::read_to_string(lbm_tests::root().join("cases/schaefer_turek_2d1.toml")).expect("a case");
    let inlet = "[\"1.5 * 0.04 * 4 * y * (ly - y) / ly^2\", 0]";
    let of = |key: &str, value: String| (key.to_string(), value);
    let overrides = [
        of("target", "cpu".into()),
        of("domain.size", format!("[{}, {}]", 22 * cells, 41 * cells / 10)),
        of("block", format!("[{}, 41]", 2 * cells)),
        of("fluid.length", cells.to_string()),
        of("fluid.velocity", "0.04".into()),
        of("faces.left.velocity", inlet.into()),
        of("start.velocity", inlet.into()),
        of("solids.centre", format!("[{}, {}]", 2 * cells, 2 * cells)),
        of("solids.radius", (0.5 * cells as f64).to_string()),
        of("probes.at", format!("[{}, {}]", cells, 2 * cells)),
        of("stop.steps", steps.to_string()),
        of("output.surfaces", steps.to_string()),
        of("output.picture", "false".into()),
    ];
    let mut raw = RawCase::parse("schaefer_turek.toml", &text, &overrides).expect("a case");
    raw.load(|file| Err(format!("{file} is not there"))).expect("no files");
    let model = compiled::model_with_rules(raw.spec(), &raw.rules());
    let device = Device::host(1).expect("the host");
    let bundle = compiled::compile_solids(&model, device.target(), raw.real(), raw.block().expect("a block"));
    let (case, _) = raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    let kernels = Kernels { method: &bundle, criteria: None, prescribed: None, statistics: None };
    let placement = Placement::of(&case, &device).expect("its devices");
    let summary = flow::run(&case, kernels, &placement, folder.path(), Default::default(), |_| ()).expect("it runs");
    let file = format!("surface_1_{:08}.csv", summary.steps);
    assert!(summary.files.contains(&file), "{:?}", summary.files);
    let table = std::fs::read_to_string(folder.path().join(file)).expect("a contour");
    let rows = table.lines().filter(|line| !line.starts_with('#')).skip(1);
    let rows = rows.map(|row| row.split(',').map(|cell| cell.parse().expect("a number")).collect()).collect();
    let [drag, lift] = [&summary.forces[0].drag, &summary.forces[0].lift];
    (rows, [drag, lift].map(|of| of.as_ref().expect("a force").last))
}

/// Drag and lift coefficients of pressure and friction along a contour.
fn integral(rows: &[Vec<f64>], diameter: f64) -> [f64; 2] {
    let dynamic = rows[0][5] / rows[0][8];
    let mut force = [0.0; 2];
    for pair in rows.windows(2) {
        let mean = |column: usize| 0.5 * (pair[0][column] + pair[1][column]);
        let [along_x, along_y] = [2, 3].map(|column| pair[1][column] - pair[0][column]);
        let length = along_x.hypot(along_y);
        force[0] += -mean(5) * along_y + mean(6) * length;
        force[1] += mean(5) * along_x + mean(7) * length;
    }
    force.map(|force| force / (dynamic * diameter))
}

/// The row of a contour nearest to an angle.
fn at(rows: &[Vec<f64>], angle: f64) -> &Vec<f64> {
    let off = |row: &Vec<f64>| (row[4] - angle).abs().min((row[4] + 360.0 - angle).abs());
    rows.iter().min_by(|a, b| off(a).total_cmp(&off(b))).expect("a row")
}

#[test]
fn pressure_and_friction_on_a_cylinder_are_those_of_schaefer_and_turek_and_make_the_drag_that_momentum_exchange_finds()
{
    lbm_tests::in_turn!();
    let [coarse, fine] = [10, 20].map(|cells| {
        let (rows, [drag, _]) = contour(cells, 1000 * cells);
        let [of_contour, _] = integral(&rows, cells as f64);
        (rows, (of_contour / drag - 1.0).abs(), drag)
    });
    assert!((fine.2 / 5.5795 - 1.0).abs() < 0.01, "{}", fine.2);
    // Of first order at least: the friction is.
    assert!(fine.1 < 0.03 && fine.1 < 0.5 * coarse.1, "{} {}", coarse.1, fine.1);
    let (front, back) = (at(&fine.0, 180.0), at(&fine.0, 0.0));
    // Published: 0.1172 to 0.1176 in units of 0.04, so 2.935 rho U^2; cp is over half of that.
    let difference = 0.5 * (front[8] - back[8]);
    assert!((difference / 2.935 - 1.0).abs() < 0.03, "{difference}");
    // At the stagnation point and behind there is no friction; on both sides it is along the flow.
    let most = fine.0.iter().map(|row| row[9].abs()).fold(0.0, f64::max);
    assert!(front[9].abs() < 0.1 * most && back[9].abs() < 0.1 * most, "{front:?} {back:?}");
    let [above, below] = [110.0, -110.0].map(|angle| at(&fine.0, angle));
    assert!(above[6] > 0.0 && below[6] > 0.0 && above[9] < 0.0 && below[9] > 0.0, "{above:?} {below:?}");
}
