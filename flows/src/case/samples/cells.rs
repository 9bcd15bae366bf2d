//! Fields of grids that may have several levels: unstructured grids of VTK, as lbmc writes them, and restart files.

use std::collections::HashSet;

use lbm_runtime::geometry::{Block, Domain};
use lbm_runtime::mesh::forest::LEVELS;
use lbm_runtime::solver::snapshot::{Component, Snapshot};
use roxmltree::Node;
use serde::Deserialize;

use super::vtk::{Encoding, array, components_of, no_array};
use super::{Asked, Points, Samples, early, numbers};
use crate::case::saved::{FIELDS, FRONT, HASH, LEAVES, SavedFields, Section, VERSION};

/// Whether blocks cover a domain of so many blocks of level 0, each place once.
fn covers(dim: usize, roots: [usize; 3], blocks: &[Block]) -> bool {
    let finest = blocks.iter().map(|block| block.level).max().unwrap_or(0);
    let all: HashSet<&Block> = blocks.iter().collect();
    if finest >= LEVELS || all.len() != blocks.len() {
        return false;
    }
    let inside = |block: &Block| {
        let end = |axis: usize| if axis < dim { roots[axis] << block.level } else { 1 };
        (0..3).all(|axis| block.place[axis] < end(axis))
    };
    let above = |block: &Block| {
        let coarser = |up: usize| {
            let place = std::array::from_fn(|axis| if axis < dim { block.place[axis] >> up } else { 0 });
            Block { level: block.level - up, place }
        };
        (1..=block.level).any(|up| all.contains(&coarser(up)))
    };
    let volume = |level: usize| 1u128 << (dim * (finest - level));
    let volumes: u128 = blocks.iter().map(|block| volume(block.level)).sum();
    let whole = roots.iter().map(|count| *count as u128).product::<u128>() * volume(0);
    blocks.iter().all(|block| inside(block) && !above(block)) && volumes == whole
}

/// Samples of cells: values of each component, `[block][cell]`.
fn samples(dim: usize, size: [usize; 3], block: [usize; 3], blocks: Vec<Block>, values: Vec<Vec<f64>>) -> Samples {
    let components = values.len();
    let named = values.into_iter().map(|data| Component { name: String::new(), data }).collect();
    let snapshot = Snapshot::new(0, Domain { dim, size, periodic: [false; 3] }, block, blocks, named);
    Samples { components, points: Points::Levels { finest: snapshot.finest(), snapshot: Box::new(snapshot) } }
}

