//! What a case accumulates over time in every cell, and what follows from that in the end.

use lbm_bundle::Formula;
use lbm_bundle::statistics::Statistic;
use lbm_runtime::solver::snapshot::{Component, Snapshot};

use super::quantity::{Measure, Quantity};
use super::vtk::Vtk;

/// Most tables of a case.
pub(super) const MOST_STATISTICS: usize = 8;

/// Fields whose statistics a case asks for.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Part of the name of its file.
    pub name: String,
    /// The fields, no component twice.
    pub fields: Vec<Quantity>,
    /// Their components as formulas of those of the method's fields.
    pub(super) formulas: Vec<Formula>,
    /// What is made of them.
    pub of: Vec<Measure>,
    /// The first step that may be sampled.
    pub from: u64,
    /// Steps between samples.
    pub every: u64,
}

/// Where a component of a result comes from: an accumulator, by its number.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Source {
    /// As it is.
    Plain(usize),
    /// Over the number of samples.
    Mean(usize),
    /// The root of that.
    Root(usize),
}

impl Statistics {
    /// Whether a step is sampled.
    pub fn wants(&self, step: u64) -> bool {
        step >= self.from && (step - self.from).is_multiple_of(self.every)
    }

    /// Steps from one to the next that is sampled.
    pub fn until(&self, step: u64) -> u64 {
        if step < self.from { self.from - step } else { self.every - (step - self.from) % self.every }
    }

    /// Steps that are sampled until one, itself included.
    pub fn samples_until(&self, step: u64) -> u64 {
        step.checked_sub(self.from).map_or(0, |after| after / self.every + 1)
    }

    /// All that tells what is accumulated from something else.
    pub fn definition(&self) -> String {
        let fields: Vec<String> = self.fields.iter().map(Quantity::definition).collect();
        let of: Vec<&str> = self.of.iter().map(|measure| measure.name()).collect();
        format!("{} of {} from {} every {}", of.join(", "), fields.join(", "), self.from, self.every)
    }

    /// Name of its file.
    pub fn file_name(&self, format: Vtk) -> String {
        format!("statistics_{}.{}", self.name, format.ending())
    }

    /// The position of the first component of the velocity, and their number, if there is one.
    fn velocity(&self) -> Option<(usize, usize)> {
        let mut first = 0;
        for field in &self.fields {
            let components = field.columns().len();
            if field.name() == "velocity" {
                return Some((first, components));
            }
            first += components;
        }
        None
    }

    /// What is accumulated for it.
    pub fn accumulated(&self) -> Statistic {
        let all: Vec<usize> = (0..self.formulas.len()).collect();
        let of = |measure: Measure| if self.of.contains(&measure) { all.clone() } else { vec![] };
        let mut pairs: Vec<[usize; 2]> = of(Measure::Rms).into_iter().map(|at| [at, at]).collect();
        for pair in self.stresses() {
            if !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        Statistic { quantities: self.formulas.clone(), pairs, least: of(Measure::Min), greatest: of(Measure::Max) }
    }

    /// Pairs of components of the velocity whose stress is asked for.
    fn stresses(&self) -> Vec<[usize; 2]> {
        let Some((first, count)) = self.velocity().filter(|_| self.of.contains(&Measure::Stresses)) else {
            return vec![];
        };
        (0..count).flat_map(|one| (one..count).map(move |other| [first + one, first + other])).collect()
    }

    /// Fields of [`Self::evaluate`].
    pub fn results(&self) -> Vec<Quantity> {
        self.sources().into_iter().map(|(quantity, _)| quantity).collect()
    }

    /// Each result with the accumulators of its components.
    fn sources(&self) -> Vec<(Quantity, Vec<Source>)> {
        let accumulated = self.accumulated();
        let (quantities, pairs) = (accumulated.quantities.len(), accumulated.pairs.len());
        let pair = |pair: [usize; 2]| {
            quantities + accumulated.pairs.iter().position(|known| *known == pair).unwrap_or_default()
        };
        let mut found: Vec<(Quantity, Vec<Source>)> = vec![];
        let next = |found: &[(Quantity, Vec<Source>)]| found.iter().map(|(_, sources)| sources.len()).sum();
        for measure in &self.of {
            let mut first = 0;
            for field in &self.fields {
                let components = first..first + field.columns().len();
                first = components.end;
                let source = |at: usize| match measure {
                    Measure::Rms => Source::Root(pair([at, at])),
                    Measure::Min => Source::Plain(quantities + pairs + at),
                    Measure::Max => Source::Plain(quantities + pairs + accumulated.least.len() + at),
                    Measure::Mean | Measure::Stresses => Source::Plain(at),
                };
                if *measure != Measure::Stresses {
                    let result = field.statistic(*measure, next(&found));
                    found.push((result, components.map(source).collect()));
                } else if field.name() == "velocity" {
                    for stress in self.stresses() {
                        let [one, other] = stress.map(|at| ["x", "y", "z"][at - components.start]);
                        let result = field.stress(&format!("{one}{other}"), one != other, next(&found));
                        found.push((result, vec![Source::Mean(pair(stress))]));
                    }
                }
            }
        }
        found
    }

    /// The results from what was accumulated of so many samples, in lattice units: the components of [`Self::results`].
    pub fn evaluate(&self, mut accumulated: Snapshot, samples: u64) -> Snapshot {
        let n = samples.max(1) as f64;
        let mut components = vec![];
        for (quantity, sources) in self.sources() {
            for (name, source) in quantity.columns().into_iter().zip(sources) {
                let of = |at: usize, change: &dyn Fn(f64) -> f64| -> Vec<f64> {
                    accumulated.components[at].data.iter().map(|value| change(*value)).collect()
                };
                let data = match source {
                    Source::Plain(at) => of(at, &|value| value),
                    Source::Mean(at) => of(at, &|value| value / n),
                    Source::Root(at) => of(at, &|value| (value / n).sqrt()),
                };
                components.push(Component { name, data });
            }
        }
        accumulated.components = components;
        accumulated
    }
}
