//! Mass, energy, enstrophy and the largest speed: what kernels sum up is what the host finds in the fields.

use lbm_bundle::{Bundle, Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::observe::{Means, Sum};
use lbm_runtime::solver::snapshot::Snapshot;
use lbm_runtime::solver::velocity::Velocity;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;

/// The same from a snapshot, cell by cell.
fn on_host(snapshot: &Snapshot) -> Means {
    let (velocity, components) = (Velocity::new(snapshot).unwrap(), snapshot.vector("u").unwrap());
    let cells = snapshot.size().iter().product::<usize>() as f64;
    let (mut energy, mut enstrophy, mut fastest) = (Sum::default(), Sum::default(), 0.0f64);
    for at in 0..components[0].len() {
        let volume = snapshot.volume(at / snapshot.block_cells());
        let square: f64 = components.iter().map(|component| component[at].powi(2)).sum();
        energy.add(0.5 * volume * square);
        enstrophy.add(0.5 * volume * velocity.vorticity(at).iter().map(|w| w * w).sum::<f64>());
        fastest = fastest.max(square.sqrt());
    }
    let mass = snapshot.integral("rho").unwrap();
    Means { mass, energy: energy.value() / cells, enstrophy: enstrophy.value() / cells, fastest }
}

/// Largest relative difference of two means.
fn difference(one: Means, other: Means) -> f64 {
    let parts = |means: Means| [means.mass, means.energy, means.enstrophy, means.fastest];
    let of = |(one, other): (f64, f64)| if one.is_nan() { f64::INFINITY } else { (one / other - 1.0).abs() };
    parts(one).into_iter().zip(parts(other)).map(of).fold(0.0, f64::max)
}

/// Some smooth flow in a box of five by four by three blocks with walls along y (and x if `closed`), of which some are refined.
fn flow(
    bundle: &Bundle,
    closed: bool,
    threads: usize,
    levels: usize,
    refine: impl Fn(Block) -> bool + Sync,
) -> Simulation {
    let dim = bundle.manifest.dim as usize;
    let size: [usize; 3] =
        std::array::from_fn(|axis| if axis < dim { [5, 4, 3][axis] * bundle.manifest.block[axis] as usize } else { 1 });
    let mut grid = GridSpec::periodic(size);
    for axis in if closed { 0..2 } else { 1..2 } {
        for face in Face::of_axis(axis) {
            grid = grid.with_wall(face, "bounce_back", &[]);
        }
    }
    let device = Device::host(threads).unwrap();
    let params = [("omega".to_string(), vec![1.7])];
    let mut flow = Simulation::refined(&device, bundle, &grid, &params, levels, refine).unwrap();
    flow.init_cells(|cell, out| {
        let [x, y, z] = cell.centre();
        let turn = std::f64::consts::TAU / size[0] as f64;
        out[0] = 1.0 + 0.01 * (turn * x).cos();
        let u = [
            0.05 * (turn * x).sin() + 0.001 * y * y,
            0.03 * (turn * x + 0.3 * y).cos(),
            0.02 * (turn * y + 0.2 * z).sin(),
        ];
        out[1..].copy_from_slice(&u[..dim]);
    })
    .unwrap();
    flow
}

#[test]
fn on_one_level_the_sums_of_kernels_are_those_of_the_host() {
    for (spec, block) in [("d2q9_bgk", [8, 8, 1]), ("d3q19_bgk", [4, 4, 4]), ("d2q9_bgk", [16, 1, 1])] {
        let model = compiled::model(spec);
        let bundle = compiled::compile(&model, Target::C, Real::F64, block).bundle;
        for closed in [false, true] {
            let mut flow = flow(&bundle, closed, 2, 1, |_| false);
            let (found, expected) = (flow.means().unwrap().unwrap(), on_host(&flow.snapshot().unwrap()));
            let difference = difference(found, expected);
            assert!(difference < 1e-12, "{spec} {block:?}: {difference:e}, {found:?} {expected:?}");
        }
    }
}

#[test]
fn on_several_levels_too_but_where_one_is_near_the_next_but_one() {
    for (spec, block, coupling) in [
        ("d2q9_bgk", [8, 8, 1], "volumetric_shifted"),
        ("d2q9_bgk", [8, 8, 1], "interpolated_means"),
        ("d3q19_bgk", [4, 4, 4], "volumetric_shifted"),
    ] {
        let bundle =
            compiled::compile_levels(&compiled::model_with_coupling(spec, coupling), Target::C, Real::F64, block);
        // Blocks at a corner of the box and in its middle; then a part of these again.
        let refine = |block: Block| {
            let at = |axis: usize| block.place[axis] >> block.level;
            block.level == 0 && (at(0) < 2 && at(1) < 2 || at(0) == 3 && at(1) == 2)
                || block.level == 1 && block.place[0] < 2 && block.place[1] < 2
        };
        for (levels, bound) in [(2, 1e-12), (3, 1e-3)] {
            let refine = |block: Block| block.level + 1 < levels && refine(block);
            let mut flow = flow(&bundle, true, 2, levels, refine);
            let (found, expected) = (flow.means().unwrap().unwrap(), on_host(&flow.snapshot().unwrap()));
            let difference = difference(found, expected);
            assert!(difference < bound, "{spec} {coupling} {levels}: {difference:e}, {found:?} {expected:?}");
        }
    }
}

#[test]
fn they_have_the_same_bits_on_any_number_of_threads() {
    let bundle = compiled::compile(&compiled::model("d3q19_bgk"), Target::C, Real::F32, [4, 4, 4]).bundle;
    let [one, other] = [1, 3].map(|threads| flow(&bundle, true, threads, 1, |_| false).means().unwrap().unwrap());
    assert_eq!(one, other);
}

#[test]
fn a_method_without_a_velocity_has_none() {
    let bundle = compiled::compile(&compiled::model("d3q7_advection"), Target::C, Real::F32, [4, 4, 4]).bundle;
    let device = Device::host(1).unwrap();
    let params = compiled::params(&compiled::model("d3q7_advection"), 1.5);
    let mut flow = Simulation::new(&device, &bundle, &GridSpec::periodic([8; 3]), &params).unwrap();
    assert_eq!(flow.means().unwrap(), None);
}
