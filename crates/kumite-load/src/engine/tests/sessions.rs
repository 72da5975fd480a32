//! Sessions of several steps: their order, their times, and how they end.

use std::cell::RefCell;
use std::rc::Rc;

use super::*;
use crate::{Arrivals, Session, Take, TakePlace};

/// A request as the server has it: its instant, its connection from 1, its method and path.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Visit {
    at: u64,
    connection: u64,
    path: String,
}

type Visits = Rc<RefCell<Vec<Visit>>>;

/// A server that answers by path.
struct ByPath<F> {
    answer: F,
    visits: Visits,
}

impl<F: FnMut(&Visit) -> Deeds> Server for ByPath<F> {
    fn receive(&mut self, connection: u64, at: u64, bytes: &[u8]) -> Deeds {
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        let path = text.split(' ').nth(1).unwrap().to_owned();
        let visit = Visit { at, connection, path };
        self.visits.borrow_mut().push(visit.clone());
        (self.answer)(&visit)
    }
}

/// The outcome of a load, and the requests that the server had.
fn visited(load: &Load, answer: impl FnMut(&Visit) -> Deeds) -> (Outcome, Vec<Visit>) {
    let visits = Visits::default();
    let outcome = run(load, ByPath { answer, visits: visits.clone() });
    let steps = outcome.sessions.iter().flat_map(|session| &session.steps);
    let (ok, errors) = steps.fold((0, 0), |(ok, errors), step| {
        assert_eq!(step.response.len(), step.ok);
        (ok + step.ok, errors + step.errors.total())
    });
    assert_eq!((ok, errors), (outcome.ok, outcome.errors.total()), "the sums are those of all");
    let visits = visits.borrow().clone();
    (outcome, visits)
}

fn step(path: &str, think: u64) -> Step {
    let mut step = load(0).sessions[0].steps[0].clone();
    step.target.path = path.to_owned();
    Step { name: path.to_owned(), think: ns(think), ..step }
}

fn session(name: &str, steps: &[Step]) -> Session {
    Session { name: name.to_owned(), weight: 1, steps: steps.to_vec() }
}

fn of(sessions: &[Session], load: Load) -> Load {
    Load { sessions: sessions.to_vec(), ..load }
}

/// `/a`, and after 5 ms `/b`, and at once `/c`.
fn abc() -> Session {
    session("abc", &[step("/a", 0), step("/b", 5 * MS), step("/c", 0)])
}

fn a_second(rate: f64) -> Load {
    Load { arrivals: Some(Arrivals::constant(rate)), ..lasting(1_000) }
}

/// For each step the number of right answers and of failures.
fn by_step(outcome: &Outcome) -> Vec<(u64, u64)> {
    let steps = outcome.sessions.iter().flat_map(|session| &session.steps);
    steps.map(|step| (step.ok, step.errors.total())).collect()
}

fn paths(visits: &[Visit]) -> Vec<&str> {
    visits.iter().map(|visit| visit.path.as_str()).collect()
}

#[test]
fn steps_come_in_order_on_their_connection_each_after_its_pause() {
    let (outcome, visits) = visited(&of(&[abc()], load(20)), |visit| pong(visit.at + MS));
    assert_eq!(paths(&visits), ["/a", "/b", "/c"].repeat(20));
    for (nth, session) in visits.chunks(3).enumerate() {
        // 1 ms for each answer, and the pause.
        let began = nth as u64 * 8 * MS;
        let at: Vec<u64> = session.iter().map(|visit| visit.at - began).collect();
        assert_eq!(at, [0, 6 * MS, 7 * MS]);
    }
    assert_eq!((outcome.ok, by_step(&outcome)), (60, vec![(20, 0); 3]));
    let abc = &outcome.sessions[0];
    assert_eq!((abc.ok, abc.failed, outcome.elapsed), (20, 0, ms(160)));
    assert!(abc.time.equivalent(abc.time.min(), 8 * MS) && abc.time.equivalent(abc.time.max(), 8 * MS));
    for step in &abc.steps {
        assert!(step.response.equivalent(step.response.max(), MS), "{}", step.name);
    }
}

