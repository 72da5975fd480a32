//! A task for each student, on tokio.

use std::sync::atomic::{AtomicU32, Ordering};

use kumite_kit::{Answer, Failure, Job};
use reqwest::Client;
use tokio::runtime::Builder;
use tokio::task::JoinSet;
use tokio::time::{Instant, Interval, interval_at};

use crate::source::{self, Backend, Params, Score};

/// Serves jobs on a multi-threaded runtime, whose workers have numbers.
pub fn serve() {
    let workers = AtomicU32::new(0);
    let runtime = Builder::new_multi_thread()
        .enable_all()
        .thread_name_fn(move || format!("worker {}", workers.fetch_add(1, Ordering::Relaxed) + 1))
        .build()
        .expect("tokio's runtime");
    let client = Client::builder().no_proxy().build().expect("reqwest's client");
    kumite_kit::serve("rust-tokio", |job| runtime.block_on(scores_by_student(client.clone(), job.clone())));
}

async fn scores_by_student(client: Client, job: Job) -> Result<Answer, Failure> {
    let params = Params::of(&job)?;
    let mut tasks = JoinSet::new();
    job.event("subscribe", "students");
    let mut arrivals = Arrivals::new(&client, params.backend);
    for student in 1..=params.students {
        arrivals.next().await?;
        job.event("next", &format!("student {student}"));
        let (client, job) = (client.clone(), job.clone());
        tasks.spawn(async move {
            let arrivals = Arrivals::new(&client, params.backend);
            Ok((student, scores_of(student, params.scores, arrivals, &job).await?))
        });
    }
    job.event("complete", "students");
    let by_student: Result<_, Failure> = tasks.join_all().await.into_iter().collect();
    Ok(source::answer(by_student?))
}

async fn scores_of(
    student: u64,
    source: &[Score],
    mut arrivals: Arrivals<'_>,
    job: &Job,
) -> Result<Vec<Score>, Failure> {
    let mut scores = Vec::with_capacity(source.len());
    job.event("subscribe", &format!("student {student}"));
    for score in source {
        arrivals.next().await?;
        job.event("next", &format!("score {student} {}", score.subject));
        scores.push(*score);
    }
    job.event("complete", &format!("student {student}"));
    Ok(scores)
}

enum Arrivals<'a> {
    Timer(Interval),
    Http { client: &'a Client, url: String },
}

impl Arrivals<'_> {
    fn new(client: &Client, backend: Backend) -> Arrivals<'_> {
        match backend {
            Backend::Timer(delay) => Arrivals::Timer(interval_at(Instant::now() + delay, delay)),
            Backend::Http => Arrivals::Http { client, url: source::url() },
        }
    }

    async fn next(&mut self) -> Result<(), Failure> {
        match self {
            Arrivals::Timer(interval) => {
                interval.tick().await;
            }
            Arrivals::Http { client, url } => {
                client.get(&*url).send().await?.error_for_status()?.bytes().await?;
            }
        }
        Ok(())
    }
}
