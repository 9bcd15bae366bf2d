//! A flow in several parts has the bits of the flow in one: populations, fields, sums, means, forces, probes, statistics and what a
//! restart file has. Before each step all that a part has in the place of others' blocks is NaN, so that what is read of it without having been got shows.

use std::io;

use lbm_bundle::statistics::Statistic;
use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::statistics;
use lbm_dsl::shipped;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{FreeBody, Motion, Shape, Solid, Turning};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::kernels::{Criterion, Statistics};
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::restore::State;
use lbm_runtime::solver::{Adaptivity, GridSpec, Prepared, Simulation, StepError};
use lbm_tests::compiled::{self, Random};
use lbm_tests::criteria::{above, criteria, criterion, everywhere, level};
use lbm_tests::flows::varying_wall;
use lbm_tests::sample::sample;

const STEPS: u64 = 3;

/// A flow to divide.
struct Flow<'a> {
    bundle: &'a Bundle,
    grid: GridSpec,
    levels: usize,
    refines: fn(Block) -> bool,
}

impl<'a> Flow<'a> {
    fn uniform(bundle: &'a Bundle, grid: GridSpec) -> Self {
        Flow { bundle, grid, levels: 1, refines: |_| false }
    }

    /// At its start, in so many parts.
    fn start(&self, parts: usize) -> Simulation {
        let mut flow = self.parts(parts).unwrap();
        flow.init_cells(|cell, out| {
            let at = cell.centre();
            out.fill(0.0);
            out[0] = 1.0 + 0.01 * (0.3 * at[0] + 0.7 * at[1] + 0.5 * at[2]).sin();
            out[1] = 0.04 * (0.5 * at[1]).cos();
            out[2] = 0.02 * (0.4 * at[0] - 0.2 * at[2]).sin();
        })
        .unwrap();
        assert_eq!(flow.subdomains(), parts);
        flow
    }

    fn parts(&self, parts: usize) -> Result<Simulation, StepError> {
        let device = Device::host(1).unwrap();
        let model_params = &self.bundle.manifest.params;
        let value = |name: &str| match name {
            "omega" => 1.6,
            "slowest" => 1e-4,
            "strength" => -1.0,
            "width" => 4.0,
            "sigma" => 0.95,
            _ => 0.08,
        };
        let params: Vec<_> = (model_params.iter())
            .map(|param| (param.name.clone(), vec![value(&param.name); param.components as usize]))
            .collect();
        let prepared = Prepared::refined(&device, self.bundle, &self.grid, self.levels, self.refines)?;
        prepared.in_subdomains(&vec![device.clone(); parts], self.bundle)?.simulation(&params)
    }

    /// All that can be known of it after some steps, with its name.
    fn after(&self, flow: &mut Simulation, steps: u64) -> Vec<(&'static str, Vec<u64>)> {
        let statistics = usize::from(self.grid.statistics.is_some());
        for _ in 0..steps {
            flow.poison().unwrap();
            flow.run(1).unwrap();
            flow.accumulate(&(0..statistics).collect::<Vec<_>>()).unwrap();
        }
        flow.poison().unwrap();
        let mut known = vec![];
        let mut add = |name, values: Vec<f64>| {
            assert!(values.iter().all(|value| value.is_finite()), "{name} is finite");
            known.push((name, values.into_iter().map(f64::to_bits).collect()));
        };
        let points = (0..40).map(|at| [0.4 * at as f64 + 0.3, 15.1 - 0.35 * at as f64, 1.0]).collect();
        let readings = flow.probe(&mut Probe::new(points, true)).unwrap();
        let fluid = readings.into_iter().filter(|reading| !reading.values[0].is_nan());
        add("probes", fluid.flat_map(|reading| reading.values.into_iter().chain(reading.gradient.concat())).collect());
        let look = flow.check_fields().unwrap();
        assert_eq!(look.not_finite, None);
        flow.set_reference().unwrap();
        flow.run(1).unwrap();
        add("change", vec![flow.check_fields().unwrap().change.unwrap()]);
        if let Some(means) = flow.means().unwrap() {
            add("means", vec![means.mass, means.energy, means.enstrophy, means.fastest]);
        }
        add(
            "sums",
            flow.sums().unwrap().into_iter().flat_map(|sum| [vec![sum.mass], sum.momentum.to_vec()].concat()).collect(),
        );
        flow.poison().unwrap();
        add("forces", flow.forces().unwrap().concat());
        if statistics > 0 {
            let found = flow.accumulators(0).unwrap().unwrap();
            add("statistics", found.components.into_iter().flat_map(|component| component.data).collect());
        }
        let snapshot = flow.snapshot().unwrap();
        add("fields", snapshot.components.iter().flat_map(|component| component.data.clone()).collect());
        let captured = flow.capture(Device::host(1).unwrap().stagings(1).take()).unwrap().snapshot().unwrap();
        assert!(captured == snapshot, "a copy has the same");
        let mut populations = vec![];
        flow.visit_populations(|_, values| populations.extend_from_slice(values)).unwrap();
        add("populations", populations);
        known
    }

