//! A session with a worker, which is asked one thing after another and started again if it cannot go on.

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

/// The longest wait for a worker's first hello.
const READY: Duration = Duration::from_secs(30);
/// The longest wait for an answer.
const LIMIT: Duration = Duration::from_secs(10);
/// The longest wait for a worker's end.
const END: Duration = Duration::from_secs(3);

pub(super) struct Session<'a> {
    command: &'a str,
    dir: &'a Path,
    cores: &'a [usize],
    folder: &'a Path,
    log: PathBuf,
    stop: &'a AtomicBool,
    /// The worker that runs. None if the next request is to start one.
    worker: Option<StartedWorker>,
    job: u64,
}

struct StartedWorker {
    worker: Worker,
    /// The worker's last answer about itself. None if it has given none yet.
    hello: Option<Hello>,
    /// The folder of the worker's files, which is dropped with it.
    _scratch: Scratch,
}

/// A job that was done, with its times.
pub(super) struct Worked {
    pub done: Done,
    /// The time from the writing of the request to the word that the job is done.
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

    /// The worker, which is started and asked for its hello if need be.
    fn worker(&mut self) -> Result<&mut Worker, Halt> {
        if self.worker.as_ref().is_none_or(|started| started.hello.is_none()) {
            self.hello()?;
        }
        Ok(&mut self.started()?.worker)
    }

    /// The worker's answer to a hello, which says what the worker is, and the time from question to answer. A fault if
    /// there is no right answer in time.
    pub fn hello(&mut self) -> Result<(Hello, Duration), Halt> {
        let stop = self.stop;
        let started = self.started()?;
        let limit = if started.hello.is_none() { READY } else { LIMIT };
        let (hello, took) = started.worker.hello(limit, stop)?;
        started.hello = Some(hello.clone());
        Ok((hello, took))
    }

    /// True if the process with this id is one of the worker's. A fault if the worker cannot be started.
    pub fn has(&mut self, pid: u32) -> Result<bool, Halt> {
        Ok(self.worker()?.process.tree().lock().has(pid))
    }

    /// A number that no job of this session has had.
    pub fn next_job(&mut self) -> u64 {
        self.job += 1;
        self.job
    }

    /// Writes these bytes to the worker, unchanged. `doing` is the step that an error names. Returns the time at which
    /// the writing began. A fault if the worker does not take them in time.
    pub fn write(&mut self, bytes: &[u8], doing: &str) -> Result<Instant, Halt> {
        let stop = self.stop;
        self.worker()?.process.write(bytes, LIMIT, doing, stop)
    }

    /// Waits for the next answer to one of these jobs; `asked` has the time at which each was asked for. A fault if no
    /// answer to one of them comes in time.
    pub fn take(&mut self, asked: &BTreeMap<u64, Instant>) -> Result<Taken, Halt> {
        let stop = self.stop;
        self.worker()?.take(asked, LIMIT, stop)
    }

    /// Waits for the answer to a job. A fault if that answer is not a result.
    pub fn result(&mut self, job: u64, asked: Instant) -> Result<Worked, Halt> {
        let Taken { answer, done, came } = self.take(&[(job, asked)].into())?;
        let result = answer.done.map_err(|error| {
            Halt::fault(format!("expected a result of job {job}, and an error came: {error}"))
        })?;
        Ok(Worked { done: result, to_done: done - asked, to_answer: came - asked })
    }

    /// Has the worker do a job with these parameters, under the next number. A fault if the job does not succeed.
    pub fn job(&mut self, params: &Value) -> Result<Worked, Halt> {
        let job = self.next_job();
        self.numbered(job, params)
    }

    /// Has the worker do a job with this number and these parameters. A fault if the job does not succeed.
    pub fn numbered(&mut self, job: u64, params: &Value) -> Result<Worked, Halt> {
        self.line(job, &json!({ "job": job, "params": params }).to_string())
    }

    /// Has the worker do a job that is asked for by this line, which has the number `job`. A fault if the job does not
    /// succeed.
    pub fn line(&mut self, job: u64, request: &str) -> Result<Worked, Halt> {
        let asked = self.write(format!("{request}\n").as_bytes(), &format!("job {job}"))?;
        self.result(job, asked)
    }

    /// Waits for this time. A fault if the worker writes anything meanwhile, although nothing was asked.
    pub fn unasked(&mut self, wait: Duration) -> Result<(), Halt> {
        std::thread::sleep(wait);
        self.worker()?.process.unasked().map_or(Ok(()), |unasked| Err(Halt::fault(unasked)))
    }

    /// Closes the worker's input, upon which the worker has to end. A fault if the worker cannot be started.
    pub fn close(&mut self) -> Result<(), Halt> {
        self.worker()?.process.close();
        Ok(())
    }

    /// Closes the worker's input and waits for the worker's end. A fault if the worker does not end with success in
    /// time.
    pub fn end(&mut self) -> Result<(), Halt> {
        self.worker()?;
        let ended = self.worker.take().and_then(|started| started.worker.process.end());
        ended.map_or(Ok(()), |why| Err(Halt::fault(why)))
    }

    /// The status with which the worker ends by itself, and the end of its log. The status is `None` if the worker
    /// still runs after [`END`], or `stop` is set. A fault if the worker cannot be started.
    pub fn ends(&mut self) -> Result<(Option<ExitStatus>, String), Halt> {
        let stop = self.stop;
        let status = self.worker()?.process.exited(END, stop);
        self.worker = None;
        Ok((status, last_lines(&self.log)))
    }

    /// The length of the worker's log, in bytes.
    pub fn log_bytes(&self) -> u64 {
        std::fs::metadata(&self.log).map_or(0, |file| file.len())
    }

    /// True if no worker runs: it has ended, or was not started.
    pub fn has_ended(&mut self) -> bool {
        let stop = self.stop;
        self.worker
            .as_mut()
            .is_none_or(|started| started.worker.process.exited(Duration::ZERO, stop).is_some())
    }

    /// Gives up this worker. The next request starts a new one.
    pub fn give_up(&mut self) {
        self.worker = None;
    }
}
