//! Percentiles that windows are too short for.

use serde_json::json;

use crate::place::{Place, standing};

const CLAIM: &str = r#"
[[claim]]
id = "tail-is-short"
assert = "response_p99_us(pong) < 60 s"
[[claim]]
id = "median-is-short"
assert = "response_p50_us(pong) < 60 s"
"#;

#[test]
fn a_claim_whose_window_is_too_short_says_after_the_first_round_how_long_it_must_be() {
    let place = Place::new(CLAIM, &[("pong", "pong"), ("slow", "slow")]);
    let said = place.kumite(&["run", "fake", "--blocks", "2", "--json", "r.json", "--verbose"]).ended(0);
    let few = "pong has too few values for response_p99_us: a trial needs 960 more than its 40; duration_s = 6 would do";
    // In the first of two rounds, and not of the claim that it is long enough for.
    let note = format!("tail-is-short cannot be judged, however many blocks there are: {few}");
    let at = said.err.find(&note).unwrap_or_else(|| panic!("{}", said.err));
    let last = said.err.rfind(" left; ").unwrap_or_else(|| panic!("{}", said.err));
    assert!(at < last, "{}", said.err);
    let words: Vec<&str> = said.out.split_whitespace().collect();
    assert!(words.join(" ").contains(few), "{}", said.out);
    let export: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let enough = json!({ "have": 40, "parameter": "duration_s", "value": 6.0 });
    assert_eq!(export["claims"][0]["reason"]["enough"], enough, "{}", export["claims"][0]);
    assert_eq!(said.err.matches(" cannot be judged").count(), 1, "the median can: {}", said.err);
    assert_ne!(export["claims"][1]["verdict"], "not-tested", "{}", export["claims"][1]);
    assert_eq!(standing(&export)[0]["sample"]["enough"]["response_p99_us"], enough);
}
