//! What is inside of a surface, for kernels: which part of its box no triangle comes near, and elsewhere columns of triangles along x: what a ray along
//! x may meet without a walk through a tree.

use lbm_bundle::cutting::{COLUMN_ENTRY, COLUMN_HEAD, COLUMN_INTERVALS, IN_COLUMN, UNDECIDED, VOXELS_IN_WORD};
use rayon::prelude::*;

use super::triangle::{Triangle, bounds, covers, normal};
use super::vector::{Vector, dot, minus};

/// Entries for each triangle, at most: columns are made wider until so many suffice.
const ENTRIES: usize = 16;

/// Entries of a surface, at most, if it has not more triangles.
const MOST_ENTRIES: usize = 1 << 28;

/// Columns along an axis, at most: so many intervals can be counted.
const MOST_COLUMNS: f64 = (1 << 22) as f64;

/// Voxels for each triangle, about, and of a surface, at most.
const VOXELS: usize = 32;
const MOST_VOXELS: usize = 1 << 24;

/// Of a surface in a box with these corners: how many columns it has along y and z; how many voxels along x, y and z, and the integer at which they begin.
/// Then for each column, the y axis first, where its entries begin, and where the last end; then these, the one that ends last along x first: of each triangle
/// whose projection along x overlaps that of the column. An entry has the interval of x in which the triangle ends; a byte each for the first and the last
/// interval of the column along y and those along z that it reaches; and its number. Then the voxels, rows along x of whole integers: see [`VOXELS_IN_WORD`].
pub(super) fn columns(triangles: &[Triangle], (low, high): (Vector, Vector)) -> Vec<i32> {
    let wide = [1, 2].map(|axis| high[axis] - low[axis]);
    // As many as triangles, nearly square.
    let all = triangles.len().max(1) as f64;
    let along = (all * wide[0] / wide[1]).sqrt().ceil().clamp(1.0, all.min(MOST_COLUMNS));
    let mut counts = [along, (all / along).floor().min(MOST_COLUMNS)].map(|count| count as usize);
    let interval = |axis: usize, at: Vector, count: usize| interval_of(at[axis], low[axis], high[axis], count);
    let range = |counts: [usize; 2], triangle: &Triangle| {
        let (from, to) = bounds(triangle);
        [0, 1].map(|axis| interval(axis + 1, from, counts[axis])..interval(axis + 1, to, counts[axis]) + 1)
    };
    let entries = |counts: [usize; 2]| {
        triangles
            .iter()
            .map(|triangle| range(counts, triangle).iter().map(ExactSizeIterator::len).product::<usize>())
            .sum::<usize>()
    };
    while counts != [1, 1] && entries(counts) > MOST_ENTRIES.min(ENTRIES * triangles.len()) {
        counts = counts.map(|count| count.div_ceil(2));
    }
    let mut listed = vec![vec![]; counts[0] * counts[1]];
    let end = |number: &usize| bounds(&triangles[*number]).1[0];
    let mut order: Vec<usize> = (0..triangles.len()).collect();
    order.sort_by(|one, other| end(other).total_cmp(&end(one)));
    for number in order {
        let [y, z] = range(counts, &triangles[number]);
        z.for_each(|z| y.clone().for_each(|y| listed[z * counts[0] + y].push(number)));
    }
    let mut found = vec![counts[0] as i32, counts[1] as i32, 0, 0, 0, 0, 0];
    let mut begin = 0;
    for column in &listed {
        begin += column.len() as i32;
        found.push(begin);
    }
    for (column, listed) in listed.iter().enumerate() {
        let column = [column % counts[0], column / counts[0]];
        for number in listed {
            let (from, to) = bounds(&triangles[*number]);
            let in_column = |axis: usize, at: Vector| {
                let first = column[axis] * IN_COLUMN;
                interval(axis + 1, at, counts[axis] * IN_COLUMN).clamp(first, first + IN_COLUMN - 1) - first
            };
            let reach = [in_column(0, from), in_column(0, to), in_column(1, from), in_column(1, to)];
            let entry: [i32; COLUMN_ENTRY] = [
                interval(0, to, COLUMN_INTERVALS) as i32,
                i32::from_le_bytes(reach.map(|at| at as u8)),
                *number as i32,
            ];
            found.extend(entry);
        }
    }

    let size = voxels_along(triangles.len(), [0, 1, 2].map(|axis| high[axis] - low[axis]));
    let words = size[0].div_ceil(VOXELS_IN_WORD);
    let mut is_near = vec![false; size.iter().product()];
    for triangle in triangles {
        let (from, to) = bounds(triangle);
        let [x, y, z] = [0, 1, 2].map(|axis| interval(axis, from, size[axis])..interval(axis, to, size[axis]) + 1);
        for row in z.flat_map(|z| y.clone().map(move |y| (z * size[1] + y) * size[0])) {
            is_near[row + x.start..row + x.end].fill(true);
        }
    }
    let middle = |axis: usize, at: usize| low[axis] + (at as f64 + 0.5) / size[axis] as f64 * (high[axis] - low[axis]);
    let row_of = |(row, is_near): (usize, &[bool])| {
        let line = [middle(1, row % size[1]), middle(2, row / size[1])];
        let [y, z] = [0, 1].map(|axis| interval_of(line[axis], low[axis + 1], high[axis + 1], counts[axis]));
        let column = &listed[z * counts[0] + y];
        let (mut states, mut known) = (vec![0; words], None);
        for (at, is_near) in is_near.iter().enumerate() {
            // All voxels side by side that no triangle comes near are alike.
            known = (!is_near)
                .then(|| known.unwrap_or_else(|| is_inside(triangles, column, [middle(0, at), line[0], line[1]])));
            states[at / VOXELS_IN_WORD] |= known.map_or(UNDECIDED, i32::from) << (2 * (at % VOXELS_IN_WORD));
        }
        states
    };
    let begin = found.len() as i32;
    found[2..COLUMN_HEAD].copy_from_slice(&[size[0] as i32, size[1] as i32, size[2] as i32, begin]);
    let rows: Vec<_> = is_near.par_chunks(size[0]).enumerate().map(row_of).collect();
    found.extend(rows.into_iter().flatten());
    found
}

