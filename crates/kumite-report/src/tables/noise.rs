//! The table of noise from outside during each trial.

use std::collections::{BTreeMap, BTreeSet};

use kumite_record::{Export, Mark, Metric, Role, Trial, standing};
use serde::Serialize;

use crate::metric::Named;
use crate::tables::cells::{Column, Entry, Filled, Table};
use crate::tables::group::Groups;
use crate::words::number::{count, plural};
use crate::words::quantity::Measured;
use crate::words::text::one_line;

/// A table of trials in the order of measurement, which shows when there was noise from outside.
#[derive(Debug, Serialize)]
pub struct NoiseText {
    /// The sentence that gives the number of trials that are marked for noise, and names the kinds of noise that no
    /// trial had.
    pub summary: String,
    pub table: Table,
}

/// The table of noise; none if no trial was watched for noise.
pub fn noise(export: &Export, groups: &Groups) -> Option<NoiseText> {
    let watched = |trial: &&Trial| {
        !trial.sample.noise.is_empty() || outside(trial).next().is_some() || trial.void.is_some()
    };
    let trials: Vec<&Trial> = export.trials.iter().filter(watched).collect();
    if trials.is_empty() {
        return None;
    }
    let names: BTreeSet<&str> =
        trials.iter().flat_map(|trial| trial.sample.noise.keys()).map(String::as_str).collect();
    let some = |name: &&str| trials.iter().any(|t| t.sample.noise.get(*name).is_some_and(|v| *v != 0.0));
    let (shown, zero): (Vec<&str>, Vec<&str>) = names.into_iter().partition(some);

    let stands: BTreeSet<u32> = standing(&export.trials).map(|trial| trial.seq).collect();
    let column = |name: String, numeric, of: &dyn Fn(&Trial) -> String| -> Filled {
        (Column { name, numeric }, trials.iter().map(|trial| Entry::plain(one_line(&of(trial)))).collect())
    };
    let mut columns = vec![
        column("contender".to_owned(), false, &|trial| trial.contender.clone()),
        column("point".to_owned(), false, &|trial| groups.name(&trial.point)),
        column("block".to_owned(), true, &|trial| count(f64::from(trial.block) + 1.0)),
        column("marks".to_owned(), false, &|trial| {
            let void = trial.void.iter().map(|void| format!("void: {void}"));
            let marks = outside(trial).map(|mark| marked(trial, mark));
            let does_not_count = trial.void.is_none() && !stands.contains(&trial.seq);
            let replaced = does_not_count.then(|| "does not count".to_owned());
            void.chain(marks).chain(replaced).collect::<Vec<_>>().join(", ")
        }),
    ];
    columns.extend(shown.into_iter().map(Metric::named).map(|metric| {
        column(one_line(&metric.label()), true, &|trial| {
            trial.sample.noise.get(&metric.name).map_or("–".to_owned(), |value| metric.text(*value))
        })
    }));
    Some(NoiseText { summary: summary(&trials, &zero), table: Table::from_columns(columns) })
}

/// A mark in words, with the roles of the nodes that it comes from if nodes have roles.
fn marked(trial: &Trial, mark: Mark) -> String {
    let is_from = |(role, marks): (&Role, &Vec<Mark>)| marks.contains(&mark).then_some(role.as_str());
    let roles: Vec<&str> = trial.sample.marked.iter().filter_map(is_from).collect();
    match roles.is_empty() {
        true => mark.as_str().to_owned(),
        false => format!("{} ({})", mark.as_str(), roles.join(", ")),
    }
}

fn outside(trial: &Trial) -> impl Iterator<Item = Mark> {
    trial.marks.iter().copied().filter(|mark| mark.is_outside())
}

fn summary(trials: &[&Trial], zero: &[&str]) -> String {
    let mut kinds = BTreeMap::<Mark, usize>::new();
    for mark in trials.iter().flat_map(|trial| outside(trial)) {
        *kinds.entry(mark).or_default() += 1;
    }
    let marked = trials.iter().filter(|trial| outside(trial).next().is_some()).count();
    let of = plural(trials.len(), "trial");
    let mut summary = match marked {
        0 => format!("None of {of} is marked for it."),
        _ => {
            let kinds: Vec<String> =
                kinds.iter().map(|(mark, n)| format!("{} {}", count(*n as f64), mark.as_str())).collect();
            let are = if marked == 1 { "is" } else { "are" };
            format!("{} of {of} {are} marked for it: {}.", count(marked as f64), kinds.join(", "))
        }
    };
    if !zero.is_empty() {
        let words: Vec<String> = zero.iter().map(|name| one_line(&Metric::named(name).words())).collect();
        summary += &format!(" Nothing in any trial: {}.", words.join(", "));
    }
    summary
}
