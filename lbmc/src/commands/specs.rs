//! `lbmc specs`: the shipped methods, a line each; or the boundary rules of the prelude.

use lbm_dsl::shipped;
use miette::Result;

use super::boundaries::boundaries;
use crate::cli::Specs;

/// Runs the command.
pub fn specs(args: &Specs) -> Result<()> {
    if args.boundaries {
        return boundaries();
    }
    for (name, text) in shipped::specs() {
        let summary = text.lines().next().unwrap_or_default().trim_start_matches('/').trim();
        println!("{name:<16} {summary}");
    }
    Ok(())
}
