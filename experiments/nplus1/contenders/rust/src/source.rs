//! What is asked for, and what the sources give.

use std::collections::BTreeMap;
use std::time::Duration;

use kumite_kit::{Answer, Failure, Job};
use serde::Serialize;

/// A subject and its score.
#[derive(Clone, Copy, Serialize)]
pub struct Score {
    /// The subject.
    pub subject: &'static str,
    score: u32,
}

const SCORES: [Score; 5] = [
    Score { subject: "国語", score: 80 },
    Score { subject: "数学", score: 90 },
    Score { subject: "英語", score: 85 },
    Score { subject: "社会", score: 93 },
    Score { subject: "理科", score: 72 },
];

/// What a job asks for.
#[derive(Clone, Copy)]
pub struct Params {
    /// How many students arrive.
    pub students: u64,
    /// What arrives for each of them.
    pub scores: &'static [Score],
    /// How each arrives.
    pub backend: Backend,
}

/// What makes a student or a score arrive.
#[derive(Clone, Copy)]
pub enum Backend {
    /// The time since the one before.
    Timer(Duration),
    /// An answer to a request.
    Http,
}

impl Params {
    /// Those of a job.
    pub fn of(job: &Job) -> Result<Params, Failure> {
        let scores = job.number("scores")? as usize;
        Ok(Params {
            students: job.number("students")?,
            scores: SCORES.get(..scores).ok_or("there are only 5 scores")?,
            backend: match job.params["backend"].as_str() {
                Some("timer") => Backend::Timer(Duration::from_millis(job.number("delay_ms")?)),
                Some("http") => Backend::Http,
                _ => return Err("params.backend is neither timer nor http".into()),
            },
        })
    }
}

/// Where the backend is.
pub fn url() -> String {
    std::env::var("BACKEND_URL").expect("BACKEND_URL is not set")
}

/// The answer, whose JSON is not timed.
pub fn answer(by_student: BTreeMap<u64, Vec<Score>>) -> Answer {
    let json = move || Ok(serde_json::to_value(by_student)?.into());
    Answer { after: Some(Box::new(json)), ..Answer::default() }
}
