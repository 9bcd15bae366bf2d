//! Voxel images: NRRD files, plain bytes, pictures and stacks of them.
//!
//! In: the bytes of files, and which values are solid. After: as many voxels as the file says, and no more memory than its length
//! allows for: sizes are compared with it before anything is allocated.

mod nrrd;
mod picture;

use std::io::{BufReader, Read};

use flate2::read::MultiGzDecoder;
use lbm_runtime::geometry::solid::Voxels;

use nrrd::Header;
pub use nrrd::nrrd;
use picture::pictures;

/// Most voxels of an image.
const MOST_VOXELS: usize = 1 << 31;
/// Deflate makes data smaller by this factor at most.
const MOST_COMPRESSED: usize = 1032;

/// Which values of an image are solid.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Solid {
    /// The larger of two values, or the lesser: there are no others.
    OfTwo { larger: bool },
    /// Those above a threshold.
    Above(f64),
    /// Those below one.
    Below(f64),
}

/// Why an image cannot be had.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ImageError {
    /// What is wrong with a file.
    File(String),
    /// Why its values do not say which voxels are solid.
    Values(String),
}

impl From<String> for ImageError {
    fn from(what: String) -> Self {
        ImageError::File(what)
    }
}

impl From<&str> for ImageError {
    fn from(what: &str) -> Self {
        ImageError::File(what.into())
    }
}

/// A kind of file, by the end of its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Nearly raw raster data, <https://teem.sourceforge.net/nrrd/format.html>.
    Nrrd,
    /// A byte for each voxel, and nothing else.
    Raw,
    /// A grey picture, or several, upwards along z.
    Png,
}

impl Kind {
    /// That of a file of a name, if it is one.
    pub(super) fn of(file: &str) -> Option<Kind> {
        let ending = file.rsplit_once('.')?.1.to_ascii_lowercase();
        match &ending[..] {
            "nrrd" => Some(Kind::Nrrd),
            "raw" => Some(Kind::Raw),
            "png" => Some(Kind::Png),
            _ => None,
        }
    }
}

/// The voxels of an image. `sizes` are those of plain bytes.
pub(super) fn read(kind: Kind, files: &[Vec<u8>], sizes: [usize; 3], solid: Solid) -> Result<Voxels, ImageError> {
    match (kind, files) {
        (Kind::Png, _) => pictures(files, solid),
        (Kind::Nrrd, [bytes]) => {
            let (header, mut data) = Header::read(bytes)?;
            let length = header.size.iter().product::<usize>() * header.bytes;
            let wrong = |has: &str| format!("{} bytes of voxels are expected, and there are {has}", length);
            if header.gzip {
                // A stream of that many bytes has at least so many.
                if length / MOST_COMPRESSED > data.len() {
                    return Err(wrong("too few to unpack them from").into());
                }
                let mut data = BufReader::new(MultiGzDecoder::new(data));
                let voxels = chosen(header.size, |values| header.fill(&mut data, values), solid)?;
                match data.read(&mut [0]) {
                    Ok(0) => Ok(voxels),
                    Ok(_) => Err(wrong("more").into()),
                    Err(error) => Err(format!("its voxels cannot be read: {error}").into()),
                }
            } else if data.len() != length {
                Err(wrong(&data.len().to_string()).into())
            } else {
                chosen(header.size, |values| header.fill(&mut data, values), solid)
            }
        }
        (Kind::Raw, [bytes]) => {
            let voxels = count(&sizes)?;
            if bytes.len() != voxels {
                let [x, y, z] = sizes;
                return Err(format!("{x} x {y} x {z} voxels are {voxels} bytes, and it has {}", bytes.len()).into());
            }
            let mut bytes = bytes.iter();
            let fill = |values: &mut [f64]| {
                values.iter_mut().zip(&mut bytes).for_each(|(value, byte)| *value = f64::from(*byte));
                Ok(())
            };
            chosen(sizes, fill, solid)
        }
        _ => Err("it is one file".into()),
    }
}

