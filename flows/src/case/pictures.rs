//! Pictures that a case asks for one by one.

use super::{Quantity, Slice};

/// Most pictures of a case.
pub(super) const MOST_PICTURES: usize = 32;
/// Pixels along the longer side of the field: the fewest, the most, and what there are unless a case says more.
pub(super) const FEWEST_PIXELS: f64 = 200.0;
pub(super) const MOST_PIXELS: f64 = 8192.0;
pub(super) const PIXELS: f64 = 1000.0;

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

/// A picture of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    /// Its file, and when there is one.
    pub frames: Frames,
    /// What is drawn; of vectors the magnitude.
    pub field: Quantity,
    /// The number of the statistics that it is a result of, if it is.
    pub statistics: Option<usize>,
    /// Values at the ends of the colour bar, in its units; else they follow from the field.
    pub range: Option<[f64; 2]>,
    /// Its colours.
    pub colours: Colours,
    /// Its plane in three dimensions, if that is not the middle one normal to z.
    pub slice: Option<Slice>,
    /// The corners of the part of the plane that is shown, if that is not the whole: along its axes, in cells.
    pub window: Option<[[f64; 2]; 2]>,
    /// Whether streamlines of the velocity are drawn over it.
    pub streamlines: bool,
    /// Pixels along the longer side of the field.
    pub size: usize,
}

impl Frames {
    /// Pictures a second of a film, where a case does not say.
    pub(super) const PER_SECOND: u32 = 20;

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
