//! The log of an experiment's sittings, `found/log.toml`. Every sitting that was begun has its entry there, from before its
//! first trial; so none is dropped because of what it found.

use std::path::Path;

use anyhow::{Context, Result};
use kumite_lab::Asked;
use serde::{Deserialize, Serialize};

use super::PROFILE;

/// The number of sittings that count. Complete ones after them are kept, and used for no verdict.
pub const COUNT: usize = 3;

const HEAD: &str = "\
# All sittings that were begun, each written down before its first trial by `cargo xtask found`. The first three count
# that are complete, and ask what experiment.toml asks, of these contenders, in the way that kumite measures. None is
# dropped by another rule.
";

/// Why a sitting is not complete, as long as nothing else is known.
pub const NOT_ENDED: &str = "it did not end: it is going on, was killed, or the machine stopped";

#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Log {
    #[serde(default, rename = "sitting")]
    pub sittings: Vec<Entry>,
}

/// A sitting that was begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    pub began: jiff::Timestamp,
    /// The commit of kumite, and of the experiment.
    pub kumite: String,
    pub measures: u32,
    /// The digest of what the specification asks, words for people aside.
    pub specification: String,
    /// The seed of the order of blocks.
    pub seed: u32,
    /// The model of the CPU.
    pub machine: String,
    pub kernel: String,
    /// The beginning of the boot's id.
    pub boot: String,
    /// True if it only tried the tool: nobody looked whether the machine was quiet. It never counts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rehearsal: bool,
    pub complete: bool,
    /// Why it is not complete. None if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The run's id, its trials and minutes; none if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub trials: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub minutes: Option<f64>,
    /// The contenders whose source has changed since: such a sitting cannot be joined with later ones, and no longer
    /// counts. Written by hand, and only true if tidy agrees. None if there are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changed_since: Option<String>,
    /// The record in the folder of the log. None if it is not complete.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// What sittings have to share.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    pub specification: String,
    pub measures: u32,
}

/// The digest of what a specification asks in a sitting.
pub fn digest(experiment: &str) -> Result<String> {
    let asked = Asked::new(experiment, PROFILE)?;
    Ok(blake3::hash(asked.canonical().as_bytes()).to_hex()[..16].to_owned())
}

impl Log {
    /// The log in this file; empty if there is no such file.
    pub fn read(file: &Path) -> Result<Log> {
        match std::fs::read_to_string(file) {
            Ok(text) => Ok(toml::from_str(&text)?),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Log::default()),
            Err(error) => Err(error.into()),
        }
    }

    /// Writes the file in one step, so that whoever is killed leaves the old log or the new one.
    pub fn write(&self, file: &Path) -> Result<()> {
        let text = toml::to_string(self)?;
        let new = file.with_extension("toml.new");
        let written =
            std::fs::write(&new, format!("{HEAD}\n{text}")).and_then(|()| std::fs::rename(&new, file));
        written.with_context(|| format!("cannot write {}", file.display()))
    }

    /// The complete sittings of this kind, those too whose contenders have changed since.
    pub fn of_kind(&self, kind: &Kind) -> Vec<&Entry> {
        self.sittings.iter().filter(|of| of.is_whole() && of.kind() == *kind).collect()
    }

    /// The sittings that count for this kind.
    pub fn counting(&self, kind: &Kind) -> Vec<&Entry> {
        self.sittings.iter().filter(|of| of.may_count() && of.kind() == *kind).take(COUNT).collect()
    }

    /// The complete sittings of other kinds or of other contenders, which no longer count.
    pub fn of_other_kinds(&self, kind: &Kind) -> Vec<&Entry> {
        let is_other = |of: &&Entry| of.changed_since.is_some() || of.kind() != *kind;
        self.sittings.iter().filter(|of| of.is_whole()).filter(is_other).collect()
    }

    /// Complete sittings of this kind beyond those that count.
    pub fn further(&self, kind: &Kind) -> Vec<&Entry> {
        self.sittings.iter().filter(|of| of.may_count() && of.kind() == *kind).skip(COUNT).collect()
    }
}

impl Entry {
    fn is_whole(&self) -> bool {
        self.complete && !self.rehearsal
    }

    fn may_count(&self) -> bool {
        self.is_whole() && self.changed_since.is_none()
    }

    pub fn kind(&self) -> Kind {
        Kind { specification: self.specification.clone(), measures: self.measures }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(specification: &str, complete: bool) -> Entry {
        Entry { specification: specification.to_owned(), complete, ..Entry::default() }
    }

    #[test]
    fn the_first_three_complete_ones_of_a_kind_count() {
        let rehearsal = Entry { rehearsal: true, ..entry("b", true) };
        let mut all: Vec<Entry> =
            [("a", true), ("b", true), ("b", false), ("b", true), ("b", true), ("b", true)]
                .iter()
                .map(|(kind, complete)| entry(kind, *complete))
                .collect();
        all.insert(1, rehearsal);
        for (nth, of) in all.iter_mut().enumerate() {
            of.run = Some(nth.to_string());
        }
        let log = Log { sittings: all };
        let kind = Kind { specification: "b".to_owned(), measures: 0 };
        let ids = |of: Vec<&Entry>| of.iter().filter_map(|of| of.run.clone()).collect::<Vec<_>>().concat();
        assert_eq!(ids(log.counting(&kind)), "245");
        assert_eq!(ids(log.further(&kind)), "6");
        assert_eq!(ids(log.of_other_kinds(&kind)), "0");
        assert!(log.counting(&Kind { measures: 1, ..kind }).is_empty());
    }

    #[test]
    fn a_log_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("log.toml");
        assert_eq!(Log::read(&file).unwrap(), Log::default());
        let of = Entry { why: Some(NOT_ENDED.to_owned()), minutes: Some(19.5), ..entry("a", false) };
        let log = Log { sittings: vec![of, entry("b", true)] };
        log.write(&file).unwrap();
        assert_eq!(Log::read(&file).unwrap(), log);
        std::fs::write(&file, "[[sitting]]\nother = 1\n").unwrap();
        assert!(Log::read(&file).is_err());
    }
}
