//! `--shards N --on slurm`: a run whose shares are the tasks of an array of jobs, each begun as soon as it has a node.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use kumite_record::{Export, Store};
use kumite_report::plural;

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::shares::{Sharing, UnderWay};
use crate::slurm::{Job, SlurmOptions, State, Task, nodes_of, wait};

const LOOK: Duration = Duration::from_millis(200);
/// A controller has others to answer, too.
const LOOK_AT_JOBS: Duration = Duration::from_secs(2);
/// A share that is lost is submitted again, once.
const MOST_TIMES: usize = 2;

/// Submits the shares that are missing, follows them, merges what came, and judges it.
pub fn array(driver: &Driver, away: &Away, slurm: &SlurmOptions, of: usize) -> Result<Export, Failure> {
    let sharing = Sharing::new(driver, away, of)?;
    let mut into = Store::open(&away.db)?;
    let missing = sharing.missing(&into)?;
    driver.note(&format!("{}; seed {}", plural(of, "share"), away.seed));
    if missing.is_empty() {
        return sharing.judged(Vec::new(), &mut into);
    }
    let submit = |nths: &[usize]| {
        let indices: Vec<String> = nths.iter().map(|nth| (nth + 1).to_string()).collect();
        slurm.array(&indices.join(","), &away.experiment.name, driver)
    };
    let first = submit(&missing)?;
    let ended = std::thread::scope(|scope| {
        let shares = missing.iter().map(|&nth| Share { nth, job: 0, times: 1, is: Is::Waiting }).collect();
        let mut array = Array { driver, sharing: &sharing, jobs: vec![first], shares, said: String::new() };
        array.follow(scope, &|nth| submit(&[nth]), slurm.queue_timeout)
    });
    sharing.judged(ended, &mut into)
}

struct Array<'a> {
    driver: &'a Driver,
    sharing: &'a Sharing<'a>,
    jobs: Vec<Job>,
    shares: Vec<Share<'a>>,
    /// Why shares wait, as it was said last.
    said: String,
}

struct Share<'a> {
    nth: usize,
    /// In which of the jobs it is.
    job: usize,
    /// How often it was submitted.
    times: usize,
    is: Is<'a>,
}

enum Is<'a> {
    Waiting,
    /// By the task of this name.
    UnderWay(String, UnderWay<'a>),
    Ended(Result<PathBuf, String>),
}

impl<'a> Array<'a> {
    /// Follows all of them to their ends.
    fn follow(
        &mut self,
        scope: &'a Scope<'a, '_>,
        submit: &dyn Fn(usize) -> Result<Job, Failure>,
        limit: Duration,
    ) -> Vec<Result<PathBuf, String>> {
        let stop = &self.driver.stop;
        let mut looked: Option<Instant> = None;
        let mut waits_since = Instant::now();
        while !self.shares.iter().all(|share| matches!(share.is, Is::Ended(_))) {
            if looked.is_none_or(|looked| looked.elapsed() >= LOOK_AT_JOBS) {
                looked = Some(Instant::now());
                self.look(scope);
            }
            self.take_ended();
            if self.submit_again(submit) {
                waits_since = Instant::now();
            }
            if waits_since.elapsed() >= limit || stop.load(Ordering::Relaxed) {
                self.give_up(limit);
            }
            wait(LOOK, stop);
        }
        let ended = |share: &mut Share| match std::mem::replace(&mut share.is, Is::Waiting) {
            Is::Ended(ended) => ended,
            _ => Err("it did not end".to_owned()),
        };
        self.shares.iter_mut().map(ended).collect()
    }

    /// Begins what has a node, and halts what has lost its.
    fn look(&mut self, scope: &'a Scope<'a, '_>) {
        let driver = self.driver;
        for job in 0..self.jobs.len() {
            match self.jobs[job].look() {
                Ok(tasks) => self.shares.iter_mut().filter(|share| share.job == job).for_each(|share| {
                    let task = tasks.iter().find(|task| task.index == Some(share.nth + 1));
                    share.look(self.sharing, scope, task, &driver.stop);
                    let waits = task.filter(|task| task.state == State::Waits && task.told != "PENDING");
                    if let Some(task) = waits.filter(|task| task.told != self.said) {
                        driver.note(&format!("job {}: {}", task.name, task.told));
                        self.said = task.told.clone();
                    }
                }),
                Err(why) if why != self.said => {
                    self.driver.note(&why);
                    self.said = why;
                }
                Err(_) => {}
            }
        }
    }

