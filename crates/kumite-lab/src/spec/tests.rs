//! Experiments that are read or refused; an error has the line and the column of what is wrong.

use kumite_record::{AxisValue, Probe};

use super::Experiment;
use super::file::ExperimentFile;
use super::keys::{keys_of_contender, keys_of_experiment};
use crate::driver::KINDS;

const SPEC: &str = r#"
question = "Which?"
kind = 'http'
blocks = 7
[workload]
duration_s = 2
[axes]
connections = [1, 10]
[profiles.quick]
blocks = 6
workload.duration_s = 1
axes.connections = [10]
[answer]
equals = "pong"
[[claim]]
id = "faster"
assert = "throughput_rps(a at connections=10) > throughput_rps(b at connections=10)"
"#;

fn error(text: &str) -> String {
    Experiment::from_text(text, "quick", &["a", "b"]).unwrap_err().to_string()
}

#[test]
fn a_profile_overrides_and_the_rest_stays() {
    let quick = Experiment::from_text(SPEC, "quick", &["a", "b"]).unwrap();
    assert_eq!((quick.blocks, quick.points().len()), (6, 1));
    let (trials, time) = quick.extent(&["a", "b"]);
    assert_eq!((trials, time.unwrap().map(|of| of.as_secs())), (2, [4, 4]));
    assert_eq!(quick.times(), [Some(std::time::Duration::from_secs(2))]);
    let by_evidence = SPEC.replace("duration_s = 2\n", "duration_s = 2\nwarm_up_limit_s = 11\n");
    let by_evidence = Experiment::from_text(&by_evidence, "quick", &["a", "b"]).unwrap();
    let (_, time) = by_evidence.extent(&["a", "b"]);
    assert_eq!(time.unwrap().map(|of| of.as_secs()), [4, 24], "a warm-up of 1 s to 11 s");
    assert_eq!(by_evidence.times(), [None], "only trying it tells");
    let standard = Experiment::from_text(SPEC, "standard", &["a", "b"]).unwrap();
    assert_eq!((standard.blocks, standard.points().len()), (7, 2));
    assert_eq!(standard.fixed["duration_s"], AxisValue::Int(2));
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    let cases = [
        ("kind = 'http'", "kind = 'dance'", "3:1: unknown kind 'dance'; known: http, task, function"),
        ("blocks = 7", "block = 7", "4:1: unknown key `block`"),
        ("duration_s = 2", "duration_s = 2\nspeed = 3", "5:2: unknown workload parameter 'speed'"),
        ("connections = [1, 10]", "connections = []", "8:1: axis 'connections' has no values"),
        ("connections = [1, 10]", "connections = [1, 1]", "8:1: axis 'connections' has a value twice"),
        ("workload.duration_s = 1", "workload.durations_s = 1", "overrides workload parameter 'durations_s'"),
        ("throughput_rps(a ", "throughput_rps(c ", "17:26: claim 'faster': no contender 'c'"),
        ("throughput_rps(a ", "speed(a ", "no metric 'speed'"),
        ("(a at connections=10)", "(a at connections=11)", "axis 'connections' has no value 11"),
        ("(a at connections=10)", "(a)", "needs 'at connections=…'"),
        (
            "> throughput",
            ">> throughput",
            "17:48: claim 'faster': expected a metric, a number or a $parameter, found '>'",
        ),
    ];
    for (from, to, expected) in cases {
        let text = SPEC
            .replace(from, to)
            .replace(if from == "connections = [1, 10]" { "axes.connections = [10]" } else { "\0" }, "");
        let found = error(&text);
        assert!(found.contains(expected), "{to}: {found}");
    }
}

#[test]
fn a_value_that_profiles_have_too_is_named_once() {
    let found = error(&SPEC.replace("(a at connections=10)", "(a at connections=11)"));
    assert_eq!(
        found,
        "experiment.toml:17:31: claim 'faster': axis 'connections' has no value 11; it has 1, 10"
    );
}

#[test]
fn a_point_s_parameter_takes_the_place_of_the_fixed_one() {
    let text = SPEC.replace("duration_s = 2\n", "duration_s = 2\nconnections = 7\n");
    let experiment = Experiment::from_text(&text, "quick", &["a", "b"]).unwrap();
    let parameters = &experiment.planned[0].parameters;
    assert_eq!(parameters["connections"], AxisValue::Int(10));
    assert_eq!(parameters["duration_s"], AxisValue::Int(1));
}

