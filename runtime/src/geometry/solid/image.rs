//! Voxel images: cubes of equal size, each solid or not. Outside an image nothing is solid.
//!
//! The surface consists of faces of voxels. A voxel includes its lower faces, so a point on a face belongs to exactly one voxel.

use std::fmt;
use std::sync::Arc;

use super::vector::Vector;

/// Positions closer than this are equal; in voxels, or as a fraction of a path.
const SLACK: f64 = 1e-9;

/// Voxels that are read at a time, a multiple of the word size.
const PIECE: usize = 4096;

/// Which voxels of an image are solid.
#[derive(Clone, PartialEq, Eq)]
pub struct Voxels {
    /// Number of voxels along each axis, 1 beyond the dimension.
    size: [usize; 3],
    /// Words of a row along x.
    words: usize,
    /// `bits[(z * size[1] + y) * words + x / 64] >> (x % 64) & 1`: whether the voxel is solid.
    bits: Vec<u64>,
}

/// The bits of up to 64 voxels, the first lowest.
fn word(solid: &[bool]) -> u64 {
    solid.iter().rev().fold(0, |word, solid| word << 1 | u64::from(*solid))
}

impl Voxels {
    /// Reads voxels with `fill`, piece by piece with x fastest: each call gets the entries to fill, which end with a row or before it.
    /// Stops at the first error.
    pub fn new<E>(size: [usize; 3], mut fill: impl FnMut(&mut [bool]) -> Result<(), E>) -> Result<Voxels, E> {
        let words = size[0].div_ceil(64);
        let mut bits = vec![0; words * size[1] * size[2]];
        let mut solid = vec![false; size[0].min(PIECE)];
        for row in bits.chunks_mut(words) {
            for (number, part) in row.chunks_mut(PIECE / 64).enumerate() {
                let solid = &mut solid[..PIECE.min(size[0] - number * PIECE)];
                fill(solid)?;
                for (word, solid) in part.iter_mut().zip(solid.chunks(64)) {
                    *word = self::word(solid);
                }
            }
        }
        Ok(Voxels { size, words, bits })
    }

    /// From an iterator of one value per voxel, x fastest.
    #[cfg(test)]
    pub(super) fn of(size: [usize; 3], solid: &mut dyn Iterator<Item = bool>) -> Voxels {
        let fill = |piece: &mut [bool]| {
            piece.iter_mut().zip(&mut *solid).for_each(|(place, solid)| *place = solid);
            Ok::<_, std::convert::Infallible>(())
        };
        Voxels::new(size, fill).expect("no error")
    }

    /// Number of voxels along each axis.
    pub fn size(&self) -> [usize; 3] {
        self.size
    }

    /// Number of solid voxels.
    pub fn count(&self) -> usize {
        self.bits.iter().map(|word| word.count_ones() as usize).sum()
    }

    /// Exchanges solid voxels and others.
    pub fn opposite(mut self) -> Voxels {
        let last = self.size[0] % 64;
        for row in self.bits.chunks_mut(self.words) {
            row.iter_mut().for_each(|word| *word = !*word);
            if last > 0 {
                row[self.words - 1] &= (1 << last) - 1;
            }
        }
        self
    }

    /// Whether each voxel is solid, x fastest.
    pub fn solid(&self) -> impl Iterator<Item = bool> {
        let [width, height, depth] = self.size;
        (0..width * height * depth).map(move |at| self.at([at % width, at / width % height, at / (width * height)]))
    }

    /// The voxels as kernels read them: bit `x % 32` of word `x / 32` of each row along x.
    pub(super) fn half_words(&self) -> impl Iterator<Item = i32> {
        let halves = self.size[0].div_ceil(32);
        let half = move |row: &[u64], at: usize| (row[at / 2] >> (32 * (at % 2))) as u32 as i32;
        self.bits.chunks(self.words).flat_map(move |row| (0..halves).map(move |at| half(row, at)))
    }

    /// The words of a row along x.
    fn row(&self, y: usize, z: usize) -> &[u64] {
        &self.bits[(z * self.size[1] + y) * self.words..][..self.words]
    }

    fn at(&self, [x, y, z]: [usize; 3]) -> bool {
        self.row(y, z)[x / 64] >> (x % 64) & 1 == 1
    }

