//! Adjoints of steps of refined grids beside differences of these steps, and gradients after many steps.

use lbm_bundle::{Bundle, Layout, Real};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline;
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Cell, Face};
use lbm_runtime::solver::adjoint::revolve::{Visit, backward};
use lbm_runtime::solver::adjoint::{Adjoint, WallGroup};
use lbm_runtime::solver::{GridSpec, Simulation, StepError};
use lbm_tests::{compiled, flows};

const OMEGA: f64 = 1.3;
const LID: f64 = 0.05;

/// A number between -1 and 1 that has nothing to do with others.
fn noise(seed: f64, cell: Cell, pop: usize) -> f64 {
    let number = cell.at.iter().fold((pop + 100 * cell.level) as f64, |sum, at| 31.0 * sum + *at as f64);
    2.0 * (number * 0.618_033_988_749_894_9 + seed * 0.414_213_562_373_095).fract() - 1.0
}

/// The derivative of a function at 0: central differences of order eight.
fn slope(width: f64, mut of: impl FnMut(f64) -> f64) -> f64 {
    let weights = [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0];
    let part = |(number, weight): (usize, f64)| {
        let at = (number + 1) as f64 * width;
        weight * (of(at) - of(-at)) / width
    };
    weights.into_iter().enumerate().map(part).sum()
}

/// What differs, over what there is.
fn apart(one: f64, other: f64) -> f64 {
    (one - other).abs() / other.abs()
}

/// Where a grid is refined.
type Refine = fn(Block) -> bool;

/// A grid whose lid has this velocity.
type OfLid = fn(f64) -> GridSpec;

/// A flow on several levels.
struct Subject {
    name: String,
    bundle: Bundle,
    params: Vec<(String, Vec<f64>)>,
    levels: usize,
    refine: Refine,
    /// Walls by whose values is derived.
    groups: Vec<WallGroup>,
    /// Centre and radius of a body.
    body: Option<([f64; 3], f64)>,
}

impl Subject {
    fn new(spec: &str, (coupling, rules): (&str, &[&str]), levels: usize, refine: Refine, device: &Device) -> Subject {
        let model: Model = compiled::model_with_all(spec, rules, Some(coupling));
        let block = if model.lattice().dim() == 2 { [4, 4, 1] } else { [4, 4, 4] };
        let options = Options {
            target: device.target(),
            real: Real::F64,
            layout: Layout::Blocks,
            block,
            coupling: Some(0),
            solids: true,
        };
        let plans = pipeline::plan(&model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.with_adjoint());
        let bundle =
            plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{spec}: {error}")).bundle;
        Subject {
            name: format!("{spec} {coupling} {levels}"),
            bundle,
            params: compiled::params(&model, OMEGA),
            levels,
            refine,
            groups: vec![],
            body: None,
        }
    }

    fn is_fluid(&self, cell: Cell) -> bool {
        let dim = self.bundle.manifest.dim as usize;
        self.body.is_none_or(|(centre, radius)| {
            let away = (0..dim).map(|axis| (cell.centre()[axis] - centre[axis]).powi(2)).sum::<f64>();
            away > radius * radius
        })
    }

