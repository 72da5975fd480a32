//! Arrivals: the instants at which the requests of an open loop are due, whatever the server makes of them.
//!
//! Even arrivals come at the instants at which the integral of the rate passes 0, 1, 2 …, so that a ramp has no
//! steps. Random ones are a Poisson process with that rate: unit exponential gaps, carried back through the same
//! integral (the time change of Çinlar, *Introduction to Stochastic Processes*, section 4.7). Instants are computed
//! from the beginning, not from one another, so that no error adds up.

use std::sync::Arc;
use std::time::Duration;

use jiff::SignedDuration;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The instants at which requests are due, counted from the start of the load.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrivals {
    /// Requests are due at a rate, which may change.
    Rate {
        /// The rate over time, one piece after the other. No request is due after the last piece.
        pieces: Vec<Piece>,
        /// The distribution of the gaps between arrivals.
        gaps: Gaps,
        /// The number of requests that are due at each instant, at least 1. The instants are rarer by this factor, so
        /// that the rate stays the same.
        burst: u32,
    },
    /// Requests are due at these instants, in ascending order.
    At(Arc<[Duration]>),
}

/// A stretch of time in which the rate is constant or changes evenly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Piece {
    /// The rate at the piece's beginning, in requests a second.
    pub from: f64,
    /// The rate at the piece's end, in requests a second.
    pub to: f64,
    /// The length of the piece. `None` if it has no end; the rate is then always `from`.
    pub lasts: Option<Duration>,
}

/// The distribution of the gaps between arrivals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gaps {
    /// Gaps are as even as the rate allows.
    Even,
    /// The instants of arrivals are independent of one another: a Poisson process.
    Poisson {
        /// The seed. The same seed gives the same arrivals.
        seed: u64,
    },
}

/// The longest silence at a recording's beginning. If the first time is later, the times do not count from the
/// recording's start.
const LATEST_FIRST: Duration = Duration::from_secs(86_400);
/// The latest time of a recording: nobody offers a load for longer than a year.
const LATEST: Duration = Duration::from_secs(366 * 86_400);

/// The longest time that a piece lasts. The times of all pieces can be added.
const LONGEST_PIECE: Duration = Duration::from_secs(24_000 * 3_600);

/// The reason why a text is no [`Arrivals`].
#[derive(Debug, thiserror::Error, PartialEq)]
pub enum ArrivalsError {
    /// A piece of the text is no rate, or is a ramp or a rate of 0 without end.
    #[error(
        "{text:?} is not a rate: write requests a second, as 500, 500@10s, 100..500@30s, or several with commas"
    )]
    Rate {
        /// The piece's text.
        text: String,
    },
    /// A piece before the last has no end.
    #[error("the rate {text:?} has no end, but others follow: write {text}@10s")]
    Endless {
        /// The piece's text.
        text: String,
    },
    /// A piece lasts longer than 24,000 hours.
    #[error("the rate {text:?} lasts too long: 24000h are the most")]
    TooLong {
        /// The piece's text.
        text: String,
    },
    /// A line of a recording is no time in seconds, or one before the line above it.
    #[error(
        "line {line} of the recording, {text:?}, is not a time in seconds that is not before the one above it"
    )]
    Instant {
        /// The line's number, from 1.
        line: usize,
        /// The line's text.
        text: String,
    },
    /// A time of a recording is too late to be counted from the recording's start.
    #[error(
        "line {line} of the recording, {text:?}, is {days:.0} days after its start: are these times of the day or since \
         1970? They count from the start of the load in seconds, so subtract the first one from each"
    )]
    Absolute {
        /// The line's number, from 1.
        line: usize,
        /// The line's text.
        text: String,
        /// The time, in days after the start.
        days: f64,
    },
    /// The recording holds no time: it is empty, or each line is blank or a comment.
    #[error("the recording holds no time: give one a line, in seconds from the start")]
    Empty,
}

impl Arrivals {
    /// Even arrivals at this rate, in requests a second, without end.
    pub fn constant(rate: f64) -> Arrivals {
        Arrivals::Rate {
            pieces: vec![Piece { from: rate, to: rate, lasts: None }],
            gaps: Gaps::Even,
            burst: 1,
        }
    }

