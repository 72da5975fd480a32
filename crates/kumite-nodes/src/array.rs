//! `--shards N --on slurm`: a run whose shares are the tasks of an array of jobs, each begun as soon as it has a
//! node.
//!
//! One thread looks at Slurm and follows all shares; each share under way has a thread of its own, too. Shares need
//! not run at the same time, so a busy cluster may give one node after the other. Each task is ended as soon as its
//! share has arrived. A share that is lost is submitted again, once; after that it is given up, and the others are
//! judged without it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Scope;
use std::time::{Duration, Instant};

use kumite_lab::chain;
use kumite_record::{Export, Store};
use kumite_report::plural;

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::shares::{LostShare, ShareEnd, Sharing, UnderWay};
use crate::slurm::{Job, SlurmOptions, Task, TaskEnd, TaskState, nodes_of, wait};

const LOOK: Duration = Duration::from_millis(200);
/// The time between two looks at the jobs: Slurm's controller has others to answer, too.
const LOOK_AT_JOBS: Duration = Duration::from_secs(2);
/// The most times that a share is submitted.
const MOST_TIMES: usize = 2;

/// Submits those of the `of` shares that the store does not have, as a job array, and follows them. Merges the shares
/// that came with those in the store, and judges the run. An error if Slurm refuses the array, if no share came and
/// none was there before, or if the shares cannot be merged.
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
    /// The last note on a share that waits, or on a look that failed. It is not repeated.
    said: String,
}

struct Share<'a> {
    nth: usize,
    /// The index of the share's job in [`Array::jobs`].
    job: usize,
    /// The number of times that the share was submitted.
    times: usize,
    is: Is<'a>,
}

enum Is<'a> {
    Waiting,
    /// The task of this name has its node, which executes the share.
    UnderWay(String, UnderWay<'a>),
    Ended(ShareEnd),
}

impl<'a> Array<'a> {
    /// Follows all shares to their ends. Returns the ends in the order of the shares.
    fn follow(
        &mut self,
        scope: &'a Scope<'a, '_>,
        submit: &dyn Fn(usize) -> Result<Job, Failure>,
        limit: Duration,
    ) -> Vec<ShareEnd> {
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
        let ended = |share: Share| match share.is {
            Is::Ended(ended) => Some(ended),
            _ => None,
        };
        self.shares.drain(..).filter_map(ended).collect()
    }

    /// Looks at the jobs: begins shares that have got a node, halts those that have lost theirs, and ends those whose
    /// task ended before it had one. Notes why others wait.
    fn look(&mut self, scope: &'a Scope<'a, '_>) {
        let driver = self.driver;
        for job in 0..self.jobs.len() {
            match self.jobs[job].look() {
                Ok(tasks) => self.shares.iter_mut().filter(|share| share.job == job).for_each(|share| {
                    let task = tasks.iter().find(|task| task.index == Some(share.nth + 1));
                    share.look(self.sharing, scope, &self.jobs[job], task, &driver.stop);
                    let waits = task.filter(|task| task.state == TaskState::Waits && task.told != "PENDING");
                    if let Some(task) = waits.filter(|task| task.told != self.said) {
                        driver.note(&format!("job {}: {}", task.name, task.told));
                        self.said = task.told.clone();
                    }
                }),
                Err(why) => {
                    let why = chain(&why);
                    if why != self.said {
                        driver.note(&why);
                        self.said = why;
                    }
                }
            }
        }
    }

    /// Takes shares that have come to their end, and gives their nodes back.
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
                let tasks = job.settled().unwrap_or_default();
                let lost = tasks.iter().find(|found| found.name == task).and_then(Task::end);
                share.is = Is::Ended(under_way.ended(lost.as_ref()));
                job.end(&task);
            }
        }
    }

    /// Submits lost shares again, once each, but none after an interruption. Returns true if any was submitted.
    fn submit_again(&mut self, submit: &dyn Fn(usize) -> Result<Job, Failure>) -> bool {
        let mut any = false;
        for share in &mut self.shares {
            let Is::Ended(Err(why)) = &share.is else { continue };
            if share.times >= MOST_TIMES || self.driver.stop.load(Ordering::Relaxed) {
                continue;
            }
            let (number, why) = (share.nth + 1, chain(why));
            self.driver.note(&format!("share {number} is lost, and is submitted again: {why}"));
            share.times += 1;
            match submit(share.nth) {
                Ok(job) => {
                    self.jobs.push(job);
                    share.job = self.jobs.len() - 1;
                    share.is = Is::Waiting;
                    any = true;
                }
                Err(failure) => share.is = Is::Ended(Err(failure.into())),
            }
        }
        any
    }

    /// Gives up shares that have no node, after the time-out or an interruption. Does nothing to those under way.
    fn give_up(&mut self, limit: Duration) {
        for share in self.shares.iter_mut().filter(|share| matches!(share.is, Is::Waiting)) {
            let why = if self.driver.stop.load(Ordering::Relaxed) {
                LostShare::Failed(Failure::Interrupted)
            } else {
                let job = &self.jobs[share.job];
                // The whole job ends only after its last share; until then Slurm could still give this task a node.
                job.end(&share.task_of(job));
                LostShare::Late { number: share.nth + 1, waited: limit, told: self.said.clone() }
            };
            share.is = Is::Ended(Err(why));
            share.times = MOST_TIMES;
        }
    }
}

impl<'a> Share<'a> {
    /// The name of the share's task, for `scancel`.
    fn task_of(&self, job: &Job) -> String {
        format!("{}_{}", job.id(), self.nth + 1)
    }

    fn look(
        &mut self,
        sharing: &'a Sharing<'a>,
        scope: &'a Scope<'a, '_>,
        job: &Job,
        task: Option<&Task>,
        stop: &AtomicBool,
    ) {
        let lost = match task {
            // A task that is just ending may do so because its share has arrived.
            Some(task) => task.end().filter(|_| task.state == TaskState::Ended),
            None => Some(TaskEnd::Forgotten { name: self.task_of(job) }),
        };
        match (&mut self.is, task, lost) {
            (Is::UnderWay(_, under_way), _, lost) => under_way.look(stop, lost.as_ref()),
            (Is::Waiting, _, Some(lost)) => self.is = Is::Ended(Err(lost.into())),
            (Is::Waiting, Some(task), None) if task.state == TaskState::Runs => {
                self.is = match nodes_of(std::slice::from_ref(task), stop) {
                    Ok(nodes) => {
                        let under_way = sharing.begin(scope, self.nth, &nodes[0], task.left);
                        Is::UnderWay(task.name.clone(), under_way)
                    }
                    Err(why) => Is::Ended(Err(Failure::from(why).into())),
                };
            }
            _ => {}
        }
    }
}
