//! Amounts of memory, and the memory that is available.

use std::fmt;

use super::Device;

/// An amount of memory in readable form: `1.5 GiB`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bytes(pub usize);

impl fmt::Display for Bytes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const UNITS: [&str; 6] = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
        let (mut amount, mut unit) = (self.0 as f64 / 1024.0, 0);
        // An amount that would print as 1024.0 is printed in the next unit.
        while amount >= 1023.95 && unit + 1 < UNITS.len() {
            (amount, unit) = (amount / 1024.0, unit + 1);
        }
        write!(out, "{amount:.1} {}", UNITS[unit])
    }
}

/// Memory that can be allocated, in bytes; `None` if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// On the device that runs the kernels.
    pub device: Option<usize>,
    /// On the host, where fields are gathered for output.
    pub host: Option<usize>,
}

impl Available {
    /// The memory available at present.
    pub fn on(device: &Device) -> Available {
        Available::on_each([device])
    }

    /// The memory available at present: that of the device with the least, and that of the host.
    pub fn on_each<'a>(devices: impl IntoIterator<Item = &'a Device>) -> Available {
        let device = devices.into_iter().filter_map(Device::memory_available).min();
        Available { device, host: super::host_memory() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_amount_has_one_digit_and_the_unit_that_fits() {
        let texts = [0, 1536, 1 << 20, (1 << 30) - 1, 5 << 39, usize::MAX].map(|bytes| Bytes(bytes).to_string());
        assert_eq!(texts, ["0.0 KiB", "1.5 KiB", "1.0 MiB", "1.0 GiB", "2.5 TiB", "16.0 EiB"]);
    }
}
