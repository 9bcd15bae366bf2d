//! Velocities that formulas give, against the speed of sound of the lattice.

use lbm_runtime::geometry::solid::{Shape, Vector};

use super::formula::Formula;

/// Points at which a velocity is looked at that depends on place and time.
const MOST_POINTS: usize = 16;

/// The fastest that something moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Fastest {
    /// In cells in a step.
    pub(crate) speed: f64,
    /// Where, in cells.
    pub(crate) at: Vector,
    /// When, in steps.
    pub(crate) time: f64,
}

impl Fastest {
    /// Of a velocity at some points, and at times where it depends on these; not a number where it is none somewhere.
    pub(crate) fn of(velocity: &[Formula], points: &[Vector], times: impl IntoIterator<Item = f64>) -> Option<Fastest> {
        let varies = [Formula::varies_in_place, Formula::varies_in_time].map(|varies| velocity.iter().any(varies));
        let apart = match varies {
            [false, _] => points.len(),
            [true, false] => 1,
            [true, true] => points.len().div_ceil(MOST_POINTS),
        };
        let times = times.into_iter().take(if varies[1] { usize::MAX } else { 1 });
        let at = |time: f64, at: Vector| {
            let speed = velocity.iter().map(|along| along.at(at, time).powi(2)).sum::<f64>().sqrt();
            Fastest { speed, at, time }
        };
        let all = times.flat_map(|time| points.iter().step_by(apart.max(1)).map(move |point| at(time, *point)));
        all.max_by(|one, other| one.speed.total_cmp(&other.speed))
    }
}

/// Points of the surface of a solid in the domain: where lines along the axes meet it first, from either side.
pub(crate) fn on_surface(shape: &Shape, size: [usize; 3], dim: usize) -> Vec<Vector> {
    /// Lines beside each other.
    const LINES: usize = 24;
    let (from, to) = shape.bounds();
    let (low, high) = (from.map(|at| at.max(0.0)), [0, 1, 2].map(|axis| to[axis].min(size[axis] as f64)));
    let mut points = vec![];
    for axis in 0..dim {
        let (one, other) = ((axis + 1) % dim, (axis + 2) % dim);
        let rows = if dim == 3 { LINES } else { 1 };
        for line in 0..LINES * rows {
            let place = |axis: usize, number: usize| {
                low[axis] + (high[axis] - low[axis]) * (number as f64 + 0.5) / LINES as f64
            };
            let mut ends = [[0.0; 3]; 2];
            for (end, beyond) in ends.iter_mut().zip([low[axis] - 1.0, high[axis] + 1.0]) {
                end[one] = place(one, line % LINES);
                if dim == 3 {
                    end[other] = place(other, line / LINES);
                }
                end[axis] = beyond;
            }
            for [from, to] in [ends, [ends[1], ends[0]]] {
                let part = shape.crossing(from, to);
                points.extend(part.map(|part| [0, 1, 2].map(|axis| from[axis] + part * (to[axis] - from[axis]))));
            }
        }
    }
    points.retain(|at| (0..dim).all(|axis| (0.0..=size[axis] as f64).contains(&at[axis])));
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_lie_on_the_surface() {
        let centre = [12.0, 11.0, 10.0];
        let cylinder = Shape::Cylinder { centre, axis: [0.0, 0.0, 1.0], radius: 4.0, length: None };
        for (shape, dim) in
            [(Shape::Sphere { centre, radius: 4.0 }, 3), (cylinder.clone(), 2), (Shape::Outside(Box::new(cylinder)), 2)]
        {
            let points = on_surface(&shape, [24, 24, if dim == 3 { 24 } else { 1 }], dim);
            let distance = |at: &Vector| (0..dim).map(|axis| (at[axis] - centre[axis]).powi(2)).sum::<f64>().sqrt();
            assert!(points.len() > 30 && points.iter().all(|at| (distance(at) - 4.0).abs() < 1e-9), "{}", points.len());
        }
    }
}
