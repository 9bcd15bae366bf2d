//! What is known of a model beyond its being one: which laws hold and how that was found, viscosity and diffusivities.
//!
//! In: a [`Model`]. After: findings, for people and for the manifest, the same on every machine. Whether a law holds is decided at points of a
//! prime field ([`residue`]); closed forms are exact. No search for one takes more than [`budget::OPERATIONS`] operations: what gives up says so.

pub mod budget;
pub mod channel;
pub mod edge;
mod ends;
pub mod faces;
#[cfg(test)]
mod fixture;
pub mod inviscid;
mod known;
pub(crate) mod laws;
pub(crate) mod levels;
mod linear;
pub mod modes;
pub mod moments;
pub mod noise;
pub mod pair;
mod poly;
mod random;
mod ratio;
pub mod reflection;
mod residue;
mod series;
pub mod stability;
mod step;
mod unread;
mod viscosity;

pub use linear::NotLinear;
pub use moments::Dependence;
pub use viscosity::Transport;

use crate::expr::ExprId;
use crate::model::{Formulas, Law, Model, Rule};
use crate::prove::laws::{Holds, Push};

/// What was found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What holds and how that is known, a sentence each.
    pub lines: Vec<String>,
    /// Kinematic viscosity of the first populations.
    pub viscosity: Transport,
    /// Bulk viscosity of the first populations, if they carry a momentum.
    pub bulk: Option<Transport>,
    /// Diffusivity of what each set of populations carries; `None` for a set that carries a momentum.
    pub diffusivities: Vec<Option<Transport>>,
    /// On how few moments the collision depends; nothing where it has no value.
    pub moments: Option<Dependence>,
}

/// Finds out about a model.
pub fn findings(model: &Model) -> Findings {
    let whole = model;
    let states = &model.states()[..model.states().len() - model.hidden()];
    let states: Vec<&str> = states.iter().map(|state| state.name.as_str()).collect();
    let mut found = of_populations(&model.frozen(), levels::lines(model));
    if !whole.shown().is_empty() {
        found.viscosity = viscosity::viscosity_among(whole);
        found.bulk = None;
        let alike = whole.among_alike();
        let alike = &*alike.frozen();
        found.diffusivities = alike.populations().iter().map(|set| viscosity::diffusivity(alike, set)).collect();
        // What holds in a uniform flow need not hold among cells that differ.
        let trial = laws::try_all(&whole.among_others().frozen());
        if let Some(at) = trial.driven {
            let conserved = |line: &&mut String| line.starts_with("collision conserves momentum");
            for line in found.lines.iter_mut().filter(conserved) {
                *line =
                    format!("collision adds `{}` to momentum, whatever the cells around have", whole.vectors[at].name);
            }
        }
        let sentence = found.moments.take().as_ref().map(Dependence::sentence);
        let names: Vec<&str> = whole.shown().iter().map(|shown| shown.name.as_str()).collect();
        found.lines.retain(|line| Some(line) != sentence.as_ref());
        found.lines.push(format!(
            "{} {} read of the cells around: a step takes 2 passes over memory, as no collision can begin before these are known, and no more, as \
             none depends on others of its kind",
            names.join(", "),
            if names.len() == 1 { "is" } else { "are" },
        ));
    }
    if !states.is_empty() {
        let line = format!("for any value of the state {}, which a step of proof does not change", states.join(", "));
        found.lines.push(line);
    }
    let of_state =
        |transport: &mut Transport| transport.rate = transport.rate.take().filter(|rate| !states.contains(&&**rate));
    of_state(&mut found.viscosity);
    found.bulk.iter_mut().chain(found.diffusivities.iter_mut().flatten()).for_each(of_state);
    found
}

