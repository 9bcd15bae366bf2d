//! What rules say of the velocity at a face.
//!
//! A rule holds the velocity `v` there if, near rest, what comes back along a link is what went out and the momentum of the wall,
//! `f[i] = f[opp(i)] + 2 w_i c_i . v / cs2`, whatever the density and the stress are: then `f[i] - f[opp(i)]`, the momentum along
//! the link, is that of `v`. A rule in which what comes back does not follow what went out (an equilibrium behind the face), or
//! has its sign turned (a pressure), leaves the velocity to the flow.

use num_traits::ToPrimitive;

use crate::expr::{ExprId, Rational, Symbol};
use crate::lattice::Dir;
use crate::model::{Boundary, Model, NodeForm, Rule};
use crate::prove::linear::{self, Dual};
use crate::prove::random::Random;

/// Differences below this are rounding.
const ROUNDING: f64 = 1e-9;

/// Whether a rule of links holds a velocity at the face: its parameter `velocity`, or rest where it has none. Other parameters belong to scalars:
/// the first set of populations does not read them.
pub fn holds_velocity(model: &Model, rule: &Boundary) -> bool {
    let Rule::Link(links) = &rule.rule else { return false };
    let (lattice, pops) = (model.lattice(), model.moving());
    let float = |value: &Rational| value.to_f64().unwrap_or(f64::NAN);
    let weights: Vec<f64> = model.pops().map(|(_, set, dir)| float(set.lattice.weight(dir))).collect();
    let dirs: Vec<_> = lattice.dirs().filter(|dir| lattice.velocity(*dir).iter().any(|c| *c != 0)).collect();
    let outputs: Vec<_> = dirs.iter().map(|dir| links[dir.index()]).collect();
    let velocity = rule.params.iter().position(|param| param.name == "velocity" && param.components == lattice.dim());
    let is_other = |symbol| matches!(symbol, Symbol::WallParam { param, .. } if Some(usize::from(param)) != velocity);
    if model.exprs().symbols(&outputs).any(is_other) {
        return false;
    }
    let count = pops + lattice.dim();
    let slopes = linear::derivatives(&model.exprs, &outputs, count, |symbol| match symbol {
        Symbol::Population(pop) => Dual::variable(weights[pop.index()], pop.index(), count),
        Symbol::WallParam { component, .. } => Dual::variable(0.0, pops + usize::from(component), count),
        _ => Dual::constant(f64::NAN),
    });
    let at_rest: Vec<f64> = model.exprs().eval(&outputs, |symbol| match symbol {
        Symbol::Population(pop) => weights[pop.index()],
        Symbol::WallParam { .. } => 0.0,
        _ => f64::NAN,
    });
    let Ok(slopes) = slopes else { return false };
    let set = &model.populations()[0];
    dirs.iter().enumerate().all(|(row, dir)| {
        let opposite = set.pop(lattice.opposite(*dir)).index();
        let weight = float(lattice.weight(*dir));
        let pushed = |axis: usize| 2.0 * weight * f64::from(lattice.velocity(*dir)[axis]) / float(lattice.cs2());
        let near = |found: f64, expected: f64| (found - expected).abs() < ROUNDING;
        near(at_rest[row], weight)
            && (0..pops).all(|pop| near(slopes[(row, pop)], if pop == opposite { 1.0 } else { 0.0 }))
            && (velocity.is_none() || (0..lattice.dim()).all(|axis| near(slopes[(row, pops + axis)], pushed(axis))))
    })
}

/// Whether a rule of nodes brings back, along the links of a wall, as much mass as went out, whatever went out, is in cells behind and its parameters are:
/// at random populations, to round-off. Nothing flows through it then, though it may flow along it.
pub fn lets_nothing_through(model: &Model, rule: &Boundary) -> bool {
    let Rule::Node(forms) = &rule.rule else { return false };
    let (lattice, set) = (model.lattice(), &model.populations()[0]);
    let Some(form) = forms.first().filter(|form| form.normals == 1) else { return false };
    let enters = |dir: &Dir| !NodeForm::known(lattice.velocity(*dir), 1);
    if !form.dirs.iter().copied().eq(lattice.dirs().filter(enters)) {
        return false;
    }
    let float = |value: Rational| value.to_f64().unwrap_or(f64::NAN);
    let mut random = Random::new();
    (0..4).all(|_| {
        let mut drawn = || random.populations(model).into_iter().map(float).collect::<Vec<f64>>();
        let (sent, streamed, inside, deep) = (drawn(), drawn(), drawn(), drawn());
        let params = random.params(&rule.params);
        let at = |dir: Dir| set.pop(dir).index();
        let value = |symbol| match symbol {
            Symbol::Population(pop) => sent[pop.index()],
            Symbol::Streamed(dir) => streamed[at(dir)],
            Symbol::Inside(dir) => inside[at(dir)],
            Symbol::Deep(dir) => deep[at(dir)],
            Symbol::WallParam { param, component } => float(params[usize::from(param)][usize::from(component)].clone()),
            _ => f64::NAN,
        };
        let back: f64 = model.exprs().eval(&form.formulas.outputs, value).iter().sum();
        let out: f64 = form.dirs.iter().map(|dir| sent[at(lattice.opposite(*dir))]).sum();
        (back - out).abs() < ROUNDING
    })
}

