//! What holds on each protocol alike: times from the schedule, and shares of a mix.

use std::collections::BTreeMap;

use super::stacked::{PROTOCOLS, Visit, session, step, visited};
use super::*;
use crate::{Arrivals, Session};

const STALL: std::ops::Range<u64> = 300 * MS..800 * MS;

/// The instant of the answer to what is asked at `at`, in ns: a millisecond later, and in the stall as if it had been
/// asked at its end.
fn answered(at: u64) -> u64 {
    if STALL.contains(&at) { STALL.end + MS } else { at + MS }
}

/// When each step of the session that is due at `due` is due, and its response time, in ns.
fn model(session: &Session, due: u64) -> Vec<(u64, u64)> {
    let mut at = due;
    session
        .steps
        .iter()
        .map(|step| {
            let due = at + step.think.as_nanos() as u64;
            at = answered(due);
            (due, at - due)
        })
        .collect()
}

/// A server that does nothing for 500 ms, in an open loop: the response time of every request is that of the schedule,
/// to the nanosecond.
#[test]
fn a_stall_is_in_the_response_times_of_every_protocol() {
    let plain = || session("plain", 1, &[step("p", 0)]);
    let user = || session("user", 1, &[step("a", 0), step("b", 15 * MS), step("c", 0)]);
    for (name, sessions) in [
        ("plain", vec![plain()]),
        ("mix", vec![session("often", 3, &[step("o", 0)]), session("rarely", 1, &[step("r", 0)])]),
        ("sessions", vec![user()]),
        ("mix of sessions", vec![session("often", 2, &user().steps), plain()]),
    ] {
        for protocol in PROTOCOLS {
            let of = Load { sessions: sessions.clone(), ..lasting(1_000) };
            // So few that those that pause until one instant are all sent then (`WAKE_BATCH`).
            let load = Load { arrivals: Some(Arrivals::constant(100.0)), ..protocol.speaking(100, of) };
            let (outcome, visits) = visited(protocol, &load, |visit| answered(visit.at));
            let what = format!("{name} over {protocol:?}: {:?}", outcome.first_wrong);

            // The first step of each session is asked when the session is due.
            let first = |visit: &Visit| sessions.iter().find(|it| it.steps[0].name == visit.what);
            let begun: Vec<(u64, &Session)> =
                visits.iter().filter_map(|visit| Some((visit.at, first(visit)?))).collect();
            let due: Vec<u64> = begun.iter().map(|(at, _)| *at).collect();
            assert_eq!(due, (0..100).map(|nth| nth * 10 * MS).collect::<Vec<_>>(), "{what}");
            let mut expected: Vec<(u64, u64)> =
                begun.iter().flat_map(|(due, session)| model(session, *due)).collect();
            let mut seen: Vec<(u64, u64)> =
                outcome.log.iter().map(|it| (it.due, it.finished - it.due)).collect();
            expected.sort_unstable();
            seen.sort_unstable();
            assert_eq!((outcome.ok, outcome.errors), (expected.len() as u64, Errors::default()), "{what}");
            assert_eq!(seen, expected, "{what}");
            assert!(
                expected.contains(&(300 * MS, 501 * MS)) && expected.contains(&(790 * MS, 11 * MS)),
                "{what}"
            );
            assert!(outcome.response.equivalent(outcome.response.max(), 501 * MS), "{what}");

            for (nth, figures) in outcome.sessions.iter().enumerate() {
                let own = begun.iter().filter(|(_, session)| session.name == sessions[nth].name);
                let mut count = 0;
                for (due, session) in own {
                    let (last, took) = *model(session, *due).last().unwrap();
                    let time = last + took - due;
                    assert!(figures.time.count_between(time, time) > 0, "{what}: no session took {time} ns");
                    count += 1;
                }
                assert_eq!((figures.ok, figures.time.len()), (count, count), "{what}");
            }
        }
    }
}

/// The shares of a weighted mix are right to 1 % on every connection.
#[test]
fn each_connection_has_its_share_of_a_mix_on_every_protocol() {
    let weights = [("a", 5_u32), ("b", 3), ("c", 1), ("d", 1)];
    let sessions: Vec<Session> =
        weights.iter().map(|(name, weight)| session(name, *weight, &[step(name, 0)])).collect();
    for protocol in PROTOCOLS {
        // Each is encrypted twice, and decrypted.
        let requests = if protocol.secure { 20_000 } else { 100_000 };
        let of = Load { sessions: sessions.clone(), log: false, ..load(requests) };
        let load = Load { connections: 10, ..protocol.speaking(5, of) };
        let (outcome, visits) = visited(protocol, &load, |visit| visit.at + MS);
        assert_eq!(
            (outcome.ok, visits.len() as u64),
            (requests, requests),
            "{protocol:?}: {:?}",
            outcome.first_wrong
        );
        let mut asked = BTreeMap::<(u64, &str), u64>::new();
        for visit in &visits {
            *asked.entry((visit.connection, &visit.what)).or_default() += 1;
        }
        for (name, weight) in weights {
            let share = u64::from(weight) * requests / 100;
            let mut total = 0;
            for connection in 1..=10 {
                let had = asked.get(&(connection, name)).copied().unwrap_or(0);
                total += had;
                assert!(had.abs_diff(share) <= share / 100, "{protocol:?}: {had} of {name}, not {share}");
            }
            let counted = outcome.sessions.iter().find(|session| session.name == name).unwrap();
            assert_eq!((counted.ok, counted.steps[0].ok), (total, total), "{protocol:?}: {name}");
        }
    }
}
