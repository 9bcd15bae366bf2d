//! Errors of restart files.

use std::path::PathBuf;

use lbm_bundle::input::ReadError;
use lbm_runtime::solver::StepError;
use miette::Diagnostic;
use thiserror::Error;

/// Why a run cannot be resumed from a file.
#[derive(Debug, Error, Diagnostic)]
pub enum RestartError {
    /// The file cannot be opened or read.
    #[error("there is no restart file to go on from: {0}")]
    #[diagnostic(
        code(C0602),
        help(
            "a run with `output.restart = 1000` writes one every so many steps, and any run when it is interrupted; name it \
             with `--resume FILE`, or start anew without `--resume`"
        )
    )]
    Unreadable(ReadError),

    /// The file is not a restart file.
    #[error("`{}` is no restart file", path.display())]
    #[diagnostic(code(C0603), help("name a file that a run has written: `--resume out/cavity/restart.lbmc`"))]
    Foreign {
        /// The file.
        path: PathBuf,
    },

    /// The file has another version of the format.
    #[error("the restart file `{}` has version {found} of the format, this lbmc reads version {own}", path.display())]
    #[diagnostic(code(C0604), help("go on with the lbmc that wrote it, or start anew without `--resume`"))]
    Version {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: u32,
        /// The version that can be read.
        own: u32,
    },

    /// The file is incomplete or was changed.
    #[error("the restart file `{}` is broken: {wrong}", path.display())]
    #[diagnostic(
        code(C0605),
        help(
            "a run replaces the file only when the new one is complete, so it was cut off or changed later: copy it again, or \
             start anew without `--resume`"
        )
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// The defect.
        wrong: String,
    },

    /// The file belongs to another flow.
    #[error("the restart file `{}` belongs to another flow: {}", path.display(), differences.join("; "))]
    #[diagnostic(
        code(C0606),
        help(
            "what is computed must stay as it was; `stop`, `devices` and what is written and reported (`output`, `probes`, `pictures`, ..) \
             may change. Give everything else as it was, `--set` included, or start anew without `--resume`"
        )
    )]
    Other {
        /// The file.
        path: PathBuf,
        /// The differences, one sentence each.
        differences: Vec<String>,
    },

    /// The run that wrote the file had other machine code.
    #[error("the run of the restart file `{}` had other machine code: {}", path.display(), differences.join("; "))]
    #[diagnostic(
        code(C0607),
        help(
            "the same flow goes on with `--resume-anyway`, but its last bits will not be those of a run that was never stopped; \
             for these, go on with the same compiler, on a machine of the same kind"
        )
    )]
    Toolchain {
        /// The file.
        path: PathBuf,
        /// The differences, one sentence each.
        differences: Vec<String>,
    },

    /// An error of the method, the grid or the device.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Step(#[from] StepError),
}
