//! Runs of a comparison that fail, are killed or hang: what is left out, and what goes on.

use serde_json::{Value, json};

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

fn compare(place: &Place, arguments: &[&str]) -> Said {
    place.kumite(&[&["compare", "-n", "a", "-n", "b"], arguments].concat())
}

fn here() -> Place {
    Place::new("", &[])
}

/// Does in its runs what these cases of its number say.
fn by_run(cases: &str) -> String {
    format!("sh -c 'case $HYPERFINE_ITERATION in {cases} esac'")
}

fn blocks(command: &Value) -> Vec<Value> {
    command["left_out"].as_array().cloned().unwrap_or_default()
}

/// A command that is killed in one run, hangs in another and fails in a third.
const ALL_OF_IT: &str = "2) kill -9 $$;; 4) exec sleep 300;; 5) exit 7;; 6) exit 3;;";

#[test]
fn what_was_killed_hung_or_failed_is_left_out_and_the_comparison_goes_on() {
    // Queued; and one by one, where what comes after a run may fail for the run's sake.
    let concluded = "sh -c 'test $HYPERFINE_ITERATION -ne 2'";
    for around in [&[][..], &["--conclude", "true", "--conclude", concluded]] {
        let place = here();
        let [a, b] = [by_run(""), by_run(ALL_OF_IT)];
        let arguments = [&a, &b, "--runs", "12", "-i=3", "--timeout", "5s", "--json", "r.json"];
        let said = compare(&place, &[&arguments, around].concat()).ended(0);
        let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
        assert_right("compare", &result);
        let [a, b] = [0, 1].map(|at| &result["commands"][at]);
        assert_eq!(blocks(a), [Value::Null; 0]);
        assert_eq!(
            blocks(b),
            [
                json!({"block": 2, "why": {"what": "killed", "signal": 9}}),
                json!({"block": 4, "why": {"what": "timed-out", "seconds": 5.0}}),
                json!({"block": 5, "why": {"what": "failed", "exit_code": 7}}),
            ]
        );
        let count = |of: &Value, key: &str| of[key].as_array().unwrap().len();
        assert_eq!([count(a, "times"), count(b, "times"), count(b, "peak_rss")], [12, 9, 9]);
        assert_eq!(b["exit_codes"], json!([0, 0, 0, 3, 0, 0, 0, 0, 0]), "what the user allowed counts");
        let pair = &result["pairs"][0];
        assert_eq!((&pair["blocks"], &pair["cpu"]["blocks"]), (&json!(9), &json!(9)));
        assert_eq!(pair["failures"]["against"], json!([{"only_a": 3, "only_b": 0}]));
        assert_eq!(pair["failures"]["verdict"], "undecided");
        assert_eq!(place.left(), [""; 0]);
        let again = place.kumite(&["report", "r.json"]).ended(0);
        assert_eq!(again.out, said.out, "a report of the document says the same");
    }
}

#[test]
fn a_command_that_hardly_ever_succeeds_ends_the_comparison() {
    let place = here();
    // Runs so long that it is looked after each block, on any machine.
    let fails = by_run("*) sleep 0.2; exit 3;;");
    let said = compare(&place, &["true", &fails, "--runs", "6", "-i=1,2"]).ended(3);
    printed!(said.notes());
    let said =
        compare(&place, &["true", &by_run("*) sleep 0.2; kill -9 $$;;"), "-i", "--json", "r.json"]).ended(3);
    printed!(said.notes());
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!((&result["ended"], blocks(&result["commands"][1]).len()), (&json!("failed"), 10));
    assert_eq!(result["pairs"][0]["failures"]["verdict"], "more");
    let said = compare(&place, &["true", &fails, "-i=1,2", "--gate", "--json", "r.json"]).ended(3);
    printed!(said.notes());
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    assert_eq!(result["gate"]["state"], "shut");
}

#[test]
fn one_that_fails_more_often_shuts_the_gate_and_one_that_fails_less_often_does_not() {
    let place = here();
    // Runs are counted from 0: so never more than half of them have failed, whenever it is looked.
    let half = by_run("*[13579]) exit 3;;");
    for (commands, verdict, failed) in
        [([&by_run(""), &half], "more", [20, 0]), ([&half, &by_run("")], "less", [0, 40])]
    {
        let arguments = [commands[0], commands[1], "--runs", "40", "--gate", "-i=1", "--json", "r.json"];
        let said = compare(&place, &arguments);
        let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
        assert_right("compare", &result);
        let failures = &result["pairs"][0]["failures"];
        assert_eq!((&failures["verdict"], &failures["alpha"]), (&json!(verdict), &json!(0.005)));
        assert_eq!(
            (&failures["a"], &failures["b"]),
            (&json!({"failed": failed[0], "runs": 40}), &json!({"failed": failed[1], "runs": 80}))
        );
        assert_eq!(result["gate"]["by_failures"], true);
        match verdict {
            "more" => assert_eq!((said.code, &result["gate"]["state"]), (1, &json!("shut"))),
            // Of its speed the machine decides.
            _ => assert_eq!(result["gate"]["state"], result["pairs"][0]["gate"]["state"]),
        }
    }
}

#[test]
fn of_two_at_once_of_which_one_hangs_both_are_left_out_and_none_is_known_to_have_failed() {
    let place = here();
    let arguments =
        [&by_run(""), &by_run("1) exec sleep 300;; 2) exit 3;;"), "--duet", "--runs", "4", "-i=1"];
    let said = compare(&place, &[&arguments[..], &["--timeout", "5s", "--json", "r.json"]].concat());
    if said.code == 2 {
        // There is one CPU.
        return;
    }
    said.ended(0);
    let result: Value = serde_json::from_str(&place.read("r.json")).unwrap();
    let [a, b] = [0, 1].map(|at| blocks(&result["commands"][at]));
    let either = json!({"block": 1, "why": {"what": "either-timed-out", "seconds": 5.0}});
    assert_eq!((a.len(), &a[0]), (1, &either));
    assert_eq!(b, [either, json!({"block": 2, "why": {"what": "failed", "exit_code": 3}})]);
    let failures = &result["pairs"][0]["failures"];
    assert_eq!((&failures["a"]["failed"], &failures["b"]["failed"]), (&json!(1), &json!(0)));
    assert_eq!(result["pairs"][0]["blocks"], 2);
    assert_eq!(place.left(), [""; 0]);
}
