//! Reading.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::{CHECKED, Course, Head, Identity, LEAVES, MAGIC, POPULATIONS, RestartError, VERSION};
use crate::layout::Layout;
use crate::mesh::Block;
use crate::step::Simulation;

/// Bytes of magic, version and length of the head.
const FRONT: usize = 20;
/// Bytes of a hash.
const HASH: usize = 32;

/// A restart file, its head and its leaves read.
pub struct Restart {
    path: PathBuf,
    file: BufReader<File>,
    hash: blake3::Hasher,
    head: Head,
    leaves: Vec<Block>,
}

impl Restart {
    /// Opens the file and makes sure that it belongs to this flow.
    pub fn open(path: &Path, identity: &Identity) -> Result<Restart, RestartError> {
        let unreadable = |source| RestartError::Unreadable { path: path.to_path_buf(), source };
        let mut file = BufReader::new(File::open(path).map_err(unreadable)?);
        let total = file.get_ref().metadata().map_err(unreadable)?.len();
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
        let (mut text, mut sealed) = (vec![0; length as usize], [0; HASH]);
        let whole = file.read_exact(&mut text).and_then(|()| file.read_exact(&mut sealed));
        whole.map_err(|_| broken("it ends too early"))?;
        let mut hash = blake3::Hasher::new();
        if hash.update(&front).update(&text).finalize() != sealed {
            return Err(broken("the checksum of its head does not fit"));
        }
        let head: Head = serde_json::from_slice(&text).map_err(|error| broken(&error.to_string()))?;
        let differences = head.identity.differences(identity, &head.program);
        if !differences.is_empty() {
            return Err(RestartError::Other { path: path.to_path_buf(), differences });
        }
        let sections: u64 = head.sections.iter().map(|section| section.bytes).sum();
        let expected = (FRONT + 2 * HASH) as u64 + length + sections;
        if total != expected {
            return Err(broken(&format!("it has {total} bytes instead of {expected}")));
        }
        let mut restart = Restart { path: path.to_path_buf(), file, hash: blake3::Hasher::new(), head, leaves: vec![] };
        let leaves = restart.head.sections.first().filter(|section| section.name == LEAVES);
        let count = leaves.map_or(0, |section| section.bytes as usize / 16);
        restart.leaves = restart.blocks(count)?;
        Ok(restart)
    }

    /// What the run remembers.
    pub fn course(&self) -> &Course {
        &self.head.course
    }

    /// The leaves of the grid, level by level along the curve.
    pub fn leaves(&self) -> &[Block] {
        &self.leaves
    }

    /// Puts the state into a simulation that has the same leaves, with the fields at the last check for steady flow, if that
    /// was at another step.
    pub fn restore(mut self, flow: &mut Simulation) -> Result<(), RestartError> {
        let manifest = flow.manifest().clone();
        let own = flow.grid().leaves().map_err(|error| RestartError::Step(error.into()))?;
        if !own.iter().map(|leaf| &leaf.block).eq(&self.leaves) {
            return Err(self.broken("its blocks do not cover the domain"));
        }
        let bytes = |layout: Layout, blocks: usize| (layout.slot_len() * manifest.real.bytes() * blocks) as u64;
        let populations = bytes(Layout::populations(&manifest), flow.stored_blocks());
        let fields = bytes(Layout::fields(&manifest), own.len());
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
                    flow.write_kept(step, |bytes| self.take(bytes))?;
                }
                _ => self.skip(section.bytes)?,
            }
        }
        let mut sealed = [0; HASH];
        self.file.read_exact(&mut sealed).map_err(|error| self.failed(error))?;
        if self.hash.finalize() != sealed {
            return Err(self.broken("its checksum does not fit"));
        }
        Ok(())
    }

    fn blocks(&mut self, count: usize) -> Result<Vec<Block>, RestartError> {
        let mut bytes = vec![0; 16 * count];
        self.take(&mut bytes)?;
        let (blocks, _) = bytes.as_chunks::<16>();
        let number =
            |block: &[u8; 16], at: usize| u32::from_le_bytes(std::array::from_fn(|byte| block[4 * at + byte])) as usize;
        let block = |block: &[u8; 16]| Block {
            level: number(block, 0),
            place: [number(block, 1), number(block, 2), number(block, 3)],
        };
        Ok(blocks.iter().map(block).collect())
    }

    fn take(&mut self, bytes: &mut [u8]) -> Result<(), RestartError> {
        self.file.read_exact(bytes).map_err(|error| self.failed(error))?;
        self.hash.update(bytes);
        Ok(())
    }

    fn skip(&mut self, bytes: u64) -> Result<(), RestartError> {
        let mut rest = (&mut self.file).take(bytes);
        io::copy(&mut rest, &mut self.hash)
            .map_err(|source| RestartError::Unreadable { path: self.path.clone(), source })?;
        Ok(())
    }

    fn failed(&self, error: io::Error) -> RestartError {
        match error.kind() {
            ErrorKind::UnexpectedEof => self.broken("it ends too early"),
            _ => RestartError::Unreadable { path: self.path.clone(), source: error },
        }
    }

    fn broken(&self, wrong: &str) -> RestartError {
        RestartError::Broken { path: self.path.clone(), wrong: wrong.to_string() }
    }
}