/// Whether what a rule brings back is that of a fluid of density 1: with no density among its parameters, it is not in proportion to the
/// populations. Nothing is said of a method whose velocity is a momentum, as in an incompressible one, of which every density is 1.
pub fn assumes_unit_density(model: &Model, rule: &Boundary) -> bool {
    let Some(velocity) = model.fields().iter().find(|field| field.name == "u") else { return false };
    if rule.params.iter().any(|param| param.name == "density") {
        return false;
    }
    let float = |value: Rational| value.to_f64().unwrap_or(f64::NAN);
    let mut random = Random::new();
    let mut drawn = || random.populations(model).into_iter().map(float).collect::<Vec<f64>>();
    let (sent, streamed, inside, deep) = (drawn(), drawn(), drawn(), drawn());
    let params = random.params(&rule.params);
    let set = &model.populations()[0];
    let outputs = match &rule.rule {
        Rule::Link(links) => &links[..set.lattice.q()],
        Rule::Node(forms) => &forms[0].formulas.outputs[..],
    };
    let at = |dir: Dir| set.pop(dir).index();
    let with = |outputs: &[ExprId], density: f64| {
        model.exprs().eval::<f64>(outputs, |symbol| match symbol {
            // States come behind the populations; their values count for nothing here.
            Symbol::Population(pop) => sent.get(pop.index()).map_or(0.0, |sent| density * sent),
            Symbol::Streamed(dir) => density * streamed[at(dir)],
            Symbol::Mirrored(dir) => density * streamed[at(dir)],
            Symbol::Inside(dir) => density * inside[at(dir)],
            Symbol::Deep(dir) => density * deep[at(dir)],
            Symbol::WallParam { param, component } => float(params[usize::from(param)][usize::from(component)].clone()),
            _ => 0.0,
        })
    };
    let in_proportion = |outputs: &[ExprId], power: i32| {
        let (once, twice) = (with(outputs, 1.0), with(outputs, 2.0));
        once.iter().zip(twice).all(|(once, twice)| (2f64.powi(power) * once - twice).abs() < ROUNDING)
    };
    in_proportion(&velocity.components, 0) && !in_proportion(outputs, 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    #[test]
    fn walls_hold_their_velocity_and_openings_do_not() {
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk", "d2q9_scalar"] {
            let holds = |rule: &str| {
                let source = Source::new(name, shipped::spec(name).unwrap());
                let model = crate::fixture::compile_with(&source, &shipped::Prelude, &[rule], None, None).unwrap();
                let rule = model.boundaries().iter().find(|boundary| boundary.name == rule).unwrap();
                holds_velocity(&model, rule)
            };
            assert!(holds("bounce_back") && holds("moving_wall"), "{name}");
            // Its parameter is that of the scalar.
            assert!(name != "d2q9_scalar" || holds("fixed_value"), "{name}");
            for open in ["free_slip", "equilibrium", "anti_bounce_back"] {
                // Methods of several sets of populations have rules of their own.
                if name != "d2q9_scalar" {
                    assert!(!holds(open), "{name}: {open}");
                }
            }
        }
    }

    #[test]
    fn rules_of_nodes_say_nothing_of_the_face() {
        let source = Source::new("d2q9_bgk", shipped::spec("d2q9_bgk").unwrap());
        for rule in ["zou_he_velocity", "extrapolation_outflow", "interpolated_bounce_back"] {
            let model = crate::fixture::compile_with(&source, &shipped::Prelude, &[rule], None, None).unwrap();
            let rule = model.boundaries().iter().find(|boundary| boundary.name == rule).unwrap();
            assert!(!holds_velocity(&model, rule) && !lets_nothing_through(&model, rule), "{}", rule.name);
        }
    }

    #[test]
    fn a_wall_function_lets_nothing_through() {
        for name in ["d2q9_bgk", "d3q19_bgk", "d3q27_bgk"] {
            let source = Source::new(name, shipped::spec(name).unwrap());
            let model =
                crate::fixture::compile_with(&source, &shipped::Prelude, &["wall_function"], None, None).unwrap();
            let rule = model.boundaries().iter().find(|boundary| boundary.name == "wall_function").unwrap();
            assert!(lets_nothing_through(&model, rule), "{name}");
        }
    }

    #[test]
    fn walls_that_move_and_walls_of_a_law_are_for_a_density_of_one() {
        let source = Source::new("x", shipped::spec("d2q9_bgk").unwrap());
        let rules = shipped::rules(&shipped::Prelude).unwrap();
        let rules: Vec<&str> = rules.iter().map(|(_, rule)| rule.as_str()).collect();
        let model = crate::fixture::compile_with(&source, &shipped::Prelude, &rules, None, None).unwrap();
        let found = model.boundaries().iter().filter(|rule| assumes_unit_density(&model, rule));
        let found: Vec<&str> = found.map(|rule| &rule.name[..]).collect();
        assert_eq!(found, ["moving_wall", "interpolated_moving_wall", "sliding_wall", "wall_function"]);
    }
}
