//! A small drawing surface: areas, anti-aliased lines, markers and text, saved as PNG.
//!
//! Positions are in pixels, x to the right and y down; the centre of the first pixel is at (1/2, 1/2). Lines are drawn
//! through coverage masks, so that a line that crosses itself is not darker there.

use std::sync::OnceLock;

use ab_glyph::{Font, FontRef, PxScale, ScaleFont};

use super::colours::Colour;

/// A point in pixels.
pub(super) type Pixel = (f64, f64);

/// Alignment of a text relative to its position.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Align {
    Left,
    Centre,
    Right,
}

/// An image.
pub struct Canvas {
    width: usize,
    height: usize,
    pixels: Vec<Colour>,
}

/// Coverage of each pixel in a rectangle, 0 to 1.
struct Mask {
    left: usize,
    top: usize,
    width: usize,
    cover: Vec<f32>,
}

impl Canvas {
    pub(super) fn new(width: usize, height: usize, background: Colour) -> Canvas {
        Canvas { width, height, pixels: vec![background; width * height] }
    }

    /// Images one below the other, on this background.
    pub(super) fn below_each_other(all: &[Canvas], background: Colour) -> Canvas {
        let width = all.iter().map(|one| one.width).max().unwrap_or(1);
        let mut whole = Canvas::new(width, all.iter().map(|one| one.height).sum(), background);
        let mut first = 0;
        for one in all {
            let rows = one.pixels.chunks(one.width).zip(whole.pixels[first * width..].chunks_mut(width));
            rows.for_each(|(from, to)| to[..one.width].copy_from_slice(from));
            first += one.height;
        }
        whole
    }

    /// Fills the rectangle between two corners, rounded to whole pixels, with a colour that depends on the centre of
    /// the pixel.
    pub(super) fn paint(&mut self, from: Pixel, to: Pixel, colour: impl Fn(f64, f64) -> Colour) {
        for y in from.1.round() as usize..(to.1.round() as usize).min(self.height) {
            for x in from.0.round() as usize..(to.0.round() as usize).min(self.width) {
                self.pixels[y * self.width + x] = colour(x as f64 + 0.5, y as f64 + 0.5);
            }
        }
    }

    /// Blends a colour into the rectangle between two corners, rounded to whole pixels; `cover` gives the coverage at
    /// the centre of a pixel.
    pub(super) fn shade(&mut self, from: Pixel, to: Pixel, colour: Colour, cover: impl Fn(f64, f64) -> f32) {
        for y in from.1.round() as usize..(to.1.round() as usize).min(self.height) {
            for x in from.0.round() as usize..(to.0.round() as usize).min(self.width) {
                let (x, y) = (x as f64 + 0.5, y as f64 + 0.5);
                self.dab(x, y, cover(x, y), colour);
            }
        }
    }

