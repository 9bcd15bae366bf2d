//! Patches of surfaces under boundary layers that cells do not resolve: the cells beside a surface, the cells at some height above it where the
//! flow is sampled, and which of them share one state.
//!
//! In: the rows of cut links. After: each cell beside such a surface is in one patch; the cells of a patch have one level, one solid and nearly
//! one normal; the sample of a cell is a fluid cell of its block or of one around it.
//!
//! The normal at a cell is that of the plane through the points at which links around it meet the surface: exact where it is flat. The area follows
//! from the links: on a plane of the unit normal n, `2 / cs^2 * sum(w c) = n` for each unit of area, where the sum is over the links that come
//! off it, as the second moments of the weights are isotropic.

use std::collections::{BTreeMap, HashMap};

use lbm_bundle::Direction;
use rayon::prelude::*;

use super::mass::around;
use super::tables::{Cutters, Tables};
use super::vector::{dot, norm, plus, times};
use super::{Solids, Vector};
use crate::geometry::Block;

/// Cells of a patch along each axis, but for what smaller patches beside it add. The sum over fewer cells depends on how the surface lies in the
/// grid: where it is turned by 18 degrees, its steps are three cells long.
const SIDE: i64 = 16;

/// Patches with fewer cells than this part of `SIDE^(dim - 1)` are joined with one beside them.
const LEAST: f64 = 0.5;

/// Cells around one, along each axis, whose links say which normal the surface has there.
const WITHIN: i64 = 2;

/// Squares of distances, in cells, below which points differ by rounding alone.
const FLAT: f64 = 1e-6;

/// The part of the momentum for a velocity along all axes below which links give none along one.
const YIELDING: f64 = 1e-9;

/// Where links face the normal, by the cosine of the angle between both, walls differ by the whole of what their cells need; else, at steps of a surface
/// that lies askew, by a part: with the whole flows there were not stable.
const ALIGNED: f64 = 0.99;
/// See [`ALIGNED`].
const ASKEW: f64 = 0.35;

/// Links whose weights times velocities are less face no direction.
const ALONG: f64 = 1e-9;

/// By how much a sample is lowered, in cells, until it is in the fluid.
const LOWERED: f64 = 0.5;

/// The surface of a solid under a boundary layer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Layered {
    /// The solid.
    pub solid: usize,
    /// Height above the surface at which the flow is sampled, in cells of its level; at most the least side of a block, or it is lowered.
    pub sample: f64,
}

/// A cell beside a surface.
#[derive(Clone, Debug, PartialEq)]
pub struct Beside {
    /// Which of the blocks, and the cell in it.
    pub block: usize,
    /// See `block`.
    pub cell: usize,
    /// In which block around it the sample lies, as numbered in tables of neighbours, and the cell there.
    pub near: usize,
    /// See `near`.
    pub sample: usize,
    /// The normal of the surface, into the fluid.
    pub normal: Vector,
    /// Where the surface is below the cell, in cells of its level from the lower corner of the domain.
    pub below: Vector,
    /// The velocity of the wall with which its links take a momentum less from the fluid in a step: a matrix, of whatever is at right angles to the
    /// direction that the links face, the sum of their weights times velocities, so that it lets no mass pass.
    pub yields: [Vector; 3],
    /// Its part of the area of the surface.
    pub area: f64,
    /// How much its wall differs from that of the patch: by this part of what `yields` gives it.
    pub own: f64,
    /// What its links give to the fluid for a velocity of its wall.
    pub gives: Gives,
}

/// What links give to the fluid in a step for a velocity of their walls: linear in it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gives {
    /// The momentum: a matrix.
    pub momentum: [Vector; 3],
    /// The mass: its product with the velocity.
    pub mass: Vector,
}

impl Gives {
    /// For the part of a velocity that is along a surface with this normal.
    fn along(&self, normal: Vector) -> Gives {
        let along = |of: Vector| plus(of, times(-dot(of, normal), normal));
        Gives { momentum: self.momentum.map(along), mass: along(self.mass) }
    }

    /// Adds a part of another.
    fn add(&mut self, part: f64, other: &Gives) {
        let sums = self.momentum.iter_mut().chain([&mut self.mass]).zip(other.momentum.iter().chain([&other.mass]));
        sums.for_each(|(sum, of)| *sum = plus(*sum, times(part, *of)));
    }
}

