//! Notes and warnings on standard error, unless `--quiet` asks for silence.

use std::collections::BTreeSet;
use std::sync::{Mutex, OnceLock, PoisonError};

use lbm_flows::case::CaseError;
use lbm_setup::notes::Remark;
pub use lbm_setup::notes::note;
use miette::Report;

/// Set once, from the command line: the program has one standard error.
static QUIET: OnceLock<bool> = OnceLock::new();

/// Says whether notes and warnings are left out. Called once, before anything else.
pub fn set_quiet(quiet: bool) {
    QUIET.set(quiet).expect("set once");
    lbm_setup::notes::listen(hear);
    lbm_runtime::device::tell_before_compiling(|_| {
        note("compiling kernels, which takes some seconds; later runs take them from the cache");
    });
}

/// Whether notes, warnings and progress are left out.
pub fn quiet() -> bool {
    QUIET.get().copied().unwrap_or_default()
}

/// Shows why a command fails; what is only advised beside that not with `--quiet`.
pub fn failure(report: Report) {
    let report = match quiet() {
        true => {
            report.downcast::<CaseError>().map_or_else(|other| other, |error| Report::new(error.without_warnings()))
        }
        false => report,
    };
    eprintln!("{report:?}");
}

/// Notes that were given.
static GIVEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

/// Shows a remark; a note once: two stages of a run may find the same cache unusable.
fn hear(remark: Remark<'_>) {
    match remark {
        _ if quiet() => {}
        Remark::Note(text) => {
            if GIVEN.lock().unwrap_or_else(PoisonError::into_inner).insert(text.to_string()) {
                eprintln!("note: {text}");
            }
        }
        Remark::Warning(report) => eprintln!("{report:?}"),
    }
}
