//! All keys of a case file, and the JSON schema that follows, by which editors complete and check them.
//!
//! After: whatever a case may say, the schema accepts; what a value means, and which keys go together, the reader says.

use serde_json::{Value, json};

use super::keys::absorbing::RawAbsorbing;
use super::keys::faces::is_face;
use super::keys::fluid::RawFluid;
use super::keys::fluxes::RawFlux;
use super::keys::gradient::RawGradient;
use super::keys::output::RawOutput;
use super::keys::pictures::RawPicture;
use super::keys::recordings::RawRecording;
use super::keys::statistics::RawStatistics;
use super::keys::stop::RawStop;
use super::keys::table::Key;
use super::keys::top::RawTop;
use super::keys::units::RawUnits;
use super::keys::views::RawView;
use super::keys::{
    domain, faces, fields, fluid, free, layer, params, probes, refinement, report, shapes, solids, start, stop, units,
};

/// The keys of each table, in the order of the reference.
const TABLES: &[&[Key]] = &[
    RawTop::KEYS,
    units::KEYS,
    RawUnits::KEYS,
    domain::KEYS,
    RawFluid::KEYS,
    params::KEYS,
    faces::KEYS,
    RawAbsorbing::KEYS,
    start::KEYS,
    shapes::KEYS,
    solids::KEYS,
    free::KEYS,
    layer::KEYS,
    refinement::KEYS,
    RawStop::KEYS,
    RawOutput::KEYS,
    fields::KEYS,
    report::KEYS,
    RawGradient::KEYS,
    probes::KEYS,
    RawPicture::KEYS,
    RawView::KEYS,
    RawStatistics::KEYS,
    RawFlux::KEYS,
    RawRecording::KEYS,
];

/// Every key.
pub(super) fn all() -> impl Iterator<Item = &'static Key> {
    TABLES.iter().copied().flatten()
}

/// Lists of tables: a case has as many as it likes of each.
pub(super) const LISTS: [&str; 7] = ["solids", "probes", "pictures", "views", "statistics", "fluxes", "recordings"];

/// The list of tables that a key belongs to, and the rest of its path.
pub(super) fn in_list(path: &str) -> Option<(&str, &str)> {
    path.split_once('.').filter(|(list, _)| LISTS.contains(list))
}

/// Every key of a case file and what it is, for help texts.
pub fn keys() -> impl Iterator<Item = (&'static str, &'static str)> {
    all().map(|key| (key.path, key.doc))
}

/// Keys of which a case gives at most one.
pub(super) const EXCLUSIVE: &[&[&str]] = &[fluid::EXCLUSIVE[0], fluid::EXCLUSIVE[1], stop::EXCLUSIVE, units::EXCLUSIVE];

/// The keys of the table `path` (empty for the top of the file), first parts only.
pub(super) fn keys_of(path: &str) -> Vec<&'static str> {
    let mut names: Vec<&str> = all()
        .filter_map(|key| match path {
            "" => key.path.split('.').next(),
            _ => key.path.strip_prefix(path)?.strip_prefix('.'),
        })
        .collect();
    names.dedup();
    names
}

/// Whether the table `path` holds names that the case chooses.
pub(super) fn is_open(path: &str) -> bool {
    keys_of(path).contains(&"*") || path.strip_prefix("faces.").is_some_and(is_face)
}

/// Full paths of the keys whose last part is `key`.
pub(super) fn paths_that_end_with(key: &str) -> Vec<&'static str> {
    all().map(|known| known.path).filter(|path| path.rsplit('.').next() == Some(key)).collect()
}

/// The JSON schema (draft 7) of case files.
pub fn json_schema() -> Value {
    let mut root = json!({ "type": "object", "properties": {}, "additionalProperties": false });
    for key in all() {
        let mut value = key.takes.schema();
        value["description"] = json!(key.doc);
        put(&mut root, key.path, value);
    }
    for list in LISTS {
        let items = root["properties"][list].take();
        root["properties"][list] = json!({ "type": "array", "items": items });
    }
    root["$schema"] = json!("http://json-schema.org/draft-07/schema#");
    root["title"] = json!("A case of lbmc");
    root["required"] = json!(["spec", "domain"]);
    root
}

/// Puts the schema of a key at its path below a table.
fn put(table: &mut Value, path: &str, value: Value) {
    match path.split_once('.') {
        None if path == "*" => table["additionalProperties"] = value,
        None => table["properties"][path] = value,
        Some((first, rest)) => {
            let inner = &mut table["properties"][first];
            if inner.is_null() {
                *inner = json!({ "type": "object", "properties": {}, "additionalProperties": false });
            }
            put(inner, rest, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_documented_once() {
        for (at, key) in all().enumerate() {
            assert!(!key.doc.is_empty());
            assert!(all().take(at).all(|other| other.path != key.path), "{}", key.path);
        }
    }
}
