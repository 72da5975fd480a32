//! Recovery: the time until answers are right, and stay so.
//!
//! An *episode* begins with a failure. It is over with the first right answer after which no failure comes for a
//! while (`steady`). [`Episodes`] is told of each finished request, in order, and reads no clock.
//!
//! After a disturbance the first episode counts, from its first failure or from the end of the injection, whichever
//! is later.

use std::time::Duration;

use crate::record::outcome::Recovery;

/// The time in ns for which no failure may come before answers count as steady: 1.5 time-outs. One time-out would be
/// too short, because a connection that hangs shows only then.
pub(crate) fn steady(timeout: u64) -> u64 {
    timeout + timeout / 2
}

/// The episodes of a stretch of time: only what is needed for the first and the longest, however many there are.
/// Instants and times are in ns.
pub(crate) struct Episodes {
    steady: u64,
    /// The last episode, which may turn out to be over; `None` if nothing failed.
    last: Option<Episode>,
    /// The length of the first episode; `None` until it is known to be over.
    first: Option<u64>,
    /// The length of the longest episode before the last; 0 if there was none.
    longest: u64,
    /// The end of the injection, or the first failure if that came later.
    since: u64,
    /// The first right answer after `since`; `None` before it.
    first_right: Option<u64>,
}

#[derive(Clone, Copy)]
struct Episode {
    began: u64,
    /// The first right answer after the episode's last failure so far; `None` before it.
    right: Option<u64>,
}

impl Episodes {
    pub fn new(steady: u64) -> Episodes {
        Episodes { steady, last: None, first: None, longest: 0, since: 0, first_right: None }
    }

    /// Notes a right answer.
    #[inline]
    pub fn right(&mut self, now: u64) {
        self.first_right.get_or_insert(now);
        if let Some(Episode { right: right @ None, .. }) = &mut self.last {
            *right = Some(now);
        }
    }

    /// Notes a failed request.
    pub fn failed(&mut self, now: u64) {
        match &mut self.last {
            Some(Episode { began, right: Some(right) }) if now - *right >= self.steady => {
                let took = *right - *began;
                self.first.get_or_insert(took);
                self.longest = self.longest.max(took);
                self.last = Some(Episode { began: now, right: None });
            }
            Some(episode) => episode.right = None,
            None => {
                self.last = Some(Episode { began: now, right: None });
                self.since = now;
                self.first_right = None;
            }
        }
    }

    /// Notes that the disturbance is over. If a request failed during it, the first episode counts from `now`, and may
    /// be over at once, unless the last request failed.
    pub fn injected(&mut self, now: u64) {
        let last = self.last.map(|Episode { right, .. }| Episode { began: now, right: right.map(|_| now) });
        *self = Episodes { last, since: now, ..Episodes::new(self.steady) };
    }

    /// The instant that the first episode counts from: the end of the injection, or the first failure if that came
    /// later.
    pub fn since(&self) -> u64 {
        self.since
    }

    /// The time from `since` to the first right answer; `None` if none came.
    pub fn first_right(&self) -> Option<Duration> {
        self.first_right.map(|at| Duration::from_nanos(at - self.since))
    }

    /// The first episode, as it was known at `end`: answers that come to an open loop later can only begin or end an
    /// episode. If nothing failed it took no time, and is complete as soon as a connection that hangs would have
    /// shown.
    pub fn first(&self, end: u64) -> Recovery {
        let known = self.first.map(|took| Recovery { took: Duration::from_nanos(took), complete: true });
        let unfailing = Recovery { took: Duration::ZERO, complete: self.was_steady(self.since, end) };
        known.or_else(|| self.last(end)).unwrap_or(unfailing)
    }

    /// The longest episode, as it was known at `end`; `None` if nothing failed. It is complete only if every episode
    /// was over.
    pub fn longest(&self, end: u64) -> Option<Recovery> {
        let last = self.last(end)?;
        Some(Recovery { took: last.took.max(Duration::from_nanos(self.longest)), ..last })
    }

    fn last(&self, end: u64) -> Option<Recovery> {
        let Episode { began, right } = self.last?;
        // Without a right answer yet, the one that ends the episode comes after `end`.
        let took = Duration::from_nanos(right.unwrap_or(end).saturating_sub(began));
        Some(Recovery { took, complete: right.is_some_and(|right| self.was_steady(right, end)) })
    }

