//! Reading of restart files.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use lbm_bundle::Manifest;
use lbm_bundle::input::{self, Limit, ReadError};
use lbm_runtime::geometry::Block;
use lbm_runtime::solver::Simulation;
use lbm_runtime::solver::restore::Content;

use super::check::Expected;
use super::course::{Course, Sampled, SavedStatistics};
use super::error::RestartError;
use super::head::{CHECKED, Head, LONGEST_HEAD, POPULATIONS};
use super::identity::{Identity, shown};
use crate::case::saved::{FRONT, HASH, MAGIC, VERSION};
use crate::case::{Case, Statistics};

/// No limit: the file is read in pieces, whose sizes are checked against the flow.
const ANY: Limit = Limit { what: "a restart file", bytes: u64::MAX };

/// An open restart file, with its head and leaves read.
pub struct Restart {
    path: PathBuf,
    file: BufReader<File>,
    hash: blake3::Hasher,
    head: Head,
    leaves: Vec<Block>,
    toolchain: Vec<String>,
}

impl Restart {
    /// Opens a file, and checks that it belongs to this flow and that its contents are possible. With `anyway`,
    /// differences of the toolchain are accepted; [`Self::other_toolchain`] lists them.
    pub fn open(
        path: &Path,
        identity: &Identity,
        case: &Case,
        manifest: &Manifest,
        anyway: bool,
    ) -> Result<Restart, RestartError> {
        let (file, total) = input::open(path, ANY).map_err(RestartError::Unreadable)?;
        let mut file = BufReader::new(file);
        let mut front = [0; FRONT];
        let begins = file.read_exact(&mut front).is_ok() && front[..8] == MAGIC;
        if !begins {
            return Err(RestartError::Foreign { path: path.to_path_buf() });
        }
        let found = u32::from_le_bytes([front[8], front[9], front[10], front[11]]);
        if found != VERSION {
            return Err(RestartError::Version { path: path.to_path_buf(), found, own: VERSION });
        }
        let broken = |wrong: &str| RestartError::Broken { path: path.to_path_buf(), wrong: wrong.to_string() };
        let length = u64::from_le_bytes(std::array::from_fn(|at| front[12 + at]));
        if length > total {
            return Err(broken("it ends too early"));
        }
        if length > LONGEST_HEAD {
            return Err(broken("its head is longer than any that a run writes"));
        }
        let (mut text, mut sealed) = (vec![0; length as usize], [0; HASH]);
        let whole = file.read_exact(&mut text).and_then(|()| file.read_exact(&mut sealed));
        whole.map_err(|_| broken("it ends too early"))?;
        let mut hash = blake3::Hasher::new();
        if hash.update(&front).update(&text).finalize() != sealed {
            return Err(broken("the checksum of its head does not fit"));
        }
        // The error quotes text from the file.
        let head: Head = serde_json::from_slice(&text).map_err(|error| broken(&shown(&error.to_string())))?;
        let differences = head.identity.differences(identity, &head.program);
        if !differences.is_empty() {
            return Err(RestartError::Other { path: path.to_path_buf(), differences });
        }
        let toolchain = head.identity.other_toolchain(identity);
        if !toolchain.is_empty() && !anyway {
            return Err(RestartError::Toolchain { path: path.to_path_buf(), differences: toolchain });
        }
        let flow = Expected { case, manifest };
        if let Some(wrong) = flow.wrong_head(&head) {
            return Err(broken(wrong));
        }
        let front = (FRONT + 2 * HASH) as u64 + length;
        let expected = head.sections.iter().try_fold(front, |sum, section| sum.checked_add(section.bytes));
        if expected != Some(total) {
            let expected = expected.map_or("more than a file can have".to_string(), |bytes| bytes.to_string());
            return Err(broken(&format!("it has {total} bytes instead of {expected}")));
        }
        let hash = blake3::Hasher::new();
        let mut restart = Restart { path: path.to_path_buf(), file, hash, head, leaves: vec![], toolchain };
        restart.leaves = restart.read_leaves(&flow)?;
        Ok(restart)
    }

    /// State of the run.
    pub fn course(&self) -> &Course {
        &self.head.course
    }

    /// Differences of the toolchain, one sentence each.
    pub fn other_toolchain(&self) -> &[String] {
        &self.toolchain
    }

    /// The leaves of the grid, level by level along the space-filling curve.
    pub fn leaves(&self) -> &[Block] {
        &self.leaves
    }

