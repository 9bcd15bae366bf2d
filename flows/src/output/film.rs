//! Films: a sequence of pictures as an animated GIF, which browsers and slide programs play.
//!
//! A film is made from the pictures in the folder at the end of a run, so it also has the pictures written before the
//! run was resumed. Each picture is reduced to the 256 colours that represent it best (NeuQuant: Dekker, Network 5
//! (1994) 351).

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use gif::{Encoder, Frame, Repeat};
use rayon::prelude::*;

/// Colours are chosen from one in this many pixels.
const SPARSE: i32 = 10;
/// Largest decoded picture in bytes, which bounds the memory for foreign files.
const MOST_BYTES: usize = 1 << 28;
/// Number of pictures processed together.
const AT_ONCE: usize = 16;
/// GIF delays are in hundredths of a second.
const HUNDREDTHS: f64 = 100.0;

/// A picture whose pixels have not been decoded yet.
struct Picture {
    reader: png::Reader<io::BufReader<fs::File>>,
    size: (u16, u16),
}

/// Opens a picture, if its format is that of pictures drawn by runs.
fn open(path: &Path) -> Option<Picture> {
    let file = io::BufReader::new(fs::File::open(path).ok()?);
    let reader = png::Decoder::new_with_limits(file, png::Limits { bytes: MOST_BYTES }).read_info().ok()?;
    let info = reader.info();
    let size = (u16::try_from(info.width).ok()?, u16::try_from(info.height).ok()?);
    let is_drawn = (info.color_type, info.bit_depth) == (png::ColorType::Rgb, png::BitDepth::Eight);
    is_drawn.then_some(Picture { reader, size })
}

impl Picture {
    /// Decoded pixels: three bytes per pixel, rows from the top.
    fn rgb(mut self) -> Option<Vec<u8>> {
        let mut rgb = vec![0; self.reader.output_buffer_size().filter(|bytes| *bytes <= MOST_BYTES)?];
        self.reader.next_frame(&mut rgb).ok()?;
        Some(rgb)
    }
}

/// Display time of a picture in hundredths of a second, rounded such that the total time is right.
fn delay(number: usize, per_second: u32) -> u16 {
    let until = |number: usize| (number as f64 * HUNDREDTHS / f64::from(per_second)).round();
    (until(number + 1) - until(number)) as u16
}

/// Writes a film of pictures in order, at `per_second` frames per second, which repeats forever. Its size is that of
/// the last picture that a run has drawn. Pictures of other sizes or formats are omitted; returns their number.
pub(super) fn write(out: &mut dyn Write, pictures: &[impl AsRef<Path> + Sync], per_second: u32) -> io::Result<usize> {
    let Some(of_all) = pictures.iter().rev().find_map(|path| Some(open(path.as_ref())?.size)) else {
        return Ok(pictures.len());
    };
    let wrong = |error: gif::EncodingError| match error {
        gif::EncodingError::Io(error) => error,
        other => io::Error::other(other),
    };
    let mut encoder = Encoder::new(out, of_all.0, of_all.1, &[]).map_err(wrong)?;
    encoder.set_repeat(Repeat::Infinite).map_err(wrong)?;
    let (mut shown, mut left_out) = (0, 0);
    for some in pictures.chunks(AT_ONCE) {
        let frame = |path: &_| {
            let picture = open(AsRef::<Path>::as_ref(path)).filter(|picture| picture.size == of_all)?.rgb()?;
            let mut frame = Frame::from_rgb_speed(of_all.0, of_all.1, &picture, SPARSE);
            frame.make_lzw_pre_encoded();
            Some(frame)
        };
        let frames: Vec<Option<Frame<'_>>> = some.par_iter().map(frame).collect();
        for frame in frames {
            let Some(mut frame) = frame else {
                left_out += 1;
                continue;
            };
            frame.delay = delay(shown, per_second);
            encoder.write_lzw_pre_encoded_frame(&frame).map_err(wrong)?;
            shown += 1;
        }
    }
    Ok(left_out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::canvas::Canvas;
    use crate::output::colours::Map;

    const WIDTH: usize = 60;

    /// A moving bar of all colours on a white background.
    fn picture(shift: usize, width: usize) -> Vec<u8> {
        let mut canvas = Canvas::new(width, 40, [1.0; 3]);
        let map = Map::sequential();
        canvas.paint((shift as f64, 5.0), (width as f64, 25.0), |x, _| map.at((x - shift as f64) / width as f64));
        canvas.png()
    }

    fn frames(film: &[u8]) -> Vec<(u16, Vec<u8>)> {
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(film).expect("a GIF");
        let mut frames = vec![];
        while let Some(frame) = decoder.read_next_frame().expect("a frame") {
            frames.push((frame.delay, frame.buffer.to_vec()));
        }
        frames
    }

    #[test]
    fn a_film_has_the_pictures_in_their_order_and_nearly_their_colours() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..20).map(|at| folder.path().join(format!("{at}.png"))).collect();
        paths.iter().enumerate().for_each(|(at, path)| fs::write(path, picture(at, WIDTH)).unwrap());
        let mut film = vec![];
        assert_eq!(write(&mut film, &paths, 30).unwrap(), 0);
        let found = frames(&film);
        assert_eq!(found.len(), 20);
        // 20 frames at 30 per second take two thirds of a second.
        assert_eq!(found.iter().map(|(delay, _)| u32::from(*delay)).sum::<u32>(), 67);
        for (path, (_, rgba)) in paths.iter().zip(&found) {
            let whole = open(path).unwrap().rgb().unwrap();
            let differs = rgba
                .chunks(4)
                .zip(whole.chunks(3))
                .map(|(a, b)| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or_default());
            assert!(differs.max() < Some(12), "{}", path.display());
        }
    }

    #[test]
    fn what_is_no_picture_or_of_another_size_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<_> = (0..4).map(|at| folder.path().join(format!("{at}.png"))).collect();
        fs::write(&paths[0], picture(0, WIDTH + 1)).unwrap();
        fs::write(&paths[1], "no picture").unwrap();
        [2, 3].iter().for_each(|at| fs::write(&paths[*at], picture(*at, WIDTH)).unwrap());
        let mut film = vec![];
        assert_eq!(write(&mut film, &paths, 10).unwrap(), 2);
        assert_eq!(frames(&film).len(), 2);
    }
}
