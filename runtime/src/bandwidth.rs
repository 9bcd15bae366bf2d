//! How fast the device can copy: what the speed of a memory-bound kernel is measured against.

use crate::device::{Device, DeviceError, Scalar};

/// Bytes of each of the two arrays at most; far beyond any cache.
const LARGEST: usize = 1 << 28;

/// Copies that are timed; the best counts.
const REPETITIONS: usize = 5;

/// Bytes read and written per second by a copy between two large arrays, on all threads of the host or on the GPU.
pub fn copy_bandwidth(device: &Device) -> Result<f64, DeviceError> {
    let bytes = device.memory_available().map_or(LARGEST, |available| LARGEST.min(available / 8)).max(1 << 20);
    let mut from = device.alloc(Scalar::F64, bytes / 8)?;
    let mut to = device.alloc(Scalar::F64, bytes / 8)?;
    // Pages must exist before they are timed, and pages of zeros may all be one.
    from.poison()?;
    device.copy(&from, &mut to)?;
    let mut best = f64::INFINITY;
    for _ in 0..REPETITIONS {
        let start = device.mark()?;
        device.copy(&from, &mut to)?;
        let end = device.mark()?;
        best = best.min(device.seconds(&start, &end)?);
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
    }
}
