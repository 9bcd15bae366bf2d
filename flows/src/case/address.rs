//! Which value a `--set KEY=VALUE` means.
//!
//! In: a key as typed, the case, and the parameters of its method. After: the way to one value. A key is a path, `fluid.re`; or
//! the end of one, `re`, where only one place of this case has it, or else only one could. A number counts in a list from 0, `solids.0.radius`, and may
//! be left out of a list with a single table. A parameter of the method needs no `params.`.

use std::collections::BTreeSet;

use super::schema;
use super::tree::{Kind, Table, Value};
use super::words;

/// A parameter of a method, as `--set` may name it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// 1 for a scalar, the number of axes for a vector.
    pub components: usize,
}

/// Which parameter, and which of its components, a key means: `omega` or `params.omega`; of a vector `g` also `g.0` or `gx`.
pub fn parameter(parameters: &[Parameter], key: &str) -> Option<(usize, Option<usize>)> {
    let key = key.strip_prefix("params.").unwrap_or(key);
    let named = |name: &str| parameters.iter().position(|parameter| parameter.name == name);
    if let Some(at) = named(key) {
        return Some((at, None));
    }
    let (name, component) = match key.rsplit_once('.') {
        Some((name, number)) => (name, number.parse().ok()?),
        None => {
            let axis = ["x", "y", "z"].iter().position(|axis| key.ends_with(axis))?;
            (&key[..key.len() - 1], axis)
        }
    };
    let at = named(name)?;
    let components = parameters[at].components;
    (component < components && components > 1).then_some((at, Some(component)))
}

/// A step on the way to a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Into a table.
    Key(String),
    /// Into a list.
    At(usize),
}

/// Why a key means no one value.
#[derive(Debug, PartialEq)]
pub(super) enum Problem {
    /// No place is called so.
    Unknown,
    /// Several are: their paths.
    Several(Vec<String>),
    /// It cannot be reached, for the reason given, with advice.
    OutOfReach(String, String),
}

/// The way to the value that `key` means.
pub(super) fn find(root: &Table, key: &str, parameters: &[Parameter]) -> Result<Vec<Part>, Problem> {
    match locate(root, key) {
        Err(Problem::Unknown) => {}
        found => return found,
    }
    let fits = ends(root, key);
    match (&fits[..], parameter(parameters, key)) {
        ([place], _) => locate(root, place),
        ([], Some((at, component))) => {
            let name = &parameters[at].name;
            locate(root, &component.map_or(format!("params.{name}"), |component| format!("params.{name}.{component}")))
        }
        ([], None) => {
            let in_lists = schema::all().filter_map(|known| schema::in_list(known.path));
            match in_lists.into_iter().find(|(_, rest)| *rest == key || is_below(rest, key)) {
                Some((list, _)) => locate(root, &format!("{list}.{key}")),
                None => Err(Problem::Unknown),
            }
        }
        (_, _) => Err(Problem::Several(fits)),
    }
}

/// The paths of this case that end with `key`, or with its beginning where the rest of it leads into a value: those that it has, else those
/// that it could have.
fn ends(root: &Table, key: &str) -> Vec<String> {
    let (mut own, all) = (BTreeSet::new(), places(root));
    inside(root, "", &mut own);
    let heads = std::iter::once(key.len()).chain(key.rmatch_indices('.').map(|(at, _)| at));
    let mut fits = heads.flat_map(|at| {
        let (ending, rest) = (format!(".{}", &key[..at]), &key[at..]);
        let among = |places: &BTreeSet<String>| -> Vec<String> {
            places.iter().filter(|place| place.ends_with(&ending)).map(|place| format!("{place}{rest}")).collect()
        };
        [among(&own), among(&all)]
    });
    fits.find(|fits| !fits.is_empty()).unwrap_or_default()
}

