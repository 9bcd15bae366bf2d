//! Pictures and views against the method and the domain.

use super::resolver::{Resolver, axis_name, short};
use crate::case::diag::{self, Span, Spanned};
use crate::case::keys::pictures::{RawContours, RawFrames, RawPicture, RawRange};
use crate::case::keys::values::{RawAmount, RawVector};
use crate::case::keys::views::RawView;
use crate::case::pictures::{Colours, Contours, FEWEST_PIXELS, Frames, PIXELS, Picture, Wrong};
use crate::case::quantity::Quantity;
use crate::case::statistics::Statistics;
use crate::case::units::{Dimension, Units};
use crate::case::views::{self, View};

/// Least extent of what is shown of a plane, in cells.
const NARROWEST: f64 = 0.25;
/// What a view of streamlines alone is called.
const STREAMLINES: &str = "streamlines";
/// Names of other pictures.
const TAKEN: [&str; 3] = ["profiles", "series", "forces"];

impl Resolver<'_> {
    pub(super) fn pictures(
        &mut self,
        size: [usize; 3],
        units: &Units,
        statistics: Option<&[Statistics]>,
    ) -> Option<(Vec<Picture>, Vec<View>)> {
        let raw = self.raw;
        let pictures: Vec<_> = raw.pictures.iter().map(|given| self.picture(given, size, units, statistics)).collect();
        let views: Vec<_> = raw.views.iter().map(|given| self.view(given, size, units)).collect();
        let pictures: Vec<Picture> = pictures.into_iter().collect::<Option<_>>()?;
        let views: Vec<View> = views.into_iter().collect::<Option<_>>()?;
        let mut known: Vec<Frames> = TAKEN.iter().map(|name| Frames::one(name)).collect();
        if raw.output.picture {
            let scalars = self.manifest.fields.iter().filter(|field| field.components == 1 && field.is_own());
            let names = scalars.map(|field| &field.name[..]).chain(["velocity", "vorticity"]);
            known.extend(names.map(Frames::one));
        }
        let of_pictures = raw.pictures.iter().map(|given| (given.value.frames(), &given.span));
        let given = of_pictures.chain(raw.views.iter().map(|given| (given.value.frames(), &given.span)));
        let frames = pictures.iter().map(|picture| &picture.frames).chain(views.iter().map(|view| &view.frames));
        for ((given, span), frames) in given.zip(frames) {
            if let Some(other) = known.iter().find(|known| known.collide(frames)) {
                let span = given.name.map_or(span, |name| &name.span);
                let message = match other.name.eq_ignore_ascii_case(&frames.name) {
                    true => format!("two pictures are called `{}`", frames.name),
                    false => format!("`{}` and a picture on the way of `{}` have one file", frames.name, other.name),
                };
                let help = "give one of them another `name`".to_string();
                return self.report.add(diag::CONFLICT, span, message, "taken", help);
            }
            known.push(frames.clone());
        }
        Some((pictures, views))
    }

    /// The files of a picture, which have this name unless the case gives another.
    fn frames(&mut self, given: RawFrames<'_>, usual: &str, units: &Units) -> Option<Frames> {
        let every = match given.every {
            Some(every) => Some(self.interval(every, units)?),
            None => None,
        };
        Some(Frames { name: given.name.map_or(usual, |name| &name.value).to_string(), every, film: given.film })
    }

    /// The longer side of a view, in pixels.
    fn pixels(&mut self, given: Option<&Spanned<f64>>) -> Option<usize> {
        let Some(size) = given else { return Some(PIXELS) };
        let most = views::MOST_PIXELS;
        if (FEWEST_PIXELS..=most).contains(&(size.value as usize)) {
            return Some(size.value as usize);
        }
        let message = format!("there are {FEWEST_PIXELS} to {most} pixels along the longer side");
        self.report.add(diag::BAD_VALUE, &size.span, message, "out of range", None)
    }

    /// A value of a field in the units of its colour bar.
    fn amount(&mut self, given: &Spanned<RawAmount>, field: &Quantity, units: &Units) -> Option<f64> {
        let RawAmount { value, dimension } = given.value;
        let wanted = field.dimension(units);
        // A scalar may be a temperature.
        let fits = |found: Dimension| wanted == Some(found) || wanted == Some(Dimension::NUMBER) && !found.needs_unit();
        let Some(found) = dimension.filter(|found| !fits(*found)) else { return Some(value) };
        let (symbol, found) = (field.symbol(units), found.describe().0);
        let message = match symbol.is_empty() {
            true => format!("`{}` has no unit, and this is {found}", field.name()),
            false => format!("`{}` is measured in {symbol}, and this is {found}", field.name()),
        };
        let help = "a number without unit is one of the colour bar".to_string();
        self.report.add(diag::WRONG_UNIT, &given.span, message, format!("this is {found}"), help)
    }

    /// The ends of a colour bar, in its units.
    fn range(&mut self, given: &RawRange, field: &Quantity, units: &Units) -> Option<[f64; 2]> {
        let [least, most] = &given.value;
        Some([self.amount(least, field, units)?, self.amount(most, field, units)?])
    }

    fn view(&mut self, given: &Spanned<RawView>, size: [usize; 3], units: &Units) -> Option<View> {
        self.in_three_dimensions(&given.span)?;
        let raw = &given.value;
        let isosurface = match (&raw.isosurface, &raw.value) {
            (Some(field), Some(value)) => {
                let field = self.quantity(field)?;
                let value = self.amount(value, &field, units)?;
                Some((field, value))
            }
            _ => None,
        };
        let seeds = match &raw.streamlines {
            Some(points) => self.seeds(points, size, units)?,
            None => vec![],
        };
        let colour = match &raw.colour {
            Some(colour) => Some(self.quantity(colour)?),
            None => None,
        };
        let range = match (&raw.range, &colour) {
            (Some(range), Some(of)) => Some(self.range(range, of, units)?),
            _ => None,
        };
        if let (Some([least, most]), Some(given)) = (range, &raw.range)
            && least >= most
        {
            return self.report.add(diag::BAD_VALUE, &given.span, "a range rises", "not rising", None);
        }
        let suited = || colour.as_ref().map_or(Colours::Sequential, Colours::of);
        let colours = raw.colours.as_ref().and_then(|word| Colours::find(&word.value)).unwrap_or_else(suited);
        let from = raw.from.unwrap_or(views::FROM);
        let norm = from.iter().map(|part| part * part).sum::<f64>().sqrt();
        Some(View {
            frames: self.frames(
                raw.frames(),
                isosurface.as_ref().map_or(STREAMLINES, |(field, _)| field.name()),
                units,
            )?,
            isosurface,
            seeds,
            colour,
            range,
            colours,
            from: from.map(|part| part / norm),
            size: self.pixels(raw.size.as_ref())?,
        })
    }

    fn in_three_dimensions(&mut self, span: &Span) -> Option<()> {
        if self.dim == 3 {
            return Some(());
        }
        let message = "a view shows three dimensions, and this flow has two";
        let help = "a picture shows the whole plane: write `[[pictures]]` with `field`".to_string();
        self.report.add(diag::VIEW_OF_PLANE, span, message, "two dimensions", help)
    }

    fn picture(
        &mut self,
        given: &Spanned<RawPicture>,
        size: [usize; 3],
        units: &Units,
        statistics: Option<&[Statistics]>,
    ) -> Option<Picture> {
        let raw = &given.value;
        let (statistics, field) = match &raw.statistics {
            None => (None, self.quantity(&raw.field)?),
            Some(of) => {
                if let Some(every) = &raw.every {
                    let message = "a picture of statistics is drawn at the end";
                    let help = "take `every` away".to_string();
                    return self.report.add(diag::CONFLICT, &every.span, message, "not on the way", help);
                }
                if let Some(span) = &raw.streamlines {
                    let message = "streamlines are those of the flow, not of statistics";
                    let help = "take `streamlines` away".to_string();
                    return self.report.add(diag::CONFLICT, span, message, "not of statistics", help);
                }
                let (number, field) = self.result(of, &raw.field, statistics?)?;
                (Some(number), field)
            }
        };
        let slice = raw.slice.as_ref().and_then(|slice| self.plane(slice, size, units));
        let range = match &raw.range {
            Some(range) => Some(self.range(range, &field, units)?),
            None => None,
        };
        let contours = match raw.contours.as_ref().map(|contours| &contours.value) {
            Some(RawContours::Number(count)) => Some(Contours::Between(*count)),
            Some(RawContours::At(values)) => {
                let values = values.iter().map(|value| self.amount(value, &field, units));
                Some(Contours::At(values.collect::<Option<_>>()?))
            }
            None => None,
        };
        let log = raw.scale.as_ref().is_some_and(|word| word.value == "log");
        let suited = || if log { Colours::Sequential } else { Colours::of(&field) };
        let colours = raw.colours.as_ref().and_then(|word| Colours::find(&word.value)).unwrap_or_else(suited);
        let axes = [0, 1, 2].into_iter().filter(|axis| *axis != slice.map_or(2, |slice| slice.normal));
        let window = self.window((raw.from.as_ref(), raw.to.as_ref()), &axes.collect::<Vec<_>>(), size, units);
        if let (Some(span), true) =
            (&raw.streamlines, Quantity::all(self.manifest).iter().all(|any| any.name() != "speed"))
        {
            let message = format!("`streamlines` has no effect: `{}` has no velocity", self.manifest.spec);
            self.report.add::<()>(diag::NO_EFFECT, span, message, "has no effect", None);
        }
        if let Some(grid) = &raw.grid {
            self.has_levels(grid);
        }
        let picture = Picture {
            title: raw.title.as_ref().map(|title| title.value.clone()),
            statistics,
            range,
            log,
            colours,
            contours,
            slice,
            window: window?,
            streamlines: raw.streamlines.is_some(),
            grid: raw.grid.as_ref().is_none_or(|grid| grid.value),
            size: raw.size.as_ref().map_or(PIXELS, |size| size.value as usize),
            ..Picture::of(field.clone(), self.frames(raw.frames(), field.name(), units)?)
        };
        let Err(Wrong { key, message, help }) = picture.check() else { return Some(picture) };
        let places = [
            ("title", raw.title.as_ref().map(|title| &title.span)),
            ("range", raw.range.as_ref().map(|range| &range.span)),
            ("scale", raw.scale.as_ref().map(|scale| &scale.span)),
            ("contours", raw.contours.as_ref().map(|contours| &contours.span)),
            ("size", raw.size.as_ref().map(|size| &size.span)),
        ];
        let place = places.into_iter().find(|(of, _)| *of == key).and_then(|(_, span)| span);
        self.report.add(diag::BAD_VALUE, place.unwrap_or(&given.span), message, "cannot be drawn", help)
    }

    /// Warns of `grid` where there is one level.
    pub(super) fn has_levels(&mut self, grid: &Spanned<bool>) {
        if self.raw.refinement.is_none() {
            let message = "`grid` has no effect on a grid of one level, whose blocks are not drawn";
            self.report.add::<()>(diag::NO_EFFECT, &grid.span, message, "has no effect", None);
        }
    }

    /// The corners of the part of a plane with these axes that is shown, in cells, if one is given.
    fn window(
        &mut self,
        (from, to): (Option<&RawVector>, Option<&RawVector>),
        axes: &[usize],
        size: [usize; 3],
        units: &Units,
    ) -> Option<Option<[[f64; 2]; 2]>> {
        let Some(given) = from.or(to) else { return Some(None) };
        let mut corners = [[0.0; 2], [0, 1].map(|at| size[axes[at]] as f64)];
        for (corner, given) in corners.iter_mut().zip([from, to]) {
            let Some(given) = given else { continue };
            if given.value.len() != 2 {
                let message = format!("a plane has 2 axes, and this corner has {} components", given.value.len());
                let help = "one along the axis to the right, one along that upwards: `from = [40, 20]`".to_string();
                return self.report.add(diag::WRONG_DIMENSION, &given.span, message, "2 expected", help);
            }
            for at in 0..2 {
                let (place, cells) = (given.value[at].value / units.scale(Dimension::LENGTH), size[axes[at]] as f64);
                if !(-1e-9 * cells..=cells * (1.0 + 1e-9)).contains(&place) {
                    let name = axis_name(axes[at]);
                    let message = format!("the corner lies {} cells along {name}, outside the domain", short(place));
                    let help = format!("the domain has 0 to {cells} cells along {name}");
                    return self.report.add(diag::OUTSIDE, &given.value[at].span, message, "outside", help);
                }
                corner[at] = place.clamp(0.0, cells);
            }
        }
        let [low, high] = corners;
        if (0..2).all(|at| high[at] - low[at] >= NARROWEST) {
            return Some(Some(corners));
        }
        let message = "the part of the plane from `from` to `to` has no extent";
        let help = "`from` is its lower left corner, `to` its upper right one".to_string();
        self.report.add(diag::BAD_VALUE, &given.span, message, "nothing to show", help)
    }
}
