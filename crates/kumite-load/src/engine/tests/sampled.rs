//! Answers that are kept whole, of a sample.

use super::*;
use crate::{Sampling, Session};

/// A server that says in its body which request it answers, from 1 on, a millisecond after it, in two pieces.
fn numbering() -> impl Server {
    Answering::new(|turn: Turn| {
        let body = turn.request.to_string();
        let head = format!("HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: {}\r\n\r\n", body.len());
        vec![say(turn.at + MS - US, &head), say(turn.at + MS, &body)]
    })
}

fn sampling(load: Load, answers: usize, seed: u64) -> Load {
    let any = |step: &mut Step| step.expect = Expect::default();
    Load { sampling: Some(Sampling { answers, seed }), ..load }.with_steps(any)
}

fn numbers(outcome: &Outcome) -> Vec<u64> {
    let number = |body: &[u8]| std::str::from_utf8(body).unwrap().parse::<u64>().unwrap();
    outcome.sampled.iter().map(|answer| number(&answer.body)).collect()
}

#[test]
fn of_a_number_of_requests_each_part_has_one_in_the_sample() {
    let sampled = |seed| numbers(&run(&sampling(load(200), 20, seed), numbering()));
    let found = sampled(1);
    let parts: Vec<u64> = found.iter().map(|number| (number - 1) / 10).collect();
    assert_eq!(parts, (0..20).collect::<Vec<u64>>(), "{found:?}");
    assert_eq!(sampled(1), found);
    assert_ne!(sampled(2), found);
    // There is no more of it than there is.
    assert_eq!(run(&sampling(load(3), 20, 1), numbering()).sampled.len(), 3);
    assert_eq!(run(&Load { sampling: None, ..load(3) }, after(MS)).sampled, []);
}

#[test]
fn of_a_time_each_part_has_one_in_the_sample_and_the_warm_up_none() {
    let load = Load { warm_up: ms(500), ..lasting(1_000) };
    let found = numbers(&run(&sampling(load, 10, 1), numbering()));
    assert_eq!(found.len(), 10, "{found:?}");
    // A request a millisecond: 500 in the warm-up, and then a hundred in each part, the last of which may be cut.
    for (nth, number) in found.iter().enumerate() {
        let from = 499 + 100 * nth as u64;
        assert!((from..=from + 102).contains(number), "{found:?}");
    }
}

#[test]
fn a_sample_has_the_answer_whole_and_only_if_it_is_right() {
    let outcome = run(&sampling(load(1), 20, 1), numbering());
    let [answer] = &outcome.sampled[..] else { panic!("{outcome:?}") };
    let headers: Vec<_> =
        answer.headers.iter().map(|(name, value)| (name.as_slice(), value.as_slice())).collect();
    assert_eq!(headers, [(&b"X"[..], &b"y"[..]), (b"Content-Length", b"1")]);
    assert_eq!((answer.status, answer.request.as_str()), (200, "http://127.0.0.1:1/"));
    let odd = Answering::new(|turn: Turn| match turn.request % 2 {
        0 => pong(turn.at + MS),
        _ => vec![say(turn.at + MS, &PONG.replace("pong", "ping"))],
    });
    let outcome = run(&Load { sampling: Some(Sampling { answers: 40, seed: 1 }), ..load(40) }, odd);
    assert_eq!((outcome.ok, outcome.sampled.len()), (20, 20));
    assert!(outcome.sampled.iter().all(|answer| answer.body == b"pong"));
}

#[test]
fn each_step_of_a_session_may_be_in_the_sample() {
    let step = load(1).sessions[0].steps[0].clone();
    let named = |name: &str| Step { name: name.to_owned(), ..step.clone() };
    let pause = Step { think: ms(10), ..named("b") };
    let session = Session { name: "s".to_owned(), weight: 1, steps: vec![named("a"), pause] };
    for load in
        [Load::of(vec![session.clone()], load(100).limit), Load::of(vec![session], lasting(2_000).limit)]
    {
        let outcome = run(&sampling(load, 20, 1), numbering());
        let of = |name: &str| outcome.sampled.iter().filter(|answer| answer.request == name).count();
        assert_eq!(of("a of s") + of("b of s"), outcome.sampled.len());
        assert!(of("a of s") > 2 && of("b of s") > 2, "{} and {}", of("a of s"), of("b of s"));
    }
}