/// A patch, in cells of its level.
#[derive(Clone, Debug, PartialEq)]
pub struct SurfacePatch {
    /// Its level.
    pub level: usize,
    /// Its solid.
    pub solid: usize,
    /// Its mean normal, into the fluid.
    pub normal: Vector,
    /// Its area; in two dimensions its length.
    pub area: f64,
    /// The momentum that its links give to the fluid along it in a step if it slides with the velocity 1 and all are cut half-way.
    pub stiffness: f64,
    /// The sum of the weights of its links.
    pub weight: f64,
    /// What its links give for a velocity of the patch, along the surface at each cell.
    pub slides: Gives,
    /// The same for a velocity of which each cell takes its own part.
    pub differs: Gives,
    /// What its links give for a source: momentum and mass.
    pub source: (Vector, f64),
    /// The mean height of the samples above the surface.
    pub height: f64,
    /// Its cells, in the order of blocks.
    pub cells: Vec<Beside>,
}

/// What is known of the links of all blocks.
pub struct Rows<'a> {
    /// The blocks.
    pub blocks: &'a [Block],
    /// Their tables.
    pub tables: &'a Tables,
    /// The directions that carry the momentum of the flow, with their weights; they are the first of `q`.
    pub directions: &'a [(Direction, f64)],
    /// How many directions there are.
    pub q: usize,
    /// The square of its speed of sound.
    pub cs2: f64,
    /// Cells of a block.
    pub cells: usize,
}

/// A cell beside a surface, while patches are made.
struct Found {
    block: usize,
    cell: usize,
    /// Counted from the lowest of its level.
    at: [i64; 3],
    /// Sum of weight times velocity over its links.
    along: Vector,
    normal: Vector,
    key: Key,
}

/// Of a patch: its level, its solid, its place, and the axis that its normal is nearest to.
type Key = (usize, usize, [i64; 3], usize);

impl Rows<'_> {
    /// The directions from which links come to a cell off a wall, with their distances.
    fn links(&self, block: usize, cell: usize, wall: i32) -> impl Iterator<Item = (&Direction, f64, f64)> {
        let Tables { rows, links, distances, .. } = self.tables;
        let cells = self.cells;
        let first = rows[block] as usize * self.q * cells + cell;
        self.directions.iter().enumerate().filter_map(move |(dir, (direction, weight))| {
            let link = first + dir * cells;
            (links[link] == wall).then(|| (direction, *weight, distances[link]))
        })
    }
}

impl Cutters {
    /// The patches of these surfaces.
    pub fn patches(&self, layered: &[Layered], rows: &Rows<'_>) -> Vec<SurfacePatch> {
        let of_block: HashMap<Block, i32> = rows.blocks.iter().copied().zip(rows.tables.rows.iter().copied()).collect();
        let mut found = self.cells_beside(layered, rows);
        let places = found.iter().enumerate().map(|(number, of)| ((of.key.0, of.key.1, of.at), number));
        let places: HashMap<(usize, usize, [i64; 3]), usize> = places.collect();
        // The cells within so many of one, and by how many cells each is away.
        let around = |of: &Found, within: i64| {
            let (level, solid, at, side) = (of.key.0, of.key.1, of.at, 2 * within + 1);
            let places = &places;
            let offsets =
                (0..side.pow(3)).map(move |of| [of % side, of / side % side, of / side / side].map(|by| by - within));
            offsets.filter_map(move |by| {
                let at = self.wrapped(level, [0, 1, 2].map(|axis| at[axis] + by[axis]))?;
                Some((*places.get(&(level, solid, at))?, by))
            })
        };
        // The links of one cell say little of a normal: it is near that of the cells around on the same side.
        let near = |of: &Found| {
            let same = around(of, WITHIN).map(|(other, _)| found[other].along);
            same.filter(|along| dot(*along, of.along) > 0.0).fold([0.0; 3], plus)
        };
        let rough: Vec<Vector> = found.par_iter().map(near).collect();
        for (of, rough) in found.iter_mut().zip(&rough) {
            let most = (0..3).max_by(|one, other| rough[*one].abs().total_cmp(&rough[*other].abs())).unwrap_or(0);
            of.key.3 = 2 * most + usize::from(rough[most] > 0.0);
        }
        let fitted = |(of, rough): (&Found, &Vector)| {
            let (mut points, axis) = (Plane::default(), of.key.3 / 2);
            for (other, by) in around(of, WITHIN).filter(|(other, _)| found[*other].key.3 == of.key.3) {
                let Found { block, cell, .. } = &found[other];
                for (direction, _, distance) in rows.links(*block, *cell, self.wall(of.key.1)) {
                    points.add([0, 1, 2].map(|axis| by[axis] as f64 - distance * f64::from(direction.c[axis])), axis);
                }
            }
            points.normal(axis, *rough)
        };
        let normals: Vec<Vector> = found.par_iter().zip(&rough).map(fitted).collect();
        found.iter_mut().zip(normals).for_each(|(of, normal)| of.normal = normal);
        let least = LEAST * (SIDE as f64).powi(self.solids.dim as i32 - 1);
        let beside = |of: &Found| around(of, 1).map(|(other, _)| other).collect();
        let keys = joined(&found, beside, least as usize);
        let mut patches: BTreeMap<Key, Vec<&Found>> = BTreeMap::new();
        found.iter().zip(&keys).for_each(|(of, key)| patches.entry(*key).or_default().push(of));
        let sample = |solid: usize| layered.iter().find(|of| of.solid == solid).map_or(0.0, |of| of.sample);
        let patch = |(key, cells): (Key, Vec<&Found>)| self.patch(key, &cells, sample(key.1), rows, &of_block);
        patches.into_iter().map(patch).collect()
    }

