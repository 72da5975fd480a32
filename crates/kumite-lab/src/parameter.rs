//! Parameters of workloads. Each is declared once, by its kind, and is read, described and explained by that
//! declaration.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_host::AskedCores;
use kumite_record::{AxisValue, Labels, Point, Unit, meant};

use serde_json::Value;

use crate::unfit::Unfit;

/// The parameters of a trial, by name, with their values.
pub(crate) type Parameters = BTreeMap<String, AxisValue>;

/// The declaration of a parameter by its kind.
#[derive(Debug)]
pub(crate) struct Param {
    pub name: &'static str,
    pub takes: Takes,
    /// The unit of the parameter. None if the end of the name says the unit, or `takes` determines it.
    pub unit: Option<Unit>,
    /// The parameter whose value is taken if this one is not given. None if it has a default of its own.
    pub like: Option<&'static str>,
    /// The meaning of the parameter, in a sentence for the reference.
    pub about: &'static str,
}

/// The values that a parameter may have.
#[derive(Debug)]
pub(crate) enum Takes {
    /// A whole number within bounds.
    Count {
        default: i64,
        least: i64,
        most: i64,
    },
    /// A number within bounds, whole or not.
    Number {
        default: f64,
        least: f64,
        most: f64,
    },
    /// A number within bounds, or a text that lists steps: several numbers, each with the length of its step.
    Steps {
        default: f64,
        least: f64,
        most: f64,
    },
    Text {
        default: &'static str,
    },
    /// One of these words; the first is the default.
    Word(&'static [&'static str]),
    /// A truth value; false by default.
    Flag,
    /// A number of CPUs, or `all`; 1 by default.
    Cores,
}

/// The most CPUs that may be asked for.
pub(crate) const MOST_CORES: i64 = 4096;

impl Param {
    pub const fn count(
        name: &'static str,
        default: i64,
        [least, most]: [i64; 2],
        about: &'static str,
    ) -> Param {
        Param::new(name, Takes::Count { default, least, most }, about)
    }

    pub const fn number(
        name: &'static str,
        default: f64,
        [least, most]: [f64; 2],
        about: &'static str,
    ) -> Param {
        Param::new(name, Takes::Number { default, least, most }, about)
    }

    pub const fn text(name: &'static str, default: &'static str, about: &'static str) -> Param {
        Param::new(name, Takes::Text { default }, about)
    }

    pub const fn word(name: &'static str, words: &'static [&'static str], about: &'static str) -> Param {
        Param::new(name, Takes::Word(words), about)
    }

    pub const fn new(name: &'static str, takes: Takes, about: &'static str) -> Param {
        Param { name, takes, unit: None, like: None, about }
    }

    pub const fn like(mut self, other: &'static str) -> Param {
        self.like = Some(other);
        self
    }

    pub const fn unit(mut self, unit: Unit) -> Param {
        self.unit = Some(unit);
        self
    }

    /// The unit of the parameter: the declared one; else the one that the end of the name says; else that of CPUs or of
    /// a count, if the parameter is one; else that of a plain number.
    pub fn counted_in(&self) -> Unit {
        let of_name = || match self.takes {
            Takes::Cores => Some(Unit::Cores),
            Takes::Count { .. } => Some(Unit::Count),
            _ => None,
        };
        self.unit.or_else(|| Unit::of_name(self.name)).or_else(of_name).unwrap_or(Unit::Number)
    }
}

/// The parameters of one trial, read by name.
pub(crate) struct Params<'a> {
    pub given: &'a Parameters,
    pub declared: &'static [Param],
}

