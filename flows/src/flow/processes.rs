//! A run in several processes: what they must agree on before it begins, and what they may take together.

use lbm_runtime::device::{Available, Device};
use lbm_runtime::processes::{ProcessError, Processes};
use lbm_runtime::solver::SHARE_OF_MEMORY;

use crate::case::InputFile;
use crate::restart::{Identity, Restart};

/// Refuses processes of another program, another case, or that go on from another file.
pub(super) fn agree(
    processes: &Processes,
    identity: &Identity,
    inputs: &[InputFile],
    restart: Option<&Restart>,
) -> Result<(), ProcessError> {
    if !processes.are_several() {
        return Ok(());
    }
    let mut hash = blake3::Hasher::new();
    let program = std::env::current_exe().and_then(std::fs::read).unwrap_or_default();
    hash.update(blake3::hash(&program).as_bytes());
    hash.update(&serde_json::to_vec(identity).unwrap_or_default());
    for InputFile { name, bytes } in inputs {
        hash.update(name.as_bytes()).update(blake3::hash(bytes).as_bytes());
    }
    if let Some(restart) = restart {
        hash.update(&serde_json::to_vec(restart.course()).unwrap_or_default());
    }
    processes.agree(hash.finalize().as_bytes())
}

/// Memory of all hosts together, where each has as much as the one that has least for a process.
fn together(processes: &Processes, available: Option<usize>) -> Option<usize> {
    let own = available.map_or(u64::MAX, |available| (available / processes.on_host()) as u64);
    match processes.least(own) {
        u64::MAX => None,
        least => Some((least as usize).saturating_mul(processes.count())),
    }
}

/// What is available to a run: to all of several processes, the same in each.
pub fn available(processes: &Processes, devices: &[Device]) -> Available {
    let available = Available::on_each(devices);
    if !processes.are_several() {
        return available;
    }
    let [device, host] = [available.device, available.host].map(|bytes| together(processes, bytes));
    Available { device, host }
}

/// Bytes that a grid may take that is to be the same in several processes.
pub(super) fn memory(processes: &Processes, available: Available) -> Option<usize> {
    let all = available.device.filter(|_| processes.are_several())?;
    Some((SHARE_OF_MEMORY * all as f64) as usize)
}
