//! A started worker: its hello, and its jobs.
//!
//! One line of JSON is one message in either direction. Every wait has a limit, and ends when the worker does or
//! `stop` is set. A line that is not of the protocol is a fault of the worker.

mod line;

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::Spawn;
use serde::Serialize;
use serde_json::json;

pub(crate) use line::Done;
pub use line::Hello;
use line::{JobAnswer, WorkerLine};

use super::line_process::{LINE_LIMIT, LineProcess, shown};
use crate::error::Error;
use crate::halt::Halt;

/// A function that sees the lines that go to a worker (`true`) and come from it (`false`), without their line ends.
pub type Tap = Box<dyn FnMut(bool, &[u8])>;

/// A started worker.
pub(crate) struct Worker {
    pub process: LineProcess,
    /// Called with each line. None if nobody looks.
    tap: Option<Tap>,
    greeted: bool,
    /// The times at which the worker said that jobs were done, by number, until their answers come.
    done: BTreeMap<u64, Instant>,
}

/// An answer that was taken from a worker, with its times.
pub(crate) struct Taken {
    pub answer: JobAnswer,
    /// The time at which the worker said that the job was done; if it did not say so, the time at which the answer
    /// came.
    pub done: Instant,
    pub came: Instant,
}

/// The request for a job, with its members in the order that the protocol shows.
#[derive(Serialize)]
struct Asked<'a, P> {
    job: u64,
    params: &'a P,
}

impl Worker {
    pub fn start(spawn: &Spawn) -> Result<Worker, Error> {
        let process = LineProcess::start(spawn)?;
        Ok(Worker { process, tap: None, greeted: false, done: BTreeMap::new() })
    }

    pub fn tapped(mut self, tap: Option<Tap>) -> Worker {
        self.tap = tap;
        self
    }

    /// Asks the worker about itself. Returns its answer and the time of the exchange. An error if the answer does not
    /// come within `limit`, or if another line comes.
    pub fn hello(&mut self, limit: Duration, stop: &AtomicBool) -> Result<(Hello, Duration), Halt> {
        let doing = if self.greeted { "a hello" } else { "its first hello" };
        let asked = self.say(&json!({ "hello": 1 }), limit, doing, stop)?;
        let (answer, came) = self.answer(asked + limit, limit, doing, stop)?;
        match answer {
            WorkerLine::Hello(hello) => {
                self.greeted = true;
                Ok((hello, came - asked))
            }
            WorkerLine::Job(JobAnswer { job, .. }) | WorkerLine::Done(job) => {
                Err(Halt::fault(format!("it answered job {job}, and was asked for a hello")))
            }
        }
    }

    /// Gives the worker a job. Returns the time at which the request began to be written. An error if the worker does
    /// not read it within `limit`.
    pub fn give(
        &mut self,
        job: u64,
        params: &impl Serialize,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Instant, Halt> {
        self.say(&Asked { job, params }, limit, &format!("job {job}"), stop)
    }

    /// Waits for the next answer to one of these jobs; `asked` has the time at which each was asked for. An error if no
    /// answer has come `limit` after the earliest of these times, or if a line comes that belongs to none of the jobs.
    pub fn take(
        &mut self,
        asked: &BTreeMap<u64, Instant>,
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Taken, Halt> {
        let numbers = || {
            let some: Vec<String> = asked.keys().take(5).map(u64::to_string).collect();
            format!("job {}{}", some.join(", "), if asked.len() > some.len() { " …" } else { "" })
        };
        let doing = numbers();
        let until = asked.values().min().map_or_else(Instant::now, |first| *first) + limit;
        loop {
            let (answer, came) = self.answer(until, limit, &doing, stop)?;
            let job = match &answer {
                WorkerLine::Hello(_) => {
                    return Err(Halt::fault(format!("it said hello, and was asked for {doing}")));
                }
                WorkerLine::Done(job) => *job,
                WorkerLine::Job(answer) => answer.job,
            };
            if !asked.contains_key(&job) {
                return Err(Halt::fault(format!("it answered job {job} while it was asked for {doing}")));
            }
            match answer {
                WorkerLine::Job(answer) => {
                    let done = self.done.remove(&job).unwrap_or(came);
                    return Ok(Taken { answer, done, came });
                }
                _ if self.done.insert(job, came).is_none() => {}
                _ => return Err(Halt::fault(format!("it said twice that job {job} is done"))),
            }
        }
    }

    fn say(
        &mut self,
        message: &impl Serialize,
        limit: Duration,
        doing: &str,
        stop: &AtomicBool,
    ) -> Result<Instant, Halt> {
        let line = serde_json::to_vec(message);
        let mut line = line.map_err(Error::step(format!("the request of {doing} cannot be written")))?;
        line.push(b'\n');
        if line.len() > LINE_LIMIT {
            return Err(Halt::fault(format!(
                "the request of {doing} is longer than {} MiB",
                LINE_LIMIT >> 20
            )));
        }
        if let Some(tap) = &mut self.tap {
            tap(true, &line[..line.len() - 1]);
        }
        self.process.write(&line, limit, doing, stop)
    }

    fn answer(
        &mut self,
        until: Instant,
        limit: Duration,
        doing: &str,
        stop: &AtomicBool,
    ) -> Result<(WorkerLine, Instant), Halt> {
        let (line, came) = self.process.line(until, limit, doing, stop)?;
        if let Some(tap) = &mut self.tap {
            tap(false, &line);
        }
        let answer = WorkerLine::parse(&line).map_err(|why| {
            Halt::fault(format!("it wrote a line that is no answer ({why}) in {doing}: {}", shown(&line)))
        })?;
        Ok((answer, came))
    }
}