impl Params<'_> {
    /// Returns an error if parameters are given that the kind does not declare. `workload` names the workload in the
    /// error.
    pub fn no_others(&self, workload: &str) -> Result<(), Unfit> {
        let known = |name: &String| self.declared.iter().any(|param| param.name == name);
        match self.given.keys().find(|name| !known(name)) {
            None => Ok(()),
            Some(unknown) => {
                let known: Vec<&str> = self.declared.iter().map(|param| param.name).collect();
                let meant = meant(unknown, known.iter().copied());
                Err(Unfit::new(format!(
                    "unknown workload parameter '{unknown}'{meant} ({workload} has {})",
                    known.join(", ")
                )))
            }
        }
    }

    fn takes(&self, name: &str) -> &'static Takes {
        let declared = self.declared.iter().find(|param| param.name == name);
        &declared.unwrap_or_else(|| panic!("a kind reads '{name}', which it does not declare")).takes
    }

    /// The given text, or the default. An error if another value is given.
    pub fn text(&self, name: &str) -> Result<&str, Unfit> {
        match (self.given.get(name), self.takes(name)) {
            (None, Takes::Text { default }) => Ok(default),
            (Some(AxisValue::Text(text)), _) => Ok(text),
            (Some(other), _) => Err(Unfit::new(format!("{name} is text, not {other}"))),
            (None, takes) => panic!("{name} is no text but {takes:?}"),
        }
    }

    /// The index of the given word among the allowed ones; 0 if no word is given. An error if the given word is not
    /// allowed.
    pub fn word(&self, name: &str) -> Result<usize, Unfit> {
        let Takes::Word(words) = self.takes(name) else { panic!("{name} is none of several words") };
        let Some(given) = self.given.get(name) else { return Ok(0) };
        let text = given.to_string();
        words.iter().position(|word| *word == text).ok_or_else(|| {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            let (last, first) = quoted.split_last().expect("a parameter of words has some");
            Unfit::new(format!("{name} is {} or {last}, not \"{text}\"", first.join(", ")))
        })
    }

    /// The given whole number, or the default. An error if it is out of bounds, or another value is given.
    pub fn count(&self, name: &str) -> Result<usize, Unfit> {
        match (self.given.get(name), self.takes(name)) {
            (None, Takes::Count { default, .. }) => Ok(*default as usize),
            (Some(AxisValue::Int(count)), Takes::Count { least, most, .. })
                if (least..=most).contains(&count) =>
            {
                Ok(*count as usize)
            }
            (Some(other), Takes::Count { least, most, .. }) => {
                Err(Unfit::new(format!("{name} is a whole number from {least} to {most}, not {other}")))
            }
            (_, takes) => panic!("{name} is no count but {takes:?}"),
        }
    }

    /// The given number; else that of the parameter which this one takes its default from; else the default. An error
    /// if the number is out of bounds, or another value is given.
    pub fn number(&self, name: &str) -> Result<f64, Unfit> {
        let (Takes::Number { default, least, most } | Takes::Steps { default, least, most }) =
            self.takes(name)
        else {
            panic!("{name} is no number")
        };
        let Some(value) = self.given.get(name) else {
            let like = self.declared.iter().find(|param| param.name == name).and_then(|param| param.like);
            return like.map_or(Ok(*default), |other| self.number(other));
        };
        value
            .number()
            .filter(|number| (least..=most).contains(&number))
            .ok_or_else(|| Unfit::new(format!("{name} is a number from {least} to {most}, not {value}")))
    }

    /// The value of a parameter that is a time. The end of the parameter's name says the unit (`_ms`); without such an
    /// end it is seconds. An error if the value is no number in the parameter's range.
    pub fn time(&self, name: &str) -> Result<Duration, Unfit> {
        let scale = Unit::of_name(name).map_or(1.0, Unit::scale);
        Ok(Duration::from_secs_f64(self.number(name)? * scale))
    }

    /// The given truth value; false if none is given. An error if the given value is no truth value.
    pub fn flag(&self, name: &str) -> Result<bool, Unfit> {
        match self.given.get(name) {
            None => Ok(false),
            Some(AxisValue::Bool(flag)) => Ok(*flag),
            Some(other) => Err(Unfit::new(format!("{name} is true or false, not {other}"))),
        }
    }

    /// The given number of CPUs; 1 if none is given. An error if the value is neither a whole number from 1 to
    /// [`MOST_CORES`] nor `all`.
    pub fn cores(&self, name: &str) -> Result<AskedCores, Unfit> {
        match self.given.get(name) {
            None => Ok(AskedCores::Count(1)),
            Some(AxisValue::Text(word)) if word == "all" => Ok(AskedCores::All),
            Some(AxisValue::Text(word)) => {
                Err(Unfit::new(format!("{name} is a number or \"all\", not \"{word}\"")))
            }
            Some(AxisValue::Int(count)) if (1..=MOST_CORES).contains(count) => {
                Ok(AskedCores::Count(*count as usize))
            }
            Some(other) => {
                Err(Unfit::new(format!("{name} is a whole number from 1 to {MOST_CORES}, not {other}")))
            }
        }
    }
}

/// The environment variables that lead to tools.
pub(crate) const LEADS_TO_TOOLS: [&str; 2] = ["PATH", "JAVA_HOME"];

/// The fixed parameters with those of a point, which replace fixed ones of the same name. A value that is a label is
/// replaced by the text that the label stands for.
pub(crate) fn at_point(fixed: &Parameters, point: &Point, labels: &Labels) -> Parameters {
    let mut parameters = fixed.clone();
    parameters.extend(point.0.clone());
    for (axis, texts) in labels {
        if let Some(AxisValue::Text(value)) = parameters.get_mut(axis)
            && let Some(text) = texts.get(value)
        {
            value.clone_from(text);
        }
    }
    parameters
}

/// The parameters as environment variables, with names in upper case. A parameter that would take the place of one of
/// [`LEADS_TO_TOOLS`] is left out, since tools could not be found then.
pub(crate) fn as_environment(parameters: &Parameters) -> impl Iterator<Item = (String, String)> {
    let all = parameters.iter().map(|(name, value)| (name.to_uppercase(), value.to_string()));
    all.filter(|(name, _)| !LEADS_TO_TOOLS.contains(&name.as_str()))
}

/// All parameters as JSON, in the form in which a contender is given them.
pub(crate) fn all_as_json(parameters: &Parameters) -> Value {
    parameters.iter().map(|(name, value)| (name.clone(), as_json(value))).collect()
}

/// The value of one parameter as JSON.
pub(crate) fn as_json(value: &AxisValue) -> Value {
    match value {
        AxisValue::Int(number) => (*number).into(),
        AxisValue::Float(number) => (*number).into(),
        AxisValue::Text(text) => text.as_str().into(),
        AxisValue::Bool(flag) => (*flag).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parameter_called_path_is_no_environment_variable() {
        let text = |text: &str| AxisValue::Text(text.to_owned());
        let parameters =
            [("path".to_owned(), text("data.csv")), ("size_bytes".to_owned(), AxisValue::Int(7))];
        let found: Vec<_> = as_environment(&parameters.into()).collect();
        assert_eq!(found, [("SIZE_BYTES".to_owned(), "7".to_owned())]);
    }
}
