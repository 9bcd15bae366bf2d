//! Boundary rules of the prelude against the formulas of their papers and the moments they promise, in exact rationals.

use lbm_dsl::expr::{Exact, Rational, Symbol};
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Boundary, Model, NodeForm, Rule};
use lbm_dsl::shipped;
use lbm_dsl::source::Source;

fn ratio(above: i64, below: i64) -> Rational {
    Rational::new(above.into(), below.into())
}

fn model(spec: &str, rules: &[&str]) -> Model {
    let source = Source::new(&format!("{spec}.lbm"), shipped::spec(spec).unwrap());
    lbm_dsl::compile_with(&source, &shipped::Prelude, rules, None, None)
        .unwrap_or_else(|report| panic!("{}", report.render(120)))
}

/// What a case chooses has names of its own: those of a text are not in its way, nor it in theirs.
#[test]
fn rules_chosen_besides_clash_with_no_name_of_the_text() {
    let own = shipped::spec("d2q9_bgk").unwrap();
    let text = format!(
        "{own}
        fn free_slip(x) = 2 * x;
        observe half = free_slip(rho) / 4;
        boundary sponge {{
            param speed;
            let equilibrium[i] = w[i] * speed;
            link f[i] <- f[opp(i)] + equilibrium[i];
        }}
        coupling own {{
            rate omega <- 2 * omega / (4 - omega);
            let bounce = 1;
            packet f[i] <- bounce * f[i];
        }}"
    );
    let rules = ["equilibrium", "free_slip", "convective_outflow"];
    let source = Source::new("own.lbm", &text);
    let found = lbm_dsl::compile_with(&source, &shipped::Prelude, &rules, Some("volumetric"), None);
    let found = found.unwrap_or_else(|report| panic!("{}", report.render(120)));
    let plain = model("d2q9_bgk", &rules);
    for name in rules {
        assert_eq!(rule(&found, name).doc, rule(&plain, name).doc);
    }
    assert_eq!(found.couplings().iter().map(|coupling| coupling.name()).collect::<Vec<_>>(), ["own", "volumetric"]);
}

fn rule<'a>(model: &'a Model, name: &str) -> &'a Boundary {
    model.boundaries().iter().find(|boundary| boundary.name == name).unwrap()
}

fn forms<'a>(model: &'a Model, name: &str) -> &'a [NodeForm] {
    match &rule(model, name).rule {
        Rule::Node(forms) => forms,
        Rule::Link(_) => panic!("{name} is no rule of nodes"),
    }
}

/// Populations that look random, positive and different.
fn populations(model: &Model, seed: i64) -> Vec<Rational> {
    let noise = |at: usize| ratio((37 * (at as i64 + seed) % 101) - 50, 1000);
    model.lattice().dirs().map(|dir| model.lattice().weight(dir) * (ratio(1, 1) + noise(dir.index()))).collect()
}

/// All populations of a cell after a form of a rule with one parameter, of these components.
fn after(model: &Model, form: &NodeForm, values: &[Rational]) -> Vec<Rational> {
    let (own, streamed, inside) = (populations(model, 1), populations(model, 2), populations(model, 3));
    let given = |symbol| -> Exact {
        Some(match symbol {
            Symbol::Population(pop) => own[pop.index()].clone(),
            Symbol::Streamed(dir) => {
                assert!(NodeForm::known(model.lattice().velocity(dir), form.normals), "reads what is unknown");
                streamed[dir.index()].clone()
            }
            Symbol::Inside(dir) | Symbol::Deep(dir) => inside[dir.index()].clone(),
            Symbol::WallParam { component, .. } => values[usize::from(component)].clone(),
            _ => return None,
        })
    };
    let found = model.exprs().eval::<Exact>(&form.formulas.outputs, given);
    let mut all = streamed;
    for (dir, value) in form.dirs.iter().zip(found) {
        all[dir.index()] = value.expect("defined");
    }
    all
}

fn density(f: &[Rational]) -> Rational {
    f.iter().sum()
}

fn momentum(model: &Model, f: &[Rational], axis: usize) -> Rational {
    let lattice = model.lattice();
    lattice.dirs().map(|dir| Rational::from_integer(lattice.velocity(dir)[axis].into()) * &f[dir.index()]).sum()
}

const ALL: [&str; 4] = ["zou_he_velocity", "zou_he_pressure", "regularized_velocity", "regularized_pressure"];

#[test]
fn zou_he_on_d2q9_is_that_of_the_paper() {
    let model = model("d2q9_bgk", &["zou_he_velocity", "zou_he_pressure"]);
    let (u, v) = (ratio(1, 20), ratio(-1, 30));
    let f = |x: i32, y: i32, all: &[Rational]| all[model.lattice().find(&[x, y]).unwrap().index()].clone();
    let known = populations(&model, 2);
    let k = |x, y| f(x, y, &known);
    let two = ratio(2, 1);
    let out = k(0, 0) + k(0, 1) + k(0, -1) + &two * (k(-1, 0) + k(-1, 1) + k(-1, -1));
    // Zou & He: an inlet on the left. First with the velocity given, then with the density.
    let check = |found: &[Rational], rho: &Rational, u: &Rational, v: &Rational| {
        let half = (k(0, 1) - k(0, -1)) / &two;
        assert_eq!(f(1, 0, found), k(-1, 0) + ratio(2, 3) * rho * u);
        assert_eq!(f(1, 1, found), k(-1, -1) - &half + rho * v / &two + rho * u / ratio(6, 1));
        assert_eq!(f(1, -1, found), k(-1, 1) + &half - rho * v / &two + rho * u / ratio(6, 1));
    };
    let rho = &out / (ratio(1, 1) - &u);
    let found = after(&model, &forms(&model, "zou_he_velocity")[0], &[u.clone(), v.clone()]);
    check(&found, &rho, &u, &v);
    let rho = ratio(51, 50);
    let found = after(&model, &forms(&model, "zou_he_pressure")[0], std::slice::from_ref(&rho));
    check(&found, &rho, &(ratio(1, 1) - out / &rho), &ratio(0, 1));
}

