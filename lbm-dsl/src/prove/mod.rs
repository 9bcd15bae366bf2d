//! What is known of a model beyond its being one: which laws hold and how that was found, and its viscosity.
//!
//! In: a [`Model`]. After: findings, for people and for the manifest. Everything is exact and the same on every machine.

mod known;
pub(crate) mod laws;
mod levels;
mod poly;
mod random;
mod ratio;
mod series;
mod viscosity;

pub use viscosity::Viscosity;

use crate::model::{Law, Model};

/// What was found.
#[derive(Clone, Debug)]
pub struct Findings {
    /// What holds and how that is known, a sentence each.
    pub lines: Vec<String>,
    /// Kinematic viscosity.
    pub viscosity: Viscosity,
}

/// Finds out about a model.
pub fn findings(model: &Model) -> Findings {
    let trial = laws::try_all(model);
    let states = match trial.rounded {
        false => format!("on {} random exact rational states", laws::STATES),
        true => format!("on {} random states in 64 bits, to 1e-12", laws::STATES),
    };
    let forces = model.params().iter().any(|param| param.components > 1);
    let mut lines = Vec::new();
    for (at, set) in model.populations().iter().enumerate() {
        let lattice = &set.lattice;
        if model.populations()[..at].iter().any(|other| other.lattice == *lattice) {
            continue;
        }
        lines.push(format!("weights of the {} velocities of {} sum to 1, exactly", lattice.q(), lattice.name()));
        lines.push(format!(
            "velocity moments are those of a Gaussian of variance {} (isotropic) through order {}, exactly",
            lattice.cs2(),
            lattice.isotropy()
        ));
        lines.push("every velocity has an opposite of the same weight".into());
    }
    for quantity in model.conserved() {
        let name = match quantity.law {
            Law::Sum(0) => "mass",
            Law::Momentum if forces => "momentum without forces",
            Law::Momentum => "momentum",
            Law::Sum(_) | Law::Stated => &quantity.name,
        };
        lines.push(format!("collision conserves {name}, {states}"));
    }
    if !model.conserved().iter().any(|quantity| quantity.law == Law::Momentum) {
        lines.push("nothing else need be conserved: the spec says what is".into());
    }
    lines.push(format!("init gives populations with the fields it is given, {states}"));
    lines.push("collision is defined at rest".into());
    lines.extend(levels::lines(model.stencils()));
    Findings { lines, viscosity: viscosity::viscosity(model) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn model(name: &str, text: &str) -> Model {
        crate::compile(&Source::new(name, text), &shipped::Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(120)))
    }

    #[test]
    fn shipped_specs_have_the_viscosity_of_their_rate() {
        for (name, text) in shipped::specs() {
            let viscosity = findings(&model(name, text)).viscosity;
            assert_eq!(viscosity.formula, "1/3*(1/omega - 1/2)", "{name}");
            assert_eq!(viscosity.rate.as_deref(), Some("omega"), "{name}");
            assert_eq!(viscosity.at(|_| 1.0), Some(1.0 / 6.0), "{name}");
        }
    }

    #[test]
    fn viscosity_follows_several_parameters() {
        let text = shipped::spec("d2q9_bgk").unwrap();
        let text = text.replace("param omega in (0, 2);", "param tau in (0, 9); param s in (0, 2);");
        let text = text.replace("omega *", "s / (tau + 1/2) *");
        let viscosity = findings(&model("two", &text)).viscosity;
        assert_eq!((viscosity.formula.as_str(), viscosity.rate), ("1/3*((1 + 2*tau)/(2*s) - 1/2)", None));
    }
}
