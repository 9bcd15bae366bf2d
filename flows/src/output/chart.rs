//! Charts with panels of lines and points, side by side.

use super::axes::{Area, FAINT, INK, PAPER};
use super::canvas::{Align, Canvas, Pixel};
use super::colours::Colour;

const PANEL: (f64, f64) = (640.0, 600.0);
const GAP: f64 = 150.0;
const LEFT: f64 = 140.0;
const TOP: f64 = 120.0;
const BOTTOM: f64 = 105.0;
const RIGHT: f64 = 40.0;
/// Up to this number of curves the legend is above the panel; otherwise it is a column of width `COLUMN` on the right.
const ABOVE: usize = 4;
const COLUMN: f64 = 420.0;
const LINE: f64 = 32.0;
/// Number of points above which rings are small.
const MANY: usize = 40;

/// Distinguishable colours for curves.
pub(super) const COLOURS: [Colour; 8] = [
    [0.16, 0.36, 0.68],
    [0.82, 0.34, 0.16],
    [0.18, 0.55, 0.35],
    [0.55, 0.29, 0.62],
    [0.80, 0.62, 0.10],
    [0.20, 0.62, 0.70],
    [0.78, 0.32, 0.52],
    [0.42, 0.40, 0.36],
];

/// A chart.
pub(super) struct Chart {
    pub(super) title: String,
    pub(super) panels: Vec<Panel>,
}

/// A panel: labels of its axes, the range along x, and curves. The range along y contains all curves and zero.
pub(super) struct Panel {
    pub(super) x: String,
    pub(super) y: String,
    pub(super) range: (f64, f64),
    pub(super) curves: Vec<Curve>,
}

/// A curve and its name in the legend.
pub(super) struct Curve {
    pub(super) name: String,
    pub(super) colour: Colour,
    pub(super) style: Style,
    pub(super) points: Vec<(f64, f64)>,
}

/// How a curve is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Style {
    /// A line, for computed values.
    Line,
    /// Rings, for published values.
    Rings,
}

impl Chart {
    pub(super) fn draw(&self) -> Canvas {
        let count = self.panels.len().max(1) as f64;
        let column = if self.panels.iter().any(Panel::has_column) { COLUMN } else { 0.0 };
        let step = PANEL.0 + column + GAP;
        let width = LEFT + count * step - GAP + RIGHT;
        let mut canvas = Canvas::new(width as usize, (TOP + PANEL.1 + BOTTOM) as usize, PAPER);
        canvas.text((LEFT, 50.0), &self.title, 34.0, Align::Left, INK, false);
        for (at, panel) in self.panels.iter().enumerate() {
            panel.draw(&mut canvas, (LEFT + at as f64 * step, TOP));
        }
        canvas
    }
}

/// A chart of one curve as a PNG file. The range along y starts at zero.
pub fn curve(title: &str, x: &str, y: &str, name: &str, points: &[(f64, f64)]) -> Vec<u8> {
    let positions = || points.iter().map(|point| point.0);
    let (low, high) = (positions().fold(f64::MAX, f64::min), positions().fold(f64::MIN, f64::max));
    let range = if low < high { (low, high) } else { (0.0, 1.0) };
    let line = Curve { name: name.into(), colour: COLOURS[0], style: Style::Line, points: points.to_vec() };
    let panel = Panel { x: x.into(), y: y.into(), range, curves: vec![line] };
    Chart { title: title.into(), panels: vec![panel] }.draw().png()
}

/// A chart of a line through the origin and of groups of points as a PNG file. Both ranges start at zero.
pub fn slope(title: &str, x: &str, y: &str, line: (&str, f64), groups: &[(String, Vec<(f64, f64)>)]) -> Vec<u8> {
    let right = groups.iter().flat_map(|(_, points)| points.iter().map(|point| point.0)).fold(0.0, f64::max);
    let right = if right > 0.0 { 1.1 * right } else { 1.0 };
    let (name, slope) = line;
    let points = vec![(0.0, 0.0), (right, right * slope)];
    let line = Curve { name: name.into(), colour: INK, style: Style::Line, points };
    let groups = groups.iter().enumerate().map(|(at, (name, points))| Curve {
        name: name.clone(),
        colour: COLOURS[at % COLOURS.len()],
        style: Style::Rings,
        points: points.clone(),
    });
    let curves = std::iter::once(line).chain(groups).collect();
    let panel = Panel { x: x.into(), y: y.into(), range: (0.0, right), curves };
    Chart { title: title.into(), panels: vec![panel] }.draw().png()
}

