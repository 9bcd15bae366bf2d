//! Exit statuses of the program. Unusable arguments have the status 2 of the library that reads them.

/// Done.
pub const DONE: u8 = 0;
/// The input is refused, or something failed.
pub const FAILED: u8 = 1;
/// A run was asked to end, and did so.
pub const ENDED: u8 = 130;
