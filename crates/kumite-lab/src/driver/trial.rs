//! A trial, from its order to its measurement, and the traits of drivers.
//!
//! [`Executor`] is all that the execution of a plan knows; [`Driver`] adds the checks before a run. [`Measured`] has
//! only what a driver knows, so that no driver can change the trial's place in the run.

use std::sync::atomic::AtomicBool;

use kumite_record::{AxisValue, Enough, Mark, Outcome, Point, Role, Sample, Void, Written};

use crate::contender::{Answers, Ready};
use crate::error::{Fault, chain};
use crate::halt::Halt;
use crate::service::Counted;
use crate::work::NodeNoise;

/// Executes trials, one at a time. It is a trait so that tests of a plan's execution need neither processes nor time.
pub trait Executor {
    /// Starts the contender, measures it at the point, and stops it. A contender that fails makes a failed trial. An
    /// error is an interruption, or the fault of another node, which the caller turns into a failed trial.
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt>;
}

/// Tries the contenders of a kind, for trials and for checks of their answers.
pub trait Driver: Executor {
    /// Starts the contender and checks how it answers at the point with this position. An error if it fails, ends
    /// badly, or leaves files or processes behind; of a server and a player, also if it answers wrong.
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt>;

    /// The wanted metrics for which a trial of the contender at the point would have too few values, as estimated from
    /// a short load or from the rate that is offered. Empty for a kind that makes no such estimate. An error if the
    /// load fails or `stop` is set.
    fn short(
        &mut self,
        _contender: &Ready,
        _at: usize,
        _wanted: &[Wanted],
        _stop: &AtomicBool,
    ) -> Result<Vec<Short>, Halt> {
        Ok(Vec::new())
    }

    /// Sentences about what makes the figures of this machine doubtful: abilities that it refuses to kumite, or files
    /// of trials that are not on a disk.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// The place of the trials' files, in words. None if trials have no files.
    fn files(&self) -> Option<String> {
        None
    }
}

/// A metric that a claim compares, of a whole trial or of a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The name of the metric.
    pub metric: String,
    /// The value of the axis within trials, such as the name of a request. None for a whole trial.
    pub part: Option<AxisValue>,
}

/// A metric for which a trial would have too few values.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    /// The metric.
    pub of: Wanted,
    /// The number of values that a trial must have to report the metric.
    pub needs: u64,
    /// The number of values per second: in the best of the short loads or, for an open loop, if all that is offered is
    /// answered.
    pub per_s: f64,
    /// The length of the window, in seconds.
    pub window_s: f64,
    /// The parameter that would have to be larger, with a value that is large enough. None if no allowed value is, or
    /// if not even one value of the metric would come in the window.
    pub enough: Option<Enough>,
}

/// The outcome of a check of a contender's answer.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The outcome in a few words, as `check` shows it.
    pub how: &'static str,
    /// The reason why the answer is wrong. None if it is right; always None for a benchmark, whose answers are not
    /// known, and for a server or a player, whose wrong answer is an error of the check.
    pub wrong: Option<String>,
    /// The output's digest and file, if all commands are to write the same and this one wrote no wrong output. None
    /// otherwise.
    pub written: Option<Written>,
}

impl Answered {
    /// A right answer, without a kept output.
    pub const RIGHT: Answered = Answered { how: "answers right", wrong: None, written: None };

    /// The outcome in a few words. An error if the contender answers wrong and should answer right, or the other way
    /// round; `known` is `Some(Answers::Wrong)` for a contender that should answer wrong, and None for any other.
    pub fn as_it_should(self, known: Option<Answers>) -> Result<&'static str, Fault> {
        match (self.wrong, known) {
            (None, None) => Ok(self.how),
            (Some(why), None) => Err(Fault::new(why)),
            (Some(_), Some(Answers::Wrong)) => Ok("answers wrong, as it is there to show"),
            (None, Some(Answers::Wrong)) => {
                Err(Fault::new("its answer is right, and contender.toml says answers = \"wrong\""))
            }
        }
    }
}

