//! Times of exchanges with a worker.

use std::time::Duration;

use serde_json::json;

use super::session::Session;
use crate::halt::Halt;

const EXCHANGES: usize = 1000;

/// The times of several exchanges with a worker, one after the other, by kumite's clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// The number of exchanges.
    pub count: usize,
    /// The median time of an exchange, in µs.
    pub p50_us: f64,
    /// The 99th percentile of the times, in µs.
    pub p99_us: f64,
}

impl Exchange {
    fn new(mut times: Vec<Duration>) -> Exchange {
        times.sort_unstable();
        let at = |percent: usize| times[(times.len() * percent).div_ceil(100) - 1].as_secs_f64() * 1e6;
        Exchange { count: times.len(), p50_us: at(50), p99_us: at(99) }
    }
}

pub(super) fn hellos(session: &mut Session) -> Result<Option<Exchange>, Halt> {
    session.hello().ok();
    exchanged(|| session.hello().map(|(_, took)| took))
}

pub(super) fn empty_jobs(session: &mut Session) -> Result<Option<Exchange>, Halt> {
    exchanged(|| session.job(&json!({ "do": "empty" })).map(|worked| worked.to_answer))
}

/// Makes [`EXCHANGES`] exchanges. None if one of them failed.
fn exchanged(mut exchange: impl FnMut() -> Result<Duration, Halt>) -> Result<Option<Exchange>, Halt> {
    let mut times = Vec::with_capacity(EXCHANGES);
    for _ in 0..EXCHANGES {
        match exchange() {
            Ok(took) => times.push(took),
            Err(Halt::Failed(_)) => return Ok(None),
            Err(halt) => return Err(halt),
        }
    }
    Ok(Some(Exchange::new(times)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_by_nearest_rank() {
        let exchange = Exchange::new((1..=1000).rev().map(Duration::from_micros).collect());
        assert_eq!((exchange.count, exchange.p50_us.round(), exchange.p99_us.round()), (1000, 500.0, 990.0));
    }
}
