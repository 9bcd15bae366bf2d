//! What pages show of a run while it goes on, and what they ask of its flow.
//!
//! ```text
//!            status, answers                       state, sections, surfaces, pictures
//! flow ───────────────────────▶ Desk ◀──────▶ Show ────────────────────────────────────▶ whoever serves pages
//!   ▲                            │              │
//!   └────────────────────────────┘              └── tables and pictures of the folder
//!        what is asked for, between steps
//! ```
//!
//! The flow visits the desk between intervals of steps. Where nobody asks, a visit is a lock and a copy of a few numbers. What is
//! asked for takes a small share of the time of the run at most, whoever asks and however often (`budget`).
//!
//! | module | job |
//! | --- | --- |
//! | `budget` | the shares of the time that pages may take |
//! | `ask` | what may be asked of a flow, as data; its answer |
//! | `desk` | where a flow and pages meet: status, questions, answers, orders |
//! | `section` | a plane through a field as bytes |
//! | `surface` | an isosurface as bytes |
//! | `folder` | the tables and the pictures in a folder of results |
//! | `show` | all that a page may have, by name |
//!
//! Invariant: no module imports one below it in the table.

mod ask;
mod budget;
mod desk;
mod folder;
mod section;
mod show;
mod surface;

pub use ask::{Answer, Ask, Refused};
pub use desk::{Desk, Orders, Phase};
pub use show::{Content, Order, Show, Values};