    /// In two to four parts it has the same bits as in one.
    fn is_the_same_in_parts(&self, name: &str) {
        let expected = self.after(&mut self.start(1), STEPS);
        for parts in 2..=4 {
            let found = self.after(&mut self.start(parts), STEPS);
            for ((what, expected), (_, found)) in expected.iter().zip(found) {
                assert!(*expected == found, "{name} in {parts} parts: other {what}");
            }
        }
    }
}

fn block(dim: usize) -> [u32; 3] {
    if dim == 2 { [4, 4, 1] } else { [4, 4, 4] }
}

fn plain(spec: &str, real: Real) -> Bundle {
    let model = compiled::model(spec);
    compiled::compile(&model, Target::C, real, block(model.lattice().dim())).bundle
}

/// A box of so many cells, periodic.
fn cells(bundle: &Bundle, size: [usize; 3]) -> GridSpec {
    GridSpec::periodic(if bundle.manifest.dim == 2 { [size[0], size[1], 1] } else { size })
}

#[test]
fn a_periodic_box_has_the_same_bits_in_parts() {
    for (spec, real) in
        [("d2q9_bgk", Real::F64), ("d2q9_bgk", Real::F16F32), ("d3q19_bgk", Real::F32), ("d3q27_cumulant", Real::F64)]
    {
        let bundle = plain(spec, real);
        Flow::uniform(&bundle, cells(&bundle, [20, 12, 12])).is_the_same_in_parts(spec);
        // One block along an axis is its own neighbour there.
        Flow::uniform(&bundle, cells(&bundle, [24, 4, 4])).is_the_same_in_parts(spec);
    }
}

/// Along x first, then along the last axis, each wall alone and where it meets walls at rest.
#[test]
fn every_rule_of_walls_has_the_same_bits_in_parts() {
    let rules = shipped::rules(&shipped::Prelude).unwrap();
    for (spec, block) in sample([("d2q9_bgk", [4, 4, 1]), ("d2q9_bgk", [1, 4, 1]), ("d3q19_bgk", [4, 4, 4])]) {
        // A wall function reads the fourth cell of a block.
        let fits = |rule: &&str| *rule != "wall_function" || block[0] > 1;
        let rules: Vec<&str> = rules.iter().map(|(_, rule)| rule.as_str()).filter(fits).collect();
        let model = compiled::model_with_rules(spec, &rules);
        let bundle = compiled::compile(&model, Target::C, Real::F64, block).bundle;
        for rule in &bundle.manifest.boundaries {
            let value = |name: &str| match name {
                "velocity" | "slip" => vec![0.02, 0.01, -0.01],
                "source" => vec![0.001],
                "distance" => vec![0.3],
                "speed" | "viscosity" => vec![0.5],
                "length" => vec![50.0],
                _ => vec![1.0],
            };
            let values: Vec<(&str, Vec<f64>)> = rule
                .params
                .iter()
                .map(|param| (&param.name[..], value(&param.name)[..param.components as usize].to_vec()))
                .collect();
            let values: Vec<(&str, &[f64])> = values.iter().map(|(name, values)| (*name, &values[..])).collect();
            let mut grid = cells(&bundle, [16, 12, 12]);
            for face in [Face::YMin, Face::YMax] {
                grid = grid.with_wall(face, "bounce_back", &[]);
            }
            for face in [Face::XMin, Face::XMax] {
                grid = grid.with_wall(face, &rule.name, &values);
            }
            Flow::uniform(&bundle, grid).is_the_same_in_parts(&format!("{spec} {}", rule.name));
        }
    }
}

fn solid(shape: Shape, level: usize, rule: &str) -> Solid {
    Solid { shape, rule: rule.into(), values: vec![], level, shells: vec![] }
}

/// Between walls, with two solids in the flow and statistics.
fn with_solids(bundle: &Bundle, device: &Device, levels: usize) -> GridSpec {
    let mut grid = cells(bundle, [24, 16, 16]);
    for face in [Face::YMin, Face::YMax] {
        grid = grid.with_wall(face, "bounce_back", &[]);
    }
    let rule = bundle.manifest.boundaries.iter().find(|rule| rule.name == "interpolated_bounce_back");
    let rule = rule.map_or("bounce_back", |rule| &rule.name);
    let cylinder = Shape::Cylinder { centre: [8.3, 7.6, 0.0], axis: [0.0, 0.0, 1.0], radius: 2.7, length: None };
    let second = Shape::Cylinder { centre: [17.6, 9.1, 0.0], axis: [0.0, 0.0, 1.0], radius: 1.9, length: None };
    let grid = grid.with_solid(solid(cylinder, levels - 1, rule)).with_solid(solid(second, levels - 1, "bounce_back"));
    let means = Statistic {
        quantities: ["ux", "uy", "dx_uy - dy_ux"].map(|text| text.parse().unwrap()).to_vec(),
        pairs: vec![[0, 1], [2, 2]],
        least: vec![0],
        greatest: vec![1],
    };
    let kernels = statistics::bundle(&bundle.manifest, &[means]).unwrap();
    GridSpec { statistics: Some(Statistics::load(device, &kernels).unwrap()), ..grid }
}

