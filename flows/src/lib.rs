//! Flows from case files: what a user wants, run with the kernels of a method, and what is left of it.
//!
//! ```text
//! case.toml ──case──▶ Case ──flow──▶ Simulation (lbm-runtime)
//!                              │
//!                              ├──output──▶ VTK, profiles, pictures, summary
//!                              └──restart─▶ files from which a run goes on
//!
//! files of a run ──page──▶ report.html
//! a run ──watch──▶ pages that show it while it goes on
//! ```
//!
//! Layers, each of which knows only those above it in this table:
//!
//! | layer | job |
//! | --- | --- |
//! | `case` | a case file: units, walls, stop |
//! | `output` | what a run leaves behind: VTK, profiles, pictures, summary; the progress line |
//! | `restart` | files from which a run goes on with the same bits |
//! | `page` | one page about a run, made of the files that it has left |
//! | `watch` | what pages show of a run while it goes on, and what they ask of its flow |
//! | `flow` | a case run to its end |
//!
//! Invariant: no layer imports one below it in the table (`tests/tests/layers.rs`).
//!
//! Invariant: whoever reads what is printed may go away: nothing uses the macros of the standard library, which panic then
//! (clippy's `print_stdout` and `print_stderr`).

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod case;
pub mod flow;
pub mod output;
pub mod page;
pub mod restart;
pub mod watch;
