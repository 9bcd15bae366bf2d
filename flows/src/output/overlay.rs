//! What is drawn over the colours of a picture: streamlines with arrows, contour lines, solids and edges of blocks.

use lbm_runtime::solver::snapshot::Snapshot;
use rayon::prelude::*;

use super::axes::{Area, INK, PAPER};
use super::canvas::{Canvas, Pixel};
use super::colours::Colour;
use super::contours::contours;
use super::plane::Plane;
use super::section::{Section, View, outlines};
use super::streamlines::streamlines;

/// Distance between streamlines, in pixels.
const SEPARATION: f64 = 30.0;
/// Distance between arrows along a streamline, in pixels.
const ARROWS: f64 = 420.0;
/// Fraction of the largest speed below which streamlines end: in eddies slower than round-off they are meaningless.
const STILL: f64 = 2e-5;
/// Colour of solids: a grey that no value has.
pub(super) const SOLID: Colour = [0.72, 0.72, 0.72];
/// Sample points for solids along a side of a pixel, and along a side of a tile in which they are tested together.
const POINTS: usize = 2;
const TILE: usize = 16;
/// Lines between blocks, visible on dark and on light colours. Opacity between levels, and between blocks of one level.
const OUTLINE: Colour = [0.62, 0.64, 0.68];
const OPACITY: [f32; 2] = [0.45, 0.2];
/// Line width in pixels, and size of the smallest blocks that are outlined individually.
const HAIR: f64 = 0.8;
const NARROWEST: f64 = 12.0;

/// Draws streamlines of a velocity field, with arrows.
pub(super) fn flow_lines(canvas: &mut Canvas, plane: &Plane, cells: &Area) {
    let from = cells.from;
    let (width, height) = (cells.to.0 - from.0, cells.to.1 - from.1);
    let slowest = STILL * plane.longest();
    let lines = streamlines([width, height], |x, y| on_pixels(plane, cells, x, y), SEPARATION, slowest);
    let lines: Vec<Vec<Pixel>> =
        lines.iter().map(|line| line.iter().map(|(x, y)| (from.0 + x, from.1 + height - y)).collect()).collect();
    canvas.lines(&lines, 3.6, [0.0, 0.0, 0.1], 0.22);
    canvas.lines(&lines, 1.7, PAPER, 0.85);
    for (tip, heading) in lines.iter().flat_map(|line| arrows(line)) {
        canvas.polygon(&arrow(tip, heading), PAPER, 0.95);
    }
}

/// Draws contour lines of the first component at these values.
pub(super) fn contour_lines(canvas: &mut Canvas, plane: &Plane, cells: &Area, levels: &[f64]) {
    if levels.is_empty() {
        return;
    }
    let from = cells.from;
    let value = |x: f64, y: f64| {
        let (x, y) = cells.point((from.0 + x, from.1 + y));
        plane.at(x, y)[0]
    };
    // Visible on dark and on light colours.
    for (width, colour, opacity) in [(2.8, PAPER, 0.3), (1.2, INK, 0.8)] {
        let pieces = contours([cells.to.0 - from.0, cells.to.1 - from.1], &value, levels);
        let on_canvas = pieces.map(|ends| ends.map(|(x, y)| (from.0 + x, from.1 + y)));
        canvas.lines(on_canvas, width, colour, opacity);
    }
}

