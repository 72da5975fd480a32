use serde_json::Value;

use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "k6",
        version: "k6 version",
        install: "go install go.k6.io/k6@latest",
        ways: vec![way("k6", "k6", command, said)],
    }
}

/// A virtual user for each connection; with a schedule too, because each has a connection of its own.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    // It takes seconds and hundreds of MiB to make 10,000 users.
    if *connections > 1000 {
        return None;
    }
    let options = match shape.rate_per_s() {
        None => format!("vus: {connections}, duration: '{seconds}s'"),
        Some(rate) => format!(
            "scenarios: {{ open: {{ executor: 'constant-arrival-rate', rate: {rate}, timeUnit: '1s', \
             duration: '{seconds}s', preAllocatedVUs: {connections}, maxVUs: {connections} }} }}"
        ),
    };
    Some(format!(
        "exec $UNDER \"$PROGRAM\" run --quiet --no-usage-report - <<'SCRIPT'
import http from 'k6/http';
export const options = {{ {options}, summaryTrendStats: ['p(50)', 'p(95)', 'p(99)', 'p(99.9)', 'max'] }};
export default function () {{ http.get('{url}'); }}
export function handleSummary(data) {{ return {{ stdout: JSON.stringify(data) }}; }}
SCRIPT"
    ))
}

fn said(text: &str) -> Option<Said> {
    let metrics = serde_json::from_str::<Value>(text).ok()?["metrics"].take();
    let duration_us = |name: &str| Some(metrics["http_req_duration"]["values"][name].as_f64()? * 1e3);
    Some(Said {
        answers: metrics["http_reqs"]["values"]["count"].as_u64()?,
        response_us: Percentiles {
            p50: duration_us("p(50)"),
            p95: duration_us("p(95)"),
            p99: duration_us("p(99)"),
            p99_9: duration_us("p(99.9)"),
            max: duration_us("max"),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_k6_1_8_1_printed() {
        let text = r#"{"metrics":{"vus":{"type":"gauge","values":{"value":50,"min":50,"max":50}},
            "http_req_duration":{"type":"trend","contains":"time","values":{"max":49.379438,"p(50)":5.623350500000001,
            "p(95)":26.069702099999997,"p(99)":38.25504756999997,"p(99.9)":44.76869655400009}},
            "http_reqs":{"type":"counter","values":{"count":5998,"rate":5993.143569977796}}},"root_group":{}}"#;
        let said = said(text).unwrap();
        assert_eq!(said.answers, 5998);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [5623.0, 26_070.0, 38_255.0, 44_769.0, 49_379.0].map(Some));
    }
}