    /// Whether a range of voxels, including its ends, has solid voxels, and whether it has others.
    fn kinds(&self, low: [usize; 3], high: [usize; 3]) -> (bool, bool) {
        let (mut solid, mut fluid) = (false, false);
        let words = low[0] / 64..=high[0] / 64;
        for (z, y) in (low[2]..=high[2]).flat_map(|z| (low[1]..=high[1]).map(move |y| (z, y))) {
            let row = self.row(y, z);
            for word in words.clone() {
                let from = low[0].saturating_sub(64 * word);
                let to = (high[0] - 64 * word).min(63);
                let mask = u64::MAX << from & u64::MAX >> (63 - to);
                solid |= row[word] & mask != 0;
                fluid |= !row[word] & mask != 0;
            }
            if solid && fluid {
                break;
            }
        }
        (solid, fluid)
    }

    /// The lowest solid voxel along each axis, and one beyond the highest.
    fn extent(&self) -> ([usize; 3], [usize; 3]) {
        let mut along_x = vec![0; self.words];
        let (mut low, mut high) = ([usize::MAX; 3], [0; 3]);
        for (number, row) in
            self.bits.chunks(self.words).enumerate().filter(|(_, row)| row.iter().any(|bits| *bits != 0))
        {
            along_x.iter_mut().zip(row).for_each(|(all, bits)| *all |= bits);
            for (axis, at) in [(1, number % self.size[1]), (2, number / self.size[1])] {
                (low[axis], high[axis]) = (low[axis].min(at), high[axis].max(at + 1));
            }
        }
        let solid = |word: &u64| *word != 0;
        if let (Some(first), Some(last)) = (along_x.iter().position(solid), along_x.iter().rposition(solid)) {
            low[0] = 64 * first + along_x[first].trailing_zeros() as usize;
            high[0] = 64 * last + (64 - along_x[last].leading_zeros() as usize);
        }
        (low.map(|low| if low == usize::MAX { 0 } else { low }), high)
    }
}

impl fmt::Debug for Voxels {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.size;
        write!(out, "{x} x {y} x {z} voxels, {} of them solid", self.count())
    }
}

/// A voxel image at its position.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    voxels: Arc<Voxels>,
    /// Its lower corner.
    from: Vector,
    /// Width of a voxel.
    width: f64,
    /// Bounding box of the solid voxels.
    bounds: (Vector, Vector),
}

impl Image {
    /// An image with its lower corner at `from` and voxels of `width`, in cells of the coarsest level. In two dimensions it is one voxel
    /// thick, with z = 0 in the middle.
    pub fn new(voxels: Arc<Voxels>, from: Vector, width: f64) -> Image {
        let (low, high) = voxels.extent();
        let corner = |at: [usize; 3]| [0, 1, 2].map(|axis| from[axis] + at[axis] as f64 * width);
        Image { bounds: (corner(low), corner(high)), voxels, from, width }
    }

    /// Width of a voxel.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Its voxels.
    pub(super) fn voxels(&self) -> &Arc<Voxels> {
        &self.voxels
    }

    /// Its lower corner, and the width of a voxel.
    pub(super) fn place_in_space(&self) -> (Vector, f64) {
        (self.from, self.width)
    }

    pub(super) fn bounds(&self) -> (Vector, Vector) {
        self.bounds
    }

    pub(super) fn shifted(&self, by: Vector) -> Image {
        let plus = |at: Vector| [0, 1, 2].map(|axis| at[axis] + by[axis]);
        let bounds = (plus(self.bounds.0), plus(self.bounds.1));
        Image { from: plus(self.from), bounds, ..self.clone() }
    }

    /// A point in voxels from the lower corner.
    fn place(&self, at: Vector) -> Vector {
        [0, 1, 2].map(|axis| (at[axis] - self.from[axis]) / self.width)
    }

    /// Index of the voxel at a position along an axis: -1 below the first, and the number of voxels above the last.
    fn index(&self, axis: usize, place: f64) -> i64 {
        (place.floor() as i64).clamp(-1, self.voxels.size[axis] as i64)
    }

    fn is_solid(&self, at: [i64; 3]) -> bool {
        let inside = (0..3).all(|axis| (0..self.voxels.size[axis] as i64).contains(&at[axis]));
        inside && self.voxels.at(at.map(|at| at as usize))
    }

    pub(super) fn contains(&self, at: Vector) -> bool {
        let place = self.place(at);
        self.is_solid([0, 1, 2].map(|axis| self.index(axis, place[axis])))
    }

