//! Surfaces under turbulent boundary layers that cells do not resolve: their links slide along the surface, so that the fluid loses the momentum
//! that the law of the wall says.
//!
//! The surface is divided into [patches](crate::geometry::solid::SurfacePatch) of some hundred cells. In each step of its level, before its links
//! are read, a patch finds the velocity u of the fluid at some height y above it, and from the law u+(y+) the velocity of friction u_t; what its
//! links would take from the momentum along it, pressure at that height apart, is compared with u_t^2 times its area, and the velocity with which
//! it slides makes up for the difference. So what links exchange follows the law, however the surface lies in the grid; the sum over a patch averages
//! what single cells do. The wall of each cell is faster or slower than its patch by what its own links need to take the stress at its sample: a wall
//! with one velocity would stop the eddies along the surface, and with little viscosity velocities beside it would alternate from step to step.
//! Links that slide let some mass through; a source, which follows the sum of what has passed, takes it back. Where the surface has a velocity along
//! itself, all velocities are relative to it.
//!
//! The velocity of a patch is a state of the flow, and in restart files (`sliding`). Each subdomain that has a block of a patch finds it
//! anew, from all of its blocks and those around them, which are in its halo: the bits are the same in all of them.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

use lbm_bundle::{Manifest, slides};

use crate::device::{Buffer, Device, DeviceError, Double, Int};
use crate::geometry::Block;
use crate::geometry::solid::{Cutters, Gives, Layered, Rows, SurfacePatch, Tables, Vector};
use crate::solver::arrays::walls::Instance;
use crate::solver::error::StepError;
use crate::solver::solids::layers::Beside;
use crate::solver::solids::surfaces::surface_rule;
use crate::solver::spec::{GridSpec, WallLaw};

/// Patches of surfaces on the device, level by level.
pub(crate) struct Slides {
    /// For each patch its level, and the places of its blocks in the list of blocks with cut links.
    pub(super) patches: Vec<(usize, Vec<usize>)>,
    /// The cells beside the surfaces.
    pub(crate) beside: Arc<Beside>,
    /// The patches that this subdomain works on, and the range of each level in them.
    pub(super) ids: Buffer<Int>,
    pub(super) levels: Vec<Range<usize>>,
    pub(super) ranges: Buffer<Int>,
    pub(super) cells: Buffer<Int>,
    pub(super) normals: Buffer<Double>,
    pub(super) shapes: Buffer<Double>,
    pub(super) laws: Buffer<Double>,
    pub(super) weights: Buffer<Double>,
    pub(super) slips: Buffer<Double>,
    /// The wall of the first cell; those of the others follow in their order.
    pub(super) first: usize,
    /// Numbers of the state of a patch, and axes.
    pub(super) state: usize,
    pub(super) dim: usize,
    /// Where the velocity and the source are among the values of a wall.
    pub(super) at: (usize, usize),
}

/// The surfaces under boundary layers; an error if a law is given to a rule that does not slide, or none to one that does, or if any solid moves:
/// then links are cut again.
pub(crate) fn layered(manifest: &Manifest, spec: &GridSpec) -> Result<Vec<Layered>, StepError> {
    let mut found = vec![];
    for (number, solid) in spec.solids.iter().enumerate() {
        let rule = surface_rule(manifest, solid)?;
        let law = spec.laws.get(number).and_then(Option::as_ref);
        match (law, slides::offsets_of(rule, manifest.dim)) {
            (None, None) => {}
            (Some(law), Some(_)) if spec.motions.iter().all(Option::is_none) => {
                found.push(Layered { solid: number, sample: law.sample });
            }
            (law, slides) => {
                let (rule, law, slides) = (rule.name.clone(), law.is_some(), slides.is_some());
                return Err(StepError::Layer { rule, law, slides });
            }
        }
    }
    Ok(found)
}

/// Bytes on the device for each block with cut links: a surface along the longest sides of a block has so many cells beside it.
pub(crate) fn bytes_of_row(manifest: &Manifest) -> usize {
    let least = manifest.block[..manifest.dim as usize].iter().copied().min().unwrap_or(1) as usize;
    let wall = 2 * size_of::<i32>() + manifest.wall_stride as usize * manifest.real.bytes();
    let numbers = slides::ENTRY * size_of::<i32>() + slides::beside(manifest.dim) * size_of::<f64>();
    manifest.cells() / least * (numbers + wall)
}

