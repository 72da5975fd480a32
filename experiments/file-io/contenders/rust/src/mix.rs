//! Reading beside other work, or that work alone: the sequence of tasks, which is the same for every contender, and
//! what became of it.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::mpsc::{self, Receiver, SyncSender};

use kumite_kit::{Answer, Failure, Job};
use serde_json::json;

use crate::texts::Texts;

/// The checksum is of so many CPU tasks.
const CHECKED: u64 = 10;

/// A task, by its number among those of its kind.
pub enum Task {
    Io(u64),
    Cpu(u64),
}

/// What all threads share.
pub struct Mix {
    /// What was read.
    pub texts: Texts,
    io_share: f64,
    io_tasks: u64,
    tasks: u64,
    objects: u64,
    steps: u64,
    drawn: AtomicU64,
    io_done: AtomicU64,
    cpu_done: AtomicU64,
    checksum: AtomicU32,
    end: SyncSender<Result<u64, Failure>>,
}

struct Object {
    number: u32,
}

impl Mix {
    /// The receiver gets how many CPU tasks were done when the last task was that counts, or what went wrong.
    pub fn of(job: &Job) -> Result<(Mix, Receiver<Result<u64, Failure>>), Failure> {
        let cpu_only = job.params["form"] == "cpu";
        let io_share = job.params["io_share"].as_f64().ok_or("params.io_share is not a number")?;
        let (end, ended) = mpsc::sync_channel(1);
        let mix = Mix {
            texts: Texts::of(job)?,
            io_share: if cpu_only { 0.0 } else { io_share },
            io_tasks: job.number("io_tasks")?,
            tasks: if cpu_only { job.number("tasks")? } else { u64::MAX },
            objects: job.number("objects")?,
            steps: job.number("steps")?,
            drawn: AtomicU64::new(0),
            io_done: AtomicU64::new(0),
            cpu_done: AtomicU64::new(0),
            checksum: AtomicU32::new(0),
            end,
        };
        Ok((mix, ended))
    }

    /// The next of the sequence; none once enough was read.
    pub fn draw(&self) -> Option<Task> {
        if self.io_done.load(SeqCst) >= self.io_tasks {
            return None;
        }
        let n = self.drawn.fetch_add(1, SeqCst);
        if n >= self.tasks {
            return None;
        }
        let io_before = |n: u64| (n as f64 * self.io_share) as u64;
        let before = io_before(n);
        Some(if io_before(n + 1) > before { Task::Io(before) } else { Task::Cpu(n - before) })
    }

    /// The nth IO task has got these bytes.
    pub fn read(&self, n: u64, bytes: Result<Vec<u8>, Failure>) {
        match bytes.and_then(|bytes| self.texts.keep(n, bytes)) {
            Ok(()) if self.io_done.fetch_add(1, SeqCst) + 1 == self.io_tasks => {
                // Nobody waits for it any more if something went wrong before.
                let _ = self.end.try_send(Ok(self.cpu_done.load(SeqCst)));
            }
            Ok(()) => {}
            Err(error) => self.fail(error),
        }
    }

    /// Draws no more tasks, and says why.
    pub fn fail(&self, error: Failure) {
        self.io_done.store(self.io_tasks, SeqCst);
        let _ = self.end.try_send(Err(error));
    }

    /// Does the nth CPU task.
    pub fn compute(&self, n: u64) {
        let objects: Vec<_> =
            (0..self.objects).map(|i| Box::new(Object { number: (n + i) as u32 })).collect();
        let sum = black_box(&objects).iter().fold(0, |sum: u32, object| sum.wrapping_add(object.number));
        let step = |x: u32, _| (x ^ x >> 15).wrapping_mul(1664525).wrapping_add(1013904223);
        let x = (0..self.steps).fold(sum, step);
        if n < CHECKED {
            self.checksum.fetch_xor(x, SeqCst);
        }
        black_box(x);
        if self.cpu_done.fetch_add(1, SeqCst) + 1 == self.tasks {
            let _ = self.end.try_send(Ok(self.tasks));
        }
    }

    /// The answer, when all tasks are done.
    pub fn answer(&self, cpu_tasks: u64) -> Answer {
        let result = json!({"read": self.texts.by_file(), "checksum": self.checksum.load(SeqCst)});
        Answer { result, metrics: vec![("cpu_tasks", cpu_tasks as f64)], ..Answer::default() }
    }
}