/// How many voxels an image of that size has.
fn count(size: &[usize]) -> Result<usize, ImageError> {
    let count = size.iter().try_fold(1usize, |count, side| count.checked_mul(*side));
    match count {
        Some(0) => Err("an image has at least one voxel along each axis".into()),
        Some(count) if count <= MOST_VOXELS => Ok(count),
        _ => Err(format!("it has more than {MOST_VOXELS} voxels").into()),
    }
}

/// The values of an image that has two.
#[derive(Default)]
struct Two {
    first: Option<f64>,
    second: Option<f64>,
}

impl Two {
    /// The second, if it has occurred, once these are known.
    fn second(&mut self, values: &[f64]) -> Result<Option<f64>, ImageError> {
        let first = *self.first.get_or_insert(values[0]);
        self.second = self.second.or_else(|| values.iter().copied().find(|value| *value != first));
        let Some(second) = self.second else { return Ok(None) };
        match values.iter().find(|value| **value != first && **value != second) {
            Some(third) => Err(ImageError::Values(format!("it has more than two values: {first}, {second}, {third}"))),
            None => Ok(Some(second)),
        }
    }
}

/// The voxels of an image whose values `fill` gives, piece after piece, x fastest.
fn chosen(
    size: [usize; 3],
    mut fill: impl FnMut(&mut [f64]) -> Result<(), ImageError>,
    solid: Solid,
) -> Result<Voxels, ImageError> {
    let (mut values, mut two) = (Vec::new(), Two::default());
    let mut voxels = Voxels::new(size, |piece| {
        values.resize(piece.len(), 0.0);
        fill(&mut values)?;
        let each = piece.iter_mut().zip(&values);
        match solid {
            Solid::Above(threshold) => each.for_each(|(solid, value)| *solid = *value > threshold),
            Solid::Below(threshold) => each.for_each(|(solid, value)| *solid = *value < threshold),
            Solid::OfTwo { .. } => {
                let second = two.second(&values)?;
                each.for_each(|(solid, value)| *solid = second == Some(*value));
            }
        }
        Ok::<_, ImageError>(())
    })?;
    if let Solid::OfTwo { larger } = solid {
        let first = two.first.unwrap_or_default();
        let second = two.second.ok_or_else(|| ImageError::Values(format!("all voxels have the value {first}")))?;
        if (second > first) != larger {
            voxels = voxels.opposite();
        }
    }
    if voxels.count() == 0 {
        return Err(ImageError::Values("no voxel is solid".into()));
    }
    Ok(voxels)
}

#[cfg(test)]
mod tests {
    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    const LARGER: Solid = Solid::OfTwo { larger: true };

    fn file(fields: &str, data: &[u8]) -> Vec<u8> {
        [format!("NRRD0004\n{fields}\n\n").as_bytes(), data].concat()
    }

    fn of(file: Vec<u8>, solid: Solid) -> Result<Vec<bool>, ImageError> {
        read(Kind::Nrrd, &[file], [1; 3], solid).map(|voxels| voxels.solid().collect())
    }

    fn png(width: u32, height: u32, depth: png::BitDepth, pixels: &[u8]) -> Vec<u8> {
        coloured([width, height], (png::ColorType::Grayscale, depth), &[], pixels)
    }

    fn coloured(size: [u32; 2], of: (png::ColorType, png::BitDepth), palette: &[u8], pixels: &[u8]) -> Vec<u8> {
        let mut file = Vec::new();
        let mut encoder = png::Encoder::new(&mut file, size[0], size[1]);
        encoder.set_color(of.0);
        encoder.set_depth(of.1);
        if !palette.is_empty() {
            encoder.set_palette(palette.to_vec());
        }
        encoder.write_header().unwrap().write_image_data(pixels).unwrap();
        file
    }

