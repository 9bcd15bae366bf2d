//! Shipped collisions and walls against their definitions, written down here a second time and evaluated exactly.

mod cumulants;
mod entropic;
mod forces;
mod moments;
mod setting;

use lbm_dsl::expr::{Exact, Rational, Symbol};
use lbm_dsl::model::Rule;
use lbm_dsl::shipped;
use setting::{Setting, model, ratio, whole};

#[test]
fn bgk_relaxes_to_the_quadratic_equilibrium() {
    for name in ["d2q9_bgk", "d3q15_bgk", "d3q19_bgk", "d3q27_bgk"] {
        let setting = Setting::new(name, 1);
        assert_eq!(setting.after(), setting.bgk(), "{name}");
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
