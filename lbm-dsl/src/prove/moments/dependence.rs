//! On how few moments of the populations a collision depends.
//!
//! A collision is `f* = G(M f)` with a constant matrix `M` of `k` rows; `k` is the smallest for which that is so. The derivatives of `f*`
//! at one state are combinations of the rows of `M`, so their rank there is at most `k`: states in a prime field, taken by chance, give a
//! lower bound, and rows that may be those of `M`. That there are no others is then proved: along every direction in
//! which all these moments stay what they are, so does `f*`, as an identity of formulas ([`unread`]).
//!
//! Functions that are no rational ones (roots, powers, choices) count as any function of their operands: what is proved holds for all of
//! them.

use std::collections::BTreeSet;

use super::basis::{Moment, all, base, basis, named, residues, section};
use super::slopes::slopes;
use crate::expr::ExprId;
use crate::model::Model;
use crate::prove::budget::{self, Budget};
use crate::prove::residue::Rows;
use crate::prove::unread;

/// States in a row that must bring nothing new before the search for rows ends.
const STATES: usize = 2;
/// States at which the collision may divide by zero before it is given up.
pub(super) const ATTEMPTS: u64 = 40;

/// On how few moments a collision depends.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The moments, linearly independent; densities and momenta come first.
    pub moments: Vec<Moment>,
    /// How many populations there are.
    pub populations: usize,
    /// Whether it is proved that there are no others.
    pub proved: bool,
    /// Whether a proof was given up.
    pub gave_up: bool,
    /// The first value that needs more than density, momentum and second moments, with its line; `None` if populations themselves do.
    pub because: Option<(String, usize)>,
    /// Whether more than density, momentum and second moments is needed.
    pub higher: bool,
    /// Names of functions that count as any function of their operands.
    pub functions: Vec<&'static str>,
}

/// What is found out about a model; nothing where its collision has no value. States and what is read of the cells around are arbitrary, as
/// parameters are, and what cells keep of a collision counts as populations after it do.
pub fn dependence(model: &Model) -> Option<Dependence> {
    let count = model.moving();
    let rows = rows(model, &|_| false)?;
    let (known, base, budget) = (named(model), base(model), Budget::new());
    let (moments, proved) = match rows.rational() {
        Some(found) if rows.rank() < count => {
            let moments = basis(&found, &known, count);
            let proved = is_proved(model, &moments, &budget);
            (moments, proved)
        }
        // All of them: there can be no others.
        _ => (all(model), rows.rank() == count),
    };
    let beyond = |rows: &Rows| {
        let mut all = base.clone();
        let first = all.rank();
        rows.rational().into_iter().flatten().for_each(|row| _ = all.add(residues(&row)));
        all.rank() - first
    };
    let higher = beyond(&rows) > 0;
    let because = if higher { because(model, beyond(&rows), &beyond) } else { None };
    let (gave_up, functions) = (budget.is_exceeded(), model.exprs.functions(&model.collide.outputs));
    Some(Dependence { moments, populations: count, proved, gave_up, because, higher, functions })
}

impl Dependence {
    /// A sentence: how many, and which.
    pub fn sentence(&self) -> String {
        let (count, all) = (self.moments.len(), self.populations);
        let because = || match &self.because {
            Some((name, line)) => format!("because of `{name}` (line {line})"),
            None => "because populations enter it themselves".into(),
        };
        let start = "after collision the populations depend on";
        match (self.proved, count == all) {
            (true, true) if self.higher => format!("{start} {count} of {all} moments, {}", because()),
            (true, true) => format!("{start} {count} of {all} moments"),
            (true, false) => {
                let proof = match self.functions.is_empty() {
                    true => "proved".into(),
                    false => format!("proved, for any function in the place of {}", self.functions.join(", ")),
                };
                let because = if self.higher { format!(", {}", because()) } else { String::new() };
                format!("{start} {count} of {all} moments ({proof}): {}{because}", self.list())
            }
            (false, _) => {
                let why = if self.gave_up { format!(": {}", budget::gave_up()) } else { String::new() };
                format!("{start} {count} of {all} moments at least; that there are no others is not proved{why}")
            }
        }
    }

