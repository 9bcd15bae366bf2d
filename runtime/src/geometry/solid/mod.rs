//! Solids in the flow: the cells that they fill, and the links that they cut.
//!
//! In: shapes with a boundary rule each, and the blocks of a grid. After: a cell is solid if its centre is inside a solid; each link
//! between a fluid and a solid cell has the number of the wall that is the surface there, and the distance of the surface.
//!
//! | module | job |
//! | --- | --- |
//! | `vector`, `turn` | points and vectors; rotations about a point |
//! | `shape` | spheres, ellipsoids, boxes, cylinders |
//! | `surface` | closed surfaces of triangles, which `stl` reads; `tree` finds triangles near a place |
//! | `mesh` | its triangles, and how often rays leave through them |
//! | `columns` | what is inside of a surface, for kernels: voxels, and the triangles that rays along x may meet |
//! | `open`, `lids` | surfaces with holes: generalised winding numbers; what closes the holes |
//! | `distance` | how far points are from surfaces |
//! | `thickness` | how a grid resolves the inside of a surface |
//! | `section`, `holes`, `weld` | sections of surfaces by a plane; small holes closed; nearly coincident corners merged |
//! | `image` | voxel images |
//! | `mass` | volume, centre and moments of inertia of shapes |
//! | `orientation` | quaternions |
//! | `free` | bodies that the fluid moves: their time steps |
//! | `contact` | repulsive force and lubrication between spheres and walls |
//! | `motion` | positions of moving solids |
//! | `pushed` | free bodies among the solids of a domain |
//! | `reserve` | blocks that are reserved for moving solids |
//! | `ways` | intersections of paths between cells with solids, also between two fluid cells |
//! | `flat` | shapes as arrays, for kernels |
//! | `cut` | the cut links of a block and their distances |
//! | `padding` | cells of blocks beyond the domain, and the faces in front of them |
//! | `tables` | the rows of all blocks with cut links |
//! | `patches` | patches of surfaces under boundary layers, and where the flow above them is sampled |
//!
//! Blocks with cut links and all blocks that touch them are on one level: see [`Solids::level`].

mod columns;
mod contact;
mod cut;
mod distance;
mod error;
mod flat;
mod free;
mod holes;
mod image;
mod lids;
mod mass;
mod mesh;
mod motion;
mod open;
mod orientation;
mod padding;
mod patches;
mod periodic;
mod pushed;
mod reserve;
mod section;
mod shape;
mod stl;
mod surface;
mod tables;
mod thickness;
mod tree;
mod triangle;
mod turn;
mod vector;
mod ways;
mod weld;

pub use cut::Cut;
pub use error::{By, Cells, SolidError};
pub use flat::{Flat, FlatShapes};
pub use free::{BodyState, Change, FreeBody, Impulse, Turning};
pub use image::{Image, Voxels};
pub use lids::Hole;
pub use mass::Mass;
pub use motion::{MOST_PLACES, Motion, Pose, Rate};
pub use open::Enclosed;
pub use orientation::Orientation;
pub use padding::Padding;
pub use patches::{Beside, Gives, Layered, Rows, SurfacePatch};
pub use pushed::{Astray, Unchanged};
pub use shape::Shape;
pub use surface::{Open, Surface};
pub use tables::{Crossed, Crossing, Cutters, Row, Tables};
pub use thickness::Thickness;
pub use turn::Turn;
pub use vector::Vector;
pub use weld::Welds;

use std::ops::Range;
use std::sync::Arc;

use crate::geometry::Block;

/// A solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its shape.
    pub shape: Shape,
    /// The boundary rule of its surface.
    pub rule: String,
    /// The rule's parameters by name, each with all its components, without those that the geometry gives.
    pub values: Vec<(String, Vec<f64>)>,
    /// Level of the cells at its surface.
    pub level: usize,
    /// The shells around it in which cells have a minimum level.
    pub shells: Vec<Shell>,
}

/// A region within a distance of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// The minimum level of cells there.
    pub level: usize,
    /// Distance along each axis, in cells of the coarsest level.
    pub within: f64,
}

/// All solids of a domain, with their periodic images, except for shapes of the form [`Shape::Outside`].
#[derive(Clone, Debug)]
pub struct Solids {
    dim: usize,
    size: [usize; 3],
    block: [usize; 3],
    periodic: [bool; 3],
    count: usize,
    /// The level of the cells at the surface of each.
    levels: Vec<usize>,
    /// The shells of each.
    shells: Vec<Vec<Shell>>,
    /// All shapes that reach into the domain or touch it, fixed ones first.
    images: Vec<Placed>,
    /// Number of fixed shapes.
    still: usize,
    /// Moving solids.
    moving: Vec<Moving>,
    /// Of each the largest distance along each axis between a moving surface and its nearest sample position.
    slack: Vec<f64>,
    /// The shapes of moving solids at sample positions that cover an interval of their motion, for the levels of blocks.
    places: Arc<reserve::Reserved>,
}

