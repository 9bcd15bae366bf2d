//! Solids on the device: blocks with cut links, those that move or turn, and what their links have exchanged.

pub(crate) mod bodies;
pub(crate) mod exchanges;
pub(crate) mod levels;
pub(crate) mod moving;
pub(crate) mod rows;
pub(crate) mod surfaces;
pub(crate) mod turning;
