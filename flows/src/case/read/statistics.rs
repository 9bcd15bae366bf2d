//! `[[statistics]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::raw::{Interval, RawStatistics};
use crate::case::schema;
use crate::case::statistics::{MOST_STATISTICS, Measure};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// Keys of a statistic.
const KNOWN: [&str; 5] = ["name", "fields", "of", "from", "every"];

impl Reader {
    pub(super) fn statistics(&mut self, root: &Table) -> Vec<Spanned<RawStatistics>> {
        let help = "write `[[statistics]]` above the keys of each".to_string();
        let list = match root.get("statistics").map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(MOST_STATISTICS) {
            let message = format!("{} statistics are more than {MOST_STATISTICS}", list.len());
            let help = "one may have many fields".to_string();
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", help);
        }
        let all: Vec<_> = list.iter().take(MOST_STATISTICS).filter_map(|value| self.statistic(value)).collect();
        for (at, statistic) in all.iter().enumerate() {
            let name = &statistic.value.name;
            // File systems may not tell capitals from small letters.
            let same = |other: &&Spanned<RawStatistics>| other.value.name.value.eq_ignore_ascii_case(&name.value);
            if all[..at].iter().find(same).is_some() {
                let message = format!("two statistics are called `{}`", name.value);
                let help = "each has a file of its name: give it another".to_string();
                self.report.add::<()>(diag::CONFLICT, &name.span, message, "taken", help);
            }
        }
        all
    }

    fn statistic(&mut self, value: &Value) -> Option<Spanned<RawStatistics>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[statistics]]` above the keys of each".to_string());
        };
        self.only_keys(table, &KNOWN, "a statistic")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        for (key, what, example) in [
            ("name", "what its file is called", "`name = \"mean\"` for `statistics_mean.vti`"),
            ("from", "the first step that is sampled", "for example `from = 20_000`, when the flow has developed"),
            ("every", "steps between samples", "for example `every = 10`"),
        ] {
            if table.get(key).is_none() {
                self.missing::<()>(&span, &format!("statistics.{key}"), what, example.to_string());
            }
        }
        let (name, from, every) = (self.file_name(table, "name"), self.start_of(table), self.interval(table, "every"));
        let fields = match table.get("fields") {
            None => None,
            Some(entry) => Some(self.words(&entry.value, "fields = [\"velocity\", \"pressure\"]")?),
        };
        let of = match table.get("of") {
            None => vec![Measure::Mean, Measure::Rms],
            Some(entry) => {
                let words = self.words(&entry.value, "of = [\"mean\", \"rms\"]")?;
                self.measures(&words)?
            }
        };
        let statistic = RawStatistics { name: name?, fields, of, from: from?, every: every? };
        Some(Spanned { value: statistic, span })
    }

    fn measures(&mut self, words: &[Spanned<String>]) -> Option<Vec<Measure>> {
        let mut found = vec![];
        for word in words {
            let Some(measure) = Measure::ALL.into_iter().find(|measure| measure.name() == word.value) else {
                let message = format!("`{}` is no choice for `of`", word.value);
                let help = schema::suggest(&word.value, &Measure::ALL.map(Measure::name));
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

    /// The first step that is sampled, 0 at the least, or in SI units its time.
    fn start_of(&mut self, table: &Table) -> Option<Spanned<Interval>> {
        let value = &table.get("from")?.value;
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
