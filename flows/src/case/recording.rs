//! Recordings of a plane, which one run writes and others take as the velocity of a face: the form of the file.
//!
//! All numbers are little endian. A head of [`HEAD`] bytes comes first:
//!
//! | byte | type | content |
//! | --- | --- | --- |
//! | 0 | 8 letters | `LBMPLANE` |
//! | 8 | u32 | version of the form: 1 |
//! | 12 | u32 | components of the velocity: 2 or 3 |
//! | 16 | u32 | axis normal to the plane: 0 is x |
//! | 20 | u32 | 0: lengths in cells and times in steps of level 0; 1: in m and s |
//! | 24, 28 | u32 | points along the other axes, in their order; in two dimensions the second number is 1 |
//! | 32 | f64 | distance of points, the same along both axes; the first is half of it away from the lower end of the domain |
//! | 40 | f64 | position of the plane along its normal |
//! | 48 | f64 | time of the first frame |
//! | 56 | f64 | time between frames |
//!
//! Frames follow until the file ends, each with the components of the velocity at all points: f32, index `[second axis][first axis][component]`. An
//! incomplete frame at the end is that of a run that was killed.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::sync::{Mutex, PoisonError};

use lbm_bundle::formula::Frames;

/// Bytes of the head.
pub(crate) const HEAD: usize = 64;

/// How a file begins.
const MAGIC: &[u8; 8] = b"LBMPLANE";
const VERSION: u32 = 1;

/// Most points of a plane.
pub(super) const MOST_POINTS: usize = 1 << 22;

/// Most recordings of a case.
pub(super) const MOST_RECORDINGS: usize = 16;

/// What the head of a file says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Head {
    /// Components of the velocity.
    pub components: usize,
    /// The axis normal to the plane.
    pub normal: usize,
    /// Whether lengths and times are in m and s, not in cells and steps.
    pub si: bool,
    /// Points along the other axes.
    pub points: [usize; 2],
    /// Distance of points.
    pub spacing: f64,
    /// Position of the plane.
    pub at: f64,
    /// Time of the first frame.
    pub first: f64,
    /// Time between frames.
    pub interval: f64,
}

impl Head {
    /// Its bytes.
    pub fn bytes(&self) -> Vec<u8> {
        let [first, second] = self.points;
        let whole = [VERSION as usize, self.components, self.normal, usize::from(self.si), first, second];
        let numbers = [self.spacing, self.at, self.first, self.interval];
        let whole = whole.into_iter().flat_map(|number| (number as u32).to_le_bytes());
        MAGIC.iter().copied().chain(whole).chain(numbers.into_iter().flat_map(f64::to_le_bytes)).collect()
    }

    /// Bytes of a frame.
    pub fn frame_bytes(&self) -> usize {
        size_of::<f32>() * self.components * self.points[0] * self.points[1]
    }

    fn read(bytes: &[u8; HEAD]) -> Result<Head, String> {
        if bytes[..8] != MAGIC[..] {
            return Err("it does not begin as one".into());
        }
        let whole = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte])) as usize;
        let number = |at: usize| f64::from_le_bytes(std::array::from_fn(|byte| bytes[at + byte]));
        if whole(8) != VERSION as usize {
            return Err(format!("its form has the version {}, and this program reads version {VERSION}", whole(8)));
        }
        let (components, normal, units, points) = (whole(12), whole(16), whole(20), [whole(24), whole(28)]);
        let head = Head {
            components,
            normal,
            si: units == 1,
            points,
            spacing: number(32),
            at: number(40),
            first: number(48),
            interval: number(56),
        };
        let sized = points.iter().all(|count| (1..=MOST_POINTS).contains(count))
            && points[0] * points[1] <= MOST_POINTS
            && (components == 3 || points[1] == 1);
        let positive = |value: f64| value.is_finite() && value > 0.0;
        if !(2..=3).contains(&components) || normal >= components || units > 1 || !sized {
            return Err(format!("its head is damaged, or it has more than {MOST_POINTS} points"));
        }
        if !positive(head.spacing) || !positive(head.interval) || !head.at.is_finite() || !head.first.is_finite() {
            return Err("its head has a distance or a time that is none".into());
        }
        Ok(head)
    }
}

/// A file that has been opened: frames are read when they are needed.
#[derive(Debug)]
pub struct RecordingFile {
    /// What its head says.
    pub head: Head,
    /// Number of complete frames.
    pub frames: u64,
    /// A hash of the head, the length and the first and last frame, by which flows are told apart: the whole may be larger than memory.
    pub(super) hash: blake3::Hash,
    file: Mutex<File>,
}

