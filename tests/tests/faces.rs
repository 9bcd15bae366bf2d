//! What is proved of faces against runs: whether a disturbance of a uniform stream between them grows, how fast, and how much of a pulse of sound
//! a face reflects.
//!
//! A run has as many cells between the faces as the analysis, and across them a period into which its waves fit. Two flows are run, one of them
//! disturbed; what differs is what grows. Most cases are run only with `LBMC_FACES=all`, which takes minutes, or those of a
//! method with its name.

use std::collections::BTreeMap;
use std::f64::consts::PI;
use std::sync::{Arc, Mutex};

use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::options::Options;
use lbm_dsl::model::Model;
use lbm_dsl::prove::budget::Budget;
use lbm_dsl::prove::pair::{self, End, GROWS, Growth, LENGTHS, Stream};
use lbm_dsl::prove::reflection::{reflection, towards};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::{compiled, flows};

const METHODS: [&str; 12] = [
    "d2q9_bgk",
    "d2q9_trt",
    "d2q9_trt_bounded",
    "d2q9_mrt",
    "d2q9_central",
    "d2q9_recursive",
    "d2q9_hybrid",
    "d3q19_bgk",
    "d3q19_trt",
    "d3q19_regularized",
    "d3q27_bgk",
    "d3q27_cumulant",
];
const PAIRS: [[&str; 2]; 8] = [
    ["moving_wall", "anti_bounce_back"],
    ["moving_wall", "equilibrium"],
    ["moving_wall", "zou_he_pressure"],
    ["moving_wall", "extrapolation_outflow"],
    ["moving_wall", "convective_outflow"],
    ["zou_he_velocity", "equilibrium"],
    ["regularized_velocity", "regularized_pressure"],
    ["equilibrium", "anti_bounce_back"],
];
const RATES: [f64; 5] = [1.7, 1.9, 1.95, 1.981, 1.99];
const SPEED: f64 = 0.05;
/// Cells along each side of a run.
const CELLS: usize = LENGTHS[0];

/// A method with the rules of all pairs, and its kernels in blocks one cell thick.
struct Method {
    spec: &'static str,
    model: Model,
    bundle: Arc<Bundle>,
}

impl Method {
    fn new(spec: &'static str) -> Self {
        static KERNELS: Mutex<BTreeMap<&'static str, Arc<Bundle>>> = Mutex::new(BTreeMap::new());
        let mut rules: Vec<&str> =
            PAIRS.iter().flatten().copied().chain(["bounce_back", "free_slip", "regularized_velocity"]).collect();
        rules.sort();
        rules.dedup();
        let model = compiled::model_with_rules(spec, &rules);
        let block = if model.lattice().dim() == 2 { Options::default_block(2) } else { flows::FLAT };
        let compile = || Arc::new(compiled::compile(&model, Target::C, Real::F64, block).bundle);
        let bundle = KERNELS.lock().expect("nothing panics inside").entry(spec).or_insert_with(compile).clone();
        Self { spec, model, bundle }
    }

    /// A velocity along x.
    fn along(&self, speed: f64) -> Vec<f64> {
        (0..self.model.lattice().dim()).map(|axis| if axis == 0 { speed } else { 0.0 }).collect()
    }

    /// A rule at the left or the right, with the names and values of its parameters.
    fn end(&self, stream: &Stream, model: &Model, rule: &str, high: bool) -> (End, Vec<(String, Vec<f64>)>) {
        let rule = model.boundaries().iter().find(|other| other.name == rule).expect("it has the rule");
        let values = pair::values(model, rule, stream.velocity(), |_| None).expect("values of a stream");
        let end = stream.end(rule, &values, pair::Face { axis: 0, high }).expect("it has derivatives");
        (end, rule.params.iter().map(|param| param.name.clone()).zip(values).collect())
    }

    fn params(&self, omega: f64) -> Vec<(String, Vec<f64>)> {
        flows::params(self.spec, omega)
    }
}

/// A parameter by its name, with all its components.
type Value = (String, Vec<f64>);

/// The faces of a box in the plane, in the order of the program's.
const FACES: [Face; 4] = [Face::XMin, Face::XMax, Face::YMin, Face::YMax];

/// A box with these walls at its left and right, and maybe at its bottom and top, else periodic across.
fn simulation(method: &Method, cells: [usize; 2], omega: f64, walls: &[(&str, &[Value])]) -> Simulation {
    let mut grid = GridSpec::periodic([cells[0], cells[1], 1]);
    for (face, (rule, values)) in FACES.into_iter().zip(walls) {
        let values: Vec<(&str, &[f64])> = values.iter().map(|(name, value)| (&name[..], &value[..])).collect();
        grid = grid.with_wall(face, rule, &values);
    }
    let device = Device::host(1).expect("the host is a device");
    Simulation::new(&device, &method.bundle, &grid, &method.params(omega)).expect("it can be set up")
}

