//! Pictures against the method and the domain.

use super::Resolver;
use crate::case::diag::{self, Spanned};
use crate::case::pictures::{FEWEST_PIXELS, MOST_PIXELS, PIXELS};
use crate::case::raw::RawPicture;
use crate::case::units::Units;
use crate::case::{Colours, Picture};

/// Names of other pictures.
const TAKEN: [&str; 3] = ["profiles", "series", "forces"];

impl Resolver<'_> {
    pub(super) fn pictures(&mut self, size: [usize; 3], units: &Units) -> Option<Vec<Picture>> {
        let raw = self.raw;
        let pictures: Vec<_> = raw.pictures.iter().map(|given| self.picture(given, size, units)).collect();
        let pictures: Vec<Picture> = pictures.into_iter().collect::<Option<_>>()?;
        let mut known: Vec<String> = TAKEN.iter().map(|name| format!("{name}.png")).collect();
        if raw.output.picture {
            let scalars = self.manifest.fields.iter().filter(|field| field.components == 1);
            let names = scalars.map(|field| &field.name[..]).chain(["velocity", "vorticity"]);
            known.extend(names.map(|name| format!("{name}.png")));
        }
        for (given, picture) in raw.pictures.iter().zip(&pictures) {
            // The steps of files of a sequence do not matter: sequences of one name are in each other's way at some of them.
            let file = picture.file_name(0);
            if known.iter().any(|known| known.eq_ignore_ascii_case(&file)) {
                let span = given.value.name.as_ref().map_or(&given.span, |name| &name.span);
                let message = format!("two pictures are called `{}`", picture.name);
                let help = "give one of them another `name`".to_string();
                return self.report.add(diag::CONFLICT, span, message, "taken", help);
            }
            known.push(file);
        }
        Some(pictures)
    }

    fn picture(&mut self, given: &Spanned<RawPicture>, size: [usize; 3], units: &Units) -> Option<Picture> {
        let raw = &given.value;
        let field = self.quantity(&raw.field)?;
        let slice = raw.slice.as_ref().and_then(|slice| self.plane(slice, size, units));
        let pixels = raw.size.as_ref().map_or(PIXELS, |size| size.value);
        if let Some(size) = raw.size.as_ref().filter(|_| !(FEWEST_PIXELS..=MOST_PIXELS).contains(&pixels)) {
            let message = format!("a picture has {FEWEST_PIXELS} to {MOST_PIXELS} pixels along its longer side");
            return self.report.add(diag::BAD_VALUE, &size.span, message, "out of range", None);
        }
        let diverging = match &raw.colours {
            Some(word) => word.value == "diverging",
            None => field.is_signed(),
        };
        let every = match &raw.every {
            Some(every) => Some(self.interval(every, units)?),
            None => None,
        };
        Some(Picture {
            name: raw.name.as_ref().map_or(field.name(), |name| &name.value).to_string(),
            range: raw.range,
            colours: if diverging { Colours::Diverging } else { Colours::Sequential },
            slice,
            size: pixels as usize,
            every,
            field,
        })
    }
}
