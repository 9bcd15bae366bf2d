//! Columns of triangles along x: what a ray along x may meet without a walk through a tree.

use super::triangle::{Triangle, bounds};
use super::vector::Vector;

/// Entries for each triangle, at most: columns are made wider until so many suffice.
const ENTRIES: usize = 16;

/// How many columns there are along y and z; for each column, the y axis first, where its triangles begin, and where the last end; then the numbers of
/// these triangles, the one that ends last along x first. They are those whose projections along x overlap that of the column, in a box with these corners.
pub(super) fn columns(triangles: &[Triangle], (low, high): (Vector, Vector)) -> Vec<i32> {
    let wide = [1, 2].map(|axis| high[axis] - low[axis]);
    // As many as triangles, nearly square.
    let all = triangles.len().max(1) as f64;
    let along = (all * wide[0] / wide[1]).sqrt().ceil().clamp(1.0, all);
    let mut counts = [along, (all / along).floor()].map(|count| count as usize);
    let range = |counts: [usize; 2], triangle: &Triangle| {
        let (from, to) = bounds(triangle);
        let of = |axis: usize, at: Vector| interval_of(at[axis + 1], low[axis + 1], high[axis + 1], counts[axis]);
        [0, 1].map(|axis| of(axis, from)..of(axis, to) + 1)
    };
    let entries = |counts: [usize; 2]| {
        triangles
            .iter()
            .map(|triangle| range(counts, triangle).iter().map(ExactSizeIterator::len).product::<usize>())
            .sum::<usize>()
    };
    while counts != [1, 1] && entries(counts) > ENTRIES * triangles.len() {
        counts = counts.map(|count| count.div_ceil(2));
    }
    let mut listed = vec![vec![]; counts[0] * counts[1]];
    let end = |number: &usize| bounds(&triangles[*number]).1[0];
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|one, other| end(other).total_cmp(&end(one)));
    for number in order {
        let [y, z] = range(counts, &triangles[number]);
        z.for_each(|z| y.clone().for_each(|y| listed[z * counts[0] + y].push(number as i32)));
    }
    let mut begins = vec![0];
    listed.iter().for_each(|column| begins.push(begins[begins.len() - 1] + column.len() as i32));
    counts.map(|count| count as i32).into_iter().chain(begins).chain(listed.into_iter().flatten()).collect()
}

/// The interval of a range, divided into so many, in which a number lies; those at the ends reach beyond it. As in `templates/shared/cutting.c`: to the bit.
fn interval_of(at: f64, low: f64, high: f64, count: usize) -> usize {
    ((at - low) / (high - low) * count as f64).floor().max(0.0).min((count - 1) as f64) as usize
}

#[cfg(test)]
mod tests {
    use super::super::triangle::covers;
    use super::*;

    fn random(state: &mut u64) -> f64 {
        *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (*state >> 40) as f64 / (1u64 << 24) as f64
    }

    #[test]
    fn the_column_of_a_point_has_all_triangles_that_a_ray_from_it_may_meet() {
        // Small triangles, large ones, flat boxes, one triangle.
        for (count, size, flat) in [(1, 0.5, 1.0), (300, 0.02, 1.0), (300, 0.9, 1.0), (200, 0.1, 0.0)] {
            let mut state = 7;
            let triangle = |state: &mut u64| {
                let at = [0, 1, 2].map(|_| random(state));
                [0, 1, 2].map(|_| {
                    let corner = [0, 1, 2].map(|axis| at[axis] + size * random(state));
                    [corner[0], corner[1], flat * corner[2]]
                })
            };
            let triangles: Vec<Triangle> = (0..count).map(|_| triangle(&mut state)).collect();
            let all = triangles.iter().map(bounds);
            let (low, high) = all.fold(super::super::tree::NOWHERE, super::super::tree::joined);
            let found = columns(&triangles, (low, high));
            let [y, z] = [found[0], found[1]].map(|count| count as usize);
            let (begins, listed) = found[2..].split_at(y * z + 1);
            assert!(listed.len() <= ENTRIES * triangles.len(), "{} of {count}", listed.len());
            for _ in 0..2000 {
                let at = [1, 2].map(|axis| low[axis] + (high[axis] - low[axis]) * random(&mut state));
                let [row, column] =
                    [0, 1].map(|axis| interval_of(at[axis], low[axis + 1], high[axis + 1], [y, z][axis]));
                let cell = column * y + row;
                let of_column = &listed[begins[cell] as usize..begins[cell + 1] as usize];
                let ends = of_column.iter().map(|number| bounds(&triangles[*number as usize]).1[0]);
                assert!(ends.is_sorted_by(|one, other| one >= other), "{count} {size} {at:?}");
                let meets = |triangle: &Triangle| covers(triangle.map(|[_, y, z]| [y, z]), at) != 0;
                let missed = (0..triangles.len())
                    .find(|number| meets(&triangles[*number]) && !of_column.contains(&(*number as i32)));
                assert_eq!(missed, None, "{count} {size} {at:?}");
            }
        }
    }
}
