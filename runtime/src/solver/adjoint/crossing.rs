//! What crosses refinement interfaces, backwards: tables of the populations that each value of the inbox is made of.
//!
//! A packet is a sum of populations and of their slopes, which are sums of populations too. So each value that a block has read of the inbox gives its
//! derivative to some populations, times their shares in it. Tables list the values of each population, and their shares: each derivative has one
//! writer. They are made once, on the host, for a grid that stays: each value is followed back to where it has started, by the rules by which
//! kernels fill the inbox (`templates/shared/inbox_kernels.c`). What a wall has sent back goes through the rule of the wall.

use std::collections::HashMap;
use std::ops::Range;

use lbm_bundle::mesh::NONE;
use lbm_bundle::{Manifest, Packets};

use crate::device::{Buffer, Device, Double, Int, Packing, Real, Scalar, Slice};
use crate::geometry::{Block, Cell, Face};
use crate::kernels;
use crate::kernels::layout::{CellId, Layout, SlotId};
use crate::mesh::Grid;
use crate::solver::adjoint::lanes::Lanes;
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::spec::{FaceSpec, GridSpec};
use crate::solver::subdomain::Subdomain;

/// A place in cells of some level, from the lower corner of the box.
type Spot = [i64; 3];

/// What crosses refinement interfaces, backwards.
pub(super) struct Crossing {
    /// Those of each subdomain.
    pub(super) tables: Vec<Tables>,
    /// Derivatives by the values that blocks of each level read, from their owners to those of the populations that they are made of.
    pub(super) lanes: Vec<Lanes>,
}

/// What crosses to blocks of a subdomain, and from these.
pub(super) struct Tables {
    /// The neighbours of each slot as steps backwards see them, [`NONE`] where something goes through the inbox.
    pub(super) neighbours: Buffer<Int>,
    /// 0, 1, 2 and so on: the items of launches.
    pub(super) numbers: Buffer<Int>,
    /// How many values all blocks read of the inbox, and where they are, level by level.
    pub(super) count: usize,
    pub(super) places: Buffer<Int>,
    /// The numbers of those that own blocks read.
    own: Buffer<Int>,
    of_levels: Vec<Range<usize>>,
    /// Between each level and the next finer one.
    pub(super) levels: Vec<Between>,
}

/// What crosses between a level and the next finer one.
pub(super) struct Between {
    /// Populations of the finer level before the first of its two steps.
    pub(super) before: Shares,
    /// Those after it.
    pub(super) after: Shares,
    /// Populations of the level.
    pub(super) sent: Shares,
    /// Cells of the level to which walls have sent something back.
    pub(super) returned: Shares,
}

/// Populations, or cells, and their shares of values of the inbox.
pub(super) struct Shares {
    pub(super) count: usize,
    places: Buffer<Int>,
    begins: Buffer<Int>,
    values: Buffer<Int>,
    factors: Buffer<Double>,
    /// Of what walls have sent back, along which direction, and which wall.
    pub(super) ways: Buffer<Int>,
}

