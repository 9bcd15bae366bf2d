//! Fields of files: numpy arrays (`.npy`), image data (`.vti`) and unstructured grids (`.vtu`) of VTK, and restart files (`.lbmc`).

mod cells;

use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use lbm_bundle::plain::{listed, unseen};
use lbm_runtime::geometry::Cell;
use lbm_runtime::solver::snapshot::Snapshot;
use roxmltree::{Document, Node, ParsingOptions};

use super::saved;

/// Most elements and texts of an XML file: those of an array may be long.
const MOST_NODES: u32 = 100_000;

/// Values at places that fill the domain.
#[derive(Clone, PartialEq)]
pub struct Samples {
    /// Components of a value, as the file has them.
    components: usize,
    points: Points,
}

/// Where values are.
#[derive(Clone, PartialEq)]
enum Points {
    /// At the points of a regular grid.
    Regular {
        /// Points along each axis, 1 beyond the dimension.
        size: [usize; 3],
        /// Whether the outermost points lie on the faces of the domain; if not, half a distance of points inside.
        corners: bool,
        /// `values[((z * size[1] + y) * size[0] + x) * components + component]`
        values: Vec<f64>,
    },
    /// At the centres of the cells of several levels.
    Levels {
        /// The cells, and each component of the values.
        snapshot: Box<Snapshot>,
        /// The finest level.
        finest: usize,
    },
}

impl std::fmt::Debug for Samples {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "{}", self.shape(3))
    }
}

/// Samples in a domain.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The values.
    pub(super) samples: Arc<Samples>,
    /// Cells of the domain along each axis.
    pub(super) domain: [usize; 3],
    /// Whether each axis is periodic.
    pub(super) periodic: [bool; 3],
    /// What values are divided by.
    pub(super) scale: f64,
}

impl Placed {
    /// A component at a place in cells of level 0: linear between the points and on to the faces of the domain, or, along a periodic axis,
    /// linear between the last and the first. In a cell of several levels the points are those of its level: finer cells count with their
    /// mean, coarser ones with their slopes.
    pub fn at(&self, place: [f64; 3], component: usize) -> f64 {
        let value = match &self.samples.points {
            Points::Regular { size, corners, values } => self.between(place, *size, *corners, |[x, y, z]| {
                values[((z * size[1] + y) * size[0] + x) * self.samples.components + component]
            }),
            Points::Levels { snapshot, finest } => {
                let size = snapshot.size_of(*finest);
                let at = |axis: usize| (place[axis] * self.points_in_cell(size, axis)) as usize;
                let cell = Cell { level: *finest, at: std::array::from_fn(|axis| at(axis).min(size[axis] - 1)) };
                let level = snapshot.cover(cell).map_or(*finest, |(_, cell)| cell.level);
                let values = &snapshot.components[component].data;
                self.between(place, snapshot.size_of(level), false, |at| {
                    snapshot.read(Cell { level, at }, &|position| [values[position]])[0]
                })
            }
        };
        value / self.scale
    }

    /// Points of so many in the domain in a cell of level 0 along an axis.
    fn points_in_cell(&self, points: [usize; 3], axis: usize) -> f64 {
        points[axis] as f64 / self.domain[axis] as f64
    }

    /// The value at a place from those at the points of a regular grid.
    fn between(&self, place: [f64; 3], size: [usize; 3], corners: bool, value: impl Fn([usize; 3]) -> f64) -> f64 {
        let around: [[(usize, f64); 2]; 3] = std::array::from_fn(|axis| {
            let count = size[axis];
            if count == 1 {
                return [(0, 1.0), (0, 0.0)];
            }
            let along = |points: [usize; 3]| place[axis] * self.points_in_cell(points, axis);
            let at = if corners { along(size.map(|count| count.max(2) - 1)) } else { along(size) - 0.5 };
            let below = match self.periodic[axis] && !corners {
                true => at.floor(),
                false => at.floor().clamp(0.0, (count - 2) as f64),
            };
            let (point, part) = (|at: f64| at.rem_euclid(count as f64) as usize, at - below);
            [(point(below), 1.0 - part), (point(below + 1.0), part)]
        });
        let mut sum = 0.0;
        for (z, of_z) in around[2] {
            for (y, of_y) in around[1] {
                for (x, of_x) in around[0] {
                    let weight = of_x * of_y * of_z;
                    if weight != 0.0 {
                        sum += weight * value([x, y, z]);
                    }
                }
            }
        }
        sum
    }
}

