use serde_json::Value;

use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "vegeta",
        version: "vegeta -version | grep -i version",
        install: "go install github.com/tsenart/vegeta/v12@latest",
        ways: vec![way("vegeta", "vegeta", command, said)],
    }
}

/// It has no closed loop. Its report is a run of its own, and counted as others' reports are.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    let rate = shape.rate_per_s()?;
    Some(format!(
        "echo 'GET {url}' | $UNDER \"$PROGRAM\" attack -rate={rate}/1s -duration={seconds}s -workers={connections} \
         -max-workers={connections} -connections={connections} -output=vegeta.bin && \
         exec \"$PROGRAM\" report -type=json vegeta.bin"
    ))
}

fn said(text: &str) -> Option<Said> {
    let document: Value = serde_json::from_str(text).ok()?;
    let latency_us = |name: &str| Some(document["latencies"][name].as_f64()? / 1e3);
    Some(Said {
        answers: document["status_codes"]["200"].as_u64()?,
        response_us: Percentiles {
            p50: latency_us("50th"),
            p95: latency_us("95th"),
            p99: latency_us("99th"),
            p99_9: None,
            max: latency_us("max"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From its manual, shortened.
    #[test]
    fn what_its_manual_shows() {
        let text = r#"{"latencies": {"total": 237119463, "mean": 2371194, "50th": 2854306, "95th": 3478629,
            "99th": 3530000, "max": 3660505}, "requests": 100, "rate": 101.01010672380401, "success": 1,
            "status_codes": {"200": 100}, "errors": []}"#;
        let said = said(text).unwrap();
        assert_eq!(said.answers, 100);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [Some(2854.0), Some(3479.0), Some(3530.0), None, Some(3661.0)]);
    }
}
