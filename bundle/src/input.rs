//! Reads files that others wrote: specs, cases, surfaces, restart files.
//!
//! In: a path and a [`Limit`]. After: at most so many bytes of a regular file are in memory. What else a path may lead to (a
//! folder, a named pipe, a device) is refused before it is opened: reading it could block or never end.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use crate::plain::shown_line;

/// How much is read of one kind of file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// What the file is, with its article, for messages: `a spec`.
    pub what: &'static str,
    /// Most bytes that it may have.
    pub bytes: u64,
}

impl Limit {
    /// A `.lbm` file: a method is a page, and unrolled by a program it has some ten thousand letters.
    pub const SPEC: Limit = Limit { what: "a spec", bytes: 1 << 18 };
    /// A case file.
    pub const CASE: Limit = Limit { what: "a case", bytes: 1 << 20 };
    /// An STL file: twenty million triangles.
    pub const SURFACE: Limit = Limit { what: "a surface", bytes: 1 << 30 };
}

/// Why a file is not read.
#[derive(Debug)]
pub enum ReadError {
    /// There is no regular file: what there is instead, with its article.
    NotAFile(PathBuf, &'static str),
    /// It has more bytes than the limit: how many, where that is known.
    TooLarge(PathBuf, Option<u64>, Limit),
    /// It is no UTF-8 text: the first byte that is none.
    NotText(PathBuf, usize),
    /// The system refuses.
    Io(PathBuf, io::Error),
}

impl ReadError {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::NotAFile(..) => "name a regular file; copy what a pipe or a device gives into one",
            Self::TooLarge(..) => "check that this is the file that was meant; if so, make it smaller",
            Self::NotText(..) => "the file must be UTF-8 text",
            Self::Io(_, error) => match error.kind() {
                ErrorKind::NotFound => "check the path; folders in it must exist",
                ErrorKind::PermissionDenied => "choose another file, or change its permissions",
                _ => "choose another file, or check the file system",
            },
        }
    }
}

/// A path as a message has it.
fn shown(path: &Path) -> String {
    shown_line(&path.display().to_string())
}

impl fmt::Display for ReadError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAFile(path, what) => write!(out, "can't read `{}`: it is {what}, no regular file", shown(path)),
            Self::TooLarge(path, found, limit) => {
                let has = found.map_or("more".into(), size);
                write!(out, "can't read `{}`: {} may have {}, it has {has}", shown(path), limit.what, size(limit.bytes))
            }
            Self::NotText(path, at) => write!(out, "can't read `{}`: byte {at} is no UTF-8 text", shown(path)),
            Self::Io(path, error) => write!(out, "can't read `{}`: {error}", shown(path)),
        }
    }
}

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            _ => None,
        }
    }
}

/// Opens a regular file of at most `limit` bytes, for one who reads it piece by piece. Gives its length in bytes, too; who
/// reads on behind that has a file that grows.
pub fn open(path: &Path, limit: Limit) -> Result<(File, u64), ReadError> {
    let failed = |error| ReadError::Io(path.to_path_buf(), error);
    // Before opening, which would wait for the other end of a pipe; and again, in case it was replaced.
    regular(path, &std::fs::metadata(path).map_err(failed)?)?;
    let file = File::open(path).map_err(failed)?;
    let metadata = file.metadata().map_err(failed)?;
    regular(path, &metadata)?;
    if metadata.len() > limit.bytes {
        return Err(ReadError::TooLarge(path.to_path_buf(), Some(metadata.len()), limit));
    }
    Ok((file, metadata.len()))
}

/// The bytes of a regular file, at most `limit` of them.
pub fn bytes(path: &Path, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let (file, length) = open(path, limit)?;
    take(file, length, path, limit)
}

/// The text of a regular file, at most `limit` bytes.
pub fn text(path: &Path, limit: Limit) -> Result<String, ReadError> {
    utf8(bytes(path, limit)?, path)
}

/// The text of a regular file, at most `limit` bytes; none if nothing at all is there.
pub fn text_if_there(path: &Path, limit: Limit) -> Option<Result<String, ReadError>> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        _ => Some(text(path, limit)),
    }
}

