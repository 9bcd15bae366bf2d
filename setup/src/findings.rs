//! What is proved about a method, and what follows from its formulas.

use lbm_bundle::Layout;
use lbm_codegen::lower::signature::formula;
use lbm_codegen::pipeline;
use lbm_codegen::rounding::Rounding;
use lbm_dsl::model::{Conserved, Law, Model};
use lbm_dsl::prove;
use miette::{Result, miette};
use num_traits::ToPrimitive;
use serde::Serialize;

use crate::asked::Asked;
use crate::faces::{self, Faces};
use crate::rates::Rates;
use crate::stability::{self, Stability};
use crate::walls::{self, Place};

/// What is found out about a method.
#[derive(Serialize)]
pub struct Findings {
    /// Its name.
    pub spec: String,
    /// The comment that opens the spec, a line each.
    pub summary: Vec<String>,
    /// What holds and how that is known, a sentence each.
    pub proved: Vec<String>,
    /// What collisions conserve: `mass`, `momentum`, the sums of other sets of populations.
    pub conserved: Vec<String>,
    /// Its lattice.
    pub lattice: Lattice,
    /// On how few moments its collision depends; nothing where it has no value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub moments: Option<Moments>,
    /// Its kinematic viscosity.
    pub viscosity: Viscosity,
    /// Its bulk viscosity as a formula, if it carries a momentum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bulk_viscosity: Option<String>,
    /// Diffusivities of scalars.
    pub diffusivities: Vec<Diffusivity>,
    /// What a grid may follow.
    pub criteria: Vec<Criterion>,
    /// Values that were chosen for parameters that were not set: `magic = 0.25`.
    pub chosen: Vec<String>,
    /// Where its boundary conditions put the wall.
    pub walls: Vec<Place>,
    /// Where linear stability ends, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stability: Option<Stability>,
    /// What grows between two faces, if that is asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub faces: Option<Faces>,
    /// Errors of the collision in 32 bits for some values of the rate, if they are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rounding: Option<Vec<AtRate>>,
}

/// Errors of the collision in 32 bits.
#[derive(Serialize)]
pub struct AtRate {
    /// The value of the parameter that varies.
    pub rate: f64,
    /// What is known of them.
    #[serde(flatten)]
    pub rounding: Rounding,
    /// Whether formulas as the spec has them lose digits that the kernel keeps.
    pub loses_digits: bool,
}

/// The kinematic viscosity as a formula of the parameters, and the one parameter that sets it, if one does.
#[derive(Serialize)]
pub struct Viscosity {
    /// The formula.
    pub formula: String,
    /// The parameter.
    pub rate: Option<String>,
}

/// The diffusivity of what a set of populations carries.
#[derive(Serialize)]
pub struct Diffusivity {
    /// The set.
    pub populations: String,
    /// The formula.
    pub formula: String,
}

/// What a grid may follow.
#[derive(Serialize)]
pub struct Criterion {
    /// Its name.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// What it is of the fields.
    pub formula: String,
}

/// The lattice of the first populations.
#[derive(Serialize)]
pub struct Lattice {
    /// Its name: `D2Q9`.
    pub name: String,
    /// Number of axes.
    pub dim: usize,
    /// Number of velocities.
    pub q: usize,
    /// The square of its speed of sound, in cells and steps.
    pub cs2: f64,
    /// The order through which its velocity moments are those of a Gaussian.
    pub isotropy: u32,
}

/// The moments on which a collision depends.
#[derive(Serialize)]
pub struct Moments {
    /// How many they are.
    pub count: usize,
    /// How many populations there are.
    pub populations: usize,
    /// Their names: `rho`, `jx`, `pxy`.
    pub names: Vec<String>,
    /// What is known of it, in words.
    pub text: String,
}

/// What is asked about a method.
#[derive(Clone, Copy, Debug, Default)]
pub struct Question<'a> {
    /// Values of parameters: `NAME=VALUE`.
    pub settings: &'a [String],
    /// Whether linear stability is wanted.
    pub stability: bool,
    /// Faces between which it is wanted.
    pub faces: Option<&'a Asked>,
    /// Whether errors of the collision in 32 bits are wanted.
    pub rounding: bool,
    /// The velocity of the uniform flow on which it is, if not along x.
    pub velocity: Option<&'a [f64]>,
}

/// Finds out about a model; and the values of parameters for which that is told.
pub fn find(model: &Model, asked: Question<'_>) -> Result<(Findings, Rates)> {
    let findings = prove::findings(model);
    let whole = model;
    // States are chosen as parameters are.
    let model = &*model.frozen();
    let rates = Rates::new(model, findings.viscosity.rate.as_deref(), asked.settings)?;
    let diffusivities = model.populations().iter().zip(&findings.diffusivities).filter_map(|(set, found)| {
        Some(Diffusivity { populations: set.name.clone(), formula: found.as_ref()?.formula.clone() })
    });
    let criteria = model.criteria().iter().map(|criterion| Criterion {
        name: criterion.name.clone(),
        unit: criterion.unit.describe(),
        formula: formula(model, criterion.formula).to_string(),
    });
    let stability = asked.stability.then(|| stability::find(model, &rates, asked.velocity)).transpose()?;
    let own = rates.of_first(whole.params().len());
    let faces = asked.faces.map(|faces| faces::find(whole, &own, &findings.viscosity, faces, asked.velocity));
    let faces = faces.transpose()?;
    let rounding = asked.rounding.then(|| rounding(whole, &own)).transpose()?;
    let lattice = model.lattice();
    let told = Findings {
        spec: model.name().to_string(),
        summary: model.summary().to_vec(),
        proved: findings.lines.clone(),
        conserved: model.conserved().iter().map(name_of).collect(),
        lattice: Lattice {
            name: lattice.name().to_string(),
            dim: lattice.dim(),
            q: lattice.q(),
            cs2: lattice.cs2().to_f64().unwrap_or(f64::NAN),
            isotropy: lattice.isotropy(),
        },
        moments: findings.moments.as_ref().map(|found| Moments {
            count: found.moments.len(),
            populations: found.populations,
            names: found.moments.iter().map(|moment| moment.name.clone()).collect(),
            text: found.sentence(),
        }),
        viscosity: Viscosity { formula: findings.viscosity.formula.clone(), rate: findings.viscosity.rate.clone() },
        bulk_viscosity: findings.bulk.as_ref().map(|bulk| bulk.formula.clone()),
        diffusivities: diffusivities.collect(),
        criteria: criteria.collect(),
        chosen: rates.chosen.clone(),
        walls: walls::places(model, &rates),
        stability,
        faces,
        rounding,
    };
    Ok((told, rates))
}

/// Errors of the collision in 32 bits, for a few values of the rate.
fn rounding(model: &Model, rates: &Rates) -> Result<Vec<AtRate>> {
    let plans =
        pipeline::plan(model, Layout::Blocks, &mut |_| ()).map_err(|error| miette!(code = "L0108", "{error}"))?;
    let at = |rate: f64| {
        let rounding = plans.rounding(&rates.params(rate));
        AtRate { rate, rounding, loses_digits: rounding.loses_digits() }
    };
    Ok(rates.few().map(at).collect())
}

/// What a conserved quantity is called.
fn name_of(quantity: &Conserved) -> String {
    match quantity.law {
        Law::Sum(0) => "mass".to_string(),
        Law::Momentum => "momentum".to_string(),
        Law::Sum(_) | Law::Stated => quantity.name.clone(),
    }
}
