//! Pictures that a case asks for one by one.

use super::quantity::Quantity;
use super::slice::Slice;

/// Most pictures of a case.
pub(super) const MOST_PICTURES: usize = 32;
/// Pixels along the longer side of the field: the fewest, the most, and what there are unless a case says more.
pub(super) const FEWEST_PIXELS: usize = 200;
const MOST_PIXELS: usize = 8192;
pub(super) const PIXELS: usize = 1000;
/// Most lines of a picture along which its field is constant.
const MOST_CONTOURS: usize = 100;
/// Most characters of a title.
const LONGEST_TITLE: usize = 200;

/// What colours stand for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// From a least value to a largest: from dark to light.
    Sequential,
    /// Two that go apart from white in the middle.
    Diverging,
    /// Those of matplotlib, from dark to light.
    Viridis,
    /// Black over red to pale yellow.
    Inferno,
    /// Black over purple to pale yellow.
    Magma,
    /// Blue over purple to yellow.
    Plasma,
    /// Blue over grey to yellow, nearly the same to the colour-blind.
    Cividis,
    /// Of all hues, which tells most values apart and has no even steps.
    Turbo,
    /// ColorBrewer's RdBu, the other way round.
    BlueRed,
    /// ColorBrewer's PRGn.
    PurpleGreen,
    /// ColorBrewer's BrBG.
    BrownTeal,
}

impl Colours {
    /// All of them by the names that cases have for them.
    pub const ALL: [(&'static str, Colours); 11] = [
        ("sequential", Colours::Sequential),
        ("diverging", Colours::Diverging),
        ("viridis", Colours::Viridis),
        ("inferno", Colours::Inferno),
        ("magma", Colours::Magma),
        ("plasma", Colours::Plasma),
        ("cividis", Colours::Cividis),
        ("turbo", Colours::Turbo),
        ("blue_red", Colours::BlueRed),
        ("purple_green", Colours::PurpleGreen),
        ("brown_teal", Colours::BrownTeal),
    ];

    /// Those that suit a field, if a case names none.
    pub fn of(field: &Quantity) -> Colours {
        if field.is_signed() { Colours::Diverging } else { Colours::Sequential }
    }

    /// Those of that name.
    pub(super) fn find(name: &str) -> Option<Colours> {
        Colours::ALL.into_iter().find(|(known, _)| *known == name).map(|(_, colours)| colours)
    }
}

/// Most pictures a second of a film: faster, programs slow it down.
pub(super) const MOST_PER_SECOND: i64 = 50;

/// The file of something that is drawn, or the files of a sequence.
#[derive(Clone, Debug, PartialEq)]
pub struct Frames {
    /// The beginning of their names.
    pub name: String,
    /// Steps between them; one at the end alone where there is none.
    pub every: Option<u64>,
    /// Pictures a second of the film that they make, if they make one.
    pub film: Option<u32>,
}

/// Lines along which the field of a picture is constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Contours {
    /// So many, which divide the colour bar into equal parts.
    Between(usize),
    /// At these values, in units of the colour bar.
    At(Vec<f64>),
}

/// What is wrong with a picture: its key, why, and what to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Wrong {
    /// The key of `[[pictures]]`.
    pub key: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

/// A picture of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its file, and when there is one.
    pub frames: Frames,
    /// What stands above it, if that is not the name of the case.
    pub title: Option<String>,
    /// What is drawn; of vectors the magnitude.
    pub field: Quantity,
    /// The number of the statistics that it is a result of, if it is.
    pub statistics: Option<usize>,
    /// Values at the ends of the colour bar, in its units; else they follow from the field.
    pub range: Option<[f64; 2]>,
    /// Whether equal ratios are equal steps of colours, in the place of equal differences.
    pub log: bool,
    /// Its colours.
    pub colours: Colours,
    /// Lines along which the field is constant, if there are any.
    pub contours: Option<Contours>,
    /// Its plane in three dimensions, if that is not the middle one normal to z.
    pub slice: Option<Slice>,
    /// The corners of the part of the plane that is shown, if that is not the whole: along its axes, in cells.
    pub window: Option<[[f64; 2]; 2]>,
    /// Whether streamlines of the velocity are drawn over it.
    pub streamlines: bool,
    /// Whether the edges of blocks are drawn over it, on a refined grid.
    pub grid: bool,
    /// Pixels along the longer side of the field.
    pub size: usize,
}

