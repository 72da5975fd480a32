//! A function that computes a Fibonacci number, doubly recursive.

use std::hint::black_box;
use std::time::Instant;

use lambda_runtime::{Error, LambdaEvent, service_fn};
use serde::{Deserialize, Serialize};

#[derive(Deserialize)]
struct Event {
    n: u32,
}

#[derive(Serialize)]
struct Answer {
    n: u32,
    fib: u64,
    elapsed_ms: f64,
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("{}", env!("VERSIONS"));
        return Ok(());
    }
    lambda_runtime::run(service_fn(handle)).await
}

async fn handle(event: LambdaEvent<Event>) -> Result<Answer, Error> {
    let n = event.payload.n;
    // Or the compiler computes it once for both, and when it likes.
    black_box(fib(black_box(n)));
    let begun = Instant::now();
    let fib = black_box(fib(black_box(n)));
    let elapsed = begun.elapsed();
    Ok(Answer { n, fib, elapsed_ms: elapsed.as_secs_f64() * 1000.0 })
}

fn fib(n: u32) -> u64 {
    if n < 2 { u64::from(n) } else { fib(n - 1) + fib(n - 2) }
}
