use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said};

pub fn peer() -> Peer {
    Peer {
        program: "h2load",
        version: "h2load --version",
        install: "apt-get install nghttp2-client",
        ways: vec![way("h2load", "h2load", command, said)],
    }
}

/// Its rate is for each connection; its percentiles are only to be had from its log.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    let rate = match shape.rate_per_s() {
        Some(rate) => format!(" --rps={}", f64::from(rate) / f64::from(*connections)),
        None => String::new(),
    };
    let plain = format!("$UNDER \"$PROGRAM\" --h1 -t1 -c{connections} -D{seconds}{rate}");
    Some(match shape.is_timed() {
        false => format!("exec {plain} {url}"),
        true => format!("rm -f h2load.log; {plain} --log-file=h2load.log {url} && exec cat h2load.log"),
    })
}

/// `requests: 4000 total, 4000 started, 4000 done, …`, and from its log lines of `started_us status took_us`.
fn said(text: &str) -> Option<Said> {
    let line = text.lines().find_map(|line| line.strip_prefix("requests: "))?;
    let done = line.split(", ").find_map(|part| part.strip_suffix(" succeeded"))?;
    let took_us = text.lines().filter_map(|line| {
        let mut fields = line.split('\t');
        fields.next()?.parse::<u64>().ok()?;
        fields.next()?.parse::<u16>().ok()?;
        fields.next()?.parse::<f64>().ok()
    });
    Some(Said { answers: done.parse().ok()?, response_us: Percentiles::of(took_us.collect()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_h2load_1_52_0_printed_and_logged() {
        let text = "starting benchmark...
Application protocol: http/1.1

finished in 2.01s, 2000.00 req/s, 189.45KB/s
requests: 4000 total, 4000 started, 4000 done, 4000 succeeded, 0 failed, 0 errored, 0 timeout
status codes: 4000 2xx, 0 3xx, 0 4xx, 0 5xx
time for request:      178us     78.70ms      5.43ms      8.44ms    88.85%
1795265511737166\t200\t1007
1795265511737173\t200\t1026
1795265511737178\t200\t1024
";
        let said = said(text).unwrap();
        assert_eq!(said.answers, 4000);
        assert_eq!((said.response_us.p50, said.response_us.max), (Some(1024.0), Some(1026.0)));
    }
}
