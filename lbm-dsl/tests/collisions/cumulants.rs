//! Central moments and cumulants.

use std::collections::BTreeMap;

use lbm_dsl::expr::Rational;

use crate::setting::{Setting, ratio, whole};

/// Central moments `sum (cx - ux)^p (cy - uy)^q (cz - uz)^r f`.
fn central(setting: &Setting, f: &[Rational], powers: [u32; 3]) -> Rational {
    let u = setting.velocity();
    let term = |(f, c): (&Rational, &[i64; 3])| {
        let mut term = f.clone();
        for axis in 0..3 {
            for _ in 0..powers[axis] {
                term *= whole(c[axis]) - &u[axis];
            }
        }
        term
    };
    f.iter().zip(&setting.c).map(term).sum()
}

/// The moment of a Gaussian with covariance `s`, for these axes: the sum over pairings.
fn pairings(s: &[[Rational; 3]; 3], axes: &[usize]) -> Rational {
    match axes {
        [] => whole(1),
        [first, rest @ ..] => (0..rest.len())
            .map(|at| {
                let others = [&rest[..at], &rest[at + 1..]].concat();
                &s[*first][rest[at]] * pairings(s, &others)
            })
            .sum(),
    }
}

#[test]
fn cumulants_above_the_second_vanish() {
    for seed in 0..2 {
        let setting = Setting::new("d3q27_cumulant", seed);
        let (rho, after) = (setting.density(), setting.after());
        let second = |a: usize, b: usize| {
            let mut powers = [0; 3];
            powers[a] += 1;
            powers[b] += 1;
            central(&setting, &setting.f, powers) / &rho
        };
        // Second cumulants: the trace goes to its equilibrium 3 cs2 = 1, the rest keeps the share 1 - omega.
        let keep = whole(1) - &setting.omega;
        let trace: Rational = (0..3).map(|a| second(a, a)).sum();
        let relaxed = [0, 1, 2].map(|a| {
            [0, 1, 2].map(|b| {
                let isotropic = if a == b { ratio(1, 3) } else { whole(0) };
                let deviation = second(a, b) - if a == b { &trace / whole(3) } else { whole(0) };
                isotropic + &keep * deviation
            })
        });
        // A distribution without further cumulants has the central moments of a Gaussian; 27 of them fix 27 populations.
        for code in 0..27_u32 {
            let powers = [code / 9, code / 3 % 3, code % 3];
            let axes: Vec<usize> = (0..3).flat_map(|axis| vec![axis; powers[axis] as usize]).collect();
            let expected = if axes.len() % 2 == 1 { whole(0) } else { &rho * pairings(&relaxed, &axes) };
            assert_eq!(central(&setting, &after, powers), expected, "moment {powers:?}, seed {seed}");
        }
    }
}

/// Moments `c_x^p c_y^q c_z^r` with powers up to 2, their axes listed.
fn all_powers() -> impl Iterator<Item = ([u32; 3], Vec<usize>)> {
    (0..27_u32).map(|code| {
        let powers = [code / 9, code / 3 % 3, code % 3];
        (powers, (0..3).flat_map(|axis| vec![axis; powers[axis] as usize]).collect())
    })
}

#[test]
fn central_moments_above_the_second_are_those_of_the_maxwellian() {
    for name in ["d3q27_central", "d2q9_central"] {
        let setting = Setting::new(name, 1);
        let (rho, after) = (setting.density(), setting.after());
        let dim = setting.model.lattice().dim();
        let second = |f: &[Rational], a: usize, b: usize| {
            let mut powers = [0; 3];
            powers[a] += 1;
            powers[b] += 1;
            central(&setting, f, powers)
        };
        let trace: Rational = (0..dim).map(|a| second(&setting.f, a, a)).sum();
        for (powers, axes) in all_powers().filter(|(powers, _)| dim == 3 || powers[2] == 0) {
            let expected = match axes[..] {
                [a, b] => {
                    let mean = if a == b { &trace / whole(dim as i64) } else { whole(0) };
                    let rest = if a == b { &rho / whole(3) } else { whole(0) };
                    rest + (whole(1) - &setting.omega) * (second(&setting.f, a, b) - mean)
                }
                _ if powers.contains(&1) => whole(0),
                _ => &rho * ratio(1, 3).pow(axes.len() as i32 / 2),
            };
            assert_eq!(central(&setting, &after, powers), expected, "{name}, {powers:?}");
        }
    }
}