#[test]
fn a_connection_is_its_sessions_until_it_ends() {
    let load = Load { connections: 50, ..of(&[abc(), session("d", &[step("/d", 0)])], load(1_000)) };
    let (outcome, visits) = visited(&load, |visit| pong(visit.at + visit.connection * 10 * US));
    for connection in 1..=50 {
        let own: Vec<Visit> = visits.iter().filter(|it| it.connection == connection).cloned().collect();
        let sessions: Vec<&str> = paths(&own);
        // Both in turn, from either; the last session of a connection is whole, because only 1,000 are begun.
        let mut rest = &sessions[usize::from(sessions[0] == "/d")..];
        while !rest.is_empty() {
            assert_eq!(rest[..3], ["/a", "/b", "/c"], "connection {connection}");
            rest = &rest[3..];
            if let Some((first, after)) = rest.split_first() {
                assert_eq!(*first, "/d", "connection {connection}");
                rest = after;
            }
        }
    }
    let [abc, d] = &outcome.sessions[..] else { panic!("{:?}", outcome.sessions) };
    assert_eq!((abc.ok + d.ok, abc.failed + d.failed), (1_000, 0));
    assert!(abc.ok.abs_diff(d.ok) <= 50, "{} {}", abc.ok, d.ok);
    let asked = |path: &str| visits.iter().filter(|visit| visit.path == path).count() as u64;
    let steps: Vec<u64> = by_step(&outcome).into_iter().map(|(ok, _)| ok).collect();
    assert_eq!(steps, ["/a", "/b", "/c", "/d"].map(asked));
    assert_eq!(steps[..3], [abc.ok; 3]);
    assert_eq!((d.time.len(), d.time.max()), (d.ok, d.steps[0].response.max()), "of one step");
}

#[test]
fn each_connection_has_its_share_of_each_session() {
    let weighed = |path: &str, weight| Session { weight, ..session(path, &[step(path, 0)]) };
    let sessions = [weighed("/a", 5), weighed("/b", 3), weighed("/c", 2)];
    let load = Load { connections: 10, log: false, ..of(&sessions, load(100_000)) };
    let (outcome, visits) = visited(&load, |visit| pong(visit.at + MS));
    for connection in 1..=10 {
        let own: Vec<&Visit> = visits.iter().filter(|visit| visit.connection == connection).collect();
        assert_eq!(own.len(), 10_000);
        for (path, share) in [("/a", 5_000_usize), ("/b", 3_000), ("/c", 2_000)] {
            let had = own.iter().filter(|visit| visit.path == path).count();
            assert!(had.abs_diff(share) <= 1, "{had} of {path} on connection {connection}");
        }
    }
    let all = by_step(&outcome);
    for ((ok, _), share) in all.into_iter().zip([50_000_u64, 30_000, 20_000]) {
        assert!(ok.abs_diff(share) <= 10, "{ok} of {share}");
    }
}

