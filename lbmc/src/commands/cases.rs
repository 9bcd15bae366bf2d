//! `lbmc cases`: the shipped cases, a line each, or the text of one.

use lbm_setup::cases::{SHIPPED, Shipped};
use miette::{Result, miette};
use serde::Serialize;

use crate::cli::Cases;
use crate::terminal;

/// A line of `lbmc cases --json`.
#[derive(Serialize)]
struct Line {
    name: &'static str,
    summary: &'static str,
    time: &'static str,
}

/// Runs the command.
pub fn cases(args: &Cases) -> Result<()> {
    if let Some(name) = &args.name {
        let case = Shipped::find(name).ok_or_else(|| {
            let near = lbm_flows::case::nearest(name, SHIPPED.iter().map(|case| case.name));
            let help = near.map_or("`lbmc cases` lists them".to_string(), |near| format!("did you mean `{near}`?"));
            miette!(code = "L0102", help = help, "no case `{name}` is shipped")
        })?;
        print!("{}", case.text);
        return Ok(());
    }
    for case in SHIPPED {
        let (name, summary, time) = (case.name, case.summary(), case.time());
        if args.json {
            println!("{}", serde_json::to_string(&Line { name, summary, time }).expect("plain data has a text"));
        } else {
            let what = format!("{} ({time})", summary.trim_end_matches('.'));
            println!("{}", terminal::entry(&format!("{name:<18} "), &what, terminal::width()));
        }
    }
    Ok(())
}
