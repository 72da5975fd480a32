//! hyperfine's JSON: the commands that were measured, and what came of it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// A command of an imported document.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The file it was read from.
    pub file: String,
    /// As it was run.
    pub command: String,
    /// What it was called, if that is something else.
    pub name: Option<String>,
    /// The parameters that were filled in.
    pub parameters: BTreeMap<String, String>,
    /// What was set in its environment.
    pub environment: BTreeMap<String, String>,
    /// Mean wall time in seconds.
    pub mean_s: Option<f64>,
    /// Standard deviation of single runs.
    pub stddev_s: Option<f64>,
}

/// Versions 1 and 2 of the form; of either, only what is needed.
#[derive(Deserialize)]
struct Document {
    results: Vec<Measured>,
}

#[derive(Deserialize)]
struct Measured {
    command: String,
    name: Option<String>,
    #[serde(default)]
    parameters: BTreeMap<String, Value>,
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// Of version 1.
    mean: Option<f64>,
    stddev: Option<f64>,
    /// Of version 2.
    summary: Option<Summary>,
}

#[derive(Deserialize)]
struct Summary {
    time_wall_clock: Statistics,
}

#[derive(Deserialize)]
struct Statistics {
    mean: f64,
    stddev: Option<f64>,
}

/// Reads hyperfine's `--export-json`, of versions 1.x and 2.x.
pub fn import(file: &str, text: &str) -> Result<Vec<Imported>, String> {
    let document: Document = serde_json::from_str(text)
        .map_err(|error| format!("it is not what hyperfine --export-json writes: {error}"))?;
    if document.results.is_empty() {
        return Err("it has no results".to_owned());
    }
    let imported = |of: Measured| {
        let (mean_s, stddev_s) = match of.summary {
            Some(Summary { time_wall_clock }) => (Some(time_wall_clock.mean), time_wall_clock.stddev),
            None => (of.mean, of.stddev),
        };
        let text = |value: &Value| match value.get("value").unwrap_or(value) {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let parameters = of.parameters.iter().map(|(name, value)| (name.clone(), text(value))).collect();
        Imported {
            file: file.to_owned(),
            command: of.command,
            name: of.name,
            parameters,
            environment: of.environment,
            mean_s,
            stddev_s,
        }
    };
    Ok(document.results.into_iter().map(imported).collect())
}

/// The ratio b / a of means, and one standard deviation of it as hyperfine propagates it.
pub(crate) fn ratio(a: &Imported, b: &Imported) -> Option<(f64, Option<f64>)> {
    let (mean_a, mean_b) = (a.mean_s.filter(|mean| *mean > 0.0)?, b.mean_s?);
    let ratio = mean_b / mean_a;
    let stddev = a.stddev_s.zip(b.stddev_s).map(|(of_a, of_b)| ratio * (of_a / mean_a).hypot(of_b / mean_b));
    Some((ratio, stddev))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_hyperfine_1_and_2_is_read() {
        let one = r#"{"results": [{"command": "sleep 0.1", "mean": 0.1, "stddev": 0.001, "median": 0.1, "user": 0.0,
            "system": 0.0, "min": 0.1, "max": 0.1, "times": [0.1], "exit_codes": [0], "parameters": {"t": "0.1"}}]}"#;
        let two = r#"{"schema_version": 2, "metadata": {"hyperfine_version": "2.0.0"}, "results": [{"command": "sleep 0.1",
            "name": "a nap", "measurements": [{"time_wall_clock": {"value": 0.1, "unit": "second"}}],
            "parameters": {"t": {"value": "0.1"}}, "environment": {"A": "1"},
            "summary": {"time_wall_clock": {"unit": "second", "count": 1, "mean": 0.1, "stddev": null, "median": 0.1}}}]}"#;
        let [one, two] = [one, two].map(|text| import("x.json", text).unwrap().remove(0));
        for read in [&one, &two] {
            assert_eq!((read.command.as_str(), read.mean_s), ("sleep 0.1", Some(0.1)));
            assert_eq!(read.parameters["t"], "0.1");
        }
        assert_eq!((one.name, one.stddev_s), (None, Some(0.001)));
        assert_eq!((one.environment.len(), two.environment["A"].as_str()), (0, "1"));
        assert_eq!((two.name.as_deref(), two.stddev_s), (Some("a nap"), None));
    }

    #[test]
    fn json_of_another_form_is_refused() {
        for text in ["", "{}", "[1]", r#"{"results": []}"#, r#"{"results": [{"mean": 1}]}"#] {
            assert!(import("x.json", text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_imported_ratio_is_that_of_the_means() {
        let of = |mean, stddev| Imported {
            file: String::new(),
            command: String::new(),
            name: None,
            parameters: BTreeMap::new(),
            environment: BTreeMap::new(),
            mean_s: Some(mean),
            stddev_s: Some(stddev),
        };
        let (found, stddev) = ratio(&of(1.0, 0.03), &of(2.0, 0.08)).unwrap();
        assert!((found - 2.0).abs() < 1e-12 && (stddev.unwrap() - 0.1).abs() < 1e-12);
        assert_eq!(ratio(&of(0.0, 1.0), &of(1.0, 1.0)), None);
    }
}
