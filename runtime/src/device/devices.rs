//! Several devices that run one simulation, each with its own subdomains.
//!
//! Launches on different GPUs are ordered by [`Devices::meet`], without the host; in a graph capture, by their declared
//! accesses. On the host no ordering is needed: a launch is complete when it returns.

use std::sync::Arc;

use super::{Device, DeviceError, Event, Graph};

/// Distinct devices: all GPUs, or one host.
#[derive(Clone)]
pub struct Devices(Vec<Device>);

/// A timing event on each device.
pub struct Events(Vec<Event>);

impl Devices {
    /// The distinct ones among these devices. There must be at least one.
    pub fn new<'a>(devices: impl IntoIterator<Item = &'a Device>) -> Devices {
        let mut all: Vec<Device> = vec![];
        for device in devices {
            if !all.iter().any(|known| known.is(device)) {
                all.push(device.clone());
            }
        }
        Devices(all)
    }

    /// The first device.
    pub fn first(&self) -> &Device {
        &self.0[0]
    }

    /// All devices.
    pub fn iter(&self) -> impl Iterator<Item = &Device> {
        self.0.iter()
    }

    /// Enables peer access between all GPUs, and checks on each that arrays can be backed page by page. Returns a
    /// notice for each pair without peer access and for each GPU without paged arrays.
    pub fn connect(&self) -> Result<Vec<String>, DeviceError> {
        let mut notices = vec![];
        for device in &self.0 {
            for other in self.0.iter().filter(|other| !other.is(device)) {
                if let (Some(number), Some(others)) = (device.ordinal(), other.ordinal())
                    && !device.backend.reach(&*other.backend)?
                {
                    notices.push(format!(
                        "GPU {number} cannot reach the memory of GPU {others}: what crosses goes through the host, which is slow, and steps are not recorded"
                    ));
                }
            }
        }
        for device in &self.0 {
            if let (Some(number), Err(error)) = (device.ordinal(), device.backend.check_pages()) {
                notices.push(format!("arrays take as much memory on GPU {number} as on one alone: {error}"));
            }
        }
        Ok(notices)
    }

    /// Whether all devices are GPUs on which arrays can be backed page by page. [Connects](Self::connect) them first.
    pub fn share_memory(&self) -> Result<bool, DeviceError> {
        self.connect()?;
        Ok(self.0.iter().all(|device| device.ordinal().is_some() && device.backend.has_pages()))
    }

    /// Whether every device has peer access to the memory of all others.
    pub fn reach_each_other(&self) -> Result<bool, DeviceError> {
        for (device, other) in self.0.iter().flat_map(|device| self.0.iter().map(move |other| (device, other))) {
            if !device.is(other) && !device.backend.reach(&*other.backend)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Makes later work of every device wait for all earlier work of all devices. No effect in a graph capture.
    pub fn meet(&self) -> Result<(), DeviceError> {
        let (first, others) = (&self.0[0], &self.0[1..]);
        others.iter().try_for_each(|other| first.wait_for(other))?;
        others.iter().try_for_each(|other| other.wait_for(first))
    }

    /// Blocks until all launches have completed.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.0.iter().try_for_each(Device::synchronize)
    }

    /// Timing events in the streams of all devices.
    pub fn event(&self) -> Result<Events, DeviceError> {
        Ok(Events(self.0.iter().map(Device::event).collect::<Result<_, _>>()?))
    }

    /// Seconds between two sets of events, on the slowest device. Blocks until the later events are reached.
    pub fn seconds(&self, from: &Events, to: &Events) -> Result<f64, DeviceError> {
        let mut longest = 0.0f64;
        for ((device, from), to) in self.0.iter().zip(&from.0).zip(&to.0) {
            longest = longest.max(device.seconds(from, to)?);
        }
        Ok(longest)
    }

    /// Marks the end of all work so far, for [`Self::beside`].
    pub fn mark(&self) -> Result<(), DeviceError> {
        self.0.iter().try_for_each(|device| device.backend.mark())
    }

    /// Calls `work`, in which writes that are enqueued and replays wait for what was launched before the last [mark](Self::mark) alone; later
    /// work waits for them. They must not access what launches since then write, nor write what these access.
    pub fn beside<E: From<DeviceError>>(&self, work: impl FnOnce() -> Result<(), E>) -> Result<(), E> {
        self.0.iter().try_for_each(|device| device.backend.begin_beside())?;
        let worked = work();
        self.0.iter().try_for_each(|device| device.backend.end_beside())?;
        worked
    }

    /// Captures the launches that `work` makes on all devices as one graph; see [`Device::record`].
    pub fn record(&self, work: impl FnOnce() -> Result<(), DeviceError>) -> Result<Option<Graph>, DeviceError> {
        self.first().backend.record(&self.0, Box::new(work))
    }
}

impl Device {
    /// Whether both are the same device.
    pub fn is(&self, other: &Device) -> bool {
        Arc::ptr_eq(&self.backend, &other.backend)
    }

    /// Whether kernels loaded on `other` can be launched on arrays of this device.
    pub(crate) fn has_kernels_of(&self, other: &Device) -> bool {
        self.is(other) || self.backend.runs_kernels_of(&*other.backend)
    }

    /// Makes later work of this device wait for all earlier work of `other`.
    fn wait_for(&self, other: &Device) -> Result<(), DeviceError> {
        self.backend.wait_for(&*other.backend)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_counted_once_and_parts_of_the_host_are_one() {
        let (host, other) = (Device::host(1).unwrap(), Device::host(1).unwrap());
        assert_eq!(Devices::new([&host, &host.sparse(), &host.clone()]).iter().count(), 1);
        let both = Devices::new([&host, &other]);
        assert_eq!(both.iter().count(), 2);
        assert!(both.connect().unwrap().is_empty() && !both.share_memory().unwrap());
        let (from, to) = (both.event().unwrap(), both.event().unwrap());
        assert!(both.meet().is_ok() && both.seconds(&from, &to).unwrap() >= 0.0);
    }
}
