//! Errors of a collision in 32 bits, in words.

use lbm_codegen::rounding::{FIELDS, OUT_OF_EQUILIBRIUM, Rounding, STATES};
use lbm_setup::findings::AtRate;
use lbm_setup::notes;
use lbm_setup::rates::Rates;
use miette::{MietteDiagnostic, Report, Severity};

/// Prints a line for each rate, and warns where formulas lose digits that the kernel keeps.
pub fn tell(spec: &str, found: &[AtRate], rates: &Rates) {
    println!("errors of a step in 32 bits, in parts of a population at rest");
    println!(
        "  for densities of 1 +- {FIELDS}, components of the velocity up to {FIELDS}, populations within {OUT_OF_EQUILIBRIUM} of their weights of the equilibrium"
    );
    for AtRate { rate, rounding, .. } in found {
        let Rounding { bound, bound_as_written, measured } = rounding;
        let text =
            |bound: &Option<f64>| bound.map_or("no bound is known".to_string(), |bound| format!("at most {bound:.1e}"));
        println!(
            "  the kernel{}: {}; {measured:.1e} in {STATES} random states; as written: {}",
            rates.at(*rate),
            text(bound),
            text(bound_as_written)
        );
    }
    if let Some(AtRate {
        rate, rounding: Rounding { bound: Some(kernel), bound_as_written: Some(written), .. }, ..
    }) = found.iter().find(|at| at.loses_digits)
    {
        let what = format!(
            "the formulas of `{spec}` in the order in which they are written lose digits that the kernel keeps{}: the bound of the error is {:.0} \
             times as large",
            rates.at(*rate),
            written / kernel
        );
        let help = "the kernels of lbmc are not concerned; in a program of your own, compute differences before they are added to what is large";
        let warning = MietteDiagnostic::new(what).with_code("L0206").with_severity(Severity::Warning);
        notes::warning(Report::new(warning.with_help(help)));
    }
}