    /// The moments by their kinds: `rho, j, traceless second moments`.
    pub fn list(&self) -> String {
        let of = |set: usize, order: u32| {
            let is = |moment: &&Moment| {
                moment.of.as_ref().is_some_and(|(own, powers)| *own == set && powers.iter().sum::<u32>() == order)
            };
            self.moments.iter().filter(is).collect::<Vec<_>>()
        };
        let sets = self.moments.iter().filter_map(|moment| Some(moment.of.as_ref()?.0)).collect::<BTreeSet<_>>();
        let (mut kinds, mut left) = (Vec::new(), self.moments.len());
        for set in sets {
            let of_set = if set == 0 { String::new() } else { format!(" of population set {}", set + 1) };
            for (order, name) in [(0, "rho"), (1, "j"), (2, "second moments")] {
                let own = of(set, order);
                let traceless = if own.iter().any(|moment| moment.name.contains("_p")) { "traceless " } else { "" };
                if !own.is_empty() {
                    kinds.push(format!("{traceless}{name}{of_set}"));
                }
                left -= own.len();
            }
        }
        if left > 0 {
            kinds.push(format!("{left} of higher order"));
        }
        kinds.join(", ")
    }
}

/// Derivatives of populations after the collision by those before it, at states taken by chance. Values of which `is_fixed` says so count
/// as constants.
fn rows(model: &Model, is_fixed: &dyn Fn(ExprId) -> bool) -> Option<Rows> {
    let (mut rows, mut idle) = (Rows::default(), 0);
    for attempt in 0..ATTEMPTS {
        let Some(found) = slopes(model, &model.collide.outputs, attempt, is_fixed) else { continue };
        let before = rows.rank();
        found.into_iter().for_each(|row| _ = rows.add(row));
        idle = if rows.rank() > before { 0 } else { idle + 1 };
        if idle == STATES || rows.rank() == model.moving() {
            return Some(rows);
        }
    }
    None
}

fn is_proved(model: &Model, moments: &[Moment], budget: &Budget) -> bool {
    let (section, directions) = section(moments, model.moving());
    unread::is_unread(model, &section, &directions, budget)
}

