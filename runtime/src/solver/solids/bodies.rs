//! Solids, and faces along which values vary, on the device.

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::{Manifest, Role};

use crate::device::{Buffer, Device, Double, Int, Real, Stored};
use crate::geometry::Block;
use crate::geometry::solid::{Cutters, Motion};
use crate::kernels::layout::SlotId;
use crate::kernels::{self, Program};
use crate::mesh::forest::Leaf;
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::prescribed::Item;
use crate::solver::arrays::walls::{Instance, Walls};
use crate::solver::error::StepError;
use crate::solver::solids::exchanges::Left;
use crate::solver::solids::moving::{Moving, OfLinks};
use crate::solver::solids::surfaces::crossings;
use crate::solver::spec::GridSpec;

/// Tables of the blocks with cut links.
pub(crate) struct Bodies {
    /// `rows[slot]` for the slots in `list`.
    pub(crate) rows: Buffer<Int>,
    /// `links[row][direction][cell]`
    pub(crate) links: Buffer<Int>,
    /// `distances[row][direction][cell]`
    pub(crate) distances: Buffer<Real>,
    /// The slots that have a row, level by level, each level along the curve.
    pub(crate) list: Buffer<Int>,
    /// The range of each level in `list`; for a subdomain, of its own blocks.
    pub(crate) levels: Vec<Range<usize>>,
    /// The range of each level in `list`, all blocks included.
    pub(crate) listed: Vec<Range<usize>>,
    /// The nodes of these blocks, in the same order; nodes do not change when data move.
    pub(crate) nodes: Buffer<Int>,
    /// Their rows.
    pub(crate) row: Buffer<Int>,
    /// Exchanges along links, until the host reads them.
    pub(crate) left: Left,
    /// The walls of single links.
    pub(crate) of_links: OfLinks,
    /// The solid of each wall, -1, or -(s + 2) for a link that meets shape s.
    pub(crate) owners: Buffer<Int>,
    /// The velocity of each solid `[solid][axis]`.
    pub(crate) frames: Buffer<Double>,
    pub(crate) count: usize,
    /// Sums per solid: the force along each axis, the gain of each set of populations, and, if any solid rotates, the torque.
    pub(crate) sums: usize,
    /// What cuts the links, on the host.
    pub(crate) cutters: Arc<Cutters>,
    /// Moving solids.
    pub(crate) moving: Option<Moving>,
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
        let is_own = |(_, leaf): &(usize, Leaf)| owned.is_none_or(|owned| owned.has(leaf.slot));
        let mut leaves = grid.forest().read_leaf_nodes()?;
        let blocks_of = |leaves: &[(usize, Leaf)]| leaves.iter().map(|(_, leaf)| leaf.block).collect::<Vec<Block>>();
        let all = blocks_of(&leaves);
        leaves.retain(is_own);
        let tables = cutters.tables(&blocks_of(&leaves), &all, &manifest.directions)?;
        let (instances, items) = walls;
        let owners = crossings(manifest, spec, (cutters.first, &tables), (&mut *instances, items))?;
        let found = std::iter::zip(&leaves, &tables.rows).filter(|(_, row)| **row >= 0);
        let (nodes, row): (Vec<i32>, Vec<i32>) = found.clone().map(|((node, _), row)| (*node as i32, *row)).unzip();
        let before = |level: usize| found.clone().filter(|((_, leaf), _)| leaf.block.level < level).count();
        let levels: Vec<Range<usize>> = (0..levels).map(|level| before(level)..before(level + 1)).collect();
        let mut distances = device.alloc_reals(manifest.real, tables.distances.len())?;
        distances.write_reals(0, &tables.distances)?;
        let count = spec.solids.len();
        let rows = found.clone().map(|((_, leaf), row)| (leaf.block, *row as usize)).collect();
        let torques = if spec.motions.iter().flatten().any(Motion::turns) { 3 } else { 0 };
        let moving = Moving::new(device, manifest, (grid, spec, &cutters), rows, &tables.links)?;
        let mut bodies = Bodies {
            rows: device.alloc_ints(grid.slots())?,
            links: device.ints(&tables.links)?,
            distances,
            list: device.alloc_ints(nodes.len())?,
            listed: levels.clone(),
            levels,
            nodes: device.ints(&nodes)?,
            row: device.ints(&row)?,
            left: Left::default(),
            of_links: OfLinks::new(device, manifest, &cutters, instances.len())?,
            owners: device.ints(&owners)?,
            frames: device.alloc_doubles(count * manifest.dim as usize)?,
            count,
            sums: manifest.dim as usize + manifest.populations.len() + torques,
            cutters: Arc::new(cutters),
            moving,
        };
        bodies.follow(grid)?;
        Ok(bodies)
    }

    /// The arguments of kernels that read cut links.
    pub(crate) fn arguments(&self) -> kernels::Links<'_> {
        kernels::Links { rows: &self.rows, links: &self.links, distances: &self.distances }
    }

    /// Sums the exchange along the links of a level in its next step, block by block, and leaves the sums on the device. Walls must have
    /// their values of that step, and the halo must be up to date.
    pub(crate) fn sum_links(
        &mut self,
        (program, grid, walls): (&Program, &Grid, &Walls),
        src: &Buffer<Stored>,
        level: usize,
    ) -> Result<(), StepError> {
        let listed = self.levels[level].clone();
        let (blocks, count) = (listed.len(), listed.len() * self.count * self.sums);
        let mut values = self.left.room(program.device(), count)?;
        if blocks > 0 {
            let OfLinks { first, form, places, shapes } = &self.of_links;
            let manifest = program.manifest();
            let torques = self.sums - manifest.dim as usize - manifest.populations.len();
            program.launch(kernels::Force {
                list: kernels::Shares {
                    shares: grid.forest().every().slice(0..blocks),
                    ids: self.list.slice(listed),
                    per: 1,
                },
                neighbours: &grid.tables().neighbours,
                walls: walls.arguments(),
                links: self.arguments(),
                src,
                exchanged: &mut values,
                owners: &self.owners,
                frames: &self.frames,
                bodies: self.count as i32,
                torques: torques as i32,
                level: level as i32,
                first: *first as i32,
                form,
                places,
                kinds: &shapes.kinds,
                numbers: &shapes.numbers,
            })?;
        }
        self.left.push(values, count);
        Ok(())
    }

    /// Restricts the lists to a subdomain's own blocks, which are contiguous on each level.
    pub(crate) fn keep_own(&mut self, owned: &Owned) -> Result<(), StepError> {
        for (level, listed) in self.levels.iter_mut().zip(&self.listed) {
            let slots = self.list.read_ints(listed.clone())?;
            let own = |slot: &i32| owned.has(SlotId(*slot as u32));
            let first = slots.iter().position(own).unwrap_or(0);
            let count = slots[first..].iter().take_while(|slot| own(slot)).count();
            *level = listed.start + first..listed.start + first + count;
        }
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
