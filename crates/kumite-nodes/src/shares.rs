//! A run whose blocks several nodes share, each by an agent.
//!
//! All nodes begin at once, each with a thread here that follows it. A share that is lost does not end the others:
//! what the rest has measured is merged and judged, and named as incomplete. A node keeps its share until all of it
//! has arrived here. The key of a share is made from experiment, seed, its number and the number of shares, so the
//! same command finds what is done already, and begins or resumes only the rest.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use kumite_agent::{Ask, Event, Node, Program};
use kumite_lab::{chain, is_of, seed_of};
use kumite_record::{Export, Run, Store};
use kumite_report::plural;
use tempfile::TempDir;

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::merge::{MergeOptions, merged};
use crate::on::sent_folders;
use crate::shard::some_for_each;
use crate::slurm::{Allocation, Job, TaskEnd};

const LOOK: Duration = Duration::from_millis(200);
/// The time between two looks at the job: Slurm's controller has others to answer, too.
const LOOK_AT_JOB: Duration = Duration::from_secs(10);
/// The time between a share's last trial and the end of its job, for judging and for the way here.
const RESERVE: Duration = Duration::from_secs(30);

/// Has each node execute its share, unless the store has this share already; all at the same time. Merges the shares,
/// and judges the run. If the nodes are those of a job, the shares under way are lost when the job ends. An error if
/// there are more nodes than blocks, if no share came and none was there before, or if the shares cannot be merged.
pub fn shares(driver: &Driver, away: &Away, at: &Allocation) -> Result<Export, Failure> {
    let Allocation { nodes, job } = at;
    some_for_each("--on", nodes.len() as u32, "nodes", away.experiment)?;
    let sharing = Sharing::new(driver, away, nodes.len())?;
    let job = job.as_ref();
    driver.note(&format!("{}, a share of the blocks each; seed {}", plural(nodes.len(), "node"), away.seed));
    let mut into = Store::open(&away.db)?;
    let missing = sharing.missing(&into)?;
    let left = job.and_then(|job| job.look().ok()?.iter().filter_map(|task| task.left).min());
    let ended = std::thread::scope(|scope| {
        let begin = |&nth: &usize| sharing.begin(scope, nth, &nodes[nth], left);
        let mut under_way: Vec<UnderWay> = missing.iter().map(begin).collect();
        let mut looked = Instant::now();
        while !under_way.iter().all(UnderWay::has_ended) {
            std::thread::sleep(LOOK);
            let lost = job.filter(|_| looked.elapsed() >= LOOK_AT_JOB).and_then(|job| {
                looked = Instant::now();
                job.lost()
            });
            for share in &mut under_way {
                share.look(&driver.stop, lost.as_ref());
            }
        }
        let lost = job.and_then(Job::lost);
        under_way.into_iter().map(|share| share.ended(lost.as_ref())).collect::<Vec<_>>()
    });
    sharing.judged(ended, &mut into)
}

/// A run whose blocks are shared.
pub(crate) struct Sharing<'a> {
    driver: &'a Driver,
    away: &'a Away<'a>,
    /// The number of shares.
    of: usize,
    kumite: Program,
    /// The temporary folder in which stores arrive.
    folder: TempDir,
}

/// The reason why a share did not arrive.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LostShare {
    /// The share failed, on its node or here; or it could not be submitted again, or was interrupted before it had a
    /// node.
    #[error(transparent)]
    Failed(#[from] Failure),
    /// The node's job has ended, so the share was halted.
    #[error("{node}: {end}")]
    NodeGone { node: String, end: TaskEnd },
    /// The share failed, as by a lost agent, and then the node's job was found to have ended.
    #[error("{}; {end}", chain(&**error))]
    FailedAndGone { error: Box<Failure>, end: TaskEnd },
    /// The share's task ended before the share had a node, or Slurm has forgotten it.
    #[error(transparent)]
    NeverBegun(#[from] TaskEnd),
    /// The share waited too long for a node.
    #[error("share {number} has not begun after {} s: {told}; --queue-timeout gives it longer", waited.as_secs())]
    Late { number: usize, waited: Duration, told: String },
    /// The thread that follows the share panicked: a bug of kumite.
    #[error("{node}: the thread that follows its share has panicked")]
    Panicked { node: String },
}

/// The file in which a share's store arrived, or the reason why none did.
pub(crate) type ShareEnd = Result<PathBuf, LostShare>;

/// A share that a node executes, followed by a thread.
pub(crate) struct UnderWay<'scope> {
    node: String,
    thread: ScopedJoinHandle<'scope, Result<PathBuf, Failure>>,
    halt: Arc<AtomicBool>,
    /// The end of the share's job, for which it was halted; none if it was not halted, or only because all is to
    /// stop.
    lost: Option<TaskEnd>,
}

