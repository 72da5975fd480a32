//! Checks of the forms in which a request may be written.

use std::collections::BTreeMap;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::session::Session;
use crate::driver::worker::Done;
use crate::halt::Halt;

/// The pause between the pieces of a request.
const PAUSE: Duration = Duration::from_millis(100);
/// The wait for a second answer to one request, which would come at once.
const MORE: Duration = Duration::from_millis(50);

pub(super) fn keys_and_spaces(session: &mut Session) -> Result<(), Halt> {
    let job = session.next_job();
    let done = session.line(job, &format!(r#"{{"params":{{"value":"so","do":"echo"}},"job":{job}}}"#))?.done;
    has_result(&done, &json!("so"))?;
    let job = session.next_job();
    let spaced =
        format!("  {{ \"job\" :\t{job} , \"params\" : {{ \"do\" : \"echo\" ,\t\"value\":[ 1 , 2 ] }} }}  ");
    let done = session.line(job, &spaced)?.done;
    has_result(&done, &json!([1, 2]))
}

pub(super) fn unknown_keys(session: &mut Session) -> Result<(), Halt> {
    let job = session.next_job();
    let request = format!(
        r#"{{"job":{job},"later":{{"job":1,"hello":0}},"params":{{"do":"echo","value":"so","cores":"all","own":[null]}},"deadline_ms":5}}"#
    );
    let done = session.line(job, &request)?.done;
    has_result(&done, &json!("so"))
}

/// Checks that a request may come in two pieces. The break is within a character.
pub(super) fn in_two_pieces(session: &mut Session) -> Result<(), Halt> {
    let job = session.next_job();
    let request = format!("{}\n", json!({ "job": job, "params": { "do": "echo", "value": "🎉" } }));
    let within = request.find('🎉').map_or(0, |at| at + 2);
    let (first, rest) = request.as_bytes().split_at(within);
    let doing = format!("job {job}");
    let asked = session.write(first, &doing)?;
    sleep(PAUSE);
    session.write(rest, &doing)?;
    has_result(&session.result(job, asked)?.done, &json!("🎉"))
}

pub(super) fn two_at_once(session: &mut Session) -> Result<(), Halt> {
    let (slow, quick) = (session.next_job(), session.next_job());
    let requests = [
        json!({ "job": slow, "params": { "do": "sleep", "ms": 20 } }),
        json!({ "job": quick, "params": { "do": "echo", "value": "so" } }),
    ];
    let doing = format!("jobs {slow} and {quick}");
    let asked = session.write(format!("{}\n{}\n", requests[0], requests[1]).as_bytes(), &doing)?;
    let mut left: BTreeMap<u64, Instant> = [(slow, asked), (quick, asked)].into();
    while !left.is_empty() {
        let answer = session.take(&left)?.answer;
        answer.done.map_err(|error| {
            Halt::fault(format!("expected results of {doing}, and an error came: {error}"))
        })?;
        left.remove(&answer.job);
    }
    session.unasked(MORE)
}

fn has_result(done: &Done, expected: &Value) -> Result<(), Halt> {
    match serde_json::from_str::<Value>(done.result.get()) {
        Ok(result) if result == *expected => Ok(()),
        _ => Err(Halt::fault(format!("expected {expected} as its result, and it is {}", done.result.get()))),
    }
}
