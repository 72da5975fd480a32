use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One value of an axis, or of a workload parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum AxisValue {
    /// A whole number, such as a count of connections.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// A word, such as `all`.
    Text(String),
    /// Yes or no.
    Bool(bool),
}

impl AxisValue {
    /// The value as a number, where it is one.
    pub fn number(&self) -> Option<f64> {
        match self {
            AxisValue::Int(value) => Some(*value as f64),
            AxisValue::Float(value) => Some(*value),
            AxisValue::Text(_) | AxisValue::Bool(_) => None,
        }
    }
}

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisValue::Int(value) => write!(f, "{value}"),
            AxisValue::Float(value) => write!(f, "{value}"),
            AxisValue::Text(value) => f.write_str(value),
            AxisValue::Bool(value) => write!(f, "{value}"),
        }
    }
}

/// One combination of axis values, by axis name. An experiment without axes has one point, the empty one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, AxisValue>);

impl Point {
    /// The value of an axis at this point.
    pub fn get(&self, axis: &str) -> Option<&AxisValue> {
        self.0.get(axis)
    }
}

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (axis, value)) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" ")?;
            }
            write!(f, "{axis}={value}")?;
        }
        Ok(())
    }
}
