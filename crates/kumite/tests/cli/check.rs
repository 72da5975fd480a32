use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;

use crate::place::{EXPERIMENT, Place, Said};
use crate::printed::printed;

#[test]
fn contenders_that_answer_right_pass() {
    let place = Place::new("", &[("a", "pong"), ("b", "slow")]);
    let said = place.kumite(&["check", "fake"]).ended(0);
    assert_eq!(
        said.out,
        "✓ a answers right: fake 1.0\n✓ b answers right: fake 1.0\nfake: 2 right, 0 failing\n"
    );
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn one_that_lies_and_one_that_crashes_do_not() {
    let place = Place::new("", &[("crash", "crash"), ("good", "pong"), ("liar", "liar")]);
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_server_that_does_not_listen_on_host_alone_is_told_where_it_does() {
    let place = Place::new("", &[("anywhere", "anywhere"), ("good", "pong"), ("loopback", "loopback")]);
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    // On one machine it may.
    place.kumite(&["run", "fake", "--blocks", "1", "--only", "anywhere,loopback"]).ended(0);
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_json_body_is_right_however_it_is_written() {
    let place = Place::new("", &[("a", "json")]);
    let check = |expected: &str| {
        let text = EXPERIMENT.replace("equals = \"pong\"", expected);
        place.write("experiments/fake/experiment.toml", &text);
        place.kumite(&["check", "fake"])
    };
    check("equals_json = { a = [1], b = 2 }").ended(0);
    let said = check("equals_json = { a = [3], b = 2 }").ended(1);
    printed!(said.words());
    let said = check("equals_json = 1\nequals = '1'").ended(2);
    printed!(said.notes());
}

#[test]
fn one_that_does_not_end_and_one_that_leaves_a_process_behind_do_not_either() {
    let place = Place::new("", &[("leaver", "leaver"), ("stubborn", "stubborn")]);
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    assert_eq!(place.left(), [""; 0]);
}

#[test]
fn a_contender_whose_tool_is_missing_does_not_pass_silently() {
    let place = Place::new("", &[("good", "pong")]);
    place.contender("other", "pong", "needs = ['no-such-tool']");
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    place.kumite(&["check", "fake", "--skip", "other"]).ended(0);
}

#[test]
fn a_library_that_is_missing_is_installed_if_that_is_asked_for() {
    let place = Place::new("", &[]);
    let build = format!("build = 'test -e {}'", place.path("library").display());
    place.contender("a", "pong", &format!("{build}\n[install]\napt = ['libfake-dev']"));
    for (tool, does) in [
        ("dpkg-query", "test ! -e library || echo installed"),
        ("apt-get", "case \"$*\" in *install*libfake-dev) touch library;; esac"),
        ("sudo", "shift; exec \"$@\""),
    ] {
        let file = format!("bin/{tool}");
        place.write(&file, &format!("#!/bin/sh\n{does}\n"));
        std::fs::set_permissions(place.path(&file), Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:{}", place.path("bin").display(), std::env::var("PATH").unwrap());
    let check = |more: &[&str]| {
        let mut kumite = place.command(&[&["check", "fake"], more].concat());
        Said::of(kumite.env("PATH", &path).output().unwrap())
    };
    let said = check(&[]).ended(1);
    printed!(said.words());
    let said = check(&["--install"]).ended(0);
    printed!(said.notes());
    let said = check(&["--install"]).ended(0);
    assert!(!said.err.contains("installing"), "{}", said.err);
}

#[test]
fn a_profile_whose_blocks_are_too_few_is_an_error_and_says_how_many_would_do() {
    let claims = "[[claim]]\nid = 'one'\nassert = 'throughput_rps(a) > throughput_rps(b)'\n\
                  [[claim]]\nid = 'every'\nassert = 'every contender: throughput_rps(contender) > 1 /s'\n";
    let place = Place::new(claims, &[("a", "pong"), ("b", "pong")]);
    let text = place.read("experiments/fake/experiment.toml");
    let with = |blocks: &str| text.replacen("blocks = 6", blocks, 1);
    place.write(
        "experiments/fake/experiment.toml",
        &format!("{}[profiles.quick]\nblocks = 16\n", with("blocks = 17")),
    );
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.notes());
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    printed!(said.report());
    place.write("experiments/fake/experiment.toml", &with("blocks = 18"));
    place.kumite(&["check", "fake"]).ended(0);
    place.kumite(&["check", "fake", "--only", "a"]).ended(0);
}

/// Forty answers, which the rate says. A median takes twenty of them, a p99 1,000.
#[test]
fn a_window_that_is_too_short_for_a_percentile_is_an_error_and_says_how_long_would_do() {
    let claims = "[profiles.full]\nworkload.duration_s = 6\n\
                  [[claim]]\nid = 'middle'\nassert = 'response_p50_us(a) < 60 s'\n\
                  [[claim]]\nid = 'tail'\nassert = 'every contender: response_p99_us(contender) < 60 s'\n";
    let place = Place::new(claims, &[("a", "pong"), ("b", "pong")]);
    let text = place.read("experiments/fake/experiment.toml").replacen("blocks = 6", "blocks = 20", 1);
    place.write("experiments/fake/experiment.toml", &text);
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.notes());
    // A plan starts nothing, so it cannot know.
    let said = place.kumite(&["run", "fake", "--dry-run"]).ended(0);
    assert!(!(said.out + &said.err).contains("response_p99_us of claim"));
    assert_eq!(place.left(), [""; 0]);
}

/// A closed loop is as fast as its server, which is put under load.
#[test]
fn a_server_is_asked_how_fast_it_is_where_a_claim_wants_a_percentile() {
    let claims = "[[claim]]\nid = 'tail'\nassert = 'response_p99_us(slow) < 60 s'\n";
    let place = Place::new(claims, &[("slow", "slow")]);
    let closed = |duration: &str| {
        let text = place.read("experiments/fake/experiment.toml");
        let text = text.replacen("rate_rps = 200\n", "", 1).replacen("blocks = 6", "blocks = 20", 1);
        let text = text.replacen("connections = 40", "connections = 1", 1);
        text.replacen("duration_s = 0.2", duration, 1)
    };
    let (short, long) = (closed("duration_s = 0.2"), closed("duration_s = 80000"));
    place.write("experiments/fake/experiment.toml", &short);
    let said = place.kumite(&["check", "fake"]).ended(1);
    printed!(said.report());
    printed!(said.timeless());
    // Of a long window a moment is enough.
    place.write("experiments/fake/experiment.toml", &long);
    place.kumite(&["check", "fake"]).ended(0);
    // While another measures, no server is put under load.
    let lock = std::fs::File::create(place.path("measuring.lock")).unwrap();
    lock.lock().unwrap();
    place.write("experiments/fake/experiment.toml", &short);
    let said = place.kumite(&["check", "fake"]).ended(0);
    printed!(said.notes());
    assert_eq!(place.left(), [""; 0]);
}
