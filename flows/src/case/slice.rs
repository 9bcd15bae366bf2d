//! Planes through a domain.

/// A plane through a domain of three dimensions.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slice {
    /// The axis normal to it.
    pub normal: usize,
    /// Its position along that axis, in cells.
    pub at: f64,
}