#[test]
fn solids_their_forces_and_statistics_have_the_same_bits_in_parts() {
    let device = Device::host(1).unwrap();
    for spec in ["d2q9_bgk", "d3q19_bgk"] {
        let model = compiled::model_with_rules(spec, &["interpolated_bounce_back"]);
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let grid = with_solids(&bundle, &device, 1);
        Flow::uniform(&bundle, grid).is_the_same_in_parts(spec);
    }
}

/// Refined at a wall, at a corner and around the solids, so that cuts of the curve meet refinement interfaces of all kinds.
#[test]
fn refined_grids_have_the_same_bits_in_parts() {
    let device = Device::host(1).unwrap();
    for (spec, coupling, levels) in sample([
        ("d2q9_bgk", "volumetric_shifted", 3),
        ("d2q9_bgk", "volumetric", 2),
        ("d2q9_bgk", "interpolated", 3),
        ("d2q9_bgk", "interpolated_linear", 2),
        ("d3q19_bgk", "volumetric_shifted", 2),
        ("d3q19_bgk", "interpolated_means", 2),
    ]) {
        let model = compiled::model_with_all(spec, &["interpolated_bounce_back", "free_slip"], Some(coupling));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let refines = |block: Block| block.place[..2].iter().all(|at| *at == 0) || block.place[0] == 1 << block.level;
        let mut grid = with_solids(&bundle, &device, levels);
        if spec == "d2q9_bgk" {
            grid = grid.with_wall(Face::XMin, "free_slip", &[]).with_wall(Face::XMax, "bounce_back", &[]);
        }
        Flow { bundle: &bundle, grid, levels, refines }.is_the_same_in_parts(&format!("{spec} {coupling}"));
        // Away from walls and solids.
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let grid = cells(&bundle, [24, 16, 16]);
        Flow { bundle: &bundle, grid, levels, refines }.is_the_same_in_parts(&format!("{spec} {coupling}, periodic"));
    }
}

/// A wall that moves faster along x, link by link, or cell by cell where its rule is of nodes, refined here and there.
#[test]
fn walls_along_which_values_vary_have_the_same_bits_in_parts_at_interfaces() {
    for (spec, rule, coupling) in [
        ("d2q9_bgk", "moving_wall", "volumetric_shifted"),
        ("d2q9_bgk", "regularized_velocity", "volumetric_shifted"),
        ("d2q9_hybrid", "moving_wall", "volumetric_shifted"),
        ("d2q9_bgk", "moving_wall", "interpolated"),
        ("d2q9_bgk", "regularized_velocity", "interpolated"),
    ] {
        let model = compiled::model_with_all(spec, &["bounce_back", rule], Some(coupling));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, [4, 4, 1]);
        let refines = |block: Block| block.place[0] == block.level + 1 || block.place[0] == 3 << block.level;
        let grid = cells(&bundle, [24, 16, 1]).with_wall(Face::YMax, "bounce_back", &[]);
        let grid = varying_wall(grid, Face::YMin, rule, [|[x, ..]| 0.002 * x, |_| 0.0]);
        Flow { bundle: &bundle, grid, levels: 3, refines }.is_the_same_in_parts(&format!("{spec} {rule} {coupling}"));
    }
}

/// Chance that rounds them is made of what a cell computes, so it does not know the parts.
#[test]
fn moments_of_16_bits_have_the_same_bits_in_parts() {
    let device = Device::host(1).unwrap();
    let block_of = |spec| block(compiled::model(spec).lattice().dim());
    for spec in sample(["d2q9_central", "d3q27_cumulant"]) {
        let bundle = compiled::compile_moments(&compiled::model(spec), Target::C, Real::F16F32, block_of(spec));
        Flow::uniform(&bundle, cells(&bundle, [20, 12, 12])).is_the_same_in_parts(spec);
    }
    for (spec, levels) in sample([("d2q9_recursive", 3), ("d2q9_hybrid", 2), ("d3q19_regularized", 2)]) {
        let rules = ["interpolated_bounce_back", "free_slip"];
        let model = compiled::model_with_all(spec, &rules, Some("volumetric_shifted"));
        let bundle = compiled::compile_moments(&model, Target::C, Real::F16F32, block_of(spec));
        let refines = |block: Block| block.place[..2].iter().all(|at| *at == 0) || block.place[0] == 1 << block.level;
        let grid = with_solids(&bundle, &device, levels);
        Flow { bundle: &bundle, grid, levels, refines }.is_the_same_in_parts(spec);
    }
}

