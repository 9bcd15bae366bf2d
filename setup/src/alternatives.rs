//! Other shipped methods that may stand in the place of one.

use lbm_dsl::ast::Item;
use lbm_dsl::model::{Model, Param};
use lbm_dsl::shipped;
use lbm_dsl::source::Source;

/// The first shipped method with the lattice and the parameters of another one, or some of them, and these boundary rules, of which something holds with
/// the same values of the parameters. Those with all parameters come first.
pub fn method(
    model: &Model,
    params: &[Vec<f64>],
    rules: &[&str],
    holds: impl Fn(&Model, &[Vec<f64>]) -> Option<bool>,
) -> Option<&'static str> {
    let names: Vec<&str> = model.params().iter().map(|param| &param.name[..]).collect();
    let is_alike = |source: &Source, with_all: bool| {
        let Ok(ast) = lbm_dsl::parse(source) else { return false };
        let has_lattice =
            |item: &Item| matches!(item, Item::LatticeChoice(name) if name.text == model.lattice().name());
        let param = |item: &Item| matches!(item, Item::Param(param) if names.contains(&&param.name.text[..]));
        let params = ast.items.iter().filter(|item| matches!(item, Item::Param(_)));
        ast.items.iter().any(has_lattice) && params.clone().all(param) && (params.count() == names.len()) == with_all
    };
    let is_better = |source: &Source| {
        let other = lbm_dsl::compile_with(source, &shipped::Prelude, rules, None, None).ok()?;
        let in_its_order =
            |param: &Param| names.iter().position(|name| *name == param.name).map(|at| params[at].clone());
        let params: Vec<Vec<f64>> = other.params().iter().map(in_its_order).collect::<Option<_>>()?;
        holds(&other, &params)
    };
    let specs = || shipped::specs().map(|(name, text)| (name, Source::new(name, text)));
    let mut found = [true, false].into_iter().filter_map(|with_all| {
        let (name, _) = specs().find(|(_, source)| is_alike(source, with_all) && is_better(source) == Some(true))?;
        Some(name)
    });
    found.next()
}
