//! Shapes as arrays of numbers, in the form in which kernels read them: see [`lbm_bundle::cutting`].

use std::ops::RangeInclusive;
use std::sync::Arc;

use lbm_bundle::cutting::{LONGEST_SCANNED, PASS_LISTS, SHAPE_INTS, SHAPE_NUMBERS, ShapeKind, TRIANGLE_NUMBERS};

use super::image::Voxels;
use super::shape::{Shape, scaled};
use super::surface::Surface;
use super::triangle::normal;
use super::turn::Turn;
use super::vector::{Vector, minus, plus};
use super::{Placed, Rate, Solids};

/// How far bounding boxes reach beyond a shape, so that round-off leaves no point of it outside.
const MARGIN: f64 = 1e-6;

/// Triangles of a surface that is scanned, at most: an int32 counts them in all directions.
const MOST_SCANNED: usize = i32::MAX as usize / 27;

/// Links that a surface passes, for each cell of its area: its mean over all orientations is 9.2 for links to all cells around.
const PASSED: f64 = 12.0;

/// The room of a list of links near triangles: as many that every list has at least, and at most. If it does not suffice, they are found twice.
const ROOM: RangeInclusive<usize> = 1 << 8..=1 << 16;

/// The data of all surfaces and images of some solids, which do not change when solids move.
#[derive(Default)]
pub struct Flat {
    /// `tree[node][3]`, `boxes[node][6]`, `triangles[triangle][12]`, `meets[triangle]`, `bits[word]`, `columns[entry]`
    pub tree: Vec<i32>,
    /// See [`Flat::tree`].
    pub boxes: Vec<f64>,
    /// See [`Flat::tree`].
    pub triangles: Vec<f64>,
    /// See [`Flat::tree`].
    pub meets: Vec<i32>,
    /// See [`Flat::tree`].
    pub bits: Vec<i32>,
    /// See [`Flat::tree`].
    pub columns: Vec<i32>,
    /// The leaf of each triangle of the surfaces that are scanned, which come first; numbered as the nodes of its surface.
    pub leaf_of: Vec<i32>,
    /// How many links near their triangles each of [`PASS_LISTS`] lists shall have room for.
    pub room: usize,
    /// Each surface with its first node, entry in `meets` or -1, entry in `columns`, and triangle.
    surfaces: Vec<(Surface, [i32; 4])>,
    /// Each image with its first word.
    images: Vec<(Arc<Voxels>, i32)>,
}

/// The shapes of all solids at one time.
#[derive(Clone, Default)]
pub struct FlatShapes {
    /// `kinds[shape][SHAPE_INTS]`
    pub kinds: Vec<i32>,
    /// `numbers[shape][SHAPE_NUMBERS]`
    pub numbers: Vec<f64>,
}

impl FlatShapes {
    /// Number of shapes.
    pub fn count(&self) -> usize {
        self.kinds.len() / SHAPE_INTS
    }

    /// The same with `count` shapes, those that are added empty.
    pub fn padded(mut self, count: usize) -> FlatShapes {
        let mut nowhere = [0.0; SHAPE_NUMBERS];
        // A bounding box that contains nothing.
        nowhere[23..26].fill(f64::INFINITY);
        nowhere[26..29].fill(f64::NEG_INFINITY);
        for _ in self.count()..count {
            self.kinds.extend([0; SHAPE_INTS]);
            self.numbers.extend(nowhere);
        }
        self
    }
}

/// A frame: a point `x` in space is at `frame + rows (x - space)`.
struct Frame {
    rows: [Vector; 3],
    space: Vector,
    frame: Vector,
}

