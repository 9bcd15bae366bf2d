//! NRRD files of voxels, <https://teem.sourceforge.net/nrrd/format.html>.

use std::io::{BufWriter, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use lbm_runtime::geometry::solid::Voxels;

use super::{ImageError, count};

/// What the header of an NRRD file says.
pub(super) struct Header {
    pub(super) size: [usize; 3],
    /// Of a voxel: 1 or 2.
    pub(super) bytes: usize,
    pub(super) signed: bool,
    pub(super) big_endian: bool,
    pub(super) gzip: bool,
}

impl Header {
    /// The header of a file, and what follows it.
    pub(super) fn read(file: &[u8]) -> Result<(Header, &[u8]), ImageError> {
        let mut rest = file;
        let mut line = || -> Result<String, ImageError> {
            let end = rest.iter().position(|byte| *byte == b'\n').ok_or("its header has no end")?;
            let line = std::str::from_utf8(&rest[..end]).map_err(|_| "its header is no text")?.trim_end_matches('\r');
            rest = &rest[end + 1..];
            Ok(line.to_string())
        };
        if !file.starts_with(b"NRRD000") {
            return Err("it does not begin with `NRRD000`".into());
        }
        line()?;
        let (mut sizes, mut dimension, mut kind, mut endian, mut gzip) = (None, None, None, None, None);
        loop {
            let line = line()?;
            if line.is_empty() {
                break;
            }
            // Comments, and keys that are no fields.
            if line.starts_with('#') || line.contains(":=") {
                continue;
            }
            let shown = || line.chars().take(40).collect::<String>().escape_debug().to_string();
            let (field, value) = line.split_once(": ").ok_or_else(|| format!("`{}` is no field", shown()))?;
            let refused = || ImageError::File(format!("`{}` is not supported", shown()));
            let value = value.trim();
            match field {
                "dimension" => dimension = Some(value.parse::<usize>().map_err(|_| refused())?),
                "sizes" => {
                    let all = value.split_whitespace().map(|size| size.parse::<usize>().ok());
                    sizes = Some(all.take(4).collect::<Option<Vec<_>>>().ok_or_else(refused)?);
                }
                "type" => {
                    kind = Some(match value {
                        "uchar" | "unsigned char" | "uint8" | "uint8_t" => (1, false),
                        "signed char" | "int8" | "int8_t" => (1, true),
                        "ushort" | "unsigned short" | "unsigned short int" | "uint16" | "uint16_t" => (2, false),
                        "short" | "short int" | "signed short" | "signed short int" | "int16" | "int16_t" => (2, true),
                        _ => return Err(refused()),
                    });
                }
                "encoding" => {
                    gzip = Some(match value {
                        "raw" => false,
                        "gzip" | "gz" => true,
                        _ => return Err(refused()),
                    });
                }
                "endian" => {
                    endian = Some(match value {
                        "little" => false,
                        "big" => true,
                        _ => return Err(refused()),
                    });
                }
                "data file" | "datafile" => return Err("its voxels are in another file: put them into one".into()),
                "line skip" | "lineskip" | "byte skip" | "byteskip" if value != "0" => return Err(refused()),
                // Where it lies and what it shows: `from` and `scale` of the case say that.
                _ => {}
            }
        }
        let sizes = sizes.ok_or("its header has no `sizes`")?;
        if dimension != Some(sizes.len()) || !(2..=3).contains(&sizes.len()) {
            return Err("it has to have two or three axes, and as many `sizes`".into());
        }
        count(&sizes)?;
        let (bytes, signed) = kind.ok_or("its header has no `type`")?;
        let gzip = gzip.ok_or("its header has no `encoding`")?;
        if bytes == 2 && endian.is_none() {
            return Err("its header has no `endian`, which values of 16 bits need".into());
        }
        let size = [0, 1, 2].map(|axis| sizes.get(axis).copied().unwrap_or(1));
        Ok((Header { size, bytes, signed, big_endian: endian == Some(true), gzip }, rest))
    }

    /// Reads the values of the next voxels.
    pub(super) fn fill(&self, data: &mut impl Read, values: &mut [f64]) -> Result<(), ImageError> {
        let mut bytes = vec![0; values.len() * self.bytes];
        data.read_exact(&mut bytes).map_err(|error| format!("its voxels cannot be read: {error}"))?;
        let word = |pair: &[u8]| match self.big_endian {
            true => u16::from_be_bytes([pair[0], pair[1]]),
            false => u16::from_le_bytes([pair[0], pair[1]]),
        };
        let each = values.iter_mut().zip(bytes.chunks_exact(self.bytes));
        match (self.bytes, self.signed) {
            (1, false) => each.for_each(|(value, byte)| *value = f64::from(byte[0])),
            (1, true) => each.for_each(|(value, byte)| *value = f64::from(byte[0] as i8)),
            (_, false) => each.for_each(|(value, pair)| *value = f64::from(word(pair))),
            (_, true) => each.for_each(|(value, pair)| *value = f64::from(word(pair) as i16)),
        }
        Ok(())
    }
}

/// An NRRD file of an image, in which solid voxels are 1 and others 0.
pub fn nrrd(voxels: &Voxels) -> Vec<u8> {
    let [x, y, z] = voxels.size();
    let mut file = format!("NRRD0004\ntype: uint8\ndimension: 3\nsizes: {x} {y} {z}\nencoding: gzip\n\n").into_bytes();
    let mut packed = BufWriter::new(GzEncoder::new(&mut file, Compression::best()));
    voxels.solid().try_for_each(|solid| packed.write_all(&[u8::from(solid)])).expect("memory takes all");
    drop(packed);
    file
}
