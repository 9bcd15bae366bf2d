//! `[refinement]`.

use super::{RawBox, RawRefinement, Reader};
use crate::case::diag::Spanned;
use crate::case::tree::{Kind, Table, Value};
use crate::case::units::Dimension;

impl Reader {
    pub(super) fn refinement(&mut self, table: &Table, solids: bool) -> Option<RawRefinement> {
        let finest = self.count(table, "finest");
        if table.get("finest").is_none() {
            let help = String::from("for example `finest = 2`, for cells of a quarter of the coarsest ones");
            self.missing::<()>(&table.span, "refinement.finest", "the finest level", help);
        }
        if table.get("level").is_none() && table.get("boxes").is_none() && !solids {
            let help =
                String::from("`level = \"2 - x / 8\"`, or `boxes = [{ level = 1, from = [0, 0], to = [16, 16] }]`");
            self.missing::<()>(&table.span, "refinement.level", "where to refine", help);
        }
        let level = table.get("level").and_then(|entry| {
            let value = self.formula(&entry.value, Dimension::NUMBER)?;
            Some(Spanned { value, span: entry.value.span.clone() })
        });
        let boxes = match table.get("boxes").map(|entry| &entry.value) {
            None => Vec::new(),
            Some(Value { kind: Kind::List(list), .. }) => list.iter().filter_map(|value| self.refined(value)).collect(),
            Some(value) => {
                let help = String::from("write `boxes = [{ level = 1, from = [0, 0], to = [16, 16] }]`");
                return self.wrong_type(value, "a list", help);
            }
        };
        let coupling = self.text(table, "coupling");
        Some(RawRefinement { span: table.span.clone(), finest: finest?, level, boxes, coupling })
    }

    pub(super) fn refined(&mut self, value: &Value) -> Option<Spanned<RawBox>> {
        let example = "for example `{ level = 1, from = [0, 0], to = [16, 16] }`".to_string();
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", example) };
        let known = ["level", "from", "to"];
        self.only_keys(table, &known, "a box")?;
        if let Some(key) = known.iter().find(|key| table.get(key).is_none()) {
            return self.missing(&value.span, key, "a box has a level and two corners", example);
        }
        let length = if self.si { Dimension::LENGTH } else { Dimension::NUMBER };
        let corner = |reader: &mut Self, key: &str| {
            reader.vector(table, key, |reader, value| Some(reader.quantity(value, Some(length))?.0))
        };
        let (level, from, to) = (self.count(table, "level"), corner(self, "from"), corner(self, "to"));
        Some(Spanned { value: RawBox { level: level?, from: from?, to: to? }, span: value.span.clone() })
    }
}