    /// Parses rates in requests a second, each with its length: `500` without end, `500@10s`, `100..500@30s` for a
    /// ramp, `100@5s,200@5s` for steps.
    ///
    /// # Errors
    ///
    /// [`ArrivalsError::Rate`], [`ArrivalsError::Endless`] or [`ArrivalsError::TooLong`] names the piece.
    pub fn pieces(text: &str) -> Result<Vec<Piece>, ArrivalsError> {
        let texts: Vec<&str> = text.split(',').map(str::trim).collect();
        let mut pieces = Vec::new();
        for (nth, text) in texts.iter().enumerate() {
            let piece = piece(text).ok_or_else(|| ArrivalsError::Rate { text: (*text).to_owned() })?;
            if piece.lasts.is_none() && nth + 1 < texts.len() {
                return Err(ArrivalsError::Endless { text: (*text).to_owned() });
            }
            if piece.lasts.is_some_and(|lasts| lasts > LONGEST_PIECE) {
                return Err(ArrivalsError::TooLong { text: (*text).to_owned() });
            }
            pieces.push(piece);
        }
        Ok(pieces)
    }

    /// Reads a recording: each line has a time in seconds from the start, ascending. Empty lines, lines that begin
    /// with `#`, and the rest of a line after a comma or a blank are skipped.
    ///
    /// # Errors
    ///
    /// [`ArrivalsError::Instant`] and [`ArrivalsError::Absolute`] name the line. [`ArrivalsError::Empty`] says that
    /// there is no time.
    pub fn recorded(text: &str) -> Result<Arrivals, ArrivalsError> {
        let mut instants: Vec<Duration> = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = || ArrivalsError::Instant { line: index + 1, text: line.to_owned() };
            let time = line.split([',', ' ', '\t']).next().unwrap_or_default();
            let seconds: f64 = time.parse().map_err(|_| wrong())?;
            let instant = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
            let most = if instants.is_empty() { LATEST_FIRST } else { LATEST };
            if instant > most {
                let days = seconds / 86_400.0;
                return Err(ArrivalsError::Absolute { line: index + 1, text: line.to_owned(), days });
            }
            if instants.last().is_some_and(|before| *before > instant) {
                return Err(wrong());
            }
            instants.push(instant);
        }
        if instants.is_empty() { Err(ArrivalsError::Empty) } else { Ok(Arrivals::At(instants.into())) }
    }

    /// The time after which no request is due any more; `None` if the arrivals have no end.
    pub fn length(&self) -> Option<Duration> {
        match self {
            Arrivals::Rate { pieces, .. } => pieces.iter().map(|piece| piece.lasts).sum(),
            Arrivals::At(instants) => instants.last().map(|last| *last + Duration::from_nanos(1)),
        }
    }

    /// The highest rate at any time, in requests a second; `None` for a recording.
    pub(crate) fn highest_rate(&self) -> Option<f64> {
        match self {
            Arrivals::Rate { pieces, .. } => {
                pieces.iter().flat_map(|piece| [piece.from, piece.to]).max_by(f64::total_cmp)
            }
            Arrivals::At(_) => None,
        }
    }

    /// The mean rate, in requests a second, over the first `time` of the load. `time` must not be 0.
    pub fn mean_rate(&self, time: Duration) -> f64 {
        let expected = match self {
            Arrivals::Rate { pieces, .. } => {
                let mut left = time.as_secs_f64();
                let mut expected = 0.0;
                for piece in pieces {
                    let here = piece.lasts.map_or(left, |lasts| lasts.as_secs_f64().min(left));
                    expected += piece.count(here);
                    left -= here;
                }
                expected
            }
            Arrivals::At(instants) => instants.partition_point(|instant| *instant < time) as f64,
        };
        expected / time.as_secs_f64()
    }

    /// The instants, in ns from the start, in order, of those arrivals whose number, from 0, is `part` modulo
    /// `parts`.
    pub(crate) fn instants(&self, part: usize, parts: usize) -> Instants {
        let source = match self {
            Arrivals::Rate { pieces, gaps, burst } => Source::Rate {
                pieces: pieces.clone(),
                piece: 0,
                piece_began: 0.0,
                integral_before: 0.0,
                integral: 0.0,
                random: match gaps {
                    Gaps::Even => None,
                    Gaps::Poisson { seed } => Some(Box::new(ChaCha8Rng::seed_from_u64(*seed))),
                },
                burst: (*burst).max(1),
                left: 0,
                at: 0,
                begun: false,
            },
            Arrivals::At(instants) => Source::At(Arc::clone(instants), 0),
        };
        Instants { source, skip: part, step: parts }
    }
}

fn piece(text: &str) -> Option<Piece> {
    let (rate, lasts) = match text.split_once('@') {
        Some((rate, time)) => (rate, Some(time_of(time)?)),
        None => (text, None),
    };
    let number = |text: &str| text.trim().parse().ok().filter(|rate: &f64| *rate >= 0.0 && rate.is_finite());
    let (from, to): (f64, f64) = match rate.split_once("..") {
        Some((from, to)) => (number(from)?, number(to)?),
        None => (number(rate)?, number(rate)?),
    };
    let some = from > 0.0 || to > 0.0 || lasts.is_some();
    (some && (lasts.is_some() || from == to)).then_some(Piece { from, to, lasts })
}