/// Cumulants, times the density, of some populations.
struct Cumulants(BTreeMap<[u32; 3], Rational>);

impl Cumulants {
    fn new(setting: &Setting, f: &[Rational]) -> Self {
        let rho = setting.density();
        let moments: BTreeMap<[u32; 3], Rational> =
            all_powers().map(|(powers, _)| (powers, central(setting, f, powers))).collect();
        let mut all: Vec<([u32; 3], Vec<usize>)> = all_powers().filter(|(_, axes)| !axes.is_empty()).collect();
        all.sort_by_key(|(_, axes)| axes.len());
        let mut cumulants: BTreeMap<[u32; 3], Rational> = BTreeMap::new();
        for (powers, axes) in all {
            // Moments are sums over the partitions of their axes; the part that has the first axis is split off.
            let mut value = moments[&powers].clone();
            let rest = &axes[1..];
            for chosen in 0..(1_u32 << rest.len()) - 1 {
                let part = |with: u32| (0..rest.len()).filter(move |at| chosen >> at & 1 == with).map(|at| rest[at]);
                let inner = counted(std::iter::once(axes[0]).chain(part(1)));
                value -= &cumulants[&inner] * &moments[&counted(part(0))] / &rho;
            }
            cumulants.insert(powers, value);
        }
        Cumulants(cumulants)
    }

    fn of(&self, axes: &[usize]) -> Rational {
        self.0[&counted(axes.iter().copied())].clone()
    }
}

/// How often each axis occurs.
fn counted(axes: impl Iterator<Item = usize>) -> [u32; 3] {
    let mut powers = [0; 3];
    axes.for_each(|axis| powers[axis] += 1);
    powers
}

/// Rates that all differ.
fn rates() -> Vec<(&'static str, Rational)> {
    let names = [
        "omega",
        "omega_bulk",
        "omega_3",
        "omega_4",
        "omega_5",
        "omega_6",
        "omega_7",
        "omega_8",
        "omega_9",
        "omega_10",
    ];
    names.into_iter().zip(7..).map(|(name, tenths)| (name, ratio(tenths, 10))).collect()
}

#[test]
fn every_cumulant_relaxes_at_its_rate() {
    let given = rates();
    let setting = given.iter().fold(Setting::new("d3q27_cumulant_rates", 0), |setting, (name, rate)| {
        setting.with(name, std::slice::from_ref(rate))
    });
    let (rho, after) = (setting.density(), setting.after());
    let rate = |at: usize| &given[at - 1].1;
    let (old, new) = (Cumulants::new(&setting, &setting.f), Cumulants::new(&setting, &after));
    let (before, later) = (|axes: &[usize]| old.of(axes), |axes: &[usize]| new.of(axes));
    let keeps = |terms: &[(i64, &[usize])], rate: &Rational, equilibrium: Rational| {
        let sum = |of: &dyn Fn(&[usize]) -> Rational| -> Rational {
            terms.iter().map(|(k, axes)| whole(*k) * of(axes)).sum()
        };
        let expected = (whole(1) - rate) * sum(&before) + rate * equilibrium;
        assert_eq!(sum(&later), expected, "{terms:?}");
    };
    let none = || whole(0);
    for [a, b, c] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        keeps(&[(1, &[b, c])], rate(1), none());
        keeps(&[(1, &[a, a]), (-1, &[b, b])], rate(1), none());
        keeps(&[(1, &[a, b, b]), (1, &[a, c, c])], rate(3), none());
        keeps(&[(1, &[a, b, b]), (-1, &[a, c, c])], rate(4), none());
        keeps(&[(1, &[a, a, b, b]), (-1, &[a, a, c, c])], rate(6), none());
        keeps(&[(1, &[a, a, b, c])], rate(8), none());
        keeps(&[(1, &[a, b, b, c, c])], rate(9), none());
    }
    keeps(&[(1, &[0, 0]), (1, &[1, 1]), (1, &[2, 2])], rate(2), rho);
    keeps(&[(1, &[0, 1, 2])], rate(5), none());
    keeps(&[(1, &[0, 0, 1, 1]), (1, &[0, 0, 2, 2]), (1, &[1, 1, 2, 2])], rate(7), none());
    keeps(&[(1, &[0, 0, 1, 1, 2, 2])], rate(10), none());
}

