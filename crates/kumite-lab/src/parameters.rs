//! The parameters of a workload, read by name.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_record::AxisValue;

use crate::cores::AskedCores;

pub(crate) struct Parameters<'a>(pub &'a BTreeMap<String, AxisValue>);

impl Parameters<'_> {
    /// An error if there are others. `workload` is what they are of.
    pub fn none_but(&self, known: &[&str], workload: &str) -> Result<(), String> {
        match self.0.keys().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(unknown) => {
                Err(format!("unknown workload parameter '{unknown}'; {workload} has {}", known.join(", ")))
            }
        }
    }

    pub fn text(&self, name: &str, default: &str) -> Result<String, String> {
        match self.0.get(name) {
            None => Ok(default.to_owned()),
            Some(AxisValue::Text(text)) => Ok(text.clone()),
            Some(other) => Err(format!("{name} is text, not {other}")),
        }
    }

    pub fn count(
        &self,
        name: &str,
        default: usize,
        range: std::ops::RangeInclusive<i64>,
    ) -> Result<usize, String> {
        match self.0.get(name) {
            None => Ok(default),
            Some(AxisValue::Int(count)) if range.contains(count) => Ok(*count as usize),
            Some(other) => Err(format!(
                "{name} is a whole number from {} to {}, not {other}",
                range.start(),
                range.end()
            )),
        }
    }

    pub fn number(
        &self,
        name: &str,
        default: f64,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<f64, String> {
        match self.0.get(name) {
            None => Ok(default),
            Some(value) => value.number().filter(|number| range.contains(number)).ok_or_else(|| {
                format!("{name} is a number from {} to {}, not {value}", range.start(), range.end())
            }),
        }
    }

    pub fn seconds(
        &self,
        name: &str,
        default: f64,
        unit: f64,
        range: std::ops::RangeInclusive<f64>,
    ) -> Result<Duration, String> {
        Ok(Duration::from_secs_f64(self.number(name, default, range)? * unit))
    }

    pub fn flag(&self, name: &str) -> Result<bool, String> {
        match self.0.get(name) {
            None => Ok(false),
            Some(AxisValue::Bool(flag)) => Ok(*flag),
            Some(other) => Err(format!("{name} is true or false, not {other}")),
        }
    }

    /// How many CPUs, 1 if it is not said.
    pub fn cores(&self, name: &str) -> Result<AskedCores, String> {
        match self.0.get(name) {
            Some(AxisValue::Text(word)) if word == "all" => Ok(AskedCores::All),
            Some(AxisValue::Text(word)) => Err(format!("{name} is a number or \"all\", not \"{word}\"")),
            _ => Ok(AskedCores::Count(self.count(name, 1, 1..=4096)?)),
        }
    }
}
