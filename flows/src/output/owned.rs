//! List of the files in a folder that runs have written, with the length and the hash of each.
//!
//! In: a folder of unknown origin. After [`Owned::read`]: a file was written by a run if the list has its name, its
//! length and the hash (BLAKE3) of its content. A forged list can therefore claim only files whose content its author
//! knows. A line is added before a file gets its name or grows, so that the files of a run that is killed at any moment
//! are all listed. If a name has several lines, any of them may apply to the file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Write};

use lbm_runtime::file::Folder;

use crate::case::{INPUTS, LIST};

/// First line of the list.
const HEADING: &str = "lbmc: files of runs 1\n";
/// Largest list in bytes: half a million files.
const MOST_BYTES: u64 = 1 << 26;
/// The list is rewritten after this number of lines, in addition to two per file.
const MOST_LINES: usize = 4096;

/// Length and hash of a file's content.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    length: u64,
    hash: blake3::Hash,
}

impl Stamp {
    /// Reads a file to its end.
    fn of(file: &mut File) -> io::Result<Stamp> {
        let mut hasher = Stamper::default();
        let mut piece = vec![0; 1 << 16];
        loop {
            match file.read(&mut piece)? {
                0 => return Ok(hasher.stamp()),
                read => hasher.add(&piece[..read]),
            }
        }
    }
}

/// Computes the stamp of a content incrementally.
#[derive(Clone, Debug, Default)]
pub(super) struct Stamper {
    length: u64,
    hasher: blake3::Hasher,
}

impl Stamper {
    /// Appends a piece of the content.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        self.hasher.update(bytes);
    }

    /// Stamp of the content so far.
    pub(super) fn stamp(&self) -> Stamp {
        Stamp { length: self.length, hash: self.hasher.finalize() }
    }

    /// Length of the content so far, in bytes.
    pub(super) fn length(&self) -> u64 {
        self.length
    }
}

/// The files that runs have written.
#[derive(Debug)]
pub(super) struct Owned {
    folder: Folder,
    /// The list, open for appending, once a run has begun.
    list: Option<File>,
    lines: usize,
    /// For each name, the last two contents.
    stamps: BTreeMap<String, Vec<Stamp>>,
}

/// The name inside the folder of inputs, for a file in it; `None` for a file directly in the folder of results.
pub(super) fn in_inputs(name: &str) -> Option<&str> {
    name.strip_prefix(INPUTS)?.strip_prefix('/')
}

impl Owned {
    /// Reads the list of a folder of unknown origin. Invalid lines are ignored.
    pub(super) fn read(folder: &Folder) -> Owned {
        let text = folder.bytes(LIST, MOST_BYTES).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let mut owned = Owned { folder: folder.clone(), list: None, lines: 0, stamps: BTreeMap::new() };
        // The last line may be incomplete.
        let whole = text.as_deref().and_then(|text| text.strip_prefix(HEADING)).map_or("", |lines| {
            let end = lines.rfind('\n').map_or(0, |at| at + 1);
            &lines[..end]
        });
        for line in whole.lines() {
            let mut parts = line.splitn(3, ' ');
            let hash = parts.next().and_then(|hash| blake3::Hash::from_hex(hash).ok());
            let length = parts.next().and_then(|length| length.parse().ok());
            if let (Some(hash), Some(length), Some(name)) = (hash, length, parts.next()) {
                owned.know(name, Stamp { length, hash });
            }
        }
        owned
    }

    /// Whether a folder has a list.
    pub(super) fn is_listed(folder: &Folder) -> bool {
        let start = folder.read(LIST).and_then(|file| {
            let mut start = vec![];
            file.take(HEADING.len() as u64).read_to_end(&mut start)?;
            Ok(start)
        });
        start.is_ok_and(|start| start == HEADING.as_bytes())
    }

    fn know(&mut self, name: &str, stamp: Stamp) {
        let stamps = self.stamps.entry(name.to_string()).or_default();
        if stamps.last() != Some(&stamp) {
            stamps.push(stamp);
            let old = stamps.len().saturating_sub(2);
            stamps.drain(..old);
        }
    }

    /// The names in the list.
    pub(super) fn names(&self) -> Vec<String> {
        self.stamps.keys().cloned().collect()
    }

    /// Whether a name is in the list, whatever its current content.
    pub(super) fn lists(&self, name: &str) -> bool {
        self.stamps.contains_key(name)
    }

    /// Whether the file of this name, with its current content, was written by a run.
    pub(super) fn has(&self, name: &str) -> io::Result<bool> {
        let Some(stamps) = self.stamps.get(name) else { return Ok(false) };
        let mut file = match in_inputs(name) {
            None if self.folder.has_file(name) => self.folder.read(name)?,
            Some(inner) if self.folder.has_folder(INPUTS) => match self.folder.within(INPUTS)? {
                inputs if inputs.has_file(inner) => inputs.read(inner)?,
                _ => return Ok(false),
            },
            _ => return Ok(false),
        };
        let length = file.metadata()?.len();
        if stamps.iter().all(|stamp| stamp.length != length) {
            return Ok(false);
        }
        Ok(stamps.contains(&Stamp::of(&mut file)?))
    }

    /// Starts a new list with those names that `stay`.
    pub(super) fn begin(&mut self, stay: impl Fn(&str) -> bool) -> io::Result<()> {
        self.stamps.retain(|name, _| stay(name));
        self.write()
    }

    /// Continues the list, if there is one.
    pub(super) fn go_on(&mut self) -> io::Result<()> {
        if Owned::is_listed(&self.folder) { self.write() } else { Ok(()) }
    }

    /// Rewrites the list.
    fn write(&mut self) -> io::Result<()> {
        let mut lines = vec![];
        for (name, stamps) in &self.stamps {
            lines.extend(stamps.iter().map(|stamp| line(name, *stamp)));
        }
        self.lines = lines.len();
        let text = HEADING.to_string() + &lines.concat();
        self.folder.replace(LIST, |out| out.write_all(text.as_bytes()))?;
        self.list = Some(self.folder.append(LIST)?);
        Ok(())
    }

    /// Adds the content that a file is about to have. With `for_good` the line is synchronized to disk before the file
    /// gets its name.
    pub(super) fn add(&mut self, name: &str, stamp: Stamp, for_good: bool) -> io::Result<()> {
        self.know(name, stamp);
        let Some(list) = &mut self.list else { return Ok(()) };
        if self.lines >= MOST_LINES + 2 * self.stamps.len() {
            return self.write();
        }
        self.lines += 1;
        list.write_all(line(name, stamp).as_bytes())?;
        if for_good { list.sync_data() } else { Ok(()) }
    }
}

fn line(name: &str, Stamp { length, hash }: Stamp) -> String {
    format!("{} {length} {name}\n", hash.to_hex())
}
