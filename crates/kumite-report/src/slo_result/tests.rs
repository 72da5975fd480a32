use kumite_record::{GateBar, SCHEMA, SloGate, VoidReason};

use super::*;

const PLAIN: Style = Style { color: false, width: 100 };

fn load(p99_us: f64, verdict: RateVerdict) -> RateTrial {
    let broke = if verdict == RateVerdict::Met { vec![] } else { vec!["p99 < 20ms".to_owned()] };
    RateTrial {
        rate_rps: 2_000.0,
        seconds: 2.0,
        requests: 4_000,
        errors: BTreeMap::new(),
        first_wrong: None,
        figures: [("response_p99_us".to_owned(), p99_us), ("error_share".to_owned(), 0.0)].into(),
        parts: BTreeMap::new(),
        verdict,
        void: (verdict == RateVerdict::Void).then_some(VoidReason::SentLate),
        broke,
        waited: verdict == RateVerdict::Unmet,
        send_lag_p99_us: 40.0,
        engine_busy: 0.42,
        settled: true,
    }
}

fn result(loads: Vec<RateTrial>, repeat: u64, verdict: SloVerdict, ended: SloEnd) -> SloResult {
    let of = |verdict| loads.iter().filter(|load| load.verdict == verdict).count() as u64;
    SloResult {
        schema: SCHEMA,
        command: "kumite load".to_owned(),
        url: "http://127.0.0.1:1/".to_owned(),
        slo: "p99 < 20ms and errors < 0.1%".to_owned(),
        rate_rps: 2_000.0,
        of_sessions: false,
        connections: 50,
        load_s: 2.0,
        seconds: 12.3,
        repeat,
        alpha: 0.05,
        verdict,
        ended,
        met: of(RateVerdict::Met),
        unmet: of(RateVerdict::Unmet),
        void: of(RateVerdict::Void),
        wealth_holds: 1.0,
        wealth_fails: 1.0,
        gate: Some(SloGate { passes: GateBar::Holds, state: verdict.gate() }),
        loads,
    }
}

#[test]
fn the_verdict_is_first_then_each_load_then_the_gate() {
    let loads = vec![load(14_300.0, RateVerdict::Met), load(24_300.0, RateVerdict::Unmet)];
    let undecided = result(loads, 6, SloVerdict::Undecided, SloEnd::OutOfLoads);
    let expected = "\
undecided: 1 of 2 loads at 2,000 req/s met p99 < 20ms and errors < 0.1%; 4 more, which --repeat 6
leaves, could not decide it: allow more
http://127.0.0.1:1/, loads of 2.0 s over 50 connections: each is judged as a whole; 2 loads of at
most 6 in 12 s; such a verdict is false in at most 5 %

load           response p99  failed  engine busy
   1  met           14.3 ms       0         42 %
   2  not met       24.3 ms       0         42 %  p99 < 20ms

what broke: of 1 failed load, p99 < 20ms in 1
limited by the connections: in 1 of them requests waited for a free one, while the server answered
in time; more (-c) may bring more

gate: undecided: 1 of 2 loads met p99 < 20ms and errors < 0.1%; --gate=holds does not pass what is undecided
";
    assert_eq!(slo_terminal(&undecided, &PLAIN), expected);
}

#[test]
fn a_failed_request_is_shown_with_the_conditions_that_broke() {
    let failing = RateTrial {
        errors: [("status".to_owned(), 40)].into(),
        first_wrong: Some("status 401; from me of user".to_owned()),
        waited: false,
        ..load(24_300.0, RateVerdict::Unmet)
    };
    let fails = result(vec![failing; 5], 6, SloVerdict::Fails, SloEnd::Decided);
    let expected = "\
what broke: of 5 failed loads, p99 < 20ms in 5
first failure: status 401; from me of user
";
    assert!(slo_terminal(&fails, &PLAIN).contains(expected), "{}", slo_terminal(&fails, &PLAIN));
}

#[test]
fn the_figures_of_a_request_and_of_a_session_have_columns_of_their_own() {
    let parts = [
        ("token", [("response_p95_us", 8_000.0), ("error_share", 0.012)]),
        ("buy", [("session_p95_us", 900_000.0), ("response_p99_9_us", 1.0)]),
    ];
    let parts = parts.map(|(part, figures)| {
        (part.to_owned(), figures.map(|(name, value)| (name.to_owned(), value)).into())
    });
    let load = RateTrial { parts: parts.into(), ..load(9_000.0, RateVerdict::Met) };
    let line = crate::rate_trial_line(&load, true);
    assert_eq!(
        line,
        "2,000 sessions/s: response p99 9.00 ms, response p99.9 of buy 1.00 µs, session p95 of buy 900 ms, error share of \
         token 1.20 %, response p95 of token 8.00 ms, met"
    );
    let (heads, rows) = table(&result(vec![load], 6, SloVerdict::Undecided, SloEnd::OutOfLoads));
    assert_eq!(heads[6].0, "response p95 of token");
    assert_eq!(rows[0][6], "8.00 ms");
}

#[test]
fn what_is_shown_is_named_with_the_claim_that_it_is_about() {
    let first = |result: &SloResult| {
        slo_terminal(result, &Style { width: 200, ..PLAIN }).lines().next().unwrap().to_owned()
    };
    let met = result(vec![load(9_000.0, RateVerdict::Met); 5], 6, SloVerdict::Holds, SloEnd::Decided);
    assert_eq!(
        first(&met),
        "holds: more than half of such loads at 2,000 req/s meet p99 < 20ms and errors < 0.1%; 5 of 5 loads did"
    );
    let unmet = result(vec![load(99_000.0, RateVerdict::Unmet); 5], 6, SloVerdict::Fails, SloEnd::Decided);
    assert_eq!(
        first(&unmet),
        "fails: at most half of such loads at 2,000 req/s meet p99 < 20ms and errors < 0.1%; 0 of 5 loads did"
    );
    let of_sessions = SloResult { of_sessions: true, ..met };
    assert!(first(&of_sessions).contains("at 2,000 sessions/s meet"));
    let stopped = result(vec![], 6, SloVerdict::Undecided, SloEnd::Interrupted);
    assert!(first(&stopped).ends_with("; interrupted"));
}

#[test]
fn the_page_and_the_markdown_begin_with_the_verdict_after_doubts() {
    let loads = vec![load(99_000.0, RateVerdict::Void), load(9_000.0, RateVerdict::Met)];
    let undecided = result(loads, 2, SloVerdict::Undecided, SloEnd::OutOfLoads);
    for text in [slo_html(&undecided), slo_markdown(&undecided)] {
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what}: {text}"));
        assert!(at("void: 1 load, in which") < at("undecided: 1 of 2 loads at"));
        assert!(at("undecided: 1 of 2 loads at") < at("engine busy"));
        assert!(text.contains("gate: undecided: "), "{text}");
    }
}
