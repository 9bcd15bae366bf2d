//! Means over rows of a table, and their uncertainty due to the finite number of correlated rows.
//!
//! A row comes at the end of an interval and represents it: its weight is the number of steps since the previous row. A
//! last row that comes early, because the run ends, thus counts according to its steps. The first row of a table, which
//! has no previous interval, counts only if it is the only one. All means of forces, heat, probes and fluxes are of
//! this kind.
//!
//! The variance of the mean of n samples is the variance of a sample times `2 tau / n`, where tau is the integrated
//! autocorrelation time in samples: one half plus the sum of the autocorrelation over lags from 1. The sum ends at the
//! first lag that is at least five times the sum so far (automatic window of Sokal, "Monte Carlo Methods in Statistical
//! Mechanics", 1997, section 3; with its bias of a few percent). Independent samples have tau = 1/2; smaller values are
//! raised to that. A long series is first divided into batches, whose means are the samples. If weights differ, n is
//! the effective number of equally weighted samples: the square of the sum of the weights over the sum of their squares
//! (Kish, "Survey Sampling", 1965).

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Largest number of samples for the autocorrelation; longer series are divided into batches.
const BATCHES: usize = 4096;
/// Window of the sum of the autocorrelation, in integrated autocorrelation times (Sokal's c).
const WINDOW: f64 = 5.0;
/// Least number of samples for an estimate of the uncertainty.
const FEWEST: usize = 8;

/// Mean of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Average {
    /// Mean over time.
    pub mean: f64,
    /// Root mean square of the deviation from the mean.
    pub rms: f64,
    /// Standard error of the mean; `None` for fewer than eight samples.
    pub standard_error: Option<f64>,
    /// Number of independent samples with the same standard error.
    pub independent_samples: Option<f64>,
    /// Integral time scale in samples: the integral of the autocorrelation.
    pub time_scale_in_samples: Option<f64>,
}

/// Rows for averaging: those from step `from` on, or the last half; `None` if there are none.
pub fn window(steps: &[u64], from: Option<u64>) -> Option<Range<usize>> {
    let start = from.map_or(steps.len() / 2, |from| steps.partition_point(|step| *step < from));
    (start < steps.len()).then_some(start..steps.len())
}

/// Weights of rows of a table, in steps. `steps` has the step of each row.
pub fn weights(steps: &[u64], rows: Range<usize>) -> Vec<f64> {
    let since = |row: usize| if row == 0 { 0.0 } else { (steps[row] - steps[row - 1]) as f64 };
    let weights: Vec<f64> = rows.map(since).collect();
    if weights.iter().all(|weight| *weight == 0.0) { vec![1.0; weights.len()] } else { weights }
}

/// Weighted mean, computed relative to the first value, so that constant values have no rounding error; NaN without
/// values.
pub fn mean(values: &[f64], weights: &[f64]) -> f64 {
    let first = values.first().copied().unwrap_or(f64::NAN);
    let sum: f64 = values.iter().zip(weights).map(|(value, weight)| weight * (value - first)).sum();
    first + sum / weights.iter().sum::<f64>()
}

