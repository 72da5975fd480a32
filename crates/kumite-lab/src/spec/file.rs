//! The file `experiment.toml` as it is written.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use kumite_record::{AxisValue, Binds};
use schemars::JsonSchema;
use serde::Deserialize;
use toml::Spanned;

use super::answer_entry::AnswerAt;
use super::axes::{AxesFile, AxisSchema};
use super::own_metric::OwnMetric;
use super::param_schema::by_kind;
use super::points::{Entry, whole};
use super::published::PublishedFile;
use crate::contender::Install;
use crate::driver::{Answer, KINDS, Registration, RequestFile, Scenario, SessionFile, Written};
use crate::service::ServiceFile;
use crate::toml_source::{SpecError, TomlSource};

/// experiment.toml: a question, the workload that is to answer it, and claims about what comes out.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Experiment", transform = by_kind)]
pub(crate) struct ExperimentFile {
    /// The question that the experiment answers, in one sentence.
    pub question: String,
    /// The published argument that the question comes from.
    pub source: Option<kumite_record::Source>,
    /// The word for the kind of workload, such as `http`.
    #[schemars(extend("enum" = KINDS.map(|kind| kind.name.as_str())))]
    pub kind: String,
    /// Blocks at each point, at most; 24 if it is not given. A run ends earlier once its verdicts are in. `kumite run
    /// NAME --dry-run` says how many each claim takes.
    #[schemars(range(min = 1))]
    pub blocks: Option<u32>,
    /// Blocks that each cell gets even if no verdict needs them; 6 if it is not given, the fewest with which the
    /// estimate of a cell has an interval. 1 is enough for cells that only fill tables. Cells that an open claim needs
    /// go on, up to `blocks`.
    #[schemars(range(min = 1))]
    pub min_blocks: Option<u32>,
    /// The margin, in percent: a ratio that is nearer to 1 than this is "no difference"; 1 if it is not given.
    #[schemars(range(min = 0, max = 50))]
    pub margin_percent: Option<f64>,
    /// The contender that has two trials in each block: how far it is from itself says how far to trust the run.
    /// `--control=NAME` names another for a run.
    pub control: Option<String>,
    /// The metric by which `kumite run --rev A --rev B` compares each contender at one revision with itself at another.
    pub headline: Option<String>,
    /// Fixed parameters. The value of one that is an axis, too, is that axis's default.
    #[serde(default)]
    pub workload: BTreeMap<String, AxisValue>,
    /// Parameters that are swept. Every combination of their values is a point, unless `points` lists some. Texts may
    /// have labels, as in `body = { small = "x", big = { file = "big.json" } }`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, AxisSchema>")]
    pub axes: AxesFile,
    /// The points, where not every combination of axis values is wanted.
    #[schemars(length(min = 1))]
    pub points: Option<Vec<Entry>>,
    /// The services beside the contenders, by name. Contenders find each by environment variables that begin with its
    /// name in upper case.
    #[serde(default)]
    pub services: BTreeMap<String, ServiceFile>,
    /// Metrics beside those that every task, function or command has, by name. The end of a name says its unit:
    /// `_ns`, `_us`, `_ms`, `_s`, `_bytes`, `_rps`, `_per_s`, `_cores`, `_share`.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, OwnMetric>")]
    pub metrics: BTreeMap<Spanned<String>, OwnMetric>,
    /// Tools that the experiment's set-up and its checker need: a command, or a command and its oldest version, as in
    /// `python3 >= 3.9`.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The packages that bring the tools in `needs`.
    #[serde(default)]
    pub install: Install,
    /// Bytes of free disk that a trial of a task needs, an expression over `$parameters`. If the disk has less,
    /// nothing is started.
    pub disk: Option<String>,
    /// The overrides of `--profile NAME`, by name. `quick`, `standard` and `full` exist always.
    #[serde(default)]
    pub profiles: BTreeMap<String, Profile>,
    /// The right answer. Without it any answer is right; of a server, any with a status of 2xx.
    #[serde(default)]
    pub answer: Answer,
    /// Right answers that differ by point. If there are any, each point has one.
    #[serde(default)]
    pub answer_at: Vec<AnswerAt>,
    /// The requests to servers, in place of `method`, `path` and `body` in `[workload]`. `$name` stands for a parameter.
    #[serde(default)]
    pub request: Vec<RequestFile>,
    /// The sessions with servers. A session is a list of requests in order, which may use values from the answers
    /// before them.
    #[serde(default)]
    pub session: Vec<SessionFile>,
    /// The headers of all requests to servers. A request's own header replaces one of the same name.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// A CSV file with a header row. Each session, and each request outside of sessions, takes the next row:
    /// `{{column}}` stands for the value in that column.
    pub csv: Option<PathBuf>,
    /// True if the cookies that a server sets on a connection are sent back on that connection.
    #[serde(default)]
    pub cookies: bool,
    /// Published figures, to be shown beside what is measured.
    pub published: Option<PublishedFile>,
    /// Claims to be judged.
    #[serde(default)]
    pub claim: Vec<ClaimFile>,
    /// Statements that must be true whatever the contenders are.
    #[serde(default)]
    pub check: Vec<CheckFile>,
}

