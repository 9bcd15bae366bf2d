//! Sources are short, so that each does one job; one that is longer says why in its first line.

use std::path::{Path, PathBuf};

/// Crates whose sources are read, tests included.
const CRATES: [&str; 4] = ["flows", "lbmc", "runtime", "setup"];

/// Most lines of a source.
const MOST_LINES: usize = 500;

/// How the first line of a longer one begins.
const REASON: &str = "//! Long because ";

/// All sources in a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let paths = entries.map(|entry| entry.expect("a readable entry").path());
    let of = |path: PathBuf| if path.is_dir() { sources(&path) } else { vec![path] };
    paths.flat_map(of).filter(|path| path.extension().is_some_and(|ending| ending == "rs")).collect()
}

/// What is wrong with the length of a text.
fn fault(text: &str) -> Option<String> {
    let lines = text.lines().count();
    match (lines > MOST_LINES, text.starts_with(REASON)) {
        (true, false) => Some(format!("{lines} lines: split it by job, or begin it with `{REASON}...`")),
        (false, true) => Some(format!("{lines} lines are not long: its first line need not say why")),
        _ => None,
    }
}

#[test]
fn a_long_source_says_why() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie in the workspace");
    let mut wrong = vec![];
    for path in CRATES.iter().flat_map(|name| sources(&root.join(name))) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        wrong.extend(fault(&text).map(|fault| format!("{}: {fault}", path.display())));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lengths_are_told_apart() {
    let lines = |count: usize| "line\n".repeat(count);
    let reason = format!("{REASON}it is one table.\n");
    assert!(fault(&lines(MOST_LINES)).is_none() && fault(&(reason.clone() + &lines(MOST_LINES))).is_none());
    assert!(fault(&lines(MOST_LINES + 1)).is_some() && fault(&reason).is_some());
}
