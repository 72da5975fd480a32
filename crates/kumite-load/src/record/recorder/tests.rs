//! The recorder, given requests that finished at known instants.

use super::*;
use crate::in_flight::NO_SESSION;
use crate::record::aggregate::Aggregate;
use crate::{Event, Interval, Recovery};

const MS: u64 = 1_000_000;

fn request(due: u64, sent: u64) -> InFlight {
    InFlight::new(due, sent, 0, NO_SESSION)
}

/// The outcome of these requests, with a time-out of 100 ms: `end` is when the load was over.
fn recorded(
    (opens, closes): (u64, Option<u64>),
    by_due: bool,
    end: u64,
    stopped: bool,
    feed: impl FnOnce(&mut Recorder),
) -> (Outcome, Vec<Interval>) {
    let mut seen = Vec::new();
    let mut on_event = |event: Event| {
        if let Event::Interval(interval) = event {
            seen.push(Interval { engine_cpu_s: 0.0, ..*interval });
        }
    };
    let mut aggregate = Aggregate::new(1, by_due, &mut on_event);
    let span = Span { opens, closes: closes.unwrap_or(u64::MAX), timeout: 100 * MS, by_due };
    let mut tell = |event: EngineEvent| aggregate.take(event);
    let mut recorder = Recorder::new(span, None, BySteps::default(), Some(Log::of_thread(1)), &mut tell);
    feed(&mut recorder);
    let outcome = recorder.close(end, end, stopped);
    (aggregate.finish(vec![outcome], crate::Pace::default()), seen)
}

fn counts(intervals: &[Interval]) -> Vec<(i64, u64, u64)> {
    intervals.iter().map(|i| (i.start_ms, i.ok, i.errors)).collect()
}

#[test]
fn a_closed_loop_counts_by_the_time_of_finishing() {
    let (outcome, seen) = recorded((50 * MS, None), false, 420 * MS, false, |recorder| {
        recorder.record_right(request(0, 0), 0, 49 * MS);
        recorder.record_failure(Failure::Status, None, request(0, 0), 0, 49 * MS);
        recorder.count_reconnect(49 * MS);
        recorder.record_right(request(45 * MS, 45 * MS), 45 * MS, 50 * MS);
        recorder.record_right(request(49 * MS, 49 * MS), 49 * MS, 149 * MS);
        recorder.record_failure(Failure::Reset, None, request(0, 0), 0, 150 * MS);
        recorder.count_reconnect(150 * MS);
        recorder.record_right(request(400 * MS, 400 * MS), 400 * MS, 410 * MS);
    });

    assert_eq!((outcome.warm_up_requests, outcome.warm_up_errors.status), (2, 1));
    assert_eq!((outcome.requests, outcome.ok, outcome.errors.total()), (4, 3, 1));
    assert_eq!((outcome.errors.reset, outcome.reconnects), (1, 1));
    assert_eq!(outcome.elapsed, Duration::from_millis(370));
    assert_eq!(outcome.response.len(), 3);
    let from =
        |ms| (outcome.response_over_time.from_ms(ms).0, outcome.response_over_time.from_ms(ms).1.len());
    assert_eq!([from(0), from(1), from(999)], [(0, 3), (100, 1), (400, 0)]);
    assert!(outcome.response.equivalent(outcome.response.max(), 100 * MS));
    assert!(outcome.response.equivalent(outcome.response.value_at_quantile(0.5), 10 * MS));
    assert_eq!(outcome.first_second, None);
    let took = Duration::from_millis(260);
    assert_eq!(outcome.recovery, Some(Recovery { took, complete: false }), "since 150, not since 49");
    assert_eq!(outcome.disturbed, None);
    assert_eq!(counts(&outcome.intervals), counts(&seen));
    assert_eq!(counts(&seen), [(-100, 1, 1), (0, 2, 0), (100, 0, 1), (200, 0, 0), (300, 1, 0)]);
    assert_eq!(seen[1].mean_us, 52_500.0);
    assert!((seen[1].max_us / 100_000.0 - 1.0).abs() < 1e-3);
    assert_eq!((seen[2].mean_us, seen[2].p50_us, seen[2].max_us), (0.0, 0.0, 0.0));
}

