//! The sampler: it chooses requests whose answers are kept whole.
//!
//! The window is divided into equal parts, by requests if the load has a limit in them, else by time, and in each part
//! one request is chosen at random. Answers are kept only if they are right: what is wrong is counted already.

use std::collections::VecDeque;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::in_flight::{InFlight, NOT_YET};
use crate::sampled::SampledAnswer;
use crate::{Load, nanos};

/// The most bytes that all sampled answers together have.
const MOST_BYTES: usize = 64 << 20;

pub(crate) struct Sampler {
    /// The instant at which the window opens, in ns on the engine's clock.
    opens: u64,
    /// The choices to come, in order.
    choices: VecDeque<Choice>,
    /// Choices count requests of the window, and not ns since it opened.
    by_count: bool,
    /// The number of requests sent in the window.
    sent: u64,
    /// The chosen requests that are on their way, with their slots.
    on_their_way: Vec<(usize, InFlight)>,
    room_bytes: usize,
    taken: Vec<SampledAnswer>,
}

/// A request of the window that is chosen: that many requests after the first one from `from` on.
struct Choice {
    from: u64,
    skip: u64,
}

impl Sampler {
    /// The sampler of thread number `thread`, from 0, of `threads`. `sessions` is the number of sessions that this
    /// thread may begin; `None` if time is the limit. Returns `None` if the load samples nothing, or has no limit.
    pub fn of_thread(load: &Load, sessions: Option<u64>, thread: usize, threads: usize) -> Option<Sampler> {
        let sampling = load.sampling?;
        let answers = sampling.answers / threads + usize::from(thread < sampling.answers % threads);
        let mut random = ChaCha8Rng::seed_from_u64(sampling.seed.wrapping_add(thread as u64));
        let longest = load.sessions.iter().map(|session| session.steps.len()).max().unwrap_or(1) as u64;
        let (whole, skips) = match (sessions, load.limit.duration) {
            (Some(sessions), _) => (sessions.saturating_mul(requests_of_hundred(load)) / 100, 1),
            (None, Some(duration)) => (nanos(duration), longest),
            (None, None) => return None,
        };
        let parts = (answers as u64).min(whole);
        let choice = |nth: u64| {
            let bound = |nth: u64| (u128::from(whole) * u128::from(nth) / u128::from(parts)) as u64;
            Choice {
                from: random.random_range(bound(nth)..bound(nth + 1)),
                skip: random.random_range(0..skips),
            }
        };
        Some(Sampler {
            opens: nanos(load.warm_up),
            choices: (0..parts).map(choice).collect(),
            by_count: sessions.is_some(),
            sent: 0,
            on_their_way: Vec::new(),
            room_bytes: MOST_BYTES / threads,
            taken: Vec::new(),
        })
        .filter(|_| parts > 0)
    }

    /// Notes that the window opens `by` ns sooner.
    pub fn open_sooner(&mut self, by: u64) {
        self.opens -= by;
    }

    /// Notes a request that is being sent from this slot. Returns `true` if it is chosen.
    pub fn chooses(&mut self, slot: usize, request: InFlight) -> bool {
        let Some(since) = request.sent.checked_sub(self.opens) else { return false };
        let at = if self.by_count { self.sent } else { since };
        self.sent += 1;
        let Some(choice) = self.choices.front_mut().filter(|choice| choice.from <= at) else { return false };
        if choice.skip > 0 {
            choice.skip -= 1;
            return false;
        }
        self.choices.pop_front();
        self.on_their_way.push((slot, request));
        true
    }

    /// Ends a request. Returns `true` if it was chosen. Its answer is kept if it is given, and there is room.
    pub fn ends(&mut self, slot: usize, request: InFlight, answer: Option<Box<SampledAnswer>>) -> bool {
        // Of a request on its way only this changes.
        let as_sent = InFlight { first_byte: NOT_YET, ..request };
        let Some(nth) = self.on_their_way.iter().position(|chosen| *chosen == (slot, as_sent)) else {
            return false;
        };
        self.on_their_way.swap_remove(nth);
        if let Some(answer) = answer
            && let Some(room_bytes) = self.room_bytes.checked_sub(answer.bytes())
        {
            self.room_bytes = room_bytes;
            self.taken.push(*answer);
        }
        true
    }

    /// The answers that were kept, in the order in which they came.
    pub fn taken(self) -> Vec<SampledAnswer> {
        self.taken
    }
}

/// The number of requests of a hundred sessions, if none fails.
fn requests_of_hundred(load: &Load) -> u64 {
    let weights = load.sessions.iter().map(|session| u64::from(session.weight)).sum::<u64>().max(1);
    let requests = load.sessions.iter().map(|session| u64::from(session.weight) * session.steps.len() as u64);
    (requests.sum::<u64>() * 100 / weights).max(100)
}
