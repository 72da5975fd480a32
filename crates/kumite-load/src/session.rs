//! Sessions: what a load sends. A session is a user's requests in order; a plain request is a session of one step.

use std::time::Duration;

use crate::record::by_step::SessionOutcome;
use crate::{Expect, Request, Take, Target};

/// Steps in order on one connection.
#[derive(Debug, Clone)]
pub struct Session {
    /// The name of the session in results and messages.
    pub name: String,
    /// The session's share: a connection begins sessions in proportion to their weights. A session of weight 0 is never
    /// begun.
    pub weight: u32,
    /// The steps in order. At least one.
    pub steps: Vec<Step>,
}

/// One request of a session, with its right answer.
#[derive(Debug, Clone)]
pub struct Step {
    /// The name of the step in results and messages.
    pub name: String,
    /// The target that is asked. All targets of a load are on one server, and name it alike.
    pub target: Target,
    /// The request that is sent.
    pub request: Request,
    /// The answer that the request should have.
    pub expect: Expect,
    /// The values that are taken from the answer, if it is right. If a value cannot be had, the step has failed.
    pub takes: Vec<Take>,
    /// The pause before the step. It must be 0 for the first step, because a session begins when it is due.
    pub think: Duration,
}

impl Session {
    /// The session's outcome before anything is counted.
    pub(crate) fn empty_outcome(&self) -> SessionOutcome {
        SessionOutcome::empty(&self.name, self.steps.iter().map(|step| step.name.clone()))
    }
}

impl Step {
    /// A step that asks for this target with `GET`, and expects any 2xx. Its name is the URL.
    pub fn new(target: Target) -> Step {
        Step {
            name: target.to_string(),
            target,
            request: Request { method: "GET".to_owned(), headers: Vec::new(), body: Vec::new() },
            expect: Expect::default(),
            takes: Vec::new(),
            think: Duration::ZERO,
        }
    }
}

impl From<Target> for Step {
    fn from(target: Target) -> Step {
        Step::new(target)
    }
}

impl From<Step> for Session {
    /// A session of this one step, with its name, and of weight 1.
    fn from(step: Step) -> Session {
        Session { name: step.name.clone(), weight: 1, steps: vec![step] }
    }
}