impl Panel {
    fn has_column(&self) -> bool {
        self.curves.len() > ABOVE
    }

    fn draw(&self, canvas: &mut Canvas, from: Pixel) {
        let values = self.curves.iter().flat_map(|curve| curve.points.iter().map(|(_, value)| *value));
        let (low, high) = values
            .filter(|value| value.is_finite())
            .fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
        let slack = 0.05 * (high - low);
        // If all values are zero, they give no scale.
        let y = if slack == 0.0 { (-1.0, 1.0) } else { (if low < 0.0 { low - slack } else { 0.0 }, high + slack) };
        let area = Area { from, to: (from.0 + PANEL.0, from.1 + PANEL.1), x: self.range, y };

        canvas.lines([[area.pixel(self.range.0, 0.0), area.pixel(self.range.1, 0.0)]], 1.2, FAINT, 0.5);
        let seen = |(x, y): &&(f64, f64)| y.is_finite() && (self.range.0..=self.range.1).contains(x);
        for curve in &self.curves {
            let line: Vec<Pixel> = curve.points.iter().filter(seen).map(|(x, y)| area.pixel(*x, *y)).collect();
            match curve.style {
                Style::Line => canvas.lines([line], 2.6, curve.colour, 1.0),
                Style::Rings => {
                    let radius = if line.len() > MANY { 3.0 } else { 5.5 };
                    for at in line {
                        canvas.lines([[at]], 2.0 * radius - 1.0, PAPER, 1.0);
                        canvas.ring(at, radius, 0.36 * radius, curve.colour);
                    }
                }
            }
        }
        area.frame(canvas);
        area.label(canvas, &self.x, &self.y);
        self.legend(canvas, from);
    }

    /// Draws the legend: one line above the panel, or a column on the right.
    fn legend(&self, canvas: &mut Canvas, from: Pixel) {
        let (mut x, mut y) = match self.has_column() {
            true => (from.0 + PANEL.0 + 24.0, from.1 + 24.0),
            false => (from.0 + 2.0, from.1 - 16.0),
        };
        for curve in &self.curves {
            let mark = match curve.style {
                Style::Line => {
                    canvas.lines([[(x, y - 7.0), (x + 32.0, y - 7.0)]], 2.6, curve.colour, 1.0);
                    40.0
                }
                Style::Rings => {
                    canvas.ring((x + 8.0, y - 7.0), 5.5, 2.0, curve.colour);
                    24.0
                }
            };
            let length = canvas.text((x + mark, y), &curve.name, 22.0, Align::Left, INK, false);
            if self.has_column() {
                y += LINE;
            } else {
                x += mark + length + 24.0;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chart_is_as_wide_as_its_panels() {
        let panel = || Panel { x: "x".into(), y: "y".into(), range: (0.0, 1.0), curves: vec![] };
        let width = |panels: Vec<Panel>| {
            let image = Chart { title: String::new(), panels }.draw().png();
            png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap().info().width
        };
        assert_eq!(width(vec![panel(), panel()]) - width(vec![panel()]), (PANEL.0 + GAP) as u32);
    }

    #[test]
    fn many_names_stand_in_a_column_at_the_right() {
        let size = |groups: usize| {
            let groups: Vec<_> = (0..groups).map(|at| (format!("group {at}"), vec![(1.0, 1.0)])).collect();
            let image = slope("t", "x", "y", ("line", 2.0), &groups);
            png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap().info().width
        };
        assert_eq!(size(ABOVE) - size(ABOVE - 1), COLUMN as u32);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let points = vec![(0.0, 1.0), (0.5, f64::NAN), (1.0, f64::INFINITY)];
        for style in [Style::Line, Style::Rings] {
            let curve = Curve { name: "a".into(), colour: COLOURS[0], style, points: points.clone() };
            let panel = Panel { x: "x".into(), y: "y".into(), range: (0.0, 1.0), curves: vec![curve] };
            Chart { title: "t".into(), panels: vec![panel] }.draw();
        }
    }
}
