//! A task for each student, on tokio.

use std::sync::atomic::{AtomicU32, Ordering};

use kumite_kit::{Answer, Failure, Job};
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, interval_at};

use crate::source::{self, Params, Score};

/// Serves jobs on a multi-threaded runtime, whose workers have numbers.
pub fn serve() {
    let workers = AtomicU32::new(0);
    let runtime = Builder::new_multi_thread()
        .enable_time()
        .thread_name_fn(move || format!("worker {}", workers.fetch_add(1, Ordering::Relaxed) + 1))
        .build()
        .expect("tokio's runtime");
    kumite_kit::serve("rust-tokio", |job| runtime.block_on(scores_by_student(job.clone())));
}

async fn scores_by_student(job: Job) -> Result<Answer, Failure> {
    let params = Params::of(&job)?;
    let mut tasks = JoinSet::new();
    job.event("subscribe", "students");
    let mut arrivals = arrivals(&params);
    for student in 1..=params.students {
        arrivals.tick().await;
        job.event("next", &format!("student {student}"));
        let job = job.clone();
        tasks.spawn(async move { (student, scores_of(student, &params, &job).await) });
    }
    job.event("complete", "students");
    Ok(source::answer(tasks.join_all().await.into_iter().collect()))
}

async fn scores_of(student: u64, params: &Params, job: &Job) -> Vec<Score> {
    let mut scores = Vec::with_capacity(params.scores.len());
    job.event("subscribe", &format!("student {student}"));
    let mut arrivals = arrivals(params);
    for score in params.scores {
        arrivals.tick().await;
        job.event("next", &format!("score {student} {}", score.subject));
        scores.push(*score);
    }
    job.event("complete", &format!("student {student}"));
    scores
}

fn arrivals(params: &Params) -> Interval {
    interval_at(Instant::now() + params.delay, params.delay)
}
