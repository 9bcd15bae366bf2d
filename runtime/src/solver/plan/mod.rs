//! A time step as plain data: its phases, its tasks, and what each of these reads and writes.

pub(crate) mod accesses;
pub(crate) mod phase;
pub(crate) mod task;