#[test]
fn what_comes_after_the_window_is_not_in_it() {
    let (outcome, _) = recorded((100 * MS, Some(350 * MS)), false, 1120 * MS, false, |recorder| {
        let sent = 300 * MS;
        recorder.record_right(request(0, 0), 0, 99 * MS);
        recorder.record_failure(Failure::Closed, None, request(sent, sent), sent, 340 * MS);
        recorder.record_right(request(sent, sent), sent, 349 * MS);
        recorder.record_right(request(sent, sent), sent, 350 * MS);
        recorder.count_reconnect(350 * MS);
        recorder.record_failure(Failure::Timeout, None, request(sent, sent), sent, 360 * MS);
        recorder.record_right(request(360 * MS, 360 * MS), 360 * MS, 361 * MS);
        recorder.count_burst(false);
        recorder.record_failure(Failure::Refused, None, request(sent, sent), sent, 370 * MS);
        recorder.injection_over(380 * MS);
        recorder.record_right(request(sent, sent), sent, 383 * MS);
        recorder.record_right(request(1100 * MS, 1100 * MS), 1100 * MS, 1110 * MS);
    });

    assert_eq!((outcome.warm_up_requests, outcome.requests, outcome.ok), (1, 2, 1));
    assert_eq!((outcome.errors, outcome.reconnects), (Errors { closed: 1, ..Errors::default() }, 0));
    assert_eq!((outcome.elapsed, outcome.response.len()), (Duration::from_millis(250), 1));
    assert!(outcome.response.equivalent(outcome.response.max(), 49 * MS));
    let took = Duration::from_millis(9);
    assert_eq!(outcome.recovery, Some(Recovery { took, complete: false }));
    assert_eq!(outcome.first_second, Some(5));
    let expected = Disturbed {
        began: Duration::from_millis(250),
        ended: Duration::from_millis(280),
        since: Duration::from_millis(280),
        until: Duration::from_millis(1020),
        requests: 6,
        ok: 4,
        errors: Errors { timeout: 1, refused: 1, ..Errors::default() },
        burst: Burst { ok: 0, errors: 1 },
        first_right: Some(Duration::from_millis(3)),
        recovery: Recovery { took: Duration::from_millis(3), complete: true },
    };
    assert_eq!(outcome.disturbed, Some(expected));
    assert_eq!(counts(&outcome.intervals)[..4], [(-100, 1, 0), (0, 0, 0), (100, 0, 0), (200, 4, 3)]);
    assert_eq!(outcome.intervals.len(), 12);
}

#[test]
fn a_disturbance_that_was_cut_short_says_nothing() {
    let (outcome, _) = recorded((0, Some(100 * MS)), false, 120 * MS, true, |recorder| {
        recorder.record_right(request(0, 0), 0, 110 * MS)
    });
    assert_eq!((outcome.elapsed, outcome.disturbed), (Duration::from_millis(100), None));
}

#[test]
fn the_first_second_is_that_of_the_load() {
    for opens in [0, 400 * MS, 1000 * MS, 1500 * MS] {
        let (outcome, _) = recorded((opens, None), false, 2000 * MS, false, |recorder| {
            recorder.record_right(request(0, 0), 0, 399 * MS);
            recorder.record_failure(Failure::Status, None, request(0, 0), 0, 399 * MS);
            recorder.record_right(request(0, 0), 0, 1000 * MS - 1);
            recorder.record_right(request(0, 0), 0, 1000 * MS);
        });
        assert_eq!(outcome.first_second, Some(2), "{opens}");
    }
}

#[test]
fn a_window_of_whole_intervals_has_no_empty_one_at_its_end() {
    let at = |at| {
        recorded((0, None), false, 200 * MS, false, move |recorder| {
            recorder.record_right(request(0, 0), 0, at)
        })
        .0
    };
    assert_eq!(at(200 * MS - 1).intervals.len(), 2);
    // A limit of requests ends with the last of them.
    let outcome = at(200 * MS);
    assert_eq!((outcome.intervals.len(), outcome.response.len()), (3, 1));
    assert_eq!(outcome.response_over_time.from_ms(200).1.len(), 1);
}

#[test]
fn a_window_that_never_opened_is_empty() {
    let (outcome, _) = recorded((150 * MS, None), false, 2 * MS, true, |recorder| {
        recorder.record_right(request(0, 0), 0, MS)
    });
    assert_eq!((outcome.requests, outcome.warm_up_requests, outcome.elapsed), (0, 1, Duration::ZERO));
    assert_eq!(counts(&outcome.intervals), [(-200, 1, 0)]);
    assert!(outcome.stopped);
}

