//! In: a [`Dag`]. Out: a [`Plan`]: its operations in an order, every temporary named.
//!
//! After: a statement's operands are symbols, constants, values of earlier statements or single-use expressions; the
//! value of every output is a symbol, a constant or a statement. A value with a name of the spec keeps the first such
//! name, an output without one is called as the output, everything else is `t0`, `t1`, ... in order.
//!
//! Why this order: a value occupies a register from its statement to its last use. Orders are searched for the one with the
//! fewest values alive at once, and of equals with the smallest sum of squares of how many are alive after each statement. The
//! search starts from the graph's own order, which it never makes worse.

use std::collections::BTreeSet;

use lbm_dsl::expr::{Expr, ExprId};
use rayon::prelude::*;

use crate::ir::{Dag, Plan, Section, Statement};
use crate::simplify::random::Random;

/// Most operations that are printed inside their only user.
const INLINE: usize = 10;

/// Searches from different seeds, of which the best counts.
const SEARCHES: u64 = 4;

/// Moves that a search tries for each statement.
const STEPS: usize = 200;

/// How much worse an order may become in the beginning of a search, in per cent of the square of the values alive at once.
const THRESHOLD: usize = 20;

/// Puts a kernel in order.
pub fn schedule(dag: Dag) -> Plan {
    let graph = Graph::new(&dag);
    let searches = (1..=SEARCHES).into_par_iter().map(|seed| graph.search(Random::new(seed)));
    let found: Vec<(Pressure, Vec<ExprId>)> = searches.collect();
    let (pressure, order) = found.into_iter().min_by_key(|(pressure, _)| *pressure).expect("there is a search");
    let sections = sections(&dag, order);
    Plan { dag, sections, live: pressure.peak }
}

/// Statements and what they read.
struct Graph {
    /// Expressions that are statements, operands first.
    statements: Vec<ExprId>,
    /// Inputs and statements that each statement reads, by position of its expression.
    reads: Vec<Vec<ExprId>>,
    /// Number of statements that read the value.
    readers: Vec<usize>,
    /// Number of inputs that a statement reads.
    inputs: usize,
}

/// How many values an order keeps alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Pressure {
    /// Most at once.
    peak: usize,
    /// Sum of squares of those after each statement.
    squares: usize,
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
        let mut graph =
            Self { statements: Vec::new(), reads: vec![Vec::new(); size], readers: vec![0; size], inputs: 0 };
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
                graph.reads[at] = reads.into_iter().collect();
            } else {
                printed[at] = reads;
            }
        }
        let read = |(id, node): &(ExprId, &Expr)| matches!(node, Expr::Symbol(_)) && graph.readers[id.index()] > 0;
        graph.inputs = dag.exprs.iter().filter(read).count();
        graph
    }

    /// An order with few values alive at once, by threshold accepting (Dueck & Scheuer, J. Comput. Phys. 90 (1990) 161): a
    /// statement moves to any place between its operands and its users, and an order that is worse by less than a threshold
    /// stays; the threshold falls to nothing. The best order met is the result.
    fn search(&self, mut random: Random) -> (Pressure, Vec<ExprId>) {
        let mut order = self.statements.clone();
        let (mut best, mut least) = (order.clone(), self.pressure(&order));
        let (mut squares, threshold) = (least.squares, THRESHOLD * least.peak * least.peak / 100);
        let steps = STEPS * order.len();
        for left in (0..steps).rev() {
            let from = random.below(order.len());
            let id = order[from];
            let before = order[..from].iter().rev().take_while(|other| !self.reads[id.index()].contains(other));
            let after = order[from + 1..].iter().take_while(|other| !self.reads[other.index()].contains(&id));
            let (before, after) = (before.count(), after.count());
            let to = from - before + random.below(before + after + 1);
            shift(&mut order, from, to);
            let pressure = self.pressure(&order);
            if pressure.squares > squares + threshold * left / steps {
                shift(&mut order, to, from);
                continue;
            }
            squares = pressure.squares;
            if pressure < least {
                least = pressure;
                best.clone_from(&order);
            }
        }
        (least, best)
    }

    /// Values alive in an order. Inputs live from the start to their last use, an output that nothing reads not at all.
    fn pressure(&self, order: &[ExprId]) -> Pressure {
        let mut left = self.readers.clone();
        let mut alive = self.inputs;
        let mut pressure = Pressure { peak: alive, squares: 0 };
        for id in order {
            for read in &self.reads[id.index()] {
                left[read.index()] -= 1;
                alive -= usize::from(left[read.index()] == 0);
            }
            alive += usize::from(self.readers[id.index()] > 0);
            pressure.peak = pressure.peak.max(alive);
            pressure.squares += alive * alive;
        }
        pressure
    }
}

/// Moves what is at one place to another; what is between them closes up.
fn shift<T>(items: &mut [T], from: usize, to: usize) {
    if from < to {
        items[from..=to].rotate_left(1);
    } else {
        items[to..=from].rotate_right(1);
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
        // 19 populations and omega come in.
        let live = plan().live();
        assert!(live <= 31, "{live}");
    }
}