/// The overrides of a profile. Only keys that the experiment has can be overridden.
#[derive(Clone, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// Blocks at each point in this profile, at most.
    #[schemars(range(min = 1))]
    pub blocks: Option<u32>,
    /// Blocks that each cell gets in this profile even if no verdict needs them.
    #[schemars(range(min = 1))]
    pub min_blocks: Option<u32>,
    /// Fixed parameters that have other values in this profile.
    #[serde(default)]
    pub workload: BTreeMap<String, AxisValue>,
    /// Axes that have other values in this profile.
    #[serde(default)]
    pub axes: BTreeMap<String, Vec<AxisValue>>,
    /// The points of this profile, instead of the experiment's.
    #[schemars(length(min = 1))]
    pub points: Option<Vec<Entry>>,
    /// The claims that this profile judges, by id; all, if the key is left out. The others are not among those that
    /// are judged together, and keep no cell going. A profile that only fills tables lists none: every cell has all
    /// blocks then.
    pub claims: Option<Vec<String>>,
}

/// A sentence about what is measured. A run finds that it holds, that it fails, or that it is undecided.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Claim")]
pub(crate) struct ClaimFile {
    /// The claim's id, unique within the experiment.
    pub id: String,
    /// The claim in plain words.
    pub title: Option<String>,
    /// The claim in the claim grammar, which docs/claims.md describes.
    pub assert: String,
    /// The published figure or sentence that the claim is about.
    pub published: Option<String>,
}

/// A sentence that must be true whatever the contenders are: counts that agree, a physical lower limit, two ways to
/// measure. It is compared without an interval.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Check")]
pub(crate) struct CheckFile {
    /// The check's id, unique among the claims and checks of the experiment.
    pub id: String,
    /// The check in plain words.
    pub title: Option<String>,
    /// The check in the claim grammar, without `disqualified`.
    pub assert: String,
    /// The figures that are compared: the trials of every round, or the median over blocks.
    pub binds: Binds,
    /// The reason why the check must hold, and why within its band if it has one (`within 5 % of`). Not empty.
    #[schemars(length(min = 1))]
    pub because: String,
}

impl ExperimentFile {
    /// Reads the file. A number without a fraction becomes the same value however it is written (`2` or `2.0`). The
    /// error names line, column and remedy.
    pub fn read(source: &TomlSource) -> Result<ExperimentFile, SpecError> {
        let mut file: ExperimentFile = source.parse()?;
        let of_source = file.source.iter_mut().flat_map(|source| source.workload.values_mut());
        let values = file.workload.values_mut().chain(file.axes.values.values_mut().flatten());
        values.chain(of_source).for_each(whole);
        for profile in file.profiles.values_mut() {
            profile.workload.values_mut().chain(profile.axes.values_mut().flatten()).for_each(whole);
        }
        Ok(file)
    }

    /// The requests and sessions. An error if one of them is refused, or if a file that they name cannot be read.
    /// Without a folder no such file is read.
    pub fn scenario(&self, source: &TomlSource, folder: Option<&Path>) -> Result<Scenario, SpecError> {
        let written = Written {
            request: &self.request,
            session: &self.session,
            headers: &self.headers,
            csv: self.csv.as_deref(),
            cookies: self.cookies,
        };
        let scenario = Scenario::read(source, folder, &written)?;
        scenario.check_names(source)?;
        Ok(scenario)
    }

    /// The registration of the experiment's kind. An error if the kind is unknown.
    pub fn registration(&self, source: &TomlSource) -> Result<&'static Registration, SpecError> {
        let found = KINDS.into_iter().find(|kind| kind.name.as_str() == self.kind);
        found.ok_or_else(|| {
            let known = KINDS.map(|kind| kind.name.as_str()).join(", ");
            source.error_at(&["kind"], format!("unknown kind '{}'; known: {known}", self.kind))
        })
    }
}
