//! Shipped collisions and walls against their definitions, written down here a second time and evaluated exactly.

use lbm_dsl::expr::{Exact, Rational, Symbol};
use lbm_dsl::model::{Model, Rule};
use lbm_dsl::shipped;
use lbm_dsl::source::Source;

fn model(name: &str) -> Model {
    let source = Source::new(&format!("{name}.lbm"), shipped::spec(name).unwrap());
    lbm_dsl::compile(&source, &shipped::Prelude).unwrap()
}

fn ratio(above: i64, below: i64) -> Rational {
    Rational::new(above.into(), below.into())
}

fn whole(value: i64) -> Rational {
    Rational::from_integer(value.into())
}

/// Velocities with three components, weights, and a state some way from equilibrium.
struct Setting {
    model: Model,
    c: Vec<[i64; 3]>,
    w: Vec<Rational>,
    f: Vec<Rational>,
    omega: Rational,
}

impl Setting {
    fn new(name: &str, seed: i64) -> Self {
        let model = model(name);
        let lattice = model.lattice();
        let component = |v: &[i32], axis: usize| v.get(axis).map_or(0, |c| i64::from(*c));
        let c: Vec<[i64; 3]> =
            lattice.dirs().map(|dir| [0, 1, 2].map(|axis| component(lattice.velocity(dir), axis))).collect();
        let w: Vec<Rational> = lattice.dirs().map(|dir| lattice.weight(dir).clone()).collect();
        let change = |at: usize| ratio((at as i64 * 37 + seed * 11) % 13 - 6, 40);
        let f = w.iter().enumerate().map(|(at, w)| w * (whole(1) + change(at))).collect();
        Setting { model, c, w, f, omega: ratio(17 + seed, 10) }
    }

    fn after(&self) -> Vec<Rational> {
        let value = |symbol| match symbol {
            Symbol::Population(pop) => Some(self.f[pop.index()].clone()),
            _ => Some(self.omega.clone()),
        };
        let after = self.model.exprs().eval::<Exact>(&self.model.collide().outputs, value);
        after.into_iter().map(|value| value.expect("defined")).collect()
    }

    fn density(&self) -> Rational {
        self.f.iter().sum()
    }

    fn velocity(&self) -> [Rational; 3] {
        [0, 1, 2].map(|axis| {
            let momentum: Rational = self.f.iter().zip(&self.c).map(|(f, c)| f * whole(c[axis])).sum();
            momentum / self.density()
        })
    }

    fn equilibrium(&self) -> Vec<Rational> {
        let (rho, u) = (self.density(), self.velocity());
        let square: Rational = u.iter().map(|u| u * u).sum();
        let one = |(c, w): (&[i64; 3], &Rational)| {
            let along: Rational = c.iter().zip(&u).map(|(c, u)| whole(*c) * u).sum();
            w * &rho * (whole(1) + whole(3) * &along + ratio(9, 2) * &along * &along - ratio(3, 2) * &square)
        };
        self.c.iter().zip(&self.w).map(one).collect()
    }
}

#[test]
fn bgk_relaxes_to_the_quadratic_equilibrium() {
    for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
        let setting = Setting::new(name, 1);
        let pairs = setting.f.iter().zip(setting.equilibrium());
        let expected: Vec<Rational> = pairs.map(|(f, feq)| f + &setting.omega * (feq - f)).collect();
        assert_eq!(setting.after(), expected, "{name}");
    }
}

#[test]
fn kbc_splits_off_the_deviatoric_stress() {
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

#[test]
fn walls_send_back_what_left_towards_them() {
    let setting = Setting::new("d3q19_bgk", 0);
    let lattice = setting.model.lattice();
    let speed = [ratio(1, 20), ratio(-1, 30), ratio(1, 50)];
    for rule in setting.model.boundaries() {
        let Rule::Link(links) = &rule.rule else { panic!("{} is no rule of links", rule.name) };
        let links = setting.model.exprs().eval::<Exact>(links, |symbol| match symbol {
            Symbol::Population(pop) => Some(setting.f[pop.index()].clone()),
            Symbol::WallParam { component, .. } => Some(speed[component as usize].clone()),
            _ => None,
        });
        for (dir, link) in lattice.dirs().zip(links) {
            let along: Rational = setting.c[dir.index()].iter().zip(&speed).map(|(c, u)| whole(*c) * u).sum();
            let push = if rule.name == "moving_wall" { whole(6) * lattice.weight(dir) * along } else { whole(0) };
            assert_eq!(link, Some(&setting.f[lattice.opposite(dir).index()] + push), "{}", rule.name);
        }
    }
}

#[test]
fn names_and_lines_come_from_the_spec() {
    let model = model("d3q27_kbc");
    let lets = &model.collide().lets;
    let line = |name: &str| lets.iter().find(|item| item.name == name).map(|item| (item.line, item.file.as_str()));
    let text = shipped::spec("d3q27_kbc").unwrap();
    let at = |start: &str| text.lines().position(|line| line.trim_start().starts_with(start)).unwrap() + 1;
    assert_eq!(line("rho"), Some((at("let rho"), "d3q27_kbc.lbm")));
    assert_eq!(line("ux"), Some((at("let u["), "d3q27_kbc.lbm")));
    assert_eq!(line("pi_xy"), Some((at("let pi["), "d3q27_kbc.lbm")));
    assert_eq!(line("feq_7"), Some((at("let feq["), "d3q27_kbc.lbm")));
    let mut names: Vec<&str> = lets.iter().map(|item| item.name.as_str()).collect();
    let count = names.len();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn comments_document_the_model() {
    let model = model("d2q9_bgk");
    assert!(model.summary()[0].starts_with("Single relaxation time"));
    assert_eq!(model.params()[0].doc, "relaxation rate of every moment");
    assert_eq!(model.params()[0].range, Some((whole(0), whole(2))));
    let wall = &model.boundaries()[1];
    assert!(wall.doc.contains("Wall that moves"), "{}", wall.doc);
    assert_eq!((wall.params[0].components, wall.params[0].doc.is_empty()), (2, false));
}