/// Fills the solids in the plane and outlines them.
pub(super) fn solids(canvas: &mut Canvas, view: View<'_>, snapshot: &Snapshot, area: &Area) {
    let Some(section) = Section::new(view, (snapshot.step, &snapshot.bodies)) else { return };
    let [width, height] = [area.to.0 - area.from.0, area.to.1 - area.from.1].map(|side| side.round() as usize * POINTS);
    let spacing = 1.0 / POINTS as f64;
    let pixel = |x: f64, y: f64| (area.from.0 + x * spacing, area.from.1 + y * spacing);
    let place = |x: f64, y: f64| area.point(pixel(x, y));
    // Works in rows of tiles: all points of a tile that no surface crosses are alike.
    let tiles = |band: usize| {
        let rows = band * TILE..((band + 1) * TILE).min(height);
        let mut inside = vec![false; rows.len() * width];
        for first in (0..width).step_by(TILE) {
            let columns = first..(first + TILE).min(width);
            let (one, other) =
                (place(columns.start as f64, rows.start as f64), place(columns.end as f64, rows.end as f64));
            let filled =
                section.fills([one.0.min(other.0), one.1.min(other.1)], [one.0.max(other.0), one.1.max(other.1)]);
            for (y, x) in rows.clone().flat_map(|y| columns.clone().map(move |x| (y, x))) {
                let (at_x, at_y) = place(x as f64 + 0.5, y as f64 + 0.5);
                inside[(y - rows.start) * width + x] = filled.unwrap_or_else(|| section.contains(at_x, at_y));
            }
        }
        inside
    };
    let inside: Vec<bool> = (0..height.div_ceil(TILE)).into_par_iter().flat_map_iter(tiles).collect();
    let is_solid = |x: usize, y: usize| x < width && y < height && inside[x + width * y];
    canvas.shade(area.from, area.to, SOLID, |x, y| {
        let (x, y) = (((x - area.from.0) as usize) * POINTS, ((y - area.from.1) as usize) * POINTS);
        let points = (0..POINTS * POINTS).filter(|at| is_solid(x + at % POINTS, y + at / POINTS)).count();
        points as f32 / (POINTS * POINTS) as f32
    });
    let mut edges: Vec<Vec<Pixel>> = vec![];
    for (y, x) in (0..height).flat_map(|y| (0..width).map(move |x| (y, x))) {
        let (left, top) = (x as f64, y as f64);
        if x + 1 < width && is_solid(x, y) != is_solid(x + 1, y) {
            edges.push(vec![pixel(left + 1.0, top), pixel(left + 1.0, top + 1.0)]);
        }
        if y + 1 < height && is_solid(x, y) != is_solid(x, y + 1) {
            edges.push(vec![pixel(left, top + 1.0), pixel(left + 1.0, top + 1.0)]);
        }
    }
    canvas.lines(&edges, 2.0, INK, 1.0);
}

/// Draws the edges of blocks.
pub(super) fn block_edges(canvas: &mut Canvas, view: View<'_>, snapshot: &Snapshot, cells: &Area) {
    let pixels = (cells.to.0 - cells.from.0) / (cells.x.1 - cells.x.0);
    let edges = outlines(view, snapshot, NARROWEST / pixels);
    for (edges, opacity) in edges.into_iter().zip(OPACITY) {
        let line = |edge: [[f64; 2]; 2]| edge.map(|[x, y]| cells.pixel(x, y)).to_vec();
        let lines: Vec<Vec<Pixel>> = edges.into_iter().map(line).collect();
        canvas.lines(&lines, HAIR, OUTLINE, opacity);
    }
}

/// Velocity in the plane, at a position in pixels from the lower left corner.
fn on_pixels(plane: &Plane, cells: &Area, x: f64, y: f64) -> (f64, f64) {
    let (x, y) = cells.point((cells.from.0 + x, cells.to.1 - y));
    let velocity = plane.at(x, y);
    (velocity[plane.axes[0]], velocity[plane.axes[1]])
}

/// Positions of the arrows along a line, each with the direction there.
fn arrows(line: &[Pixel]) -> Vec<(Pixel, Pixel)> {
    let length: f64 = line.windows(2).map(|pair| (pair[1].0 - pair[0].0).hypot(pair[1].1 - pair[0].1)).sum();
    let count = (length / ARROWS).round().max(if length > 60.0 { 1.0 } else { 0.0 });
    let mut places = vec![];
    let mut next = 0.5 * length / count;
    let mut travelled = 0.0;
    for pair in line.windows(2) {
        let (dx, dy) = (pair[1].0 - pair[0].0, pair[1].1 - pair[0].1);
        travelled += dx.hypot(dy);
        if count > 0.0 && travelled >= next {
            places.push((pair[1], (dx / dx.hypot(dy), dy / dx.hypot(dy))));
            next += length / count;
        }
    }
    places
}

/// Corners of an arrow head at a position.
fn arrow((x, y): Pixel, (dx, dy): Pixel) -> [Pixel; 3] {
    let (front, back, side) = (8.5, 6.0, 6.0);
    [
        (x + front * dx, y + front * dy),
        (x - back * dx - side * dy, y - back * dy + side * dx),
        (x - back * dx + side * dy, y - back * dy - side * dx),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrows_stand_along_the_line() {
        let line: Vec<Pixel> = (0..=900).map(|x| (f64::from(x), 3.0)).collect();
        let places = arrows(&line);
        assert_eq!(places.len(), 2);
        assert!((places[0].0.0 - 225.0).abs() < 2.0 && places[0].1 == (1.0, 0.0), "{places:?}");
        assert!(arrows(&line[..30]).is_empty());
    }
}
