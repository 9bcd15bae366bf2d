//! Pictures of voxels, one or a stack of them.

use std::io::Cursor;

use lbm_runtime::geometry::solid::Voxels;

use super::{ImageError, MOST_COMPRESSED, Solid, chosen, count};

/// Most pixels of a picture.
const MOST_PIXELS: usize = 1 << 28;
/// Most bytes of the pixels of a picture.
const MOST_BYTES: usize = 2 * MOST_PIXELS;

/// The voxels of pictures that lie on each other.
pub(super) fn pictures(files: &[Vec<u8>], solid: Solid) -> Result<Voxels, ImageError> {
    let size = {
        let first = files.first().ok_or("it has no picture")?;
        let reader =
            png::Decoder::new(Cursor::new(first)).read_info().map_err(|error| format!("it is no PNG: {error}"))?;
        [reader.info().width as usize, reader.info().height as usize, files.len()]
    };
    if count(&size)? / files.len() > MOST_PIXELS {
        return Err(format!("a picture has more than {MOST_PIXELS} pixels").into());
    }
    let mut pixels = files.iter().enumerate().flat_map(|(number, file)| -> Box<dyn Iterator<Item = _>> {
        match picture(file, [size[0], size[1]]) {
            Ok(values) => Box::new(values.into_iter().map(|value| Ok(f64::from(value)))),
            Err(error) => Box::new(std::iter::once(Err(ImageError::File(format!("picture {}: {error}", number + 1))))),
        }
    });
    let fill = |values: &mut [f64]| {
        values.iter_mut().zip(&mut pixels).try_for_each(|(value, pixel)| {
            *value = pixel?;
            Ok(())
        })
    };
    chosen(size, fill, solid)
}

/// The brightness of pixels, the lowest row first: up in a picture is along y. That of colours is their luminance (ITU-R BT.709), in the range of
/// their values; how opaque they are does not matter.
fn picture(file: &[u8], [width, height]: [usize; 2]) -> Result<Vec<u16>, String> {
    let mut decoder = png::Decoder::new(Cursor::new(file));
    // Bytes of 1, 2 and 4 bits, and colours of a palette.
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info().map_err(|error| error.to_string())?;
    let found = [reader.info().width as usize, reader.info().height as usize];
    if found != [width, height] {
        return Err(format!("it has {} x {} pixels, the first has {width} x {height}", found[0], found[1]));
    }
    // A pixel has one bit at least.
    if width * height / 8 / MOST_COMPRESSED > file.len() {
        return Err(format!("its file is too short for {width} x {height} pixels"));
    }
    let (kind, depth) = reader.output_color_type();
    let bytes = reader.output_buffer_size().filter(|bytes| *bytes <= MOST_BYTES);
    let mut pixels = vec![0; bytes.ok_or("its pixels take more memory than there may be")?];
    reader.next_frame(&mut pixels).map_err(|error| error.to_string())?;
    let (samples, wide) = (kind.samples(), depth == png::BitDepth::Sixteen);
    let value = |pixel: &[u8], sample: usize| match wide {
        true => u16::from_be_bytes([pixel[2 * sample], pixel[2 * sample + 1]]),
        false => u16::from(pixel[sample]),
    };
    let brightness = |pixel: &[u8]| match samples {
        1 | 2 => value(pixel, 0),
        _ => {
            let [red, green, blue] = [0, 1, 2].map(|sample| f64::from(value(pixel, sample)));
            (0.2126 * red + 0.7152 * green + 0.0722 * blue).round() as u16
        }
    };
    let of_pixel = if wide { 2 * samples } else { samples };
    let rows = pixels.chunks_exact(of_pixel * width).rev();
    Ok(rows.flat_map(|row| row.chunks_exact(of_pixel)).map(brightness).collect())
}
