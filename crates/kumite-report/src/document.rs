//! The contents of a report in their order, before they get a format: texts are cleaned, and numbers are written out.

use kumite_record::{ContenderStatus, Export, Run, Warning};
use serde::Serialize;

use crate::kinds::kind_of;
use crate::record::Record;
use crate::tables::cells::{GroupTables, OfKind, group_tables};
use crate::tables::facts::{Fact, facts};
use crate::tables::failure::{Failures, lost};
use crate::tables::group::Groups;
use crate::tables::noise::{NoiseText, noise};
use crate::tables::published::{PublishedText, published};
use crate::words::check::ChecksText;
use crate::words::control::ControlText;
use crate::words::gate::run_gate;
use crate::words::number::plural;
use crate::words::quantity::length;
use crate::words::sittings;
use crate::words::text::{clean, one_line};
use crate::words::verdict::{VerdictText, tally};

/// The contents of a report. Its fields are in reading order.
#[derive(Debug, Serialize)]
pub struct Document {
    pub experiment: String,
    pub question: String,
    pub source: Option<String>,
    /// The reason why the run ended early or has no end; none if the run ended as planned, or as soon as its verdicts
    /// were in.
    pub cut_short: Option<String>,
    /// The times at which the run was taken up again, in a sentence; none if it never was.
    pub resumed: Option<String>,
    /// The sentence on the run's control; none if the run has no control.
    pub control: Option<ControlText>,
    /// The line that answers `--gate`; none if no gate was asked.
    pub gate: Option<String>,
    pub checks: Option<ChecksText>,
    pub tally: String,
    pub verdicts: Vec<VerdictText>,
    /// Sentences on how to read the tables.
    pub reading: String,
    /// The tables of measurements without a disturbance, those at the defaults first.
    pub groups: Vec<GroupTables>,
    /// The sentence that stands in place of `groups` if there are no groups; none if there are any.
    pub no_groups: Option<&'static str>,
    pub failures: Failures,
    /// The noise of each trial, for formats with room for it; none if no trial was watched for noise.
    pub noise: Option<NoiseText>,
    pub published: Option<PublishedText>,
    /// The contenders that did not run, each with the reason.
    pub absent: Vec<Absent>,
    pub versions: Vec<Version>,
    pub warnings: Vec<Remark>,
    pub facts: Vec<Fact>,
    pub command: String,
    /// A sentence that names the questions which no figure of the report answers.
    pub limits: String,
}

/// A contender that was left out or could not be built.
#[derive(Debug, Serialize)]
pub struct Absent {
    pub name: String,
    pub status: &'static str,
    pub reason: String,
}

#[derive(Debug, Serialize)]
pub struct Version {
    pub name: String,
    pub version: String,
}

/// A warning, with the places that it is about.
#[derive(Debug, Serialize)]
pub struct Remark {
    pub place: String,
    pub what: String,
}

const OVER_TIME: &str = "The column “over time” says how that went: flat is steady from the start; warm-up and slowdown are steady from the time named on; inconsistent is not alike in all trials.";
const READING: &str = "Each figure is the median over blocks, with its 95 % interval where one is given. The order of rows is no verdict.";

/// The sentence above published figures, in every format that shows them.
pub const FROM_ELSEWHERE: &str = "The published figures come from another machine. Ratios of ours to theirs say what came out, and are no verdict.";

