//! A run whose blocks several nodes share, each by an agent.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use kumite_agent::{Ask, Node, Program, Said};
use kumite_lab::{is_of, seed_of};
use kumite_record::{Export, Run, Store};
use kumite_report::plural;
use tempfile::TempDir;

use crate::away::Away;
use crate::driver::Driver;
use crate::failure::Failure;
use crate::merge::{Wanted, merged};
use crate::on::sent_folders;
use crate::shard::some_for_each;
use crate::slurm::{Allocation, Job};

const LOOK: Duration = Duration::from_millis(200);
/// A controller has others to answer, too.
const LOOK_AT_JOB: Duration = Duration::from_secs(10);
/// What a node needs behind the last trial of its share, before its job ends.
const RESERVE: Duration = Duration::from_secs(30);

/// Executes a share on each node at the same time, merges what came, and judges it. If the nodes are those of a job, they are
/// lost with it.
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
                share.look(&driver.stop, lost.as_deref());
            }
        }
        let lost = job.and_then(Job::lost);
        under_way.into_iter().map(|share| share.ended(lost.as_deref())).collect::<Vec<_>>()
    });
    sharing.judged(ended, &mut into)
}

/// A run that is to be shared.
pub(crate) struct Sharing<'a> {
    driver: &'a Driver,
    away: &'a Away<'a>,
    /// Among so many.
    of: usize,
    kumite: Program,
    /// Where stores arrive.
    folder: TempDir,
}

/// A share that a node executes.
pub(crate) struct UnderWay<'scope> {
    node: String,
    thread: ScopedJoinHandle<'scope, Result<PathBuf, String>>,
    halt: Arc<AtomicBool>,
    /// Why it was told to halt.
    lost: Option<String>,
}

impl UnderWay<'_> {
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Halts it if all is to stop, or if its node is lost.
    pub fn look(&mut self, stop: &AtomicBool, lost: Option<&str>) {
        if stop.load(Ordering::Relaxed) || lost.is_some() {
            self.lost = self.lost.take().or_else(|| lost.map(str::to_owned));
            self.halt.store(true, Ordering::Relaxed);
        }
    }

    /// Waits for the store that came of it; or why there is none, and what became of the node's job.
    pub fn ended(self, job: Option<&str>) -> Result<PathBuf, String> {
        let ended = self.thread.join().unwrap_or_else(|_| Err("it broke off".to_owned()));
        ended.map_err(|why| match (self.lost, job) {
            (Some(lost), _) => format!("{}: {lost}", self.node),
            (None, Some(job)) => format!("{why}; {job}"),
            (None, None) => why,
        })
    }
}

impl<'a> Sharing<'a> {
    pub fn new(driver: &'a Driver, away: &'a Away, of: usize) -> Result<Sharing<'a>, Failure> {
        let folder = tempfile::tempdir().map_err(|error| Failure::Incomplete(error.to_string()))?;
        let kumite = Program::own().map_err(Failure::Incomplete)?;
        Ok(Sharing { driver, away, of, kumite, folder })
    }

    /// The shares that the store does not have whole, from 0 on.
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

    /// Has a node, which may be had for so long, execute a share.
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

    /// Merges what came, and judges it.
    pub fn judged(&self, ended: Vec<Result<PathBuf, String>>, into: &mut Store) -> Result<Export, Failure> {
        let Sharing { driver, away, .. } = self;
        let of_missing = ended.len();
        let mut stores = Vec::new();
        for share in ended {
            match share {
                Ok(file) => stores.push(Store::open_existing(&file)?),
                Err(why) => driver.note(&why),
            }
        }
        if stores.is_empty() && of_missing == self.of {
            return Err(Failure::Incomplete("no node gave a share".to_owned()));
        }
        let (seed, is_gate, command) = (Some(away.seed), away.is_gate, away.command.clone());
        let wanted = Wanted { seed, is_gate, command, ..Wanted::default() };
        // What was there already is enough if nothing came.
        stores.push(Store::open(&away.db)?);
        merged(driver, &stores, &wanted, into)
    }

    /// Has a node execute its share; the store that came of it. Results stay on the node until they have arrived whole.
    fn share(
        &self,
        nth: usize,
        node: &Node,
        left: Option<Duration>,
        halt: &AtomicBool,
    ) -> Result<PathBuf, String> {
        let began = Instant::now();
        let name = node.name();
        let log = self.folder.path().join(format!("{nth}.log"));
        let mut link = self.driver.link(node, &self.kumite, &log, halt)?;
        let (experiment, folders) = sent_folders(self.away.experiment)?;
        link.prepare(&self.key(nth), &folders, halt)?;
        let left = left.map(|left| left.saturating_sub(began.elapsed() + RESERVE));
        link.ask(&Ask::Run { experiment, arguments: self.words(nth, left) }, halt)?;
        loop {
            match link.next(LOOK, halt)? {
                None => {}
                Some(Said::Note(text)) => self.driver.note(&format!("{name}: {text}")),
                Some(Said::Relay { .. }) => return Err(format!("{name}: a share asks no other node")),
                Some(Said::Done(_)) => break,
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

    /// The same for the same share of the same run, wherever it is asked for.
    fn key(&self, nth: usize) -> String {
        format!("{:08x}{:08x}{:04x}{:04x}", seed_of(self.away.experiment), self.away.seed, nth + 1, self.of)
    }

    fn words(&self, nth: usize, left: Option<Duration>) -> Vec<String> {
        let budget = [self.away.budget, left].into_iter().flatten().min();
        let mut words = self.away.words(budget.map(|time| time.max(Duration::from_millis(1))));
        words.push(format!("--shard={}/{}", nth + 1, self.of));
        words
    }
}

fn is_complete(file: &Path) -> bool {
    let runs = Store::open_existing(file).and_then(|store| store.runs());
    runs.is_ok_and(|runs| runs.last().is_some_and(|run| run.finished.is_some() && run.cut_short.is_none()))
}
