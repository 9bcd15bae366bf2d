//! Notes and warnings: what standard error says beside errors, unless `--quiet` asks for silence.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Notes that were given.
static GIVEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Something that a user should know. Once is enough: two stages of a run may find the same cache unusable.
pub fn note(text: &str) {
    if !quiet() && GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_string()) {
        eprintln!("note: {text}");
    }
}

/// Advice.
pub fn warning(report: Report) {
    if !quiet() {
        eprintln!("{report:?}");
    }
}
