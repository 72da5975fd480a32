//! One load on a server that somebody else started: what `kumite load` measures, as an experiment measures.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use kumite_host::{Clock, Heartbeat, cores, machine};
use kumite_load::{Interval, Load};
use kumite_record::{LoadResult, Point, Question, Run, Store, StoreError};

use crate::answer_program::check_answers;
use crate::contender::Ready;
use crate::driver::http::{External, load_result};
use crate::run::{Session, execute, plan};

/// One load on a server that is already there, measured as an experiment measures: with one contender, one point and
/// one block.
pub struct LoadOnce<'a> {
    /// The load that the engine offers.
    pub load: &'a Load,
    /// The URL or URLs, as they were typed. They also name the contender.
    pub url: String,
    /// The command line that repeats the load.
    pub command: String,
    /// The version of kumite.
    pub kumite: &'a str,
    /// The command that checks the answers in the load's sample when the load is over. `None` if no answers are
    /// checked.
    pub checker: Option<&'a str>,
}

impl LoadOnce<'_> {
    /// Offers the load until it ends or `stop` is set. `watch` is called with each interval as it ends. An error if the
    /// engine cannot offer the load, `stop` is set before the engine begins, or the store in memory fails.
    pub fn measure(
        self,
        clock: &dyn Clock,
        stop: &AtomicBool,
        watch: &mut dyn FnMut(&Interval),
    ) -> Result<LoadResult, LoadOnceError> {
        let cores = cores();
        let mut cpus = [&cores.contender[..], &cores.engine].concat();
        cpus.dedup();
        let mut executor = External { load: self.load, watch, result: None };
        let mut store = Store::in_memory()?;
        let started = clock.timestamp();
        let run = Run {
            id: Run::new_id(started),
            experiment: "load".to_owned(),
            kind: External::KIND,
            profile: "standard".to_owned(),
            started,
            command: self.command,
            kumite: self.kumite.to_owned(),
            question: Question { text: format!("How does {} do?", self.url), source: None },
            points: vec![Point::default()],
            blocks: 1,
            ..Run::default()
        };
        let contender = Ready {
            name: self.url.clone(),
            folder: PathBuf::new(),
            run: String::new(),
            env: Vec::new(),
            answers: None,
            reads: None,
            deps: None,
            origin: None,
            memory_mb: None,
            twin: None,
            drawn: None,
        };
        store.begin(&run, &machine(cores), &[])?;
        let session = Session {
            run: &run,
            contenders: std::slice::from_ref(&contender),
            plan: &plan(&[vec![0]], &BTreeSet::new(), 1, run.seed),
            times: &[Some(self.load.limit.duration.unwrap_or_default())],
            kept: &[],
            limit: None,
            undecided: &|_| BTreeSet::new(),
        };
        let heartbeat = Heartbeat::start(&cpus);
        let ended = execute(&session, &mut executor, clock, &mut store, stop, &mut |_| {});
        let void = heartbeat.stop();
        ended?;
        let outcome = executor.result.take().ok_or(LoadOnceError::Interrupted)??;
        let trials = store.trials(&run.id)?;
        let sample = trials.first().map(|trial| trial.sample.clone()).unwrap_or_default();
        let check = |command| check_answers(command, Path::new("."), &[], &outcome.sampled, stop);
        let answers_checked = self.checker.map(check);
        Ok(LoadResult {
            answers_checked,
            void,
            ..load_result(run.command, self.url, self.load, &outcome, &sample)
        })
    }
}

/// The reason why a load came to no result.
#[derive(Debug, thiserror::Error)]
pub enum LoadOnceError {
    /// kumite was told to stop before the engine had begun.
    #[error("it was interrupted")]
    Interrupted,
    /// The engine could not offer the load.
    #[error(transparent)]
    Load(#[from] kumite_load::Error),
    /// The store, which is in memory, could not be made, written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
}
