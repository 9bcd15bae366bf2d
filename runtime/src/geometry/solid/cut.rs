//! The cut links of one block: which cells are solid, which links a surface or a face cuts, and at what distance.

use lbm_bundle::Direction;

use super::tables::{Crossed, Crossing, Cutters, Row};
use super::ways::{Steps, barred, first, parts, through};
use super::{Placed, Solids, Vector};
use crate::geometry::{Block, Face};

/// Least distance, because rules may divide by twice the distance.
const LEAST_DISTANCE: f64 = 1e-6;

/// The cut links of a block.
#[derive(Clone, Debug, PartialEq)]
pub enum Cut {
    /// No solid and no cut link.
    Nothing,
    /// Only solid cells.
    All,
    /// A row.
    Some(Row),
}

impl Cut {
    /// Whether a cell is solid.
    pub fn is_solid(&self, cell: usize) -> bool {
        match self {
            Cut::Nothing => false,
            Cut::All => true,
            Cut::Some(row) => row.links[cell] < 0,
        }
    }
}

/// The surfaces near a block.
pub(super) enum Reach<'a> {
    Nothing,
    /// The block is completely inside a solid.
    All,
    /// Surfaces of solids, or a face along which values vary or which lies inside of a block.
    Near(Vec<&'a Placed>),
}

impl Cutters {
    /// The position of a cell relative to the lowest cell of its block.
    fn inside(&self, cell: usize) -> [i32; 3] {
        let sides = self.solids.block;
        [cell % sides[0], cell / sides[0] % sides[1], cell / (sides[0] * sides[1])].map(|at| at as i32)
    }

    /// Centre of a cell by its position relative to the lowest cell of a block.
    fn centre(&self, block: Block, at: [i32; 3]) -> Vector {
        let Solids { dim, block: sides, .. } = &self.solids;
        let width = 0.5f64.powi(block.level as i32);
        let place = |axis: usize| ((block.place[axis] * sides[axis]) as f64 + f64::from(at[axis]) + 0.5) * width;
        [0, 1, 2].map(|axis| if axis < *dim { place(axis) } else { 0.0 })
    }

