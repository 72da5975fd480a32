//! Failures on purpose, in place of right answers.

use std::str::FromStr;

use crate::draw::Uniform;
use crate::notation::{NotationError, share};

/// A share of requests that fail, each with the same probability: `0.1`, `0.1:503` or `0.1:reset`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Failures {
    /// The probability of a failure, from 0 to 1.
    pub share: f64,
    /// The kind of failure.
    pub kind: FailureKind,
}

/// The failure of a request, at the time when its answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// An answer with this status, from 400 to 599; 500 if no status is given.
    Status(u16),
    /// The connection is reset in place of an answer.
    Reset,
}

impl Failures {
    /// The failures of a stub with this seed, without end: `true` at position n if the n-th request that the stub reads
    /// is to fail. They do not depend on the delays.
    pub fn draws(self, seed: u64) -> impl Iterator<Item = bool> {
        let mut draws = Draws::new(Some(self), seed);
        std::iter::repeat_with(move || draws.next())
    }
}

/// The draws of [`Failures::draws`].
#[derive(Debug)]
pub(crate) struct Draws {
    share: f64,
    random: Uniform,
}

impl Draws {
    pub fn new(failures: Option<Failures>, seed: u64) -> Draws {
        Draws { share: failures.map_or(0.0, |of| of.share), random: Uniform::of_failures(seed) }
    }

    pub fn next(&mut self) -> bool {
        self.share > 0.0 && self.random.next() < self.share
    }
}

impl FromStr for Failures {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Failures, NotationError> {
        let (share_text, kind) = text.split_once(':').unwrap_or((text, "500"));
        let kind = match kind {
            "reset" => Some(FailureKind::Reset),
            status => {
                let status = status.parse().ok().filter(|status| (400..=599).contains(status));
                status.map(FailureKind::Status)
            }
        };
        match (share(share_text), kind) {
            (Some(share), Some(kind)) => Ok(Failures { share, kind }),
            _ => Err(NotationError {
                text: text.to_owned(),
                what: "share of errors",
                expected: "expected 0.1, 0.1:503 (a status from 400 to 599) or 0.1:reset, with a share from 0 to 1",
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_parsed_and_wrong_ones_refused() {
        let status = |share, status| Failures { share, kind: FailureKind::Status(status) };
        for (text, failures) in [
            ("0.1", status(0.1, 500)),
            ("1:503", status(1.0, 503)),
            ("0:404", status(0.0, 404)),
            ("0.5:reset", Failures { share: 0.5, kind: FailureKind::Reset }),
        ] {
            assert_eq!(text.parse(), Ok(failures), "{text}");
        }
        for text in ["", "10%", "1.1", "-0.1", "NaN", "0.1:", "0.1:200", "0.1:600", "0.1:Reset", ":500"] {
            assert!(text.parse::<Failures>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_share_is_what_was_asked_for() {
        const DRAWS: usize = 100_000;
        let failed = |share, seed| {
            let failures = Failures { share, kind: FailureKind::Reset };
            failures.draws(seed).take(DRAWS).filter(|failed| *failed).count()
        };
        assert_eq!((failed(0.0, 1), failed(1.0, 1)), (0, DRAWS));
        // Five standard deviations.
        assert!(failed(0.1, 1).abs_diff(10_000) < 475, "{}", failed(0.1, 1));
        assert_ne!(failed(0.1, 1), failed(0.1, 2));
    }
}