impl UnderWay<'_> {
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Halts the share if everything is to stop, or if its node is lost.
    pub fn look(&mut self, stop: &AtomicBool, lost: Option<&TaskEnd>) {
        if stop.load(Ordering::Relaxed) || lost.is_some() {
            self.lost = self.lost.take().or_else(|| lost.cloned());
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for the store of the share. `job` is the end of the share's job; `None` if the job has not ended. If no store
    /// came, the error has the failure, with the end in `job` if there is one. For a share that was halted because its
    /// job had ended, the error has that end alone. A panic of the share's thread is an error, too.
    pub fn ended(self, job: Option<&TaskEnd>) -> ShareEnd {
        let UnderWay { node, thread, lost, .. } = self;
        let Ok(ended) = thread.join() else { return Err(LostShare::Panicked { node }) };
        ended.map_err(|error| match (lost, job) {
            (Some(end), _) => LostShare::NodeGone { node, end },
            (None, Some(end)) => LostShare::FailedAndGone { error: Box::new(error), end: end.clone() },
            (None, None) => LostShare::Failed(error),
        })
    }
}

impl<'a> Sharing<'a> {
    pub fn new(driver: &'a Driver, away: &'a Away, of: usize) -> Result<Sharing<'a>, Failure> {
        let folder = tempfile::tempdir().map_err(Failure::Scratch)?;
        let kumite = Program::own()?;
        Ok(Sharing { driver, away, of, kumite, folder })
    }

    /// The shares that the store does not have whole, counted from 0. An error if the store cannot be read.
    pub fn missing(&self, store: &Store) -> Result<Vec<usize>, Failure> {
        let of = self.of as u32;
        let is_whole = |run: &Run| {
            run.seed == self.away.seed
                && run.finished.is_some()
                && run.cut_short.is_none()
                && run.shard.is_some()
        };
        let mut there: Vec<u32> = Vec::new();
        for run in store.runs()?.iter().filter(|run| is_whole(run)) {
            if is_of(run, self.away.experiment)? {
                there.extend(run.shard.iter().filter(|shard| shard.of == of).map(|shard| shard.nth));
            }
        }
        Ok((0..self.of).filter(|nth| !there.contains(&(*nth as u32 + 1))).collect())
    }

    /// Has a node execute share `nth`, from 0 on. `left` is the time for which the node is there; None without a limit.
    /// The run there begins no block that would reach into the last 30 s of this time.
    pub fn begin<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        nth: usize,
        node: &Node,
        left: Option<Duration>,
    ) -> UnderWay<'scope> {
        let halt = Arc::new(AtomicBool::new(false));
        let (its_halt, its_node) = (Arc::clone(&halt), node.clone());
        let thread = scope.spawn(move || self.share(nth, &its_node, left, &its_halt));
        UnderWay { node: node.name().to_owned(), thread, halt, lost: None }
    }

    /// Merges the shares that came, and judges the run. Notes why the others did not come. An error if no share came
    /// and none was there before, or the shares cannot be merged.
    pub fn judged(&self, ended: Vec<ShareEnd>, into: &mut Store) -> Result<Export, Failure> {
        let Sharing { driver, away, .. } = self;
        let of_missing = ended.len();
        let mut stores = Vec::new();
        for share in ended {
            match share {
                Ok(file) => stores.push(Store::open_existing(&file)?),
                Err(why) => driver.note(&chain(&why)),
            }
        }
        if stores.is_empty() && of_missing == self.of {
            return Err(Failure::NoShare);
        }
        let (seed, is_gate, command) = (Some(away.seed), away.is_gate, away.command.clone());
        let options = MergeOptions { seed, is_gate, command, ..MergeOptions::default() };
        // Shares that were there already are enough if nothing came.
        stores.push(Store::open(&away.db)?);
        merged(driver, &stores, &options, into)
    }

    /// Has a node execute its share, and fetches its store.
    fn share(
        &self,
        nth: usize,
        node: &Node,
        left: Option<Duration>,
        halt: &AtomicBool,
    ) -> Result<PathBuf, Failure> {
        let began = Instant::now();
        let name = node.name();
        let log = self.folder.path().join(format!("{nth}.log"));
        let mut link = self.driver.link(node, &self.kumite, &log, halt)?;
        let (experiment, folders) = sent_folders(self.away.experiment)?;
        link.prepare(&self.key(nth), &folders, halt)?;
        let left = left.map(|left| left.saturating_sub(began.elapsed() + RESERVE));
        link.ask(&Ask::Run { experiment, arguments: self.arguments(nth, left) }, halt)?;
        loop {
            match link.next(LOOK, halt)? {
                None => {}
                Some(Event::Note(text)) => self.driver.note(&format!("{name}: {text}")),
                Some(Event::Relay { .. }) => return Err(Failure::RelayOfShare { node: name.to_owned() }),
                Some(Event::Done(_)) => break,
            }
        }
        let file = self.folder.path().join(format!("{nth}.db"));
        link.store(&file, halt)?;
        if is_complete(&file) {
            link.ask(&Ask::Forget, halt)?;
        }
        link.close();
        Ok(file)
    }

    /// The key of a share: always the same for one share of one run, so that a node recognizes what it has begun.
    fn key(&self, nth: usize) -> String {
        format!("{:08x}{:08x}{:04x}{:04x}", seed_of(self.away.experiment), self.away.seed, nth + 1, self.of)
    }

    /// The arguments of `kumite run` on the node, for share `nth` from 0 on.
    fn arguments(&self, nth: usize, left: Option<Duration>) -> Vec<String> {
        let mut arguments = self.away.arguments();
        arguments.extend(left.map(|left| format!("--job-time={}ms", left.as_millis().max(1))));
        arguments.push(format!("--shard={}/{}", nth + 1, self.of));
        arguments
    }
}

fn is_complete(file: &Path) -> bool {
    let runs = Store::open_existing(file).and_then(|store| store.runs());
    runs.is_ok_and(|runs| runs.last().is_some_and(|run| run.finished.is_some() && run.cut_short.is_none()))
}
