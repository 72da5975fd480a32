//! Tests of the texts on searches with known figures.

use std::collections::BTreeMap;

use kumite_record::{RateEstimate, SCHEMA, VoidReason};

use super::*;

const PLAIN: Style = Style { color: false, width: 100 };

fn trial(rate_rps: f64, p99_us: f64, verdict: RateVerdict) -> RateTrial {
    RateTrial {
        rate_rps,
        seconds: 2.0,
        requests: (rate_rps * 2.0) as u64,
        errors: [("unsent".to_owned(), u64::from(verdict == RateVerdict::Unmet) * 20)].into(),
        first_wrong: None,
        figures: [("response_p99_us".to_owned(), p99_us), ("error_share".to_owned(), 0.0)].into(),
        parts: BTreeMap::new(),
        verdict,
        void: (verdict == RateVerdict::Void).then_some(VoidReason::NoHeadroom),
        broke: Vec::new(),
        waited: false,
        send_lag_p99_us: 40.0,
        engine_busy: 0.42,
        settled: true,
    }
}

fn found() -> FoundRate {
    FoundRate {
        schema: SCHEMA,
        command: String::new(),
        url: "http://127.0.0.1:1/".to_owned(),
        slo: "p99 < 10ms and errors = 0".to_owned(),
        of_sessions: false,
        connections: 50,
        trial_s: 2.0,
        seconds: 84.0,
        budget_s: 180.0,
        seed: 1,
        ended: SearchEnd::Found,
        rate_rps: Some(RateEstimate { estimate: 1002.6, low: 1000.2, high: 1004.9, n: 6 }),
        answers_rps: vec![1002.6; 6],
        met_rps: Some(1001.0),
        unmet_rps: Some(1005.0),
        broke: [("p99 < 10ms".to_owned(), 2)].into(),
        failed_near: 2,
        waited_near: 2,
        trials: vec![
            trial(1010.0, 14_300.0, RateVerdict::Unmet),
            trial(500.0, 4_100.0, RateVerdict::Met),
            trial(1000.0, 6_200.0, RateVerdict::Met),
            trial(4000.0, 900_000.0, RateVerdict::Void),
        ],
    }
}

#[test]
fn the_answer_is_first_and_the_trials_are_by_rate() {
    let text = found_rate_terminal(&found(), &PLAIN);
    let expected = "\
highest rate: 1,003 req/s, 95 % interval 1,000–1,005, for p99 < 10ms and errors = 0
http://127.0.0.1:1/, trials of 2.0 s over 50 connections: half of them meet it at that rate; 6
answers, 4 trials in 84 s

      req/s     met  response p99  failed  engine busy
        500  1 of 1       4.10 ms       0         42 %
1,000–1,010  1 of 2       6.20 ms  0.50 %         42 %
      4,000       –        900 ms       0         42 %  1 void

what broke: of 2 failed trials at up to 1.25 times that rate, p99 < 10ms in 2
limited by the connections: in 2 of them requests waited for a free one, while the server answered
in time; more (-c) may bring more
void: 1 trial, in which the load engine had no CPU left
";
    assert_eq!(text, expected);
}

#[test]
fn without_an_answer_the_first_line_says_why() {
    let first = |ended| {
        let none = FoundRate { ended, rate_rps: None, answers_rps: vec![1000.0], ..found() };
        found_rate_terminal(&none, &Style { width: 200, ..PLAIN }).lines().next().unwrap().to_owned()
    };
    assert_eq!(
        first(SearchEnd::EngineLimit),
        "limited by the load engine: at least 1,000 req/s for p99 < 10ms and errors = 0; at 4,000 req/s the load engine had no CPU left"
    );
    assert_eq!(
        first(SearchEnd::OutOfTime),
        "no answer yet for p99 < 10ms and errors = 0: out of time after 3 min, with 1 answer; the last trial that \
             met it had 1,000 req/s, the last that did not 1,000 req/s"
    );
    assert_eq!(
        first(SearchEnd::NeverMet),
        "no rate: the server does not meet p99 < 10ms and errors = 0 even at 1,000 req/s, the lowest rate that was tried; lower ones take longer trials and so a longer --budget"
    );
    assert_eq!(
        first(SearchEnd::Interrupted),
        "no answer yet for p99 < 10ms and errors = 0: interrupted, with 1 answer; the last trial that met it had 1,000 req/s, the last that did not 1,000 req/s"
    );
}

#[test]
fn rates_of_sessions_are_in_sessions() {
    let of_sessions = FoundRate { of_sessions: true, ..found() };
    let text = found_rate_terminal(&of_sessions, &PLAIN);
    assert!(text.starts_with("highest rate: 1,003 sessions/s, ") && !text.contains("req/s"), "{text}");
    assert!(
        crate::rate_trial_line(&trial(500.0, 4_100.0, RateVerdict::Met), true)
            .starts_with("500 sessions/s: ")
    );
}

#[test]
fn the_page_and_the_markdown_begin_with_the_answer_after_doubts() {
    let answer = "highest rate: 1,003 req";
    let void = "void: 1 trial, in which the load engine had no CPU left";
    for text in [found_rate_html(&found()), found_rate_markdown(&found())] {
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(at(void) < at(answer) && at(answer) < at("engine busy"));
    }
    let page = found_rate_html(&found());
    assert_eq!(page.matches("<circle").count(), 6, "a dot for each answer");
    assert_eq!(page.matches("<tr>").count(), 1 + 3);
}