impl Picture {
    /// The whole of a field on the middle plane, with all else as suits it.
    pub fn of(field: Quantity, frames: Frames) -> Picture {
        Picture {
            frames,
            title: None,
            statistics: None,
            range: None,
            log: false,
            colours: Colours::of(&field),
            contours: None,
            slice: None,
            window: None,
            streamlines: false,
            grid: true,
            size: PIXELS,
            field,
        }
    }

    /// What of it cannot be drawn, if there is something.
    pub fn check(&self) -> Result<(), Wrong> {
        let wrong = |key: &'static str, message: String, help: &str| Err(Wrong { key, message, help: help.into() });
        if !(FEWEST_PIXELS..=MOST_PIXELS).contains(&self.size) {
            let message = format!("there are {FEWEST_PIXELS} to {MOST_PIXELS} pixels along the longer side");
            return wrong("size", message, "for example 1000");
        }
        if self.title.as_ref().is_some_and(|title| title.chars().count() > LONGEST_TITLE) {
            return wrong("title", format!("a title has up to {LONGEST_TITLE} characters"), "shorten it");
        }
        if let Some([least, most]) = self.range {
            if !(least.is_finite() && most.is_finite() && least < most) {
                return wrong("range", "a range rises".into(), "the least value first, for example [-2, 2]");
            }
            if self.log && least <= 0.0 {
                return wrong("range", "logarithms are those of positive values".into(), "for example [0.001, 10]");
            }
        }
        if self.log && self.range.is_none() && self.field.is_signed() {
            let message = format!("`{}` may be negative, which has no logarithm", self.field.name());
            return wrong(
                "scale",
                message,
                "say from where to where the colours go: `range = [0.01, 10]`; what is less is drawn as below",
            );
        }
        let help = "a number of lines, or their values in units of the colour bar: 9 or [0.5, 1]";
        match &self.contours {
            Some(Contours::Between(count)) if !(1..=MOST_CONTOURS).contains(count) => {
                wrong("contours", format!("there are 1 to {MOST_CONTOURS} contour lines"), help)
            }
            Some(Contours::At(values)) if !(1..=MOST_CONTOURS).contains(&values.len()) => {
                wrong("contours", format!("there are 1 to {MOST_CONTOURS} contour lines"), help)
            }
            Some(Contours::At(values)) if !values.iter().all(|value| value.is_finite()) => {
                wrong("contours", "contour lines have finite values".into(), help)
            }
            _ => Ok(()),
        }
    }
}

impl Frames {
    /// Pictures a second of a film, where a case does not say.
    pub(super) const PER_SECOND: u32 = 20;

    /// One picture at the end.
    pub fn one(name: &str) -> Frames {
        Frames { name: name.to_string(), every: None, film: None }
    }

    /// Whether a file of these may be one of the others, where names differ by more than their case. The steps of two sequences do not
    /// matter: those of one name are in each other's way at some.
    pub(super) fn collide(&self, other: &Frames) -> bool {
        let [one, other] =
            [self, other].map(|frames| Frames { name: frames.name.to_ascii_lowercase(), ..frames.clone() });
        let (of_one, of_other) = (one.file_name(0), other.file_name(0));
        of_one == of_other || one.step(&of_other).is_some() || other.step(&of_one).is_some()
    }

    /// Name of the film.
    pub fn film_name(&self) -> String {
        format!("{}.gif", self.name)
    }

    /// The step of a file, if it is one of a sequence.
    pub fn step(&self, file_name: &str) -> Option<u64> {
        let step = file_name.strip_prefix(&self.name)?.strip_prefix('_')?.strip_suffix(".png")?;
        step.parse().ok().filter(|step| self.every.is_some() && self.file_name(*step) == file_name)
    }

    /// Whether there is one of a step on the way.
    pub fn wants(&self, step: u64) -> bool {
        step > 0 && self.every.is_some_and(|every| step.is_multiple_of(every))
    }

    /// Name of the file of a step.
    pub fn file_name(&self, step: u64) -> String {
        match self.every {
            Some(_) => format!("{}_{step:08}.png", self.name),
            None => format!("{}.png", self.name),
        }
    }
}
