//! Tables of cut links, in rows of blocks, computed on the host; [`lbm_bundle`] defines their layout.
//!
//! Links are cut by surfaces of solids and by faces along which values vary. At such faces, and at solids over whose surface values vary,
//! each link has a wall of its own. At a face with a wet-node rule each cell has one wall, that of the link normal to the face.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use lbm_bundle::cutting::VELOCITIES;
use lbm_bundle::{Direction, Manifest};
use rayon::prelude::*;

use super::cut::{Cut, Reach};
use super::error::{By, Cells, SolidError};
use super::{Padding, Solids, Vector};
use crate::geometry::{Block, Face};

/// Everything that cuts links.
#[derive(Clone, Debug)]
pub struct Cutters {
    /// Solids.
    pub solids: Solids,
    /// Number of the wall of the first solid; the others follow.
    pub first: usize,
    /// Faces inside of blocks.
    pub padding: Padding,
    /// Whether values vary along each face, in the order of [`Face::ALL`].
    pub varying: [bool; 6],
    /// The solids over whose surfaces values vary.
    pub varying_solids: BTreeSet<usize>,
    /// Whether each face is a symmetry plane.
    pub symmetry_planes: [bool; 6],
    /// Whether the wall at each face lies on the centres of the outermost cells (wet-node rules).
    pub nodes: [bool; 6],
    /// Whether faces along which values vary may cut links of blocks at refinement interfaces.
    pub faces_at_interfaces: bool,
}

/// The face or surface that a link crosses where values vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crossed {
    /// A face of the domain.
    Face(usize),
    /// The surface of a solid.
    Solid(usize),
}

/// The point at which a link crosses a face or a surface; at a face with a wet-node rule, the centre of the cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crossing {
    /// What it crosses.
    pub of: Crossed,
    /// Level of the cell.
    pub level: usize,
    /// Position in cells of the coarsest level.
    pub at: Vector,
}

/// Rows of all blocks that have solid cells or cut links.
#[derive(Clone, Debug, PartialEq)]
pub struct Tables {
    /// The row of each block, -1 for none; 0 for all blocks that are completely solid.
    pub rows: Vec<i32>,
    /// `links[(row * q + direction) * cells + cell]`: 0, the number of a wall plus 1, or -1 where the cell is solid.
    pub links: Vec<i32>,
    /// The distances of the surfaces, in the same order; 1/2 for links that are not cut.
    pub distances: Vec<f64>,
    /// Further walls, numbered after those of solids: one for each link that crosses a face or a surface along which values vary.
    pub crossings: Vec<Crossing>,
}

/// A row; links that cross faces or surfaces along which values vary get their entries when all rows are known.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// In the format of [`Tables::links`].
    pub links: Vec<i32>,
    /// In the format of [`Tables::distances`].
    pub distances: Vec<f64>,
    pub(super) crossings: Vec<(usize, Crossing)>,
}

impl Cutters {
    /// The tables of some blocks of a grid, leaves and covered blocks; `all`: all leaves of the grid.
    pub fn tables(&self, blocks: &[Block], all: &[Block], directions: &[Direction]) -> Result<Tables, SolidError> {
        let cells: usize = self.solids.block.iter().product();
        let length = directions.len() * cells;
        let found: Vec<Cut> = blocks.par_iter().map(|block| self.cut(*block, directions)).collect();
        let known: HashSet<Block> = all.iter().copied().collect();
        let first_crossing = self.first + self.solids.count;
        let mut tables =
            Tables { rows: Vec::new(), links: vec![-1; length], distances: vec![0.5; length], crossings: Vec::new() };
        for (block, found) in blocks.iter().zip(found) {
            tables.rows.push(match found {
                Cut::Nothing => -1,
                Cut::All => 0,
                Cut::Some(mut row) => {
                    if known.contains(block) && self.is_refused(*block, |near| known.contains(&near)) {
                        return Err(self.jump(*block));
                    }
                    for (link, crossing) in row.crossings {
                        row.links[link] = (first_crossing + tables.crossings.len()) as i32 + 1;
                        tables.crossings.push(crossing);
                    }
                    tables.links.extend(row.links);
                    tables.distances.extend(row.distances);
                    (tables.links.len() / length - 1) as i32
                }
            });
        }
        Ok(tables)
    }

