//! Natural convection in a square cavity between walls of two temperatures, against the benchmark of de Vahl Davis (Int. J. Numer. Meth.
//! Fluids 3 (1983) 249): mean Nusselt numbers at a Prandtl number of 0.71.
//!
//! With the velocity `U = sqrt(g beta dT L)` of the scale, the viscosity is `U L sqrt(Pr / Ra)`. The Nusselt number is the mean over the
//! cavity of the heat flux along x, over that of conduction alone, `diffusivity dT / L`.

use lbm_bundle::{Real, Target};
use lbm_runtime::device::Device;
use lbm_runtime::geometry::{Block, Face};
use lbm_runtime::solver::{GridSpec, Simulation};
use lbm_tests::compiled;

const PRANDTL: f64 = 0.71;

/// The Nusselt number of `n` cells across; with half as large ones within an eighth of the heated walls, if there are two levels.
fn nusselt(device: &Device, rayleigh: f64, n: usize, velocity: f64, levels: usize) -> f64 {
    let model = compiled::model("d2q9_boussinesq").observing(&["heat"]);
    let block = if levels > 1 { 4 } else { 8 };
    let bundle = compiled::compile_levels(&model, Target::C, Real::F64, [block, block, 1]);
    let length = n as f64;
    let viscosity = velocity * length * (PRANDTL / rayleigh).sqrt();
    let diffusivity = viscosity / PRANDTL;
    let rate = |coefficient: f64| 1.0 / (3.0 * coefficient + 0.5);
    let params = [
        ("omega", vec![rate(viscosity)]),
        ("omega_g", vec![rate(diffusivity)]),
        ("buoyancy", vec![0.0, velocity * velocity / length]),
        ("reference", vec![0.5]),
    ]
    .map(|(name, values)| (name.to_string(), values));
    let grid = GridSpec::periodic([n, n, 1])
        .with_wall(Face::XMin, "heated", &[("temperature", &[1.0])])
        .with_wall(Face::XMax, "heated", &[("temperature", &[0.0])])
        .with_wall(Face::YMin, "bounce_back", &[])
        .with_wall(Face::YMax, "bounce_back", &[]);
    let at_walls = |at: Block| {
        let cells = 4 * at.place[0];
        cells < n / 8 || cells + 4 > n - n / 8
    };
    let mut flow = match levels {
        1 => Simulation::new(device, &bundle, &grid, &params).unwrap(),
        _ => Simulation::refined(device, &bundle, &grid, &params, levels, at_walls).unwrap(),
    };
    flow.init_cells(|cell, out| {
        out.fill(0.0);
        (out[0], out[3]) = (1.0, 1.0 - cell.centre()[0] / length);
    })
    .unwrap();
    let of = |flow: &mut Simulation| {
        let snapshot = flow.snapshot().unwrap();
        snapshot.integral("heatx").unwrap() / (length * length) * length / diffusivity
    };
    // Until it changes no more.
    let (mut before, every) = (0.0, (0.05 * length * length / diffusivity) as u64);
    for _ in 0..200 {
        flow.run(every).unwrap();
        let now = of(&mut flow);
        if (now - before).abs() < 1e-6 * now {
            return now;
        }
        before = now;
    }
    panic!("Ra {rayleigh}, {n} cells: still {before}");
}

#[test]
fn a_cavity_has_the_nusselt_number_of_de_vahl_davis() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    for (rayleigh, published, bound) in [(1e3, 1.118, 0.004), (1e4, 2.243, 0.01)] {
        let [coarse, fine] = [24, 48].map(|n| nusselt(&device, rayleigh, n, 0.1 * 24.0 / n as f64, 1));
        println!("Ra {rayleigh:e}: {coarse} {fine}, published {published}");
        assert!((fine / published - 1.0).abs() < bound, "Ra {rayleigh:e}: {fine} for {published}");
        assert!((coarse / published - 1.0).abs() > (fine / published - 1.0).abs(), "Ra {rayleigh:e}: {coarse} {fine}");
    }
}

/// At Ra 1e5 the boundary layers are a fifth as wide as the cavity at most: half as large cells there do nearly what they would do everywhere.
#[test]
fn fine_cells_at_the_heated_walls_bring_the_nusselt_number_nearer_to_that_of_de_vahl_davis() {
    lbm_tests::in_turn!();
    let device = Device::host(1).unwrap();
    let (rayleigh, published, n) = (1e5, 4.519, 32);
    let [plain, refined] = [1, 2].map(|levels| nusselt(&device, rayleigh, n, 0.05, levels));
    println!("Ra {rayleigh:e}: {plain} {refined}, published {published}");
    let [plain, refined] = [plain, refined].map(|found| (found / published - 1.0).abs());
    assert!(refined < 0.01 && refined < plain / 2.0, "{plain} {refined}");
}