    /// All cells with links to these surfaces.
    fn cells_beside(&self, layered: &[Layered], rows: &Rows<'_>) -> Vec<Found> {
        let cells: usize = self.solids.block.iter().product();
        let of_block = |(number, block): (usize, &Block)| {
            let (block, is_cut) = (*block, rows.tables.rows[number] > 0);
            let all =
                (0..cells).filter(move |_| is_cut).flat_map(|cell| layered.iter().map(move |of| (cell, of.solid)));
            let found = all.filter_map(move |(cell, solid)| {
                let links = rows.links(number, cell, self.wall(solid));
                let along = links.map(|(direction, weight, _)| times(weight, direction.c.map(f64::from)));
                let along = along.reduce(plus)?;
                let at = self.cell_at(block, cell);
                let key = (block.level, solid, at.map(|at| at / SIDE), 0);
                Some(Found { block: number, cell, at, along, normal: [0.0; 3], key })
            });
            found.collect::<Vec<_>>()
        };
        rows.blocks.iter().enumerate().flat_map(of_block).collect()
    }

    /// The entry of links that meet a solid.
    fn wall(&self, solid: usize) -> i32 {
        (self.first + solid) as i32 + 1
    }

    /// A cell of a block, counted from the lowest of its level.
    fn cell_at(&self, block: Block, cell: usize) -> [i64; 3] {
        let sides = self.solids.block;
        let at = [cell % sides[0], cell / sides[0] % sides[1], cell / (sides[0] * sides[1])];
        [0, 1, 2].map(|axis| (block.place[axis] * sides[axis] + at[axis]) as i64)
    }

    /// A cell of a level in the domain; none behind a face that is not periodic.
    fn wrapped(&self, level: usize, at: [i64; 3]) -> Option<[i64; 3]> {
        let Solids { dim, size, periodic, .. } = &self.solids;
        let mut to = at;
        for axis in 0..3 {
            let count = if axis < *dim { (size[axis] << level) as i64 } else { 1 };
            if axis < *dim && periodic[axis] {
                to[axis] = at[axis].rem_euclid(count);
            } else if !(0..count).contains(&at[axis]) {
                return None;
            }
        }
        Some(to)
    }

    fn patch(
        &self,
        (level, solid, ..): Key,
        found: &[&Found],
        sample: f64,
        rows: &Rows<'_>,
        of_block: &HashMap<Block, i32>,
    ) -> SurfacePatch {
        let links = || found.iter().flat_map(|of| rows.links(of.block, of.cell, self.wall(solid)));
        let covered = |of: &Found| dot(of.along, of.normal).max(0.0);
        let sum = found.iter().fold([0.0; 3], |sum, of| plus(sum, times(covered(of), of.normal)));
        let normal = times(1.0 / norm(sum).max(f64::MIN_POSITIVE), sum);
        let along = |(of, weight, _): (&Direction, f64, f64)| {
            let c = of.c.map(f64::from);
            weight * (dot(c, c) - dot(c, normal).powi(2))
        };
        let (mut cells, mut heights) = (vec![], 0.0);
        let (mut slides, mut differs, mut source) = (Gives::default(), Gives::default(), ([0.0; 3], 0.0));
        for of in found {
            let above = self.above(of, rows);
            let (near, cell, height) = self.sampled(of, above, sample, rows, of_block);
            let links = || rows.links(of.block, of.cell, self.wall(solid));
            let yields = yielding(of.along, links(), rows.cs2, self.solids.dim);
            let area = 2.0 / rows.cs2 * covered(of);
            let own = if covered(of) > ALIGNED * norm(of.along) { 1.0 } else { ASKEW };
            let mut gives = Gives::default();
            for (direction, weight, distance) in links() {
                let (c, part) = (direction.c.map(f64::from), weight * divided(distance));
                let given = times(2.0 / rows.cs2 * part, c);
                gives.add(1.0, &Gives { momentum: c.map(|along| times(along, given)), mass: given });
                source = (plus(source.0, times(part, c)), source.1 + part);
            }
            slides.add(1.0, &gives.along(of.normal));
            differs.add(own, &gives.along(of.normal));
            cells.push(Beside {
                block: of.block,
                cell: of.cell,
                near,
                sample: cell,
                normal: of.normal,
                below: plus(of.at.map(|at| at as f64 + 0.5), times(-above, of.normal)),
                yields,
                area,
                own,
                gives,
            });
            heights += height;
        }
        let axes = (self.solids.dim as f64 - 1.0).max(1.0);
        SurfacePatch {
            level,
            solid,
            normal,
            area: 2.0 / rows.cs2 * norm(sum),
            stiffness: 2.0 / rows.cs2 * links().map(along).sum::<f64>() / axes,
            weight: links().map(|(_, weight, _)| weight).sum(),
            slides,
            differs,
            source,
            height: heights / found.len() as f64,
            cells,
        }
    }

