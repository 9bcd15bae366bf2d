//! A run in several processes: what they must agree on before it starts, and the memory that they have together.

use lbm_runtime::device::{Available, Device, DeviceError, Devices};
use lbm_runtime::processes::{ProcessError, Processes};
use lbm_runtime::program;
use lbm_runtime::solver::{Adaptivity, SHARE_OF_MEMORY};

use crate::case::InputFile;
use crate::restart::{Identity, Restart};

/// Refuses processes with different programs, cases or restart files.
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
    let program = program::file().and_then(std::fs::read).unwrap_or_default();
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

/// The minimum over all processes of the available memory divided by `sharing`, the number of processes that share it.
fn least(processes: &Processes, available: Option<usize>, sharing: usize) -> Option<usize> {
    let own = available.map_or(u64::MAX, |available| (available / sharing.max(1)) as u64);
    Some(processes.min(own)).filter(|least| *least < u64::MAX).map(|least| least as usize)
}

/// Memory of all hosts together, assuming that each process has as much as the one with the least.
fn together(processes: &Processes, available: Option<usize>) -> Option<usize> {
    least(processes, available, processes.on_host()).map(|least| least.saturating_mul(processes.count()))
}

/// The largest number of processes with subdomains on any one of these GPUs.
fn sharing(processes: &Processes, devices: &[Device]) -> usize {
    let own: Vec<[u8; 16]> = devices.iter().filter_map(Device::hardware).collect();
    let all = processes.allgather(&own.concat());
    let having = |gpu: &[u8; 16]| all.iter().filter(|others| others.as_chunks().0.contains(gpu)).count();
    own.iter().map(having).max().unwrap_or(1)
}

/// Memory available to a run, the same in all processes: host memory for all processes together, and GPU memory per
/// GPU.
pub fn available(processes: &Processes, devices: &[Device]) -> Available {
    let available = Available::on_each(devices);
    if !processes.are_several() {
        return available;
    }
    let device = match devices[0].target().is_gpu() {
        false => together(processes, available.device),
        true => least(processes, available.device, sharing(processes, devices)),
    };
    Available { device, host: together(processes, available.host) }
}

/// The settings for an adaptive grid that several processes share, each with these devices, within the available
/// memory: all GPUs share its blocks.
pub(super) fn on(
    processes: &Processes,
    devices: &[Device],
    available: Available,
    grid: Adaptivity,
) -> Result<Adaptivity, DeviceError> {
    if !processes.are_several() {
        return grid.on(devices);
    }
    let shares = devices[0].target().is_gpu() && Devices::new(devices).share_memory()?;
    let sharing = if processes.any(!shares) { 1 } else { devices.len() * processes.count() };
    let memory = grid.memory.or(available.device.map(|bytes| (SHARE_OF_MEMORY * bytes as f64) as usize));
    Ok(Adaptivity { memory, sharing, ..grid })
}
