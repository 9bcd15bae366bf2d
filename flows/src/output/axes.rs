//! Frames, ticks and labels around a plot area.

use super::canvas::{Align, Canvas, Pixel};
use super::colours::Colour;

/// Colour of frames and text.
pub(super) const INK: Colour = [0.13, 0.14, 0.18];
/// Colour of secondary elements.
pub(super) const FAINT: Colour = [0.45, 0.47, 0.52];
/// Background colour.
pub(super) const PAPER: Colour = [1.0, 1.0, 1.0];

/// Height of tick labels, in pixels.
const TICK_TEXT: f64 = 22.0;
/// Height of axis labels, in pixels.
const LABEL_TEXT: f64 = 25.0;
const TICK: f64 = 7.0;
/// Distance between ticks in pixels: the target, and the least for which a third tick is inserted. Along x, where
/// numbers stand side by side, and along y.
const ALONG_X: [f64; 2] = [110.0, 75.0];
const ALONG_Y: [f64; 2] = [90.0, 32.0];

/// Range of decimal exponents of the largest value in which numbers are written without a power of ten.
const PLAIN: std::ops::RangeInclusive<i32> = -3..=4;
/// If the largest value exceeds this number of tick steps, labels are relative to an offset.
const SAME: f64 = 2e4;

/// A plot area on a canvas, with a range of values along both axes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Area {
    /// Upper left corner, in pixels.
    pub(super) from: Pixel,
    /// Lower right corner, in pixels.
    pub(super) to: Pixel,
    /// Values at the left and at the right edge.
    pub(super) x: (f64, f64),
    /// Values at the lower and at the upper edge.
    pub(super) y: (f64, f64),
}

impl Area {
    /// Position of a point on the canvas.
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
        canvas.lines([[a, (b.0, a.1), b, (a.0, b.1), a]], 1.6, INK, 1.0);
    }

    /// Draws ticks and labels below and on the left.
    pub(super) fn label(&self, canvas: &mut Canvas, x: &str, y: &str) {
        self.label_below(canvas, x);
        let ticks = Ticks::new(self.y, self.to.1 - self.from.1, ALONG_Y);
        let mut widest: f64 = 0.0;
        for (value, text) in ticks.labels() {
            let at = self.pixel(self.x.0, value).1;
            canvas.lines([[(self.from.0 - TICK, at), (self.from.0, at)]], 1.6, INK, 1.0);
            let place = (self.from.0 - TICK - 5.0, at + 0.33 * TICK_TEXT);
            widest = widest.max(canvas.text(place, &text, TICK_TEXT, Align::Right, INK, false));
        }
        let place = (self.from.0 - TICK - 5.0, self.from.1 - 16.0);
        canvas.text(place, &ticks.factor(), TICK_TEXT, Align::Right, INK, false);
        let left = self.from.0 - TICK - 5.0 - widest - 0.6 * LABEL_TEXT;
        canvas.text((left, 0.5 * (self.from.1 + self.to.1)), y, LABEL_TEXT, Align::Centre, INK, true);
    }

    /// Draws ticks and a label below.
    pub(super) fn label_below(&self, canvas: &mut Canvas, x: &str) {
        let ticks = Ticks::new(self.x, self.to.0 - self.from.0, ALONG_X);
        for (value, text) in ticks.labels() {
            let (at, bottom) = (self.pixel(value, self.y.0).0, self.to.1);
            canvas.lines([[(at, bottom), (at, bottom + TICK)]], 1.6, INK, 1.0);
            canvas.text((at, bottom + TICK + 0.95 * TICK_TEXT), &text, TICK_TEXT, Align::Centre, INK, false);
        }
        let below = self.to.1 + TICK + 1.1 * TICK_TEXT + 1.15 * LABEL_TEXT;
        canvas.text((0.5 * (self.from.0 + self.to.0), below), x, LABEL_TEXT, Align::Centre, INK, false);
        canvas.text((self.to.0, below), &ticks.factor(), TICK_TEXT, Align::Right, INK, false);
    }

    /// Draws ticks and a label on the right, as beside a colour bar. `log`: values along y are decimal logarithms.
    pub(super) fn label_right(&self, canvas: &mut Canvas, y: &str, log: bool) {
        let length = self.to.1 - self.from.1;
        let ticks = Ticks::new(self.y, length, ALONG_Y);
        let labels = if log { decades(self.y, length, ALONG_Y) } else { ticks.labels() };
        let mut widest: f64 = 0.0;
        for (value, text) in labels {
            let at = self.pixel(self.x.1, value).1;
            canvas.lines([[(self.to.0, at), (self.to.0 + TICK, at)]], 1.6, INK, 1.0);
            let place = (self.to.0 + TICK + 5.0, at + 0.33 * TICK_TEXT);
            widest = widest.max(canvas.text(place, &text, TICK_TEXT, Align::Left, INK, false));
        }
        if !log {
            let place = (self.to.0 + TICK + 5.0, self.from.1 - 16.0);
            canvas.text(place, &ticks.factor(), TICK_TEXT, Align::Left, INK, false);
        }
        let right = self.to.0 + TICK + 5.0 + widest + 1.25 * LABEL_TEXT;
        canvas.text((right, 0.5 * (self.from.1 + self.to.1)), y, LABEL_TEXT, Align::Centre, INK, true);
    }
}

