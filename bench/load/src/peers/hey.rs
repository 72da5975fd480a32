use crate::peers::text::number_after;
use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "hey",
        version: "go version -m \"$(command -v hey)\" 2>/dev/null | awk '$1 == \"mod\" { print $2, $3 }' | grep . || echo hey",
        install: "apt-get install hey",
        ways: vec![way("hey", "hey", command, said)],
    }
}

/// Its rate is for each connection.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    let rate = match shape.rate_per_s() {
        Some(rate) => format!(" -q {}", f64::from(rate) / f64::from(*connections)),
        None => String::new(),
    };
    Some(format!("exec $UNDER \"$PROGRAM\" -z {seconds}s -c {connections}{rate} {url}"))
}

fn said(text: &str) -> Option<Said> {
    let line = text.lines().find(|line| line.contains("[200]"))?;
    let answers = line.split_once("[200]")?.1.split_whitespace().next()?.parse().ok()?;
    // Version 0.1.5 prints `50%%`.
    let plain = text.replace("%%", "%");
    let seconds = |before| Some(number_after(&plain, before)?.parse::<f64>().ok()? * 1e6);
    Some(Said {
        answers,
        response_us: Percentiles {
            p50: seconds("50% in "),
            p95: seconds("95% in "),
            p99: seconds("99% in "),
            p99_9: None,
            max: seconds("Slowest:"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hey_0_1_5_printed() {
        let text = "
Summary:
  Total:\t2.0067 secs
  Slowest:\t0.0150 secs
  Fastest:\t0.0001 secs
  Average:\t0.0018 secs
  Requests/sec:\t1993.3448

Latency distribution:
  10%% in 0.0004 secs
  25%% in 0.0007 secs
  50%% in 0.0014 secs
  75%% in 0.0023 secs
  90%% in 0.0038 secs
  95%% in 0.0045 secs
  99%% in 0.0127 secs

Status code distribution:
  [200]\t4000 responses
";
        let said = said(text).unwrap();
        assert_eq!(said.answers, 4000);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [Some(1400.0), Some(4500.0), Some(12_700.0), None, Some(15_000.0)]);
    }
}
