//! The text of a case file and its overrides, as one tree of values that know where they are written.

use std::collections::BTreeMap;
use std::sync::Arc;

use lbm_bundle::plain::{shown, shown_line, unseen};
use miette::NamedSource;
use toml::de::{DeTable, DeValue};

use super::address::{self, Parameter, Part, Problem};
use super::diag::{self, Report, Span};
use super::{schema, words};

/// What stands before a key that an override takes out of the case: `-output.forces`.
pub(super) const UNSET: char = '-';

/// The parameters of a method by the value of `spec`; `None` where it cannot be had.
pub(super) type Parameters<'a> = &'a dyn Fn(&str) -> Option<Vec<Parameter>>;

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
struct Origin {
    source: Arc<NamedSource<String>>,
    shift: isize,
}

impl Origin {
    fn span(&self, range: std::ops::Range<usize>) -> Span {
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

    fn value(&self, value: &DeValue<'_>, range: std::ops::Range<usize>, report: &mut Report) -> Value {
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

/// A key of a case file where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyAt {
    /// Its path from the top of the file; a last part `*` stands for a name that the case chooses.
    pub path: &'static str,
    /// What it is.
    pub doc: &'static str,
    /// Its bytes.
    pub range: std::ops::Range<usize>,
}

/// The key at a byte of the text of a case file, if one stands there that is known.
pub fn key_at(text: &str, byte: usize) -> Option<KeyAt> {
    let (root, _) = DeTable::parse_recoverable(text);
    let origin = Origin { source: named("", text), shift: 0 };
    key_in(&origin.table(root.get_ref(), root.span(), &mut Report::default()), "", byte)
}

fn key_in(table: &Table, path: &str, byte: usize) -> Option<KeyAt> {
    let below = |entry: &Entry| if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
    if let Some(entry) =
        table.entries.iter().find(|entry| (entry.span.range.start..=entry.span.range.end).contains(&byte))
    {
        let named = below(entry);
        let known = |path: &str| schema::all().find(|key| key.path == path);
        // Of what is in the value of a key, such as parameters of a boundary condition, that key tells.
        let key = known(&named).or_else(|| known(&format!("{path}.*"))).or_else(|| known(path))?;
        return Some(KeyAt { path: key.path, doc: key.doc, range: entry.span.range.clone() });
    }
    table.entries.iter().find_map(|entry| match &entry.value.kind {
        Kind::Table(inner) => key_in(inner, &below(entry), byte),
        Kind::List(list) => list.iter().find_map(|value| match &value.kind {
            Kind::Table(inner) => key_in(inner, &below(entry), byte),
            _ => None,
        }),
        _ => None,
    })
}

/// A text as diagnostics show it: places in it are those of the text.
fn named(name: &str, text: &str) -> Arc<NamedSource<String>> {
    Arc::new(NamedSource::new(shown_line(name), shown(text)))
}

/// Parses the file and applies the overrides, each a key and the text of its value. `parameters` are those of a method, as
/// [`RawCase::parse_with`](super::RawCase::parse_with) takes them.
pub(super) fn parse(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    parameters: Parameters<'_>,
    report: &mut Report,
) -> Table {
    let origin = Origin { source: named(name, text), shift: 0 };
    let (root, errors) = DeTable::parse_recoverable(text);
    for error in &errors {
        let span = origin.span(error.span().unwrap_or(0..0));
        let of_words = error.message().starts_with("string values must be quoted");
        let help =
            of_words.then(|| "commas separate the entries of a list, and quotation marks enclose texts".to_string());
        report.add::<()>(diag::SYNTAX, &span, error.message(), "here", help);
    }
    let mut table = origin.table(root.get_ref(), 0..0, report);
    if errors.is_empty() {
        // What no key of case files is called may be a parameter of the method, which another override may name.
        let (known, rest): (Vec<_>, Vec<_>) =
            overrides.iter().partition(|(key, _)| address::find(&table, named_by(key), &[]) != Err(Problem::Unknown));
        for (key, value) in known {
            set(&mut table, key, value, Some(&[]), report);
        }
        let method = table.get("spec").and_then(|entry| match &entry.value.kind {
            Kind::Text(spec) if !rest.is_empty() => parameters(spec),
            _ => None,
        });
        for (key, value) in rest {
            set(&mut table, key, value, method.as_deref(), report);
        }
    }
    table
}

/// Applies one override; one whose key begins with [`UNSET`] takes the value out of the case. A value that is not TOML is taken as a
/// string, so that `--set spec=d3q27_kbc` needs no quotes. Where the method cannot be had, which is reported later, what is unknown
/// counts as a parameter of it.
fn set(root: &mut Table, key: &str, value: &str, parameters: Option<&[Parameter]>, report: &mut Report) {
    const PREFIX: &str = "x=";
    let removes = key.starts_with(UNSET);
    let source = named("--set", &if removes { key.to_string() } else { format!("{key}={value}") });
    let here = Span { source: source.clone(), range: 0..key.len() };
    let Some(way) = find(root, named_by(key), parameters, &here, report) else { return };
    if removes {
        if !value.is_empty() {
            let (message, help) =
                (format!("`{key}` takes a key away"), format!("write `--set {key}`, without a value"));
            report.add::<()>(diag::BAD_OVERRIDE, &here, message, "has no value", help);
        } else if !remove(root, &way) {
            let message = format!("`{}` cannot be taken away: the case does not have it", named_by(key));
            report.add::<()>(diag::BAD_OVERRIDE, &here, message, "not there", None);
        }
        return;
    }
    let text = format!("{PREFIX}{value}");
    let origin = Origin { source, shift: key.len() as isize + 1 - PREFIX.len() as isize };
    let parsed = DeTable::parse(&text).ok().filter(|table| table.get_ref().len() == 1);
    let value = match parsed.as_ref().and_then(|table| table.get_ref().iter().next()) {
        Some((_, value)) => origin.value(value.get_ref(), value.span(), report),
        None => {
            let span = origin.span(PREFIX.len()..text.len());
            Value { span, kind: Kind::Text(value.to_string()) }
        }
    };
    drive_out_rivals(root, &way);
    place(root, &way, value, &here);
}

/// The key that an override is about.
fn named_by(key: &str) -> &str {
    key.strip_prefix(UNSET).unwrap_or(key)
}

/// The way to what a key of an override means, or a report.
fn find(
    root: &Table,
    key: &str,
    parameters: Option<&[Parameter]>,
    here: &Span,
    report: &mut Report,
) -> Option<Vec<Part>> {
    match (address::find(root, key, parameters.unwrap_or_default()), parameters) {
        (Ok(way), _) => Some(way),
        (Err(Problem::Unknown), None) => Some(vec![Part::Key("params".into()), Part::Key(key.to_string())]),
        (Err(Problem::Unknown), Some(parameters)) => {
            let help = address::suggest(root, key, parameters).map(|near| format!("did you mean `{near}`?"));
            let parameter = if key.contains('.') { "" } else { ", and no parameter of that name" };
            let message = format!("there is no key `{key}` in a case file{parameter}");
            report.add(diag::BAD_OVERRIDE, here, message, "unknown", help)
        }
        (Err(Problem::Several(several)), _) => {
            let help = format!("write {}", words::list(several.iter().map(|path| &path[..])));
            report.add(diag::BAD_OVERRIDE, here, format!("`{key}` can mean several keys"), "which one?", help)
        }
        (Err(Problem::OutOfReach(message, help)), _) => {
            report.add(diag::BAD_OVERRIDE, here, message, "not there", help)
        }
    }
}

/// Takes away what a way leads to, and a list with its last entry; whether there was something.
fn remove(table: &mut Table, way: &[Part]) -> bool {
    let [Part::Key(key), rest @ ..] = way else { unreachable!("a way into a table begins with a key") };
    let Some(at) = table.entries.iter().position(|entry| entry.key == *key) else { return false };
    let value = &mut table.entries[at].value;
    let found = rest.is_empty() || remove_in(value, rest);
    if rest.is_empty() || matches!(&value.kind, Kind::List(list) if list.is_empty()) {
        table.entries.remove(at);
    }
    found
}

fn remove_in(value: &mut Value, way: &[Part]) -> bool {
    match (&mut value.kind, way) {
        (Kind::List(list), [Part::At(at)]) => {
            list.remove(*at);
            true
        }
        (Kind::List(list), [Part::At(at), rest @ ..]) => remove_in(&mut list[*at], rest),
        (Kind::Table(table), _) => remove(table, way),
        _ => false,
    }
}

/// What excludes a new value gives way, unless it was set on the command line as well.
fn drive_out_rivals(root: &mut Table, way: &[Part]) {
    let [Part::Key(outer), Part::Key(key)] = way else { return };
    let Some(group) = schema::EXCLUSIVE.iter().find(|group| group.contains(&&format!("{outer}.{key}")[..])) else {
        return;
    };
    let Some(entry) = root.entries.iter_mut().find(|entry| entry.key == *outer) else { return };
    let Kind::Table(table) = &mut entry.value.kind else { return };
    table.entries.retain(|old| {
        let rival = old.key != *key && group.contains(&&format!("{outer}.{}", old.key)[..]);
        !rival || old.span.source.name() == "--set"
    });
}

/// Puts a value where a way from [`address::find`] leads.
fn place(table: &mut Table, way: &[Part], value: Value, here: &Span) {
    let [Part::Key(key), rest @ ..] = way else { unreachable!("a way into a table begins with a key") };
    let at = table.entries.iter().position(|entry| entry.key == *key).unwrap_or_else(|| {
        let empty = Value { span: here.clone(), kind: Kind::Table(Table { span: here.clone(), entries: vec![] }) };
        table.entries.push(Entry { key: key.clone(), span: here.clone(), value: empty });
        table.entries.len() - 1
    });
    let entry = &mut table.entries[at];
    if rest.is_empty() {
        *entry = Entry { key: key.clone(), span: here.clone(), value };
        return;
    }
    let (mut inner, mut rest) = (&mut entry.value, rest);
    while let [Part::At(at), after @ ..] = rest {
        let Kind::List(list) = &mut inner.kind else { unreachable!("a number leads into a list") };
        (inner, rest) = (&mut list[*at], after);
    }
    match (&mut inner.kind, rest) {
        (_, []) => *inner = value,
        (Kind::Table(table), _) => place(table, rest, value, here),
        _ => unreachable!("a key leads into a table"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str, overrides: &[(&str, &str)]) -> Table {
        let mut report = Report::default();
        let overrides: Vec<_> = overrides.iter().map(|(key, value)| (key.to_string(), value.to_string())).collect();
        let table = parse("case.toml", text, &overrides, &|_| Some(vec![]), &mut report);
        report.finish("case.toml", Some(table)).expect("no errors").0
    }

    fn text_at(span: &Span) -> &str {
        &span.source.inner()[span.range.clone()]
    }

    #[test]
    fn values_know_where_they_stand() {
        let table = parsed("[fluid]\nre = 1_000\n", &[]);
        let Kind::Table(fluid) = &table.get("fluid").unwrap().value.kind else { panic!() };
        let re = fluid.get("re").unwrap();
        assert_eq!((text_at(&re.span), text_at(&re.value.span)), ("re", "1_000"));
        assert!(matches!(re.value.kind, Kind::Integer(1000)));
    }

    #[test]
    fn values_are_listed_by_path_in_one_form() {
        let text =
            "spec = \"a\"\n[fluid]\nre = 1e2\n[faces]\ntop = { rule = \"x\", v = [0.1, 0] }\n[stop]\nsteps = 3\n";
        let values = parsed(text, &[("refinement.boxes", "[{ level = 1 }]")]).values(&["spec", "stop"]);
        let values: Vec<(&str, &str)> = values.iter().map(|(key, value)| (&key[..], &value[..])).collect();
        let expected = [
            ("faces.top.rule", "\"x\""),
            ("faces.top.v", "[0.1, 0]"),
            ("fluid.re", "100"),
            ("refinement.boxes", "[{ level = 1 }]"),
        ];
        assert_eq!(values, expected);
    }

    #[test]
    fn an_override_replaces_or_adds_and_points_at_itself() {
        let table = parsed("[fluid]\nre = 1000\n", &[("re", "100"), ("faces.top.velocity", "[1, 0]"), ("spec", "a b")]);
        let Kind::Table(fluid) = &table.get("fluid").unwrap().value.kind else { panic!() };
        let re = fluid.get("re").unwrap();
        assert_eq!(fluid.entries.len(), 1);
        assert_eq!((re.value.span.source.name(), text_at(&re.value.span)), ("--set", "100"));
        assert!(matches!(&table.get("spec").unwrap().value.kind, Kind::Text(text) if text == "a b"));
        assert!(table.get("faces").is_some());
    }

    #[test]
    fn an_override_takes_a_key_away() {
        let text =
            "spec = \"a\"\n[fluid]\nre = 1\n[output]\nforces = 3\n[[solids]]\nradius = 1\n[[solids]]\nradius = 2\n";
        for (overrides, left) in [
            (&[("-output.forces", "")][..], "fluid.re = 1; solids = [{ radius = 1 }, { radius = 2 }]; spec = \"a\""),
            (&[("-solids.0", "")], "fluid.re = 1; output.forces = 3; solids = [{ radius = 2 }]; spec = \"a\""),
            (&[("-solids.1", ""), ("-solids.0", "")], "fluid.re = 1; output.forces = 3; spec = \"a\""),
            (&[("-solids", ""), ("-output", ""), ("-re", "")], "spec = \"a\""),
        ] {
            let values = parsed(text, overrides).values(&[]);
            let values: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
            assert_eq!(values.join("; "), left, "{overrides:?}");
        }
    }

    #[test]
    fn an_override_drives_out_its_rivals() {
        let table = parsed("[fluid]\nre = 1000\nlength = 3\n", &[("viscosity", "0.1")]);
        let Kind::Table(fluid) = &table.get("fluid").unwrap().value.kind else { panic!() };
        let keys: Vec<&str> = fluid.entries.iter().map(|entry| &entry.key[..]).collect();
        assert_eq!(keys, ["length", "viscosity"]);
    }
}
