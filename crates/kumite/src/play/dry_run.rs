//! The states of a macro with their times, for `--dry-run`.

use std::io::{self, BufWriter, ErrorKind, Write};

use kumite_play::Schedule;
use kumite_record::SCHEMA;
use serde::{Serialize, Serializer};

use crate::exit::Failure;

/// The document of `--dry-run --json`, which programs rely on.
#[derive(Serialize)]
struct Document<'a> {
    schema: u32,
    fps: f64,
    #[serde(serialize_with = "states")]
    states: Timed<'a>,
}

/// A schedule, and the frames a second at which it is played.
struct Timed<'a>(&'a Schedule, f64);

#[derive(Serialize)]
struct Row {
    due_ms: f64,
    frames: u32,
    keys: String,
    /// The values of all controls, in the Titan One's order.
    buttons: Vec<i8>,
}

/// Writes states one by one, since a macro may have a million of them.
fn states<S: Serializer>(Timed(schedule, fps): &Timed, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(schedule.due(*fps).zip(&schedule.0).map(|((due, state), held)| Row {
        due_ms: due.as_secs_f64() * 1e3,
        frames: held.frames,
        keys: state.to_string(),
        buttons: state.values().to_vec(),
    }))
}

/// Prints the table of states and their times, or with `json` the document. An error if standard output cannot be
/// written; a closed pipe is none.
pub fn print(schedule: &Schedule, fps: f64, json: bool) -> Result<(), Failure> {
    let mut to = BufWriter::new(io::stdout().lock());
    let written = if json { document(schedule, fps, &mut to) } else { schedule.write_table(fps, &mut to) };
    match written.and_then(|()| to.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::Incomplete(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

fn document(schedule: &Schedule, fps: f64, to: &mut impl Write) -> io::Result<()> {
    serde_json::to_writer(&mut *to, &Document { schema: SCHEMA, fps, states: Timed(schedule, fps) })?;
    writeln!(to)
}