impl Frame {
    const SPACE: Frame =
        Frame { rows: [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]], space: [0.0; 3], frame: [0.0; 3] };

    fn is_space(&self) -> bool {
        self.rows == Frame::SPACE.rows && self.frame == [0.0; 3]
    }

    /// The frame of what is displaced in this one.
    fn moved(self, by: Vector) -> Frame {
        match self.is_space() {
            true => Frame { space: plus(self.space, by), ..self },
            false => Frame { frame: minus(self.frame, by), ..self },
        }
    }

    /// The frame in which an ellipsoid of this one is a unit sphere about the origin.
    fn scaled(self, centre: Vector, radii: Vector) -> Frame {
        let rows = [0, 1, 2].map(|row| self.rows[row].map(|along| along / radii[row]));
        Frame { rows, frame: scaled(minus(self.frame, centre), radii), ..self }
    }

    /// The frame of what is rotated in this one.
    fn turned(self, turn: &Turn) -> Frame {
        let (rows, from, to) = turn.back_rows();
        if self.is_space() {
            return Frame { rows, space: plus(self.space, to), frame: from };
        }
        let row = |row: Vector, of: &dyn Fn(usize) -> f64| (0..3).map(|at| row[at] * of(at)).sum::<f64>();
        let both = rows.map(|one| [0, 1, 2].map(|column| row(one, &|at| self.rows[at][column])));
        let off = minus(self.frame, to);
        let frame = [0, 1, 2].map(|axis| from[axis] + row(rows[axis], &|at| off[at]));
        Frame { rows: both, space: self.space, frame }
    }
}

/// The surface of triangles of a shape, wherever it is.
fn surface_of(shape: &Shape) -> Option<&Surface> {
    match shape {
        Shape::Surface(surface) => Some(surface),
        Shape::Outside(shape) => surface_of(shape),
        Shape::Moved { shape, .. } | Shape::Turned { shape, .. } => surface_of(shape),
        _ => None,
    }
}

impl Solids {
    /// The width of the cells of the finest level of solids that move.
    fn finest(&self) -> f64 {
        let finest = self.moving.iter().map(|moving| self.levels[moving.number]).max().unwrap_or(0);
        0.5f64.powi(finest as i32)
    }

    /// The surfaces of solids that move which kernels scan: those of which all triangles are small.
    pub fn scanned(&self) -> impl Iterator<Item = &Surface> {
        let longest = LONGEST_SCANNED * self.finest();
        let surfaces = self.moving.iter().filter(|_| self.dim == 3).filter_map(|moving| surface_of(&moving.shape));
        surfaces.filter(move |surface| surface.triangles() <= MOST_SCANNED && surface.longest_side() <= longest)
    }
}

impl Flat {
    /// The data of all solids of a domain.
    pub fn new(solids: &Solids) -> Flat {
        let mut flat = Flat::default();
        for surface in solids.scanned() {
            if flat.surface(surface).is_none() {
                flat.add_surface(surface);
                // Leaves are in the order of their triangles.
                let leaves = surface.leaves().map(|(leaf, count)| std::iter::repeat_n(leaf as i32, count));
                flat.leaf_of.extend(leaves.flatten());
            }
        }
        let area = solids.scanned().map(Surface::area).sum::<f64>() / solids.finest().powi(2);
        flat.room = ((PASSED * area) as usize / PASS_LISTS).clamp(*ROOM.start(), *ROOM.end());
        solids.images.iter().for_each(|placed| flat.add(&placed.shape));
        flat
    }

    fn add(&mut self, shape: &Shape) {
        match shape {
            Shape::Surface(surface) if self.surface(surface).is_none() => self.add_surface(surface),
            Shape::Image(image) if self.image(image.voxels()).is_none() => {
                let first = self.bits.len() as i32;
                self.bits.extend(image.voxels().half_words());
                self.images.push((image.voxels().clone(), first));
            }
            Shape::Outside(shape) => self.add(shape),
            Shape::Moved { shape, .. } | Shape::Turned { shape, .. } => self.add(shape),
            _ => {}
        }
    }

    fn add_surface(&mut self, surface: &Surface) {
        let (tree, boxes) = surface.tree();
        let first =
            [self.tree.len() / 3, self.meets.len(), self.columns.len(), self.triangles.len() / TRIANGLE_NUMBERS];
        let first = first.map(|at| at as i32);
        self.tree.extend(tree);
        self.boxes.extend(boxes);
        let (triangles, meets) = surface.in_tree_order();
        self.columns.extend(surface.columns());
        let numbers = triangles.iter().flat_map(|corners| [&corners[..], &[normal(corners)]].concat());
        self.triangles.extend(numbers.flatten());
        let meets_all = meets.is_none();
        self.meets.extend(meets.into_iter().flatten().map(i32::from));
        let first = if meets_all { [first[0], -1, first[2], first[3]] } else { first };
        self.surfaces.push((surface.clone(), first));
    }

