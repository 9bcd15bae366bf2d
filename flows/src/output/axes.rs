//! Frames, ticks and labels around an area of a canvas.

use super::canvas::{Align, Canvas, Pixel};
use super::colours::Colour;

/// Ink of frames and text.
pub(super) const INK: Colour = [0.13, 0.14, 0.18];
/// Ink of what should stand back.
pub(super) const FAINT: Colour = [0.45, 0.47, 0.52];
/// Paper.
pub(super) const PAPER: Colour = [1.0, 1.0, 1.0];

/// Height of the text at ticks, in pixels.
const TICK_TEXT: f64 = 22.0;
/// Height of the text that names an axis.
const LABEL_TEXT: f64 = 25.0;
const TICK: f64 = 7.0;

/// An area of a canvas with a range of values along both axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    /// Upper left corner, in pixels.
    pub(super) from: Pixel,
    /// Lower right corner.
    pub(super) to: Pixel,
    /// Values at the left and at the right edge.
    pub(super) x: (f64, f64),
    /// Values at the lower and at the upper edge.
    pub(super) y: (f64, f64),
}

impl Area {
    /// Where a point stands on the canvas.
    pub(super) fn pixel(&self, x: f64, y: f64) -> Pixel {
        let part = |value: f64, range: (f64, f64)| (value - range.0) / (range.1 - range.0);
        let (right, up) = (part(x, self.x), part(y, self.y));
        (self.from.0 + right * (self.to.0 - self.from.0), self.to.1 - up * (self.to.1 - self.from.1))
    }

    /// The point at a pixel.
    pub(super) fn point(&self, (x, y): Pixel) -> (f64, f64) {
        let right = (x - self.from.0) / (self.to.0 - self.from.0);
        let up = (self.to.1 - y) / (self.to.1 - self.from.1);
        (self.x.0 + right * (self.x.1 - self.x.0), self.y.0 + up * (self.y.1 - self.y.0))
    }

    /// Draws the frame.
    pub(super) fn frame(&self, canvas: &mut Canvas) {
        let (a, b) = (self.from, self.to);
        canvas.lines(&[vec![a, (b.0, a.1), b, (a.0, b.1), a]], 1.6, INK, 1.0);
    }

    /// Draws ticks and labels below and at the left.
    pub(super) fn label(&self, canvas: &mut Canvas, x: &str, y: &str) {
        self.label_below(canvas, x);
        let (rows, row_digits) = ticks(self.y, ((self.to.1 - self.from.1) / 90.0) as usize);
        let mut widest: f64 = 0.0;
        for value in rows {
            let at = self.pixel(self.x.0, value).1;
            canvas.lines(&[vec![(self.from.0 - TICK, at), (self.from.0, at)]], 1.6, INK, 1.0);
            let text = number(value, row_digits);
            let place = (self.from.0 - TICK - 5.0, at + 0.33 * TICK_TEXT);
            widest = widest.max(canvas.text(place, &text, TICK_TEXT, Align::Right, INK, false));
        }
        let left = self.from.0 - TICK - 5.0 - widest - 0.6 * LABEL_TEXT;
        canvas.text((left, 0.5 * (self.from.1 + self.to.1)), y, LABEL_TEXT, Align::Centre, INK, true);
    }

    /// Draws ticks and a label below.
    pub(super) fn label_below(&self, canvas: &mut Canvas, x: &str) {
        let (columns, column_digits) = ticks(self.x, ((self.to.0 - self.from.0) / 110.0) as usize);
        for value in columns {
            let (at, bottom) = (self.pixel(value, self.y.0).0, self.to.1);
            canvas.lines(&[vec![(at, bottom), (at, bottom + TICK)]], 1.6, INK, 1.0);
            let text = number(value, column_digits);
            canvas.text((at, bottom + TICK + 0.95 * TICK_TEXT), &text, TICK_TEXT, Align::Centre, INK, false);
        }
        let below = self.to.1 + TICK + 1.1 * TICK_TEXT + 1.15 * LABEL_TEXT;
        canvas.text((0.5 * (self.from.0 + self.to.0), below), x, LABEL_TEXT, Align::Centre, INK, false);
    }

    /// Draws ticks and a label at the right, as beside a colour bar.
    pub(super) fn label_right(&self, canvas: &mut Canvas, y: &str) {
        let (rows, digits) = ticks(self.y, ((self.to.1 - self.from.1) / 90.0) as usize);
        let mut widest: f64 = 0.0;
        for value in rows {
            let at = self.pixel(self.x.1, value).1;
            canvas.lines(&[vec![(self.to.0, at), (self.to.0 + TICK, at)]], 1.6, INK, 1.0);
            let place = (self.to.0 + TICK + 5.0, at + 0.33 * TICK_TEXT);
            widest = widest.max(canvas.text(place, &number(value, digits), TICK_TEXT, Align::Left, INK, false));
        }
        let right = self.to.0 + TICK + 5.0 + widest + 1.25 * LABEL_TEXT;
        canvas.text((right, 0.5 * (self.from.1 + self.to.1)), y, LABEL_TEXT, Align::Centre, INK, true);
    }
}

/// Round values inside a range, about as many as wanted, and the digits after the point that they need.
fn ticks(range: (f64, f64), wanted: usize) -> (Vec<f64>, usize) {
    let span = range.1 - range.0;
    if span.is_nan() || span <= 0.0 || !span.is_finite() {
        return (vec![range.0], 1);
    }
    let rough = span / wanted.clamp(2, 12) as f64;
    let decade = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade).into_iter().find(|step| *step >= 0.999 * rough);
    let step = step.unwrap_or(10.0 * decade);
    let digits = (-step.log10().floor()).max(0.0) as usize;
    let slack = 1e-9 * span;
    let first = ((range.0 - slack) / step).ceil() as i64;
    let last = ((range.1 + slack) / step).floor() as i64;
    ((first..=last).map(|at| at as f64 * step).collect(), digits)
}

fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(ticks((0.0, 1.0), 6), (vec![0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0], 1));
        assert_eq!(ticks((0.0, 0.1), 6).0.len(), 6);
        assert_eq!(ticks((-0.38, 0.37), 4), (vec![-0.2, 0.0, 0.2], 1));
        assert_eq!(ticks((0.0, 10.0), 5), (vec![0.0, 2.0, 4.0, 6.0, 8.0, 10.0], 0));
        assert_eq!(ticks((0.0, 0.0), 5).0, [0.0]);
    }

    #[test]
    fn a_negative_number_has_a_minus_sign() {
        assert_eq!(number(-0.2, 1), "\u{2212}0.2");
    }

    #[test]
    fn points_and_pixels_are_inverse() {
        let area = Area { from: (10.0, 20.0), to: (110.0, 220.0), x: (0.0, 2.0), y: (-1.0, 1.0) };
        assert_eq!(area.pixel(0.0, -1.0), (10.0, 220.0));
        let (x, y) = area.point(area.pixel(0.3, 0.4));
        assert!((x - 0.3).abs() < 1e-12 && (y - 0.4).abs() < 1e-12);
    }
}
