//! Views that a case asks for: surfaces and streamlines in three dimensions, seen from a direction.

use super::pictures::{Colours, Frames};
use super::quantity::Quantity;

/// Most views of a case.
pub(super) const MOST_VIEWS: usize = 32;
/// Most pixels along the longer side of a view, which is drawn with several samples to a pixel.
pub(super) const MOST_PIXELS: usize = 4096;
/// Most seeds of the streamlines of a view.
pub(super) const MOST_SEEDS: usize = 500;
/// Direction from which a view looks unless a case says more.
pub(super) const FROM: [f64; 3] = [0.5, -1.0, 0.6];

/// A view of a surface on which a field has a value, of streamlines, or of both.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Its file, and when there is one.
    pub frames: Frames,
    /// The field, of vectors the magnitude, and its value on the surface, in units of the colour bar that a picture of it has.
    pub isosurface: Option<(Quantity, f64)>,
    /// Points through which streamlines go, in cells of the coarsest level.
    pub seeds: Vec<[f64; 3]>,
    /// The field whose values are the colours of the surface and the streamlines, if these have not one colour everywhere.
    pub colour: Option<Quantity>,
    /// Values at the ends of the colour bar, in its units; else they follow from the field on what is drawn.
    pub range: Option<[f64; 2]>,
    /// Its colours.
    pub colours: Colours,
    /// The direction from which it is looked at, of length 1.
    pub from: [f64; 3],
    /// Pixels along the longer side of what is seen of the domain.
    pub size: usize,
}
