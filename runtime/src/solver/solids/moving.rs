//! Solids that move, as prescribed or with the fluid. After each step of their level, kernels cut their links at the new position and fill
//! the cells that they have uncovered.
//!
//! During a step a solid stays where it is at the beginning of the step, and its surface has the mean velocity of the step. So the
//! populations of uncovered cells are post-collision populations, as in all other cells, and the cut links depend on the step alone: a
//! resumed flow has the same bits.
//!
//! The host evaluates the motions, those of free bodies step by step, and tells the device the position and the velocity of each solid. It also lists the *places*: the
//! blocks that moving solids may touch in an interval of time, each of which has a row of links. Kernels work on all places of a level.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Index, Range};
use std::sync::Arc;

use lbm_bundle::Manifest;
use lbm_bundle::cutting::{
    NEAR_LEAVES, NEAR_SHAPES, PASS_COUNTS, PASS_LISTS, SCANNED_SHARE, SHAPE_INTS, SHAPE_NUMBERS, SOLID_NUMBERS,
    parts_of,
};

use crate::device::{Buffer, Device, DeviceError, Double, Int};
use crate::geometry::Block;
use crate::geometry::solid::{Cutters, Flat, FlatShapes, Motion, Rate, Solids};
use crate::kernels::cutting::map_of;
use crate::kernels::layout::SlotId;
use crate::kernels::{self, AllShapes, Cutting};
use crate::mesh::{Grid, Owned, forest};
use crate::solver::error::StepError;
use crate::solver::solids::surfaces::velocity_at;
use crate::solver::spec::GridSpec;

/// Sets of links, of which a step reads one while its move writes the other.
pub(crate) const SETS: usize = 2;

/// What moving solids need besides the tables of all solids.
pub(crate) struct Moving {
    /// Number of cells of a block, and of links.
    pub(crate) cells: usize,
    pub(crate) links: usize,
    /// Number of parts of a place for which what is near is listed.
    pub(crate) parts: usize,
    pub(crate) leaves: Leaves,
    /// The row of each block that has one.
    pub(crate) rows: BTreeMap<Block, usize>,
    /// Unused rows.
    pub(crate) free: Vec<usize>,
    /// `states[row][cell]`: see [`lbm_bundle::cutting`].
    pub(crate) states: Buffer<Int>,
    /// For each moving solid, the offset of its velocity among the values of its wall.
    pub(crate) velocities: BTreeMap<usize, usize>,
    /// The solids that rotate.
    pub(crate) turning: BTreeSet<usize>,
    /// The velocities of moving solids in the step that begins.
    pub(crate) rates: BTreeMap<usize, Rate>,
    /// For each solid its velocity, its rotation vector and how far its pivot has moved: see [`Uncover`](crate::kernels::cutting::Uncover).
    pub(crate) rates_at: Buffer<Double>,
    /// The end of the interval for which places are listed.
    pub(crate) until: f64,
    pub(crate) kernels: Cutting,
    pub(crate) flat: Flat,
    pub(crate) surfaces: Surfaces,
    pub(crate) passages: Passages,
    pub(crate) timeline: Timeline,
    /// Numbers from 0 on, as many as shapes or solids have numbers.
    pub(crate) numbers: Buffer<Int>,
    /// For each level and set of links, where the velocity of each solid of the level that moves is among the values of all walls, or -1.
    pub(crate) at_walls: Vec<Vec<Buffer<Int>>>,
    pub(crate) swept: SweptBlocks,
    /// How often arrays that moves read or write have been replaced by others.
    pub(crate) replaced: u64,
}

/// All leaves of a grid.
pub(crate) struct Leaves {
    by_block: BTreeMap<Block, Leaf>,
    /// As the forest lists them.
    listed: Arc<[(usize, forest::Leaf)]>,
}

/// A leaf: its position among all leaves along the space-filling curve, its node and its slot.
pub(crate) struct Leaf {
    pub(crate) rank: usize,
    pub(crate) node: usize,
    pub(crate) slot: usize,
}

/// Surfaces of triangles and images on the device.
pub(crate) struct Surfaces {
    pub(crate) tree: Buffer<Int>,
    pub(crate) boxes: Buffer<Double>,
    pub(crate) triangles: Buffer<Double>,
    pub(crate) meets: Buffer<Int>,
    pub(crate) bits: Buffer<Int>,
    pub(crate) columns: Buffer<Int>,
    /// The leaf of each triangle of scanned surfaces, and how many these have.
    pub(crate) leaf_of: Buffer<Int>,
    pub(crate) scanned: usize,
}