    /// Restores the state into a simulation with the same leaves, together with the fields at the last check for steady
    /// flow, if they were saved, and the statistics of the case that the file has. Returns the range of sampled steps
    /// of each statistic.
    pub fn restore(
        mut self,
        flow: &mut Simulation,
        statistics: &[Statistics],
    ) -> Result<Vec<Option<Sampled>>, RestartError> {
        let mut sampled = vec![None; statistics.len()];
        let saved = self.head.course.statistics.clone();
        let manifest = flow.manifest().clone();
        let grid = flow.grid();
        let own = grid.leaves().map_err(|error| RestartError::Step(error.into()))?;
        if !own.iter().map(|leaf| &leaf.block).eq(&self.leaves) {
            return Err(self.broken("its blocks do not cover the domain"));
        }
        let bytes = |content: Content, blocks: usize| content.bytes(&manifest, blocks) as u64;
        let populations = bytes(Content::Populations, grid.blocks_with_populations());
        let fields = bytes(Content::Fields, own.len());
        let slips: Vec<f64> = self.head.course.slips.iter().map(|number| number.0).collect();
        if !slips.iter().all(|number| number.is_finite()) || !flow.set_slips(&slips).map_err(RestartError::Step)? {
            return Err(self.broken("the states of its boundary layers are not those of this flow's"));
        }
        for section in self.head.sections.clone().iter().skip(1) {
            match section.name.as_str() {
                POPULATIONS => {
                    if section.bytes != populations {
                        return Err(self.broken("its populations are not those of its blocks"));
                    }
                    flow.write_populations(self.head.course.step, |bytes| self.take(bytes))?;
                }
                CHECKED => {
                    if section.bytes != fields {
                        return Err(self.broken("its fields are not those of its blocks"));
                    }
                    let step = self.head.checked.unwrap_or_default();
                    flow.write_reference(step, |bytes| self.take(bytes))?;
                }
                name => {
                    let same = |of: &Statistics, saved: &SavedStatistics| {
                        (&of.name, of.definition()) == (&saved.name, saved.definition.clone())
                    };
                    let found = saved.iter().find(|saved| saved.section() == name);
                    let number = found.and_then(|saved| statistics.iter().position(|of| same(of, saved)));
                    let (Some(saved), Some(number)) = (found, number) else {
                        self.skip(section.bytes)?;
                        continue;
                    };
                    let accumulators = statistics[number].accumulated().accumulators();
                    if section.bytes != bytes(Content::Statistic(accumulators), self.leaves.len()) {
                        return Err(self.broken("its statistics are not those of its blocks"));
                    }
                    if saved.samples > statistics[number].samples_until(self.head.course.step) {
                        return Err(self.broken("its statistics have more samples than there were steps for"));
                    }
                    flow.write_statistic(number, saved.samples, |bytes| self.take(bytes))?;
                    sampled[number] = Some(saved.steps);
                }
            }
        }
        let mut sealed = [0; HASH];
        self.file.read_exact(&mut sealed).map_err(|error| self.failed(error))?;
        if self.hash.finalize() != sealed {
            return Err(self.broken("its checksum does not fit"));
        }
        Ok(sampled)
    }

    fn read_leaves(&mut self, flow: &Expected<'_>) -> Result<Vec<Block>, RestartError> {
        let wrong = |restart: &Restart| restart.broken("its blocks do not cover the domain");
        let mut expected = flow.leaves().ok_or_else(|| wrong(self))?;
        let mut leaves = vec![];
        for _ in 0..self.head.sections[0].bytes / 16 {
            let mut bytes = [0; 16];
            self.take(&mut bytes)?;
            let [level, x, y, z] =
                [0, 4, 8, 12].map(|at| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])) as usize);
            let block = Block { level, place: [x, y, z] };
            if !expected.take(block) {
                return Err(wrong(self));
            }
            leaves.push(block);
        }
        if expected.fill() { Ok(leaves) } else { Err(wrong(self)) }
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), RestartError> {
        self.file.read_exact(bytes).map_err(|error| self.failed(error))?;
        self.hash.update(bytes);
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), RestartError> {
        let mut rest = (&mut self.file).take(bytes);
        io::copy(&mut rest, &mut self.hash).map_err(|error| self.failed(error))?;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> RestartError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.broken("it ends too early"),
            _ => RestartError::Unreadable(ReadError::Io(self.path.clone(), error)),
        }
    }

    fn broken(&self, wrong: &str) -> RestartError {
        RestartError::Broken { path: self.path.clone(), wrong: wrong.to_string() }
    }
}