impl Crossing {
    /// The tables of a flow on several levels.
    pub(super) fn new(flow: &Simulation, spec: &GridSpec, packets: &Packets) -> Result<Crossing, StepError> {
        let (manifest, grid, here) = (flow.manifest(), flow.grid(), &flow.subdomains.here);
        let owner = |slot: usize| flow.subdomains.owner(SlotId(slot as u32)).index();
        let (slots, near) = (grid.slots(), 3usize.pow(grid.dim() as u32));
        let rows = grid.tables().rows.read_ints(0..slots)?;
        let masks = |subdomain: &Subdomain| {
            let Some(inbox) = subdomain.inbox() else { unreachable!("levels with packets have an inbox") };
            let masks = inbox.arguments(subdomain.grid(), false).masks;
            masks.read_ints(0..masks.len())
        };
        let masks = here.iter().map(masks).collect::<Result<Vec<_>, _>>()?;
        let mask = |slot: usize| usize::try_from(rows[slot]).map_or(0, |row| masks[owner(slot)][row]);
        let cut = here[0].bodies().map(|bodies| bodies.rows.read_ints(0..slots)).transpose()?;
        if cut.is_some_and(|cut| (0..slots).any(|slot| cut[slot] >= 0 && rows[slot] >= 0)) {
            let why = "its grid is refined beside cut links of a face, or where blocks reach beyond the domain";
            return Err(StepError::NoAdjoint { why: why.into() });
        }
        let mut neighbours = grid.tables().neighbours.read_ints(0..slots * near)?;
        for (at, other) in neighbours.iter_mut().enumerate() {
            let (slot, entry) = (at / near, at % near);
            let read = usize::try_from(*other).is_ok_and(|other| mask(other) >> (near - 1 - entry) & 1 != 0);
            if read || mask(slot) >> entry & 1 != 0 {
                *other = NONE;
            }
        }
        let blocks = Blocks::new(grid, manifest, spec)?;
        let (mut received, mut of_levels) = (vec![], vec![]);
        for level in 0..grid.levels().len() {
            let first = received.len();
            for leaf in grid.leaves()?.iter().filter(|leaf| leaf.block.level == level) {
                received.extend(blocks.read_by(leaf.slot, grid.origin(leaf.block), manifest, mask(leaf.slot.index())));
            }
            of_levels.push(first..received.len());
        }
        let mut all: Vec<[Vec<Part>; 4]> = vec![Default::default(); of_levels.len()];
        for (number, value) in received.iter().enumerate() {
            let way = Way { blocks: &blocks, packets, direction: value.direction };
            let from_coarser = matches!(blocks.at(value.level, blocks.beyond(value, -1)), At::Coarser);
            let [first, second] = [1, 2].map(|time| time * received.len() + number);
            if from_coarser {
                let parts = &mut all[value.level - 1];
                way.of_coarser(value, false, (1.0, first), parts);
                way.of_coarser(value, true, (1.0, second), parts);
            } else {
                way.of_finer(value, number, &mut all[value.level]);
            }
        }
        let cells = manifest.cells();
        let places: Vec<[usize; 2]> = received
            .iter()
            .map(|value| [value.slot.index(), value.direction * cells + value.cell.0 as usize])
            .collect();
        let places = indices(places.as_flattened())?;
        let owners: Vec<usize> = received.iter().map(|value| owner(value.slot.index())).collect();
        let (mut tables, mut lanes) = (vec![], vec![vec![]; of_levels.len()]);
        for (number, subdomain) in here.iter().enumerate() {
            let device = subdomain.program().device();
            let (mut levels, mut needed) = (vec![], vec![]);
            for lists in &all {
                let own = lists.each_ref().map(|list| -> Vec<Part> {
                    list.iter().filter(|part| owner(part.place[0]) == number).copied().collect()
                });
                needed.extend(own.iter().flatten().map(|part| part.value));
                let [before, after, sent, returned] = own.map(|parts| Shares::new(device, parts));
                levels.push(Between { before: before?, after: after?, sent: sent?, returned: returned? });
            }
            let lengths = levels.iter().flat_map(|level| [&level.before, &level.after, &level.sent, &level.returned]);
            let most = lengths.map(|shares| shares.count).max().unwrap_or(0);
            let (mut own, mut own_levels) = (vec![], vec![]);
            for level in &of_levels {
                let first = own.len();
                own.extend(level.clone().filter(|value| owners[*value] == number));
                own_levels.push(first..own.len());
            }
            for (lanes, level) in lanes.iter_mut().zip(&of_levels) {
                lanes.extend(lanes_to(number, &needed, level, &owners));
            }
            tables.push(Tables {
                neighbours: device.ints(&neighbours)?,
                numbers: device.ints(&(0..index(most)?).collect::<Vec<_>>())?,
                count: received.len(),
                places: device.ints(&places)?,
                own: device.ints(&indices(&own)?)?,
                of_levels: own_levels,
                levels,
            });
        }
        let of_level = |packings| Lanes::new(here, packings, Scalar::computed(manifest.real).bytes());
        Ok(Crossing { tables, lanes: lanes.into_iter().map(of_level).collect::<Result<_, _>>()? })
    }

    /// How many values all blocks read.
    pub(super) fn count(&self) -> usize {
        self.tables[0].count
    }
}

impl Tables {
    /// The numbers of the values that own blocks of a level read.
    pub(super) fn received(&self, level: usize) -> Slice<'_, Int> {
        self.own.slice(self.of_levels[level].clone())
    }
}

