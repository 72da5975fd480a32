//! A point of a run: one value of each axis.
//!
//! Values of different types are different: `1` is not `1.0`. A point is written as `connections=100`.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use schemars::JsonSchema;
use serde::de::{Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

/// One value of an axis, or of a workload parameter.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AxisValue {
    /// A whole number, such as a count of connections.
    Int(i64),
    /// Any other number, which may be a whole one in a document if it does not fit into an `i64`.
    Float(f64),
    /// A word, such as `all`.
    Text(String),
    /// A truth value, `true` or `false`.
    Bool(bool),
}

/// The error for a whole number that does not fit into an `i64`. It has the text that was typed.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a whole number has 64 bits here, and {0} needs more")]
pub struct TooLong(String);

/// Reads a value as it is typed: a whole number, another finite number, `true` or `false`; anything else is a text.
/// An error for a whole number that does not fit into an `i64`.
impl FromStr for AxisValue {
    type Err = TooLong;

    fn from_str(text: &str) -> Result<AxisValue, TooLong> {
        let digits = text.strip_prefix('-').unwrap_or(text);
        let is_whole = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        if let Ok(value) = text.parse() {
            return Ok(AxisValue::Int(value));
        }
        if is_whole {
            return Err(TooLong(text.to_owned()));
        }
        if let Ok(value) = text.parse() {
            return Ok(AxisValue::Bool(value));
        }
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        Ok(number.map_or_else(|| AxisValue::Text(text.to_owned()), AxisValue::Float))
    }
}

impl AxisValue {
    /// The value as a number. None if it is a text or a truth value.
    pub fn number(&self) -> Option<f64> {
        match self {
            AxisValue::Int(value) => Some(*value as f64),
            AxisValue::Float(value) => Some(*value),
            AxisValue::Text(_) | AxisValue::Bool(_) => None,
        }
    }
}

/// Written by hand, so that an error has its place and says which values are possible.
impl<'de> Deserialize<'de> for AxisValue {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<AxisValue, D::Error> {
        from.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = AxisValue;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("one value: a number, a text, true or false")
    }

    fn visit_bool<E>(self, value: bool) -> Result<AxisValue, E> {
        Ok(AxisValue::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<AxisValue, E> {
        Ok(AxisValue::Int(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<AxisValue, E> {
        Ok(i64::try_from(value).map_or(AxisValue::Float(value as f64), AxisValue::Int))
    }

    fn visit_f64<E>(self, value: f64) -> Result<AxisValue, E> {
        Ok(AxisValue::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<AxisValue, E> {
        Ok(AxisValue::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<AxisValue, A::Error> {
        Err(A::Error::custom(
            "here is one value, and no list of them: a number, a text, true or false (several that are tried in turn are an axis, below [axes])",
        ))
    }

    fn visit_map<A: MapAccess<'de>>(self, _: A) -> Result<AxisValue, A::Error> {
        Err(A::Error::custom("a value is a number, a text, true or false, and no table and no date"))
    }
}

// A float that is not a number (NaN) equals nothing, not even itself, so no map finds it; nothing worse follows.
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

/// The texts that labels of axis values stand for, by axis and label.
pub type Labels = BTreeMap<String, BTreeMap<String, String>>;

/// The BLAKE3 digests of files in hexadecimal digits, by the name that experiment.toml has for each file.
pub type FileDigests = BTreeMap<String, String>;

/// One combination of axis values, by axis name. An experiment without axes has one point, the empty one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Point(pub BTreeMap<String, AxisValue>);

impl Point {
    /// True if the point has no axes: the one point of a run without any.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value of an axis at this point. None if the point does not have that axis.
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

    #[test]
    fn a_value_that_is_typed_is_a_number_where_it_can_be_one() {
        for (text, value) in [
            ("3", AxisValue::Int(3)),
            ("-3", AxisValue::Int(-3)),
            ("0.5", AxisValue::Float(0.5)),
            ("true", AxisValue::Bool(true)),
            ("a=b", AxisValue::Text("a=b".to_owned())),
            ("inf", AxisValue::Text("inf".to_owned())),
            ("-", AxisValue::Text("-".to_owned())),
            ("", AxisValue::Text(String::new())),
        ] {
            assert_eq!(text.parse(), Ok(value), "{text}");
        }
        let long = "12345678901234567890";
        assert_eq!(long.parse::<AxisValue>(), Err(TooLong(long.to_owned())));
    }

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
