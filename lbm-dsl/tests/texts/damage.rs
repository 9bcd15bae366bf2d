//! Damaged files for tests of everything that reads files of strangers: the same ones every time, or for as long as somebody asks.

// Tests look at the clock, and each uses what it needs of this.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, dead_code)]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// A sequence of pseudo-random numbers (a 64-bit linear congruence, upper bits).
pub struct Random(pub u64);

impl Random {
    /// A number below `end`.
    pub fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }
}

/// Longest that a file may be read, with a reader that was built for development, on a machine that does other things too.
const LONG: Duration = Duration::from_secs(20);

/// Numbers and signs that headers do not expect.
const STRAY: &[&str] = &[
    "0",
    "-1",
    "1e309",
    "nan",
    "18446744073709551615",
    "4294967297",
    "99999999999999999999",
    "0.5",
    "\"",
    "'",
    ",",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "&",
    "=",
    "\\u",
    "\\ud800",
    "\n",
    "\r",
    "\0",
    "\u{1b}[2J",
    "é",
    "\u{202e}",
];

/// A copy of a file with a few bytes lost, doubled, changed or replaced by those of another.
pub fn damaged(file: &[u8], other: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = file.to_vec();
    for _ in 0..1 + random.below(3) {
        let at = random.below(bytes.len() + 1);
        let end = at + random.below((bytes.len() - at).min(64) + 1);
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..end)),
            2 => {
                let piece = bytes[at..end].to_vec();
                bytes.splice(at..at, piece);
            }
            3 => bytes[at..end].iter_mut().for_each(|byte| *byte = random.below(256) as u8),
            4 => {
                let from = random.below(other.len() + 1);
                let piece = other[from..other.len().min(from + 64)].to_vec();
                bytes.splice(at..end, piece);
            }
            5 | 6 => drop(bytes.splice(at..at, STRAY[random.below(STRAY.len())].bytes())),
            // Lengths in binary headers.
            7 => {
                let number = [0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 62, u64::MAX - 7][random.below(7)];
                let width = [1, 2, 4, 8][random.below(4)];
                bytes.iter_mut().skip(at).zip(&number.to_le_bytes()[..width]).for_each(|(byte, new)| *byte = *new);
            }
            _ => bytes.iter_mut().skip(at).take(1).for_each(|byte| *byte ^= 1 << random.below(8)),
        }
    }
    bytes
}

/// Gives damaged copies of files to a reader, `rounds` of them. Where `LBMC_FUZZ_SECONDS` says how long, it is that long, from the seed that
/// `LBMC_FUZZ_SEED` gives. A reader that panics or takes long fails the test, with the file.
pub fn read_damaged(files: &[Vec<u8>], rounds: usize, read: impl Fn(&[u8])) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let (seconds, mut random) = (number("LBMC_FUZZ_SECONDS"), Random(number("LBMC_FUZZ_SEED").unwrap_or(1)));
    let start = Instant::now();
    let goes_on = |round: usize| match seconds {
        Some(seconds) => start.elapsed() < Duration::from_secs(seconds),
        None => round < rounds,
    };
    files.iter().for_each(|file| read(file));
    let mut round = 0;
    while goes_on(round) {
        let (one, other) = (&files[random.below(files.len())], &files[random.below(files.len())]);
        let bytes = damaged(one, other, &mut random);
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| read(&bytes)));
        let took = began.elapsed();
        assert!(outcome.is_ok() && took < LONG, "in {took:?}, round {round}: \"{}\"", bytes.escape_ascii());
        round += 1;
    }
}
