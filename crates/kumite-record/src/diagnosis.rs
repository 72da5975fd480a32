//! The findings of `kumite doctor`: facts of a machine that matter to results, and the tools of contenders. Each that
//! will not do has its consequence and a remedy.

use std::collections::BTreeMap;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The findings that `kumite doctor` shows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Diagnosis {
    /// The version of this form.
    #[schemars(extend("const" = Diagnosis::SCHEMA))]
    pub schema: u32,
    /// The version of kumite that looked.
    pub kumite: String,
    /// The findings, group by group.
    pub findings: Vec<Finding>,
    /// The contenders of the experiments here, with their tools.
    pub contenders: Vec<Equipment>,
}

impl Diagnosis {
    /// The version of this form. It grows when a reader of the old form would misread the new one.
    pub const SCHEMA: u32 = 1;
}

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// `cpu`, `memory`, `limits`, `cgroups`, `rights`, `clock`, `noise` or `disks`.
    pub group: String,
    /// Unique in its group.
    pub name: String,
    /// `ok` if it will do.
    pub state: Fitness,
    /// A phrase with its figures, for people.
    pub found: String,
    /// The figures in it by name; the unit is the end of the name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// The effect on results; absent where it will do.
    pub consequence: Option<String>,
    /// A way to mend it; absent where none is known or needed.
    pub remedy: Option<String>,
}

/// How well something will do for measuring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Fitness {
    /// As it should be.
    Ok,
    /// There, and less than it should be.
    Limited,
    /// Not there.
    Missing,
    /// It could not be looked at.
    Unknown,
}

impl Fitness {
    /// The word used in files and reports.
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
    /// In this state, with no figures, consequence or remedy.
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

    /// In order.
    pub fn ok(group: &str, name: &str, found: impl Into<String>) -> Finding {
        Finding::new(group, name, Fitness::Ok, found)
    }

    /// `why` it could not be looked at.
    pub fn unknown(group: &str, name: &str, why: impl Into<String>) -> Finding {
        Finding::new(group, name, Fitness::Unknown, why)
    }

    /// The same in another state, with the effect on results and a way to mend it.
    pub fn but(
        mut self,
        state: Fitness,
        consequence: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        (self.state, self.consequence, self.remedy) = (state, Some(consequence.into()), Some(remedy.into()));
        self
    }

    /// The same with one more of its figures.
    pub fn figure(mut self, name: &str, value: f64) -> Finding {
        self.figures.insert(name.to_owned(), value);
        self
    }
}

/// The needs of the contenders of one folder, each with its tool if that is here.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Equipment {
    /// The name of the experiment.
    pub experiment: String,
    /// The contenders of the folder; none if its file cannot be read.
    pub contenders: Vec<String>,
    /// `Ok` if all needs are met; else missing if any is missing, and unknown if that cannot be told.
    pub state: Fitness,
    /// The tools that its contenders need, one by one.
    pub needs: Vec<NeedFound>,
    /// The error that kept the needs from being read.
    pub error: Option<String>,
    /// How to get what is missing.
    pub remedy: Option<String>,
}

/// A tool that is needed, and what was found of it.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeedFound {
    /// The tool, and its oldest version that will do.
    pub need: String,
    /// Found, missing, or not to be told.
    pub state: Fitness,
    /// Its version, if one was asked for.
    pub version: Option<String>,
    /// The file that is run.
    pub path: Option<PathBuf>,
    /// The reason why it is missing, as a sentence.
    pub missing: Option<String>,
}

/// The findings of kumite's doctor on a node.
#[derive(Debug, Serialize)]
pub struct NodeFindings {
    /// The node's name.
    pub node: String,
    /// In the order in which its doctor gives them.
    pub findings: Vec<Finding>,
}
