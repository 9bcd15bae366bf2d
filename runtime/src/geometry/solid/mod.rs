//! Solids in the flow: which cells they fill, which links they cut, and the force that the fluid exerts on them.
//!
//! In: shapes with a boundary rule each, and the blocks of a grid. After: a cell is solid if its centre is inside; each link between
//! a fluid and a solid cell has the number of the wall that is the surface there, and its distance.
//!
//! | module | job |
//! | --- | --- |
//! | `shape` | spheres, boxes, cylinders |
//! | `surface` | closed surfaces of triangles, which `stl` reads; `tree` finds those near a place |
//! | `section`, `holes` | surfaces cut by a plane, and small holes of them closed |
//! | `image` | images of voxels |
//! | `tables` | links and distances, block by block |
//!
//! Blocks with cut links and all that touch them are of one level: see [`Solids::level`].

mod holes;
mod image;
mod section;
mod shape;
mod stl;
mod surface;
mod tables;
mod tree;

pub use holes::Hole;
pub use image::{Image, Voxels};
pub use shape::{Shape, Vector};
pub use surface::{Open, Surface, Thickness};
pub use tables::{Crossed, Crossing, Cutters, SolidError, Tables};

use crate::geometry::Block;

/// A solid.
#[derive(Clone, Debug, PartialEq)]
pub struct Solid {
    /// Its shape.
    pub shape: Shape,
    /// The boundary rule of its surface.
    pub rule: String,
    /// The rule's parameters by name, each with all its components, without that which the geometry gives.
    pub values: Vec<(String, Vec<f64>)>,
    /// Level of the cells at its surface.
    pub level: usize,
    /// Where around it other levels begin.
    pub shells: Vec<Shell>,
}

/// What lies within a distance of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shell {
    /// The level that cells have there at least.
    pub level: usize,
    /// Along each axis, in cells of the coarsest level.
    pub within: f64,
}

/// All solids of a domain, repeated along periodic axes, but for those that are outside of a shape.
#[derive(Clone, Debug)]
pub struct Solids {
    dim: usize,
    size: [usize; 3],
    block: [usize; 3],
    periodic: [bool; 3],
    count: usize,
    /// The level of each.
    levels: Vec<usize>,
    /// The shells of each.
    shells: Vec<Vec<Shell>>,
    /// Every shape that reaches into the domain or touches it, with the number of its solid.
    images: Vec<(usize, Shape)>,
}

impl Solids {
    /// Those of a domain of `size` cells of the coarsest level (1 beyond the dimension).
    pub fn new(solids: &[Solid], dim: usize, size: [usize; 3], block: [usize; 3], periodic: [bool; 3]) -> Self {
        let mut images = Vec::new();
        for (number, solid) in solids.iter().enumerate() {
            // What is outside of one image is not outside of all.
            let repeats = !matches!(solid.shape, Shape::Outside(_));
            let turns = |axis: usize| if repeats && axis < dim && periodic[axis] { -1..=1 } else { 0..=0 };
            for by in turns(2).flat_map(|z| turns(1).flat_map(move |y| turns(0).map(move |x| [x, y, z]))) {
                let shape = solid.shape.shifted([0, 1, 2].map(|axis| f64::from(by[axis]) * size[axis] as f64));
                let (from, to) = shape.bounds();
                // Links reach a cell beyond the domain.
                let reach = solid.shells.iter().map(|shell| shell.within).fold(1.0, f64::max);
                if (0..dim).all(|axis| to[axis] > -reach && from[axis] < size[axis] as f64 + reach) {
                    images.push((number, shape));
                }
            }
        }
        Solids {
            dim,
            size,
            block,
            periodic,
            count: solids.len(),
            levels: solids.iter().map(|solid| solid.level).collect(),
            shells: solids.iter().map(|solid| solid.shells.clone()).collect(),
            images,
        }
    }

