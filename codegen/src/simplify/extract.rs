//! In: expressions. Out: cheaper ones of the same values.
//!
//! The e-graph holds the forms that the rules reach within their limits; what comes out is one form for each class, so
//! that the whole, with everything shared paid once, is cheap. egg's own extractor prices trees. Here a choice starts from
//! the forms that came in and from the cheapest trees, and is improved class by class until nothing changes.

use std::time::Duration;

use egg::{EGraph, Id, Language, Runner, StopReason};
use lbm_dsl::expr::{ExprId, Exprs, Symbol};

use super::SimplifyError;
use super::cost::node_price;
use super::lang::{Folding, Math, from_egg, to_egg};
use super::rules::{rewrites, table};

/// Limits of the e-graph. Time is none of them: reaching this many seconds is an error.
const ITERATIONS: usize = 4;
const NODES: usize = 12_000;
const SECONDS: u64 = 3600;

/// Most rounds of improvement.
const ROUNDS: usize = 6;

/// Lets the e-graph find cheaper forms.
pub(super) fn saturate(kernel: &str, exprs: &Exprs, roots: &[ExprId]) -> Result<(Exprs, Vec<ExprId>), SimplifyError> {
    let (expr, inputs) = to_egg(exprs);
    let mut egraph = EGraph::new(Folding);
    let mut classes = Vec::new();
    for node in expr.as_ref() {
        let node = node.clone().map_children(|id| classes[usize::from(id)]);
        classes.push(egraph.add(node));
    }
    let runner = Runner::<Math, Folding>::new(Folding)
        .with_egraph(egraph)
        .with_iter_limit(ITERATIONS)
        .with_node_limit(NODES)
        .with_time_limit(Duration::from_secs(SECONDS))
        .run(&rewrites(&table()));
    if matches!(runner.stop_reason, Some(StopReason::TimeLimit(_))) {
        return Err(SimplifyError::Time { kernel: kernel.into() });
    }
    let egraph = runner.egraph;
    let size = egraph.classes().map(|class| usize::from(class.id) + 1).max().unwrap_or(0);
    let mut given: Vec<Option<Math>> = vec![None; size];
    for (node, class) in expr.as_ref().iter().zip(&classes) {
        let node = node.clone().map_children(|id| egraph.find(classes[usize::from(id)]));
        given[usize::from(egraph.find(*class))].get_or_insert(node);
    }
    let roots: Vec<Id> = roots.iter().map(|root| egraph.find(classes[root.index()])).collect();
    let mut choice = Choice { nodes: given, roots: &roots };
    choice.improve(&egraph);
    Ok(choice.exprs(&inputs))
}

/// How far a walk through the classes has come with one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Not,
    Open,
    Done,
}

/// One node for each class that the roots need (and perhaps more), by class.
struct Choice<'a> {
    nodes: Vec<Option<Math>>,
    roots: &'a [Id],
}

impl Choice<'_> {
    /// Calls `visit` for every class that the roots need, operands first; none if the choice is cyclic or incomplete.
    fn walk(&self, mut visit: impl FnMut(Id, &Math)) -> Option<()> {
        let mut state = vec![Visit::Not; self.nodes.len()];
        let mut stack: Vec<(Id, bool)> = self.roots.iter().rev().map(|root| (*root, false)).collect();
        while let Some((id, leaving)) = stack.pop() {
            let at = usize::from(id);
            let node = self.nodes[at].as_ref()?;
            if leaving {
                state[at] = Visit::Done;
                visit(id, node);
                continue;
            }
            match state[at] {
                Visit::Done => continue,
                // An open class is an ancestor: a cycle. One that merely waits on the stack is not open yet.
                Visit::Open => return None,
                Visit::Not => {}
            }
            state[at] = Visit::Open;
            stack.push((id, true));
            stack.extend(node.children().iter().rev().map(|child| (*child, false)));
        }
        Some(())
    }

    /// Price of everything needed, each class once.
    fn price(&self) -> Option<u32> {
        let mut price = 0;
        self.walk(|_, node| price += node_price(node))?;
        Some(price)
    }

    /// Classes needed.
    fn needed(&self) -> Vec<Id> {
        let mut order = Vec::new();
        match self.walk(|id, _| order.push(id)) {
            Some(()) => order,
            None => Vec::new(),
        }
    }

    fn improve(&mut self, egraph: &EGraph<Math, Folding>) {
        let Some(mut best) = self.price() else { return };
        for _ in 0..ROUNDS {
            let before = best;
            for id in self.needed() {
                for node in &egraph[id].nodes {
                    let node = node.clone().map_children(|child| egraph.find(child));
                    let old = self.nodes[usize::from(id)].replace(node.clone());
                    let added = self.complete(egraph, &node);
                    match self.price() {
                        Some(price) if price < best => best = price,
                        _ => {
                            for class in added {
                                self.nodes[usize::from(class)] = None;
                            }
                            self.nodes[usize::from(id)] = old;
                        }
                    }
                }
            }
            if best == before {
                return;
            }
        }
    }

    /// Gives operands without a node the cheapest one whose own operands have nodes; the classes that got one.
    fn complete(&mut self, egraph: &EGraph<Math, Folding>, node: &Math) -> Vec<Id> {
        let mut added = Vec::new();
        for &child in node.children() {
            if self.nodes[usize::from(child)].is_some() {
                continue;
            }
            let known = |operand: &Id| self.nodes[usize::from(egraph.find(*operand))].is_some();
            let complete = egraph[child].nodes.iter().filter(|node| node.children().iter().all(known));
            if let Some(node) = complete.min_by_key(|node| node_price(node)) {
                self.nodes[usize::from(child)] = Some(node.clone().map_children(|operand| egraph.find(operand)));
                added.push(child);
            }
        }
        added
    }

    /// The chosen expressions.
    fn exprs(&self, inputs: &[Symbol]) -> (Exprs, Vec<ExprId>) {
        let mut exprs = Exprs::new();
        let mut at: Vec<Option<ExprId>> = vec![None; self.nodes.len()];
        let place = |at: &[Option<ExprId>], id: Id| at[usize::from(id)].expect("operands come first");
        let complete = self.walk(|id, node| {
            let node = from_egg(node, inputs, |child| place(&at, child));
            at[usize::from(id)] = Some(exprs.add(node));
        });
        complete.expect("a choice is kept only if it is complete");
        (exprs, self.roots.iter().map(|root| place(&at, *root)).collect())
    }
}