/// The shape of a solid at a position.
#[derive(Clone, Debug, PartialEq)]
struct Placed {
    /// The number of the solid.
    number: usize,
    shape: Shape,
    /// The pivot, if it rotates.
    pivot: Option<Vector>,
}

/// A moving solid.
#[derive(Clone, Debug)]
struct Moving {
    number: usize,
    shape: Arc<Shape>,
    motion: Motion,
    /// Its last position.
    pose: Pose,
    /// The position around which blocks are reserved, of a free body.
    reserved: Pose,
}

impl Placed {
    /// Vector from the pivot to a point; 0 if there is no pivot.
    fn arm(&self, at: Vector) -> Vector {
        self.pivot.map_or([0.0; 3], |pivot| vector::minus(at, pivot))
    }
}

impl Solids {
    /// The solids of a domain of `size` cells of the coarsest level (1 beyond the dimension).
    pub fn new(solids: &[Solid], dim: usize, size: [usize; 3], block: [usize; 3], periodic: [bool; 3]) -> Self {
        let mut all = Solids {
            dim,
            size,
            block,
            periodic,
            count: solids.len(),
            levels: solids.iter().map(|solid| solid.level).collect(),
            shells: solids.iter().map(|solid| solid.shells.clone()).collect(),
            images: Vec::new(),
            still: 0,
            moving: Vec::new(),
            // A cell of the level of each.
            slack: solids.iter().map(|solid| 0.5f64.powi(solid.level as i32)).collect(),
            places: Arc::default(),
        };
        for (number, solid) in solids.iter().enumerate() {
            let at = |by: Vector| Placed { number, shape: solid.shape.shifted(by), pivot: None };
            let turns = all.repeats(&solid.shape, solid.shape.bounds(), all.reach_of_levels(number));
            all.images.extend(turns.into_iter().map(at));
        }
        all.images.iter().for_each(|placed| placed.shape.prepare());
        all.still = all.images.len();
        all
    }

    /// The same with moving solids, at time 0: `motions` has the motion of each solid that moves.
    pub fn moving(mut self, solids: &[Solid], motions: &[Option<Motion>]) -> Self {
        for (number, (solid, motion)) in solids.iter().zip(motions).enumerate() {
            let Some(motion) = motion else { continue };
            let (shape, pose) = (Arc::new(solid.shape.clone()), motion.at(0.0));
            self.moving.push(Moving { number, shape, motion: motion.clone(), pose, reserved: pose });
        }
        self.images.retain(|placed| motions.get(placed.number).is_none_or(Option::is_none));
        self.still = self.images.len();
        self.place();
        self
    }

    /// The end of the motions.
    pub fn end(&self) -> f64 {
        self.moving.iter().map(|moving| moving.motion.duration().end).fold(0.0, f64::max)
    }

    /// Moves the solids of a level to their positions at a time, in steps of the coarsest level.
    pub fn set_time(&mut self, level: usize, time: f64) {
        let (levels, mut moved) = (&self.levels, false);
        for moving in self.moving.iter_mut().filter(|moving| levels[moving.number] == level) {
            let pose = moving.motion.at(time);
            moved |= pose != moving.pose;
            moving.pose = pose;
        }
        if moved {
            self.place();
        }
    }

    /// The moving solids of a level, with their motions.
    pub fn motions(&self, level: usize) -> impl Iterator<Item = (usize, &Motion)> {
        let of_level = move |moving: &&Moving| self.levels[moving.number] == level;
        self.moving.iter().filter(of_level).map(|moving| (moving.number, &moving.motion))
    }

    /// The blocks of a level that its moving solids may touch at their present positions, sorted.
    pub fn touched(&self, level: usize) -> Vec<Block> {
        // Links reach one cell beyond the block.
        let width = 0.5f64.powi(level as i32);
        let of_level = |placed: &&Placed| self.levels[placed.number] == level;
        let images = self.images[self.still..].iter().filter(of_level);
        let mut blocks: Vec<Block> =
            images.flat_map(|placed| self.blocks_within(placed.shape.bounds(), width, level)).collect();
        blocks.sort_unstable();
        blocks.dedup();
        blocks
    }