/// The links near the triangles of scanned surfaces, while a move looks at them: see [`Pass`](crate::kernels::cutting::Pass).
pub(crate) struct Passages {
    pub(crate) links: Buffer<Int>,
    pub(crate) counts: Buffer<Int>,
    /// Of each list.
    pub(crate) room: usize,
}

/// Shapes on the device, at one time.
pub(crate) struct Shapes {
    pub(crate) kinds: Buffer<Int>,
    pub(crate) numbers: Buffer<Double>,
    /// How many there is room for; those that are not there are empty.
    pub(crate) room: usize,
}

/// What moves do in the steps to come, on the device, so that a device need not wait for the host.
pub(crate) struct Timeline {
    /// The level of each move and the time at the end of its step, in the order of moves; the first of these that are left.
    pub(crate) moves: Vec<(usize, f64)>,
    pub(crate) next: usize,
    /// What they do, until it is written.
    pub(crate) pending: Option<(Vec<i32>, Vec<f64>, Vec<f64>)>,
    /// `[entry][shape]` and `[entry][solid]`: see [`Place`](crate::kernels::cutting::Place).
    pub(crate) kinds: Buffer<Int>,
    pub(crate) numbers: Buffer<Double>,
    pub(crate) rates: Buffer<Double>,
}

/// The blocks that moving solids may touch in an interval, level by level, each level along the curve.
pub(crate) struct SweptBlocks {
    pub(crate) blocks: Vec<Block>,
    /// For each, the solids that may touch it.
    pub(crate) solids: Vec<Vec<usize>>,
    /// The range of each level.
    pub(crate) levels: Vec<Range<usize>>,
    /// The range of each level; for a subdomain, of its own blocks.
    pub(crate) own: Vec<Range<usize>>,
    /// Numbers from 0 on: as many as there are cells of places, or [`workers`].
    pub(crate) items: Buffer<Int>,
    /// The shapes near each part of a place: see [`NEAR_SHAPES`].
    pub(crate) near_shapes: Buffer<Int>,
    /// The leaves of surfaces near each part of a place: see [`NEAR_LEAVES`].
    pub(crate) near_leaves: Buffer<Int>,
    /// How many cells of each level are near surfaces or have been left by solids, and how many links are in `detours`; which cells.
    pub(crate) near_counts: Buffer<Int>,
    pub(crate) near_cells: Buffer<Int>,
    /// Links of each level between cells of the fluid that meet a surface: see [`Detour`](crate::kernels::cutting::Detour).
    pub(crate) detours: Buffer<Int>,
    /// The places by where they are.
    pub(crate) map: Buffer<Int>,
    /// The cells of each part of a place that scanned surfaces are near, while a move looks for them.
    pub(crate) marks: Buffer<Int>,
    /// Where scanned surfaces meet the links of cells: see [`Scan`](crate::kernels::cutting::Scan).
    pub(crate) fractions: Buffer<Double>,
    /// What [`Cut`](crate::kernels::cutting::Cut) finds of each link for [`Uncover`](crate::kernels::cutting::Uncover).
    pub(crate) beside: Buffer<Int>,
    /// What the move to each set of links leaves to be filled.
    pub(crate) left: [LeftCells; SETS],
}

/// What [`Uncover`](crate::kernels::cutting::Uncover) finds of each cell.
pub(crate) struct LeftCells {
    pub(crate) around: Buffer<Int>,
    pub(crate) towards: Buffer<Int>,
    pub(crate) velocities: Buffer<Double>,
}

impl Leaves {
    fn new(grid: &Grid) -> Result<Leaves, StepError> {
        let listed = grid.forest().read_leaf_nodes()?;
        let of = |(rank, (node, leaf)): (usize, &(usize, forest::Leaf))| {
            (leaf.block, Leaf { rank, node: *node, slot: leaf.slot.index() })
        };
        Ok(Leaves { by_block: listed.iter().enumerate().map(of).collect(), listed })
    }

    /// Those of the grid as it is now, in place of these; returns what these were if they are others.
    pub(crate) fn renew(&mut self, grid: &Grid) -> Result<Option<Leaves>, StepError> {
        let is_same = Arc::ptr_eq(&self.listed, &grid.forest().read_leaf_nodes()?);
        Ok(if is_same { None } else { Some(std::mem::replace(self, Leaves::new(grid)?)) })
    }

    /// The leaf that is this block, if it is one.
    pub(crate) fn get(&self, block: &Block) -> Option<&Leaf> {
        self.by_block.get(block)
    }

