//! The folder that a run writes to.
//!
//! After `Sink::create`, the folder exists and takes files. A file appears under its name only when it is whole: it is
//! written beside its place, flushed to the disk and renamed, so that an error leaves what was there before as it was.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use miette::Diagnostic;

/// Why something could not be written.
#[derive(Debug)]
pub struct OutputError {
    path: PathBuf,
    what: &'static str,
    source: io::Error,
}

impl OutputError {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "cannot {} `{}`: {}", self.what, self.path.display(), self.source)
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.source)
    }
}

impl Diagnostic for OutputError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("C0601"))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let advice = match self.source.kind() {
            ErrorKind::PermissionDenied => "you may not write there: choose another folder with `--out DIR`",
            ErrorKind::ReadOnlyFilesystem => "the file system is read-only: choose another folder with `--out DIR`",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "the disk is full, or files may not be so long: make room, or choose another folder with `--out DIR`; older \
                 files are untouched, and from a restart file the run goes on with `--resume`"
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                "a part of this path is a file, not a folder: choose another folder with `--out DIR`"
            }
            _ => "choose another folder with `--out DIR`",
        };
        Some(Box::new(advice))
    }
}

/// A folder that takes files.
#[derive(Debug)]
pub struct Sink {
    folder: PathBuf,
    files: Vec<String>,
}

impl Sink {
    /// Creates the folder where it is missing, and makes sure that it takes files.
    pub fn create(folder: &Path) -> Result<Sink, OutputError> {
        let fail = |source| OutputError { path: folder.to_path_buf(), what: "write to", source };
        fs::create_dir_all(folder).map_err(fail)?;
        let probe = folder.join(".lbmc.probe");
        fs::write(&probe, b"lbmc").and_then(|()| fs::remove_file(&probe)).map_err(fail)?;
        Ok(Sink { folder: folder.to_path_buf(), files: vec![] })
    }

    /// Writes one file, whole or not at all, and lists it.
    pub fn write(
        &mut self,
        name: &str,
        content: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), OutputError> {
        self.put(name, content)?;
        if !self.files.iter().any(|file| file == name) {
            self.files.push(name.to_string());
        }
        Ok(())
    }

    /// Writes one file, whole or not at all.
    pub fn put(&self, name: &str, content: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), OutputError> {
        let (path, partial) = (self.folder.join(name), self.folder.join(format!(".{name}.partial")));
        let written = File::create(&partial).and_then(|file| {
            let mut file = BufWriter::new(file);
            content(&mut file)?;
            file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&partial, &path)?;
            // A name is as safe as the folder that holds it.
            if cfg!(unix) { File::open(&self.folder)?.sync_all() } else { Ok(()) }
        });
        if let Err(source) = written {
            // It may not even exist; the first error is the one to tell.
            fs::remove_file(&partial).ok();
            return Err(OutputError { path, what: "write", source });
        }
        Ok(())
    }

    /// Lists files that an earlier run has written.
    pub fn list(&mut self, files: &[String]) {
        self.files = files.to_vec();
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Names of the files written, in the order of their first writing.
    pub fn files(&self) -> &[String] {
        &self.files
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_that_fails_half_way_leaves_the_old_one() {
        let folder = tempfile::tempdir().unwrap();
        let mut sink = Sink::create(&folder.path().join("a/b")).unwrap();
        sink.write("x.csv", |out| out.write_all(b"old")).unwrap();
        let error = sink
            .write("x.csv", |out| {
                out.write_all(&[0; 100_000])?;
                Err(io::Error::from(ErrorKind::StorageFull))
            })
            .unwrap_err();
        assert!(error.to_string().contains("x.csv"), "{error}");
        assert!(error.help().unwrap().to_string().contains("disk is full"));
        assert_eq!(names(sink.folder()), ["x.csv"]);
        assert_eq!(fs::read(sink.folder().join("x.csv")).unwrap(), b"old");
        assert_eq!(sink.files(), ["x.csv"]);
    }

    #[test]
    fn a_folder_below_a_file_is_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, b"").unwrap();
        for path in [file.clone(), file.join("below")] {
            let error = Sink::create(&path).unwrap_err();
            assert_eq!(error.path(), path);
            assert!(error.help().unwrap().to_string().contains("--out DIR"));
        }
    }

    #[test]
    fn a_folder_that_exists_is_used_and_left_clean() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), b"").unwrap();
        Sink::create(folder.path()).unwrap();
        assert_eq!(names(folder.path()), ["mine"]);
    }
}