/// What a subdomain needs of the values that blocks of others read on a level, three times each as in `crossed`, and from where it comes.
fn lanes_to(to: usize, needed: &[usize], level: &Range<usize>, owners: &[usize]) -> Vec<(usize, usize, Packing)> {
    let of_others = needed.iter().filter(|value| {
        let number = **value % owners.len();
        level.contains(&number) && owners[number] != to
    });
    let mut of_others: Vec<(usize, usize)> = of_others.map(|value| (owners[value % owners.len()], *value)).collect();
    of_others.sort_unstable();
    of_others.dedup();
    let lane = |of_lane: &[(usize, usize)]| {
        let mut packing = Packing::new(vec![std::iter::once(0..1).collect()]);
        of_lane.iter().for_each(|(_, value)| packing.push(*value, 0));
        (of_lane[0].0, to, packing)
    };
    of_others.chunk_by(|one, next| one.0 == next.0).map(lane).collect()
}

/// A number of a table.
fn index(number: usize) -> Result<i32, StepError> {
    let why = "more crosses its refinement interfaces than tables can number";
    i32::try_from(number).map_err(|_| StepError::NoAdjoint { why: why.into() })
}

fn indices(numbers: &[usize]) -> Result<Vec<i32>, StepError> {
    numbers.iter().map(|number| index(*number)).collect()
}

/// The share of a population in a value, or that of a cell in what a wall sends back.
#[derive(Clone, Copy)]
struct Part {
    /// The slot, and the direction and cell, or the cell.
    place: [usize; 2],
    value: usize,
    factor: f64,
    /// Along which direction something comes back, and off which wall.
    way: [usize; 2],
}

impl Shares {
    fn new(device: &Device, mut parts: Vec<Part>) -> Result<Shares, StepError> {
        parts.sort_by_key(|part| part.place);
        let (mut places, mut begins) = (vec![], vec![0]);
        for run in parts.chunk_by(|one, next| one.place == next.place) {
            places.extend(run[0].place);
            begins.push(begins[begins.len() - 1] + run.len());
        }
        let mut factors = device.alloc_doubles(parts.len())?;
        factors.write_reals(0, &parts.iter().map(|part| part.factor).collect::<Vec<_>>())?;
        let of = |of: fn(&Part) -> usize| indices(&parts.iter().map(of).collect::<Vec<_>>());
        let ways: Vec<usize> = parts.iter().flat_map(|part| part.way).collect();
        Ok(Shares {
            count: places.len() / 2,
            places: device.ints(&indices(&places)?)?,
            begins: device.ints(&indices(&begins)?)?,
            values: device.ints(&of(|part| part.value)?)?,
            factors,
            ways: device.ints(&indices(&ways)?)?,
        })
    }

    /// As kernels take them, of these derivatives by values of the inbox.
    pub(super) fn arguments<'a>(&'a self, crossed: &'a Buffer<Real>) -> kernels::Shares<'a> {
        let Shares { places, begins, values, factors, .. } = self;
        kernels::Shares { places, begins, values, factors, crossed }
    }
}

/// A value that a block reads of the inbox: what a direction brings to a cell.
struct Received {
    slot: SlotId,
    cell: CellId,
    direction: usize,
    level: usize,
    at: Spot,
}

/// What is at a place of a level.
#[derive(Clone, Copy)]
enum At {
    Cell(SlotId, CellId),
    /// Finer cells.
    Refined,
    Coarser,
    Wall(usize),
}

/// Where blocks are.
struct Blocks {
    dim: usize,
    /// Cells of the coarsest level that blocks fill.
    size: Spot,
    layout: Layout,
    /// The walls at faces that have one.
    walls: [Option<usize>; 6],
    slots: HashMap<Block, SlotId>,
    velocities: Vec<[i32; 3]>,
    opposites: Vec<usize>,
}

impl Blocks {
    fn new(grid: &Grid, manifest: &Manifest, spec: &GridSpec) -> Result<Blocks, StepError> {
        let layout = Layout::populations(manifest);
        let mut walls = [None; 6];
        let at_walls = Face::ALL.iter().filter(|face| matches!(spec.faces[face.index()], FaceSpec::Wall(_)));
        at_walls.enumerate().for_each(|(number, face)| walls[face.index()] = Some(number));
        let size = std::array::from_fn(|axis| grid.size()[axis].next_multiple_of(layout.block()[axis]) as i64);
        Ok(Blocks {
            dim: grid.dim(),
            size,
            layout,
            walls,
            slots: grid.leaves()?.iter().map(|leaf| (leaf.block, leaf.slot)).collect(),
            velocities: manifest.directions.iter().map(|direction| direction.c).collect(),
            opposites: manifest.directions.iter().map(|direction| direction.opposite as usize).collect(),
        })
    }

