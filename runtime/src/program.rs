//! Which file has this code: the program, or a library that another program has loaded.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

static LIBRARY: OnceLock<PathBuf> = OnceLock::new();

/// Says which file has this code, where that is not the program that runs: the first who says so is believed.
pub fn is_in(file: &Path) {
    LIBRARY.get_or_init(|| file.to_path_buf());
}

/// The library that has this code, if it is not in the program that runs.
pub fn library() -> Option<&'static Path> {
    LIBRARY.get().map(PathBuf::as_path)
}

/// The file that has this code.
///
/// # Errors
///
/// The system does not know it.
pub fn file() -> io::Result<PathBuf> {
    library().map_or_else(std::env::current_exe, |library| Ok(library.to_path_buf()))
}
