//! `lbmc check`: what is proved about a method, and what follows from its formulas; or these formulas as LaTeX.

use lbm_setup::asked::Asked;
use lbm_setup::findings::{self, Criterion, Diffusivity, Findings, Question};
use lbm_setup::rates::Rates;
use lbm_setup::spec::Spec;
use lbm_setup::{files, stability};
use miette::Result;

use crate::cli::Check;

/// Runs the command.
pub fn check(args: &Check) -> Result<()> {
    let spec = Spec::find(&args.spec)?;
    if args.latex {
        print!("{}", spec.equations()?.document());
        return Ok(());
    }
    let faces = args.faces.as_deref().map(Asked::parse).transpose()?;
    let model = match &faces {
        Some(faces) => faces.model(&spec, &args.boundary)?,
        None => spec.model_with_all(&args.boundary, None)?,
    };
    let velocity = args.velocity.as_deref();
    let (stability, rounding) = (args.stability, args.rounding);
    let asked = Question { settings: &args.set, stability, faces: faces.as_ref(), rounding, velocity };
    let (told, rates) = findings::find(&model, asked)?;
    if args.json {
        println!("{}", serde_json::to_string(&told).expect("plain data has a text"));
    } else {
        print(&told, &rates, &rates.of_first(model.params().len()));
    }
    if let (Some(file), Some(found)) = (&args.plot, &told.stability) {
        files::write(file, stability::draw(&model.frozen(), &rates, found)?)?;
        if !args.json {
            println!("  drawn in {}", file.display());
        }
    }
    Ok(())
}

/// `own` has no values in the place of states.
fn print(told: &Findings, rates: &Rates, own: &Rates) {
    println!("{}", told.spec);
    for line in &told.summary {
        println!("  {line}");
    }
    println!("proved");
    for line in &told.proved {
        println!("  {line}");
    }
    println!("transport, by linearising the collision about rest");
    println!("  kinematic viscosity: {}", told.viscosity.formula);
    if let Some(bulk) = &told.bulk_viscosity {
        println!("  bulk viscosity: {bulk}");
    }
    for Diffusivity { populations, formula } in &told.diffusivities {
        println!("  diffusivity of the scalar of `{populations}`: {formula}");
    }
    if !told.criteria.is_empty() {
        println!("refinement criteria");
    }
    for Criterion { name, unit, formula } in &told.criteria {
        println!("  {name}, in {unit}: {formula}");
    }
    if !told.chosen.is_empty() {
        println!("the following is computed with {} (use --set to choose)", told.chosen.join(", "));
    }
    super::walls::tell(&told.walls);
    if let Some(found) = &told.stability {
        super::stability::tell(found, rates);
    }
    if let Some(found) = &told.faces {
        super::faces::tell(found, own);
    }
    if let Some(found) = &told.rounding {
        super::rounding::tell(&told.spec, found, own);
    }
}
