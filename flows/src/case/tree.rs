//! The text of a case file as a tree of values that know where they are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbm_bundle::plain::{shown, shown_line, unseen};
use miette::NamedSource;
use toml::de::{DeTable, DeValue};

use super::diag::{self, Report, Span};

/// A table, its entries in the order written.
#[derive(Clone, Debug)]
pub(super) struct Table {
    /// Its heading.
    pub(super) span: Span,
    pub(super) entries: Vec<Entry>,
}

/// A key with its value.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) key: String,
    pub(super) span: Span,
    pub(super) value: Value,
}

/// A value.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) span: Span,
    pub(super) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    Date,
    List(Vec<Value>),
    Table(Table),
}

impl Kind {
    /// The value as text, in one form.
    fn text(&self) -> String {
        match self {
            Kind::Text(text) => format!("{text:?}"),
            Kind::Integer(number) => format!("{}", *number as f64),
            Kind::Float(number) => format!("{number}"),
            Kind::Bool(truth) => format!("{truth}"),
            Kind::Date => "a date".to_string(),
            Kind::List(list) => {
                format!("[{}]", list.iter().map(|value| value.kind.text()).collect::<Vec<_>>().join(", "))
            }
            Kind::Table(table) => {
                let values = table.values(&[]).into_iter().map(|(key, value)| format!("{key} = {value}"));
                format!("{{ {} }}", values.collect::<Vec<_>>().join(", "))
            }
        }
    }

    /// What it is, with an article.
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Kind::Text(_) => "a string",
            Kind::Integer(_) => "an integer",
            Kind::Float(_) => "a number",
            Kind::Bool(_) => "true or false",
            Kind::Date => "a date",
            Kind::List(_) => "a list",
            Kind::Table(_) => "a table",
        }
    }
}

impl Table {
    pub(super) fn get(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    /// All values by their paths, as text in one form, but for those of some keys.
    pub(super) fn values(&self, except: &[&str]) -> BTreeMap<String, String> {
        let mut values = BTreeMap::new();
        for Entry { key, value, .. } in self.entries.iter().filter(|entry| !except.contains(&&entry.key[..])) {
            match &value.kind {
                Kind::Table(table) => {
                    values.extend(table.values(&[]).into_iter().map(|(last, value)| (format!("{key}.{last}"), value)));
                }
                kind => {
                    values.insert(key.clone(), kind.text());
                }
            }
        }
        values
    }
}

/// Where a text comes from, and how far its spans are off because of what was put before it for the parser.
pub(super) struct Origin {
    pub(super) source: Arc<NamedSource<String>>,
    pub(super) shift: isize,
}

impl Origin {
    pub(super) fn span(&self, range: std::ops::Range<usize>) -> Span {
        let end = self.source.inner().len();
        let at = |position: usize| position.saturating_add_signed(self.shift).min(end);
        Span { source: self.source.clone(), range: at(range.start)..at(range.end) }
    }

    fn table(&self, table: &DeTable<'_>, range: std::ops::Range<usize>, report: &mut Report) -> Table {
        let mut entries: Vec<Entry> = table
            .iter()
            .map(|(key, value)| Entry {
                key: self.seen(key.get_ref(), key.span(), report),
                span: self.span(key.span()),
                value: self.value(value.get_ref(), value.span(), report),
            })
            .collect();
        entries.sort_by_key(|entry| entry.span.range.start);
        Table { span: self.span(range), entries }
    }

    /// A key or a string: it comes to be in file names, tables and on terminals, so all of it can be seen.
    fn seen(&self, text: &str, range: std::ops::Range<usize>, report: &mut Report) -> String {
        if let Some((_, unseen)) = unseen(text).next() {
            let message = format!("a text with the character U+{:04X}, which nobody sees", unseen as u32);
            report.add::<()>(diag::UNSEEN, &self.span(range), message, "in here", "leave it out".to_string());
        }
        text.to_string()
    }

    pub(super) fn value(&self, value: &DeValue<'_>, range: std::ops::Range<usize>, report: &mut Report) -> Value {
        let span = self.span(range.clone());
        let kind = match value {
            DeValue::String(text) => Kind::Text(self.seen(text, range, report)),
            DeValue::Integer(digits) => match i64::from_str_radix(digits.as_str(), digits.radix()) {
                Ok(number) => Kind::Integer(number),
                Err(_) => Kind::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
            },
            DeValue::Float(digits) => Kind::Float(digits.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(truth) => Kind::Bool(*truth),
            DeValue::Datetime(_) => Kind::Date,
            DeValue::Array(values) => {
                Kind::List(values.iter().map(|value| self.value(value.get_ref(), value.span(), report)).collect())
            }
            DeValue::Table(table) => Kind::Table(self.table(table, range, report)),
        };
        Value { span, kind }
    }
}

/// A text as diagnostics show it: places in it are those of the text.
pub(super) fn named(name: &str, text: &str) -> Arc<NamedSource<String>> {
    Arc::new(NamedSource::new(shown_line(name), shown(text)))
}

/// The tree of a text, and whether it is whole: what is no TOML is reported, and left out.
pub(super) fn parse(name: &str, text: &str, report: &mut Report) -> (Table, bool) {
    let origin = Origin { source: named(name, text), shift: 0 };
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = origin.span(error.span().unwrap_or(0..0));
        let of_words = error.message().starts_with("string values must be quoted");
        let help =
            of_words.then(|| "commas separate the entries of a list, and quotation marks enclose texts".to_string());
        report.add::<()>(diag::SYNTAX, &span, error.message(), "here", help);
    }
    (origin.table(root.get_ref(), 0..0, report), errors.is_empty())
}
