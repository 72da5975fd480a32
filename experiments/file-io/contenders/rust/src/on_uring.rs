//! io_uring: a ring for each thread, which goes on with other tasks while the kernel reads.

use std::collections::VecDeque;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;

use io_uring::squeue::Flags;
use kumite_kit::{Answer, Failure, Job};
use serde_json::json;

use crate::mix::{Mix, Task};
use crate::ring::Ring;
use crate::texts::{Texts, about};

/// Serves jobs. The threads of `mixed` and their rings are made for the first job and kept.
pub fn serve() {
    let mut ring = Ring::new(1, Flags::empty()).expect("a ring of io_uring");
    let mut workers = None;
    kumite_kit::serve("rust-io-uring", |job| match job.params["form"].as_str() {
        Some("single") => single(job, &mut ring),
        Some("mixed" | "cpu") => {
            if workers.is_none() {
                workers = Some(Rc::new(Workers::start(job.number("threads")?, job.number("in_flight")?)?));
            }
            mixed(job, workers.clone().expect("workers"))
        }
        _ => Err("params.form is none of single, mixed, and cpu".into()),
    });
}

fn single(job: &Job, ring: &mut Ring) -> Result<Answer, Failure> {
    let texts = Texts::of(job)?;
    for n in 0..job.number("reads")? {
        let path = texts.path(n);
        let bytes = ring.start(n, &path).and_then(|()| {
            loop {
                match ring.next() {
                    Some((_, bytes)) => break bytes,
                    None => ring.wait()?,
                }
            }
        });
        texts.keep(n, bytes.map_err(about(&path))?)?;
    }
    let after = move || Ok(json!({"read": texts.by_file()}).into());
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

fn mixed(job: &Job, workers: Rc<Workers>) -> Result<Answer, Failure> {
    let (mix, ended) = Mix::of(job)?;
    let mix = Arc::new(mix);
    workers.begin(&mix)?;
    let cpu_tasks = ended.recv()?;
    let after = move || {
        workers.wait()?;
        Ok(mix.answer(cpu_tasks?))
    };
    Ok(Answer { after: Some(Box::new(after)), ..Answer::default() })
}

/// Threads with a ring each.
struct Workers {
    mixes: Vec<Sender<Arc<Mix>>>,
    done: Receiver<()>,
}

impl Workers {
    /// Each of them has its part of what may be in flight.
    fn start(threads: u64, in_flight: u64) -> Result<Workers, Failure> {
        let (finished, done) = mpsc::channel();
        let mut mixes = Vec::new();
        for thread in 0..threads {
            let part = in_flight * (thread + 1) / threads - in_flight * thread / threads;
            // Without ASYNC a submission first tries to read at once, and some file systems wait then after all: FUSE's do.
            let mut ring = Ring::new(part.max(1) as u32, Flags::ASYNC)?;
            let (sender, jobs) = mpsc::channel::<Arc<Mix>>();
            let finished = finished.clone();
            thread::Builder::new().spawn(move || {
                for mix in jobs {
                    if let Err(error) = work(&mix, &mut ring, part) {
                        mix.fail(error);
                    }
                    let _ = finished.send(()); // Nobody waits when the process ends.
                }
            })?;
            mixes.push(sender);
        }
        Ok(Workers { mixes, done })
    }

    fn begin(&self, mix: &Arc<Mix>) -> Result<(), Failure> {
        self.mixes.iter().try_for_each(|worker| Ok(worker.send(Arc::clone(mix))?))
    }

    fn wait(&self) -> Result<(), Failure> {
        self.mixes.iter().try_for_each(|_| Ok(self.done.recv()?))
    }
}

/// Does tasks in their order, and takes in between what was read.
fn work(mix: &Mix, ring: &mut Ring, in_flight: u64) -> Result<(), Failure> {
    let mut line: VecDeque<Task> = (0..in_flight).filter_map(|_| mix.draw()).collect();
    loop {
        match line.pop_front() {
            Some(Task::Io(n)) => {
                let path = mix.texts.path(n);
                if let Err(error) = ring.start(n, &path).map_err(about(&path)) {
                    mix.read(n, Err(error));
                }
            }
            Some(Task::Cpu(n)) => {
                mix.compute(n);
                line.extend(mix.draw());
            }
            None if ring.is_reading() => ring.wait()?,
            None => return Ok(()),
        }
        while let Some((n, bytes)) = ring.next() {
            mix.read(n, bytes.map_err(about(&mix.texts.path(n))));
            line.extend(mix.draw());
        }
    }
}
