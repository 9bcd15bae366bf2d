//! `lbmc specs`: the shipped methods, a line each.

use lbm_dsl::shipped;
use miette::Result;

/// Runs the command.
pub fn specs() -> Result<()> {
    for (name, text) in shipped::specs() {
        let summary = text.lines().next().unwrap_or_default().trim_start_matches('/').trim();
        println!("{name:<16} {summary}");
    }
    Ok(())
}
