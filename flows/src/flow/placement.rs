//! Where a flow runs: the processes, and the device of each subdomain of this process. A [`Placement`] is decided before the run and does
//! not change.

use lbm_runtime::device::{Available, Device, DeviceError};
use lbm_runtime::processes::Processes;

use super::processes::available;
use crate::case::Case;

/// Where a flow runs.
#[derive(Clone)]
pub struct Placement {
    /// The device of each subdomain of this process; at least one.
    devices: Vec<Device>,
    processes: Processes,
}

impl Placement {
    /// On the devices that a case requests, in this process alone; `first` is the first of them.
    pub fn of(case: &Case, first: &Device) -> Result<Placement, DeviceError> {
        match first.ordinal() {
            None => Ok(Placement::on(vec![first.clone(); case.devices.count()])),
            Some(_) => Placement::on_gpus(first, case.devices.gpus().into_iter().skip(1)),
        }
    }

    /// On a GPU and on others of the same kind with these numbers.
    pub(super) fn on_gpus(first: &Device, others: impl Iterator<Item = usize>) -> Result<Placement, DeviceError> {
        let others = others.map(|number| Device::gpu(first.target(), number));
        let all = std::iter::once(Ok(first.clone())).chain(others).collect::<Result<Vec<Device>, _>>()?;
        Ok(Placement::on(all))
    }

    fn on(devices: Vec<Device>) -> Placement {
        Placement { devices, processes: Processes::default() }
    }

    /// The same in each of several processes, which run the flow together with the same arguments. The first one writes the files.
    pub fn in_processes(self, processes: &Processes) -> Placement {
        Placement { processes: processes.clone(), ..self }
    }

    /// The device of each subdomain of this process.
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// The first of these devices.
    pub fn first(&self) -> &Device {
        &self.devices[0]
    }

    /// The processes.
    pub fn processes(&self) -> &Processes {
        &self.processes
    }

    /// Number of subdomains in all processes.
    pub fn subdomains(&self) -> usize {
        self.devices.len() * self.processes.count()
    }

    /// Memory available to a run, the same in all processes.
    pub(super) fn available(&self) -> Available {
        available(&self.processes, &self.devices)
    }

    /// The devices of this process: `CPU, 2 threads, in 3 parts`, `NVIDIA H200 (sm_90), in 2 parts on GPUs 0, 1`.
    pub fn describe(&self) -> String {
        let numbers: Vec<String> = self.devices.iter().filter_map(Device::ordinal).map(|at| at.to_string()).collect();
        let parts = match (self.devices.len(), &numbers[..]) {
            (1, _) => String::new(),
            (count, []) => format!(", in {count} parts"),
            (count, numbers) => format!(", in {count} parts on GPUs {}", numbers.join(", ")),
        };
        self.first().describe() + &parts
    }
}
