//! Wrong answers of every contender: a fault of the machine, of the experiment or of kumite.

use crate::place::{Place, Said};
use crate::printed::printed;

const CLAIM: &str = "
[[claim]]
id = 'faster'
assert = 'throughput_rps(a) > throughput_rps(b)'
";

fn place(script: &str) -> Place {
    let place = Place::new(CLAIM, &[("a", "pong"), ("b", "pong")]);
    place.write("script.toml", &format!("[[trial]]\nmetrics = {{ throughput_rps = 300 }}\n{script}"));
    place
}

/// Every other block of each; which ones makes no difference.
const HALF: &str = "
[[trial]]
block = 1
outcome = 'disqualified'
reason = 'its output is wrong: 3 bytes'
[[trial]]
block = 3
outcome = 'disqualified'
reason = 'its output is wrong: 3 bytes'
";

const SAID: &str = "every contender answers wrong in half of its trials or more (a in 2 of 4, b in 2 of 4), which is no \
    fault of each but one of this machine, of [answer], or of kumite; no verdict is given; the first was ";

#[test]
fn half_of_the_blocks_wrong_for_every_contender_ends_the_run_without_a_verdict() {
    let place = place(HALF);
    let said = place.scripted(&["run", "fake", "--json", "r.json", "--seed", "1"]).ended(3);
    printed!(said.notes());
    printed!(said.report());
    let export: serde_json::Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(export["trials"].as_array().unwrap().len(), 8, "four of six blocks");
    assert_eq!(export["claims"][0]["verdict"], "not-tested", "{}", export["claims"]);
    assert!(export["run"]["cut_short"].as_str().unwrap().starts_with(SAID), "{}", export["run"]["cut_short"]);
    // A run that is resumed has the same trials.
    let said = place.scripted(&["resume", "last"]).ended(3);
    printed!(said.notes());
}

#[test]
fn shards_that_are_merged_are_not_judged_either() {
    let place = place(HALF);
    for nth in ["1", "2"] {
        let (share, store) = (format!("{nth}/2"), format!("{nth}.db"));
        // The wrong blocks are all of the second's.
        let code = if nth == "2" { 3 } else { 0 };
        let arguments = ["run", "fake", "--seed", "1", "--shard", &share, "--db", &store];
        let output = place.scripted_command(&arguments).env("NODE_NAME", format!("n{nth}")).output().unwrap();
        Said::of(output).ended(code);
    }
    let said = place.scripted(&["merge", "1.db", "2.db", "--db", "all.db", "--json", "-"]).ended(3);
    assert_eq!(said.json()["claims"][0]["verdict"], "not-tested", "{}", said.out);
    printed!(said.notes());
}

#[test]
fn one_contender_that_is_wrong_is_disqualified_and_the_others_go_on() {
    let place = place("[[trial]]\ncontender = 'a'\noutcome = 'disqualified'\nreason = 'wrong'");
    let said = place.scripted(&["run", "fake", "--json", "-"]).ended(0);
    assert_eq!(said.json()["trials"].as_array().unwrap().len(), 12);
    printed!(said.notes());
}