    /// How many solids there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The level that a block must have, or whose descendants must, because a surface cuts it or a block of that level that
    /// touches it.
    pub fn level(&self, block: Block) -> Option<usize> {
        let wanted = self.images.iter().filter(|(number, shape)| {
            let level = self.levels[*number];
            let finest = 0.5f64.powi(level as i32);
            self.reaches(shape, self.block.map(|cells| (cells as f64 + 1.0) * finest), level, block)
        });
        wanted.map(|(number, _)| self.levels[*number]).max()
    }

    /// The level that a block must have at least, or its descendants, because shells reach into it.
    pub fn level_of_shells(&self, block: Block) -> Option<usize> {
        let all =
            self.images.iter().flat_map(|(number, shape)| self.shells[*number].iter().map(move |shell| (shell, shape)));
        let reaching = all.filter(|(shell, shape)| self.reaches(shape, [shell.within; 3], shell.level, block));
        reaching.map(|(shell, _)| shell.level).max()
    }

    /// Whether a surface that needs a level comes within a distance along each axis of a block of that level. A coarser block only
    /// has what one of its parts has: [`Shape::near`] may be wrong for the whole and right for all parts, which would then be
    /// wanted and not.
    fn reaches(&self, shape: &Shape, far: [f64; 3], level: usize, block: Block) -> bool {
        let width = 0.5f64.powi(block.level as i32);
        let corner = |axis: usize, upper: usize, sign: f64| match axis < self.dim {
            true => ((block.place[axis] + upper) * self.block[axis]) as f64 * width + sign * far[axis],
            false => 0.0,
        };
        let part = |octant: usize| {
            let place = |axis: usize| match axis < self.dim {
                true => 2 * block.place[axis] + (octant >> axis & 1),
                false => block.place[axis],
            };
            Block { level: block.level + 1, place: [0, 1, 2].map(place) }
        };
        shape.near([0, 1, 2].map(|axis| corner(axis, 0, -1.0)), [0, 1, 2].map(|axis| corner(axis, 1, 1.0)))
            && (block.level >= level || (0..1 << self.dim).any(|octant| self.reaches(shape, far, level, part(octant))))
    }

    /// Whether a box is inside solids (`Some(true)`), outside of all (`Some(false)`), or may have both.
    pub fn fills(&self, low: Vector, high: Vector) -> Option<bool> {
        let touches = |(_, shape): &&(usize, Shape)| {
            let (from, to) = shape.bounds();
            (0..self.dim).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
        };
        let (mut near, mut inside) = (false, false);
        for (_, shape) in self.images.iter().filter(touches) {
            match shape.near(low, high) {
                true => near = true,
                false => inside |= shape.contains(low),
            }
        }
        if inside { Some(true) } else { (!near).then_some(false) }
    }

    /// Which cells of a block are solid, x fastest; `None` if none is. A cell is solid if its centre is.
    pub fn mask(&self, block: Block) -> Option<Vec<bool>> {
        let [width, height, depth] = self.block;
        let centre = |at: [usize; 3]| -> Vector {
            let size = 0.5f64.powi(block.level as i32);
            let place = |axis: usize| ((block.place[axis] * self.block[axis] + at[axis]) as f64 + 0.5) * size;
            [0, 1, 2].map(|axis| if axis < self.dim { place(axis) } else { 0.0 })
        };
        let cells = width * height * depth;
        match self.fills(centre([0; 3]), centre([width - 1, height - 1, depth - 1])) {
            Some(false) => None,
            Some(true) => Some(vec![true; cells]),
            None => {
                let inside = |cell: usize| centre([cell % width, cell / width % height, cell / (width * height)]);
                let mask: Vec<bool> = (0..cells).map(|cell| self.at(inside(cell)).is_some()).collect();
                mask.contains(&true).then_some(mask)
            }
        }
    }

    /// The solid whose inside a point is.
    pub fn at(&self, point: Vector) -> Option<usize> {
        self.images.iter().find(|(_, shape)| shape.contains(point)).map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mask_has_the_cells_whose_centres_are_inside() {
        let solid = |shape: Shape| Solid { shape, rule: String::new(), values: vec![], level: 0, shells: vec![] };
        let ball = Shape::Sphere { centre: [14.3, 9.0, 7.0], radius: 6.2 };
        // Reaches across a periodic axis.
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
