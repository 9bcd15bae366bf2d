//! Collisions whose parts relax at rates of their own: TRT, MRT, regularized.

use lbm_dsl::expr::Rational;

use crate::forces::odd_rate;
use crate::setting::{Setting, ratio, whole};

#[test]
fn trt_relaxes_odd_parts_at_the_rate_of_its_magic_parameter() {
    for name in ["d2q9_trt", "d3q19_trt"] {
        let magic = ratio(3, 16);
        let setting = Setting::new(name, 0).with("magic", std::slice::from_ref(&magic));
        let (feq, after, omega) = (setting.equilibrium(), setting.after(), &setting.omega);
        let odd = odd_rate(omega, &magic);
        for dir in setting.model.lattice().dirs() {
            let (i, o) = (dir.index(), setting.model.lattice().opposite(dir).index());
            let (here, there) = (&feq[i] - &setting.f[i], &feq[o] - &setting.f[o]);
            let expected = &setting.f[i] + (omega * (&here + &there) + odd.clone() * (&here - &there)) / whole(2);
            assert_eq!(after[i], expected, "{name}, direction {i}");
        }
    }
}

#[test]
fn with_equal_rates_all_are_bgk() {
    for name in ["d2q9_trt", "d3q19_trt"] {
        let setting = Setting::new(name, 1);
        let distance = setting.omega.recip() - ratio(1, 2);
        let setting = setting.with("magic", &[&distance * &distance]);
        assert_eq!(setting.after(), setting.bgk(), "{name}");
    }
    // Every rate that is not given is omega.
    for name in ["d2q9_mrt", "d3q19_mrt", "d3q19_mrt_raw"] {
        let setting = Setting::new(name, 1);
        assert_eq!(setting.after(), setting.bgk(), "{name}");
    }
}

#[test]
fn mrt_relaxes_each_moment_at_its_rate() {
    let rates = [ratio(7, 10), ratio(11, 10), ratio(13, 10)];
    let [bulk, third, fourth] = &rates;
    let sum = |a: [i64; 3]| -> i64 { a.iter().map(|c| c * c).sum() };
    for name in ["d2q9_mrt", "d3q19_mrt", "d3q19_mrt_raw"] {
        let names = match name {
            "d2q9_mrt" => ["omega_energy", "omega_flux", "omega_square"],
            _ => ["omega_bulk", "omega_third", "omega_fourth"],
        };
        let setting = Setting::new(name, if name == "d2q9_mrt" { 5 } else { 2 });
        let setting = names
            .iter()
            .zip(&rates)
            .fold(setting, |setting, (name, rate)| setting.with(name, std::slice::from_ref(rate)));
        let (feq, after, omega) = (setting.equilibrium(), setting.after(), &setting.omega);
        let check = |what: &str, rate: &Rational, shape: &dyn Fn([i64; 3]) -> i64| {
            let of = |f: &[Rational]| -> Rational { f.iter().zip(&setting.c).map(|(f, c)| f * whole(shape(*c))).sum() };
            let (before, rest) = (of(&setting.f), of(&feq));
            assert!(before != rest, "{name}: {what} tells nothing");
            assert_eq!(of(&after), &before + rate * (rest - &before), "{name}: {what}");
        };
        check("shear stress", omega, &|c| c[0] * c[1]);
        check("difference of normal stresses", omega, &|c| c[0] * c[0] - c[1] * c[1]);
        check("trace of the stress", bulk, &|c| sum(c));
        match name {
            "d2q9_mrt" => {
                check("energy flux", third, &|c| (3 * sum(c) - 5) * c[0]);
                check("square of the energy", fourth, &|c| 9 * sum(c) * sum(c) - 21 * sum(c) + 8);
            }
            "d3q19_mrt" => {
                check("energy flux", third, &|c| (3 * sum(c) - 5) * c[1]);
                check("third order", third, &|c| (c[1] * c[1] - c[2] * c[2]) * c[0]);
                check("isotropic fourth order", fourth, &|c| 3 * sum(c) * sum(c) - 6 * sum(c) + 1);
                check("fourth order", fourth, &|c| (2 * sum(c) - 3) * (3 * c[0] * c[0] - sum(c)));
            }
            _ => {
                check("third order", third, &|c| c[0] * c[0] * c[1]);
                check("fourth order", fourth, &|c| c[0] * c[0] * c[2] * c[2]);
            }
        }
    }
}

