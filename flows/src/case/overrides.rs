//! The text of a case file with its overrides, `--set KEY=VALUE`, as one tree.

use toml::de::DeTable;

use super::address::{self, Parameter, Part, Problem};
use super::diag::{self, Report, Span};
use super::schema;
use super::tree::{self, Entry, Kind, Origin, Table, Value, named};
use super::words;

/// What stands before a key that an override takes out of the case: `-output.forces`.
pub(super) const UNSET: char = '-';

/// The parameters of a method by the value of `spec`; `None` where it cannot be had.
pub(super) type Parameters<'a> = &'a dyn Fn(&str) -> Option<Vec<Parameter>>;

/// Parses the file and applies the overrides, each a key and the text of its value. `parameters` are those of a method, as
/// [`RawCase::parse_with`](super::RawCase::parse_with) takes them.
pub(super) fn parse(
    name: &str,
    text: &str,
    overrides: &[(String, String)],
    parameters: Parameters<'_>,
    report: &mut Report,
) -> Table {
    let (mut table, is_whole) = tree::parse(name, text, report);
    if is_whole {
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
    fn an_override_gives_a_table_that_the_case_lacks() {
        let sets = [("refinement", "{ finest = 1 }"), ("probes", "[{ at = [1, 2] }]"), ("finest", "2")];
        let values = parsed("spec = \"a\"\n", &sets).values(&["spec"]);
        let values: Vec<String> = values.iter().map(|(key, value)| format!("{key} = {value}")).collect();
        assert_eq!(values, ["probes = [{ at = [1, 2] }]", "refinement.finest = 2"]);
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
