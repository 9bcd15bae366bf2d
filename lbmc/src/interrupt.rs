//! Ends a run on request: the first signal asks, the second ends the program at once.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{IntoDiagnostic, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Exit status of a run that was asked to end.
pub const STATUS: u8 = 130;

/// From now on SIGINT (Ctrl-C) and SIGTERM set the flag that is returned; the second one ends the program.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(STATUS), interrupted.clone()).into_diagnostic()?;
        flag::register(signal, interrupted.clone()).into_diagnostic()?;
    }
    Ok(interrupted)
}
