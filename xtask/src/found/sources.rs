//! Until an experiment has all its sittings, its contenders are those of the sittings that it has: sittings of others
//! could not be joined with them.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result};
use kumite_lab::{Experiment, MEASURES, source_digest};
use kumite_record::Export;

use super::log::{COUNT, Kind, Log, digest};
use super::{LOG, PROFILE};

/// The contenders whose source is another than in a sitting that counts.
pub fn wrong(experiment: &Path) -> Vec<String> {
    changed(experiment).unwrap_or_else(|why| vec![format!("{why:#}")])
}

fn changed(experiment: &Path) -> Result<Vec<String>> {
    let log = Log::read(&experiment.join(LOG)).context(LOG)?;
    if log.sittings.is_empty() {
        return Ok(Vec::new());
    }
    let file = experiment.join("experiment.toml");
    let text = std::fs::read_to_string(&file).context("experiment.toml")?;
    let kind = Kind { specification: digest(&text)?, measures: MEASURES };
    if log.counted(&kind) >= COUNT {
        return Ok(Vec::new());
    }
    let here = Experiment::load(&experiment.to_string_lossy(), PROFILE)?;
    let mut sources = BTreeMap::new();
    for (contender, variant) in here.variants() {
        let digest = source_digest(contender)?;
        sources.insert(variant.name.clone(), digest);
    }
    let mut wrong = Vec::new();
    for entry in log.of_kind(&kind) {
        let file = entry.file.as_deref().unwrap_or_default();
        let sitting = Export::read(&experiment.join("found").join(file))?;
        let measured =
            sitting.contenders.iter().filter_map(|of| Some((&of.name, &of.digests.as_ref()?.source)));
        let mut changed = measured.filter(|(name, source)| sources.get(*name) != Some(*source));
        match (changed.next(), &entry.changed_since) {
            (Some((name, _)), None) => wrong.push(format!(
                "{name}: its files, README.md too, or its build command are not those of found/{file}, with which no \
                 further sitting could be joined: let them be, or say so of that sitting in {LOG}: changed_since = {name:?}"
            )),
            (None, Some(said)) => wrong.push(format!(
                "{LOG}: found/{file} counts, for its contenders are as they are now: take changed_since = {said:?} away"
            )),
            _ => {}
        }
    }
    Ok(wrong)
}

#[cfg(test)]
mod tests {
    use kumite_record::Digests;

    use super::super::log::Entry;
    use super::super::packed;
    use super::super::sitting::made_up as measured;
    use super::*;

    #[test]
    fn a_contender_stays_as_it_was_measured_until_all_sittings_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        let mut sitting = measured(1, 0.8);
        write("experiment.toml", &sitting.run.spec);
        for name in ["a", "b"] {
            let text = format!(
                "version = 'echo 1'\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = 'true'\n"
            );
            write(&format!("contenders/{name}/contender.toml"), &text);
        }
        let here = Experiment::load(&folder.path().to_string_lossy(), PROFILE).unwrap();
        for (contender, variant) in here.variants() {
            let digests = Digests { source: source_digest(contender).unwrap(), tools: String::new() };
            let measured = sitting.contenders.iter_mut().find(|of| of.name == variant.name).unwrap();
            measured.digests = Some(digests);
        }
        let entry = |file: &str| Entry {
            specification: digest(&sitting.run.spec).unwrap(),
            measures: MEASURES,
            complete: true,
            file: Some(file.to_owned()),
            ..Entry::default()
        };
        let logged = |files: &[&str]| {
            let day = |nth: usize| jiff::Timestamp::from_second(nth as i64 * 86_400).unwrap();
            let of_a_day = |(nth, file): (usize, &&str)| Entry { began: day(nth), ..entry(file) };
            let sittings = files.iter().enumerate().map(of_a_day).collect();
            std::fs::create_dir_all(folder.path().join("found")).unwrap();
            Log { sittings }.write(&folder.path().join(LOG)).unwrap();
        };
        assert_eq!(wrong(folder.path()), [""; 0], "it has no sitting");
        logged(&["sitting-1.json.gz"]);
        std::fs::write(folder.path().join("found/sitting-1.json.gz"), packed(&sitting).unwrap()).unwrap();
        assert_eq!(wrong(folder.path()), [""; 0]);

        write("contenders/b/README.md", "It is quick.");
        let of_b = "b: its files, README.md too, or its build command are not those of found/sitting-1.json.gz, with \
                    which no further sitting could be joined: let them be, or say so of that sitting in \
                    found/log.toml: changed_since = \"b\"";
        assert_eq!(wrong(folder.path()), [of_b]);
        let said = Entry { changed_since: Some("b".to_owned()), ..entry("sitting-1.json.gz") };
        let log = Log { sittings: vec![said] };
        log.write(&folder.path().join(LOG)).unwrap();
        assert_eq!(wrong(folder.path()), [""; 0]);
        let kind = Kind { specification: digest(&sitting.run.spec).unwrap(), measures: MEASURES };
        assert_eq!((log.counting(&kind).len(), log.of_other_kinds(&kind).len()), (0, 1));
        std::fs::remove_file(folder.path().join("contenders/b/README.md")).unwrap();
        let counts = "found/log.toml: found/sitting-1.json.gz counts, for its contenders are as they are now: take \
                      changed_since = \"b\" away";
        assert_eq!(wrong(folder.path()), [counts]);
        write("contenders/b/README.md", "It is quick.");
        logged(&["sitting-1.json.gz"; COUNT]);
        assert_eq!(wrong(folder.path()), [""; 0], "no sitting is joined with them any more");
    }
}
