//! A plot of the velocity along the centre lines, with published points beside it.

use super::axes::{Area, FAINT, INK, PAPER};
use super::canvas::{Align, Canvas, Pixel};
use super::colours::Colour;
use super::profile::Profile;
use crate::case::Case;

const PANEL: (f64, f64) = (640.0, 600.0);
const GAP: f64 = 150.0;
const LEFT: f64 = 140.0;
const TOP: f64 = 120.0;
const BOTTOM: f64 = 105.0;
const RIGHT: f64 = 40.0;

/// Colours of the components u, v, w.
const COLOURS: [Colour; 3] = [[0.16, 0.36, 0.68], [0.82, 0.34, 0.16], [0.18, 0.55, 0.35]];
const AXES: [&str; 3] = ["x", "y", "z"];
const COMPONENTS: [&str; 3] = ["u", "v", "w"];

/// Draws a panel for each profile.
pub fn draw(case: &Case, profiles: &[Profile]) -> Canvas {
    let count = profiles.len().max(1) as f64;
    let width = LEFT + count * PANEL.0 + (count - 1.0) * GAP + RIGHT;
    let mut canvas = Canvas::new(width as usize, (TOP + PANEL.1 + BOTTOM) as usize, PAPER);
    let re = case.scales.re.map_or(String::new(), |re| format!(" at Re {re:.0}"));
    canvas.text((LEFT, 50.0), &format!("{}{re}: centre lines", case.name), 34.0, Align::Left, INK, false);
    for (at, profile) in profiles.iter().enumerate() {
        let left = LEFT + at as f64 * (PANEL.0 + GAP);
        panel(&mut canvas, case, profile, (left, TOP));
    }
    canvas
}

fn panel(canvas: &mut Canvas, case: &Case, profile: &Profile, from: Pixel) {
    let curves = case.output.compare.iter().flat_map(|reference| &reference.curves);
    let curves: Vec<_> = curves.filter(|curve| curve.axis == profile.axis).collect();
    let computed = profile.points.iter().flat_map(|point| point.velocity[..case.dim].iter().copied());
    let published = curves.iter().flat_map(|curve| curve.points.iter().map(|(_, value)| *value));
    let (low, high) = computed
        .chain(published)
        .filter(|value| value.is_finite())
        .fold((0.0_f64, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let slack = (0.05 * (high - low)).max(1e-9);
    let area = Area { from, to: (from.0 + PANEL.0, from.1 + PANEL.1), x: (0.0, 1.0), y: (low - slack, high + slack) };

    let zero = vec![area.pixel(0.0, 0.0), area.pixel(1.0, 0.0)];
    canvas.lines(&[zero], 1.2, FAINT, 0.5);
    for (component, colour) in COLOURS.iter().enumerate().take(case.dim) {
        let line: Vec<Pixel> =
            profile.points.iter().map(|point| area.pixel(point.position, point.velocity[component])).collect();
        canvas.lines(&[line], 2.6, *colour, 1.0);
    }
    for curve in &curves {
        for (position, value) in &curve.points {
            let at = area.pixel(*position, *value);
            canvas.lines(&[vec![at]], 10.0, PAPER, 1.0);
            canvas.ring(at, 5.5, 2.0, COLOURS[curve.component]);
        }
    }
    area.frame(canvas);
    let axis = AXES[profile.axis];
    let unit = if case.scales.velocity > 0.0 { "velocity / U" } else { "velocity / (cells per step)" };
    area.label(canvas, &format!("{axis} / extent"), unit);
    legend(canvas, case, from, curves.first().map(|curve| curve.component));
}

/// One line above a panel: the components, and whose points these are.
fn legend(canvas: &mut Canvas, case: &Case, from: Pixel, compared: Option<usize>) {
    let (mut x, y) = (from.0 + 2.0, from.1 - 16.0);
    for (component, colour) in COLOURS.iter().enumerate().take(case.dim) {
        canvas.lines(&[vec![(x, y - 7.0), (x + 32.0, y - 7.0)]], 2.6, *colour, 1.0);
        x += 40.0 + canvas.text((x + 40.0, y), COMPONENTS[component], 22.0, Align::Left, INK, false) + 24.0;
    }
    if let (Some(reference), Some(component)) = (&case.output.compare, compared) {
        canvas.ring((x + 8.0, y - 7.0), 5.5, 2.0, COLOURS[component]);
        let text = format!("{}, {}", COMPONENTS[component], reference.title);
        canvas.text((x + 24.0, y), &text, 22.0, Align::Left, INK, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::example;

    #[test]
    fn a_plot_has_a_panel_for_each_profile() {
        let (case, snapshot) = example::cavity(16);
        let profiles: Vec<Profile> = (0..2).filter_map(|axis| Profile::new(&case, &snapshot, axis)).collect();
        let width = |profiles: &[Profile]| {
            let image = draw(&case, profiles).png();
            png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap().info().width
        };
        assert_eq!(width(&profiles) - width(&profiles[..1]), (PANEL.0 + GAP) as u32);
    }
}