#[test]
fn every_key_that_a_kind_registers_is_one_that_is_checked() {
    let experiment = Experiment::from_text(SPEC, "quick", &["a", "b"]).unwrap();
    let file: ExperimentFile = toml::from_str(SPEC).unwrap();
    let of_experiment = keys_of_experiment(&file);
    let of_contender = keys_of_contender(experiment.variants()[0].1);
    let known: Vec<&str> = of_experiment.iter().chain(&of_contender).map(|(key, _)| *key).collect();
    for kind in KINDS {
        let unknown = kind.keys.iter().find(|key| !known.contains(key));
        assert_eq!(unknown, None, "{}", kind.name);
    }
}

#[test]
fn a_key_of_other_kinds_is_refused_with_whose_it_is() {
    let found = error(&format!("disk = '1 MB'\n{SPEC}"));
    assert_eq!(found, "experiment.toml:1:1: only tasks have `disk`, and this is of kind http");
    let found = error(&SPEC.replace("equals = \"pong\"", "at = {}\nsame_output = true"));
    assert_eq!(
        found,
        "experiment.toml:15:1: only commands have `answer.same_output`, and this is of kind http"
    );
}

#[test]
fn a_claim_on_what_no_trial_measures_is_refused_with_what_is_missing() {
    let about = |metric: &str, workload: &str| {
        let text = SPEC.replace("duration_s = 2\n", &format!("duration_s = 2\n{workload}"));
        let claim = format!(
            "[[claim]]\nid = 'x'\nassert = '{metric}(a at connections=10) > {metric}(b at connections=10)'\n"
        );
        Experiment::from_text(&format!("{text}\n{claim}"), "quick", &["a", "b"])
            .map_err(|error| error.to_string())
    };
    for (metric, parameter, workload) in [
        ("capacity_rps", "objective", "objective = 'p99 < 20ms'\n"),
        ("recovery_ms", "disturbance", "disturbance = 'pause'\n"),
        ("service_p99_us", "rate_rps", "rate_rps = 100\n"),
    ] {
        let refused = about(metric, "").unwrap_err();
        let expected = format!("has no {metric}, for its workload has no `{parameter}`");
        assert!(refused.ends_with(&expected), "{refused}");
        assert!(about(metric, workload).is_ok(), "{:?}", about(metric, workload).err());
    }
}

#[test]
fn a_right_answer_may_be_any_value_of_toml_that_json_has() {
    let with = |answer: &str| {
        let text = SPEC.replace("equals = \"pong\"", answer);
        Experiment::from_text(&text, "quick", &["a", "b"]).map_err(|error| error.to_string())
    };
    let read = with("equals_json = { a = [1, 2.5, 'x'], b = { c = true } }").unwrap();
    let expected = serde_json::json!({ "a": [1, 2.5, "x"], "b": { "c": true } });
    assert_eq!(read.answer.equals_json, Some(expected));
    for (answer, expected) in [
        ("equals_json = 1979-05-27", "14:15: JSON has no dates: write \"1979-05-27\" as text"),
        ("equals_json = [nan]", "JSON has no NaN"),
        ("equals = 17", "14:10: `equals` is a text and no integer: write a value of TOML as `equals_json`"),
        ("equals = '1'\nequals_json = 1", "15:1: a right answer is either `equals` or `equals_json`"),
    ] {
        let found = with(answer).unwrap_err();
        assert!(found.contains(expected), "{found}");
    }
}

#[test]
fn what_is_wrong_with_a_right_answer_has_its_place() {
    for (answer, expected) in [
        ("contains = ''", "14:1: an empty text is in every body: give one that the body must contain"),
        ("contains = 1", "14:12: write a text, or a list of texts"),
        (
            "at = { 'a' = 1 }",
            "14:1: \"a\" is not a JSON pointer: write it as /items/0/id, with ~1 for / and ~0 for ~ within a name",
        ),
        ("headers = { 'a b' = '' }", "14:1: \"a b\" is not a header's name: write it as content-type"),
        ("headers = { a = 1 }", "14:17: write the header's value, or { matches = \"PATTERN\" }"),
        ("length = -1", "14:10: write a number of bytes, or \"$parameter\""),
        ("length = 'x'", "14:1: `length` is a number of bytes, or a parameter that is one, not \"x\""),
        (
            "sha256 = 'x'",
            "14:10: \"x\" is no SHA-256 digest: it has 64 hexadecimal digits, as sha256sum prints them",
        ),
        (
            "equals = '$connection'",
            "14:1: `equals` takes $connection, and neither [workload] nor [axes] has 'connection' (write $$connection for the text itself)",
        ),
    ] {
        let found = error(&SPEC.replace("equals = \"pong\"", answer));
        assert_eq!(found, format!("experiment.toml:{expected}"), "{answer}");
    }
    let regex = error(&SPEC.replace("equals = \"pong\"", "matches = ['a', 'b(']"));
    assert_eq!(
        regex.lines().next().unwrap(),
        "experiment.toml:14:11: the pattern \"b(\": regex parse error:"
    );
}

