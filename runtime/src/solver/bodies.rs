//! Solids, and faces along which values vary, on the device.

use std::ops::Range;

use lbm_bundle::{DISTANCE, Manifest, Role};

use super::error::StepError;
use super::monitor::shares;
use super::prescribed::Item;
use super::setup::{FaceSpec, GridSpec, Instance, list, resolve};
use super::step::Level;
use super::subdomain::Subdomain;
use crate::device::{Buffer, Device, Double, Int, Real};
use crate::geometry::solid::{Cutters, Solid, Solids, Tables};
use crate::geometry::{Block, Face};
use crate::kernels;
use crate::mesh::Grid;

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
    /// Where those of each level are.
    pub(super) levels: Vec<Range<usize>>,
    /// The nodes of these blocks, which do not change, in the same order.
    nodes: Buffer<Int>,
    /// Their rows.
    row: Buffer<Int>,
    forces: Buffer<Double>,
    first: usize,
    count: usize,
}

/// The solids of a grid, and the faces along which values vary.
pub(super) fn cutters(manifest: &Manifest, spec: &GridSpec, first: usize) -> Option<Cutters> {
    let varies = |face: &FaceSpec| matches!(face, FaceSpec::Wall(wall) if !wall.profiles.is_empty());
    let varying: [bool; 6] = std::array::from_fn(|face| face < 2 * manifest.dim as usize && varies(&spec.faces[face]));
    if spec.solids.is_empty() && varying == [false; 6] {
        return None;
    }
    let dim = manifest.dim as usize;
    let periodic = std::array::from_fn(|axis| {
        axis >= dim || Face::of_axis(axis).iter().all(|face| matches!(spec.faces[face.index()], FaceSpec::Periodic))
    });
    let block = manifest.block.map(|side| side as usize);
    let is_mirror = |face: &FaceSpec| {
        let FaceSpec::Wall(wall) = face else { return false };
        manifest.boundaries.iter().any(|rule| rule.name == wall.rule && manifest.mirror_rules.contains(&rule.code))
    };
    let mirrors = std::array::from_fn(|face| face < 2 * dim && is_mirror(&spec.faces[face]));
    Some(Cutters { solids: Solids::new(&spec.solids, dim, spec.size, block, periodic), first, varying, mirrors })
}

/// The walls that are the surfaces of solids.
pub(super) fn surfaces(manifest: &Manifest, solids: &[Solid]) -> Result<Vec<Instance>, StepError> {
    let fitting = || manifest.boundaries.iter().filter(|rule| manifest.solid_rules.contains(&rule.code));
    let surface = |solid: &Solid| {
        let rule = fitting().find(|rule| rule.name == solid.rule).ok_or_else(|| StepError::SolidRule {
            rule: solid.rule.clone(),
            known: list(fitting().map(|rule| rule.name.as_str())),
        })?;
        let mut values = solid.values.clone();
        if let Some(distance) = rule.params.iter().find(|param| param.name == DISTANCE) {
            // The kernels read that of the link.
            values.push((distance.name.clone(), vec![0.5; distance.components as usize]));
        }
        let values = resolve(&format!("`{}` of a solid", rule.name), &rule.params, &values)?;
        Ok(Instance { rule: rule.code, values: values.into_iter().flatten().collect() })
    };
    solids.iter().map(surface).collect()
}

/// Adds the walls at the links that cross faces along which values vary, and what formulas give of them.
fn crossings(
    manifest: &Manifest,
    spec: &GridSpec,
    tables: &Tables,
    (instances, items): (&mut Vec<Instance>, &mut Vec<Item>),
) -> Result<(), StepError> {
    for crossing in &tables.crossings {
        let face = Face::ALL[crossing.face];
        let FaceSpec::Wall(wall) = &spec.faces[crossing.face] else { unreachable!("a face that varies is a wall") };
        let rule = super::setup::find_rule(manifest, face, &wall.rule)?;
        if !manifest.solid_rules.contains(&rule.code) {
            return Err(StepError::VaryingRule { face: face.name(), rule: rule.name.clone() });
        }
        items.extend(Item::of_wall(spec, wall, rule, instances.len(), (crossing.at, Some(crossing.level)))?);
        let mut values = wall.values.clone();
        for (name, profiles) in &wall.profiles {
            values.push((name.clone(), profiles.iter().map(|profile| profile(crossing.at)).collect()));
        }
        let values = resolve(&format!("`{}` at {}", rule.name, face.name()), &rule.params, &values)?;
        instances.push(Instance { rule: rule.code, values: values.into_iter().flatten().collect() });
    }
    Ok(())
}