    /// The surfaces near a block or the layer of cells around it.
    pub(super) fn reach(&self, block: Block) -> Reach<'_> {
        let Solids { dim, block: sides, images, .. } = &self.solids;
        let centre = |at: [i32; 3]| self.centre(block, at);
        let (low, high) = (centre([-1; 3]), centre(sides.map(|side| side as i32)));
        let touches = |placed: &&Placed| {
            let (from, to) = placed.shape.bounds();
            (0..*dim).all(|axis| from[axis] <= high[axis] && to[axis] >= low[axis])
        };
        if self.is_padding(block) {
            return Reach::All;
        }
        let near: Vec<&Placed> = images.iter().filter(touches).collect();
        // If no surface is near, the whole block is inside or outside.
        let (near, far): (Vec<_>, Vec<_>) = near.into_iter().partition(|placed| placed.shape.near(low, high));
        if far.iter().any(|placed| placed.shape.contains(centre([0; 3]))) {
            return Reach::All;
        }
        let at_cut_face = self.is_at_padding(block) || (0..2 * dim).any(|face| self.is_at_varying(block, face));
        if near.is_empty() && !at_cut_face { Reach::Nothing } else { Reach::Near(near) }
    }

    /// The cut links of a block.
    pub fn cut(&self, block: Block, directions: &[Direction]) -> Cut {
        let near = match self.reach(block) {
            Reach::Nothing => return Cut::Nothing,
            Reach::All => return Cut::All,
            Reach::Near(near) => near,
        };
        let Solids { dim, size, block: sides, periodic, .. } = &self.solids;
        let dim = *dim;
        let cells: usize = sides.iter().product();
        let lowest = |axis: usize| block.place[axis] * sides[axis];
        let centre = |at: [i32; 3]| self.centre(block, at);
        // The wall through which a path to a cell leaves the domain; if there are several, that of the first axis. Paths through symmetry
        // planes continue inside.
        let left = |at: [i32; 3]| {
            (0..dim).find_map(|axis| {
                let place = lowest(axis) as i64 + i64::from(at[axis]);
                let beyond = !(0..(size[axis] << block.level) as i64).contains(&place);
                let face = Face::of_axis(axis)[usize::from(place >= 0)].index();
                (beyond && !periodic[axis] && !self.symmetry_planes[face]).then_some(face)
            })
        };
        let seen = |point: Vector| -> Vector {
            let image = |axis: usize| match (point[axis], size[axis] as f64) {
                (at, _) if at < 0.0 && self.symmetry_planes[2 * axis] => -at,
                (at, end) if at > end && self.symmetry_planes[2 * axis + 1] => 2.0 * end - at,
                (at, _) => at,
            };
            [0, 1, 2].map(|axis| if axis < dim { image(axis) } else { point[axis] })
        };
        // The face with a wet-node rule that determines a cell, and the link normal to it.
        let node = |at: [i32; 3]| {
            (0..dim).find_map(|axis| {
                let place = lowest(axis) + at[axis] as usize;
                let last = (size[axis] << block.level) - 1;
                let high = if place == 0 {
                    false
                } else if place == last {
                    true
                } else {
                    return None;
                };
                let face = Face::of_axis(axis)[usize::from(high)].index();
                let inwards: [i32; 3] = std::array::from_fn(|other| match (other == axis, high) {
                    (false, _) => 0,
                    (true, high) => {
                        if high {
                            -1
                        } else {
                            1
                        }
                    }
                });
                let straight = || directions.iter().position(|direction| direction.c == inwards);
                if self.nodes[face] && !periodic[axis] { Some((face, straight()?)) } else { None }
            })
        };
        // Whether each cell of the block and of one layer around it is solid.
        let border = [0, 1, 2].map(|axis| i32::from(axis < dim));
        let around = [0, 1, 2].map(|axis| sides[axis] + 2 * border[axis] as usize);
        let mut is_solid = vec![false; around.iter().product()];
        for (row, inside) in is_solid.chunks_mut(around[0]).enumerate() {
            let at = |x: usize| [x, row % around[1], row / around[1]];
            let point = |x: usize| seen(centre([0, 1, 2].map(|axis| at(x)[axis] as i32 - border[axis])));
            let ([_, y, z], xs) = (point(0), (0..around[0]).map(|x| point(x)[0]).collect::<Vec<_>>());
            near.iter().for_each(|placed| placed.shape.inside_along(&xs, [y, z], inside));
        }
        let solid = |at: [i32; 3]| {
            let at = [0, 1, 2].map(|axis| (at[axis] + border[axis]) as usize);
            is_solid[at[0] + around[0] * (at[1] + around[1] * at[2])]
        };
        let is_open = |at: [i32; 3], next: [i32; 3]| {
            let goes = |at: [i32; 3]| left(at).is_none() && !solid(at);
            goes(at) && goes(next) && through(&near, [centre(at), centre(next)], seen).is_none()
        };
        let diagonal = (dim as f64).sqrt() * 0.5f64.powi(block.level as i32);
        let steps = parts(&near, diagonal).then(|| Steps::new(border.map(|border| -border), around, is_open));
        let bar = |at: [i32; 3], upwind: [i32; 3]| steps.as_ref().is_some_and(|steps| steps.bar(at, upwind));
        let length = directions.len() * cells;
        let mut row = Row { links: vec![0; length], distances: vec![0.5; length], ..Row::default() };
        let (mut any, mut all) = (false, true);
        for cell in 0..cells {
            let at = self.inside(cell);
            if solid(at) || self.is_beyond(block, at) {
                any = true;
                (0..directions.len()).for_each(|dir| row.links[dir * cells + cell] = -1);
                continue;
            }
            all = false;
            if let Some((face, dir)) = node(at).filter(|(face, _)| self.varying[*face]) {
                let crossing = Crossing { of: Crossed::Face(face), level: block.level, at: centre(at) };
                row.crossings.push((dir * cells + cell, crossing));
                any = true;
            }
            for (dir, direction) in directions.iter().enumerate() {
                let upwind = [0, 1, 2].map(|axis| at[axis] - direction.c[axis]);
                let link = dir * cells + cell;
                let met = match left(upwind) {
                    Some(face) if self.varying[face] && !self.nodes[face] => {
                        let (one, other) = (centre(at), centre(upwind));
                        let at = [0, 1, 2].map(|axis| 0.5 * (one[axis] + other[axis]));
                        row.crossings.push((link, Crossing { of: Crossed::Face(face), level: block.level, at }));
                        any = true;
                        None
                    }
                    Some(face) => {
                        if let (1, Some((wall, distance))) = (face % 2, self.padding.walls[face / 2]) {
                            (row.links[link], row.distances[link]) = (wall as i32 + 1, distance);
                            any = true;
                        }
                        None
                    }
                    None if solid(upwind) => Some(first(&near, [centre(at), centre(upwind)], seen)),
                    None if bar(at, upwind) => barred(&near, [centre(at), centre(upwind)], seen),
                    _ => None,
                };
                let Some((placed, distance)) = met else { continue };
                let (from, to, solid) = (centre(at), centre(upwind), placed.number);
                let distance = distance.max(LEAST_DISTANCE);
                row.distances[link] = distance;
                let at = [0, 1, 2].map(|axis| from[axis] + distance * (to[axis] - from[axis]));
                if self.varying_solids.contains(&solid) {
                    row.crossings.push((link, Crossing { of: Crossed::Solid(solid), level: block.level, at }));
                } else {
                    row.links[link] = (self.first + solid) as i32 + 1;
                }
                any = true;
            }
        }
        match (any, all) {
            (false, _) => Cut::Nothing,
            (true, true) => Cut::All,
            (true, false) => Cut::Some(row),
        }
    }
}