#[test]
fn zou_he_on_d3q19_is_that_of_hecht_and_harting() {
    let model = model("d3q19_bgk", &["zou_he_velocity"]);
    let lattice = model.lattice();
    let u = [ratio(1, 20), ratio(-1, 30), ratio(1, 50)];
    let known = populations(&model, 2);
    let of = |c: [i32; 3], all: &[Rational]| all[lattice.find(&c).unwrap().index()].clone();
    let found = after(&model, &forms(&model, "zou_he_velocity")[0], &u);
    let rho = density(&found);
    // Transverse momentum corrections N along an axis: half of what goes along it in the plane, less rho u / 3.
    let correction = |axis: usize| {
        let sign = |dir: Dir| Rational::from_integer(lattice.velocity(dir)[axis].into());
        let plane = lattice.dirs().filter(|dir| lattice.velocity(*dir)[0] == 0);
        let along: Rational = plane.map(|dir| sign(dir) * &known[dir.index()]).sum();
        along / ratio(2, 1) - &rho * &u[axis] / ratio(3, 1)
    };
    assert_eq!(of([1, 0, 0], &found), of([-1, 0, 0], &known) + &rho * &u[0] / ratio(3, 1));
    for (axis, sign) in [(1, 1), (1, -1), (2, 1), (2, -1)] {
        let mut c = [1, 0, 0];
        c[axis] = sign;
        let s = ratio(sign.into(), 1);
        let expected = of(c.map(|c| -c), &known) + &rho * (&u[0] + &s * &u[axis]) / ratio(6, 1) - s * correction(axis);
        assert_eq!(of(c, &found), expected, "{c:?}");
    }
}

#[test]
fn what_is_given_is_what_the_populations_have() {
    for spec in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
        let model = model(spec, &ALL);
        let dim = model.lattice().dim();
        let u = [ratio(1, 20), ratio(-1, 30), ratio(1, 50)];
        let rho = ratio(51, 50);
        for name in ALL {
            for form in forms(&model, name) {
                let place = format!("{spec}, {name}, {}", form.name(dim));
                let pressure = name.ends_with("pressure");
                let f = if pressure {
                    after(&model, form, std::slice::from_ref(&rho))
                } else {
                    after(&model, form, &u[..dim])
                };
                if pressure {
                    assert_eq!(density(&f), rho, "{place}");
                }
                // At a face everything is exact; elsewhere a local rule keeps the momentum along the axes that no wall
                // blocks, and the regularized ones keep all of it.
                let first = if name.starts_with("zou_he") && form.normals > 1 { form.normals } else { 0 };
                for (axis, u) in u.iter().enumerate().take(dim).skip(first) {
                    let expected = match (pressure, axis) {
                        (false, _) => density(&f) * u,
                        (true, 0) => continue,
                        (true, _) if form.normals == 1 => ratio(0, 1),
                        (true, _) => continue,
                    };
                    assert_eq!(momentum(&model, &f, axis), expected, "{place}, axis {axis}");
                }
            }
        }
    }
}

#[test]
fn equilibrium_stays_what_it_is() {
    for spec in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
        let rules = ["zou_he_velocity", "regularized_velocity", "extrapolation_outflow", "convective_outflow"];
        let model = model(spec, &rules);
        let dim = model.lattice().dim();
        let (rho, u) = (ratio(51, 50), [ratio(1, 20), ratio(-1, 30), ratio(1, 50)]);
        let fields = |symbol| -> Exact {
            match symbol {
                Symbol::Field { field: 0, .. } => Some(rho.clone()),
                Symbol::Field { component, .. } => Some(u[usize::from(component)].clone()),
                _ => None,
            }
        };
        let feq: Vec<Rational> =
            model.exprs().eval::<Exact>(&model.init().outputs, fields).into_iter().map(|f| f.unwrap()).collect();
        for name in rules {
            for form in forms(&model, name) {
                let given = |symbol| -> Exact {
                    match symbol {
                        Symbol::Population(pop) => Some(feq[pop.index()].clone()),
                        Symbol::Streamed(dir) | Symbol::Inside(dir) | Symbol::Deep(dir) => {
                            Some(feq[dir.index()].clone())
                        }
                        Symbol::WallParam { component, .. } => Some(u[usize::from(component)].clone()),
                        _ => None,
                    }
                };
                let found = model.exprs().eval::<Exact>(&form.formulas.outputs, given);
                for (dir, value) in form.dirs.iter().zip(found) {
                    assert_eq!(value.as_ref(), Some(&feq[dir.index()]), "{spec}, {name}, {} {dir:?}", form.name(dim));
                }
            }
        }
    }
}
