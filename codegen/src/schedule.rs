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
use std::ops::Range;

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
    /// The statements that read each input and statement.
    users: Vec<Vec<ExprId>>,
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
            Self { statements: Vec::new(), reads: vec![Vec::new(); size], users: vec![Vec::new(); size], inputs: 0 };
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
                    graph.users[read.index()].push(id);
                }
                graph.statements.push(id);
                operations[at] = 0;
                printed[at].insert(id);
                graph.reads[at] = reads.into_iter().collect();
            } else {
                printed[at] = reads;
            }
        }
        let read =
            |(id, node): &(ExprId, &Expr)| matches!(node, Expr::Symbol(_)) && !graph.users[id.index()].is_empty();
        graph.inputs = dag.exprs.iter().filter(read).count();
        graph
    }

    /// How many values a statement leaves to others: one, or none if nothing reads it.
    fn kept(&self, id: ExprId) -> usize {
        usize::from(!self.users[id.index()].is_empty())
    }

    /// An order with few values alive at once, by threshold accepting (Dueck & Scheuer, J. Comput. Phys. 90 (1990) 161): a
    /// statement moves to any place between its operands and its users, and an order that is worse by less than a threshold
    /// stays; the threshold falls to nothing. The best order met is the result.
    fn search(&self, mut random: Random) -> (Pressure, Vec<ExprId>) {
        let mut order = Order::new(self);
        let (mut best, mut least) = (order.statements.clone(), order.pressure());
        let threshold = THRESHOLD * least.peak * least.peak / 100;
        let steps = STEPS * best.len();
        for left in (0..steps).rev() {
            let from = random.below(best.len());
            let places = order.places(from);
            let to = places.start + random.below(places.len());
            let squares = order.try_shift(from, to);
            if squares > order.squares + threshold * left / steps {
                continue;
            }
            order.shift(from, to, squares);
            let pressure = order.pressure();
            if pressure < least {
                least = pressure;
                best.clone_from(&order.statements);
            }
        }
        (least, best)
    }
}

/// Statements in an order, and what is alive when. Inputs live from the start to their last use, an output that nothing reads not
/// at all.
struct Order<'g> {
    graph: &'g Graph,
    statements: Vec<ExprId>,
    /// The number of each statement, the first is 1, by position of its expression; 0 for an input.
    number: Vec<usize>,
    /// The statement that reads a value last, by position of its expression.
    last: Vec<Option<ExprId>>,
    /// Values alive before the first statement, then after each.
    alive: Vec<usize>,
    /// Sum of squares of those after each.
    squares: usize,
    /// What a shift that is tried makes of those that it changes.
    tried: Vec<usize>,
}

impl<'g> Order<'g> {
    /// The graph's own order.
    fn new(graph: &'g Graph) -> Self {
        let size = graph.reads.len();
        let (mut number, mut last) = (vec![0; size], vec![None; size]);
        for (at, id) in graph.statements.iter().enumerate() {
            number[id.index()] = at + 1;
            graph.reads[id.index()].iter().for_each(|read| last[read.index()] = Some(*id));
        }
        let mut alive = vec![graph.inputs];
        for id in &graph.statements {
            let ended = graph.reads[id.index()].iter().filter(|read| last[read.index()] == Some(*id)).count();
            alive.push(alive[alive.len() - 1] - ended + graph.kept(*id));
        }
        let squares = squares(&alive[1..]);
        Self { graph, statements: graph.statements.clone(), number, last, alive, squares, tried: Vec::new() }
    }

    fn pressure(&self) -> Pressure {
        Pressure { peak: self.alive.iter().copied().max().unwrap_or(0), squares: self.squares }
    }

    /// Where the statement at a place may be: after its operands, before its users.
    fn places(&self, at: usize) -> Range<usize> {
        let id = self.statements[at].index();
        let operands = self.graph.reads[id].iter().map(|read| self.number[read.index()]);
        let users = self.graph.users[id].iter().map(|user| self.number[user.index()] - 1);
        operands.max().unwrap_or(0)..users.min().unwrap_or(self.statements.len())
    }

