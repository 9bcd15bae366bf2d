//! Grids that change: what moves between levels keeps mass and momentum and has the stress of its level, the grid follows a flow,
//! memory that ends is told, and nothing but counts visits the host.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use lbm_bundle::criteria::TargetLevel;
use lbm_bundle::{Bundle, Real};
use lbm_flows::case::{Formula, RefinedBox, Refinement};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::solid::{Shape, Solid};
use lbm_runtime::geometry::{Block, Cell};
use lbm_runtime::kernels::Criterion;
use lbm_runtime::solver::observe::{FieldCheck, NotFinite, Sum};
use lbm_runtime::solver::{Adaptivity, GridSpec, Simulation};
use lbm_tests::compiled::{self, Random};
use lbm_tests::criteria::{above, criteria, criterion, everywhere, level, vorticity};
use lbm_tests::flows::devices;

fn bundle(device: &Device, spec: &str) -> Bundle {
    coupled(device, spec, "volumetric_shifted")
}

fn coupled(device: &Device, spec: &str, coupling: &str) -> Bundle {
    let model = compiled::model_with_coupling(spec, coupling);
    let block = if model.lattice().dim() == 2 { [8, 8, 1] } else { [4, 4, 4] };
    compiled::compile_levels(&model, device.target(), Real::F64, block)
}

/// A level within a ball, in cells of level 0.
fn ball(dim: usize, centre: [f64; 3], radius: f64, inside: usize) -> TargetLevel {
    let square = |axis: usize| format!("({} - {:?})^2", ["x", "y", "z"][axis], centre[axis]);
    let away = (0..dim).map(square).collect::<Vec<_>>().join(" + ");
    level(&format!("if({away} < {radius:?}^2, {inside}, 0)"))
}

/// Balls at random places of a periodic box of `side` cells, on each level up to the finest.
fn balls(
    device: &Device,
    bundle: &Bundle,
    side: usize,
    radius: f64,
    finest: usize,
    random: &mut Random,
) -> Vec<Criterion> {
    let dim = bundle.manifest.dim as usize;
    let mut ball = |number: usize| {
        let centre = std::array::from_fn(|_| (random.draw() + 1.0) / 2.0 * side as f64);
        vec![ball(dim, centre, radius, 1 + number % finest)]
    };
    criteria(device, bundle, &(0..BALLS).map(&mut ball).collect::<Vec<_>>())
}

/// How many of them: with those of all rounds, grids are no more different.
const BALLS: usize = 48;

/// What a refinement of a case is for a simulation.
fn adaptivity(device: &Device, bundle: &Bundle, refinement: &Refinement) -> Adaptivity {
    let loaded = criteria(device, bundle, &refinement.criteria(bundle.manifest.dim as usize));
    refinement.adaptivity(&loaded, false).expect("criteria for it")
}

/// A periodic box of `side` cells that may have levels up to `finest`, and changes when it is told, or every so many steps.
fn periodic(
    device: &Device,
    bundle: &Bundle,
    side: usize,
    omega: f64,
    finest: usize,
    during: Option<(u64, Criterion)>,
    memory: Option<usize>,
) -> Simulation {
    let dim = bundle.manifest.dim as usize;
    let grid = GridSpec::periodic(std::array::from_fn(|axis| if axis < dim { side } else { 1 }));
    adaptive(device, bundle, &grid, omega, finest, during, memory)
}

/// The same on a grid of any kind.
fn adaptive(
    device: &Device,
    bundle: &Bundle,
    grid: &GridSpec,
    omega: f64,
    finest: usize,
    during: Option<(u64, Criterion)>,
    memory: Option<usize>,
) -> Simulation {
    let adaptivity = Adaptivity {
        levels: 0..=finest,
        start: criterion(device, bundle, vec![]),
        during: Some(during.unwrap_or_else(|| (u64::MAX, everywhere(device, bundle, 0)))),
        pinned: vec![],
        memory,
        sharing: 1,
        keeps: false,
    };
    let params = [("omega".to_string(), vec![omega])];
    Simulation::adaptive(device, bundle, grid, &params, &adaptivity, None).unwrap()
}