impl Samples {
    /// Reads a file for a flow in so many dimensions, in SI units or not; `name` is that of an array of VTK data or of a field. At most
    /// `most` points are accepted. The error says what is wrong with the file.
    pub(super) fn read(bytes: &[u8], dim: usize, (name, si): (&str, bool), most: usize) -> Result<Samples, String> {
        let samples = if bytes.starts_with(b"\x93NUMPY") {
            of_numpy(bytes, dim, most)?
        } else if bytes.starts_with(&saved::MAGIC) {
            cells::of_restart(bytes, dim, (name, si), most)?
        } else if bytes.get(..1000).unwrap_or(bytes).windows(8).any(|window| window == b"<VTKFile") {
            of_vtk(bytes, dim, name, most)?
        } else if bytes.starts_with(b"\x89HDF\r\n\x1a\n") {
            return Err(
                "HDF5 is not read: write fields with `output.vtk = \"unstructured\"`, or take the restart file".into(),
            );
        } else {
            return Err(
                "it is neither a numpy array (.npy), a file of VTK (.vti, .vtu) nor a restart file (.lbmc)".into()
            );
        };
        let wrong = match &samples.points {
            Points::Regular { values, .. } => values.iter().position(|value| !value.is_finite()),
            Points::Levels { snapshot, .. } => {
                snapshot.components.iter().flat_map(|component| &component.data).position(|value| !value.is_finite())
            }
        };
        match wrong {
            Some(at) => Err(format!("its number {at} is not finite")),
            None => Ok(samples),
        }
    }

    /// Whether they have so many components; image data in two dimensions may have a third one, which is not read.
    pub(super) fn fits(&self, components: usize) -> bool {
        self.components == components || self.components == 3 && components == 2
    }

    /// Whether its points are as far apart along all axes of a domain in so many dimensions.
    pub(super) fn fills(&self, domain: [usize; 3], dim: usize) -> bool {
        let between = |axis: usize| match &self.points {
            Points::Regular { size, corners, .. } => size[axis] - usize::from(*corners && size[axis] > 1),
            Points::Levels { snapshot, .. } => snapshot.size()[axis],
        };
        (0..dim).all(|axis| between(axis) as u128 * domain[0] as u128 == between(0) as u128 * domain[axis] as u128)
    }

    /// What it has, in words: `64 x 32 points of 2 components`.
    pub(super) fn shape(&self, dim: usize) -> String {
        let sides = |size: [usize; 3]| size[..dim].iter().map(usize::to_string).collect::<Vec<_>>().join(" x ");
        let points = match &self.points {
            Points::Regular { size, .. } => format!("{} points", sides(*size)),
            Points::Levels { snapshot, .. } => format!("{} coarse cells with finer ones", sides(snapshot.size())),
        };
        format!("{points} of {} component(s)", self.components)
    }
}

/// The number of points, if there are not too many.
fn points(size: [usize; 3], most: usize) -> Result<usize, String> {
    let count = size.iter().try_fold(1usize, |product, side| product.checked_mul(*side));
    match count {
        Some(0) => Err("it has no points".into()),
        Some(count) if count <= most => Ok(count),
        _ => Err(format!("it has more than {most} points, which no grid of this case needs")),
    }
}

