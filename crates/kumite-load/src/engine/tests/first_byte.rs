//! The time to the first byte of an answer, however many pieces the answer comes in.

use super::*;
use crate::{Arrivals, Histogram};

const HEAD: &str = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n";

fn histogram(times: impl IntoIterator<Item = u64>) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).unwrap();
    times.into_iter().for_each(|time| histogram.record(time).unwrap());
    histogram
}

/// A server that sends the parts of an answer at these times in ns after its request.
fn in_parts<const N: usize>(parts: [(u64, &'static str); N]) -> impl Server {
    Answering::new(move |turn: Turn| parts.iter().map(|(after, part)| say(turn.at + after, part)).collect())
}

#[test]
fn an_answer_in_one_piece_has_its_first_byte_when_it_is_whole() {
    let outcome = run(&load(20), Answering::new(|turn| pong(turn.at + turn.request * 100 * US)));
    assert_eq!(outcome.first_byte, outcome.response);
    assert_eq!(outcome.first_byte.len(), 20);
}

#[test]
fn the_first_of_several_pieces_counts_and_not_those_between() {
    let parts = [(2 * MS, "HTT"), (3 * MS, &HEAD[3..]), (4 * MS, "po"), (7 * MS, "ng")];
    let outcome = run(&load(10), in_parts(parts));
    assert_eq!(outcome.first_byte, histogram([2 * MS; 10]));
    assert_eq!(outcome.response, histogram([7 * MS; 10]));
}

#[test]
fn an_interim_answer_is_a_first_byte() {
    let outcome = run(&load(3), in_parts([(MS, "HTTP/1.1 103 Early Hints\r\n\r\n"), (5 * MS, PONG)]));
    assert_eq!((outcome.first_byte, outcome.ok), (histogram([MS; 3]), 3));
}

#[test]
fn an_answer_that_ends_with_its_connection_has_a_first_byte_of_its_own() {
    let answer =
        |turn: Turn| vec![say(turn.at + MS, "HTTP/1.0 200 OK\r\n\r\npong"), (turn.at + 4 * MS, Deed::End)];
    let outcome = run(&load(5), Answering::new(answer));
    assert_eq!((outcome.first_byte, outcome.response), (histogram([MS; 5]), histogram([4 * MS; 5])));
}

/// One piece has the end of an answer and the beginning of the next, which is counted for its own request.
#[test]
fn pipelined_answers_have_their_own_first_bytes() {
    let mut at = 0;
    let answer = move |turn: Turn| {
        at = turn.at.max(at) + 2 * MS;
        vec![say(at - MS, HEAD), say(at, "pong")]
    };
    let outcome = run(&Load { pipeline: 4, ..load(40) }, Answering::new(answer));
    // Each answer begins a millisecond before it is whole, whichever requests wait behind it.
    let model = outcome.log.iter().map(|it| it.finished - it.due - MS);
    assert_eq!(outcome.first_byte, histogram(model));

    let (first, rest) = PONG.split_at(10);
    let joined = format!("{rest}{first}");
    let server = Answering::new(move |turn: Turn| match turn.request {
        1 => pong(turn.at + MS),
        2 => vec![say(turn.at + MS, first)],
        // The end of the answer before, with the beginning of this one's.
        3 => vec![say(turn.at + 2 * MS, &joined), say(turn.at + 5 * MS, rest)],
        _ => Vec::new(),
    });
    let outcome = run(&Load { pipeline: 2, ..load(3) }, server);
    // All but the first were sent at 1 ms.
    assert_eq!(outcome.first_byte, histogram([MS, MS, 2 * MS]));
    assert_eq!(outcome.response, histogram([MS, 2 * MS, 5 * MS]));
}

/// In an open loop it counts from when the request was due, as the response time does.
#[test]
fn the_wait_for_a_connection_is_in_it() {
    let load = Load { arrivals: Some(Arrivals::constant(1000.0)), ..lasting(10) };
    let outcome = run(&load, in_parts([(MS, HEAD), (3 * MS, "pong")]));
    // The n-th is due at n ms and sent at 3n ms.
    assert_eq!(outcome.first_byte, histogram((0..10).map(|nth| 2 * nth * MS + MS)));
    assert_eq!(outcome.service, histogram([3 * MS; 10]));
}

#[test]
fn it_is_counted_in_the_stretch_of_time_of_its_answer() {
    let parts = in_parts([(MS, HEAD), (2 * MS, "pong")]);
    let outcome = run(&Load { warm_up: ms(101), connections: 3, ..lasting(301) }, parts);
    assert_eq!(outcome.first_byte, histogram(vec![MS; outcome.ok as usize]));
    let (from, later) = outcome.first_byte_over_time.from_ms(200);
    assert_eq!((from, later.len()), (200, outcome.response_over_time.from_ms(200).1.len()));
    // What comes too late, or is wrong, has none.
    let load = Load { timeout: ms(10), ..lasting(100) };
    assert_eq!(run(&load, in_parts([(MS, HEAD), (20 * MS, "pong")])).first_byte.len(), 0);
    assert_eq!(run(&lasting(100), in_parts([(MS, HEAD), (2 * MS, "pang")])).first_byte.len(), 0);
}
