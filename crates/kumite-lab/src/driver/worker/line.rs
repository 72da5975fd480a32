//! Reads the lines of a worker: one JSON object each, whose meaning the task protocol defines.

use std::collections::BTreeMap;

use kumite_record::JobEvent;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::error::Fault;

/// The most events that a job may have.
const MOST_EVENTS: usize = 100_000;

/// A line that a worker wrote.
#[derive(Debug)]
pub(crate) enum WorkerLine {
    Hello(Hello),
    /// The job of this number is done, and its answer is being made.
    Done(u64),
    Job(JobAnswer),
}

/// A worker's answer to a job.
#[derive(Debug)]
pub(crate) struct JobAnswer {
    pub job: u64,
    /// The result of the job. The error is the worker's reason why there is none.
    pub done: Result<Done, Fault>,
}

/// A job that was done, as the worker tells it.
#[derive(Debug)]
pub(crate) struct Done {
    pub elapsed_ms: f64,
    /// The result, in the worker's own bytes.
    pub result: Box<RawValue>,
    pub metrics: BTreeMap<String, f64>,
    pub events: Vec<JobEvent>,
}

/// A worker's answer about itself.
#[derive(Clone, Debug, Deserialize, PartialEq)]
pub struct Hello {
    /// The name that the worker gives itself.
    pub name: String,
    /// The worker's runtime and its version.
    pub runtime: String,
    /// The id of the worker's process, by its own word.
    pub pid: u32,
    /// The number of cores that the worker's runtime believes it has. None if the worker does not say.
    pub cores: Option<u64>,
}

#[derive(Deserialize)]
struct Line {
    hello: Option<u64>,
    done: Option<u64>,
    name: Option<String>,
    runtime: Option<String>,
    pid: Option<u32>,
    cores: Option<u64>,
    job: Option<u64>,
    elapsed_ns: Option<u64>,
    #[serde(default, deserialize_with = "even_null")]
    result: Option<Box<RawValue>>,
    #[serde(default)]
    metrics: BTreeMap<String, f64>,
    #[serde(default)]
    events: Vec<JobEvent>,
    error: Option<String>,
}

fn even_null<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Box<RawValue>>, D::Error> {
    Box::deserialize(from).map(Some)
}

impl WorkerLine {
    /// Reads a worker's line; unknown keys are ignored. An error says what is wrong with the line.
    pub fn parse(line: &[u8]) -> Result<WorkerLine, Fault> {
        // serde would take a list of all the values for an object.
        if line.trim_ascii_start().starts_with(b"[") {
            return Err(Fault::new("it is a list, not an object"));
        }
        let line: Line = serde_json::from_slice(line).map_err(|error| Fault::new(error.to_string()))?;
        let lacks = |key: &str| Fault::new(format!("it lacks \"{key}\""));
        if line.hello.is_some() {
            return Ok(WorkerLine::Hello(Hello {
                name: line.name.ok_or_else(|| lacks("name"))?,
                runtime: line.runtime.ok_or_else(|| lacks("runtime"))?,
                pid: line.pid.ok_or_else(|| lacks("pid"))?,
                cores: line.cores,
            }));
        }
        if let Some(job) = line.done {
            return Ok(WorkerLine::Done(job));
        }
        let neither = || Fault::new("it has neither \"job\" nor \"done\" nor \"hello\"");
        let job = line.job.ok_or_else(neither)?;
        if let Some(error) = line.error {
            return Ok(WorkerLine::Job(JobAnswer { job, done: Err(Fault::new(error)) }));
        }
        if line.events.len() > MOST_EVENTS {
            let events = line.events.len();
            return Err(Fault::new(format!("it has {events} events, of at most {MOST_EVENTS}")));
        }
        let done = Done {
            elapsed_ms: line.elapsed_ns.ok_or_else(|| lacks("elapsed_ns"))? as f64 / 1e6,
            result: line.result.ok_or_else(|| lacks("result"))?,
            metrics: line.metrics,
            events: line.events,
        };
        Ok(WorkerLine::Job(JobAnswer { job, done: Ok(done) }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<WorkerLine, Fault> {
        WorkerLine::parse(line.as_bytes())
    }

    #[test]
    fn a_hello_and_a_job() {
        let Ok(WorkerLine::Hello(hello)) =
            parse(r#"{"hello":1,"name":"a","runtime":"x 1","pid":7,"more":[]}"#)
        else {
            panic!("a hello")
        };
        assert_eq!((hello.name.as_str(), hello.pid, hello.cores), ("a", 7, None));
        let line = r#"{"job":3,"elapsed_ns":1500000,"result": {"b": 1.50},"metrics":{"x":2},"events":[[5,"main","next","a"]]}"#;
        let Ok(WorkerLine::Job(JobAnswer { job: 3, done: Ok(done) })) = parse(line) else { panic!("a job") };
        assert_eq!((done.elapsed_ms, done.result.get(), done.metrics["x"]), (1.5, r#"{"b": 1.50}"#, 2.0));
        assert_eq!(done.events, [JobEvent(5, "main".into(), "next".into(), "a".into())]);
        assert!(matches!(parse(r#"{"done":3}"#), Ok(WorkerLine::Done(3))));
        let Ok(WorkerLine::Job(JobAnswer { job: 4, done: Err(why) })) = parse(r#"{"job":4,"error":"no"}"#)
        else {
            panic!("an error")
        };
        assert_eq!(why, Fault::new("no"));
    }

    #[test]
    fn a_result_may_be_null() {
        assert!(matches!(parse(r#"{"job":3,"elapsed_ns":0,"result":null}"#), Ok(WorkerLine::Job(_))));
    }

    #[test]
    fn what_is_no_answer_is_named() {
        let cases = [
            ("hello", "expected value at line 1 column 1"),
            ("", "EOF while parsing"),
            ("[]", "it is a list, not an object"),
            ("{}", "neither \"job\" nor \"done\" nor \"hello\""),
            (r#"{"hello":1,"name":"a","runtime":"b"}"#, "lacks \"pid\""),
            (r#"{"job":1,"result":1}"#, "lacks \"elapsed_ns\""),
            (r#"{"job":1,"elapsed_ns":1}"#, "lacks \"result\""),
            (r#"{"job":1,"elapsed_ns":-5,"result":1}"#, "invalid value: integer `-5`"),
            (r#"{"job":1,"elapsed_ns":1,"result":1,"events":[["x"]]}"#, "invalid type: string \"x\""),
            (r#"{"job":1,"elapsed_ns":1,"result":1} x"#, "trailing characters"),
        ];
        for (line, expected) in cases {
            let found = parse(line).unwrap_err().to_string();
            assert!(found.contains(expected), "{line}: {found}");
        }
        let events = vec![r#"[1,"a","next","b"]"#; MOST_EVENTS + 1].join(",");
        let found = parse(&format!(r#"{{"job":1,"elapsed_ns":1,"result":1,"events":[{events}]}}"#))
            .unwrap_err()
            .to_string();
        assert!(found.contains("100001 events"), "{found}");
    }
}
