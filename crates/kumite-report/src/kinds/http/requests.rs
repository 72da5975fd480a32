//! The table of requests that failed in a window.

use std::collections::BTreeMap;

use kumite_record::{Cell, Errors, Trial};

use crate::record::Record;
use crate::tables::cells::{Column, Entry, Table, text_column};
use crate::tables::failure::{Failed, failing, most_first, sum};
use crate::tables::group::Groups;
use crate::words::number::count;
use crate::words::text::one_line;

/// The failed requests of all trials by cell and kind, without those after a disturbance began.
pub fn failed(record: &Record, groups: &Groups) -> Failed {
    Failed {
        title: "Requests that failed in a window",
        caption: "Before any disturbance, sums over all trials",
        table: requests(record, groups),
        nothing: Some("No request failed in any window."),
    }
}

fn requests(record: &Record, groups: &Groups) -> Option<Table> {
    let failed =
        |trial: &Trial| trial.sample.errors.values().any(|n| *n > 0) || !trial.sample.answers.is_empty();
    let cells = failing(record, groups, failed);
    if cells.is_empty() {
        return None;
    }
    let only: Vec<&Cell> = cells.iter().map(|(cell, _)| *cell).collect();
    let errors = |cell: &Cell| record.trials_of(cell).map(|trial| &trial.sample.errors).collect::<Vec<_>>();
    let finished = |cell: &Cell| -> f64 {
        record.trials_of(cell).filter_map(|trial| record.figure(trial, "finished")).sum()
    };
    let places = cells.iter().map(|(_, place)| Entry::plain(place.clone())).collect();
    let mut columns = vec![
        text_column(&only, "contender", false, |cell| cell.contender.clone()),
        (Column { name: "at".to_owned(), numeric: false }, places),
        text_column(&only, "failed", true, |cell| {
            sum(errors(cell).into_iter().flat_map(|e| e.values().copied()))
        }),
        text_column(&only, "of", true, |cell| count(finished(cell))),
        text_column(&only, "by kind", false, |cell| kinds(errors(cell).into_iter())),
    ];
    if only.iter().any(|cell| record.trials_of(cell).any(|trial| !trial.sample.answers.is_empty())) {
        columns.push(text_column(&only, "refusals said", false, |cell| {
            answer_counts(record.trials_of(cell).map(|trial| &trial.sample.answers))
        }));
    }
    Some(Table::from_columns(columns))
}

/// Refusals and their counts, the most frequent first: `500 refused after 1 (1,312), 503 (4)`.
fn answer_counts<'a>(answers: impl Iterator<Item = &'a BTreeMap<String, u64>>) -> String {
    let said = most_first(answers);
    let said: Vec<String> =
        said.into_iter().map(|(words, n)| format!("{} ({})", one_line(words), count(n as f64))).collect();
    said.join(", ")
}

/// The kinds of errors and their counts, the most frequent first: `timeout 1,312, reset 4`; `none` without errors.
pub fn kinds<'a>(errors: impl Iterator<Item = &'a Errors>) -> String {
    let all = most_first(errors);
    match all.is_empty() {
        true => "none".to_owned(),
        false => {
            let kinds: Vec<String> =
                all.iter().map(|(kind, n)| format!("{kind} {}", count(*n as f64))).collect();
            kinds.join(", ")
        }
    }
}