    /// The fraction of a path at which it first passes from a solid voxel to another one or back, found by traversal from face to face
    /// (Amanatides & Woo, Eurographics 1987, p. 3).
    pub(super) fn crossing(&self, from: Vector, to: Vector) -> Option<f64> {
        let (from, to) = (self.place(from), self.place(to));
        let mut voxel = [0, 1, 2].map(|axis| self.index(axis, from[axis]));
        let begin = self.is_solid(voxel);
        // The fraction at which the path meets the next face of an axis; `None` outside the image.
        let next = |voxel: [i64; 3], axis: usize| {
            let way = to[axis] - from[axis];
            let face = if way > 0.0 { voxel[axis] + 1 } else { voxel[axis] };
            let is_face = way != 0.0 && (0..=self.voxels.size[axis] as i64).contains(&face);
            // A path that ends on the lower face of a voxel ends in that voxel.
            let part = (face as f64 - from[axis]) / way;
            (is_face && (part < 1.0 || part == 1.0 && way > 0.0)).then_some(part)
        };
        loop {
            let parts = [0, 1, 2].map(|axis| next(voxel, axis));
            let part = parts.into_iter().flatten().min_by(f64::total_cmp)?;
            let mut step = [0; 3];
            for axis in (0..3).filter(|axis| parts[*axis].is_some_and(|other| other <= part + SLACK)) {
                step[axis] = if to[axis] > from[axis] { 1 } else { -1 };
            }
            if !begin && !self.leads(voxel, step) {
                return Some(part.max(0.0));
            }
            voxel = [0, 1, 2].map(|axis| voxel[axis] + step[axis]);
            if self.is_solid(voxel) != begin {
                return Some(part.max(0.0));
            }
        }
    }

    /// Whether a path from face to face through fluid voxels leads from a voxel to the one that is a step away along each of some axes:
    /// solid voxels that touch at an edge leave no gap.
    fn leads(&self, from: [i64; 3], step: [i64; 3]) -> bool {
        let along = |axis: usize| {
            let (mut next, mut rest) = (from, step);
            (next[axis], rest[axis]) = (from[axis] + step[axis], 0);
            !self.is_solid(next) && self.leads(next, rest)
        };
        step == [0; 3] || (0..3).filter(|axis| step[*axis] != 0).any(along)
    }

    pub(super) fn near(&self, from: Vector, to: Vector) -> bool {
        // Faces of voxels on a side of the box belong to the box.
        let (from, to) = (self.place(from), self.place(to));
        let low = [0, 1, 2].map(|axis| self.index(axis, from[axis] - SLACK));
        let high = [0, 1, 2].map(|axis| self.index(axis, to[axis] + SLACK));
        let end = self.voxels.size.map(|count| count as i64 - 1);
        let (first, last) = ([0, 1, 2].map(|axis| low[axis].max(0)), [0, 1, 2].map(|axis| high[axis].min(end[axis])));
        if (0..3).any(|axis| first[axis] > last[axis]) {
            return false;
        }
        let (solid, fluid) = self.voxels.kinds(first.map(|at| at as usize), last.map(|at| at as usize));
        solid && (fluid || first != low || last != high)
    }

