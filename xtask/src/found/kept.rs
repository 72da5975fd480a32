//! The sittings that an experiment keeps are those of its log, and its found run is made of those that count.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::Value;

use super::log::{Kind, Log, digest};
use super::{LOG, MOST_BYTES_OF_SITTING};

/// What is wrong in the folder of an experiment with this found run, if it has one.
pub fn wrong(experiment: &Path, run: Option<&Value>) -> Vec<String> {
    let file = experiment.join(LOG);
    let log = match Log::read(&file) {
        Ok(log) => log,
        Err(why) => return vec![format!("{LOG}: {why:#}")],
    };
    let found = experiment.join("found");
    let mut wrong = Vec::new();
    let mut named = BTreeSet::new();
    for of in log.sittings.iter().filter(|of| of.complete) {
        let name = of.file.as_deref().unwrap_or_default();
        named.insert(name.to_owned());
        match found.join(name).metadata().ok().filter(std::fs::Metadata::is_file).map(|file| file.len()) {
            None => {
                wrong.push(format!("{LOG}: the complete sitting of {} has no file found/{name}", of.began))
            }
            Some(bytes) if bytes > MOST_BYTES_OF_SITTING => {
                wrong.push(format!("found/{name}: {bytes} bytes, more than {MOST_BYTES_OF_SITTING}"));
            }
            Some(_) => {}
        }
    }
    let entries = std::fs::read_dir(&found).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let of_sittings = files.filter(|name| name.starts_with("sitting-") && !named.contains(name));
    wrong.extend(of_sittings.map(|name| format!("found/{name}: no complete sitting of {LOG} names it")));
    wrong.extend(run.and_then(|run| made_of_others(&log, run)));
    wrong
}

/// Why the found run is not made of the sittings that count for what it asks, if it is not. One from before there was a
/// log is made of none.
fn made_of_others(log: &Log, run: &Value) -> Option<String> {
    let specification = digest(run["run"]["spec"].as_str().unwrap_or_default()).ok()?;
    let measures = run["run"]["measures"].as_u64().and_then(|of| u32::try_from(of).ok()).unwrap_or_default();
    let counting = log.counting(&Kind { specification, measures });
    let counting: Vec<&str> = counting.iter().filter_map(|of| of.run.as_deref()).collect();
    let sittings = run["run"]["sittings"].as_array().map_or(&[][..], Vec::as_slice);
    let made_of: Vec<&str> = sittings.iter().filter_map(|of| of["run"].as_str()).collect();
    (!log.sittings.is_empty() && !made_of.is_empty() && counting != made_of).then(|| {
        format!("the found run is made of {}, and those that count are {}", list(&made_of), list(&counting))
    })
}

fn list(ids: &[&str]) -> String {
    if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
}

#[cfg(test)]
mod tests {
    use super::super::log::Entry;
    use super::*;

    #[test]
    fn each_complete_sitting_has_its_file_and_the_found_run_is_of_those_that_count() {
        let folder = tempfile::tempdir().unwrap();
        let spec = "blocks = 3";
        let found = folder.path().join("found");
        std::fs::create_dir(&found).unwrap();
        let entry = |nth: usize| Entry {
            specification: digest(spec).unwrap(),
            complete: true,
            run: Some(format!("day-{nth}")),
            file: Some(format!("sitting-{nth}.json.gz")),
            ..Entry::default()
        };
        Log { sittings: vec![entry(1), entry(2)] }.write(&folder.path().join(LOG)).unwrap();
        let run = |ids: &[&str]| {
            let sittings: Vec<Value> = ids.iter().map(|id| serde_json::json!({ "run": id })).collect();
            serde_json::json!({ "run": { "spec": spec, "measures": 0, "sittings": sittings } })
        };
        let write = |name: &str, bytes: usize| std::fs::write(found.join(name), vec![0; bytes]).unwrap();
        write("sitting-1.json.gz", 10);
        write("sitting-3.json.gz", 10);
        assert_eq!(
            wrong(folder.path(), Some(&run(&["day-1"]))),
            [
                "found/log.toml: the complete sitting of 1970-01-01T00:00:00Z has no file found/sitting-2.json.gz",
                "found/sitting-3.json.gz: no complete sitting of found/log.toml names it",
                "the found run is made of day-1, and those that count are day-1, day-2",
            ]
        );
        std::fs::remove_file(found.join("sitting-3.json.gz")).unwrap();
        write("sitting-2.json.gz", 400_001);
        let too_large = ["found/sitting-2.json.gz: 400001 bytes, more than 400000"];
        assert_eq!(wrong(folder.path(), Some(&run(&["day-1", "day-2"]))), too_large);
        write("sitting-2.json.gz", 10);
        assert_eq!(wrong(folder.path(), Some(&run(&["day-1", "day-2"]))), [""; 0]);
        assert_eq!(wrong(folder.path(), None), [""; 0]);
    }
}
