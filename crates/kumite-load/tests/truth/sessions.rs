//! Sessions over real sockets: the load's counts by step are the server's, at any number of connections.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kumite_load::{Expect, Limit, Load, Session, Step, Take, TakePlace, Target};

use super::server::{Server, read_request, write};
use super::{LONG, run};
use crate::io;

/// The requests that a server has answered, by connection and path.
type Asked = Arc<Mutex<BTreeMap<(u64, String), u64>>>;

/// A server that gives each connection tokens of its own, and asks for the last one.
fn server(asked: Asked) -> Server {
    Server::start_on_connections(move |stream, connection| {
        let mut token = 0_u64;
        while let Some(request) = read_request(stream, 0) {
            let text = String::from_utf8(request).unwrap();
            let path = text.split(' ').nth(1).unwrap().to_owned();
            let body = match &*path {
                "/login" => {
                    token += 1;
                    format!("{{\"token\":\"{connection}-{token}\"}}")
                }
                "/me" if !text.contains(&format!("X-Token: {connection}-{token}\r\n")) => {
                    "stranger".to_owned()
                }
                _ => "pong".to_owned(),
            };
            *asked.lock().unwrap().entry((connection, path)).or_default() += 1;
            write(stream, format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len()));
        }
    })
}

#[test]
fn counts_by_step_and_connection_are_the_servers() {
    let Some(io) = io() else { return };
    for (connections, sessions) in [(1, 1_000), (50, 2_000), (1_000, 4_000)] {
        let asked = Asked::default();
        let server = server(asked.clone());
        let step = |path: &str| {
            let target = Target { path: path.to_owned(), ..Target::plain(server.addr) };
            let expect = Expect { equals: Some(b"pong".to_vec()), ..Expect::default() };
            Step { name: path.to_owned(), expect, ..Step::new(target) }
        };
        let take = Take { name: "token".to_owned(), place: TakePlace::json("/token").unwrap() };
        let login = Step { takes: vec![take], expect: Expect::default(), ..step("/login") };
        let mut me = Step { think: Duration::from_millis(1), ..step("/me") };
        me.request.headers = vec![("X-Token".to_owned(), "{{token}}".to_owned())];
        let user = Session { name: "user".to_owned(), weight: 1, steps: vec![login, me, step("/bye")] };
        let plain = Session { weight: 2, ..step("/plain").into() };
        let load = Load {
            connections,
            timeout: LONG,
            io,
            ..Load::of(vec![user, plain], Limit { requests: Some(sessions), duration: None })
        };
        let outcome = run(&load);
        assert_eq!(outcome.errors.total(), 0, "{:?}", outcome.first_wrong);

        let asked = asked.lock().unwrap();
        let total = |path: &str| {
            asked.iter().filter(|((_, own), _)| own == path).map(|(_, count)| count).sum::<u64>()
        };
        let steps = outcome.sessions.iter().flat_map(|session| &session.steps);
        for step in steps {
            assert_eq!((step.ok, step.response.len()), (total(&step.name), step.ok), "{}", step.name);
        }
        let [user, plain] = &outcome.sessions[..] else { panic!("{:?}", outcome.sessions) };
        assert_eq!(user.ok + plain.ok, sessions);
        assert!(user.steps.iter().all(|step| step.ok == user.ok), "all sessions are whole");
        for connection in 1..=connections as u64 {
            let on = |path: &str| asked.get(&(connection, path.to_owned())).copied().unwrap_or(0);
            let users = on("/login");
            assert_eq!([on("/me"), on("/bye")], [users; 2], "connection {connection}");
            assert!((users * 2).abs_diff(on("/plain")) <= 2, "connection {connection}: {users} users");
        }
    }
}
