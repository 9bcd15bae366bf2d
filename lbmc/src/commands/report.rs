//! `lbmc report`: one page of the results of a run.

use lbm_bundle::plain::shown_line;
use lbm_flows::output::sink::Sink;
use lbm_flows::page::page;
use lbm_setup::files;
use miette::{Result, miette};

use crate::cli::Report;
use crate::notes;

/// Name of the page in the folder of a run.
const NAME: &str = "report.html";

/// Runs the command.
pub fn report(args: &Report) -> Result<()> {
    let help =
        "name the folder of a run, which has its `summary.json` when the run is over: `lbmc report out/cavity2d`";
    let refused = |text: &str| miette!(code = "L0106", help = help, "{}", shown_line(text));
    let made = page(&args.folder).map_err(|error| refused(&error.to_string()))?;
    for file in &made.left_out {
        notes::note(&format!("not on the page: {}", shown_line(file)));
    }
    let path = args.out.clone().unwrap_or_else(|| args.folder.join(NAME));
    match args.out {
        Some(_) => files::write(&path, &made.html)?,
        None => Sink::add_to(&args.folder)?.put(NAME, |out| out.write_all(made.html.as_bytes()))?,
    }
    println!("{}", path.display());
    Ok(())
}
