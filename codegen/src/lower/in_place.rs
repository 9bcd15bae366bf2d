//! Boundary rules in the only set of populations: which of them read nothing that other cells replace in the same step.
//!
//! A cell may read what it has sent to the wall, since nothing else reads or writes that, and what arrives in it from other cells. What it has
//! sent elsewhere is replaced by cells there.

use lbm_dsl::expr::{ExprId, Pop, Symbol};
use lbm_dsl::lattice::Dir;
use lbm_dsl::model::{Model, NodeForm, Populations, Rule};

use super::solids;

/// Where a boundary rule works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Works {
    /// Wherever there is a wall.
    Everywhere,
    /// On a face, but not where such faces meet.
    OnFaces,
    /// It reads what other cells replace.
    Nowhere,
}

/// Where the rule with that position works.
pub fn works(model: &Model, rule: usize) -> Works {
    match &model.boundaries()[rule].rule {
        Rule::Link(links) => match links_work(model, links) || solids::is_mirror(model, rule) {
            true => Works::Everywhere,
            false => Works::Nowhere,
        },
        Rule::Node(forms) => {
            let mut work = forms.iter().map(|form| node_works(model, form));
            match (work.next(), work.all(|works| works)) {
                (Some(true), true) => Works::Everywhere,
                (Some(true), false) => Works::OnFaces,
                _ => Works::Nowhere,
            }
        }
    }
}

/// Whether each population that enters is made of what has left along the opposite direction.
fn links_work(model: &Model, links: &[ExprId]) -> bool {
    let works = |((_, set, dir), link): ((Pop, &Populations, Dir), &ExprId)| {
        let is_moving = set.lattice.velocity(dir).iter().any(|c| *c != 0);
        let reads_own = |symbol| match symbol {
            Symbol::Population(pop) => pop == set.pop(set.lattice.opposite(dir)),
            Symbol::Mirrored(_) => false,
            _ => true,
        };
        !is_moving || model.exprs().symbols(&[*link]).all(reads_own)
    };
    model.pops().zip(links).all(works)
}

/// Whether a form of a rule of nodes reads what arrives in its cell alone.
fn node_works(model: &Model, form: &NodeForm) -> bool {
    let reads_others = |symbol| matches!(symbol, Symbol::Population(_) | Symbol::Inside(_) | Symbol::Deep(_));
    !model.exprs().symbols(&form.formulas.outputs).any(reads_others)
}
