//! Values at the points of a grid, as image data.

use std::io::{self, Write};

use lbm_bundle::Real;

use super::{Appended, Array, Values, real_name};
use crate::case::{Case, Dimension};

/// A grid of points.
#[derive(Clone, Copy, Debug)]
pub struct PointGrid {
    /// Points along each axis.
    pub counts: [usize; 3],
    /// The first point, in cells.
    pub first: [f64; 3],
    /// The last point.
    pub last: [f64; 3],
}

/// Writes fields at the points of a grid, x fastest. Each field has its name, its number of components, and its values in the units of the case,
/// the component fastest. Vectors are written with three components.
pub fn write_points(
    out: &mut dyn Write,
    PointGrid { counts, first, last }: PointGrid,
    time: f64,
    columns: &[(String, usize, Vec<f64>)],
    case: &Case,
) -> io::Result<()> {
    let length = case.units.scale(Dimension::LENGTH);
    let spacing = [0, 1, 2].map(|axis| match counts[axis] {
        1 => length,
        points => length * (last[axis] - first[axis]) / (points - 1) as f64,
    });
    let extent = counts.map(|points| format!("0 {}", points - 1)).join(" ");
    let listed = |values: [f64; 3]| values.map(|value| value.to_string()).join(" ");
    let (origin, spacing) = (listed(first.map(|place| length * place)), listed(spacing));
    let opening = format!(r#"<ImageData WholeExtent="{extent}" Origin="{origin}" Spacing="{spacing}">"#);
    let (mut appended, mut arrays) = (Appended::default(), String::new());
    for (name, components, values) in columns {
        let written = if *components > 1 { 3 } else { 1 };
        let padded = |point: &[f64]| [0, 1, 2].map(|at| point.get(at).copied().unwrap_or(0.0));
        let bytes = values.chunks(*components).flat_map(|point| {
            let values = padded(point).into_iter().take(written);
            values.flat_map(|value| match case.real {
                Real::F64 => value.to_le_bytes().to_vec(),
                Real::F32 | Real::F16F32 => (value as f32).to_le_bytes().to_vec(),
            })
        });
        let values = Values::Bytes(bytes.collect());
        let array = Array { name: name.clone(), components: written, ty: real_name(case.real), values };
        arrays += &format!("        {}\n", appended.add(array));
    }
    let content =
        format!("    <Piece Extent=\"{extent}\">\n      <PointData>\n{arrays}      </PointData>\n    </Piece>\n");
    appended.write(out, "ImageData", time, &opening, &content)
}
