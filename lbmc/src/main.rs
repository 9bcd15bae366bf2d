//! The command line.
//!
//! ```text
//! cli ──▶ commands/{new,fmt,explain,gen,check,specs,eval,cases,run,report,bench,schema,lsp,manual}
//!             │
//!             ├── lbm-setup  finds specs and cases, makes them ready to run, finds out about methods
//!             ├── states   populations in a file
//!             ├── interrupt  ends a run on request
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

use std::process::ExitCode;

use cli::{Cli, Command};
use lbm_runtime::processes::Processes;
use miette::Report;

fn main() -> ExitCode {
    let code = command();
    match terminal::finish() {
        Ok(()) => code,
        Err(error) => {
            eprintln!("standard output is incomplete: {error}");
            ExitCode::FAILURE
        }
    }
}

fn command() -> ExitCode {
    if let Err(error) = interrupt::long_files_are_errors() {
        eprintln!("note: a file that gets too long ends the program at once ({error})");
    }
    let done = |()| ExitCode::SUCCESS;
    let Cli { command, quiet } = cli::parse();
    let joined = if matches!(command, Command::Run(_)) { Processes::join() } else { Ok(Processes::default()) };
    let processes = match joined {
        Ok(processes) => processes,
        Err(error) => {
            eprintln!("{:?}", Report::new(error));
            return ExitCode::FAILURE;
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
        Command::Report(args) => commands::report(&args).map(done),
        Command::Bench(args) => commands::bench(&args),
        Command::Schema => {
            commands::schema();
            Ok(ExitCode::SUCCESS)
        }
        Command::Lsp => commands::lsp().map(done),
        Command::Completions(args) => commands::completions(&args).map(done),
        Command::Man(args) => commands::man(&args).map(done),
    };
    match result {
        Ok(code) => code,
        Err(report) => {
            notes::failure(report);
            ExitCode::FAILURE
        }
    }
}
