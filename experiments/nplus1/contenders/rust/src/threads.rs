//! A thread for each student.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use kumite_kit::{Answer, Failure, Job};

use crate::source::{self, Params, Score};

/// Serves jobs on the main thread.
pub fn serve() {
    kumite_kit::serve("rust-threads", scores_by_student);
}

fn scores_by_student(job: &Job) -> Result<Answer, Failure> {
    let params = Params::of(job)?;
    // Through a channel, not by joining at the end: a thread that has ended keeps its stack until it is joined.
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        job.event("subscribe", "students");
        for student in arriving(1..=params.students, params.delay) {
            job.event("next", &format!("student {student}"));
            let sender = sender.clone();
            let work = move || {
                // Nobody receives it if another thread could not be started.
                sender.send((student, scores_of(student, &params, job))).ok()
            };
            let thread = thread::Builder::new().name(format!("thread {student}"));
            thread
                .spawn_scoped(scope, work)
                .map_err(|error| format!("no thread for student {student}: {error}"))?;
        }
        drop(sender);
        job.event("complete", "students");
        Ok(source::answer(results.into_iter().collect()))
    })
}

fn scores_of(student: u64, params: &Params, job: &Job) -> Vec<Score> {
    let mut scores = Vec::with_capacity(params.scores.len());
    job.event("subscribe", &format!("student {student}"));
    for score in arriving(params.scores, params.delay) {
        job.event("next", &format!("score {student} {}", score.subject));
        scores.push(*score);
    }
    job.event("complete", &format!("student {student}"));
    scores
}

/// Each item is due a multiple of the delay after the beginning, so that late wake-ups do not add up.
fn arriving<T>(items: impl IntoIterator<Item = T>, delay: Duration) -> impl Iterator<Item = T> {
    let mut due = Instant::now();
    items.into_iter().inspect(move |_| {
        due += delay;
        thread::sleep(due.saturating_duration_since(Instant::now()));
    })
}