/// Taylor & Green, Proc. R. Soc. A 158 (1937) 499, in x and y.
fn taylor_green(cell: Cell, side: usize, u: f64, out: &mut [f64]) {
    let [(sx, cx), (sy, cy)] = [0, 1].map(|axis| (TAU * cell.centre()[axis] / side as f64).sin_cos());
    out.fill(0.0);
    out[0] = 1.0 + 1.5 * u * u * (0.5 - cx * cx - cy * cy + 0.5);
    (out[1], out[2]) = (-u * cx * sy, u * sx * cy);
}

/// All populations, by cell, with the place of the cell.
fn contents(flow: &Simulation) -> Vec<(Cell, Vec<f64>)> {
    let mut all = vec![];
    flow.visit_populations(|cell, populations| all.push((cell, populations.to_vec()))).unwrap();
    all.sort_by_key(|(cell, _)| (cell.level, cell.at));
    all
}

/// The smallest blocks there are, so that thousands of changes take seconds.
#[test]
fn mass_and_momentum_outlast_thousands_of_random_changes() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (spec, side, finest, rounds) in [("d2q9_bgk", 32, 2, 3000), ("d3q19_bgk", 8, 2, 1000)] {
            let model = compiled::model_with_coupling(spec, "volumetric_shifted");
            let block = if model.lattice().dim() == 2 { [4, 4, 1] } else { [4, 4, 4] };
            let bundle = compiled::compile_levels(&model, device.target(), Real::F64, block);
            let mut flow = periodic(&device, &bundle, side, 1.6, finest, None, None);
            flow.init_cells(|cell, out| taylor_green(cell, side, 0.05, out)).unwrap();
            let start = flow.conserved().unwrap();
            let mut random = Random(7);
            let balls = balls(&device, &bundle, side, 0.2 * side as f64, finest, &mut random);
            let mut changes = 0;
            for round in 0..rounds {
                let ball = ((random.draw() + 1.0) / 2.0 * BALLS as f64) as usize % BALLS;
                let outcome = flow.adapt_to(&balls[ball]).unwrap();
                changes += usize::from(outcome.refined > 0 && outcome.coarsened > 0);
                if round % 20 == 0 {
                    flow.run(1).unwrap();
                }
                let now = flow.conserved().unwrap();
                let mass = start.mass;
                let drift = (now.mass / start.mass - 1.0).abs();
                assert!(drift < 1e-13 * (1 + round) as f64, "{spec}: mass by {drift:e} in round {round}");
                for (now, start) in now.momentum.iter().zip(start.momentum) {
                    // Over the momentum of all mass at the speed of the flow.
                    let drift = (now - start).abs() / (0.05 * mass);
                    assert!(drift < 1e-13, "{spec}: momentum by {drift:e} in round {round}");
                }
            }
            assert!(changes > rounds / 3, "{spec}: {changes} of {rounds} rounds refine and coarsen");
        }
    }
}

#[test]
fn what_is_refined_and_coarsened_again_is_what_it_was() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (spec, side) in [("d2q9_bgk", 32), ("d3q27_bgk", 16)] {
            let bundle = bundle(&device, spec);
            let mut flow = periodic(&device, &bundle, side, 1.6, 2, None, None);
            flow.init_cells(|cell, out| taylor_green(cell, side, 0.05, out)).unwrap();
            flow.run(9).unwrap();
            let before = contents(&flow);
            for level in [1, 2, 1, 0] {
                flow.adapt_to(&everywhere(&device, &bundle, level)).unwrap();
                assert_eq!(flow.grid().levels().len(), level + 1);
            }
            let after = contents(&flow);
            assert_eq!(before.len(), after.len());
            for ((cell, before), (_, after)) in before.iter().zip(&after) {
                for (before, after) in before.iter().zip(after) {
                    assert!((before - after).abs() < 2e-15, "{spec}: {before} and {after} at {cell:?}");
                }
            }
        }
    }
}