    /// Refuses cut links at refinement interfaces like [`Self::tables`], without making tables.
    pub fn check(&self, leaves: &[Block], directions: &[Direction]) -> Result<(), SolidError> {
        let known: HashSet<Block> = leaves.iter().copied().collect();
        let is_refused = |block: &&Block| {
            self.is_refused(**block, |near| known.contains(&near))
                && matches!(self.cut(**block, directions), Cut::Some(_))
        };
        leaves.par_iter().find_first(is_refused).map_or(Ok(()), |block| Err(self.jump(*block)))
    }

    /// Whether the links of a block, if any are cut, are refused: those at a refinement interface, but for links that only faces cut.
    fn is_refused(&self, block: Block, known: impl Fn(Block) -> bool) -> bool {
        let at_padding = self.is_at_padding(block);
        let by_faces = match self.reach(block) {
            Reach::Near(near) => near.is_empty() && !at_padding,
            Reach::Nothing | Reach::All if at_padding => false,
            Reach::Nothing | Reach::All => return false,
        };
        !(self.around(block).all(known) || self.faces_at_interfaces && by_faces)
    }

    /// Whether a face along which values vary cuts links of a block that is at a refinement interface, or covered; `known` says whether a leaf
    /// exists.
    pub fn is_cut_at_interface(&self, block: Block, known: impl Fn(Block) -> bool) -> bool {
        self.is_cut_by_faces(block) && !self.around(block).all(known)
    }

    /// Whether a face along which values vary cuts links of a block.
    pub fn is_cut_by_faces(&self, block: Block) -> bool {
        (0..6).any(|face| self.is_at_varying(block, face))
    }

    /// The error for a block with cut links at a refinement interface.
    fn jump(&self, block: Block) -> SolidError {
        let solid = match self.reach(block) {
            Reach::Near(near) => near.first().map(|placed| By::Solid(placed.number)),
            Reach::Nothing | Reach::All => None,
        };
        let is_at = |face: &Face| match face.index() {
            face if self.is_at_varying(block, face) => true,
            face => face % 2 == 1 && self.padding.walls[face / 2].is_some() && self.is_at_padding(block),
        };
        let by = solid.or(Face::ALL.into_iter().find(is_at).map(By::Face)).expect("something cuts its links");
        SolidError::Jump { by, cells: self.cells(block) }
    }

    fn cells(&self, block: Block) -> Cells {
        let range = |axis: usize| [0, 1].map(|end| (block.place[axis] + end) * self.solids.block[axis]);
        Cells { level: block.level, range: (0..self.solids.dim).map(range).collect() }
    }

    /// Whether a block touches a face along which values vary.
    pub(super) fn is_at_varying(&self, block: Block, face: usize) -> bool {
        let Solids { size, block: sides, dim, .. } = &self.solids;
        face < 2 * dim && self.varying[face] && {
            let last = ((size[face / 2] << block.level) - 1) / sides[face / 2];
            block.place[face / 2] == if face.is_multiple_of(2) { 0 } else { last }
        }
    }

    /// The cut links of blocks that moving solids touch or have touched before. `known` says whether a block exists.
    pub fn cut_moved(
        &self,
        blocks: Vec<Block>,
        known: impl Fn(Block) -> bool + Sync,
        directions: &[Direction],
    ) -> Result<BTreeMap<Block, Cut>, SolidError> {
        let of_block = |block: Block| {
            let cut = self.cut(block, directions);
            let Cut::Some(row) = &cut else { return Ok((block, cut)) };
            if !row.crossings.is_empty() {
                return Err(SolidError::Crossing { cells: self.cells(block) });
            }
            if self.is_refused(block, &known) {
                return Err(self.jump(block));
            }
            Ok((block, cut))
        };
        blocks.into_par_iter().map(of_block).collect()
    }

