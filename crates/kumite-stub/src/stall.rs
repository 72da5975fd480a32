//! Stalls: stretches of time in which a stub does nothing.

use std::str::FromStr;
use std::time::Duration;

use crate::notation::{NotationError, duration, nanos};

/// A stretch of time, counted from the start of listening, in which nothing is accepted, read or answered: `AT:FOR`
/// or `AT:FOR:EVERY`. The kernel goes on taking connections and bytes, as it does for a process that is stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// The beginning of the first stall.
    pub at: Duration,
    /// The length of each stall.
    pub length: Duration,
    /// The time from the beginning of one stall to that of the next, longer than a stall; none if there is only one.
    pub every: Option<Duration>,
}

impl Stall {
    /// The beginning and the end of the first stall that is not over at `now`, all in ns since the start of
    /// listening; none if no more is to come.
    pub(crate) fn next(&self, now: u64) -> Option<(u64, u64)> {
        let (at, length) = (nanos(self.at), nanos(self.length));
        let begin = match self.every.map(nanos) {
            _ if now < at + length => at,
            None => return None,
            Some(every) => {
                let begun = at + (now - at) / every * every;
                if now < begun + length { begun } else { begun + every }
            }
        };
        Some((begin, begin + length))
    }

    /// The first instant from `at` on that is in no stall, in ns since the start of listening.
    pub(crate) fn after(&self, at: u64) -> u64 {
        match self.next(at) {
            Some((begin, end)) if begin <= at => end,
            _ => at,
        }
    }
}

impl FromStr for Stall {
    type Err = NotationError;

    fn from_str(text: &str) -> Result<Stall, NotationError> {
        let stall = || {
            let mut parts = text.split(':');
            let (at, length) = (duration(parts.next()?)?, duration(parts.next()?)?);
            let every = match parts.next() {
                Some(every) => Some(duration(every).filter(|every| *every > length)?),
                None => None,
            };
            let sound = parts.next().is_none() && !length.is_zero();
            sound.then_some(Stall { at, length, every })
        };
        stall().ok_or_else(|| NotationError {
            text: text.to_owned(),
            what: "stall",
            expected: "expected AT:FOR, such as 2s:500ms, or AT:FOR:EVERY, such as 2s:500ms:5s, \
                       with EVERY above FOR and no time above an hour",
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_stall_is_parsed_and_a_wrong_one_refused() {
        let (ms, s) = (Duration::from_millis, Duration::from_secs);
        for (text, stall) in [
            ("2s:500ms", Stall { at: s(2), length: ms(500), every: None }),
            ("0:1s:5s", Stall { at: s(0), length: s(1), every: Some(s(5)) }),
        ] {
            assert_eq!(text.parse(), Ok(stall), "{text}");
        }
        for text in ["", "2s", "2s:0", "2s:1s:1s", "2s:1s:500ms", "2s:1s:5s:6s", "x:1s", "2s:1s:", "2h:1s"] {
            assert!(text.parse::<Stall>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_single_stall_delays_what_comes_in_it() {
        let stall: Stall = "10ns:5ns".parse().unwrap();
        for (now, next, after) in [
            (0, Some((10, 15)), 0),
            (9, Some((10, 15)), 9),
            (10, Some((10, 15)), 15),
            (14, Some((10, 15)), 15),
            (15, None, 15),
            (1000, None, 1000),
        ] {
            assert_eq!((stall.next(now), stall.after(now)), (next, after), "{now}");
        }
    }

    #[test]
    fn a_repeated_stall_delays_what_comes_in_any() {
        let stall: Stall = "10ns:5ns:20ns".parse().unwrap();
        for (now, next, after) in [
            (14, (10, 15), 15),
            (15, (30, 35), 15),
            (30, (30, 35), 35),
            (34, (30, 35), 35),
            (35, (50, 55), 35),
            (1_000_010, (1_000_010, 1_000_015), 1_000_015),
        ] {
            assert_eq!((stall.next(now), stall.after(now)), (Some(next), after), "{now}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// Stalls agree with their definition, instant by instant.
        #[test]
        fn a_stall_is_what_the_definition_says_at_every_instant(at in 0_u64..50, length in 1_u64..20, more in prop::option::of(1_u64..20), now in 0_u64..500) {
            let ns = Duration::from_nanos;
            let every = more.map(|more| length + more);
            let stall = Stall { at: ns(at), length: ns(length), every: every.map(ns) };
            let stalled = |now: u64| now >= at && every.map_or(now - at, |every| (now - at) % every) < length;
            let after = (now..).find(|now| !stalled(*now)).unwrap();
            prop_assert_eq!(stall.after(now), after);
            let begin = (now..now + 100).find(|now| stalled(*now));
            prop_assert_eq!(stall.next(now).map(|(begin, _)| begin.max(now)), begin);
        }
    }
}
