//! The command line, as a library: of this the program `lbmc` is made, and the command that the Python package brings.
//!
//! ```text
//! cli ──▶ commands/{new,fmt,explain,gen,check,specs,eval,cases,run,watch,report,bench,schema,lsp,manual}
//!             │
//!             ├── lbm-setup  finds specs and cases, makes them ready to run, finds out about methods
//!             ├── states   populations in a file
//!             ├── interrupt  ends a run on request
//!             ├── status   exit statuses
//!             ├── terminal  prints, whether or not somebody reads
//!             ├── notes    notes and warnings, unless --quiet
//!             └── nvcc     registers and spills
//! ```
//!
//! Exit status: 0 done, 1 the input is refused or something failed (standard error says what), 2 unusable arguments, 130 a
//! run was asked to end and did so.

#![deny(clippy::print_stdout, clippy::print_stderr)]

#[macro_use]
mod terminal;

mod cli;
mod commands;
mod interrupt;
mod notes;
mod nvcc;
mod states;
mod status;

use std::ffi::OsString;

use cli::{Cli, Command};
use lbm_runtime::processes::Processes;
use miette::Report;
use status::{DONE, ENDED, FAILED};

/// What the program does with its arguments, of which the first is its own name; returns its exit status. To be called once in a process,
/// which it ends where arguments are unusable or help is asked for.
pub fn command(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let status = perform(arguments);
    match terminal::finish() {
        Ok(()) => status,
        Err(error) => {
            eprintln!("standard output is incomplete: {error}");
            FAILED
        }
    }
}

fn perform(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    if let Err(error) = interrupt::long_files_are_errors() {
        eprintln!("note: a file that gets too long ends the program at once ({error})");
    }
    let done = |()| DONE;
    let Cli { command, quiet } = cli::parse(arguments);
    let joined = if matches!(command, Command::Run(_)) { Processes::join() } else { Ok(Processes::default()) };
    let processes = match joined {
        Ok(processes) => processes,
        Err(error) => {
            eprintln!("{:?}", Report::new(error));
            return FAILED;
        }
    };
    notes::set_quiet(quiet || !processes.is_first());
    let result = match command {
        Command::New(args) => commands::new(&args).map(done),
        Command::Fmt(args) => commands::fmt(&args).map(done),
        Command::Explain(args) => commands::explain(&args).map(done),
        Command::Gen(args) => commands::generate(&args).map(done),
        Command::Check(args) => commands::check(&args).map(done),
        Command::Specs(args) => commands::specs(&args).map(done),
        Command::Eval(args) => commands::eval(&args).map(done),
        Command::Cases(args) => commands::cases(&args).map(done),
        Command::Run(args) => commands::run(&args, &processes),
        Command::Watch(args) => commands::watch(&args).map(done),
        Command::Report(args) => commands::report(&args).map(done),
        Command::Bench(args) => commands::bench(&args),
        Command::Schema => {
            commands::schema();
            Ok(DONE)
        }
        Command::Lsp => commands::lsp().map(done),
        Command::Completions(args) => commands::completions(&args).map(done),
        Command::Man(args) => commands::man(&args).map(done),
    };
    match result {
        Ok(status) => status,
        Err(report) => {
            // Ctrl-C ends the compiler of kernels, too.
            let was_asked = report.code().is_some_and(|code| code.to_string() == "L0613");
            notes::failure(report);
            if was_asked { ENDED } else { FAILED }
        }
    }
}
