//! XML files of VTK: how their arrays are encoded, and image data.

use std::borrow::Cow;
use std::io::Read;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use flate2::read::ZlibDecoder;
use lbm_bundle::plain::listed;
use roxmltree::{Document, Node, ParsingOptions};

use super::{Asked, Points, Samples, cells, early, numbers, points};

/// Most elements and texts of an XML file: those of an array may be long.
const MOST_NODES: u32 = 100_000;

/// How the arrays of a VTK file are encoded.
pub(super) struct Encoding<'a> {
    pub(super) big_endian: bool,
    /// Bytes of a number in headers of arrays.
    header: usize,
    pub(super) zlib: bool,
    /// What follows the underscore of the appended data, and whether it is text.
    appended: Option<(&'a [u8], bool)>,
}

/// An array of a VTK XML file of one piece.
pub(super) fn of_vtk(bytes: &[u8], asked: Asked<'_>) -> Result<Samples, String> {
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
        "ImageData" => of_image(data, piece, &encoding, asked),
        _ => cells::of_grid(piece, &encoding, asked),
    }
}

/// The array with a name in a group of a piece.
pub(super) fn array<'a>(piece: Node<'a, 'a>, group: &str, name: &str) -> Option<Node<'a, 'a>> {
    let mut arrays = child(piece, group)?.children().filter(|node| node.has_tag_name("DataArray"));
    arrays.find(|node| node.attribute("Name") == Some(name))
}

/// That a piece has no array of a name, and what others it has.
pub(super) fn no_array(piece: Node, name: &str) -> String {
    let all = piece.descendants().filter(|node| node.has_tag_name("DataArray"));
    let known = all.filter_map(|node| node.attribute("Name")).map(|name| format!("`{name}`"));
    format!("it has no array `{name}`, but {}", listed(known))
}

/// Components of an array.
pub(super) fn components_of(array: Node, name: &str) -> Result<usize, String> {
    let components = array.attribute("NumberOfComponents").map_or(Some(1), |text| text.parse().ok());
    components.filter(|count| (1..=3).contains(count)).ok_or_else(|| format!("`{name}` has not 1 to 3 components"))
}

/// An array of the cells or the points of an image.
fn of_image<'a>(
    image: Node<'a, 'a>,
    piece: Node<'a, 'a>,
    encoding: &Encoding,
    asked: Asked<'_>,
) -> Result<Samples, String> {
    let Asked { dim, name, most, .. } = asked;
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
    pub(super) fn values(&self, array: Node, count: usize) -> Result<Vec<f64>, String> {
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
    pub(super) fn bytes(&self, array: Node, length: usize) -> Result<Vec<u8>, String> {
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

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::*;

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
            let samples = Samples::read(file, Asked { dim: 2, name: "rho", si: false, most: 2 })
                .unwrap_or_else(|error| panic!("{error}"));
            let expected = Points::Regular { size: [2, 1, 1], corners: false, values: vec![1.5, -2.0] };
            assert!(samples.components == 1 && samples.points == expected);
        }
        // What is cut off or changed is refused, and nothing panics.
        for file in &files {
            for at in 0..file.len() {
                let _ = Samples::read(&file[..at], Asked { dim: 2, name: "rho", si: false, most: 2 });
                let mut changed = file.clone();
                changed[at] ^= 0x55;
                let _ = Samples::read(&changed, Asked { dim: 2, name: "rho", si: false, most: 2 });
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
            let error =
                Samples::read(file.as_bytes(), Asked { dim: 2, name: "rho", si: false, most: 2 }).expect_err(&file);
            assert!(error.contains("too early") || error.contains("not base64"), "{error}");
        }
    }
}
