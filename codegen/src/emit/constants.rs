//! Constants of a method as every file of a bundle has them.

use lbm_bundle::Manifest;

use crate::lower::word;

/// Names of the constants for the codes of the boundary rules, `RULE_BOUNCE_BACK`; of those that differ in no more than the case of
/// letters, all but the first have their code behind it.
pub fn rule_constants(manifest: &Manifest) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for rule in &manifest.boundaries {
        let name = format!("RULE_{}", word(&rule.name).to_uppercase());
        let numbered = (rule.code..).map(|code| format!("{name}_{code}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.push(free.expect("there is always a next number"));
    }
    names
}

/// The weight of a direction as a quotient of floating-point numbers: `4.0 / 9.0`.
pub fn weight(direction: &lbm_bundle::Direction) -> String {
    quotient(&direction.weight)
}

/// What a population is stored without, in the same form.
pub fn rest(direction: &lbm_bundle::Direction) -> String {
    quotient(&direction.rest)
}

fn quotient(text: &str) -> String {
    let parts: Vec<String> = text.split('/').map(|whole| format!("{whole}.0")).collect();
    parts.join(" / ")
}
