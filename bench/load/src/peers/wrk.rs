use crate::peers::{Peer, way};
use crate::{Generator, Load, Percentiles, Said, Shape};

/// Its name in the tables: what the acceptance is measured against.
pub const WRK: &str = "wrk";

pub fn peer() -> Peer {
    let wrk = way(WRK, "wrk", command, said);
    Peer {
        program: "wrk",
        version: "wrk -v || true",
        install: "apt-get install wrk",
        // As many rounds as ours: the ratios are to it.
        ways: vec![Generator { peer: false, ..wrk }],
    }
}

/// It has no schedule.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    (*shape == Shape::Closed)
        .then(|| format!("exec $UNDER \"$PROGRAM\" -t1 -c{connections} -d{seconds}s {url}"))
}

/// `  73927 requests in 1.00s, 6.84MB read`; wrk2 says it too.
pub fn said(text: &str) -> Option<Said> {
    let line = text.lines().find(|line| line.contains(" requests in "))?;
    let answers = line.split_whitespace().next()?.parse().ok()?;
    Some(Said { answers, response_us: Percentiles::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_wrk_4_1_0_printed() {
        let text = "Running 1s test @ http://127.0.0.1:38249/
  1 threads and 50 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     0.89ms    1.41ms   9.10ms   87.26%
    Req/Sec    74.22k     4.38k   78.95k    80.00%
  73927 requests in 1.00s, 6.84MB read
Requests/sec:  73798.66
";
        assert_eq!(said(text).unwrap().answers, 73_927);
        assert_eq!(said("unable to connect"), None);
    }
}
