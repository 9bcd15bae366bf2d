//! Restart files: the complete state of a run, from which it resumes with the same bits as an uninterrupted run.
//!
//! | bytes | content |
//! | --- | --- |
//! | 8 | `lbmc` and four bytes that a copy as text would change |
//! | 4 | version of the format |
//! | 8 | length of the head |
//! | | the head: JSON, see `head` |
//! | 32 | BLAKE3 of all preceding bytes |
//! | | the sections that the head lists, one after the other |
//! | 32 | BLAKE3 of the sections |
//!
//! Numbers are little-endian. The sections, in this order:
//!
//! - `leaves`: for each leaf its level and its position, as four 32-bit integers
//! - `populations`: the current populations of each leaf in the same order, `[direction][cell]`, in the format of the
//!   device; then those of refined blocks, if these store any
//! - `checked`, if the head declares it: the fields of all leaves at the last check for steady flow, in the same order,
//!   `[component][cell]`
//! - `statistics NAME`, for each of [`Course::statistics`]: 64-bit accumulators of all leaves in the same order,
//!   `[accumulator][cell]`
//! - `fields`, from which [other flows start](crate::case)
//!
//! A reader skips unknown sections after these.
//!
//! The same bits require the same machine code: the identity in the head includes the compiler, its flags and the
//! processor.
//!
//! Hashes are not signatures: anyone who can write a file can write its hashes. The reader therefore compares all sizes
//! and counts in the file with the flow before it uses them (`check`).
//!
//! Populations are not compressed: for a cavity zstd saves 9 %, at a tenth of the speed of a disk. An addition to the
//! state of a run is a field of [`Course`] with a default, or a section. A change that older readers would misread
//! requires a new version.
//!
//! | module | content |
//! | --- | --- |
//! | `error` | why a run cannot be resumed |
//! | `identity` | what must be unchanged when a run is resumed |
//! | `course` | the state of a run besides its populations |
//! | `head` | the head of a file |
//! | `check` | whether the contents of a file are possible for a flow |
//! | `read`, `write` | reading and writing files |

mod check;
mod course;
mod error;
mod head;
mod identity;
mod read;
mod write;

pub use course::{Course, Sampled, SavedBody, SavedExchanges, SavedStatistics, saved};
pub use error::RestartError;
pub use identity::Identity;
pub use read::Restart;
pub use write::write;