impl Slides {
    /// The patches of the surfaces with a law. Links of `tables` that meet them get walls of their own, one for each cell, which are added to the
    /// others. `blocks`: those of `tables`; `list`: those with cut links, in the order in which kernels know them.
    pub(crate) fn new(
        device: &Device,
        manifest: &Manifest,
        spec: &GridSpec,
        (cutters, blocks, tables): (&Cutters, &[Block], &mut Tables),
        (instances, owners): (&mut Vec<Instance>, &mut Vec<i32>),
        list: &[Block],
    ) -> Result<Option<Slides>, StepError> {
        let layered = layered(manifest, spec)?;
        let Some(at) = slides::offsets(manifest).filter(|_| !layered.is_empty()) else { return Ok(None) };
        let weights: Vec<f64> = manifest.directions.iter().map(|direction| direction.weight_value()).collect();
        let carriers = manifest.main().count as usize;
        let directions = manifest.directions.iter().cloned().zip(weights.iter().copied());
        let directions: Vec<_> = directions.take(carriers).collect();
        let (cs2, count, q) = (manifest.main().cs2, manifest.cells(), manifest.q());
        let rows = Rows { blocks, tables, directions: &directions, cs2, cells: count, q };
        let mut patches = cutters.patches(&layered, &rows);
        patches.sort_by_key(|patch| patch.level);
        let first = instances.len();
        let places: HashMap<Block, usize> = list.iter().enumerate().map(|(place, block)| (*block, place)).collect();
        let (mut ranges, mut cells, mut normals, mut shapes) = (vec![], vec![], vec![], vec![]);
        let dim = manifest.dim as usize;
        let (mut beside, mut ways) = (Beside::default(), Ways { dim, fastest: cs2.sqrt(), ..Ways::default() });
        for (of, patch) in patches.iter().enumerate() {
            let sides = manifest.block.map(|side| side as usize);
            patch.cells.iter().for_each(|cell| beside.add(of, patch.solid, (blocks[cell.block], cell.cell), sides));
        }
        for patch in &patches {
            let (solid, begin) = (patch.solid, cells.len() / slides::ENTRY);
            let Some(Some(law)) = spec.laws.get(solid) else { unreachable!("a law") };
            for of in &patch.cells {
                let wall = cutters.first + solid;
                let row = tables.rows[of.block] as usize * q * count + of.cell;
                let mut off = 0;
                for dir in 0..q {
                    let link = &mut tables.links[row + dir * count];
                    if *link == wall as i32 + 1 {
                        *link = instances.len() as i32 + 1;
                        off |= if dir < carriers { 1 << dir } else { 0 };
                    }
                }
                let instance = instances[wall].clone();
                instances.push(instance);
                owners.push(solid as i32);
                cells.extend([places[&blocks[of.block]], of.cell, of.near, of.sample, off].map(|at| at as i32));
                normals.extend([of.normal].iter().chain(&of.yields[..dim]).flat_map(|of| &of[..dim]));
                normals.extend([of.area, of.own]);
                normals.extend(numbers(&of.gives, dim));
                let below = of.below.map(|at| at / f64::from(1 << patch.level));
                normals.extend(&ways.along((solid, law), below, of.normal)?[..dim]);
            }
            ranges.extend([begin, cells.len() / slides::ENTRY].map(|at| at as i32));
            let number = layered.iter().position(|of| of.solid == solid).expect("a patch of a surface with a law");
            let viscosity = law.viscosity * f64::from(1 << patch.level);
            shapes.extend(&patch.normal[..dim]);
            shapes.extend([patch.area, patch.stiffness, patch.weight, patch.height, viscosity, number as f64]);
            shapes.extend([&patch.slides, &patch.differs].into_iter().flat_map(|of| numbers(of, dim)));
            shapes.extend(patch.source.0[..dim].iter().chain([&patch.source.1]));
        }
        ways.check()?;
        let laws =
            layered.iter().filter_map(|of| Some(spec.laws[of.solid].as_ref()?.table(spec.solids[of.solid].level)));
        let laws: Vec<f64> = laws.flatten().collect();
        let blocks_of = |patch: &SurfacePatch| {
            let mut blocks: Vec<usize> = patch.cells.iter().map(|of| places[&blocks[of.block]]).collect();
            blocks.dedup();
            (patch.level, blocks)
        };
        let of_patches: Vec<(usize, Vec<usize>)> = patches.iter().map(blocks_of).collect();
        let mut slides = Slides {
            ids: device.alloc_ints(0)?,
            levels: vec![],
            ranges: device.ints(&ranges)?,
            cells: device.ints(&cells)?,
            normals: doubles(device, &normals)?,
            shapes: doubles(device, &shapes)?,
            laws: doubles(device, &laws)?,
            weights: doubles(device, &weights)?,
            slips: doubles(device, &vec![0.0; patches.len() * slides::state(manifest.dim)])?,
            first,
            state: slides::state(manifest.dim),
            dim,
            patches: of_patches,
            beside: Arc::new(beside),
            at,
        };
        slides.keep(device, |_| true)?;
        Ok(Some(slides))
    }

