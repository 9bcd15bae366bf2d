//! Between the compiler and the runtime, for programs that users work with: finds methods and cases, makes a case ready to run, and
//! finds out about methods.
//!
//! ```text
//! a name or a file ──cases, spec──▶ text ──ready──▶ Case, kernels, device ──▶ lbm_flows::flow
//!                                    │
//!                                    └──findings──▶ what is proved of a method (walls, stability, faces)
//! ```
//!
//! | module | job |
//! | --- | --- |
//! | [`spec`] | finds a spec: a file, else a shipped one; its kernels, those of an earlier run if there are any |
//! | [`cases`] | finds a case: a file, else a shipped one |
//! | [`ready`] | a case with the kernels it runs with |
//! | [`findings`], [`stability`], [`walls`] | what is proved about a method, and what follows from its formulas |
//! | [`asked`], [`faces`] | which rules at faces leave a stream stable, what sound they reflect |
//! | [`unstable`] | faces of a case between which disturbances grow, and what to do about them |
//! | [`alternatives`] | other shipped methods that may stand in the place of one |
//! | [`crossing`] | what refinement interfaces and faces do to packets of waves that cross them |
//! | [`params`], [`rates`] | parameters of a method; values of one to tell things for |
//! | [`notes`] | what a user should know beside errors |
//! | [`files`] | reads and writes, with errors that say what to do |
//!
//! Invariant: nothing is printed (clippy's `print_stdout` and `print_stderr`).

#![deny(clippy::print_stdout, clippy::print_stderr)]

pub mod alternatives;
pub mod asked;
pub mod cases;
pub mod codes;
pub mod crossing;
pub mod faces;
pub mod files;
pub mod findings;
pub mod notes;
pub mod params;
pub mod rates;
pub mod ready;
pub mod spec;
pub mod stability;
pub mod unstable;
pub mod walls;