/// The numbers of bytes, each `width` of them.
fn numbers(bytes: &[u8], width: usize, big_endian: bool) -> Vec<f64> {
    let number = |chunk: &[u8]| {
        let byte = |at: usize| chunk[if big_endian { chunk.len() - 1 - at } else { at }];
        match chunk.len() {
            4 => f64::from(f32::from_le_bytes(std::array::from_fn(byte))),
            _ => f64::from_le_bytes(std::array::from_fn(byte)),
        }
    };
    bytes.chunks_exact(width).map(number).collect()
}

/// An array `[z][y][x]` or `[z][y][x][component]`, in two dimensions without `[z]`. The format is that of numpy's documentation,
/// `numpy.lib.format`: magic, version, length of the header, header, numbers.
fn of_numpy(bytes: &[u8], dim: usize, most: usize) -> Result<Samples, String> {
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

/// How the arrays of a VTK file are encoded.
struct Encoding<'a> {
    big_endian: bool,
    /// Bytes of a number in headers of arrays.
    header: usize,
    zlib: bool,
    /// What follows the underscore of the appended data, and whether it is text.
    appended: Option<(&'a [u8], bool)>,
}

/// An array of a VTK XML file of one piece.
fn of_vtk(bytes: &[u8], dim: usize, name: &str, most: usize) -> Result<Samples, String> {
    let (text, appended) = match bytes.windows(13).position(|window| window == b"<AppendedData") {
        None => (Cow::Borrowed(bytes), None),
        Some(at) => {
            let rest = &bytes[at..];
            let begins = rest.iter().position(|byte| *byte == b'_').ok_or("its appended data have no beginning")?;
            let is_text = rest[..begins].windows(6).any(|window| window == b"base64");
            (Cow::Owned([&bytes[..at], b"</VTKFile>"].concat()), Some((&rest[begins + 1..], is_text)))
        }
    };
    let text = std::str::from_utf8(&text).map_err(|_| "it is no XML".to_string())?;
    let options = ParsingOptions { nodes_limit: MOST_NODES, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text, options).map_err(|error| format!("it is no XML: {error}"))?;
    let root = document.root_element();
    let zlib = match root.attribute("compressor") {
        None => false,
        Some("vtkZLibDataCompressor") => true,
        Some(other) => return Err(format!("it is compressed by {other}: save it with zlib or uncompressed")),
    };
    let header = if root.attribute("header_type") == Some("UInt64") { 8 } else { 4 };
    let encoding = Encoding { big_endian: root.attribute("byte_order") == Some("BigEndian"), header, zlib, appended };
    let ty = root.attribute("type").unwrap_or("no type");
    let data = child(root, ty).filter(|_| ["ImageData", "UnstructuredGrid"].contains(&ty));
    let data = data.ok_or_else(|| format!("it holds {ty}, not ImageData (.vti) or an UnstructuredGrid (.vtu)"))?;
    let pieces: Vec<Node> = data.children().filter(|node| node.has_tag_name("Piece")).collect();
    let [piece] = pieces[..] else { return Err(format!("it has {} pieces, not one", pieces.len())) };
    match ty {
        "ImageData" => of_image(data, piece, &encoding, (dim, name), most),
        _ => cells::of_grid(piece, &encoding, (dim, name), most),
    }
}

/// The array with a name in a group of a piece.
fn array<'a>(piece: Node<'a, 'a>, group: &str, name: &str) -> Option<Node<'a, 'a>> {
    let mut arrays = child(piece, group)?.children().filter(|node| node.has_tag_name("DataArray"));
    arrays.find(|node| node.attribute("Name") == Some(name))
}

/// That a piece has no array of a name, and what others it has.
fn no_array(piece: Node, name: &str) -> String {
    let all = piece.descendants().filter(|node| node.has_tag_name("DataArray"));
    let known = all.filter_map(|node| node.attribute("Name")).map(|name| format!("`{name}`"));
    format!("it has no array `{name}`, but {}", listed(known))
}

