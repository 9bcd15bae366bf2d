//! In: a [`Dag`]. Out: a [`Plan`]: its operations in an order, every temporary named.
//!
//! After: a statement's operands are symbols, constants, values of earlier statements or single-use expressions; the
//! value of every output is a symbol, a constant or a statement. A value with a name of the spec keeps the first such
//! name, an output without one is called as the output, everything else that is shared is `t0`, `t1`, ... in order.

use lbm_dsl::expr::{Expr, ExprId};

use crate::ir::{Dag, Plan, Section, Statement};

/// Puts a kernel in order.
pub fn schedule(dag: Dag) -> Plan {
    let nodes: Vec<(ExprId, &Expr)> = dag.exprs.iter().collect();
    let mut uses = vec![0usize; nodes.len()];
    for (_, node) in &nodes {
        for operand in node.operands() {
            uses[operand.index()] += 1;
        }
    }
    let mut headings: Vec<Option<(String, String, String)>> = vec![None; nodes.len()];
    for named in &dag.lets {
        let heading = (named.name.clone(), named.family.clone(), format!("{}:{}", named.file, named.line));
        headings[named.value.index()].get_or_insert(heading);
    }
    for output in &dag.outputs {
        let family = output.name.split('_').next().unwrap_or_default().to_string();
        headings[output.value.index()].get_or_insert((output.name.clone(), family, String::new()));
    }
    let mut sections: Vec<Section> = Vec::new();
    let mut fresh = 0;
    for (id, node) in nodes {
        if matches!(node, Expr::Const(_) | Expr::Symbol(_)) {
            continue;
        }
        let (name, title, cite) = match headings[id.index()].take() {
            Some(heading) => heading,
            None if uses[id.index()] > 1 => {
                fresh += 1;
                (format!("t{}", fresh - 1), String::new(), String::new())
            }
            None => continue,
        };
        let statement = Statement { name, value: id };
        match sections.last_mut() {
            Some(last) if title.is_empty() || (last.title == title && last.cite == cite) => {
                last.statements.push(statement);
            }
            _ => sections.push(Section { title, cite, statements: vec![statement] }),
        }
    }
    Plan { dag, sections }
}
