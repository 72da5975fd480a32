//! Benchmarks that measure by themselves: the JSON of the Java Microbenchmark Harness is read.
//!
//! An iteration of the benchmark is kept as a job, whose time is the mean of the iteration's operations. It is only
//! checked that the benchmark ended well: the answers of its operations are not known.

use std::path::Path;
use std::time::Duration;

use kumite_record::{Job, Sample};
use kumite_stats::median;
use serde::Deserialize;

use crate::error::Fault;

/// The name of the file that a benchmark has to write, in SCRATCH.
pub(super) const FILE: &str = "jmh.json";

/// The parts of an entry of JMH's JSON that are used.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Entry {
    mode: String,
    primary_metric: PrimaryMetric,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PrimaryMetric {
    score: f64,
    score_unit: String,
    /// The figures of each fork, and within it of each iteration.
    raw_data: Vec<Vec<f64>>,
}

/// Reads the iterations as jobs. JMH's score is their mean, and so is `elapsed_ms`. An error if the file is not JMH's
/// JSON of one benchmark of average time.
pub(super) fn read(file: &Path) -> Result<Sample, Fault> {
    let wrong = |what: String| Fault::new(format!("{FILE}, which it is to write in SCRATCH, {what}"));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(format!("cannot be read: {error}")))?;
    let entries: Vec<Entry> =
        serde_json::from_str(&text).map_err(|error| wrong(format!("is not JMH's JSON: {error}")))?;
    let [Entry { mode, primary_metric: metric }] = &entries[..] else {
        return Err(wrong(format!("has {} benchmarks, and one is to be measured in a trial", entries.len())));
    };
    if mode != "avgt" {
        return Err(wrong(format!("is of mode {mode}, and only avgt, the average time, can be compared")));
    }
    let ms = unit_ms(&metric.score_unit)
        .ok_or_else(|| wrong(format!("gives times in '{}', which is not known", metric.score_unit)))?;
    let iterations: Vec<f64> = metric.raw_data.iter().flatten().map(|time| time * ms).collect();
    if iterations.is_empty() {
        return Err(wrong("has no iteration".to_owned()));
    }
    let job = |elapsed_ms| Job { elapsed_ms, worker_elapsed_ms: elapsed_ms, ..Job::default() };
    let mut sample = Sample { jobs: iterations.iter().copied().map(job).collect(), ..Sample::default() };
    sample.metrics.insert("elapsed_ms".to_owned(), metric.score * ms);
    sample.metrics.extend(median(&iterations).map(|median| ("worker_elapsed_ms".to_owned(), median)));
    Ok(sample)
}

/// The factor from this unit of JMH to ms. None if the unit is not a time per operation.
fn unit_ms(unit: &str) -> Option<f64> {
    let nanos = match unit.strip_suffix("/op")? {
        "ns" => 1.0,
        "us" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        _ => return None,
    };
    Some(nanos / Duration::from_millis(1).as_nanos() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample_of(text: &str) -> Result<Sample, Fault> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(FILE);
        std::fs::write(&file, text).unwrap();
        read(&file)
    }

    const JSON: &str = r#"[{"jmhVersion": "1.37", "benchmark": "Reads.blocking", "mode": "avgt", "threads": 1, "forks": 1,
        "primaryMetric": {"score": 20.0, "scoreError": 1.0, "scoreConfidence": [19.0, 21.0], "scoreUnit": "us/op",
        "rawData": [[10.0, 20.0, 30.0]]}, "secondaryMetrics": {}}]"#;

    #[test]
    fn its_score_is_the_time_of_a_job() {
        let sample = sample_of(JSON).unwrap();
        assert_eq!(sample.metrics["elapsed_ms"], 0.02);
        let jobs: Vec<f64> = sample.jobs.iter().map(|job| job.elapsed_ms).collect();
        assert_eq!(jobs, [0.01, 0.02, 0.03]);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let cases = [
            ("[]".to_owned(), "has 0 benchmarks"),
            ("{".to_owned(), "is not JMH's JSON"),
            (JSON.replace("avgt", "thrpt"), "is of mode thrpt"),
            (JSON.replace("us/op", "ops/us"), "'ops/us', which is not known"),
            (JSON.replace("10.0, 20.0, 30.0", ""), "has no iteration"),
        ];
        for (text, expected) in cases {
            let found = sample_of(&text).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