/// The stress is `sum c_x c_y f` less that of the equilibrium; in a flow `ux(y)` it is `(1 - 1/omega) cs2 rho dux/dy` after a
/// collision, with the omega and the step of the level.
#[test]
fn what_is_filled_or_averaged_has_the_stress_of_its_level() {
    let (side, u, omega) = (64, 0.02, 1.8);
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let mut flow = periodic(&device, &bundle, side, omega, 1, None, None);
    let wave = |y: f64| TAU * y / side as f64;
    flow.init_cells(|cell, out| {
        (out[0], out[1], out[2]) = (1.0, u * wave(cell.centre()[1]).sin(), 0.0);
    })
    .unwrap();
    flow.run(200).unwrap();
    let stress = |flow: &Simulation| {
        let directions = flow.manifest().directions.clone();
        // By coarse cells: inside of one, where a refined cell has only a slope, the stress may waver around its mean.
        let mut of_cells: BTreeMap<[usize; 3], (f64, f64)> = BTreeMap::new();
        let (mut along, mut square) = (0.0, 0.0);
        let mut all = vec![];
        flow.visit_populations(|cell, populations| {
            let sum = |of: &dyn Fn([f64; 3]) -> f64| {
                populations.iter().zip(&directions).map(|(f, d)| f * of(d.c.map(f64::from))).sum::<f64>()
            };
            let (rho, jx, jy, pxy) = (sum(&|_| 1.0), sum(&|c| c[0]), sum(&|c| c[1]), sum(&|c| c[0] * c[1]));
            let phase = wave(cell.centre()[1]);
            along += jx * phase.sin();
            square += phase.sin().powi(2);
            all.push((cell, pxy - jx * jy / rho, phase));
        })
        .unwrap();
        for (cell, found, phase) in all {
            // omega of the level, by the viscosity.
            let omega = 1.0 / ((1.0 / omega - 0.5) / cell.width() + 0.5);
            let gradient = along / square * TAU / side as f64 * phase.cos() * cell.width();
            let expected = (1.0 - 1.0 / omega) / 3.0 * gradient;
            let mean = of_cells.entry(cell.at.map(|at| at >> cell.level)).or_default();
            (mean.0, mean.1) = (mean.0 + found, mean.1 + expected);
        }
        let error: f64 = of_cells.values().map(|(found, expected)| (found - expected).powi(2)).sum();
        let norm: f64 = of_cells.values().map(|(_, expected)| expected.powi(2)).sum();
        (error / norm).sqrt()
    };
    let before = stress(&flow);
    flow.adapt_to(&everywhere(&device, &bundle, 1)).unwrap();
    let fine = stress(&flow);
    assert!(before < 0.01 && fine < 0.01, "{before} before, {fine} on the finer level");
    flow.run(200).unwrap();
    flow.adapt_to(&everywhere(&device, &bundle, 0)).unwrap();
    let coarse = stress(&flow);
    assert!(coarse < 0.01, "{coarse} on the coarser level again");
}

/// A vortex with a Gaussian stream function, carried along x.
fn vortex(cell: Cell, side: usize, out: &mut [f64]) {
    let [x, y, _] = cell.centre().map(|at| at / side as f64 - 0.5);
    let (speed, width) = (0.04, 0.05);
    let swirl = 0.04 * (-(x * x + y * y) / (2.0 * width * width)).exp() / width;
    (out[0], out[1], out[2]) = (1.0, speed - swirl * y, swirl * x);
}

