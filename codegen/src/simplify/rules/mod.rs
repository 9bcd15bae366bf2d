//! What the e-graph knows. One family a file, one rule a line: name, left side, right side.
//!
//! Rules are exact over the reals, not over floats. A good rule opens a cheaper form within a step or two; there is no
//! associativity, since sums already have their shape when they come here and it would never saturate.

mod factor;
mod fused;
mod order;
mod sign;

use egg::Rewrite;

use super::lang::{Folding, Math};

/// A rule: name, left side, right side.
pub(super) type Rule = (&'static str, &'static str, &'static str);

/// Every rule.
pub(super) fn table() -> Vec<Rule> {
    [order::RULES, sign::RULES, factor::RULES, fused::RULES].concat()
}

/// The rules for egg.
pub(super) fn rewrites(table: &[Rule]) -> Vec<Rewrite<Math, Folding>> {
    let rewrite = |(name, left, right): &Rule| {
        let (left, right) = (pattern(left), pattern(right));
        Rewrite::new(*name, left, right).expect("the right side has the variables of the left")
    };
    table.iter().map(rewrite).collect()
}

fn pattern(text: &str) -> egg::Pattern<Math> {
    text.parse().expect("rules are patterns")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::random::Random;
    use egg::{ENodeOrVar, Id, RecExpr, Runner};
    use lbm_dsl::expr::{Exact, Number, Rational};

    fn evaluate(pattern: &egg::Pattern<Math>, variable: &mut impl FnMut(egg::Var) -> Rational) -> Exact {
        let mut values: Vec<Exact> = Vec::new();
        for node in pattern.ast.as_ref() {
            let at = |id: &Id| &values[usize::from(*id)];
            let value = match node {
                ENodeOrVar::Var(var) => Some(variable(*var)),
                ENodeOrVar::ENode(Math::Neg([a])) => at(a).neg(),
                ENodeOrVar::ENode(Math::Add([a, b])) => at(a).add(at(b)),
                ENodeOrVar::ENode(Math::Sub([a, b])) => at(a).sub(at(b)),
                ENodeOrVar::ENode(Math::Mul([a, b])) => at(a).mul(at(b)),
                ENodeOrVar::ENode(Math::Div([a, b])) => at(a).div(at(b)),
                ENodeOrVar::ENode(Math::Fma([a, b, c])) => at(a).fma(at(b), at(c)),
                ENodeOrVar::ENode(Math::Constant(value)) => Some(value.0.clone()),
                ENodeOrVar::ENode(_) => None,
            };
            values.push(value);
        }
        values.pop().flatten()
    }

    #[test]
    fn rules_hold_for_random_rationals() {
        let mut random = Random::new(11);
        for (name, left, right) in table() {
            for _ in 0..5 {
                let mut values = std::collections::BTreeMap::new();
                let mut variable = |var: egg::Var| {
                    let fresh =
                        || Rational::new((random.below(99) as i64 - 49).into(), (random.below(9) as i64 + 1).into());
                    values.entry(var).or_insert_with(fresh).clone()
                };
                let sides = [left, right].map(|side| evaluate(&pattern(side), &mut variable));
                assert!(sides[0].is_some() && sides[0] == sides[1], "{name}: {sides:?}");
            }
        }
    }

    fn proves(table: &[Rule], start: &str, goal: &str) -> bool {
        let (start, goal): (RecExpr<Math>, RecExpr<Math>) = (start.parse().unwrap(), goal.parse().unwrap());
        let runner = Runner::<Math, Folding>::default().with_expr(&start).with_iter_limit(2).run(&rewrites(table));
        runner.egraph.lookup_expr(&goal) == Some(runner.egraph.find(runner.roots[0]))
    }

    #[test]
    fn every_rule_has_a_goal_that_fails_without_it() {
        let goals: Vec<Rule> = [order::GOALS, sign::GOALS, factor::GOALS, fused::GOALS].concat();
        let all = table();
        for (name, ..) in &all {
            assert!(goals.iter().any(|goal| goal.0 == *name), "{name} has no goal");
        }
        for (name, start, goal) in goals {
            assert!(proves(&all, start, goal), "{name}: {goal} not reached");
            let without: Vec<Rule> = all.iter().copied().filter(|rule| rule.0 != name).collect();
            assert!(!proves(&without, start, goal), "{name}: {goal} reached without it");
        }
    }
}
