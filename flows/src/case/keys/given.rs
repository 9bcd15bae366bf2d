//! Which keys a table has: what is said of those that are missing, unknown, exclude each other or have no effect.

use super::reader::Reader;
use crate::case::diag::{self, Span};
use crate::case::tree::Table;
use crate::case::words;

impl Reader {
    pub(super) fn missing<T>(&mut self, span: &Span, key: &str, what: &str, help: String) -> Option<T> {
        let message = format!("`{key}` is missing: {what}");
        self.report.add(diag::MISSING_KEY, span, message, "not given here", help)
    }

    /// Reports keys that must be given and are not: each with what it is and an example.
    pub(super) fn require(&mut self, table: &Table, span: &Span, prefix: &str, keys: &[(&str, &str, &str)]) {
        for (key, what, example) in keys.iter().filter(|(key, ..)| table.get(key).is_none()) {
            self.missing::<()>(span, &format!("{prefix}{key}"), what, example.to_string());
        }
    }

    pub(in crate::case) fn no_effect(&mut self, span: &Span, key: &str, when: &str, help: Option<String>) {
        let message = format!("`{key}` has no effect{when}");
        self.report.add::<()>(diag::NO_EFFECT, span, message, "has no effect", help);
    }

    /// Reports a key that has no effect without another, which is not given.
    pub(super) fn only_with(&mut self, table: &Table, key: &str, other: &str, help: &str) {
        self.only_where(table, key, other, table.get(other).is_some(), help);
    }

    /// Reports a key that has no effect without another; `there` is whether that is given.
    pub(super) fn only_where(&mut self, table: &Table, key: &str, other: &str, there: bool, help: &str) {
        if let (Some(entry), false) = (table.get(key), there) {
            self.no_effect(&entry.span, key, &format!(" without `{other}`"), Some(help.to_string()));
        }
    }

    /// Checks that at most one of the keys, which may be paths, is given, or exactly one.
    pub(super) fn exclusive(&mut self, table: &Table, keys: &[&str], required: bool, what: &str) {
        let keys: Vec<&str> = keys.iter().map(|path| path.rsplit('.').next().unwrap_or(path)).collect();
        let given: Vec<_> = keys.iter().filter_map(|key| table.get(key)).collect();
        match &given[..] {
            [] if required => {
                let choices = words::list(keys.iter().copied());
                let message = format!("{choices} is missing: {what}");
                let help = format!("give one of them: {choices}");
                self.report.add::<()>(diag::MISSING_KEY, &table.span, message, "not given here", help);
            }
            [first, second, ..] => {
                let message = format!("`{}` and `{}` exclude each other", first.key, second.key);
                let help = format!("keep one of {}", words::list(keys.iter().copied()));
                self.report.add::<()>(diag::CONFLICT, &second.span, message, "one too many", help);
            }
            _ => {}
        }
    }

    /// Nothing, and a report, where an inline table has another key.
    pub(super) fn only_keys(&mut self, table: &Table, known: &[&str], what: &str) -> Option<()> {
        let Some(entry) = table.entries.iter().find(|entry| !known.contains(&&entry.key[..])) else { return Some(()) };
        let message = format!("there is no key `{}` in {what}", entry.key);
        self.report.add(diag::UNKNOWN_KEY, &entry.span, message, "unknown key", words::suggest(&entry.key, known))
    }
}
