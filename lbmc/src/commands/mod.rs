//! A file per subcommand.

mod bench;
mod check;
mod eval;
mod r#gen;
mod run;
mod specs;

pub use bench::bench;
pub use check::check;
pub use eval::eval;
pub use r#gen::generate;
pub use run::run;
pub use specs::specs;