/// What grows most, of the waves that fit into the box.
fn predicted(method: &Method, rules: [&str; 2], omega: f64) -> (Growth, [Vec<Value>; 2]) {
    let model = &*method.model.with_states();
    let params: Vec<Vec<f64>> = method.params(omega).into_iter().map(|(_, value)| value).collect();
    let velocity = method.along(SPEED);
    let stream = Stream::new(model, &params, &velocity).expect("it has derivatives");
    let [(low, inlet), (high, outlet)] = [0, 1].map(|at| method.end(&stream, model, rules[at], at == 1));
    let waves = (0..=CELLS / 2).map(|number| {
        let mut wave = method.along(0.0);
        wave[1] = 2.0 * PI * number as f64 / CELLS as f64;
        stream.growth([&low, &high], CELLS, &wave)
    });
    (waves.reduce(Growth::or).expect("there are waves"), [inlet, outlet])
}

/// The root of the sum of squares of all differences of two flows.
fn difference(one: &Snapshot, other: &Snapshot) -> f64 {
    let parts = one.components.iter().zip(&other.components);
    let square = parts.flat_map(|(one, other)| one.data.iter().zip(&other.data)).map(|(a, b)| (a - b).powi(2));
    square.sum::<f64>().sqrt()
}

/// The growth of a disturbance in a run, which is long enough for what is expected.
fn measured(method: &Method, rules: &[&str], omega: f64, values: &[Vec<Value>], expected: f64, speed: f64) -> f64 {
    const INTERVAL: u64 = 32;
    let intervals = if expected > GROWS { (25.0 / expected).clamp(5120.0, 81920.0) } else { 5120.0 } / INTERVAL as f64;
    let run = |size: f64| {
        let walls: Vec<(&str, &[Value])> = rules.iter().copied().zip(values.iter().map(Vec::as_slice)).collect();
        let mut flow = simulation(method, [CELLS, CELLS], omega, &walls);
        let noise =
            |x: usize, y: usize, at: usize| (((x * 31 + y * 17 + at * 7) * 7919 % 1009) as f64 / 1009.0 - 0.5) * size;
        flow.init(|[x, y, _], out| {
            out.fill(0.0);
            (out[0], out[1]) = (1.0, speed);
            (0..3).for_each(|at| out[at] += noise(x, y, at));
        })
        .expect("fields");
        flow
    };
    // What is to grow has far to go; what is not stays above rounding.
    let size = if expected > GROWS { 1e-13 } else { 1e-7 };
    let (mut undisturbed, mut disturbed) = (run(0.0), run(size));
    let mut sizes = vec![];
    while sizes.len() < intervals as usize && sizes.last().is_none_or(|last| (1e-6 * size..1e-4).contains(last)) {
        undisturbed.run(INTERVAL).expect("steps");
        disturbed.run(INTERVAL).expect("steps");
        sizes.push(difference(&undisturbed.snapshot().expect("fields"), &disturbed.snapshot().expect("fields")));
    }
    // What grows most comes to lead.
    let (first, last) = (2 * sizes.len() / 3, sizes.len() - 1);
    (sizes[last] / sizes[first]).ln() / ((last - first) as u64 * INTERVAL) as f64
}

/// Both grow, at nearly the same rate, or neither does.
fn agree(predicted: f64, measured: f64) -> bool {
    match (predicted > GROWS, measured > GROWS) {
        (true, true) => (predicted / measured - 1.0).abs() < 0.1,
        (grows, does) => grows == does,
    }
}