#[test]
fn the_grid_follows_a_vortex() {
    lbm_tests::in_turn!();
    let (side, finest, steps) = (64, 2, 400);
    for device in devices() {
        let bundle = bundle(&device, "d2q9_bgk");
        let follows = criterion(&device, &bundle, vec![vorticity(&[0.001, 0.004])]);
        let mut flow = periodic(&device, &bundle, side, 1.9, finest, Some((8, follows)), None);
        let start = |cell: Cell, out: &mut [f64]| vortex(cell, side, out);
        flow.init_cells(start).unwrap();
        let finest_cells = |flow: &Simulation| {
            let mut centre = [0.0; 2];
            let leaves = flow.grid().leaves().unwrap();
            let fine: Vec<_> = leaves.iter().filter(|leaf| leaf.block.level == finest).collect();
            for leaf in &fine {
                for (axis, centre) in centre.iter_mut().enumerate() {
                    *centre += (leaf.block.place[axis] as f64 + 0.5) * 2.0 / fine.len() as f64;
                }
            }
            (fine.len(), centre)
        };
        let (count, centre) = finest_cells(&flow);
        assert!(count > 0 && (centre[0] - 32.0).abs() < 1.0, "{count} finest blocks around {centre:?}");
        flow.run(steps).unwrap();
        // It has gone 16 cells to the right.
        let (count, centre) = finest_cells(&flow);
        assert!(
            count > 0 && (centre[0] - 48.0).abs() < 2.5 && (centre[1] - 32.0).abs() < 1.5,
            "{count} around {centre:?}"
        );
        assert!(flow.grid().cells() < ((side * side) << (2 * finest)) / 4, "{} cells", flow.grid().cells());
        assert!(flow.adaptations().changes > 10, "{:?}", flow.adaptations());

        // The same flow on the finest level everywhere.
        let everywhere = everywhere(&device, &bundle, finest);
        let mut fine = periodic(&device, &bundle, side, 1.9, finest, Some((u64::MAX - 1, everywhere)), None);
        fine.init_cells(start).unwrap();
        fine.run(steps).unwrap();
        let width = side << finest;
        let dense = |flow: &mut Simulation| {
            let mut all = vec![0.0; width * width];
            flow.visit_cells(|cell, values| {
                let scale = 1 << (finest - cell.level);
                for (dx, dy) in (0..scale).flat_map(|dx| (0..scale).map(move |dy| (dx, dy))) {
                    all[cell.at[0] * scale + dx + width * (cell.at[1] * scale + dy)] = values[2];
                }
            })
            .unwrap();
            all
        };
        let (found, expected) = (dense(&mut flow), dense(&mut fine));
        let error: f64 = found.iter().zip(&expected).map(|(a, b)| (a - b).powi(2)).sum();
        let norm: f64 = expected.iter().map(|b| b * b).sum();
        let error = (error / norm).sqrt();
        assert!(error < 0.04, "uy differs by {error} from that of the finest level everywhere");
    }
}

#[test]
fn runs_that_change_are_the_same_on_any_number_of_threads() {
    let run = |threads: usize| {
        let device = Device::host(threads).unwrap();
        let bundle = bundle(&device, "d2q9_bgk");
        let follows = criterion(&device, &bundle, vec![vorticity(&[0.001, 0.004])]);
        let mut flow = periodic(&device, &bundle, 64, 1.9, 2, Some((8, follows)), None);
        flow.init_cells(|cell, out| vortex(cell, 64, out)).unwrap();
        flow.run(100).unwrap();
        contents(&flow)
    };
    assert!(run(1) == run(2));
}