/// On several GPUs; where there is one, on streams of it, which wait for each other as GPUs do.
#[cfg(feature = "cuda")]
#[test]
fn parts_on_gpus_have_the_bits_of_one_in_recorded_steps_and_in_others() {
    let known = Device::gpus(Target::Cuda).unwrap();
    let gpus: Vec<Device> = (0..3).map(|number| Device::cuda(number % known).unwrap()).collect();
    for (spec, levels, real) in
        [("d2q9_bgk", 3, Real::F64), ("d3q19_bgk", 2, Real::F32), ("d3q19_bgk", 1, Real::F16F32)]
    {
        let model = compiled::model_with_all(spec, &["interpolated_bounce_back"], Some("volumetric_shifted"));
        let bundle = compiled::compile_solids(&model, Target::Cuda, real, block(model.lattice().dim()));
        let grid = with_solids(&bundle, &gpus[0], levels);
        let refines = |block: Block| block.place[..2].iter().all(|at| *at == 0) || block.place[0] == 1 << block.level;
        let bits = |parts: usize, stops: &[u64]| {
            let prepared = Prepared::refined(&gpus[0], &bundle, &grid, levels, refines).unwrap();
            let prepared = prepared.in_subdomains(&gpus[..parts], &bundle).unwrap();
            let mut flow = prepared.simulation(&[("omega".to_string(), vec![1.6])]).unwrap();
            flow.init_cells(|cell, out| {
                let at = cell.centre();
                out.fill(0.0);
                out[0] = 1.0 + 0.01 * (0.3 * at[0] + 0.7 * at[1] + 0.5 * at[2]).sin();
                out[1] = 0.04 * (0.5 * at[1]).cos();
            })
            .unwrap();
            for steps in stops {
                flow.run(*steps).unwrap();
                flow.accumulate(&[0]).unwrap();
            }
            let look = flow.check_fields().unwrap();
            assert_eq!(look.not_finite, None);
            flow.state().map(|state| sections(&state)).unwrap()
        };
        let expected = bits(1, &[100]);
        for parts in [2, 3] {
            assert!(bits(parts, &[100]) == expected, "{spec} in {parts} parts");
        }
        let expected = bits(1, &[1; 20]);
        assert!(bits(2, &[1; 20]) == expected, "{spec}, a step at a time");
    }
}

#[test]
fn moments_and_states_have_the_same_bits_in_parts() {
    let device = Device::host(1).unwrap();
    for spec in sample(["d2q9_central", "d3q19_regularized", "d2q9_power_law_state"]) {
        let model = compiled::model_with_all(spec, &["interpolated_bounce_back"], Some("volumetric_shifted"));
        let block = block(model.lattice().dim());
        let bundle = match spec.ends_with("state") {
            true => compiled::compile_solids(&model, Target::C, Real::F64, block),
            false => compiled::compile_moments(&model, Target::C, Real::F64, block),
        };
        assert_eq!(bundle.manifest.moments.is_empty(), spec.ends_with("state"));
        Flow { bundle: &bundle, grid: with_solids(&bundle, &device, 1), levels: 1, refines: |_| false }
            .is_the_same_in_parts(spec);
        // A corner of fine blocks that goes through parts.
        let refines = |block: Block| block.place[0] + block.place[1] < 5 << block.level;
        let grid = cells(&bundle, [32, 16, 8]);
        Flow { bundle: &bundle, grid, levels: 2, refines }.is_the_same_in_parts(&format!("{spec} on two levels"));
    }
}

/// With 16 bits, what cells expose has two rows.
const READS_NEIGHBOURS: [(&str, Real); 6] = [
    ("d2q9_shan_chen", Real::F64),
    ("d2q9_hybrid", Real::F16F32),
    ("d2q9_hybrid", Real::F64),
    ("d3q19_wale", Real::F16F32),
    ("d3q19_wale", Real::F64),
    ("d3q19_vreman", Real::F64),
];

/// What cells expose is computed between two exchanges of the halo: in a box without walls, and with walls and solids, whose links it meets.
#[test]
fn methods_that_read_values_of_neighbours_have_the_same_bits_in_parts() {
    let device = Device::host(1).unwrap();
    for (spec, real) in sample(READS_NEIGHBOURS) {
        let bundle = plain(spec, real);
        assert!(!bundle.manifest.shown.is_empty(), "{spec}");
        Flow::uniform(&bundle, cells(&bundle, [20, 12, 8])).is_the_same_in_parts(spec);
        // One block along an axis is its own neighbour there.
        Flow::uniform(&bundle, cells(&bundle, [24, 4, 4])).is_the_same_in_parts(&format!("{spec}, thin"));
        let model = compiled::model_with_rules(spec, &["interpolated_bounce_back"]);
        let bundle = compiled::compile_solids(&model, Target::C, real, block(model.lattice().dim()));
        Flow::uniform(&bundle, with_solids(&bundle, &device, 1)).is_the_same_in_parts(&format!("{spec} around solids"));
    }
}

