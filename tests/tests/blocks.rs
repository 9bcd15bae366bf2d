//! Any size runs: the same flow in blocks of other shapes has the same bits, down to blocks of one row or one column; with odd
//! sides on several levels it is the same to round-off.

use std::process::Command;

use lbm_bundle::{Bundle, Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Face;
use lbm_runtime::mesh::Filled;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled::{self, model_with_all};
use lbm_tests::flows::{self, devices, params};
use lbm_tests::sample::sample;
use lbm_tests::toolchain;

fn compile(model: &Model, target: Target, block: [u32; 3]) -> Bundle {
    let coupling = (!model.couplings().is_empty()).then_some(0);
    let options = Options { target, real: Real::F64, layout: Layout::Blocks, block, coupling, solids: false };
    pipeline::compile(model, &options).unwrap_or_else(|error| panic!("{error}")).bundle
}

/// Level and place of a cell, and the bits of its fields.
type Values = (usize, [usize; 3], Vec<u64>);

/// All fields of a flow that starts with waves, after some steps, in the order of positions.
fn fields(mut flow: Simulation, size: [usize; 3], steps: u64) -> Vec<Values> {
    flow.init_cells(|cell, out| {
        let centre = cell.centre();
        let phase = |axis: usize| std::f64::consts::TAU * centre[axis] / size[axis] as f64;
        out[0] = 1.0 + 0.01 * (phase(0) + phase(1)).cos();
        (1..out.len()).for_each(|at| out[at] = 0.03 * (phase(at % (out.len() - 1)) + 0.3 * at as f64).sin());
    })
    .unwrap();
    flow.run(steps).unwrap();
    let mut all = vec![];
    flow.visit_cells(|cell, values| {
        assert!(values.iter().all(|value| value.is_finite()), "{cell:?}: {values:?}");
        all.push((cell.level, cell.at, values.iter().map(|value| value.to_bits()).collect()));
    })
    .unwrap();
    all.sort();
    all
}

/// The largest difference of fields on the same cells.
fn difference(one: &[Values], other: &[Values]) -> f64 {
    assert_eq!(one.len(), other.len());
    let of_cell = |((level, at, one), (also, there, other)): (&Values, &Values)| {
        assert_eq!((level, at), (also, there));
        let values = one.iter().zip(other).map(|(one, other)| (f64::from_bits(*one) - f64::from_bits(*other)).abs());
        values.fold(0.0, f64::max)
    };
    one.iter().zip(other).map(of_cell).fold(0.0, f64::max)
}

/// The same flow on one level in these blocks.
fn agree(spec: &'static str, rules: &[&str], grid: &GridSpec, blocks: &[[u32; 3]], steps: u64) {
    let model = model_with_all(spec, rules, None);
    for device in devices() {
        let run = |block: [u32; 3]| {
            let bundle = compile(&model, device.target(), block);
            let flow = Simulation::new(&device, &bundle, grid, &params(spec, 1.7)).unwrap();
            fields(flow, grid.size, steps)
        };
        let first = run(blocks[0]);
        for block in &blocks[1..] {
            assert!(run(*block) == first, "{spec} on {}: {block:?} and {:?} differ", device.describe(), blocks[0]);
        }
    }
}

/// The block that a run would take.
fn chosen(dim: usize, size: [usize; 3]) -> [u32; 3] {
    let no = [false; 3];
    let filled = Filled {
        target: Target::C,
        real: Real::F64,
        dim,
        size,
        periodic: no,
        plain: true,
        pads: no,
        least: 1,
        levels: None,
    };
    filled.block().expect("every size has one").sides
}

fn cavity(size: [usize; 3], lid: Face, velocity: &[f64]) -> GridSpec {
    let dim = velocity.len();
    Face::ALL[..2 * dim].iter().fold(GridSpec::periodic(size), |grid, face| match *face == lid {
        true => grid.with_wall(*face, "moving_wall", &[("velocity", velocity)]),
        false => grid.with_wall(*face, "bounce_back", &[]),
    })
}

#[test]
fn a_cavity_of_a_prime_size_is_the_same_in_rows_in_columns_and_as_one_block() {
    lbm_tests::in_turn!();
    let grid = cavity([41, 41, 1], Face::YMax, &[0.1, 0.0]);
    agree("d2q9_bgk", &[], &grid, &[chosen(2, grid.size), [41, 1, 1], [1, 41, 1], [41, 41, 1], [1, 1, 1]], 40);
    let grid = cavity([37, 53, 1], Face::YMax, &[0.1, 0.0]);
    agree("d2q9_trt", &[], &grid, &[chosen(2, grid.size), [37, 1, 1], [37, 53, 1], [1, 53, 1]], 40);
}

#[test]
fn a_cube_of_a_prime_size_is_the_same_in_rows_and_in_planes() {
    lbm_tests::in_turn!();
    let grid = cavity([41; 3], Face::ZMax, &[0.1, 0.02, 0.0]);
    agree("d3q19_bgk", &[], &grid, &[chosen(3, grid.size), [41, 1, 1], [41, 41, 1], [1, 41, 1]], 4);
}

#[test]
fn a_channel_whose_length_is_a_large_prime_runs() {
    let grid = GridSpec::periodic([1031, 6, 1]).with_wall(Face::YMin, "bounce_back", &[]).with_wall(
        Face::YMax,
        "moving_wall",
        &[("velocity", &[0.1, 0.0])],
    );
    agree("d2q9_bgk", &[], &grid, &[chosen(2, grid.size), [1031, 1, 1], [1, 6, 1], [1031, 6, 1]], 20);
}

/// Wet-node conditions read the next cell inwards, which is in another block where blocks are thin; mirrors meet them at corners.
#[test]
fn wet_node_conditions_and_mirrors_are_the_same_in_thin_blocks() {
    let rules = ["zou_he_velocity", "extrapolation_outflow", "regularized_pressure", "free_slip", "zou_he_pressure"];
    let inlet: (&str, &[(&str, &[f64])]) = ("zou_he_velocity", &[("velocity", &[0.05, 0.0])]);
    for outlet in sample([("extrapolation_outflow", &[][..]), ("regularized_pressure", &[("density", &[1.0][..])])]) {
        let grid = GridSpec::periodic([21, 15, 1])
            .with_wall(Face::XMin, inlet.0, inlet.1)
            .with_wall(Face::XMax, outlet.0, outlet.1)
            .with_wall(Face::YMin, "free_slip", &[])
            .with_wall(Face::YMax, "bounce_back", &[]);
        agree("d2q9_bgk", &rules, &grid, &[[7, 5, 1], [1, 15, 1], [21, 1, 1], [1, 1, 1], [3, 1, 1]], 30);
        let grid = grid.with_wall(Face::YMin, outlet.0, outlet.1).with_wall(Face::YMax, inlet.0, inlet.1);
        agree("d2q9_bgk", &rules, &grid, &[[7, 5, 1], [1, 15, 1], [21, 1, 1], [1, 1, 1]], 30);
    }
}

#[test]
fn blocks_of_odd_sides_refine_to_the_same_flow() {
    for (coupling, spec) in sample([("volumetric_shifted", "d2q9_bgk"), ("volumetric", "d2q9_trt")]) {
        let model = model_with_all(spec, &[], Some(coupling));
        let grid = cavity([45, 45, 1], Face::YMax, &[0.1, 0.0]);
        for device in devices() {
            // What lies within 15 cells of the lower left corner, and within 30 of the right face.
            let run = |block: [u32; 3]| {
                let bundle = compile(&model, device.target(), block);
                let of = |cells: u32| (15 / cells) as usize;
                let refine = |at: lbm_runtime::geometry::Block| {
                    let [x, y, _] = at.place;
                    at.level == 0 && (x < of(block[0]) && y < of(block[1]) || x >= 2 * of(block[0]))
                };
                let flow = Simulation::refined(&device, &bundle, &grid, &params(spec, 1.7), 2, refine).unwrap();
                assert!(flow.grid().cells_of_levels().iter().all(|cells| *cells > 0));
                fields(flow, grid.size, 20)
            };
            let first = run([15, 15, 1]);
            for block in [[5, 5, 1], [5, 15, 1], [15, 5, 1]] {
                // Packets are summed by loops that compilers order as they like.
                let most = difference(&run(block), &first);
                assert!(most < 1e-13, "{spec} with {coupling}: {block:?} differs by {most}");
            }
        }
    }
}

#[test]
fn blocks_of_odd_sides_conserve_mass_and_momentum() {
    let model = model_with_all("d3q19_bgk", &[], Some("volumetric_shifted"));
    let bundle = compile(&model, Target::C, [5, 7, 5]);
    let grid = GridSpec::periodic([15, 21, 15]);
    let refine = |block: lbm_runtime::geometry::Block| block.place.iter().all(|at| *at >> block.level == 1);
    let device = &devices()[0];
    let mut flow = Simulation::refined(device, &bundle, &grid, &params("d3q19_bgk", 1.8), 2, refine).unwrap();
    flow.init_cells(|cell, out| {
        let phase = std::f64::consts::TAU * cell.centre()[1] / 21.0;
        (out[0], out[1], out[2], out[3]) = (1.0, 0.05 * phase.sin(), 0.02, 0.03 * phase.cos());
    })
    .unwrap();
    let before = flow.conserved().unwrap();
    flow.run(20).unwrap();
    let after = flow.conserved().unwrap();
    assert!((after.mass / before.mass - 1.0).abs() < 1e-13, "{before:?} {after:?}");
    let drift = |axis: usize| (after.momentum[axis] - before.momentum[axis]).abs() / before.mass;
    assert!((0..3).all(|axis| drift(axis) < 1e-14), "{before:?} {after:?}");
}

/// On the host directions of 16 x 16 cells in 64 bits lie a cache line more than 2 KiB apart.
#[test]
fn what_is_kept_of_a_flow_has_no_room_between_directions() {
    let (device, grid) = (Device::host(1).expect("the host"), cavity([32, 32, 1], Face::YMax, &[0.1, 0.0]));
    let bundle = compile(&model_with_all("d2q9_bgk", &["bounce_back", "moving_wall"], None), Target::C, [16, 16, 1]);
    assert_eq!(bundle.manifest.pitch(), 256 + 8);
    let [mut whole, mut later] =
        [(); 2].map(|()| Simulation::new(&device, &bundle, &grid, &params("d2q9_bgk", 1.7)).expect("a flow"));
    whole.init_cells(|cell, out| out[0] = 1.0 + 1e-3 * cell.centre()[0]).expect("a start");
    whole.run(5).expect("it runs");
    let bytes = flows::bytes(&mut whole);
    assert_eq!(bytes.len(), 32 * 32 * 9 * 8);
    flows::restore(&mut later, 5, &bytes);
    let populations = |flow: &Simulation| {
        let mut all = vec![];
        flow.visit_populations(|_, values| all.extend(values.iter().map(|value| value.to_bits()))).expect("all");
        all
    };
    assert!(populations(&whole) == populations(&later));
    [&mut whole, &mut later].into_iter().for_each(|flow| flow.run(5).expect("it runs"));
    assert!(populations(&whole) == populations(&later));
}

/// Calls `init` for cells that all have other densities, and looks for their populations where the header says.
const CALLS_INIT: &str = r#"
#include <stdlib.h>

#include "d2q9_bgk.h"

enum { SLOTS = 2, CELLS = D2Q9_BGK_BX * D2Q9_BGK_BY * D2Q9_BGK_BZ };

static double rho(const size_t slot, const size_t cell)
{
    return 1 + 0.001 * (double)(slot * CELLS + cell);
}

int main(void)
{
    const int32_t ids[SLOTS] = {0, 1};
    const size_t values = d2q9_bgk_population(SLOTS, 0, 0);
    double *const fields = calloc(d2q9_bgk_field(SLOTS, 0, 0), sizeof *fields), *const populations = calloc(values, sizeof *populations);
    for (size_t slot = 0; slot < SLOTS; ++slot) {
        for (size_t cell = 0; cell < CELLS; ++cell) fields[d2q9_bgk_field(slot, 0, cell)] = rho(slot, cell);
    }
    const d2q9_bgk_params params = {1};
    d2q9_bgk_init(ids, SLOTS, 0, fields, populations, params);
    for (size_t slot = 0; slot < SLOTS; ++slot) {
        for (size_t cell = 0; cell < CELLS; ++cell) {
            for (size_t i = 0; i < D2Q9_BGK_Q; ++i) {
                const double expected = d2q9_bgk_weights[i] * (rho(slot, cell) - 1);
                const double off = populations[d2q9_bgk_population(slot, i, cell)] - expected;
                if (!(off < 1e-14 && off > -1e-14)) return 1;
            }
        }
    }
    return 0;
}
"#;

/// In blocks of 1 KiB a direction, between which kernels of the host leave a cache line, and in smaller ones.
#[test]
fn the_header_says_where_kernels_in_c_have_populations() {
    let model = compiled::model("d2q9_bgk");
    for (block, apart) in [([16, 8, 1], true), ([8, 8, 1], false)] {
        let bundle = compile(&model, Target::C, block);
        assert_eq!(bundle.manifest.pitch() > bundle.manifest.cells(), apart);
        let folder = tempfile::tempdir().expect("a temporary folder");
        for file in bundle.extras.iter().chain([&bundle.source]) {
            std::fs::write(folder.path().join(&file.name), &file.text).expect("a temporary file");
        }
        std::fs::write(folder.path().join("main.c"), CALLS_INIT).expect("a temporary file");
        let mut cc = Command::new("cc");
        let sources = ["main.c", &bundle.source.name];
        cc.current_dir(&folder).args(["-O1", "-o", "main"]).args(sources).arg("-lm");
        toolchain::run(cc);
        toolchain::run(Command::new(folder.path().join("main")));
    }
}
