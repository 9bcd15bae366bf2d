//! The mean of a series in time, and how uncertain it is because the series is finite and its samples depend on each other.
//!
//! The variance of the mean of n samples is that of a sample, times `2 tau / n`, where tau is the integrated autocorrelation time in samples:
//! a half plus the sum of the autocorrelation over lags from 1 on. The sum ends at the first lag that is at least five times what it has given so
//! far (the automatic window of Sokal, "Monte Carlo Methods in Statistical Mechanics", 1997, section 3; with his bias of a few percent). Samples
//! that are independent have tau = 1/2; less is not believed. A long series is cut into batches first, of which the means are the samples.

use serde::{Deserialize, Serialize};

/// Most samples of which autocorrelations are made; more are joined in batches.
const BATCHES: usize = 4096;
/// The window of the sum over the autocorrelation, in integrated autocorrelation times (Sokal's c).
const WINDOW: f64 = 5.0;
/// Fewest samples whose mean has an uncertainty.
const FEWEST: usize = 8;

/// The mean of a series.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Average {
    /// Arithmetic mean.
    pub mean: f64,
    /// Root mean square of what differs from it.
    pub rms: f64,
    /// Standard error of the mean; none of fewer than eight samples.
    pub standard_error: Option<f64>,
    /// How many independent samples would have that error.
    pub independent_samples: Option<f64>,
    /// Integral time scale, in samples: the integral of the autocorrelation.
    pub time_scale_in_samples: Option<f64>,
}

/// Of samples at equal times; `None` where there are none, or some are not finite.
pub fn average(values: &[f64]) -> Option<Average> {
    if values.is_empty() || values.iter().any(|value| !value.is_finite()) {
        return None;
    }
    let mean = mean_of(values);
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64;
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
    // What is steady up to round-off is known.
    if average.rms <= 1e-14 * mean.abs() {
        average.standard_error = Some(0.0);
        average.independent_samples = Some(values.len() as f64);
        return Some(average);
    }
    let batch = values.len().div_ceil(BATCHES);
    let batches: Vec<f64> = values.chunks_exact(batch).map(|part| mean_of(part) - mean).collect();
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
    let count = batches.len() as f64;
    // The mean is that of the same samples, from which their variance lacks that of the mean.
    let of_batches = square / count;
    let error = of_batches * 2.0 * tau / (count - 2.0 * tau).max(1.0);
    average.standard_error = Some(error.sqrt());
    average.independent_samples = Some((variance / error).min(values.len() as f64));
    average.time_scale_in_samples = Some((values.len() as f64 * error / variance / 2.0).max(0.5));
    Some(average)
}

fn mean_of(values: &[f64]) -> f64 {
    // About the first, so that what is steady has no rounding error.
    let first = values[0];
    first + values.iter().map(|value| value - first).sum::<f64>() / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `x' = a x + e` with e normal of variance 1: of a mean of n samples the variance is near `1 / (n (1 - a)^2)`.
    fn autoregressive(a: f64, count: usize, seed: u64) -> Vec<f64> {
        // Far apart in the one sequence that there is.
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
            // Of 200 means the spread is known to 5 %.
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
