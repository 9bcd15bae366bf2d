//! Reads and writes files, with errors that say the path and what to do.

use std::io::ErrorKind;
use std::path::Path;

use lbm_bundle::input::{self, Limit, ReadError};
use lbm_bundle::plain::shown_line;
use lbm_runtime::file;
use miette::{Report, Result, miette};

/// The text of a file.
pub fn read(path: &Path, limit: Limit) -> Result<String> {
    input::text(path, limit).map_err(|error| unreadable(&error))
}

/// Why a file is not read, and what to do.
pub fn unreadable(error: &ReadError) -> Report {
    miette!(code = "L0106", help = error.help(), "{}", shown_line(&error.to_string()))
}

/// The bytes of a surface or an image, or why there are none.
pub fn read_surface(path: &str) -> Result<Vec<u8>, String> {
    input::bytes(Path::new(path), Limit::SURFACE).map_err(|error| error.to_string())
}

/// Creates a folder and those above it.
pub fn create_folder(path: &Path) -> Result<()> {
    std::fs::create_dir_all(path).map_err(|error| explain("create", path, &error))
}

/// Writes a file whole or not at all: an old one stays until the new one is complete, and then its permissions and the symbolic
/// links that lead to it do.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> Result<()> {
    file::write(path, bytes.as_ref()).map_err(|error| explain("write", path, &error))
}

fn explain(what: &str, path: &Path, error: &std::io::Error) -> Report {
    let help = match error.kind() {
        ErrorKind::NotFound => "check the path; folders in it must exist",
        ErrorKind::PermissionDenied => "choose a place where you may write, or change its permissions",
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
            "free some space, or choose another place"
        }
        _ => "choose another place, or check the file system",
    };
    miette!(code = "L0106", help = help, "can't {what} `{}`: {error}", shown_line(&path.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writing_replaces_the_old_file_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        write(&path, "old").unwrap();
        write(&path, "new").unwrap();
        assert_eq!(read(&path, Limit::SPEC).unwrap(), "new");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }

    #[test]
    fn a_missing_folder_is_named_in_the_error() {
        let error = write(Path::new("/nonexistent/folder/a.txt"), "x").unwrap_err();
        assert!(error.to_string().contains("/nonexistent/folder/a.txt"), "{error}");
    }
}