/// An array of the cells of an unstructured grid, which are squares or cubes.
pub(super) fn of_grid<'a>(piece: Node<'a, 'a>, encoding: &Encoding, asked: Asked<'_>) -> Result<Samples, String> {
    let Asked { dim, name, most, .. } = asked;
    if encoding.zlib {
        return Err("it is compressed: save it uncompressed, as lbmc does".into());
    }
    let count = |key: &str| piece.attribute(key).and_then(|text| text.parse::<usize>().ok()).filter(|count| *count > 0);
    let cells = count("NumberOfCells").filter(|cells| *cells <= most);
    let cells =
        cells.ok_or_else(|| format!("it has no cells, or more than {most}, which no grid of this case needs"))?;
    let corners = 1usize << dim;
    let points = count("NumberOfPoints").filter(|points| *points <= cells * corners).ok_or("it has too many points")?;
    let of_cells = array(piece, "CellData", name).ok_or_else(|| no_array(piece, name))?;
    let components = components_of(of_cells, name)?;
    let missing = |name: &str| format!("it has no array `{name}`");
    let places = array(piece, "Points", "Points").ok_or_else(|| missing("Points"))?;
    let places = encoding.values(places, 3 * points)?;
    let ends = array(piece, "Cells", "connectivity").ok_or_else(|| missing("connectivity"))?;
    if ends.attribute("type") != Some("Int64") {
        return Err("its `connectivity` is not of type Int64".into());
    }
    let ends = encoding.bytes(ends, cells * corners * 8)?;
    let number = |at: usize| {
        let byte = |place: usize| ends[8 * at + if encoding.big_endian { 7 - place } else { place }];
        usize::try_from(u64::from_le_bytes(std::array::from_fn(byte))).ok().filter(|number| *number < points)
    };
    let squares = "its cells are not the squares or cubes that lbmc writes";
    // The first and the last corner of a cell.
    let corners_of = |cell: usize| {
        let place = |at: usize| -> Option<[f64; 3]> {
            let number = number(at)?;
            Some(std::array::from_fn(|axis| places[3 * number + axis]))
        };
        Some((place(cell * corners)?, place(cell * corners + corners - 1)?))
    };
    let boxes: Option<Vec<([f64; 3], [f64; 3])>> = (0..cells).map(corners_of).collect();
    let boxes = boxes.ok_or(squares)?;
    let width = |(from, to): &([f64; 3], [f64; 3])| to[0] - from[0];
    let widest = boxes.iter().map(width).fold(0.0, f64::max);
    // A whole number that is near.
    let whole = |value: f64| {
        let near = value.round();
        ((value - near).abs() < 1e-3 && (0.0..1e9).contains(&near)).then_some(near as usize)
    };
    let block = |of: &([f64; 3], [f64; 3])| {
        let ratio = whole(widest / width(of)).filter(|ratio| ratio.is_power_of_two())?;
        let mut place = [0; 3];
        for (axis, place) in place.iter_mut().enumerate().take(dim) {
            if whole((of.1[axis] - of.0[axis]) / width(of)) != Some(1) {
                return None;
            }
            *place = whole(of.0[axis] / width(of))?;
        }
        Some(Block { level: ratio.ilog2() as usize, place })
    };
    let blocks: Vec<Block> = boxes.iter().map(block).collect::<Option<_>>().ok_or(squares)?;
    let mut size = [1; 3];
    for (axis, side) in size.iter_mut().enumerate().take(dim) {
        let end = boxes.iter().map(|of| of.1[axis]).fold(0.0, f64::max);
        *side = whole(end / widest).ok_or(squares)?;
    }
    if !covers(dim, size, &blocks) {
        return Err("its cells do not cover a box from the origin on, each place once".into());
    }
    let values = encoding.values(of_cells, cells * components)?;
    let of = |component: usize| values.iter().skip(component).step_by(components).copied().collect();
    Ok(samples(dim, size, [1; 3], blocks, (0..components).map(of).collect()))
}

/// What is read of the head of a restart file.
#[derive(Deserialize)]
struct Head {
    #[serde(default)]
    fields: Option<SavedFields>,
    sections: Vec<Section>,
}

