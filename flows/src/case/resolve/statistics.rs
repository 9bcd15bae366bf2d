//! Statistics against the method and the time that the run takes.

use super::resolver::Resolver;
use crate::case::diag::{self, Spanned};
use crate::case::keys::statistics::RawStatistics;
use crate::case::keys::values::Interval;
use crate::case::quantity::{Measure, Quantity};
use crate::case::statistics::Statistics;
use crate::case::stop::Stop;
use crate::case::units::Units;

impl Resolver<'_> {
    pub(super) fn statistics(&mut self, units: &Units, stop: Stop) -> Option<Vec<Statistics>> {
        let raw = self.raw;
        let all: Vec<_> = raw.statistics.iter().map(|given| self.statistic(given, units, stop)).collect();
        all.into_iter().collect()
    }

    fn statistic(&mut self, given: &Spanned<RawStatistics>, units: &Units, stop: Stop) -> Option<Statistics> {
        let raw = &given.value;
        let fields = match &raw.fields {
            Some(names) => self.quantities(names)?,
            None => self.default_fields(),
        };
        let mut formulas = vec![];
        let components = self.manifest.component_names();
        let named = |field: &Quantity| raw.fields.iter().flatten().find(|name| name.value == field.name());
        for field in &fields {
            let Some(of_field) = field.formulas(&components) else {
                let message = format!("`{}` cannot be accumulated", field.name());
                let help =
                    "statistics are of the fields and observables of the method, of what follows from them and from slopes of the \
                            velocity, and of formulas of these"
                        .to_string();
                let span = named(field).map_or(&given.span, |name| &name.span);
                return self.report.add(diag::NOT_ACCUMULATED, span, message, "no statistics of this", help);
            };
            formulas.extend(of_field);
        }
        let has_velocity = fields.iter().any(|field| field.name() == "velocity");
        if raw.of.contains(&Measure::Stresses) && !has_velocity {
            let message = "stresses are products of the components of the velocity, which is not among the fields";
            let help = "add \"velocity\" to `fields`".to_string();
            return self.report.add(diag::NOT_ACCUMULATED, &given.span, message, "no velocity", help);
        }
        let every = self.interval(&raw.every, units)?;
        let from = match raw.from.value {
            Interval::Steps(steps) => steps,
            Interval::Seconds(seconds) => (seconds / units.step).round() as u64,
        };
        let statistics = Statistics { name: raw.name.value.clone(), fields, formulas, of: raw.of.clone(), from, every };
        if from > stop.steps {
            let message = format!("the first sample would be of step {from}; the run ends at step {}", stop.steps);
            let help = "begin earlier, or take more steps".to_string();
            self.report.add::<()>(diag::NO_SAMPLES, &raw.from.span, message, "after the end", help);
        }
        if i32::try_from(statistics.samples_until(stop.steps)).is_err() {
            let message = format!("a statistic has {} samples at most", i32::MAX);
            let help = "raise `every`".to_string();
            return self.report.add(diag::BAD_VALUE, &raw.every.span, message, "too many", help);
        }
        Some(statistics)
    }

    /// The result of a statistic, by their names, with the number of the statistic.
    pub(super) fn result(
        &mut self,
        of: &Spanned<String>,
        field: &Spanned<String>,
        statistics: &[Statistics],
    ) -> Option<(usize, Quantity)> {
        let Some(number) = statistics.iter().position(|known| known.name == of.value) else {
            let message = format!("there are no statistics `{}`", of.value);
            let names: Vec<&str> = statistics.iter().map(|known| &known.name[..]).collect();
            let help = crate::case::words::suggest(&of.value, &names);
            return self.report.add(diag::UNKNOWN_WORD, &of.span, message, "unknown", help);
        };
        let results = statistics[number].results();
        if let Some(found) = results.iter().find(|result| result.name() == field.value) {
            return Some((number, found.clone()));
        }
        let message = format!("the statistics `{}` have no field `{}`", of.value, field.value);
        let names: Vec<&str> = results.iter().map(Quantity::name).collect();
        let help = crate::case::words::suggest(&field.value, &names);
        self.report.add(diag::UNKNOWN_WORD, &field.span, message, "unknown field", help)
    }
}