#[test]
fn what_is_due_after_the_window_of_an_open_loop_is_in_none_of_its_figures() {
    let (outcome, seen) = recorded((0, Some(150 * MS)), true, 400 * MS, false, |recorder| {
        recorder.record_right(request(0, 0), 0, 50 * MS);
        recorder.record_right(request(100 * MS, 100 * MS), 100 * MS, 110 * MS);
        recorder.injection_over(150 * MS);
        recorder.record_right(request(150 * MS, 150 * MS), 150 * MS, 152 * MS);
        recorder.record_right(request(149 * MS, 160 * MS), 149 * MS, 169 * MS);
        recorder.record_right(request(220 * MS, 220 * MS), 220 * MS, 221 * MS);
        recorder.record_right(request(140 * MS, 140 * MS), 140 * MS, 320 * MS);
    });
    let times = |of: &crate::Histogram<u64>| {
        of.iter_recorded().map(|bin| bin.value_iterated_to() / MS).collect::<Vec<_>>()
    };
    assert_eq!((outcome.ok, outcome.disturbed.map(|it| it.ok)), (4, Some(2)));
    assert_eq!(times(&outcome.response), [10, 20, 50, 180]);
    assert_eq!(times(&outcome.service), [9, 10, 50, 180]);
    assert_eq!(counts(&seen), [(0, 1, 0), (100, 3, 0), (200, 1, 0), (300, 1, 0)]);
    assert_eq!(seen.iter().map(|it| it.mean_us / 1e3).collect::<Vec<_>>(), [50.0, 32.0 / 3.0, 1.0, 180.0]);
}

#[test]
fn in_an_open_loop_a_request_belongs_to_where_it_was_due() {
    let (outcome, seen) = recorded((100 * MS, Some(300 * MS)), true, 300 * MS, false, |recorder| {
        recorder.record_right(request(10 * MS, 11 * MS), 10 * MS, 20 * MS);
        // Due in the warm-up, answered in the window.
        recorder.record_right(request(99 * MS, 99 * MS), 99 * MS, 130 * MS);
        recorder.record_right(request(100 * MS, 140 * MS), 100 * MS, 150 * MS);
        recorder.record_send_lag(99 * MS, 3);
        recorder.record_send_lag(299 * MS, 7);
        recorder.record_failure(Failure::Unsent, None, request(110 * MS, 110 * MS), 110 * MS, 211 * MS);
        // Due in the window, answered after it.
        recorder.record_right(request(299 * MS, 310 * MS), 299 * MS, 389 * MS);
        recorder.record_failure(Failure::Timeout, None, request(250 * MS, 250 * MS), 250 * MS, 351 * MS);
    });
    assert_eq!((outcome.warm_up_requests, outcome.requests, outcome.ok), (2, 4, 2));
    assert_eq!(outcome.errors, Errors { unsent: 1, timeout: 1, ..Errors::default() });
    assert_eq!(outcome.elapsed, Duration::from_millis(200));
    let times = |of: &crate::Histogram<u64>| {
        of.iter_recorded().map(|bin| bin.value_iterated_to() / MS).collect::<Vec<_>>()
    };
    assert_eq!((times(&outcome.response), times(&outcome.service)), (vec![50, 90], vec![10, 79]));
    assert_eq!(outcome.send_lag.len(), 1);
    let last = (200, 1, 1);
    assert_eq!(counts(&seen), [(-100, 1, 0), (0, 2, 0), (100, 0, 1), last]);
    assert_eq!(outcome.response, outcome.response_over_time.from_ms(0).1);
    let logged = |it: &Finished| (it.due / MS, it.sent.map(|at| at / MS), it.finished / MS, it.failure);
    assert_eq!(
        outcome.log.iter().map(logged).collect::<Vec<_>>(),
        [
            (10, Some(11), 20, None),
            (99, Some(99), 130, None),
            (100, Some(140), 150, None),
            (110, None, 211, Some(Failure::Unsent)),
            (250, Some(250), 351, Some(Failure::Timeout)),
            (299, Some(310), 389, None),
        ]
    );
}
