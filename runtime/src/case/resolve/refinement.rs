//! Refined regions against the domain, and the finest level against the method.

use super::{Resolver, Values, short};
use crate::case::diag::{self, Spanned};
use crate::case::read::RawBox;
use crate::case::refinement::{COUPLING, RefinedBox, Refinement};

/// Levels beyond the coarsest that a case may have: a block of the finest is then still numbered with 32 bits.
const MOST_LEVELS: f64 = 16.0;

impl Resolver<'_> {
    /// Where the case is refined; `cell` is the size of a cell in the units of the case.
    pub(super) fn refinement(&mut self, size: [usize; 3], cell: f64, params: Option<&Values>) -> Option<Refinement> {
        let raw = self.raw.refinement.as_ref()?;
        let finest = &raw.finest;
        if finest.value > MOST_LEVELS {
            let message = format!("{} levels beyond the coarsest are more than {MOST_LEVELS}", finest.value);
            return self.report.add(diag::BAD_VALUE, &finest.span, message, "too many", None);
        }
        if let Some(level) = &raw.level
            && let Some(name) = level.value.beyond(self.dim)
        {
            let message = format!("{} has {} axes, and no `{name}`", self.manifest.main().lattice, self.dim);
            return self.report.add(diag::WRONG_DIMENSION, &level.span, message, "no such axis", None);
        }
        let boxes: Vec<Option<RefinedBox>> =
            raw.boxes.iter().map(|given| self.refined_box(given, finest.value, size, cell)).collect();
        let boxes = boxes.into_iter().collect::<Option<Vec<_>>>()?;
        let refinement = Refinement {
            finest: finest.value as usize,
            level: raw.level.as_ref().map(|level| level.value.on(size, cell)),
            boxes,
            coupling: raw.coupling.as_ref().map_or(COUPLING, |name| &name.value).to_string(),
        };
        let block = self.manifest.block.map(|cells| cells as usize);
        let count: [usize; 3] = std::array::from_fn(|axis| size[axis] / block[axis].max(1));
        let refines = |at: usize| {
            let place = [at % count[0], at / count[0] % count[1], at / (count[0] * count[1])];
            refinement.refines(crate::mesh::Block { level: 0, place }, block)
        };
        if self.raw.solids.is_empty() && !(0..count.iter().product()).any(refines) {
            let message = "no block of the coarsest level is refined";
            let help = "a block is refined where `level` is 1 or more at the centre of one of its cells".to_string();
            self.report.add::<()>(diag::NO_LEVELS, &raw.span, message, "refines nothing", help);
        }
        self.rates_of_levels(finest, params);
        Some(refinement)
    }

    fn refined_box(&mut self, given: &Spanned<RawBox>, finest: f64, size: [usize; 3], cell: f64) -> Option<RefinedBox> {
        let RawBox { level, from, to } = &given.value;
        if level.value > finest {
            let message = format!("level {} is finer than the finest, {finest}", level.value);
            let help = format!("raise `finest` to {}", level.value);
            return self.report.add(diag::BAD_VALUE, &level.span, message, "too fine", help);
        }
        for corner in [from, to] {
            if corner.value.len() != self.dim {
                self.wrong_dimension(&corner.span, "a corner of a box", corner.value.len());
                return None;
            }
        }
        let place = |corner: &Spanned<Vec<Spanned<f64>>>| {
            std::array::from_fn(|axis| corner.value.get(axis).map_or(0.0, |at| at.value / cell))
        };
        let region = RefinedBox { level: level.value as usize, from: place(from), to: place(to) };
        let wrong = (0..self.dim).find(|axis| {
            let (from, to) = (region.from[*axis], region.to[*axis]);
            !(from < to && from < size[*axis] as f64 && to > 0.0)
        });
        if let Some(axis) = wrong {
            let message = format!(
                "the box has no cell of the domain: along {} it goes from {} to {} cells, the domain from 0 to {}",
                super::axis_name(axis),
                short(region.from[axis]),
                short(region.to[axis]),
                size[axis]
            );
            return self.report.add(diag::OUTSIDE, &given.span, message, "outside", None);
        }
        Some(region)
    }

    /// Refuses a finest level on which a rate would leave its range.
    fn rates_of_levels(&mut self, finest: &Spanned<f64>, params: Option<&Values>) {
        let (Some(coupling), Some(params)) = (&self.manifest.coupling, params) else { return };
        let mut values: Vec<(&str, f64)> = params
            .iter()
            .filter(|(_, values)| values.len() == 1)
            .map(|(name, values)| (&name[..], values[0]))
            .collect();
        for level in 1..=finest.value as usize {
            let named = |name: &str| values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            let finer: Vec<f64> =
                coupling.rates.iter().map(|rate| rate.finer.value(named).unwrap_or(f64::NAN)).collect();
            for (rate, value) in coupling.rates.iter().zip(finer) {
                let range = self.manifest.params.iter().find(|param| param.name == rate.param).and_then(|p| p.range);
                if range.is_some_and(|(low, high)| !(value > low && value < high)) {
                    let message = format!("`{}` would be {} on level {level}", rate.param, short(value));
                    let help = "take fewer levels, or another viscosity".to_string();
                    return self
                        .report
                        .add::<()>(diag::RATE_OUT_OF_RANGE, &finest.span, message, "too fine for this rate", help)
                        .unwrap_or_default();
                }
                for known in &mut values {
                    if known.0 == rate.param {
                        known.1 = value;
                    }
                }
            }
        }
    }
}
