//! The grid follows the flow: target levels, changes of the forest, and data that go along.

pub(crate) mod adapt;
pub(crate) mod carry;
