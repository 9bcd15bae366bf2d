//! Bar charts with published values beside the bars, and a legend with the sources of these values.

use super::axes::{Area, FAINT, INK, PAPER};
use super::canvas::{Align, Canvas};
use super::chart::COLOURS;

/// Distance between bars, in pixels.
const ROW: f64 = 36.0;
const BAR: f64 = 22.0;
const WIDTH: f64 = 900.0;
const TOP: f64 = 100.0;
/// Space for ticks and the axis label.
const BELOW: f64 = 100.0;
/// Space for the numbers on the right.
const NUMBERS: f64 = 60.0;
/// Space between edges, names and bars.
const MARGIN: f64 = 30.0;
const TEXT: f64 = 20.0;
const TITLE: f64 = 32.0;

/// A bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Published values, each with its index in the legend.
    pub others: Vec<(usize, f64)>,
}

/// Draws bars from zero, the first on top, as a PNG file. `ours` is the legend of the bars, `others` that of the rings.
/// The range extends at least to 1.
pub fn draw(title: &str, axis: &str, ours: &str, others: &[String], bars: &[Bar]) -> Vec<u8> {
    let values = bars.iter().flat_map(|bar| std::iter::once(bar.value).chain(bar.others.iter().map(|other| other.1)));
    let most = values.filter(|value| value.is_finite()).fold(1.0, f64::max);
    let names = bars.iter().map(|bar| Canvas::length(&bar.name, TEXT)).fold(0.0, f64::max);
    let legend = others.iter().map(|other| Canvas::length(other, TEXT)).fold(Canvas::length(ours, TEXT), f64::max);
    let left = MARGIN + names + MARGIN;
    let width =
        (left + WIDTH + NUMBERS).max(MARGIN + 40.0 + legend).max(MARGIN + Canvas::length(title, TITLE)) + MARGIN;
    let bottom = TOP + ROW * bars.len().max(1) as f64 + 10.0;
    let height = bottom + BELOW + ROW * (1 + others.len()) as f64 + MARGIN;
    let mut canvas = Canvas::new(width as usize, height as usize, PAPER);
    canvas.text((MARGIN, 55.0), title, TITLE, Align::Left, INK, false);
    let area = Area { from: (left, TOP), to: (left + WIDTH, bottom), x: (0.0, 1.05 * most), y: (0.0, 1.0) };
    canvas.lines([[area.pixel(1.0, 0.0), area.pixel(1.0, 1.0)]], 1.2, FAINT, 0.5);
    for (at, bar) in bars.iter().enumerate() {
        let middle = TOP + 5.0 + ROW * (at as f64 + 0.5);
        canvas.text((left - 12.0, middle + 0.35 * TEXT), &bar.name, TEXT, Align::Right, INK, false);
        if bar.value.is_finite() {
            let end = area.pixel(bar.value.max(0.0), 0.0).0;
            block(&mut canvas, left, end, middle);
            let place = (area.to.0 + 12.0, middle + 0.35 * TEXT);
            canvas.text(place, &format!("{:.2}", bar.value), TEXT, Align::Left, INK, false);
        }
        for (other, value) in bar.others.iter().filter(|other| other.1.is_finite()) {
            ring(&mut canvas, (area.pixel(*value, 0.0).0, middle), *other);
        }
    }
    area.frame(&mut canvas);
    area.label_below(&mut canvas, axis);
    let line = |at: usize| bottom + BELOW + ROW * (at as f64 + 0.5);
    block(&mut canvas, MARGIN, MARGIN + 28.0, line(0));
    canvas.text((MARGIN + 40.0, line(0) + 0.35 * TEXT), ours, TEXT, Align::Left, INK, false);
    for (at, other) in others.iter().enumerate() {
        ring(&mut canvas, (MARGIN + 14.0, line(1 + at)), at);
        canvas.text((MARGIN + 40.0, line(1 + at) + 0.35 * TEXT), other, TEXT, Align::Left, INK, false);
    }
    canvas.png()
}

fn block(canvas: &mut Canvas, from: f64, to: f64, middle: f64) {
    canvas.paint((from, middle - 0.5 * BAR), (to, middle + 0.5 * BAR), |_, _| COLOURS[0]);
}

/// The ring for an index of the legend. When colours repeat, rings have a dot.
fn ring(canvas: &mut Canvas, at: (f64, f64), place: usize) {
    let colours = &COLOURS[1..];
    canvas.lines([[at]], 14.0, PAPER, 1.0);
    canvas.ring(at, 7.0, 2.8, colours[place % colours.len()]);
    if place >= colours.len() {
        canvas.lines([[at]], 5.0, colours[place % colours.len()], 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(image: Vec<u8>) -> (u32, u32) {
        let reader = png::Decoder::new(std::io::Cursor::new(image)).read_info().unwrap();
        (reader.info().width, reader.info().height)
    }

    #[test]
    fn every_bar_and_every_source_has_its_line() {
        let bar = || Bar { name: "a".into(), value: 0.5, others: vec![(0, 0.7), (9, 1.4)] };
        let one = size(draw("t", "x", "ours", &[], &[bar()])).1;
        assert_eq!(size(draw("t", "x", "ours", &[], &[bar(), bar()])).1 - one, ROW as u32);
        assert_eq!(size(draw("t", "x", "ours", &["other".into()], &[bar()])).1 - one, ROW as u32);
    }

    #[test]
    fn a_long_source_makes_the_picture_wider() {
        let of = |source: &str| size(draw("t", "x", "ours", &[source.into()], &[])).0;
        assert!(of(&"long ".repeat(60)) > of("short"));
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let bar = Bar { name: "a".into(), value: f64::NAN, others: vec![(0, f64::INFINITY)] };
        draw("t", "x", "ours", &["other".into()], &[bar]);
    }
}
