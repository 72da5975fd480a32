//! Request source: it says which session a connection begins next, and gives the requests of its steps, as bytes.
//!
//! The steps of all sessions are numbered through, so that a request on its way names its step by one number.

use std::sync::Arc;

use crate::request::component::Component;
use crate::request::http2::Http2Request;
use crate::request::mix::{LONGEST_CYCLE, Turns};
use crate::request::take::Taking;
use crate::request::target::Address;
use crate::request::template::Given;
use crate::request::{Prepared, RequestError};
use crate::{Error, Http, Load, Target, nanos};

/// The requests of a load, one for each step.
#[derive(Clone)]
pub(crate) struct RequestSource {
    /// The address that all requests go to.
    pub address: Address,
    /// The requests that are the same each time, as bytes of HTTP/1.1.
    pub fixed: Vec<Box<[u8]>>,
    /// The requests of `fixed` in HTTP/2, index by index; empty if HTTP/1.1 is spoken.
    fixed_http2: Vec<Http2Request>,
    secure: bool,
    steps: Arc<[StepRequest]>,
    /// The number of each session's first step.
    first_steps: Arc<[u32]>,
    turns: Turns,
    /// The turn of sessions that no connection begins.
    turn_without_connection: u32,
    /// The number of the next session. It grows by `stride`, because threads take sessions in turns.
    seq: u64,
    stride: u64,
}

/// The request of one step.
struct StepRequest {
    /// The step's name, for messages.
    label: String,
    entry: Entry,
    /// The step after this one in its session; `None` after the last.
    after: Option<NextStep>,
    takings: Vec<Taking>,
}

/// A step that follows another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextStep {
    pub step: u32,
    /// The pause before the step, in ns.
    pub think_ns: u64,
}

/// The request of one step: fixed, or rendered anew each time.
enum Entry {
    /// The request of this index in `fixed`.
    Fixed(usize),
    Varying(Prepared),
}

/// The next request to send.
pub(crate) enum NextRequest {
    /// The request of this index in [`RequestSource::fixed`].
    Fixed(usize),
    /// A request of these bytes, in HTTP/1.1.
    Bytes(Vec<u8>),
}

/// A session that is to begin: the number of its first step, and its own number in the load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NextSession {
    pub step: u32,
    pub seq: u64,
    /// The session has no other step.
    pub is_single: bool,
}

impl RequestSource {
    pub fn new(load: &Load) -> Result<RequestSource, Error> {
        let first = load.first_target().ok_or_else(|| Error::NoTarget)?;
        let in_http2 = load.http == Http::Http2;
        let (mut fixed, mut fixed_http2) = (Vec::new(), Vec::new());
        let (mut steps, mut first_steps) = (Vec::new(), Vec::new());
        for session in &load.sessions {
            let first_step = steps.len();
            first_steps.push(first_step as u32);
            // The names of values that are taken, in the order in which they first are, and the strictest use of each.
            let mut names: Vec<String> = Vec::new();
            let mut used_in: Vec<Component> = Vec::new();
            for (nth, step) in session.steps.iter().enumerate() {
                let server =
                    |target: &Target| (target.address.clone(), target.secure, target.authority.clone());
                if server(&step.target) != server(first) {
                    let [first, other] = [first, &step.target].map(|target| target.authority.to_string());
                    return Err(Error::SeveralServers { first, other });
                }
                if in_http2 {
                    step.request.check_http2()?;
                }
                let prepared = step.request.prepare(&step.target, &load.variables, load.cookies, &names)?;
                for (index, component) in prepared.taken() {
                    used_in[index] = used_in[index].max(component);
                }
                let http2 = in_http2.then(|| first_in_http2(&prepared, &step.target)).transpose()?;
                let entry = match prepared {
                    Prepared::Fixed(bytes) => {
                        fixed.push(bytes.into_boxed_slice());
                        fixed_http2.extend(http2);
                        Entry::Fixed(fixed.len() - 1)
                    }
                    varying => Entry::Varying(varying),
                };
                let after = session.steps.get(nth + 1);
                let number = steps.len() as u32 + 1;
                let after = after.map(|it| NextStep { step: number, think_ns: nanos(it.think) });
                let label = match session.steps.len() {
                    1 => session.name.clone(),
                    _ => format!("{} of {}", step.name, session.name),
                };
                let mut takings = Vec::new();
                for take in &step.takes {
                    let known = names.iter().position(|name| *name == take.name);
                    let index = known.unwrap_or(names.len());
                    if known.is_none() {
                        names.push(take.name.clone());
                        used_in.push(Component::Body);
                    }
                    takings.push(Taking { take: take.clone(), index, used_in: Component::Body });
                }
                steps.push(StepRequest { label, entry, after, takings });
            }
            for step in &mut steps[first_step..] {
                step.takings.iter_mut().for_each(|taking| taking.used_in = used_in[taking.index]);
            }
        }
        let weights: Vec<u32> = load.sessions.iter().map(|session| session.weight).collect();
        Ok(RequestSource {
            address: first.address.clone(),
            fixed,
            fixed_http2,
            secure: first.secure,
            steps: steps.into(),
            first_steps: first_steps.into(),
            turns: Turns::new(&weights).ok_or_else(|| Error::Weights { most: LONGEST_CYCLE })?,
            turn_without_connection: 0,
            seq: 0,
            stride: 1,
        })
    }

