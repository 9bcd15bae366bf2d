//! `lbmc specs`: the shipped methods, a line each; or the boundary rules of the prelude.

use lbm_dsl::shipped;
use miette::Result;
use serde::Serialize;

use super::boundaries::boundaries;
use crate::cli::Specs;

/// A line of `lbmc specs --json`.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    summary: &'static str,
}

/// Runs the command.
pub fn specs(args: &Specs) -> Result<()> {
    if args.boundaries {
        return boundaries();
    }
    for (name, text) in shipped::specs() {
        let summary = text.lines().next().unwrap_or_default().trim_start_matches('/').trim();
        if args.json {
            println!("{}", serde_json::to_string(&Line { name, summary }).expect("plain data has a text"));
        } else {
            println!("{name:<24} {summary}");
        }
    }
    Ok(())
}