/// The same on two and three levels: what cells of other levels expose crosses parts, and is there in time.
#[test]
fn methods_that_read_values_of_neighbours_have_the_same_bits_in_parts_of_several_levels() {
    let device = Device::host(1).unwrap();
    for (spec, real) in sample(READS_NEIGHBOURS) {
        let model = compiled::model_with_all(spec, &["interpolated_bounce_back"], Some("volumetric_shifted"));
        let bundle = compiled::compile_solids(&model, Target::C, real, block(model.lattice().dim()));
        // A corner of fine blocks that goes through parts.
        let refines = |block: Block| block.place[0] + block.place[1] < 5 << block.level;
        Flow { bundle: &bundle, grid: cells(&bundle, [32, 16, 8]), levels: 3, refines }
            .is_the_same_in_parts(&format!("{spec} in a box"));
        let refines = |block: Block| block.place[0] == 1 << block.level;
        Flow { bundle: &bundle, grid: with_solids(&bundle, &device, 2), levels: 2, refines }
            .is_the_same_in_parts(&format!("{spec} at walls"));
    }
}

/// Takes pieces of bytes.
type Each<'a> = &'a mut dyn FnMut(&[u8]) -> io::Result<()>;

/// All bytes that something reads.
fn bytes(read: impl Fn(Each<'_>) -> io::Result<()>) -> Vec<u8> {
    let mut all = vec![];
    read(&mut |piece| {
        all.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    all
}

/// What a restart file has of populations, fields that are kept and the first statistic.
fn sections(state: &State<'_>) -> [Vec<u8>; 3] {
    [
        bytes(|each| state.read_populations(each)),
        bytes(|each| state.read_reference(each)),
        bytes(|each| state.read_statistic(0, each)),
    ]
}

/// The same of a flow; a copy has the same.
fn state(flow: &mut Simulation) -> [Vec<u8>; 3] {
    let found = sections(&flow.state().unwrap());
    let copied = flow.capture_state(Device::host(1).unwrap().stagings(1).take()).unwrap();
    assert!(sections(&copied) == found, "a copy has the same");
    found
}

/// Gives pieces of bytes.
fn filler(bytes: Vec<u8>) -> impl FnMut(&mut [u8]) -> Result<(), StepError> {
    let mut left = std::collections::VecDeque::from(bytes);
    move |piece| {
        piece.iter_mut().for_each(|byte| *byte = left.pop_front().expect("as many bytes"));
        Ok(())
    }
}

/// Lets a flow go on where another is.
fn go_on(flow: &mut Simulation, from: &mut Simulation) {
    let [populations, kept, statistic] = state(from);
    flow.write_populations(from.step(), filler(populations)).unwrap();
    flow.write_reference(from.reference_step().unwrap(), filler(kept)).unwrap();
    flow.write_statistic(0, from.samples()[0], filler(statistic)).unwrap();
}

#[test]
fn a_flow_goes_on_in_another_number_of_parts_with_the_same_bits() {
    let device = Device::host(1).unwrap();
    let model = compiled::model_with_all("d2q9_bgk", &["interpolated_bounce_back"], Some("volumetric_shifted"));
    let bundle = compiled::compile_solids(&model, Target::C, Real::F64, [4, 4, 1]);
    let (levels, refines) = (3, |block: Block| block.place[0] == 1 << block.level);
    let flow = Flow { bundle: &bundle, grid: with_solids(&bundle, &device, levels), levels, refines };
    let mut unbroken = flow.start(1);
    flow.after(&mut unbroken, 2);
    unbroken.run(1).unwrap();
    for (before, after) in [(3, 1), (1, 4), (4, 2)] {
        let mut first = flow.start(before);
        flow.after(&mut first, 2);
        first.run(1).unwrap();
        assert!(state(&mut first) == state(&mut unbroken), "{before} parts");
        let (mut one, mut other) = (flow.start(1), flow.start(after));
        go_on(&mut one, &mut unbroken);
        go_on(&mut other, &mut first);
        assert_eq!(one.check_fields().unwrap(), other.check_fields().unwrap(), "change since the fields that are kept");
        assert!(flow.after(&mut one, 2) == flow.after(&mut other, 2), "from {before} parts to {after}");
    }
}

#[test]
fn what_cannot_run_in_parts_is_refused_by_name() {
    let uniform = plain("d2q9_bgk", Real::F64);
    let few = Flow::uniform(&uniform, cells(&uniform, [8, 4, 1])).parts(3).err().expect("two blocks");
    assert!(matches!(few, StepError::ManySubdomains { subdomains: 3, blocks: 2 }), "{few}");
}

/// A box on which grids may change, with everything that goes along when they do.
fn adaptive(bundle: &Bundle, grid: &GridSpec, finest: usize, during: (u64, Criterion), parts: usize) -> Simulation {
    let device = Device::host(1).unwrap();
    let adaptivity = Adaptivity {
        levels: 0..=finest,
        start: criterion(&device, bundle, vec![]),
        during: Some(during),
        pinned: vec![],
        memory: Some(40 << 20),
        sharing: 1,
        keeps: true,
    };
    let params = [("omega".to_string(), vec![1.6])];
    let prepared = Prepared::adaptive(&device, bundle, grid, &adaptivity, None).unwrap();
    prepared.in_subdomains(&vec![device.clone(); parts], bundle).unwrap().simulation(&params).unwrap()
}

/// The bits of all that a flow has, and its grid.
fn all(flow: &mut Simulation) -> (Vec<Block>, [Vec<u8>; 3], Vec<u64>) {
    let leaves = flow.grid().leaves().unwrap().iter().map(|leaf| leaf.block).collect();
    let means = flow.means().unwrap().map_or(vec![], |means| vec![means.mass, means.energy, means.enstrophy]);
    let sums = flow.conserved().unwrap();
    let bits = means.into_iter().chain([sums.mass]).chain(sums.momentum).map(f64::to_bits).collect();
    (leaves, state(flow), bits)
}

#[test]
fn a_grid_that_follows_the_flow_has_the_same_bits_in_parts() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    for (spec, coupling, thresholds) in [
        ("d2q9_bgk", "volumetric_shifted", &[0.004, 0.012][..]),
        ("d2q9_bgk", "interpolated", &[0.004, 0.012]),
        ("d3q19_bgk", "volumetric_shifted", &[0.02]),
    ] {
        let finest = thresholds.len();
        let model = compiled::model_with_all(spec, &["interpolated_bounce_back"], Some(coupling));
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let mut grid = with_solids(&bundle, &device, finest + 1);
        if bundle.manifest.dim == 3 {
            // Blocks around solids stay as they are, which would be all of them.
            grid = GridSpec { statistics: grid.statistics, ..cells(&bundle, [24, 16, 8]) };
        }
        let run = |parts: usize| {
            let follows = (2, criterion(&device, &bundle, vec![above("abs(rho - 1)", thresholds, 0.5)]));
            let mut flow = adaptive(&bundle, &grid, finest, follows, parts);
            flow.init_cells(|cell, out| {
                let at = cell.centre();
                out.fill(0.0);
                // It spreads at the speed of sound.
                out[0] = 1.0 + 0.1 * (-((at[0] - 12.0).powi(2) + (at[1] - 4.0).powi(2)) / 4.0).exp();
                out[1] = 0.03 * (0.5 * at[1]).cos();
            })
            .unwrap();
            for step in 0..12 {
                if step == 5 {
                    flow.set_reference().unwrap();
                }
                flow.poison().unwrap();
                flow.run(1).unwrap();
                flow.accumulate(&[0]).unwrap();
            }
            flow.poison().unwrap();
            let adaptations = flow.adaptations();
            assert!(adaptations.changes > 1, "{spec}: {adaptations:?}");
            (all(&mut flow), adaptations)
        };
        let one = run(1);
        for parts in [2, 3] {
            assert!(run(parts) == one, "{spec} {coupling} in {parts} parts");
        }
    }
}

/// Balls of fine cells at random places come and go, so that blocks change at all cuts of the curve, and parts get much more work than others.
#[test]
fn after_hundreds_of_random_changes_parts_have_the_same_bits_and_about_the_same_work() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    for (spec, coupling, side, finest, rounds) in sample([
        ("d2q9_bgk", "volumetric_shifted", 32, 2, 150),
        ("d2q9_bgk", "volumetric", 32, 3, 60),
        ("d2q9_bgk", "interpolated", 32, 2, 60),
        ("d3q19_bgk", "volumetric_shifted", 12, 1, 40),
    ]) {
        let model = compiled::model_with_coupling(spec, coupling);
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let means =
            Statistic { quantities: vec!["ux".parse().unwrap()], pairs: vec![[0, 0]], least: vec![], greatest: vec![] };
        let kernels = statistics::bundle(&bundle.manifest, &[means]).unwrap();
        let statistics = Some(Statistics::load(&device, &kernels).unwrap());
        let grid = GridSpec { statistics, ..cells(&bundle, [side; 3]) };
        let mut random = Random(11);
        let mut ball = |number: usize| {
            let [x, y, z] = [(); 3].map(|()| (random.draw() + 1.0) / 2.0 * side as f64);
            let last = if bundle.manifest.dim == 3 { format!(" + (z - {z:?})^2") } else { String::new() };
            let (radius, inside) = (0.25 * side as f64, 1 + number % finest);
            vec![level(&format!("if((x - {x:?})^2 + (y - {y:?})^2{last} < {radius:?}^2, {inside}, 0)"))]
        };
        let balls = criteria(&device, &bundle, &(0..16).map(&mut ball).collect::<Vec<_>>());
        let start = |parts: usize| {
            let mut flow = adaptive(&bundle, &grid, finest, (u64::MAX, everywhere(&device, &bundle, 0)), parts);
            flow.init_cells(|cell, out| {
                let at = cell.centre();
                out.fill(0.0);
                out[0] = 1.0 + 0.01 * (0.5 * at[0]).sin();
                out[1] = 0.03 * (0.5 * at[1]).cos();
            })
            .unwrap();
            flow.set_reference().unwrap();
            flow
        };
        let mut flows = [1, 2, 4].map(start);
        let mut most = 1.0f64;
        for round in 0..rounds {
            let ball = ((random.draw() + 1.0) / 2.0 * 16.0) as usize % 16;
            for flow in &mut flows {
                flow.poison().unwrap();
                flow.adapt_to(&balls[ball]).unwrap();
                flow.accumulate(&[0]).unwrap();
                if round % 3 == 0 {
                    flow.run(1).unwrap();
                }
            }
            let [one, others @ ..] = &mut flows;
            for other in others {
                assert!(all(other) == all(one), "{spec} {coupling}: {} parts in round {round}", other.subdomains());
                let work = other.work();
                let (greatest, sum) = (*work.iter().max().unwrap(), work.iter().sum::<usize>());
                most = most.max(greatest as f64 * work.len() as f64 / sum as f64);
            }
        }
        let adaptations = flows[2].adaptations();
        assert!(adaptations.reorderings > 0 && adaptations.changes as usize > rounds / 2, "{adaptations:?}");
        // A block of the finest level more than a cut at the best place.
        assert!(most < 1.3, "{spec} {coupling}: {most}");
    }
}

#[test]
fn solids_that_move_have_the_same_bits_in_parts() {
    for (spec, coupling, levels) in
        [("d2q9_bgk", None, 1), ("d2q9_bgk", Some("volumetric_shifted"), 2), ("d3q19_bgk", None, 1)]
    {
        let model = compiled::model_with_all(spec, &["interpolated_moving_wall"], coupling);
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let shape = Shape::Cylinder { centre: [6.3, 7.6, 0.0], axis: [0.0, 0.0, 1.0], radius: 2.4, length: None };
        // Fast enough to leave and come to cells in each step, through blocks of all parts.
        let motion = Motion::new(|time| [0.9 * time, 0.3 * time, 0.0], 20);
        let grid = cells(&bundle, [24, 16, 8]).with_wall(Face::YMin, "bounce_back", &[]).with_wall(
            Face::YMax,
            "bounce_back",
            &[],
        );
        let grid = grid.with_solid(solid(shape, levels - 1, "interpolated_moving_wall")).moving(motion);
        // The surface stays in blocks of its level.
        let refines = |block: Block| block.level == 0;
        let expected = Flow { bundle: &bundle, grid: grid.clone(), levels, refines };
        let one = expected.after(&mut expected.start(1), 8);
        for parts in [2, 3] {
            let found = expected.after(&mut expected.start(parts), 8);
            for ((what, one), (_, found)) in one.iter().zip(found) {
                assert!(*one == found, "{spec} {coupling:?} in {parts} parts: other {what}");
            }
        }
    }
}

#[test]
fn bodies_that_the_fluid_moves_have_the_same_bits_in_parts() {
    lbm_tests::in_turn!();
    for (spec, coupling, levels) in
        [("d2q9_bgk", None, 1), ("d2q9_bgk", Some("volumetric_shifted"), 2), ("d3q19_bgk", None, 1)]
    {
        let model = compiled::model_with_all(spec, &["interpolated_moving_wall"], coupling);
        let dim = model.lattice().dim();
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(dim));
        let (axis, far) = ([0.0, 0.0, 1.0], f64::INFINITY);
        let (turning, radii) = match dim {
            2 => (Turning::About { axis, stiffness: 0.01, damping: 0.1 }, [3.1, 2.2, far]),
            _ => (Turning::Free, [2.4, 1.9, 2.1]),
        };
        let shape = Shape::Ellipsoid { centre: [6.3, 7.6, 4.2], radii };
        let body = FreeBody::new(shape.mass(dim).unwrap(), 0.8, turning);
        let (velocity, rotation) = ([0.3, 0.1, 0.0], if dim == 2 { [0.0, 0.0, 0.02] } else { [0.02, 0.01, 0.02] });
        let body = FreeBody { velocity, rotation, gravity: [0.1, 0.0, 0.0], viscosity: Some(0.04), ..body };
        let grid = cells(&bundle, [24, 16, 8]).with_wall(Face::YMin, "bounce_back", &[]).with_wall(
            Face::YMax,
            "bounce_back",
            &[],
        );
        let grid = grid.with_solid(solid(shape, levels - 1, "interpolated_moving_wall")).moving(Motion::free(body, 20));
        // The surface stays in blocks of its level.
        let refines = |block: Block| block.level == 0;
        let expected = Flow { bundle: &bundle, grid: grid.clone(), levels, refines };
        let run = |parts: usize| {
            let mut flow = expected.start(parts);
            (expected.after(&mut flow, 8), flow.bodies())
        };
        let (one, bodies) = run(1);
        assert!(bodies[0].1.velocity[1] != velocity, "{bodies:?}");
        for parts in [2, 3] {
            let (found, found_bodies) = run(parts);
            assert_eq!(found_bodies, bodies, "{spec} {coupling:?} in {parts} parts");
            for ((what, one), (_, found)) in one.iter().zip(found) {
                assert!(*one == found, "{spec} {coupling:?} in {parts} parts: other {what}");
            }
        }
    }
}

