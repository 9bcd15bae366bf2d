//! An isosurface and the solids as bytes: a head in JSON, and twelve bytes for each corner of a triangle.
//!
//! Of a corner: three numbers of 16 bits, its position as fractions of the longest side of the domain; three signed numbers of 8 bits, the
//! normal; one of 8 bits, 1 on solids; one of 16 bits, the place of its colour between the ends of the range.

use lbm_runtime::solver::snapshot::Snapshot;
use serde_json::json;

use super::ask::Refused;
use super::section::message;
use crate::case::{Case, Dimension, Quantity};
use crate::output::mesh::{Corner, mesh, quantile};

/// Most triangles of a surface.
const MOST: usize = 400_000;
/// Colours that differ by less, relative to them, are the same.
const SAME: f64 = 1e-3;
/// If no value is asked for, this fraction of the values of the field are below the surface's.
const USUAL: f64 = 0.9;

/// The surface on which a field has a value, in the units of the case, coloured by another.
pub(super) fn bytes(
    case: &Case,
    snapshot: &Snapshot,
    (field, value): (&Quantity, Option<f64>),
    colour: &Quantity,
) -> Result<Vec<u8>, Refused> {
    let scale = field.scale(&case.units);
    let [usual, least, most] = quantile(snapshot, field, USUAL).ok_or(Refused::Unknown)?;
    let value = value.map_or(usual, |value| value / scale);
    let corners = mesh(case, snapshot, (field, value), colour, MOST).ok_or(Refused::TooLarge)?;
    let known = corners.iter().map(|corner| corner.colour).filter(|colour| colour.is_finite());
    let [low, high] = known.fold([f64::MAX, f64::MIN], |[low, high], colour| [low.min(colour), high.max(colour)]);
    // Where the colour is the same all over the surface, it is shown beside all that the fluid has.
    let is_range = |[low, high]: [f64; 2]| high - low > SAME * low.abs().max(high.abs());
    let of_fluid = || quantile(snapshot, colour, USUAL).map(|[_, low, high]| [low, high]);
    let range = Some([low, high]).filter(|range| is_range(*range)).or_else(of_fluid).filter(|range| is_range(*range));
    let [low, high] = range.unwrap_or([0.0, 1.0]);
    let longest = case.size.into_iter().max().unwrap_or(1) as f64;
    let length = case.units.scale(Dimension::LENGTH);
    let of_colour = colour.scale(&case.units);
    let head = json!({
        "step": snapshot.step,
        "triangles": corners.len() / 3,
        "value": value * scale,
        "least": least * scale,
        "most": most * scale,
        "range": [low * of_colour, high * of_colour],
        "box": case.size.map(|side| side as f64 / longest),
        "extent": case.size.map(|side| side as f64 * length),
    });
    let body = corners.iter().flat_map(|corner| packed(corner, longest, [low, high]));
    Ok(message(&head, body))
}

/// The bytes of a corner.
fn packed(corner: &Corner, longest: f64, [low, high]: [f64; 2]) -> [u8; 12] {
    let sixteen = |share: f64| ((share.clamp(0.0, 1.0) * 65_535.0).round() as u16).to_le_bytes();
    let norm = corner.normal.iter().map(|part| part * part).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
    let mut bytes = [0; 12];
    for axis in 0..3 {
        bytes[2 * axis..2 * axis + 2].copy_from_slice(&sixteen(corner.at[axis] / longest));
        bytes[6 + axis] = (127.0 * corner.normal[axis] / norm) as i8 as u8;
    }
    bytes[9] = u8::from(corner.colour.is_nan());
    bytes[10..].copy_from_slice(&sixteen((corner.colour - low) / (high - low)));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_corner_has_its_place_its_normal_and_its_colour() {
        let corner = Corner { at: [16.0, 0.0, 32.0], normal: [0.0, -2.0, 0.0], colour: 3.0 };
        let bytes = packed(&corner, 32.0, [1.0, 5.0]);
        assert_eq!(bytes, [0, 128, 0, 0, 255, 255, 0, -127i8 as u8, 0, 0, 0, 128]);
        assert_eq!(packed(&Corner { colour: f64::NAN, ..corner }, 32.0, [1.0, 5.0])[9..], [1, 0, 0]);
    }
}