/// A stall of 500 ms in an open loop of 100 sessions a second, on enough connections.
#[test]
fn after_a_stall_first_steps_count_from_when_they_were_due_and_later_ones_from_the_answer_before() {
    let stall = 300 * MS..800 * MS;
    let session = session("abc", &[step("/a", 0), step("/b", 15 * MS), step("/c", 0)]);
    let load = Load { connections: 100, ..of(&[session], a_second(100.0)) };
    let (outcome, visits) = visited(&load, |visit| {
        let at = if stall.contains(&visit.at) { stall.end } else { visit.at };
        pong(at + MS)
    });
    assert_eq!((outcome.ok, visits.len(), by_step(&outcome)), (300, 300, vec![(100, 0); 3]));
    let abc = &outcome.sessions[0];
    // The session that was due at 300 ms waits for 500 ms, and so on; the one that had its first answer at 291 ms has
    // its second step in the stall.
    let waited = |due: u64| if stall.contains(&due) { stall.end - due } else { 0 };
    for due in (0..100).map(|nth| nth * 10 * MS) {
        let first = due + waited(due) + MS;
        let second = first + 15 * MS;
        let second_answer = second + waited(second) + MS;
        let took = second_answer + MS - due;
        assert!(abc.time.count_between(took, took) > 0, "a session that was due at {due} ns took {took} ns");
    }
    assert!(abc.steps[0].response.equivalent(abc.steps[0].response.max(), 501 * MS));
    // Of 100 sessions 50 were due in the stall.
    let slow =
        |step: usize| abc.steps[step].response.iter_recorded().filter(|it| it.value_iterated_to() > 2 * MS);
    assert_eq!(slow(0).map(|it| it.count_at_value()).sum::<u64>(), 50);
    assert_eq!(slow(1).map(|it| it.count_at_value()).sum::<u64>(), 1);
    assert_eq!(slow(2).count(), 0);
}

/// The machine wakes 60 µs late: a step counts from when it was due, not from when it was sent.
#[test]
fn a_step_that_is_sent_late_counts_from_the_end_of_its_pause() {
    let machine = Machine { wakes_late: 60 * US, ..Machine::default() };
    let load = Load { arrivals: Some(Arrivals::constant(10.0)), ..of(&[abc()], lasting(1_000)) };
    let visits = Visits::default();
    let server = ByPath { answer: |visit: &Visit| pong(visit.at + MS), visits: visits.clone() };
    let outcome = machine.run(&load, server);
    let second = &outcome.sessions[0].steps[1].response;
    assert_eq!((second.len(), outcome.errors.total()), (10, 0));
    // Both the end of the pause and the answer were noticed late.
    assert!(second.equivalent(second.min(), MS + 120 * US), "{}", second.min());
    let waits = machine.waits.get();
    assert!(waits < 1_000, "it slept through the pauses: {waits} waits");
}

#[test]
fn a_step_that_fails_ends_its_session() {
    let wrong = PONG.replace("200", "403");
    let mut nth = 0;
    let (outcome, visits) = visited(&of(&[abc()], load(10)), |visit| {
        nth += u64::from(visit.path == "/b");
        let answer = if visit.path == "/b" && nth % 5 == 0 { &wrong } else { PONG };
        vec![say(visit.at + MS, answer)]
    });
    assert_eq!(by_step(&outcome), [(10, 0), (8, 2), (8, 0)]);
    let abc = &outcome.sessions[0];
    assert_eq!((abc.ok, abc.failed, abc.time.len()), (8, 2, 8));
    assert_eq!((abc.steps[1].errors.status, outcome.reconnects), (2, 0));
    assert_eq!(visits.len(), 28);
    assert_eq!(outcome.first_wrong.as_deref(), Some("status 403, 4 bytes; from /b of abc"));
}

fn taking(path: &str, name: &str, place: TakePlace) -> Step {
    let any = Expect { status: Some(200), ..Expect::default() };
    Step { takes: vec![Take { name: name.to_owned(), place }], expect: any, ..step(path, 0) }
}

#[test]
fn a_value_is_used_in_later_steps_of_its_session_and_no_other() {
    let login = taking("/login/{{seq}}", "token", TakePlace::json("/token").unwrap());
    let steps = [login, step("/me/{{token}}", MS), step("/again/{{token}}?{{seq}}", MS)];
    let load = Load { connections: 7, ..of(&[session("user", &steps)], load(200)) };
    let answer = |body: &str| format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    let (outcome, visits) = visited(&load, |visit| match visit.path.strip_prefix("/login/") {
        Some(seq) => {
            vec![say(visit.at + visit.connection * US, &answer(&format!("{{\"token\":\"t{seq}\"}}")))]
        }
        None => pong(visit.at + MS),
    });
    assert_eq!(by_step(&outcome), vec![(200, 0); 3]);
    for connection in 1..=7 {
        let own: Vec<Visit> = visits.iter().filter(|it| it.connection == connection).cloned().collect();
        for session in paths(&own).chunks(3) {
            let seq = session[0].strip_prefix("/login/").unwrap();
            assert_eq!(session[1..], [format!("/me/t{seq}"), format!("/again/t{seq}?{seq}")]);
        }
    }
}

