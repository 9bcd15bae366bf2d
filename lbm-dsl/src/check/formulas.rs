//! Which named values a block of formulas needs.
//!
//! After: the lets of a [`Formulas`] are those that its outputs need, each value named once, none a constant or a mere
//! symbol; the graph of a [`Model`] holds nothing else.

use crate::expr::{Expr, ExprId, Exprs};
use crate::model::levels::Coupling;
use crate::model::{Formulas, Let, Model, Rule};

/// A component of a `let`.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Expanded name.
    pub name: String,
    /// Name of the family.
    pub family: String,
    /// Its value.
    pub value: ExprId,
    /// Line of its source, from 1.
    pub line: usize,
    /// Name of its source.
    pub file: String,
    /// Whether the name tells it apart by a number: `m_1_0_0`.
    pub indexed: bool,
}

/// The lets among `entries` that `outputs` need, if need be but for sign and constant factor.
///
/// A value with several names goes by the first, unless that is a number of a family and a later one says more: `rho` is
/// preferred to `m_0_0_0`.
pub fn formulas(exprs: &Exprs, entries: &[Entry], outputs: &[ExprId]) -> Formulas {
    let needed = exprs.needed(outputs);
    let mut kept: Vec<Entry> = Vec::new();
    let mut place: Vec<Option<usize>> = vec![None; exprs.len()];
    for entry in entries {
        let at = entry.value.index();
        let used = needed[at] || needed[exprs.core(entry.value).index()];
        if !used || matches!(exprs.get(entry.value), Expr::Const(_) | Expr::Symbol(_)) {
            continue;
        }
        match place[at] {
            None => {
                place[at] = Some(kept.len());
                kept.push(entry.clone());
            }
            Some(old) if kept[old].indexed && !entry.indexed => {
                kept[old].name = entry.name.clone();
                kept[old].indexed = false;
            }
            Some(_) => {}
        }
    }
    let lets = kept
        .into_iter()
        .map(|Entry { name, family, value, line, file, .. }| Let { name, family, value, line, file })
        .collect();
    Formulas { lets, outputs: outputs.to_vec() }
}

/// Drops the nodes that no formula of the model needs.
pub fn compact(model: &mut Model) {
    let mut roots: Vec<ExprId> = model.fields.iter().flat_map(|field| field.components.clone()).collect();
    roots.extend(model.conserved.iter().flat_map(|quantity| &quantity.components));
    let mut blocks = vec![&model.macroscopic, &model.init, &model.collide];
    for boundary in &model.boundaries {
        match &boundary.rule {
            Rule::Link(links) => roots.extend(links),
            Rule::Node(forms) => blocks.extend(forms.iter().map(|form| &form.formulas)),
        }
    }
    for formulas in blocks {
        roots.extend(&formulas.outputs);
        roots.extend(formulas.lets.iter().map(|item| item.value));
    }
    roots.extend(model.couplings.iter_mut().flat_map(Coupling::roots_mut).map(|root| *root));
    roots.extend(model.criteria.iter().map(|criterion| criterion.formula));
    let (kept, new) = model.exprs.subgraph(&roots);
    let to = |id: &mut ExprId| *id = new[*id];
    model.fields.iter_mut().flat_map(|field| &mut field.components).for_each(to);
    model.conserved.iter_mut().flat_map(|quantity| &mut quantity.components).for_each(to);
    let mut blocks = vec![&mut model.macroscopic, &mut model.init, &mut model.collide];
    for boundary in &mut model.boundaries {
        match &mut boundary.rule {
            Rule::Link(links) => links.iter_mut().for_each(to),
            Rule::Node(forms) => blocks.extend(forms.iter_mut().map(|form| &mut form.formulas)),
        }
    }
    for formulas in blocks {
        formulas.outputs.iter_mut().for_each(to);
        formulas.lets.iter_mut().for_each(|item| to(&mut item.value));
    }
    model.couplings.iter_mut().flat_map(Coupling::roots_mut).for_each(to);
    model.criteria.iter_mut().for_each(|criterion| to(&mut criterion.formula));
    model.exprs = kept;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Pop, Symbol};

    #[test]
    fn a_value_goes_by_its_best_name() {
        let mut exprs = Exprs::new();
        let f = exprs.symbol(Symbol::Population(Pop(0)));
        let sum = exprs.add(Expr::Add(f, f));
        let product = exprs.add(Expr::Mul(f, f));
        let entry = |name: &str, value, indexed| Entry {
            name: name.into(),
            family: "m".into(),
            value,
            line: 1,
            file: "t.lbm".into(),
            indexed,
        };
        let entries =
            [entry("m_0", sum, true), entry("m_1", f, true), entry("rho", sum, false), entry("unused", product, false)];
        let lets = formulas(&exprs, &entries, &[sum]).lets;
        assert_eq!(lets.iter().map(|item| item.name.as_str()).collect::<Vec<_>>(), ["rho"]);
    }
}
