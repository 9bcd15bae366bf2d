//! Adaptation of the grid: target levels, changes of the forest, and the transfer of data.

pub(crate) mod adapt;
pub(crate) mod carry;