    #[test]
    fn colours_are_as_bright_as_their_luminance() {
        let of = |file: Vec<u8>, above: f64| {
            read(Kind::Png, &[file], [1; 3], Solid::Above(above)).map(|voxels| voxels.solid().collect::<Vec<_>>())
        };
        let (rgb, eight) = (png::ColorType::Rgb, png::BitDepth::Eight);
        // Red, green, blue and white: 54, 182, 18, 255.
        let colours = [255, 0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255];
        let four = || coloured([4, 1], (rgb, eight), &[], &colours);
        assert_eq!(of(four(), 53.5), Ok(vec![true, true, false, true]));
        assert_eq!(of(four(), 54.5), Ok(vec![false, true, false, true]));
        let indexed = coloured([4, 1], (png::ColorType::Indexed, png::BitDepth::Two), &colours, &[0b00_01_10_11]);
        assert_eq!(of(indexed, 54.5), Ok(vec![false, true, false, true]));
        let wide: Vec<u8> = colours.iter().flat_map(|byte| [*byte; 2]).collect();
        let wide = coloured([4, 1], (rgb, png::BitDepth::Sixteen), &[], &wide);
        assert_eq!(of(wide, 20_000.0), Ok(vec![false, true, false, true]));
        let seen_through: Vec<u8> = colours.chunks(3).flat_map(|colour| [colour, &[7]].concat()).collect();
        let seen_through = coloured([4, 1], (png::ColorType::Rgba, eight), &[], &seen_through);
        assert_eq!(of(seen_through, 54.5), Ok(vec![false, true, false, true]));
        let grey = coloured([2, 1], (png::ColorType::GrayscaleAlpha, eight), &[], &[9, 255, 8, 0]);
        assert_eq!(of(grey, 8.0), Ok(vec![true, false]));
    }

    #[test]
    fn values_of_every_kind_are_read() {
        let of_type = |name: &str, rest: &str, data: &[u8]| {
            let fields =
                format!("# made by hand\ntype: {name}\ndimension: 2\nsizes: 2 2\nspace units: \"mm\"\na:=b{rest}");
            of(file(&format!("{fields}\nencoding: raw"), data), Solid::Above(-2.0)).unwrap()
        };
        assert_eq!(of_type("int8", "", &[0xff, 0xfe, 3, 0x80]), [true, false, true, false]);
        assert_eq!(of_type("uchar", "", &[0xff, 0xfe, 3, 0]), [true; 4]);
        let words = [0xff, 0xff, 0xfe, 0xff, 0x00, 0x80, 0x01, 0x00];
        assert_eq!(of_type("short", "\nendian: little", &words), [true, false, false, true]);
        assert_eq!(of_type("short", "\nendian: big", &words), [true, false, true, true]);
        assert_eq!(of_type("uint16", "\nendian: big", &words), [true; 4]);
    }

    #[test]
    fn an_image_that_is_written_is_the_one_that_was_read() {
        let data: Vec<u8> = (0..5 * 7 * 3).map(|at| if at % 4 < 2 { 9 } else { 200 }).collect();
        let voxels = read(Kind::Raw, std::slice::from_ref(&data), [5, 7, 3], LARGER).unwrap();
        assert!(voxels.solid().zip(&data).all(|(solid, value)| solid == (*value == 200)));
        assert_eq!(read(Kind::Nrrd, &[nrrd(&voxels)], [1; 3], LARGER).unwrap(), voxels);
        let lesser = read(Kind::Raw, &[data], [5, 7, 3], Solid::OfTwo { larger: false }).unwrap();
        assert_eq!(lesser, voxels.opposite());
    }

