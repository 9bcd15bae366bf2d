//! Pressure and friction on a cylinder against published figures, and against the force that the populations exert.

use lbm_flows::case::RawCase;
use lbm_flows::flow::{self, Kernels, Placement};
use lbm_runtime::device::{Available, Device};
use lbm_tests::compiled;

/// A point of a contour.
#[derive(Clone, Copy, Debug)]
struct Row {
    at: [f64; 2],
    angle: f64,
    pressure: f64,
    friction: [f64; 2],
    cp: f64,
    cf: f64,
}

/// Case 2D-1 of Schaefer & Turek, Notes on Numerical Fluid Mechanics 52 (1996) 547, with so many cells across the cylinder: the rows of its
/// contour, and drag and lift by momentum exchange.
fn contour(cells: usize, steps: usize) -> (Vec<Row>, [f64; 2]) {
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
    let bundle = compiled::compile_solids(
        &model,
        device.target(),
        raw.real(),
        raw.block(model.lattice().dim()).expect("a block"),
    );
    let (case, _) = raw.resolve(&bundle.manifest, &[], Available::default()).expect("valid");
    let folder = tempfile::tempdir().expect("a folder");
    let kernels = Kernels { method: &bundle, criteria: None, prescribed: None, statistics: None };
    let placement = Placement::of(&case, &device).expect("its devices");
    let summary = flow::run(&case, kernels, &placement, folder.path(), Default::default(), |_| ()).expect("it runs");
    let file = format!("surface_1_{:08}.csv", summary.steps);
    assert!(summary.files.contains(&file), "{:?}", summary.files);
    let table = std::fs::read_to_string(folder.path().join(file)).expect("a contour");
    let mut lines = table.lines().filter(|line| !line.starts_with('#'));
    let columns: Vec<&str> = lines.next().expect("names of columns").split(',').collect();
    let row = |line: &str| {
        let values: Vec<f64> = line.split(',').map(|cell| cell.parse().expect("a number")).collect();
        let of = |name: &str| values[columns.iter().position(|column| *column == name).expect(name)];
        let (at, friction) = ([of("x"), of("y")], [of("friction_x"), of("friction_y")]);
        Row { at, angle: of("angle"), pressure: of("pressure"), friction, cp: of("cp"), cf: of("cf") }
    };
    let rows = lines.map(row).collect();
    let [drag, lift] = [&summary.forces[0].drag, &summary.forces[0].lift];
    (rows, [drag, lift].map(|of| of.as_ref().expect("a force").last))
}

/// Drag and lift coefficients of pressure and friction along a contour.
fn integral(rows: &[Row], diameter: f64) -> [f64; 2] {
    let dynamic = rows[0].pressure / rows[0].cp;
    let mut force = [0.0; 2];
    for pair in rows.windows(2) {
        let [one, other] = [pair[0], pair[1]];
        let [along_x, along_y] = [0, 1].map(|axis| other.at[axis] - one.at[axis]);
        let length = along_x.hypot(along_y);
        let pressure = 0.5 * (one.pressure + other.pressure);
        let friction = [0, 1].map(|axis| 0.5 * (one.friction[axis] + other.friction[axis]));
        force[0] += -pressure * along_y + friction[0] * length;
        force[1] += pressure * along_x + friction[1] * length;
    }
    force.map(|force| force / (dynamic * diameter))
}

/// The row of a contour nearest to an angle.
fn at(rows: &[Row], angle: f64) -> Row {
    let off = |row: &Row| (row.angle - angle).abs().min((row.angle + 360.0 - angle).abs());
    *rows.iter().min_by(|a, b| off(a).total_cmp(&off(b))).expect("a row")
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
    let difference = 0.5 * (front.cp - back.cp);
    assert!((difference / 2.935 - 1.0).abs() < 0.03, "{difference}");
    // At the stagnation point and behind there is no friction; on both sides it is along the flow.
    let most = fine.0.iter().map(|row| row.cf.abs()).fold(0.0, f64::max);
    assert!(front.cf.abs() < 0.1 * most && back.cf.abs() < 0.1 * most, "{front:?} {back:?}");
    let [above, below] = [110.0, -110.0].map(|angle| at(&fine.0, angle));
    assert!(
        above.friction[0] > 0.0 && below.friction[0] > 0.0 && above.cf < 0.0 && below.cf > 0.0,
        "{above:?} {below:?}"
    );
}
