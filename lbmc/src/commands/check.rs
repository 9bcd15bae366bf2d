//! `lbmc check`: what is proved about a method, and what follows from its formulas.

use lbm_codegen::lower::signature::formula;
use lbm_dsl::model::Model;
use lbm_dsl::prove;
use miette::Result;
use serde::Serialize;

use super::stability::{self, Stability};
use super::walls::{self, Place};
use crate::cli::Check;
use crate::rates::Rates;
use crate::spec::Spec;

/// What is told, and what `--json` prints.
#[derive(Serialize)]
struct Told {
    spec: String,
    /// The comment that opens the spec, a line each.
    summary: Vec<String>,
    /// What holds and how that is known, a sentence each.
    proved: Vec<String>,
    viscosity: Viscosity,
    #[serde(skip_serializing_if = "Option::is_none")]
    bulk_viscosity: Option<String>,
    diffusivities: Vec<Diffusivity>,
    criteria: Vec<Criterion>,
    /// Values that were chosen for parameters that were not set: `magic = 0.25`.
    chosen: Vec<String>,
    walls: Vec<Place>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stability: Option<Stability>,
}

/// The kinematic viscosity as a formula of the parameters, and the one parameter that sets it, if one does.
#[derive(Serialize)]
struct Viscosity {
    formula: String,
    rate: Option<String>,
}

/// The diffusivity of what a set of populations carries.
#[derive(Serialize)]
struct Diffusivity {
    populations: String,
    formula: String,
}

/// What a grid may follow.
#[derive(Serialize)]
struct Criterion {
    name: String,
    unit: String,
    formula: String,
}

/// Runs the command.
pub fn check(args: &Check) -> Result<()> {
    let model = Spec::find(&args.spec)?.model_with_all(&args.boundary, None)?;
    let (told, rates) = find(&model, args)?;
    if args.json {
        println!("{}", serde_json::to_string(&told).expect("plain data has a text"));
    } else {
        told.print(&rates);
    }
    if let (Some(file), Some(found)) = (&args.plot, &told.stability) {
        stability::draw(&model.frozen(), &rates, found, file)?;
        if !args.json {
            println!("  drawn in {}", file.display());
        }
    }
    Ok(())
}

fn find(model: &Model, args: &Check) -> Result<(Told, Rates)> {
    let findings = prove::findings(model);
    // States are chosen as parameters are.
    let model = &*model.frozen();
    let rates = Rates::new(model, findings.viscosity.rate.as_deref(), &args.set)?;
    let diffusivities = model.populations().iter().zip(&findings.diffusivities).filter_map(|(set, found)| {
        Some(Diffusivity { populations: set.name.clone(), formula: found.as_ref()?.formula.clone() })
    });
    let criteria = model.criteria().iter().map(|criterion| Criterion {
        name: criterion.name.clone(),
        unit: criterion.unit.describe(),
        formula: formula(model, criterion.formula).to_string(),
    });
    let stability = args.stability.then(|| stability::find(model, &rates, args.velocity.as_deref())).transpose()?;
    let told = Told {
        spec: model.name().to_string(),
        summary: model.summary().to_vec(),
        proved: findings.lines.clone(),
        viscosity: Viscosity { formula: findings.viscosity.formula.clone(), rate: findings.viscosity.rate.clone() },
        bulk_viscosity: findings.bulk.as_ref().map(|bulk| bulk.formula.clone()),
        diffusivities: diffusivities.collect(),
        criteria: criteria.collect(),
        chosen: rates.chosen.clone(),
        walls: walls::places(model, &rates),
        stability,
    };
    Ok((told, rates))
}

impl Told {
    fn print(&self, rates: &Rates) {
        println!("{}", self.spec);
        for line in &self.summary {
            println!("  {line}");
        }
        println!("proved");
        for line in &self.proved {
            println!("  {line}");
        }
        println!("transport, by linearising the collision about rest");
        println!("  kinematic viscosity: {}", self.viscosity.formula);
        if let Some(bulk) = &self.bulk_viscosity {
            println!("  bulk viscosity: {bulk}");
        }
        for Diffusivity { populations, formula } in &self.diffusivities {
            println!("  diffusivity of the scalar of `{populations}`: {formula}");
        }
        if !self.criteria.is_empty() {
            println!("refinement criteria");
        }
        for Criterion { name, unit, formula } in &self.criteria {
            println!("  {name}, in {unit}: {formula}");
        }
        if !self.chosen.is_empty() {
            println!("the following is computed with {} (use --set to choose)", self.chosen.join(", "));
        }
        walls::tell(&self.walls);
        if let Some(found) = &self.stability {
            stability::tell(found, rates);
        }
    }
}