/// The text of a stream that messages call `name`, at most `limit` bytes: standard input.
pub fn text_from(stream: impl Read, name: &str, limit: Limit) -> Result<String, ReadError> {
    let path = Path::new(name);
    utf8(take(stream, 0, path, limit)?, path)
}

/// All bytes of a stream. A file may grow while it is read, and some have bytes though their length is 0.
fn take(stream: impl Read, length: u64, path: &Path, limit: Limit) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::with_capacity(length as usize);
    let read = stream.take(limit.bytes.saturating_add(1)).read_to_end(&mut bytes);
    read.map_err(|error| ReadError::Io(path.to_path_buf(), error))?;
    if bytes.len() as u64 > limit.bytes {
        return Err(ReadError::TooLarge(path.to_path_buf(), None, limit));
    }
    Ok(bytes)
}

fn utf8(bytes: Vec<u8>, path: &Path) -> Result<String, ReadError> {
    String::from_utf8(bytes).map_err(|error| ReadError::NotText(path.to_path_buf(), error.utf8_error().valid_up_to()))
}

fn regular(path: &Path, metadata: &Metadata) -> Result<(), ReadError> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(ReadError::NotAFile(path.to_path_buf(), kind(metadata)))
}

fn kind(metadata: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        let of = metadata.file_type();
        if of.is_fifo() {
            return "a named pipe";
        }
        if of.is_socket() {
            return "a socket";
        }
        if of.is_char_device() || of.is_block_device() {
            return "a device";
        }
    }
    if metadata.is_dir() { "a folder" } else { "something else" }
}

/// Bytes as a person says them: `1.5 MiB`.
fn size(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for larger in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, larger);
    }
    let digits = usize::from(value.fract() != 0.0);
    format!("{value:.digits$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: Limit = Limit { what: "a test", bytes: 2000 };

    /// A path of this test's own, removed at its end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str) -> Temporary {
            Temporary(std::env::temp_dir().join(format!("lbm-input-{}-{name}", std::process::id())))
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = std::fs::remove_file(&self.0);
        }
    }

    #[test]
    fn a_file_is_read_up_to_its_limit_and_no_further() {
        let file = Temporary::new("limit");
        std::fs::write(&file.0, vec![b'x'; 2000]).unwrap();
        assert_eq!(text(&file.0, SMALL).unwrap().len(), 2000);
        std::fs::write(&file.0, vec![b'x'; 3000]).unwrap();
        let error = bytes(&file.0, SMALL).unwrap_err().to_string();
        assert!(error.ends_with("a test may have 2.0 KiB, it has 2.9 KiB"), "{error}");
        assert!(error.contains("limit"), "{error}");
    }

    #[test]
    fn a_stream_without_end_is_given_up() {
        let error = text_from(io::repeat(b'x'), "standard input", SMALL).unwrap_err().to_string();
        assert_eq!(error, "can't read `standard input`: a test may have 2.0 KiB, it has more");
    }

    #[test]
    fn what_is_no_text_is_said_to_be_none() {
        let error = text_from(&b"rho \xff"[..], "x", SMALL).unwrap_err();
        assert!(matches!(error, ReadError::NotText(_, 4)), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn folders_devices_and_pipes_are_refused_at_once() {
        let folder = bytes(&std::env::temp_dir(), SMALL).unwrap_err().to_string();
        assert!(folder.contains("it is a folder"), "{folder}");
        let device = bytes(Path::new("/dev/zero"), SMALL).unwrap_err().to_string();
        assert_eq!(device, "can't read `/dev/zero`: it is a device, no regular file");
        let pipe = Temporary::new("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe.0).status().unwrap();
        assert!(made.success());
        let found = bytes(&pipe.0, SMALL).unwrap_err().to_string();
        assert!(found.contains("it is a named pipe"), "{found}");
    }

    #[test]
    fn what_is_not_there_is_no_error_where_that_is_asked() {
        assert!(text_if_there(Path::new("/nonexistent.lbm"), SMALL).is_none());
        assert!(text_if_there(Path::new("/dev/null"), SMALL).is_some_and(|text| text.is_err()));
    }

    #[test]
    fn a_missing_file_is_named() {
        let error = bytes(Path::new("/nonexistent/a.lbm"), SMALL).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/a.lbm") && error.help().contains("folders"), "{error}");
    }
}
