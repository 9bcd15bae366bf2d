//! When to stop and what to write.

use super::{Resolver, short, stem};
use crate::case::diag::{self, Spanned};
use crate::case::units::{Dimension, Units};
use crate::case::{Output, Reference, Steady, Stop, reference, schema};

/// Steps between checks for steady flow, if the case does not say.
const CHECK_EVERY: f64 = 1000.0;

impl Resolver<'_> {
    pub(super) fn stop(&mut self, units: &Units) -> Stop {
        let raw = &self.raw.stop;
        let steps = match (&raw.steps, &raw.time) {
            (Some(steps), _) => steps.value,
            (None, Some(time)) => (time.value / units.scale(Dimension::TIME)).ceil(),
            (None, None) => 0.0,
        };
        let check_every = raw.check_every.as_ref().map_or(CHECK_EVERY, |every| every.value) as u64;
        Stop { steps: steps as u64, steady: raw.steady.map(|tolerance| Steady { tolerance, check_every }) }
    }

    pub(super) fn output(&mut self, re: Option<f64>) -> Output {
        let raw = &self.raw.output;
        Output {
            directory: raw.directory.clone().unwrap_or_else(|| format!("out/{}", stem(&self.raw.name))),
            profiles: raw.profiles,
            picture: raw.picture,
            vtk: raw.vtk,
            every: raw.every.as_ref().map(|every| every.value as u64),
            series: raw.series.as_ref().map(|every| every.value as u64),
            compare: raw.compare.as_ref().and_then(|name| self.compare(name, re)),
        }
    }

    fn compare(&mut self, name: &Spanned<String>, re: Option<f64>) -> Option<Reference> {
        let names = reference::names();
        if !names.contains(&&name.value[..]) {
            let message = format!("there is no reference data `{}`", name.value);
            let help = schema::suggest(&name.value, &names);
            return self.report.add(diag::UNKNOWN_WORD, &name.span, message, "unknown word", help);
        }
        let found = re.and_then(|re| reference::find(&name.value, self.dim, re));
        if found.is_none() {
            let tables: Vec<String> =
                reference::reynolds_numbers(&name.value, self.dim).iter().map(|re| format!("Re {re}")).collect();
            let help = match tables.is_empty() {
                true => format!("it has no data in {} dimensions", self.dim),
                false => format!("it has {}", tables.join(", ")),
            };
            let message = match re {
                Some(re) => format!("`{}` has no data for Re {}", name.value, short(re)),
                None => format!("`{}` needs a Reynolds number to choose by", name.value),
            };
            return self.report.add(diag::NO_REFERENCE, &name.span, message, "nothing to compare with", help);
        }
        let (needs, given) = match &found {
            Some(Reference::Profiles { .. }) => ("profiles = true", self.raw.output.profiles),
            _ => ("series = 100", self.raw.output.series.is_some()),
        };
        if !given {
            let message = format!("`{}` is compared with what `{needs}` writes", name.value);
            let help = format!("add `{needs}`");
            return self.report.add(diag::NO_EFFECT, &name.span, message, "has no effect", help);
        }
        found
    }
}