#[test]
fn a_value_that_cannot_be_taken_is_a_failure_of_its_own() {
    let steps = [taking("/login", "token", TakePlace::header("x-token").unwrap()), step("/me/{{token}}", 0)];
    let (outcome, visits) = visited(&of(&[session("user", &steps)], load(5)), |visit| pong(visit.at + MS));
    assert_eq!(outcome.errors, Errors { untaken: 5, ..Errors::default() });
    assert_eq!((by_step(&outcome), visits.len()), (vec![(0, 5), (0, 0)], 5));
    assert_eq!(
        outcome.first_wrong.as_deref(),
        Some(
            "no value for {{token}}: the answer has no header x-token (status 200, 4 bytes); from /login of user"
        )
    );
}

#[test]
fn a_session_goes_on_over_the_connection_that_replaces_a_closed_one() {
    // The server closes while the user thinks: announced, or just so.
    let announced = PONG.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
    for (first, ends) in [(&*announced, false), (PONG, true)] {
        for open in [false, true] {
            let load = of(&[abc()], if open { a_second(10.0) } else { load(10) });
            let (outcome, visits) = visited(&load, |visit| {
                let mut deeds = vec![say(visit.at + MS, if visit.path == "/a" { first } else { PONG })];
                if ends && visit.path == "/a" {
                    deeds.push((visit.at + 2 * MS, Deed::End));
                }
                deeds
            });
            assert_eq!(by_step(&outcome), vec![(10, 0); 3], "{ends} {open}: {:?}", outcome.first_wrong);
            let connections: Vec<u64> = visits.iter().map(|visit| visit.connection).collect();
            let expected: Vec<u64> = (1..=10).flat_map(|nth| [nth, nth + 1, nth + 1]).collect();
            assert_eq!((connections, outcome.reconnects), (expected, 10));
        }
    }
}

#[test]
fn a_connection_that_breaks_under_a_request_ends_its_session() {
    let (outcome, visits) = visited(&of(&[abc()], load(4)), |visit| match visit.path.as_str() {
        "/b" => vec![(visit.at + MS, Deed::End)],
        _ => pong(visit.at + MS),
    });
    assert_eq!(paths(&visits), ["/a", "/b"].repeat(4));
    assert_eq!((by_step(&outcome), outcome.errors.closed), (vec![(4, 0), (0, 4), (0, 0)], 4));
    assert_eq!((outcome.sessions[0].failed, outcome.reconnects), (4, 3));
}

#[test]
fn a_session_whose_connection_cannot_be_replaced_has_failed() {
    let refused = |connection: u64, at: u64| {
        Some((at, if connection == 2 { Err(rustix::io::Errno::CONNREFUSED) } else { Ok(()) }))
    };
    let visits = Visits::default();
    let answer = |visit: &Visit| match (visit.connection, visit.path.as_str()) {
        (1, "/a") => vec![say(visit.at + MS, PONG), (visit.at + 2 * MS, Deed::End)],
        _ => pong(visit.at + MS),
    };
    let server = Connecting { connect: refused, server: ByPath { answer, visits: visits.clone() } };
    let outcome = run(&of(&[abc()], load(3)), server);
    assert_eq!((by_step(&outcome), outcome.errors.refused), (vec![(3, 0), (2, 1), (2, 0)], 1));
    assert_eq!(paths(&visits.borrow()), ["/a", "/a", "/b", "/c", "/a", "/b", "/c"]);
}

