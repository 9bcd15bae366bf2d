//! The functions of `lbm!` compute what the shipped kernels do, cell for cell, and its arrays stream as they should.

use lbm_bundle::{Real, Target};
use lbm_codegen::options::Options;
use lbm_tests::compiled::{self, Random};

lbm_macros::lbm! { mod d2q9_bgk(f64) = "../specs/d2q9_bgk.lbm"; }
lbm_macros::lbm! { mod d3q27_kbc(f32) = "../specs/d3q27_kbc.lbm"; }
lbm_macros::lbm! { mod own(f64) = "own/method.lbm"; }

const OMEGA: f64 = 1.75;
const STATES: usize = 7;

/// The shipped C kernel's collision.
fn shipped(spec: &str, real: Real, states: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let model = compiled::model(spec);
    let block = Options::default_block(model.lattice().dim());
    let bundle = compiled::compile(&model, Target::C, real, block).bundle;
    compiled::collide(&bundle, &compiled::params(&model, OMEGA), states)
}

/// Largest difference; `found` is `[direction][state]`.
fn difference<const Q: usize>(found: [[f64; STATES]; Q], expected: &[Vec<f64>]) -> f64 {
    let of = |(at, state): (usize, &Vec<f64>)| {
        state.iter().enumerate().map(|(i, value)| (found[i][at] - value).abs()).fold(0.0, f64::max)
    };
    expected.iter().enumerate().map(of).fold(0.0, f64::max)
}

#[test]
fn a_collision_in_f64_is_that_of_the_shipped_kernel() {
    let states = compiled::states(&compiled::model("d2q9_bgk"), STATES);
    let before = std::array::from_fn(|i| std::array::from_fn(|at| states[at][i]));
    let mut after = [[0.0; STATES]; d2q9_bgk::Q];
    d2q9_bgk::collide_lanes(&before, &mut after, d2q9_bgk::Params { omega_: OMEGA });
    let error = difference(after, &shipped("d2q9_bgk", Real::F64, &states));
    assert!(error < 1e-15, "{error:e}");
}

#[test]
fn a_collision_with_choices_in_f32_is_that_of_the_shipped_kernel() {
    let states = compiled::states(&compiled::model("d3q27_kbc"), STATES);
    let before = std::array::from_fn(|i| std::array::from_fn(|at| states[at][i] as f32));
    let mut after = [[0.0; STATES]; d3q27_kbc::Q];
    d3q27_kbc::collide_lanes(&before, &mut after, d3q27_kbc::Params { omega_: OMEGA as f32 });
    let error = difference(after.map(|lanes| lanes.map(f64::from)), &shipped("d3q27_kbc", Real::F32, &states));
    assert!(error < 1e-6, "{error:e}");
}

#[test]
fn arrays_pull_from_upwind_and_leave_ghost_cells_alone() {
    // Longer rows than a run of cells, and a row that ends within one.
    let (nx, ny) = (45, 3);
    let cells = d2q9_bgk::Cells::with_ghosts([nx, ny, 1]);
    let mut random = Random(3);
    let length = d2q9_bgk::Q * cells.stride_i;
    let src: Vec<f64> = (0..length).map(|_| 0.1 + 0.01 * random.draw()).collect();
    let mut dst = vec![f64::NAN; length];
    d2q9_bgk::stream_collide(&cells, &src, &mut dst, d2q9_bgk::Params { omega_: OMEGA });
    for y in 0..ny as isize {
        for x in 0..nx as isize {
            let pulled = std::array::from_fn(|i| {
                let [cx, cy, _] = d2q9_bgk::VELOCITIES[i].map(|c| c as isize);
                [src[cells.at(i, x - cx, y - cy, 0)]]
            });
            let mut expected = [[0.0]; d2q9_bgk::Q];
            d2q9_bgk::collide_lanes(&pulled, &mut expected, d2q9_bgk::Params { omega_: OMEGA });
            for (i, [expected]) in expected.into_iter().enumerate() {
                assert!((dst[cells.at(i, x, y, 0)] - expected).abs() < 1e-15, "direction {i} at ({x}, {y})");
            }
        }
    }
    assert_eq!(dst.iter().filter(|value| !value.is_nan()).count(), d2q9_bgk::Q * nx * ny);
}

/// What cargo looks at to know whether a program must be built again: the list of its files that the compiler has left.
#[test]
fn a_change_of_a_method_or_of_a_module_beside_it_is_noticed() {
    let list = std::env::current_exe().expect("a path").with_extension("d");
    let list = std::fs::read_to_string(list).expect("cargo leaves it beside the program");
    for file in ["own/method.lbm", "own/mine.lbm", "specs/d2q9_bgk.lbm"] {
        assert!(list.lines().next().is_some_and(|files| files.contains(file)), "{file} is not in\n{list}");
    }
    assert_eq!(own::Q, d2q9_bgk::Q);
}
