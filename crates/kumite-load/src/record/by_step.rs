//! Results by session and by step, for a load with several steps.

use hdrhistogram::Histogram;

use crate::record::errors::{Errors, Failure};
use crate::record::histogram::{add, histogram};

/// The figures of one session in the measured window.
#[derive(Debug, Clone)]
pub struct SessionOutcome {
    /// The session's name.
    pub name: String,
    /// The number of sessions of which every answer was right.
    pub ok: u64,
    /// The number of sessions that ended with a step that failed.
    pub failed: u64,
    /// The times of the sessions in `ok`, in nanoseconds, to three digits: from when a session was due to its last
    /// answer.
    pub time: Histogram<u64>,
    /// The figures of the session's steps, in their order.
    pub steps: Vec<StepOutcome>,
}

/// The figures of one step in the measured window. The sums over all steps are those of the whole load.
#[derive(Debug, Clone)]
pub struct StepOutcome {
    /// The step's name.
    pub name: String,
    /// The number of right answers.
    pub ok: u64,
    /// The numbers of failed requests, by kind.
    pub errors: Errors,
    /// Response times of the right answers in ns, to three digits.
    pub response: Histogram<u64>,
}

impl StepOutcome {
    /// The number of finished requests, right or not.
    pub fn requests(&self) -> u64 {
        self.ok + self.errors.total()
    }
}

impl SessionOutcome {
    /// The outcome of a session of this name, with steps of these names, before anything is counted.
    pub(crate) fn empty(name: &str, steps: impl Iterator<Item = String>) -> SessionOutcome {
        let step = |name| StepOutcome { name, ok: 0, errors: Errors::default(), response: histogram() };
        SessionOutcome {
            name: name.to_owned(),
            ok: 0,
            failed: 0,
            time: histogram(),
            steps: steps.map(step).collect(),
        }
    }
}

/// One thread's figures by session and by step. There are none if all sessions together have one step: the outcome
/// has them already.
#[derive(Default)]
pub(crate) struct BySteps {
    sessions: Vec<SessionOutcome>,
    /// For each step, numbered through, the index of its session and its index in that.
    places: Vec<(usize, usize)>,
}

impl BySteps {
    /// Counts into these sessions, of which nothing has been counted yet.
    pub fn new(sessions: Vec<SessionOutcome>) -> BySteps {
        let places =
            |(nth, session): (usize, &SessionOutcome)| (0..session.steps.len()).map(move |step| (nth, step));
        let places: Vec<_> = sessions.iter().enumerate().flat_map(places).collect();
        if places.len() < 2 { BySteps::default() } else { BySteps { sessions, places } }
    }

    /// Counts a right answer of this step.
    #[inline]
    pub fn right(&mut self, step: u32, response: u64) {
        if let Some(step) = self.step(step) {
            step.ok += 1;
            step.response.record(response).expect("a histogram that grows takes any value");
        }
    }

    /// Counts a failed request of this step.
    pub fn failed(&mut self, step: u32, failure: Failure) {
        if let Some(step) = self.step(step) {
            step.errors.count(failure);
        }
    }

    /// Counts a session of several steps that ended with this step, `took` ns after it was due.
    pub fn session(&mut self, step: u32, right: bool, took: u64) {
        let Some((session, _)) = self.places.get(step as usize) else { return };
        let session = &mut self.sessions[*session];
        if session.steps.len() > 1 {
            session.ok += u64::from(right);
            session.failed += u64::from(!right);
            if right {
                session.time.record(took).expect("a histogram that grows takes any value");
            }
        }
    }

    fn step(&mut self, step: u32) -> Option<&mut StepOutcome> {
        let (session, step) = *self.places.get(step as usize)?;
        Some(&mut self.sessions[session].steps[step])
    }

    /// The figures of all sessions. The figures of a session of one step are those of the step.
    pub fn finish(mut self) -> Vec<SessionOutcome> {
        for session in &mut self.sessions {
            if let [step] = &session.steps[..] {
                (session.ok, session.failed, session.time) =
                    (step.ok, step.errors.total(), step.response.clone());
            }
        }
        self.sessions
    }
}

/// Adds another thread's figures of the same sessions.
pub(crate) fn merge(all: &mut Vec<SessionOutcome>, other: Vec<SessionOutcome>) {
    if all.is_empty() {
        *all = other;
        return;
    }
    for (own, other) in all.iter_mut().zip(other) {
        own.ok += other.ok;
        own.failed += other.failed;
        add(&mut own.time, &other.time);
        for (own, other) in own.steps.iter_mut().zip(other.steps) {
            own.ok += other.ok;
            own.errors += other.errors;
            add(&mut own.response, &other.response);
        }
    }
}
