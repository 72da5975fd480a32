//! What a report says and in which order, before any format: every text is cleaned, every number is written out.

use kumite_record::{ContenderStatus, Export};
use serde::Serialize;

use crate::facts::{Fact, facts};
use crate::table::{PointTables, points};
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
    pub tally: String,
    pub verdicts: Vec<VerdictText>,
    pub points: Vec<PointTables>,
    /// Contenders that did not take part.
    pub absent: Vec<Absent>,
    pub versions: Vec<Version>,
    pub warnings: Vec<Remark>,
    pub facts: Vec<Fact>,
    pub command: String,
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
    pub model: String,
    pub version: String,
}

/// A warning.
#[derive(Debug, Serialize)]
pub struct Remark {
    pub place: String,
    pub what: String,
}

impl Document {
    pub fn of(export: &Export) -> Document {
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
                format!("{}, “{}”, {}", one_line(&source.author), one_line(&source.title), source.year)
            }),
            cut_short: run.cut_short.as_deref().map(one_line).or_else(|| {
                run.finished
                    .is_none()
                    .then(|| "the record has no end: it is still running or was killed".into())
            }),
            tally: tally(&export.claims),
            verdicts: export.claims.iter().map(VerdictText::of).collect(),
            points: points(export),
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
                    model: one_line(&contender.model),
                    version: contender.version.as_deref().map_or("unknown".into(), clean),
                })
                .collect(),
            warnings: export
                .warnings
                .iter()
                .map(|warning| Remark { place: one_line(&warning.place), what: clean(&warning.what) })
                .collect(),
            facts: facts(export),
            command: one_line(&run.command),
        }
    }
}
