//! The load's counts by request and by step are the server's, at any number of connections, on each protocol; and each
//! connection has its share of each session, with its own values.

mod counted;
#[allow(dead_code)]
mod secure;

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use counted::Server;
use kumite_load::{Expect, Http, Limit, Load, Session, Step, Take, TakePlace, Target, Trust};
use secure::Identity;

/// Nothing takes so long unless something is wrong, on a machine that stands still for a while neither.
const LONG: Duration = Duration::from_secs(60);

#[test]
fn counts_are_the_servers_in_http1() {
    assert_counts(Http::Http1, false);
}

#[test]
fn counts_are_the_servers_in_http1_in_tls() {
    assert_counts(Http::Http1, true);
}

#[test]
fn counts_are_the_servers_in_http2() {
    assert_counts(Http::Http2, false);
}

#[test]
fn counts_are_the_servers_in_http2_in_tls() {
    assert_counts(Http::Http2, true);
}

/// A session of three steps, and a mix of two requests.
fn sessions(target: &Target) -> Vec<Session> {
    let step = |path: &str| {
        let target = Target { path: path.to_owned(), ..target.clone() };
        let expect = Expect { status: Some(200), equals: Some(b"pong".to_vec()), ..Expect::default() };
        Step { name: path[1..].split_once('/').unwrap().0.to_owned(), expect, ..Step::new(target) }
    };
    let take = Take { name: "token".to_owned(), place: TakePlace::json("/token").unwrap() };
    let login = Step { takes: vec![take], expect: Expect::default(), ..step("/login/{{seq}}") };
    let me = Step { think: Duration::from_millis(1), ..step("/me/{{token}}") };
    let user = Session { name: "user".to_owned(), weight: 2, steps: vec![login, me, step("/bye/{{token}}")] };
    let alone = |path, weight| Session { weight, ..step(path).into() };
    vec![user, alone("/often/{{seq}}", 5), alone("/rarely/{{seq}}", 1)]
}

fn assert_counts(http: Http, secure: bool) {
    let identity = Identity::new("localhost");
    for (connections, count) in [(1, 800), (50, 4_000), (1_000, 16_000)] {
        let tls = secure.then(|| {
            let mut config = rustls::ServerConfig::clone(&identity.config);
            config.alpn_protocols = if http == Http::Http2 { vec![b"h2".to_vec()] } else { Vec::new() };
            Arc::new(config)
        });
        let server = Server::start(http == Http::Http2, tls);
        let sessions = sessions(&Target { secure, ..Target::plain(server.addr) });
        let weights: Vec<u64> = sessions.iter().map(|session| u64::from(session.weight)).collect();
        let load = Load {
            connections,
            pipeline: if http == Http::Http2 { 3 } else { 1 },
            http,
            trust: Trust::Any,
            timeout: LONG,
            ..Load::of(sessions, Limit { requests: Some(count), duration: None })
        };
        let outcome = load.run(&AtomicBool::new(false), &mut |_| {}).unwrap();
        assert_eq!((outcome.errors.total(), outcome.reconnects), (0, 0), "{:?}", outcome.first_wrong);
        let asked = server.stop();

        let mut all = 0;
        for session in &outcome.sessions {
            for step in &session.steps {
                let total: u64 =
                    asked.iter().filter(|((_, name), _)| *name == step.name).map(|(_, asked)| asked).sum();
                assert_eq!((step.ok, step.response.len()), (total, total), "{} of {connections}", step.name);
                assert_eq!((session.ok, session.failed), (step.ok, 0), "all sessions are whole");
                all += total;
            }
        }
        assert_eq!((outcome.requests, asked.values().sum::<u64>()), (all, all));
        assert_eq!(outcome.sessions.iter().map(|session| session.ok).sum::<u64>(), count);

        let on =
            |connection: u64, name: &str| asked.get(&(connection, name.to_owned())).copied().unwrap_or(0);
        for connection in 1..=connections as u64 {
            let begun = ["login", "often", "rarely"].map(|name| on(connection, name));
            assert_eq!(
                [on(connection, "me"), on(connection, "bye")],
                [begun[0]; 2],
                "connection {connection}"
            );
            let (own, of) = (begun.iter().sum::<u64>(), weights.iter().sum::<u64>());
            for (begun, weight) in begun.into_iter().zip(&weights) {
                // A connection begins somewhere in the cycle of its turns.
                assert!(
                    (begun * of).abs_diff(own * weight) < 2 * of,
                    "connection {connection}: {begun} of {own}"
                );
            }
        }
        assert_eq!(asked.keys().map(|(connection, _)| connection).max(), Some(&(connections as u64)));
    }
}
