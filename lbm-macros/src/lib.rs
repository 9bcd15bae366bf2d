//! The language's door for Rust programs: [`lbm!`].
//!
//! - `input`: what stands between the braces of the macro
//! - `spec`: from there to the text of a module
//! - `place`: where in the program something is wrong
//!
//! Invariant: what is wrong with a spec is an error at its own place in the program.

mod input;
mod place;
mod spec;

use proc_macro::TokenStream;

/// Compiles a lattice Boltzmann method, and puts its kernels into a module.
///
/// ```
/// lbm_macros::lbm! {
///     /// Single relaxation time on D2Q9.
///     pub mod bgk(f64) {
///         use lattices::D2Q9;
///         use equilibria::quadratic;
///
///         lattice D2Q9;
///         param omega in (0, 2);   // relaxation rate of every moment
///
///         let rho  = sum(i: f[i]);
///         let u[a] = sum(i: c[i, a] * f[i]) / rho;
///         field rho;
///         field u;
///         init f[i] <- quadratic[i](rho, u);
///         collide { f[i] <- f[i] + omega * (quadratic[i](rho, u) - f[i]); }
///     }
/// }
///
/// // Two cells at rest stay at rest.
/// let mut f = [[0.0; 2]; bgk::Q];
/// let params = bgk::Params { omega_: 1.2 };
/// bgk::init_lanes(&[[1.0; 2], [0.0; 2], [0.0; 2]], &mut f, params);
/// let mut after = f;
/// bgk::collide_lanes(&f, &mut after, params);
/// assert!(f.iter().flatten().zip(after.iter().flatten()).all(|(a, b)| (a - b).abs() < 1e-15));
/// ```
///
/// The name of the module is that of the method; the type in parentheses, `f32` or `f64`, is that of its populations. A
/// method in a file is named by its path from the folder of `Cargo.toml`:
///
/// ```text
/// lbm! { pub mod mine(f32) = "methods/mine.lbm"; }
/// ```
///
/// Modules that a method uses are those of the prelude, and for a file those in its folder.
///
/// # What the module holds
///
/// The kernels are for arrays of your own, `[direction][z][y][x]`; their documentation says the details.
///
/// - `Q`, `FIELDS`, `VELOCITIES`, `WEIGHTS`, `OPPOSITES`: the velocity set
/// - `Params`: the parameters, their names with an underscore behind them; a method without parameters has none
/// - `init_lanes`, `collide_lanes`, `macroscopic_lanes`: a few cells at a time, for a loop of your own
/// - `init`, `stream_collide`, `macroscopic`: whole arrays, with `Cells`, their extents and strides
/// - `CUDA`: the same kernels as CUDA C++, for NVRTC; `Init`, `StreamCollide`, `Macroscopic`, `Collide` are their launches
///
/// The functions are plain safe Rust: no C compiler takes part, and nothing is loaded when the program runs.
#[proc_macro]
pub fn lbm(tokens: TokenStream) -> TokenStream {
    // The compiler's own tokens have no place but that of the macro; those of proc_macro2 know their bytes.
    proc_macro2::fallback::force();
    match input::Input::read(tokens).and_then(spec::module) {
        Ok(module) => module,
        Err(errors) => errors.into_iter().flat_map(place::Fault::tokens).collect(),
    }
}
