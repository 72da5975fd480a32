//! hyperfine's JSON: commands that it has measured, with their figures.

use std::collections::BTreeMap;

use kumite_record::{CommandMetric, ImportedRatio};
use serde::Deserialize;
use serde_json::Value;

/// A command that hyperfine has measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The path of the document, for messages and the record.
    pub file: String,
    /// The command line as it was run.
    pub command: String,
    /// The command's name; `None` if the document has no name besides the command line.
    pub name: Option<String>,
    /// The parameters that were filled in: each name with its value.
    pub parameters: BTreeMap<String, String>,
    /// The environment variables that were set for the command.
    pub environment: BTreeMap<String, String>,
    /// The statistics of the runs by metric, in seconds, bytes or counts, as far as the document has them.
    pub metrics: BTreeMap<CommandMetric, Statistics>,
}

/// hyperfine's document, of version 1 or 2, with only the fields that are needed.
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
    /// The times of version 1.
    #[serde(flatten)]
    times: Times,
    memory_usage_byte: Option<Vec<f64>>,
    /// The statistics of version 2, by metric.
    summary: Option<BTreeMap<String, Statistics>>,
}

/// The times of version 1, in seconds.
#[derive(Deserialize)]
struct Times {
    mean: Option<f64>,
    stddev: Option<f64>,
    user: Option<f64>,
    system: Option<f64>,
}

/// Statistics of the runs of a command, in seconds, bytes or counts.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
pub struct Statistics {
    /// The mean of the runs, in the metric's unit.
    pub mean: f64,
    /// The standard deviation of single runs, in the metric's unit; `None` if the document does not have it.
    pub stddev: Option<f64>,
}

impl Measured {
    fn metrics(&self) -> BTreeMap<CommandMetric, Statistics> {
        let found = |metric: CommandMetric| match &self.summary {
            Some(summary) => summary.get(metric.as_str()).copied(),
            None => self.of_version_1(metric),
        };
        CommandMetric::ALL.into_iter().filter_map(|metric| Some((metric, found(metric)?))).collect()
    }

    fn of_version_1(&self, metric: CommandMetric) -> Option<Statistics> {
        let Times { mean, stddev, user, system } = self.times;
        let of = |mean| Some(Statistics { mean, stddev: None });
        match metric {
            CommandMetric::TimeWallClock => Some(Statistics { mean: mean?, stddev }),
            CommandMetric::TimeCpu => of(user? + system?),
            CommandMetric::TimeUser => of(user?),
            CommandMetric::TimeSystem => of(system?),
            CommandMetric::MemoryPeakResident => statistics(self.memory_usage_byte.as_ref()?),
            _ => None,
        }
    }
}

fn statistics(values: &[f64]) -> Option<Statistics> {
    let n = values.len() as f64;
    let mean = (n > 0.0).then(|| values.iter().sum::<f64>() / n)?;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    Some(Statistics { mean, stddev: (n > 1.0).then(|| (squares / (n - 1.0)).sqrt()) })
}

/// The reason why a text cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The text is not JSON, or no document of hyperfine's.
    #[error("it is not what hyperfine --export-json writes: {0}")]
    Form(#[from] serde_json::Error),
    /// The document has no command.
    #[error("it has no results")]
    Empty,
}

/// Reads the commands of a document that hyperfine's `--export-json` wrote, of versions 1.x and 2.x. `file` is the
/// document's name, for later messages. An error if the text is no such document, or has no command.
pub fn import(file: &str, text: &str) -> Result<Vec<Imported>, ImportError> {
    let document: Document = serde_json::from_str(text)?;
    if document.results.is_empty() {
        return Err(ImportError::Empty);
    }
    let imported = |of: Measured| {
        let metrics = of.metrics();
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
            metrics,
        }
    };
    Ok(document.results.into_iter().map(imported).collect())
}