    /// Blends an image of this width and height into the canvas, with its upper left corner at `from`; `of` gives the
    /// colour and coverage of its pixels.
    pub(super) fn lay(&mut self, from: Pixel, of: impl Fn(usize, usize) -> (Colour, f32), [width, height]: [usize; 2]) {
        for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
            let (colour, cover) = of(x, y);
            self.dab(from.0.round() + x as f64, from.1.round() + y as f64, cover, colour);
        }
    }

    #[cfg(test)]
    pub(super) fn pixel(&self, x: usize, y: usize) -> Colour {
        self.pixels[y * self.width + x]
    }

    /// Draws lines of a given width, no darker where they cross.
    pub(super) fn lines(
        &mut self,
        lines: impl IntoIterator<Item = impl AsRef<[Pixel]>>,
        width: f64,
        colour: Colour,
        opacity: f32,
    ) {
        let mut mask = self.mask((0.0, 0.0), (self.width as f64, self.height as f64));
        for line in lines {
            let line = line.as_ref();
            if let [point] = *line {
                mask.segment(point, point, width);
            }
            for pair in line.windows(2) {
                mask.segment(pair[0], pair[1], width);
            }
        }
        self.blend(&mask, colour, opacity);
    }

    /// Draws a filled convex polygon.
    pub(super) fn polygon(&mut self, corners: &[Pixel], colour: Colour, opacity: f32) {
        let fold =
            |start: f64, pick: fn(f64, f64) -> f64, axis: fn(&Pixel) -> f64| corners.iter().map(axis).fold(start, pick);
        let from = (fold(f64::MAX, f64::min, |p| p.0) - 1.0, fold(f64::MAX, f64::min, |p| p.1) - 1.0);
        let to = (fold(f64::MIN, f64::max, |p| p.0) + 2.0, fold(f64::MIN, f64::max, |p| p.1) + 2.0);
        let mut mask = self.mask(from, to);
        let edges: Vec<(Pixel, Pixel)> = corners.iter().copied().zip(corners.iter().copied().cycle().skip(1)).collect();
        let turn: f64 = edges.iter().map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum::<f64>().signum();
        mask.cover_by(|x, y| {
            let inside = edges.iter().map(|(a, b)| {
                let (dx, dy) = (b.0 - a.0, b.1 - a.1);
                turn * (dx * (y - a.1) - dy * (x - a.0)) / dx.hypot(dy)
            });
            inside.fold(f64::MAX, f64::min) + 0.5
        });
        self.blend(&mask, colour, opacity);
    }

    /// Draws a ring: a circle with a line of this width.
    pub(super) fn ring(&mut self, centre: Pixel, radius: f64, width: f64, colour: Colour) {
        let reach = radius + width;
        let mut mask =
            self.mask((centre.0 - reach, centre.1 - reach), (centre.0 + reach + 1.0, centre.1 + reach + 1.0));
        mask.cover_by(|x, y| 0.5 * width - ((x - centre.0).hypot(y - centre.1) - radius).abs() + 0.5);
        self.blend(&mask, colour, 1.0);
    }

    /// Length in pixels of a text of this height.
    pub(super) fn length(text: &str, height: f64) -> f64 {
        // The length of a text drawn outside the canvas is the same.
        Canvas::new(1, 1, [1.0; 3]).text((-1e6, -1e6), text, height, Align::Left, [0.0; 3], false)
    }

    /// Draws text of a height in pixels with its baseline at `at`, vertically if `up`. Returns its length.
    pub(super) fn text(&mut self, at: Pixel, text: &str, height: f64, align: Align, colour: Colour, up: bool) -> f64 {
        let font = font();
        let scaled = font.as_scaled(PxScale::from(height as f32));
        let mut glyphs = vec![];
        let mut pen = 0.0;
        let mut last = None;
        for letter in text.chars() {
            let glyph = font.glyph_id(letter);
            if let Some(last) = last {
                pen += scaled.kern(last, glyph);
            }
            glyphs.push((glyph, pen));
            pen += scaled.h_advance(glyph);
            last = Some(glyph);
        }
        let shift = match align {
            Align::Left => 0.0,
            Align::Centre => -0.5 * pen,
            Align::Right => -pen,
        };
        // Vertical text is drawn horizontally at the origin and then rotated by 90 degrees.
        for (glyph, offset) in glyphs {
            let origin = if up {
                ab_glyph::point(offset + shift, 0.0)
            } else {
                ab_glyph::point(at.0 as f32 + offset + shift, at.1 as f32)
            };
            let Some(outline) = font.outline_glyph(glyph.with_scale_and_position(height as f32, origin)) else {
                continue;
            };
            let bounds = outline.px_bounds();
            outline.draw(|x, y, cover| {
                let (x, y) = (f64::from(bounds.min.x) + f64::from(x), f64::from(bounds.min.y) + f64::from(y));
                let (x, y) = if up { (at.0.round() + y, at.1.round() - x - 1.0) } else { (x, y) };
                self.dab(x, y, cover.min(1.0), colour);
            });
        }
        f64::from(pen)
    }

    /// The image as a PNG file.
    pub fn png(&self) -> Vec<u8> {
        let bytes: Vec<u8> = self.pixels.iter().flatten().map(|channel| (channel * 255.0).round() as u8).collect();
        let mut file = vec![];
        let mut encoder = png::Encoder::new(&mut file, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_compression(png::Compression::High);
        let written = encoder.write_header().and_then(|mut writer| writer.write_image_data(&bytes));
        written.expect("an image of the announced size fits into memory");
        file
    }

    fn dab(&mut self, x: f64, y: f64, cover: f32, colour: Colour) {
        if x >= 0.0 && y >= 0.0 && (x as usize) < self.width && (y as usize) < self.height {
            let pixel = &mut self.pixels[y as usize * self.width + x as usize];
            *pixel = std::array::from_fn(|channel| pixel[channel] + cover * (colour[channel] - pixel[channel]));
        }
    }

    fn mask(&self, from: Pixel, to: Pixel) -> Mask {
        let clip = |value: f64, end: usize| (value.max(0.0) as usize).min(end);
        let (left, top) = (clip(from.0, self.width), clip(from.1, self.height));
        let (right, bottom) = (clip(to.0, self.width), clip(to.1, self.height));
        let width = right.saturating_sub(left);
        Mask { left, top, width, cover: vec![0.0; width * bottom.saturating_sub(top)] }
    }

    fn blend(&mut self, mask: &Mask, colour: Colour, opacity: f32) {
        for (at, cover) in mask.cover.iter().enumerate().filter(|(_, cover)| **cover > 0.0) {
            let (x, y) = (mask.left + at % mask.width, mask.top + at / mask.width);
            self.dab(x as f64, y as f64, cover * opacity, colour);
        }
    }
}

