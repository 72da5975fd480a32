use crate::peers::text::duration_us;
use crate::peers::{Peer, way, wrk};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "wrk2",
        version: "wrk2 -v || true",
        install: "build it from its sources (github.com/giltene/wrk2) and put the program on PATH as wrk2",
        ways: vec![way("wrk2", "wrk2", command, said)],
    }
}

/// It has no closed loop.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    let rate = shape.rate_per_s()?;
    Some(format!("exec $UNDER \"$PROGRAM\" -t1 -c{connections} -d{seconds}s -R{rate} --latency {url}"))
}

/// Of its first table, and of the spectrum below it, which has the 95th percentile.
fn said(text: &str) -> Option<Said> {
    let in_table = |percentile: &str| {
        let (_, value) = text.lines().find_map(|line| line.split_once(percentile))?;
        duration_us(value.trim())
    };
    let in_spectrum = |share: &str| {
        let line = text.lines().find(|line| line.split_whitespace().nth(1) == Some(share))?;
        Some(line.split_whitespace().next()?.parse::<f64>().ok()? * 1e3)
    };
    Some(Said {
        answers: wrk::said(text)?.answers,
        response_us: Percentiles {
            p50: in_table(" 50.000%"),
            p95: in_spectrum("0.950000"),
            p99: in_table(" 99.000%"),
            p99_9: in_table(" 99.900%"),
            max: in_table("100.000%"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From its manual, shortened.
    #[test]
    fn what_its_manual_shows() {
        let text = "Running 30s test @ http://127.0.0.1:80/index.html
  2 threads and 100 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.60ms    1.92ms  12.50ms   68.46%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.67ms
 99.000%   11.18ms
 99.900%   12.30ms
100.000%   12.50ms

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

       9.903     0.943750        37280        17.78
      10.015     0.950000        37543        20.00
#[Max     =       12.496, Total count    =        39500]
----------------------------------------------------------
  60018 requests in 30.00s, 19.81MB read
";
        let said = said(text).unwrap();
        assert_eq!(said.answers, 60_018);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [6670.0, 10_015.0, 11_180.0, 12_300.0, 12_500.0].map(Some));
    }
}
