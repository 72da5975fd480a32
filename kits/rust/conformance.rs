//! A worker on the kit that does what params.do says, for `kumite kit-test`.

use std::thread::sleep;
use std::time::Duration;

use kumite_kit::{Answer, Failure, Job, serve};

fn main() {
    serve("rust-conformance", perform);
}

fn perform(job: &Job) -> Result<Answer, Failure> {
    match job.params["do"].as_str() {
        Some("echo") => return Ok(job.params["value"].clone().into()),
        Some("empty") => {}
        Some("fail") => return Err(job.params["message"].as_str().unwrap_or_default().into()),
        Some("sleep") => sleep(Duration::from_millis(job.number("ms")?)),
        Some("events") => {
            job.event("next", "one");
            sleep(Duration::from_millis(2));
            job.event("complete", "two");
        }
        Some("metrics") => return Ok(Answer { metrics: vec![("answer_count", 42.0)], ..Answer::default() }),
        other => return Err(format!("do what? {other:?}").into()),
    }
    Ok(Answer::default())
}