/// The ratio b / a of the means, with its standard deviation as hyperfine propagates it. `None` if one of them lacks
/// the metric, or its mean is not above 0.
pub(crate) fn ratio(a: &Imported, b: &Imported, metric: CommandMetric) -> Option<ImportedRatio> {
    let (of_a, of_b) = (a.metrics.get(&metric)?, b.metrics.get(&metric)?);
    if of_a.mean <= 0.0 || of_b.mean <= 0.0 {
        return None;
    }
    let ratio = of_b.mean / of_a.mean;
    let share = |of: &Statistics| Some(of.stddev? / of.mean);
    let stddev = share(of_a).zip(share(of_b)).map(|(a, b)| ratio * a.hypot(b));
    Some(ImportedRatio { file: a.file.clone(), ratio, stddev })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_of_hyperfine_1_and_2_is_read() {
        let one = r#"{"results": [{"command": "sleep 0.1", "mean": 0.1, "stddev": 0.001, "median": 0.1, "user": 0.001,
            "system": 0.002, "memory_usage_byte": [1000, 3000], "min": 0.1, "max": 0.1, "times": [0.1], "exit_codes": [0], "parameters": {"t": "0.1"}}]}"#;
        let two = r#"{"schema_version": 2, "metadata": {"hyperfine_version": "2.0.0"}, "results": [{"command": "sleep 0.1",
            "name": "a nap", "measurements": [{"time_wall_clock": {"value": 0.1, "unit": "second"}}],
            "parameters": {"t": {"value": "0.1"}}, "environment": {"A": "1"},
            "summary": {"time_wall_clock": {"unit": "second", "count": 1, "mean": 0.1, "stddev": null, "median": 0.1},
            "memory_peak_resident": {"unit": "byte", "count": 1, "mean": 2000, "stddev": 5.5, "median": 1},
            "instructions": {"unit": "count", "count": 1, "mean": 7, "stddev": null, "median": 7}}}]}"#;
        let [one, two] = [one, two].map(|text| import("x.json", text).unwrap().remove(0));
        for read in [&one, &two] {
            assert_eq!(
                (read.command.as_str(), read.metrics[&CommandMetric::TimeWallClock].mean),
                ("sleep 0.1", 0.1)
            );
            assert_eq!(read.parameters["t"], "0.1");
        }
        let of = |read: &Imported, metric| read.metrics.get(&metric).map(|of| (of.mean, of.stddev));
        use CommandMetric::{MemoryPeakResident, TimeCpu, TimeSystem, TimeUser, TimeWallClock};
        assert_eq!(
            [TimeWallClock, TimeUser, TimeSystem].map(|metric| of(&one, metric)),
            [Some((0.1, Some(0.001))), Some((0.001, None)), Some((0.002, None))]
        );
        assert_eq!(of(&one, TimeCpu), Some((0.003, None)));
        assert_eq!(of(&one, MemoryPeakResident), Some((2_000.0, Some(2_000_000_f64.sqrt()))));
        assert_eq!(of(&two, MemoryPeakResident), Some((2_000.0, Some(5.5))));
        assert_eq!((of(&two, TimeWallClock), of(&two, TimeUser)), (Some((0.1, None)), None));
        assert_eq!(one.name, None);
        assert_eq!((one.environment.len(), two.environment["A"].as_str()), (0, "1"));
        assert_eq!(two.name.as_deref(), Some("a nap"));
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
            metrics: [(CommandMetric::TimeUser, Statistics { mean, stddev: Some(stddev) })].into(),
        };
        let found = ratio(&of(1.0, 0.03), &of(2.0, 0.08), CommandMetric::TimeUser).unwrap();
        assert!((found.ratio - 2.0).abs() < 1e-12 && (found.stddev.unwrap() - 0.1).abs() < 1e-12);
        for (a, b) in [(0.0, 1.0), (1.0, 0.0), (0.0, 0.0)] {
            assert_eq!(ratio(&of(a, 1.0), &of(b, 1.0), CommandMetric::TimeUser), None, "{a} and {b}");
        }
        assert_eq!(ratio(&of(1.0, 1.0), &of(1.0, 1.0), CommandMetric::TimeCpu), None);
    }
}
