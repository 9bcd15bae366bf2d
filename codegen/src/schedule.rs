//! In: a [`Dag`]. Out: a [`Plan`]: its operations in an order, every temporary named.
//!
//! After: a statement's operands are symbols, constants, values of earlier statements or single-use expressions; the
//! value of every output is a symbol, a constant or a statement. A value with a name of the spec keeps the first such
//! name, an output without one is called as the output, everything else is `t0`, `t1`, ... in order.
//!
//! Why this order: a value occupies a register from its statement to its last use. The next statement is the one that
//! frees most, so that outputs are finished as soon as they can be; of equals the one first met on the way down from the
//! outputs. If that order has more values alive at once than the graph's own, the graph's own is kept.

use std::collections::BTreeSet;

use lbm_dsl::expr::{Expr, ExprId};

use crate::ir::{Dag, Plan, Section, Statement};

/// Most operations that are printed inside their only user.
const INLINE: usize = 10;

/// Puts a kernel in order.
pub fn schedule(dag: Dag) -> Plan {
    let graph = Graph::new(&dag);
    let (given, greedy) = (graph.statements.clone(), graph.greedy());
    let [peak, of_given] = [&greedy, &given].map(|order| graph.peak(order));
    let (order, live) = if peak <= of_given { (greedy, peak) } else { (given, of_given) };
    let sections = sections(&dag, order);
    Plan { dag, sections, live }
}

/// Statements and what they read.
struct Graph {
    /// Expressions that are statements, operands first.
    statements: Vec<ExprId>,
    /// Inputs and statements that each statement reads, by position of its expression; an input reads itself.
    reads: Vec<BTreeSet<ExprId>>,
    /// Number of statements that read the value.
    readers: Vec<usize>,
}

impl Graph {
    fn new(dag: &Dag) -> Self {
        let size = dag.exprs.len();
        let outputs: Vec<ExprId> = dag.outputs.iter().map(|output| output.value).collect();
        let uses = dag.exprs.uses(&outputs);
        let mut named = vec![false; size];
        for own in &dag.lets {
            named[own.value.index()] = true;
        }
        for output in &outputs {
            named[output.index()] = true;
        }
        let mut graph = Self { statements: Vec::new(), reads: vec![BTreeSet::new(); size], readers: vec![0; size] };
        let mut operations = vec![0usize; size];
        // What an expression reads where it is printed: a statement is read as itself.
        let mut printed: Vec<BTreeSet<ExprId>> = vec![BTreeSet::new(); size];
        for (id, node) in dag.exprs.iter() {
            let at = id.index();
            match node {
                Expr::Const(_) => continue,
                Expr::Symbol(_) => {
                    printed[at].insert(id);
                    continue;
                }
                _ => {}
            }
            let mut reads = BTreeSet::new();
            operations[at] = 1;
            for operand in node.operands() {
                reads.extend(printed[operand.index()].iter().copied());
                operations[at] += operations[operand.index()];
            }
            if named[at] || uses[at] > 1 || operations[at] > INLINE {
                for read in &reads {
                    graph.readers[read.index()] += 1;
                }
                graph.statements.push(id);
                operations[at] = 0;
                printed[at].insert(id);
                graph.reads[at] = reads;
            } else {
                printed[at] = reads;
            }
        }
        graph
    }

    /// Statements in the order that frees registers soonest.
    fn greedy(&self) -> Vec<ExprId> {
        let mut left = self.readers.clone();
        let mut waiting: Vec<ExprId> = self.statements.clone();
        let mut done = vec![true; left.len()];
        for statement in &self.statements {
            done[statement.index()] = false;
        }
        let mut order = Vec::new();
        while !waiting.is_empty() {
            let ready =
                waiting.iter().enumerate().filter(|(_, id)| self.reads[id.index()].iter().all(|r| done[r.index()]));
            let gain = |id: ExprId| {
                let freed = self.reads[id.index()].iter().filter(|read| left[read.index()] == 1).count() as i32;
                freed - i32::from(self.readers[id.index()] > 0)
            };
            // The first of the best: waiting statements keep their order.
            let best = ready.max_by_key(|(at, id)| (gain(**id), std::cmp::Reverse(*at)));
            let (at, _) = best.expect("operands precede their users");
            let id = waiting.remove(at);
            for read in &self.reads[id.index()] {
                left[read.index()] -= 1;
            }
            done[id.index()] = true;
            order.push(id);
        }
        order
    }

