//! The seal of a run: a count and a digest of its rows when it ended, so that a later reader sees whether all of them
//! are there.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, params};

/// The number of trials that a run ended with, and a digest of all its rows in [`ROWS`].
#[derive(Debug, PartialEq)]
pub(super) struct Seal {
    pub trials: u32,
    digest: String,
}

/// The queries for the rows that are sealed, in the order of the digest. The run's own row is not sealed, because a
/// run may be resumed and end again.
const ROWS: [&str; 6] = [
    "SELECT seq, trial FROM trial WHERE run = ?1 ORDER BY seq",
    "SELECT seq, name, hdr FROM histogram WHERE run = ?1 ORDER BY seq, name",
    "SELECT name, contender FROM contender WHERE run = ?1 ORDER BY rowid",
    "SELECT nth, claim FROM verdict WHERE run = ?1 ORDER BY nth",
    "SELECT nth, outcome FROM outcome WHERE run = ?1 ORDER BY nth",
    "SELECT nth, warning FROM warning WHERE run = ?1 ORDER BY nth",
];

/// Seals a run with the rows that it has now. Removes the seal of a run that has not ended.
pub(super) fn seal(db: &Connection, run: &str, has_ended: bool) -> rusqlite::Result<()> {
    let seal = if has_ended { Some(of_now(db, run)?) } else { None };
    db.execute(
        "UPDATE run SET trials = ?2, digest = ?3 WHERE id = ?1",
        params![run, seal.as_ref().map(|seal| seal.trials), seal.as_ref().map(|seal| &seal.digest)],
    )?;
    Ok(())
}

/// The seal that a run was given, and the seal that it would get now. None if the run is not sealed.
pub(super) fn then_and_now(db: &Connection, run: &str) -> rusqlite::Result<Option<(Seal, Seal)>> {
    let then = db
        .query_row("SELECT trials, digest FROM run WHERE id = ?1 AND digest IS NOT NULL", [run], |row| {
            Ok(Seal { trials: row.get(0)?, digest: row.get(1)? })
        })
        .optional()?;
    then.map(|then| Ok((then, of_now(db, run)?))).transpose()
}

fn of_now(db: &Connection, run: &str) -> rusqlite::Result<Seal> {
    let trials = db.query_row("SELECT count(*) FROM trial WHERE run = ?1", [run], |row| row.get(0))?;
    let mut hasher = blake3::Hasher::new();
    for query in ROWS {
        hasher.update(query.as_bytes());
        let mut query = db.prepare(query)?;
        let columns = query.column_count();
        let mut rows = query.query([run])?;
        while let Some(row) = rows.next()? {
            for column in 0..columns {
                let number;
                let bytes = match row.get_ref(column)? {
                    ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
                    ValueRef::Integer(value) => {
                        number = value.to_le_bytes();
                        &number[..]
                    }
                    ValueRef::Real(_) | ValueRef::Null => &[],
                };
                hasher.update(&bytes.len().to_le_bytes()).update(bytes);
            }
        }
    }
    Ok(Seal { trials, digest: hasher.finalize().to_hex().to_string() })
}