    /// The blocks of all leaves.
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Block> {
        self.by_block.keys().copied()
    }
}

impl Index<&Block> for Leaves {
    type Output = Leaf;

    fn index(&self, block: &Block) -> &Leaf {
        &self.by_block[block]
    }
}

impl LeftCells {
    fn new(device: &Device, cells: usize, dim: usize) -> Result<LeftCells, DeviceError> {
        let (around, towards) = (device.alloc_ints(cells)?, device.alloc_ints(cells)?);
        Ok(LeftCells { around, towards, velocities: device.alloc_doubles(cells * dim)? })
    }
}

impl Shapes {
    pub(crate) fn new(device: &Device, room: usize) -> Result<Shapes, DeviceError> {
        let room = room.max(1);
        let (kinds, numbers) = (device.alloc_ints(room * SHAPE_INTS)?, device.alloc_doubles(room * SHAPE_NUMBERS)?);
        Ok(Shapes { kinds, numbers, room })
    }

    pub(crate) fn arguments(&self) -> AllShapes<'_> {
        AllShapes { shapes: self.room as i32, kinds: &self.kinds, numbers: &self.numbers }
    }

    /// Writes shapes, for which there must be room.
    pub(crate) fn write(&mut self, shapes: &FlatShapes) -> Result<(), DeviceError> {
        let FlatShapes { kinds, numbers } = shapes.clone().padded(self.room);
        self.kinds.write_ints(0, &kinds)?;
        self.numbers.write_reals(0, &numbers)
    }
}

impl Timeline {
    pub(crate) fn new(device: &Device) -> Result<Timeline, DeviceError> {
        let (kinds, numbers, rates) = (device.alloc_ints(0)?, device.alloc_doubles(0)?, device.alloc_doubles(0)?);
        Ok(Timeline { moves: vec![], next: 0, pending: None, kinds, numbers, rates })
    }

    /// The entry of the step of a level that ends at a time, if it is the next one.
    pub(crate) fn entry(&self, level: usize, time: f64) -> Option<usize> {
        (self.moves.get(self.next) == Some(&(level, time))).then_some(self.next)
    }
}

impl Passages {
    fn new(device: &Device, flat: &Flat) -> Result<Passages, DeviceError> {
        let room = if flat.leaf_of.is_empty() { 0 } else { flat.room };
        let links = device.alloc_ints(5 * PASS_LISTS * room)?;
        Ok(Passages { links, counts: device.ints(&[0; PASS_COUNTS])?, room })
    }
}

impl Surfaces {
    fn new(device: &Device, flat: &Flat) -> Result<Surfaces, DeviceError> {
        let ints = |values: &[i32]| if values.is_empty() { device.alloc_ints(1) } else { device.ints(values) };
        let reals = |values: &[f64]| {
            let mut buffer = device.alloc_doubles(values.len().max(1))?;
            buffer.write_reals(0, values)?;
            Ok::<_, DeviceError>(buffer)
        };
        Ok(Surfaces {
            tree: ints(&flat.tree)?,
            boxes: reals(&flat.boxes)?,
            triangles: reals(&flat.triangles)?,
            meets: ints(&flat.meets)?,
            bits: ints(&flat.bits)?,
            columns: ints(&flat.columns)?,
            leaf_of: ints(&flat.leaf_of)?,
            scanned: flat.leaf_of.len(),
        })
    }

    pub(crate) fn arguments(&self) -> kernels::Surfaces<'_> {
        let Surfaces { tree, boxes, triangles, meets, bits, columns, scanned, .. } = self;
        kernels::Surfaces { tree, boxes, triangles, meets, bits, columns, scanned: *scanned as i32 }
    }
}