#[test]
fn a_run_goes_on_where_memory_ends() {
    for device in devices() {
        let side = 64;
        let bundle = bundle(&device, "d2q9_bgk");
        let follows = criterion(&device, &bundle, vec![vorticity(&[0.0, 0.0])]);
        let memory = Some(150 * 8 * (2 * 9 + 2 + 3) * 64);
        let mut flow = periodic(&device, &bundle, side, 1.7, 2, Some((4, follows)), memory);
        flow.init_cells(|cell, out| vortex(cell, side, out)).unwrap();
        let mass = flow.mass().unwrap();
        flow.run(40).unwrap();
        let told = flow.adaptations();
        assert!(told.refusals > 5 && told.most_refused > 10, "{told:?}");
        assert!((64..160).contains(&told.room), "{told:?}");
        assert!(flow.grid().leaves().unwrap().len() < told.room);
        assert!((flow.mass().unwrap() / mass - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_grid_becomes_the_finest_everywhere_without_a_refusal_where_memory_is_ample() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let everywhere = everywhere(&device, &bundle, 2);
    let mut flow = periodic(&device, &bundle, 64, 1.2, 2, Some((u64::MAX, everywhere)), None);
    flow.init_cells(|cell, out| vortex(cell, 64, out)).unwrap();
    assert_eq!((flow.grid().cells(), flow.adaptations().refusals), (256 * 256, 0));
}

/// A run with everything that may be due but output: the grid follows the flow around a solid, its data are put into order again, and
/// the flow is looked at for values that are not finite, for a steady state, and for the force on the solid.
#[test]
fn nothing_but_counts_visits_the_host() {
    for device in devices() {
        let model = compiled::model_with_coupling("d2q9_bgk", "volumetric_shifted");
        let bundle = compiled::compile_solids(&model, device.target(), Real::F64, [8, 8, 1]);
        let bytes = |side: usize| {
            let thresholds = [0.001 * 64.0 / side as f64, 0.004 * 64.0 / side as f64];
            let ball = ball(2, [0.2 * side as f64; 3], 0.2 * side as f64, 2);
            let [follows, ball] = criteria(&device, &bundle, &[vec![vorticity(&thresholds)], vec![ball]])
                .try_into()
                .unwrap_or_else(|_| panic!("two"));
            let (at, radius) = (0.8 * side as f64, 0.03 * side as f64);
            let circle = Shape::Cylinder { centre: [at, at, 0.0], axis: [0.0, 0.0, 1.0], radius, length: None };
            let solid = Solid { shape: circle, rule: "bounce_back".into(), values: vec![], level: 1, shells: vec![] };
            let grid = GridSpec::periodic([side, side, 1]).with_solid(solid);
            let mut flow = adaptive(&device, &bundle, &grid, 1.9, 2, Some((4, follows)), None);
            flow.init_cells(|cell, out| vortex(cell, side, out)).unwrap();
            flow.set_reference().unwrap();
            let (before, adapted) = (device.traffic(), flow.adaptations());
            for round in 0..50 {
                flow.run(4).unwrap();
                if round % 20 == 10 {
                    flow.adapt_to(&ball).unwrap();
                }
                let look = flow.check_fields().unwrap();
                assert!(look.not_finite.is_none() && look.change.is_some_and(|change| change > 0.0));
                flow.set_reference().unwrap();
                assert!(flow.forces().unwrap()[0].iter().any(|force| *force != 0.0));
            }
            let now = flow.adaptations();
            assert!(now.looks - adapted.looks == 52 && now.changes - adapted.changes > 5, "{now:?}");
            assert!(now.reorderings > adapted.reorderings, "{now:?}");
            (device.traffic() - before) as f64 / 50.0
        };
        let (small, large) = (bytes(64), bytes(256));
        // Where classes begin, three times a change, and two numbers of each chunk, of all leaves and of those with links to the solid:
        // those of a grid of sixteen times the size are no more.
        assert!(small < 4096.0 && large < 4096.0, "{small} and {large} bytes a look");
    }
}

/// What is kept goes where the cells go: as long as the flow does not move, nothing has changed but what the two interpolations,
/// of populations and of fields, differ by: with ghosts, beside refined blocks, a central slope `u'` and a one-sided one `u' + u''/2`
/// over a quarter of a cell along each axis.
#[test]
fn fields_that_are_kept_follow_the_cells() {
    lbm_tests::in_turn!();
    for device in devices() {
        for (spec, side, coupling, bound) in [
            ("d2q9_bgk", 64, "volumetric_shifted", 1e-3),
            ("d3q19_bgk", 16, "volumetric_shifted", 1e-3),
            ("d2q9_bgk", 64, "interpolated", 2.0 * (TAU / 64.0).powi(2) / 8.0),
        ] {
            let bundle = coupled(&device, spec, coupling);
            let mut flow = periodic(&device, &bundle, side, 1.6, 2, None, None);
            let u = 0.05;
            flow.init_cells(|cell, out| taylor_green(cell, side, u, out)).unwrap();
            flow.set_reference().unwrap();
            let balls = balls(&device, &bundle, side, 0.25 * side as f64, 2, &mut Random(11));
            for (round, ball) in balls.iter().take(12).enumerate() {
                flow.adapt_to(ball).unwrap();
                let change = flow.check_fields().unwrap().change.unwrap();
                assert!(change < bound * u, "{spec}, {coupling}: {change} in round {round}");
            }
            assert!(flow.adaptations().reorderings > 2, "{:?}", flow.adaptations());
            // What is wrong by a cell would show.
            flow.run(20).unwrap();
            assert!(flow.check_fields().unwrap().change.unwrap() > 1e-3 * u);
        }
    }
}

#[test]
fn a_look_tells_what_is_not_finite_and_how_much_has_changed() {
    for device in devices() {
        let bundle = bundle(&device, "d2q9_bgk");
        let params = [("omega".to_string(), vec![1.6])];
        let grid = GridSpec::periodic([64, 64, 1]);
        let refines = |block: Block| block.place.iter().take(2).all(|at| (2..4).contains(at));
        let mut flow = Simulation::refined(&device, &bundle, &grid, &params, 3, refines).unwrap();
        flow.init_cells(|cell, out| taylor_green(cell, 64, 0.05, out)).unwrap();
        assert_eq!(flow.check_fields().unwrap(), FieldCheck { not_finite: None, change: None });
        flow.set_reference().unwrap();
        assert_eq!(flow.check_fields().unwrap(), FieldCheck { not_finite: None, change: Some(0.0) });
        let fine = Cell { level: 1, at: [37, 40, 0] };
        let raise = |by: f64| {
            move |cell: Cell, out: &mut [f64]| {
                taylor_green(cell, 64, 0.05, out);
                if cell == fine {
                    (out[1], out[2]) = (out[1] + 0.003 * by, out[2] - 0.004 * by);
                }
            }
        };
        flow.init_cells(raise(1.0)).unwrap();
        let change = flow.check_fields().unwrap().change.unwrap();
        assert!((change - 0.005).abs() < 1e-12, "{change}");
        flow.update_cells(|cell, populations| {
            if cell == fine || cell == (Cell { level: 2, at: [70, 66, 0] }) {
                populations[3] = f64::NAN;
            }
        })
        .unwrap();
        let not_finite = Some(NotFinite { component: "rho".into(), cell: fine });
        assert_eq!(flow.check_fields().unwrap(), FieldCheck { not_finite, change: None });
        // The density stays finite.
        flow.init_cells(raise(1.0)).unwrap();
        flow.update_cells(|cell, populations| {
            if cell == fine {
                (populations[1], populations[2]) = (f64::MAX, -f64::MAX);
            }
        })
        .unwrap();
        let not_finite = Some(NotFinite { component: "ux".into(), cell: fine });
        assert_eq!(flow.check_fields().unwrap().not_finite, not_finite);
    }
}

#[test]
fn sums_lose_nothing_and_do_not_depend_on_threads() {
    let sums = |device: &Device| {
        let bundle = bundle(device, "d2q9_bgk");
        let params = [("omega".to_string(), vec![1.6])];
        let grid = GridSpec::periodic([64, 64, 1]);
        let refines = |block: Block| block.place[0] < 3;
        let mut flow = Simulation::refined(device, &bundle, &grid, &params, 2, refines).unwrap();
        flow.init_cells(|cell, out| taylor_green(cell, 64, 0.05, out)).unwrap();
        // Far more than is left of them in the end.
        flow.update_cells(|cell, populations| {
            let sign = if cell.at[0] % 2 == 0 { 1.0 } else { -1.0 };
            populations[cell.at[1] % 9] += sign * 1e14 * (1.0 + cell.at[1] as f64);
        })
        .unwrap();
        let mut expected = [Sum::default(); 3];
        let directions = flow.manifest().directions.clone();
        // As they are stored: whole, such large ones are rounded once more.
        let mut stored: Vec<f64> = vec![];
        flow.state()
            .expect("leaves")
            .read_populations(|bytes| {
                stored.extend(bytes.chunks(8).map(|value| f64::from_ne_bytes(value.try_into().unwrap())));
                Ok(())
            })
            .unwrap();
        let leaves = flow.grid().leaves().unwrap();
        for (leaf, values) in leaves.iter().zip(stored.chunks(9 * 64)) {
            let volume = 0.25f64.powi(leaf.block.level as i32);
            for (direction, values) in directions.iter().zip(values.chunks(64)) {
                let c = direction.c.map(f64::from);
                let mut add = |f: f64| {
                    [1.0, c[0], c[1]].iter().zip(&mut expected).for_each(|(c, sum)| sum.add(volume * c * f));
                };
                values.iter().for_each(|value| add(*value));
                add(64.0 * direction.rest_value());
            }
        }
        (flow.conserved().unwrap(), expected.map(Sum::value))
    };
    for device in devices() {
        let (found, expected) = sums(&device);
        for (found, expected) in [found.mass, found.momentum[0], found.momentum[1]].into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-12 * 1e4, "{found} {expected}");
        }
        assert!(found.mass.abs() > 1e3, "{}", found.mass);
    }
    assert_eq!(sums(&Device::host(1).unwrap()), sums(&Device::host(3).unwrap()));
}

#[test]
fn a_grid_that_was_made_to_stay_refuses_to_change() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let params = [("omega".to_string(), vec![1.6])];
    let grid = GridSpec::periodic([32, 32, 1]);
    let mut flow = Simulation::refined(&device, &bundle, &grid, &params, 2, |block| block.place == [0; 3]).unwrap();
    flow.init_cells(|cell, out| taylor_green(cell, 32, 0.05, out)).unwrap();
    let error = flow.adapt_to(&everywhere(&device, &bundle, 1)).expect_err("there is no room");
    assert!(error.to_string().contains("cannot change"), "{error}");
    assert_eq!(flow.grid().cells_of_levels(), [960, 256]);
}