    /// Restricts the patches that are worked on to those of which some block is own, by its place in the list.
    pub(super) fn keep(&mut self, device: &Device, own: impl Fn(usize) -> bool) -> Result<(), DeviceError> {
        let is_own = |(_, (_, blocks)): &(usize, &(usize, Vec<usize>))| blocks.iter().any(|block| own(*block));
        let kept: Vec<(usize, usize)> =
            self.patches.iter().enumerate().filter(is_own).map(|(number, (level, _))| (number, *level)).collect();
        let levels = kept.last().map_or(0, |(_, level)| level + 1);
        let before = |level: usize| kept.partition_point(|(_, of)| *of < level);
        self.levels = (0..levels).map(|level| before(level)..before(level + 1)).collect();
        self.ids = device.ints(&kept.iter().map(|(number, _)| *number as i32).collect::<Vec<_>>())?;
        Ok(())
    }

    /// Whether there are patches of a level.
    pub(crate) fn has(&self, level: usize) -> bool {
        self.levels.get(level).is_some_and(|range| !range.is_empty())
    }
}

/// The least part of the velocity of a surface that is along it. Across are the ends of a belt, or what normals are off.
const LEAST_ALONG: f64 = 0.5;

/// Velocities of surfaces along themselves.
#[derive(Default)]
struct Ways {
    dim: usize,
    /// The speed of sound.
    fastest: f64,
    /// For each solid the sums of the squares of the velocity along it and of the whole velocity.
    squares: BTreeMap<usize, [f64; 2]>,
}

impl Ways {
    /// The velocity of the surface of a solid at a point of it, in cells of the coarsest level, less what is across it; an error if it is not finite or as fast as sound.
    fn along(&mut self, (solid, law): (usize, &WallLaw), at: Vector, normal: Vector) -> Result<Vector, StepError> {
        let Some(velocity) = law.velocity.as_ref().map(|velocity| velocity(at)) else { return Ok([0.0; 3]) };
        let square = |of: Vector| of.iter().map(|along| along * along).sum::<f64>();
        let speed = square(velocity).sqrt();
        if speed.is_nan() || speed >= self.fastest {
            let place: Vec<String> = at[..self.dim].iter().map(|at| format!("{at:.1}")).collect();
            let owner = format!("the layer of solid {} at ({}), in cells,", solid + 1, place.join(", "));
            let allowed = format!("slower than sound, {:.3} cells a step", self.fastest);
            return Err(StepError::Range { owner, name: "velocity".into(), value: speed, allowed });
        }
        let through: f64 = (0..3).map(|axis| velocity[axis] * normal[axis]).sum();
        let along = [0, 1, 2].map(|axis| velocity[axis] - through * normal[axis]);
        let [tangential, all] = self.squares.entry(solid).or_default();
        (*tangential, *all) = (*tangential + square(along), *all + speed * speed);
        Ok(along)
    }

    /// Refuses velocities that lead through their surfaces.
    fn check(&self) -> Result<(), StepError> {
        for (solid, [tangential, all]) in &self.squares {
            let along = (tangential / all).sqrt();
            if *all > 0.0 && along < LEAST_ALONG {
                return Err(StepError::LayerThrough { solid: solid + 1, along });
            }
        }
        Ok(())
    }
}

/// Rows of the momentum, then the mass.
fn numbers(gives: &Gives, dim: usize) -> impl Iterator<Item = f64> {
    gives.momentum.into_iter().take(dim).chain([gives.mass]).flat_map(move |of| of.into_iter().take(dim))
}

fn doubles(device: &Device, values: &[f64]) -> Result<Buffer<Double>, StepError> {
    let mut buffer = device.alloc_doubles(values.len())?;
    buffer.write_reals(0, values)?;
    Ok(buffer)
}
