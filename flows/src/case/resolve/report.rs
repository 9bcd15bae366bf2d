//! Reports against what the run will find.

use lbm_bundle::Formula;

use super::resolver::Resolver;
use crate::case::diag;
use crate::case::quantity::Quantity;
use crate::case::report::Report;
use crate::case::resolved::Case;
use crate::case::sources;
use crate::case::units::{Dimension, Units};

impl Resolver<'_> {
    /// Components of the method's fields, and a lattice unit of each in the units of the case.
    pub(super) fn means(&self, units: &Units) -> Vec<(String, f64)> {
        let own = Quantity::of_method(self.manifest).into_iter();
        let names = self.manifest.component_names();
        let scaled = own.flat_map(|quantity| vec![quantity.scale(units); quantity.columns().len()]);
        names.into_iter().zip(scaled).collect()
    }

    pub(super) fn reports(&mut self, case: &Case) -> Option<Vec<Report>> {
        let raw = self.raw;
        let (constants, sources) = (self.constants(case), sources::sources(case));
        let mut found: Vec<Report> = vec![];
        for given in &raw.report {
            let number = |name: &str| constants.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
            let formula = given.formula.value.with(&|name| number(name).map(Formula::number));
            let known: Vec<&str> = (sources.iter().map(|(name, _)| &name[..]))
                .chain(found.iter().map(|before| &before.name[..]))
                .collect();
            let unknown = formula.names().into_iter().find(|name| !known.contains(name));
            if let Some(name) = unknown {
                let message = format!("the results of this case have no `{name}`");
                let all: Vec<&str> = constants.iter().map(|(name, _)| &name[..]).chain(known.iter().copied()).collect();
                let help = crate::case::words::suggest(name, &all);
                return self.report.add(diag::NO_RESULT, &given.formula.span, message, "unknown name", help);
            }
            let twice =
                formula.names().into_iter().find(|name| known.iter().filter(|known| *known == name).count() > 1);
            if let Some(name) = twice {
                let message = format!("two results of this case are called `{name}`");
                let help =
                    "in formulas a blank or a sign in a name is `_`: rename one of those that differ in nothing else"
                        .to_string();
                return self.report.add(diag::CONFLICT, &given.formula.span, message, "which one?", help);
            }
            if known.contains(&&given.name.value[..]) || number(&given.name.value).is_some() {
                let message = format!("`{}` is a result already", given.name.value);
                let help = "give it another name".to_string();
                return self.report.add(diag::CONFLICT, &given.name.span, message, "taken", help);
            }
            found.push(Report { name: given.name.value.clone(), text: given.text.clone(), formula });
        }
        Some(found)
    }

    /// What the case itself has, in its units.
    fn constants(&self, case: &Case) -> Vec<(String, f64)> {
        let (units, scales) = (&case.units, &case.scales);
        let length = units.scale(Dimension::LENGTH);
        let mut all = vec![
            ("pi".to_string(), std::f64::consts::PI),
            ("velocity".to_string(), scales.velocity * units.scale(Dimension::VELOCITY)),
            ("length".to_string(), scales.length * length),
        ];
        let named = [
            ("viscosity", scales.viscosity.map(|value| value * units.scale(Dimension::VISCOSITY))),
            ("re", scales.re),
            ("density", if units.si { units.density } else { Some(1.0) }),
        ];
        all.extend(named.into_iter().filter_map(|(name, value)| Some((name.to_string(), value?))));
        let extents = ["lx", "ly", "lz"].into_iter().zip(case.size).take(case.dim);
        all.extend(extents.map(|(name, cells)| (name.to_string(), cells as f64 * length)));
        for scalar in &case.scalars {
            let scale = units.scale(Dimension::VISCOSITY);
            let value = case.diffusivity(scalar, 0).map(|value| value * scale);
            let timed = scalar.rate.as_ref().is_some_and(|(rate, _)| case.courses.iter().any(|(name, _)| name == rate));
            all.extend(value.filter(|_| !timed).map(|value| (format!("{}_diffusivity", scalar.name), value)));
        }
        // As the case gives them, those that do not depend on time.
        for param in &self.raw.params {
            let values: Option<Vec<f64>> = param.values.iter().map(|(value, _)| value.constant()).collect();
            for (at, value) in values.iter().flatten().enumerate() {
                let axis = if param.values.len() == 1 { "" } else { ["x", "y", "z"].get(at).copied().unwrap_or("") };
                let name = format!("{}{axis}", param.name.value);
                if !all.iter().any(|(known, _)| *known == name) {
                    all.push((name, *value));
                }
            }
        }
        all
    }
}