    /// Refuses places of moving solids beside refinement interfaces, or where links have walls of their own because values vary.
    pub fn check_moved(
        &self,
        places: &[Block],
        known: impl Fn(Block) -> bool + Sync,
        directions: &[Direction],
    ) -> Result<(), SolidError> {
        let check = |block: &Block| {
            if !self.around(*block).all(&known) {
                let of_level = self.solids.motions(block.level).next().map(|(number, _)| By::Solid(number));
                return Err(SolidError::Jump { by: of_level.expect("a place"), cells: self.cells(*block) });
            }
            let varies = self.varying.contains(&true) || !self.varying_solids.is_empty();
            match varies.then(|| self.cut(*block, directions)) {
                Some(Cut::Some(row)) if !row.crossings.is_empty() => {
                    Err(SolidError::Crossing { cells: self.cells(*block) })
                }
                _ => Ok(()),
            }
        };
        places.par_iter().map(check).find_first(Result::is_err).unwrap_or(Ok(()))
    }

    /// What kernels must know of a method and of the grid ([`FORM`](lbm_bundle::cutting::FORM)); `surfaces`: the wall of the first
    /// solid; `links`: the first of the walls of single links.
    pub fn form(&self, manifest: &Manifest, surfaces: usize, links: usize) -> Vec<i32> {
        let Solids { dim, size, block, periodic, .. } = &self.solids;
        let bits = |all: &[bool]| all.iter().enumerate().fold(0, |bits, (at, is)| bits | i32::from(*is) << at);
        let cells: usize = block.iter().product();
        let mut form: Vec<i32> = block.iter().chain([&cells, &manifest.q()]).chain(size).map(|at| *at as i32).collect();
        form.extend([bits(&periodic[..*dim]), bits(&self.symmetry_planes)]);
        form.extend(
            [surfaces, links, manifest.wall_stride as usize, manifest.main().count as usize].map(|at| at as i32),
        );
        for Direction { c, opposite, .. } in &manifest.directions {
            form.extend(c.iter().copied().chain([*opposite as i32]));
        }
        let velocities = (0..VELOCITIES as i32).map(|code| [code % 3 - 1, code / 3 % 3 - 1, code / 9 - 1]);
        let number = |c: &[i32; 3]| manifest.directions.iter().position(|direction| direction.c == *c);
        form.extend(velocities.clone().map(|c| number(&c).map_or(-1, |number| number as i32)));
        // Cells side by side are alike where no triangle lies between them. A symmetry plane turns links into others.
        let is_plain = |c: &[i32; 3]| c.iter().map(|along| along.abs()).sum::<i32>() == 1;
        let reflects = self.symmetry_planes.contains(&true);
        let ways = velocities.filter(|c| c.iter().find(|along| **along != 0) == Some(&1));
        let ways: Vec<_> = ways.filter(|c| reflects || is_plain(c) || number(c).is_some()).collect();
        form.extend([ways.len() as i32].into_iter().chain(ways.into_iter().flatten()));
        form
    }

    /// Whether a block is pinned, because links of it, or of a block that touches it, are cut, or because it lies beyond the domain.
    pub fn pins(&self, block: Block) -> bool {
        let Solids { dim, size, block: sides, .. } = &self.solids;
        let near_face = |face: usize| {
            let (axis, last) = (face / 2, ((size[face / 2] << block.level) - 1) / sides[face / 2]);
            let depth = if face.is_multiple_of(2) { block.place[axis] } else { last.abs_diff(block.place[axis]) };
            self.varying[face] && depth < 2
        };
        let is_padded = self.is_padding(block) || self.level_of_padding(block).is_some();
        is_padded || self.solids.level(block).is_some() || (0..2 * dim).any(near_face)
    }