/// Mean of rows with these [`weights`]; `None` without rows, or if a value is not finite.
pub fn average(values: &[f64], weights: &[f64]) -> Option<Average> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = mean(values, weights);
    let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
    let variance = self::mean(&squares, weights);
    let mut average = Average {
        mean,
        rms: variance.sqrt(),
        standard_error: None,
        independent_samples: None,
        time_scale_in_samples: None,
    };
    if values.len() < FEWEST {
        return Some(average);
    }
    // A series that is constant up to round-off has no uncertainty.
    if average.rms <= 1e-14 * mean.abs() {
        average.standard_error = Some(0.0);
        average.independent_samples = Some(values.len() as f64);
        return Some(average);
    }
    let batch = values.len().div_ceil(BATCHES);
    let of_batch = |part: &[f64]| part.iter().map(|value| value - mean).sum::<f64>() / batch as f64;
    let batches: Vec<f64> = values.chunks_exact(batch).map(of_batch).collect();
    let lag = |lag: usize| batches.iter().zip(&batches[lag..]).map(|(one, other)| one * other).sum::<f64>();
    let square = lag(0);
    let mut tau = 0.5;
    for at in 1..batches.len() {
        tau += lag(at) / square;
        if at as f64 >= WINDOW * tau {
            break;
        }
    }
    let tau = tau.max(0.5);
    let of_batches = square / batches.len() as f64;
    let sum = |power: i32| weights.iter().map(|weight| weight.powi(power)).sum::<f64>();
    let equal = sum(1).powi(2) / sum(2);
    // The mean comes from the same samples, whose variance is therefore too small by the variance of the mean.
    let count = batches.len() as f64 * equal / values.len() as f64;
    let error = of_batches * 2.0 * tau / (count - 2.0 * tau).max(1.0);
    average.standard_error = Some(error.sqrt());
    average.independent_samples = Some((variance / error).min(values.len() as f64));
    average.time_scale_in_samples = Some((equal * error / variance / 2.0).max(0.5));
    Some(average)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mean of rows at equal intervals.
    fn average(values: &[f64]) -> Option<Average> {
        super::average(values, &vec![10.0; values.len()])
    }

    #[test]
    fn a_row_stands_for_the_steps_since_the_one_before() {
        let steps: Vec<u64> = (0..=10).map(|row| 100 * row).chain([1025]).collect();
        assert_eq!(window(&steps, None), Some(6..12));
        assert_eq!(window(&steps, Some(950)), Some(10..12));
        assert_eq!((window(&steps, Some(1026)), window(&[], None)), (None, None));
        assert_eq!(weights(&steps, 9..12), [100.0, 100.0, 25.0]);
        // The first row counts only if it is alone.
        assert_eq!((weights(&steps, 0..2), weights(&steps, 0..1)), (vec![0.0, 100.0], vec![1.0]));
        assert_eq!(mean(&[1.0, 6.0], &[100.0, 25.0]), 2.0);
        let rows: Vec<f64> = (0..12).map(|row| if row == 11 { 50.0 } else { f64::from(row % 2) }).collect();
        let found = super::average(&rows, &weights(&steps, 0..12)).unwrap();
        assert!((found.mean - (5.0 * 100.0 + 50.0 * 25.0) / 1025.0).abs() < 1e-12, "{found:?}");
        let square = (5.0 * 100.0 + 2500.0 * 25.0) / 1025.0 - found.mean.powi(2);
        assert!((found.rms - square.sqrt()).abs() < 1e-12 && found.standard_error.is_some(), "{found:?}");
    }

    /// `x' = a x + e` with e normal of variance 1. The variance of the mean of n samples is about `1 / (n (1 - a)^2)`.
    fn autoregressive(a: f64, count: usize, seed: u64) -> Vec<f64> {
        // Seeds that are far apart in the generator's single sequence.
        let mut state = seed.wrapping_mul(0x2545_f491_4f6c_dd1d);
        let mut uniform = || {
            // Vigna's splitmix64.
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut bits = state;
            bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            ((bits ^ (bits >> 31)) >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut normal = || (-2.0 * (1.0 - uniform()).ln()).sqrt() * (2.0 * std::f64::consts::PI * uniform()).cos();
        let mut x = normal() / (1.0 - a * a).sqrt();
        (0..count)
            .map(|_| {
                x = a * x + normal();
                7.0 + x
            })
            .collect()
    }

    #[test]
    fn the_error_of_an_autoregressive_series_is_that_of_its_formula() {
        for (a, count) in [(0.0, 4000), (0.5, 4000), (0.9, 4000), (0.9, 40_000), (0.98, 40_000)] {
            let expected = 1.0 / ((count as f64).sqrt() * (1.0 - a));
            let series: Vec<Vec<f64>> = (0..200).map(|seed| autoregressive(a, count, seed)).collect();
            let all: Vec<Average> = series.iter().map(|series| average(series).unwrap()).collect();
            let error = all.iter().map(|of| of.standard_error.unwrap()).sum::<f64>() / all.len() as f64;
            let spread = (all.iter().map(|of| (of.mean - 7.0).powi(2)).sum::<f64>() / all.len() as f64).sqrt();
            // The spread of 200 means is known to 5 %.
            assert!((error / expected - 1.0).abs() < 0.03, "{a}: {error} {expected}");
            assert!((spread / expected - 1.0).abs() < 0.1, "{a}: {spread} {expected}");
            let independent = all.iter().map(|of| of.independent_samples.unwrap()).sum::<f64>() / all.len() as f64;
            let of_formula = count as f64 * (1.0 - a) / (1.0 + a);
            assert!((independent / of_formula - 1.0).abs() < 0.08, "{a}: {independent} {of_formula}");
        }
    }

    #[test]
    fn what_is_steady_has_no_error_and_few_samples_have_none_that_is_known() {
        let steady = average(&[0.1; 100]).unwrap();
        assert_eq!((steady.mean, steady.rms, steady.standard_error), (0.1, 0.0, Some(0.0)));
        assert_eq!(steady.independent_samples, Some(100.0));
        let few = average(&[1.0, 2.0, 3.0]).unwrap();
        assert_eq!((few.mean, few.standard_error), (2.0, None));
        assert_eq!(average(&[]), None);
        assert_eq!(average(&[1.0, f64::NAN]), None);
    }

    #[test]
    fn a_drift_has_few_independent_samples() {
        let rises: Vec<f64> = (0..1000).map(f64::from).collect();
        let found = average(&rises).unwrap();
        assert!(found.independent_samples.unwrap() < 10.0, "{found:?}");
        assert!(found.standard_error.unwrap() > 50.0, "{found:?}");
    }
}
