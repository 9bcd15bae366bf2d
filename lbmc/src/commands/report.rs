//! `lbmc report`: one page of the results of a run.

use std::path::Path;

use lbm_bundle::plain::shown_line;
use lbm_flows::page::{NAME, PageError, add, page};
use lbm_setup::files;
use miette::{Result, miette};

use crate::cli::Report;
use crate::notes;

/// Adds the page to the results of a run that has ended: whether there is one now. If not, the run is as good as it was.
pub fn add_to(folder: &Path) -> bool {
    match add(folder) {
        Ok(left_out) => {
            tell(&left_out);
            true
        }
        Err(error) => {
            notes::note(&format!("no page of the results: {}", shown_line(&error.to_string())));
            false
        }
    }
}

fn tell(left_out: &[String]) {
    left_out.iter().for_each(|file| notes::note(&format!("not on the page: {}", shown_line(file))));
}

/// Runs the command.
pub fn report(args: &Report) -> Result<()> {
    let help =
        "name the folder of a run, which has its `summary.json` when the run is over: `lbmc report out/cavity2d`";
    let refused = |text: &str| miette!(code = "L0106", help = help, "{}", shown_line(text));
    let fail = |error| match error {
        PageError::Unwritten(error) => {
            miette!(code = "C0601", help = "write the page elsewhere: `--out FILE.html`", "{error}")
        }
        error => refused(&error.to_string()),
    };
    let (path, left_out) = match &args.out {
        Some(path) => {
            let made = page(&args.folder).map_err(fail)?;
            files::write(path, &made.html)?;
            (path.clone(), made.left_out)
        }
        None => (args.folder.join(NAME), add(&args.folder).map_err(fail)?),
    };
    tell(&left_out);
    println!("{}", path.display());
    Ok(())
}