/// Which named value of the collision needs most of the `all` moments beyond second order: without what it hands on there are fewest,
/// and most of the others are left. The first of those that are equal in both.
fn because(model: &Model, all: usize, beyond: &dyn Fn(&Rows) -> usize) -> Option<(String, usize)> {
    let mut families: Vec<(&str, usize)> = Vec::new();
    for item in &model.collide.lets {
        if !families.iter().any(|(name, _)| *name == item.family) {
            families.push((&item.family, item.line));
        }
    }
    let mut best: Option<(usize, usize, (&str, usize))> = None;
    for family in families {
        let own: BTreeSet<ExprId> =
            model.collide.lets.iter().filter(|item| item.family == family.0).map(|item| item.value).collect();
        let Some(rows) = rows(model, &|id| own.contains(&id)) else { continue };
        let (left, rank) = (beyond(&rows), rows.rank());
        let better = best.is_none_or(|(least, most, _)| left < least || (left == least && rank > most));
        if left < all && better {
            best = Some((left, rank, family));
        }
    }
    best.map(|(_, _, (name, line))| (name.to_string(), line))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shipped;
    use crate::source::Source;

    fn found(name: &str, text: &str) -> Dependence {
        let model = crate::fixture::compile(&Source::new(name, text), &shipped::Prelude)
            .unwrap_or_else(|report| panic!("{}", report.render(120)));
        dependence(&model.frozen()).expect("the collision has a value")
    }

    fn shipped(name: &str) -> String {
        found(name, shipped::spec(name).unwrap()).sentence()
    }

    #[test]
    fn shipped_methods_need_what_theory_says() {
        // What cells read of each other is not among the moments of one.
        let of_one = |text: &str| !["neighbour[", "gradient[", "laplacian("].iter().any(|word| text.contains(word));
        for (name, text) in shipped::specs().filter(|(_, text)| of_one(text)) {
            println!("{name}: {}", found(name, text).sentence());
        }
        let few = |name, which: &str| {
            let sentence = shipped(name);
            assert!(sentence.ends_with(&format!("moments (proved): {which}")), "{name}: {sentence}");
        };
        few("d3q27_cumulant", "rho, j, traceless second moments");
        few("d3q27_central", "rho, j, traceless second moments");
        few("d2q9_central", "rho, j, traceless second moments");
        few("d3q27_recursive", "rho, j, second moments");
        few("d3q19_regularized", "rho, j, second moments");
        for (name, count) in [("d3q19_bgk", 19), ("d2q9_trt", 9), ("d3q27_kbc", 27)] {
            let all = found(name, shipped::spec(name).unwrap());
            assert_eq!((all.moments.len(), all.populations, all.proved), (count, count, true), "{name}");
        }
        let eddies =
            "after collision the populations depend on 9 of 27 moments (proved, for any function in the place of sqrt)";
        assert!(shipped("d3q27_central_smagorinsky").starts_with(eddies));
    }

    /// Central moments of all orders, of which those above the second relax at the rate 1 written out: their differences cancel in
    /// formulas that divide by the density. With another rate they stay.
    #[test]
    fn moments_that_cancel_are_not_counted_and_those_that_stay_are_named() {
        let text = shipped::spec("d2q9_central").unwrap();
        let before = "let before[p in 0..=2, q in 0..=2] = sum(a in 0..=p, b in 0..=q: shift(p, a, -u[0]) * shift(q, b, -u[1]) * m[a, b]);\n    let k[";
        let text = text.replace("let k[", before);
        let with = |rate: &str| {
            let rest = format!("else {rate} * before[p, q];");
            let text = text
                .replace("then rho * cs2^2\n", &format!("then before[2, 2] + {rate} * (rho * cs2^2 - before[2, 2])\n"));
            let high = if rate == "high" { "param high in (0, 2);\nparam omega" } else { "param omega" };
            let text = text.replace("param omega", high);
            found("central", &text.replace("else 0;", &rest.replace(rate, &format!("(1 - {rate})"))))
        };
        let cancelled = with("1");
        assert!(cancelled.proved && !cancelled.higher);
        assert_eq!((cancelled.moments.len(), cancelled.list()), (5, "rho, j, traceless second moments".to_string()));
        let kept = with("high");
        assert!(kept.proved && kept.higher);
        assert_eq!((kept.moments.len(), kept.because.as_ref().map(|(name, _)| name.as_str())), (9, Some("before")));
    }

    /// The heat flux of the populations, and nothing else, is read beyond second moments.
    #[test]
    fn a_term_that_needs_more_is_named() {
        let text = shipped::spec("d3q27_recursive").unwrap();
        let heat = "let heat[a] = sum(i: dot(c[i], c[i]) * c[i, a] * f[i]);\n    let fneq[i]";
        let text = text.replace("let fneq[i]", heat).replace(
            "* fneq[i];",
            "* fneq[i] + w[i] * (c[i, 0]^2 - cs2) * (c[i, 1]^2 - cs2) * (c[i, 2]^2 - cs2) * dot(heat, u) / 1000;",
        );
        let found = found("hot", &text);
        assert_eq!((found.moments.len(), found.proved), (13, true), "{}", found.sentence());
        assert!(found.sentence().contains("3 of higher order, because of `heat` (line 2"), "{}", found.sentence());
    }

    /// A root of what would cancel is not taken apart.
    #[test]
    fn a_function_of_more_moments_counts_them() {
        let text = shipped::spec("d2q9_recursive").unwrap();
        let text = text.replace("(1 - omega) * fneq[i]", "(1 - omega + 0 * sqrt(1 + f[(1, 0)]^2)) * fneq[i]");
        assert_eq!(found("none", &text).moments.len(), 6);
        let text = text.replace("0 * sqrt", "omega / 100 * sqrt");
        assert_eq!((found("root", &text).moments.len(), found("root", &text).proved), (7, true));
    }
}