    /// The blocks of the same level that touch a block, including itself, except behind walls.
    fn around(&self, block: Block) -> impl Iterator<Item = Block> {
        let Solids { dim, size, block: sides, periodic, .. } = &self.solids;
        let counts = [0, 1, 2].map(|axis| (size[axis].div_ceil(sides[axis]) << block.level) as i64);
        let (dim, periodic) = (*dim, *periodic);
        (0..3usize.pow(dim as u32)).filter_map(move |code| {
            let mut place = [0; 3];
            for axis in 0..dim {
                let at = block.place[axis] as i64 + (code / 3usize.pow(axis as u32) % 3) as i64 - 1;
                if !periodic[axis] && !(0..counts[axis]).contains(&at) {
                    return None;
                }
                place[axis] = at.rem_euclid(counts[axis]) as usize;
            }
            Some(Block { level: block.level, place })
        })
    }

    /// Upper bound of the number of blocks with rows of their own.
    pub fn rows_at_most(&self, blocks: &[Block]) -> usize {
        blocks.par_iter().filter(|block| matches!(self.reach(**block), Reach::Near(_))).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::manifest;
    use crate::geometry::solid::surface::tests::cuboid;
    use crate::geometry::solid::{Image, Motion, Shape, Solid, Surface, Turn, Voxels};
    use std::sync::Arc;

    /// A circle in a channel of 32 x 16 cells in blocks of 8 x 8.
    fn channel(varying: [bool; 6]) -> Cutters {
        let shape = Shape::Cylinder { centre: [13.0, 8.5, 0.0], axis: [0.0, 0.0, 1.0], radius: 3.2, length: None };
        let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[solid], 2, [32, 16, 1], [8, 8, 1], [false, true, true]);
        let (symmetry_planes, nodes) = ([false; 6], [false; 6]);
        let varying_solids = BTreeSet::new();
        let padding = Padding::default();
        Cutters {
            solids,
            first: 2,
            padding,
            varying,
            varying_solids,
            symmetry_planes,
            nodes,
            faces_at_interfaces: false,
        }
    }

    fn blocks(count: [usize; 2]) -> Vec<Block> {
        (0..count[0] * count[1]).map(|at| Block { level: 0, place: [at % count[0], at / count[0], 0] }).collect()
    }

    #[test]
    fn links_are_cut_from_both_of_their_ends_or_none() {
        let (cutters, manifest) = (channel([false; 6]), manifest());
        let tables = cutters.tables(&blocks([4, 2]), &blocks([4, 2]), &manifest.directions).unwrap();
        assert_eq!(tables.rows[3], -1);
        let (cells, q) = (64, manifest.directions.len());
        let entry = |x: usize, y: usize, dir: usize| {
            let row = tables.rows[x / 8 + 4 * (y / 8)];
            let at = |row: usize| (row * q + dir) * cells + x % 8 + 8 * (y % 8);
            usize::try_from(row).map_or((0, 0.5), |row| (tables.links[at(row)], tables.distances[at(row)]))
        };
        let (mut cut, mut solid) = (0, 0);
        for (x, y) in (1..31).flat_map(|x| (0..16).map(move |y| (x, y))) {
            let inside = (x as f64 + 0.5 - 13.0).hypot(y as f64 + 0.5 - 8.5) < 3.2;
            for (dir, direction) in manifest.directions.iter().enumerate() {
                let [cx, cy, _] = direction.c;
                let up = (x as i32 - cx, (y as i32 - cy).rem_euclid(16));
                let up_inside = (f64::from(up.0) + 0.5 - 13.0).hypot(f64::from(up.1) + 0.5 - 8.5) < 3.2;
                let (found, distance) = entry(x, y, dir);
                assert_eq!(
                    found,
                    if inside {
                        -1
                    } else if up_inside {
                        3
                    } else {
                        0
                    },
                    "{x} {y} {dir}"
                );
                if found > 0 {
                    let at = |along: f64, c: i32| along + 0.5 - distance * f64::from(c);
                    let radius = (at(x as f64, cx) - 13.0).hypot(at(y as f64, cy) - 8.5);
                    assert!((radius - 3.2).abs() < 1e-12, "{radius}");
                    cut += 1;
                }
                solid += usize::from(inside && dir == 0);
            }
        }
        assert!(cut > 50 && solid > 25, "{cut} {solid}");
    }

