//! The program `lbmc`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(lbmc::command(std::env::args_os()))
}