    /// Takes what has come to its end, and gives its node back.
    fn take_ended(&mut self) {
        for share in &mut self.shares {
            let has_ended = match &mut share.is {
                Is::UnderWay(_, under_way) => {
                    under_way.look(&self.driver.stop, None);
                    under_way.has_ended()
                }
                _ => false,
            };
            if has_ended && let Is::UnderWay(task, under_way) = std::mem::replace(&mut share.is, Is::Waiting)
            {
                let job = &self.jobs[share.job];
                // What became of the job says more than what became of the way to its node.
                let found = job.settled().unwrap_or_default().into_iter().find(|found| found.name == task);
                let lost = found
                    .filter(|found| matches!(found.state, State::Ends | State::Ended))
                    .map(|found| told(&found));
                share.is = Is::Ended(under_way.ended(lost.as_deref()));
                job.end(&task);
            }
        }
    }

    /// Submits again what is lost; whether there was anything.
    fn submit_again(&mut self, submit: &dyn Fn(usize) -> Result<Job, Failure>) -> bool {
        let mut any = false;
        for share in &mut self.shares {
            let Is::Ended(Err(why)) = &share.is else { continue };
            if share.times >= MOST_TIMES || self.driver.stop.load(Ordering::Relaxed) {
                continue;
            }
            self.driver.note(&format!("share {} is lost, and is submitted again: {why}", share.nth + 1));
            share.times += 1;
            match submit(share.nth) {
                Ok(job) => {
                    self.jobs.push(job);
                    share.job = self.jobs.len() - 1;
                    share.is = Is::Waiting;
                    any = true;
                }
                Err(failure) => share.is = Is::Ended(Err(failure.to_string())),
            }
        }
        any
    }

    /// Waits no longer for what has no node.
    fn give_up(&mut self, limit: Duration) {
        for share in self.shares.iter_mut().filter(|share| matches!(share.is, Is::Waiting)) {
            let why = if self.driver.stop.load(Ordering::Relaxed) {
                "it was interrupted".to_owned()
            } else {
                let (job, nth) = (&self.jobs[share.job], share.nth + 1);
                // Others may still be under way, and would wait for it.
                job.end(&format!("{}_{nth}", job.id()));
                let limit = limit.as_secs();
                format!(
                    "share {nth} has not begun after {limit} s: {}; --queue-timeout gives it longer",
                    self.said
                )
            };
            share.is = Is::Ended(Err(why));
            share.times = MOST_TIMES;
        }
    }
}

impl<'a> Share<'a> {
    fn look(
        &mut self,
        sharing: &'a Sharing<'a>,
        scope: &'a Scope<'a, '_>,
        task: Option<&Task>,
        stop: &AtomicBool,
    ) {
        let lost = match task {
            Some(task) if task.state == State::Ended => Some(told(task)),
            None => Some("Slurm does not know its job any more".to_owned()),
            Some(_) => None,
        };
        match (&mut self.is, task, lost) {
            (Is::UnderWay(_, under_way), _, lost) => under_way.look(stop, lost.as_deref()),
            (Is::Waiting, _, Some(lost)) => self.is = Is::Ended(Err(lost)),
            (Is::Waiting, Some(task), None) if task.state == State::Runs => {
                self.is = match nodes_of(std::slice::from_ref(task), stop) {
                    Ok(nodes) => {
                        let under_way = sharing.begin(scope, self.nth, &nodes[0], task.left);
                        Is::UnderWay(task.name.clone(), under_way)
                    }
                    Err(why) => Is::Ended(Err(why)),
                };
            }
            _ => {}
        }
    }
}

fn told(task: &Task) -> String {
    format!("job {} is {}", task.name, task.told)
}
