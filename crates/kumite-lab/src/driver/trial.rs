//! A trial, from its order to its measurement, and the traits of those who make it.
//!
//! [`Executor`] is all that the plan's execution knows; [`Driver`] adds the checks before a run. [`Measured`] has
//! only what a driver knows, so that no driver can touch the trial's place in the run.

use std::sync::atomic::AtomicBool;

use kumite_record::{Enough, Mark, Outcome, Point, Role, Sample, Void, Written};

use crate::contender::{Answers, Ready};
use crate::error::{Fault, chain};
use crate::halt::Halt;
use crate::service::Counted;
use crate::work::NodeNoise;

/// Executes trials, one at a time. A trait because tests of a plan's execution need neither processes nor time.
pub trait Executor {
    /// Starts the contender, measures it at the point, stops it. A failure is a trial that measured nothing.
    fn trial(&mut self, order: &TrialOrder, stop: &AtomicBool) -> Result<Measured, Halt>;
}

/// Tries the contenders of a kind: for a trial, or only to see that they answer right.
pub trait Driver: Executor {
    /// Starts the contender and looks at how it answers at this point, by its position.
    fn check(&mut self, contender: &Ready, at: usize, stop: &AtomicBool) -> Result<Answered, Halt>;

    /// Of these metrics of a trial there, those for which it would have too few values, as far as a short look tells.
    fn short(
        &mut self,
        _contender: &Ready,
        _at: usize,
        _metrics: &[&str],
        _stop: &AtomicBool,
    ) -> Result<Vec<Short>, Halt> {
        Ok(Vec::new())
    }

    /// Notices about abilities that this machine refuses to kumite, as sentences.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// Where the files of its trials are, in words.
    fn files(&self) -> Option<String> {
        None
    }
}

/// A metric for which a trial would have too few values.
#[derive(Clone, Debug, PartialEq)]
pub struct Short {
    /// The name of the metric that lacks answers.
    pub metric: String,
    /// The number of values that the percentile takes.
    pub needs: u64,
    /// The values that come in a second.
    pub per_s: f64,
    /// How long it is measured.
    pub window_s: f64,
    /// The parameter that would have to be larger, and how large; `None` if no window would do.
    pub enough: Option<Enough>,
}

/// How a contender answers.
#[derive(Clone, Debug)]
pub struct Answered {
    /// The answer in a word or two, as `check` shows it.
    pub how: &'static str,
    /// The reason why the answer is wrong; `None` if it is right.
    pub wrong: Option<String>,
    /// Its output, by digest and file, where all contenders are to write the same.
    pub written: Option<Written>,
}

impl Answered {
    /// A right answer, of which nothing more is to be said.
    pub const RIGHT: Answered = Answered { how: "answers right", wrong: None, written: None };

    /// How it is, if it is as the contender is known to answer; or what is wrong with it.
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

/// The order for one trial: everything about it that its driver cannot know.
#[derive(Clone, Copy, Debug)]
pub struct TrialOrder<'a> {
    /// Position of the trial in the run.
    pub seq: u32,
    /// The contender, which is built.
    pub contender: &'a Ready,
    /// The point at which it is measured.
    pub point: &'a Point,
    /// The point's position in the plan: [`Planned`](crate::Planned) at this position has the typed workload.
    pub at: usize,
    /// The block of the point.
    pub block: u32,
}

impl TrialOrder<'_> {
    /// The name of its log, without an ending.
    pub(crate) fn log_name(&self) -> String {
        format!("{:04}-{}", self.seq, self.contender.recorded())
    }
}

/// A trial as its driver returns it; the executor of the plan adds the time and the place in the run.
#[derive(Clone, Debug)]
pub struct Measured {
    /// How the trial ended, which decides whether its figures are used.
    pub outcome: Outcome,
    /// The reason for an outcome other than `ok`, in words; none where it is `ok`.
    pub reason: Option<String>,
    /// The figures, series and events.
    pub sample: Sample,
    /// The doubts about its figures; empty where there are none.
    pub marks: Vec<Mark>,
    /// The cause for which the trial counts for nothing; none where it counts.
    pub void: Option<Void>,
    /// Time from start until the contender was ready.
    pub ready_ms: Option<f64>,
    /// Time it was under load, warm-up and watching included.
    pub load_ms: Option<f64>,
    /// The contender's output, relative to the folder of the store.
    pub log: Option<String>,
}

impl Measured {
    /// A failure is a trial that measured nothing; an interruption is none. What this machine lacks makes it void.
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

    /// With what services counted beside it.
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

    /// A trial that measured nothing, and why.
    pub fn failed(reason: String) -> Measured {
        Measured { outcome: Outcome::Failed, ..Measured::answered(Some(reason)) }
    }

    /// A trial that measured nothing yet; disqualified if its answer is wrong.
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