/// The kernels of criteria and the host, which warns of cases before there is a kernel, read a case's levels in the same way.
#[test]
fn the_grid_of_a_case_is_the_one_it_is_warned_about() {
    let region = |level, from, to| RefinedBox { level, from, to };
    let refinement = Refinement {
        coarsest: 0,
        finest: 3,
        follow: None,
        memory: None,
        level: Some("4.2 - sqrt((x - 20)^2 + (y - 41)^2) / 6".parse::<Formula>().unwrap()),
        boxes: vec![region(1, [48.0, 8.0, 0.0], [56.0, 16.0, 0.0]), region(2, [4.5, 4.5, 0.0], [8.5, 5.0, 0.0])],
        coupling: "volumetric_shifted".into(),
    };
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let (params, grid) = ([("omega".to_string(), vec![1.6])], GridSpec::periodic([64, 64, 1]));
    let adaptivity = adaptivity(&device, &bundle, &refinement);
    let made = Simulation::adaptive(&device, &bundle, &grid, &params, &adaptivity, None).unwrap();
    let refines = |block: Block| refinement.refines(block, [8, 8, 1]);
    let told = Simulation::refined(&device, &bundle, &grid, &params, 4, refines).unwrap();
    let blocks = |flow: &Simulation| flow.grid().leaves().unwrap().iter().map(|leaf| leaf.block).collect::<Vec<_>>();
    assert_eq!(blocks(&made), blocks(&told));
    assert!(made.grid().cells_of_levels().iter().all(|cells| *cells > 0), "{:?}", made.grid().cells_of_levels());
}

