//! The delays of a stub's answers.

use std::f64::consts::SQRT_2;
use std::str::FromStr;
use std::time::Duration;

use statrs::function::erf::erf_inv;

use crate::draw::Uniform;
use crate::notation::{LONGEST, NotationError, duration, nanos, share};

/// A distribution of delays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Delay {
    /// A fixed delay, such as `5ms`; `0` for none.
    Fixed(Duration),
    /// A delay between two times, all equally likely: `uniform:1ms..9ms`.
    Uniform {
        /// The shortest delay.
        from: Duration,
        /// The longest delay.
        to: Duration,
    },
    /// One of two delays: `bimodal:1ms,100ms@0.1`.
    Bimodal {
        /// The delay of a request that does not get `other`.
        usual: Duration,
        /// The delay that a request gets with the probability `share`.
        other: Duration,
        /// The probability of the other delay, from 0 to 1.
        share: f64,
    },
    /// A delay whose logarithm is normal, of at most an hour: `lognormal:5ms,2.0`.
    LogNormal {
        /// The median: half of the delays are shorter.
        median: Duration,
        /// The geometric standard deviation, at least 1: about two thirds of the delays are within this factor of the
        /// median.
        spread: f64,
    },
}

impl Delay {
    /// No delay: each answer is given at once.
    pub const NONE: Delay = Delay::Fixed(Duration::ZERO);

    /// The delay that a share `u`, from 0 to 1, of all delays does not exceed.
    pub fn quantile(&self, u: f64) -> Duration {
        match *self {
            Delay::Fixed(delay) => delay,
            Delay::Uniform { from, to } => from + (to - from).mul_f64(u),
            Delay::Bimodal { usual, share, .. } if u < 1.0 - share => usual,
            Delay::Bimodal { other, .. } => other,
            Delay::LogNormal { median, spread } => {
                let normal = SQRT_2 * erf_inv(2.0 * u - 1.0);
                let seconds = median.as_secs_f64() * (spread.ln() * normal).exp();
                if seconds.is_nan() {
                    // 0 times infinity: the median is 0, or the spread is 1. Then every delay is the median.
                    return median;
                }
                Duration::from_secs_f64(seconds.clamp(0.0, LONGEST.as_secs_f64()))
            }
        }
    }

    /// The delays of a stub with this seed, without end. The n-th delay is for the n-th request that the stub reads,
    /// unless the request's query asks for another.
    pub fn draws(self, seed: u64) -> impl Iterator<Item = Duration> {
        let mut draws = Draws::new(self, seed);
        std::iter::repeat_with(move || Duration::from_nanos(draws.next()))
    }
}

/// The draws of [`Delay::draws`], in ns.
#[derive(Debug)]
pub(crate) struct Draws {
    delay: Delay,
    random: Uniform,
}

impl Draws {
    pub fn new(delay: Delay, seed: u64) -> Draws {
        Draws { delay, random: Uniform::of_delays(seed) }
    }

    /// The next delay, in ns.
    pub fn next(&mut self) -> u64 {
        match self.delay {
            Delay::Fixed(delay) => nanos(delay),
            delay => nanos(delay.quantile(self.random.next())),
        }
    }
}

impl FromStr for Delay {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Delay, NotationError> {
        parse(text).ok_or_else(|| NotationError {
            text: text.to_owned(),
            what: "delay",
            expected: "expected 5ms, uniform:1ms..9ms, bimodal:1ms,100ms@0.1 or lognormal:5ms,2.0, \
                       with no time above an hour",
        })
    }
}