    /// Derivatives by forces that are no part of an objective.
    fn no_pulls(&self) -> &'static [[f64; 3]] {
        if self.body.is_some() { &[[0.0; 3]] } else { &[] }
    }

    /// Shows what differs, and that it is little.
    fn check(&self, what: &str, found: f64, expected: f64, most: f64) {
        println!("{} {what}: {found:e} {:.1e}", self.name, apart(found, expected));
        assert!(apart(found, expected) < most, "{} {what}: {found:e} {expected:e}", self.name);
    }

    /// The flow with populations changed by `along` times noise.
    fn flow(&self, device: &Device, grid: &GridSpec, params: &[(String, Vec<f64>)], along: f64) -> Simulation {
        let mut flow =
            Simulation::refined(device, &self.bundle, grid, params, self.levels, self.refine).expect("a flow");
        let rest: Vec<f64> = self.bundle.manifest.directions.iter().map(|direction| direction.rest_value()).collect();
        flow.update_cells(|cell, values| {
            for ((pop, value), rest) in values.iter_mut().enumerate().zip(&rest) {
                *value = rest * (1.0 + 0.1 * noise(1.0, cell, pop) + along * noise(2.0, cell, pop));
            }
        })
        .expect("populations");
        flow
    }

    /// The objective after a step: weights times populations of fluid cells.
    fn after(&self, mut flow: Simulation) -> f64 {
        flow.run(1).expect("a step");
        let mut sum = 0.0;
        let each = |cell: Cell, values: &[f64]| {
            let weighted = values.iter().enumerate().map(|(pop, value)| noise(3.0, cell, pop) * value).sum::<f64>();
            sum += if self.is_fluid(cell) { weighted } else { 0.0 };
        };
        flow.visit_populations(each).expect("populations");
        sum
    }

    /// Derivatives of it after a step.
    fn adjoint(&self, flow: &mut Simulation, grid: &GridSpec) -> Adjoint {
        let mut adjoint = Adjoint::new(flow, grid, &self.groups).expect("an adjoint");
        let seed = |cell: Cell, values: &mut [f64]| {
            for (pop, value) in values.iter_mut().enumerate() {
                *value = if self.is_fluid(cell) { noise(3.0, cell, pop) } else { 0.0 };
            }
        };
        adjoint.change(flow, seed).expect("derivatives");
        adjoint.step_back(flow, self.no_pulls()).expect("a step");
        adjoint
    }

    /// The derivative along noise, of derivatives by populations.
    fn along(&self, flow: &Simulation, adjoint: &mut Adjoint) -> f64 {
        let rest: Vec<f64> = self.bundle.manifest.directions.iter().map(|direction| direction.rest_value()).collect();
        let mut product = 0.0;
        let each = |cell: Cell, values: &[f64]| {
            let of = |(pop, (value, rest)): (usize, (&f64, &f64))| value * rest * noise(2.0, cell, pop);
            product += values.iter().zip(&rest).enumerate().map(of).sum::<f64>();
        };
        adjoint.visit(flow, each).expect("derivatives");
        product
    }
}

/// Refined at walls, in a corner and in the middle.
fn patches(block: Block) -> bool {
    let [x, y, z] = block.place;
    match block.level {
        0 => (1..3).contains(&x) && y >= 1 && z < 2 || (x, y) == (3, 0),
        _ => (3..5).contains(&x) && (4..7).contains(&y),
    }
}

#[test]
fn a_step_backwards_of_a_refined_grid_is_the_transpose_of_the_derivative_of_a_step() {
    lbm_tests::in_turn!();
    for device in flows::devices() {
        let [shifted, timed] =
            ["volumetric_shifted", "volumetric_timed"].map(|coupling| (coupling, &["moving_wall"][..]));
        let all = ["periodic", "walls", "cavity"];
        for (spec, rules, levels, boxes) in [
            ("d2q9_bgk", shifted, 3, &all[..]),
            ("d2q9_bgk", timed, 2, &all[1..2]),
            ("d3q19_trt_guo", shifted, 2, &all[1..]),
        ] {
            let mut subject = Subject::new(spec, rules, levels, patches, &device);
            let dim = subject.bundle.manifest.dim as usize;
            let size = if dim == 2 { [16, 16, 1] } else { [16, 12, 12] };
            let walls = |lid: f64| {
                let values: &[(&str, &[f64])] = &[("velocity", &[lid, 0.0, 0.0][..dim])];
                let grid = GridSpec::periodic(size).with_wall(Face::YMin, "bounce_back", &[]);
                grid.with_wall(Face::YMax, "moving_wall", values)
            };
            let cavity = walls(LID).with_wall(Face::XMin, "bounce_back", &[]).with_wall(Face::XMax, "bounce_back", &[]);
            let grids = [("periodic", GridSpec::periodic(size)), ("walls", walls(LID)), ("cavity", cavity)];
            for (what, grid) in grids.into_iter().filter(|(what, _)| boxes.contains(what)) {
                subject.groups = if what == "walls" { vec![WallGroup::Face(Face::YMax)] } else { vec![] };
                let mut flow = subject.flow(&device, &grid, &subject.params, 0.0);
                let mut adjoint = subject.adjoint(&mut flow, &grid);
                let expected = slope(0.02, |along| subject.after(subject.flow(&device, &grid, &subject.params, along)));
                subject.check(what, subject.along(&flow, &mut adjoint), expected, 1e-12);
                if what != "walls" {
                    continue;
                }
                let expected = slope(0.01, |change| {
                    let mut params = subject.params.clone();
                    params[0].1[0] += change;
                    subject.after(subject.flow(&device, &grid, &params, 0.0))
                });
                subject.check("omega", adjoint.by_params(&flow).expect("derivatives")[0], expected, 1e-11);
                let expected = slope(0.01, |change| {
                    subject.after(subject.flow(&device, &walls(LID + change), &subject.params, 0.0))
                });
                subject.check("lid", adjoint.by_walls(&flow).expect("derivatives")[0][0], expected, 1e-11);
            }
        }
    }
}

