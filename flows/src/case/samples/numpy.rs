//! Arrays of numpy.

use lbm_bundle::plain::unseen;

use super::{Asked, Points, Samples, early, numbers, points};

/// An array `[z][y][x]` or `[z][y][x][component]`, in two dimensions without `[z]`. The format is that of numpy's documentation,
/// `numpy.lib.format`: magic, version, length of the header, header, numbers.
pub(super) fn of_numpy(bytes: &[u8], asked: Asked<'_>) -> Result<Samples, String> {
    let Asked { dim, most, .. } = asked;
    // The length of the header is a number of two bytes, from version 2 on of four.
    let begins = if bytes.get(6) == Some(&1) { 10 } else { 12 };
    let length =
        bytes.get(8..begins).ok_or_else(early)?.iter().rev().fold(0, |sum, byte| sum << 8 | usize::from(*byte));
    let header = bytes.get(begins..begins + length).ok_or_else(early)?;
    let header = std::str::from_utf8(header).ok().filter(|header| unseen(header).next().is_none());
    let header = header.ok_or("its header is no text")?;
    let value = |key: &str| {
        let (_, rest) = header.split_once(&format!("'{key}':"))?;
        Some(rest.trim_start())
    };
    let quoted = value("descr").and_then(|rest| rest.strip_prefix('\'')?.split_once('\''));
    let (width, big_endian) = match quoted.map(|(ty, _)| ty) {
        Some("<f8") => (8, false),
        Some("<f4") => (4, false),
        Some(">f8") => (8, true),
        Some(">f4") => (4, true),
        Some(ty) => return Err(format!("its entries are `{ty}`: write it with `.astype(\"f8\")`")),
        None => return Err("its entries are no plain numbers".into()),
    };
    let fortran = value("fortran_order").is_some_and(|rest| rest.starts_with("True"));
    let inside = value("shape").and_then(|rest| rest.strip_prefix('(')?.split_once(')'));
    let sides = inside.map(|(sides, _)| sides.split(',').map(str::trim).filter(|side| !side.is_empty()));
    let shape: Option<Vec<usize>> = sides.and_then(|sides| sides.map(|side| side.parse().ok()).collect());
    let shape = shape.ok_or("its header has no shape")?;
    let text = || format!("({})", shape.iter().map(usize::to_string).collect::<Vec<_>>().join(", "));
    if shape.len() != dim && shape.len() != dim + 1 {
        let wanted =
            if dim == 2 { "(ny, nx) or (ny, nx, components)" } else { "(nz, ny, nx) or (nz, ny, nx, components)" };
        return Err(format!("its shape is {}, not {wanted}", text()));
    }
    let mut size = [1; 3];
    (0..dim).for_each(|axis| size[axis] = shape[dim - 1 - axis]);
    let components = shape.get(dim).copied().unwrap_or(1);
    let count = points(size, most)?;
    if !(1..=3).contains(&components) {
        return Err(format!("its shape {} has {components} components", text()));
    }
    let count = count * components;
    let raw = bytes.get(begins + length..begins + length + count * width).ok_or_else(early)?;
    let raw = numbers(raw, width, big_endian);
    if !fortran {
        return Ok(Samples { components, points: Points::Regular { size, corners: false, values: raw } });
    }
    // The first index runs fastest: z, then y, x and the component.
    let from = |at: usize| {
        let (component, point) = (at % components, at / components);
        let (x, y, z) = (point % size[0], point / size[0] % size[1], point / (size[0] * size[1]));
        z + size[2] * (y + size[1] * (x + size[0] * component))
    };
    let values = (0..count).map(|at| raw[from(at)]).collect();
    Ok(Samples { components, points: Points::Regular { size, corners: false, values } })
}