/// The target level at the centre of a cell is finer, those at the centres of its parts are not.
#[test]
fn a_level_that_coarse_cells_alone_have_is_no_endless_task() {
    let refinement = Refinement {
        coarsest: 0,
        finest: 1,
        follow: None,
        memory: None,
        level: Some("1 - 100 * abs(x - 4.5)".parse::<Formula>().unwrap()),
        boxes: vec![],
        coupling: "volumetric_shifted".into(),
    };
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let (params, grid) = ([("omega".to_string(), vec![1.6])], GridSpec::periodic([32, 32, 1]));
    let adaptivity = adaptivity(&device, &bundle, &refinement);
    let mut flow = Simulation::adaptive(&device, &bundle, &grid, &params, &adaptivity, None).unwrap();
    flow.init_cells(|cell, out| taylor_green(cell, 32, 0.05, out)).unwrap();
    flow.run(2).unwrap();
    assert!(flow.check_fields().unwrap().not_finite.is_none());
}

/// What is narrower than a cell is seen by the cell that has its centre there, and not by its parts: the grid that follows it is
/// refined and made coarse again in turn.
#[test]
fn a_grid_that_does_not_settle_at_the_start_is_warned_of() {
    let device = Device::host(1).unwrap();
    let bundle = bundle(&device, "d2q9_bgk");
    let dense = criterion(&device, &bundle, vec![above("rho", &[1.5], 0.9)]);
    for (width, warned) in [(0.2, true), (3.0, false)] {
        let mut flow = periodic(&device, &bundle, 32, 1.6, 1, Some((100, dense.clone())), None);
        flow.init_cells(|cell, out| {
            let near = cell.centre()[..2].iter().all(|at| (at - 4.5).abs() < width);
            out.copy_from_slice(&[if near { 2.0 } else { 1.0 }, 0.0, 0.0]);
        })
        .unwrap();
        let said = flow.notices().iter().any(|notice| notice.contains("not settled") && notice.contains("4 passes"));
        assert_eq!(said, warned, "{:?}", flow.notices());
    }
}