/// What is found out about a model without states.
fn of_populations(model: &Model, levels: Vec<String>) -> Findings {
    let trial = laws::try_all(model);
    let known = |holds: Holds, of: &str, formulas: &[&Formulas]| {
        let outputs: Vec<ExprId> = formulas.iter().flat_map(|formulas| formulas.outputs.clone()).collect();
        let functions = model.exprs.functions(&outputs);
        match holds {
            Holds::Everywhere if functions.is_empty() => format!("for all {of} and parameters"),
            Holds::Everywhere => {
                format!("for all {of} and parameters, and any function in the place of {}", functions.join(", "))
            }
            Holds::OnStates | Holds::No => format!("on {} random states in 64 bits, to 1e-12", laws::STATES),
        }
    };
    let others = known(trial.others, "populations", &[&model.collide]);
    let forces = model.params().iter().any(|param| param.components > 1);
    let mut lines = Vec::new();
    for (at, set) in model.populations().iter().enumerate() {
        let lattice = &set.lattice;
        if model.populations()[..at].iter().any(|other| other.lattice == *lattice) {
            continue;
        }
        lines.push(format!("weights of the {} velocities of {} sum to 1, exactly", lattice.q(), lattice.name()));
        lines.push(format!(
            "velocity moments are those of a Gaussian of variance {} (isotropic) through order {}{}, exactly",
            lattice.cs2(),
            lattice.isotropy(),
            lattice.claimed().map_or(String::new(), |claimed| format!(" ({claimed} claimed)")),
        ));
        lines.push("every velocity has an opposite of the same weight".into());
    }
    for (quantity, holds) in model.conserved().iter().zip(&trial.conserved) {
        let name = match quantity.law {
            Law::Sum(0) => "mass",
            Law::Momentum if forces => "momentum without forces",
            Law::Momentum => "momentum",
            Law::Sum(_) | Law::Stated => &quantity.name,
        };
        // What it adds is said below.
        if *holds == Holds::No {
            continue;
        }
        let how = known(*holds, "populations", &[&model.collide]);
        lines.push(format!("collision conserves {name}, {how}"));
    }
    if let Some(at) = trial.driven {
        lines.push(format!("collision adds `{}` to momentum, {others}", model.vectors[at].name));
    }
    for (param, push) in &trial.pushes {
        let name = &model.params()[*param].name;
        if trial.driven.is_some() && push.is_none() {
            continue;
        }
        lines.push(match push {
            Some(Push::Force) => format!("collision adds `{name}` to momentum, {others}"),
            Some(Push::Acceleration) => format!("collision adds `{name}` times mass to momentum, {others}"),
            Some(Push::Nothing) => format!("collision adds nothing to momentum because of `{name}`, {others}"),
            None => format!("collision changes momentum by something else than `{name}`, or that times mass"),
        });
    }
    if !model.conserved().iter().any(|quantity| quantity.law == Law::Momentum) {
        lines.push(match model.conserved() {
            [] => "mass and momentum are no laws of this method: the spec says that it conserves nothing".into(),
            _ => "momentum is not a law of this method: the spec says what it conserves".into(),
        });
    }
    lines.push(format!(
        "init gives populations with the fields it is given, {}",
        known(trial.others, "fields", &[&model.init, &model.macroscopic])
    ));
    lines.push("collision divides by zero nowhere in a fluid at rest".into());
    lines.extend(model.boundaries().iter().map(|boundary| match boundary.rule {
        Rule::Link(_) => format!("`{}` defines every population that comes off a link", boundary.name),
        Rule::Node(_) => {
            let places = if model.lattice().dim() == 3 { "faces, edges and corners" } else { "faces and corners" };
            format!("`{}` defines every unknown population and reads none, at {places}", boundary.name)
        }
    }));
    let moments = moments::dependence(model);
    lines.extend(moments.iter().map(Dependence::sentence));
    lines.extend(levels);
    if viscosity::rests_elsewhere(model) {
        lines.push("rest is what `init` gives where scalar fields are 1 and nothing moves, not the weights".into());
    }
    match viscosity::is_isotropic(model) {
        Ok(true) => {}
        Ok(false) => lines
            .push("viscosity depends on the direction: stress relaxes at other rates along axes than diagonals".into()),
        Err(why) => lines.push(format!("whether viscosity depends on the direction: {why}")),
    }
    let diffusivities = model.populations().iter().map(|set| viscosity::diffusivity(model, set)).collect();
    Findings { lines, viscosity: viscosity::viscosity(model), bulk: viscosity::bulk(model), diffusivities, moments }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use lbm_bundle::variation::Variation;

    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn model(name: &str, text: &str) -> Model {
        crate::fixture::compile(&Source::new(name, text), &shipped::Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(120)))
    }

    #[test]
    fn a_method_may_state_that_it_conserves_nothing() {
        let advection = shipped::spec("d3q7_advection").unwrap();
        let text = advection
            .replace("conserve phi;", "conserve none;")
            .replace("(linear[i](phi, velocity) - f[i]);", "(linear[i](phi, velocity) - f[i]) - w[i] * phi / 50;");
        let found = findings(&model("reaction", &text)).lines;
        assert!(found.iter().any(|line| line.ends_with("the spec says that it conserves nothing")), "{found:?}");
        assert!(!found.iter().any(|line| line.contains("conserves phi")), "{found:?}");
        let still = text.replace("conserve none;", "conserve phi;");
        assert!(crate::fixture::compile(&Source::new("reaction", &still), &shipped::Prelude).is_err());
    }

    #[test]
    fn shipped_flows_have_the_viscosity_of_their_rate() {
        for (name, text) in shipped::specs() {
            let findings = findings(&model(name, text));
            let viscosity = findings.viscosity;
            if findings.diffusivities[0].is_some() {
                assert_eq!(viscosity.formula, "none: the collision does not conserve momentum", "{name}");
                assert_eq!((viscosity.rate.as_deref(), viscosity.at(|_| 1.0)), (None, None), "{name}");
                continue;
            }
            if name.starts_with("d2q9_power_law") || name == "d2q9_carreau_yasuda" {
                assert!(viscosity.formula.starts_with("not found: the collision takes functions"), "{name}");
                assert_eq!((viscosity.rate.as_deref(), viscosity.at(|_| 1.0)), (None, None), "{name}");
                continue;
            }
            // That of the fluid in which all scalar fields are 1.
            let rate = if name == "d2q9_phase_field" { "omega_heavy" } else { "omega" };
            assert_eq!(viscosity.formula, format!("1/3*(1/{rate} - 1/2)"), "{name}");
            assert_eq!(viscosity.rate.as_deref(), Some(rate), "{name}");
            assert_eq!(viscosity.at(|_| 1.0), Some(1.0 / 6.0), "{name}");
        }
    }

    #[test]
    fn a_scalar_has_the_diffusivity_of_its_rate() {
        let findings = |name| findings(&model(name, shipped::spec(name).unwrap()));
        let carried = findings("d2q9_scalar").diffusivities;
        let found = carried[1].as_ref().unwrap();
        assert_eq!((carried[0].as_ref(), found.rate.as_deref()), (None, Some("omega_g")));
        assert_eq!((found.formula.as_str(), found.at(|_| 0.5)), ("1/3*(1/omega_g - 1/2)", Some(0.5)));
        let alone = findings("d3q7_advection").diffusivities;
        assert_eq!(alone[0].as_ref().map(|found| found.formula.as_str()), Some("1/4*(1/omega - 1/2)"));
    }

    #[test]
    fn what_a_method_conserves_is_said() {
        let lines = |name| findings(&model(name, shipped::spec(name).unwrap())).lines.join("\n");
        let both = lines("d2q9_scalar");
        for law in ["conserves mass, ", "conserves momentum, ", "conserves sum(i in g: g[i]), "] {
            assert!(both.contains(law), "{law} in {both}");
        }
        let alone = lines("d3q7_advection");
        assert!(alone.contains("conserves phi, ") && alone.contains("momentum is not a law of this method"), "{alone}");
    }

    #[test]
    fn compression_relaxes_at_its_own_rate() {
        for (name, formula) in [
            ("d2q9_bgk", "1/3*(1/omega - 1/2)"),
            ("d3q19_bgk", "2/9*(1/omega - 1/2)"),
            ("d3q27_bgk", "2/9*(1/omega - 1/2)"),
            ("d3q27_cumulant", "1/9"),
        ] {
            let found = findings(&model(name, shipped::spec(name).unwrap())).bulk.unwrap();
            assert_eq!(found.formula, formula, "{name}");
        }
    }

    /// Shallow water of the depth rho: its pressure is no constant times rho, so the weights are no state at rest. Zhou, Lattice
    /// Boltzmann Methods for Shallow Water Flows, 2004, section 3.2.
    #[test]
    fn viscosity_is_that_about_the_rest_state_of_init() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        let text =
            text.replace("use equilibria::quadratic;", "").replace("quadratic[i](rho, u)", "shallow[i](rho, u, pull)");
        let text = text.replace("param omega", "param pull in (0, 1);\nparam omega")
            + "fn shallow[i](h, u[a], pull) = if w[i] == 4/9 then h - 5 * pull * h^2 / 6 - 2 * h * dot(u, u) / 3 else w[i] * h \
               * (3 * pull * h / 2 + 3 * dot(c[i], u) + 9 * dot(c[i], u)^2 / 2 - 3 * dot(u, u) / 2);\n";
        let found = findings(&model("shallow", &text));
        assert_eq!(found.viscosity.formula, "1/3*(1/omega - 1/2)");
        assert_eq!(found.viscosity.rate.as_deref(), Some("omega"));
        assert!(found.bulk.is_none() && found.lines.iter().any(|line| line.contains("not the weights")));
        let plain = findings(&model("plain", shipped::spec("d2q9_bgk").unwrap()));
        assert!(!plain.lines.iter().any(|line| line.contains("not the weights")));
    }

    #[test]
    fn unlike_rates_of_the_stress_are_told() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        let skewed = text.replace("(feq[i] - f[i]);", "(feq[i] - f[i]) + (omega - 1) * s * c[i, 0] * c[i, 1];");
        let stress = "let s = sum(i: c[i, 0] * c[i, 1] * (f[i] - quadratic[i](rho, u))) / 4;\n    let feq[i]";
        let skewed = skewed.replace("let feq[i]", stress);
        let told =
            |text: &str| findings(&model("x", text)).lines.iter().any(|line| line.contains("depends on the direction"));
        assert!(told(&skewed) && !told(text));
    }

    #[test]
    fn what_a_force_does_to_momentum_is_said() {
        let text = shipped::spec("d2q9_guo").unwrap();
        let pushed =
            |text: &str| findings(&model("forced", text)).lines.iter().find(|l| l.contains("`force`")).cloned();
        assert_eq!(pushed(text).unwrap(), "collision adds `force` to momentum, for all populations and parameters");
        let heavy = text.replace("force[a] / 2", "rho * force[a] / 2").replace("guo[i]", "rho * guo[i]");
        assert!(pushed(&heavy).unwrap().starts_with("collision adds `force` times mass to momentum"));
        let whole = text.replace("(1 - omega / 2) * guo", "guo");
        assert!(pushed(&whole).unwrap().starts_with("collision changes momentum by something else than `force`"));
    }

    /// A state takes part in the collision and in no law: these hold for any value of it, and a viscosity may depend on it.
    #[test]
    fn laws_hold_for_any_value_of_a_state() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        let text =
            text.replace("field rho;", "state s in (0, 1);\nfield rho;").replace("init f[i]", "init { s <- 1/2; f[i]");
        let text = text
            .replace("quadratic[i](rho, u);\n\ncollide {", "quadratic[i](rho, u);\n}\n\ncollide {\n    s <- s * rho;");
        let kept = text.replace("+ omega * (feq", "+ s * omega * (feq");
        let model = model("state", &kept);
        assert_eq!((model.q(), model.moving(), model.frozen().q()), (10, 9, 9));
        let found = findings(&model);
        let conserves = "collision conserves momentum, for all populations and parameters".to_string();
        assert!(found.lines.contains(&conserves), "{:?}", found.lines);
        assert!(found.lines.last().unwrap().contains("state s"), "{:?}", found.lines);
        assert_eq!((found.viscosity.formula.as_str(), found.viscosity.rate), ("1/3*(1/(omega*s) - 1/2)", None));
        let lost = text.replace("+ omega * (feq", "+ s * f[i] + omega * (feq");
        let report = crate::fixture::compile(&Source::new("lost", &lost), &shipped::Prelude).unwrap_err();
        assert_eq!(report.diagnostics()[0].code().code(), "E0601");
    }

    #[test]
    fn viscosity_follows_several_parameters() {
        let (text, _) = shipped::spec("d2q9_bgk").unwrap().split_once("// Viscous stress").unwrap();
        let text = text.replace("param omega in (0, 2);", "param tau in (0, 9); param s in (0, 2);");
        let text = text.replace("omega *", "s / (tau + 1/2) *");
        let viscosity = findings(&model("two", &text)).viscosity;
        assert_eq!((viscosity.formula.as_str(), viscosity.rate), ("1/3*((1 + 2*tau)/(2*s) - 1/2)", None));
    }

    /// Each parameter of a method, and all of them, depend on the place and on a field: rates are then one over a sum. What is found out takes no
    /// more operations than a proof may, and is the same but for the viscosity.
    #[test]
    fn parameters_that_vary_are_followed() {
        let same = |of: &Findings| {
            let laws = of.lines.iter().filter(|line| line.starts_with("collision conserves"));
            let laws: Vec<String> = laws.map(|line| line.split(", ").next().unwrap_or_default().to_string()).collect();
            (laws, of.moments.as_ref().map(|found| (found.moments.len(), found.proved)), of.bulk.is_some())
        };
        let (mut followed, mut refused) = (0, BTreeSet::new());
        for (name, text) in shipped::specs() {
            let plain = model(name, text);
            let before = findings(&plain);
            let density = if plain.fields().iter().any(|field| field.name == "rho") { " * rho" } else { "" };
            let vary = |param: &crate::model::Param| {
                let own = |what: &str| format!("{what}_{}", param.name);
                Variation {
                    param: param.name.clone(),
                    formulas: vec![format!("{} + 0.05 * {}{density}", own("place"), own("number")).parse().unwrap()],
                    places: vec![own("place")],
                    numbers: vec![own("number")],
                    unit: Some(own("unit")),
                    viscosity: before.viscosity.rate.as_ref() == Some(&param.name),
                }
            };
            let all: Vec<Variation> = plain.params().iter().filter(|param| param.components == 1).map(vary).collect();
            let each = all.iter().map(|one| vec![one.clone()]);
            for variations in each.chain((all.len() > 1).then(|| all.clone())) {
                let source = Source::new(name, text);
                let varied =
                    crate::fixture::compile_varied(&source, &shipped::Prelude, Default::default(), &variations);
                let Ok(varied) = varied else {
                    refused.insert(name);
                    continue;
                };
                budget::most();
                let after = findings(&varied);
                let most = budget::most();
                assert!(most < budget::OPERATIONS, "{name}: {most}");
                assert_eq!(same(&after), same(&before), "{name}");
                let rate = variations.iter().find(|variation| variation.viscosity).map(|variation| &variation.param);
                let viscosity = match rate {
                    Some(rate) => {
                        format!("1/3*((10 + 60*unit_{rate}*place_{rate} + 3*unit_{rate}*number_{rate})/20 - 1/2)")
                    }
                    None => before.viscosity.formula.clone(),
                };
                assert_eq!(after.viscosity.formula, viscosity, "{name}");
                followed += 1;
            }
        }
        // These have couplings of their own, which name their rates.
        let of_own = ["d2q9_boussinesq", "d2q9_phase_field", "d2q9_scalar", "d2q9_two_fluids"];
        assert_eq!(refused, BTreeSet::from(of_own));
        assert!(followed > 90, "{followed}");
    }

    /// A share that is the product of sums of six parameters has 64 terms, its inverse more: too long for a reader, and to be divided by.
    #[test]
    fn what_is_given_up_is_said() {
        let (text, _) = shipped::spec("d2q9_bgk").unwrap().split_once("// Viscous stress").unwrap();
        let names: Vec<String> = (0..6).map(|at| format!("a{at}")).collect();
        let params: String = names.iter().map(|name| format!("param {name} in (0, 1);\n")).collect();
        let rate: Vec<String> = names.iter().map(|name| format!("(1 + {name})")).collect();
        let text =
            text.replace("param omega in (0, 2);", &params).replace("omega *", &format!("{} / 64 *", rate.join(" * ")));
        let found = findings(&model("long", &text));
        assert_eq!(found.viscosity.formula, "not found: its formula has too many terms to be followed");
        assert!(found.lines.contains(&"collision conserves momentum, for all populations and parameters".to_string()));
    }

    /// Quotients by sums of several terms, whose common factors take long to find.
    #[test]
    fn a_rate_of_density_is_followed() {
        let text = shipped::spec("d2q9_trt").unwrap().replace("param omega in (0, 2);", "param base in (0, 1);");
        let text = text.replace("field rho;", "let omega = 1 / (base * rho / cs2 + 1/2);\n\nfield rho;");
        let found = findings(&model("density", &text));
        assert_eq!(found.viscosity.formula, "1/3*((1 + 6*base)/2 - 1/2)");
        assert!(found.lines.iter().any(|line| line.contains("momentum, for all populations")), "{:?}", found.lines);
    }
}
