//! Speaks kumite's task protocol: jobs come in on standard input, answers go out on standard output.

use std::error::Error;
use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use std::{process, thread};

use serde_json::{Map, Value, json};

/// The compiler, by its version: what the answer to hello calls the runtime.
pub const RUNTIME: &str = env!("RUSTC_VERSION");

const LINE_BYTES_MAX: usize = 16 << 20;

/// Any error; its text is the job's answer.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What a job gives.
#[derive(Default)]
pub struct Answer {
    /// Any JSON.
    pub result: Value,
    /// By name, unit last.
    pub metrics: Vec<(&'static str, f64)>,
    /// If there, makes the answer once the clock has stopped: for what is not to be timed.
    pub after: Option<Box<dyn FnOnce() -> Result<Answer, Failure>>>,
}

impl<T: Into<Value>> From<T> for Answer {
    fn from(result: T) -> Answer {
        Answer { result: result.into(), ..Answer::default() }
    }
}

/// One job. Clones are the same job, for other threads.
#[derive(Clone)]
pub struct Job {
    /// The parameters of workload and point, an object.
    pub params: Arc<Value>,
    began: Instant,
    events: Option<Arc<Mutex<Vec<Value>>>>,
}

impl Job {
    /// A parameter that is a whole number.
    pub fn number(&self, name: &str) -> Result<u64, Failure> {
        self.params[name].as_u64().ok_or_else(|| format!("params.{name} is not a whole number").into())
    }

    /// Records that something of this kind happened now, on this thread.
    pub fn event(&self, kind: &str, id: &str) {
        if self.events.is_some() {
            let current = thread::current();
            match current.name() {
                Some(name) => self.event_on(name, kind, id),
                None => self.event_on(&format!("{:?}", current.id()), kind, id),
            }
        }
    }

    /// The same on a thread of this name.
    pub fn event_on(&self, thread: &str, kind: &str, id: &str) {
        if let Some(events) = &self.events {
            let at = self.began.elapsed().as_nanos() as u64;
            events.lock().unwrap().push(json!([at, thread, kind, id]));
        }
    }
}

/// Does the jobs of standard input, one after the other, until it ends. An error or panic of `run` is the job's answer.
pub fn serve(name: &str, mut run: impl FnMut(&Job) -> Result<Answer, Failure>) {
    let cores = thread::available_parallelism().map_or(1, |cores| cores.get());
    let mut input = io::stdin().lock();
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = input.by_ref().take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line);
        if read.is_ok() && line.len() < LINE_BYTES_MAX && !line.ends_with(b"\n") {
            return; // What the end of the input cuts off is no line.
        }
        let mut request: Value = serde_json::from_slice(&line).unwrap_or_default();
        if request["hello"].is_u64() {
            send(json!({"hello": 1, "name": name, "runtime": RUNTIME, "pid": process::id(), "cores": cores}));
        } else if let Some(number @ 1..) = request["job"].as_u64() {
            send(answer(number, request["params"].take(), &mut run));
        } else {
            eprintln!("not a request: {:.200}", String::from_utf8_lossy(&line));
            process::exit(2);
        }
    }
}

fn answer(number: u64, params: Value, run: &mut impl FnMut(&Job) -> Result<Answer, Failure>) -> Value {
    let events = (params["events"] == true).then(Arc::default);
    let job = Job { params: Arc::new(params), events, began: Instant::now() };
    match catch_unwind(AssertUnwindSafe(|| timed(number, &job, run))) {
        Ok(Ok((elapsed, Answer { result, metrics, .. }))) => {
            let mut line = json!({"job": number, "elapsed_ns": elapsed.as_nanos() as u64, "result": result});
            if !metrics.is_empty() {
                let metrics = metrics.into_iter().map(|(name, value)| (name.to_owned(), value.into()));
                line["metrics"] = Value::Object(metrics.collect::<Map<_, _>>());
            }
            if let Some(events) = &job.events {
                line["events"] = Value::Array(std::mem::take(&mut events.lock().unwrap()));
            }
            line
        }
        Ok(Err(error)) => json!({"job": number, "error": error.to_string().replace('\n', "; ")}),
        Err(_) => json!({"job": number, "error": "panicked; its message is in the log"}),
    }
}

fn timed(
    number: u64,
    job: &Job,
    run: &mut impl FnMut(&Job) -> Result<Answer, Failure>,
) -> Result<(Duration, Answer), Failure> {
    let answer = run(job)?;
    let elapsed = job.began.elapsed();
    send(json!({"done": number}));
    Ok((
        elapsed,
        match answer.after {
            Some(after) => after()?,
            None => answer,
        },
    ))
}

fn send(mut answer: Value) {
    let mut line = answer.to_string();
    if line.len() >= LINE_BYTES_MAX {
        answer = json!({"job": answer["job"], "error": format!("an answer of {} bytes is more than 16 MiB", line.len() + 1)});
        line = answer.to_string();
    }
    line.push('\n');
    let mut output = io::stdout().lock();
    if let Err(error) = output.write_all(line.as_bytes()).and_then(|()| output.flush()) {
        eprintln!("standard output: {error}");
        process::exit(2);
    }
}
