//! KBC: a shear part of f - feq at the rate omega, the rest at the rate that keeps the entropy.

use lbm_dsl::expr::Rational;

use crate::setting::{Setting, ratio, whole};

#[test]
fn n1_splits_off_the_deviatoric_stress() {
    for seed in 0..2 {
        let setting = Setting::new("d3q27_kbc", seed);
        let (f, c, feq) = (&setting.f, &setting.c, setting.equilibrium());
        let p =
            |a: usize, b: usize| -> Rational { (0..27).map(|i| whole(c[i][a] * c[i][b]) * (&f[i] - &feq[i])).sum() };
        let (nxz, nyz) = (p(0, 0) - p(2, 2), p(1, 1) - p(2, 2));
        let share = |c: &[i64; 3]| match c.map(i64::abs) {
            [1, 0, 0] => (whole(2) * &nxz - &nyz) / whole(6),
            [0, 1, 0] => (whole(2) * &nyz - &nxz) / whole(6),
            [0, 0, 1] => -(&nxz + &nyz) / whole(6),
            [1, 1, 0] => whole(c[0] * c[1]) * p(0, 1) / whole(4),
            [1, 0, 1] => whole(c[0] * c[2]) * p(0, 2) / whole(4),
            [0, 1, 1] => whole(c[1] * c[2]) * p(1, 2) / whole(4),
            _ => whole(0),
        };
        let ds: Vec<Rational> = c.iter().map(share).collect();
        let dh: Vec<Rational> = (0..27).map(|i| &f[i] - &feq[i] - &ds[i]).collect();
        let product = |x: &[Rational], y: &[Rational]| -> Rational { (0..27).map(|i| &x[i] * &y[i] / &feq[i]).sum() };
        let beta = &setting.omega / whole(2);
        let gamma = beta.recip() - (whole(2) - beta.recip()) * product(&ds, &dh) / product(&dh, &dh);
        let expected: Vec<Rational> = (0..27).map(|i| &f[i] - &beta * (whole(2) * &ds[i] + &gamma * &dh[i])).collect();
        assert_eq!(setting.after(), expected, "seed {seed}");
    }
}

/// The rest after a shear part, and the collision that follows.
fn collided(setting: &Setting, ds: &[Rational]) -> Vec<Rational> {
    let (f, feq, all) = (&setting.f, setting.equilibrium(), 0..setting.f.len());
    let dh: Vec<Rational> = all.clone().map(|i| &f[i] - &feq[i] - &ds[i]).collect();
    let product = |x: &[Rational], y: &[Rational]| -> Rational { all.clone().map(|i| &x[i] * &y[i] / &feq[i]).sum() };
    let beta = &setting.omega / whole(2);
    let gamma = beta.recip() - (whole(2) - beta.recip()) * product(ds, &dh) / product(&dh, &dh);
    all.map(|i| &f[i] - &beta * (whole(2) * &ds[i] + &gamma * &dh[i])).collect()
}

#[test]
fn n2_and_n4_split_off_whole_orders_of_moments() {
    for (name, orders) in [("d3q27_kbc_n2", 2..=2_u32), ("d3q27_kbc_n4", 2..=3)] {
        let setting = Setting::new(name, 1);
        let feq = setting.equilibrium();
        let neq: Vec<Rational> = setting.f.iter().zip(feq).map(|(f, feq)| f - feq).collect();
        // Which population has which moment: along an axis, 1 - v^2 has 1 alone, v / 2 has c alone and 3 v^2 / 2 - 1 has
        // c^2 alone.
        let part = |v: i64, power: u32| match power {
            0 => whole(1 - v * v),
            1 => ratio(v, 2),
            _ => ratio(3 * v * v - 2, 2),
        };
        let mut ds = vec![whole(0); 27];
        for code in 0..27_u32 {
            let powers = [code / 9, code / 3 % 3, code % 3];
            if orders.contains(&powers.iter().sum::<u32>()) {
                let moment = setting.moment(&neq, powers);
                for (ds, c) in ds.iter_mut().zip(&setting.c) {
                    *ds += (0..3).map(|axis| part(c[axis], powers[axis])).product::<Rational>() * &moment;
                }
            }
        }
        assert_eq!(setting.after(), collided(&setting, &ds), "{name}");
    }
}

#[test]
fn on_d2q9_the_shear_part_is_the_deviatoric_stress() {
    let setting = Setting::new("d2q9_kbc", 0);
    let feq = setting.equilibrium();
    let neq: Vec<Rational> = setting.f.iter().zip(feq).map(|(f, feq)| f - feq).collect();
    let difference = setting.moment(&neq, [2, 0, 0]) - setting.moment(&neq, [0, 2, 0]);
    let shear = setting.moment(&neq, [1, 1, 0]);
    // Karlin, Boesch & Chikatamarla (2014): N / 4 along the axes, xy Pi / 4 on the diagonals.
    let share = |c: &[i64; 3]| match (c[0].abs(), c[1].abs()) {
        (1, 0) => &difference / whole(4),
        (0, 1) => -&difference / whole(4),
        (1, 1) => whole(c[0] * c[1]) * &shear / whole(4),
        _ => whole(0),
    };
    let ds: Vec<Rational> = setting.c.iter().map(share).collect();
    assert_eq!(setting.after(), collided(&setting, &ds));
}
