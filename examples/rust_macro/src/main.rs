//! Decaying Taylor-Green vortex in Rust: the method is written in the program and compiled with it.
//!
//! Arrays, main loop and ghost cells are the program's; it has no unsafe code and needs no C compiler.

use std::f64::consts::TAU;
use std::process::ExitCode;

lbm_macros::lbm! {
    /// Two relaxation times on D2Q9. Ginzburg, Verhaeghe & d'Humieres, Commun. Comput. Phys. 3 (2008) 427.
    mod trt(f64) {
        use lattices::D2Q9;
        use equilibria::quadratic;

        lattice D2Q9;

        param omega_even in (0, 2);   // rate of the even moments, which sets the viscosity
        param omega_odd in (0, 2);    // rate of the odd moments

        let rho  = sum(i: f[i]);
        let u[a] = sum(i: c[i, a] * f[i]) / rho;

        field rho;
        field u;

        init f[i] <- quadratic[i](rho, u);

        collide {
            let feq[i]  = quadratic[i](rho, u);
            let even[i] = (f[i] + f[opp(i)]) / 2 - (feq[i] + feq[opp(i)]) / 2;
            let odd[i]  = (f[i] - f[opp(i)]) / 2 - (feq[i] - feq[opp(i)]) / 2;
            f[i] <- f[i] - omega_even * even[i] - omega_odd * odd[i];
        }
    }
}

const N: usize = 64;
const STEPS: usize = 400;
const U: f64 = 0.02;
const OMEGA: f64 = 1.6;

/// Fills the ghost cells of a periodic box: rows first, then columns, so that corners follow.
fn fill_ghosts(cells: &trt::Cells, f: &mut [f64]) {
    let n = N as isize;
    for i in 0..trt::Q {
        for x in 0..n {
            f[cells.at(i, x, -1, 0)] = f[cells.at(i, x, n - 1, 0)];
            f[cells.at(i, x, n, 0)] = f[cells.at(i, x, 0, 0)];
        }
        for y in -1..=n {
            f[cells.at(i, -1, y, 0)] = f[cells.at(i, n - 1, y, 0)];
            f[cells.at(i, n, y, 0)] = f[cells.at(i, 0, y, 0)];
        }
    }
}

/// Density and velocity at the centre of a cell.
fn exact(x: isize, y: isize, step: usize) -> [f64; 3] {
    let k = TAU / N as f64;
    let viscosity = (1.0 / OMEGA - 0.5) / 3.0;
    let u = U * (-2.0 * viscosity * k * k * step as f64).exp();
    let (x, y) = ((x as f64 + 0.5) * k, (y as f64 + 0.5) * k);
    let rho = 1.0 + 0.75 * u * u * ((2.0 * x).cos() + (2.0 * y).cos());
    [rho, u * x.sin() * y.cos(), -u * x.cos() * y.sin()]
}

fn main() -> ExitCode {
    let cells = trt::Cells::with_ghosts([N, N, 1]);
    let mut fields = vec![0.0; trt::FIELDS * cells.stride_i];
    let (mut src, mut dst) = (vec![0.0; trt::Q * cells.stride_i], vec![0.0; trt::Q * cells.stride_i]);
    let positions = || (0..N as isize).flat_map(|y| (0..N as isize).map(move |x| (x, y)));
    for (x, y) in positions() {
        for (i, value) in exact(x, y, 0).into_iter().enumerate() {
            fields[cells.at(i, x, y, 0)] = value;
        }
    }

    // The product of 1/omega - 1/2 of both rates, the "magic" parameter, is 1/4.
    let odd = 1.0 / (0.5 + 0.25 / (1.0 / OMEGA - 0.5));
    let params = trt::Params { omega_even_: OMEGA, omega_odd_: odd };
    trt::init(&cells, &fields, &mut src, params);
    for _ in 0..STEPS {
        fill_ghosts(&cells, &mut src);
        trt::stream_collide(&cells, &src, &mut dst, params);
        std::mem::swap(&mut src, &mut dst);
    }
    trt::macroscopic(&cells, &src, &mut fields, params);

    let (mut difference, mut norm) = (0.0, 0.0);
    for (x, y) in positions() {
        for (i, expected) in exact(x, y, STEPS).into_iter().enumerate().skip(1) {
            difference += (fields[cells.at(i, x, y, 0)] - expected).powi(2);
            norm += expected * expected;
        }
    }
    let error = (difference / norm).sqrt();
    println!("Taylor-Green vortex, {N} x {N} cells, {STEPS} steps: relative L2 error of the velocity {error:.2e}");
    if error < 2e-3 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
