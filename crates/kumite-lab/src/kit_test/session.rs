//! A worker that is asked one thing after another, and started again where it cannot go on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::Spawn;
use kumite_record::Cores;
use serde_json::{Value, json};

use crate::driver::scratch::{Scratch, ScratchPlace};
use crate::driver::worker::{Done, Hello, Taken, Worker};
use crate::halt::Halt;
use kumite_process::last_lines;

/// To its first hello.
const READY: Duration = Duration::from_secs(30);
/// For an answer.
const LIMIT: Duration = Duration::from_secs(10);
/// For its end.
const END: Duration = Duration::from_secs(3);

pub(super) struct Session<'a> {
    command: &'a str,
    dir: &'a Path,
    cores: &'a [usize],
    folder: &'a Path,
    log: PathBuf,
    stop: &'a AtomicBool,
    worker: Option<StartedWorker>,
    job: u64,
}

struct StartedWorker {
    worker: Worker,
    hello: Option<Hello>,
    /// Goes with it.
    _scratch: Scratch,
}

/// A job that went well.
pub(super) struct Worked {
    pub done: Done,
    /// From the writing of its request to the word that it is done.
    pub to_done: Duration,
    /// The time from the request to the last byte of its answer.
    pub to_answer: Duration,
}

impl<'a> Session<'a> {
    pub fn new(
        command: &'a str,
        dir: &'a Path,
        cores: &'a Cores,
        folder: &'a Path,
        stop: &'a AtomicBool,
    ) -> Session<'a> {
        let cores = &cores.contender[..cores.contender.len().min(1)];
        let log = folder.join("worker.log");
        Session { command, dir, cores, folder, log, stop, worker: None, job: 0 }
    }

    fn started(&mut self) -> Result<&mut StartedWorker, Halt> {
        if self.worker.is_none() {
            let scratch = Scratch::new(&ScratchPlace::for_store(self.folder)?)?;
            let env = [("SCRATCH".to_owned(), scratch.path().display().to_string())];
            let spawn = Spawn {
                command: self.command,
                dir: self.dir,
                env: &env,
                keeps: None,
                cores: self.cores,
                log: &self.log,
                group: None,
            };
            let worker = Worker::start(&spawn)?;
            self.worker = Some(StartedWorker { worker, hello: None, _scratch: scratch });
        }
        Ok(self.worker.as_mut().expect("it is there now"))
    }

    /// The worker, once it has said hello.
    fn worker(&mut self) -> Result<&mut Worker, Halt> {
        if self.worker.as_ref().is_none_or(|started| started.hello.is_none()) {
            self.hello()?;
        }
        Ok(&mut self.started()?.worker)
    }

    /// The worker's answer about itself, and the time of the exchange.
    pub fn hello(&mut self) -> Result<(Hello, Duration), Halt> {
        let stop = self.stop;
        let started = self.started()?;
        let limit = if started.hello.is_none() { READY } else { LIMIT };
        let (hello, took) = started.worker.hello(limit, stop)?;
        started.hello = Some(hello.clone());
        Ok((hello, took))
    }

    /// This process is one of the worker's.
    pub fn has(&mut self, pid: u32) -> Result<bool, Halt> {
        Ok(self.worker()?.process.tree().lock().has(pid))
    }

    /// A number that no job of this session has had.
    pub fn next_job(&mut self) -> u64 {
        self.job += 1;
        self.job
    }

    /// Writes these bytes, whatever they are.
    pub fn write(&mut self, bytes: &[u8], doing: &str) -> Result<Instant, Halt> {
        let stop = self.stop;
        self.worker()?.process.write(bytes, LIMIT, doing, stop)
    }

    /// The next answer to one of these jobs, which were asked for then.
    pub fn take(&mut self, asked: &BTreeMap<u64, Instant>) -> Result<Taken, Halt> {
        let stop = self.stop;
        self.worker()?.take(asked, LIMIT, stop)
    }

    /// The answer to this job, which is to be a result.
    pub fn result(&mut self, job: u64, asked: Instant) -> Result<Worked, Halt> {
        let Taken { answer, done, came } = self.take(&[(job, asked)].into())?;
        let result = answer.done.map_err(|error| {
            Halt::fault(format!("expected a result of job {job}, and an error came: {error}"))
        })?;
        Ok(Worked { done: result, to_done: done - asked, to_answer: came - asked })
    }

    /// Has it do a job that goes well.
    pub fn job(&mut self, params: &Value) -> Result<Worked, Halt> {
        let job = self.next_job();
        self.numbered(job, params)
    }

    /// Has it do a job that goes well, with this number.
    pub fn numbered(&mut self, job: u64, params: &Value) -> Result<Worked, Halt> {
        self.line(job, &json!({ "job": job, "params": params }).to_string())
    }

    /// Has it do a job that goes well and is asked for like this.
    pub fn line(&mut self, job: u64, request: &str) -> Result<Worked, Halt> {
        let asked = self.write(format!("{request}\n").as_bytes(), &format!("job {job}"))?;
        self.result(job, asked)
    }

    /// A fault if it writes anything within that time although nothing was asked.
    pub fn unasked(&mut self, wait: Duration) -> Result<(), Halt> {
        std::thread::sleep(wait);
        self.worker()?.process.unasked().map_or(Ok(()), |unasked| Err(Halt::fault(unasked)))
    }

    /// Closes the worker's input, after which it is to end.
    pub fn close(&mut self) -> Result<(), Halt> {
        self.worker()?.process.close();
        Ok(())
    }

    /// Closes its input, and waits for its end, which is to be an orderly one.
    pub fn end(&mut self) -> Result<(), Halt> {
        self.worker()?;
        let ended = self.worker.take().and_then(|started| started.worker.process.end());
        ended.map_or(Ok(()), |why| Err(Halt::fault(why)))
    }

    /// How it ends by itself, and the end of its log.
    pub fn ends(&mut self) -> Result<(Option<ExitStatus>, String), Halt> {
        let stop = self.stop;
        let status = self.worker()?.process.exited(END, stop);
        self.worker = None;
        Ok((status, last_lines(&self.log)))
    }

    /// How long its log is.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    pub fn has_ended(&mut self) -> bool {
        let stop = self.stop;
        self.worker
            .as_mut()
            .is_none_or(|started| started.worker.process.exited(Duration::ZERO, stop).is_some())
    }

    /// The next one is asked of a new worker.
    pub fn give_up(&mut self) {
        self.worker = None;
    }
}
