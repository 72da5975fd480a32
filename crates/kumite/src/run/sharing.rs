//! `--on`: a run whose blocks several hosts share, each by an agent.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_agent::{Ask, Host, Link, Program, Said, Way};
use kumite_lab::{Experiment, seed_of};
use kumite_record::{Run, Store};

use super::Args;
use crate::exit::Failure;
use crate::merge::{Wanted, merged};
use crate::on::sent_folders;
use crate::{output, stop};

const LOOK: Duration = Duration::from_millis(200);

/// A run that is to be shared.
pub struct Sharing<'a> {
    pub args: &'a Args,
    pub experiment: &'a Experiment,
    pub hosts: &'a [Host],
    pub seed: u64,
}

/// Executes a share on each host at the same time, merges what came, and judges it.
pub fn run(sharing: &Sharing) -> Result<(), Failure> {
    let Sharing { args, hosts, seed, .. } = sharing;
    let stop = stop::flag()?;
    let folder = tempfile::tempdir().map_err(|error| Failure::Incomplete(error.to_string()))?;
    let mut into = Store::open(&args.db.path())?;
    output::note(&format!("{} hosts, a share of the blocks each; seed {seed}", hosts.len()));
    let missing: Vec<usize> = sharing.missing(&into)?;
    let kumite = Program::own().map_err(Failure::Incomplete)?;
    let share = |nth: usize| sharing.share(nth, &kumite, folder.path(), &stop);
    let shares: Vec<Result<PathBuf, String>> = std::thread::scope(|scope| {
        let share = &share;
        let started: Vec<_> = missing.iter().map(|&nth| scope.spawn(move || share(nth))).collect();
        let ended = |of: std::thread::ScopedJoinHandle<Result<PathBuf, String>>| {
            of.join().unwrap_or_else(|_| Err("it broke off".to_owned()))
        };
        started.into_iter().map(ended).collect()
    });
    let (mut stores, mut lost) = (Vec::new(), Vec::new());
    for share in shares {
        match share {
            Ok(file) => stores.push(Store::open_existing(&file)?),
            Err(why) => lost.push(why),
        }
    }
    lost.iter().for_each(|why| output::note(why));
    if stores.is_empty() && missing.len() == hosts.len() {
        return Err(Failure::Incomplete("no host gave a share".to_owned()));
    }
    let wanted = Wanted { seed: Some(*seed), is_gate: args.gate.is_set(), ..Wanted::default() };
    // What was there already is enough if nothing came.
    let there = Store::open(&args.db.path())?;
    let all: Vec<Store> = stores.into_iter().chain([there]).collect();
    let export = merged(&all, &wanted, &mut into)?;
    args.documents.write(&(&export, args.length.report()))?;
    match &export.run.cut_short {
        Some(why) => Err(Failure::Incomplete(format!(
            "{why}; the same command with --seed {seed} goes on where the hosts stopped"
        ))),
        None => args.gate.check(&export),
    }
}

impl Sharing<'_> {
    /// The shares that the store does not have whole.
    fn missing(&self, store: &Store) -> Result<Vec<usize>, Failure> {
        let of = self.hosts.len() as u32;
        let is_of_this = |run: &Run| {
            let told = (&run.experiment, &run.profile, run.seed, &run.spec);
            told == (&self.experiment.name, &self.args.profile, self.seed, &self.experiment.text)
                && run.finished.is_some()
                && run.cut_short.is_none()
        };
        let runs = store.runs()?;
        let shards = runs.iter().filter(|run| is_of_this(run)).filter_map(|run| run.shard.as_ref());
        let there: Vec<u32> = shards.filter(|shard| shard.of == of).map(|shard| shard.nth).collect();
        Ok((0..self.hosts.len()).filter(|nth| !there.contains(&(*nth as u32 + 1))).collect())
    }

    /// Has a host execute its share; the store that came of it. Results stay on the host until they have arrived whole.
    fn share(
        &self,
        nth: usize,
        kumite: &Program,
        folder: &Path,
        stop: &AtomicBool,
    ) -> Result<PathBuf, String> {
        let host = &self.hosts[nth];
        let name = host.name();
        let log = folder.join(format!("{nth}.log"));
        let mut link = Link::open(name, &Way::Ssh(host, kumite), crate::VERSION, &log, stop)?;
        output::note(&format!("{name}: connected in {:.1} s", link.connected_in.as_secs_f64()));
        let (experiment, folders) = sent_folders(self.experiment)?;
        link.prepare(&self.key(nth), &folders, stop)?;
        link.ask(&Ask::Run { experiment, arguments: self.words(nth) }, stop)?;
        loop {
            match link.next(LOOK, stop)? {
                None => {}
                Some(Said::Note(text)) => output::note(&format!("{name}: {text}")),
                Some(Said::Relay { .. }) => return Err(format!("{name}: a share asks no other node")),
                Some(Said::Done(_)) => break,
            }
        }
        let file = folder.join(format!("{nth}.db"));
        link.store(&file, stop)?;
        if is_complete(&file) {
            link.ask(&Ask::Forget, stop)?;
        }
        link.close();
        Ok(file)
    }

    /// The same for the same share of the same run, wherever it is asked for.
    fn key(&self, nth: usize) -> String {
        format!("{:08x}{:08x}{:04x}{:04x}", seed_of(self.experiment), self.seed, nth + 1, self.hosts.len())
    }

    fn words(&self, nth: usize) -> Vec<String> {
        let mut words = self.args.words(self.seed);
        words.push(format!("--shard={}/{}", nth + 1, self.hosts.len()));
        words
    }
}

fn is_complete(file: &Path) -> bool {
    let runs = Store::open_existing(file).and_then(|store| store.runs());
    runs.is_ok_and(|runs| runs.last().is_some_and(|run| run.finished.is_some() && run.cut_short.is_none()))
}