/// What a mistyped key was probably meant to be: a path that [`find`] knows.
pub(super) fn suggest(root: &Table, key: &str, parameters: &[Parameter]) -> Option<String> {
    let mut places = places(root);
    places.extend(places_in_lists(root));
    places.extend(parameters.iter().map(|parameter| format!("params.{}", parameter.name)));
    // A table that was named is no news.
    places.retain(|place| !is_below(key, place));
    let last = |place: &str| place.rsplit('.').next().unwrap_or_default().to_string();
    let lasts: BTreeSet<String> = places.iter().map(|place| last(place)).collect();
    let wholes = || places.iter().map(String::as_str);
    let ends = || lasts.iter().map(String::as_str);
    let near = match key.contains('.') {
        true => words::nearest(key, wholes()).or_else(|| words::nearest(&last(key), ends())),
        false => words::nearest(key, wholes().chain(ends())),
    }?;
    places.iter().find(|place| **place == near || last(place) == near).cloned()
}

/// Follows a path from the top.
fn locate(root: &Table, path: &str) -> Result<Vec<Part>, Problem> {
    let mut way = vec![];
    // What is there; the path without numbers, as the reference of case files has it; and with them.
    let (mut here, mut schema_path, mut walked) = (Some(Here::Table(root)), String::new(), String::new());
    let mut parts = path.split('.').peekable();
    while let Some(part) = parts.next() {
        let number = part.parse::<usize>().ok();
        if let Some(Here::Value(Value { kind: Kind::List(list), .. })) = here {
            let one = match (number, &list[..]) {
                (Some(number), _) if number < list.len() => number,
                (Some(_), _) => {
                    let message = format!("`{walked}` has {} entries here, counted from 0", list.len());
                    let help = match list.len() {
                        0 => format!("set `{walked}` as a whole"),
                        len => format!("the last one is `{walked}.{}`", len - 1),
                    };
                    return Err(Problem::OutOfReach(message, help));
                }
                (None, [Value { kind: Kind::Table(_), .. }]) => 0,
                (None, [Value { kind: Kind::Table(_), .. }, ..]) => {
                    let rest: Vec<&str> = std::iter::once(part).chain(parts).collect();
                    let each = |at: usize| format!("{walked}.{at}.{}", rest.join("."));
                    return Err(Problem::Several((0..list.len()).map(each).collect()));
                }
                (None, _) => return Err(Problem::Unknown),
            };
            way.push(Part::At(one));
            walked += &format!(".{one}");
            here = Some(Here::of(&list[one]));
            if number.is_some() {
                continue;
            }
        }
        let table = match here {
            Some(Here::Table(table)) => Some(table),
            Some(Here::Value(_)) => {
                let message = format!("`{path}` cannot be set: `{walked}` is no table in this case");
                return Err(Problem::OutOfReach(message, format!("set `{walked}` as a whole")));
            }
            None => None,
        };
        if number.is_some() {
            if here.is_none() && !is_known(&schema_path) {
                return Err(Problem::Unknown);
            }
            let message = format!("`{walked}` is no list in this case");
            return Err(Problem::OutOfReach(message, format!("set `{walked}` as a whole")));
        }
        let dot = if walked.is_empty() { "" } else { "." };
        walked += &format!("{dot}{part}");
        schema_path += &format!("{dot}{part}");
        here = table.and_then(|table| table.get(part)).map(|entry| Here::of(&entry.value));
        way.push(Part::Key(part.to_string()));
        if schema::LISTS.contains(&part) && way.len() == 1 && here.is_none() && parts.peek().is_some() {
            let help = format!("write them into the case under `[[{part}]]`");
            return Err(Problem::OutOfReach(format!("this case has no {part}"), help));
        }
    }
    if here.is_some() || is_known(&schema_path) { Ok(way) } else { Err(Problem::Unknown) }
}

/// Whether a case file may have this path, written without numbers, of a value or of a table. What stands inside a value is left to whoever reads it.
fn is_known(path: &str) -> bool {
    if schema::all().any(|key| is_below(key.path, path)) {
        return true;
    }
    let mut starts = path.match_indices('.').map(|(at, _)| &path[..at]).chain([path]);
    starts.any(|start| {
        let (table, last) = start.rsplit_once('.').unwrap_or(("", start));
        schema::all().any(|key| key.path == start && last != "*") || schema::is_open(table)
    })
}