fn time_of(text: &str) -> Option<Duration> {
    let time: SignedDuration = text.trim().parse().ok()?;
    Duration::try_from(time).ok().filter(|time| !time.is_zero())
}

impl Piece {
    /// The number of arrivals expected in the first `seconds` of the piece.
    fn count(&self, seconds: f64) -> f64 {
        self.from * seconds + self.bend() * seconds * seconds
    }

    /// The time, in seconds from the piece's beginning, at which `count` arrivals are expected. It is not the usual
    /// formula for the root of a quadratic, which loses its digits if the ramp is slight.
    fn when(&self, count: f64) -> f64 {
        if count == 0.0 {
            return 0.0;
        }
        let root = (self.from * self.from + 4.0 * self.bend() * count).max(0.0).sqrt();
        2.0 * count / (self.from + root)
    }

    fn bend(&self) -> f64 {
        self.lasts.map_or(0.0, |lasts| (self.to - self.from) / 2.0 / lasts.as_secs_f64())
    }
}

/// An iterator over the instants of arrivals, in ns from the start.
pub(crate) struct Instants {
    source: Source,
    skip: usize,
    step: usize,
}

enum Source {
    Rate {
        pieces: Vec<Piece>,
        piece: usize,
        /// The beginning of the present piece, in seconds.
        piece_began: f64,
        /// The integral of the rate up to the present piece.
        integral_before: f64,
        /// The integral of the rate up to the last arrival.
        integral: f64,
        random: Option<Box<ChaCha8Rng>>,
        burst: u32,
        /// The number of arrivals of the present burst that are still to come.
        left: u32,
        at: u64,
        begun: bool,
    },
    At(Arc<[Duration]>, usize),
}

impl Source {
    fn next(&mut self) -> Option<u64> {
        match self {
            Source::At(instants, next) => {
                let at = instants.get(*next)?;
                *next += 1;
                Some(crate::nanos(*at))
            }
            Source::Rate {
                pieces,
                piece,
                piece_began,
                integral_before,
                integral,
                random,
                burst,
                left,
                at,
                begun,
            } => {
                if *left > 0 {
                    *left -= 1;
                    return Some(*at);
                }
                let unit = match random {
                    Some(random) => -(1.0 - random.random::<f64>()).ln(),
                    None if !*begun => 0.0,
                    None => 1.0,
                };
                *begun = true;
                *integral += unit * f64::from(*burst);
                loop {
                    let here = pieces.get(*piece)?;
                    let count = *integral - *integral_before;
                    match here.lasts.map(|lasts| (lasts.as_secs_f64(), here.count(lasts.as_secs_f64()))) {
                        // The end of a piece belongs to the next one.
                        Some((seconds, all)) if count >= all => {
                            *piece_began += seconds;
                            *integral_before += all;
                            *piece += 1;
                        }
                        _ => {
                            *at = ((*piece_began + here.when(count)) * 1e9).round() as u64;
                            *left = *burst - 1;
                            return Some(*at);
                        }
                    }
                }
            }
        }
    }
}

impl Iterator for Instants {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        for _ in 0..std::mem::replace(&mut self.skip, self.step - 1) {
            self.source.next()?;
        }
        self.source.next()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn rate(text: &str, gaps: Gaps, burst: u32) -> Arrivals {
        Arrivals::Rate { pieces: Arrivals::pieces(text).unwrap(), gaps, burst }
    }

    fn ms(arrivals: &Arrivals, first: usize) -> Vec<f64> {
        arrivals.instants(0, 1).take(first).map(|ns| (ns as f64 / 1e6 * 1e3).round() / 1e3).collect()
    }

    #[test]
    fn even_arrivals_are_a_grid() {
        assert_eq!(ms(&Arrivals::constant(400.0), 4), [0.0, 2.5, 5.0, 7.5]);
        let last = Arrivals::constant(30_000.0).instants(0, 1).nth(3_000_000).unwrap();
        assert_eq!(last, 100_000_000_000, "nothing adds up");
    }

    #[test]
    fn steps_and_bursts_are_due_when_they_say() {
        let steps = rate("100@30ms, 1000@3ms, 0@10ms, 500@5ms", Gaps::Even, 1);
        assert_eq!(ms(&steps, 99), [0.0, 10.0, 20.0, 30.0, 31.0, 32.0, 43.0, 45.0, 47.0]);
        assert_eq!(steps.length(), Some(Duration::from_millis(48)));
        assert_eq!(ms(&rate("1000", Gaps::Even, 3), 7), [0.0, 0.0, 0.0, 3.0, 3.0, 3.0, 6.0]);
    }

