//! Contour lines of a field on a plane.
//!
//! The plane is divided into small squares, and each square into two triangles in which the field is linear. A contour
//! line therefore never ends inside the plane and never has ambiguous connections.

use rayon::prelude::*;

use super::canvas::Pixel;

/// Side of a square, in pixels.
const SIDE: f64 = 2.0;

/// Number of rows of squares evaluated together.
const AT_ONCE: usize = 64;

/// Segments of the contour lines at some levels, a few rows of squares at a time. `value` is the field at a position in
/// `[0, extent]`.
pub(super) fn contours<'a>(
    extent: [f64; 2],
    value: &'a (impl Fn(f64, f64) -> f64 + Sync),
    levels: &'a [f64],
) -> impl Iterator<Item = [Pixel; 2]> + 'a {
    let [columns, rows] = extent.map(|side| (side / SIDE).ceil().max(1.0) as usize);
    let place = move |column: usize, row: usize| {
        let along = |at: usize, side: f64| (at as f64 * SIDE).min(side);
        (along(column, extent[0]), along(row, extent[1]))
    };
    let line = move |row: usize| -> Vec<f64> {
        let at = |column: usize| place(column, row);
        (0..=columns).map(at).map(|(x, y)| value(x, y)).collect()
    };
    let of_row = move |row: usize| -> Vec<[Pixel; 2]> {
        let (low, high) = (line(row), line(row + 1));
        let triangles = (0..columns).flat_map(|column| {
            let corner = |right: usize, up: usize| {
                let values = if up == 0 { &low } else { &high };
                (place(column + right, row + up), values[column + right])
            };
            let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(1, 1), corner(0, 1));
            [[a, b, c], [a, c, d]]
        });
        triangles.flat_map(|corners| levels.iter().filter_map(move |level| piece(corners, *level))).collect()
    };
    let of_rows = move |first: usize| -> Vec<[Pixel; 2]> {
        (first..(first + AT_ONCE).min(rows)).into_par_iter().flat_map_iter(of_row).collect()
    };
    (0..rows).step_by(AT_ONCE).flat_map(of_rows)
}

/// The segment of a contour line in a triangle, if it crosses the triangle. A corner exactly at the level counts as
/// above.
fn piece(corners: [(Pixel, f64); 3], level: f64) -> Option<[Pixel; 2]> {
    let sides = [(0, 1), (1, 2), (2, 0)].map(|(from, to)| (corners[from], corners[to]));
    let crossing = |((a, of_a), (b, of_b)): ((Pixel, f64), (Pixel, f64))| {
        let share = (level - of_a) / (of_b - of_a);
        ((of_a >= level) != (of_b >= level)).then_some((a.0 + share * (b.0 - a.0), a.1 + share * (b.1 - a.1)))
    };
    let mut ends = sides.into_iter().filter_map(crossing);
    Some([ends.next()?, ends.next()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_cone_are_circles_of_their_length() {
        let levels = [20.0, 35.0];
        let cone = |x: f64, y: f64| (x - 50.3).hypot(y - 49.2);
        let pieces: Vec<[Pixel; 2]> = contours([100.0, 100.0], &cone, &levels).collect();
        let mut lengths = [0.0; 2];
        for piece in &pieces {
            let radius = cone(piece[0].0, piece[0].1);
            let of = usize::from(radius > 27.0);
            assert!((radius - levels[of]).abs() < 0.06, "{radius}");
            lengths[of] += (piece[1].0 - piece[0].0).hypot(piece[1].1 - piece[0].1);
        }
        for (length, radius) in lengths.iter().zip(levels) {
            assert!((length / (std::f64::consts::TAU * radius) - 1.0).abs() < 0.01, "{length}");
        }
    }

    #[test]
    fn what_is_constant_has_no_lines() {
        assert_eq!(contours([30.0, 7.0], &|_, _| 1.0, &[0.5, 1.0]).count(), 0);
    }
}