    /// The height of a cell above the surface: along each link that comes off it, the part of the link that is along the normal.
    fn above(&self, of: &Found, rows: &Rows<'_>) -> f64 {
        let (mut weights, mut above) = (0.0, 0.0);
        for (direction, weight, distance) in rows.links(of.block, of.cell, self.wall(of.key.1)) {
            let along = dot(direction.c.map(f64::from), of.normal).max(0.0);
            weights += weight * along;
            above += weight * along * along * distance;
        }
        if weights > 0.0 { above / weights } else { 0.5 }
    }

    /// The sample of a cell that is so much above the surface, by the block around it and the cell there, and its height: as wanted, or as near to it as
    /// there is fluid.
    fn sampled(
        &self,
        of: &Found,
        above: f64,
        wanted: f64,
        rows: &Rows<'_>,
        of_block: &HashMap<Block, i32>,
    ) -> (usize, usize, f64) {
        let (block, sides) = (rows.blocks[of.block], self.solids.block.map(|side| side as i64));
        let normal = of.normal;
        let mut height = wanted.max(above);
        while height > above {
            let by = normal.map(|along| ((height - above) * along).round() as i64);
            let at = [0, 1, 2].map(|axis| of.at[axis] + by[axis]);
            let step = [0, 1, 2].map(|axis| at[axis].div_euclid(sides[axis]) - block.place[axis] as i64);
            if let Some(cell) = self.fluid_at(block.level, at, rows, of_block)
                && step.iter().all(|step| step.abs() <= 1)
            {
                let near = (0..self.solids.dim).map(|axis| (step[axis] + 1) * 3i64.pow(axis as u32)).sum::<i64>();
                return (near as usize, cell, above + dot(by.map(|by| by as f64), normal));
            }
            height -= LOWERED;
        }
        (3usize.pow(self.solids.dim as u32) / 2, of.cell, above)
    }

    /// A cell of a level in its block, if it is in the fluid and its block is a leaf.
    fn fluid_at(&self, level: usize, at: [i64; 3], rows: &Rows<'_>, of_block: &HashMap<Block, i32>) -> Option<usize> {
        let (at, sides) = (self.wrapped(level, at)?.map(|at| at as usize), self.solids.block);
        let block = Block { level, place: [0, 1, 2].map(|axis| at[axis] / sides[axis]) };
        let inside = [0, 1, 2].map(|axis| at[axis] % sides[axis]);
        let cell = inside[0] + sides[0] * (inside[1] + sides[1] * inside[2]);
        match *of_block.get(&block)? {
            -1 => Some(cell),
            0 => None,
            row => (rows.tables.links[row as usize * rows.q * rows.cells + cell] >= 0).then_some(cell),
        }
    }
}

/// The part of what a wall gives to a population that rules for any distance leave.
fn divided(distance: f64) -> f64 {
    1.0 / (2.0 * distance).max(1.0)
}