impl SweptBlocks {
    /// Of blocks in the order of their levels and along the curve, each with the solids that may touch it.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        (blocks, solids): (Vec<Block>, Vec<Vec<usize>>),
        levels: usize,
        scans: bool,
    ) -> Result<SweptBlocks, DeviceError> {
        let levels = SweptBlocks::levels_of(&blocks, levels);
        let cells = blocks.len() * manifest.cells();
        let links = i32::try_from(cells * manifest.q()).map_err(|_| DeviceError::Launch {
            kernel: "cut".into(),
            reason: "moving solids may touch more links than an int32 can count".into(),
        })?;
        let numbers: Vec<i32> = (0..workers(links as usize).max(cells) as i32).collect();
        let parts = blocks.len() * parts_of(manifest.block);
        let left = || LeftCells::new(device, cells, manifest.dim as usize);
        Ok(SweptBlocks {
            items: device.ints(&numbers)?,
            near_shapes: device.alloc_ints(parts * NEAR_SHAPES)?,
            near_leaves: device.alloc_ints(parts * NEAR_LEAVES)?,
            near_counts: device.alloc_ints(2 * levels.len())?,
            near_cells: device.alloc_ints(cells)?,
            detours: device.alloc_ints(2 * cells)?,
            map: device.ints(&map_of(&blocks))?,
            marks: device.alloc_ints(parts)?,
            fractions: device.alloc_doubles(if scans { blocks.len() * scanned_links(manifest) } else { 0 })?,
            beside: device.alloc_ints(links as usize)?,
            left: [left()?, left()?],
            own: levels.clone(),
            levels,
            blocks,
            solids,
        })
    }

    /// Lists other blocks, for which there must be room.
    pub(crate) fn list(
        &mut self,
        device: &Device,
        (blocks, solids): (Vec<Block>, Vec<Vec<usize>>),
        levels: usize,
    ) -> Result<(), DeviceError> {
        self.forget_parts()?;
        self.map = device.ints(&map_of(&blocks))?;
        self.levels = SweptBlocks::levels_of(&blocks, levels);
        (self.own, self.blocks, self.solids) = (self.levels.clone(), blocks, solids);
        Ok(())
    }

    /// Takes the cells of all parts as unlike those of the moves before.
    pub(crate) fn forget_parts(&mut self) -> Result<(), DeviceError> {
        self.near_shapes.write_ints(0, &vec![0; self.near_shapes.len()])
    }

    /// The range of each level in a list of blocks, level by level.
    pub(crate) fn levels_of(blocks: &[Block], levels: usize) -> Vec<Range<usize>> {
        let before = |level: usize| blocks.partition_point(|block| block.level < level);
        (0..levels).map(|level| before(level)..before(level + 1)).collect()
    }
}

impl Moving {
    /// From the rows of all leaves and their links, and the number of the wall of the first solid in each set of links; `None` if no solid moves.
    /// Swept blocks are listed later.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        spec: &GridSpec,
        cutters: &Cutters,
        rows: BTreeMap<Block, usize>,
        (links, walls): (&[i32], &[usize]),
    ) -> Result<Option<Moving>, StepError> {
        let mut velocities = BTreeMap::new();
        for (number, (solid, motion)) in spec.solids.iter().zip(&spec.motions).enumerate() {
            if motion.is_some() {
                velocities.insert(number, velocity_at(manifest, solid)?);
            }
        }
        if velocities.is_empty() {
            return Ok(None);
        }
        let turns = |number: &usize| spec.motions[*number].as_ref().is_some_and(Motion::turns);
        let turning = velocities.keys().copied().filter(turns).collect();
        let rates = velocities.keys().map(|number| (*number, Rate::default())).collect();
        let stride = manifest.wall_stride as usize;
        let at_walls = |level: usize, first: usize| {
            let of_level = |number: usize| velocities.get(&number).filter(|_| spec.solids[number].level == level);
            let at_wall = |number| of_level(number).map_or(-1, |at| ((first + number) * stride + at) as i32);
            device.ints(&(0..spec.solids.len()).map(at_wall).collect::<Vec<_>>())
        };
        let finest = spec.solids.iter().map(|solid| solid.level).max();
        let of_level = |level| walls.iter().map(|first| at_walls(level, *first)).collect::<Result<Vec<_>, _>>();
        let at_walls = (0..=finest.unwrap_or(0)).map(of_level).collect::<Result<_, _>>()?;
        let rows_of = links.chunks_exact(manifest.q() * manifest.cells());
        let states: Vec<i32> = rows_of.flat_map(|row| states_of(&row[..manifest.cells()])).collect();
        let flat = Flat::new(&cutters.solids);
        Ok(Some(Moving {
            cells: manifest.cells(),
            links: manifest.q() * manifest.cells(),
            parts: parts_of(manifest.block),
            leaves: Leaves::new(grid)?,
            rows,
            free: vec![],
            states: device.ints(&states)?,
            velocities,
            turning,
            rates,
            rates_at: device.alloc_doubles(9 * spec.solids.len())?,
            until: 0.0,
            kernels: Cutting::load(device, manifest)?,
            surfaces: Surfaces::new(device, &flat)?,
            passages: Passages::new(device, &flat)?,
            flat,
            timeline: Timeline::new(device)?,
            numbers: device.ints(&(0..items_of_place(1, spec.solids.len())).collect::<Vec<_>>())?,
            at_walls,
            swept: SweptBlocks::new(device, manifest, (vec![], vec![]), 0, false)?,
            replaced: 0,
        }))
    }

    /// The leaves that solids may touch in the interval that is reserved, level by level, each level along the curve, each with these solids.
    pub(crate) fn places(&self, solids: &Solids, levels: usize) -> Vec<(Block, Vec<usize>)> {
        let mut places: BTreeMap<usize, (Block, Vec<usize>)> = BTreeMap::new();
        for (block, number) in (0..levels).flat_map(|level| solids.swept(level)) {
            if let Some(leaf) = self.leaves.get(&block) {
                places.entry(leaf.rank).or_insert((block, vec![])).1.push(number);
            }
        }
        places.into_values().collect()
    }

    /// The shapes of solids, of which those that rotate have these velocities.
    pub(crate) fn shapes(&self, solids: &Solids, rates: &BTreeMap<usize, Rate>) -> FlatShapes {
        let turns = |solid: &usize| self.turning.contains(solid);
        self.flat
            .shapes(solids, |solid| Some(solid).filter(turns).map(|solid| (self.velocities[&solid], rates[&solid])))
    }

    /// All blocks with rows, level by level, each level along the curve, with their nodes and rows.
    pub(crate) fn listed(&self) -> Vec<(Block, i32, i32)> {
        let listed = self.rows.iter().filter_map(|(block, row)| Some((self.leaves.get(block)?, *block, *row)));
        let mut listed: Vec<_> = listed.collect();
        listed.sort_unstable_by_key(|(leaf, ..)| leaf.rank);
        listed.into_iter().map(|(leaf, block, row)| (block, leaf.node as i32, row as i32)).collect()
    }

    /// The cells of a level that are filled, among all cells of places.
    pub(crate) fn own_cells(&self, level: usize) -> Range<usize> {
        let own = &self.swept.own[level];
        own.start * self.cells..own.end * self.cells
    }

    /// Restricts the places whose links are cut and whose cells are filled to a subdomain's own blocks, which are contiguous on each level.
    pub(crate) fn keep_own(&mut self, owned: &Owned) {
        let Moving { leaves, swept: SweptBlocks { blocks, levels, own, .. }, .. } = self;
        for (own, level) in own.iter_mut().zip(levels) {
            let is_own = |block: &&Block| owned.has(SlotId(leaves[*block].slot as u32));
            let blocks = &blocks[level.clone()];
            let first = blocks.iter().position(|block| is_own(&block)).unwrap_or(0);
            let count = blocks[first..].iter().take_while(is_own).count();
            *own = level.start + first..level.start + first + count;
        }
    }
}

