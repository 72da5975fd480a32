//! A thread for each student.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kumite_kit::{Answer, Failure, Job};
use reqwest::blocking::Client;

use crate::source::{self, Backend, Params, Score};

/// Serves jobs on the main thread.
pub fn serve() {
    let client = Client::builder().no_proxy().build().expect("reqwest's client");
    kumite_kit::serve("rust-threads", |job| scores_by_student(&client, job));
}

fn scores_by_student(client: &Client, job: &Job) -> Result<Answer, Failure> {
    let params = Params::of(job)?;
    // Through a channel, not by joining at the end: a thread that has ended keeps its stack until it is joined.
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        job.event("subscribe", "students");
        for student in arriving(1..=params.students, client, params.backend) {
            let student = student?;
            job.event("next", &format!("student {student}"));
            let sender = sender.clone();
            let work = move || {
                let scores = scores_of(student, &params, client, job);
                // Nobody receives it if another thread could not be started.
                sender.send(scores.map(|scores| (student, scores))).ok()
            };
            let thread = thread::Builder::new().name(format!("thread {student}"));
            thread
                .spawn_scoped(scope, work)
                .map_err(|error| format!("no thread for student {student}: {error}"))?;
        }
        drop(sender);
        job.event("complete", "students");
        let by_student: Result<_, Failure> = results.into_iter().collect();
        Ok(source::answer(by_student?))
    })
}

fn scores_of(student: u64, params: &Params, client: &Client, job: &Job) -> Result<Vec<Score>, Failure> {
    let mut scores = Vec::with_capacity(params.scores.len());
    job.event("subscribe", &format!("student {student}"));
    for score in arriving(params.scores, client, params.backend) {
        let score = score?;
        job.event("next", &format!("score {student} {}", score.subject));
        scores.push(*score);
    }
    job.event("complete", &format!("student {student}"));
    Ok(scores)
}

fn arriving<T>(
    items: impl IntoIterator<Item = T>,
    client: &Client,
    backend: Backend,
) -> impl Iterator<Item = Result<T, Failure>> {
    let begun = Instant::now();
    items.into_iter().zip(1..).map(move |(item, n)| {
        match backend {
            // Due a multiple of the delay after the beginning, so that late wake-ups do not add up.
            Backend::Timer(delay) => thread::sleep(until(begun + delay * n)),
            Backend::Http => {
                client.get(source::url()).send()?.error_for_status()?.bytes()?;
            }
        }
        Ok(item)
    })
}

fn until(due: Instant) -> Duration {
    due.saturating_duration_since(Instant::now())
}
