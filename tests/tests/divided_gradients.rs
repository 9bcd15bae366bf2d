//! Gradients of flows in several parts beside those of flows in one: they have the same bits.

use lbm_bundle::{Bundle, Layout, Real};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Cell, Face};
use lbm_runtime::solver::adjoint::revolve::{Visit, backward};
use lbm_runtime::solver::adjoint::{Adjoint, WallGroup};
use lbm_runtime::solver::{GridSpec, Prepared, Simulation, StepError};
use lbm_tests::compiled;

const CENTRE: [f64; 3] = [13.2, 8.1, 0.0];
const RADIUS: f64 = 2.1;

fn bundle(spec: &str) -> Bundle {
    let model = compiled::model_with_all(spec, &["interpolated_moving_wall"], Some("volumetric_shifted"));
    let target = Device::host(1).expect("the host").target();
    let options =
        Options { target, real: Real::F64, layout: Layout::Blocks, block: [4, 4, 1], coupling: Some(0), solids: true };
    let plans = pipeline::plan(&model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.with_adjoint());
    plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{spec}: {error}")).bundle
}

/// A channel with a lid and a cylinder whose surface is where it is, on that level.
fn channel(level: usize) -> GridSpec {
    let shape = Shape::Cylinder { centre: CENTRE, axis: [0.0, 0.0, 1.0], radius: RADIUS, length: None };
    let values = vec![("velocity".into(), vec![0.02, -0.01])];
    GridSpec::periodic([32, 16, 1])
        .with_wall(Face::YMin, "bounce_back", &[])
        .with_wall(Face::YMax, "moving_wall", &[("velocity", &[0.05, 0.0])])
        .with_solid(Solid { shape, rule: "interpolated_moving_wall".into(), values, level, shells: vec![] })
}

/// Refined around the body, and once more close to it.
fn around_body(block: Block) -> bool {
    let [x, y, _] = block.place;
    match block.level {
        0 => (1..6).contains(&x) && (1..3).contains(&y),
        _ => (4..10).contains(&x) && (3..5).contains(&y),
    }
}

/// The bits of a gradient in so many parts: by populations, by parameters, by the lid and by the surface. No part reads what it has not been sent.
fn gradient(bundle: &Bundle, grid: &GridSpec, levels: usize, parts: usize) -> Vec<u64> {
    let device = Device::host(1).expect("the host");
    let mut prepared = Prepared::refined(&device, bundle, grid, levels, around_body).expect("a flow");
    if parts > 1 {
        prepared = prepared.in_subdomains(&vec![device.clone(); parts], bundle).expect("parts");
    }
    let params = vec![("omega".to_string(), vec![1.3])];
    let mut flow = prepared.simulation(&params).expect("a flow");
    flow.init_cells(|cell, out| {
        let [x, y, _] = cell.centre();
        out.copy_from_slice(&[1.0, 0.02 * (0.3 * y).sin(), 0.02 * (0.3 * x).sin()]);
    })
    .expect("cells");
    let (steps, groups) = (9, [WallGroup::Face(Face::YMax), WallGroup::Solid(0)]);
    let mut adjoint = Adjoint::new(&flow, grid, &groups).expect("an adjoint");
    let mut visit = |flow: &mut Simulation, visit: Visit| {
        flow.poison()?;
        if visit == Visit::Back {
            adjoint.step_back(flow, &[[0.7, -0.4, 0.0]])?;
        }
        // That of the last steps, in cells of the fluid.
        if flow.step() + 2 >= steps && (visit == Visit::Back || flow.step() == steps) {
            adjoint.add_by_fields(flow, |cell: Cell, out: &mut [f64]| {
                let centre = cell.centre();
                let away: f64 = (0..2).map(|axis| (centre[axis] - CENTRE[axis]).powi(2)).sum();
                if away > RADIUS * RADIUS {
                    out[1] = (0.2 * centre[0]).sin();
                }
            })?;
        }
        Ok::<_, StepError>(())
    };
    backward(&mut flow, (steps, steps), 3, &mut visit).expect("a gradient");
    let mut all = vec![];
    adjoint.visit(&flow, |_, values| all.extend_from_slice(values)).expect("derivatives");
    all.extend(adjoint.by_params(&flow).expect("derivatives"));
    all.extend(adjoint.by_walls(&flow).expect("derivatives").concat());
    assert!(all.iter().all(|value| value.is_finite()) && all.iter().any(|value| *value != 0.0));
    all.into_iter().map(f64::to_bits).collect()
}

#[test]
fn gradients_have_the_same_bits_with_any_number_of_parts() {
    lbm_tests::in_turn!();
    let bundle = bundle("d2q9_bgk");
    for levels in 1..=3 {
        let grid = channel(levels - 1);
        let whole = gradient(&bundle, &grid, levels, 1);
        for parts in [2, 3] {
            let found = gradient(&bundle, &grid, levels, parts);
            let apart = whole.iter().zip(&found).filter(|(one, other)| one != other).count();
            assert_eq!((apart, whole.len()), (0, found.len()), "{levels} levels, {parts} parts");
        }
    }
}