#[test]
fn a_parameter_that_is_almost_kumite_s_is_doubted_unless_that_is_given_too() {
    let doubts = |parameters: &str| {
        let text = format!("question = 'x'\nkind = 'task'\n[workload]\n{parameters}\n");
        Experiment::from_text(&text, "quick", &["a"]).unwrap().doubts
    };
    let [only] = &doubts("students = 3\niteration = 3")[..] else { panic!("one of two") };
    assert_eq!(
        only,
        "experiment.toml:5:1: 'iteration' is unknown to kumite, and passed on to the contenders; did you mean 'iterations'?"
    );
    assert_eq!(doubts("scores = 10").len(), 1);
    assert_eq!(doubts("scores = 10\ncores = 1"), [""; 0]);
}

#[test]
fn a_function_is_checked_once_for_each_handler_and_a_server_once() {
    let count = |kind: &str, axes: &str| {
        let text = format!("question = 'x'\nkind = '{kind}'\n[axes]\n{axes}\n");
        let experiment = Experiment::from_text(&text, "quick", &["a"]).unwrap();
        let all: Vec<usize> = (0..experiment.planned.len()).collect();
        experiment.checked_at(&all, "a").len()
    };
    assert_eq!(count("function", "handler = ['one', 'two']\nmemory_mb = [128, 256, 512]"), 2);
    assert_eq!(count("function", "memory_mb = [128, 256]"), 1);
    assert_eq!(count("http", "path = ['/one', '/two']"), 1);
}

#[test]
fn an_unknown_profile_names_those_there_are() {
    let found = Experiment::from_text(SPEC, "slow", &["a", "b"]).unwrap_err().to_string();
    assert_eq!(found, "no profile 'slow' in fake; there are: quick, standard, full");
}

const TWO: &str = r#"
question = "Which?"
kind = 'task'
[source]
title = "t"
author = "a"
workload.n = 100
[workload]
n = 1
cores = 1
[profiles.quick]
claims = ["second"]
[[claim]]
id = "first"
assert = "elapsed_ms(a) > elapsed_ms(b)"
[[claim]]
id = "second"
assert = "elapsed_ms(a) < elapsed_ms(b)"
[[check]]
id = "floor"
title = "It waits"
assert = "every contender: elapsed_ms(contender) >= 10 ms"
binds = "trials"
because = "It waits for 10 ms."
"#;

#[test]
fn a_profile_judges_the_claims_that_it_lists_and_every_profile_all_checks() {
    let of = |profile| {
        let experiment = Experiment::from_text(TWO, profile, &["a", "b"]).unwrap();
        let ids: Vec<String> = experiment.claims.iter().map(|claim| claim.id.clone()).collect();
        assert_eq!((experiment.checks.len(), &*experiment.checks[0].says.id), (1, "floor"));
        (ids.concat(), experiment.not_judged.concat())
    };
    assert_eq!(of("quick"), ("second".to_owned(), "first".to_owned()));
    assert_eq!(of("standard"), ("firstsecond".to_owned(), String::new()));
}

