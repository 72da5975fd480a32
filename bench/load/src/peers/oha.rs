use serde_json::Value;

use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "oha",
        version: "oha --version",
        install: "cargo install oha --locked",
        ways: vec![
            way("oha", "oha", |load| Some(command(load, "")), said),
            // Its schedule and its cost are those of plain oha, its report is not.
            way(
                "oha --latency-correction -w",
                "oha",
                |load| load.shape.is_timed().then(|| command(load, " --latency-correction -w")),
                said,
            ),
        ],
    }
}

fn command(load: &Load, flags: &str) -> String {
    let Load { url, connections, seconds, shape } = load;
    let rate = shape.rate_per_s().map(|rate| format!(" -q {rate}")).unwrap_or_default();
    format!(
        "exec $UNDER \"$PROGRAM\" --no-tui --output-format json -c {connections} -z {seconds}s{rate}{flags} {url}"
    )
}

fn said(text: &str) -> Option<Said> {
    let document: Value = serde_json::from_str(text).ok()?;
    let percentile = |name: &str| Some(document["latencyPercentiles"][name].as_f64()? * 1e6);
    Some(Said {
        answers: document["statusCodeDistribution"]["200"].as_u64()?,
        response_us: Percentiles {
            p50: percentile("p50"),
            p95: percentile("p95"),
            p99: percentile("p99"),
            p99_9: percentile("p99.9"),
            max: Some(document["summary"]["slowest"].as_f64()? * 1e6),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_oha_1_16_0_printed() {
        let text = r#"{"summary": {"successRate": 1.0, "total": 1.001143437, "slowest": 0.005561273, "fastest": 0.000025007},
            "latencyPercentiles": {"p10": 0.000061461, "p50": 0.000084906, "p90": 0.000973528, "p95": 0.002099273,
            "p99": 0.004467186, "p99.9": 0.005561273, "p99.99": 0.005561273},
            "statusCodeDistribution": {"200": 999}, "errorDistribution": {}}"#;
        let said = said(text).unwrap();
        assert_eq!(said.answers, 999);
        let all = Percentiles::NAMED.map(|(_, of)| of(&said.response_us).map(f64::round));
        assert_eq!(all, [85.0, 2099.0, 4467.0, 5561.0, 5561.0].map(Some));
    }
}