/// Where the body of [`stream`] is.
const CENTRE: [f64; 3] = [9.2, 8.1, 0.0];
const RADIUS: f64 = 1.6;
const SURFACE: [f64; 2] = [0.02, -0.01];

/// Refined around the body, and once more close to it.
fn around_body(block: Block) -> bool {
    let [x, y, _] = block.place;
    match block.level {
        0 => (1..4).contains(&x) && (1..3).contains(&y),
        _ => (3..6).contains(&x) && (3..5).contains(&y),
    }
}

/// A channel with a lid and a cylinder whose surface is where it is, on that level.
fn stream(level: usize, lid: f64, surface: [f64; 2]) -> GridSpec {
    let shape = Shape::Cylinder { centre: CENTRE, axis: [0.0, 0.0, 1.0], radius: RADIUS, length: None };
    let values = vec![("velocity".into(), surface.to_vec())];
    GridSpec::periodic([24, 16, 1])
        .with_wall(Face::YMin, "bounce_back", &[])
        .with_wall(Face::YMax, "moving_wall", &[("velocity", &[lid, 0.0])])
        .with_solid(Solid { shape, rule: "interpolated_moving_wall".into(), values, level, shells: vec![] })
}

const WITH_BODIES: (&str, &[&str]) = ("volumetric_shifted", &["interpolated_moving_wall"]);

#[test]
fn a_step_backwards_around_a_body_on_a_refined_grid_is_the_transpose_of_the_derivative_of_a_step() {
    for device in flows::devices() {
        for levels in [2, 3] {
            let mut subject = Subject::new("d2q9_bgk", WITH_BODIES, levels, around_body, &device);
            (subject.body, subject.groups) = (Some((CENTRE, RADIUS)), vec![WallGroup::Solid(0)]);
            let of = |surface: [f64; 2]| stream(levels - 1, LID, surface);
            let grid = of(SURFACE);
            let mut flow = subject.flow(&device, &grid, &subject.params, 0.0);
            let mut adjoint = subject.adjoint(&mut flow, &grid);
            let along = |along: f64| subject.flow(&device, &grid, &subject.params, along);
            let expected = slope(0.02, |change| subject.after(along(change)));
            subject.check("populations", subject.along(&flow, &mut adjoint), expected, 1e-12);
            // The distance of the surface, then its velocity.
            let by_surface = adjoint.by_walls(&flow).expect("derivatives")[0][1];
            let expected = slope(0.01, |change| {
                let [x, y] = SURFACE;
                subject.after(subject.flow(&device, &of([x + change, y]), &subject.params, 0.0))
            });
            subject.check("surface", by_surface, expected, 1e-11);
            let mut pulled = Adjoint::new(&flow, &grid, &[]).expect("an adjoint");
            let pull = [0.7, -0.4, 0.0];
            pulled.step_back(&mut flow, &[pull]).expect("a step");
            let expected = slope(0.02, |change| {
                let force = along(change).forces().expect("a force")[0];
                pull[0] * force[0] + pull[1] * force[1]
            });
            subject.check("force", subject.along(&flow, &mut pulled), expected, 1e-12);
        }
    }
}

