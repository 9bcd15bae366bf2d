//! Noise in formulas, `noise(7, x / 8, y / 8, t / 20)`: numbers that look random and are smooth, computed from where they are alone.
//!
//! Space is divided into tiles, cubes of side 1. Each has an eddy: a place in the tile and a sign, which a hash of the seed and of the tile gives. The noise
//! at a point is the sum of `sign (3/2)^(3/2) (1 - |a|) (1 - |b|) (1 - |c|)` over the eddies less than 1 away along each axis, at the distance `(a, b, c)`:
//!
//! - The mean over seeds is 0 and the variance is 1, at each point: there is an eddy per unit of volume, and its shape has the mean square 1.
//! - The correlation of points is a product over the axes, of `1 - 3/2 d^2 + 3/4 d^3` at distances `d` up to 1, `(2 - d)^3 / 4` up to 2, and
//!   0 beyond (a cubic B-spline). Its integral over d is 3/4.
//! - All arithmetic but a last product is of integers, so that the value is the same on every device.

/// Bits of a distance between a point and an eddy.
const DIGITS: u32 = 19;
/// A distance of 1.
const UNIT: i32 = 1 << DIGITS;
/// The noise of a sum of products of three distances: `(3/2)^(3/2)` over `UNIT^3`.
const SCALE: f64 = 1.8371173070873836 / 144115188075855872.0;
/// Coordinates are less than this, so that their tiles are whole numbers of 64 bits.
const FAR: f64 = 1e15;

/// Which noise it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Noise {
    /// Other seeds give other eddies.
    pub seed: u32,
    /// After how many tiles along each axis the same eddies come again; 0 for never.
    pub periods: [u32; 3],
}

impl Noise {
    /// Its value at a point; not a number where that is not finite, or far away.
    pub(super) fn at(self, point: [f64; 3]) -> f64 {
        if !point.iter().all(|at| at.abs() < FAR) {
            return f64::NAN;
        }
        let tiles = [0, 1, 2].map(|axis| tiles(point[axis], self.periods[axis]));
        let inside = point.map(|at| ((at - at.floor()) * f64::from(UNIT)) as i32);
        let mut sum = 0;
        for (along_x, x) in tiles[0].into_iter().enumerate() {
            let plane = scrambled(self.seed.wrapping_add(x.wrapping_mul(0x9e37_79b1)));
            for (along_y, y) in tiles[1].into_iter().enumerate() {
                let row = scrambled(plane.wrapping_add(y.wrapping_mul(0x85eb_ca77)));
                for (along_z, z) in tiles[2].into_iter().enumerate() {
                    let bits = scrambled(row.wrapping_add(z.wrapping_mul(0xc2b2_ae3d)));
                    let more = scrambled(bits.wrapping_add(0x9e37_79b9));
                    let eddy = [bits >> 16, bits & 0xffff, more >> 16];
                    let near = |axis: usize, along: usize| i64::from(near(inside[axis], along, eddy[axis]));
                    let product = near(0, along_x) * near(1, along_y) * near(2, along_z);
                    sum += if more & 1 == 0 { product } else { -product };
                }
            }
        }
        sum as f64 * SCALE
    }
}

/// The tile of a coordinate and those beside it.
fn tiles(at: f64, period: u32) -> [u32; 3] {
    let tile = at.floor() as i64;
    [-1, 0, 1].map(|beside| match period {
        0 => (tile + beside) as u32,
        period => (tile + beside).rem_euclid(i64::from(period)) as u32,
    })
}

/// 1 less the distance from an eddy in one of three tiles, of which the middle one is that of the point; 0 where it is farther.
fn near(inside: i32, tile: usize, eddy: u32) -> i32 {
    let place = (tile as i32 - 1) * UNIT + (eddy as i32) * (UNIT >> 16) + (UNIT >> 17);
    (UNIT - (inside - place).abs()).max(0)
}

/// A hash of 32 bits: `lowbias32` of C. Wellons, "Prospecting for hash functions" (2018).
fn scrambled(bits: u32) -> u32 {
    let bits = (bits ^ bits >> 16).wrapping_mul(0x7feb_352d);
    let bits = (bits ^ bits >> 15).wrapping_mul(0x846c_a68b);
    bits ^ bits >> 16
}

#[cfg(test)]
mod tests {
    use super::super::Formula;
    use super::*;

    const SEEDS: u32 = 40_000;

    /// The mean over seeds of a product of the noise at two points.
    fn mean(periods: [u32; 3], one: [f64; 3], other: [f64; 3]) -> f64 {
        let of = |seed| Noise { seed, periods }.at(one) * Noise { seed, periods }.at(other);
        (0..SEEDS).map(of).sum::<f64>() / f64::from(SEEDS)
    }