#[test]
fn what_is_wrong_with_claims_of_a_profile_a_check_or_the_source_is_named_with_its_place() {
    let cases = [
        (r#"["second"]"#, r#"["second", "third"]"#, "12:21: no claim 'third'; there are: first, second"),
        (r#"["second"]"#, r#"["second", "second"]"#, "12:21: claim 'second' is listed twice"),
        (r#"["second"]"#, r#"["floor"]"#, "12:11: no claim 'floor'"),
        (r#"id = "floor""#, r#"id = "first""#, "20:1: two claims or checks have the id 'first'"),
        (
            r#""every contender: elapsed_ms"#,
            r#""every contender: speed"#,
            "22:28: check 'floor': no metric 'speed'",
        ),
        (
            r#""every contender: elapsed_ms(contender) >= 10 ms""#,
            r#""every contender: disqualified(contender)""#,
            "22:41: check 'floor': wrong answers are a finding already",
        ),
        (r#""trials""#, r#""rounds""#, "23:9: unknown variant `rounds`, expected `trials` or `median`"),
        (r#""It waits for 10 ms.""#, r#"" ""#, "24:1: check 'floor': say in a sentence why it must be so"),
        ("because", "#because", "missing key `because`"),
        ("workload.n", "workload.m", "7:10: 'm' is neither in [workload] nor in [axes]"),
        ("workload.n = 100", "workload.n = 'all'", "7:10: 'n' is a number here, as in n = 1, not text"),
    ];
    for (from, to, expected) in cases {
        let found = error(&TWO.replacen(from, to, 1));
        assert!(found.contains(expected), "{to}: {found}");
    }
}

#[test]
fn a_claim_has_a_value_at_every_point_of_the_profile() {
    let text = |assert: &str| {
        let text = SPEC.replacen("[axes]", "[axes]\nrate_rps = [0, 100]", 1);
        let text = text.replacen("axes.connections = [10]", "axes.connections = [1, 10]", 1);
        let at = text.find("assert = ").unwrap();
        format!("{}assert = \"{assert}\"\n", &text[..at])
    };
    let said = "throughput_rps(a at connections=10) > 5 /s";
    let cases = [
        (
            "every $rate_rps: throughput_rps(a at connections=10) / $rate_rps > 1",
            "18:64: claim 'faster': it divides by 0 at rate_rps=0",
        ),
        (
            "every $connections: every $rate_rps: throughput_rps(a) > 100 /s / ($connections - 1)",
            "claim 'faster': it divides by 0 at connections=1 rate_rps=0",
        ),
        (
            "slope(throughput_rps(a at connections=10) over rate_rps) > 1",
            "a slope is over values above 0, and rate_rps has 0",
        ),
        (
            "max(throughput_rps(a at connections=10) / $rate_rps over rate_rps) > 1",
            "it divides by 0 at rate_rps=0",
        ),
    ];
    for (assert, expected) in cases {
        let found = error(&text(assert));
        assert!(found.contains(expected), "{assert}: {found}");
    }
    for assert in [
        "every $rate_rps > 0 /s: throughput_rps(a at connections=10) / $rate_rps > 1",
        &format!("every $rate_rps: {said}"),
    ] {
        Experiment::from_text(&text(assert), "quick", &["a", "b"]).unwrap();
    }
    // An expression needs no value at a point that the profile does not try.
    let unplanned = text("every $rate_rps: throughput_rps(a at connections=10) / $rate_rps > 1");
    let unplanned = unplanned.replacen("blocks = 6", "blocks = 6\naxes.rate_rps = [100]", 1);
    Experiment::from_text(&unplanned, "quick", &["a", "b"]).unwrap();
}

#[test]
fn a_probe_of_the_machine_is_declared_and_neither_claimed_nor_declared_again() {
    let read = |text: &str| Experiment::from_text(text, "quick", &["a", "b"]);
    let declared = read(SPEC).unwrap().metrics;
    for probe in Probe::ALL {
        assert_eq!(declared.iter().filter(|metric| **metric == probe.metric()).count(), 1);
        let name = probe.name();
        // The claim of the same form is one about a contender's metric.
        let of_metric = |metric: &str| SPEC.replace("throughput_rps(", &format!("{metric}("));
        assert!(read(&of_metric("response_mean_us")).is_ok() && read(&of_metric(name)).is_err(), "{name}");
        let own = |name: &str, value: &str| {
            let own = format!("metrics.{name} = {{ value = '{value}', about = 'its own' }}");
            read(&format!("question = 'x'\nkind = 'function'\n{own}\n"))
        };
        assert!(own("own_us", "worker").is_ok());
        assert!(own(name, "worker").is_err(), "{name} is the machine's");
        assert!(own("own_us", &format!("{name} + {name}")).is_err(), "{name} is no contender's");
    }
}

const LABELS: &str = r#"
question = "Which?"
kind = 'http'
[workload]
method = "POST"
[axes]
body = { small = "pong", big = { file = "Cargo.toml" } }
path = ["/a?b", "/c"]
[profiles.quick]
axes.body = ["small"]
points = [{ body = "small" }]
[answer]
headers = { x-a = "1" }
equals = "pong"
[[answer_at]]
path = "/c"
answer = { equals = "$body", headers = { x-b = "2" } }
[[answer_at]]
path = ["/a?b"]
answer = { equals_json = 3, status = 201 }
[[claim]]
id = "faster"
assert = 'throughput_rps(a at body=small, path="/c") > throughput_rps(b at body="big", path="/a?b")'
"#;

#[test]
fn a_label_stands_for_its_text_and_a_point_has_its_own_right_answer() {
    use kumite_load::{Check, Expect, HeaderCheck, Json, JsonPart};

    use crate::driver::http::HttpWorkload;

    let read = |profile| Experiment::from_text(LABELS, profile, &["a", "b"]).unwrap();
    let points = |experiment: &Experiment| -> Vec<String> {
        experiment.points().iter().map(ToString::to_string).collect()
    };
    let experiment = read("standard");
    let whole = ["body=small path=/a?b", "body=small path=/c", "body=big path=/a?b", "body=big path=/c"];
    assert_eq!(points(&experiment), whole, "in the order of the file");
    assert_eq!(points(&read("quick")), ["body=small path=/a?b", "body=small path=/c"]);
    let file = std::fs::read_to_string("Cargo.toml").unwrap();
    let cores = kumite_record::Cores::default();
    assert_eq!(crate::run::begin(&experiment, &cores).labels, experiment.labels);
    assert_eq!((&*experiment.labels["body"]["small"], &experiment.labels["body"]["big"]), ("pong", &file));

    let header = |name, value| HeaderCheck::equals(name, value).unwrap();
    let three = JsonPart::whole(Json::parse(b"3").unwrap());
    let at_a = Expect {
        status: Some(201),
        headers: vec![header("x-a", "1")],
        checks: vec![Check::json(vec![three])],
        ..Expect::default()
    };
    let at_c = |body: &str| Expect {
        headers: vec![header("x-a", "1"), header("x-b", "2")],
        equals: Some(body.as_bytes().to_vec()),
        ..Expect::default()
    };
    let workloads = experiment.planned.iter().map(|planned| planned.typed::<HttpWorkload>());
    let found: Vec<_> = workloads
        .map(|workload| {
            let step = &workload.sessions()[0].steps[0];
            (String::from_utf8(step.request.body.clone()).unwrap(), step.expect.clone())
        })
        .collect();
    let expected = [
        ("pong".to_owned(), at_a.clone()),
        ("pong".to_owned(), at_c("pong")),
        (file.clone(), at_a),
        (file.clone(), at_c(&file)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_is_wrong_with_labels_and_answers_by_point_is_named_with_its_place() {
    for (from, to, expected) in [
        (
            "body=small,",
            "body=smal,",
            "23:31: claim 'faster': axis 'body' has no value smal; did you mean 'small'? It has small, big",
        ),
        ("path=\"/a?b\"", "path=\"/a?b", "23:93: claim 'faster': this \" has no other that ends the text"),
        (
            "path=\"/c\"",
            "path=/c",
            "23:48: claim 'faster': expected a value of the axis (a text that is no word stands in quotes), found '/'",
        ),
        (
            "method = \"POST\"",
            "body = \"smal\"",
            "5:1: axis 'body' has no label 'smal'; did you mean 'small'? There are: big, small",
        ),
        (
            "axes.body = [\"small\"]",
            "axes.body = [\"smal\"]",
            "10:14: axis 'body' has no label 'smal'; did you mean 'small'? There are: big, small",
        ),
        (
            "small = \"pong\"",
            "small = 1",
            "7:18: a label stands for a text, or for that of a file: { file = \"FILE\" }",
        ),
        (
            "\"Cargo.toml\"",
            "\"no.json\"",
            "7:26: cannot read ./no.json: No such file or directory (os error 2)",
        ),
        (
            "body = { small = \"pong\", big = { file = \"Cargo.toml\" } }",
            "body = {}",
            "10:14: axis 'body' has no label 'small'; there are none here",
        ),
        ("path = \"/c\"\n", "path = \"/d\"\n", "16:1: axis 'path' has no value /d; it has /a?b, /c"),
        (
            "path = \"/c\"\n",
            "pth = \"/c\"\n",
            "16:1: no axis 'pth'; did you mean 'path'? There are: body, path, answer",
        ),
        (
            "path = [\"/a?b\"]\n",
            "path = \"/a?b\"\nbody = \"big\"\n",
            "15:3: no [[answer_at]] is of body=small path=/a?b: add one, without `answer` if [answer] says it all",
        ),
        (
            "path = [\"/a?b\"]\n",
            "\n",
            "18:1: two entries of [[answer_at]] are of body=small path=/c, the first and this: a point has one right answer",
        ),
        (
            "\"$body\"",
            "\"$boyd\"",
            "17:12: `equals` takes $boyd, and neither [workload] nor [axes] has 'boyd' (write $$boyd for the text itself)",
        ),
        (
            "equals = \"$body\"",
            "equals = \"\", equals_json = 1",
            "17:25: a right answer is either `equals` or `equals_json`: leave one of them out",
        ),
        (
            "equals = \"$body\"",
            "same_output = true",
            "17:12: only commands have `answer.same_output`, and this is of kind http",
        ),
    ] {
        let found = error(&LABELS.replacen(from, to, 1));
        assert_eq!(found, format!("experiment.toml:{expected}"), "{to}");
    }
}
