//! Couplings of ghosts: kernels do what the reference does cell by cell, on the host.

use std::collections::BTreeMap;

use lbm_bundle::{Bundle, Real, Target};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Cell};
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation, StepError};
use lbm_tests::compiled::{self, Collision, Random};
use lbm_tests::criteria::{criterion, vorticity};
use lbm_tests::flows::devices;
use lbm_tests::levels::{Patch, TwoLevels};

fn block(dim: usize) -> [u32; 3] {
    if dim == 2 { [8, 8, 1] } else { [4, 4, 4] }
}

/// A strip, a square, an L, and two squares that touch at a corner, of a box of four blocks along each axis.
fn refined(shape: &str, dim: usize, place: [usize; 3]) -> bool {
    let middle = |at: usize| (1..3).contains(&at);
    let inside = place[..dim].iter().all(|at| middle(*at));
    match shape {
        "strip" => middle(place[0]),
        "square" => inside,
        "L" => inside && !place[..dim].iter().all(|at| *at == 2),
        _ => inside && place[..dim].windows(2).all(|pair| pair[0] == pair[1]),
    }
}

/// Where the centre of a cell is, in units that tell cells of two levels apart.
fn key(centre: [f64; 3], dim: usize) -> [i64; 3] {
    std::array::from_fn(|axis| if axis < dim { (centre[axis] * 64.0).round() as i64 } else { 0 })
}

/// Level and position of what has each data slot, refined blocks too.
fn places(flow: &Simulation) -> BTreeMap<usize, (usize, [usize; 3])> {
    let tables = flow.grid().forest().tables();
    let nodes = flow.grid().levels().last().unwrap().nodes.end;
    let read =
        |buffer: &lbm_runtime::device::Buffer<lbm_runtime::device::Int>| buffer.read_ints(0..buffer.len()).unwrap();
    let (order, data, level, place) =
        (read(&tables.order), read(&tables.data), read(&tables.level), read(&tables.place));
    let of = |node: &i32| {
        let node = *node as usize;
        (data[node] as usize, (level[node] as usize, std::array::from_fn(|axis| place[3 * node + axis] as usize)))
    };
    order[..nodes].iter().map(of).collect()
}

/// Sets all populations of a flow, those of refined blocks too; what is missing in `value` is nothing that counts.
fn set(flow: &mut Simulation, value: &[BTreeMap<[i64; 3], Vec<f64>>; 2]) {
    let manifest = flow.manifest().clone();
    let (dim, block, q) = (manifest.dim as usize, manifest.block.map(|side| side as usize), manifest.q());
    let places = places(flow);
    let mut slots: Vec<usize> = flow.grid().leaves().unwrap().iter().map(|leaf| leaf.slot.index()).collect();
    slots.extend(flow.grid().forest().read_covered().unwrap().into_iter().map(|(_, slot)| slot.index()));
    let mut next = slots.into_iter();
    flow.write_populations(0, |bytes: &mut [u8]| -> Result<(), StepError> {
        for bytes in bytes.chunks_mut(q * manifest.cells() * 8) {
            let (level, place) = places[&next.next().expect("as many blocks as there are")];
            for (at, bytes) in bytes.chunks_mut(8).enumerate() {
                let (direction, cell) = (at / manifest.cells(), at % manifest.cells());
                let inside = [cell % block[0], cell / block[0] % block[1], cell / (block[0] * block[1])];
                let centre = std::array::from_fn(|axis| {
                    ((place[axis] * block[axis] + inside[axis]) as f64 + 0.5) * 0.5f64.powi(level as i32)
                });
                let value = value[level].get(&key(centre, dim)).map_or(f64::NAN, |populations| populations[direction]);
                let stored = value - manifest.directions[direction].rest_value();
                bytes.copy_from_slice(&stored.to_le_bytes());
            }
        }
        Ok(())
    })
    .unwrap();
}

/// A box of four blocks along each axis, a shape of it refined, noise in every population. The reference refines what is left
/// of it without the ghosts, which are inside here.
fn noisy(model: &Model, bundle: &Bundle, shape: &str, omega: f64) -> (Simulation, TwoLevels) {
    let dim = model.lattice().dim();
    let (width, side) = (block(dim)[0] as i64, 4 * block(dim)[0] as usize);
    let size = std::array::from_fn(|axis| if axis < dim { side } else { 1 });
    let params = [("omega".to_string(), vec![omega])];
    let refine = |block: Block| refined(shape, dim, block.place);
    let device = Device::host(1).unwrap();
    let mut flow = Simulation::refined(&device, bundle, &GridSpec::periodic(size), &params, 2, refine).unwrap();
    let patch = Patch::new(dim, side, |cell| {
        let steps = |axis: usize| if axis < dim { -1..=1 } else { 0..=0 };
        let is_refined = |at: [i64; 3]| refined(shape, dim, at.map(|at| (at.rem_euclid(side as i64) / width) as usize));
        steps(0).all(|x| steps(1).all(|y| steps(2).all(|z| is_refined([cell[0] + x, cell[1] + y, cell[2] + z]))))
    });
    let mut reference = TwoLevels::new(model, Collision::new(bundle), patch, omega);
    let weights: Vec<f64> = flow.manifest().directions.iter().map(|direction| direction.weight_value()).collect();
    let mut random = Random(7);
    let mut draw = |weight: &f64| weight * (1.0 + 0.1 * random.draw());
    let states: Vec<Vec<f64>> = (0..1000).map(|_| weights.iter().map(&mut draw).collect()).collect();
    let noise = |centre: [f64; 3]| {
        let hash = key(centre, dim).iter().fold(7i64, |hash, at| hash.wrapping_mul(1_000_003).wrapping_add(*at));
        states[hash.rem_euclid(1000) as usize].clone()
    };
    reference.coarse.fill(noise);
    reference.fine.fill(noise);
    flow.init_cells(|_, out| out[0] = 1.0).unwrap();
    let all = reference.collided().map(|cells| {
        cells.into_iter().map(|(centre, populations)| (key(centre, dim), populations)).collect::<BTreeMap<_, _>>()
    });
    set(&mut flow, &all);
    (flow, reference)
}

