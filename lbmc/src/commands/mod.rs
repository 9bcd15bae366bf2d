//! A file per subcommand.

mod bench;
mod boundaries;
mod cases;
mod check;
mod eval;
mod explain;
mod faces;
mod fmt;
mod r#gen;
mod lsp;
mod manual;
mod new;
mod report;
mod rounding;
mod run;
mod schema;
mod specs;
mod stability;
mod walls;
mod watch;

pub use bench::bench;
pub use cases::cases;
pub use check::check;
pub use eval::eval;
pub use explain::explain;
pub use fmt::fmt;
pub use r#gen::generate;
pub use lsp::lsp;
pub use manual::{completions, man};
pub use new::new;
pub use report::report;
pub use run::run;
pub use schema::schema;
pub use specs::specs;
pub use watch::watch;
