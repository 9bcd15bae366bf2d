//! The mixing length below laws of the wall, as a function of the position.

use lbm_runtime::geometry::solid::{Shape, Vector};

use super::layer::mixing_length;
use super::solids::SolidBody;

/// Cosine of the angle between the normal of a surface and an axis of the grid, up to which there is a mixing length: at steps of surfaces that
/// lie askew one makes the flow above too fast (17 % at 45 degrees, `benchmarks/askew.py`).
const ALIGNED: f64 = 0.99;

/// The surfaces under laws of the wall, in cells of the coarsest level.
#[derive(Clone, Debug, PartialEq)]
pub struct Mixing {
    surfaces: Vec<Beneath>,
}

/// A surface, or a periodic image of one.
#[derive(Clone, Debug, PartialEq)]
struct Beneath {
    shape: Shape,
    /// Its displacement.
    by: Vector,
    /// The box in which there are mixing lengths.
    low: Vector,
    high: Vector,
    /// Width of the cells at it.
    width: f64,
    /// Height of its law in these cells, and that from which on there is no mixing length.
    sample: f64,
    highest: f64,
}

impl Mixing {
    /// Of the solids of a domain of this size.
    pub(super) fn new(solids: &[SolidBody], size: [usize; 3], periodic: [bool; 3]) -> Mixing {
        let mut surfaces = vec![];
        for (body, layer) in solids.iter().filter_map(|body| Some((body, body.layer.as_ref()?))) {
            let width = 0.5f64.powi(body.solid.level as i32);
            let (from, to) = body.solid.shape.bounds();
            let reach = layer.highest() * width;
            let turns = |axis: usize| if periodic[axis] && size[axis] > 1 { -1..=1 } else { 0..=0 };
            for [x, y, z] in turns(0).flat_map(|x| turns(1).flat_map(move |y| turns(2).map(move |z| [x, y, z]))) {
                let turn = [x, y, z];
                let by: Vector = std::array::from_fn(|axis| f64::from(turn[axis]) * size[axis] as f64);
                let low: Vector = std::array::from_fn(|axis| from[axis] + by[axis] - reach);
                let high: Vector = std::array::from_fn(|axis| to[axis] + by[axis] + reach);
                if (0..3).all(|axis| low[axis] <= size[axis] as f64 && high[axis] >= 0.0) {
                    let (sample, highest) = (layer.sample, layer.highest());
                    surfaces.push(Beneath { shape: body.solid.shape.clone(), by, low, high, width, sample, highest });
                }
            }
        }
        Mixing { surfaces }
    }

    /// The mixing length at a position, in cells of the level there: that below the law of the nearest surface, 0 where none is near, and
    /// where the surface lies askew in the grid.
    pub(super) fn at(&self, at: Vector) -> f64 {
        let near = self.surfaces.iter().filter_map(|surface| {
            let is_in = (0..3).all(|axis| surface.low[axis] <= at[axis] && at[axis] <= surface.high[axis]);
            let own: Vector = std::array::from_fn(|axis| at[axis] - surface.by[axis]);
            let way = if is_in { surface.shape.way_from(own, surface.highest * surface.width)? } else { return None };
            Some((way.iter().map(|along| along * along).sum::<f64>().sqrt(), way, surface))
        });
        let Some((distance, way, surface)) = near.min_by(|one, other| one.0.total_cmp(&other.0)) else { return 0.0 };
        let is_along_axis = way.iter().any(|along| along.abs() >= ALIGNED * distance);
        if is_along_axis { mixing_length(distance / surface.width, surface.sample) } else { 0.0 }
    }
}
