//! `lbmc specs`: the shipped methods, a line each; or on how few moments they depend; or the boundary rules of the prelude.

use lbm_dsl::prove::moments::{self, Dependence};
use lbm_dsl::shipped;
use lbm_setup::spec::{self, Spec};
use miette::{Result, miette};
use serde::Serialize;

use super::boundaries::{boundaries, tell};
use crate::cli::Specs;
use crate::terminal;

/// A line of `lbmc specs --json`.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    summary: String,
}

/// Runs the command.
pub fn specs(args: &Specs) -> Result<()> {
    if args.boundaries {
        return boundaries();
    }
    if args.moments {
        return moments();
    }
    for (name, text) in shipped::specs() {
        let summary = spec::summary(text);
        if args.json {
            println!("{}", serde_json::to_string(&Line { name, summary }).expect("plain data has a text"));
        } else {
            println!("{}", terminal::entry(&format!("{name:<24} "), &summary, terminal::width()));
        }
    }
    Ok(())
}

/// A table of how few moments populations after a collision depend on.
fn moments() -> Result<()> {
    let mut rows = vec![["method", "moments", "which", "needs more than second moments"].map(String::from)];
    for (name, _) in shipped::specs() {
        let model = Spec::find(name)?.model_with_all(&[], None)?;
        // What cells read of each other is not among the moments of one.
        if !model.shown().is_empty() {
            continue;
        }
        let found =
            moments::dependence(&model.frozen()).ok_or_else(|| miette!(code = "L0120", "`{name}` has no collision"))?;
        rows.push(row(name, &found));
    }
    tell(&rows);
    Ok(())
}

fn row(name: &str, found: &Dependence) -> [String; 4] {
    let which = match (found.moments.len() == found.populations, found.functions.is_empty()) {
        (true, _) => "all".into(),
        (false, true) => found.list(),
        (false, false) => format!("{}; for any `{}`", found.list(), found.functions.join("`, `")),
    };
    let because = match (found.higher, &found.because) {
        (false, _) => String::new(),
        (true, Some((value, line))) => format!("`{value}`, line {line}"),
        (true, None) => "the populations themselves".into(),
    };
    [format!("`{name}`"), format!("{} of {}", found.moments.len(), found.populations), which, because]
}
