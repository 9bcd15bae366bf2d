//! Surfaces under turbulent boundary layers that cells do not resolve: their links slide along the surface, so that the fluid loses the momentum
//! that the law of the wall says.
//!
//! The surface is divided into [patches](crate::geometry::solid::SurfacePatch) of some hundred cells. In each step of its level, before its links
//! are read, a patch finds the velocity u of the fluid at some height y above it, and from the law u+(y+) the velocity of friction u_t; what its
//! links would take from the momentum along it, pressure at that height apart, is compared with u_t^2 times its area, and the velocity with which
//! it slides makes up for a part of the difference. So what links exchange follows the law over some tens of steps, however the surface lies in the
//! grid; the sum over a patch averages what single cells do. Links that slide let some mass through; a source, which follows the sum of
//! what has passed, takes it back.
//!
//! The velocity of a patch is a state of the flow, and in restart files ([`Bodies::slips`]). Each subdomain that has a block of a patch finds it
//! anew, from all of its blocks and those around them, which are in its halo ([`Bodies::read_by_patches`]): the bits are the same in all of them.

use std::collections::HashMap;
use std::ops::Range;

use lbm_bundle::{Boundary, Manifest, slides};

use crate::device::{Buffer, Device, DeviceError, Double, Int, Stored};
use crate::geometry::Block;
use crate::geometry::solid::{Cutters, Layered, Rows, SurfacePatch, Tables};
use crate::kernels::layout::SlotId;
use crate::kernels::{self, Program};
use crate::mesh::{Grid, Owned};
use crate::solver::arrays::walls::{Instance, Walls};
use crate::solver::error::StepError;
use crate::solver::solids::bodies::Bodies;
use crate::solver::solids::surfaces::surface_rule;
use crate::solver::spec::GridSpec;

