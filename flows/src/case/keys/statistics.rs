//! `[[statistics]]`.

use super::lists::{List, same_file};
use super::reader::Reader;
use super::values::Interval;
use crate::case::diag::{self, Spanned};
use crate::case::quantity::Measure;
use crate::case::statistics::MOST_STATISTICS;
use crate::case::takes::{FROM, NAMED, STEPS, TEXT, Takes};
use crate::case::tree::{Kind, Table};
use crate::case::units::Dimension;
use crate::case::words;

keys! {
    /// What is accumulated over time.
    RawStatistics, "statistics." {
        name: Spanned<String> = file_name(), TEXT,
            "name of statistics over time in every cell, under `[[statistics]]`; the file is `statistics_NAME.vti`, for a refined grid in \
             the format of its fields", else "what its file is called", "`name = \"mean\"` for `statistics_mean.vti`";
        fields: Vec<Spanned<String>> = names("fields = [\"velocity\", \"pressure\"]"), NAMED,
            "fields that are sampled, by name; default: [\"density\", \"velocity\"]";
        of: Vec<Measure> = measures(), Takes::List(&Takes::Word(&["mean", "rms", "stresses", "min", "max"])),
            "what is computed from the samples: mean, rms (of the fluctuation), stresses, min, max; default: [\"mean\", \"rms\"]", or vec![Measure::Mean, Measure::Rms];
        from: Spanned<Interval> = first_step(), FROM,
            "first step that is sampled, or a time", else "the first step that is sampled", "for example `from = 20_000`, when the flow has developed";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between samples", else "steps between samples", "for example `every = 10`";
    }
}

impl Reader {
    pub(in crate::case) fn statistics(&mut self, root: &Table) -> Vec<Spanned<RawStatistics>> {
        let list = List {
            name: "statistics",
            one: "a statistic",
            most: MOST_STATISTICS,
            fewer: Some("one may have many fields"),
            keys: RawStatistics::KEYS,
        };
        let all = self.list(root, &list, RawStatistics::read);
        let help = "each has a file of its name: give it another";
        self.named_apart(&all, list.name, |statistic| &statistic.name, same_file, help);
        all
    }

    fn measures(&mut self, table: &Table, key: &str) -> Option<Vec<Measure>> {
        let words = self.names(table, key, "of = [\"mean\", \"rms\"]")?;
        let mut found = vec![];
        for word in &words {
            let Some(measure) = Measure::ALL.into_iter().find(|measure| measure.name() == word.value) else {
                let message = format!("`{}` is no choice for `of`", word.value);
                let help = words::suggest(&word.value, &Measure::ALL.map(Measure::name));
                return self.report.add(diag::UNKNOWN_WORD, &word.span, message, "unknown word", help);
            };
            if found.contains(&measure) {
                let message = format!("`{}` is asked for twice", word.value);
                return self.report.add(diag::CONFLICT, &word.span, message, "once more", None);
            }
            found.push(measure);
        }
        Some(found)
    }

    /// The first of some steps, 0 at the least, or in SI units its time.
    pub(super) fn first_step(&mut self, table: &Table, key: &str) -> Option<Spanned<Interval>> {
        let value = &table.get(key)?.value;
        let span = value.span.clone();
        let start = match value.kind {
            Kind::Text(_) if self.si => {
                let (seconds, _) = self.quantity(value, Some(Dimension::TIME))?;
                (seconds >= 0.0).then_some(Interval::Seconds(seconds))
            }
            Kind::Integer(steps) => u64::try_from(steps).ok().map(Interval::Steps),
            _ => return self.wrong_type(value, "an integer", "write `from = 20_000`".to_string()),
        };
        match start {
            Some(value) => Some(Spanned { value, span }),
            None => {
                self.report.add(diag::BAD_VALUE, &span, "`from` may not be negative", "before the first step", None)
            }
        }
    }
}
