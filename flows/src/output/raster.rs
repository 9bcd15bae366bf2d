//! Rasterizer for triangles with a depth buffer and several samples per pixel.
//!
//! Bands of rows are drawn in parallel. Each sample processes triangles in the given order, and at equal depth the
//! first one wins, so that the image does not depend on the number of threads.

use rayon::prelude::*;

use super::colours::Colour;

/// Number of samples along a side of a pixel.
pub(super) const SAMPLES: usize = 3;
/// Rows of pixels in a band.
const BAND: usize = 16;

/// A corner of a triangle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    /// In pixels, x to the right and y down.
    pub(super) at: [f32; 2],
    /// Depth, larger is nearer, in any unit.
    pub(super) near: f32,
    /// Colour after shading.
    pub(super) colour: Colour,
}

/// A triangle.
pub(super) type Facet = [Corner; 3];

/// An image.
pub(super) struct Raster {
    width: usize,
    height: usize,
    /// Depth of the samples, row by row from the top; minus infinity for background.
    near: Vec<f32>,
    colours: Vec<[u8; 3]>,
}

impl Raster {
    /// An empty image of this size in pixels.
    pub(super) fn new(width: usize, height: usize) -> Raster {
        let samples = width * height * SAMPLES * SAMPLES;
        Raster { width, height, near: vec![f32::NEG_INFINITY; samples], colours: vec![[0; 3]; samples] }
    }

    /// Draws triangles, which may extend beyond the image.
    pub(super) fn draw(&mut self, facets: &[Facet]) {
        let row = self.width * SAMPLES;
        let bands =
            self.near.par_chunks_mut(row * BAND * SAMPLES).zip(self.colours.par_chunks_mut(row * BAND * SAMPLES));
        bands.enumerate().for_each(|(number, (near, colours))| {
            let first = number * BAND * SAMPLES;
            facets.iter().for_each(|facet| fill(facet, row, first, near, colours));
        });
    }

    /// Mean colour of the covered samples of a pixel, and the covered fraction.
    pub(super) fn pixel(&self, x: usize, y: usize) -> (Colour, f32) {
        let (mut sum, mut count) = ([0.0; 3], 0.0);
        if x < self.width && y < self.height {
            let row = self.width * SAMPLES;
            let samples =
                (0..SAMPLES * SAMPLES).map(|at| (y * SAMPLES + at / SAMPLES) * row + x * SAMPLES + at % SAMPLES);
            for at in samples.filter(|at| self.near[*at] > f32::NEG_INFINITY) {
                count += 1.0;
                (0..3).for_each(|channel| sum[channel] += f32::from(self.colours[at][channel]) / 255.0);
            }
        }
        (sum.map(|sum| if count > 0.0 { sum / count } else { 0.0 }), count / (SAMPLES * SAMPLES) as f32)
    }
}

/// Draws the samples of a triangle in a band that starts at row `first`. `row` is the number of samples per row.
fn fill(facet: &Facet, row: usize, first: usize, near: &mut [f32], colours: &mut [[u8; 3]]) {
    let samples = SAMPLES as f64;
    let [a, b, c] = facet.map(|corner| corner.at.map(|at| f64::from(at) * samples - 0.5));
    let (rows, most) = (near.len() / row, |a: f64, b: f64, c: f64| a.max(b).max(c));
    let range = |axis: usize, first: usize, count: usize| {
        let (low, high) = (-most(-a[axis], -b[axis], -c[axis]), most(a[axis], b[axis], c[axis]));
        let inside = |at: f64| ((at - first as f64).max(0.0) as usize).min(count);
        inside(low.ceil())..inside(high.floor() + 1.0)
    };
    let twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
    if twice == 0.0 || !twice.is_finite() {
        return;
    }
    // Barycentric coordinates, as ratios of areas.
    let share = |p: [f64; 2], q: [f64; 2], at: [f64; 2]| {
        ((q[0] - p[0]) * (at[1] - p[1]) - (q[1] - p[1]) * (at[0] - p[0])) / twice
    };
    for y in range(1, first, rows) {
        for x in range(0, 0, row) {
            let at = [x as f64, (first + y) as f64];
            let shares = [share(b, c, at), share(c, a, at), share(a, b, at)];
            if shares.iter().any(|share| *share < 0.0) {
                continue;
            }
            let mix = |of: &dyn Fn(&Corner) -> f32| -> f32 {
                facet.iter().zip(shares).map(|(corner, share)| of(corner) * share as f32).sum()
            };
            let (depth, position) = (mix(&|corner| corner.near), y * row + x);
            if depth > near[position] {
                near[position] = depth;
                let channel = |at: usize| (mix(&|corner| corner.colour[at]) * 255.0).round() as u8;
                colours[position] = [channel(0), channel(1), channel(2)];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RED: Colour = [1.0, 0.0, 0.0];
    const BLUE: Colour = [0.0, 0.0, 1.0];

    fn facet(corners: [[f32; 3]; 3], colour: Colour) -> Facet {
        corners.map(|[x, y, near]| Corner { at: [x, y], near, colour })
    }

    #[test]
    fn a_triangle_covers_its_area_whichever_way_it_turns() {
        for corners in [
            [[5.0, 4.0, 0.0], [45.0, 4.0, 0.0], [5.0, 34.0, 0.0]],
            [[5.0, 4.0, 0.0], [5.0, 34.0, 0.0], [45.0, 4.0, 0.0]],
        ] {
            let mut raster = Raster::new(50, 40);
            raster.draw(&[facet(corners, RED)]);
            let cover: f32 = (0..50 * 40).map(|at| raster.pixel(at % 50, at / 50).1).sum();
            assert!((cover / 600.0 - 1.0).abs() < 0.01, "{cover}");
            assert_eq!(raster.pixel(10, 10), (RED, 1.0));
            assert_eq!(raster.pixel(49, 39).1, 0.0);
        }
    }

    #[test]
    fn the_nearer_is_in_front_in_any_order_and_of_two_as_near_the_first_stays() {
        let far = facet([[0.0, 0.0, 1.0], [60.0, 0.0, 1.0], [0.0, 60.0, 1.0]], RED);
        // In front on the left and behind on the right.
        let near = facet([[0.0, 0.0, 2.0], [60.0, 0.0, 0.0], [0.0, 60.0, 2.0]], BLUE);
        for facets in [[far, near], [near, far]] {
            let mut raster = Raster::new(40, 40);
            raster.draw(&facets);
            assert_eq!((raster.pixel(3, 3).0, raster.pixel(38, 10).0), (BLUE, RED));
        }
        let mut raster = Raster::new(40, 40);
        let same = facet(far.map(|corner| [corner.at[0], corner.at[1], corner.near]), BLUE);
        raster.draw(&[far, same]);
        assert_eq!(raster.pixel(10, 10).0, RED);
    }

    #[test]
    fn what_lies_beyond_the_image_is_cut_off_and_what_is_no_number_is_left_out() {
        let mut raster = Raster::new(20, 20);
        raster.draw(&[facet([[-1e6, -1e6, 0.0], [1e6, -1e6, 0.0], [0.0, 1e6, 0.0]], RED)]);
        raster.draw(&[facet([[f32::NAN, 0.0, 9.0], [1e6, -1e6, 9.0], [0.0, 1e6, 9.0]], BLUE)]);
        assert!((0..400).all(|at| raster.pixel(at % 20, at / 20) == (RED, 1.0)));
    }
}