/// The inverse, at right angles to what links face, of the momentum that they give to the fluid for the velocity of their wall; of axes along which they
/// give none, 0.
fn yielding<'a>(
    along: Vector,
    links: impl Iterator<Item = (&'a Direction, f64, f64)>,
    cs2: f64,
    dim: usize,
) -> [Vector; 3] {
    let mut found = [[0.0; 3]; 3];
    let Some((one, other)) = across(along, dim) else { return found };
    let (mut a, mut b, mut c) = (0.0, 0.0, 0.0);
    for (direction, weight, distance) in links {
        let given = 2.0 * weight / cs2 * divided(distance);
        let [p, q] = [one, other].map(|axis| dot(direction.c.map(f64::from), axis));
        (a, b, c) = (a + given * p * p, b + given * p * q, c + given * q * q);
    }
    // Eigenvectors of a symmetric matrix of two rows.
    let (half, turn) = (0.5 * (a + c), 0.5 * (2.0 * b).atan2(a - c));
    let off = (0.5 * (a - c)).hypot(b);
    let axes = [
        plus(times(turn.cos(), one), times(turn.sin(), other)),
        plus(times(-turn.sin(), one), times(turn.cos(), other)),
    ];
    for (axis, value) in axes.into_iter().zip([half + off, half - off]) {
        if value > YIELDING * (a + c) {
            found.iter_mut().enumerate().for_each(|(row, of)| *of = plus(*of, times(axis[row] / value, axis)));
        }
    }
    found
}

/// Two directions at right angles to one and to each other; in two dimensions the second is 0. None to a vector without a direction.
fn across(along: Vector, dim: usize) -> Option<(Vector, Vector)> {
    let length = norm(along);
    if length < ALONG {
        return None;
    }
    let along = times(1.0 / length, along);
    if dim < 3 {
        return Some(([-along[1], along[0], 0.0], [0.0; 3]));
    }
    let [one, other, _] = around(along);
    Some((one, other))
}

/// A plane fitted to points by least squares, of the distances along one axis: sums over the points of 1, of their parts along the other axes and along
/// that one, and of products of these.
#[derive(Default)]
struct Plane {
    sums: [f64; 9],
}

impl Plane {
    fn add(&mut self, at: Vector, axis: usize) {
        let [a, b, c] = [1, 2, 3].map(|next| at[(axis + next) % 3]);
        let terms = [1.0, a, b, c, a * a, a * b, b * b, a * c, b * c];
        self.sums.iter_mut().zip(terms).for_each(|(sum, term)| *sum += term);
    }

    /// Its unit normal, on the side of another vector; along that one if the points are on a line, in two dimensions in a point.
    fn normal(&self, axis: usize, rough: Vector) -> Vector {
        let [_, a, b, c, aa, ab, bb, ac, bc] = self.sums.map(|sum| sum / self.sums[0].max(1.0));
        let (aa, ab, bb, ac, bc) = (aa - a * a, ab - a * b, bb - b * b, ac - a * c, bc - b * c);
        // c = p a + q b; an axis along which no point differs has no part in it.
        let determinant = aa * bb - ab * ab;
        let (p, q) = if determinant > FLAT * (aa + bb).powi(2) {
            ((ac * bb - bc * ab) / determinant, (bc * aa - ac * ab) / determinant)
        } else if aa > FLAT && bb < FLAT {
            (ac / aa, 0.0)
        } else if bb > FLAT && aa < FLAT {
            (0.0, bc / bb)
        } else {
            return times(1.0 / norm(rough).max(f64::MIN_POSITIVE), rough);
        };
        let mut normal = [0.0; 3];
        (normal[(axis + 1) % 3], normal[(axis + 2) % 3], normal[axis]) = (-p, -q, 1.0);
        let length = norm(normal).copysign(dot(normal, rough));
        times(1.0 / length, normal)
    }
}

/// The patch of each cell: those with less than so many cells are part of the one that most of their cells lie beside, if they lie beside any.
fn joined(found: &[Found], around: impl Fn(&Found) -> Vec<usize>, least: usize) -> Vec<Key> {
    let mut members: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
    found.iter().enumerate().for_each(|(number, of)| members.entry(of.key).or_default().push(number));
    let mut keys: Vec<Key> = found.iter().map(|of| of.key).collect();
    let small: Vec<(Key, Vec<usize>)> =
        members.iter().filter(|(_, cells)| cells.len() < least).map(|(key, cells)| (*key, cells.clone())).collect();
    for (key, cells) in small {
        let mut beside: BTreeMap<Key, usize> = BTreeMap::new();
        for other in cells.iter().flat_map(|cell| around(&found[*cell])) {
            if found[other].key != key && found[other].key.3 == key.3 && members[&found[other].key].len() >= least {
                *beside.entry(found[other].key).or_default() += 1;
            }
        }
        // Of those that have as many, the first.
        let Some((to, _)) = beside.into_iter().rev().max_by_key(|(_, count)| *count) else { continue };
        cells.iter().for_each(|cell| keys[*cell] = to);
    }
    keys
}
