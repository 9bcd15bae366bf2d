//! Ensures that only one run at a time writes to a folder.
//!
//! This is an advisory lock of the operating system on a file in the folder, which is released when the process ends
//! for any reason. The file names its holder. On file systems without locks runs are not separated, but their files are
//! still complete.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, Write};

use lbm_runtime::file::Folder;

/// Name of the file.
pub(super) const NAME: &str = ".lbmc.lock";

/// A locked folder: no other run writes to it until this is dropped.
#[derive(Debug)]
pub(super) struct Lock {
    folder: Folder,
    _file: File,
}

impl Lock {
    /// Locks the folder; an error of kind `ResourceBusy` names the process that holds the lock.
    pub(super) fn take(folder: &Folder) -> io::Result<Lock> {
        loop {
            // A planted symbolic link is not followed, and a planted pipe does not block.
            let mut file = folder.shared(NAME)?;
            match file.try_lock() {
                Err(TryLockError::WouldBlock) => {
                    let words = format!("another run writes to it ({})", holder(&mut file));
                    return Err(io::Error::new(ErrorKind::ResourceBusy, words));
                }
                // Without support for locks, continue.
                Err(TryLockError::Error(_)) | Ok(()) => {}
            }
            // The previous holder removes the name when it is done, which may have happened since the file was opened.
            if folder.is(NAME, &file)? {
                file.set_len(0)?;
                write!(file, "process {}{}", std::process::id(), host())?;
                return Ok(Lock { folder: folder.clone(), _file: file });
            }
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Remove the name while the file is locked, so that it cannot belong to another run. If it remains, it does no
        // harm.
        let _ = self.folder.remove(NAME);
    }
}

/// Description of the holder of a lock, from its file.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    let read = file.rewind().and_then(|()| file.take(100).read_to_string(&mut text));
    let known = read.is_ok() && !text.is_empty() && !text.contains(char::is_control);
    if known { text } else { "its process is unknown".to_string() }
}

/// Name of this host: several hosts may share a folder.
fn host() -> String {
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    if name.trim().is_empty() { String::new() } else { format!(" on {}", name.trim()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(folder: &tempfile::TempDir) -> Folder {
        Folder::open(folder.path()).unwrap()
    }

    #[test]
    fn a_folder_is_one_runs_and_the_other_is_told_whose() {
        let folder = tempfile::tempdir().unwrap();
        let lock = Lock::take(&open(&folder)).unwrap();
        let error = Lock::take(&open(&folder)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ResourceBusy);
        assert!(error.to_string().contains(&format!("process {}", std::process::id())), "{error}");
        drop(lock);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing is left");
        Lock::take(&open(&folder)).unwrap();
    }

    #[test]
    fn the_file_of_a_run_that_was_killed_hinders_nobody() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(NAME), "process 1 on a machine that is gone").unwrap();
        Lock::take(&open(&folder)).unwrap();
    }

    #[test]
    fn of_many_that_try_one_at_a_time_has_it() {
        let folder = tempfile::tempdir().unwrap();
        let inside = std::sync::atomic::AtomicUsize::new(0);
        let one = || {
            let mut times = 0;
            while times < 50 {
                let Ok(_lock) = Lock::take(&open(&folder)) else { continue };
                assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                std::thread::yield_now();
                inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                times += 1;
            }
        };
        std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(one))));
    }

    #[test]
    fn what_is_planted_in_its_place_is_neither_followed_nor_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let (place, treasure) = (folder.path().join(NAME), folder.path().join("treasure"));
        fs::write(&treasure, "gold").unwrap();
        std::os::unix::fs::symlink(&treasure, &place).unwrap();
        assert!(Lock::take(&open(&folder)).is_err());
        assert_eq!(fs::read_to_string(&treasure).unwrap(), "gold");
        fs::remove_file(&place).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&place).status().unwrap().success());
        assert!(Lock::take(&open(&folder)).is_err());
    }
}
