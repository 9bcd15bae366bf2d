//! Solids, and faces along which values vary, on the device.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::{Manifest, Role};

use crate::device::{Buffer, Device, Double, Int, Real, Stored};
use crate::geometry::Block;
use crate::geometry::solid::{Crossing, Cutters, Motion, Solids};
use crate::kernels::layout::SlotId;
use crate::kernels::{self, Program};
use crate::mesh::forest::Leaf;
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::prescribed::Item;
use crate::solver::arrays::walls::{Instance, Walls};
use crate::solver::error::StepError;
use crate::solver::solids::exchanges::Left;
use crate::solver::solids::moving::{Moving, Shapes};
use crate::solver::solids::slides::Slides;
use crate::solver::solids::surfaces::{crossings, surfaces as walls_of_solids};
use crate::solver::spec::GridSpec;

/// Tables of the blocks with cut links.
pub(crate) struct Bodies {
    /// `rows[slot]` for the slots in `list`.
    pub(crate) rows: Buffer<Int>,
    /// One set of links, and of what they meet; if solids move two, of which a step reads one while its move writes the other.
    pub(crate) links: Vec<LinkRows>,
    pub(crate) surfaces: Vec<Surfaces>,
    /// The current set of each level. After a step of the coarsest level that of finer ones is the first: they have taken an even number of steps.
    pub(crate) current: Vec<usize>,
    /// The slots that have a row, in the order of [`Listed`].
    pub(crate) list: Buffer<Int>,
    /// The ranges of levels in `list`; for a subdomain, of its own blocks.
    pub(crate) own: Listed,
    /// The ranges of levels in `list`, all blocks included.
    pub(crate) listed: Listed,
    /// The nodes of these blocks, in the same order; nodes do not change when data move.
    pub(crate) nodes: Buffer<Int>,
    /// Their rows.
    pub(crate) row: Buffer<Int>,
    /// Exchanges along links, until the host reads them.
    pub(crate) left: Left,
    /// What links with walls of their own cross, with the number of the first of these walls; of methods with an adjoint alone.
    pub(crate) crossings: (usize, Vec<Crossing>),
    /// `places[place][5]`: row, slot and lowest cell.
    pub(crate) places: Buffer<Int>,
    /// The solid of each wall, -1, or -(s + 2) for a link that meets shape s.
    pub(crate) owners: Buffer<Int>,
    pub(crate) count: usize,
    /// Which solids the links of the blocks in `list` may meet.
    pub(crate) entries: Entries,
    /// Sums of an entry: the force along each axis, the gain of each set of populations, and, if any solid rotates, the torque.
    pub(crate) sums: usize,
    /// What cuts the links, on the host.
    pub(crate) cutters: Arc<Cutters>,
    /// Moving solids.
    pub(crate) moving: Option<Moving>,
    /// Surfaces under boundary layers that cells do not resolve.
    pub(crate) slides: Option<Slides>,
}

/// Which solids the links of each of some blocks may meet: an entry for each block and solid.
pub(crate) struct Entries {
    /// The first entry of each block, and of what follows the last; on the device, too.
    firsts: Vec<usize>,
    firsts_there: Buffer<Int>,
    /// The solid of each entry, those of a block in ascending order.
    solids: Buffer<Int>,
}

/// The links of all rows.
pub(crate) struct LinkRows {
    /// `links[row][direction][cell]`
    pub(crate) links: Buffer<Int>,
    /// `distances[row][direction][cell]`
    pub(crate) distances: Buffer<Real>,
}

/// The surfaces that links meet, as they are in a step.
pub(crate) struct Surfaces {
    /// The velocity of each solid `[solid][axis]`.
    pub(crate) frames: Buffer<Double>,
    /// The number of the wall of the first solid.
    pub(crate) wall: usize,
    /// The number of the first of the walls of single links, which links that meet rotating solids have.
    pub(crate) first: usize,
    /// The method and the grid: see [`lbm_bundle::cutting::FORM`].
    pub(crate) form: Buffer<Int>,
    /// The shapes as each level has them.
    pub(crate) shapes: Vec<Shapes>,
}

