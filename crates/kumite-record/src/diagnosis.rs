//! The findings of `kumite doctor`: facts of a machine that matter to results, and the tools of contenders. A finding
//! that will not do says its effect on results and a remedy.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The findings that `kumite doctor` shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The version of the document's form. It grows when a reader of the old form would misread the new one.
    #[schemars(extend("const" = Diagnosis::SCHEMA))]
    pub schema: u32,
    /// The version of kumite that made the diagnosis.
    pub kumite: String,
    /// The findings about the machine, group by group.
    pub findings: Vec<Finding>,
    /// The contenders of the experiments that are found from here, with their tools.
    pub contenders: Vec<Equipment>,
}

impl Diagnosis {
    /// The version of [`Diagnosis`] as a document. It grows when a reader of the old form would misread the new one.
    pub const SCHEMA: u32 = 1;
}

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The finding's group: `cpu`, `memory`, `limits`, `cgroups`, `rights`, `clock`, `noise` or `disks`.
    pub group: String,
    /// The finding's name, unique in its group.
    pub name: String,
    /// The fitness of the machine in this respect.
    pub state: Fitness,
    /// The finding in a phrase with its figures, for people.
    pub found: String,
    /// The figures in `found`, by name. A figure with a unit has it at the end of its name, as in `cost_ns`; others
    /// are counts or plain numbers.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// The effect on results. None if the machine will do, or if it could not be looked at.
    pub consequence: Option<String>,
    /// A way to mend the fault. `None` if no way is known, or none is needed.
    pub remedy: Option<String>,
}

/// The fitness of a thing for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// The thing is as it should be.
    Ok,
    /// The thing is there, but less than it should be.
    Limited,
    /// The thing is not there.
    Missing,
    /// The thing could not be looked at.
    Unknown,
}

impl Fitness {
    /// The word for the state in files and reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Fitness::Ok => "ok",
            Fitness::Limited => "limited",
            Fitness::Missing => "missing",
            Fitness::Unknown => "unknown",
        }
    }
}

impl Finding {
    /// Makes a finding with this state, without figures, consequence or remedy.
    pub fn new(group: &str, name: &str, state: Fitness, found: impl Into<String>) -> Finding {
        Finding {
            group: group.to_owned(),
            name: name.to_owned(),
            state,
            found: found.into(),
            figures: BTreeMap::new(),
            consequence: None,
            remedy: None,
        }
    }

    /// Makes a finding with the state `Ok`, without figures.
    pub fn ok(group: &str, name: &str, found: impl Into<String>) -> Finding {
        Finding::new(group, name, Fitness::Ok, found)
    }

    /// Makes a finding with the state `Unknown`. `why` is the reason that the thing could not be looked at.
    pub fn unknown(group: &str, name: &str, why: impl Into<String>) -> Finding {
        Finding::new(group, name, Fitness::Unknown, why)
    }

    /// The same finding with another state, its effect on results, and a way to mend the fault.
    pub fn but(
        mut self,
        state: Fitness,
        consequence: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        (self.state, self.consequence, self.remedy) = (state, Some(consequence.into()), Some(remedy.into()));
        self
    }

    /// The same finding with one more figure, in place of any figure with the same name. The end of `name` is the unit,
    /// if the figure has one.
    pub fn figure(mut self, name: &str, value: f64) -> Finding {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// The tools that the contenders of one folder need, each with the file that was found for it on this machine.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Equipment {
    /// The name of the experiment.
    pub experiment: String,
    /// The names of the folder's contenders. Empty if there is an `error`. Then this entry is about the whole
    /// experiment: one of its contenders cannot be used, or it has none; or it is about all experiments, whose folder
    /// cannot be read.
    pub contenders: Vec<String>,
    /// `Missing` if any tool is missing. If none is, `Unknown` if some tool could not be looked for or there is an
    /// `error`, and `Ok` if all were found.
    pub state: Fitness,
    /// The tools that the contenders need, one by one.
    pub needs: Vec<NeedFound>,
    /// The error that kept the needs from being read. None if they were read.
    pub error: Option<String>,
    /// A way to get what is missing. None if nothing is missing, or if no way is known.
    pub remedy: Option<String>,
}

/// A tool that is needed, and the file that was found for it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeedFound {
    /// The tool and its oldest version that will do, as the contender's file writes them.
    pub need: String,
    /// `Ok` if the tool was found, `Missing` if it was not, `Unknown` if that cannot be told.
    pub state: Fitness,
    /// The tool's version. None if the tool was not found, was not asked for its version, or gave none.
    pub version: Option<String>,
    /// The path of the tool. None if it was not found, or if that cannot be told.
    pub path: Option<PathBuf>,
    /// The reason why the tool is missing, as a sentence. None if it was found, or if that cannot be told.
    pub missing: Option<String>,
}

/// The findings of kumite's doctor on a node.
#[derive(Debug, Serialize)]
pub struct NodeFindings {
    /// The node's name.
    pub node: String,
    /// The findings about the node, in the order in which its doctor gives them.
    pub findings: Vec<Finding>,
}
