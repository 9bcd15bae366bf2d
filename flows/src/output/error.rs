//! Why results could not be written, and what to do.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use lbm_bundle::plain::shown_line;
use miette::Diagnostic;

use crate::case::LIST;

/// Number of names listed in a message.
const NAMED: usize = 5;

/// Why something could not be written.
#[derive(Debug)]
pub struct OutputError {
    pub(super) path: PathBuf,
    pub(super) why: Why,
}

/// What is wrong.
#[derive(Debug)]
pub(super) enum Why {
    /// An operation of the system failed.
    Io(&'static str, io::Error),
    /// Files that were not written by a run, or were changed since, have names that this run needs.
    InTheWay(Vec<String>),
    /// The folder that the case names has files, but no run has written to it.
    NotOfRuns(Vec<String>),
}

impl OutputError {
    /// The file or folder.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Names in the form used in messages.
fn listed(names: &[String]) -> String {
    let first: Vec<String> = names.iter().take(NAMED).map(|name| format!("`{}`", shown_line(name))).collect();
    let more = names.len().saturating_sub(NAMED);
    first.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() }
}

impl fmt::Display for OutputError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = shown_line(&self.path.display().to_string());
        match &self.why {
            Why::Io(what, source) => write!(out, "cannot {what} `{path}`: {}", shown_line(&source.to_string())),
            Why::InTheWay(names) => write!(
                out,
                "cannot write to `{path}`: this would replace {}, which no run has written, or which was changed since",
                listed(names)
            ),
            Why::NotOfRuns(names) => write!(
                out,
                "cannot write to `{path}`, which the case names and not the command: it has {}, and no run has written to it",
                listed(names)
            ),
        }
    }
}

// The message includes the system error; as `source` it would be printed twice.
impl std::error::Error for OutputError {}

impl Diagnostic for OutputError {
    fn code<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        Some(Box::new("C0601"))
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let kind = match &self.why {
            Why::Io(_, source) => source.kind(),
            Why::InTheWay(_) => {
                return Some(Box::new(format!(
                    "move them elsewhere, or choose another folder with `--out DIR`; results of versions of lbmc that kept no list \
                     of what they wrote (`{LIST}`) count as files of yours"
                )));
            }
            Why::NotOfRuns(_) => {
                return Some(Box::new(
                    "choose a folder with `--out DIR`: this one too, if you want; a run replaces no file of yours in it",
                ));
            }
        };
        let advice = match kind {
            ErrorKind::PermissionDenied => "you may not write there: choose another folder with `--out DIR`",
            ErrorKind::ReadOnlyFilesystem => "the file system is read-only: choose another folder with `--out DIR`",
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => {
                "the disk is full, or files may not be so long: make room, or choose another folder with `--out DIR`; older \
                 files are untouched, and from a restart file the run goes on with `--resume`"
            }
            ErrorKind::ResourceBusy => {
                "wait until that run has ended, end it, or choose another folder with `--out DIR`"
            }
            ErrorKind::NotADirectory | ErrorKind::AlreadyExists => {
                "a part of this path is a file, or a symbolic link, which is not followed where the case names the folder: choose \
                 a folder with `--out DIR`"
            }
            _ => "choose another folder with `--out DIR`",
        };
        Some(Box::new(advice))
    }
}
