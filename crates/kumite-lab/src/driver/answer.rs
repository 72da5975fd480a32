//! The right answer, as `[answer]` of experiment.toml has it.

use std::collections::BTreeMap;

use kumite_load::{Pattern, Sha256Digest};
use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::unfit::Unfit;

/// The right answer to a trial's workload: all keys that are given must hold. Of a server's answer, a text that is
/// `$name` alone is the value of that workload parameter (`$$name` is the text `$name`), except in patterns.
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
    pub equals_json: Option<Value>,
    /// Parts of a task's result, or of a function's or a server's answer, by JSON pointer; `"$name"` is the value of a
    /// workload parameter. 3 and 3.0 are the same here.
    #[serde(default, deserialize_with = "parts")]
    pub at: BTreeMap<String, Value>,
    /// Text in the body of a server's answer, or several.
    #[serde(default)]
    #[schemars(with = "OneOrMore")]
    pub contains: OneOrMore,
    /// Pattern that the body of a server's answer matches, or several, in the syntax of Rust's `regex`.
    #[serde(default, deserialize_with = "patterns")]
    #[schemars(with = "OneOrMore")]
    pub matches: Vec<Pattern>,
    /// Headers of a server's answer. If one comes several times, one of its values has to be right.
    #[serde(default)]
    pub headers: BTreeMap<String, HeaderValue>,
    /// Length of the body of a server's answer, in bytes, or `"$name"`.
    pub length: Option<Length>,
    /// SHA-256 digest of the body of a server's answer, which need not be held for it, or `"$name"`.
    #[serde(default, deserialize_with = "digest")]
    pub sha256: Option<String>,
    /// The outputs of all commands at a point have to be the same bytes.
    #[serde(default)]
    pub same_output: bool,
    /// A program that checks a task's result, a function's answer, or a command's output, whose path it is given: it
    /// speaks the task protocol, too. Of a server's answers it looks at up to 20 of a trial, as the program of `kumite
    /// load --check-with` does. Runs through `sh -c` in the experiment's folder, outside of the timed part.
    pub checker: Option<String>,
}

impl Answer {
    /// The names of the parameters that stand in this answer.
    pub(crate) fn parameters(&self) -> impl Iterator<Item = &str> {
        fn header(value: &HeaderValue) -> Option<&str> {
            match value {
                HeaderValue::Equals(value) => Some(value),
                HeaderValue::Matches(_) => None,
            }
        }
        let length = self.length.iter().filter_map(|length| match length {
            Length::Bytes(_) => None,
            Length::Parameter(given) => Some(given.as_str()),
        });
        let texts = self.equals.iter().chain(&self.sha256).map(String::as_str).chain(length);
        let texts = texts.chain(self.contains.texts().iter().map(String::as_str));
        let texts = texts.chain(self.at.values().filter_map(Value::as_str));
        texts.chain(self.headers.values().filter_map(header)).filter_map(parameter_of)
    }

    /// This answer, completed by the keys of `base` that it does not have. `equals` and `equals_json` count as one key;
    /// `at` and `headers` are completed entry by entry.
    pub(crate) fn over(&self, base: &Answer) -> Answer {
        let has_body = self.equals.is_some() || self.equals_json.is_some();
        let body = if has_body { self } else { base };
        let or =
            |own: &[Pattern], other: &[Pattern]| if own.is_empty() { other.to_vec() } else { own.to_vec() };
        let contains = if self.contains.texts().is_empty() { &base.contains } else { &self.contains };
        Answer {
            status: self.status.or(base.status),
            equals: body.equals.clone(),
            equals_json: body.equals_json.clone(),
            at: base.at.clone().into_iter().chain(self.at.clone()).collect(),
            contains: contains.clone(),
            matches: or(&self.matches, &base.matches),
            headers: base.headers.clone().into_iter().chain(self.headers.clone()).collect(),
            length: self.length.clone().or_else(|| base.length.clone()),
            sha256: self.sha256.clone().or_else(|| base.sha256.clone()),
            same_output: self.same_output || base.same_output,
            checker: self.checker.clone().or_else(|| base.checker.clone()),
        }
    }
}

/// A text, or several.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "write a text, or a list of texts")]
pub enum OneOrMore {
    /// One text.
    One(String),
    /// Several texts.
    More(Vec<String>),
}

impl Default for OneOrMore {
    fn default() -> OneOrMore {
        OneOrMore::More(Vec::new())
    }
}

impl OneOrMore {
    pub(crate) fn texts(&self) -> &[String] {
        match self {
            OneOrMore::One(text) => std::slice::from_ref(text),
            OneOrMore::More(texts) => texts,
        }
    }
}

/// The value of a header that is right.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "write the header's value, or { matches = \"PATTERN\" }")]
pub enum HeaderValue {
    /// The whole value.
    Equals(String),
    /// A pattern.
    Matches(MatchingValue),
}

/// A pattern that the header's value matches.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MatchingValue {
    /// The pattern, in the syntax of Rust's `regex`.
    pub matches: String,
}

/// A number of bytes, or the parameter that has it.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "write a number of bytes, or \"$parameter\"")]
pub enum Length {
    /// The number of bytes.
    Bytes(u64),
    /// `$` and the parameter's name.
    Parameter(String),
}

/// The name of the parameter that a text stands for: it is `$` and a name, and nothing else. None for any other text.
pub(crate) fn parameter_of(text: &str) -> Option<&str> {
    let name = text.strip_prefix('$')?;
    let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    is_name.then_some(name)
}

/// Reads patterns, each of which has to be a regular expression.
fn patterns<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Pattern>, D::Error> {
    let texts = OneOrMore::deserialize(from)?;
    texts.texts().iter().map(|text| Pattern::new(text).map_err(D::Error::custom)).collect()
}

/// Reads a digest, or a parameter that has it.
fn digest<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    if parameter_of(&text).is_none() {
        text.parse::<Sha256Digest>().map_err(D::Error::custom)?;
    }
    Ok(Some(text))
}

/// Reads parts of JSON by pointer.
fn parts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, Value>, D::Error> {
    let parts = BTreeMap::<String, toml::Value>::deserialize(from)?;
    let part = |(pointer, value)| Ok((pointer, json(value).map_err(D::Error::custom)?));
    parts.into_iter().map(part).collect()
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

/// Reads a value of TOML as JSON.
fn json_of_toml<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Value>, D::Error> {
    json(toml::Value::deserialize(from)?).map(Some).map_err(D::Error::custom)
}

/// A value of TOML as JSON. An error for dates and numbers that JSON does not have.
fn json(value: toml::Value) -> Result<Value, Unfit> {
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
