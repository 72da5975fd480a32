//! The right answer, as `[answer]` of experiment.toml has it.

use std::collections::BTreeMap;

use kumite_record::AxisValue;
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};

use crate::unfit::Unfit;

/// The right answer to a trial's workload. Keys that are not given allow any answer.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Answer {
    /// The HTTP status. Any 2xx will do if it is not given.
    pub status: Option<u16>,
    /// The whole body, or the whole output of a command; for a task the whole result and for a function the whole
    /// answer, as JSON. Any will do if it is not given.
    #[serde(default, deserialize_with = "text")]
    pub equals: Option<String>,
    /// The whole body, output, result or answer as a value, however its JSON is written; numbers are equal only if
    /// both or neither are integers (3 is not 3.0). In place of `equals`.
    #[serde(default, deserialize_with = "json_of_toml")]
    pub equals_json: Option<serde_json::Value>,
    /// Parts of a task's result or a function's answer by JSON pointer; `"$name"` is the value of a workload
    /// parameter.
    #[serde(default)]
    pub at: BTreeMap<String, AxisValue>,
    /// The outputs of all commands at a point have to be the same bytes.
    #[serde(default)]
    pub same_output: bool,
    /// A program that checks a task's result, a function's answer, or a command's output, whose path it is given: it
    /// speaks the task protocol, too. Runs through `sh -c` in the experiment's folder, outside of the timed part.
    pub checker: Option<String>,
}

/// Reads `equals`, which has to be a text. The error for any other value names `equals_json`.
fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    match toml::Value::deserialize(from)? {
        toml::Value::String(text) => Ok(Some(text)),
        other => {
            let what = other.type_str();
            Err(D::Error::custom(format!(
                "`equals` is a text and no {what}: write a value of TOML as `equals_json`"
            )))
        }
    }
}

/// Reads a value of TOML as JSON. An error for dates and numbers that JSON does not have.
fn json_of_toml<'de, D: Deserializer<'de>>(from: D) -> Result<Option<serde_json::Value>, D::Error> {
    fn json(value: toml::Value) -> Result<serde_json::Value, Unfit> {
        Ok(match value {
            toml::Value::String(text) => text.into(),
            toml::Value::Integer(number) => number.into(),
            toml::Value::Float(number) if number.is_finite() => number.into(),
            toml::Value::Float(number) => return Err(Unfit::new(format!("JSON has no {number}"))),
            toml::Value::Boolean(flag) => flag.into(),
            toml::Value::Datetime(date) => {
                return Err(Unfit::new(format!("JSON has no dates: write \"{date}\" as text")));
            }
            toml::Value::Array(values) => values.into_iter().map(json).collect::<Result<_, _>>()?,
            toml::Value::Table(table) => {
                let member = |(name, value)| Ok::<_, Unfit>((name, json(value)?));
                table.into_iter().map(member).collect::<Result<_, _>>()?
            }
        })
    }
    json(toml::Value::deserialize(from)?).map(Some).map_err(D::Error::custom)
}
