//! Solids, and faces along which values vary, on the device.

use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::{Boundary, DISTANCE, Manifest, Param, Role};

use super::error::StepError;
use super::exchanges::Left;
use super::moving::Moving;
use super::prescribed::Item;
use super::setup::{FaceSpec, GridSpec, Instance, Profile, Varying, list, resolve};
use super::turning::Turning;
use crate::device::{Buffer, Device, Double, Int, Real};
use crate::geometry::solid::{Crossed, Crossing, Cutters, Solid, Solids, Tables};
use crate::geometry::{Block, Face};
use crate::kernels::layout::SlotId;
use crate::mesh::forest::Leaf;
use crate::mesh::{Grid, Owned};

/// Blocks with links that are cut one by one.
pub(super) struct Bodies {
    /// `rows[slot]` of the slots in `list`.
    pub(super) rows: Buffer<Int>,
    /// `links[row][direction][cell]`
    pub(super) links: Buffer<Int>,
    /// `distances[row][direction][cell]`
    pub(super) distances: Buffer<Real>,
    /// The slots that have a row, level by level, each level along the curve.
    pub(super) list: Buffer<Int>,
    /// Where those of each level are: of a part, its own.
    pub(super) levels: Vec<Range<usize>>,
    /// Where all of each level are.
    pub(super) listed: Vec<Range<usize>>,
    /// The nodes of these blocks, which do not change, in the same order.
    pub(super) nodes: Buffer<Int>,
    /// Their rows.
    pub(super) row: Buffer<Int>,
    /// What links have exchanged, until it is read.
    pub(super) left: Left,
    /// The solid of each wall, or -1.
    pub(super) owners: Buffer<Int>,
    /// The velocity that each solid moves with `[solid][axis]`.
    pub(super) frames: Buffer<Double>,
    pub(super) count: usize,
    /// Sums of a solid: a force along each axis, and what each set of populations gets.
    pub(super) sums: usize,
    /// What cuts the links, on the host.
    pub(super) cutters: Arc<Cutters>,
    /// Solids that move.
    pub(super) moving: Option<Moving>,
}

/// What a moving surface takes its velocity in.
const VELOCITY: &str = "velocity";

/// Where the velocity of a moving solid's surface is among the values of its wall.
pub(super) fn velocity_at(manifest: &Manifest, solid: &Solid) -> Result<usize, StepError> {
    let rule = surface_rule(manifest, solid)?;
    let is_velocity = |param: &&Param| param.name == VELOCITY && param.components == manifest.dim;
    match rule.params.iter().find(is_velocity) {
        None => Err(StepError::StillRule { rule: rule.name.clone() }),
        Some(_) => {
            let before = rule.params.iter().take_while(|param| param.name != VELOCITY);
            Ok(before.map(|param| param.components as usize).sum())
        }
    }
}

/// The solids of a grid, and the faces along which values vary.
pub(super) fn cutters(manifest: &Manifest, spec: &GridSpec, first: usize) -> Result<Option<Cutters>, StepError> {
    let varies = |face: &FaceSpec| matches!(face, FaceSpec::Wall(wall) if !wall.varying.profiles.is_empty());
    let is_patched = |face: usize| spec.patches.iter().any(|patch| patch.face.index() == face);
    let varying: [bool; 6] =
        std::array::from_fn(|face| face < 2 * manifest.dim as usize && (varies(&spec.faces[face]) || is_patched(face)));
    if spec.solids.is_empty() && varying == [false; 6] {
        return Ok(None);
    }
    let dim = manifest.dim as usize;
    let periodic = std::array::from_fn(|axis| {
        axis >= dim || Face::of_axis(axis).iter().all(|face| matches!(spec.faces[face.index()], FaceSpec::Periodic))
    });
    let block = manifest.block.map(|side| side as usize);
    let rule_is = |face: usize, what: &dyn Fn(&Boundary) -> bool| match &spec.faces[face] {
        FaceSpec::Wall(wall) => {
            face < 2 * dim && manifest.boundaries.iter().any(|rule| rule.name == wall.rule && what(rule))
        }
        FaceSpec::Periodic => false,
    };
    let mirrors = std::array::from_fn(|face| rule_is(face, &|rule| manifest.mirror_rules.contains(&rule.code)));
    let nodes = std::array::from_fn(|face| rule_is(face, &|rule| rule.nodes));
    let varying_solids = (0..spec.solids.len()).filter(|at| varying_of(spec, *at).is_some()).collect();
    let solids = Solids::new(&spec.solids, dim, spec.size, block, periodic).moving(&spec.solids, &spec.motions);
    Ok(Some(Cutters { solids, first, varying, varying_solids, mirrors, nodes }))
}

/// What varies over the surface of a solid, if something does.
fn varying_of(spec: &GridSpec, solid: usize) -> Option<&Varying> {
    spec.surfaces.get(solid).filter(|varying| !varying.profiles.is_empty())
}

/// The walls that are the surfaces of solids, the first with the number `first`, and what formulas give of them.
pub(super) fn surfaces(
    manifest: &Manifest,
    spec: &GridSpec,
    first: usize,
) -> Result<(Vec<Instance>, Vec<Item>), StepError> {
    let (mut instances, mut items) = (vec![], vec![]);
    for (at, solid) in spec.solids.iter().enumerate() {
        let rule = surface_rule(manifest, solid)?;
        let varying = spec.surfaces.get(at).cloned().unwrap_or_default();
        // That of a solid which moves follows from its motion.
        let motion = spec.motions.get(at).and_then(Option::as_ref);
        if let Some(motion) = motion {
            velocity_at(manifest, solid)?;
            if !varying.profiles.is_empty() || motion.turns() && !varying.timed.is_empty() {
                return Err(StepError::StillRule { rule: rule.name.clone() });
            }
        }
        if varying.profiles.is_empty() {
            items.extend(Item::of_wall(spec, &varying, rule, first + at, ([0.0; 3], None))?);
        }
        // Where values vary, those of the solid itself are of no use.
        let useless = varying.profiles.iter().map(|(name, profiles)| (name.clone(), vec![0.0; profiles.len()]));
        let followed = motion.map(|_| (VELOCITY.to_string(), vec![0.0; manifest.dim as usize]));
        instances.push(surface(rule, solid, useless.chain(followed))?);
    }
    Ok((instances, items))
}

