//! A result as machines and reviewers take it in: a case for each thing that was asked, with its outcome and a
//! sentence.
//!
//! A test report, a comment, annotations and a job summary are made from this alone, so that they never contradict
//! each other. All texts are on one line and without control characters; each form escapes them for itself.

pub mod annotations;
pub mod comment;
pub mod job_summary;
pub mod junit;

use jiff::Timestamp;
use kumite_record::GateState;

/// The result of a comparison or a run as a list of cases, from which test reports, comments and annotations are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The command that made the result: `kumite compare`, `kumite run chatbot`.
    pub(crate) title: String,
    /// The conditions under which a case counts as worse, such as the margin and the level. None if each case says it
    /// all.
    pub(crate) asked: Option<String>,
    /// The reference of a comparison. None for a run, and for a command that is compared with nothing.
    pub(crate) against: Option<String>,
    /// The answer of `--gate`. None if no gate was asked.
    pub(crate) gate: Option<Gate>,
    /// Doubts about the result as a whole, the heaviest first.
    pub(crate) doubts: Vec<String>,
    pub(crate) cases: Vec<Case>,
    pub(crate) started: Timestamp,
    /// The time that was spent on measuring, in seconds.
    pub(crate) seconds: f64,
    /// The version of kumite that measured.
    pub(crate) kumite: String,
    /// The command line that repeats the measurement.
    pub(crate) command: String,
}

/// The answer of `--gate`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Gate {
    pub state: GateState,
    /// The line for programs: `gate: shut: …`.
    pub line: String,
}

/// A thing that was asked, with the answer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Case {
    pub kind: Kind,
    /// The name of a command, server or contender, or the id of a claim or check; empty for the whole of a result.
    pub subject: String,
    /// The metric of a pair. None for anything else.
    pub metric: Option<&'static str>,
    pub outcome: Outcome,
    /// The answer with its figures: how much, at least how much, and how sure that is.
    pub sentence: String,
    /// The distance of the bound from no change or from what was claimed, as the size of a logarithm, for the order
    /// of failures; 0 if it is not known, or cannot be compared with that of others.
    pub beyond: f64,
}

/// The kind of thing that a case is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A command or server against the reference.
    Pair,
    /// A command that is compared with nothing.
    Alone,
    Claim,
    Check,
    Contender,
    /// The whole of a comparison or run: it came to its end, or did not.
    Whole,
}

/// The outcome of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Passed,
    /// It is shown that this is not as it should be.
    Failed,
    /// It did not run, or not to its end.
    Error,
    /// The measurements do not tell.
    Undecided,
    /// It was not measured.
    NotTested,
    /// It does not pass, and `--gate-allow` names it.
    Allowed,
}

impl Outcome {
    /// The word for the outcome in files.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Outcome::Passed => "passed",
            Outcome::Failed => "failed",
            Outcome::Error => "error",
            Outcome::Undecided => "undecided",
            Outcome::NotTested => "not-tested",
            Outcome::Allowed => "allowed",
        }
    }

    /// The part that the outcome plays for a reviewer.
    pub(crate) fn part(self) -> Part {
        match self {
            Outcome::Failed | Outcome::Error => Part::Wrong,
            Outcome::Undecided | Outcome::NotTested | Outcome::Allowed => Part::Untold,
            Outcome::Passed => Part::Right,
        }
    }
}

/// The three parts into which a reviewer sorts cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// It got worse, fails, or did not run.
    Wrong,
    /// It could not be told, or was left out.
    Untold,
    /// Nothing is wrong with it.
    Right,
}

impl Review {
    /// The cases of a part, the worst first. Cases that are equally bad keep the order of the result.
    pub(crate) fn of(&self, part: Part) -> Vec<&Case> {
        let mut cases: Vec<&Case> = self.judged().filter(|case| case.outcome.part() == part).collect();
        // Of a case that did not run, nobody knows how bad it is: it comes last.
        cases.sort_by(|a, b| {
            let rank = |case: &Case| (case.outcome == Outcome::Error, -case.beyond);
            let ((a_error, a), (b_error, b)) = (rank(a), rank(b));
            a_error.cmp(&b_error).then(a.total_cmp(&b))
        });
        cases
    }

    /// The cases without the one on the whole, unless that did not come to its end.
    fn judged(&self) -> impl Iterator<Item = &Case> {
        self.cases.iter().filter(|case| case.kind != Kind::Whole || case.outcome != Outcome::Passed)
    }

    /// The number of cases of each outcome, in words: `1 worse, 2 could not be told, 3 not worse`.
    pub(crate) fn counts(&self) -> String {
        let [wrong, right] = match self.against {
            Some(_) => ["worse", "not worse"],
            None => ["failed", "passed"],
        };
        let count = |is: &dyn Fn(Outcome) -> bool| self.judged().filter(|case| is(case.outcome)).count();
        let counts = [
            (count(&|of| of == Outcome::Failed), wrong),
            (count(&|of| of == Outcome::Error), "did not run to the end"),
            (count(&|of| matches!(of, Outcome::Undecided | Outcome::NotTested)), "could not be told"),
            (count(&|of| of == Outcome::Allowed), "ignored by --gate-allow"),
            (count(&|of| of == Outcome::Passed), right),
        ];
        let said: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        if said.is_empty() { "nothing was judged".to_owned() } else { said.join(", ") }
    }
}

impl Case {
    /// The name of the case, which is the same in each run: `B against A: wall time`, `claim fast`.
    pub(crate) fn name(&self, review: &Review) -> String {
        let subject = &self.subject;
        match (self.kind, &review.against) {
            (Kind::Pair, Some(against)) => {
                let metric = self.metric.map_or(String::new(), |metric| format!(": {metric}"));
                format!("{subject} against {against}{metric}")
            }
            (Kind::Pair, None) | (Kind::Alone, _) => subject.clone(),
            (Kind::Claim, _) => format!("claim {subject}"),
            (Kind::Check, _) => format!("check {subject}"),
            (Kind::Contender, _) => format!("contender {subject}"),
            (Kind::Whole, _) => "came to its end".to_owned(),
        }
    }

    /// The metric and the answer: `wall time: +1.31 % at least, …`.
    pub(crate) fn answer(&self) -> String {
        self.metric.map_or_else(|| self.sentence.clone(), |metric| format!("{metric}: {}", self.sentence))
    }
}
