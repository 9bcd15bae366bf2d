//! `[[fluxes]]`.

use super::Reader;
use crate::case::diag::{self, Spanned};
use crate::case::fluxes::MOST_FLUXES;
use crate::case::raw::{RawFlux, RawVector};
use crate::case::schema::FACES;
use crate::case::tree::{Kind, Table, Value};

/// Keys of a flux.
const KNOWN: [&str; 6] = ["name", "face", "plane", "from", "to", "every"];

impl Reader {
    pub(super) fn fluxes(&mut self, root: &Table) -> Vec<Spanned<RawFlux>> {
        let help = "write `[[fluxes]]` above the keys of each".to_string();
        let list = match root.get("fluxes").map(|entry| &entry.value) {
            None => return vec![],
            Some(Value { kind: Kind::List(list), .. }) => list,
            Some(value) => return self.wrong_type(value, "a list of tables", help).unwrap_or_default(),
        };
        if let Some(beyond) = list.get(MOST_FLUXES) {
            let message = format!("{} fluxes are more than {MOST_FLUXES}", list.len());
            self.report.add::<()>(diag::BAD_VALUE, &beyond.span, message, "one too many", None);
        }
        let all: Vec<_> = list.iter().take(MOST_FLUXES).filter_map(|value| self.flux(value)).collect();
        for (at, flux) in all.iter().enumerate() {
            let name = &flux.value.name;
            if all[..at].iter().any(|other| other.value.name.value == name.value) {
                let message = format!("two fluxes are called `{}`", name.value);
                let help = "rows of the table go by it: give it another".to_string();
                self.report.add::<()>(diag::CONFLICT, &name.span, message, "taken", help);
            }
        }
        all
    }

    fn flux(&mut self, value: &Value) -> Option<Spanned<RawFlux>> {
        let Kind::Table(table) = &value.kind else {
            return self.wrong_type(value, "a table", "write `[[fluxes]]` above the keys of each".to_string());
        };
        self.only_keys(table, &KNOWN, "a flux")?;
        let span = table.entries.first().map_or(&value.span, |entry| &entry.span).clone();
        for (key, what, example) in [
            ("name", "what its rows are called", "for example `name = \"outlet\"`"),
            ("every", "steps between rows", "for example `every = 100`"),
        ] {
            if table.get(key).is_none() {
                self.missing::<()>(&span, &format!("fluxes.{key}"), what, example.to_string());
            }
        }
        let name = self.file_name(table, "name");
        let every = self.interval(table, "every");
        let face = match table.get("face") {
            Some(_) => {
                let word = self.word(table, "face", &FACES)?;
                let number = FACES.iter().position(|face| *face == word.value)?;
                Some(Spanned { value: number, span: word.span })
            }
            None => None,
        };
        let plane = match table.get("plane") {
            Some(entry) => Some(self.slice(&entry.value)?),
            None => None,
        };
        match (&face, &plane) {
            (Some(face), Some(_)) => {
                let help = "a face is the plane at an end of the domain".to_string();
                self.report.add::<()>(
                    diag::CONFLICT,
                    &face.span,
                    "`face` and `plane` exclude each other",
                    "one too many",
                    help,
                );
            }
            (None, None) => {
                let help = "`face = \"right\"`, or `plane = { normal = \"x\", at = 32 }`".to_string();
                self.missing::<()>(&span, "fluxes.plane", "where it is measured", help);
            }
            _ => {}
        }
        let from = self.corner(table, "from")?;
        let to = self.corner(table, "to")?;
        Some(Spanned { value: RawFlux { name: name?, face, plane, from, to, every: every? }, span })
    }

    /// A corner of a rectangle, if it is given.
    fn corner(&mut self, table: &Table, key: &str) -> Option<Option<RawVector>> {
        match table.get(key) {
            None => Some(None),
            Some(entry) => self.point(&entry.value).map(Some),
        }
    }
}
