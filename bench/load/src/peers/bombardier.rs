use crate::peers::text::{duration_us, number_after};
use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "bombardier",
        version: "bombardier --version 2>&1",
        install: "go install github.com/codesenberg/bombardier@latest",
        ways: vec![way("bombardier", "bombardier", command, said)],
    }
}

fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    let rate = shape.rate_per_s().map(|rate| format!(" -r {rate}")).unwrap_or_default();
    Some(format!("exec $UNDER \"$PROGRAM\" -c {connections} -d {seconds}s -l{rate} {url}"))
}

fn said(text: &str) -> Option<Said> {
    let percentile = |before| duration_us(number_after(text, before)?);
    // `Latency  average  deviation  max`, not `Latency Distribution`.
    let latency = text.lines().find_map(|line| {
        let mut words = line.split_whitespace();
        if words.next() == Some("Latency") { duration_us(words.nth(2)?) } else { None }
    });
    Some(Said {
        answers: number_after(text, "2xx - ")?.trim_end_matches(',').parse().ok()?,
        response_us: Percentiles {
            p50: percentile(" 50%"),
            p95: percentile(" 95%"),
            p99: percentile(" 99%"),
            p99_9: None,
            max: latency,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From its manual, with answers that are right.
    #[test]
    fn what_its_manual_shows() {
        let text = "Bombarding http://ya.ru for 10s using 200 connections
[=========================================================================] 10s Done!
Statistics        Avg      Stdev        Max
  Reqs/sec      6607.00     524.56       7109
  Latency       29.86ms     5.36ms   305.02ms
  Latency Distribution
     50%    28.00ms
     75%    32.00ms
     90%    34.00ms
     99%    48.00ms
  HTTP codes:
    1xx - 0, 2xx - 66561, 3xx - 0, 4xx - 0, 5xx - 0
    others - 5
";
        let said = said(text).unwrap();
        assert_eq!(said.answers, 66_561);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [Some(28_000.0), None, Some(48_000.0), None, Some(305_020.0)]);
    }
}
