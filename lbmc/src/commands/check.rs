//! `lbmc check`: what is proved about a method, and what follows from its formulas.

use lbm_dsl::prove;
use miette::Result;

use super::{stability, walls};
use crate::cli::Check;
use crate::rates::Rates;
use crate::spec::Spec;

/// Runs the command.
pub fn check(args: &Check) -> Result<()> {
    let model = Spec::find(&args.spec)?.model_with_all(&args.boundary, None)?;
    let findings = prove::findings(&model);
    let rates = Rates::new(&model, findings.viscosity.rate.as_deref(), &args.set)?;
    println!("{}", model.name());
    for line in model.summary() {
        println!("  {line}");
    }
    println!("proved");
    for line in &findings.lines {
        println!("  {line}");
    }
    println!("transport, by linearising the collision about rest");
    println!("  kinematic viscosity: {}", findings.viscosity.formula);
    if let Some(bulk) = &findings.bulk {
        println!("  bulk viscosity: {}", bulk.formula);
    }
    for (set, found) in model.populations().iter().zip(&findings.diffusivities) {
        if let Some(found) = found {
            println!("  diffusivity of what `{}` carries: {}", set.name, found.formula);
        }
    }
    if !model.criteria().is_empty() {
        println!("what a grid may follow");
    }
    for criterion in model.criteria() {
        println!("  {}, in {}: {}", criterion.name, criterion.unit.describe(), criterion.formula);
    }
    if !rates.chosen.is_empty() {
        println!("what follows holds for {} (use --set to choose)", rates.chosen.join(", "));
    }
    walls::tell(&model, &rates);
    if args.stability {
        stability::tell(&model, &rates, args.velocity.as_deref(), args.plot.as_deref())?;
    }
    Ok(())
}
