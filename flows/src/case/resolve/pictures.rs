//! Pictures and views against the method and the domain.

use super::Resolver;
use crate::case::diag::{self, Span, Spanned};
use crate::case::pictures::{FEWEST_PIXELS, MOST_PIXELS, PIXELS};
use crate::case::raw::{RawFrames, RawPicture, RawView};
use crate::case::units::Units;
use crate::case::{Colours, Frames, Picture, Quantity, View, views};

/// Names of other pictures.
const TAKEN: [&str; 3] = ["profiles", "series", "forces"];

impl Resolver<'_> {
    pub(super) fn pictures(&mut self, size: [usize; 3], units: &Units) -> Option<(Vec<Picture>, Vec<View>)> {
        let raw = self.raw;
        let pictures: Vec<_> = raw.pictures.iter().map(|given| self.picture(given, size, units)).collect();
        let views: Vec<_> = raw.views.iter().map(|given| self.view(given, units)).collect();
        let pictures: Vec<Picture> = pictures.into_iter().collect::<Option<_>>()?;
        let views: Vec<View> = views.into_iter().collect::<Option<_>>()?;
        let mut known: Vec<String> = TAKEN.iter().map(|name| format!("{name}.png")).collect();
        if raw.output.picture {
            let scalars = self.manifest.fields.iter().filter(|field| field.components == 1);
            let names = scalars.map(|field| &field.name[..]).chain(["velocity", "vorticity"]);
            known.extend(names.map(|name| format!("{name}.png")));
        }
        let of_pictures = raw.pictures.iter().map(|given| (&given.value.frames, &given.span));
        let given = of_pictures.chain(raw.views.iter().map(|given| (&given.value.frames, &given.span)));
        let frames = pictures.iter().map(|picture| &picture.frames).chain(views.iter().map(|view| &view.frames));
        for ((given, span), frames) in given.zip(frames) {
            // The steps of files of a sequence do not matter: sequences of one name are in each other's way at some of them.
            let file = frames.file_name(0);
            if known.iter().any(|known| known.eq_ignore_ascii_case(&file)) {
                let span = given.name.as_ref().map_or(span, |name| &name.span);
                let message = format!("two pictures are called `{}`", frames.name);
                let help = "give one of them another `name`".to_string();
                return self.report.add(diag::CONFLICT, span, message, "taken", help);
            }
            known.push(file);
        }
        Some((pictures, views))
    }

    fn frames(&mut self, given: &RawFrames, field: &Quantity, units: &Units) -> Option<Frames> {
        let every = match &given.every {
            Some(every) => Some(self.interval(every, units)?),
            None => None,
        };
        Some(Frames {
            name: given.name.as_ref().map_or(field.name(), |name| &name.value).to_string(),
            every,
            film: given.film,
        })
    }

    /// The longer side, in pixels.
    fn pixels(&mut self, given: Option<&Spanned<f64>>, most: f64) -> Option<usize> {
        let Some(size) = given else { return Some(PIXELS as usize) };
        if (FEWEST_PIXELS..=most).contains(&size.value) {
            return Some(size.value as usize);
        }
        let message = format!("there are {FEWEST_PIXELS} to {most} pixels along the longer side");
        self.report.add(diag::BAD_VALUE, &size.span, message, "out of range", None)
    }

    fn view(&mut self, given: &Spanned<RawView>, units: &Units) -> Option<View> {
        self.in_three_dimensions(&given.span)?;
        let raw = &given.value;
        let isosurface = self.quantity(&raw.isosurface)?;
        let colour = match &raw.colour {
            Some(colour) => Some(self.quantity(colour)?),
            None => None,
        };
        let diverging = match &raw.colours {
            Some(word) => word.value == "diverging",
            None => colour.as_ref().is_some_and(Quantity::is_signed),
        };
        let from = raw.from.unwrap_or(views::FROM);
        let norm = from.iter().map(|part| part * part).sum::<f64>().sqrt();
        Some(View {
            frames: self.frames(&raw.frames, &isosurface, units)?,
            isosurface,
            value: raw.value,
            colour,
            range: raw.range,
            colours: if diverging { Colours::Diverging } else { Colours::Sequential },
            from: from.map(|part| part / norm),
            size: self.pixels(raw.size.as_ref(), views::MOST_PIXELS)?,
        })
    }

    fn in_three_dimensions(&mut self, span: &Span) -> Option<()> {
        if self.dim == 3 {
            return Some(());
        }
        let message = "a view shows a surface in three dimensions, and this flow has two";
        let help = "a picture shows the whole plane: write `[[pictures]]` with `field`".to_string();
        self.report.add(diag::VIEW_OF_PLANE, span, message, "two dimensions", help)
    }

    fn picture(&mut self, given: &Spanned<RawPicture>, size: [usize; 3], units: &Units) -> Option<Picture> {
        let raw = &given.value;
        let field = self.quantity(&raw.field)?;
        let slice = raw.slice.as_ref().and_then(|slice| self.plane(slice, size, units));
        let diverging = match &raw.colours {
            Some(word) => word.value == "diverging",
            None => field.is_signed(),
        };
        Some(Picture {
            frames: self.frames(&raw.frames, &field, units)?,
            range: raw.range,
            colours: if diverging { Colours::Diverging } else { Colours::Sequential },
            slice,
            size: self.pixels(raw.size.as_ref(), MOST_PIXELS)?,
            field,
        })
    }
}
