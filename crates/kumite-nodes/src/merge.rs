//! The merging of shards: from several stores they become one run again, which is judged.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kumite_lab::{Merging, export, merge};
use kumite_record::{Export, Rule, Run, Scope, Store, StoredRun};
use kumite_report::plural;

use crate::driver::Driver;
use crate::failure::Failure;
use crate::misuse::Misuse;

/// The choice of shards to merge, and the way to judge them.
#[derive(Default)]
pub struct MergeOptions {
    /// The seed of the run whose shards are merged. None for whichever run the stores have; shards of several runs
    /// are then an error.
    pub seed: Option<u64>,
    /// The population that verdicts are about: these nodes, or nodes like these.
    pub scope: Scope,
    /// True if the run is to pass a gate, for which only shards of the strict rule are taken.
    pub is_gate: bool,
    /// The command that asked for the merge, for the record.
    pub command: String,
}

/// Merges the shards of one run that `stores` and `into` have, and keeps them and the run in `into`. If some of the
/// shards were merged into `into` before, the run keeps its id. An error if the shards are not those of one run, or a
/// gate is asked for and the run is not judged strictly.
pub fn merged(
    driver: &Driver,
    stores: &[Store],
    options: &MergeOptions,
    into: &mut Store,
) -> Result<Export, Failure> {
    let shards = shards(stores, options.seed, into)?;
    let first = &shards[0].run;
    if options.is_gate && first.rule != Rule::Strict {
        return Err(Misuse::GateOfLax.into());
    }
    let merging = Merging { id: id(into, &shards)?, command: options.command.clone(), scope: options.scope };
    let merged = merge(&shards, merging)?;
    for shard in &shards {
        into.put(shard)?;
    }
    into.put(&merged)?;
    let nodes = merged.run.merged.as_ref().map_or(0, |merged| merged.nodes.len());
    driver.note(&format!(
        "{} on {} are kept as run {id} in {}; `kumite report {id}` shows it again",
        plural(shards.len(), "shard"),
        plural(nodes, "node"),
        into.path().display(),
        id = merged.run.id,
    ));
    Ok(export(into, &merged.run.id)?)
}

/// All executions of the shards of one run. If several stores have the same one, the complete copy is taken, or else
/// the one with the most trials.
fn shards(stores: &[Store], seed: Option<u64>, into: &Store) -> Result<Vec<StoredRun>, Failure> {
    let mut longest = BTreeMap::<String, (&Store, StoredRun)>::new();
    for store in stores.iter().chain([into]) {
        for run in store.runs()?.into_iter().filter(|run| run.shard.is_some()) {
            let shard = with_logs(store.read(&run.id)?, store.folder());
            let before = longest.get(&run.id);
            if let Some((other, _)) = before.filter(|(_, of)| !is_copy(&shard.run, &of.run)) {
                let stores = [other.path(), store.path()].map(Path::to_owned);
                return Err(Misuse::SameId { id: run.id, stores }.into());
            }
            if before.is_none_or(|(_, of)| extent(&shard) > extent(of)) {
                longest.insert(run.id, (store, shard));
            }
        }
    }
    let wanted = |shard: &StoredRun| seed.is_none_or(|seed| shard.run.seed == seed);
    let mut found: Vec<StoredRun> = longest.into_values().map(|(_, shard)| shard).filter(wanted).collect();
    // Shards that the target has had before count only beside shards that are given now.
    let given: BTreeSet<_> = stores
        .iter()
        .map(Store::runs)
        .collect::<Result<Vec<_>, _>>()?
        .iter()
        .flatten()
        .filter_map(whole)
        .collect();
    found.retain(|shard| whole(&shard.run).is_some_and(|of| given.contains(&of)));
    found.sort_by_key(|shard| shard.run.started);
    let runs: BTreeSet<_> = found.iter().filter_map(|shard| whole(&shard.run)).collect();
    match runs.len() {
        1 => Ok(found),
        0 => {
            let stores = stores.iter().map(|store| store.path().to_owned()).collect();
            Err(Misuse::NoShards { seed, stores }.into())
        }
        _ => {
            let shards = found.iter().map(|shard| description(&shard.run)).collect();
            Err(Misuse::SeveralRuns { runs: runs.len(), shards }.into())
        }
    }
}

/// True if two runs of one id are copies of one shard, of which one may be shorter.
fn is_copy(one: &Run, other: &Run) -> bool {
    let what = |run: &Run| (run.started, run.shard.clone(), run.seed, run.experiment.clone());
    what(one) == what(other)
}

/// The identity of the whole run that a shard belongs to; none for a run that is no shard.
fn whole(run: &Run) -> Option<(String, String, u64, u32)> {
    let of = run.shard.as_ref()?.of;
    Some((run.experiment.clone(), run.profile.clone(), run.seed, of))
}

fn description(run: &Run) -> String {
    let shard = run.shard.as_ref().map(|shard| format!("shard {} of {} of ", shard.nth, shard.of));
    format!("{}{} ({}), seed {}", shard.unwrap_or_default(), run.experiment, run.profile, run.seed)
}

fn extent(shard: &StoredRun) -> (bool, usize) {
    (shard.run.finished.is_some() && shard.run.cut_short.is_none(), shard.trials.len())
}

/// Makes the paths of a shard's logs absolute: logs stay in `folder`, and the store of the merged run may be elsewhere.
/// If `folder` cannot be resolved, it is put before each path as it is.
pub fn with_logs(mut shard: StoredRun, folder: &Path) -> StoredRun {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    for trial in &mut shard.trials {
        trial.log = trial.log.take().map(|log| folder.join(log).to_string_lossy().into_owned());
    }
    shard
}

/// The id of the run that these shards were merged into before, or a new one.
fn id(into: &Store, shards: &[StoredRun]) -> Result<String, Failure> {
    let ids: BTreeSet<&str> = shards.iter().map(|shard| shard.run.id.as_str()).collect();
    let is_of_these = |run: &Run| {
        let merged = run.merged.as_ref();
        merged.is_some_and(|merged| merged.runs.iter().any(|id| ids.contains(id.as_str())))
    };
    let before = into.runs()?.into_iter().find(is_of_these).map(|run| run.id);
    let first = shards.iter().min_by_key(|shard| (shard.run.started, &shard.run.id));
    let new = || format!("{}-merged", first.map(|shard| shard.run.id.as_str()).unwrap_or_default());
    Ok(before.unwrap_or_else(new))
}

#[cfg(test)]
mod tests {
    use kumite_record::Shard;

    use super::*;

    #[test]
    fn shards_of_one_id_are_one_only_if_they_are_copies() {
        let shard = |nth, node: &str| Shard { nth, of: 2, node: node.to_owned() };
        let of = |shard| Run { id: "a".to_owned(), shard: Some(shard), ..Run::default() };
        let one = of(shard(1, "n1"));
        let finished =
            Run { finished: Some(one.started), cut_short: Some("early".to_owned()), ..one.clone() };
        assert!(is_copy(&one, &finished));
        assert!(!is_copy(&one, &of(shard(2, "n2"))));
        assert!(!is_copy(&one, &of(shard(1, "n2"))));
    }
}
