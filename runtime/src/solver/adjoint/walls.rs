//! Walls by whose values is derived, in groups.
//!
//! Cells add up derivatives by the values of the wall of each group. Where values vary along a face, each link across it has a wall of its own: those of
//! a cell along different directions are in different groups, so that every link has sums of its own.

use crate::geometry::Face;
use crate::geometry::solid::Crossed;
use crate::kernels::layout::{CellId, Layout, SlotId};
use crate::solver::error::StepError;
use crate::solver::simulation::Simulation;
use crate::solver::spec::{FaceSpec, GridSpec};

/// Walls whose values are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WallGroup {
    /// The wall at a face, whose values may vary along it.
    Face(Face),
    /// The surface of a solid, by its number.
    Solid(usize),
}

/// Derivatives by the values of a wall at a place of its face, in the order of the parameters of its rule.
#[derive(Clone, Debug, PartialEq)]
pub struct AtPlace {
    /// In cells of the coarsest level.
    pub at: [f64; 3],
    /// The values.
    pub values: Vec<f64>,
    /// The derivatives by them, of all links that cross the face there.
    pub by: Vec<f64>,
}

/// Groups of walls.
pub(super) struct Groups {
    /// The group of each wall, -1 for none.
    pub(super) of_walls: Vec<i32>,
    /// How many there are.
    pub(super) count: usize,
    /// Those of walls that are asked for.
    asked: Vec<Asked>,
}

/// The groups of walls that are asked for.
struct Asked {
    groups: std::ops::Range<usize>,
    /// The links across a face along which values vary.
    links: Vec<Link>,
}

/// A link with a wall of its own.
struct Link {
    wall: usize,
    at: [f64; 3],
    slot: SlotId,
    cell: CellId,
    group: usize,
}

impl Groups {
    /// Those of a flow in the box `spec`.
    pub(super) fn new(flow: &Simulation, spec: &GridSpec, walls: &[WallGroup]) -> Result<Groups, StepError> {
        let mut of_walls = vec![-1; flow.subdomains.first().walls().rules.len().max(1)];
        let (mut count, mut asked) = (0, vec![]);
        for wall in walls {
            let first = count;
            let links = match wall {
                WallGroup::Face(face) if varies(spec, *face) => links(flow, *face, first)?,
                _ => vec![],
            };
            if links.is_empty() {
                of_walls[wall_of(flow, spec, *wall)?] = first as i32;
            }
            links.iter().for_each(|link| of_walls[link.wall] = link.group as i32);
            count = links.iter().map(|link| link.group + 1).max().unwrap_or(first + 1);
            asked.push(Asked { groups: first..count, links });
        }
        Ok(Groups { of_walls, count, asked })
    }

    /// The sums of the groups of each of the walls that are asked for, of those of all groups.
    pub(super) fn of_asked(&self, sums: &[f64], stride: usize) -> Vec<Vec<f64>> {
        let of = |asked: &Asked| {
            let all = asked.groups.clone();
            (0..stride).map(|value| all.clone().map(|group| sums[group * stride + value]).sum()).collect()
        };
        self.asked.iter().map(of).collect()
    }

    /// Derivatives by the values at the places of one of these walls: `read` gives the sums of a slot. None of a wall with the same values everywhere.
    pub(super) fn at_places(
        &self,
        flow: &Simulation,
        number: usize,
        mut read: impl FnMut(SlotId) -> Result<Vec<f64>, StepError>,
    ) -> Result<Vec<AtPlace>, StepError> {
        let stride = flow.manifest().wall_stride as usize;
        let layout = Layout::accumulators(flow.manifest(), self.count * stride);
        let (mut places, mut slot, mut sums): (Vec<AtPlace>, _, _) = (vec![], None, vec![]);
        for Link { wall, at, slot: own, cell, group } in &self.asked[number].links {
            if slot != Some(*own) {
                (slot, sums) = (Some(*own), read(*own)?);
            }
            let by = (0..stride).map(|value| sums[layout.offset(SlotId(0), group * stride + value, *cell)]);
            let values = &flow.subdomains.first().walls().values;
            let values = values.read_reals(wall * stride..(wall + 1) * stride)?;
            places.push(AtPlace { at: *at, values, by: by.collect() });
        }
        let key = |place: &AtPlace| [2, 1, 0].map(|axis| place.at[axis]);
        places.sort_by(|one, other| key(one).partial_cmp(&key(other)).expect("places are finite"));
        places.dedup_by(|next, known| {
            let same = next.at == known.at;
            known.by.iter_mut().zip(&next.by).filter(|_| same).for_each(|(sum, by)| *sum += by);
            same
        });
        Ok(places)
    }
}

fn varies(spec: &GridSpec, face: Face) -> bool {
    matches!(&spec.faces[face.index()], FaceSpec::Wall(wall) if !wall.varying.profiles.is_empty())
}

/// The links across a face along which values vary, slot by slot, with groups from `first` on.
fn links(flow: &Simulation, face: Face, first: usize) -> Result<Vec<Link>, StepError> {
    let Some(bodies) = flow.subdomains.first().bodies() else { return Ok(vec![]) };
    let layout = Layout::populations(flow.manifest());
    let (cells, q, grid) = (layout.cells(), flow.manifest().q(), flow.grid());
    let rows = bodies.rows.read_ints(0..grid.slots())?;
    let (begin, crossings) = &bodies.crossings;
    let (mut all, mut directions) = (vec![], vec![]);
    for leaf in grid.leaves()?.iter() {
        let Ok(row) = usize::try_from(rows[leaf.slot.index()]) else { continue };
        let links = bodies.links().read_ints(row * q * cells..(row + 1) * q * cells)?;
        for (entry, link) in links.into_iter().enumerate() {
            let Some(number) = usize::try_from(link - 1).ok().and_then(|wall| wall.checked_sub(*begin)) else {
                continue;
            };
            let Some(crossing) = crossings.get(number).filter(|of| of.of == Crossed::Face(face.index())) else {
                continue;
            };
            let (direction, cell) = (entry / cells, CellId((entry % cells) as _));
            let known = directions.iter().position(|known| *known == direction);
            let group = first + known.unwrap_or(directions.len());
            if known.is_none() {
                directions.push(direction);
            }
            all.push(Link { wall: begin + number, at: crossing.at, slot: leaf.slot, cell, group });
        }
    }
    Ok(all)
}

/// The wall with values that are the same everywhere.
fn wall_of(flow: &Simulation, spec: &GridSpec, group: WallGroup) -> Result<usize, StepError> {
    let refused = |why: &str| Err(StepError::NoAdjoint { why: why.into() });
    match group {
        WallGroup::Face(face) => {
            let is_wall = |face: &&Face| matches!(spec.faces[face.index()], FaceSpec::Wall(_));
            match &spec.faces[face.index()] {
                FaceSpec::Periodic => refused("there is no wall at that face"),
                FaceSpec::Wall(_) => Ok(Face::ALL[..face.index()].iter().filter(is_wall).count()),
            }
        }
        WallGroup::Solid(number) => match flow.cutters() {
            Some(_) if spec.surfaces.get(number).is_some_and(|varying| !varying.profiles.is_empty()) => {
                refused("values of that surface vary along it")
            }
            Some(cutters) if number < spec.solids.len() => Ok(cutters.first + number),
            _ => refused("there is no such solid"),
        },
    }
}