/// Components of an array.
fn components_of(array: Node, name: &str) -> Result<usize, String> {
    let components = array.attribute("NumberOfComponents").map_or(Some(1), |text| text.parse().ok());
    components.filter(|count| (1..=3).contains(count)).ok_or_else(|| format!("`{name}` has not 1 to 3 components"))
}

/// An array of the cells or the points of an image.
fn of_image<'a>(
    image: Node<'a, 'a>,
    piece: Node<'a, 'a>,
    encoding: &Encoding,
    (dim, name): (usize, &str),
    most: usize,
) -> Result<Samples, String> {
    let extent = image.attribute("WholeExtent").ok_or("its image has no extent")?;
    if piece.attribute("Extent").is_some_and(|of_piece| of_piece != extent) {
        return Err("its piece is a part of the image".into());
    }
    let ends: Option<Vec<i64>> = extent.split_whitespace().map(|end| end.parse().ok()).collect();
    let ends = ends.filter(|ends| ends.len() == 6).ok_or("its extent is not six whole numbers")?;

    let (array, corners) = match (array(piece, "CellData", name), array(piece, "PointData", name)) {
        (Some(array), _) => (array, false),
        (None, Some(array)) => (array, true),
        (None, None) => return Err(no_array(piece, name)),
    };
    let mut size = [1; 3];
    for (axis, side) in size.iter_mut().enumerate() {
        let cells = ends[2 * axis + 1].checked_sub(ends[2 * axis]).and_then(|cells| usize::try_from(cells).ok());
        let cells = cells.ok_or("its extent ends before it begins")?;
        let points = cells.checked_add(1).ok_or("its extent is too large")?;
        *side = if corners || cells == 0 { points } else { cells };
    }
    if dim == 2 && size[2] != 1 {
        return Err("it has several layers along z, and the flow has two dimensions".into());
    }
    let count = points(size, most)?;
    let components = components_of(array, name)?;
    let values = encoding.values(array, count * components)?;
    Ok(Samples { components, points: Points::Regular { size, corners, values } })
}

fn child<'a>(node: Node<'a, 'a>, name: &str) -> Option<Node<'a, 'a>> {
    node.children().find(|node| node.has_tag_name(name))
}

impl Encoding<'_> {
    fn values(&self, array: Node, count: usize) -> Result<Vec<f64>, String> {
        let bytes = match array.attribute("type") {
            Some("Float32") => 4,
            Some("Float64") => 8,
            other => return Err(format!("its type is {}, not Float32 or Float64", other.unwrap_or("not said"))),
        };
        let content = array.text().unwrap_or_default();
        if array.attribute("format") == Some("ascii") {
            let values: Vec<f64> =
                content.split_whitespace().map_while(|text| text.parse().ok()).take(count + 1).collect();
            return if values.len() == count { Ok(values) } else { Err(format!("it has not {count} numbers")) };
        }
        Ok(numbers(&self.bytes(array, count * bytes)?, bytes, self.big_endian))
    }

    /// `length` bytes of an array that is not text.
    fn bytes(&self, array: Node, length: usize) -> Result<Vec<u8>, String> {
        match array.attribute("format") {
            Some("binary") => self.decoded(array.text().unwrap_or_default().trim().as_bytes(), true, length),
            Some("appended") => {
                let (data, is_text) = self.appended.ok_or("it has no appended data")?;
                let offset = array.attribute("offset").and_then(|offset| offset.parse().ok());
                let data =
                    offset.and_then(|offset: usize| data.get(offset..)).ok_or("an array has no place in its data")?;
                self.decoded(data, is_text, length)
            }
            _ => Err("it does not say how its arrays are written".into()),
        }
    }

    /// `length` bytes of an array that begins here.
    fn decoded(&self, data: &[u8], is_text: bool, length: usize) -> Result<Vec<u8>, String> {
        let data = Data { bytes: data, is_text };
        let number = |bytes: &[u8], at: usize| -> usize {
            let number = &bytes[at * self.header..(at + 1) * self.header];
            let folded = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
            let value =
                if self.big_endian { number.iter().fold(0, folded) } else { number.iter().rev().fold(0, folded) };
            usize::try_from(value).unwrap_or(usize::MAX)
        };
        if !self.zlib {
            let said = number(&data.piece(0, self.header)?, 0);
            if said != length {
                return Err(format!("an array has {said} bytes, not {length}"));
            }
            // Of text, header and numbers are encoded as one.
            return Ok(data.piece(0, self.header + length)?.split_off(self.header));
        }
        // Number of blocks, size of a block, of the last one, then the compressed size of each.
        let blocks = number(&data.piece(0, 3 * self.header)?, 0);
        let head = blocks.checked_add(3).and_then(|numbers| numbers.checked_mul(self.header)).ok_or_else(early)?;
        let head = data.piece(0, head)?;
        let sizes: Vec<usize> = (0..blocks).map(|block| number(&head, 3 + block)).collect();
        let total = sizes.iter().try_fold(0usize, |sum, size| sum.checked_add(*size)).ok_or_else(early)?;
        let begins = if is_text { head.len().div_ceil(3) * 4 } else { head.len() };
        let packed = data.piece(begins, total)?;
        let (mut out, mut rest) = (Vec::new(), &packed[..]);
        for size in sizes {
            let (block, others) = rest.split_at(size);
            let left = (length - out.len()) as u64 + 1;
            let unpacked = ZlibDecoder::new(block).take(left).read_to_end(&mut out);
            unpacked.map_err(|error| format!("its compressed data are broken: {error}"))?;
            if out.len() > length {
                break;
            }
            rest = others;
        }
        if out.len() == length { Ok(out) } else { Err(format!("an array has not {length} bytes")) }
    }
}

