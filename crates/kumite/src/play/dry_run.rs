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

/// States, and at how many frames a second they are played.
struct Timed<'a>(&'a Schedule, f64);

#[derive(Serialize)]
struct Row {
    due_ms: f64,
    frames: u32,
    keys: String,
    /// All values of the Titan One's order.
    buttons: Vec<i8>,
}

/// One by one: a macro may have a million of them.
fn states<S: Serializer>(Timed(schedule, fps): &Timed, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(schedule.due(*fps).zip(&schedule.0).map(|((due, state), held)| Row {
        due_ms: due.as_secs_f64() * 1e3,
        frames: held.frames,
        keys: state.to_string(),
        buttons: state.values().to_vec(),
    }))
}

/// Prints when which keys are pressed, or the document.
pub fn print(schedule: &Schedule, fps: f64, json: bool) -> Result<(), Failure> {
    let mut to = BufWriter::new(io::stdout().lock());
    let written = if json { document(schedule, fps, &mut to) } else { table(schedule, fps, &mut to) };
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

fn table(schedule: &Schedule, fps: f64, to: &mut impl Write) -> io::Result<()> {
    writeln!(to, "{:>12} {:>7}  keys", "when (ms)", "frames")?;
    let frames = schedule.0.iter().map(|held| Some(held.frames)).chain([None]);
    for ((due, state), frames) in schedule.due(fps).zip(frames) {
        let ms = due.as_secs_f64() * 1e3;
        match frames {
            Some(frames) => writeln!(to, "{ms:12.3} {frames:7}  {state}")?,
            None => writeln!(to, "{ms:12.3} {:7}  released", "")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use kumite_play::Macro;

    #[test]
    fn a_row_for_each_state_and_the_release() {
        let schedule = Macro::parse(b"2,mk 8\n3 1\n6,lp 1").unwrap().schedule();
        let mut table = Vec::new();
        super::table(&schedule, 50.0, &mut table).unwrap();
        let lines = [
            "   when (ms)  frames  keys",
            "       0.000       8  2,mk",
            "     160.000       1  3",
            "     180.000       1  6,lp",
            "     200.000          released",
            "",
        ];
        assert_eq!(String::from_utf8(table).unwrap(), lines.join("\n"));
    }
}