impl RecordingFile {
    /// Reads the head of a file of so many bytes; the error says what is wrong with it.
    pub fn open(mut file: File, length: u64) -> Result<RecordingFile, String> {
        let mut bytes = [0; HEAD];
        if length < HEAD as u64 {
            return Err("it does not begin as one".into());
        }
        let failed = |error: io::Error| format!("it cannot be read: {error}");
        file.read_exact(&mut bytes).map_err(failed)?;
        let head = Head::read(&bytes)?;
        let frames = (length - HEAD as u64) / head.frame_bytes() as u64;
        if frames < 2 {
            return Err(format!("it has {frames} complete frames, and two are the fewest"));
        }
        let mut opened = RecordingFile { head, frames, hash: blake3::hash(&bytes), file: Mutex::new(file) };
        let mut hasher = blake3::Hasher::new();
        hasher.update(&bytes).update(&frames.to_le_bytes());
        for number in [0, frames - 1] {
            hasher.update(&opened.bytes(number).map_err(failed)?);
        }
        opened.hash = hasher.finalize();
        Ok(opened)
    }

    fn bytes(&self, number: u64) -> io::Result<Vec<u8>> {
        let mut bytes = vec![0; self.head.frame_bytes()];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(HEAD as u64 + number * bytes.len() as u64))?;
        file.read_exact(&mut bytes)?;
        Ok(bytes)
    }
}

impl Frames for RecordingFile {
    fn read(&self, number: u64) -> Result<Vec<f32>, String> {
        let bytes = self.bytes(number).map_err(|error| format!("frame {number}: {error}"))?;
        let number = |bytes: &[u8]| f32::from_le_bytes(std::array::from_fn(|byte| bytes[byte]));
        Ok(bytes.chunks_exact(size_of::<f32>()).map(number).collect())
    }
}

/// A plane that a run records.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Its file without the ending.
    pub name: String,
    /// How the file begins.
    pub head: Head,
    /// Where its points are, in cells of the coarsest level.
    pub points: Vec<[f64; 3]>,
    /// Position of the velocity among the components of the method's fields.
    pub velocity: usize,
    /// Steps between frames.
    pub every: u64,
    /// The first and the last step that may have a frame: multiples of `every` in between have one.
    pub steps: [u64; 2],
}

impl Recording {
    /// Name of its file.
    pub fn file_name(&self) -> String {
        format!("{}.lbmplane", self.name)
    }

    /// Whether a step has a frame.
    pub fn is_due(&self, step: u64) -> bool {
        step.is_multiple_of(self.every) && (self.steps[0]..=self.steps[1]).contains(&step)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const MADE: Head = Head {
        components: 3,
        normal: 0,
        si: false,
        points: [2, 3],
        spacing: 0.5,
        at: 4.5,
        first: 100.0,
        interval: 2.0,
    };

    fn opened(bytes: &[u8]) -> Result<RecordingFile, String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        RecordingFile::open(file, bytes.len() as u64)
    }

    fn made(frames: usize) -> Vec<u8> {
        let values = (0..18 * frames).flat_map(|number| (number as f32).to_le_bytes());
        MADE.bytes().into_iter().chain(values).collect()
    }

    #[test]
    fn frames_are_read_one_by_one_as_they_were_written() {
        let file = opened(&[&made(3)[..], &[1; 71]].concat()).unwrap();
        assert_eq!((file.head, file.frames), (MADE, 3), "an incomplete frame does not count");
        assert_eq!(file.read(2).unwrap()[..3], [36.0, 37.0, 38.0]);
        assert!(file.read(9).unwrap_err().contains("frame 9"));
    }

    #[test]
    fn the_hash_tells_recordings_apart_that_differ_in_length_or_at_their_ends() {
        let hash = |bytes: &[u8]| opened(bytes).unwrap().hash;
        let mut other = made(3);
        *other.last_mut().unwrap() ^= 1;
        assert!(hash(&made(3)) == hash(&made(3)) && hash(&made(3)) != hash(&made(4)) && hash(&made(3)) != hash(&other));
    }

    #[test]
    fn what_is_no_recording_is_refused_whatever_it_says() {
        for length in 0..HEAD + 2 * 72 {
            assert!(opened(&made(2)[..length]).is_err(), "{length}");
        }
        for at in 0..HEAD {
            for bits in [0xff, 0x80, 0x01] {
                let mut changed = made(2);
                changed[at] ^= bits;
                // Some are other recordings; none takes more memory than the file has.
                if let Ok(file) = opened(&changed) {
                    assert!(file.head.frame_bytes() <= changed.len() && file.head.interval > 0.0);
                }
            }
        }
        let mut huge = made(2);
        huge[24..32].copy_from_slice(&[0xff; 8]);
        assert!(opened(&huge).unwrap_err().contains("more than 4194304 points"));
        assert!(opened(&[b'x'; 200]).unwrap_err().contains("does not begin as one"));
    }
}
