//! Notes and warnings: what standard error says beside errors, unless `--quiet` asks for silence.

use std::sync::OnceLock;

use miette::Report;

/// Set once, from the command line: the program has one standard error.
static QUIET: OnceLock<bool> = OnceLock::new();

/// Says whether notes and warnings are left out. Called once, before anything else.
pub fn set_quiet(quiet: bool) {
    QUIET.set(quiet).expect("set once");
}

/// Whether notes, warnings and progress are left out.
pub fn quiet() -> bool {
    QUIET.get().copied().unwrap_or_default()
}

/// Something that a user should know.
pub fn note(text: &str) {
    if !quiet() {
        eprintln!("note: {text}");
    }
}

/// Advice.
pub fn warning(report: Report) {
    if !quiet() {
        eprintln!("{report:?}");
    }
}