    fn spline(d: f64) -> f64 {
        match d.abs() {
            d if d < 1.0 => 1.0 - 1.5 * d * d + 0.75 * d.powi(3),
            d if d < 2.0 => 0.25 * (2.0 - d).powi(3),
            _ => 0.0,
        }
    }

    /// A mean over so many seeds is off by sqrt(2 / 40 000), .007, at most one time in three: by .03 it is about one time in 60 000.
    #[test]
    fn variance_and_correlation_are_those_of_the_sum_at_every_point() {
        for point in [[0.0; 3], [0.5, 0.5, 0.5], [-7.3, 1e6 + 0.01, 0.9]] {
            assert!((mean([0; 3], point, point) - 1.0).abs() < 0.03, "{point:?}");
            for (x, y, z) in [(0.5, 0.0, 0.0), (0.0, 1.2, 0.0), (0.3, 0.0, -0.6), (2.1, 0.0, 0.0)] {
                let found = mean([0; 3], point, [point[0] + x, point[1] + y, point[2] + z]);
                assert!((found - spline(x) * spline(y) * spline(z)).abs() < 0.03, "{point:?} {x} {y} {z}: {found}");
            }
        }
        let sum: f64 = (0..SEEDS).map(|seed| Noise { seed, periods: [0; 3] }.at([0.2, 0.7, 3.1])).sum();
        assert!((sum / f64::from(SEEDS)).abs() < 0.02, "{sum}");
    }

    #[test]
    fn periods_repeat_the_same_eddies_and_leave_the_variance() {
        for (periods, end) in [([0, 2, 0], [0.3, 2.4, 0.1]), ([0, 0, 5], [0.3, 0.4, 5.1])] {
            for seed in 0..50 {
                let noise = Noise { seed, periods };
                let (one, other) = (noise.at([0.3, 0.4, 0.1]), noise.at(end));
                assert!((one - other).abs() < 1e-4 && one != 0.0, "{one} {other}");
            }
            assert!((mean(periods, end, end) - 1.0).abs() < 0.03);
        }
    }

    #[test]
    fn it_is_continuous_and_the_same_after_many_steps() {
        let noise = Noise { seed: 3, periods: [0; 3] };
        for tile in [0.0, -4.0, 1e7, -3e9] {
            let step = |at: f64| noise.at([tile + at, 0.25, 0.5]);
            let rise = (0..1000).map(|at| (step(f64::from(at + 1) / 500.0) - step(f64::from(at) / 500.0)).abs());
            assert!(rise.fold(0.0, f64::max) < 0.02, "{tile}");
        }
        assert!(noise.at([f64::NAN, 0.0, 0.0]).is_nan() && noise.at([0.0, 1e300, 0.0]).is_nan());
    }

    #[test]
    fn a_formula_reads_it_at_three_values() {
        for text in ["noise(7, x / 8, 0.5, 2 * t)", "2 * noise(4294967295, x, y, z, 0, 6, 0)"] {
            let formula: Formula = text.parse().expect(text);
            assert_eq!(formula.to_string(), text);
        }
        let formula: Formula = "noise(7, x, x + 0.25, 3)".parse().expect("a formula");
        let expected = Noise { seed: 7, periods: [0; 3] }.at([0.5, 0.75, 3.0]);
        assert_eq!(formula.value(&|_| Some(0.5)), Some(expected));
        assert_eq!(formula.with(&|_| Some(Formula::number(0.5))), Formula::number(expected));
        let formula: Formula = "0.1 + abs(noise(7, x, 1, 2)) * x".parse().expect("a formula");
        assert_eq!(formula.without_noise().to_string(), "0.1 + abs(0) * x");
        for (text, part) in [
            ("noise(x, 1, 2, 3)", "whole number below 2^32"),
            ("noise(-1, 1, 2, 3)", "whole number below 2^32"),
            ("noise(4294967296, 1, 2, 3)", "whole number below 2^32"),
            ("noise(1.5, 1, 2, 3)", "whole number below 2^32"),
            ("noise(1, x, y, z, 0, 2, t)", "whole number below 2^31"),
            ("noise(1, x, y, z, 0, 1, 0)", "of one eddy"),
            ("noise(1, x, y)", "4 argument"),
            ("noise(1, x, y, z", "not closed"),
        ] {
            let error = text.parse::<Formula>().expect_err(text);
            assert!(error.message.contains(part), "{text}: {error:?}");
        }
    }
}
