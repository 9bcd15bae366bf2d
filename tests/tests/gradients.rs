//! Adjoints of steps of the solver beside differences of these steps, and gradients after many steps.

use lbm_bundle::{Bundle, Layout, Real};
use lbm_codegen::options::Options;
use lbm_codegen::pipeline::{self, CompileError};
use lbm_dsl::model::Model;
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Cell, Face};
use lbm_runtime::solver::adjoint::revolve::{Visit, backward};
use lbm_runtime::solver::adjoint::{Adjoint, WallGroup};
use lbm_runtime::solver::{GridSpec, Simulation, StepError};
use lbm_tests::sample::sample;
use lbm_tests::{compiled, flows};

/// Omega, or the rate at its place.
const OMEGA: f64 = 1.3;

/// Centre and radius of the body, and the velocity of the lid.
const CENTRE: [f64; 3] = [6.2, 7.1, 3.9];
const RADIUS: f64 = 2.1;
const LID: f64 = 0.05;

/// A method compiled with its adjoint.
fn bundle(model: &Model, device: &Device, real: Real) -> Bundle {
    let block = Options::default_block(model.lattice().dim());
    let target = device.target();
    let plans = pipeline::plan(model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.with_adjoint());
    let options = Options { target, real, layout: Layout::Blocks, block, coupling: None, solids: true };
    plans.and_then(|plans| plans.emit(&options)).unwrap_or_else(|error| panic!("{}: {error}", model.name())).bundle
}

/// A box that is periodic along x, between a wall and a lid, which moves if the method has such walls, with a body in it.
fn channel(model: &Model, lid: f64) -> GridSpec {
    let dim = model.lattice().dim();
    let size = if dim == 2 { [16, 16, 1] } else { [12, 12, 8] };
    let shape = match dim {
        2 => Shape::Cylinder { centre: CENTRE, axis: [0.0, 0.0, 1.0], radius: RADIUS, length: None },
        _ => Shape::Sphere { centre: CENTRE, radius: RADIUS },
    };
    let grid = GridSpec::periodic(size).with_wall(Face::YMin, "bounce_back", &[]);
    let grid = match model.boundaries().iter().any(|rule| rule.name == "moving_wall") {
        true => grid.with_wall(Face::YMax, "moving_wall", &[("velocity", &[lid, 0.0, 0.0][..dim])]),
        false => grid.with_wall(Face::YMax, "bounce_back", &[]),
    };
    grid.with_solid(Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] })
}

/// Whether a cell is fluid around a body in the middle.
fn is_fluid(dim: usize, cell: Cell) -> bool {
    is_around(CENTRE, dim, cell)
}

/// Whether a cell lies outside of a body with that centre.
fn is_around(centre: [f64; 3], dim: usize, cell: Cell) -> bool {
    let away = (0..dim).map(|axis| (cell.at[axis] as f64 + 0.5 - centre[axis]).powi(2)).sum::<f64>();
    away > RADIUS * RADIUS
}

/// A number between -1 and 1 that has nothing to do with others.
fn noise(seed: f64, cell: Cell, pop: usize) -> f64 {
    let number = cell.at.iter().fold(pop as f64, |sum, at| 31.0 * sum + *at as f64);
    2.0 * (number * 0.618_033_988_749_894_9 + seed * 0.414_213_562_373_095).fract() - 1.0
}

