//! Body forces and eddy viscosity.

use lbm_dsl::expr::Rational;
use num_traits::ToPrimitive;

use crate::setting::{Setting, ratio, whole};

fn force(dim: usize) -> [Rational; 3] {
    [ratio(1, 90), ratio(-1, 70), if dim == 3 { ratio(1, 50) } else { whole(0) }]
}

/// Guo's source term, without the factor of its rate.
fn source(setting: &Setting, u: &[Rational; 3], force: &[Rational; 3]) -> Vec<Rational> {
    let dot = |a: &[Rational; 3], b: &[Rational; 3]| -> Rational { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    let one = |(c, w): (&[i64; 3], &Rational)| {
        let c = c.map(whole);
        w * (whole(3) * dot(&c, force) + whole(9) * dot(&c, u) * dot(&c, force) - whole(3) * dot(u, force))
    };
    setting.c.iter().zip(&setting.w).map(one).collect()
}

#[test]
fn half_of_the_force_is_in_the_velocity_and_all_of_it_in_the_momentum() {
    for name in ["d2q9_guo", "d3q19_guo", "d3q19_trt_guo"] {
        let setting = Setting::new(name, 0);
        let dim = setting.model.lattice().dim();
        let force = force(dim);
        let setting = setting.with("force", &force[..dim]);
        let (rho, after) = (setting.density(), setting.after());
        let mean = setting.velocity();
        let u = [0, 1, 2].map(|axis| &mean[axis] + &force[axis] / (whole(2) * &rho));
        assert_eq!(setting.fields(), [std::slice::from_ref(&rho), &u[..dim]].concat(), "{name}");
        for axis in 0..dim {
            let mut powers = [0; 3];
            powers[axis] = 1;
            let gained = setting.moment(&after, powers) - setting.moment(&setting.f, powers);
            assert_eq!(gained, force[axis], "{name}");
        }

        // Even and odd parts at their own rates; for BGK both are omega.
        let omega = &setting.omega;
        let odd = match name {
            "d3q19_trt_guo" => odd_rate(omega, omega),
            _ => omega.clone(),
        };
        let (feq, push) = (setting.equilibrium_of(&rho, &u), source(&setting, &u, &force));
        let change =
            |rate: &Rational, i: usize| rate * (&feq[i] - &setting.f[i]) + (whole(1) - rate / whole(2)) * &push[i];
        for dir in setting.model.lattice().dirs() {
            let (i, o) = (dir.index(), setting.model.lattice().opposite(dir).index());
            let expected = (change(omega, i) + change(omega, o) + change(&odd, i) - change(&odd, o)) / whole(2);
            assert_eq!(&after[i] - &setting.f[i], expected, "{name}, direction {i}");
        }
    }
}

/// The rate of the odd part for a rate of the even part and a magic parameter.
pub fn odd_rate(omega: &Rational, magic: &Rational) -> Rational {
    (magic / (omega.recip() - ratio(1, 2)) + ratio(1, 2)).recip()
}

#[test]
fn eddies_take_the_relaxation_time_that_their_stress_asks_for() {
    for name in ["d3q19_smagorinsky", "d3q27_central_smagorinsky"] {
        let constant = ratio(17, 100);
        let setting =
            Setting::new(name, 0).with("smagorinsky", std::slice::from_ref(&constant)).with("mixing", &[whole(0)]);
        let float = |value: &Rational| value.to_f64().expect("finite");
        let (rho, u, after) = (float(&setting.density()), setting.velocity(), setting.rounded());
        // The stress before and after, from which the relaxation time follows.
        let central = |f: &[f64], a: usize, b: usize| -> f64 {
            let term = |(f, c): (&f64, &[i64; 3])| f * (c[a] as f64 - float(&u[a])) * (c[b] as f64 - float(&u[b]));
            f.iter().zip(&setting.c).map(term).sum()
        };
        let before: Vec<f64> = setting.f.iter().map(float).collect();
        let kept = central(&after, 0, 1) / central(&before, 0, 1);
        let tau = 1.0 / (1.0 - kept);
        let trace: f64 = (0..3).map(|a| central(&before, a, a)).sum::<f64>() / 3.0;
        let isotropic = if name == "d3q19_smagorinsky" { rho / 3.0 } else { trace };
        let stress = |a: usize, b: usize| central(&before, a, b) - if a == b { isotropic } else { 0.0 };
        let norm: f64 = (0..9).map(|at| stress(at / 3, at % 3).powi(2)).sum();
        // cs2 (tau - 1/omega) = C^2 sqrt(2 S:S), S = -stress / (2 rho cs2 tau)
        let eddies = float(&constant).powi(2) * (2.0 * norm).sqrt() / (2.0 * rho / 3.0 * tau);
        let expected = 1.0 / float(&setting.omega) + 3.0 * eddies;
        assert!((tau - expected).abs() < 1e-12 * tau, "{name}: {tau} for {expected}");

        // A mixing length is the same as that constant.
        let mixed =
            Setting::new(name, 0).with("smagorinsky", &[whole(0)]).with("mixing", std::slice::from_ref(&constant));
        assert_eq!(mixed.rounded(), after, "{name}");

        let still = Setting::new(name, 0).with("smagorinsky", &[whole(0)]).with("mixing", &[whole(0)]).rounded();
        let plain = match name {
            "d3q19_smagorinsky" => setting.bgk(),
            _ => Setting::new("d3q27_central", 0).after(),
        };
        for (still, plain) in still.iter().zip(&plain) {
            assert!((still - float(plain)).abs() < 1e-15, "{name}: {still} for {plain}");
        }
    }
}