    /// The sum of squares if the statement at one place moves to another. Between the two, the others leave alive what they did,
    /// but for the value of this one, and for what this one read or comes to read last.
    fn try_shift(&mut self, from: usize, to: usize) -> usize {
        let Self { graph, statements, number, last, alive, tried, .. } = self;
        let id = statements[from];
        let (kept, reads) = (graph.kept(id), &graph.reads[id.index()]);
        tried.clear();
        if from < to {
            tried.extend(alive[from + 2..to + 2].iter().map(|alive| alive - kept));
            for read in reads {
                let end = last[read.index()].map_or(0, |last| number[last.index()]);
                if end <= to + 1 {
                    tried[end.saturating_sub(from + 2)..].iter_mut().for_each(|alive| *alive += 1);
                }
            }
        } else {
            tried.extend(alive[to..from].iter().map(|alive| alive + kept));
            for read in reads.iter().filter(|read| last[read.index()] == Some(id)) {
                let others = graph.users[read.index()].iter().filter(|user| **user != id);
                let end = others.map(|user| number[user.index()]).max().unwrap_or(0);
                tried[end.saturating_sub(to)..].iter_mut().for_each(|alive| *alive -= 1);
            }
        }
        self.squares + squares(tried) - squares(&alive[from.min(to) + 1..from.max(to) + 1])
    }

    /// Makes the shift that was tried, which gives that sum of squares.
    fn shift(&mut self, from: usize, to: usize, squares: usize) {
        let (first, end) = (from.min(to), from.max(to) + 1);
        let Self { graph, statements, number, last, .. } = self;
        let id = statements[from];
        for read in &graph.reads[id.index()] {
            let last = &mut last[read.index()];
            if from < to {
                // Until now a statement in between, or this one.
                *last = last.filter(|last| number[last.index()] > to + 1).or(Some(id));
            } else if *last == Some(id) {
                let others = graph.users[read.index()].iter().filter(|user| **user != id);
                let other = others.max_by_key(|user| number[user.index()]);
                *last = other.filter(|user| number[user.index()] > to).or(Some(&id)).copied();
            }
        }
        match from < to {
            true => statements[first..end].rotate_left(1),
            false => statements[first..end].rotate_right(1),
        }
        for (at, id) in statements[first..end].iter().enumerate() {
            number[id.index()] = first + at + 1;
        }
        self.alive[first + 1..end].copy_from_slice(&self.tried);
        self.squares = squares;
    }
}

fn squares(alive: &[usize]) -> usize {
    alive.iter().map(|alive| alive * alive).sum()
}

fn sections(dag: &Dag, order: Vec<ExprId>) -> Vec<Section> {
    let mut headings: Vec<Option<(String, String, String)>> = vec![None; dag.exprs.len()];
    let mut taken: BTreeSet<&str> = dag.symbols.iter().map(|(_, name)| name.as_str()).collect();
    for named in &dag.lets {
        taken.insert(&named.name);
        let cite = if named.file.is_empty() { String::new() } else { format!("{}:{}", named.file, named.line) };
        let heading = (named.name.clone(), named.family.clone(), cite);
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
    use crate::simplify::testing::collision;
    use crate::simplify::{simplify, simplify_in_phases};

    fn plan() -> Plan {
        schedule(simplify(&collision("d3q19_bgk", 0, 0).ir).unwrap())
    }

    #[test]
    fn phases_have_fewer_values_alive() {
        let kernel = collision("d3q27_kbc", 0, 0).ir;
        let [whole, phases] = [simplify(&kernel), simplify_in_phases(&kernel)].map(|dag| schedule(dag.unwrap()).live());
        assert!(phases + 8 < whole, "{phases} {whole}");
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