/// The encoded bytes from the beginning of an array on.
struct Data<'a> {
    bytes: &'a [u8],
    /// Whether they are base64.
    is_text: bool,
}

impl Data<'_> {
    /// As many bytes as asked for from a place on, or an error; no more memory is taken than there are bytes. Of text, the place is that of a
    /// piece that has been encoded by itself.
    fn piece(&self, from: usize, count: usize) -> Result<Vec<u8>, String> {
        let encoded = if self.is_text { count.div_ceil(3).checked_mul(4) } else { Some(count) };
        let end = encoded.and_then(|encoded| from.checked_add(encoded)).ok_or_else(early)?;
        let bytes = self.bytes.get(from..end).ok_or_else(early)?;
        if !self.is_text {
            return Ok(bytes.to_vec());
        }
        let decoded = BASE64_STANDARD.decode(bytes);
        let mut decoded = decoded.map_err(|error| format!("its data are not base64: {error}"))?;
        // Text may end before the bytes that its length is that of.
        if decoded.len() < count {
            return Err(early());
        }
        decoded.truncate(count);
        Ok(decoded)
    }
}

/// That a file has less than it says.
fn early() -> String {
    "it ends too early".to_string()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

    fn numpy(header: &str, values: &[f64]) -> Vec<u8> {
        let header = format!("{header}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((header.len() as u16).to_le_bytes());
        bytes.extend(header.as_bytes());
        bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
        bytes
    }

    fn placed(samples: Samples, domain: [usize; 3], periodic: [bool; 3]) -> Placed {
        Placed { samples: Arc::new(samples), domain, periodic, scale: 1.0 }
    }

    #[test]
    fn arrays_of_both_orders_have_the_same_values() {
        let c = "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3, 2), }";
        let fortran = "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3, 2), }";
        // [y][x][component] is 100 y + 10 x + component.
        let of_c: Vec<f64> = (0..12).map(|at| f64::from(at / 6 * 100 + at / 2 % 3 * 10 + at % 2)).collect();
        let of_fortran: Vec<f64> = (0..12).map(|at| f64::from(at % 2 * 100 + at / 2 % 3 * 10 + at / 6)).collect();
        let read = |bytes: &[u8]| Samples::read(bytes, 2, ("u", false), 100).expect("an array");
        let samples = read(&numpy(c, &of_c));
        assert_eq!(samples, read(&numpy(fortran, &of_fortran)));
        assert!(samples.fits(2) && !samples.fits(1) && samples.fills([6, 4, 1], 2) && !samples.fills([3, 3, 1], 2));
        let placed = placed(samples, [6, 4, 1], [false; 3]);
        assert_eq!([0, 1].map(|component| placed.at([5.0, 3.0, 0.5], component)), [120.0, 121.0]);
        assert_eq!(placed.at([4.0, 2.0, 0.5], 0), 65.0);
    }

    #[test]
    fn beyond_the_outermost_points_lines_go_on_and_where_the_axis_is_periodic_the_other_end_follows() {
        let array = numpy("{'descr': '<f8', 'fortran_order': False, 'shape': (1, 4)}", &[1.0, 2.0, 4.0, 8.0]);
        let read = || Samples::read(&array, 2, ("rho", false), 4).expect("an array");
        let at = |periodic: bool, x: f64| placed(read(), [4, 1, 1], [periodic, false, false]).at([x, 0.5, 0.5], 0);
        assert_eq!([0.5, 1.0, 3.5].map(|x| at(true, x)), [1.0, 1.5, 8.0]);
        assert_eq!([at(false, 0.25), at(false, 4.0), at(true, 0.25), at(true, 3.75)], [0.75, 10.0, 2.75, 6.25]);
    }

    /// Image data of 2 x 1 cells with an array of two numbers, encoded in every way.
    #[test]
    fn image_data_are_read_however_they_are_encoded() {
        let raw: Vec<u8> = [1.5f64, -2.0].iter().flat_map(|value| value.to_le_bytes()).collect();
        let header = |numbers: &[u32]| -> Vec<u8> { numbers.iter().flat_map(|number| number.to_le_bytes()).collect() };
        let zip = |bytes: &[u8]| {
            let mut encoder = ZlibEncoder::new(vec![], Compression::default());
            encoder.write_all(bytes).expect("memory");
            encoder.finish().expect("memory")
        };
        let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
        let plain = [header(&[16]), raw.clone()].concat();
        // Two blocks of 8 bytes.
        let (one, other) = (zip(&raw[..8]), zip(&raw[8..]));
        let head = header(&[2, 8, 0, one.len() as u32, other.len() as u32]);
        let packed = [one, other].concat();
        let file = |root: &str, array: &str, content: &str, appended: &[u8]| -> Vec<u8> {
            let xml = format!(
                "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" {root}><ImageData WholeExtent=\"0 2 0 1 0 0\"><Piece \
                 Extent=\"0 2 0 1 0 0\"><CellData><DataArray type=\"Float64\" Name=\"rho\" {array}>{content}</DataArray>\
                 </CellData></Piece></ImageData>"
            );
            [xml.as_bytes(), appended, b"</VTKFile>"].concat()
        };
        let behind = |encoding: &str, data: &[u8]| {
            [format!("<AppendedData encoding=\"{encoding}\">_").as_bytes(), data, b"</AppendedData>"].concat()
        };
        let (zlib, offset) = ("compressor=\"vtkZLibDataCompressor\"", "format=\"appended\" offset=\"0\"");
        let files = [
            file("", "format=\"ascii\"", " 1.5\n-2 ", b""),
            file("", "format=\"binary\"", &text(&plain), b""),
            file(zlib, "format=\"binary\"", &(text(&head) + &text(&packed)), b""),
            file("", offset, "", &behind("raw", &plain)),
            file(zlib, offset, "", &behind("raw", &[head.clone(), packed.clone()].concat())),
            file("", offset, "", &behind("base64", text(&plain).as_bytes())),
            file(zlib, offset, "", &behind("base64", (text(&head) + &text(&packed)).as_bytes())),
        ];
        for file in &files {
            let samples = Samples::read(file, 2, ("rho", false), 2).unwrap_or_else(|error| panic!("{error}"));
            let expected = Points::Regular { size: [2, 1, 1], corners: false, values: vec![1.5, -2.0] };
            assert!(samples.components == 1 && samples.points == expected);
        }
        // What is cut off or changed is refused, and nothing panics.
        for file in &files {
            for at in 0..file.len() {
                let _ = Samples::read(&file[..at], 2, ("rho", false), 2);
                let mut changed = file.clone();
                changed[at] ^= 0x55;
                let _ = Samples::read(&changed, 2, ("rho", false), 2);
            }
        }
    }

    #[test]
    fn base64_that_ends_before_its_length_is_refused() {
        let text = |bytes: &[u8]| BASE64_STANDARD.encode(bytes);
        let number = |number: u32| number.to_le_bytes();
        let file = |root: &str, content: &str| {
            format!(
                "<VTKFile type=\"ImageData\" {root}><ImageData WholeExtent=\"0 2 0 1 0 0\"><Piece><CellData><DataArray \
                 type=\"Float64\" Name=\"rho\" format=\"binary\">{content}</DataArray></CellData></Piece></ImageData></VTKFile>"
            )
        };
        // Of 20 bytes, 28 characters: padding is in the place of the last of them. Of a header of 4 bytes likewise.
        let whole = [&number(16)[..], &[0; 16]].concat();
        let padded = |bytes: &[u8], characters: usize| {
            let text = text(bytes);
            assert!(text.len() == characters && text.ends_with('='), "{text}");
            text
        };
        let zlib = "compressor=\"vtkZLibDataCompressor\"";
        for file in [
            file("", &padded(&whole[..19], 28)),
            file("header_type=\"UInt64\"", &padded(&[16, 0, 0, 0, 0, 0, 0], 12)),
            file("", &"=".repeat(28)),
            file(zlib, &padded(&[1, 0, 0, 0, 16, 0, 0, 0, 16, 0], 16)),
            file(zlib, &(text(&[number(1), number(16), number(0), number(3)].concat()) + &padded(&[7], 4))),
        ] {
            let error = Samples::read(file.as_bytes(), 2, ("rho", false), 2).expect_err(&file);
            assert!(error.contains("too early") || error.contains("not base64"), "{error}");
        }
    }

    #[test]
    fn what_is_no_field_is_told() {
        let header = |ty: &str, shape: &str| format!("{{'descr': '{ty}', 'fortran_order': False, 'shape': {shape}}}");
        for (bytes, part) in [
            (b"rho\n1.0".to_vec(), "neither"),
            (numpy(&header("<i8", "(1, 1)"), &[1.0]), "<i8"),
            (numpy(&header("<i8\r", "(1, 1)"), &[1.0]), "header is no text"),
            (numpy(&header("\u{1b}[2J", "(1, 1)"), &[1.0]), "header is no text"),
            ([&b"<VTKFile>"[..], &b"<a/>".repeat(200_000)[..], b"</VTKFile>"].concat(), "nodes limit"),
            (numpy(&header("<f8", "(1,)"), &[1.0]), "(ny, nx)"),
            (numpy(&header("<f8", "(4, 4)"), &[1.0]), "too early"),
            (numpy(&header("<f8", "(99999999999, 99999999999)"), &[1.0]), "more than"),
            (numpy(&header("<f8", "(0, 3)"), &[]), "no points"),
            (numpy(&header("<f8", "(1, 1, 4)"), &[1.0; 4]), "4 components"),
            (numpy(&header("<f8", "(1, 1)"), &[f64::NAN]), "not finite"),
            (b"<VTKFile type=\"PolyData\"></VTKFile>".to_vec(), "PolyData"),
        ] {
            let error = Samples::read(&bytes, 2, ("rho", false), 100).expect_err(part);
            assert!(error.contains(part), "{error}");
        }
    }
}
