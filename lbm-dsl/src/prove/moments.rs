//! On how few moments of the populations a collision depends, and how these are stored in the place of populations.
//!
//! | module | content |
//! | --- | --- |
//! | `slopes` | derivatives of values by the populations, at points of a prime field |
//! | `basis` | moments, with their names; bases of spaces of them |
//! | `dependence` | on how few moments a collision depends |
//! | `stored` | a collision of moments that are stored in the place of populations |

mod basis;
mod dependence;
mod slopes;
mod stored;

pub use basis::Moment;
pub use dependence::{Dependence, dependence};
pub(super) use slopes::depend_on_no_more;
pub use stored::{NotStored, Stored, stored};