/// A field of a restart file.
pub(super) fn of_restart(bytes: &[u8], asked: Asked<'_>) -> Result<Samples, String> {
    let Asked { dim, name, si, most } = asked;
    let number = |at: usize| bytes.get(at..at + 4).map(|bytes| u32::from_le_bytes(std::array::from_fn(|at| bytes[at])));
    match number(8) {
        Some(VERSION) => {}
        Some(found) => return Err(format!("it has version {found} of the format, this lbmc reads version {VERSION}")),
        None => return Err(early()),
    }
    let length = number(12).filter(|_| number(16) == Some(0)).ok_or_else(early)? as usize;
    let text = bytes.get(FRONT..FRONT.saturating_add(length)).ok_or_else(early)?;
    let begins = FRONT + length + HASH;
    let sections = bytes.get(begins..).and_then(|rest| rest.len().checked_sub(HASH)).ok_or_else(early)?;
    let (sections, sealed) = bytes[begins..].split_at(sections);
    if blake3::hash(&bytes[..FRONT + length]) != bytes[FRONT + length..begins] || blake3::hash(sections) != *sealed {
        return Err("its checksums do not fit: it was cut off or changed".into());
    }
    let head: Head = serde_json::from_slice(text).map_err(|error| format!("its head cannot be read: {error}"))?;
    let saved =
        head.fields.ok_or("it was written by an lbmc that did not save fields: let the run go on for a step")?;
    let section = |name: &str| {
        let at = head.sections.iter().position(|section| section.name == name)?;
        let before = head.sections[..at].iter().try_fold(0u64, |sum, section| sum.checked_add(section.bytes))?;
        let end = before.checked_add(head.sections[at].bytes)?;
        sections.get(usize::try_from(before).ok()?..usize::try_from(end).ok()?)
    };

    if saved.size.len() != dim {
        return Err(format!("its flow has {} dimensions, this one {dim}", saved.size.len()));
    }
    let mut size = [1; 3];
    size[..dim].copy_from_slice(&saved.size);
    super::points(size, most)?;
    let (field, scale) = match (name, si, &saved.si) {
        (_, true, None) => return Err("its case is in lattice units, this one in SI units".into()),
        (_, false, Some(_)) => return Err("its case is in SI units, this one in lattice units".into()),
        ("density", true, Some(units)) => {
            ("rho", units.density.ok_or("its case has no density in SI units (`units.density`)")?)
        }
        ("velocity", true, Some(units)) => ("u", units.velocity),
        ("density", ..) => ("rho", 1.0),
        ("velocity", ..) => ("u", 1.0),
        (name, ..) => (name, 1.0),
    };
    let broken = "its fields are not those of its blocks";
    let at = saved.fields.iter().position(|known| known.name == field).ok_or_else(|| {
        let known: Vec<&str> = saved.fields.iter().map(|known| &known.name[..]).collect();
        format!("it has no field `{field}`, but {}", known.join(", "))
    })?;
    let (all, components) = (saved.components().ok_or(broken)?, saved.fields[at].components);
    let first: usize = saved.fields[..at].iter().map(|before| before.components).sum();
    if !(1..=3).contains(&components) {
        return Err(format!("`{field}` has not 1 to 3 components"));
    }
    let block = saved.block.unwrap_or(size);
    if block.contains(&0) {
        return Err(broken.into());
    }
    let blocks: Vec<Block> = match saved.block {
        None => vec![Block { level: 0, place: [0; 3] }],
        Some(_) => {
            let listed = section(LEAVES).filter(|listed| listed.len().is_multiple_of(16)).ok_or(broken)?;
            let number =
                |bytes: &[u8], at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])) as usize;
            let block = |bytes: &[u8]| Block { level: number(bytes, 0), place: [4, 8, 12].map(|at| number(bytes, at)) };
            listed.chunks_exact(16).map(block).collect()
        }
    };
    if !covers(dim, std::array::from_fn(|axis| size[axis].div_ceil(block[axis])), &blocks) {
        return Err("its blocks do not cover the domain".into());
    }
    let width = saved.real.bytes();
    let cells = block.iter().try_fold(blocks.len(), |cells, side| cells.checked_mul(*side));
    let cells = cells.filter(|cells| *cells <= most);
    let of_component = cells.and_then(|cells| cells.checked_mul(width)).ok_or(broken)?;
    let found = section(FIELDS).filter(|found| of_component.checked_mul(all) == Some(found.len())).ok_or(broken)?;
    let of = |component: usize| {
        let values = numbers(&found[(first + component) * of_component..][..of_component], width, false);
        values.into_iter().map(|value| value * scale).collect()
    };
    Ok(samples(dim, size, block, blocks, (0..components).map(of).collect()))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use lbm_bundle::Real;
    use lbm_runtime::fixture::snapshots;
    use serde_json::json;

    use super::*;
    use crate::case::samples::Placed;
    use crate::case::saved::{MAGIC, SavedField, SavedUnits};

    /// A restart file of a density and a velocity along x, without populations.
    fn restart(snapshot: &Snapshot, si: Option<SavedUnits>) -> Vec<u8> {
        let dim = snapshot.dim();
        let field = |name: &str, components: usize| SavedField { name: name.into(), components };
        let saved = SavedFields {
            size: snapshot.size()[..dim].to_vec(),
            block: (!snapshot.is_uniform()).then(|| snapshot.block()),
            real: Real::F64,
            si,
            fields: vec![field("rho", 1), field("u", 2)],
        };
        let places =
            snapshot.blocks().iter().flat_map(|block| [block.level, block.place[0], block.place[1], block.place[2]]);
        let leaves: Vec<u8> = places.flat_map(|number| (number as u32).to_le_bytes()).collect();
        let values = snapshot.components.iter().flat_map(|component| &component.data);
        let values: Vec<u8> = values.flat_map(|value| value.to_le_bytes()).collect();
        let section = |name: &str, bytes: &[u8]| json!({ "name": name, "bytes": bytes.len() });
        let head = json!({ "course": { "step": 4 }, "fields": saved, "sections": [section("leaves", &leaves), section("fields", &values)] });
        let head = head.to_string();
        let mut file =
            [&MAGIC[..], &VERSION.to_le_bytes(), &(head.len() as u64).to_le_bytes(), head.as_bytes()].concat();
        file.extend(blake3::hash(&file).as_bytes());
        let sections = [leaves, values].concat();
        file.extend(&sections);
        file.extend(blake3::hash(&sections).as_bytes());
        file
    }

    fn rho([x, y, _]: [f64; 3]) -> f64 {
        1.0 + 0.01 * (0.3 * x).sin() * (0.2 * y).cos()
    }

    /// A grid of three levels, or one; its cells are smaller by `finer`, in which the fields are formulas of the same places.
    fn flow(levels: bool, finer: usize) -> Snapshot {
        let place = move |at: [f64; 3]| at.map(|at| at / finer as f64);
        let fields: [snapshots::Field<'_>; 3] = [
            ("rho", &move |at| rho(place(at))),
            ("ux", &move |at| place(at)[1]),
            ("uy", &move |at| 0.1 * place(at)[0]),
        ];
        let domain = Domain { dim: 2, size: [16 * finer, 8 * finer, 1], periodic: [false; 3] };
        snapshots::refined(
            domain,
            |block| levels && block.level < 2 && block.place.iter().sum::<usize>() <= finer,
            &fields,
        )
    }

    fn read(bytes: &[u8], name: &str) -> Result<Samples, String> {
        Samples::read(bytes, Asked { dim: 2, name, si: false, most: 1 << 20 })
    }

    /// An unstructured grid of the density and the velocity, cells with points of their own.
    fn unstructured(snapshot: &Snapshot) -> Vec<u8> {
        let cells = snapshot.components[0].data.len();
        let ends = (0..cells).flat_map(|at| {
            let cell = snapshot.cell(at);
            let end = move |axis: usize, corner: usize| (cell.at[axis] + (corner >> axis & 1)) as f64 * cell.width();
            (0..4).flat_map(move |corner| [end(0, corner), end(1, corner), 0.0])
        });
        let all = |values: Vec<f64>| values.into_iter().flat_map(f64::to_le_bytes).collect::<Vec<u8>>();
        let of = |at: usize| [0, 1, 2].map(|component: usize| snapshot.components[component].data[at]);
        let arrays = [
            ("Points", "Points", "Float64", 3, all(ends.collect())),
            ("Cells", "connectivity", "Int64", 1, (0..4 * cells as u64).flat_map(u64::to_le_bytes).collect()),
            ("CellData", "density", "Float64", 1, all((0..cells).map(|at| of(at)[0]).collect())),
            (
                "CellData",
                "velocity",
                "Float64",
                3,
                all((0..cells).flat_map(|at| [of(at)[1], of(at)[2], 0.0]).collect()),
            ),
        ];
        let (mut text, mut data) = (String::new(), vec![]);
        for (group, name, ty, components, bytes) in arrays {
            text += &format!(
                "<{group}><DataArray type=\"{ty}\" Name=\"{name}\" NumberOfComponents=\"{components}\" format=\"appended\" \
                 offset=\"{}\"/></{group}>",
                data.len()
            );
            data.extend((bytes.len() as u64).to_le_bytes());
            data.extend(bytes);
        }
        let text = text.replace("</CellData><CellData>", "");
        let text = format!(
            "<VTKFile type=\"UnstructuredGrid\" byte_order=\"LittleEndian\" header_type=\"UInt64\"><UnstructuredGrid><Piece \
             NumberOfPoints=\"{}\" NumberOfCells=\"{cells}\">{text}</Piece></UnstructuredGrid><AppendedData encoding=\"raw\">_",
            4 * cells
        );
        [text.as_bytes(), &data, b"</AppendedData></VTKFile>"].concat()
    }

    fn placed(samples: Samples, domain: [usize; 3]) -> Placed {
        Placed { samples: Arc::new(samples), domain, periodic: [false; 3], scale: 1.0 }
    }

    /// Both kinds of files of a flow.
    fn files(snapshot: &Snapshot) -> [Vec<u8>; 2] {
        [restart(snapshot, None), unstructured(snapshot)]
    }

    #[test]
    fn cells_of_the_same_grid_have_the_same_values() {
        for levels in [false, true] {
            let snapshot = flow(levels, 1);
            for file in files(&snapshot) {
                let samples = read(&file, "density").unwrap_or_else(|error| panic!("{error}"));
                assert!(samples.fits(1) && samples.fills([16, 8, 1], 2) && !samples.fills([16, 9, 1], 2));
                let placed = placed(samples, [16, 8, 1]);
                for (at, value) in snapshot.get("rho").unwrap().iter().enumerate() {
                    assert_eq!(placed.at(snapshot.cell(at).centre(), 0), *value, "{at}");
                }
            }
        }
    }

    #[test]
    fn what_is_linear_is_exact_on_every_other_grid() {
        for file in files(&flow(true, 1)) {
            for size in [[6, 3, 1], [8, 4, 1], [32, 16, 1], [56, 28, 1]] {
                let placed = placed(read(&file, "velocity").expect("a field"), size);
                for (x, y) in (0..size[0]).flat_map(|x| (0..size[1]).map(move |y| (x, y))) {
                    let place = [x as f64 + 0.5, y as f64 + 0.5, 0.5];
                    let expected = [place[1] * 8.0 / size[1] as f64, 1.6 * place[0] / size[0] as f64];
                    let found = [0, 1].map(|component| placed.at(place, component));
                    let error = (0..2).map(|axis| (found[axis] - expected[axis]).abs()).fold(0.0, f64::max);
                    assert!(error < 1e-12, "{size:?} {x} {y}: {error}");
                }
            }
        }
    }

    /// In the maximum norm, over the cells of a grid 1.5 times as fine as level 0 and of one as coarse.
    #[test]
    fn fields_are_of_second_order_in_the_cells_of_the_file() {
        for size in [[24, 12, 1], [8, 4, 1]] {
            let error = |finer: usize| {
                let placed = placed(read(&restart(&flow(true, finer), None), "density").expect("a field"), size);
                let cells = (0..size[0]).flat_map(|x| (0..size[1]).map(move |y| [x as f64 + 0.5, y as f64 + 0.5, 0.5]));
                let width = 16.0 / size[0] as f64;
                cells.map(|place| (placed.at(place, 0) - rho(place.map(|at| at * width))).abs()).fold(0.0, f64::max)
            };
            let errors = [1, 2, 4].map(error);
            let orders = [0, 1].map(|at: usize| (errors[at] / errors[at + 1]).log2());
            assert!(orders.iter().all(|order| *order > 1.7), "{size:?}: {errors:?} {orders:?}");
        }
    }

    #[test]
    fn values_of_si_cases_are_in_their_units() {
        let file = restart(&flow(false, 1), Some(SavedUnits { velocity: 20.0, density: None }));
        let si = |name: &str| Samples::read(&file, Asked { dim: 2, name, si: true, most: 1000 });
        let velocity = placed(si("velocity").expect("a field"), [16, 8, 1]);
        assert_eq!(velocity.at([3.5, 2.5, 0.5], 0), 50.0);
        assert!(si("density").unwrap_err().contains("units.density"));
        assert!(read(&file, "velocity").unwrap_err().contains("is in SI units, this one in lattice units"));
    }

    #[test]
    fn other_files_are_refused_and_none_panics() {
        let snapshot = flow(true, 1);
        let [file, grid] = files(&snapshot);
        assert!(read(&file, "phi").unwrap_err().contains("it has no field `phi`, but rho, u"));
        assert!(
            Samples::read(&file, Asked { dim: 3, name: "density", si: false, most: 1000 })
                .unwrap_err()
                .contains("has 2 dimensions, this one 3")
        );
        assert!(
            Samples::read(&file, Asked { dim: 2, name: "density", si: false, most: 20 })
                .unwrap_err()
                .contains("more than 20")
        );
        assert!(read(&grid, "phi").unwrap_err().contains("`density`"));
        for (file, must_be_whole) in [(&file, true), (&grid, false)] {
            // All of the head, and of the numbers some.
            for at in (0..file.len()).filter(|at| *at < 1500 || at.is_multiple_of(11)) {
                let mut changed = file.clone();
                changed[at] ^= 0x55;
                let _ = read(&changed, "density");
                assert!(read(&file[..at], "density").is_err() || !must_be_whole, "{at}");
            }
        }
        // Whole files that no run has written: blocks twice, beneath others, beyond the domain, missing.
        let blocks = snapshot.blocks();
        let coarse = blocks.iter().position(|block| block.level == 0).expect("one");
        let finest = blocks.iter().position(|block| block.level == 2).expect("one");
        let child = Block { level: 1, place: blocks[coarse].place.map(|at| 2 * at) };
        let beyond = Block { level: 0, place: [99, 0, 0] };
        for (at, wrong) in
            [(coarse, blocks[finest]), (finest, child), (coarse, beyond), (coarse, Block { level: 99, place: [0; 3] })]
        {
            let mut others = blocks.to_vec();
            others[at] = wrong;
            let snapshot = Snapshot::new(0, snapshot.domain, snapshot.block(), others, snapshot.components.clone());
            assert!(read(&restart(&snapshot, None), "density").unwrap_err().contains("do not cover"), "{wrong:?}");
        }
    }
}
