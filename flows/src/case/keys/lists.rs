//! Lists of tables, `[[probes]]`: each table has keys of its own.

use super::reader::Reader;
use super::table::Key;
use crate::case::diag::{self, Span, Spanned};
use crate::case::tree::{Kind, Table, Value};

/// A list of tables.
pub(super) struct List {
    /// What it is called.
    pub(super) name: &'static str,
    /// One of its tables, with an article.
    pub(super) one: &'static str,
    /// How many tables it may have, and what to do about more.
    pub(super) most: usize,
    pub(super) fewer: Option<&'static str>,
    pub(super) keys: &'static [Key],
}

impl Reader {
    /// The tables of a list, no more than there may be; each is pointed at by its first key.
    pub(super) fn list<T>(
        &mut self,
        root: &Table,
        of: &List,
        read: impl Fn(&mut Self, &Table, &Span) -> Option<T>,
    ) -> Vec<Spanned<T>> {
        let List { name, one, most, fewer, keys } = of;
        let help = || format!("write `[[{name}]]` above the keys of each");
        let list = match root.get(name).map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help()).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(*most) {
            let message = format!("{} {name} are more than {most}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", fewer.map(String::from));
        }
        let known: Vec<&str> = keys.iter().map(Key::name).collect();
        let table = |value: &Value| {
            let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help()) };
            self.only_keys(table, &known, one)?;
            let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
            Some(Spanned { value: read(self, table, &span)?, span })
        };
        list.iter().take(*most).filter_map(table).collect()
    }

    /// Refuses two tables of a list that have the `same` name.
    pub(super) fn named_apart<T>(
        &mut self,
        all: &[Spanned<T>],
        list: &str,
        name: impl Fn(&T) -> &Spanned<String>,
        same: fn(&str, &str) -> bool,
        help: &str,
    ) {
        for (at, one) in all.iter().enumerate() {
            let called = name(&one.value);
            if all[..at].iter().any(|other| same(&name(&other.value).value, &called.value)) {
                let message = format!("two {list} are called `{}`", called.value);
                self.report.add::<()>(diag::CONFLICT, &called.span, message, "taken", help.to_string());
            }
        }
    }
}

/// Whether file systems may take two names for one: some do not tell capitals from small letters.
pub(super) fn same_file(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
