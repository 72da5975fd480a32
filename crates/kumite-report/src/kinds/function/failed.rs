//! The table of calls that failed.

use std::collections::BTreeMap;

use kumite_record::{Call, Cell, Trial};

use crate::charts::shortened;
use crate::record::Record;
use crate::tables::cells::{Column, Entry, Table, text_column};
use crate::tables::failure::{Failed, failing, most_first};
use crate::tables::group::Groups;
use crate::words::number::count;
use crate::words::text::one_line;

/// The table of calls that failed in any trial; none if no call failed.
pub fn failed(record: &Record, groups: &Groups) -> Option<Failed> {
    Some(Failed {
        title: "Calls that failed, in all trials",
        caption: "Sums by cell",
        table: Some(calls(record, groups)?),
        nothing: None,
    })
}

/// The most characters of an error in the table. `ERRORS` is the greatest number of different errors that are told of
/// a cell.
const ERROR_CHARS: usize = 80;
const ERRORS: usize = 4;

fn calls(record: &Record, groups: &Groups) -> Option<Table> {
    let failed = |trial: &Trial| trial.sample.calls.iter().any(|call| call.error.is_some());
    let cells = failing(record, groups, failed);
    if cells.is_empty() {
        return None;
    }
    let only: Vec<&Cell> = cells.iter().map(|(cell, _)| *cell).collect();
    let of = |cell: &Cell| -> Vec<&Call> {
        record.trials_of(cell).flat_map(|trial| &trial.sample.calls).collect()
    };
    let number = |calls: usize| count(calls as f64);
    let places = cells.iter().map(|(_, place)| Entry::plain(place.clone())).collect();
    Some(Table::from_columns(vec![
        text_column(&only, "contender", false, |cell| cell.contender.clone()),
        (Column { name: "at".to_owned(), numeric: false }, places),
        text_column(&only, "failed", true, |cell| {
            number(of(cell).iter().filter(|call| call.error.is_some()).count())
        }),
        text_column(&only, "of", true, |cell| number(of(cell).len())),
        text_column(&only, "why", false, |cell| why(&of(cell))),
    ]))
}

/// The errors and their counts, the most frequent first: `Sandbox.Timedout: … (12), Throttled: … (1)`.
fn why(calls: &[&Call]) -> String {
    let mut errors: BTreeMap<String, u64> = BTreeMap::new();
    for error in calls.iter().filter_map(|call| call.error.as_ref()) {
        *errors.entry(shortened(&one_line(error), ERROR_CHARS)).or_default() += 1;
    }
    let all = most_first(std::iter::once(&errors));
    let (told, rest) = all.split_at(all.len().min(ERRORS));
    let rest: u64 = rest.iter().map(|(_, n)| n).sum();
    let told = told.iter().map(|(words, n)| format!("{words} ({})", count(*n as f64)));
    let rest = (rest > 0).then(|| format!("others ({})", count(rest as f64)));
    told.chain(rest).collect::<Vec<_>>().join(", ")
}