    /// 4 blocks of 8 x 8 (x 8) cells along each axis, with a solid in them.
    fn around(shape: Shape, motion: Option<Motion>, dim: usize) -> (Cutters, Vec<Block>) {
        let (size, block) = (
            [0, 1, 2].map(|axis| if axis < dim { 32 } else { 1 }),
            [0, 1, 2].map(|axis| if axis < dim { 8 } else { 1 }),
        );
        let solid = [Solid { shape, rule: "moving_wall".into(), values: vec![], level: 0, shells: vec![] }];
        let mut solids = Solids::new(&solid, dim, size, block, [true; 3]).moving(&solid, &[motion]);
        solids.set_time(0, 7.0);
        let blocks = (0..4usize.pow(dim as u32)).map(|at| Block { level: 0, place: [at % 4, at / 4 % 4, at / 16] });
        (Cutters { solids, first: 2, ..channel([false; 6]) }, blocks.collect())
    }

    /// Checks that both cut the same links at the same distances; returns their number.
    fn same_links(one: (Cutters, Vec<Block>), other: (Cutters, Vec<Block>)) -> usize {
        let directions = manifest().directions;
        let mut cut = 0;
        for block in one.1 {
            let row = |cutters: &Cutters| match cutters.cut(block, &directions) {
                Cut::Some(row) => Some(row),
                _ => None,
            };
            let (Some(one), Some(other)) = (row(&one.0), row(&other.0)) else {
                assert_eq!(one.0.cut(block, &directions), other.0.cut(block, &directions), "{block:?}");
                continue;
            };
            assert_eq!(one.links, other.links, "{block:?}");
            let farthest = one.distances.iter().zip(&other.distances).map(|(one, other)| (one - other).abs());
            assert!(farthest.fold(0.0, f64::max) < 1e-9, "{block:?}");
            cut += one.links.iter().filter(|link| **link > 0).count();
        }
        cut
    }

    #[test]
    fn a_body_that_has_turned_cuts_the_links_of_one_given_so() {
        let (pivot, angle, by) = ([13.1, 16.4, 0.0], 0.6, [2.0, 1.5, 0.0]);
        let motion = |axis| {
            Motion::new(move |time| by.map(|by| by * time / 7.0), 10).turning(
                move |time| angle * time / 7.0,
                axis,
                pivot,
            )
        };
        let (low, high) = ([9.3, 12.2, -5.0], [20.9, 17.7, 6.0]);
        for (axis, dim) in [([0.0, 0.0, 1.0], 2), ([0.6, 0.0, 0.8], 3)] {
            let turn = Turn::new(axis, angle, pivot, [0, 1, 2].map(|axis| pivot[axis] + by[axis]));
            let surface = || Surface::new(cuboid(low, high));
            let at_rest = || around(Shape::Surface(surface().map(|at| turn.forth(at))), None, dim);
            for shape in [Shape::Box { from: low, to: high }, Shape::Surface(surface())] {
                let count = same_links(around(shape.clone(), Some(motion(axis)), dim), at_rest());
                assert!(count > 60, "{count}");
                let opposite = Shape::Outside(Box::new(shape));
                let at_rest = Shape::Outside(Box::new(Shape::Surface(surface().map(|at| turn.forth(at)))));
                assert!(same_links(around(opposite, Some(motion(axis)), dim), around(at_rest, None, dim)) > 60);
            }
        }
        // An image, rotated by a right angle.
        let voxels = |turned: bool| {
            let all =
                (0..10 * 10).map(|at| (at % 10, at / 10)).map(move |(x, y)| if turned { (y, 9 - x) } else { (x, y) });
            let mut solid = all.map(|(x, y)| x * x + 3 * y < 70 && (x, y) != (3, 4));
            Shape::Image(Image::new(Arc::new(Voxels::of([10, 10, 1], &mut solid)), [8.2, 9.3, -0.5], 1.3))
        };
        let quarter = Motion::new(|_| [0.0; 3], 10).turning(
            |time| 0.5 * std::f64::consts::PI * time / 7.0,
            [0.0, 0.0, 1.0],
            [14.7, 15.8, 0.0],
        );
        assert!(same_links(around(voxels(false), Some(quarter), 2), around(voxels(true), None, 2)) > 60);
    }

