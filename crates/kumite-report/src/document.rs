//! What a report says and in which order, before any format: every text is cleaned, every number is written out.

use kumite_record::{ContenderStatus, Run};
use serde::Serialize;

use crate::calls::{CallTables, call_tables};
use crate::facts::{Fact, facts};
use crate::failure::{Failures, failures};
use crate::group::Groups;
use crate::noise::{NoiseText, noise};
use crate::number::plural;
use crate::pacing::distributions;
use crate::percentile::{Percentiles, percentiles};
use crate::published::{PublishedText, published};
use crate::quantity::length;
use crate::record::Record;
use crate::steps::{StepTables, step_tables};
use crate::table::{GroupTables, group_tables};
use crate::text::{clean, one_line};
use crate::verdict::{VerdictText, tally};

/// A report; its fields are in reading order.
#[derive(Debug, Serialize)]
pub struct Document {
    pub experiment: String,
    pub question: String,
    pub source: Option<String>,
    /// Why the run has less than its plan, where it has.
    pub cut_short: Option<String>,
    /// When the run was taken up again, if it was.
    pub resumed: Option<String>,
    pub tally: String,
    pub verdicts: Vec<VerdictText>,
    /// How to read the tables.
    pub reading: String,
    /// What was measured without a disturbance, the defaults first.
    pub groups: Vec<GroupTables>,
    /// The parts of trials, for each point that has some.
    pub steps: Vec<StepTables>,
    /// The calls of a function, for each point.
    pub calls: Vec<CallTables>,
    /// Of the first group.
    pub percentiles: Vec<Percentiles>,
    /// How far off states were, for each point of a player.
    pub distributions: Vec<Percentiles>,
    pub failures: Failures,
    /// Trial by trial, for formats with room.
    pub noise: Option<NoiseText>,
    pub published: Option<PublishedText>,
    /// Contenders that did not take part.
    pub absent: Vec<Absent>,
    pub versions: Vec<Version>,
    pub warnings: Vec<Remark>,
    pub facts: Vec<Fact>,
    pub command: String,
    /// What no figure of the report says.
    pub limits: &'static str,
}

/// A contender that was left out or could not be built.
#[derive(Debug, Serialize)]
pub struct Absent {
    pub name: String,
    pub status: &'static str,
    pub reason: String,
}

/// What a contender says it is.
#[derive(Debug, Serialize)]
pub struct Version {
    pub name: String,
    pub version: String,
}

/// A warning.
#[derive(Debug, Serialize)]
pub struct Remark {
    pub place: String,
    pub what: String,
}

const READING: &str = "Each figure is the median over blocks, with its 95 % interval where one is given. An order of rows is not a verdict.";

const STEADY: &str = "Throughput, response times and CPU are of the part of each window that was steady, or of all of it where no part was; the column “over time” says whether one was, and how long from the start of the load it took.";
const NEEDS: &str = "A percentile takes ten requests beyond it in every trial: where there were too few, it says how many more a trial needs.";

const TASK: &str = "A trial is a fresh process, and its figure the median of its measured jobs; CPU and context switches are those of a job. Elapsed is from the writing of a request to the worker’s word that the job is done, by kumite’s clock: reading the request is in it, and making the answer is not. Worker elapsed is what the worker says of the job alone. What an exchange takes in which nothing is to be done is shown (“empty exchange”, below) and subtracted from nothing.";
const TASK_STEADY: &str = "Where the times of jobs became steady, figures are of those from there on; the column “over time” says whether they did.";

/// What every format says above published figures.
pub const FROM_ELSEWHERE: &str =
    "The published figures come from another machine. They are shown, and compared with nothing.";

const FUNCTION: &str = "A trial begins without an instance and offers its calls in their order. Wall is from the offer of a call to its answer, init and duration are its init and its invoke phase. Billed 2016 is the invoke phase, in steps of 100 ms; billed 2025 is the init and the invoke phase, in steps of 1 ms: both by the rule alone, and nobody’s invoice. A cold call is one that an instance was started for; “warm” figures are medians of the others. CPU share is the CPU time of an instance over the time of its invoke phases.";

const PACING: &str = "A trial is a fresh process that plays a warm-up and then the schedule. The error of a state is when it came less when it was due, by kumite’s clock; percentiles and the greatest are of its size, early or late. The zero of the schedule is the instant by which the earliest state of the first 60 frames was exactly in time, so a delay that is always the same is in no error. A missed frame is a state that was off by a frame or more. “Error at end” is the size of the mean error of the states that were due in the last 60 frames, and “off at end” says it in frames: what drifts is off there. CPU cores are CPU seconds per second of play.";

