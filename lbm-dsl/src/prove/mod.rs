//! What is known of a model beyond its being one: which laws hold and how that was found, and its viscosity.
//!
//! In: a [`Model`]. After: findings, for people and for the manifest. Everything is exact and the same on every machine.

mod known;
pub(crate) mod laws;
mod poly;
mod random;
mod ratio;
mod series;
mod viscosity;

pub use viscosity::Viscosity;

use crate::model::Model;

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
    let lattice = model.lattice();
    let trial = laws::try_all(model);
    let states = match trial.rounded {
        false => format!("on {} random exact rational states", laws::STATES),
        true => format!("on {} random states in 64 bits, to 1e-12", laws::STATES),
    };
    let forces = model.params().iter().any(|param| param.components > 1);
    let lines = vec![
        format!("weights of the {} velocities of {} sum to 1, exactly", lattice.q(), lattice.name()),
        format!(
            "velocity moments are those of a Gaussian of variance {} (isotropic) through order {}, exactly",
            lattice.cs2(),
            lattice.isotropy()
        ),
        "every velocity has an opposite of the same weight".into(),
        format!("collision conserves mass, {states}"),
        format!("collision conserves momentum{}, {states}", if forces { " without forces" } else { "" }),
        format!("init gives populations with the fields it is given, {states}"),
        "collision is defined at rest".into(),
    ];
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
