//! The declaration of a metric. A record carries one for each of its metrics, so that a report need not know any
//! metric by name.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Unit};

/// The declaration of a metric, made by a kind of workload, a service, or an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// The metric's name. Its end says the unit, except for counts and plain numbers.
    pub name: String,
    /// The unit of the metric's values.
    pub unit: Unit,
    /// The better end of the metric's values. None if neither end is better by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The meaning of the metric, in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// True if the metric stands in the table of details, because it would crowd the main table.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_detail: bool,
    /// The role by which a report finds the metric, for example to draw a chart. None for most metrics.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Metric {
    /// Declares a metric by its name. The end of the name says the unit, and the unit says which end is better, if
    /// either is. Without a unit in the name, the metric is a plain number of which neither end is better.
    pub fn new(name: &str, about: &str) -> Metric {
        Metric { name: name.to_owned(), about: about.to_owned(), ..Metric::named(name) }
    }

    /// Declares a metric of which only the name is known: as [`new`](Self::new), without an explanation.
    pub fn named(name: &str) -> Metric {
        let unit = Unit::of_name(name).unwrap_or(Unit::Number);
        Metric {
            name: name.to_owned(),
            unit,
            better: unit.better(),
            about: String::new(),
            is_detail: false,
            role: None,
        }
    }

    /// Declares a metric that counts things. Neither end of it is better.
    pub fn count(name: &str, about: &str) -> Metric {
        Metric { unit: Unit::Count, ..Metric::new(name, about) }
    }

    /// The same metric with this better end, or none.
    pub fn better(self, better: impl Into<Option<Better>>) -> Metric {
        Metric { better: better.into(), ..self }
    }

    /// The same metric, shown in the table of details and not in the main table.
    pub fn detail(self) -> Metric {
        Metric { is_detail: true, ..self }
    }

    /// The same metric with this role, by which reports find it.
    pub fn role(self, role: &str) -> Metric {
        Metric { role: Some(role.to_owned()), ..self }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
