//! `lbmc new`: a spec and a case to start from.

use std::path::Path;

use lbm_setup::files;
use miette::{Result, miette};

use crate::cli::New;

const METHOD: &str = include_str!("method.lbm");
const CASE: &str = include_str!("case.toml");

/// Runs the command.
pub fn new(args: &New) -> Result<()> {
    let name = &args.name;
    let letters = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !letters || !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Err(miette!(
            code = "L0114",
            help = "take letters, digits and `_`, a letter first: the kernels bear this name",
            "`{name}` is no name of a method"
        ));
    }
    let texts = [(format!("{name}.lbm"), METHOD), (format!("{name}.toml"), CASE)];
    if let Some((taken, _)) = texts.iter().find(|(file, _)| Path::new(file).exists()) {
        return Err(miette!(
            code = "L0115",
            help = "choose another name, or move the file away",
            "`{taken}` is there already; nothing was written"
        ));
    }
    for (file, text) in &texts {
        files::write(Path::new(file), text.replace("NAME", name))?;
        println!("wrote {file}");
    }
    println!("\nnext");
    println!("  lbmc check {name}.lbm                 what is proved about it, and its viscosity");
    println!("  lbmc run {name}.toml                  a lid-driven cavity with it");
    println!("  lbmc gen {name}.lbm --out {name}      its kernels, for other programs");
    Ok(())
}