/// Patches of surfaces on the device, level by level.
pub(crate) struct Slides {
    /// For each patch its level, and the places of its blocks in the list of blocks with cut links.
    patches: Vec<(usize, Vec<usize>)>,
    /// The patches that this subdomain works on, and the range of each level in them.
    ids: Buffer<Int>,
    levels: Vec<Range<usize>>,
    ranges: Buffer<Int>,
    cells: Buffer<Int>,
    normals: Buffer<Double>,
    shapes: Buffer<Double>,
    laws: Buffer<Double>,
    weights: Buffer<Double>,
    slips: Buffer<Double>,
    /// The walls of all cells, in their order.
    walls: Range<usize>,
    /// Numbers of the state of a patch, axes, and values of a wall.
    state: usize,
    dim: usize,
    stride: usize,
    /// Where the velocity and the source are among the values of a wall.
    at: (usize, usize),
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

/// Whether a rule slides.
pub(crate) fn is_sliding(manifest: &Manifest, rule: &Boundary) -> bool {
    slides::offsets_of(rule, manifest.dim).is_some()
}

impl Slides {
    /// The patches of the surfaces with a law. Links of `tables` that meet them get walls of their own, one for each cell, which are added to the
    /// others. `nodes`: the blocks of `tables`.
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
        for patch in &patches {
            let (solid, begin) = (patch.solid, cells.len() / 4);
            for of in &patch.cells {
                let wall = cutters.first + solid;
                let row = tables.rows[of.block] as usize * q * count + of.cell;
                for dir in 0..q {
                    let link = &mut tables.links[row + dir * count];
                    if *link == wall as i32 + 1 {
                        *link = instances.len() as i32 + 1;
                    }
                }
                let instance = instances[wall].clone();
                instances.push(instance);
                owners.push(solid as i32);
                cells.extend([places[&blocks[of.block]], of.cell, of.near, of.sample].map(|at| at as i32));
                normals.extend(&of.normal[..manifest.dim as usize]);
            }
            ranges.extend([begin, cells.len() / 4].map(|at| at as i32));
            let number = layered.iter().position(|of| of.solid == solid).expect("a patch of a surface with a law");
            let Some(Some(law)) = spec.laws.get(solid) else { unreachable!("a law") };
            let viscosity = law.viscosity * f64::from(1 << patch.level);
            shapes.extend(&patch.normal[..manifest.dim as usize]);
            shapes.extend([patch.area, patch.stiffness, patch.weight, patch.height, viscosity, number as f64]);
        }
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
            walls: first..instances.len(),
            state: slides::state(manifest.dim),
            dim: manifest.dim as usize,
            stride: manifest.wall_stride as usize,
            patches: of_patches,
            at,
        };
        slides.keep(device, |_| true)?;
        Ok(Some(slides))
    }

    /// Restricts the patches that are worked on to those of which some block is own, by its place in the list.
    fn keep(&mut self, device: &Device, own: impl Fn(usize) -> bool) -> Result<(), DeviceError> {
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

fn doubles(device: &Device, values: &[f64]) -> Result<Buffer<Double>, StepError> {
    let mut buffer = device.alloc_doubles(values.len())?;
    buffer.write_reals(0, values)?;
    Ok(buffer)
}

impl Bodies {
    /// Gives the patches of a level their velocities for the step that begins. The halo must be up to date.
    pub(crate) fn slide(
        &mut self,
        program: &Program,
        grid: &Grid,
        walls: &mut Walls,
        src: &Buffer<Stored>,
        level: usize,
    ) -> Result<(), StepError> {
        let Bodies { slides: Some(slides), list, rows, links, distances, .. } = self else { return Ok(()) };
        let Slides { ids, ranges, cells, normals, shapes, laws, weights, slips, walls: own, at, .. } = slides;
        program.launch(kernels::Slide {
            ids: ids.slice(slides.levels[level].clone()),
            ranges,
            cells,
            normals,
            shapes,
            laws,
            weights,
            cut: list,
            neighbours: &grid.tables().neighbours,
            links: kernels::Links { link_rows: rows, links, distances },
            src,
            wall_rules: &walls.rules,
            wall_values: &mut walls.values,
            slips,
            first: own.start as i32,
            slip: at.0 as i32,
            source_at: at.1 as i32,
        })?;
        Ok(())
    }

    /// Restricts the patches to those that have own blocks.
    pub(crate) fn keep_own_patches(&mut self, device: &Device, owned: &Owned) -> Result<(), StepError> {
        let Bodies { slides: Some(slides), list, .. } = self else { return Ok(()) };
        let slots = list.read_ints(0..list.len())?;
        Ok(slides.keep(device, |place| owned.has(SlotId(slots[place] as u32)))?)
    }

    /// For each patch the slots of its blocks, and of these and all around them, which are read where any of the first is owned.
    pub(crate) fn read_by_patches(&self, grid: &Grid) -> Result<Vec<(Vec<SlotId>, Vec<SlotId>)>, StepError> {
        let Some(slides) = &self.slides else { return Ok(vec![]) };
        let slots = self.list.read_ints(0..self.list.len())?;
        let near = 3usize.pow(slides.dim as u32);
        let neighbours = grid.tables().neighbours.read_ints(0..grid.slots() * near)?;
        let of_patch = |(_, blocks): &(usize, Vec<usize>)| {
            let own: Vec<SlotId> = blocks.iter().map(|block| SlotId(slots[*block] as u32)).collect();
            let around = own.iter().flat_map(|slot| &neighbours[slot.index() * near..][..near]);
            let mut read: Vec<SlotId> = around.filter_map(|slot| Some(SlotId(u32::try_from(*slot).ok()?))).collect();
            read.sort_unstable();
            read.dedup();
            (own, read)
        };
        Ok(slides.patches.iter().map(of_patch).collect())
    }

    /// The states of all patches, those of patches that are not worked on here NaN: velocity, source and density of each.
    pub(crate) fn slips(&self) -> Result<Vec<f64>, StepError> {
        let Some(slides) = &self.slides else { return Ok(vec![]) };
        let (all, kept) = (slides.slips.read_reals(0..slides.slips.len())?, slides.dim + 2);
        let mut states = vec![f64::NAN; slides.patches.len() * kept];
        for patch in slides.ids.read_ints(0..slides.ids.len())? {
            let (from, to) = (patch as usize * slides.state, patch as usize * kept);
            states[to..to + kept].copy_from_slice(&all[from..from + kept]);
        }
        Ok(states)
    }

    /// Sets the states of all patches, and the velocities of their walls; false if they are not as many.
    pub(crate) fn set_slips(&mut self, walls: &mut Walls, states: &[f64]) -> Result<bool, StepError> {
        let Some(slides) = &mut self.slides else { return Ok(states.is_empty()) };
        let Slides { ranges, normals, slips, walls: own, state, dim, stride, at, patches, .. } = slides;
        let kept = *dim + 2;
        if states.len() != patches.len() * kept {
            return Ok(false);
        }
        let (ranges, normals) = (ranges.read_ints(0..ranges.len())?, normals.read_reals(0..normals.len())?);
        let mut values = walls.values.read_reals(own.start * *stride..own.end * *stride)?;
        let mut all = vec![0.0; slips.len()];
        for (number, slid) in states.chunks_exact(kept).enumerate() {
            all[number * *state..][..kept].copy_from_slice(slid);
            for entry in ranges[2 * number] as usize..ranges[2 * number + 1] as usize {
                let (normal, wall) = (&normals[entry * *dim..][..*dim], &mut values[entry * *stride..][..*stride]);
                let out: f64 = normal.iter().zip(slid).map(|(normal, slip)| normal * slip).sum();
                (0..*dim).for_each(|axis| wall[at.0 + axis] = slid[axis] - out * normal[axis]);
                wall[at.1] = slid[*dim];
            }
        }
        slips.write_reals(0, &all)?;
        walls.values.write_reals(own.start * *stride, &values)?;
        Ok(true)
    }
}
