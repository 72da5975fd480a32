//! The test of windows: some are too short for the percentiles that claims and checks compare.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_host::cores;
use kumite_record::AxisValue;

use super::begin::{begin, references};
use super::prepare::Prepared;
use crate::driver::{Short, Wanted, open};
use crate::error::chain;
use crate::halt::Halt;
use crate::is_percentile;
use crate::spec::Experiment;
use crate::toml_source::SpecError;

/// The percentiles that claims and checks compare, by contender and position of the point. Each comes with the ids of
/// those claims and checks.
type Percentiles = BTreeMap<(String, usize), Vec<(Wanted, BTreeSet<String>)>>;

/// The windows for the percentiles that claims and checks compare, in several profiles of an experiment.
pub struct Windows {
    of_profiles: Vec<(Experiment, Percentiles)>,
}

/// A fault of a window, found before the run.
#[derive(Clone, Debug, PartialEq)]
pub enum WindowFault {
    /// The window has too few answers for a percentile.
    Short {
        /// The id of the claim or check that compares the percentile.
        claim: String,
        /// The contender and the point, in the form for people. If the percentile is of a part of a trial, such as one
        /// request, the part is there, too.
        cell: String,
        /// The metric, with the number of values that it needs and the rate at which values come.
        short: Short,
    },
    /// The rate of the server could not be measured.
    Failed {
        /// The contender and the point, in the form for people.
        cell: String,
        /// The error that prevented it, in words.
        why: String,
    },
}

impl Windows {
    /// Finds the windows of these contenders in each of these profiles. `given` is the path or the name of the
    /// experiment. An error if the experiment cannot be read in one of the profiles.
    pub fn of(given: &str, profiles: &[String], contenders: &[&str]) -> Result<Windows, SpecError> {
        let mut of_profiles = Vec::new();
        for profile in profiles {
            let experiment = Experiment::load(given, profile)?;
            let percentiles = percentiles(&experiment, contenders);
            if !percentiles.is_empty() {
                of_profiles.push((experiment, percentiles));
            }
        }
        Ok(Windows { of_profiles })
    }

    /// True if no claim or check compares a percentile.
    pub fn is_empty(&self) -> bool {
        self.of_profiles.is_empty()
    }

    /// The faults of the windows, each once, with the profiles that have it. A server whose rate is needed is put
    /// under load for a few seconds, so the caller must have the lock of the machine. A contender that is not ready
    /// is passed over. An error if the driver cannot be opened, or `stop` is set.
    pub fn faults(
        &self,
        prepared: &Prepared,
        state: &Path,
        stop: &AtomicBool,
    ) -> Result<Vec<(WindowFault, Vec<&str>)>, Halt> {
        let mut found = Vec::new();
        let mut known: BTreeMap<String, Vec<Short>> = BTreeMap::new();
        for (experiment, percentiles) in &self.of_profiles {
            let available = cores();
            let of = experiment.opening(&available, state, "check", 0, stop);
            let mut driver = open(&of)?;
            let run = begin(experiment, &available);
            for ((name, at), metrics) in percentiles {
                let Some(ready) = prepared.ready.iter().find(|ready| ready.name == *name) else { continue };
                let cell = |part: Option<&AxisValue>| {
                    let mut point = run.points[*at].clone();
                    point.0.extend(
                        run.within.iter().zip(part).map(|(it, value)| (it.axis.clone(), value.clone())),
                    );
                    run.cell(name, &point)
                };
                let wanted: Vec<Wanted> = metrics.iter().map(|(wanted, _)| wanted.clone()).collect();
                let load = format!("{name} {:?} {:?} {wanted:?}", experiment.fixed, run.points[*at]);
                let short = match known.get(&load) {
                    Some(short) => short.clone(),
                    None => match driver.short(ready, *at, &wanted, stop) {
                        Err(Halt::Failed(why)) => {
                            let fault = WindowFault::Failed { cell: cell(None), why: chain(&why) };
                            add(&mut found, fault, &experiment.profile);
                            Vec::new()
                        }
                        short => short?,
                    },
                };
                for short in &short {
                    let claims = metrics.iter().filter(|(wanted, _)| *wanted == short.of);
                    for claim in claims.flat_map(|(_, claims)| claims) {
                        let cell = cell(short.of.part.as_ref());
                        let fault = WindowFault::Short { claim: claim.clone(), cell, short: short.clone() };
                        add(&mut found, fault, &experiment.profile);
                    }
                }
                known.insert(load, short);
            }
        }
        Ok(found)
    }
}

fn percentiles(experiment: &Experiment, contenders: &[&str]) -> Percentiles {
    let mut all = Percentiles::new();
    for (claim, of, part) in references(experiment, &cores(), contenders) {
        if is_percentile(&of.metric) {
            let cell = all.entry((of.contender, of.point)).or_default();
            let wanted = Wanted { metric: of.metric, part };
            match cell.iter_mut().find(|(known, _)| *known == wanted) {
                Some((_, claims)) => drop(claims.insert(claim)),
                None => cell.push((wanted, BTreeSet::from([claim]))),
            }
        }
    }
    all
}

fn add<'a>(found: &mut Vec<(WindowFault, Vec<&'a str>)>, fault: WindowFault, profile: &'a str) {
    match found.iter_mut().find(|(other, _)| *other == fault) {
        Some((_, profiles)) if profiles.contains(&profile) => {}
        Some((_, profiles)) => profiles.push(profile),
        None => found.push((fault, vec![profile])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_so_in_several_profiles_is_found_once() {
        let fault = |cell: &str| WindowFault::Failed { cell: cell.to_owned(), why: "it broke".to_owned() };
        let mut found = Vec::new();
        for (cell, profile) in [("x", "quick"), ("y", "quick"), ("x", "quick"), ("x", "full")] {
            add(&mut found, fault(cell), profile);
        }
        assert_eq!(found, [(fault("x"), vec!["quick", "full"]), (fault("y"), vec!["quick"])]);
    }
}