const LIMITS: &str = "other machines and other versions; whether each contender is the best that its ecosystem can do; and what METHODOLOGY.md lists, where the method is.";
const TASK_LIMITS: &str = "other machines and other versions; how long a process takes to start and get ready; what a job costs beside other work, or after more jobs than were given; whether each contender is the best that its ecosystem can do; and what METHODOLOGY.md lists, where the method is.";
const FUNCTION_LIMITS: &str = "other machines and other versions; AWS itself: its hardware, what it does between a call and an instance, its network, its prices; whether each contender is the best that its ecosystem can do; and what METHODOLOGY.md lists, where the method is.";
const PACING_NEEDS: &str = "A percentile takes five states beyond it in every trial: where there were too few, it says how many more a trial needs.";
const PACING_LIMITS: &str = "other machines and other versions; the delays of an adapter, a console and a display; what a program does beside waiting and writing; whether each contender is the best that its ecosystem can do; and what METHODOLOGY.md lists, where the method is.";
const HTTP_LIMITS: &str = "other machines and other versions; networks (everything is on loopback), TLS, HTTP/2; what a user would see at a given rate (a closed loop sends less to a server that stalls); whether each contender is the best that its ecosystem can do; and what METHODOLOGY.md lists, where the method is.";

impl Document {
    pub fn of(record: &Record, groups: &Groups) -> Document {
        let export = record.export;
        let run = &export.run;
        let (present, absent): (Vec<_>, Vec<_>) =
            export.contenders.iter().partition(|contender| contender.status == ContenderStatus::Ran);
        Document {
            experiment: one_line(&run.experiment),
            question: match one_line(&run.question.text) {
                text if text.is_empty() => one_line(&run.experiment),
                text => text,
            },
            source: run.question.source.as_ref().map(|source| {
                let year = source.year.map(|year| format!(", {year}")).unwrap_or_default();
                format!("{}, “{}”{year}", one_line(&source.author), one_line(&source.title))
            }),
            cut_short: run.cut_short.as_deref().map(one_line).or_else(|| {
                run.finished
                    .is_none()
                    .then(|| "the record has no end: it is still running or was killed".into())
            }),
            resumed: resumed(run),
            tally: [Some(tally(&export.claims)), saved(run)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            verdicts: export.claims.iter().map(|claim| VerdictText::of(run, claim)).collect(),
            reading: reading(record, groups),
            groups: groups.calm().map(|group| group_tables(record, groups, group)).collect(),
            steps: step_tables(record, groups),
            calls: call_tables(record, groups),
            percentiles: percentiles(record, groups),
            distributions: distributions(record, groups),
            failures: failures(record, groups),
            noise: noise(export, groups),
            published: published(record, groups),
            absent: absent
                .into_iter()
                .map(|contender| Absent {
                    name: one_line(&contender.name),
                    status: contender.status.as_str(),
                    reason: contender.reason.as_deref().map_or("no reason recorded".into(), clean),
                })
                .collect(),
            versions: present
                .into_iter()
                .map(|contender| Version {
                    name: one_line(&contender.name),
                    version: contender.version.as_deref().map_or("unknown".into(), clean),
                })
                .collect(),
            warnings: export
                .warnings
                .iter()
                .map(|warning| Remark { place: one_line(&warning.place), what: clean(&warning.what) })
                .collect(),
            facts: facts(record),
            command: one_line(&run.command),
            limits: match run.kind.as_str() {
                "http" => HTTP_LIMITS,
                "task" => TASK_LIMITS,
                "function" => FUNCTION_LIMITS,
                "pacing" => PACING_LIMITS,
                _ => LIMITS,
            },
        }
    }
}

fn reading(record: &Record, groups: &Groups) -> String {
    let mut reading = READING.to_owned();
    match record.export.run.kind.as_str() {
        "task" => reading += &format!(" {TASK}"),
        "function" => reading += &format!(" {FUNCTION}"),
        "pacing" => reading += &format!(" {PACING}"),
        _ => {}
    }
    if record.export.cells.iter().any(|cell| cell.steadiness.is_some()) {
        let steady = if record.export.run.kind == "task" { TASK_STEADY } else { STEADY };
        reading += &format!(" {steady}");
    }
    if record.export.cells.iter().any(|cell| !cell.needs.is_empty()) {
        let needs = if record.export.run.kind == "pacing" { PACING_NEEDS } else { NEEDS };
        reading += &format!(" {needs}");
    }
    if let Some(defaults) = groups.defaults() {
        reading += &format!(" Unless another value is named: {defaults}.");
    }
    reading
}

/// `It ended when its verdicts were in: 53 trials less, about 4 min.`
fn saved(run: &Run) -> Option<String> {
    let saved = run.saved.as_ref()?;
    let why = match saved.decided {
        true => "It ended when its verdicts were in",
        false => "What no open verdict needed was not measured on",
    };
    Some(format!("{why}: {} fewer, about {} saved.", plural(saved.trials, "trial"), length(saved.seconds)))
}

fn resumed(run: &Run) -> Option<String> {
    let times: Vec<String> =
        run.resumed.iter().map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).collect();
    (!times.is_empty()).then(|| {
        format!("taken up again at {}: the blocks of these moments are not back to back", times.join(", "))
    })
}