    /// What a block of which these neighbours come through the inbox reads there.
    fn read_by(&self, slot: SlotId, origin: Cell, manifest: &Manifest, mask: i32) -> Vec<Received> {
        let block = self.layout.block();
        let ways = (0..manifest.q()).flat_map(|direction| self.layout.all_cells().map(move |cell| (direction, cell)));
        let enters = |(direction, cell): &(usize, CellId)| {
            let (inside, c) = (self.layout.position(*cell), self.velocities[*direction]);
            let entry: usize = (0..self.dim)
                .map(|axis| {
                    let at = inside[axis] as i64 - i64::from(c[axis]);
                    let side = if at < 0 { 0 } else { 1 + usize::from(at >= block[axis] as i64) };
                    side * 3usize.pow(axis as u32)
                })
                .sum();
            entry != 3usize.pow(self.dim as u32) / 2 && mask >> entry & 1 != 0
        };
        let value = |(direction, cell): (usize, CellId)| {
            let inside = self.layout.position(cell);
            let at = std::array::from_fn(|axis| (origin.at[axis] + inside[axis]) as i64);
            Received { slot, cell, direction, level: origin.level, at }
        };
        ways.filter(enters).map(value).collect()
    }

    /// The cell so many steps ahead of that which gets a value.
    fn beyond(&self, value: &Received, steps: i64) -> Spot {
        self.moved(value.at, value.direction, steps)
    }

    fn moved(&self, spot: Spot, direction: usize, steps: i64) -> Spot {
        std::array::from_fn(|axis| spot[axis] + steps * i64::from(self.velocities[direction][axis]))
    }

    /// The place of a coarser level around a place, and the child position there.
    fn around(&self, spot: Spot) -> (Spot, usize) {
        let inside = |axis: usize| axis < self.dim;
        let coarse = std::array::from_fn(|axis| if inside(axis) { spot[axis].div_euclid(2) } else { spot[axis] });
        let child = (0..self.dim).map(|axis| (spot[axis].rem_euclid(2) as usize) << axis).sum();
        (coarse, child)
    }

    /// The place of a child position of a cell.
    fn child(&self, coarse: Spot, child: usize) -> Spot {
        std::array::from_fn(|axis| match axis < self.dim {
            true => 2 * coarse[axis] + (child >> axis & 1) as i64,
            false => coarse[axis],
        })
    }

    /// What is at a place; beyond several faces the wall at that of the first axis.
    fn at(&self, level: usize, spot: Spot) -> At {
        let mut inside = [0; 3];
        for axis in 0..3 {
            let size = if axis < self.dim { self.size[axis] << level } else { 1 };
            let face = Face::of_axis(axis)[usize::from(spot[axis] >= size)];
            let outside = !(0..size).contains(&spot[axis]);
            if let Some(wall) = self.walls[face.index()].filter(|_| outside) {
                return At::Wall(wall);
            }
            inside[axis] = spot[axis].rem_euclid(size) as usize;
        }
        let block = self.layout.block();
        let mut place: [usize; 3] = std::array::from_fn(|axis| inside[axis] / block[axis]);
        if let Some(slot) = self.slots.get(&Block { level, place }) {
            return At::Cell(*slot, self.layout.cell(std::array::from_fn(|axis| inside[axis] % block[axis])));
        }
        for level in (0..level).rev() {
            place = place.map(|at| at / 2);
            if self.slots.contains_key(&Block { level, place }) {
                return At::Coarser;
            }
        }
        At::Refined
    }
}

/// How what a direction brings has come there.
struct Way<'a> {
    blocks: &'a Blocks,
    packets: &'a Packets,
    direction: usize,
}

/// Which of the lists of [`Between`].
const BEFORE: usize = 0;
const AFTER: usize = 1;
const SENT: usize = 2;
const RETURNED: usize = 3;