impl Bodies {
    /// Tables on the device; those walls, and what formulas give of them, that are the links' own are added to those of faces.
    pub(super) fn new(
        device: &Device,
        manifest: &Manifest,
        grid: &Grid,
        spec: &GridSpec,
        levels: usize,
        cutters: &Cutters,
        walls: (&mut Vec<Instance>, &mut Vec<Item>),
    ) -> Result<Self, StepError> {
        if manifest.kernel(Role::StreamCollideSolid).is_none() {
            return Err(StepError::NoSolids { spec: manifest.spec.clone() });
        }
        let leaves = grid.forest().read_leaf_nodes()?;
        let blocks: Vec<Block> = leaves.iter().map(|(_, leaf)| leaf.block).collect();
        let tables = cutters.tables(&blocks, &manifest.directions)?;
        crossings(manifest, spec, &tables, walls)?;
        let found = std::iter::zip(&leaves, &tables.rows).filter(|(_, row)| **row >= 0);
        let (nodes, row): (Vec<i32>, Vec<i32>) = found.clone().map(|((node, _), row)| (*node as i32, *row)).unzip();
        let before = |level: usize| found.clone().filter(|((_, leaf), _)| leaf.block.level < level).count();
        let levels: Vec<Range<usize>> = (0..levels).map(|level| before(level)..before(level + 1)).collect();
        let mut distances = device.alloc_reals(manifest.real, tables.distances.len())?;
        distances.write_reals(0, &tables.distances)?;
        let sums = levels.iter().map(|level| shares(level.len()).0).max().unwrap_or(0);
        let count = spec.solids.len();
        let mut bodies = Bodies {
            rows: device.ints(&vec![-1; grid.slots()])?,
            links: device.ints(&tables.links)?,
            distances,
            list: device.alloc_ints(nodes.len())?,
            levels,
            nodes: device.ints(&nodes)?,
            row: device.ints(&row)?,
            forces: device.alloc_doubles(sums * count * manifest.dim as usize)?,
            first: cutters.first,
            count,
        };
        bodies.follow(grid)?;
        Ok(bodies)
    }

    /// Finds the slots of the blocks, which are others after the data have been put into another order.
    pub(super) fn follow(&mut self, grid: &Grid) -> Result<(), StepError> {
        Ok(grid.forest().follow(&self.nodes, &self.row, &mut self.list, &mut self.rows)?)
    }
}

impl Subdomain {
    /// Adds to the force on each solid what its links here give.
    pub(super) fn add_forces(&mut self, levels: &[Level], total: &mut [[f64; 3]]) -> Result<(), StepError> {
        let dim = self.grid.dim();
        for (at, level) in levels.iter().enumerate() {
            self.prescribe(at, 1)?;
            let Some(bodies) = &mut self.bodies else { return Ok(()) };
            let listed = bodies.levels[at].clone();
            let (count, per) = shares(listed.len());
            self.program.launch(kernels::Force {
                shares: self.grid.forest().every().part(0..count),
                ids: bodies.list.part(listed),
                per: per as i32,
                neighbours: &self.grid.tables().neighbours,
                wall_rules: &self.walls.rules,
                wall_values: &self.walls.values,
                rows: &bodies.rows,
                links: &bodies.links,
                distances: &bodies.distances,
                src: &self.fields.populations[level.current],
                forces: &mut bodies.forces,
                first: bodies.first as i32,
                bodies: bodies.count as i32,
            })?;
            let sums = bodies.forces.read_reals(0..count * bodies.count * dim)?;
            // A cell of a finer level has 2^-dim of the mass, and gives it away in half the time.
            let scale = 0.5f64.powi((at * (dim - 1)) as i32);
            for (entry, value) in sums.iter().enumerate() {
                total[entry / dim % bodies.count][entry % dim] += scale * value;
            }
        }
        Ok(())
    }
}
