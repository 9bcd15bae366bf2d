//! `lbmc fmt`: specs in the house style.

use std::path::Path;

use lbm_bundle::input::{self, Limit};
use lbm_bundle::plain::shown_line;
use lbm_dsl::format::format;
use lbm_dsl::source::Source;
use lbm_setup::files;
use miette::{Result, miette};

use crate::cli::Fmt;

/// Runs the command.
pub fn fmt(args: &Fmt) -> Result<()> {
    let mut unlike: Vec<String> = Vec::new();
    for file in &args.files {
        let stream = file == Path::new("-");
        let (name, text) = if stream { ("standard input".to_string(), input()?) } else { read(file)? };
        let formatted = format(&Source::new(&name, &text))?;
        if args.check {
            if formatted != text {
                unlike.push(name);
            }
        } else if stream {
            print!("{formatted}");
        } else if formatted != text {
            files::write(file, &formatted)?;
            println!("formatted {name}");
        }
    }
    if unlike.is_empty() {
        return Ok(());
    }
    Err(miette!(
        code = "L0113",
        help = "run `lbmc fmt` on them without --check",
        "not in the house style: {}",
        unlike.join(", ")
    ))
}

fn read(file: &Path) -> Result<(String, String)> {
    Ok((shown_line(&file.display().to_string()), files::read(file, Limit::SPEC)?))
}

fn input() -> Result<String> {
    input::text_from(std::io::stdin(), "standard input", Limit::SPEC).map_err(|error| files::unreadable(&error))
}
