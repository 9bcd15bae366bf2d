//! From where a view is looked at: where points lie in the image, and how their colours are shaded.
//!
//! The projection is parallel, so lengths along an axis do not depend on the distance. The light comes from beside the
//! viewer.

use super::colours::Colour;
use super::hull::dot;
use super::raster::{Corner, Facet};

/// Fraction of ambient light; the rest is Lambertian.
const AMBIENT: f64 = 0.32;
/// Direction to the light: to the right, up, towards the viewer.
const LIGHT: [f64; 3] = [-0.35, 0.45, 0.82];

/// A view direction.
pub(super) struct Camera {
    /// Unit vectors to the right, upwards, and towards the viewer.
    pub(super) axes: [[f64; 3]; 3],
    /// Upper left corner of the image, in cells to the right and upwards.
    corner: [f64; 2],
    /// Pixels per cell.
    pub(super) scale: f64,
    /// Size of the image in pixels.
    pub(super) size: [f64; 2],
}

impl Camera {
    pub(super) fn new(size: [usize; 3], towards: [f64; 3], pixels: f64) -> Camera {
        let unit = |vector: [f64; 3]| vector.map(|part| part / dot(vector, vector).sqrt());
        // When looking along z, y points upwards.
        let along = towards[2].abs() > 1.0 - 1e-9;
        let right = unit(cross(if along { [0.0, 1.0, 0.0] } else { [0.0, 0.0, 1.0] }, towards));
        let axes = [right, cross(towards, right), towards];
        let corners = (0..8).map(|at| box_corner(size, at));
        let places: Vec<[f64; 2]> = corners.map(|corner| [dot(corner, axes[0]), dot(corner, axes[1])]).collect();
        let ends = [0, 1].map(|at| {
            let along = places.iter().map(|place| place[at]);
            [along.clone().fold(f64::MAX, f64::min), along.fold(f64::MIN, f64::max)]
        });
        let extent = ends.map(|[low, high]| high - low);
        let scale = pixels / extent[0].max(extent[1]);
        Camera {
            axes,
            corner: [ends[0][0], ends[1][1]],
            scale,
            size: extent.map(|extent| (extent * scale).max(1.0).ceil()),
        }
    }

    /// Projection of a point, in pixels from the upper left corner of the image.
    pub(super) fn place(&self, point: [f64; 3]) -> [f64; 2] {
        let [right, up] = [dot(point, self.axes[0]), dot(point, self.axes[1])];
        [(right - self.corner[0]) * self.scale, (self.corner[1] - up) * self.scale]
    }

    /// The side of a tube that faces the viewer, between two points: as wide as the tube, and shaded as if it were round.
    pub(super) fn tube(&self, ends: [([f64; 3], Colour); 2], radius: f64) -> Option<[Facet; 4]> {
        let towards = self.axes[2];
        let along = [0, 1, 2].map(|axis| ends[1].0[axis] - ends[0].0[axis]);
        let side = cross(along, towards);
        let norm = dot(side, side).sqrt();
        // Seen along itself it is a point.
        if norm < 1e-6 {
            return None;
        }
        let side = side.map(|part| part / norm);
        let [near, far] = ends.map(|(at, colour)| {
            [-1.0, 0.0, 1.0].map(|across: f64| {
                let out = [0, 1, 2].map(|axis| across * side[axis] + (1.0 - across.abs()) * towards[axis]);
                self.lit([0, 1, 2].map(|axis| at[axis] + radius * out[axis]), out, colour)
            })
        });
        let half = |at: usize| [[near[at], near[at + 1], far[at]], [far[at], near[at + 1], far[at + 1]]];
        let [[a, b], [c, d]] = [half(0), half(1)];
        Some([a, b, c, d])
    }

    /// A shaded corner of a triangle. The normal need not be normalized, and both sides of the surface are lit alike.
    pub(super) fn lit(&self, at: [f64; 3], normal: [f64; 3], colour: Colour) -> Corner {
        let turned = self.axes.map(|axis| dot(axis, normal));
        let norm = dot(turned, turned).sqrt() * if turned[2] < 0.0 { -1.0 } else { 1.0 };
        let light = if norm == 0.0 { 1.0 } else { (dot(turned, LIGHT) / norm / dot(LIGHT, LIGHT).sqrt()).max(0.0) };
        let light = (AMBIENT + (1.0 - AMBIENT) * light) as f32;
        let near = dot(at, self.axes[2]) as f32;
        Corner { at: self.place(at).map(|at| at as f32), near, colour: colour.map(|channel| channel * light) }
    }
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [0, 1, 2].map(|at| a[(at + 1) % 3] * b[(at + 2) % 3] - a[(at + 2) % 3] * b[(at + 1) % 3])
}

/// A corner of the domain, encoded in the bits of a number.
pub(super) fn box_corner(size: [usize; 3], at: usize) -> [f64; 3] {
    [0, 1, 2].map(|axis| if at >> axis & 1 == 1 { size[axis] as f64 } else { 0.0 })
}
