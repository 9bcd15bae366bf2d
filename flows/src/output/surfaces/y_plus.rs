//! How fine the grid is at surfaces and faces, in wall units.

use serde::{Deserialize, Serialize};

use super::{Bodies, Loaded};
use crate::case::{Body, Wall};
use crate::output::hull::{dot, normal};

/// How fine the grid is at the surface of a solid or at a face, in wall units, at the end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct YPlus {
    /// The number of the solid in the case.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub solid: Option<usize>,
    /// The name of the face.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub face: Option<String>,
    /// Whether it is that of the height at which a law of the wall applies, not of the middle of a cell at the wall.
    pub law: bool,
    /// Its least value.
    pub least: f64,
    /// Its mean over the area of the surface.
    pub mean: f64,
    /// Its greatest value.
    pub greatest: f64,
}

impl YPlus {
    /// One line of text.
    pub fn describe(&self) -> String {
        let YPlus { solid, face, law, least, mean, greatest } = self;
        let solid = solid.map(|number| format!("solid {number}"));
        let whose = solid.or_else(|| Some(format!("face {}", face.as_ref()?))).unwrap_or_default();
        let of = if *law { "of the law of the wall" } else { "of the middle of a cell at the wall" };
        format!("{whose}: y+ {of} {least:.3} to {greatest:.3}, mean {mean:.3}\n")
    }
}

impl Bodies<'_> {
    /// Least, mean and greatest y+ on the surface of a body, the mean over its area; nothing if it is known nowhere.
    pub(in crate::output) fn y_plus(&self, body: &Body<'_>, loaded: &Loaded) -> Option<YPlus> {
        let law = self.case.solids[body.entries.clone()].iter().any(|part| part.layer.is_some());
        let [least, mean, greatest] = range(loaded)?;
        Some(YPlus { solid: Some(body.solid), face: None, law, least, mean, greatest })
    }

    /// The same on a face.
    pub(in crate::output) fn y_plus_at(&self, wall: &Wall, loaded: &Loaded) -> Option<YPlus> {
        let [least, mean, greatest] = range(loaded)?;
        let law = loaded.points.first().is_some_and(|point| wall.law_at(point.at).is_some());
        Some(YPlus { solid: None, face: Some(wall.face.name().into()), law, least, mean, greatest })
    }
}

/// Least, mean and greatest y+ of a surface, the mean over its area; nothing if it is known nowhere.
fn range(loaded: &Loaded) -> Option<[f64; 3]> {
    let corner = |point: &usize| loaded.points[*point].at;
    let mut elements: Vec<(f64, &[usize])> = vec![];
    for corners in &loaded.triangles {
        let normal = normal(corners.map(|at| corner(&at)));
        elements.push((0.5 * dot(normal, normal).sqrt(), corners));
    }
    for ends in loaded.curves.iter().flat_map(|curve| curve.windows(2)) {
        let way = [0, 1, 2].map(|axis| corner(&ends[1])[axis] - corner(&ends[0])[axis]);
        elements.push((dot(way, way).sqrt(), ends));
    }
    let (mut sum, mut size, mut range) = (0.0, 0.0, [f64::INFINITY, f64::NEG_INFINITY]);
    for (area, points) in elements {
        for value in points.iter().map(|point| loaded.loads[*point].y_plus).filter(|value| value.is_finite()) {
            let part = area / points.len() as f64;
            (sum, size) = (sum + part * value, size + part);
            range = [range[0].min(value), range[1].max(value)];
        }
    }
    (size > 0.0).then(|| [range[0], sum / size, range[1]])
}