    /// The requests of thread number `thread`, counted from 0. The threads take the load's session numbers in turns.
    pub fn of_thread(&self, thread: usize, threads: usize) -> RequestSource {
        RequestSource { seq: thread as u64, stride: threads as u64, ..self.clone() }
    }

    /// The turn with which the connection of this number begins.
    pub fn first_turn(&self, connection: u64) -> u32 {
        self.turns.first(connection)
    }

    /// The next session of the connection that has this turn. Moves `turn` on to the next one.
    #[inline]
    pub fn begin(&mut self, turn: &mut u32) -> NextSession {
        let seq = self.seq;
        self.seq += self.stride;
        let step = self.first_steps[self.turns.next(turn)];
        NextSession { step, seq, is_single: self.steps[step as usize].after.is_none() }
    }

    /// Counts the next session as begun although no connection sends it, because it is given up unsent. Returns its
    /// first step.
    pub fn begin_without_connection(&mut self) -> u32 {
        let mut turn = self.turn_without_connection;
        let next = self.begin(&mut turn);
        self.turn_without_connection = turn;
        next.step
    }

    /// The step that follows this one in its session; `None` after the last.
    pub fn step_after(&self, step: u32) -> Option<NextStep> {
        self.steps[step as usize].after
    }

    /// The longest time in ns that a session can take after its first answer, if each further step waits for a time-out
    /// to be sent, and for another one for its answer.
    pub fn longest_rest(&self, timeout_ns: u64) -> u64 {
        let of = |first: &u32| {
            let steps = std::iter::successors(self.step_after(*first), |next| self.step_after(next.step));
            steps.fold(0_u64, |sum, next| {
                sum.saturating_add(next.think_ns).saturating_add(timeout_ns.saturating_mul(2))
            })
        };
        self.first_steps.iter().map(of).max().unwrap_or(0)
    }

    /// The request of a step. A varying request is rendered into the vector that `spare` gives.
    #[inline]
    pub fn request(&self, step: u32, given: &Given, spare: impl FnOnce() -> Vec<u8>) -> NextRequest {
        match &self.steps[step as usize].entry {
            Entry::Fixed(which) => NextRequest::Fixed(*which),
            Entry::Varying(request) => {
                let mut bytes = spare();
                request.render(given, &mut bytes);
                NextRequest::Bytes(bytes)
            }
        }
    }

    /// The values to take from a step's answer.
    pub fn takings(&self, step: u32) -> &[Taking] {
        &self.steps[step as usize].takings
    }

    /// The name of a step, for messages.
    pub fn label(&self, step: u32) -> &str {
        &self.steps[step as usize].label
    }

    /// `true` if there are several steps, so that a failure must say which one it is of.
    pub fn has_several(&self) -> bool {
        self.steps.len() > 1
    }

    /// The length in bytes that no request exceeds.
    pub fn longest(&self) -> usize {
        let of = |step: &StepRequest| match &step.entry {
            Entry::Fixed(which) => self.fixed[*which].len(),
            Entry::Varying(request) => request.longest(),
        };
        self.steps.iter().map(of).max().unwrap_or(0)
    }

    /// A request in HTTP/2; `None` if its values cannot be expressed in HTTP/2.
    pub fn http2(&self, next: NextRequest) -> Option<Http2Request> {
        match next {
            NextRequest::Fixed(which) => self.fixed_http2.get(which).cloned(),
            NextRequest::Bytes(bytes) => Http2Request::parse(&bytes, self.secure),
        }
    }
}

/// The first request to a target, in HTTP/2. An error if it cannot be expressed in HTTP/2.
fn first_in_http2(prepared: &Prepared, target: &Target) -> Result<Http2Request, RequestError> {
    let mut bytes = Vec::new();
    prepared.render(&Given { seq: 0, connection: 0, cookies: None, values: &[] }, &mut bytes);
    Http2Request::parse(&bytes, target.secure).ok_or_else(|| RequestError::Http2 {
        authority: target.authority.to_string(),
        path: target.path.clone(),
    })
}
