//! Compiled kernels on disk, found by content.
//!
//! The name of a file is the hash of everything its bytes depend on. Files appear whole: they are written under another
//! name and renamed. A cache that cannot be written is no failure: the caller is told and goes on without.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// What a compiled file depends on, hashed.
pub(super) struct Key(blake3::Hasher);

impl Key {
    /// A key for one kind of file.
    pub(super) fn new(kind: &str) -> Self {
        let mut key = Key(blake3::Hasher::new());
        key.add(kind);
        key
    }

    /// Adds something the file depends on.
    pub(super) fn add(&mut self, part: &str) {
        self.0.update(&(part.len() as u64).to_le_bytes());
        self.0.update(part.as_bytes());
    }

    /// File name with that ending.
    pub(super) fn file_name(&self, ending: &str) -> String {
        format!("{}.{ending}", &self.0.finalize().to_hex()[..32])
    }
}

/// The folder of compiled kernels: `$LBMC_CACHE`, else the user's cache folder.
pub(super) fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("LBMC_CACHE").filter(|name| !name.is_empty()) {
        return Some(PathBuf::from(named));
    }
    directories::ProjectDirs::from("", "", "lbmc").map(|dirs| dirs.cache_dir().join("kernels"))
}

/// A name beside `target` that nothing else uses.
pub(super) fn draft_of(target: &Path) -> PathBuf {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    target.with_file_name(format!(".{name}.{}.{count}", std::process::id()))
}

/// Puts `bytes` into the file `target`, all at once.
pub(super) fn store(target: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    let draft = draft_of(target);
    let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, target));
    if written.is_err() {
        // The draft may not exist; there is nothing more to do about a full disk.
        let _ = fs::remove_file(&draft);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_where_parts_are_divided_differently() {
        let name = |parts: &[&str]| {
            let mut key = Key::new("test");
            parts.iter().for_each(|part| key.add(part));
            key.file_name("x")
        };
        assert_ne!(name(&["ab", "c"]), name(&["a", "bc"]));
        assert_eq!(name(&["ab", "c"]), name(&["ab", "c"]));
    }

    #[test]
    fn storing_leaves_the_whole_file_and_no_draft() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("deep/file.bin");
        store(&target, b"first").unwrap();
        store(&target, b"second").unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"second");
        assert_eq!(fs::read_dir(target.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn storing_under_a_file_fails_without_panic() {
        let folder = tempfile::tempdir().unwrap();
        let blocked = folder.path().join("plain");
        fs::write(&blocked, b"").unwrap();
        assert!(store(&blocked.join("file.bin"), b"x").is_err());
    }
}