/// Second moments of `f - feq`.
fn stress(setting: &Setting, f: &[Rational]) -> [[Rational; 3]; 3] {
    let (rho, u) = (setting.density(), setting.velocity());
    [0, 1, 2].map(|a| {
        [0, 1, 2].map(|b| {
            let mut powers = [0; 3];
            powers[a] += 1;
            powers[b] += 1;
            let rest = if a == b { &rho / whole(3) } else { whole(0) };
            let is_axis = a.max(b) < setting.model.lattice().dim();
            if is_axis { setting.moment(f, powers) - rest - &rho * &u[a] * &u[b] } else { whole(0) }
        })
    })
}

#[test]
fn regularization_keeps_the_stress_alone() {
    let setting = Setting::new("d3q19_regularized", 0);
    let (feq, after, pi) = (setting.equilibrium(), setting.after(), stress(&setting, &setting.f));
    for (i, c) in setting.c.iter().enumerate() {
        let mut along = whole(0);
        for (a, b) in (0..9).map(|at| (at / 3, at % 3)) {
            along += (whole(c[a] * c[b]) - if a == b { ratio(1, 3) } else { whole(0) }) * &pi[a][b];
        }
        let expected = &feq[i] + (whole(1) - &setting.omega) * &setting.w[i] * ratio(9, 2) * along;
        assert_eq!(after[i], expected, "direction {i}");
    }
}

/// The Hermite coefficient of powers up to 2 of each component.
fn hermite(setting: &Setting, f: &[Rational], powers: [u32; 3]) -> Rational {
    let one = |c: i64, power: u32| match power {
        0 => whole(1),
        1 => whole(c),
        _ => whole(c * c) - ratio(1, 3),
    };
    let shape = |c: &[i64; 3]| -> Rational { (0..3).map(|axis| one(c[axis], powers[axis])).product() };
    f.iter().zip(&setting.c).map(|(f, c)| f * shape(c)).sum()
}

#[test]
fn recursion_rebuilds_higher_orders_from_the_stress() {
    for (name, dim, order) in [("d2q9_recursive", 2, 4), ("d3q27_recursive", 3, 3)] {
        let setting = Setting::new(name, 0);
        let (rho, u, after) = (setting.density(), setting.velocity(), setting.after());
        let pi = stress(&setting, &setting.f);
        for code in 0..27_u32 {
            let powers = [code / 9, code / 3 % 3, code % 3];
            if dim == 2 && powers[2] > 0 {
                continue;
            }
            let axes: Vec<usize> = (0..3).flat_map(|axis| vec![axis; powers[axis] as usize]).collect();
            // Maxwellian: rho u_a u_b ...; deviation: sum over pairs of pi_ab times u of the other axes (Malaspinas 2015).
            let speed = |but: &[usize]| -> Rational {
                (0..axes.len()).filter(|at| !but.contains(at)).map(|at| u[axes[at]].clone()).product()
            };
            let mut expected = &rho * speed(&[]);
            for (first, second) in (0..axes.len()).flat_map(|b| (0..b).map(move |a| (a, b))) {
                expected += (whole(1) - &setting.omega) * &pi[axes[first]][axes[second]] * speed(&[first, second]);
            }
            let expected = if axes.len() > order { whole(0) } else { expected };
            assert_eq!(hermite(&setting, &after, powers), expected, "{name}, {powers:?}");
        }
    }
}