/// Whether a path leads into the table that another leads to.
fn is_below(path: &str, table: &str) -> bool {
    path.strip_prefix(table).is_some_and(|rest| rest.starts_with('.'))
}

/// Where a path has led.
#[derive(Clone, Copy)]
enum Here<'a> {
    Table(&'a Table),
    Value(&'a Value),
}

impl<'a> Here<'a> {
    fn of(value: &'a Value) -> Here<'a> {
        match &value.kind {
            Kind::Table(table) => Here::Table(table),
            _ => Here::Value(value),
        }
    }
}

/// Paths that can be set in this case: what it says itself, and all keys of case files but those in lists of tables.
fn places(root: &Table) -> BTreeSet<String> {
    let mut places = BTreeSet::new();
    inside(root, "", &mut places);
    let keys = schema::all().map(|key| key.path);
    places.extend(keys.filter(|path| !path.ends_with('*') && schema::in_list(path).is_none()).map(String::from));
    places
}

/// The keys that each table of the lists of this case might have.
fn places_in_lists(root: &Table) -> Vec<String> {
    let mut places = vec![];
    for name in schema::LISTS {
        let Some(Kind::List(list)) = root.get(name).map(|entry| &entry.value.kind) else { continue };
        let in_lists = schema::all().filter_map(|key| schema::in_list(key.path));
        let keys: Vec<&str> = in_lists.filter(|(of, key)| *of == name && *key != "*").map(|(_, key)| key).collect();
        places.extend(entries(name, list).flat_map(|(path, _)| keys.iter().map(move |key| format!("{path}.{key}"))));
    }
    places
}

/// The paths of all that a table holds.
fn inside(table: &Table, path: &str, places: &mut BTreeSet<String>) {
    for entry in &table.entries {
        let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        match &entry.value.kind {
            Kind::Table(table) => inside(table, &path, places),
            Kind::List(list) => entries(&path, list).for_each(|(path, table)| inside(table, &path, places)),
            _ => {}
        }
        places.insert(path);
    }
}

/// The tables of a list with their paths.
fn entries<'a>(path: &str, list: &'a [Value]) -> impl Iterator<Item = (String, &'a Table)> {
    list.iter().enumerate().filter_map(move |(at, value)| match &value.kind {
        Kind::Table(table) if list.len() == 1 => Some((path.to_string(), table)),
        Kind::Table(table) => Some((format!("{path}.{at}"), table)),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::diag::Report;
    use crate::case::tree;

    const CASE: &str =
        "spec = \"a\"\n[fluid]\nre = 1\n[faces]\ntop = { rule = \"x\", v = [0.1, 0] }\n[params]\nmagic = 1\n";
    const SOLID: &str = "[[solids]]\nshape = \"sphere\"\nradius = 1\ncentre = [1, 2]\n";

    fn table(text: &str) -> Table {
        tree::parse("case.toml", text, &mut Report::default()).0
    }

    fn vectors() -> Vec<Parameter> {
        [("omega_g", 1), ("force", 2)].map(|(name, components)| Parameter { name: name.into(), components }).into()
    }

    /// The way as a path with all its numbers.
    fn way(text: &str, key: &str) -> Result<String, Problem> {
        let part = |part: Part| match part {
            Part::Key(key) => key,
            Part::At(at) => at.to_string(),
        };
        Ok(find(&table(text), key, &vectors())?.into_iter().map(part).collect::<Vec<_>>().join("."))
    }

    #[test]
    fn a_key_is_found_by_its_path_or_its_end() {
        let one = format!("{CASE}{SOLID}");
        for (key, path) in [
            ("re", "fluid.re"),
            ("spec", "spec"),
            ("top", "faces.top"),
            ("top.v", "faces.top.v"),
            ("v", "faces.top.v"),
            ("v.1", "faces.top.v.1"),
            ("left", "faces.left"),
            ("params.omega", "params.omega"),
            ("magic", "params.magic"),
            ("omega_g", "params.omega_g"),
            ("radius", "solids.0.radius"),
            ("solids.radius", "solids.0.radius"),
            ("solids.0.radius", "solids.0.radius"),
            ("centre.1", "solids.0.centre.1"),
            ("area", "solids.0.area"),
            ("start.phi", "start.phi"),
            ("slice.at", "output.slice.at"),
            ("refinement", "refinement"),
            ("probes", "probes"),
            ("layer", "solids.0.layer"),
            ("solids.layer", "solids.0.layer"),
        ] {
            assert_eq!(way(&one, key).as_deref(), Ok(path), "{key}");
        }
    }

    #[test]
    fn a_key_of_several_places_lists_them() {
        let two = format!("{CASE}{SOLID}{SOLID}");
        for (key, places) in [
            ("radius", vec!["solids.0.radius", "solids.1.radius"]),
            ("solids.radius", vec!["solids.0.radius", "solids.1.radius"]),
            ("velocity", vec!["absorbing.velocity", "fluid.velocity", "start.velocity"]),
        ] {
            assert_eq!(way(&two, key), Err(Problem::Several(places.into_iter().map(String::from).collect())), "{key}");
        }
        assert_eq!(way(&two, "solids.1.radius").as_deref(), Ok("solids.1.radius"));
    }

    #[test]
    fn of_several_places_that_is_meant_which_the_case_has() {
        let moves = CASE.replace("re = 1", "re = 1\nvelocity = 0.1");
        for (text, key, path) in [
            (&moves[..], "velocity", "fluid.velocity"),
            (&format!("{CASE}[start]\nvelocity = [0, 0]\n"), "velocity", "start.velocity"),
            (&format!("{CASE}[start]\nvelocity = [0, 0]\n"), "velocity.1", "start.velocity.1"),
        ] {
            assert_eq!(way(text, key).as_deref(), Ok(path), "{key}");
        }
        let both = format!("{moves}[start]\nvelocity = [0, 0]\n");
        let places = ["fluid.velocity", "start.velocity"].map(String::from).to_vec();
        assert_eq!(way(&both, "velocity"), Err(Problem::Several(places)));
    }

    #[test]
    fn what_cannot_be_reached_says_why() {
        let one = format!("{CASE}{SOLID}");
        for (text, key, why) in [
            (CASE, "solids.radius", "no solids"),
            (CASE, "radius", "no solids"),
            (&one, "solids.2.radius", "has 1 entries"),
            (&one, "fluid.re.x", "no table"),
            (&one, "forcex", "no list"),
            (&one, "params.force.0", "no list"),
        ] {
            let Err(Problem::OutOfReach(message, _)) = way(text, key) else { panic!("{key} is reached") };
            assert!(message.contains(why), "{key}: {message}");
        }
        for key in ["fluid.rey", "banana"] {
            assert_eq!(way(CASE, key), Err(Problem::Unknown), "{key}");
        }
    }

    #[test]
    fn what_is_suggested_works_when_typed() {
        let (one, two) = (format!("{CASE}{SOLID}"), format!("{CASE}{SOLID}{SOLID}"));
        for (text, key, near) in [
            (CASE, "rey", "fluid.re"),
            (CASE, "siez", "domain.size"),
            (CASE, "fluid.visc", "fluid.viscosity"),
            (CASE, "magik", "params.magic"),
            (CASE, "omega_h", "params.omega_g"),
            (&one, "radios", "solids.radius"),
            (&one, "solid.radius", "solids.radius"),
            (&two, "radios", "solids.0.radius"),
            (CASE, "top.vv", "faces.top.v"),
        ] {
            let table = table(text);
            assert_eq!(suggest(&table, key, &vectors()).as_deref(), Some(near), "{key}");
            assert!(find(&table, near, &vectors()).is_ok(), "{near}");
        }
    }

    #[test]
    fn a_component_of_a_parameter_has_a_number_or_an_axis() {
        for (key, place) in [
            ("omega_g", Some((0, None))),
            ("params.force", Some((1, None))),
            ("force.1", Some((1, Some(1)))),
            ("forcey", Some((1, Some(1)))),
            ("forcez", None),
            ("omega_gx", None),
        ] {
            assert_eq!(parameter(&vectors(), key), place, "{key}");
        }
    }
}
