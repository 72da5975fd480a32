//! The runs to merge, as they are named: stores, documents of runs, and ids.
//!
//! A document may be anybody's. Nothing in it is executed, it replaces no run that is kept here, and no path in it is
//! followed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use kumite_lab::take_apart;
use kumite_nodes::with_logs;
use kumite_record::{Export, Run, Store, StoredRun, Trial};

use crate::exit::Failure;
use crate::exported;
use crate::sittings::{is_joined, together};

pub struct Given {
    stores: Vec<Store>,
    documents: Vec<(PathBuf, StoredRun)>,
    ids: Vec<String>,
}

/// Reads what is named: documents, ids and stores. A name is an id if there is no such file, and it has only letters,
/// digits, `-` and `_`. An error if a document or a store cannot be read.
pub fn read(named: &[PathBuf]) -> Result<Given, Failure> {
    let mut given = Given { stores: Vec::new(), documents: Vec::new(), ids: Vec::new() };
    for name in named {
        if is_document(name) {
            given.documents.push((name.clone(), document(name)?));
        } else if let Some(id) = name.to_str().filter(|id| !name.exists() && is_id(id)) {
            given.ids.push(id.to_owned());
        } else {
            given.stores.push(Store::open_existing(name)?);
        }
    }
    Ok(given)
}

/// True of a file that is no store, and of the name of a document that is not there. An empty file is a store that has
/// nothing yet.
fn is_document(name: &Path) -> bool {
    match name.metadata() {
        Ok(found) => found.is_file() && found.len() > 0 && !exported::is_store(name),
        Err(_) => name.to_str().is_some_and(|name| name.ends_with(".json") || name.ends_with(".gz")),
    }
}

fn is_id(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

fn document(file: &Path) -> Result<StoredRun, Failure> {
    let export = Export::read(file).map_err(|error| Failure::Usage(error.to_string()))?;
    let Export { run, machine, contenders, claims, checks, warnings, trials, .. } = export;
    if run.shard.is_some() || run.merged.is_some() {
        let what = "is a share of a run, or was merged from shares: merge the stores of the shares";
        return Err(Failure::Usage(format!("{}: run {} {what}", file.display(), run.id)));
    }
    if Path::new(&run.experiment).file_name() != Some(run.experiment.as_ref()) {
        let name = &run.experiment;
        return Err(Failure::Usage(format!("{}: {name:?} is no name of an experiment", file.display())));
    }
    // The paths of the experiment and of logs are those of the machine that made the run.
    let run = Run { experiment_given: run.experiment.clone(), ..run };
    let trials = trials.into_iter().map(|trial| Trial { log: None, ..trial }).collect();
    Ok(StoredRun { run, machine, contenders, trials, claims, checks, warnings })
}

impl Given {
    pub fn has_shards(&self) -> Result<bool, Failure> {
        for store in &self.stores {
            if store.runs()?.iter().any(|run| run.shard.is_some()) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The stores; an error if anything else is given.
    pub fn stores_alone(self) -> Result<Vec<Store>, Failure> {
        let documents = self.documents.iter().map(|(file, _)| file.display().to_string());
        match documents.chain(self.ids.iter().map(|id| format!("run {id}"))).next() {
            None => Ok(self.stores),
            Some(other) => Err(Failure::Usage(format!(
                "shards are merged from their stores alone, and {other} is a whole run: leave it out; sittings take neither \
                 --seed nor --scope"
            ))),
        }
    }

    /// All sittings that are given, and the further sittings that `into` has of the same runs. If a document and `into`
    /// have the same sitting, that of `into` is taken. An error if `into` has no run of an id that is given, or if a
    /// store cannot be read.
    pub fn sittings(&self, into: &Store) -> Result<Vec<StoredRun>, Failure> {
        let kept: BTreeSet<String> = into.runs()?.into_iter().map(|run| run.id).collect();
        let mut named: Vec<String> = self.ids.iter().map(|id| into.find(id)).collect::<Result<_, _>>()?;
        let mut found = Found::default();
        for of in of_stores(&self.stores)? {
            found.add(of);
        }
        for of in self.documents.iter().flat_map(|(_, of)| parts(of)) {
            if kept.contains(&of.run.id) { named.push(of.run.id) } else { found.add(of) }
        }
        named.extend(found.0.keys().filter(|id| kept.contains(*id)).cloned());
        for id in &named {
            for run in together(into, id)? {
                found.add(into.read(&run.id)?);
            }
        }
        Ok(found.0.into_values().collect())
    }
}

/// Runs by their ids. If one is added twice, the copy with the most trials is kept.
#[derive(Default)]
struct Found(BTreeMap<String, StoredRun>);

impl Found {
    fn add(&mut self, run: StoredRun) {
        let is_more = |other: &StoredRun| run.trials.len() > other.trials.len();
        if self.0.get(&run.run.id).is_none_or(is_more) {
            self.0.insert(run.run.id.clone(), run);
        }
    }
}

/// The runs of these stores: first those that were measured, which are whole, then the sittings that joined runs were
/// made of.
fn of_stores(stores: &[Store]) -> Result<Vec<StoredRun>, Failure> {
    let mut all = Vec::new();
    for store in stores {
        for run in store.runs()? {
            all.push(with_logs(store.read(&run.id)?, store.folder()));
        }
    }
    all.sort_by_key(|of| is_joined(&of.run));
    Ok(all.iter().flat_map(parts).collect())
}

/// The sittings that a run was joined from, or the run itself.
fn parts(of: &StoredRun) -> Vec<StoredRun> {
    if is_joined(&of.run) { take_apart(of) } else { vec![of.clone()] }
}