/// A list of blocks with cut links: those away from refinement interfaces, level by level, each level along the curve, then those at
/// interfaces, covered ones too, in the same order. The links of the latter are cut by faces alone.
#[derive(Clone, Debug)]
pub(crate) struct Listed {
    /// The range of each level away from interfaces.
    away: Vec<Range<usize>>,
    /// The range of each level at interfaces.
    at_interfaces: Vec<Range<usize>>,
}

impl Listed {
    /// Sorts blocks of a number of levels that are listed along the curve.
    pub(crate) fn sort<B>(
        blocks: &mut [B],
        levels: usize,
        block: impl Fn(&B) -> Block,
        is_at_interface: impl Fn(Block) -> bool,
    ) -> Listed {
        blocks.sort_by_cached_key(|of| (is_at_interface(block(of)), block(of).level));
        let away = blocks.iter().take_while(|of| !is_at_interface(block(of))).count();
        let ranges = |first: usize, blocks: &[B]| {
            let before = |level: usize| first + blocks.partition_point(|of| block(of).level < level);
            (0..levels).map(|level| before(level)..before(level + 1)).collect()
        };
        Listed { away: ranges(0, &blocks[..away]), at_interfaces: ranges(away, &blocks[away..]) }
    }

    /// The range of each level.
    pub(crate) fn of(&self, at_interfaces: bool) -> &[Range<usize>] {
        if at_interfaces { &self.at_interfaces } else { &self.away }
    }

    /// The number of levels.
    pub(crate) fn levels(&self) -> usize {
        self.away.len()
    }

    /// Restricts each range to those of its entries that are own, which are contiguous.
    fn keep<E>(&self, own: impl Fn(Range<usize>) -> Result<Vec<bool>, E>) -> Result<Listed, E> {
        let keep = |ranges: &[Range<usize>]| {
            let part = |range: &Range<usize>| {
                let own = own(range.clone())?;
                let first = own.iter().position(|own| *own).unwrap_or(0);
                let count = own[first..].iter().take_while(|own| **own).count();
                Ok(range.start + first..range.start + first + count)
            };
            ranges.iter().map(part).collect::<Result<Vec<_>, E>>()
        };
        Ok(Listed { away: keep(&self.away)?, at_interfaces: keep(&self.at_interfaces)? })
    }
}

impl Entries {
    /// `touched`: of the blocks that moving solids may touch, these solids.
    pub(crate) fn new(
        device: &Device,
        solids: &Solids,
        blocks: &[Block],
        touched: &HashMap<&Block, &Vec<usize>>,
    ) -> Result<Entries, StepError> {
        let mut all = solids.still_beside(blocks);
        for (block, of) in blocks.iter().zip(&mut all) {
            of.extend(touched.get(block).into_iter().copied().flatten());
            of.sort_unstable();
        }
        let mut firsts = vec![0];
        for of in &all {
            firsts.push(firsts[firsts.len() - 1] + of.len());
        }
        let there: Vec<i32> = firsts.iter().map(|first| *first as i32).collect();
        let numbers: Vec<i32> = all.iter().flatten().map(|number| *number as i32).collect();
        Ok(Entries {
            firsts,
            firsts_there: device.ints(&there)?,
            // An array of one at least.
            solids: device.ints(if numbers.is_empty() { &[-1] } else { &numbers })?,
        })
    }
}

