//! `lbmc check`: what is proved about a method, its viscosity and diffusivities.

use lbm_dsl::prove;
use miette::Result;

use crate::cli::Check;
use crate::spec::Spec;

/// Runs the command.
pub fn check(args: &Check) -> Result<()> {
    let model = Spec::find(&args.spec)?.model()?;
    let findings = prove::findings(&model);
    println!("{}", model.name());
    for line in model.summary() {
        println!("  {line}");
    }
    println!("proved");
    for line in &findings.lines {
        println!("  {line}");
    }
    println!("kinematic viscosity, by linearising the collision about rest");
    println!("  nu = {}", findings.viscosity.formula);
    for (set, found) in model.populations().iter().zip(&findings.diffusivities) {
        if let Some(found) = found {
            println!("diffusivity of what `{}` carries, by the same", set.name);
            println!("  D = {}", found.formula);
        }
    }
    Ok(())
}