#[test]
fn with_all_other_rates_at_one_only_shear_relaxes() {
    let names: Vec<&str> = rates().into_iter().map(|(name, _)| name).filter(|name| *name != "omega").collect();
    let setting =
        names.iter().fold(Setting::new("d3q27_cumulant_rates", 1), |setting, name| setting.with(name, &[whole(1)]));
    assert_eq!(setting.after(), Setting::new("d3q27_cumulant", 1).after());
}

#[test]
fn k17_has_the_cumulants_of_its_paper() {
    let (omega, limiter) = (ratio(19, 10), ratio(1, 50));
    let setting = Setting::new("d3q27_k17", 0)
        .with("omega", std::slice::from_ref(&omega))
        .with("limiter", std::slice::from_ref(&limiter));
    let (rho, u, after) = (setting.density(), setting.velocity(), setting.after());
    let (old, new) = (Cumulants::new(&setting, &setting.f), Cumulants::new(&setting, &after));
    let (before, later) = (|axes: &[usize]| old.of(axes), |axes: &[usize]| new.of(axes));
    let (one, half) = (whole(1), ratio(1, 2));
    let power = |n: i32| omega.pow(n);
    // Velocity gradients; both rates of the paper's formulas, the second being 1.
    let trace: Rational = (0..3).map(|a| before(&[a, a])).sum();
    let slope = |a: usize| -(&omega * (whole(3) * before(&[a, a]) - &trace) + &trace - &rho) / (whole(2) * &rho);
    let shear = |a: usize, b: usize| -whole(3) * &omega / &rho * before(&[a, b]);
    let error = |a: usize| &u[a] * &u[a] * slope(a);
    let slopes: Rational = (0..3).map(error).sum();
    let below = whole(2) - whole(7) * &omega + whole(5) * power(2);
    let a_factor = (whole(4) + whole(2) * &omega - whole(3) * power(2)) / &below;
    let b_factor = (whole(4) + whole(28) * &omega - whole(14) * power(2)) / (whole(3) * &below);
    let time = omega.recip() - &half;
    let minus = &omega - whole(2);
    let rate3 =
        whole(8) * &minus * (one.clone() + whole(2) * &omega) / (whole(7) * power(2) - whole(14) * &omega - whole(8));
    let rate4 =
        whole(8) * &minus * (whole(4) * &omega - whole(7)) / (whole(9) * power(2) - whole(50) * &omega + whole(56));
    let rate5 = whole(24) * &minus * (whole(3) * power(2) - whole(7) * &omega - whole(2))
        / (whole(48) + whole(152) * &omega - whole(130) * power(2) + whole(29) * power(3));
    let limited = |rate: &Rational, value: Rational| {
        let size = if value < whole(0) { -&value } else { value.clone() };
        let rate = rate + (whole(1) - rate) * &size / (&rho * &limiter + &size);
        (whole(1) - rate) * value
    };

    let traces: Rational = (0..3).map(|a| later(&[a, a])).sum();
    assert_eq!(traces, &rho - whole(3) * &rho * &half * &slopes);
    for [a, b, c] in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        assert_eq!(later(&[b, c]), (&one - &omega) * before(&[b, c]));
        let difference = before(&[a, a]) - before(&[b, b]);
        let errors = whole(3) * &rho * (&one - &omega / whole(2)) * (error(a) - error(b));
        assert_eq!(later(&[a, a]) - later(&[b, b]), (&one - &omega) * difference - errors);
        let pair = |of: &dyn Fn(&[usize]) -> Rational, sign: i64| of(&[a, b, b]) + whole(sign) * of(&[a, c, c]);
        assert_eq!(pair(&later, 1), limited(&rate3, pair(&before, 1)));
        assert_eq!(pair(&later, -1), limited(&rate4, pair(&before, -1)));
        assert_eq!(later(&[b, b, c, c]), -ratio(2, 3) * &time * &a_factor * &rho * (slope(b) + slope(c)));
        assert_eq!(later(&[a, a, b, c]), -ratio(1, 3) * &time * &b_factor * &rho * shear(b, c));
        assert_eq!(later(&[a, b, b, c, c]), whole(0));
    }
    assert_eq!(later(&[0, 1, 2]), limited(&rate5, before(&[0, 1, 2])));
    assert_eq!(later(&[0, 0, 1, 1, 2, 2]), whole(0));
}