#[test]
fn a_grid_that_follows_a_body_has_the_same_bits_in_parts() {
    lbm_tests::in_turn!();
    // Through blocks of all parts.
    follows_in_parts(Motion::new(|time| [0.4 * time, 0.2 * time, 0.0], 40));
    let mass = circle().mass(2).unwrap();
    let body = FreeBody::new(mass, 20.0, Turning::Held);
    follows_in_parts(Motion::free(FreeBody { velocity: [0.15, 0.08, 0.0], gravity: [1e-3, 5e-4, 0.0], ..body }, 40));
}

fn circle() -> Shape {
    Shape::Cylinder { centre: [10.3, 13.6, 0.0], axis: [0.0, 0.0, 1.0], radius: 2.4, length: None }
}

fn follows_in_parts(motion: Motion) {
    let device = Device::host(1).unwrap();
    let model = compiled::model_with_all("d2q9_bgk", &["interpolated_moving_wall"], Some("volumetric_shifted"));
    let bundle = compiled::compile_solids(&model, Target::C, Real::F64, [4, 4, 1]);
    let shape = circle();
    let grid = GridSpec { statistics: with_solids(&bundle, &device, 1).statistics, ..cells(&bundle, [48, 32, 1]) };
    let grid = grid.with_solid(solid(shape, 2, "interpolated_moving_wall")).moving(motion);
    let run = |parts: usize| {
        let nothing = criterion(&device, &bundle, vec![]);
        let mut flow = adaptive(&bundle, &grid, 2, (4, nothing), parts);
        flow.init_cells(|cell, out| {
            let at = cell.centre();
            out.copy_from_slice(&[1.0 + 0.01 * (0.3 * at[0]).sin(), 0.03 * (0.5 * at[1]).cos(), 0.0]);
        })
        .unwrap();
        let mut forces = vec![];
        for _ in 0..40 {
            flow.poison().unwrap();
            flow.run(1).unwrap();
            forces.extend(flow.forces().unwrap()[0].map(f64::to_bits));
        }
        flow.poison().unwrap();
        let adaptations = flow.adaptations();
        assert!(adaptations.changes > 5, "{adaptations:?}");
        (all(&mut flow), forces, adaptations)
    };
    let one = run(1);
    for parts in [2, 3] {
        assert!(run(parts) == one, "in {parts} parts");
    }
}

