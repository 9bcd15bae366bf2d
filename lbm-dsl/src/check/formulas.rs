//! Which named values a block of formulas needs.
//!
//! After: the lets of a [`Formulas`] are those that its outputs need, each value named once, none a constant or a mere
//! symbol; the graph of a [`Model`] holds nothing else.

use crate::expr::{Expr, ExprId, Exprs};
use crate::model::{Formulas, Let, Model};

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
    let exprs = std::mem::take(&mut model.exprs);
    let mut roots = model.roots_mut();
    let old: Vec<ExprId> = roots.iter().map(|root| **root).collect();
    let (kept, new) = exprs.subgraph(&old);
    roots.iter_mut().for_each(|root| **root = new[**root]);
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
