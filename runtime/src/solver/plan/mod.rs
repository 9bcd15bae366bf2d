//! A time step as plain data: its phases, the tasks that they are cut into, and what each reads and writes.

pub(crate) mod accesses;
pub(crate) mod phase;
pub(crate) mod task;
