//! The log of an experiment's sittings, `found/log.toml`. Every sitting that was begun has its entry there, from before its
//! first trial; so none is dropped because of what it found.

use std::path::Path;

use anyhow::{Context, Result};
use kumite_lab::Asked;
use kumite_record::{Sitting, apart};
use serde::{Deserialize, Serialize};

use super::PROFILE;

/// The number of sittings that count, of which those that are less than an hour apart on one machine are one. Complete ones
/// after them are kept, and used for no verdict.
pub const COUNT: usize = 3;

const HEAD: &str = "\
# All sittings that were begun, each written down before its first trial by `cargo xtask found`. The first three count
# that are complete, and ask what experiment.toml asks, of these contenders, in the way that kumite measures. Those that
# are less than an hour apart on one machine are one. None is dropped by another rule.
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
    /// The run's id, its first moment and its last, its trials and minutes; none if nothing was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<jiff::Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub finished: Option<jiff::Timestamp>,
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

    /// The sittings that count for this kind: the first, until [`COUNT`] of them are apart.
    pub fn counting(&self, kind: &Kind) -> Vec<&Entry> {
        let mut all = self.may_count(kind);
        let enough = (1..=all.len()).find(|&first| number(&all[..first]) >= COUNT);
        all.truncate(enough.unwrap_or(all.len()));
        all
    }

    /// The number of sittings that count, those that are not apart taken as one.
    pub fn counted(&self, kind: &Kind) -> usize {
        number(&self.counting(kind))
    }

    fn may_count(&self, kind: &Kind) -> Vec<&Entry> {
        self.sittings.iter().filter(|of| of.may_count() && of.kind() == *kind).collect()
    }

    /// The complete sittings of other kinds or of other contenders, which no longer count.
    pub fn of_other_kinds(&self, kind: &Kind) -> Vec<&Entry> {
        let is_other = |of: &&Entry| of.changed_since.is_some() || of.kind() != *kind;
        self.sittings.iter().filter(|of| of.is_whole()).filter(is_other).collect()
    }

    /// Complete sittings of this kind beyond those that count.
    pub fn further(&self, kind: &Kind) -> Vec<&Entry> {
        self.may_count(kind).split_off(self.counting(kind).len())
    }
}

/// The number of these sittings, those that are not apart taken as one.
fn number(of: &[&Entry]) -> usize {
    apart(&of.iter().map(|of| of.as_sitting()).collect::<Vec<_>>()).len()
}

impl Entry {
    fn is_whole(&self) -> bool {
        self.complete && !self.rehearsal
    }

    fn may_count(&self) -> bool {
        self.is_whole() && self.changed_since.is_none()
    }

    /// When and where it was measured.
    pub fn as_sitting(&self) -> Sitting {
        let Entry { started, finished, boot, .. } = self.clone();
        Sitting {
            started: started.unwrap_or(self.began),
            finished,
            machine: Some(boot),
            rounds: 1,
            ..Sitting::default()
        }
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

    /// The same sitting at this hour, of a third of an hour.
    fn at(hour: f64, of: Entry) -> Entry {
        let moment = |hour: f64| jiff::Timestamp::from_second((hour * 3600.0) as i64).ok();
        Entry { started: moment(hour), finished: moment(hour + 1.0 / 3.0), ..of }
    }

    #[test]
    fn sittings_that_are_not_an_hour_apart_are_one() {
        let elsewhere = Entry { boot: "another".to_owned(), ..entry("a", true) };
        let all: Vec<Entry> = [0.0, 2.0, 3.0, 5.0, 8.0].map(|hour| at(hour, entry("a", true))).into();
        let kind = Kind { specification: "a".to_owned(), measures: 0 };
        let counts = |sittings: &[Entry]| {
            let log = Log { sittings: sittings.to_vec() };
            (log.counting(&kind).len(), log.counted(&kind), log.further(&kind).len())
        };
        assert_eq!(counts(&all[..3]), (3, 2, 0), "the third began two thirds of an hour after the second");
        assert_eq!(counts(&all), (4, 3, 1));
        assert_eq!(counts(&[all[0].clone(), all[1].clone(), at(2.5, elsewhere)]), (3, 3, 0));
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
            *of = at(24.0 * nth as f64, Entry { run: Some(nth.to_string()), ..of.clone() });
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
