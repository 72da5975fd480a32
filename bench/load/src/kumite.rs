//! `kumite load`, in the ways that are compared.

use std::path::Path;

use serde::Deserialize;

use crate::{Generator, Load, Percentiles, Said, Shape};

/// Its names in the tables.
pub const IO_URING: &str = "kumite io_uring";
/// With the other transport.
pub const EPOLL: &str = "kumite epoll";
/// As it is when nothing is said, with a schedule.
pub const PRECISE: &str = "kumite";
/// With as little CPU as its schedule allows.
pub const ECONOMY: &str = "kumite --economy";
/// Both transports.
pub const BOTH: [&str; 2] = [IO_URING, EPOLL];

/// All of them, with their thread on `core`. They are told so, for a program that may use no other cannot know that the
/// server does not.
pub fn generators(path: &Path, core: usize) -> Vec<Generator> {
    let program = path.to_string_lossy().into_owned();
    let make = |name, flags: &'static str, open: bool| Generator {
        name,
        program: program.clone(),
        command: Box::new(move |load| {
            (open == matches!(load.shape, Shape::Open(_))).then(|| command(load, core, flags))
        }),
        said,
        peer: false,
    };
    vec![
        make(IO_URING, " --io io_uring", false),
        make(EPOLL, " --io epoll", false),
        make(PRECISE, "", true),
        make(ECONOMY, " --economy", true),
    ]
}

/// The flag by which it is told the server's answer.
pub const EXPECTED: &str = " --expect-body pong";

/// The kumite at `program`, under another name and with more flags, in a closed loop.
pub fn asking(name: &'static str, program: &str, core: usize, flags: &'static str) -> Generator {
    Generator {
        name,
        program: program.to_owned(),
        command: Box::new(move |load| Some(asked(load, core, flags))),
        said,
        peer: false,
    }
}

fn command(load: &Load, core: usize, flags: &str) -> String {
    asked(load, core, &format!("{flags}{EXPECTED}"))
}

fn asked(load: &Load, core: usize, flags: &str) -> String {
    let Load { url, connections, seconds, shape } = load;
    let rate = shape.rate_per_s().map(|rate| format!(" --rate {rate}")).unwrap_or_default();
    format!(
        "exec $UNDER \"$PROGRAM\" load {url} -c {connections} -z {seconds}s -t 5s --cores {core}{flags}{rate} --json -"
    )
}

/// Of what `--json` prints, what is needed here.
#[derive(Deserialize)]
struct Document {
    requests: u64,
    ok: u64,
    #[serde(default)]
    drained: u64,
    response_us: Option<Response>,
    histogram_us: Vec<(f64, u64)>,
}

#[derive(Deserialize)]
struct Response {
    p50: Option<f64>,
    p99: Option<f64>,
    p99_9: Option<f64>,
    max: f64,
}

fn said(text: &str) -> Option<Said> {
    let document: Document = serde_json::from_str(text).ok()?;
    // The server does not fail.
    if document.ok != document.requests {
        return None;
    }
    let percentiles = |response: Response| Percentiles {
        p50: response.p50,
        p95: of_histogram(&document.histogram_us, 0.95),
        p99: response.p99,
        p99_9: response.p99_9,
        max: Some(response.max),
    };
    let response_us = document.response_us.map(percentiles).unwrap_or_default();
    Some(Said { answers: document.ok + document.drained, response_us })
}

/// The upper end of the bin in which this share of all is reached.
fn of_histogram(bins: &[(f64, u64)], share: f64) -> Option<f64> {
    let all: u64 = bins.iter().map(|(_, count)| count).sum();
    let mut until = 0;
    bins.iter()
        .find(|(_, count)| {
            until += count;
            until as f64 >= share * all as f64
        })
        .map(|(end, _)| *end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document() {
        let text = r#"{"schema":1,"requests":20,"ok":20,"drained":2,"response_us":{"mean":3,"p50":90.0,"p90":null,
            "p99":null,"p99_9":null,"max":400},"histogram_us":[[90,10],[100,8],[200,1],[400,1]],"more":{}}"#;
        let said_now = said(text).unwrap();
        assert_eq!(said_now.answers, 22);
        assert_eq!(
            Percentiles::NAMED.map(|(_, of)| of(&said_now.response_us)),
            [Some(90.0), Some(200.0), None, None, Some(400.0)]
        );
        assert_eq!(said(&text.replace("\"ok\":20", "\"ok\":19")), None);
        assert_eq!(said("error"), None);
    }
}
