//! Colour scales: a colour map over a range of values, linear or logarithmic, and its colour bar.

use super::axes::{Area, INK};
use super::canvas::Canvas;
use super::colours::{Colour, Map};
use crate::case::{Case, Quantity};

/// Gap between picture and colour bar, width of the bar, and its least height, in pixels.
const GAP: f64 = 40.0;
const WIDTH: f64 = 34.0;
pub(super) const LEAST_HEIGHT: f64 = 220.0;
/// Height of the arrows at its ends.
const ARROW: f64 = 22.0;
/// Tolerance, relative to the range, before a value counts as beyond an end.
const BEYOND: f64 = 1e-6;

/// A colour scale.
pub(super) struct Scale {
    pub(super) map: Map,
    /// Values at the ends of the colour map.
    pub(super) least: f64,
    pub(super) most: f64,
    /// Whether the scale is logarithmic; then both ends are positive.
    pub(super) log: bool,
}

impl Scale {
    /// A linear scale.
    pub(super) fn linear(map: Map, [least, most]: [f64; 2]) -> Scale {
        Scale { map, least, most, log: false }
    }

    /// Position of a value on the colour map: 0 to 1 between the ends.
    fn place(&self, value: f64) -> f64 {
        match self.log {
            false => (value - self.least) / (self.most - self.least).max(f64::MIN_POSITIVE),
            true if value > 0.0 => (value / self.least).ln() / (self.most / self.least).ln().max(f64::MIN_POSITIVE),
            true => f64::NEG_INFINITY,
        }
    }

    pub(super) fn colour(&self, value: f64) -> Colour {
        self.map.at(self.place(value))
    }

    /// `count` values that divide the scale into equal parts.
    pub(super) fn between(&self, count: usize) -> Vec<f64> {
        let at = |number: usize| (number + 1) as f64 / (count + 1) as f64;
        let value = |share: f64| match self.log {
            false => self.least + share * (self.most - self.least),
            true => self.least * (self.most / self.least).powf(share),
        };
        (0..count).map(at).map(value).collect()
    }

    /// Whether values in a range lie below the scale, and above it.
    fn exceeded(&self, [least, most]: [f64; 2]) -> [bool; 2] {
        [self.place(least) < -BEYOND, self.place(most) > 1.0 + BEYOND]
    }

    /// Draws the colour bar beside a picture in a unit, with arrows at the ends beyond which `shown` values lie, and
    /// with lines at the values of contour lines.
    pub(super) fn bar(
        &self,
        canvas: &mut Canvas,
        picture: Area,
        shown: [f64; 2],
        contours: &[f64],
        (unit, label): (f64, &str),
    ) {
        let along = |value: f64| if self.log { (value / unit).log10() } else { value / unit };
        let left = picture.to.0 + GAP;
        let bottom = picture.to.1.max(picture.from.1 + LEAST_HEIGHT);
        let y = (along(self.least), along(self.most));
        let bar = Area { from: (left, picture.from.1), to: (left + WIDTH, bottom), x: (0.0, 1.0), y };
        canvas.paint(bar.from, bar.to, |_, y| self.map.at((bottom - y) / (bottom - bar.from.1)));
        for value in contours.iter().filter(|value| (0.0..=1.0).contains(&self.place(**value))) {
            canvas.lines([[bar.pixel(0.0, along(*value)), bar.pixel(1.0, along(*value))]], 1.2, INK, 0.8);
        }
        let [below, above] = self.exceeded(shown);
        for (end, tip, place) in [(bar.to.1, ARROW, 0.0), (bar.from.1, -ARROW, 1.0)] {
            if (tip > 0.0 && below) || (tip < 0.0 && above) {
                let corners = [(bar.from.0, end), (bar.to.0, end), (0.5 * (bar.from.0 + bar.to.0), end + tip)];
                canvas.polygon(&corners, self.map.at(place), 1.0);
                canvas.lines([[corners[0], corners[2], corners[1]]], 1.6, INK, 1.0);
            }
        }
        bar.frame(canvas);
        bar.label_right(canvas, label, self.log);
    }
}

/// Unit of the colour bar of a field, in lattice units, and its label: SI units, or reference velocity and length if
/// there is a reference velocity.
pub(super) fn bar_unit(case: &Case, field: &Quantity) -> (f64, String) {
    let scales = &case.scales;
    let ([of_velocity, of_length], reference) = field.reference();
    let (unit, symbol) = match (case.units.si, scales.velocity > 0.0) {
        (true, _) => (1.0 / field.scale(&case.units), format!("({})", field.symbol(&case.units))),
        (false, true) => (scales.velocity.powi(of_velocity) * scales.length.powi(of_length), reference.to_string()),
        (false, false) => (1.0, String::new()),
    };
    let name = field.name().replace('_', " ");
    (unit, if symbol.is_empty() || symbol == "()" { name } else { format!("{name} / {symbol}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::axes::PAPER;

    fn scale(log: bool, least: f64, most: f64) -> Scale {
        Scale { log, ..Scale::linear(Map::sequential(), [least, most]) }
    }

    #[test]
    fn equal_ratios_are_equal_steps_of_logarithms() {
        let of = scale(true, 0.01, 100.0);
        let near = |value: f64, share: f64| {
            let (found, expected) = (of.colour(value), Map::sequential().at(share));
            found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5)
        };
        assert!(near(0.1, 0.25) && near(1.0, 0.5) && near(10.0, 0.75) && near(0.0, 0.0) && near(-3.0, 0.0));
        assert!(of.between(3).iter().zip([0.1, 1.0, 10.0]).all(|(a, b)| (a / b - 1.0).abs() < 1e-12));
        assert_eq!(scale(false, 0.0, 2.0).between(3), [0.5, 1.0, 1.5]);
    }

    #[test]
    fn ends_beyond_which_values_lie_have_arrows() {
        let drawn = |shown: [f64; 2], log: bool| {
            let mut canvas = Canvas::new(400, 400, PAPER);
            let picture = Area { from: (10.0, 60.0), to: (110.0, 340.0), x: (0.0, 1.0), y: (0.0, 1.0) };
            scale(log, 1.0, 2.0).bar(&mut canvas, picture, shown, &[], (1.0, "u"));
            let middle = (110.0 + GAP + 0.5 * WIDTH) as usize;
            [340 + 8, 60 - 8].map(|y| canvas.pixel(middle, y) != PAPER)
        };
        for log in [false, true] {
            assert_eq!(drawn([1.0, 2.0], log), [false, false]);
            assert_eq!(drawn([0.5, 2.0], log), [true, false]);
            assert_eq!(drawn([1.0, 2.5], log), [false, true]);
        }
        assert_eq!(drawn([-1.0, 1.5], true), [true, false]);
    }
}