    /// The places along each axis of the blocks of a level within a distance of a box.
    fn range_within(&self, (low, high): (Vector, Vector), reach: f64, level: usize) -> [Range<usize>; 3] {
        let width = 0.5f64.powi(level as i32);
        let range = |axis: usize| {
            if axis >= self.dim {
                return 0..1;
            }
            let count = self.size[axis].div_ceil(self.block[axis]) << level;
            // The cast saturates values out of range.
            let place = |at: f64| (at / width / self.block[axis] as f64).floor();
            (place(low[axis] - reach).max(0.0) as usize).min(count)
                ..((place(high[axis] + reach) + 1.0).max(0.0) as usize).min(count)
        };
        [0, 1, 2].map(range)
    }

    /// The blocks of a level within a distance of a box.
    fn blocks_within(&self, bounds: (Vector, Vector), reach: f64, level: usize) -> impl Iterator<Item = Block> {
        let [along_x, along_y, along_z] = self.range_within(bounds, reach, level);
        along_z.flat_map(move |z| {
            let along_x = along_x.clone();
            along_y.clone().flat_map(move |y| along_x.clone().map(move |x| Block { level, place: [x, y, z] }))
        })
    }

    /// The shapes that determine the level of a block: fixed shapes, and moving ones at all sample positions, unless none of those of a solid comes within a
    /// distance of the block that follows from its number and its tolerance; each with its tolerance.
    fn lasting(&self, block: Block, far: impl Fn(usize, f64) -> Vector) -> impl Iterator<Item = (usize, &Shape, f64)> {
        let still = self.images[..self.still].iter().map(|placed| (placed.number, &placed.shape, 0.0));
        let near = self.places.near(move |number| self.around(block, far(number, self.slack(number))));
        still.chain(near.map(|placed| (placed.number, &placed.shape, self.slack(placed.number))))
    }

    /// The box of a block and of all within a distance of it along each axis.
    fn around(&self, block: Block, far: Vector) -> (Vector, Vector) {
        let width = 0.5f64.powi(block.level as i32);
        let corner = |axis: usize, upper: usize, sign: f64| match axis < self.dim {
            true => ((block.place[axis] + upper) * self.block[axis]) as f64 * width + sign * far[axis],
            false => 0.0,
        };
        ([0, 1, 2].map(|axis| corner(axis, 0, -1.0)), [0, 1, 2].map(|axis| corner(axis, 1, 1.0)))
    }

    /// The largest distance along each axis between a moving surface and its nearest sample position.
    fn slack(&self, number: usize) -> f64 {
        self.slack[number]
    }

    /// Number of solids.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The level that a block or its descendants must have, because a surface cuts it or a block of that level that touches it.
    pub fn level(&self, block: Block) -> Option<usize> {
        let far = |number: usize, slack: f64| {
            let finest = 0.5f64.powi(self.levels[number] as i32);
            self.block.map(|cells| (cells as f64 + 1.0) * finest + slack)
        };
        let wanted = self
            .lasting(block, far)
            .filter(|(number, shape, slack)| self.reaches(shape, far(*number, *slack), self.levels[*number], block));
        wanted.map(|(number, ..)| self.levels[number]).max()
    }

    /// The minimum level of a block or its descendants, because shells reach into it.
    pub fn level_of_shells(&self, block: Block) -> Option<usize> {
        let far = |number: usize, slack: f64| {
            let within = self.shells[number].iter().map(|shell| shell.within).fold(0.0, f64::max);
            [within + slack; 3]
        };
        let all = self.lasting(block, far).flat_map(|(number, shape, slack)| {
            self.shells[number].iter().map(move |shell| (shell, shape, shell.within + slack))
        });
        let reaching = all.filter(|(shell, shape, within)| self.reaches(shape, [*within; 3], shell.level, block));
        reaching.map(|(shell, ..)| shell.level).max()
    }

    /// Whether a surface that requires a level comes within a distance along each axis of a block of that level. For a coarser block, one
    /// of its children must be reached too: [`Shape::near`] may be wrong for the whole block and right for all its children, which would
    /// then be created and not needed.
    fn reaches(&self, shape: &Shape, far: [f64; 3], level: usize, block: Block) -> bool {
        let part = |octant: usize| {
            let place = |axis: usize| match axis < self.dim {
                true => 2 * block.place[axis] + (octant >> axis & 1),
                false => block.place[axis],
            };
            Block { level: block.level + 1, place: [0, 1, 2].map(place) }
        };
        let (low, high) = self.around(block, far);
        shape.near(low, high)
            && (block.level >= level || (0..1 << self.dim).any(|octant| self.reaches(shape, far, level, part(octant))))
    }

    /// The shapes whose bounding boxes a box touches.
    fn touching(&self, low: Vector, high: Vector) -> impl Iterator<Item = &Shape> {
        let touches = move |placed: &&Placed| {
            let (from, to) = placed.shape.bounds();
            (0..self.dim).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
        };
        self.images.iter().filter(touches).map(|placed| &placed.shape)
    }

