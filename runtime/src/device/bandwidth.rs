//! Memory bandwidth of a device, measured by copies. The speed of memory-bound kernels is compared with it.

use lbm_bundle::Target;

use crate::device::{Device, DeviceError};

/// Seconds of copying that a measurement takes at least.
const BUDGET: f64 = 0.2;

/// Least number of copies.
const REPETITIONS: usize = 5;

/// Bytes of each of the two arrays, far larger than any cache: 256 MiB on the host, 2 GiB on a GPU.
fn array_bytes(target: Target) -> usize {
    if target.is_gpu() { 1 << 31 } else { 1 << 28 }
}

/// Least bytes of each array if the caller limits the size: larger than most caches, yet allocated within milliseconds.
const LEAST: usize = 16 << 20;

/// Bytes read and written per second by a copy between two large arrays, on all threads of the host or on the GPU. The
/// result is that of the fastest copy.
pub fn copy_bandwidth(device: &Device) -> Result<f64, DeviceError> {
    copy_bandwidth_of(device, array_bytes(device.target()))
}

/// As [`copy_bandwidth`], with arrays of at most `most` bytes (but at least 16 MiB): the bandwidth that kernels on that
/// much data can reach.
pub fn copy_bandwidth_of(device: &Device, most: usize) -> Result<f64, DeviceError> {
    let largest = array_bytes(device.target()).min(most.max(LEAST));
    let bytes = device.memory_available().map_or(largest, |available| largest.min(available / 8)).max(1 << 20);
    let mut from = device.alloc_doubles(bytes / 8)?;
    let mut to = device.alloc_doubles(bytes / 8)?;
    // Pages must be mapped before they are timed; untouched zero pages may all share one physical page.
    from.poison()?;
    device.copy(&from, &mut to)?;
    let (mut best, mut total, mut copies) = (f64::INFINITY, 0.0, 0);
    while copies < REPETITIONS || total < BUDGET {
        let start = device.event()?;
        device.copy(&from, &mut to)?;
        let end = device.event()?;
        let seconds = device.seconds(&start, &end)?;
        best = best.min(seconds);
        total += seconds;
        copies += 1;
    }
    Ok(2.0 * from.bytes() as f64 / best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_copies_at_a_believable_rate() {
        let rate = copy_bandwidth(&Device::host(2).unwrap()).unwrap();
        assert!((1e8..1e13).contains(&rate), "{rate:e} bytes per second");
        let rate = copy_bandwidth_of(&Device::host(2).unwrap(), 1000).unwrap();
        assert!((1e8..1e13).contains(&rate), "{rate:e} bytes per second");
    }
}