    #[test]
    fn links_across_a_varying_face_have_walls_of_their_own() {
        let mut varying = [false; 6];
        varying[0] = true;
        let (cutters, manifest) = (channel(varying), manifest());
        let tables = cutters.tables(&blocks([4, 2]), &blocks([4, 2]), &manifest.directions).unwrap();
        assert_eq!(tables.crossings.len(), 3 * 16);
        assert!(tables.crossings.iter().all(|crossing| crossing.of == Crossed::Face(0) && crossing.at[0] == 0.0));
        let largest = tables.links.iter().max().copied();
        assert_eq!(largest, Some(3 + 3 * 16));
    }

    #[test]
    fn cells_at_a_varying_face_of_nodes_have_walls_of_their_own_unless_another_face_of_nodes_comes_first() {
        let only = |face: usize| std::array::from_fn(|other| other == face);
        let count = |varying: usize, nodes: &[usize]| {
            let mut cutters = channel(only(varying));
            cutters.solids.periodic = [false; 3];
            nodes.iter().for_each(|face| cutters.nodes[*face] = true);
            let tables = cutters.tables(&blocks([4, 2]), &blocks([4, 2]), &manifest().directions).unwrap();
            assert!(tables.crossings.iter().all(|crossing| crossing.of == Crossed::Face(varying)));
            let rim = if varying / 2 == 0 { 0.5 } else { 15.5 };
            assert!(tables.crossings.iter().all(|crossing| crossing.at[varying / 2] == rim));
            tables.crossings.len()
        };
        assert_eq!(count(0, &[0]), 16);
        assert_eq!(count(3, &[3]), 32);
        assert_eq!(count(3, &[0, 1, 3]), 30);
    }

    #[test]
    fn a_block_within_a_solid_is_in_row_0() {
        let shape = Shape::Box { from: [-1.0, -1.0, -1.0], to: [9.0, 9.0, 1.0] };
        let solid = Solid { shape, rule: "bounce_back".into(), values: vec![], level: 0, shells: vec![] };
        let solids = Solids::new(&[solid], 2, [32, 16, 1], [8, 8, 1], [false; 3]);
        let cutters = Cutters { solids, first: 4, ..channel([false; 6]) };
        let tables = cutters.tables(&blocks([4, 2]), &blocks([4, 2]), &manifest().directions).unwrap();
        assert_eq!(tables.rows, [0, 1, -1, -1, 2, 3, -1, -1]);
    }

    #[test]
    fn a_jump_beside_a_cut_block_is_refused() {
        let mut blocks = blocks([4, 2]);
        blocks[0].level = 1;
        let error =
            channel([false; 6]).tables(&blocks, &blocks, &manifest().directions).expect_err("a neighbour is missing");
        let alone = channel([false; 6]).check(&blocks, &manifest().directions).expect_err("the same");
        assert_eq!(error.to_string(), alone.to_string());
        assert!(
            error.to_string().contains("links of cells at a refinement interface: cells 8 to 16, 0 to 8 of level 0"),
            "{error}"
        );
    }
}
