//! `[[views]]`.

use super::lists::List;
use super::pictures::{RawFrames, RawRange};
use super::probes::RawPoints;
use super::reader::Reader;
use super::values::{Interval, RawAmount};
use crate::case::diag::{self, Spanned};
use crate::case::takes::{COUNT, POINT, QUANTITY, SEEDS, STEPS, TEXT, Takes};
use crate::case::tree::{Kind, Table, Value};
use crate::case::views::MOST_VIEWS;

keys! {
    /// A view.
    RawView, "views." {
        isosurface: Spanned<String> = text(), TEXT,
            "field of which a view shows an isosurface, by its name, under `[[views]]`; of a vector the magnitude";
        value: Spanned<RawAmount> = amount(), QUANTITY,
            "value on the isosurface, in the units of a colour bar, or in SI with its unit";
        streamlines: Spanned<RawPoints> = seeds(), SEEDS,
            "points through which streamlines of the velocity go, at most 500: { from = [8, 4, 16], to = [8, 28, 16], points = 12 }, with a number of points for each axis those of a rectangle, or listed in { at = [[8, 4, 16]] }";
        colour: Spanned<String> = text(), TEXT,
            "field that colours the isosurface and the streamlines, by its name; default: a single colour";
        name: Spanned<String> = file_name(), TEXT,
            "name of the file: `NAME.png`, with `every` `NAME_00001000.png`; default: the name of the field, or `streamlines`";
        range: RawRange = range(), POINT,
            "values at the ends of the colour bar, in its units: [0, 1.5]; default: computed from the values on what is drawn";
        colours: Spanned<String> = colours(), Takes::Colours,
            "colour map, as for pictures; default: diverging if the field that colours it has a sign, else sequential";
        from: [f64; 3] = view_direction(), Takes::List(&Takes::Number),
            "view direction, from the flow to the viewer; default: [0.5, -1, 0.6]";
        size: Spanned<f64> = count(), COUNT,
            "pixels along the longer side of the domain as it is seen; default: 1000";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between views; default: one view at the end";
        film: Option<u32> = film(), Takes::Either(&[Takes::Truth, COUNT]),
            "true, or views per second: with `every`, also a film of all views, `NAME.gif`", or None;
    }
}

impl RawView {
    pub(in crate::case) fn frames(&self) -> RawFrames<'_> {
        RawFrames { name: self.name.as_ref(), every: self.every.as_ref(), film: self.film }
    }
}

impl Reader {
    pub(in crate::case) fn views(&mut self, root: &Table) -> Vec<Spanned<RawView>> {
        let list = List { name: "views", one: "a view", most: MOST_VIEWS, fewer: None, keys: RawView::KEYS };
        self.list(root, &list, |reader, table, span| {
            for key in ["range", "colours"] {
                let help = "add the field that colours what is drawn: `colour = \"speed\"`";
                reader.only_with(table, key, "colour", help);
            }
            let needed: &[(&str, &str, &str)] = match (table.get("isosurface"), table.get("value")) {
                (None, None) if table.get("streamlines").is_some() => &[],
                _ => &[
                    ("isosurface", "the field whose surface is drawn", "`isosurface = \"q_criterion\"`"),
                    ("value", "where the surface lies", "`value = 0.5`"),
                ],
            };
            reader.require(table, span, "views.", needed);
            reader.only_with_every(table);
            RawView::read(reader, table, span)
        })
    }

    /// Points through which streamlines go.
    fn seeds(&mut self, table: &Table, key: &str) -> Option<Spanned<RawPoints>> {
        let value = &table.get(key)?.value;
        let help = "for example `streamlines = { from = [8, 4, 16], to = [8, 28, 16], points = 12 }`".to_string();
        let Kind::Table(table) = &value.kind else { return self.wrong_type(value, "a table", help) };
        self.only_keys(table, &["at", "from", "to", "points"], "streamlines")?;
        let points = self.points_of(table, &value.span, "streamlines")?;
        Some(Spanned { value: points, span: value.span.clone() })
    }

    /// Three numbers, not all of them zero.
    fn view_direction(&mut self, table: &Table, key: &str) -> Option<[f64; 3]> {
        let value = &table.get(key)?.value;
        let help = "for example `from = [1, -1, 0.6]`, along x, y and z".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "three numbers", help) };
        match list.iter().map(number).collect::<Option<Vec<f64>>>().as_deref() {
            Some(&[x, y, z]) if (1e-6..1e6).contains(&x.hypot(y).hypot(z)) => Some([x, y, z]),
            _ => self.report.add(diag::BAD_VALUE, &value.span, "a direction has three numbers", "no direction", help),
        }
    }
}

/// A finite number.
fn number(value: &Value) -> Option<f64> {
    match value.kind {
        Kind::Integer(number) => Some(number as f64),
        Kind::Float(number) => Some(number).filter(|number| number.is_finite()),
        _ => None,
    }
}
