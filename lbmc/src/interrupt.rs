//! Signals: the first asks a run to end, the second ends the program at once; a file that gets too long is an error.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use miette::{IntoDiagnostic, Result};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGXFSZ};
use signal_hook::{flag, low_level};

use crate::status::ENDED;

/// The same signals that are as close to the first as this ask for it once: `timeout` sends one to the program and one to its group.
const TOGETHER: Duration = Duration::from_millis(200);

/// From now on SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal was closed) set the flag that is returned. SIGINT or SIGTERM
/// after that ends the program, unless it is the same together with the first. SIGHUP does not, because a terminal that is closed gives it more than
/// once; and under `nohup` it stays without effect.
pub fn watch() -> Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    let began = Instant::now();
    for signal in [SIGINT, SIGTERM] {
        // Nanoseconds until which others come together with it, if it is the first; else 0.
        let (interrupted, until) = (interrupted.clone(), AtomicU64::new(0));
        let asked = move || {
            let now = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            if !interrupted.swap(true, Ordering::Relaxed) {
                until.store(now.saturating_add(TOGETHER.as_nanos() as u64), Ordering::Relaxed);
            } else if now > until.load(Ordering::Relaxed) {
                low_level::exit(i32::from(ENDED));
            }
        };
        register(signal, asked)?;
    }
    if !is_ignored(SIGHUP) {
        flag::register(SIGHUP, interrupted.clone()).into_diagnostic()?;
    }
    Ok(interrupted)
}

/// Calls a function at each signal.
#[allow(unsafe_code)]
fn register(signal: i32, asked: impl Fn() + Send + Sync + 'static) -> Result<()> {
    // SAFETY: the only function that is given reads a clock and changes atomic numbers, or exits without cleaning up.
    unsafe { low_level::register(signal, asked) }.into_diagnostic().map(drop)
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
