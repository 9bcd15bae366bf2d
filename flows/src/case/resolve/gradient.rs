//! The gradient of a case against its method and what else it asks for.

use lbm_bundle::Formula;

use super::resolver::{Grid, Resolver};
use crate::case::bodies::{self, Body};
use crate::case::diag::{self, Spanned};
use crate::case::formula;
use crate::case::gradient::{Gradient, Kept, Pull};
use crate::case::solids::SolidBody;
use crate::case::stop::{Steady, Stop};
use crate::case::units::Units;
use crate::case::varied::Varied;
use crate::case::words;

impl Resolver<'_> {
    /// What is derived, if anything is; it is refused beside what has no adjoint.
    pub(super) fn gradient(
        &mut self,
        grid: Grid,
        stop: Stop,
        units: &Units,
        solids: &[SolidBody],
    ) -> Option<Option<Gradient>> {
        let raw = self.raw;
        let Some(given) = &raw.gradient else { return Some(None) };
        let components = self.manifest.component_names();
        let Some(span) = given.span() else { return Some(None) };
        let of_fields = format!("`{}` has", self.manifest.spec);
        // Fields are in lattice units, positions in those of the case.
        let placed = given.objective.as_ref().map(|Spanned { value, span }| {
            let value = formula::Formula::placed(value, grid.size, grid.cell, &components);
            Spanned { value, span: span.clone() }
        });
        let positions = formula::POSITIONS[..self.dim].iter().map(ToString::to_string);
        let known: Vec<String> = components.iter().cloned().chain(positions).collect();
        let objective = self.derived(placed.as_ref(), &known, &of_fields, "component")?;
        let all = pulls(solids, self.dim);
        let named: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
        let forces = self.derived(given.forces.as_ref(), &named, "the case has", "force")?;
        let timed = raw.params.iter().find(|param| param.values.iter().any(|(value, _)| value.varies_in_time()));
        let follows = raw.refinement.as_ref().is_some_and(|refinement| refinement.follow.is_some());
        let refused = [
            (follows, "a grid that follows it", "leave out `refinement.criterion` and `refinement.every`"),
            (
                raw.refinement.is_some() && !raw.varied.is_empty(),
                "parameters that vary in space and a refined grid",
                "take a uniform grid",
            ),
            (raw.moves(), "solids that move", "keep them at rest"),
            (timed.is_some(), "parameters of the method that depend on time", "take constant ones"),
            (raw.processes > 1, "several processes", "take one"),
        ];
        if let Some((_, what, help)) = refused.into_iter().find(|(is, ..)| *is) {
            let message = format!("there are no gradients of a flow with {what}");
            return self.report.add(diag::NOT_DERIVED, span, message, "asked for here", help.to_string());
        }
        let steady = match (&given.steady, stop.steady) {
            (Some(given), None) => {
                let message = "derivatives of a steady flow need one that ends when it is steady";
                let help = "add `steady = 1e-8` to `[stop]`".to_string();
                return self.report.add(diag::MISSING_KEY, &given.span, message, "asked for here", help);
            }
            (given, of_flow) => {
                given.as_ref().zip(of_flow).map(|(own, of_flow)| Steady { tolerance: own.value, ..of_flow })
            }
        };
        let steps = given.steps.as_ref().map_or(1, |steps| steps.value as u64);
        if let Some(too_many) = given.steps.as_ref().filter(|_| steps > stop.steps) {
            let message = format!("the objective is the mean of {steps} steps, and the run has {}", stop.steps);
            return self.report.add(diag::BAD_VALUE, &too_many.span, message, "more than there are", None);
        }
        let names: Vec<&str> = objective.iter().flat_map(Formula::names).collect();
        let depends = (0..components.len()).filter(|at| names.contains(&&components[*at][..])).collect();
        let names: Vec<&str> = forces.iter().flat_map(Formula::names).collect();
        let pulls = all.into_iter().filter(|(name, _)| names.contains(&&name[..])).collect();
        let weight = given.weight.as_ref().map(|weight| weight.value.on(grid.size, grid.cell));
        let of_units = |varied: &Varied| kept(varied, 1.0 / units.scale(varied.dimension));
        let kept = raw.varied.iter().flat_map(of_units).collect();
        let made = raw.varied.iter().map(|varied| &varied.variation);
        let made = made.flat_map(|variation| variation.numbers.iter().chain(&variation.unit)).cloned().collect();
        let states = given.states as u64;
        let disk = given.disk;
        Some(Some(Gradient { objective, forces, pulls, depends, weight, steps, steady, states, disk, kept, made }))
    }

    /// A formula of these names that has derivatives by them.
    fn derived(
        &mut self,
        given: Option<&Spanned<Formula>>,
        known: &[String],
        owner: &str,
        what: &str,
    ) -> Option<Option<Formula>> {
        let Some(Spanned { value, span }) = given else { return Some(None) };
        let formula = value.with(&|name| (name == "pi").then(|| Formula::number(std::f64::consts::PI)));
        if let Some(unknown) = formula.names().iter().copied().find(|name| !known.iter().any(|known| known == name)) {
            let known: Vec<&str> = known.iter().map(String::as_str).collect();
            let message = format!("{owner} no {what} `{unknown}`");
            return self.report.add(diag::FORMULA, span, message, "unknown name", words::suggest(unknown, &known));
        }
        if !formula.has_slopes() {
            return self.report.add(diag::FORMULA, span, "tables and noise are not derived", "it has one", None);
        }
        Some(Some(formula))
    }
}

/// What formulas of forces may name.
fn pulls(solids: &[SolidBody], dim: usize) -> Vec<(String, Pull)> {
    let of_body = |body: Body<'_>| {
        let pull = move |axis: usize| {
            (format!("f{}_{}", ["x", "y", "z"][axis], body.word()), Pull { entries: body.entries.clone(), axis })
        };
        (0..dim).map(pull).collect::<Vec<_>>()
    };
    bodies::wholes_and_parts(solids).flat_map(of_body).collect()
}

/// The components of a parameter that are what cells keep, and no more than that.
fn kept(varied: &Varied, unit: f64) -> Vec<Kept> {
    let formulas = &varied.variation.formulas;
    let alone = |(axis, formula): (usize, &Formula)| match formula {
        Formula::Name(state) if formulas.iter().filter(|other| other.names().contains(&state[..])).count() == 1 => {
            let axis = if formulas.len() > 1 { ["x", "y", "z"][axis] } else { "" };
            Some(Kept { state: state.clone(), param: format!("{}{axis}", varied.param.name), unit })
        }
        _ => None,
    };
    formulas.iter().enumerate().filter_map(alone).collect()
}
