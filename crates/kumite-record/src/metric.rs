//! A metric as it is declared. A record carries these, so a report names no metric and still says what each one is.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Better, Unit};

/// A metric as it is declared: by a kind of workload, by a service, or by an experiment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Metric {
    /// Its name, the end of which says the unit where it has one.
    pub name: String,
    /// The unit of its values.
    pub unit: Unit,
    /// The better end of its values; none where neither is better by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// An explanation in a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// True if it would crowd a main table; such a metric is among the details.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_detail: bool,
    /// The role by which a report finds it to draw more than a column; none of most.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
}

impl Metric {
    /// One whose name says its unit, and whose unit says which values are better; else a plain number.
    pub fn new(name: &str, about: &str) -> Metric {
        Metric { name: name.to_owned(), about: about.to_owned(), ..Metric::named(name) }
    }

    /// One of which nothing but the name is known.
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

    /// How many of something; neither few nor many are better.
    pub fn count(name: &str, about: &str) -> Metric {
        Metric { unit: Unit::Count, ..Metric::new(name, about) }
    }

    /// This metric, with these values declared the better ones.
    pub fn better(self, better: impl Into<Option<Better>>) -> Metric {
        Metric { better: better.into(), ..self }
    }

    /// Apart from the main table.
    pub fn detail(self) -> Metric {
        Metric { is_detail: true, ..self }
    }

    /// Declares the part that it plays in reports, by which charts find it.
    pub fn role(self, role: &str) -> Metric {
        Metric { role: Some(role.to_owned()), ..self }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}
