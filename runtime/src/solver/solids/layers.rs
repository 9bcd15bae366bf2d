//! What laws of the wall have found for surfaces, patch by patch, on the host.

use std::collections::HashMap;
use std::sync::Arc;

use crate::geometry::{Block, Domain};

/// The cells beside surfaces that slide: the patch of each, by its solid, its level and its position.
#[derive(Debug, Default, PartialEq)]
pub struct Beside {
    patches: HashMap<(usize, usize, [usize; 3]), usize>,
    levels: usize,
}

impl Beside {
    /// Adds a cell of a block of `sides` cells along each axis.
    pub(crate) fn add(&mut self, patch: usize, solid: usize, (block, cell): (Block, usize), sides: [usize; 3]) {
        let within = [cell % sides[0], cell / sides[0] % sides[1], cell / (sides[0] * sides[1])];
        let at = [0, 1, 2].map(|axis| block.place[axis] * sides[axis] + within[axis]);
        self.patches.insert((solid, block.level, at), patch);
        self.levels = self.levels.max(block.level + 1);
    }

    /// The patch of the cell that is nearest to a point half a cell above a surface: on the finest level that has one within a cell of it.
    fn nearest(&self, domain: &Domain, solid: usize, point: [f64; 3], normal: [f64; 3]) -> Option<usize> {
        (0..self.levels).rev().find_map(|level| {
            let size = domain.size_of(level);
            let above = [0, 1, 2].map(|axis| point[axis] * f64::from(1 << level) + 0.5 * normal[axis]);
            let around = 3usize.pow(domain.dim as u32);
            let distance = |number: usize| {
                let at = [0, 1, 2].map(|axis| match axis < domain.dim {
                    true => above[axis].floor() as i64 + (number / 3usize.pow(axis as u32) % 3) as i64 - 1,
                    false => 0,
                });
                let wrapped = [0, 1, 2].map(|axis| match domain.periodic[axis] {
                    true => at[axis].rem_euclid(size[axis] as i64) as usize,
                    false => usize::try_from(at[axis]).unwrap_or(usize::MAX),
                });
                let patch = *self.patches.get(&(solid, level, wrapped))?;
                let squares = (0..domain.dim).map(|axis| (at[axis] as f64 + 0.5 - above[axis]).powi(2));
                Some((squares.sum::<f64>(), patch))
            };
            (0..around).filter_map(distance).min_by(|one, other| one.0.total_cmp(&other.0)).map(|(_, patch)| patch)
        })
    }
}

/// What the laws of the wall of surfaces have found in the last step.
#[derive(Clone, Debug, PartialEq)]
pub struct Layers {
    pub(crate) beside: Arc<Beside>,
    /// The states of all patches, as they are on the device.
    pub(crate) states: Vec<f64>,
}

/// What the law of the wall says of a point of a surface: that of its patch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfLayer {
    /// Force of the fluid per area, along the surface, in lattice units.
    pub friction: [f64; 3],
    /// y+ of the height at which the flow is sampled.
    pub y_plus: f64,
}

impl Layers {
    /// At a point of the surface of a solid, in cells of the coarsest level, with its normal into the fluid; nothing where no cell slides.
    pub fn at(&self, domain: &Domain, solid: usize, point: [f64; 3], normal: [f64; 3]) -> Option<OfLayer> {
        let patch = self.beside.nearest(domain, solid, point, normal)?;
        let of_patch = lbm_bundle::slides::state(domain.dim as u32);
        let state = self.states.get(patch * of_patch..(patch + 1) * of_patch)?;
        let (sampled, stress, y_plus) =
            (&state[domain.dim + 2..2 * domain.dim + 2], state[of_patch - 2], state[of_patch - 1]);
        let speed = sampled.iter().map(|part| part * part).sum::<f64>().sqrt();
        let along = |axis: usize| sampled.get(axis).filter(|_| speed > 0.0).map_or(0.0, |part| stress * part / speed);
        Some(OfLayer { friction: [0, 1, 2].map(along), y_plus })
    }
}