    /// Most values alive at once. Inputs live from the start to their last use, an output that nothing reads not at all.
    fn peak(&self, order: &[ExprId]) -> usize {
        let mut left = self.readers.clone();
        let inputs: BTreeSet<ExprId> = order.iter().flat_map(|id| self.reads[id.index()].iter().copied()).collect();
        let statements: BTreeSet<ExprId> = order.iter().copied().collect();
        let mut alive = inputs.difference(&statements).count();
        let mut peak = alive;
        for id in order {
            for read in &self.reads[id.index()] {
                left[read.index()] -= 1;
                alive -= usize::from(left[read.index()] == 0);
            }
            alive += usize::from(self.readers[id.index()] > 0);
            peak = peak.max(alive);
        }
        peak
    }
}

fn sections(dag: &Dag, order: Vec<ExprId>) -> Vec<Section> {
    let mut headings: Vec<Option<(String, String, String)>> = vec![None; dag.exprs.len()];
    let mut taken: BTreeSet<&str> = dag.symbols.iter().map(|(_, name)| name.as_str()).collect();
    for named in &dag.lets {
        taken.insert(&named.name);
        let heading = (named.name.clone(), named.family.clone(), format!("{}:{}", named.file, named.line));
        headings[named.value.index()].get_or_insert(heading);
    }
    for output in &dag.outputs {
        taken.insert(&output.name);
        let family = output.name.split('_').next().unwrap_or_default().to_string();
        headings[output.value.index()].get_or_insert((output.name.clone(), family, String::new()));
    }
    let mut fresh = (0..).map(|number| format!("t{number}")).filter(|name| !taken.contains(name.as_str()));
    let mut sections: Vec<Section> = Vec::new();
    for value in order {
        let (name, title, cite) = headings[value.index()].take().unwrap_or_else(|| {
            let name = fresh.next().expect("there is always a next number");
            (name, String::new(), String::new())
        });
        let statement = Statement { name, value };
        match sections.last_mut() {
            Some(last) if title.is_empty() || (last.title == title && last.cite == cite) => {
                last.statements.push(statement);
            }
            _ => sections.push(Section { title, cite, statements: vec![statement] }),
        }
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simplify::simplify;
    use crate::simplify::testing::collision;

    fn plan() -> Plan {
        schedule(simplify(&collision("d3q19_bgk", 0, 0).ir).unwrap())
    }

    #[test]
    fn operands_come_first_and_names_are_unique() {
        let plan = plan();
        let statements: Vec<&Statement> = plan.sections.iter().flat_map(|section| &section.statements).collect();
        let names: BTreeSet<&str> = statements.iter().map(|statement| statement.name.as_str()).collect();
        assert_eq!(names.len(), statements.len());
        let graph = Graph::new(&plan.dag);
        let mut known = BTreeSet::new();
        for statement in statements {
            for read in &graph.reads[statement.value.index()] {
                assert!(known.contains(read) || matches!(plan.dag.exprs.get(*read), Expr::Symbol(_)));
            }
            known.insert(statement.value);
        }
        for output in &plan.dag.outputs {
            assert!(known.contains(&output.value), "{}", output.name);
        }
    }

    #[test]
    fn names_of_the_spec_survive_with_their_line() {
        let plan = plan();
        let section = plan.sections.iter().find(|section| section.title == "rho").unwrap();
        assert!(section.cite.starts_with("d3q19_bgk.lbm:"), "{}", section.cite);
    }

    #[test]
    fn few_values_are_alive_at_once() {
        let graph = Graph::new(&plan().dag);
        let peak = graph.peak(&graph.greedy());
        // 19 populations and omega come in.
        assert!(peak <= 31, "{peak}");
    }
}
