//! Devices that work together on one thing, each with a part of it.
//!
//! On GPUs, launches of one are ordered against those of others by [`Devices::meet`], without the host, or in a recording by what they
//! access. On the host nothing has to wait: launches are done when they return.

use super::{Backend, Device, DeviceError, Graph, Mark};

/// Devices, each once; all GPUs, or one host.
#[derive(Clone)]
pub struct Devices(Vec<Device>);

/// A mark in the order of work of each of them.
pub struct Marks(Vec<Mark>);

impl Devices {
    /// These devices, of which there is at least one.
    pub fn new<'a>(devices: impl IntoIterator<Item = &'a Device>) -> Devices {
        let mut all: Vec<Device> = vec![];
        for device in devices {
            if !all.iter().any(|known| known.is(device)) {
                all.push(device.clone());
            }
        }
        Devices(all)
    }

    /// The first.
    pub fn first(&self) -> &Device {
        &self.0[0]
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Device> {
        self.0.iter()
    }

    /// Lets each reach the memory of all others, and have memory for parts of arrays alone. A sentence for each that cannot.
    pub fn connect(&self) -> Result<Vec<String>, DeviceError> {
        let mut notices = vec![];
        for device in &self.0 {
            for other in self.0.iter().filter(|other| !other.is(device)) {
                if let (Backend::Cuda(cuda), Backend::Cuda(peer)) = (&device.backend, &other.backend)
                    && !cuda.reach(peer)?
                {
                    notices.push(format!(
                        "GPU {} cannot reach the memory of GPU {}: what crosses goes through the host, which is slow, and steps are not recorded",
                        cuda.ordinal(),
                        peer.ordinal()
                    ));
                }
            }
        }
        for device in &self.0 {
            if let Backend::Cuda(cuda) = &device.backend
                && let Err(error) = cuda.check_pages()
            {
                notices.push(format!("arrays take as much memory on GPU {} as on one alone: {error}", cuda.ordinal()));
            }
        }
        Ok(notices)
    }

    /// Whether they are GPUs that have memory for parts of arrays alone; [connects](Self::connect) them.
    pub fn share_memory(&self) -> Result<bool, DeviceError> {
        self.connect()?;
        let shares = |device: &Device| matches!(&device.backend, Backend::Cuda(cuda) if cuda.has_pages());
        Ok(self.0.iter().all(shares))
    }

    /// Whether each reaches the memory of all others.
    pub fn reach_each_other(&self) -> Result<bool, DeviceError> {
        for (device, other) in self.0.iter().flat_map(|device| self.0.iter().map(move |other| (device, other))) {
            if let (Backend::Cuda(cuda), Backend::Cuda(peer)) = (&device.backend, &other.backend)
                && !cuda.reach(peer)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// What any of them does from now on comes after all that all have been given to do. In a recording that is nothing.
    pub fn meet(&self) -> Result<(), DeviceError> {
        let (first, others) = (&self.0[0], &self.0[1..]);
        others.iter().try_for_each(|other| first.wait_for(other))?;
        others.iter().try_for_each(|other| other.wait_for(first))
    }

    /// Waits until all launches have run.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.0.iter().try_for_each(Device::synchronize)
    }

    /// Marks in the order of work, to measure time from.
    pub fn mark(&self) -> Result<Marks, DeviceError> {
        Ok(Marks(self.0.iter().map(Device::mark).collect::<Result<_, _>>()?))
    }

    /// Seconds from marks to later ones, those of the device that took longest; waits for the later ones.
    pub fn seconds(&self, from: &Marks, to: &Marks) -> Result<f64, DeviceError> {
        let mut longest = 0.0f64;
        for ((device, from), to) in self.0.iter().zip(&from.0).zip(&to.0) {
            longest = longest.max(device.seconds(from, to)?);
        }
        Ok(longest)
    }

    /// Records the launches that `work` makes on all of them as one, as [`Device::record`] does.
    pub fn record(&self, work: impl FnOnce() -> Result<(), DeviceError>) -> Result<Option<Graph>, DeviceError> {
        let gpu = |device: &'_ Device| match &device.backend {
            Backend::Host(_) => None,
            Backend::Cuda(cuda) => Some(cuda.clone()),
        };
        match self.0.iter().map(gpu).collect::<Option<Vec<_>>>() {
            None => Ok(None),
            Some(all) => super::cuda::record(&all, work),
        }
    }
}

impl Device {
    /// Whether another is the same.
    pub fn is(&self, other: &Device) -> bool {
        match (&self.backend, &other.backend) {
            (Backend::Host(one), Backend::Host(other)) => std::sync::Arc::ptr_eq(one, other),
            (Backend::Cuda(one), Backend::Cuda(other)) => one.is(other),
            _ => false,
        }
    }

    /// Whether kernels that are loaded on another can be launched where this one's arrays are.
    pub(crate) fn has_kernels_of(&self, other: &Device) -> bool {
        self.is(other) || matches!((&self.backend, &other.backend), (Backend::Host(_), Backend::Host(_)))
    }

    /// Work of this device from now on comes after all that another has been given to do.
    fn wait_for(&self, other: &Device) -> Result<(), DeviceError> {
        match (&self.backend, &other.backend) {
            (Backend::Cuda(cuda), Backend::Cuda(other)) => cuda.wait_for(other),
            _ => Ok(()),
        }
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
        let (from, to) = (both.mark().unwrap(), both.mark().unwrap());
        assert!(both.meet().is_ok() && both.seconds(&from, &to).unwrap() >= 0.0);
    }
}