impl Way<'_> {
    /// What is in the place of a cell of a level that has children at a place.
    fn around(&self, level: usize, spot: Spot) -> At {
        self.blocks.at(level, self.blocks.around(spot).0)
    }

    /// A value that a cell of a finer level gets of the level before, in the first of its two steps or in the second.
    fn of_coarser(&self, value: &Received, second: bool, share: (f64, usize), parts: &mut [Vec<Part>; 4]) {
        let level = value.level - 1;
        let [near, far] = [-1, -2].map(|steps| self.blocks.beyond(value, steps));
        match self.around(level, far) {
            // It has cut a corner of a coarse cell.
            At::Refined if second => self.population(level + 1, far, self.direction, share, &mut parts[BEFORE]),
            At::Wall(wall) if second => {
                self.packet(level, near, self.blocks.opposites[self.direction], share, parts);
                self.returns(level, self.blocks.around(near).0, wall, share, parts);
            }
            At::Cell(..) | At::Coarser if second => self.packet(level, far, self.direction, share, parts),
            _ => self.packet(level, near, self.direction, share, parts),
        }
    }

    /// A value that a cell gets of the next finer level: the mean of what comes to the places of its children.
    fn of_finer(&self, value: &Received, number: usize, parts: &mut [Vec<Part>; 4]) {
        let (level, children) = (value.level, 1usize << self.blocks.dim);
        let share = (1.0 / children as f64, number);
        for child in 0..children {
            let spot = self.blocks.child(value.at, child);
            let [near, far, next] = [-1, -2, 1].map(|steps| self.blocks.moved(spot, self.direction, steps));
            let is_wall = |at: At| matches!(at, At::Wall(_));
            let is_fine = |spot: Spot| matches!(self.around(level, spot), At::Refined);
            let sent = self.blocks.opposites[self.direction];
            match (self.around(level, near), self.around(level, far)) {
                (At::Refined, _) => self.population(level + 1, near, self.direction, share, &mut parts[AFTER]),
                (_, At::Refined) => self.population(level + 1, far, self.direction, share, &mut parts[BEFORE]),
                (last, At::Wall(wall)) => {
                    if is_wall(last) && is_fine(next) {
                        self.population(level + 1, next, sent, share, &mut parts[BEFORE]);
                    } else {
                        self.packet(level, spot, sent, share, parts);
                    }
                    self.returns(level, value.at, wall, share, parts);
                }
                _ => self.packet(level, far, self.direction, share, parts),
            }
        }
    }

    /// A population of a cell.
    fn population(
        &self,
        level: usize,
        spot: Spot,
        direction: usize,
        (factor, value): (f64, usize),
        to: &mut Vec<Part>,
    ) {
        let At::Cell(slot, cell) = self.blocks.at(level, spot) else { unreachable!("nothing crosses two levels") };
        let place = [slot.index(), direction * self.blocks.layout.cells() + cell.0 as usize];
        to.push(Part { place, value, factor, way: [0; 2] });
    }

    /// What a wall adds to what was sent to it, when it comes back to a cell.
    fn returns(
        &self,
        level: usize,
        cell: Spot,
        wall: usize,
        (factor, value): (f64, usize),
        parts: &mut [Vec<Part>; 4],
    ) {
        let At::Cell(slot, cell) = self.blocks.at(level, cell) else { unreachable!("a wall is beside a cell") };
        let place = [slot.index(), cell.0 as usize];
        parts[RETURNED].push(Part { place, value, factor, way: [self.direction, wall] });
    }

    /// What the packet of a direction carries that starts at a place.
    fn packet(&self, level: usize, spot: Spot, direction: usize, share: (f64, usize), parts: &mut [Vec<Part>; 4]) {
        let (cell, child) = self.blocks.around(spot);
        let kind = |child: usize| self.kind(level, self.blocks.child(cell, child), direction);
        let kinds: Vec<u32> = (0..1usize << self.blocks.dim).map(kind).collect();
        let mut add = |spot: Spot, population: u32, factor: f64| {
            self.population(level, spot, population as usize, (share.0 * factor, share.1), &mut parts[SENT]);
        };
        for part in &self.packets.shares[direction][child] {
            let factor = part.of(&kinds);
            let Some((stencil, axis)) = part.slope else {
                add(cell, part.population, factor);
                continue;
            };
            let beside = |point: i64| {
                let mut spot = cell;
                spot[axis as usize] += point;
                spot
            };
            let is_there = |point: i64| matches!(self.blocks.at(level, beside(point)), At::Cell(..));
            let sets = &self.packets.stencils[stencil as usize];
            if let Some(set) = sets.iter().find(|set| set.iter().all(|(point, _)| is_there(*point))) {
                set.iter().for_each(|(point, weight)| add(beside(*point), part.population, weight * factor));
            }
        }
    }

    /// The kind of the packet that starts at a place.
    fn kind(&self, level: usize, spot: Spot, direction: usize) -> u32 {
        let next = self.around(level, self.blocks.moved(spot, direction, 1));
        if matches!(next, At::Refined) {
            return 1;
        }
        let steps = if matches!(next, At::Wall(_)) { -1 } else { 2 };
        let last = self.around(level, self.blocks.moved(spot, direction, steps));
        if matches!(last, At::Refined) { 2 } else { 0 }
    }
}
