//! Prediction of the next of a few values.

use statrs::distribution::{ContinuousCDF, StudentsT};

/// The interval `[low, high]` that holds one more value with this confidence (from 0 to 1), if all values are drawn
/// from one normal distribution: mean ± t · sd · √(1 + 1/n), with n − 1 degrees of freedom. None if there are fewer
/// than two values.
pub fn prediction(values: &[f64], confidence: f64) -> Option<[f64; 2]> {
    let n = values.len() as f64;
    let student = StudentsT::new(0.0, 1.0, n - 1.0).ok().filter(|_| values.len() > 1)?;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let half = student.inverse_cdf(f64::midpoint(1.0, confidence)) * sd * (1.0 + 1.0 / n).sqrt();
    Some([mean - half, mean + half])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_three_values_it_is_so_many_standard_deviations_wide() {
        // Quantiles of Student's t with 2 degrees of freedom, of a table: 1.8856 and 4.3027.
        let half = |confidence| {
            let [low, high] = prediction(&[9.0, 10.0, 11.0], confidence).unwrap();
            assert!((f64::midpoint(low, high) - 10.0).abs() < 1e-9);
            (high - low) / 2.0
        };
        assert!((half(0.8) - 1.8856 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-3, "{}", half(0.8));
        assert!((half(0.95) - 4.3027 * (4.0_f64 / 3.0).sqrt()).abs() < 1e-3, "{}", half(0.95));
        assert_eq!((prediction(&[1.0], 0.8), prediction(&[], 0.8)), (None, None));
        assert_eq!(prediction(&[2.0, 2.0], 0.8), Some([2.0, 2.0]));
    }
}