/// Items of a launch that cuts so many links at most: no more than any GPU has threads for at a time.
pub(crate) fn workers(links: usize) -> usize {
    links.min(1 << 18)
}

/// Items of a launch that looks at edges between so many cells: few of them meet a surface.
pub(crate) fn lookers(cells: usize) -> usize {
    cells.min(1 << 16)
}

/// Items of a launch that moves so many shapes and solids.
pub(crate) fn items_of_place(shapes: usize, solids: usize) -> i32 {
    (shapes * SHAPE_NUMBERS).max(solids * SOLID_NUMBERS) as i32
}

/// Links of a place for which there is room in the table of scanned surfaces.
fn scanned_links(manifest: &Manifest) -> usize {
    manifest.cells() / SCANNED_SHARE * manifest.q()
}

/// Bytes on the device for each place, besides its row; `turns`: whether solids rotate; `scans`: whether surfaces are scanned.
pub(crate) fn bytes_of_place(manifest: &Manifest, turns: bool, scans: bool) -> usize {
    let (cells, int) = (manifest.cells(), size_of::<i32>());
    let wall = 2 * int + manifest.wall_stride as usize * manifest.real.bytes();
    let of_cell = (9 + manifest.q()) * int
        + SETS * (manifest.dim as usize * size_of::<f64>() + usize::from(turns) * manifest.q() * wall);
    let of_part = (NEAR_SHAPES + NEAR_LEAVES + 1) * int;
    let scanned = if scans { scanned_links(manifest) * size_of::<f64>() } else { 0 };
    // Of the entries of the table of places a quarter are in use at least.
    cells * of_cell + parts_of(manifest.block) * of_part + scanned + 4 * int
}

/// The states of the cells of a row, from the links of its first direction.
pub(crate) fn states_of(links: &[i32]) -> impl Iterator<Item = i32> {
    links.iter().map(|link| if *link < 0 { 0b11 } else { 0 })
}
