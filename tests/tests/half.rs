//! Populations stored in 16 bits and computed with in 32: what is lost, and what is not.

use lbm_bundle::{Layout, Real, Target};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, CompileError};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::{compiled, flows};

/// The current populations of a flow, cell by cell.
fn populations(flow: &Simulation) -> Vec<Vec<f64>> {
    let mut all = vec![];
    flow.visit_populations(|_, populations| all.push(populations.to_vec())).expect("populations can be read");
    all
}

#[test]
fn stored_values_are_rounded_to_11_bits_of_their_difference_from_rest() {
    for device in flows::devices() {
        let start = |[x, y, _]: [usize; 3], out: &mut [f64]| {
            out[0] = 1.0 + 1e-3 * (0.7 * x as f64).sin();
            out[1] = 0.05 * (0.3 * y as f64).cos();
            out[2] = 0.02;
        };
        let [single, half] = [Real::F32, Real::F16F32].map(|real| {
            let mut flow = flows::simulation("d2q9_bgk", &device, real, &GridSpec::periodic([32, 16, 1]), 1.6);
            flow.init(start).expect("a start");
            flow
        });
        let rest: Vec<f64> = single.manifest().directions.iter().map(lbm_bundle::Direction::rest_value).collect();
        let mut rounded = 0;
        for (one, other) in populations(&single).iter().zip(&populations(&half)) {
            for ((one, other), rest) in one.iter().zip(other).zip(&rest) {
                assert!((one - other).abs() <= (one - rest).abs() * 2f64.powi(-11) + 1e-12, "{one} {other}");
                rounded += usize::from(one != other);
            }
        }
        assert!(rounded > 0, "nothing was rounded: {} bits are stored", 8 * half.manifest().real.stored_bytes());
    }
}

/// What is left of a shear wave of 64 cells after some steps.
fn amplitude(device: &Device, spec: &'static str, real: Real, width: usize, speed: f64, steps: u64) -> f64 {
    let size = flows::size(spec, [width, 64, 4]);
    let wave = |y: usize| (2.0 * std::f64::consts::PI * (y as f64 + 0.5) / 64.0).sin();
    let mut flow = flows::simulation(spec, device, real, &GridSpec::periodic(size), 1.887);
    let start = |[_, y, _]: [usize; 3], out: &mut [f64]| {
        out.fill(0.0);
        (out[0], out[1]) = (1.0, speed * wave(y));
    };
    flow.init(start).expect("a start");
    flow.run(steps).expect("it runs");
    let snapshot = flow.snapshot().expect("fields");
    let along = snapshot.vector("u").expect("a velocity")[0];
    let rows = along.iter().enumerate().map(|(at, u)| (u, wave(at / size[0] % size[1])));
    let (with, of) = rows.fold((0.0, 0.0), |(with, of), (u, wave)| (with + u * wave, of + wave * wave));
    with / of / speed
}

/// Rounded to the nearest, .83 to .0007 of the right decay is left: the flow is uniform along x, so all cells of a row would be rounded alike, and
/// slow populations change by less than half of their last digit in a step.
#[test]
fn shear_waves_decay_as_they_do_in_32_bits_however_slow_they_are() {
    lbm_tests::in_turn!();
    for device in flows::devices() {
        for (spec, steps) in [("d2q9_bgk", 3000), ("d2q9_recursive", 3000), ("d3q19_trt", 2000)] {
            for speed in [0.05, 0.01, 1e-3, 1e-5] {
                let [right, left] =
                    [Real::F32, Real::F16F32].map(|real| amplitude(&device, spec, real, 64, speed, steps));
                let decay = left.ln() / right.ln();
                println!("{spec} {speed}: decays {decay} times as fast");
                assert!((decay - 1.0).abs() < 0.005, "{spec} {speed}: decays {decay} times as fast");
            }
        }
    }
}

/// What cells expose has 32 bits, so slopes of slow flows are not lost. The noise of populations is halved by four times as many cells.
#[test]
fn shear_waves_of_a_method_that_reads_neighbours_decay_as_they_do_in_32_bits() {
    lbm_tests::in_turn!();
    for device in flows::devices() {
        for speed in [0.05, 1e-3] {
            let [right, left] =
                [Real::F32, Real::F16F32].map(|real| amplitude(&device, "d2q9_hybrid", real, 256, speed, 3000));
            let decay = left.ln() / right.ln();
            println!("d2q9_hybrid {speed}: decays {decay} times as fast");
            assert!((decay - 1.0).abs() < 0.005, "d2q9_hybrid {speed}: decays {decay} times as fast");
        }
    }
}

