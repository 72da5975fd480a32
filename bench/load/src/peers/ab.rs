use crate::peers::text::number_after;
use crate::peers::{Peer, way};
use crate::{Load, Percentiles, Said, Shape};

pub fn peer() -> Peer {
    Peer {
        program: "ab",
        version: "ab -V",
        install: "apt-get install apache2-utils",
        ways: vec![way("ab (HTTP/1.0)", "ab", command, said)],
    }
}

/// It has no schedule. It ends after 50,000 requests if it is not told otherwise, after the time.
fn command(load: &Load) -> Option<String> {
    let Load { url, connections, seconds, shape } = load;
    (*shape == Shape::Closed)
        .then(|| format!("exec $UNDER \"$PROGRAM\" -k -q -c {connections} -t {seconds} -n 10000000 {url}"))
}

fn said(text: &str) -> Option<Said> {
    let answers = number_after(text, "Complete requests:")?.parse().ok()?;
    Some(Said { answers, response_us: Percentiles::default() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ab_2_3_printed() {
        let text = "Server Software:        pong
Concurrency Level:      50
Time taken for tests:   1.005 seconds
Complete requests:      25241
Failed requests:        0
Keep-Alive requests:    25241
";
        assert_eq!(said(text).unwrap().answers, 25_241);
        assert_eq!(said("apr_socket_recv: Connection refused (111)"), None);
    }
}
