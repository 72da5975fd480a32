//! `std::fs` on threads that block.

use std::sync::Arc;
use std::{fs, thread};

use kumite_kit::{Answer, Failure, Job};
use serde_json::json;

use crate::mix::{Mix, Task};
use crate::texts::{Texts, about};

/// Serves jobs. The threads of `mixed` and `cpu` are started for each.
pub fn serve() {
    kumite_kit::serve("rust-blocking", |job| match job.params["form"].as_str() {
        Some("single") => single(job),
        Some("mixed" | "cpu") => mixed(job),
        _ => Err("params.form is none of single, mixed, and cpu".into()),
    });
}

fn single(job: &Job) -> Result<Answer, Failure> {
    let texts = Texts::of(job)?;
    for n in 0..job.number("reads")? {
        texts.keep(n, read(&texts, n)?)?;
    }
    let after = move || Ok(json!({"read": texts.by_file()}).into());
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

fn read(texts: &Texts, n: u64) -> Result<Vec<u8>, Failure> {
    let path = texts.path(n);
    fs::read(&path).map_err(about(&path))
}

fn mixed(job: &Job) -> Result<Answer, Failure> {
    let (mix, ended) = Mix::of(job)?;
    let mix = Arc::new(mix);
    let start = |_| {
        let mix = Arc::clone(&mix);
        thread::Builder::new().spawn(move || work(&mix))
    };
    let threads = (0..job.number("threads")?).map(start).collect::<Result<Vec<_>, _>>()?;
    let cpu_tasks = ended.recv()?;
    let after = move || {
        for thread in threads {
            thread.join().expect("a thread that reads and computes");
        }
        Ok(mix.answer(cpu_tasks?))
    };
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

/// Does tasks in their order.
fn work(mix: &Mix) {
    while let Some(task) = mix.draw() {
        match task {
            Task::Io(n) => mix.read(n, read(&mix.texts, n)),
            Task::Cpu(n) => mix.compute(n),
        }
    }
}
