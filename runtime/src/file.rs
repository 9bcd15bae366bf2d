//! Writes files completely or not at all.
//!
//! In: a path and a content. After: the file under that name has either its previous content, or all of the new
//! content, on disk and with the permissions of the old file. The content is first written to a new file in the same
//! folder, under an unpredictable name, so that nothing that already exists in the folder, such as a symbolic link, can
//! redirect it.

mod folder;

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

pub use folder::Folder;
use rustix::fs::Mode;

/// Suffix of the names of incomplete files: `.summary.json.x7Rk2q.partial`.
const PARTIAL: &str = ".partial";
/// Number of random letters and digits in such a name.
const RANDOM: usize = 6;

/// Whether a file of this name was left incomplete when the program was killed.
pub fn is_partial(name: &str) -> bool {
    let middle = name.strip_prefix('.').and_then(|name| name.strip_suffix(PARTIAL));
    let random = middle.and_then(|middle| middle.rsplit_once('.')).map_or("", |(_, random)| random);
    random.len() == RANDOM && random.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// The folder and the file name of a path.
fn split(path: &Path) -> io::Result<(Folder, &OsStr)> {
    let name = path.file_name();
    let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file can have this name"))?;
    Ok((Folder::open(path.parent().unwrap_or(Path::new("")))?, name))
}

/// Replaces the file at `path`; a symbolic link there is replaced, not followed.
pub fn replace(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (folder, name) = split(path)?;
    folder.replace(name, content)
}

/// As [`replace`], for a file that only this user may read and write, whatever its previous permissions.
pub fn replace_private(path: &Path, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let (folder, name) = split(path)?;
    folder.write_with(name, Some(Mode::RUSR | Mode::WUSR), content)?.rename()
}

/// A file in a folder that has no name and is gone when it is closed, for what memory has no room for.
pub fn scratch(folder: &Path) -> io::Result<fs::File> {
    tempfile::tempfile_in(if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
}

/// Writes to a path given by the user. Symbolic links are followed and their target is replaced. Anything that is not a
/// regular file, such as a terminal or `/dev/null`, is written directly.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Ok(there) = fs::metadata(path)
        && !there.is_file()
        && !there.is_dir()
    {
        return OpenOptions::new().write(true).open(path)?.write_all(bytes);
    }
    let is_link = fs::symlink_metadata(path).is_ok_and(|there| there.is_symlink());
    let target = if is_link { fs::canonicalize(path)? } else { path.to_path_buf() };
    replace(&target, |out| out.write_all(bytes))
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_whole_or_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, b"old").unwrap();
        let failed = replace(&path, |out| {
            out.write_all(&[0; 100_000])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        });
        assert_eq!(failed.unwrap_err().kind(), io::ErrorKind::StorageFull);
        assert_eq!(fs::read(&path).unwrap(), b"old");
        write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(folder.path()), ["a.txt"]);
    }

    #[test]
    fn what_a_killed_program_leaves_is_known_by_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let seen = std::cell::RefCell::new(vec![]);
        let look = |_: &mut dyn Write| {
            *seen.borrow_mut() = names(folder.path());
            Ok(())
        };
        replace(&folder.path().join("a.txt"), look).unwrap();
        assert!(seen.borrow().iter().all(|name| is_partial(name)) && seen.borrow().len() == 1, "{seen:?}");
        for other in [".partial", ".notes.partial", "a.AbCdEf.partial", ".a.AbCdEf.part", "a.txt", ".a.AbC-Ef.partial"]
        {
            assert!(!is_partial(other), "{other}");
        }
    }

    #[test]
    fn the_error_is_that_of_the_system_and_names_no_partial_file() {
        let error = replace(Path::new("/nonexistent/folder/a.txt"), |_| Ok(())).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("partial"), "{error}");
        // The name is too long once the suffix of an incomplete file is added.
        let folder = tempfile::tempdir().unwrap();
        let error = replace(&folder.path().join("a".repeat(250)), |_| Ok(())).unwrap_err();
        assert!(!error.to_string().contains("partial"), "{error}");
    }

    #[test]
    fn permissions_stay_and_those_of_a_new_file_are_usual() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let usual = folder.path().join("usual");
        fs::write(&usual, b"").unwrap();
        write(&path, b"x").unwrap();
        assert_eq!(mode(), fs::metadata(&usual).unwrap().permissions().mode() & 0o777);
        for kept in [0o600, 0o640, 0o666, 0o755] {
            fs::set_permissions(&path, Permissions::from_mode(kept)).unwrap();
            write(&path, b"y").unwrap();
            assert_eq!(mode(), kept);
        }
    }

    #[test]
    fn a_planted_link_is_replaced_and_one_that_the_user_named_is_followed() {
        use std::os::unix::fs::symlink;
        let folder = tempfile::tempdir().unwrap();
        let [treasure, link] = ["treasure", "link"].map(|name| folder.path().join(name));
        fs::write(&treasure, b"gold").unwrap();
        symlink("treasure", &link).unwrap();
        write(&link, b"more gold").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&treasure).unwrap(), b"more gold");
        replace(&link, |out| out.write_all(b"results")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_file());
        assert_eq!(fs::read(&treasure).unwrap(), b"more gold");
    }

    #[test]
    fn a_device_is_written_to_and_stays_one() {
        use std::os::unix::fs::FileTypeExt;
        write(Path::new("/dev/null"), b"x").unwrap();
        assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    }
}