/// Tick values inside a range, and their format: value = label times power of ten, plus offset.
#[derive(Debug, PartialEq)]
struct Ticks {
    values: Vec<f64>,
    /// Digits after the decimal point.
    digits: usize,
    /// The power of ten, if numbers would be very small or very large.
    exponent: i32,
    /// The offset, if all values are nearly the same.
    offset: f64,
}

/// The next smaller step among 1, 2, 5, 10, ...
fn finer(step: f64) -> f64 {
    let decade = 10f64.powf((step.log10() - 1e-9).floor());
    [5.0, 2.0, 1.0].map(|step| step * decade).into_iter().find(|finer| *finer < 0.999 * step).unwrap_or(0.5 * decade)
}

impl Ticks {
    /// Ticks for a range that is `length` pixels long, about `apart` pixels apart; closer, but at least `least` pixels
    /// apart, if there would be fewer than three.
    fn new(range: (f64, f64), length: f64, [apart, least]: [f64; 2]) -> Ticks {
        let span = range.1 - range.0;
        if span.is_nan() || span <= 0.0 || !span.is_finite() {
            return Ticks { values: vec![range.0], digits: 1, exponent: 0, offset: 0.0 };
        }
        let rough = span / (length / apart).floor().clamp(2.0, 12.0);
        let decade = 10f64.powf(rough.log10().floor());
        let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
        let mut step = steps.into_iter().find(|step| *step >= 0.999 * rough).unwrap_or(10.0 * decade);
        while inside(range, step).len() < 3 && finer(step) / span * length >= least {
            step = finer(step);
        }
        let largest = range.0.abs().max(range.1.abs());
        let offset = if largest / step > SAME { roundest(range) } else { 0.0 };
        let largest = if offset == 0.0 { largest } else { span };
        let power = (largest.log10() + 1e-9).floor() as i32;
        let exponent = if PLAIN.contains(&power) { 0 } else { power };
        let digits = (exponent as f64 - (step.log10() + 1e-9).floor()).max(0.0) as usize;
        Ticks { values: inside(range, step), digits, exponent, offset }
    }

    /// Values and their labels.
    fn labels(&self) -> Vec<(f64, String)> {
        let text = |value: f64| number((value - self.offset) / 10f64.powi(self.exponent), self.digits);
        self.values.iter().map(|value| (*value, text(*value))).collect()
    }

    /// The common factor and offset of the labels; empty if the labels are the values.
    fn factor(&self) -> String {
        let factor = if self.exponent == 0 { String::new() } else { format!("×{}", power_of_ten(self.exponent)) };
        match self.offset {
            0.0 => factor,
            offset => format!("{factor} {} {}", if offset < 0.0 { '\u{2212}' } else { '+' }, offset.abs()),
        }
    }
}

/// The multiples of a step inside a range.
fn inside(range: (f64, f64), step: f64) -> Vec<f64> {
    let slack = 1e-9 * (range.1 - range.0);
    let (first, last) = (((range.0 - slack) / step).ceil(), ((range.1 + slack) / step).floor());
    (0..=(last - first).max(-1.0) as i64).take_while(|_| first <= last).map(|at| (first + at as f64) * step).collect()
}

/// The value inside a range with the fewest digits.
fn roundest(range: (f64, f64)) -> f64 {
    let largest = range.0.abs().max(range.1.abs()).log10().floor() as i32;
    let round = |power: i32| {
        let decade = 10f64.powi(power);
        let value = (range.0 / decade).ceil() * decade;
        // Remove digits that come from round-off.
        format!("{value:.12e}").parse().unwrap_or(value)
    };
    (0..16).map(|digit| round(largest - digit)).find(|value| *value <= range.1).unwrap_or(range.0)
}

