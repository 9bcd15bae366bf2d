//! `[[faces.left.patches]]` and `[[solids.patches]]`.

use super::faces::{RawFace, RawPatch, RawRegion, given};
use super::reader::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

/// A patch, to show how one is written.
const PATCH: &str = "{ rule = \"moving_wall\", velocity = [0.1, 0], box = { from = [0, 8], to = [0, 16] } }";
/// What says which part of a face a patch is.
const REGIONS: [&str; 3] = ["box", "disc", "where"];

impl Reader {
    /// The patches of a face; none if one cannot be read.
    pub(super) fn patches(&mut self, face: &Table) -> Option<Vec<RawPatch>> {
        match face.get("patches").map(|entry| &entry.value) {
            None => Some(vec![]),
            Some(Value { kind: Kind::List(list), .. }) => {
                let patches: Vec<_> = list.iter().filter_map(|value| self.patch(value)).collect();
                (patches.len() == list.len()).then_some(patches)
            }
            Some(value) => self.wrong_type(value, "a list of tables", format!("write `patches = [{PATCH}]`")),
        }
    }

    /// The patches of a surface in an STL file: what solids of a name are of it.
    pub(super) fn patches_of_surface(&mut self, solid: &Table) -> Option<Vec<RawPatch>> {
        const EXAMPLE: &str = "{ solid = \"lid\", rule = \"moving_wall\", velocity = [0.1, 0, 0] }";
        let help = || format!("for example `patches = [{EXAMPLE}]`");
        let list = match solid.get("patches").map(|entry| &entry.value) {
            None => return Some(vec![]),
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help()),
        };
        let patch = |value: &Value| -> Option<RawPatch> {
            let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help()) };
            if let Some(key) = ["solid", "rule"].into_iter().find(|key| table.get(key).is_none()) {
                return self.missing(
                    &value.span,
                    key,
                    "a patch is a solid of the file, with its boundary condition",
                    help(),
                );
            }
            if let Some(entry) = table.get("layer") {
                let message = "a patch has no `layer` of its own: it takes that of its solid";
                return self.report.add(
                    diag::UNKNOWN_KEY,
                    &entry.span,
                    message,
                    "of a patch",
                    "move it to the solid".to_string(),
                );
            }
            let (name, rule) = (self.text(table, "solid"), self.text(table, "rule"));
            let is_param = |key: &str| key != "solid" && key != "rule";
            let rest: Vec<_> = table.entries.iter().filter(|entry| is_param(&entry.key)).cloned().collect();
            let face = RawFace { params: self.params(&rest), ..RawFace::of(rule?) };
            let name = name?;
            Some(RawPatch { span: name.span.clone(), region: RawRegion::Solid(name), face })
        };
        let patches: Vec<_> = list.iter().filter_map(patch).collect();
        (patches.len() == list.len()).then_some(patches)
    }

    fn patch(&mut self, value: &Value) -> Option<RawPatch> {
        let help = format!("for example `{PATCH}`");
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help) };
        if table.get("rule").is_none() {
            return self.missing(&value.span, "rule", "the boundary condition of the patch", help);
        }
        self.exclusive(table, &REGIONS, true, "which part of the face the patch is");
        let region = table.entries.iter().find(|entry| REGIONS.contains(&&entry.key[..]))?;
        let is_param = |key: &str| !REGIONS.contains(&key) && key != "rule" && key != "turbulence";
        let rest: Vec<_> = table.entries.iter().filter(|entry| is_param(&entry.key)).cloned().collect();
        let (rule, turbulence, played) = (self.text(table, "rule"), self.turbulence(table), self.played(table));
        let params = self.params(&given(rest));
        let face = RawFace { params, turbulence: turbulence?, played: played?, ..RawFace::of(rule?) };
        Some(RawPatch { region: self.region(&region.key, &region.value)?, span: region.span.clone(), face })
    }

    fn region(&mut self, key: &str, value: &Value) -> Option<RawRegion> {
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        if key == "where" {
            let formula = self.formula(value, Dimension::NUMBER)?;
            return Some(RawRegion::Where(Spanned { value: formula, span: value.span.clone() }));
        }
        let (keys, example) = match key {
            "box" => (["from", "to"], "box = { from = [0, 8], to = [0, 16] }"),
            _ => (["centre", "radius"], "disc = { centre = [0, 12], radius = 4 }"),
        };
        let help = format!("for example `{example}`");
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help) };
        self.only_keys(table, &keys, &format!("a {key}"))?;
        if let Some(key) = keys.into_iter().find(|key| table.get(key).is_none()) {
            return self.missing(&value.span, key, "where the patch is", help);
        }
        let point = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let first = point(self, keys[0]);
        if key == "box" {
            let to = point(self, "to");
            return Some(RawRegion::Box { from: first?, to: to? });
        }
        let radius = self.positive(table, "radius", length);
        Some(RawRegion::Disc { centre: first?, radius: radius? })
    }
}
