//! What tests of any module begin with: a text to a model.

pub use crate::compile::{compile, compile_varied, compile_with};
pub use crate::shipped;
