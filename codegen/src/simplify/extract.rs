//! In: expressions. Out: cheaper ones of the same values.
//!
//! The e-graph holds the forms that the rules reach within their limits; what comes out is one form for each class, so
//! that the whole, with everything shared paid once, is cheap. egg's own extractor prices trees. Here a choice starts from
//! the forms that came in and from the cheapest trees, and is improved class by class until nothing changes.

use egg::{EGraph, Id, Language, Runner};
use lbm_dsl::expr::{Expr, ExprId, Exprs, Symbol};

use super::cost::node_price;
use super::lang::{Folding, Math, from_egg, to_egg};
use super::rules::{rewrites, table};

/// Limits of the e-graph. Time is none of them: the same input must give the same bytes on every machine.
const ITERATIONS: usize = 4;
const NODES: usize = 12_000;

/// Most rounds of improvement.
const ROUNDS: usize = 6;

/// Lets the e-graph find cheaper forms.
pub(super) fn saturate(exprs: &Exprs, roots: &[ExprId]) -> (Exprs, Vec<ExprId>) {
    let (expr, inputs) = to_egg(exprs);
    let mut egraph = EGraph::new(Folding);
    let mut classes = Vec::new();
    for node in expr.as_ref() {
        let node = node.clone().map_children(|id| classes[usize::from(id)]);
        classes.push(egraph.add(node));
    }
    let runner =
        Runner::<Math, Folding>::new(Folding).with_egraph(egraph).with_iter_limit(ITERATIONS).with_node_limit(NODES);
    // No time passes for egg, and it does not calibrate its clock, which takes a fifth of a second.
    let (still, _) = quanta::Clock::mock();
    let egraph = quanta::with_clock(&still, || runner.run(&rewrites(&table()))).egraph;
    let size = egraph.classes().map(|class| usize::from(class.id) + 1).max().unwrap_or(0);
    let mut given: Vec<Option<Math>> = vec![None; size];
    for (node, class) in expr.as_ref().iter().zip(&classes) {
        let node = node.clone().map_children(|id| egraph.find(classes[usize::from(id)]));
        given[usize::from(egraph.find(*class))].get_or_insert(node);
    }
    let roots: Vec<Id> = roots.iter().map(|root| egraph.find(classes[root.index()])).collect();
    let mut choice = Choice { uses: vec![0; given.len()], nodes: given, roots: &roots };
    choice.improve(&egraph);
    choice.exprs(&inputs)
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
    /// How often each class is a root or an operand of a class that is needed.
    uses: Vec<u32>,
}

/// What a change of the choice would do.
#[derive(Default)]
struct Change {
    /// To the price of everything needed, each class once.
    price: i64,
    /// Classes with a use more and with one less.
    more: Vec<Id>,
    fewer: Vec<Id>,
    /// Whether a class is needed that has no node.
    incomplete: bool,
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

    /// Classes needed, operands first; none if the choice is cyclic or incomplete.
    fn needed(&self) -> Option<Vec<Id>> {
        let mut order = Vec::new();
        self.walk(|id, _| order.push(id))?;
        Some(order)
    }

    /// Counts uses of operands, and of theirs where an operand was not needed before.
    fn take(&mut self, operands: &[Id], change: &mut Change) {
        let mut left = operands.to_vec();
        while let Some(id) = left.pop() {
            let at = usize::from(id);
            self.uses[at] += 1;
            change.more.push(id);
            if self.uses[at] == 1 {
                let Some(node) = &self.nodes[at] else {
                    change.incomplete = true;
                    continue;
                };
                change.price += i64::from(node_price(node));
                left.extend(node.children());
            }
        }
    }

    /// Counts uses of operands no longer, nor of theirs where an operand is needed no longer.
    fn leave(&mut self, operands: &[Id], change: &mut Change) {
        let mut left = operands.to_vec();
        while let Some(id) = left.pop() {
            let at = usize::from(id);
            self.uses[at] -= 1;
            change.fewer.push(id);
            if let (0, Some(node)) = (self.uses[at], &self.nodes[at]) {
                change.price -= i64::from(node_price(node));
                left.extend(node.children());
            }
        }
    }

    /// Undoes the counting.
    fn undo(&mut self, change: &Change) {
        for id in &change.fewer {
            self.uses[usize::from(*id)] += 1;
        }
        for id in &change.more {
            self.uses[usize::from(*id)] -= 1;
        }
    }

    /// Gives a class that is needed another node if the whole is cheaper then; whether it is.
    fn exchange(&mut self, egraph: &EGraph<Math, Folding>, id: Id, node: Math) -> bool {
        let added = self.complete(egraph, &node);
        let mut change = Change { price: i64::from(node_price(&node)), ..Change::default() };
        self.take(node.children(), &mut change);
        let old = self.nodes[usize::from(id)].replace(node).expect("what is needed has a node");
        change.price -= i64::from(node_price(&old));
        self.leave(old.children(), &mut change);
        // Uses are counted rightly unless the choice is cyclic, which is looked at where it matters.
        let cheaper = change.price < 0 && !change.incomplete && self.walk(|_, _| ()).is_some();
        if !cheaper {
            self.undo(&change);
            self.nodes[usize::from(id)] = Some(old);
            for class in added {
                self.nodes[usize::from(class)] = None;
            }
        }
        cheaper
    }

    fn improve(&mut self, egraph: &EGraph<Math, Folding>) {
        for round in 0..ROUNDS {
            let Some(needed) = self.needed() else { return };
            if round == 0 {
                self.take(self.roots, &mut Change::default());
            }
            let mut better = false;
            for id in needed {
                for node in &egraph[id].nodes {
                    if self.uses[usize::from(id)] > 0 {
                        let node = node.clone().map_children(|child| egraph.find(child));
                        better |= self.exchange(egraph, id, node);
                    }
                }
            }
            if !better {
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

    /// The chosen expressions; a negated constant is a constant.
    fn exprs(&self, inputs: &[Symbol]) -> (Exprs, Vec<ExprId>) {
        let mut exprs = Exprs::new();
        let mut at: Vec<Option<ExprId>> = vec![None; self.nodes.len()];
        let place = |at: &[Option<ExprId>], id: Id| at[usize::from(id)].expect("operands come first");
        let complete = self.walk(|id, node| {
            at[usize::from(id)] = Some(match from_egg(node, inputs, |child| place(&at, child)) {
                Expr::Neg(a) => exprs.neg(a),
                node => exprs.add(node),
            });
        });
        complete.expect("a choice is kept only if it is complete");
        (exprs, self.roots.iter().map(|root| place(&at, *root)).collect())
    }
}
