use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};

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

// One that is no number equals nothing, and so is found by nobody.
impl Eq for AxisValue {}

impl Hash for AxisValue {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            AxisValue::Int(value) => value.hash(state),
            // The two zeros are equal.
            AxisValue::Float(value) => (value + 0.0).to_bits().hash(state),
            AxisValue::Text(value) => value.hash(state),
            AxisValue::Bool(value) => value.hash(state),
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn point(value: AxisValue) -> Point {
        Point([("n".to_owned(), value)].into())
    }

    #[test]
    fn a_point_is_found_by_one_that_is_equal_and_by_no_other() {
        let points = [
            point(AxisValue::Int(1)),
            point(AxisValue::Float(1.0)),
            point(AxisValue::Text("1".to_owned())),
            point(AxisValue::Bool(true)),
        ];
        let known = HashSet::from([points[0].clone()]);
        assert_eq!(points.map(|point| known.contains(&point)), [true, false, false, false]);
        let zero = HashSet::from([point(AxisValue::Float(0.0))]);
        assert!(zero.contains(&point(AxisValue::Float(-0.0))));
    }
}