/// Powers of ten inside a range of decimal logarithms, with their labels; also 2 and 5 times these if there are few.
fn decades(range: (f64, f64), length: f64, [_, least]: [f64; 2]) -> Vec<(f64, String)> {
    let powers = range.0.floor() as i32..=range.1.ceil() as i32;
    let label = |factor: f64, power: i32| match (PLAIN.contains(&power), factor == 1.0) {
        (true, _) => number(factor * 10f64.powi(power), (-power).max(0) as usize),
        (false, true) => power_of_ten(power),
        (false, false) => format!("{factor}×{}", power_of_ten(power)),
    };
    let of = |factors: &'static [f64]| {
        let all = powers.clone().flat_map(move |power| factors.iter().map(move |factor| (*factor, power)));
        let all = all.map(|(factor, power)| (f64::from(power) + factor.log10(), label(factor, power)));
        all.filter(|(at, _)| (range.0 - 1e-9..=range.1 + 1e-9).contains(at)).collect::<Vec<_>>()
    };
    let (few, many) = (of(&[1.0]), of(&[1.0, 2.0, 5.0]));
    // The distance between 5 and 10 is the shortest.
    let room = length * 2f64.log10() / (range.1 - range.0) >= least;
    let every = (few.len() as f64 * least / length).ceil().max(1.0) as usize;
    if few.len() < 3 && room { many } else { few.into_iter().step_by(every).collect() }
}

/// `10⁻⁹`.
fn power_of_ten(power: i32) -> String {
    let raised = |digit: char| match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        digit => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    };
    format!("10{}", power.to_string().chars().map(raised).collect::<String>())
}

fn number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    // A value that rounds to zero has no sign.
    let text = if text.trim_start_matches(['-', '0', '.']).is_empty() { text.trim_start_matches('-') } else { &text };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticks(range: (f64, f64), length: f64) -> Ticks {
        Ticks::new(range, length, [90.0, 32.0])
    }

    fn texts(range: (f64, f64), length: f64) -> Vec<String> {
        ticks(range, length).labels().into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(texts((0.0, 1.0), 540.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(ticks((0.0, 0.1), 540.0).values.len(), 6);
        assert_eq!(texts((-0.38, 0.37), 360.0), ["\u{2212}0.2", "0.0", "0.2"]);
        assert_eq!(texts((0.0, 10.0), 450.0), ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(ticks((0.0, 0.0), 450.0).values, [0.0]);
    }

    #[test]
    fn a_short_axis_has_three_ticks_where_there_is_room() {
        for range in [(0.12, 0.19), (0.0, 1.0), (-3.4, 2.1), (17.0, 45.0)] {
            let values = ticks(range, 200.0).values;
            assert!((3..=6).contains(&values.len()), "{range:?}: {values:?}");
        }
    }

    #[test]
    fn numbers_far_from_one_have_a_power_of_ten_above_them() {
        let small = ticks((0.0, 1.05e-9), 600.0);
        assert_eq!((small.factor().as_str(), small.labels()[1].1.as_str()), ("×10⁻⁹", "0.2"));
        let large = ticks((0.0, 2e6), 300.0);
        assert_eq!((large.factor().as_str(), large.labels()[1].1.as_str()), ("×10⁶", "1"));
        assert_eq!(ticks((0.0, 0.004), 600.0).factor(), "");
        assert!(texts((-3.2e-17, 4.1e-17), 600.0).iter().all(|text| text.chars().count() <= 4));
    }

    #[test]
    fn values_that_are_nearly_the_same_have_an_offset() {
        let near = ticks((0.999_999_5, 1.000_001), 300.0);
        assert_eq!(near.factor(), "×10⁻⁶ + 1");
        assert_eq!(
            near.labels().iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>(),
            ["\u{2212}0.5", "0.0", "0.5", "1.0"]
        );
    }

    #[test]
    fn logarithms_have_powers_of_ten_or_their_halves() {
        let texts = |range| decades(range, 300.0, ALONG_Y).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(texts((-6.0, -2.0)), ["10⁻⁶", "10⁻⁵", "10⁻⁴", "0.001", "0.01"]);
        assert_eq!(texts((0.0, 1.0)), ["1", "2", "5", "10"]);
        assert!(texts((-200.0, 100.0)).len() <= 10);
    }

    #[test]
    fn a_negative_number_has_a_minus_sign_and_zero_has_none() {
        assert_eq!((number(-0.2, 1), number(-1e-18, 1)), ("\u{2212}0.2".to_string(), "0.0".to_string()));
    }

    #[test]
    fn points_and_pixels_are_inverse() {
        let area = Area { from: (10.0, 20.0), to: (110.0, 220.0), x: (0.0, 2.0), y: (-1.0, 1.0) };
        assert_eq!(area.pixel(0.0, -1.0), (10.0, 220.0));
        let (x, y) = area.point(area.pixel(0.3, 0.4));
        assert!((x - 0.3).abs() < 1e-12 && (y - 0.4).abs() < 1e-12);
    }
}