    /// Whether a cell of a width has its centre in a solid voxel, in a domain of `dim` axes from the origin to `end`.
    pub fn has_centres(&self, width: f64, dim: usize, end: Vector) -> bool {
        let of_axis = |axis: usize| -> Vec<bool> {
            let has_centre = |voxel: usize| {
                let edge = |at: usize| self.from[axis] + at as f64 * self.width;
                let centre = ((edge(voxel).max(0.0) / width - 0.5).ceil() + 0.5) * width;
                axis >= dim || centre < edge(voxel + 1).min(end[axis])
            };
            (0..self.voxels.size[axis]).map(has_centre).collect()
        };
        let [along_x, along_y, along_z] = [0, 1, 2].map(of_axis);
        let along_x: Vec<u64> = along_x.chunks(64).map(word).collect();
        let [_, ny, nz] = self.voxels.size;
        let row = |y: usize, z: usize| self.voxels.row(y, z).iter().zip(&along_x).any(|(solid, has)| solid & has != 0);
        (0..nz).filter(|z| along_z[*z]).any(|z| (0..ny).filter(|y| along_y[*y]).any(|y| row(y, z)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn voxels(size: [usize; 3], solid: impl Fn([usize; 3]) -> bool) -> Arc<Voxels> {
        let [nx, ny, nz] = size;
        let mut all = (0..nx * ny * nz).map(|at| solid([at % nx, at / nx % ny, at / (nx * ny)]));
        Arc::new(Voxels::of(size, &mut all))
    }

    /// A porous body that is wider than a word.
    fn lump() -> Image {
        let solid = |[x, y, z]: [usize; 3]| (x * 7 + y * 5 + z * 3 + x * y * z) % 11 < 4 && x > 2 && y < 8;
        Image::new(voxels([70, 9, 8], solid), [-1.3, 2.1, 0.7], 0.6)
    }

    #[test]
    fn a_way_crosses_where_the_kind_of_voxel_changes_first() {
        let image = lump();
        let (mut crossed, mut passed) = (0, 0);
        for start in 0..4000 {
            let part = |by: usize, of: usize| (start * by % of) as f64 / of as f64;
            let from = [part(37, 101) * 44.0 - 2.0, part(53, 103) * 7.0 + 1.0, part(71, 107) * 6.0];
            let way = [part(11, 13) * 4.0 - 2.0, part(17, 19) * 4.0 - 2.0, part(5, 7) * 4.0 - 2.0];
            let at = |part: f64| [0, 1, 2].map(|axis| from[axis] + part * way[axis]);
            let begin = image.contains(from);
            let found = image.crossing(from, at(1.0));
            // The kind does not change before the crossing.
            let until = found.unwrap_or(1.0);
            let samples = (0..=200).map(|sample| until * f64::from(sample) / 200.0);
            assert!(
                samples.filter(|part| *part < until - 1e-9).all(|part| image.contains(at(part)) == begin),
                "{from:?}"
            );
            match found {
                Some(part) => {
                    assert_ne!(image.contains(at(part + 1e-9)), begin, "{from:?} {way:?} {part}");
                    crossed += 1;
                }
                None => passed += 1,
            }
        }
        assert!(crossed > 1000 && passed > 300, "{crossed} {passed}");
    }

    #[test]
    fn a_link_through_an_edge_of_voxels_is_cut_half_way() {
        let image = Image::new(voxels([2, 2, 1], |at| at == [1, 1, 0]), [0.0, 0.0, -0.5], 1.0);
        assert_eq!(image.crossing([0.5, 0.5, 0.0], [1.5, 1.5, 0.0]), Some(0.5));
        assert_eq!(image.crossing([2.5, 2.5, 0.0], [1.5, 1.5, 0.0]), Some(0.5));
        assert_eq!(image.crossing([0.5, 1.5, 0.0], [1.5, 1.5, 0.0]), Some(0.5));
        assert_eq!(image.crossing([0.5, 1.5, 0.0], [1.5, 2.5, 0.0]), None);
    }

    #[test]
    fn a_box_is_near_if_and_only_if_it_has_a_part_of_the_surface() {
        let image = lump();
        let (mut near, mut far) = (0, 0);
        for start in 0..3000 {
            let part = |by: usize, of: usize| (start * by % of) as f64 / of as f64;
            let from = [part(37, 101) * 44.0 - 2.0, part(53, 103) * 9.0, part(71, 107) * 8.0 - 1.0];
            let side = 0.05 + 0.6 * part(3, 11);
            let to = from.map(|at| at + side);
            let points = (0..1000).map(|at| [at % 10, at / 10 % 10, at / 100].map(|at| at as f64 / 9.0));
            let mut kinds = points.map(|at| image.contains([0, 1, 2].map(|axis| from[axis] + side * at[axis])));
            let first = kinds.next();
            let mixed = kinds.any(|kind| Some(kind) != first);
            assert_eq!(image.near(from, to), mixed, "{from:?} {side}");
            if mixed { near += 1 } else { far += 1 }
        }
        assert!(near > 500 && far > 500, "{near} {far}");
    }

    #[test]
    fn the_bounds_are_those_of_the_solid_voxels() {
        let image = Image::new(voxels([80, 4, 3], |[x, y, z]| (65..70).contains(&x) && y == 2 && z < 2), [1.0; 3], 0.5);
        assert_eq!(image.bounds(), ([33.5, 2.0, 1.0], [36.0, 2.5, 2.0]));
        assert_eq!(image.shifted([1.0, 0.0, -1.0]).bounds(), ([34.5, 2.0, 0.0], [37.0, 2.5, 1.0]));
    }

    #[test]
    fn what_is_between_centres_of_cells_has_none() {
        let plate = Image::new(voxels([8, 1, 8], |_| true), [0.0, 1.7, 0.0], 0.6);
        assert!(!plate.has_centres(1.0, 3, [8.0; 3]) && plate.has_centres(0.5, 3, [8.0; 3]));
        let beyond = Image::new(voxels([8, 8, 8], |[x, ..]| x < 4), [-4.0, 0.0, 0.0], 1.0);
        assert!(!beyond.has_centres(0.5, 3, [8.0; 3]));
    }

    #[test]
    fn the_opposite_has_the_other_voxels_and_none_beyond_the_rows() {
        let some = voxels([67, 3, 2], |[x, y, _]| x % 3 == 0 && y != 1);
        let other = (*some).clone().opposite();
        assert_eq!(some.count() + other.count(), 67 * 3 * 2);
        assert!(some.solid().zip(other.solid()).all(|(one, other)| one != other));
    }
}
