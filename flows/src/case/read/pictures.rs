//! `[[pictures]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::pictures::MOST_PICTURES;
use crate::case::raw::RawPicture;
use crate::case::tree::{Kind, Table, Value};

/// Keys of a picture.
const KNOWN: [&str; 7] = ["field", "name", "range", "colours", "slice", "size", "every"];

impl Reader {
    pub(super) fn pictures(&mut self, root: &Table) -> Vec<Spanned<RawPicture>> {
        let help = "write `[[pictures]]` above the keys of each".to_string();
        let list = match root.get("pictures").map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(MOST_PICTURES) {
            let message = format!("{} pictures are more than {MOST_PICTURES}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        list.iter().take(MOST_PICTURES).filter_map(|value| self.picture(value)).collect()
    }

    fn picture(&mut self, value: &Value) -> Option<Spanned<RawPicture>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[pictures]]` above the keys of each".to_string());
        };
        self.only_keys(table, &KNOWN, "a picture")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        let field = match table.get("field") {
            Some(_) => self.text(table, "field"),
            None => self.missing(&span, "pictures.field", "what is drawn", "`field = \"vorticity\"`".to_string()),
        };
        let name = match table.get("name") {
            Some(_) => Some(self.file_name(table, "name")?),
            None => None,
        };
        let range = match table.get("range") {
            Some(entry) => Some(self.range(&entry.value)?),
            None => None,
        };
        let colours = self.word(table, "colours", &["sequential", "diverging"]);
        let slice = table.get("slice").and_then(|entry| self.slice(&entry.value));
        let (size, every) = (self.count(table, "size"), self.interval(table, "every"));
        Some(Spanned { value: RawPicture { name, field: field?, range, colours, slice, size, every }, span })
    }

    /// Two numbers, the first one less.
    fn range(&mut self, value: &Value) -> Option<[f64; 2]> {
        let help = "for example `range = [-2, 2]`, in the units of the colour bar".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "two numbers", help) };
        let number = |value: &Value| match value.kind {
            Kind::Integer(number) => Some(number as f64),
            Kind::Float(number) => Some(number).filter(|number| number.is_finite()),
            _ => None,
        };
        match list.iter().map(number).collect::<Option<Vec<f64>>>().as_deref() {
            Some([least, most]) if least < most => Some([*least, *most]),
            Some([_, _]) => self.report.add(diag::BAD_VALUE, &value.span, "a range rises", "not rising", help),
            _ => self.report.add(diag::BAD_VALUE, &value.span, "a range has two finite numbers", "no range", help),
        }
    }
}
