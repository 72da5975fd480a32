//! Whether the windows of an experiment are long enough for the percentiles that its claims want.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::AtomicBool;

use kumite_host::{Lock, cores};
use kumite_lab::{Experiment, Halt, Prepared, Ready, Short, begin, chain, is_percentile, open, references};
use kumite_record::Point;
use kumite_report::{count, significant};

use crate::exit::Failure;
use crate::output;

/// What claims of any profile want of a cell: metrics, and whose they are.
type Wanted = BTreeMap<String, BTreeSet<String>>;

/// The windows that are too short, in words. A server whose rate is to be known is put under load for a second or so; not
/// while another kumite measures.
pub fn too_short(
    given: &str,
    profiles: &[String],
    prepared: &Prepared,
    right: &[&str],
    state: &Path,
    stop: &AtomicBool,
) -> Result<Vec<String>, Failure> {
    let mut found: Vec<(String, Vec<&str>)> = Vec::new();
    let mut looked: BTreeMap<String, Vec<Short>> = BTreeMap::new();
    let mut lock = None;
    for profile in profiles {
        let experiment = Experiment::load(given, profile)?;
        let wanted = wanted(&experiment, right);
        if wanted.is_empty() {
            continue;
        }
        if lock.is_none() {
            match Lock::of_machine() {
                Ok(taken) => lock = Some(taken),
                Err(why) => {
                    output::note(&format!(
                        "whether windows are long enough for percentiles was not looked at: {why}"
                    ));
                    return Ok(Vec::new());
                }
            }
            output::note("looking whether windows are long enough for the percentiles of claims");
        }
        let available = cores();
        let of = experiment.opening(&available, state, "check", 0, stop);
        let mut driver = open(&of)?;
        let run = begin(&experiment, &available);
        for ((name, at), metrics) in wanted {
            let Some(ready) = prepared.ready.iter().find(|ready: &&Ready| ready.name == name) else {
                continue;
            };
            let point: &Point = &run.points[at];
            let names: Vec<&str> = metrics.keys().map(String::as_str).collect();
            let load = format!("{name} {:?} {point:?} {names:?}", experiment.fixed);
            let short = match looked.get(&load) {
                Some(short) => short.clone(),
                None => match driver.short(ready, at, &names, stop) {
                    Err(Halt::Failed(why)) => {
                        let cell = run.cell(&name, point);
                        add(&mut found, format!("{cell}: {}", chain(&why)), profile);
                        Vec::new()
                    }
                    short => short?,
                },
            };
            for short in &short {
                for claim in &metrics[&short.metric] {
                    add(&mut found, words(claim, &run.cell(&name, point), short), profile);
                }
            }
            looked.insert(load, short);
        }
    }
    Ok(found.into_iter().map(|(what, of)| format!("{}: {what}", named(&of))).collect())
}

fn wanted(experiment: &Experiment, right: &[&str]) -> BTreeMap<(String, usize), Wanted> {
    let mut wanted: BTreeMap<(String, usize), Wanted> = BTreeMap::new();
    for (claim, of) in references(experiment, &cores(), right) {
        if is_percentile(&of.metric) {
            let cell = wanted.entry((of.contender, of.point)).or_default();
            cell.entry(of.metric).or_default().insert(claim);
        }
    }
    wanted
}

/// The same is said once, of all profiles in which it is so.
fn add<'a>(found: &mut Vec<(String, Vec<&'a str>)>, what: String, profile: &'a str) {
    match found.iter_mut().find(|(said, _)| *said == what) {
        Some((_, profiles)) => profiles.push(profile),
        None => found.push((what, vec![profile])),
    }
}

fn named(profiles: &[&str]) -> String {
    let word = if profiles.len() == 1 { "profile" } else { "profiles" };
    format!("{word} {}", profiles.join(", "))
}

fn words(claim: &str, cell: &str, short: &Short) -> String {
    let Short { metric, needs, per_s, window_s, enough } = short;
    let (needs, per_s) = (count(*needs as f64), significant(*per_s, 2));
    let remedy = match enough {
        Some(enough) => {
            let have = count(enough.have as f64);
            format!(
                "has about {have}: set {} = {}, or claim a lower percentile",
                enough.parameter, enough.value
            )
        }
        None => "has none, and no window is long enough: claim a lower percentile".to_owned(),
    };
    format!(
        "{metric} of claim {claim} takes {needs} answers in a window; at {per_s} a second of {cell} one of {window_s} s {remedy}"
    )
}

#[cfg(test)]
mod tests {
    use kumite_record::Enough;

    use super::*;

    #[test]
    fn what_is_too_short_says_which_window_would_do() {
        let enough = Enough { have: 1200, parameter: "duration_s".to_owned(), value: 10.0 };
        let short = Short {
            metric: "response_p99_9_us".to_owned(),
            needs: 10_000,
            per_s: 1204.0,
            window_s: 1.0,
            enough: Some(enough),
        };
        assert_eq!(
            words("tail", "threads at connections=50", &short),
            "response_p99_9_us of claim tail takes 10,000 answers in a window; at 1,200 a second of threads at \
             connections=50 one of 1 s has about 1,200: set duration_s = 10, or claim a lower percentile"
        );
        let never = Short { per_s: 0.0, enough: None, ..short };
        assert!(words("tail", "a", &never).ends_with("no window is long enough: claim a lower percentile"));
    }

    #[test]
    fn what_is_so_in_several_profiles_is_said_once() {
        let mut found = Vec::new();
        for (what, profile) in [("x", "quick"), ("y", "quick"), ("x", "full")] {
            add(&mut found, what.to_owned(), profile);
        }
        assert_eq!(found, [("x".to_owned(), vec!["quick", "full"]), ("y".to_owned(), vec!["quick"])]);
        assert_eq!(
            (named(&["quick"]), named(&["quick", "full"])),
            ("profile quick".into(), "profiles quick, full".into())
        );
    }
}
