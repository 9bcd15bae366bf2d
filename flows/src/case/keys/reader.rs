//! What reads values of the tree.

use crate::case::diag::Report;

/// Reads values of the tree, noting what is wrong.
pub(in crate::case) struct Reader {
    pub(in crate::case) report: Report,
    /// Whether values have units.
    pub(in crate::case) si: bool,
}
