//! A section through a field as bytes: a head in JSON, the values, the levels.
//!
//! Bytes: the length of the head, 32 bits; the head; `width * height` values of 32 bits, NaN in solids; as many levels of 8 bits. Numbers
//! are little-endian, the first axis is the fastest, the second one goes upwards.

use lbm_runtime::solver::probe::Reading;
use serde_json::json;

use super::ask::{axes, counts};
use crate::case::{Case, Dimension, Quantity};

const AXES: [&str; 3] = ["x", "y", "z"];

/// The value that is shown of a field: of vectors the magnitude.
fn shown(field: &Quantity, values: [f64; 3]) -> f64 {
    if field.columns().len() > 1 { values.iter().map(|value| value * value).sum::<f64>().sqrt() } else { values[0] }
}

/// A message: a head and what follows it.
pub(super) fn message(head: &serde_json::Value, body: impl IntoIterator<Item = u8>) -> Vec<u8> {
    // The head fills whole numbers of 32 bits, so that the values behind it can be read in place.
    let mut text = head.to_string().into_bytes();
    text.resize(text.len().next_multiple_of(4), b' ');
    let mut bytes = (text.len() as u32).to_le_bytes().to_vec();
    bytes.extend(text);
    bytes.extend(body);
    bytes
}

/// A section of a field normal to an axis at a fraction of the extent, in the units of the case.
pub(super) fn bytes(
    case: &Case,
    field: &Quantity,
    (normal, at): (usize, f64),
    step: u64,
    readings: &[Reading],
) -> Vec<u8> {
    let scale = field.scale(&case.units);
    let value = |reading: &Reading| {
        let values = field.at(|at| reading.values[at], &reading.gradient, reading.level);
        (scale * shown(field, values)) as f32
    };
    let values: Vec<f32> = readings.iter().map(value).collect();
    let known = values.iter().filter(|value| value.is_finite());
    let ends = known.fold(None, |ends: Option<[f32; 2]>, value| {
        Some(ends.map_or([*value; 2], |[least, most]| [least.min(*value), most.max(*value)]))
    });
    let (axes, length) = (axes(normal), case.units.scale(Dimension::LENGTH));
    let [width, height] = counts(case, axes);
    let extent = |axis: usize| case.size[axis] as f64 * length;
    let head = json!({
        "step": step,
        "width": width,
        "height": height,
        "axes": axes.map(|axis| AXES[axis]),
        "extent": axes.map(extent),
        "normal": AXES[normal],
        "at": at * extent(normal),
        "range": ends,
    });
    let levels = readings
        .iter()
        .map(|reading| if reading.values.iter().any(|value| value.is_nan()) { 255 } else { reading.level as u8 });
    message(&head, values.iter().flat_map(|value| value.to_le_bytes()).chain(levels))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::fixture;

    #[test]
    fn a_section_has_the_value_of_every_cell_and_solids_have_none() {
        let (case, _) = fixture::cavity(32);
        let all = Quantity::all(&lbm_runtime::fixture::manifest());
        let density = all.into_iter().find(|field| field.name() == "density").unwrap();
        let reading = |at: usize| Reading {
            level: at % 3,
            values: if at == 5 { vec![f64::NAN; 4] } else { vec![at as f64, 0.0, 0.0, 0.0] },
            gradient: [[0.0; 3]; 3],
            slopes: vec![],
        };
        let readings: Vec<Reading> = (0..32 * 32).map(reading).collect();
        let bytes = bytes(&case, &density, (2, 0.5), 7, &readings);
        let length = u32::from_le_bytes(bytes[..4].try_into().unwrap()) as usize;
        let head: serde_json::Value = serde_json::from_slice(&bytes[4..4 + length]).unwrap();
        assert_eq!((&head["step"], &head["width"], &head["height"]), (&json!(7), &json!(32), &json!(32)));
        assert_eq!(head["range"], json!([0.0, 1023.0]));
        let body = &bytes[4 + length..];
        assert_eq!(body.len(), 5 * 32 * 32);
        let value = |at: usize| f32::from_le_bytes(body[4 * at..4 * at + 4].try_into().unwrap());
        assert_eq!((value(0), value(33), value(5).is_nan()), (0.0, 33.0, true));
        assert_eq!((body[4 * 1024 + 4], body[4 * 1024 + 5]), (1, 255));
    }
}
