//! The command line as people use it: what it writes, what it says, and how it refuses.

mod bench;
mod lsp;
mod methods;
mod program;
mod refusals;
mod runs;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("lbmc lies in the workspace").to_path_buf()
}

fn lbmc(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lbmc")).args(arguments).current_dir(folder).output().expect("lbmc starts")
}

/// Standard output of a command that must work.
fn works(folder: &Path, arguments: &[&str]) -> String {
    let output = lbmc(folder, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

/// Standard error of a command that must be refused, its line breaks and frames taken out.
fn fails(folder: &Path, arguments: &[&str]) -> String {
    let output = lbmc(folder, arguments);
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", String::from_utf8_lossy(&output.stdout));
    let text = String::from_utf8(output.stderr).expect("text");
    text.split_whitespace().filter(|word| *word != "│").collect::<Vec<_>>().join(" ")
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().expect("a temporary folder")
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).expect("the file is there")).expect("it is JSON")
}