    fn was_steady(&self, from: u64, end: u64) -> bool {
        end.saturating_sub(from) >= self.steady
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STEADY: u64 = 10;
    const RIGHT: bool = true;
    const FAILED: bool = false;

    fn recovery(took: u64, complete: bool) -> Option<Recovery> {
        Some(Recovery { took: Duration::from_nanos(took), complete })
    }

    fn fed(episodes: &mut Episodes, events: &[(u64, bool)]) {
        for &(now, right) in events {
            if right { episodes.right(now) } else { episodes.failed(now) }
        }
    }

    fn episodes_of(events: &[(u64, bool)]) -> Episodes {
        let mut episodes = Episodes::new(STEADY);
        fed(&mut episodes, events);
        episodes
    }

    #[test]
    fn steady_is_longer_than_the_time_out() {
        assert_eq!((steady(1_000), steady(3)), (1_500, 4));
    }

    #[test]
    fn without_a_failure_there_is_no_recovery() {
        assert_eq!(episodes_of(&[]).longest(99), None);
        assert_eq!(episodes_of(&[(1, RIGHT), (50, RIGHT)]).longest(99), None);
    }

    #[test]
    fn from_the_first_failure_to_the_first_right_answer_of_those_that_stay_right() {
        let episodes = episodes_of(&[
            (4, RIGHT),
            (5, FAILED),
            (6, RIGHT),
            (7, FAILED),
            (8, FAILED),
            (9, RIGHT),
            (10, RIGHT),
            (18, FAILED),
            (21, RIGHT),
            (22, RIGHT),
        ]);
        assert_eq!(episodes.longest(31), recovery(16, true));
        assert_eq!(episodes.longest(30), recovery(16, false), "one too early to be sure");
    }

    #[test]
    fn a_failure_after_a_steady_time_is_another_episode() {
        let events = [(1, FAILED), (4, RIGHT), (14, FAILED), (15, RIGHT)];
        assert_eq!(episodes_of(&events).longest(25), recovery(3, true));
        assert_eq!(Some(episodes_of(&events).first(25)), recovery(3, true));
        let sooner = [(1, FAILED), (4, RIGHT), (13, FAILED), (15, RIGHT)];
        assert_eq!(episodes_of(&sooner).longest(25), recovery(14, true));
    }

    #[test]
    fn the_longest_may_be_any_and_is_a_bound_while_one_is_not_over() {
        let events = [(1, FAILED), (8, RIGHT), (30, FAILED), (31, RIGHT)];
        assert_eq!(episodes_of(&events).longest(41), recovery(7, true));
        assert_eq!(episodes_of(&events).longest(40), recovery(7, false));
        assert_eq!(episodes_of(&[&events[..], &[(32, FAILED)]].concat()).longest(40), recovery(10, false));
    }

    #[test]
    fn without_a_right_answer_it_lasts_to_the_end_at_least() {
        assert_eq!(episodes_of(&[(1, RIGHT), (5, FAILED), (6, FAILED)]).longest(60), recovery(55, false));
    }

    #[test]
    fn what_comes_after_the_end_confirms_nothing() {
        let late = |events: &[(u64, bool)]| {
            let mut episodes = episodes_of(&[]);
            episodes.injected(50);
            fed(&mut episodes, events);
            (Some(episodes.first(60)), episodes.longest(60))
        };
        assert_eq!(late(&[(55, FAILED), (70, RIGHT)]), (recovery(15, false), recovery(15, false)));
        assert_eq!(late(&[(70, FAILED), (75, RIGHT)]), (recovery(5, false), recovery(5, false)));
        assert_eq!(late(&[(70, FAILED)]), (recovery(0, false), recovery(0, false)));
    }

    #[test]
    fn after_an_injection_the_first_episode_counts_from_its_end() {
        type Case<'a> = (&'a [(u64, bool)], &'a [(u64, bool)], Option<Recovery>, Option<u64>);
        let cases: [Case; 12] = [
            (&[], &[(51, RIGHT)], recovery(0, true), Some(1)),
            (&[(44, RIGHT)], &[(99, RIGHT)], recovery(0, true), Some(49)),
            (&[(10, FAILED), (20, RIGHT)], &[], recovery(0, true), None),
            // Right again just before, which is at once; but it must stay so from here on.
            (&[(44, FAILED), (45, RIGHT)], &[(59, FAILED), (61, RIGHT)], recovery(11, true), Some(11)),
            (&[(10, FAILED), (20, RIGHT)], &[(60, FAILED), (61, RIGHT)], recovery(0, true), Some(11)),
            (&[(44, FAILED)], &[(52, RIGHT), (53, RIGHT)], recovery(2, true), Some(2)),
            (&[(50, FAILED)], &[(52, RIGHT), (53, FAILED), (55, RIGHT)], recovery(5, true), Some(2)),
            (&[(44, FAILED)], &[(66, FAILED), (95, RIGHT)], recovery(45, false), Some(45)),
            (&[(44, FAILED)], &[(66, FAILED)], recovery(50, false), None),
            // Nothing failed until later: from there.
            (
                &[(49, RIGHT)],
                &[(51, RIGHT), (57, FAILED), (60, FAILED), (71, RIGHT)],
                recovery(14, true),
                Some(14),
            ),
            (&[], &[(51, RIGHT), (80, FAILED), (81, RIGHT), (91, FAILED)], recovery(1, true), Some(1)),
            (&[], &[(51, RIGHT), (70, FAILED)], recovery(30, false), None),
        ];
        for (before, after, expected, first_right) in cases {
            let mut episodes = episodes_of(before);
            episodes.injected(50);
            fed(&mut episodes, after);
            assert_eq!(Some(episodes.first(100)), expected, "{before:?}, then {after:?}");
            let first_right = first_right.map(Duration::from_nanos);
            assert_eq!(episodes.first_right(), first_right, "{before:?}, then {after:?}");
        }
        let mut quiet = episodes_of(&[]);
        quiet.injected(50);
        assert_eq!(Some(quiet.first(59)), recovery(0, false), "a connection that hangs could not yet show");
    }

    /// Answers are right from `at` on, where `later` is all that came after it.
    fn stays_right(at: u64, later: &[(u64, bool)]) -> bool {
        later.iter().all(|&(then, right)| right || then >= at + STEADY)
    }

    /// The same, by the definition and with all events at hand.
    fn naive_longest(events: &[(u64, bool)], end: u64) -> Option<Recovery> {
        let mut found: Vec<(u64, bool)> = Vec::new();
        let mut rest = events;
        while let Some(begin) = rest.iter().position(|&(_, right)| right == FAILED) {
            let (began, _) = rest[begin];
            rest = &rest[begin + 1..];
            let over = (0..rest.len()).find(|&i| rest[i].1 && stays_right(rest[i].0, &rest[i + 1..]));
            let Some(over) = over else {
                found.push((end - began, false));
                break;
            };
            found.push((rest[over].0 - began, end >= rest[over].0 + STEADY));
            rest = &rest[over + 1..];
        }
        let took = found.iter().map(|(took, _)| *took).max()?;
        recovery(took, found.iter().all(|(_, complete)| *complete))
    }

    /// By the definition: from the later of `ended` and the first failure to the first moment from which answers are
    /// right, which is `ended` itself or a right answer, and to the first right answer.
    fn naive_first(
        before: &[(u64, bool)],
        ended: u64,
        after: &[(u64, bool)],
        end: u64,
    ) -> (Recovery, Option<Duration>) {
        let failure = |events: &[(u64, bool)]| events.iter().position(|&(_, right)| right == FAILED);
        let (from, after) = match (failure(before), failure(after)) {
            (None, Some(first)) => (after[first].0, &after[first..]),
            _ => (ended, after),
        };
        let at_once = before.last().is_none_or(|&(_, right)| right) && stays_right(from, after);
        let later = (0..after.len()).find(|&i| after[i].1 && stays_right(after[i].0, &after[i + 1..]));
        let over = if at_once { Some(from) } else { later.map(|i| after[i].0) };
        let complete = over.is_some_and(|over| end >= over + STEADY);
        let first_right =
            after.iter().find(|(_, right)| *right).map(|(at, _)| Duration::from_nanos(at - from));
        (recovery(over.unwrap_or(end) - from, complete).unwrap(), first_right)
    }

    proptest! {
        #[test]
        fn recovery_is_what_the_definition_says(
            steps in prop::collection::vec((0..8_u64, prop::bool::weighted(0.7)), 0..60),
            split in 0..60_usize,
            gap in 0..15_u64,
            tail in 0..15_u64,
        ) {
            let mut now = 0;
            let mut events: Vec<(u64, bool)> = Vec::new();
            let split = split.min(steps.len());
            let mut ended = 0;
            for (index, (step, right)) in steps.iter().enumerate() {
                if index == split {
                    now += gap;
                    ended = now;
                }
                now += step;
                events.push((now, *right));
            }
            if split == steps.len() {
                now += gap;
                ended = now;
            }
            let end = now + tail;
            prop_assert_eq!(episodes_of(&events).longest(end), naive_longest(&events, end));

            let (before, after) = events.split_at(split);
            let mut episodes = episodes_of(before);
            episodes.injected(ended);
            fed(&mut episodes, after);
            prop_assert_eq!((episodes.first(end), episodes.first_right()), naive_first(before, ended, after, end));
        }
    }
}