/// The order to make one trial: everything that the driver cannot know by itself.
#[derive(Clone, Copy, Debug)]
pub struct TrialOrder<'a> {
    /// The position of the trial in the run, from 0; a resumed run goes on counting.
    pub seq: u32,
    /// The contender, ready to be started.
    pub contender: &'a Ready,
    /// The point at which the contender is measured.
    pub point: &'a Point,
    /// The position of the point in the plan: [`Planned`](crate::Planned) at this position has the typed workload.
    pub at: usize,
    /// The index of the block at the point, from 0.
    pub block: u32,
}

impl TrialOrder<'_> {
    /// The name of the trial's log, without an ending.
    pub(crate) fn log_name(&self) -> String {
        format!("{:04}-{}", self.seq, self.contender.recorded())
    }
}

/// A trial as its driver returns it. The execution of the plan adds its time and its place in the run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The outcome of the trial, which decides whether its figures are used.
    pub outcome: Outcome,
    /// The reason for an outcome other than `ok`, in words. If the outcome is `ok`, a fault that changes no figure,
    /// such as processes that the contender left behind. None without either.
    pub reason: Option<String>,
    /// The trial's figures, series and events.
    pub sample: Sample,
    /// The doubts about the trial's figures; empty if there are none.
    pub marks: Vec<Mark>,
    /// The reason why the trial is void. None if it is not.
    pub void: Option<Void>,
    /// The time from the contender's start until it was ready, in ms; of a function, the init phase of the first
    /// call. None if it never was ready, if the trial measured nothing, and for a command, a benchmark, or a server
    /// that somebody else started, which have no such time.
    pub ready_ms: Option<f64>,
    /// The time that the contender was under load, warm-up and watching included, in ms. None if there was no load,
    /// if the trial measured nothing, and for a server that somebody else started.
    pub load_ms: Option<f64>,
    /// The path of the contender's log, or of the folder of its logs, relative to the folder of the store. None if
    /// there is none.
    pub log: Option<String>,
}

impl Measured {
    /// Turns a failure into a trial that measured nothing; if this machine lacked something, that trial is void. An
    /// interruption stays an error.
    pub(crate) fn or_failed(tried: Result<Measured, Halt>) -> Result<Measured, Halt> {
        match tried {
            Err(Halt::Failed(why)) => Ok(Measured::failed(chain(&why))),
            Err(Halt::Void(what, why)) => {
                let void = Void { what, process: None, node: None, lasted_ms: 0.0 };
                Ok(Measured { void: Some(void), ..Measured::failed(chain(&why)) })
            }
            tried => tried,
        }
    }

    /// Adds what the services counted, and the noise of their node.
    pub(crate) fn with(mut self, counted: Counted) -> Measured {
        self.sample.metrics.extend(counted.metrics);
        if let Some(seen) = counted.seen {
            self.add_noise(Role::Services, seen);
        }
        self
    }

    /// Adds the noise of the node that has this role: its figures with the role before their names, and its marks.
    pub(crate) fn add_noise(&mut self, role: Role, seen: NodeNoise) {
        let figure = |(name, value)| (format!("{role}_{name}"), value);
        self.sample.noise.extend(seen.figures.into_iter().map(figure));
        let fresh = seen.marks.iter().filter(|mark| !self.marks.contains(mark)).copied();
        self.marks.extend(fresh.collect::<Vec<_>>());
        if !seen.marks.is_empty() {
            self.sample.marked.insert(role, seen.marks);
        }
    }

    /// A failed trial, which measured nothing, for this reason.
    pub fn failed(reason: String) -> Measured {
        Measured { outcome: Outcome::Failed, ..Measured::answered(Some(reason)) }
    }

    /// A trial without figures: disqualified for the reason in `wrong`; if that is None, its outcome is `Ok`.
    pub fn answered(wrong: Option<String>) -> Measured {
        Measured {
            outcome: if wrong.is_none() { Outcome::Ok } else { Outcome::Disqualified },
            reason: wrong,
            sample: Sample::default(),
            marks: Vec::new(),
            void: None,
            ready_ms: None,
            load_ms: None,
            log: None,
        }
    }
}
