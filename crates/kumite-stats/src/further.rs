//! The likely result of a further sitting, judged by the scatter of rounds and sittings.

use std::f64::consts::{FRAC_PI_2, SQRT_2};

use statrs::distribution::{ContinuousCDF, Normal};

/// The number of standard deviations within which four of five values lie.
const FOUR_OF_FIVE: f64 = 1.281_551_565_5;

/// The scatter of a comparison's effect: of the logarithm of a ratio, or of a difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scatter {
    /// The standard deviation of the effects of rounds within a sitting, in the unit of the effects.
    pub of_rounds: f64,
    /// The standard deviation of the true effects of sittings, in the unit of the effects.
    pub of_sittings: f64,
}

impl Scatter {
    /// The standard deviation of the median effect of a sitting that has this many rounds (0 counts as 1), with the
    /// scatter of sittings included. The standard deviation of a median is taken to be √(π/2) times that of the mean of
    /// the same rounds.
    pub fn of_median(self, rounds: usize) -> f64 {
        let of_rounds = FRAC_PI_2 * self.of_rounds.powi(2) / rounds.max(1) as f64;
        (self.of_sittings.powi(2) + of_rounds).sqrt()
    }

    /// The distance from the median of a sitting within which the medians of four of five further sittings lie, if each
    /// sitting has this many rounds. The scatter of both medians is included.
    pub fn reach(self, rounds: usize) -> f64 {
        FOUR_OF_FIVE * SQRT_2 * self.of_median(rounds)
    }

    /// The fewest rounds of a sitting for which [`reach`](Self::reach) is less than this distance. None if a million
    /// rounds would not be enough, most often because sittings alone scatter further.
    pub fn rounds_within(self, distance: f64) -> Option<usize> {
        let left = (distance / (FOUR_OF_FIVE * SQRT_2)).powi(2) - self.of_sittings.powi(2);
        let rounds = (FRAC_PI_2 * self.of_rounds.powi(2) / left).floor() + 1.0;
        (left > 0.0 && rounds < 1e6).then_some(rounds as usize)
    }

    /// The probability that the medians of this many sittings, each of this many rounds, all lie on the right side of a
    /// border. `distance` is that from the border to the true effect, in the unit of the effects; it is negative if the
    /// true effect is on the wrong side. At the border itself, each sitting is right with a probability of one half.
    pub fn agreement(self, distance: f64, sittings: usize, rounds: usize) -> f64 {
        let of_one = match distance {
            0.0 => 0.5,
            _ => Normal::standard().cdf(distance / self.of_median(rounds)),
        };
        of_one.powi(i32::try_from(sittings).unwrap_or(i32::MAX))
    }
}

/// The estimated standard deviation of the distribution from which these values are drawn, with n − 1 in the
/// denominator. None for fewer than two values.
pub fn deviation(values: &[f64]) -> Option<f64> {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (values.len() > 1).then(|| (squares / (n - 1.0)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scatter(of_rounds: f64, of_sittings: f64) -> Scatter {
        Scatter { of_rounds, of_sittings }
    }

    #[test]
    fn sittings_at_the_border_agree_by_chance_even_without_scatter() {
        assert_eq!(scatter(0.0, 0.0).agreement(0.0, 2, 10), 0.25);
        assert_eq!(scatter(0.0, 0.0).agreement(0.1, 3, 10), 1.0);
        assert_eq!(scatter(0.0, 0.0).agreement(-0.1, 3, 10), 0.0);
    }

    #[test]
    fn four_of_five_further_sittings_lie_within_the_reach() {
        // 1.2816 · √2 = 1.8124 standard deviations of one.
        assert!((scatter(0.0, 0.05).reach(10) - 0.090_62).abs() < 1e-5);
        // Ten rounds of 4 %: √(π/2 · 0.0016 / 10) = 1.585 %.
        assert!((scatter(0.04, 0.0).of_median(10) - 0.015_853).abs() < 1e-6);
        assert!((scatter(0.04, 0.05).of_median(10) - (0.0025_f64 + 0.000_251_327).sqrt()).abs() < 1e-8);
    }

    #[test]
    fn as_many_rounds_are_enough_as_make_the_reach_less_than_the_distance() {
        let of = scatter(0.1, 0.02);
        let rounds = of.rounds_within(0.05).unwrap();
        assert!(of.reach(rounds) < 0.05 && of.reach(rounds - 1) >= 0.05, "{rounds}");
        assert_eq!(of.rounds_within(0.036), None, "sittings alone scatter by 1.8124 times 2 %");
        assert_eq!(scatter(0.0, 0.0).rounds_within(0.01), Some(1));
        assert_eq!(scatter(0.1, 0.0).rounds_within(0.0), None);
    }

    #[test]
    fn sittings_agree_as_often_as_each_is_on_the_side() {
        // Of 3 and 4 sittings, where the border is one and two standard deviations away.
        let chance = |distance, sittings| scatter(0.0, 1.0).agreement(distance, sittings, 9);
        for (distance, sittings, expected) in
            [(1.0, 3, 0.5955), (1.0, 4, 0.5011), (2.0, 3, 0.9333), (2.0, 4, 0.9121)]
        {
            assert!((chance(distance, sittings) - expected).abs() < 1e-3, "{distance} {sittings}");
        }
        assert!((chance(0.0, 1) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn a_deviation_takes_two() {
        assert_eq!((deviation(&[]), deviation(&[1.0]), deviation(&[1.0, 3.0])), (None, None, Some(SQRT_2)));
    }
}
