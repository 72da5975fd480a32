//! The task driver: a worker that does jobs, asked and answered in lines of JSON.

mod answer;
mod benchmark;
mod check;
mod executor;
mod jmh;
mod sample;
mod scratch;
mod worker;
mod workload;

pub(crate) use answer::Done;
pub(crate) use check::{AnswerCheck, Finding, as_it_should};
pub(crate) use sample::metrics;
pub(crate) use scratch::Scratch;
pub(crate) use worker::{Taken, Worker};

pub(crate) use workload::{PARAMS, json};

pub use executor::{OneJob, TaskExecutor};
pub use worker::{Hello, Tap};
pub use workload::TaskWorkload;
