//! The command line. The only crate that knows both compiler and runtime: it hands a bundle from one to the other.
//!
//! ```text
//! cli ──▶ commands/{new,fmt,explain,gen,check,specs,eval,run,bench}
//!             │
//!             ├── spec     finds a spec: a file, else a shipped one
//!             ├── params   --set NAME=VALUE
//!             ├── rates    values of a parameter to tell things for
//!             ├── states   populations in a file
//!             ├── files    reads and writes, with errors that say what to do
//!             └── nvcc     registers and spills
//! ```
//!
//! Exit status: 0 done, 1 the input is refused or something failed (standard error says what), 2 unusable arguments.

mod cli;
mod commands;
mod files;
mod nvcc;
mod params;
mod rates;
mod spec;
mod states;

use std::process::ExitCode;

use clap::Parser;
use cli::{Cli, Command};

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::New(args) => commands::new(&args),
        Command::Fmt(args) => commands::fmt(&args),
        Command::Explain(args) => commands::explain(&args),
        Command::Gen(args) => commands::generate(&args),
        Command::Check(args) => commands::check(&args),
        Command::Specs => commands::specs(),
        Command::Eval(args) => commands::eval(&args),
        Command::Run(args) => commands::run(&args),
        Command::Bench(args) => commands::bench(&args),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(report) => {
            eprintln!("{report:?}");
            ExitCode::FAILURE
        }
    }
}
