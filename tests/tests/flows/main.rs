//! Flows of every shipped method, against analytic solutions and published figures. One program, so that each method is
//! compiled once.

mod cavity;
mod channel;
mod simple;
mod sound;
mod vortices;
mod waves;
