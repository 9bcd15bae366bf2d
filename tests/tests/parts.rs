//! A flow in several parts has the bits of the flow in one: populations, fields, sums, means, forces, probes, statistics and what a
//! restart file has. Before each step all that a part has in the place of others' blocks is NaN, so that what is read of it without having been got shows.

use std::io;

use lbm_bundle::statistics::Statistic;
use lbm_bundle::{Bundle, Real, Target};
use lbm_codegen::statistics;
use lbm_dsl::shipped;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::kernels::Statistics;
use lbm_runtime::solver::probe::Probe;
use lbm_runtime::solver::{GridSpec, Prepared, Simulation, StepError};
use lbm_tests::compiled;

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
        assert_eq!(flow.parts(), parts);
        flow
    }

    fn parts(&self, parts: usize) -> Result<Simulation, StepError> {
        let device = Device::host(2).unwrap();
        let model_params = &self.bundle.manifest.params;
        let params: Vec<_> = model_params
            .iter()
            .map(|param| {
                (param.name.clone(), vec![if param.name == "omega" { 1.6 } else { 0.1 }; param.components as usize])
            })
            .collect();
        let prepared = Prepared::refined(&device, self.bundle, &self.grid, self.levels, self.refines)?;
        prepared.in_parts(&vec![device.clone(); parts], self.bundle)?.simulation(&params)
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
        let look = flow.look().unwrap();
        assert_eq!(look.not_finite, None);
        flow.keep().unwrap();
        flow.run(1).unwrap();
        add("change", vec![flow.look().unwrap().change.unwrap()]);
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
    let rules: Vec<&str> = rules.iter().map(|(_, rule)| rule.as_str()).collect();
    for (spec, block) in [("d2q9_bgk", [4, 4, 1]), ("d2q9_bgk", [1, 4, 1]), ("d3q19_bgk", [4, 4, 4])] {
        let model = compiled::model_with_rules(spec, &rules);
        let bundle = compiled::compile(&model, Target::C, Real::F64, block).bundle;
        for rule in &bundle.manifest.boundaries {
            let value = |name: &str| match name {
                "velocity" => vec![0.02, 0.01, -0.01],
                "distance" => vec![0.3],
                "speed" => vec![0.5],
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
        quantities: ["ux", "uy"].map(|text| text.parse().unwrap()).to_vec(),
        pairs: vec![[0, 1]],
        least: vec![0],
        greatest: vec![1],
    };
    let kernels = statistics::bundle(&bundle.manifest, &[means]).unwrap();
    GridSpec { statistics: Some(Statistics::load(device, &kernels).unwrap()), ..grid }
}

#[test]
fn solids_their_forces_and_statistics_have_the_same_bits_in_parts() {
    let device = Device::host(2).unwrap();
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
    let device = Device::host(2).unwrap();
    for (spec, coupling, levels) in
        [("d2q9_bgk", "volumetric_shifted", 3), ("d2q9_bgk", "volumetric", 2), ("d3q19_bgk", "volumetric_shifted", 2)]
    {
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

/// All that a restart file has of populations, fields that are kept and statistics.
fn state(flow: &Simulation) -> Vec<u8> {
    let state = flow.state().unwrap();
    let mut bytes = vec![];
    let mut each = |piece: &[u8]| -> io::Result<()> {
        bytes.extend_from_slice(piece);
        Ok(())
    };
    state.read_populations(&mut each).unwrap();
    state.read_kept(&mut each).unwrap();
    state.read_statistic(0, &mut each).unwrap();
    let mut copied = vec![];
    let copy = flow.capture_state(Device::host(1).unwrap().stagings(1).take()).unwrap();
    let mut each = |piece: &[u8]| -> io::Result<()> {
        copied.extend_from_slice(piece);
        Ok(())
    };
    copy.read_populations(&mut each).unwrap();
    copy.read_kept(&mut each).unwrap();
    copy.read_statistic(0, &mut each).unwrap();
    assert!(bytes == copied, "a copy has the same");
    bytes
}

#[test]
fn a_flow_goes_on_in_another_number_of_parts_with_the_same_bits() {
    let device = Device::host(2).unwrap();
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
        assert!(state(&first) == state(&unbroken), "{before} parts");
        let (mut second, from) = (flow.start(after), first.state().unwrap());
        let pieces = |read: &dyn Fn(&mut dyn FnMut(&[u8]) -> io::Result<()>) -> io::Result<()>| {
            let mut bytes = vec![];
            let mut each = |piece: &[u8]| {
                bytes.extend_from_slice(piece);
                Ok(())
            };
            read(&mut each).unwrap();
            bytes
        };
        let filler = |bytes: Vec<u8>| {
            let mut left = std::collections::VecDeque::from(bytes);
            move |piece: &mut [u8]| -> Result<(), StepError> {
                piece.iter_mut().for_each(|byte| *byte = left.pop_front().expect("as many bytes"));
                Ok(())
            }
        };
        let populations = pieces(&|each| from.read_populations(each));
        let kept = pieces(&|each| from.read_kept(each));
        let statistic = pieces(&|each| from.read_statistic(0, each));
        second.write_populations(from.step, filler(populations)).unwrap();
        second.write_kept(from.kept.unwrap(), filler(kept)).unwrap();
        second.write_statistic(0, from.statistics().next().unwrap().0, filler(statistic)).unwrap();
        let (mut one, mut other) = (flow.start(1), second);
        one.write_populations(
            unbroken.step(),
            filler(pieces(&|each| unbroken.state().unwrap().read_populations(each))),
        )
        .unwrap();
        one.write_kept(unbroken.kept().unwrap(), filler(pieces(&|each| unbroken.state().unwrap().read_kept(each))))
            .unwrap();
        let samples = unbroken.samples()[0];
        one.write_statistic(0, samples, filler(pieces(&|each| unbroken.state().unwrap().read_statistic(0, each))))
            .unwrap();
        assert_eq!(one.look().unwrap(), other.look().unwrap(), "change since the fields that are kept");
        assert!(flow.after(&mut one, 2) == flow.after(&mut other, 2), "from {before} parts to {after}");
    }
}

#[test]
fn what_cannot_run_in_parts_is_refused_by_name() {
    let uniform = plain("d2q9_bgk", Real::F64);
    let few = Flow::uniform(&uniform, cells(&uniform, [8, 4, 1])).parts(3).err().expect("two blocks");
    assert!(matches!(few, StepError::ManyParts { parts: 3, blocks: 2 }), "{few}");
    let model = compiled::model_with_coupling("d2q9_bgk", "interpolated");
    let ghosts = compiled::compile_levels(&model, Target::C, Real::F64, [4, 4, 1]);
    let grid = cells(&ghosts, [16, 16, 1]);
    let refines = |block: Block| block.place[0] == 0;
    let refused = Flow { bundle: &ghosts, grid, levels: 2, refines }.parts(2).err().expect("ghosts");
    assert!(refused.to_string().contains("coupling of ghosts") && refused.to_string().contains("2 parts"), "{refused}");
}
