//! `[[pictures]]`, and what views have in common with them.

use super::lists::List;
use super::reader::Reader;
use super::values::{Interval, RawAmount, RawSlice, RawVector};
use crate::case::diag::{self, Span, Spanned};
use crate::case::pictures::{Colours, Frames, MOST_PER_SECOND, MOST_PICTURES};
use crate::case::takes::{COUNT, PLANE, POINT, STEPS, TEXT, Takes};
use crate::case::tree::{Kind, Table};

/// How values lie along a colour bar.
const SCALES: &[&str] = &["linear", "log"];

keys! {
    /// A picture.
    RawPicture, "pictures." {
        field: Spanned<String> = text(), TEXT,
            "field that a picture shows, by its name, under `[[pictures]]`; of a vector the magnitude", else "what is drawn", "`field = \"vorticity\"`";
        statistics: Spanned<String> = text(), TEXT,
            "name of the statistics of which the field is a result: `mean_velocity`, `rms_velocity`";
        name: Spanned<String> = file_name(), TEXT,
            "name of the file: `NAME.png`, with `every` `NAME_00001000.png`; default: the name of the field";
        title: Spanned<String> = text(), TEXT,
            "title above the picture; default: the name of the case, and what is shown";
        range: RawRange = range(), POINT,
            "values at the ends of the colour bar, in its units: [-2, 2]; default: computed from the field";
        scale: Spanned<String> = word(SCALES), Takes::Word(SCALES),
            "equal steps of colour are equal differences (linear) or equal ratios (log); default: linear";
        colours: Spanned<String> = colours(), Takes::Colours,
            "colour map: sequential, diverging, viridis or another; default: diverging for a field with a sign, else sequential";
        contours: Spanned<RawContours> = contours(), Takes::Either(&[Takes::Whole(0), POINT]),
            "contour lines: their number between the ends of the colour bar, or their values: 9 or [0.5, 1]";
        slice: Spanned<RawSlice> = plane(), PLANE,
            "plane of the picture in three dimensions: { normal = \"y\", at = 32 }; default: the middle plane normal to z";
        from: RawVector = lengths(), POINT,
            "lower left corner of the part of the plane that is shown: [40, 20]; default: that of the domain";
        to: RawVector = lengths(), POINT,
            "upper right corner of the part of the plane that is shown: [120, 48]; default: that of the domain";
        streamlines: Span = flag(), Takes::Truth,
            "draw streamlines of the velocity over the field";
        grid: Spanned<bool> = choice(), Takes::Truth,
            "draw the edges of blocks over the picture of a refined grid; default: true";
        size: Spanned<f64> = count(), COUNT,
            "pixels along the longer side of the field; default: 1000";
        every: Spanned<Interval> = interval(), STEPS,
            "time steps, or a time, between pictures; default: one picture at the end";
        film: Option<u32> = film(), Takes::Either(&[Takes::Truth, COUNT]),
            "true, or pictures per second: with `every`, also a film of all pictures, `NAME.gif`", or None;
    }
}

/// Values at the ends of a colour bar.
pub(in crate::case) type RawRange = Spanned<[Spanned<RawAmount>; 2]>;

/// Lines along which a field is constant.
#[derive(Clone, Debug)]
pub(in crate::case) enum RawContours {
    Number(usize),
    At(Vec<Spanned<RawAmount>>),
}

/// The files of a picture or a view.
#[derive(Clone, Copy, Debug)]
pub(in crate::case) struct RawFrames<'a> {
    pub(in crate::case) name: Option<&'a Spanned<String>>,
    pub(in crate::case) every: Option<&'a Spanned<Interval>>,
    /// Pictures a second of a film.
    pub(in crate::case) film: Option<u32>,
}

impl RawPicture {
    pub(in crate::case) fn frames(&self) -> RawFrames<'_> {
        RawFrames { name: self.name.as_ref(), every: self.every.as_ref(), film: self.film }
    }
}

impl Reader {
    pub(in crate::case) fn pictures(&mut self, root: &Table) -> Vec<Spanned<RawPicture>> {
        let list =
            List { name: "pictures", one: "a picture", most: MOST_PICTURES, fewer: None, keys: RawPicture::KEYS };
        self.list(root, &list, |reader, table, span| {
            reader.only_with_every(table);
            RawPicture::read(reader, table, span)
        })
    }

    /// Whatever is drawn: a film is made of pictures on the way.
    pub(super) fn only_with_every(&mut self, table: &Table) {
        let help = "one picture is no film: add the steps between pictures, `every = 100`";
        self.only_with(table, "film", "every", help);
    }

    pub(super) fn colours(&mut self, table: &Table, key: &str) -> Option<Spanned<String>> {
        self.word(table, key, &Colours::ALL.map(|(name, _)| name))
    }

    /// The place of a key that is true.
    fn flag(&mut self, table: &Table, key: &str) -> Option<Span> {
        let entry = table.get(key)?;
        self.truth(table, key)?.then(|| entry.span.clone())
    }

    /// Whether there is a film, and its pictures a second.
    pub(super) fn film(&mut self, table: &Table, key: &str) -> Option<Option<u32>> {
        let value = &table.get(key)?.value;
        let help = format!("`film = true`, or pictures a second, up to {MOST_PER_SECOND}: `film = 20`");
        match value.kind {
            Kind::Bool(truth) => Some(truth.then_some(Frames::PER_SECOND)),
            Kind::Integer(rate) if (1..=MOST_PER_SECOND).contains(&rate) => Some(Some(rate as u32)),
            Kind::Integer(_) => {
                let message = format!("a film has 1 to {MOST_PER_SECOND} pictures a second");
                self.report.add(diag::BAD_VALUE, &value.span, message, "out of range", help)
            }
            _ => self.wrong_type(value, "true or a number of pictures a second", help),
        }
    }

    /// Two values.
    pub(super) fn range(&mut self, table: &Table, key: &str) -> Option<RawRange> {
        let value = &table.get(key)?.value;
        let help = "for example `range = [-2, 2]`, in the units of the colour bar".to_string();
        let Kind::List(list) = &value.kind else { return self.wrong_type(value, "two numbers", help) };
        let [least, most] = &list[..] else {
            return self.report.add(diag::BAD_VALUE, &value.span, "a range has two values", "no range", help);
        };
        let ends: [Spanned<RawAmount>; 2] = [self.amount_of(least)?, self.amount_of(most)?];
        Some(Spanned { value: ends, span: value.span.clone() })
    }

    /// How many lines, or their values.
    fn contours(&mut self, table: &Table, key: &str) -> Option<Spanned<RawContours>> {
        let value = &table.get(key)?.value;
        let contours = match &value.kind {
            // What cannot be meant is refused with the picture.
            Kind::Integer(count) => RawContours::Number(usize::try_from(*count).unwrap_or(0)),
            Kind::List(list) => RawContours::At(list.iter().map(|value| self.amount_of(value)).collect::<Option<_>>()?),
            _ => {
                let help = "how many, or at which values: `contours = 9`, `contours = [0.5, 1]`".to_string();
                return self.wrong_type(value, "a number of lines, or a list of values", help);
            }
        };
        Some(Spanned { value: contours, span: value.span.clone() })
    }
}