    #[test]
    fn a_ramp_has_the_integral_of_its_rate() {
        // 0 to 100 a second in 2 s: the nth, from 0, comes when 25 t² = n.
        let ramp: Vec<u64> = rate("0..100@2s", Gaps::Even, 1).instants(0, 1).collect();
        assert_eq!(ramp.len(), 100);
        for (n, at) in ramp.iter().enumerate() {
            assert!((*at as f64 - (n as f64 / 25.0).sqrt() * 1e9).abs() <= 1.0);
        }
        // Down again, from 100 to 0: the same, mirrored.
        let down: Vec<u64> = rate("100..0@2s", Gaps::Even, 1).instants(0, 1).collect();
        assert_eq!(down.len(), 100);
        assert!((down[75] as f64 - 1e9).abs() <= 1.0, "three quarters in the first half");
    }

    #[test]
    fn random_arrivals_are_a_poisson_process() {
        let poisson = |seed| rate("0..2000@5s,1000@5s", Gaps::Poisson { seed }, 1);
        let all: Vec<u64> = poisson(7).instants(0, 1).collect();
        assert_eq!(all, poisson(7).instants(0, 1).collect::<Vec<_>>());
        assert_ne!(all, poisson(8).instants(0, 1).collect::<Vec<_>>());
        // 10,000 expected, standard deviation 100; of them 5,000 in the second half, each 100 ms of it 100.
        assert!((9_500..10_500).contains(&all.len()), "{}", all.len());
        let counts: Vec<f64> = (50..100)
            .map(|tenth| all.iter().filter(|at| **at / 100_000_000 == tenth).count() as f64)
            .collect();
        let mean = counts.iter().sum::<f64>() / 50.0;
        let variance = counts.iter().map(|count| (count - mean).powi(2)).sum::<f64>() / 49.0;
        assert!((95.0..105.0).contains(&mean), "{mean}");
        assert!((0.55..1.6).contains(&(variance / mean)), "{}: a grid would have 0", variance / mean);
    }

    #[test]
    fn a_recording_is_due_at_its_seconds_and_a_wrong_line_is_named() {
        let recorded = Arrivals::recorded("# seconds\n0\n0.5, /a\n\n0.5\n2 x\n").unwrap();
        assert_eq!(ms(&recorded, 9), [0.0, 500.0, 500.0, 2000.0]);
        assert_eq!(recorded.length(), Some(Duration::new(2, 1)));
        assert_eq!(recorded.mean_rate(Duration::from_secs(1)), 3.0);
        for (text, message) in [
            ("", "no time"),
            ("1\n0.5", "line 2"),
            ("1\n\n-1", "line 3"),
            ("nan", "line 1"),
            ("1e300", "line 1"),
        ] {
            let error = Arrivals::recorded(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_text_that_is_no_rate_is_refused() {
        for text in [
            "", "x", "-1", "0", "1e999", "inf", "100..200", "100@", "100@5", "100@0s", "1,,2", "nan",
            "100@5x",
        ] {
            assert!(
                matches!(
                    Arrivals::pieces(text),
                    Err(ArrivalsError::Rate { .. } | ArrivalsError::Endless { .. })
                ),
                "{text}"
            );
        }
        assert_eq!(Arrivals::pieces("1,2"), Err(ArrivalsError::Endless { text: "1".to_owned() }));
        let longest = "1@9223372036854775807s";
        let too_long = Err(ArrivalsError::TooLong { text: longest.to_owned() });
        assert_eq!(Arrivals::pieces(&[longest; 3].join(",")), too_long);
        let mean = |text: &str| rate(text, Gaps::Even, 1).mean_rate(Duration::from_secs(4));
        assert_eq!((mean("500"), mean("0..100@2s,300@1s")), (500.0, 100.0));
    }

    proptest! {
        #[test]
        fn the_parts_of_all_threads_are_the_whole(parts in 1..5_usize, burst in 1..4_u32, random: bool) {
            let gaps = if random { Gaps::Poisson { seed: 3 } } else { Gaps::Even };
            let arrivals = rate("500@20ms,100..2000@40ms,7@1s", gaps, burst);
            let whole: Vec<u64> = arrivals.instants(0, 1).collect();
            prop_assert!(whole.is_sorted());
            let mut together: Vec<u64> = (0..parts).flat_map(|part| arrivals.instants(part, parts)).collect();
            together.sort_unstable();
            prop_assert_eq!(together, whole);
        }
    }
}
