//! Checks of the fields of a job's answer.

use std::time::Duration;

use kumite_record::JobEvent;
use serde_json::json;

use super::session::{Session, Worked};
use crate::driver::worker::Done;
use crate::halt::Halt;

/// The largest whole number that every JSON reader can hold.
const LARGEST: u64 = (1 << 53) - 1;
const SLEEP_MS: u64 = 50;
/// The grain of timers, in ms: those of some runtimes count whole milliseconds.
const TIMER_GRAIN_MS: f64 = 1.0;
/// The longest time of an empty job, in ms. A job that takes longer has something else in it.
const NEXT_TO_NOTHING_MS: f64 = 1.0;
const EMPTY_JOBS: usize = 20;

pub(super) fn numbers(session: &mut Session) -> Result<(), Halt> {
    for job in [1, 7, LARGEST] {
        session.numbered(job, &json!({ "do": "empty" }))?;
    }
    Ok(())
}

pub(super) fn error(session: &mut Session) -> Result<(), Halt> {
    let job = session.next_job();
    let message = "no such student: \"Zoë\"";
    let request = json!({ "job": job, "params": { "do": "fail", "message": message } });
    let asked = session.write(format!("{request}\n").as_bytes(), &format!("job {job}"))?;
    match session.take(&[(job, asked)].into())?.answer.done {
        Ok(done) => {
            Err(Halt::fault(format!("expected an \"error\", and a result came: {}", done.result.get())))
        }
        Err(error) => match error.to_string() {
            error if error.contains('\n') => {
                Err(Halt::fault(format!("expected one line, and the error is {error:?}")))
            }
            error if !error.contains(message) => {
                Err(Halt::fault(format!("expected an error with {message:?} in it, and it is {error:?}")))
            }
            _ => session.job(&json!({ "do": "empty" })).map(|_| ()),
        },
    }
}

pub(super) fn sleep(session: &mut Session) -> Result<(), Halt> {
    let Worked { done, to_done, .. } = session.job(&json!({ "do": "sleep", "ms": SLEEP_MS }))?;
    is_null(&done)?;
    if done.elapsed_ms < SLEEP_MS as f64 - TIMER_GRAIN_MS {
        return Err(Halt::fault(format!(
            "expected at least {SLEEP_MS} ms as elapsed_ns, and it is {:.3} ms",
            done.elapsed_ms
        )));
    }
    no_more_than(&done, to_done)
}

pub(super) fn empty(session: &mut Session) -> Result<(), Halt> {
    let mut least = f64::INFINITY;
    for _ in 0..EMPTY_JOBS {
        let Worked { done, to_done, .. } = session.job(&json!({ "do": "empty" }))?;
        is_null(&done)?;
        no_more_than(&done, to_done)?;
        least = least.min(done.elapsed_ms);
    }
    if least > NEXT_TO_NOTHING_MS {
        return Err(Halt::fault(format!(
            "expected less than {NEXT_TO_NOTHING_MS} ms as elapsed_ns, and the least of {EMPTY_JOBS} jobs is {least:.3} ms"
        )));
    }
    Ok(())
}

pub(super) fn events(session: &mut Session) -> Result<(), Halt> {
    let Worked { done, .. } = session.job(&json!({ "do": "events", "events": true }))?;
    is_null(&done)?;
    let failed = |why: String| Err(Halt::fault(format!("{why}; the events are {}", json!(done.events))));
    let [JobEvent(first_ns, ..), JobEvent(second_ns, ..)] = &done.events[..] else {
        return failed(format!("expected 2 events, and there are {}", done.events.len()));
    };
    let said = done.events.iter().map(|JobEvent(_, _, kind, id)| (kind.as_str(), id.as_str()));
    if !said.eq([("next", "one"), ("complete", "two")]) {
        return failed("expected next of \"one\" and then complete of \"two\"".to_owned());
    }
    if done.events.iter().any(|JobEvent(_, thread, ..)| thread.trim().is_empty()) {
        return failed("expected the name of a thread in each, and one is empty".to_owned());
    }
    if *second_ns < first_ns + 1_000_000 {
        return failed("expected at least 1 ms between them".to_owned());
    }
    if *second_ns as f64 / 1e6 > done.elapsed_ms {
        return failed(format!("expected times within the {:.3} ms of the job", done.elapsed_ms));
    }
    Ok(())
}

pub(super) fn no_events(session: &mut Session) -> Result<(), Halt> {
    for params in [json!({ "do": "events" }), json!({ "do": "events", "events": false })] {
        let Worked { done, .. } = session.job(&params)?;
        if !done.events.is_empty() {
            return Err(Halt::fault(format!(
                "expected no events of {params}, and there are {}",
                done.events.len()
            )));
        }
    }
    Ok(())
}

pub(super) fn metrics(session: &mut Session) -> Result<(), Halt> {
    let Worked { done, .. } = session.job(&json!({ "do": "metrics" }))?;
    is_null(&done)?;
    if done.metrics != [("answer_count".to_owned(), 42.0)].into() {
        return Err(Halt::fault(format!(
            "expected {{\"answer_count\": 42}} as metrics, and they are {:?}",
            done.metrics
        )));
    }
    let Worked { done, .. } = session.job(&json!({ "do": "empty" }))?;
    if !done.metrics.is_empty() {
        return Err(Halt::fault(format!(
            "expected no metrics of an empty job, and they are {:?}",
            done.metrics
        )));
    }
    Ok(())
}

fn is_null(done: &Done) -> Result<(), Halt> {
    match done.result.get() {
        "null" => Ok(()),
        other => Err(Halt::fault(format!("expected null as its result, and it is {other}"))),
    }
}

/// Returns a fault if the worker's time is more than `ours`. Both clocks are the same machine's, and the worker's
/// time lies within ours.
fn no_more_than(done: &Done, ours: Duration) -> Result<(), Halt> {
    let ours_ms = ours.as_secs_f64() * 1e3;
    if done.elapsed_ms > ours_ms {
        return Err(Halt::fault(format!(
            "expected at most the {ours_ms:.3} ms of kumite's clock as elapsed_ns, and it is {:.3} ms",
            done.elapsed_ms
        )));
    }
    Ok(())
}