impl Mask {
    /// Covers the pixels within half a width of a segment.
    fn segment(&mut self, a: Pixel, b: Pixel, width: f64) {
        let reach = 0.5 * width + 1.0;
        let height = self.cover.len().checked_div(self.width).unwrap_or(0);
        let range = |a: f64, b: f64, first: usize, count: usize| {
            let low = (a.min(b) - reach - first as f64).max(0.0) as usize;
            let high = (a.max(b) + reach + 1.0 - first as f64).max(0.0) as usize;
            low.min(count)..high.min(count)
        };
        let (dx, dy) = (b.0 - a.0, b.1 - a.1);
        let square = dx * dx + dy * dy;
        for row in range(a.1, b.1, self.top, height) {
            for column in range(a.0, b.0, self.left, self.width) {
                let (x, y) = ((self.left + column) as f64 + 0.5 - a.0, (self.top + row) as f64 + 0.5 - a.1);
                let along = if square > 0.0 { ((x * dx + y * dy) / square).clamp(0.0, 1.0) } else { 0.0 };
                let distance = (x - along * dx).hypot(y - along * dy);
                let cover = (0.5 * width + 0.5 - distance).clamp(0.0, 1.0) as f32;
                let pixel = &mut self.cover[row * self.width + column];
                *pixel = pixel.max(cover);
            }
        }
    }

    fn cover_by(&mut self, cover: impl Fn(f64, f64) -> f64) {
        for (at, pixel) in self.cover.iter_mut().enumerate() {
            let (x, y) = (self.left + at % self.width, self.top + at / self.width);
            *pixel = cover(x as f64 + 0.5, y as f64 + 0.5).clamp(0.0, 1.0) as f32;
        }
    }
}

/// DejaVu Sans, a free font that is part of the program, so that pictures are the same everywhere.
fn font() -> &'static FontRef<'static> {
    static FONT: OnceLock<FontRef<'static>> = OnceLock::new();
    FONT.get_or_init(|| FontRef::try_from_slice(dejavu::sans::regular()).expect("the font is sound"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHITE: Colour = [1.0; 3];
    const BLACK: Colour = [0.0; 3];

    fn dark(canvas: &Canvas) -> f64 {
        canvas.pixels.iter().map(|pixel| f64::from(1.0 - pixel[0])).sum()
    }

    #[test]
    fn lines_cover_their_length_times_their_width() {
        let mut canvas = Canvas::new(100, 100, WHITE);
        canvas.lines([[(20.0, 30.3), (80.0, 30.3)]], 3.0, BLACK, 1.0);
        let expected = 60.0 * 3.0 + std::f64::consts::PI * 1.5 * 1.5;
        assert!((dark(&canvas) / expected - 1.0).abs() < 0.05, "{} {expected}", dark(&canvas));
    }

    #[test]
    fn crossing_lines_are_no_darker_where_they_cross() {
        let mut canvas = Canvas::new(50, 50, WHITE);
        canvas.lines([[(5.0, 25.5), (45.0, 25.5)], [(25.5, 5.0), (25.5, 45.0)]], 3.0, BLACK, 0.5);
        assert!(canvas.pixels.iter().all(|pixel| pixel[0] > 0.49));
    }

    #[test]
    fn polygons_cover_their_area() {
        for corners in [[(10.0, 10.0), (60.0, 10.0), (10.0, 50.0)], [(10.0, 10.0), (10.0, 50.0), (60.0, 10.0)]] {
            let mut canvas = Canvas::new(70, 60, WHITE);
            canvas.polygon(&corners, BLACK, 1.0);
            assert!((dark(&canvas) / 1000.0 - 1.0).abs() < 0.05, "{}", dark(&canvas));
        }
    }

    #[test]
    fn text_upwards_has_as_much_ink_as_text_along() {
        let mut along = Canvas::new(200, 200, WHITE);
        let mut upwards = Canvas::new(200, 200, WHITE);
        let length = along.text((100.0, 100.0), "Re 1000 µ²", 20.0, Align::Centre, BLACK, false);
        upwards.text((100.0, 100.0), "Re 1000 µ²", 20.0, Align::Centre, BLACK, true);
        assert!(length > 80.0 && length < 130.0, "{length}");
        assert!(dark(&along) > 200.0);
        assert!((dark(&along) / dark(&upwards) - 1.0).abs() < 0.02);
    }

    #[test]
    fn drawing_beyond_the_edge_is_cut_off() {
        let mut canvas = Canvas::new(10, 10, WHITE);
        canvas.lines([[(-50.0, -50.0), (50.0, 50.0)]], 2.0, BLACK, 1.0);
        canvas.ring((0.0, 0.0), 4.0, 1.0, BLACK);
        canvas.polygon(&[(-9.0, -9.0), (-5.0, -9.0), (-5.0, -5.0)], BLACK, 1.0);
        canvas.text((8.0, 5.0), "long text", 12.0, Align::Left, BLACK, true);
        let decoder = png::Decoder::new(std::io::Cursor::new(canvas.png()));
        let reader = decoder.read_info().unwrap();
        assert_eq!((reader.info().width, reader.info().height), (10, 10));
    }
}