/// Populations of all cells of a flow.
fn populations(flow: &Simulation) -> Vec<(Cell, Vec<f64>)> {
    let mut all = vec![];
    flow.visit_populations(|cell, values| all.push((cell, values.to_vec()))).expect("populations");
    all
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

/// A flow with populations that are far from equilibrium, and weights of all populations after a step, of which the objective is the sum.
struct Subject {
    spec: &'static str,
    grid: GridSpec,
    bundle: Bundle,
    params: Vec<(String, Vec<f64>)>,
    dim: usize,
    /// Where the body is.
    centre: [f64; 3],
    /// Walls by whose values is derived.
    groups: Vec<WallGroup>,
}

impl Subject {
    fn new(spec: &'static str, device: &Device) -> Subject {
        let model = compiled::model(spec);
        let groups = vec![WallGroup::Face(Face::YMax)];
        Subject::between(spec, &model, channel(&model, LID), groups, device)
    }

    fn between(spec: &'static str, model: &Model, grid: GridSpec, groups: Vec<WallGroup>, device: &Device) -> Subject {
        let (params, dim) = (compiled::params(model, OMEGA), model.lattice().dim());
        Subject { spec, grid, bundle: bundle(model, device, Real::F64), params, dim, centre: CENTRE, groups }
    }

    /// The flow with populations changed by `along` times noise.
    fn flow(&self, device: &Device, along: f64) -> Simulation {
        self.flow_with(device, &self.grid, &self.params, along)
    }

    fn flow_with(&self, device: &Device, grid: &GridSpec, params: &[(String, Vec<f64>)], along: f64) -> Simulation {
        let mut flow = Simulation::new(device, &self.bundle, grid, params).expect("a flow");
        let rest = self.rest();
        // Populations at the start do not depend on parameters.
        flow.update_cells(|cell, values| {
            for ((pop, value), rest) in values.iter_mut().enumerate().zip(&rest) {
                *value = rest * (1.0 + 0.1 * noise(1.0, cell, pop) + along * noise(2.0, cell, pop));
            }
        })
        .expect("populations");
        flow
    }

    /// Populations at rest.
    fn rest(&self) -> Vec<f64> {
        self.bundle.manifest.directions.iter().map(|direction| direction.rest_value()).collect()
    }

    /// The objective after a step: weights times populations of fluid cells.
    fn after(&self, mut flow: Simulation) -> f64 {
        flow.run(1).expect("a step");
        let fluid = populations(&flow).into_iter().filter(|(cell, _)| is_around(self.centre, self.dim, *cell));
        let weighted = |(cell, values): (Cell, Vec<f64>)| {
            values.iter().enumerate().map(|(pop, value)| noise(3.0, cell, pop) * value).sum::<f64>()
        };
        fluid.map(weighted).sum()
    }

    /// Derivatives of it by populations, parameters and the lid.
    fn adjoint(&self, flow: &mut Simulation) -> Adjoint {
        let mut adjoint = Adjoint::new(flow, &self.grid, &self.groups).expect("an adjoint");
        let seed = |cell: Cell, values: &mut [f64]| {
            for (pop, value) in values.iter_mut().enumerate() {
                *value = if is_around(self.centre, self.dim, cell) { noise(3.0, cell, pop) } else { 0.0 };
            }
        };
        adjoint.change(flow, seed).expect("derivatives");
        adjoint.step_back(flow, &[[0.0; 3]]).expect("a step");
        adjoint
    }

    /// The derivative along noise, of derivatives by populations.
    fn along(&self, flow: &Simulation, adjoint: &mut Adjoint) -> f64 {
        let (rest, mut product) = (self.rest(), 0.0);
        let each = |cell: Cell, values: &[f64]| {
            let of = |(pop, (value, rest)): (usize, (&f64, &f64))| value * rest * noise(2.0, cell, pop);
            product += values.iter().zip(&rest).enumerate().map(of).sum::<f64>();
        };
        adjoint.visit(flow, each).expect("derivatives");
        product
    }
}

/// What differs, over what there is.
fn apart(one: f64, other: f64) -> f64 {
    (one - other).abs() / other.abs()
}

#[test]
fn a_step_backwards_with_walls_and_a_body_is_the_transpose_of_the_derivative_of_a_step() {
    for device in flows::devices() {
        for spec in ["d2q9_bgk", "d3q19_trt_guo", "d3q27_cumulant"] {
            let subject = Subject::new(spec, &device);
            let mut flow = subject.flow(&device, 0.0);
            let mut adjoint = subject.adjoint(&mut flow);
            let found = subject.along(&flow, &mut adjoint);
            let expected = slope(0.02, |along| subject.after(subject.flow(&device, along)));
            println!("{spec}: {found:e} {:.1e}", apart(found, expected));
            assert!(apart(found, expected) < 1e-12, "{spec}: {found:e} {expected:e}");
        }
    }
}

/// A box with a body at that place whose surface is where it is, and moves.
fn interpolated(model: &Model, centre: [f64; 3], surface: [f64; 3]) -> GridSpec {
    let (dim, mut grid) = (model.lattice().dim(), channel(model, LID));
    let body = &mut grid.solids[0];
    match &mut body.shape {
        Shape::Cylinder { centre: own, .. } | Shape::Sphere { centre: own, .. } => *own = centre,
        _ => unreachable!("a round body"),
    }
    body.rule = "interpolated_moving_wall".into();
    body.values = vec![("velocity".into(), surface[..dim].to_vec())];
    grid
}

#[test]
fn a_step_backwards_with_interpolated_links_is_the_transpose_of_the_derivative_of_a_step() {
    const SURFACE: [f64; 3] = [0.02, -0.01, 0.03];
    for device in flows::devices() {
        // In the middle; and so near to a wall that nothing arrives in some cells from beyond them.
        let places = [("d2q9_bgk", CENTRE), ("d2q9_bgk", [6.2, 3.0, 0.0]), ("d3q19_trt_guo", CENTRE)];
        for (spec, centre) in places {
            let model = compiled::model_with_rules(spec, &["interpolated_moving_wall"]);
            let groups = vec![WallGroup::Face(Face::YMax), WallGroup::Solid(0)];
            let grid = interpolated(&model, centre, SURFACE);
            let subject = Subject { centre, ..Subject::between(spec, &model, grid, groups, &device) };
            let mut flow = subject.flow(&device, 0.0);
            let mut adjoint = subject.adjoint(&mut flow);
            let found = subject.along(&flow, &mut adjoint);
            let expected = slope(0.02, |along| subject.after(subject.flow(&device, along)));
            println!("{spec} {centre:?}: {found:e} {:.1e}", apart(found, expected));
            assert!(apart(found, expected) < 1e-12, "{spec}: {found:e} {expected:e}");
            let mut pulled = Adjoint::new(&flow, &subject.grid, &[]).expect("an adjoint");
            let pull = [0.7, -0.4, 0.3];
            pulled.step_back(&mut flow, &[pull]).expect("a step");
            let found = subject.along(&flow, &mut pulled);
            let expected = slope(0.02, |along| {
                let force = subject.flow(&device, along).forces().expect("a force")[0];
                (0..subject.dim).map(|axis| pull[axis] * force[axis]).sum()
            });
            println!("{spec} force: {found:e} {:.1e}", apart(found, expected));
            assert!(apart(found, expected) < 1e-12, "{spec}: {found:e} {expected:e}");
            // The distance of the surface, then its velocity.
            let by_surface = adjoint.by_walls(&flow).expect("derivatives")[1][1];
            let expected = slope(0.01, |change| {
                let [x, y, z] = SURFACE;
                let moved = interpolated(&model, centre, [x + change, y, z]);
                subject.after(subject.flow_with(&device, &moved, &subject.params, 0.0))
            });
            println!("{spec} surface: {by_surface:e} {:.1e}", apart(by_surface, expected));
            assert!(apart(by_surface, expected) < 1e-11, "{spec}: {by_surface:e} {expected:e}");
        }
    }
}

#[test]
fn steps_backwards_beside_symmetry_planes_are_transposes_of_derivatives_of_steps() {
    lbm_tests::in_turn!();
    for device in flows::devices() {
        for (spec, body) in [
            ("d2q9_bgk", "bounce_back"),
            ("d2q9_bgk", "interpolated_moving_wall"),
            ("d3q19_trt_guo", "bounce_back"),
            ("d3q27_cumulant", "bounce_back"),
        ] {
            let model = compiled::model_with_rules(spec, &["free_slip", "moving_wall", "interpolated_moving_wall"]);
            // Corners of two planes, and of a plane and walls; a plane cuts the body in two.
            let centre = [0.4, 7.1, 3.9];
            let (dim, mut grid) = (model.lattice().dim(), interpolated(&model, centre, [0.02, -0.01, 0.03]));
            if body == "bounce_back" {
                grid.solids[0].rule = body.into();
                grid.solids[0].values = vec![];
            }
            for face in [Face::XMin, Face::YMin].into_iter().chain((dim == 3).then_some(Face::ZMax)) {
                grid = grid.with_wall(face, "free_slip", &[]);
            }
            for face in [Face::XMax].into_iter().chain((dim == 3).then_some(Face::ZMin)) {
                grid = grid.with_wall(face, "bounce_back", &[]);
            }
            let groups = vec![WallGroup::Face(Face::YMax)];
            let subject = Subject { centre, ..Subject::between(spec, &model, grid, groups, &device) };
            let mut flow = subject.flow(&device, 0.0);
            let mut adjoint = subject.adjoint(&mut flow);
            let found = subject.along(&flow, &mut adjoint);
            let expected = slope(0.02, |along| subject.after(subject.flow(&device, along)));
            println!("{spec} {body}: {found:e} {:.1e}", apart(found, expected));
            assert!(apart(found, expected) < 1e-12, "{spec} {body}: {found:e} {expected:e}");
        }
    }
}

#[test]
fn all_methods_whose_cells_collide_alone_have_steps_backwards() {
    let device = Device::host(1).expect("the host");
    let local = compiled::specs().into_iter().filter(|spec| compiled::model(spec).shown().is_empty());
    let mut wrong = vec![];
    for spec in sample(local) {
        let subject = Subject::new(spec, &device);
        let mut flow = subject.flow(&device, 0.0);
        let mut adjoint = subject.adjoint(&mut flow);
        let found = subject.along(&flow, &mut adjoint);
        // Some have branches and square roots: differences are narrow.
        let expected = slope(1e-4, |along| subject.after(subject.flow(&device, along)));
        println!("{spec}: {found:e} {:.1e}", apart(found, expected));
        let agrees = apart(found, expected) < 1e-8;
        wrong.extend((!agrees).then(|| format!("{spec}: {found:e} {expected:e}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn derivatives_by_parameters_and_by_the_velocity_of_a_lid_are_those_of_a_step() {
    for device in flows::devices() {
        let subject = Subject::new("d2q9_guo", &device);
        let mut flow = subject.flow(&device, 0.0);
        let mut adjoint = subject.adjoint(&mut flow);
        let found = adjoint.by_params(&flow).expect("derivatives");
        for (number, member) in flow.manifest().members.iter().enumerate() {
            let with = |change: f64| {
                let mut params = subject.params.clone();
                let (_, values) = params.iter_mut().find(|(name, _)| *name == member.param).expect("it is one");
                values[member.component as usize] += change;
                subject.after(subject.flow_with(&device, &subject.grid, &params, 0.0))
            };
            let expected = slope(0.01, with);
            println!("{}: {:e} {:.1e}", member.name, found[number], apart(found[number], expected));
            assert!(apart(found[number], expected) < 1e-11, "{}: {:e} {expected:e}", member.name, found[number]);
        }
        let by_lid = adjoint.by_walls(&flow).expect("derivatives");
        let with = |change: f64| {
            let grid = channel(&compiled::model(subject.spec), LID + change);
            subject.after(subject.flow_with(&device, &grid, &subject.params, 0.0))
        };
        let expected = slope(0.01, with);
        println!("lid: {:e} {:.1e}", by_lid[0][0], apart(by_lid[0][0], expected));
        assert!(apart(by_lid[0][0], expected) < 1e-12, "{:e} {expected:e}", by_lid[0][0]);
    }
}

#[test]
fn inlets_and_outlets_and_surfaces_that_move_have_derivatives_by_their_values() {
    let model = compiled::model_with_rules("d2q9_trt", &["equilibrium", "anti_bounce_back"]);
    // The density and the velocity of the inlet, the density of the outlet, the velocity of the surface.
    let given = [1.02, 0.04, -0.01, 0.99, 0.03, 0.02];
    let between = |[rho, u, v, out, slides, rises]: [f64; 6]| {
        let mut grid = channel(&model, LID)
            .with_wall(Face::XMin, "equilibrium", &[("density", &[rho]), ("velocity", &[u, v])])
            .with_wall(Face::XMax, "anti_bounce_back", &[("density", &[out])]);
        grid.solids[0].rule = "moving_wall".into();
        grid.solids[0].values = vec![("velocity".into(), vec![slides, rises])];
        grid
    };
    for device in flows::devices() {
        let groups = vec![WallGroup::Face(Face::XMin), WallGroup::Face(Face::XMax), WallGroup::Solid(0)];
        let subject = Subject::between("d2q9_trt", &model, between(given), groups, &device);
        let mut flow = subject.flow(&device, 0.0);
        let mut adjoint = subject.adjoint(&mut flow);
        let found = subject.along(&flow, &mut adjoint);
        let expected = slope(0.01, |along| subject.after(subject.flow(&device, along)));
        println!("populations: {found:e} {:.1e}", apart(found, expected));
        assert!(apart(found, expected) < 1e-12, "populations: {found:e} {expected:e}");
        let by_walls = adjoint.by_walls(&flow).expect("derivatives");
        let found = [&by_walls[0][..3], &by_walls[1][..1], &by_walls[2][..2]].concat();
        for (at, found) in found.into_iter().enumerate() {
            let expected = slope(0.01, |change| {
                let mut values = given;
                values[at] += change;
                subject.after(subject.flow_with(&device, &between(values), &subject.params, 0.0))
            });
            println!("{at}: {found:e} {:.1e}", apart(found, expected));
            assert!(apart(found, expected) < 1e-11, "{at}: {found:e} {expected:e}");
        }
    }
}

#[test]
fn derivatives_by_the_force_on_a_body_are_those_of_the_exchange_of_momentum() {
    for device in flows::devices() {
        let subject = Subject::new("d2q9_bgk", &device);
        let mut flow = subject.flow(&device, 0.0);
        let mut adjoint = Adjoint::new(&flow, &subject.grid, &[]).expect("an adjoint");
        let pull = [0.7, -0.4, 0.0];
        adjoint.step_back(&mut flow, &[pull]).expect("a step");
        let found = subject.along(&flow, &mut adjoint);
        let expected = slope(0.02, |along| {
            let force = subject.flow(&device, along).forces().expect("a force")[0];
            pull[0] * force[0] + pull[1] * force[1]
        });
        assert!(apart(found, expected) < 1e-12, "{found:e} {expected:e}");
    }
}

#[test]
fn steps_backwards_have_the_same_bits_with_any_number_of_threads() {
    let of = |threads: usize| {
        let device = Device::host(threads).expect("the host");
        let subject = Subject::new("d2q9_bgk", &device);
        let mut flow = subject.flow(&device, 0.0);
        let (mut adjoint, mut all) = (subject.adjoint(&mut flow), vec![]);
        adjoint.visit(&flow, |_, values| all.extend(values.iter().map(|value| value.to_bits()))).expect("derivatives");
        (all, adjoint.by_params(&flow).expect("derivatives")[0].to_bits())
    };
    assert_eq!(of(1), of(3));
}

#[test]
fn gradients_after_many_steps_are_differences_of_whole_flows() {
    const STEPS: u64 = 200;
    for device in flows::devices() {
        let subject = Subject::new("d2q9_bgk", &device);
        let model = compiled::model("d2q9_bgk");
        let start = |cell: [usize; 3], out: &mut [f64]| {
            let [x, y] = [cell[0], cell[1]].map(|at| std::f64::consts::TAU * (at as f64 + 0.5) / 16.0);
            out.copy_from_slice(&[1.0, 0.05 * x.sin() * y.cos(), -0.05 * x.cos() * y.sin()]);
        };
        let flow_with = |omega: f64, lid: f64| {
            let params = vec![("omega".to_string(), vec![omega])];
            let grid = channel(&model, lid);
            let mut flow = Simulation::new(&device, &subject.bundle, &grid, &params).expect("a flow");
            flow.init(start).expect("cells");
            flow
        };
        // The kinetic energy, summed over the last steps.
        let energy = |flow: &mut Simulation| {
            let mut sum = 0.0;
            let add = |cell: Cell, fields: &[f64]| {
                let own = (fields[1].powi(2) + fields[2].powi(2)) / 2.0;
                sum += if is_fluid(2, cell) { own } else { 0.0 };
            };
            flow.visit_cells(add).expect("fields");
            sum
        };
        let from = STEPS - 3;
        let whole = |omega: f64, lid: f64| {
            let mut flow = flow_with(omega, lid);
            flow.run(from).expect("steps");
            let mut sum = energy(&mut flow);
            for _ in from..STEPS {
                flow.run(1).expect("a step");
                sum += energy(&mut flow);
            }
            sum
        };

        let mut flow = flow_with(OMEGA, LID);
        let mut adjoint = Adjoint::new(&flow, &subject.grid, &[WallGroup::Face(Face::YMax)]).expect("an adjoint");
        let (mut value, mut backwards) = (0.0, 0);
        let visit = |flow: &mut Simulation, visit: Visit| {
            let is_last = flow.step() == STEPS;
            match visit {
                Visit::Passing => return Ok(()),
                Visit::Forward => value += energy(flow),
                Visit::Back => {
                    adjoint.step_back(flow, &[[0.0; 3]])?;
                    backwards += 1;
                }
            }
            // Derivatives by the state at the end are added before the first step backwards.
            if flow.step() >= from && (visit == Visit::Back || is_last) {
                let mut fields = std::collections::BTreeMap::new();
                flow.visit_cells(|cell, values| drop(fields.insert(cell.at, values.to_vec())))?;
                adjoint.add_by_fields(flow, |cell, out| {
                    if is_fluid(2, cell) {
                        out[1..].copy_from_slice(&fields[&cell.at][1..]);
                    }
                })?;
            }
            Ok::<_, StepError>(())
        };
        let mut visit = visit;
        backward(&mut flow, (STEPS, from), 8, &mut visit).expect("a gradient");
        assert_eq!(backwards, STEPS);
        assert!(apart(value, whole(OMEGA, LID)) < 1e-13);
        let by_omega = adjoint.by_params(&flow).expect("derivatives")[0];
        let by_lid = adjoint.by_walls(&flow).expect("derivatives")[0][0];
        let expected =
            [slope(1e-3, |change| whole(OMEGA + change, LID)), slope(1e-3, |change| whole(OMEGA, LID + change))];
        println!("{by_omega:e} {by_lid:e} {expected:?}");
        assert!(
            apart(by_omega, expected[0]) < 1e-6 && apart(by_lid, expected[1]) < 1e-6,
            "{by_omega} {by_lid} {expected:?}"
        );
    }
}

#[test]
fn what_has_no_adjoint_is_refused_with_a_reason() {
    let refused = |rules: &[&str]| {
        let model = compiled::model_with_rules("d2q9_bgk", rules);
        pipeline::plan(&model, Layout::Blocks, &mut |_| ()).and_then(|plans| plans.with_adjoint()).err()
    };
    assert_eq!(refused(&[]), None);
    assert_eq!(refused(&["zou_he_velocity"]), Some(CompileError::AdjointOfRule("zou_he_velocity".into())));
    let device = Device::host(1).expect("the host");
    let model = compiled::model_with_rules("d2q9_bgk", &["interpolated_bounce_back"]);
    let grid = channel(&model, LID).with_wall(Face::YMin, "interpolated_bounce_back", &[("distance", &[0.3])]);
    let subject = Subject::between("d2q9_bgk", &model, grid, vec![], &device);
    let flow = subject.flow(&device, 0.0);
    let error = Adjoint::new(&flow, &subject.grid, &[]).err().expect("a rule of nodes at a face");
    assert!(error.to_string().contains("wet-node"), "{error}");
    let without = compiled::compile(&compiled::model("d2q9_bgk"), device.target(), Real::F64, [8, 8, 1]).bundle;
    let grid = GridSpec::periodic([16, 16, 1]);
    let flow = Simulation::new(&device, &without, &grid, &[("omega".into(), vec![1.0])]).expect("a flow");
    let error = Adjoint::new(&flow, &grid, &[]).err().expect("no kernels");
    assert!(error.to_string().contains("compiled without"), "{error}");
}