#[test]
fn pairs_of_faces_grow_in_runs_as_predicted() {
    lbm_tests::in_turn!();
    let wanted = std::env::var("LBMC_FACES").unwrap_or_default();
    let cases = |method: usize| -> Vec<([&str; 2], f64)> {
        let all = ["all", METHODS[method]].contains(&&wanted[..]);
        let every = PAIRS.into_iter().flat_map(|pair| RATES.into_iter().map(move |rate| (pair, rate)));
        // A growing and a stable one of each kind that is quickly run.
        every.enumerate().filter(|(at, _)| all || method == 0 && at % 5 == 3).map(|(_, case)| case).collect()
    };
    let mut wrong = vec![];
    let (mut count, mut grow) = (0, 0);
    for (at, spec) in METHODS.into_iter().enumerate() {
        let cases = cases(at);
        if cases.is_empty() {
            continue;
        }
        let method = Method::new(spec);
        for (rules, omega) in cases {
            let (found, values) = predicted(&method, rules, omega);
            let measured = measured(&method, &rules, omega, &values, found.rate, SPEED);
            count += 1;
            grow += usize::from(found.grows());
            let line = format!("{spec} {rules:?} {omega}: {:+.2e} predicted, {measured:+.2e} in a run", found.rate);
            if !wanted.is_empty() {
                println!("{line}");
            }
            if !agree(found.rate, measured) {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {count} (of which {grow} grow):\n{}", wrong.len(), wrong.join("\n"));
    assert!(grow > 0 && grow < count, "{grow} of {count} grow");
    println!("{count} pairs agree, of which {grow} grow");
}

/// So do disturbances in a box of which all faces have rules, with its corners: rules of links and of nodes that meet in each way, symmetry planes, a
/// uniform stream along walls that go with it, and a fluid at rest between walls.
#[test]
fn boxes_of_four_faces_grow_in_runs_as_predicted() {
    lbm_tests::in_turn!();
    let method = Method::new("d2q9_bgk");
    let mut grow = 0;
    let cases = [
        (["moving_wall", "anti_bounce_back", "moving_wall", "free_slip"], 1.981, SPEED),
        (["zou_he_velocity", "zou_he_pressure", "zou_he_velocity", "free_slip"], 1.95, SPEED),
        (["zou_he_velocity", "zou_he_pressure", "zou_he_velocity", "moving_wall"], 1.9, SPEED),
        (["moving_wall", "zou_he_pressure", "zou_he_velocity", "regularized_velocity"], 1.95, SPEED),
        (["moving_wall", "equilibrium", "moving_wall", "moving_wall"], 1.95, SPEED),
        (["moving_wall", "extrapolation_outflow", "regularized_velocity", "regularized_velocity"], 1.7, SPEED),
        (["bounce_back", "anti_bounce_back", "bounce_back", "free_slip"], 1.9, 0.0),
        (["zou_he_velocity", "zou_he_pressure", "bounce_back", "bounce_back"], 1.981, 0.0),
    ];
    for (rules, omega, speed) in cases {
        let stream = Stream::new(&method.model, &[vec![omega]], &[speed, 0.0]).expect("it has derivatives");
        let rule = |at: usize| method.model.boundaries().iter().find(|rule| rule.name == rules[at]).expect("its rule");
        let given =
            [0, 1, 2, 3].map(|at| pair::values(&method.model, rule(at), &[speed, 0.0], |_| None).expect("values"));
        let with = |at: usize| (rule(at), &given[at][..]);
        let duct = stream.duct([0, 1], [[with(0), with(1)], [with(2), with(3)]]).expect("derivatives");
        let found = stream.growth_in(&duct, CELLS, &[0.0; 2], &Budget::of(u64::MAX)).expect("no limit");
        let values: Vec<Vec<Value>> = (0..4)
            .map(|at| rule(at).params.iter().map(|param| param.name.clone()).zip(given[at].clone()).collect())
            .collect();
        let measured = measured(&method, &rules, omega, &values, found.rate, speed);
        grow += usize::from(found.grows());
        println!("{rules:?} {omega}: {:+.3e} predicted at {:?}, {measured:+.3e} in a run", found.rate, found.at);
        assert!(agree(found.rate, measured), "{rules:?} {omega}: {found:?}, {measured} in a run");
    }
    assert!(grow > 2 && grow < cases.len(), "{grow} grow");
}

/// What comes back of a pulse of pressure from a face is what the analysis says of its waves, most of which are 20 to 60 cells long; a wall tells how much
/// viscosity takes on the way.
#[test]
fn a_pulse_of_sound_is_reflected_as_predicted() {
    let method = Method::new("d2q9_bgk");
    let (cells, height, omega, cs) = (96, 1e-6, 1.8, (1f64 / 3.0).sqrt());
    let stream = Stream::new(&method.model, &[vec![omega]], &[0.0, 0.0]).expect("it has derivatives");
    let left = |rule: &str, values: &[(String, Vec<f64>)]| {
        let mut flow = simulation(&method, [cells, 8], omega, &[("bounce_back", &[]), (rule, values)]);
        // A simple wave to the right: u = cs (rho - 1).
        flow.init(|[x, _, _], out| {
            let pulse = height * (-((x as f64 - 48.0) / 6.0).powi(2)).exp();
            out.copy_from_slice(&[1.0 + pulse, cs * pulse, 0.0]);
        })
        .expect("fields");
        // It needs 48 / cs = 83 steps to the end; then what is reflected is 33 cells away from it.
        flow.run(140).expect("steps");
        let fields = flow.snapshot().expect("fields");
        let density = &fields.components[0].data;
        density
            .iter()
            .map(|rho| rho - 1.0)
            .fold(0.0, |most: f64, next| if next.abs() > most.abs() { next } else { most })
    };
    let wall = left("bounce_back", &[]);
    for rule in ["moving_wall", "equilibrium", "extrapolation_outflow", "anti_bounce_back", "zou_he_pressure"] {
        let (end, values) = method.end(&stream, &method.model, rule, true);
        let found = reflection(&stream, &end, &towards(&end, 2, 32.0, 0.0)).expect("it reflects sound");
        let measured = left(rule, &values) / wall;
        assert!((found.part[0] - measured).abs() < 0.02, "{rule}: {found:?}, {measured} in a run");
    }
}