fn parse(text: &str) -> Option<Delay> {
    let Some((kind, rest)) = text.split_once(':') else { return duration(text).map(Delay::Fixed) };
    match kind {
        "uniform" => {
            let (from, to) = rest.split_once("..")?;
            let (from, to) = (duration(from)?, duration(to)?);
            (from <= to).then_some(Delay::Uniform { from, to })
        }
        "bimodal" => {
            let (both, other_share) = rest.split_once('@')?;
            let (usual, other) = both.split_once(',')?;
            let (usual, other) = (duration(usual)?, duration(other)?);
            Some(Delay::Bimodal { usual, other, share: share(other_share)? })
        }
        "lognormal" => {
            let (median, spread) = rest.split_once(',')?;
            let spread = spread.parse().ok().filter(|spread: &f64| spread.is_finite() && *spread >= 1.0)?;
            Some(Delay::LogNormal { median: duration(median)?, spread })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use statrs::distribution::{ContinuousCDF, LogNormal};

    use super::*;

    const fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn a_delay_is_parsed_and_a_wrong_one_refused() {
        for (text, delay) in [
            ("0", Delay::NONE),
            ("0ms", Delay::NONE),
            ("5ms", Delay::Fixed(us(5000))),
            ("1.5ms", Delay::Fixed(us(1500))),
            ("1h", Delay::Fixed(LONGEST)),
            ("uniform:1ms..9ms", Delay::Uniform { from: us(1000), to: us(9000) }),
            ("uniform:0..0", Delay::Uniform { from: us(0), to: us(0) }),
            ("bimodal:1ms,100ms@0.1", Delay::Bimodal { usual: us(1000), other: us(100_000), share: 0.1 }),
            ("bimodal:9us,1us@1", Delay::Bimodal { usual: us(9), other: us(1), share: 1.0 }),
            ("lognormal:5ms,2.0", Delay::LogNormal { median: us(5000), spread: 2.0 }),
        ] {
            assert_eq!(text.parse(), Ok(delay), "{text}");
        }
        for text in [
            "",
            "5",
            "ms",
            "-5ms",
            "61min",
            "5ms,",
            "uniform:",
            "uniform:1ms",
            "uniform:9ms..1ms",
            "uniform:1ms..2h",
            "bimodal:1ms@0.1",
            "bimodal:1ms,2ms",
            "bimodal:1ms,2ms@1.1",
            "bimodal:1ms,2ms@-0.1",
            "bimodal:1ms,2ms@NaN",
            "lognormal:5ms",
            "lognormal:5ms,0.9",
            "lognormal:5ms,inf",
            "lognormal:5ms,NaN",
            "normal:5ms,1ms",
        ] {
            let error = text.parse::<Delay>().unwrap_err();
            assert_eq!((error.text.as_str(), error.what), (text, "delay"));
        }
    }

    /// The share of draws below each quantile is binomial: five of its standard deviations are one in a million.
    #[test]
    fn draws_are_distributed_as_they_should_be() {
        const DRAWS: usize = 100_000;
        let below = |delay: Delay, limit: Duration| {
            delay.draws(7).take(DRAWS).filter(|draw| *draw < limit).count() as f64 / DRAWS as f64
        };
        let assert_near = |found: f64, share: f64| {
            let allowed = 5.0 * (share * (1.0 - share) / DRAWS as f64).sqrt();
            assert!((found - share).abs() <= allowed, "{found} for {share}");
        };
        let log_normal = LogNormal::new(us(5000).as_secs_f64().ln(), 2_f64.ln()).unwrap();
        for share in [0.001, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 0.9999] {
            let uniform = Delay::Uniform { from: us(1000), to: us(9000) };
            assert_near(below(uniform, us(1000) + us(8000).mul_f64(share)), share);
            let quantile = Duration::from_secs_f64(log_normal.inverse_cdf(share));
            assert_near(below(Delay::LogNormal { median: us(5000), spread: 2.0 }, quantile), share);
            assert_near(
                below(Delay::Bimodal { usual: us(1), other: us(9), share: 1.0 - share }, us(5)),
                share,
            );
        }
    }

    #[test]
    fn a_distribution_at_its_ends_has_its_limits() {
        let uniform = Delay::Uniform { from: us(1), to: us(9) };
        assert_eq!((uniform.quantile(0.0), uniform.quantile(0.5)), (us(1), us(5)));
        for share in [0.0, 1.0] {
            let delay = Delay::Bimodal { usual: us(1), other: us(9), share };
            let all = if share == 0.0 { us(1) } else { us(9) };
            assert!(delay.draws(1).take(1000).all(|draw| draw == all));
        }
        let wide = Delay::LogNormal { median: us(5000), spread: 1e300 };
        assert_eq!((wide.quantile(0.0), wide.quantile(1.0)), (us(0), LONGEST));
        let narrow = Delay::LogNormal { median: us(5000), spread: 1.0 };
        for u in [0.0, 0.9, 1.0] {
            assert_eq!(narrow.quantile(u), us(5000));
        }
    }

    #[test]
    fn a_seed_repeats_its_draws() {
        let delay: Delay = "lognormal:5ms,2.0".parse().unwrap();
        let draws = |seed| delay.draws(seed).take(100).collect::<Vec<_>>();
        assert_eq!(draws(1), draws(1));
        assert_ne!(draws(1), draws(2));
    }
}
