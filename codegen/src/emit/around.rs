//! Fills the part of a [`View`](super::view::View) that is about values which cells show to those around them.

use std::collections::BTreeSet;

use lbm_bundle::Manifest;
use lbm_dsl::expr::{Expr, Symbol};

use super::arithmetic::{formulas, idle};
use super::formula::{Language, Printer, real_name};
use super::method::Around;
use super::view::{Beyond, Formulas, Neighbours, Seen, Value};
use super::walls::offsets;
use crate::ir::{Output, Plan};

/// What cells show, and what is beyond walls.
pub fn view(manifest: &Manifest, plans: &Around) -> Neighbours {
    let plan = plans.expose;
    let place = |output: &Output| output.population.expect("it is stored").index();
    let found = formulas(manifest, plan);
    let outputs = found.outputs.into_iter().zip(plan.dag().outputs());
    let outputs = outputs.map(|(value, output)| Value { at: place(output), ..value }).collect();
    let row = |seen: &lbm_bundle::Seen| manifest.shown[seen.shown as usize].value.to_string();
    let from = |seen: &lbm_bundle::Seen| manifest.directions[seen.direction as usize].opposite.to_string();
    let beyond: Vec<Beyond> =
        plans.beyond.iter().enumerate().flat_map(|(code, plan)| beyond(manifest, code, plan)).collect();
    let reads_values = beyond.iter().flat_map(|rule| &rule.lines).any(|line| line.contains("value["));
    let directions: BTreeSet<u32> = manifest.seen.iter().map(|seen| seen.direction).collect();
    let number = |shown: usize, direction: u32| {
        let at = manifest.seen.iter().position(|seen| (seen.shown as usize, seen.direction) == (shown, direction));
        at.map_or("-1".into(), |at| at.to_string())
    };
    let which = |direction: &u32| {
        let numbers: Vec<String> = (0..manifest.shown.len()).map(|shown| number(shown, *direction)).collect();
        format!("{{{}}},", numbers.join(", "))
    };
    let opposite = |direction: &u32| manifest.directions[*direction as usize].opposite.to_string();
    Neighbours {
        values_shown: manifest.shown.len(),
        first: manifest.shown.first().map_or(0, |shown| shown.value as usize),
        ways: Seen {
            len: directions.len(),
            from: directions.iter().map(opposite).collect::<Vec<_>>().join(", "),
            which: directions.iter().map(which).collect(),
        },
        values: match reads_values {
            true => {
                let real = real_name(manifest.real);
                format!("const {real} *value = wall_values + (size_t)w * {};", manifest.wall_stride)
            }
            false => "(void)wall_values;".into(),
        },
        count: manifest.q() + manifest.seen.len(),
        expose: Formulas { outputs, ..found },
        idle: idle(manifest, plan),
        shown: manifest.seen.iter().map(row).collect::<Vec<_>>().join(", "),
        from: manifest.seen.iter().map(from).collect::<Vec<_>>().join(", "),
        beyond,
    }
}

/// What is beyond walls with the rule of that code, where it is not what the image has.
fn beyond(manifest: &Manifest, code: usize, plan: &Plan) -> Vec<Beyond> {
    let boundary = &manifest.boundaries[code];
    let real = real_name(manifest.real);
    let offsets = offsets(boundary);
    let mirrors = boundary.at_face == lbm_bundle::AtFace::Slip;
    let of_value = |(shown, output): (&lbm_bundle::Shown, &Output)| {
        let at = shown.value as usize;
        if let Expr::Symbol(Symbol::Population(_)) = plan.dag().exprs().get(output.value) {
            // A mirror turns the normal component of a vector round.
            let axis = shown.axis.filter(|_| mirrors)?;
            let lines = vec![format!("return flipped >> {axis} & 1 ? -image : image;")];
            return Some(Beyond { code: code as i32, shown: at, lines });
        }
        let mut printer = Printer::new(plan, manifest.real, Language::C);
        let mut lines = Vec::new();
        let needed = plan.dag().exprs().needed(&[output.value]);
        for (symbol, name) in plan.dag().symbols() {
            let is_needed =
                plan.dag().exprs().iter().any(|(id, node)| needed[id.index()] && *node == Expr::Symbol(*symbol));
            match *symbol {
                _ if !is_needed => {}
                Symbol::Population(_) => printer.spell(*symbol, "image".into()),
                Symbol::WallParam { param, component } => {
                    let from = offsets[usize::from(param)] + u32::from(component);
                    lines.push(format!("const {real} {name} = value[{from}];"));
                }
                _ => {}
            }
        }
        printer.inline_below(output.value);
        for id in printer.needs(output.value) {
            lines.extend(printer.statement(&printer.operand(id), id));
        }
        lines.push(format!("return {};", printer.formula(output.value)));
        Some(Beyond { code: code as i32, shown: at, lines })
    };
    manifest.shown.iter().zip(plan.dag().outputs()).filter_map(of_value).collect()
}