#[test]
fn gradients_after_many_steps_on_refined_grids_are_differences_of_whole_flows() {
    lbm_tests::in_turn!();
    const STEPS: u64 = 200;
    let cavity = |lid: f64| {
        let still = |grid: GridSpec, face| grid.with_wall(face, "bounce_back", &[]);
        let closed = [Face::XMin, Face::XMax, Face::YMin].into_iter().fold(GridSpec::periodic([16, 16, 1]), still);
        closed.with_wall(Face::YMax, "moving_wall", &[("velocity", &[lid, 0.0])])
    };
    let with_body = |lid: f64| stream(1, lid, SURFACE);
    for device in flows::devices() {
        let lids: [(OfLid, usize, Refine); 2] = [(cavity, 3, patches), (with_body, 2, around_body)];
        for (of, levels, refine) in lids {
            let mut subject = Subject::new("d2q9_bgk", WITH_BODIES, levels, refine, &device);
            subject.groups = vec![WallGroup::Face(Face::YMax)];
            subject.body = (levels == 2).then_some((CENTRE, RADIUS));
            let start = |omega: f64, lid: f64| {
                let params = vec![("omega".to_string(), vec![omega])];
                let mut flow =
                    Simulation::refined(&device, &subject.bundle, &of(lid), &params, levels, refine).expect("a flow");
                flow.init(|_, out| out[0] = 1.0).expect("cells");
                flow
            };
            // The kinetic energy at the end.
            let energy = |flow: &mut Simulation| {
                let mut sum = 0.0;
                let add = |cell: Cell, fields: &[f64]| {
                    let own = cell.width().powi(2) * (fields[1].powi(2) + fields[2].powi(2)) / 2.0;
                    sum += if subject.is_fluid(cell) { own } else { 0.0 };
                };
                flow.visit_cells(add).expect("fields");
                sum
            };
            let whole = |omega: f64, lid: f64| {
                let mut flow = start(omega, lid);
                flow.run(STEPS).expect("steps");
                energy(&mut flow)
            };
            let mut flow = start(OMEGA, LID);
            let mut adjoint = Adjoint::new(&flow, &of(LID), &subject.groups).expect("an adjoint");
            let mut value = 0.0;
            let mut visit = |flow: &mut Simulation, visit: Visit| {
                match visit {
                    Visit::Passing => return Ok(()),
                    Visit::Back => return adjoint.step_back(flow, subject.no_pulls()),
                    Visit::Forward => {}
                }
                value = energy(flow);
                let mut fields = std::collections::HashMap::new();
                flow.visit_cells(|cell, values| drop(fields.insert((cell.level, cell.at), values.to_vec())))?;
                adjoint.add_by_fields(flow, |cell, out| {
                    if subject.is_fluid(cell) {
                        let own = &fields[&(cell.level, cell.at)];
                        out[1..].iter_mut().zip(&own[1..]).for_each(|(out, u)| *out = cell.width().powi(2) * u);
                    }
                })?;
                Ok::<_, StepError>(())
            };
            backward(&mut flow, (STEPS, STEPS), 20, &mut visit).expect("a gradient");
            let expected = [
                whole(OMEGA, LID),
                slope(1e-3, |change| whole(OMEGA + change, LID)),
                slope(1e-3, |change| whole(OMEGA, LID + change)),
            ];
            let by_lid = adjoint.by_walls(&flow).expect("derivatives")[0][0];
            let found = [value, adjoint.by_params(&flow).expect("derivatives")[0], by_lid];
            for (what, (found, expected)) in ["value", "omega", "lid"].into_iter().zip(found.into_iter().zip(expected))
            {
                subject.check(what, found, expected, 1e-6);
            }
        }
    }
}

#[test]
fn steps_backwards_of_refined_grids_have_the_same_bits_with_any_number_of_threads() {
    let of = |threads: usize| {
        let device = Device::host(threads).expect("the host");
        let subject = Subject::new("d2q9_bgk", WITH_BODIES, 3, patches, &device);
        let grid = GridSpec::periodic([16, 16, 1]);
        let (mut flow, mut all) = (subject.flow(&device, &grid, &subject.params, 0.0), vec![]);
        let mut adjoint = subject.adjoint(&mut flow, &grid);
        adjoint.visit(&flow, |_, values| all.extend(values.iter().map(|value| value.to_bits()))).expect("derivatives");
        (all, adjoint.by_params(&flow).expect("derivatives")[0].to_bits())
    };
    assert_eq!(of(1), of(3));
}
