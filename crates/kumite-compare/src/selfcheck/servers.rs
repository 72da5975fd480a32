//! The self-check of servers: an HTTP server is compared with itself, as `kumite compare URL URL` does it.

use std::sync::Arc;
use std::time::Duration;

use kumite_host::{cores, machine};
use kumite_load::{Expect, Limit, Load, Step, Target};
use kumite_record::{Comparison, ComparisonEnd, SameTwice, Speed};

use super::server::{BODY, Prompt, Server};
use super::{Check, Tally};
use crate::compare::{CompareError, Rules, Server as Compared, compare_servers, log_ratios};

const CONNECTIONS: usize = 8;
/// The time of a load, short enough for many comparisons.
const LOAD: Duration = Duration::from_millis(40);
const TIMEOUT: Duration = Duration::from_secs(1);
/// The most pairs of a comparison. Of the false verdicts on a fair coin within 200 pairs, three of four come within
/// this number.
const MOST_PAIRS: usize = 10;

impl Check<'_> {
    /// Makes as many comparisons of a server with itself as the time allows, and keeps their summary in `found` after
    /// each.
    pub(super) fn servers(
        &mut self,
        time: Duration,
        found: &mut Option<SameTwice>,
    ) -> Result<(), CompareError> {
        let began = self.clock.now();
        let server = started(Server::start(&cores().contender, Arc::new(Prompt)))?;
        let what = format!(
            "an HTTP server under {CONNECTIONS} connections for {} ms, compared with itself",
            LOAD.as_millis()
        );
        let mut tally = Tally::new(what, &["throughput"], MOST_PAIRS);
        let limit = Limit { requests: None, duration: Some(LOAD) };
        let load = Load { connections: CONNECTIONS, timeout: TIMEOUT, ..load(&server, limit) };
        let both = ["one", "the same"].map(|name| Compared {
            name: name.to_owned(),
            url: format!("http://{}/", server.addr),
            load: load.clone(),
        });
        for nth in 0.. {
            if !self.time_for_more(began, time, nth) {
                break;
            }
            (self.watch)(&format!("a server against itself: comparison {}", nth + 1));
            let rules = Rules { max_blocks: Some(MOST_PAIRS), ..self.rules(nth) };
            let warm_up = usize::from(nth == 0);
            let (comparison, error) =
                compare_servers(&both, warm_up, &rules, machine(cores()), self.clock, self.stop, &mut |_| {});
            match error {
                Some(error) => return Err(error),
                None if comparison.ended == ComparisonEnd::Interrupted => {
                    return Err(CompareError::Interrupted);
                }
                None => add(&mut tally, &comparison),
            }
            *found = tally.done(self.asked.seed);
        }
        Ok(())
    }
}

fn add(tally: &mut Tally, comparison: &Comparison) {
    let [one, same] = &comparison.servers[..] else { return };
    let Some(pair) = comparison.pairs.first() else { return };
    let logs = log_ratios(&same.throughputs, &one.throughputs).unwrap_or_default();
    tally.add(&[Some(matches!(pair.verdict, Speed::Faster | Speed::Slower))], &logs, pair.seconds);
}

/// A load of this limit on the server, over one connection, with a time-out that no answer here reaches.
pub(super) fn load(server: &Server, limit: Limit) -> Load {
    let expect = Expect { status: Some(200), equals: Some(BODY.to_vec()), ..Expect::default() };
    let step = Step { expect, ..Step::new(Target::plain(server.addr)) };
    Load { timeout: Duration::from_secs(10), ..Load::new(step, limit) }
}

pub(super) fn started(server: Result<Server, std::io::Error>) -> Result<Server, CompareError> {
    server.map_err(CompareError::Server)
}
