//! The program and its libraries as users have them. One program, so that the tests of all of them share its processors.

mod checked;
mod cli;
mod crossing;
mod docs;
mod emulated;
mod faces;
mod falling;
mod followed;
mod geometry;
mod gradients;
mod layers;
mod mpi;
mod packaging;
mod recordings;
mod restart;
mod results;
#[path = "../../../tests/src/sample.rs"]
mod sample;
mod starts;
mod terminal;
mod varying;
mod watch;
