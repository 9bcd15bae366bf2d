//! An isosurface of a field and the solids, as triangles for programs that draw them.

use lbm_runtime::solver::snapshot::Snapshot;

use super::derived::Derived;
use super::isosurface::Isosurface;
use super::views::Tiles;
use crate::case::{Case, Quantity};

/// A corner of a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corner {
    /// In cells of the coarsest level.
    pub at: [f64; 3],
    /// Normal of the surface, of any length and to either side.
    pub normal: [f64; 3],
    /// Value of the colouring field in lattice units; NaN on solids.
    pub colour: f64,
}

/// Triangles, three corners each: those of the surface on which a field (of vectors the magnitude) has a value in lattice units, coloured
/// by a field, and those of the solids. `None` if the fields need the velocity and the snapshot has none, or if there are more than
/// `most` triangles.
pub fn mesh(
    case: &Case,
    snapshot: &Snapshot,
    (field, value): (&Quantity, f64),
    colour: &Quantity,
    most: usize,
) -> Option<Vec<Corner>> {
    let (field, colour) = (Derived::new(snapshot, field)?, Derived::new(snapshot, colour)?);
    let surface = Isosurface::new(snapshot, &field, Some(&colour), value);
    let (tiles, mut corners) = (Tiles::new(snapshot), vec![]);
    let mut count = 0;
    let mut add = |triangles: Vec<[Corner; 3]>| {
        count += triangles.len();
        if count <= most {
            corners.extend(triangles.into_iter().flatten());
        }
    };
    tiles.each_of_solids(case, |triangles| {
        let corner = |point: super::hull::Point| Corner { at: point.at, normal: point.normal, colour: f64::NAN };
        add(triangles.into_iter().map(|points| points.map(corner)).collect());
    });
    tiles.each(
        |tile| {
            let corner = |vertex: super::isosurface::Vertex| Corner {
                at: vertex.at,
                normal: vertex.slope,
                colour: vertex.colour,
            };
            surface.triangles(tile).into_iter().map(|vertices| vertices.map(corner)).collect()
        },
        &mut add,
    );
    (count <= most).then_some(corners)
}

/// Values of a field (of vectors the magnitude) in lattice units that this fraction of its values in the fluid do not exceed, and the least and
/// the largest; `None` if it needs the velocity and the snapshot has none, or if there is no fluid.
pub fn quantile(snapshot: &Snapshot, field: &Quantity, share: f64) -> Option<[f64; 3]> {
    let derived = Derived::new(snapshot, field)?;
    let cells = snapshot.blocks().len() * snapshot.block_cells();
    let is_fluid = |at: &usize| !snapshot.solid.get(*at).is_some_and(|solid| *solid);
    let mut values: Vec<f64> =
        (0..cells).filter(is_fluid).map(|at| derived.shown(at)).filter(|value| value.is_finite()).collect();
    let ends = values.iter().fold([f64::MAX, f64::MIN], |[least, most], value| [least.min(*value), most.max(*value)]);
    let at = (share * values.len().checked_sub(1)? as f64) as usize;
    Some([*values.select_nth_unstable_by(at, f64::total_cmp).1, ends[0], ends[1]])
}