#[test]
fn a_closed_loop_counts_the_steps_that_finish_in_its_window_and_begins_none_after_it() {
    // A session takes 8 ms, so that the sixth is cut in its pause.
    let (outcome, visits) = visited(&of(&[abc()], lasting(43)), |visit| pong(visit.at + MS));
    assert_eq!((by_step(&outcome), visits.len()), (vec![(6, 0), (5, 0), (5, 0)], 16));
    let abc = &outcome.sessions[0];
    assert_eq!((abc.ok, abc.failed, outcome.drained, outcome.unanswered), (5, 0, 0, 0));
    assert_eq!(outcome.elapsed, ms(43));
}

#[test]
fn an_open_loop_finishes_the_sessions_that_were_due_in_its_window() {
    let long = session("long", &[step("/a", 0), step("/b", 3_000 * MS)]);
    let load = Load { timeout: ms(100), connections: 10, ..of(&[long], a_second(10.0)) };
    let (outcome, visits) = visited(&load, |visit| pong(visit.at + MS));
    assert_eq!((by_step(&outcome), outcome.sessions[0].ok), (vec![(10, 0), (10, 0)], 10));
    assert_eq!(visits.last().map(|visit| visit.at), Some(900 * MS + 3_001 * MS));
    assert_eq!((outcome.elapsed, outcome.send_lag.max()), (ms(1_000), 0));
}

#[test]
fn sessions_of_the_warm_up_are_not_of_the_window() {
    let load = Load { warm_up: ms(500), connections: 10, ..of(&[abc()], a_second(100.0)) };
    let (outcome, visits) = visited(&load, |visit| pong(visit.at + MS));
    assert_eq!((outcome.warm_up_requests, visits.len()), (150, 450));
    assert_eq!((by_step(&outcome), outcome.sessions[0].ok), (vec![(100, 0); 3], 100));
}

#[test]
fn in_an_open_loop_a_session_that_finds_no_connection_is_unsent_and_its_steps_are_not_counted() {
    // One connection, whose sessions take 1,002 ms, with a time-out of 300 ms.
    let slow = session("slow", &[step("/a", 0), step("/b", 1_000 * MS)]);
    let load = Load { timeout: ms(300), ..of(&[slow], a_second(10.0)) };
    let (outcome, visits) = visited(&load, |visit| pong(visit.at + MS));
    assert_eq!(paths(&visits), ["/a", "/b", "/a", "/b"]);
    assert_eq!((by_step(&outcome), outcome.errors.unsent), (vec![(2, 8), (2, 0)], 8));
    assert_eq!((outcome.sessions[0].ok, outcome.sessions[0].failed), (2, 8));
}

#[test]
fn a_load_of_sessions_that_cannot_be_run_is_refused() {
    let check = |load: Load| load.check().unwrap_err();
    let thinking = session("x", &[step("/a", MS)]);
    assert!(matches!(check(of(&[thinking], load(1))), crate::Error::FirstPause { .. }));
    assert!(matches!(check(of(&[session("x", &[])], load(1))), crate::Error::NoSteps { .. }));
    let pipelined = Load { pipeline: 2, ..of(&[abc()], load(1)) };
    assert!(matches!(check(pipelined), crate::Error::Pipeline { .. }));
    let taking = |name: &str| taking("/a", name, TakePlace::header("x").unwrap());
    let of_step = |steps: &[Step]| of(&[session("x", steps)], load(1));
    assert!(matches!(check(of_step(&[taking("seq")])), crate::Error::TakeName { .. }));
    // A name stands for something only after the step that takes it.
    for steps in [[step("/{{t}}", 0), taking("t")], [taking("t"), step("/{{u}}", 0)]] {
        assert!(matches!(
            check(of_step(&steps)),
            crate::Error::Request(crate::RequestError::Template(crate::TemplateError::Unknown { .. }))
        ));
    }
    assert!(of_step(&[taking("t"), step("/{{t}}", 0)]).check().is_ok());
}
