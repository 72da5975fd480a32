//! The floor clients of `bench-floor`.

use std::path::Path;

use crate::server::ANSWER;
use crate::{Generator, Load, Percentiles, Said, Shape};

/// Their names in the tables.
pub const IO_URING: &str = "floor io_uring";
/// A `recv` and a `send` for each request.
pub const EPOLL: &str = "floor epoll";
/// The open loop.
pub const SLEEPING: &str = "floor sleeping";

/// All of them; `path` is the program.
pub fn generators(path: &Path) -> Vec<Generator> {
    let make = |name, way: &'static str, offers: fn(&Load) -> bool| Generator {
        name,
        program: path.to_string_lossy().into_owned(),
        command: Box::new(move |load| offers(load).then(|| command(load, way))),
        said,
        peer: false,
    };
    vec![
        make(IO_URING, "io_uring", |load| load.shape == Shape::Closed),
        make(EPOLL, "epoll", |load| load.shape == Shape::Closed),
        make(SLEEPING, "sleeping", |load| matches!(load.shape, Shape::Open(_))),
    ]
}

fn command(load: &Load, way: &str) -> String {
    let port = load.url.trim_end_matches('/').rsplit(':').next().unwrap_or_default();
    let rate = load.shape.rate_per_s().map(|rate| format!(" {rate}")).unwrap_or_default();
    let Load { connections, seconds, .. } = load;
    format!("exec $UNDER \"$PROGRAM\" {way} {port} {connections} {seconds} {}{rate}", ANSWER.len())
}

fn said(text: &str) -> Option<Said> {
    let answers = text.trim().strip_prefix("requests ")?.parse().ok()?;
    Some(Said { answers, response_us: Percentiles::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count() {
        assert_eq!(said("requests 12\n").unwrap().answers, 12);
        assert_eq!(said("requests\n"), None);
    }
}
