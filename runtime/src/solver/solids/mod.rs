//! Solids on the device: blocks with cut links, moving and rotating solids, and the momentum and mass exchanged along cut links.

pub(crate) mod bodies;
pub(crate) mod exchanges;
pub mod layers;
pub(crate) mod levels;
pub(crate) mod motion;
pub(crate) mod moving;
pub(crate) mod rows;
pub(crate) mod slides;
pub(crate) mod sliding;
pub(crate) mod surfaces;
