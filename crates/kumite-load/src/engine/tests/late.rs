//! Time-outs: what they count from, and when they are seen.

use super::*;
use crate::Arrivals;

/// A server that answers the first request after a millisecond, and every other with `answer` at the instant `at`.
fn second(answer: &'static str, at: u64) -> impl Server {
    Answering::new(move |turn: Turn| match turn.request {
        1 => pong(turn.at + MS),
        _ => vec![say(at, answer)],
    })
}

#[test]
fn a_stall_longer_than_the_time_out_is_one_time_out() {
    let stall = |turn: Turn| if turn.request == 100 { 600 * MS } else { 0 };
    let server = Answering::new(|turn| pong(turn.at + MS + stall(turn)));
    let outcome = run(&Load { timeout: ms(300), ..load(200) }, server);
    assert_eq!((outcome.errors, outcome.reconnects, outcome.ok), (timeouts(1), 1, 199));
    // The first nanosecond in which it has taken too long.
    let (at, took) = (outcome.log[99].due, outcome.log[99].finished - outcome.log[99].due);
    assert_eq!((at, took), (99 * MS, 300 * MS + 1));
    assert_eq!(outcome.log[100].due, outcome.log[99].finished, "it goes on at once");
}

#[test]
fn an_answer_counts_up_to_the_very_end_of_the_time_out() {
    let load = Load { timeout: ms(600), ..load(2) };
    for (took, ok) in [(600 * MS, 2), (600 * MS + 1, 1)] {
        let outcome = run(&load, second(PONG, MS + took));
        assert_eq!((outcome.ok, outcome.errors), (ok, timeouts(2 - ok)));
        assert_eq!(service(&outcome), [MS, took]);
    }
}

/// The engine is kept from looking until the answer has come, too late: it sees the answer before the time-out.
#[test]
fn a_late_answer_is_a_time_out_whatever_it_says() {
    for late in [PONG, &PONG.replace("pong", "pink"), &PONG.replace("200", "503"), "?"] {
        let late: &'static str = late.to_owned().leak();
        let machine = Machine::default();
        machine.time.stand_still(300 * MS..900 * MS);
        let outcome = machine.run(&Load { timeout: ms(600), ..load(2) }, second(late, 401 * MS));
        assert_eq!(service(&outcome), [MS, 899 * MS]);
        assert_eq!((outcome.ok, outcome.errors), (1, timeouts(1)), "{late:?}");
        let why = "timeout: no whole answer 899.0 ms after the request for http://127.0.0.1:1/ was sent";
        assert_eq!(outcome.first_wrong.as_deref(), Some(why));
    }
}

#[test]
fn an_answer_that_is_not_whole_is_a_time_out() {
    let length = PONG.replace("Length: 4", "Length: 5");
    for answer in [&PONG[..PONG.len() - 1], &length, "HTTP/1.1 200 OK\r\n\r\npong", "H"] {
        let server = Answering::new(|turn| vec![say(turn.at + MS, answer)]);
        let outcome = run(&Load { timeout: ms(120), ..load(9) }, server);
        assert_eq!((outcome.errors, outcome.reconnects), (timeouts(9), 8), "{answer:?}");
        assert!(service(&outcome).iter().all(|took| (120 * MS..=121 * MS).contains(took)), "{answer:?}");
    }
}

#[test]
fn connections_time_out_side_by_side() {
    let load = Load { connections: 4, timeout: ms(200), ..load(12) };
    let outcome = run(&load, Answering::new(|_| Vec::new()));
    assert_eq!(outcome.errors, timeouts(12));
    // The first look is when the first could have been too late, the next a millisecond later; then it is known when.
    let took = [[201 * MS; 4], [200 * MS + 1; 4], [200 * MS + 1; 4]].concat();
    assert_eq!((service(&outcome), outcome.elapsed), (took, ns(601 * MS + 2)));
}

#[test]
fn a_connect_without_an_answer_takes_the_time_out() {
    let server = Connecting { connect: |_, _| None, server: after(MS) };
    let outcome = run(&Load { timeout: ms(80), ..load(3) }, server);
    assert_eq!(outcome.errors, Errors { connect: 3, ..Errors::default() });
    let at: Vec<(u64, u64)> = outcome.log.iter().map(|it| (it.due, it.finished)).collect();
    // 10 ms later it is tried again.
    let second = 81 * MS + 10 * MS;
    let third = second + 80 * MS + 1 + 10 * MS;
    assert_eq!(at, [(0, 81 * MS), (second, second + 80 * MS + 1), (third, third + 80 * MS + 1)]);
}

#[test]
fn a_connect_that_takes_its_time_leaves_the_whole_time_out_to_the_answer() {
    let server = Connecting { connect: |_, at| Some((at + 90 * MS, Ok(()))), server: after(95 * MS) };
    let outcome = run(&Load { timeout: ms(100), ..load(2) }, server);
    assert_eq!(outcome.ok, 2);
    assert_eq!(steps(&outcome), [(90 * MS, Some(0), 95 * MS), (185 * MS, Some(0), 95 * MS)]);
}

/// One connection; the second request is due at 1 ms and waits until the first is answered.
#[test]
fn in_an_open_loop_the_time_out_counts_from_the_sending() {
    let open = Load { arrivals: Some(Arrivals::constant(1000.0)), timeout: ms(100), ..lasting(2) };
    let outcome = run(&open, after(90 * MS));
    assert_eq!(steps(&outcome), [(0, Some(0), 90 * MS), (MS, Some(89 * MS), 90 * MS)]);
    assert_eq!((outcome.ok, outcome.errors), (2, Errors::default()), "179 ms after it was due");
    let hang = Answering::new(|turn: Turn| if turn.request == 1 { pong(90 * MS) } else { Vec::new() });
    let outcome = run(&open, hang);
    // After the end it looks once in a millisecond.
    assert_eq!(steps(&outcome), [(0, Some(0), 90 * MS), (MS, Some(89 * MS), 101 * MS)]);
    assert_eq!(outcome.errors, timeouts(1));
    assert_eq!(outcome.elapsed, ms(2));
}