/// Voxels along each axis, nearly cubes.
fn voxels_along(triangles: usize, wide: Vector) -> [usize; 3] {
    let all = (VOXELS * triangles).clamp(1, MOST_VOXELS) as f64;
    let most = wide.iter().copied().fold(0.0, f64::max);
    let wide = wide.map(|along| along.max(most / all));
    let side = (wide.iter().product::<f64>() / all).cbrt();
    wide.map(|along| (along / side).ceil().clamp(1.0, all) as usize)
}

/// Whether a point that no triangle comes near is inside: by the triangles of its column. As `surrounds` in `templates/shared/cutting.c`.
fn is_inside(triangles: &[Triangle], column: &[usize], at: Vector) -> bool {
    let winding = |number: &usize| {
        let triangle = &triangles[*number];
        let (from, to) = bounds(triangle);
        let (across, normal) = (covers(triangle.map(|[_, y, z]| [y, z]), [at[1], at[2]]), normal(triangle));
        let over = dot(normal, minus(at, triangle[0]));
        let is_ahead = from[0] > at[0] || (to[0] > at[0] && normal[0] * over < 0.0);
        if is_ahead { across } else { 0 }
    };
    column.iter().map(winding).sum::<i32>() != 0
}

/// The interval of a range, divided into so many, in which a number lies; those at the ends reach beyond it. As in `templates/shared/cutting.c`: to the bit.
fn interval_of(at: f64, low: f64, high: f64, count: usize) -> usize {
    ((at - low) / (high - low) * count as f64).floor().max(0.0).min((count - 1) as f64) as usize
}

#[cfg(test)]
mod tests {
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
            let (begins, behind) = found[COLUMN_HEAD..].split_at(y * z + 1);
            let (listed, _) = behind.split_at(COLUMN_ENTRY * begins[y * z] as usize);
            let listed: Vec<i32> = listed.chunks_exact(COLUMN_ENTRY).map(|entry| entry[2]).collect();
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
    #[test]
    fn what_is_known_of_a_voxel_holds_for_all_points_in_it() {
        let ball = super::super::surface::tests::ball([0.3, 0.2, 0.1], 2.0, 4);
        let (triangles, (low, high)) = (ball.in_tree_order().0, ball.bounds());
        let found = columns(&triangles, (low, high));
        let size = [2, 3, 4].map(|at| found[at] as usize);
        let (words, voxels) = (size[0].div_ceil(VOXELS_IN_WORD), &found[found[5] as usize..]);
        let (mut state, mut counts) = (7, [0; 3]);
        for _ in 0..20_000 {
            let at = [0, 1, 2].map(|axis| low[axis] + (high[axis] - low[axis]) * random(&mut state));
            let [x, y, z] = [0, 1, 2].map(|axis| interval_of(at[axis], low[axis], high[axis], size[axis]));
            let known = voxels[(z * size[1] + y) * words + x / VOXELS_IN_WORD] >> (2 * (x % VOXELS_IN_WORD)) & 3;
            counts[known as usize] += 1;
            assert!(known == UNDECIDED || (known == 1) == ball.contains(at), "{at:?}: {known}");
        }
        assert!(counts[0] > 5000 && counts[1] > 8000, "outside, inside, not known: {counts:?}");
    }
}