/// Largest difference of a population between the kernels and the reference, over all cells, ghosts too.
fn difference(flow: &Simulation, reference: &TwoLevels, dim: usize) -> f64 {
    let expected: [BTreeMap<[i64; 3], Vec<f64>>; 2] = reference
        .collided()
        .map(|cells| cells.into_iter().map(|(centre, populations)| (key(centre, dim), populations)).collect());
    let mut most = 0.0f64;
    flow.visit_populations(|cell, populations| {
        for (a, b) in populations.iter().zip(&expected[cell.level][&key(cell.centre(), dim)]) {
            most = if (a - b).is_nan() { f64::INFINITY } else { most.max((a - b).abs()) };
        }
    })
    .unwrap();
    most
}

#[test]
fn kernels_do_what_the_reference_does() {
    for (spec, coupling, shapes) in [
        ("d2q9_bgk", "interpolated", &["strip", "square", "L", "corner"][..]),
        ("d2q9_bgk", "interpolated_linear", &["L"]),
        ("d2q9_bgk", "interpolated_means", &["L"]),
        ("d3q19_bgk", "interpolated", &["L"]),
    ] {
        let model = compiled::model_with_coupling(spec, coupling);
        let dim = model.lattice().dim();
        let bundle = compiled::compile_levels(&model, Target::C, Real::F64, block(dim));
        for shape in shapes {
            let (mut flow, mut reference) = noisy(&model, &bundle, shape, 1.7);
            assert!(difference(&flow, &reference, dim) < 1e-15);
            for step in 1..=3 {
                flow.run(1).unwrap();
                reference.advance();
                let difference = difference(&flow, &reference, dim);
                assert!(difference < 1e-13, "{spec} {coupling} {shape}: {difference:e} after {step} steps");
            }
        }
    }
}

/// A vortex with a Gaussian stream function in a periodic box of 64 cells, carried along x, on up to three levels, on a grid
/// that follows it.
fn vortex(device: &Device, coupling: &str, thresholds: &[f64]) -> Simulation {
    let model = compiled::model_with_coupling("d2q9_bgk", coupling);
    let bundle = compiled::compile_levels(&model, device.target(), Real::F64, [8, 8, 1]);
    let adaptivity = Adaptivity {
        levels: 0..=2,
        start: criterion(device, &bundle, vec![]),
        during: Some((8, criterion(device, &bundle, vec![vorticity(thresholds)]))),
        pinned: vec![],
        memory: None,
        sharing: 1,
        keeps: false,
    };
    let params = [("omega".to_string(), vec![1.9])];
    let grid = GridSpec::periodic([64, 64, 1]);
    let mut flow = Simulation::adaptive(device, &bundle, &grid, &params, &adaptivity, None).unwrap();
    flow.init_cells(|cell: Cell, out: &mut [f64]| {
        let [x, y, _] = cell.centre().map(|at| at / 64.0 - 0.5);
        let (speed, width) = (0.04, 0.05);
        let swirl = 0.04 * (-(x * x + y * y) / (2.0 * width * width)).exp() / width;
        (out[0], out[1], out[2]) = (1.0, speed - swirl * y, swirl * x);
    })
    .unwrap();
    flow
}

/// The component of the velocity across the way of the vortex, on the finest level everywhere.
fn across(flow: &mut Simulation) -> Vec<f64> {
    let mut all = vec![0.0; 256 * 256];
    flow.visit_cells(|cell, values| {
        let scale = 4 >> cell.level;
        for (dx, dy) in (0..scale).flat_map(|dx| (0..scale).map(move |dy| (dx, dy))) {
            all[cell.at[0] * scale + dx + 256 * (cell.at[1] * scale + dy)] = values[2];
        }
    })
    .unwrap();
    all
}

#[test]
fn a_grid_with_ghosts_follows_a_vortex() {
    lbm_tests::in_turn!();
    for device in devices() {
        let mut fine = vortex(&device, "interpolated", &[0.0, 0.0]);
        assert_eq!(fine.grid().cells(), 256 * 256);
        fine.run(400).unwrap();
        let expected = across(&mut fine);
        for (coupling, most) in [("interpolated", 0.08), ("interpolated_means", 0.04)] {
            let mut flow = vortex(&device, coupling, &[0.001, 0.004]);
            flow.run(400).unwrap();
            assert!(flow.grid().cells() < 256 * 256 / 3, "{} cells", flow.grid().cells());
            assert!(flow.adaptations().changes > 10, "{:?}", flow.adaptations());
            let error: f64 = across(&mut flow).iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum();
            let norm: f64 = expected.iter().map(|b| b * b).sum();
            let error = (error / norm).sqrt();
            println!("{coupling}: {error}");
            assert!(error < most, "{coupling}: uy differs by {error} from that of the finest level everywhere");
        }
    }
}

#[test]
fn runs_with_ghosts_are_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let mut flow = vortex(&Device::host(threads).unwrap(), "interpolated", &[0.001, 0.004]);
        flow.run(100).unwrap();
        let mut all = vec![];
        flow.visit_populations(|cell, populations| all.push((cell, populations.to_vec()))).unwrap();
        all
    };
    assert!(run(1) == run(2));
}