#[test]
fn solids_that_turn_have_the_same_bits_in_parts() {
    for (spec, coupling, levels) in
        [("d2q9_bgk", None, 1), ("d2q9_bgk", Some("volumetric_shifted"), 2), ("d3q19_bgk", None, 1)]
    {
        let model = compiled::model_with_all(spec, &["interpolated_moving_wall"], coupling);
        let bundle = compiled::compile_solids(&model, Target::C, Real::F64, block(model.lattice().dim()));
        let shape = Shape::Box { from: [4.2, 6.1, -2.0], to: [10.3, 8.7, 3.2] };
        // About a corner, through blocks of all parts.
        let motion = Motion::new(|time| [0.3 * time, 0.0, 0.0], 20);
        let motion = motion.turning(|time| 0.1 * time, [0.0, 0.0, 1.0], [5.0, 7.0, 0.0]);
        let grid = cells(&bundle, [24, 16, 8]);
        let grid = grid.with_solid(solid(shape, levels - 1, "interpolated_moving_wall")).moving(motion);
        let refines = |block: Block| block.level == 0;
        let expected = Flow { bundle: &bundle, grid: grid.clone(), levels, refines };
        let mut flow = expected.start(1);
        flow.sum_exchanges(&[None]);
        let one = expected.after(&mut flow, 8);
        let exchanges = flow.exchanges().unwrap();
        assert!(exchanges[0].torque[2] != 0.0, "{exchanges:?}");
        let mean = flow.take_exchanges(0);
        for parts in [2, 3] {
            let mut flow = expected.start(parts);
            flow.sum_exchanges(&[None]);
            let found = expected.after(&mut flow, 8);
            for ((what, one), (_, found)) in one.iter().zip(found) {
                assert!(*one == found, "{spec} {coupling:?} in {parts} parts: other {what}");
            }
            assert_eq!(flow.exchanges().unwrap(), exchanges, "{spec} {coupling:?} in {parts} parts");
            assert_eq!(flow.take_exchanges(0), mean, "{spec} {coupling:?} in {parts} parts");
        }
    }
}
