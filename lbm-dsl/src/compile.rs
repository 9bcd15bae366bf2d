//! From text to model: all stages, one after the other.

use lbm_bundle::variation::{ABSORBING, Variation};

use crate::check::check;
use crate::diag::Report;
use crate::model::Model;
use crate::parser::parse;
use crate::shipped::{self, Library};
use crate::source::Source;

/// Text to model in one step.
pub fn compile(source: &Source, library: &dyn Library) -> Result<Model, Report> {
    compile_with(source, library, &[], None, None)
}

/// Text to model, as if the text imported and chose those of the boundary rules `rules`, the coupling and the criterion that it
/// lacks and a module has.
pub fn compile_with(
    source: &Source,
    library: &dyn Library,
    rules: &[&str],
    coupling: Option<&str>,
    criterion: Option<&str>,
) -> Result<Model, Report> {
    compile_varied(source, library, Chosen { rules, coupling, criterion }, &[])
}

/// Names that a case chooses for a method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Chosen<'a> {
    /// Boundary rules.
    pub rules: &'a [&'a str],
    /// The coupling of levels.
    pub coupling: Option<&'a str>,
    /// The refinement criterion.
    pub criterion: Option<&'a str>,
}

/// The same, with parameters that a case makes vary; with an absorbing layer if its rate is one of them.
pub fn compile_varied(
    source: &Source,
    library: &dyn Library,
    Chosen { rules, coupling, criterion }: Chosen<'_>,
    variations: &[Variation],
) -> Result<Model, Report> {
    let mut ast = parse(source)?;
    if variations.iter().any(|variation| variation.param == ABSORBING) {
        ast.absorb();
    }
    variations.iter().for_each(|variation| ast.vary(variation));
    let offered = if rules.is_empty() { Vec::new() } else { shipped::rules(library)? };
    for (module, rule) in offered.iter().filter(|(_, rule)| rules.contains(&rule.as_str())) {
        ast.choose_boundary(module, rule);
    }
    let offered = if coupling.is_none() { Vec::new() } else { shipped::couplings(library)? };
    for (module, name) in offered.iter().filter(|(_, name)| coupling == Some(name)) {
        ast.choose_coupling(module, name);
    }
    let offered = if criterion.is_none() { Vec::new() } else { shipped::criteria(library)? };
    for (module, name) in offered.iter().filter(|(_, name)| criterion == Some(name)) {
        ast.choose_criterion(module, name);
    }
    check(source, &ast, library)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_spec_is_a_model() {
        for (name, text) in shipped::specs() {
            let source = Source::new(&format!("specs/{name}.lbm"), text);
            match compile(&source, &shipped::Prelude) {
                Ok(model) => {
                    assert_eq!(model.collide().outputs.len(), model.q());
                    assert!(model.boundaries().iter().any(|rule| rule.name == "bounce_back"), "{name}");
                }
                Err(report) => panic!("{name}\n{}", report.render(120)),
            }
        }
    }
}