#[test]
fn a_cavity_keeps_its_mass_and_its_flow() {
    for device in flows::devices() {
        let grid = flows::cavity("d2q9_trt", [48, 48, 1], 0.1);
        let [single, half] = [Real::F32, Real::F16F32].map(|real| {
            let mut flow = flows::simulation("d2q9_trt", &device, real, &grid, 1.6);
            flow.init(flows::at_rest).expect("a start");
            let before = flow.mass().expect("sums");
            flow.run(2000).expect("it runs");
            let mass = flow.mass().expect("sums") / before - 1.0;
            (flow.snapshot().expect("fields"), mass)
        });
        // Rounding to 2^-12 at every step is noise of about 2e-5 in populations of a lid of 0.1.
        let change = flows::velocity_change(&single.0, &half.0);
        assert!(change > 0.0 && change < 2e-3, "velocities differ by {change}");
        assert!(half.1.abs() < 1e-4, "mass changes by {}", half.1);
    }
}

#[test]
fn a_flow_goes_on_from_its_bytes_with_the_same_bits() {
    for device in flows::devices() {
        let grid = flows::cavity("d2q9_bgk", [16, 16, 1], 0.1);
        let [mut whole, mut later] = [(); 2].map(|()| {
            let mut flow = flows::simulation("d2q9_bgk", &device, Real::F16F32, &grid, 1.6);
            flow.init(flows::at_rest).expect("a start");
            flow
        });
        whole.run(6).expect("it runs");
        let bytes = flows::bytes(&mut whole);
        assert_eq!(bytes.len(), 16 * 16 * 9 * 2);
        flows::restore(&mut later, 6, &bytes);
        for flow in [&mut whole, &mut later] {
            flow.run(5).expect("it runs");
        }
        assert_eq!(populations(&whole), populations(&later));
    }
}

/// A state may have any size, and what is rounded away of it is not there in the next step.
#[test]
fn states_have_the_32_bits_that_they_are_computed_with() {
    for device in flows::devices() {
        let given = |cell: Cell| f64::from(1e-7f32.powf((cell.at[0] as f32 - 7.5) / 8.0) * (1.1 + cell.at[1] as f32));
        // At rest no population is rounded.
        let [single, half] = [Real::F32, Real::F16F32].map(|real| {
            let grid = GridSpec::periodic([16, 16, 1]);
            let mut flow = flows::simulation("d2q9_power_law_state", &device, real, &grid, 1.6);
            flow.init(flows::at_rest).expect("a start");
            flow.update_cells(|cell, values| values[9] = given(cell)).expect("states can be changed");
            let mut differ = 0;
            flow.visit_populations(|cell, values| differ += usize::from(values[9] != given(cell))).expect("read");
            assert_eq!(differ, 0, "cells with another state than they were given");
            flow.run(1).expect("it runs");
            populations(&flow)
        });
        assert_eq!(single, half);
    }
}

/// The host gathers rows of whole cache lines one by one where it need not convert them.
#[test]
fn blocks_whose_rows_are_cache_lines_have_the_flow_of_others() {
    let device = Device::host(1).expect("the host");
    let [narrow, wide] = [[8, 8, 1], [16, 16, 1]].map(|block| {
        let bundle = compiled::compile(&compiled::model("d2q9_bgk"), Target::C, Real::F16F32, block).bundle;
        let grid = flows::cavity("d2q9_bgk", [32, 32, 1], 0.1);
        let mut flow = Simulation::new(&device, &bundle, &grid, &flows::params("d2q9_bgk", 1.6)).expect("a flow");
        flow.init(flows::at_rest).expect("a start");
        flow.run(100).expect("it runs");
        flow.snapshot().expect("fields")
    });
    let change = flows::velocity_change(&narrow, &wide);
    assert!(change < 1e-4, "velocities differ by {change}");
}

#[test]
fn plain_arrays_are_refused() {
    let model = compiled::model("d2q9_bgk");
    let options = Options {
        target: Target::C,
        real: Real::F16F32,
        layout: Layout::Soa,
        block: Options::TILE,
        coupling: None,
        solids: false,
    };
    assert_eq!(pipeline::compile(&model, &options).err(), Some(CompileError::Whole));
}
