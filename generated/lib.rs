//! The shipped kernels, checked in: CUDA, C, a C header, typed Rust launches and a manifest for each spec.
//!
//! Written by `LBMC_UPDATE=1 cargo test -p lbm-tests --test drift`. The modules hold launches and layout; the
//! kernels beside them compile with any CUDA or C compiler, without lbmc.
#![allow(rustdoc::broken_intra_doc_links)]

#[rustfmt::skip]
pub mod d2q9_bgk;
#[rustfmt::skip]
pub mod d2q9_scalar;
#[rustfmt::skip]
pub mod d3q19_bgk;
#[rustfmt::skip]
pub mod d3q27_bgk;
#[rustfmt::skip]
pub mod d3q27_cumulant;
#[rustfmt::skip]
pub mod d3q27_kbc;
#[rustfmt::skip]
pub mod d3q7_advection;
