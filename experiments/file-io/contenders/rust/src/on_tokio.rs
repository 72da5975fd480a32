//! `tokio::fs` on a multi-threaded runtime.

use std::sync::Arc;

use kumite_kit::{Answer, Failure, Job};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};
use tokio::task::{self, JoinSet};

use crate::mix::{Mix, Task};
use crate::texts::{Texts, about};

/// Serves jobs. `mixed` has a runtime of its own, made for the first job and kept.
pub fn serve() {
    let single_runtime = runtime(1);
    let mut mixed_runtime = None;
    kumite_kit::serve("rust-tokio", |job| match job.params["form"].as_str() {
        Some("single") => single_runtime.block_on(single(job.clone())),
        Some("mixed" | "cpu") => {
            let threads = job.number("threads")? as usize;
            mixed(job, Arc::clone(mixed_runtime.get_or_insert_with(|| Arc::new(runtime(threads)))))
        }
        _ => Err("params.form is none of single, mixed, and cpu".into()),
    });
}

fn runtime(threads: usize) -> Runtime {
    Builder::new_multi_thread().worker_threads(threads).build().expect("tokio's runtime")
}

async fn single(job: Job) -> Result<Answer, Failure> {
    let texts = Texts::of(&job)?;
    for n in 0..job.number("reads")? {
        texts.keep(n, read(&texts, n).await?)?;
    }
    let after = move || Ok(json!({"read": texts.by_file()}).into());
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

async fn read(texts: &Texts, n: u64) -> Result<Vec<u8>, Failure> {
    let path = texts.path(n);
    tokio::fs::read(&path).await.map_err(about(&path))
}

fn mixed(job: &Job, runtime: Arc<Runtime>) -> Result<Answer, Failure> {
    let (mix, ended) = Mix::of(job)?;
    let mix = Arc::new(mix);
    let mut in_flight = JoinSet::new();
    for _ in 0..job.number("in_flight")? {
        in_flight.spawn_on(one_after_another(Arc::clone(&mix)), runtime.handle());
    }
    let cpu_tasks = ended.recv()?;
    let after = move || {
        runtime.block_on(in_flight.join_all());
        Ok(mix.answer(cpu_tasks?))
    };
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

/// Yields before each, so that all stand in line: a task that is spawned by a worker would be its next.
async fn one_after_another(mix: Arc<Mix>) {
    while let Some(task) = mix.draw() {
        task::yield_now().await;
        match task {
            Task::Io(n) => mix.read(n, read(&mix.texts, n).await),
            Task::Cpu(n) => mix.compute(n),
        }
    }
}
