//! Checks of how a worker ends.

use std::time::Duration;

use serde_json::json;

use super::session::Session;
use crate::halt::Halt;
use kumite_process::how_it_ended;

/// The exit status that a worker must have after a line that is no request.
const NOT_UNDERSTOOD: i32 = 2;

pub(super) fn exits(session: &mut Session) -> Result<(), Halt> {
    session.job(&json!({ "do": "empty" }))?;
    session.end()
}

pub(super) fn within_a_line(session: &mut Session) -> Result<(), Halt> {
    session.job(&json!({ "do": "empty" }))?;
    session.write(br#"{"job":1,"par"#, "half a line")?;
    session.end()
}

pub(super) fn in_flight(session: &mut Session) -> Result<(), Halt> {
    let job = session.next_job();
    let request = json!({ "job": job, "params": { "do": "sleep", "ms": 1000 } });
    let asked = session.write(format!("{request}\n").as_bytes(), &format!("job {job}"))?;
    // It has begun by then. Where we are held up it may be over: then that is no fault of the worker.
    std::thread::sleep(Duration::from_millis(50));
    session.close()?;
    session.result(job, asked)?;
    session.end()
}

pub(super) fn no_json(session: &mut Session) -> Result<(), Halt> {
    refused(session, b"a line of text\n")?;
    refused(session, b"{\"job\":1,\"params\":{\"do\":\"empty\"}\n")
}

pub(super) fn no_request(session: &mut Session) -> Result<(), Halt> {
    refused(session, b"[]\n")?;
    refused(session, b"{\"jobs\":1}\n")
}

fn refused(session: &mut Session, line: &[u8]) -> Result<(), Halt> {
    let shown = String::from_utf8_lossy(line.trim_ascii_end()).into_owned();
    session.job(&json!({ "do": "empty" }))?;
    let before = session.log_bytes();
    session.write(line, &shown)?;
    let (status, log) = session.ends()?;
    let expected = format!("expected exit status {NOT_UNDERSTOOD} after the line {shown}");
    match status {
        None => Err(Halt::fault(format!("{expected}, and it has not ended within 3 s"))),
        Some(status) if status.code() != Some(NOT_UNDERSTOOD) => {
            Err(Halt::fault(format!("{expected}, and it {}; its log: {log}", how_it_ended(status))))
        }
        Some(_) if session.log_bytes() == before => Err(Halt::fault(format!(
            "expected a message on stderr about the line {shown}, and there is none"
        ))),
        Some(_) => Ok(()),
    }
}