impl Document {
    pub fn new(record: &Record, groups: &Groups) -> Document {
        let export = record.export;
        let run = &export.run;
        let (present, absent): (Vec<_>, Vec<_>) =
            export.contenders.iter().partition(|contender| contender.status == ContenderStatus::Ran);
        let of_kind = kind_of(record);
        let failures = Failures {
            title: of_kind.failures(),
            disturbances: of_kind.disturbances(record, groups),
            failed: of_kind.failed(record, groups),
            trials: lost(record, groups),
        };
        let own = OfKind {
            column: &|cells, point| of_kind.column(record, cells, point),
            source_lines: &|cells| of_kind.source_lines(record, cells),
        };
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
            control: ControlText::new(run),
            gate: run_gate(export),
            checks: ChecksText::new(run, &export.checks),
            tally: [Some(tally(&export.claims)), sittings::of_run(run), not_judged(run), saved(run)]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join(" "),
            verdicts: export.claims.iter().map(|claim| VerdictText::new(run, claim)).collect(),
            reading: reading(record, groups),
            groups: groups.calm().map(|group| group_tables(record, groups, group, &own)).collect(),
            no_groups: groups.calm().next().is_none().then_some(match failures.disturbances.is_empty() {
                true => "Nothing was measured.",
                false => "Every trial had a disturbance: what was measured is below, with the failures.",
            }),
            failures,
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
            warnings: remarks(export),
            facts: facts(record, of_kind.facts(record), of_kind.engine()),
            command: one_line(&run.command),
            limits: limits(of_kind.limits()),
        }
    }
}

/// The most places of one warning that are named.
const PLACES: usize = 3;

/// The warnings of a run, each once with the places that it is about.
fn remarks(export: &Export) -> Vec<Remark> {
    let mut places: Vec<(&str, Vec<&str>)> = Vec::new();
    for Warning { place, what } in &export.warnings {
        match places.iter_mut().find(|(said, _)| said == what) {
            Some((_, places)) => places.push(place),
            None => places.push((what, vec![place])),
        }
    }
    let remark = |(what, places): (&str, Vec<&str>)| {
        let more = places.len().saturating_sub(PLACES);
        let named: Vec<String> = places.into_iter().take(PLACES).map(one_line).collect();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        Remark { place: format!("{}{more}", named.join("; ")), what: clean(what) }
    };
    places.into_iter().map(remark).collect()
}

fn reading(record: &Record, groups: &Groups) -> String {
    let mut reading = READING.to_owned();
    let of_kind = kind_of(record);
    if let Some(own) = of_kind.reading() {
        reading += &format!(" {own}");
    }
    if record.export.cells.iter().any(|cell| cell.steadiness.is_some()) {
        reading += &format!(" {} {OVER_TIME}", of_kind.steady());
    }
    if record.export.cells.iter().any(|cell| !cell.needs.is_empty()) {
        reading += &format!(
            " A percentile takes {} beyond it in every trial. Where there were too few, the table says how many more a trial needs.",
            of_kind.needs()
        );
    }
    if let Some(defaults) = groups.defaults() {
        reading += &format!(" Unless another value is named: {defaults}.");
    }
    reading
}

fn limits(of_kind: Option<&str>) -> String {
    let of_kind = of_kind.map_or(String::new(), |limits| format!("{limits}; "));
    format!(
        "other machines and other versions; {of_kind}whether each contender is the best that its ecosystem can do; and what \
         METHODOLOGY.md lists, where the method is."
    )
}

/// The most claims that are named by their ids.
const FEW_IDS: usize = 3;

/// `Not judged by this profile: linear, bre-jumps-at-800.` None if the profile judges all claims.
fn not_judged(run: &Run) -> Option<String> {
    let ids = one_line(&run.not_judged.join(", "));
    match run.not_judged.len() {
        0 => None,
        1..=FEW_IDS => Some(format!("Not judged by this profile: {ids}.")),
        several => Some(format!("{several} more are not judged by this profile; `--dry-run` names them.")),
    }
}

/// `The run ended when its verdicts were in, which left out 53 planned trials (about 4 min).` None if nothing was
/// saved.
fn saved(run: &Run) -> Option<String> {
    let saved = run.saved.as_ref()?;
    let why = match saved.decided {
        true => "The run ended when its verdicts were in",
        false => "Cells that no open verdict needed were measured no further",
    };
    Some(format!(
        "{why}, which left out {} (about {}).",
        plural(saved.trials, "planned trial"),
        length(saved.seconds)
    ))
}

fn resumed(run: &Run) -> Option<String> {
    let times: Vec<String> =
        run.resumed.iter().map(|time| time.strftime("%Y-%m-%d %H:%M:%S UTC").to_string()).collect();
    (!times.is_empty()).then(|| {
        format!("taken up again at {}: the blocks of these moments are not back to back", times.join(", "))
    })
}