    #[test]
    fn the_lowest_row_of_a_picture_is_the_first() {
        let two = [png(2, 2, png::BitDepth::Eight, &[0, 0, 0, 50]), png(2, 2, png::BitDepth::Eight, &[50, 0, 0, 0])];
        let voxels = read(Kind::Png, &two, [1; 3], LARGER).unwrap();
        assert_eq!(voxels.size(), [2, 2, 2]);
        assert_eq!(voxels.solid().collect::<Vec<_>>(), [false, true, false, false, false, false, true, false]);
        let wide = png(2, 1, png::BitDepth::Sixteen, &[1, 0, 0, 255]);
        let wide = read(Kind::Png, &[wide], [1; 3], Solid::Above(255.0)).unwrap();
        assert_eq!(wide.solid().collect::<Vec<_>>(), [true, false]);
        let bits = read(Kind::Png, &[png(3, 1, png::BitDepth::One, &[0b0100_0000])], [1; 3], LARGER).unwrap();
        assert_eq!(bits.solid().collect::<Vec<_>>(), [false, true, false]);
    }

    #[test]
    fn sizes_are_compared_with_the_file_before_they_are_believed() {
        let expected = |error: Result<Vec<bool>, ImageError>, part: &str| match error {
            Err(ImageError::File(text)) => assert!(text.contains(part), "{text}"),
            other => panic!("{part}: {other:?}"),
        };
        let with = |sizes: &str, encoding: &str, data: &[u8]| {
            let fields = format!("type: uint8\ndimension: 3\nsizes: {sizes}\nencoding: {encoding}");
            of(file(&fields, data), Solid::Above(0.0))
        };
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        std::io::Write::write_all(&mut packed, &[1; 8]).unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(with("2 2 2", "gzip", &packed), Ok(vec![true; 8]));
        expected(with("2 2 1", "gzip", &packed), "more");
        expected(with("2 2 3", "gzip", &packed), "cannot be read");
        expected(with("2 2 2", "gzip", &packed[..packed.len() - 9]), "cannot be read");
        expected(with("1024 1024 1024", "gzip", &packed), "too few");
        expected(with("2 2 2", "raw", &[1; 7]), "8 bytes of voxels are expected, and there are 7");
        for sizes in ["18446744073709551615 2 2", "65536 65536 65536", "2048 2048 1024"] {
            expected(with(sizes, "raw", &[1; 7]), "more than");
        }
        expected(with("0 2 2", "raw", &[]), "at least one");
        expected(with("2 2", "raw", &[1; 4]), "as many `sizes`");
        expected(with("2 2 2", "bzip2", &[1; 8]), "not supported");
        expected(of(b"NRRD0004\ntype: uint8".to_vec(), LARGER), "no end");
        expected(of(b"NRRD0004\ntype: float\n\n".to_vec(), LARGER), "`type: float` is not supported");
        expected(of(b"NRRD0004\ndata file: other.raw\n\n".to_vec(), LARGER), "another file");
        expected(of(b"BMP".to_vec(), LARGER), "does not begin");
        let mut wide = png(2, 2, png::BitDepth::Eight, &[0, 0, 0, 50]);
        // Its head says 16384 x 16384; the checksum of that is right.
        let head: Vec<u8> = [b"IHDR".as_slice(), &[0, 0, 64, 0, 0, 0, 64, 0, 8, 0, 0, 0, 0]].concat();
        let mut sum = flate2::Crc::new();
        sum.update(&head);
        wide[12..29].copy_from_slice(&head);
        wide[29..33].copy_from_slice(&sum.sum().to_be_bytes());
        let found = read(Kind::Png, &[wide], [1; 3], LARGER).map(|voxels| voxels.solid().collect());
        expected(found, "too short for 16384 x 16384");
    }

    #[test]
    fn values_that_do_not_say_what_is_solid_are_refused() {
        let bytes = |data: &[u8], solid| match read(Kind::Raw, &[data.to_vec()], [data.len(), 1, 1], solid) {
            Err(ImageError::Values(text)) => text,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(&[1, 2, 3], LARGER), "it has more than two values: 1, 2, 3");
        assert_eq!(bytes(&[7, 7], LARGER), "all voxels have the value 7");
        assert_eq!(bytes(&[1, 2, 3], Solid::Above(3.0)), "no voxel is solid");
        assert_eq!(bytes(&[1, 2, 3], Solid::Below(1.0)), "no voxel is solid");
    }
}