    fn surface(&self, surface: &Surface) -> Option<[i32; 4]> {
        self.surfaces.iter().find(|(known, _)| known.shares_data(surface)).map(|(_, first)| *first)
    }

    fn image(&self, voxels: &Arc<Voxels>) -> Option<i32> {
        self.images.iter().find(|(known, _)| Arc::ptr_eq(known, voxels)).map(|(_, first)| *first)
    }

    /// All shapes at their present positions. `velocity` gives, for a solid that rotates, where its velocity is among the values of its
    /// wall, and its velocity in the step that begins.
    pub fn shapes(&self, solids: &Solids, velocity: impl Fn(usize) -> Option<(usize, Rate)>) -> FlatShapes {
        let mut all = FlatShapes::default();
        for Placed { number, shape, pivot } in &solids.images {
            let turning = velocity(*number);
            let mut kinds = [0; SHAPE_INTS];
            let mut numbers = [0.0; SHAPE_NUMBERS];
            kinds[1] = *number as i32;
            kinds[3] = turning.map_or(-1, |(at, _)| at as i32);
            let frame = self.describe(shape, Frame::SPACE, &mut kinds, &mut numbers[15..23]);
            let (low, high) = shape.bounds();
            let Rate { velocity, rotation } = turning.map(|(_, rate)| rate).unwrap_or_default();
            let low = low.map(|at| at - MARGIN);
            let high = high.map(|at| at + MARGIN);
            let parts =
                [(0, frame.rows[0]), (3, frame.rows[1]), (6, frame.rows[2]), (9, frame.space), (12, frame.frame)];
            let others = [(23, low), (26, high), (29, pivot.unwrap_or_default()), (32, velocity), (35, rotation)];
            for (at, vector) in parts.into_iter().chain(others) {
                numbers[at..at + 3].copy_from_slice(&vector);
            }
            all.kinds.extend(kinds);
            all.numbers.extend(numbers);
        }
        all
    }

    /// Describes a shape in a frame; returns that of its numbers.
    fn describe(&self, shape: &Shape, frame: Frame, kinds: &mut [i32; SHAPE_INTS], of: &mut [f64]) -> Frame {
        kinds[0] = match shape {
            Shape::Sphere { centre, radius } => {
                of[..3].copy_from_slice(centre);
                of[3] = *radius;
                ShapeKind::Sphere
            }
            Shape::Ellipsoid { centre, radii } => {
                of[..4].copy_from_slice(&[0.0, 0.0, 0.0, 1.0]);
                kinds[0] = ShapeKind::Sphere as i32;
                return frame.scaled(*centre, *radii);
            }
            Shape::Box { from, to } => {
                of[..3].copy_from_slice(from);
                of[3..6].copy_from_slice(to);
                ShapeKind::Box
            }
            Shape::Cylinder { centre, axis, radius, length } => {
                of[..3].copy_from_slice(centre);
                of[3..6].copy_from_slice(axis);
                (of[6], of[7]) = (*radius, length.map_or(f64::INFINITY, |length| 0.5 * length));
                ShapeKind::Cylinder
            }
            Shape::Surface(surface) => {
                let (low, high) = surface.bounds();
                of[..3].copy_from_slice(&low);
                of[3..6].copy_from_slice(&high);
                kinds[4..].copy_from_slice(&self.surface(surface).expect("all surfaces are known"));
                ShapeKind::Surface
            }
            Shape::Image(image) => {
                let (from, width) = image.place_in_space();
                of[..3].copy_from_slice(&from);
                of[3] = width;
                kinds[4] = self.image(image.voxels()).expect("all images are known");
                let size = image.voxels().size();
                (0..3).for_each(|axis| kinds[5 + axis] = size[axis] as i32);
                ShapeKind::Image
            }
            Shape::Outside(shape) => {
                kinds[2] = 1 - kinds[2];
                return self.describe(shape, frame, kinds, of);
            }
            Shape::Moved { shape, by } => return self.describe(shape, frame.moved(*by), kinds, of),
            Shape::Turned { shape, turn } => return self.describe(shape, frame.turned(turn), kinds, of),
        } as i32;
        frame
    }
}