/// The rule of a solid's surface.
fn surface_rule<'a>(manifest: &'a Manifest, solid: &Solid) -> Result<&'a Boundary, StepError> {
    let fitting = || manifest.boundaries.iter().filter(|rule| manifest.solid_rules.contains(&rule.code));
    fitting().find(|rule| rule.name == solid.rule).ok_or_else(|| StepError::SolidRule {
        rule: solid.rule.clone(),
        known: list(fitting().map(|rule| rule.name.as_str())),
    })
}

/// A wall of a solid, with these values besides its own.
fn surface(
    rule: &Boundary,
    solid: &Solid,
    more: impl Iterator<Item = (String, Vec<f64>)>,
) -> Result<Instance, StepError> {
    let mut values: Vec<_> = solid.values.iter().cloned().chain(more).collect();
    if let Some(distance) = rule.params.iter().find(|param| param.name == DISTANCE) {
        // The kernels read that of the link.
        values.push((distance.name.clone(), vec![0.5; distance.components as usize]));
    }
    let values = resolve(&format!("`{}` of a solid", rule.name), &rule.params, &values)?;
    Ok(Instance { rule: rule.code, values: values.into_iter().flatten().collect() })
}

/// Adds the walls at the links that cross faces and surfaces along which values vary, and what formulas give of them. Returns the solid
/// of each wall, those that were there before included, or -1.
fn crossings(
    manifest: &Manifest,
    spec: &GridSpec,
    (first, tables): (usize, &Tables),
    (instances, items): (&mut Vec<Instance>, &mut Vec<Item>),
) -> Result<Vec<i32>, StepError> {
    let mut owners = vec![-1; first];
    owners.extend(0..spec.solids.len() as i32);
    for Crossing { of, level, at } in &tables.crossings {
        let here = (*at, Some(*level));
        let given = |(name, profiles): &(String, Vec<Profile>)| {
            (name.clone(), profiles.iter().map(|profile| profile(*at)).collect::<Vec<f64>>())
        };
        match of {
            Crossed::Face(number) => {
                let (face, FaceSpec::Wall(wall)) = (Face::ALL[*number], &spec.faces[*number]) else {
                    unreachable!("a face that varies is a wall")
                };
                let patch = spec.patches.iter().find(|patch| patch.face == face && (patch.region)(*at));
                let wall = patch.map_or(wall, |patch| &patch.wall);
                let rule = super::setup::find_rule(manifest, face, &wall.rule)?;
                if !rule.nodes && !manifest.solid_rules.contains(&rule.code) {
                    return Err(StepError::VaryingRule { face: face.name(), rule: rule.name.clone() });
                }
                items.extend(Item::of_wall(spec, &wall.varying, rule, instances.len(), here)?);
                let values: Vec<_> =
                    wall.values.iter().cloned().chain(wall.varying.profiles.iter().map(given)).collect();
                let values = resolve(&format!("`{}` at {}", rule.name, face.name()), &rule.params, &values)?;
                instances.push(Instance { rule: rule.code, values: values.into_iter().flatten().collect() });
                owners.push(-1);
            }
            Crossed::Solid(number) => {
                let solid = &spec.solids[*number];
                let rule = surface_rule(manifest, solid)?;
                let varying = &spec.surfaces[*number];
                items.extend(Item::of_wall(spec, varying, rule, instances.len(), here)?);
                instances.push(surface(rule, solid, varying.profiles.iter().map(given))?);
                owners.push(*number as i32);
            }
        }
    }
    Ok(owners)
}

impl Bodies {
    /// Tables on the device, of a part those of its own blocks; those walls, and what formulas give of them, that are the links' own are added to those of faces.
    pub(super) fn new(
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
        let turning = Turning::new(device, manifest, spec, &cutters, instances)?;
        let moving = Moving::new(manifest, grid, spec, rows, turning)?;
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
            owners: device.ints(&owners)?,
            frames: device.alloc_doubles(count * manifest.dim as usize)?,
            count,
            sums: manifest.dim as usize + manifest.populations.len(),
            cutters: Arc::new(cutters),
            moving,
        };
        bodies.follow(grid)?;
        Ok(bodies)
    }

    /// Keeps to the blocks that a part has, which follow each other on each level.
    pub(super) fn keep_own(&mut self, owned: &Owned) -> Result<(), StepError> {
        for (level, listed) in self.levels.iter_mut().zip(&self.listed) {
            let slots = self.list.read_ints(listed.clone())?;
            let own = |slot: &i32| owned.has(SlotId(*slot as u32));
            let first = slots.iter().position(own).unwrap_or(0);
            let count = slots[first..].iter().take_while(|slot| own(slot)).count();
            *level = listed.start + first..listed.start + first + count;
        }
        Ok(())
    }

    /// Finds the slots of the blocks, which are others after the data have been put into another order; other blocks have taken those of
    /// before, and no row.
    pub(super) fn follow(&mut self, grid: &Grid) -> Result<(), StepError> {
        // Integers become -1: no row.
        self.rows.poison()?;
        Ok(grid.forest().follow(&self.nodes, &self.row, &mut self.list, &mut self.rows)?)
    }
}
