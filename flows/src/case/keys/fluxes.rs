//! `[[fluxes]]`.

use super::lists::List;
use super::reader::Reader;
use super::values::{Interval, RawSlice, RawVector};
use crate::case::diag::{self, Span, Spanned};
use crate::case::fluxes::MOST_FLUXES;
use crate::case::takes::{PLANE, POINT, STEPS, TEXT, Takes};
use crate::case::tree::Table;
use crate::case::walls::FACES;

keys! {
    /// A plane through which fluxes are measured; its face is a number in the order of `FACES`.
    RawFlux, "fluxes." {
        name: Spanned<String> = file_name(), TEXT,
            "name of a plane through which fluxes are measured, under `[[fluxes]]`, in the rows of `fluxes.csv`", else "what its rows are called", "for example `name = \"outlet\"`";
        face: Spanned<usize> = face_number(), Takes::Word(&FACES),
            "a plane at an end of the domain: left, right, bottom, top, back or front";
        plane: Spanned<RawSlice> = plane(), PLANE,
            "a plane normal to an axis, instead of `face`: { normal = \"x\", at = 32 }";
        from: RawVector = point(), POINT,
            "lower corner of a part of the plane, along the other axes in their order; default: that of the domain";
        to: RawVector = point(), POINT,
            "upper corner of a part of the plane; default: that of the domain";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between rows", else "steps between rows", "for example `every = 100`";
    }
}

impl Reader {
    pub(in crate::case) fn fluxes(&mut self, root: &Table) -> Vec<Spanned<RawFlux>> {
        let list = List { name: "fluxes", one: "a flux", most: MOST_FLUXES, fewer: None, keys: RawFlux::KEYS };
        let all = self.list(root, &list, |reader, table, span| {
            let flux = RawFlux::read(reader, table, span);
            reader.face_or_plane(table, span);
            flux
        });
        let same = |one: &str, other: &str| one == other;
        self.named_apart(&all, list.name, |flux| &flux.name, same, "rows of the table go by it: give it another");
        all
    }

    fn face_or_plane(&mut self, table: &Table, span: &Span) {
        match (table.get("face"), table.get("plane")) {
            (Some(face), Some(_)) => {
                let help = "a face is the plane at an end of the domain".to_string();
                let message = "`face` and `plane` exclude each other";
                self.report.add::<()>(diag::CONFLICT, &face.value.span, message, "one too many", help);
            }
            (None, None) => {
                let help = "`face = \"right\"`, or `plane = { normal = \"x\", at = 32 }`".to_string();
                self.missing::<()>(span, "fluxes.plane", "where it is measured", help);
            }
            _ => {}
        }
    }

    /// The number of a face by its name.
    fn face_number(&mut self, table: &Table, key: &str) -> Option<Spanned<usize>> {
        let word = self.word(table, key, &FACES)?;
        let number = FACES.iter().position(|face| *face == word.value)?;
        Some(Spanned { value: number, span: word.span })
    }
}
