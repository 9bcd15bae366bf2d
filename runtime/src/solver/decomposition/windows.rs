//! The windows of a flow in several processes: memory of GPUs into which GPUs of other processes of the host write.

use std::ops::Range;

use crate::device::{Device, DeviceError, Window};
use crate::mesh::SubdomainId;
use crate::processes::Processes;
use crate::solver::error::StepError;
use crate::solver::subdomain::Subdomain;

/// Windows of the devices of all subdomains, as this process reaches them.
pub(crate) struct Windows {
    /// The subdomains of this process.
    here: Range<usize>,
    /// For each of these, its own window and those of subdomains of other processes, by their numbers.
    reached: Vec<Vec<Option<Window>>>,
    /// Bytes of each window.
    bytes: usize,
}

/// A window and its handle.
type Shared = Option<(Window, Vec<u8>)>;

/// Windows of subdomains of this process.
fn own(here: &[Subdomain], bytes: usize) -> Result<Vec<Shared>, DeviceError> {
    here.iter().map(|subdomain| Window::new(subdomain.program().device(), bytes)).collect()
}

impl Windows {
    /// Windows of some bytes; a collective call. Otherwise why values go through the host, in all processes the same; nothing where they are
    /// on the host anyway.
    pub(crate) fn new(
        here: &[Subdomain],
        numbers: &Range<usize>,
        processes: &Processes,
    ) -> Result<Windows, Option<String>> {
        let windows = Windows { here: numbers.clone(), reached: vec![], bytes: 0 };
        let devices = || here.iter().map(|subdomain| subdomain.program().device());
        // GPUs that do not say which they are have no windows either.
        let own: Vec<u8> = devices().filter_map(Device::hardware).flatten().collect();
        let mut all: Vec<[u8; 16]> = processes.allgather(&own).concat().as_chunks().0.to_vec();
        if devices().any(|device| device.ordinal().is_none()) {
            return Err(None);
        }
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        if processes.on_host() < processes.count() {
            return Err(Some("the processes are on several hosts".into()));
        }
        if all.len() < count {
            return Err(Some("processes share a GPU".into()));
        }
        windows.enlarged(here, processes, 1).map_err(Some)
    }

    /// The same with windows of `bytes` bytes, in which there is nothing; a collective call. Otherwise why that is not possible, in all
    /// processes the same.
    fn enlarged(self, here: &[Subdomain], processes: &Processes, bytes: usize) -> Result<Windows, String> {
        // No device has windows of others open when these are freed.
        let Windows { here: numbers, mut reached, .. } = self;
        let before: Vec<Option<Window>> =
            reached.iter_mut().zip(numbers.clone()).map(|(reached, number)| reached[number].take()).collect();
        drop(reached);
        processes.numbers(0);
        drop(before);
        let own = own(here, bytes);
        let handles: Vec<u8> = own.iter().flatten().flatten().flat_map(|(_, handle)| handle.clone()).collect();
        let all = processes.allgather(&handles).concat();
        let length = all.len() / (processes.count() * numbers.len());
        let reached = own.map_err(|error| error.to_string()).and_then(|own| {
            let mut reached = vec![];
            for ((subdomain, own), number) in here.iter().zip(own).zip(numbers.clone()) {
                let device = subdomain.program().device();
                let (mut own, mut row) = (own.map(|(window, _)| window), vec![]);
                for (other, handle) in all.chunks(length.max(1)).enumerate() {
                    row.push(match (other == number, numbers.contains(&other)) {
                        (true, _) => own.take(),
                        (_, true) => None,
                        (_, false) => Some(Window::open(device, handle, bytes).map_err(|error| error.to_string())?),
                    });
                }
                reached.push(row);
            }
            let is_whole = length > 0 && all.len() == length * processes.count() * numbers.len();
            if is_whole { Ok(reached) } else { Err("a GPU shares no memory with other processes".to_string()) }
        });
        let said = reached.as_ref().err().cloned().unwrap_or_default();
        match processes.allgather(said.as_bytes()).into_iter().find(|said| !said.is_empty()) {
            Some(said) => Err(String::from_utf8_lossy(&said).into_owned()),
            None => Ok(Windows { here: numbers, reached: reached?, bytes }),
        }
    }

    /// Waits until no message is under way, and gives windows room for `bytes` bytes, with all flags at 0; a collective call.
    pub(crate) fn make_room(
        mut self,
        here: &[Subdomain],
        processes: &Processes,
        bytes: usize,
    ) -> Result<Windows, StepError> {
        here.iter().try_for_each(|subdomain| subdomain.program().device().synchronize())?;
        processes.numbers(0);
        if bytes <= self.bytes {
            for (row, number) in self.reached.iter_mut().zip(self.here.clone()) {
                row[number].as_mut().map_or(Ok(()), Window::clear)?;
            }
            processes.numbers(0);
            return Ok(self);
        }
        // On grids that follow the flow, messages become longer.
        self.enlarged(here, processes, bytes + bytes / 2).map_err(|reason| {
            let device = here[0].program().device().describe();
            StepError::Device(DeviceError::Driver {
                device,
                action: "share memory with other processes".into(),
                reason,
            })
        })
    }

    /// The window of a subdomain of this process, by its index, and that of one in another process.
    pub(crate) fn between(&mut self, index: usize, other: SubdomainId) -> Option<(&mut Window, &mut Window)> {
        let row = &mut self.reached[index];
        let [own, other] = row.get_disjoint_mut([self.here.start + index, other.index()]).ok()?;
        Some((own.as_mut()?, other.as_mut()?))
    }
}
