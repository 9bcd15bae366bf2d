//! The shipped kernels, checked in: CUDA, C, a C header, typed Rust launches and a manifest for each spec.
//!
//! Written by `LBMC_UPDATE=1 cargo test -p lbm-tests drift::`. The modules hold launches and layout; the
//! kernels beside them compile with any CUDA or C compiler, without lbmc.
#![allow(rustdoc::broken_intra_doc_links)]

#[rustfmt::skip]
pub mod d2q9_bgk;
#[rustfmt::skip]
pub mod d2q9_boussinesq;
#[rustfmt::skip]
pub mod d2q9_carreau_yasuda;
#[rustfmt::skip]
pub mod d2q9_central;
#[rustfmt::skip]
pub mod d2q9_guo;
#[rustfmt::skip]
pub mod d2q9_hybrid;
#[rustfmt::skip]
pub mod d2q9_kbc;
#[rustfmt::skip]
pub mod d2q9_mrt;
#[rustfmt::skip]
pub mod d2q9_phase_field;
#[rustfmt::skip]
pub mod d2q9_porous;
#[rustfmt::skip]
pub mod d2q9_power_law;
#[rustfmt::skip]
pub mod d2q9_power_law_state;
#[rustfmt::skip]
pub mod d2q9_recursive;
#[rustfmt::skip]
pub mod d2q9_scalar;
#[rustfmt::skip]
pub mod d2q9_shan_chen;
#[rustfmt::skip]
pub mod d2q9_trt;
#[rustfmt::skip]
pub mod d2q9_trt_bounded;
#[rustfmt::skip]
pub mod d2q9_two_fluids;
#[rustfmt::skip]
pub mod d3q15_bgk;
#[rustfmt::skip]
pub mod d3q19_bgk;
#[rustfmt::skip]
pub mod d3q19_guo;
#[rustfmt::skip]
pub mod d3q19_hybrid;
#[rustfmt::skip]
pub mod d3q19_mrt;
#[rustfmt::skip]
pub mod d3q19_mrt_raw;
#[rustfmt::skip]
pub mod d3q19_recursive;
#[rustfmt::skip]
pub mod d3q19_regularized;
#[rustfmt::skip]
pub mod d3q19_smagorinsky;
#[rustfmt::skip]
pub mod d3q19_trt;
#[rustfmt::skip]
pub mod d3q19_trt_bounded;
#[rustfmt::skip]
pub mod d3q19_trt_guo;
#[rustfmt::skip]
pub mod d3q19_trt_guo_bounded;
#[rustfmt::skip]
pub mod d3q19_vreman;
#[rustfmt::skip]
pub mod d3q19_wale;
#[rustfmt::skip]
pub mod d3q27_bgk;
#[rustfmt::skip]
pub mod d3q27_central;
#[rustfmt::skip]
pub mod d3q27_central_smagorinsky;
#[rustfmt::skip]
pub mod d3q27_cumulant;
#[rustfmt::skip]
pub mod d3q27_cumulant_rates;
#[rustfmt::skip]
pub mod d3q27_hybrid;
#[rustfmt::skip]
pub mod d3q27_k17;
#[rustfmt::skip]
pub mod d3q27_kbc;
#[rustfmt::skip]
pub mod d3q27_kbc_n2;
#[rustfmt::skip]
pub mod d3q27_kbc_n4;
#[rustfmt::skip]
pub mod d3q27_recursive;
#[rustfmt::skip]
pub mod d3q7_advection;
