//! Signals: the first asks a run to end, the second ends the program at once; a file that gets too long is an error.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use miette::{IntoDiagnostic, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::flag;

use crate::status::ENDED;

/// From now on SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed) set the flag that is returned. SIGINT or SIGTERM
/// after that ends the program. SIGHUP does not, because a terminal that is closed gives it more than once; and under `nohup`
/// it stays without effect.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        // In this order: the first signal finds the flag unset.
        flag::register_conditional_shutdown(signal, i32::from(ENDED), interrupted.clone()).into_diagnostic()?;
        flag::register(signal, interrupted.clone()).into_diagnostic()?;
    }
    if !is_ignored(SIGHUP) {
        flag::register(SIGHUP, interrupted.clone()).into_diagnostic()?;
    }
    Ok(interrupted)
}

/// From now on SIGUSR1 sets the flag, too: mpirun passes it on to the processes that it has started, and ends them a second after SIGINT or
/// SIGTERM.
pub fn watch_passed_on(interrupted: &Arc<AtomicBool>) -> Result<()> {
    flag::register(SIGUSR1, interrupted.clone()).into_diagnostic().map(drop)
}

/// From now on writing beyond the greatest length of a file (`ulimit -f`) fails, instead of ending the program by SIGXFSZ.
pub fn long_files_are_errors() -> io::Result<()> {
    // Any handler does; that nothing is ignored keeps the programs that are started as they were.
    flag::register(SIGXFSZ, Arc::default()).map(drop)
}

/// Whether the program was started with a signal ignored.
#[allow(unsafe_code)]
fn is_ignored(signal: i32) -> bool {
    // SAFETY: a `sigaction` of zeros is one; with no new action the call only writes the present one to where it may.
    unsafe {
        let mut present: libc::sigaction = std::mem::zeroed();
        libc::sigaction(signal, std::ptr::null(), &mut present) == 0 && present.sa_sigaction == libc::SIG_IGN
    }
}