    /// Whether a box is inside solids (`Some(true)`), outside all solids (`Some(false)`), or may have both (`None`).
    pub fn fills(&self, low: Vector, high: Vector) -> Option<bool> {
        let (mut near, mut inside) = (false, false);
        for shape in self.touching(low, high) {
            match shape.near(low, high) {
                true => near = true,
                false => inside |= shape.contains(low),
            }
        }
        if inside { Some(true) } else { (!near).then_some(false) }
    }

    /// Which cells of a block are solid, x fastest; `None` if there are none. A cell is solid if its centre is inside a solid.
    pub fn mask(&self, block: Block) -> Option<Vec<bool>> {
        let [width, height, depth] = self.block;
        let centre = |at: [usize; 3]| -> Vector {
            let size = 0.5f64.powi(block.level as i32);
            let place = |axis: usize| ((block.place[axis] * self.block[axis] + at[axis]) as f64 + 0.5) * size;
            [0, 1, 2].map(|axis| if axis < self.dim { place(axis) } else { 0.0 })
        };
        let cells = width * height * depth;
        let (low, high) = (centre([0; 3]), centre([width - 1, height - 1, depth - 1]));
        match self.fills(low, high) {
            Some(false) => None,
            Some(true) => Some(vec![true; cells]),
            None => {
                let (mut mask, near) = (vec![false; cells], self.touching(low, high).collect::<Vec<_>>());
                for (row, inside) in mask.chunks_mut(width).enumerate() {
                    let point = |x: usize| centre([x, row % height, row / height]);
                    let ([_, y, z], xs) = (point(0), (0..width).map(|x| point(x)[0]).collect::<Vec<_>>());
                    near.iter().for_each(|shape| shape.inside_along(&xs, [y, z], inside));
                }
                mask.contains(&true).then_some(mask)
            }
        }
    }

    /// The solid among some whose surface a short path starting inside it crosses, closest to the middle of the path.
    pub fn crossed(&self, among: Range<usize>, from: Vector, to: Vector) -> Option<usize> {
        let of = |Placed { number, shape, .. }: &Placed| Some((*number, (shape.crossing(from, to)? - 0.5).abs()));
        let all = self.images.iter().filter(|placed| among.contains(&placed.number)).filter_map(of);
        all.min_by(|one, other| one.1.total_cmp(&other.1)).map(|(number, _)| number)
    }

    /// The solid that contains a point.
    pub fn at(&self, point: Vector) -> Option<usize> {
        self.inside(point).map(|placed| placed.number)
    }

    /// The placed shape that contains a point.
    fn inside(&self, point: Vector) -> Option<&Placed> {
        self.images.iter().find(|placed| placed.shape.contains(point))
    }

    /// Vector from the pivot of a rotating solid to a point on or near its surface; 0 if the solid does not rotate.
    pub fn arm(&self, number: usize, at: Vector) -> Vector {
        let beside = |placed: &Placed| {
            let (low, high) = placed.shape.bounds();
            (0..self.dim).map(|axis| (low[axis] - at[axis]).max(at[axis] - high[axis]).max(0.0)).fold(0.0, f64::max)
        };
        let images = self.images.iter().filter(|placed| placed.number == number);
        images.min_by(|one, other| beside(one).total_cmp(&beside(other))).map_or([0.0; 3], |placed| placed.arm(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_cells_whose_centres_are_inside() {
        let solid = |shape: Shape| Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let ball = Shape::Sphere { centre: [14.3, 9.0, 7.0], radius: 6.2 };
        // Extends across a periodic axis.
        let slab = Shape::Box { from: [-1.0, 0.0, 0.0], to: [2.0, 16.0, 16.0] };
        let solids = Solids::new(&[solid(ball), solid(slab)], 3, [24, 16, 16], [4; 3], [true, false, false]);
        let mut seen = [false; 3];
        for level in 0..2 {
            for at in 0..(6 * 4 * 4) << (3 * level) {
                let place = [at % (6 << level), at / (6 << level) % (4 << level), at / (24 << (2 * level))];
                let mask = solids.mask(Block { level, place });
                let centre = |cell: usize| {
                    let inside = [cell % 4, cell / 4 % 4, cell / 16];
                    [0, 1, 2].map(|axis| ((4 * place[axis] + inside[axis]) as f64 + 0.5) / f64::from(1 << level))
                };
                let expected: Vec<bool> = (0..64).map(|cell| solids.at(centre(cell)).is_some()).collect();
                assert_eq!(mask.clone().unwrap_or_else(|| vec![false; 64]), expected, "{level} {place:?}");
                let kind = mask.map_or(0, |mask| if mask.contains(&false) { 1 } else { 2 });
                seen[kind] = true;
            }
        }
        assert_eq!(seen, [true; 3], "blocks without, with some and with solid cells only");
    }
}