impl Bodies {
    /// The tables on the device; if `owned` is given, of these blocks alone. The walls of single links, and their values that formulas of
    /// time prescribe, are added to those of the faces.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        spec: &GridSpec,
        levels: usize,
        (cutters, owned): (Cutters, Option<&Owned>),
        walls: (&mut Vec<Instance>, &mut Vec<Item>),
    ) -> Result<Self, StepError> {
        if manifest.kernel(Role::StreamCollideSolid).is_none() {
            return Err(StepError::NoSolids { spec: manifest.spec.clone() });
        }
        let is_own = |(_, of): &(usize, Leaf)| owned.is_none_or(|owned| owned.has(of.slot));
        let blocks_of = |nodes: &[(usize, Leaf)]| nodes.iter().map(|(_, of)| of.block).collect::<Vec<Block>>();
        let all: Vec<Block> = grid.leaves()?.iter().map(|leaf| leaf.block).collect();
        let known: HashSet<Block> = all.iter().copied().collect();
        // Cells of covered blocks stream beside leaves; only faces cut links there.
        let mut nodes = grid.forest().read_nodes_with_data()?;
        let is_cut = |block: Block| known.contains(&block) || cutters.is_cut_by_faces(block);
        nodes.retain(|node| is_own(node) && is_cut(node.1.block));
        let mut tables = cutters.tables(&blocks_of(&nodes), &all, &manifest.directions)?;
        let (instances, items) = walls;
        let first = instances.len();
        let mut owners = crossings(manifest, spec, (cutters.first, &tables), (&mut *instances, items))?;
        let found = std::iter::zip(&nodes, &tables.rows).filter(|(_, row)| **row >= 0);
        let mut found: Vec<(Block, i32, i32)> = found.map(|((node, of), row)| (of.block, *node as i32, *row)).collect();
        let is_at_interface = |block| cutters.is_cut_at_interface(block, |near| known.contains(&near));
        let listed = Listed::sort(&mut found, levels, |(block, ..)| *block, is_at_interface);
        let list: Vec<Block> = found.iter().map(|(block, ..)| *block).collect();
        let of_nodes = blocks_of(&nodes);
        let walls = (&mut *instances, &mut owners);
        let slides = Slides::new(device, manifest, spec, (&cutters, &of_nodes, &mut tables), walls, &list)?;
        let (nodes, row): (Vec<i32>, Vec<i32>) = found.iter().map(|(_, node, row)| (*node, *row)).unzip();
        let count = spec.solids.len();
        let mut walls_of = vec![cutters.first];
        if spec.motions.iter().any(Option::is_some) {
            // Solids have a wall in each set.
            walls_of.push(instances.len());
            let (more, timed) = walls_of_solids(manifest, spec, instances.len())?;
            instances.extend(more);
            items.extend(timed);
            owners.extend(0..count as i32);
        }
        let link_rows = |_| -> Result<LinkRows, StepError> {
            let mut distances = device.alloc_reals(manifest.real, tables.distances.len())?;
            distances.write_reals(0, &tables.distances)?;
            Ok(LinkRows { links: device.ints(&tables.links)?, distances })
        };
        let links = walls_of.iter().map(link_rows).collect::<Result<_, _>>()?;
        let surfaces = |wall: &usize| -> Result<Surfaces, StepError> {
            Ok(Surfaces {
                frames: device.alloc_doubles(count * manifest.dim as usize)?,
                wall: *wall,
                first: instances.len(),
                form: device.ints(&cutters.form(manifest, *wall, instances.len()))?,
                shapes: (0..levels).map(|_| Shapes::new(device, 1)).collect::<Result<_, _>>()?,
            })
        };
        let surfaces = walls_of.iter().map(surfaces).collect::<Result<Vec<_>, _>>()?;
        let rows = found.iter().map(|(block, _, row)| (*block, *row as usize)).collect();
        let torques = if spec.motions.iter().flatten().any(Motion::turns) { 3 } else { 0 };
        let moving = Moving::new(device, manifest, grid, spec, &cutters, rows, (&tables.links, &walls_of))?;
        let is_derived = manifest.kernel(Role::StreamAdjointSolid).is_some();
        let mut bodies = Bodies {
            crossings: (first, if is_derived { tables.crossings } else { vec![] }),
            rows: device.alloc_ints(grid.slots())?,
            links,
            surfaces,
            current: vec![0; levels],
            list: device.alloc_ints(nodes.len())?,
            own: listed.clone(),
            listed,
            nodes: device.ints(&nodes)?,
            row: device.ints(&row)?,
            left: Left::default(),
            places: device.alloc_ints(5)?,
            owners: device.ints(&owners)?,
            count,
            entries: Entries::new(device, &cutters.solids, &list, &HashMap::new())?,
            sums: manifest.dim as usize + manifest.populations.len() + torques,
            cutters: Arc::new(cutters),
            moving,
            slides,
        };
        bodies.follow(grid)?;
        Ok(bodies)
    }

    /// The slots of blocks with cut links, away from refinement interfaces or at them.
    pub(crate) fn slots(&self, at_interfaces: bool) -> Result<HashSet<i32>, StepError> {
        let ranges = self.listed.of(at_interfaces);
        let range = ranges.first().map_or(0, |range| range.start)..ranges.last().map_or(0, |range| range.end);
        Ok(self.list.read_ints(range)?.into_iter().collect())
    }

    /// Sums the exchange along the links of a level, whose current set is given, in its next step, block by block, and leaves the sums on
    /// the device. Walls must have their values of that step, and the halo must be up to date. Blocks at interfaces have no links to solids.
    pub(crate) fn sum_links(
        &mut self,
        program: &Program,
        grid: &Grid,
        walls: &Walls,
        src: &Buffer<Stored>,
        (level, set): (usize, usize),
    ) -> Result<(), StepError> {
        let listed = self.own.of(false)[level].clone();
        let Entries { firsts, firsts_there, solids } = &self.entries;
        let (blocks, count) = (listed.len(), (firsts[listed.end] - firsts[listed.start]) * (1 + self.sums));
        // The other tables are read meanwhile.
        let mut left = std::mem::take(&mut self.left);
        let exchanged = left.room(program.device(), count)?;
        if count > 0 {
            let Surfaces { frames, first, form, shapes, .. } = &self.surfaces[set];
            let manifest = program.manifest();
            let torques = self.sums - manifest.dim as usize - manifest.populations.len();
            program.launch(kernels::Force {
                list: kernels::Chunks {
                    chunks: grid.forest().every().slice(0..blocks),
                    ids: self.list.slice(listed.clone()),
                    per: 1,
                },
                firsts: firsts_there,
                block: listed.start as i32,
                solids,
                neighbours: &grid.tables().neighbours,
                walls: walls.arguments(),
                links: self.arguments(level, set),
                src,
                exchanged,
                owners: &self.owners,
                frames,
                torques: torques as i32,
                level: level as i32,
                first: *first as i32,
                form,
                places: &self.places,
                kinds: &shapes[level].kinds,
                numbers: &shapes[level].numbers,
            })?;
        }
        self.left = left;
        Ok(())
    }

    /// Restricts the lists to a subdomain's own blocks, which are contiguous on each level.
    pub(crate) fn keep_own(&mut self, device: &Device, owned: &Owned) -> Result<(), StepError> {
        self.keep_own_patches(device, owned)?;
        self.own = self.listed.keep(|listed| {
            let slots = self.list.read_ints(listed)?;
            Ok::<_, StepError>(slots.iter().map(|slot| owned.has(SlotId(*slot as u32))).collect())
        })?;
        if let Some(moving) = &mut self.moving {
            moving.keep_own(owned);
        }
        Ok(())
    }

    /// Updates the slots of the blocks after the data have been reordered. Old slots may now belong to blocks without a row.
    pub(crate) fn follow(&mut self, grid: &Grid) -> Result<(), StepError> {
        // Poisoned integers are -1: no row.
        self.rows.poison()?;
        Ok(grid.forest().follow(&self.nodes, &self.row, &mut self.list, &mut self.rows)?)
    }
}
