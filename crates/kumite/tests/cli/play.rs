//! Macros through the binary: shown, checked, played on the log. How exactly is measured elsewhere.

use std::fs::File;
use std::io::{BufRead, BufReader, PipeWriter, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::process::{Child, Stdio};

use kumite_testing::eventually;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::{Value, json};

use crate::place::{Place, Said};
use crate::printed::printed;
use crate::schema::assert_right;

const FIREBALL: &str = "2,mk 8\n3 1\n6,lp 1\n";
const JUMP_IN: &str = "9 34\nhp 20\n2,mk 8\n6 1\n2 1\n3,hp 1\n";
/// Longer than any test.
const ENDLESS: &str = "<loop 100000>\nlp 1\nlk 1\n</loop>\n";

/// A place with a macro in it.
fn with(text: &str) -> Place {
    let place = Place::new("", &[]);
    place.write("combo.txt", text);
    place
}

/// The buttons by position, of which these are pressed.
fn buttons(pressed: &[usize]) -> Vec<u8> {
    (0..36).map(|position| if pressed.contains(&position) { 100 } else { 0 }).collect()
}

/// A state's line of the log, without its time.
fn state(line: &str) -> &str {
    line.split_once(" ms  ").unwrap_or_else(|| panic!("{line:?}")).1
}

fn from_stdin(place: &Place, arguments: &[&str], text: &[u8]) -> Said {
    let mut command = place.command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // One that has read enough may close it.
    let _ = child.stdin.take().unwrap().write_all(text);
    Said::of(child.wait_with_output().unwrap())
}

fn start(place: &Place, arguments: &[&str], stdout: Stdio) -> Child {
    place.command(arguments).stdout(stdout).stderr(Stdio::piped()).spawn().unwrap()
}

fn signal(child: &Child, signal: Signal) {
    kill(Pid::from_raw(child.id() as i32), signal).unwrap();
}

#[test]
fn a_dry_run_shows_when_which_keys_are_pressed() {
    let said = with(FIREBALL).kumite(&["play", "combo.txt", "--dry-run", "--fps", "50"]).ended(0);
    let lines = [
        "   when (ms)  frames  keys",
        "       0.000       8  2,mk",
        "     160.000       1  3",
        "     180.000       1  6,lp",
        "     200.000          released",
        "",
    ];
    assert_eq!((said.out, said.err), (lines.join("\n"), String::new()));
    let said = with(JUMP_IN).kumite(&["play", "combo.txt", "--dry-run"]).ended(0);
    printed!(said.report());
}

#[test]
fn a_dry_run_is_a_document_of_all_36_values() {
    let document =
        |text: &str| with(text).kumite(&["play", "combo.txt", "--dry-run", "--json"]).ended(0).json();
    let document = |text: &str| -> Value {
        let states = document(text)["states"].as_array().unwrap().clone();
        states.iter().map(|state| json!({"frames": state["frames"], "buttons": state["buttons"]})).collect()
    };
    let states = |states: &[(u32, &[usize])]| -> Value {
        states.iter().map(|(frames, on)| json!({"frames": frames, "buttons": buttons(on)})).collect()
    };
    assert_eq!(document(FIREBALL), states(&[(8, &[14, 18]), (1, &[14, 16]), (1, &[16, 20])]));
    let jump_in: [(u32, &[usize]); 6] =
        [(34, &[13, 16]), (20, &[3]), (8, &[14, 18]), (1, &[16]), (1, &[14]), (1, &[3, 14, 16])];
    assert_eq!(document(JUMP_IN), states(&jump_in));
    let looped = document("<loop 2>\nlp 1\n<loop 2>\nsave 2\n</loop>\n</loop>");
    let save: (u32, &[usize]) = (2, &[5]);
    assert_eq!(looped, states(&[(1, &[20]), save, save, (1, &[20]), save, save]));
}

#[test]
fn documents_name_keys_and_times() {
    let place = with(FIREBALL);
    let document = place.kumite(&["play", "combo.txt", "--dry-run", "--json", "--fps", "50"]).ended(0).json();
    assert_eq!((&document["schema"], &document["fps"]), (&json!(5), &json!(50.0)));
    let state = |nth: usize| (&document["states"][nth]["due_ms"], &document["states"][nth]["keys"]);
    assert_eq!([state(0), state(2)], [(&json!(0.0), &json!("2,mk")), (&json!(180.0), &json!("6,lp"))]);
    let counts = place.kumite(&["play", "combo.txt", "--check", "--json", "--fps", "50"]).ended(0).json();
    assert_eq!(counts, json!({"schema": 5, "fps": 50.0, "states": 3, "frames": 10, "seconds": 0.2}));
    let said = with("LP 1").kumite(&["play", "combo.txt", "--check"]).ended(2);
    printed!(said.notes());
}

#[test]
fn as_many_states_as_there_may_be_are_shown() {
    let place = with("<loop 1000000>\nlp 1\n</loop>");
    let said = place.kumite(&["play", "combo.txt", "--dry-run"]).ended(0);
    assert_eq!(said.out.lines().count(), 1_000_002);
}

#[test]
fn a_macro_is_played_state_by_state_and_the_release() {
    let said = with(FIREBALL).kumite(&["play", "combo.txt", "--fps", "1000"]).ended(0);
    assert_eq!(said.out.lines().map(state).collect::<Vec<_>>(), ["2,mk", "3", "6,lp", "5"]);
    printed!(said.timeless());
}

#[test]
fn how_it_was_played_is_a_document() {
    let said = with(FIREBALL).kumite(&["play", "combo.txt", "--fps", "100", "--json"]).ended(0);
    let did = said.json();
    assert_right("play", &did);
    let counts = ["schema", "states", "frames", "played_states"].map(|key| did[key].clone());
    assert_eq!(counts, [5, 4, 10, 4].map(Value::from));
    assert_eq!((&did["ended"], &did["device"], &did["fps"]), (&"whole".into(), &"log".into(), &100.0.into()));
    assert_eq!(
        (&did["why"], &did["command"]),
        (&Value::Null, &"kumite play combo.txt --fps 100 --json".into())
    );
    let mut before = 0.0;
    for key in ["error_p50_us", "error_p90_us", "error_p99_us", "error_p99_9_us", "error_max_us"] {
        let us = did[key].as_f64().unwrap();
        assert!(us >= before, "{key}: {did}");
        before = us;
    }
    let [first, last, drift] = ["error_first_60_frames_mean_us", "error_last_60_frames_mean_us", "drift_us"]
        .map(|key| did[key].as_f64().unwrap());
    assert!((last - first - drift).abs() < 1e-6, "{did}");
    assert!(did["real_time"].is_boolean() && did["missed_frames"].is_u64(), "{did}");
    assert_eq!(said.err, "");
}

#[test]
fn a_macro_can_come_from_standard_input() {
    let place = Place::new("", &[]);
    let cr = FIREBALL.replace('\n', "\r");
    let said = from_stdin(&place, &["play", "-", "--check"], cr.as_bytes()).ended(0);
    assert_eq!(said.out, "standard input is right: 3 states, 10 frames, 0.167 s at 59.94 fps\n");
    let said = from_stdin(&place, &["play", "-", "--fps", "1000"], cr.as_bytes()).ended(0);
    assert_eq!(said.out.lines().count(), 4);
    let said = from_stdin(&place, &["play", "-"], b"2 1\rmk").ended(2);
    printed!(said.notes());
}

#[test]
fn a_right_macro_is_said_to_be_right_and_not_played() {
    let said = with(ENDLESS).kumite(&["play", "combo.txt", "--check", "--fps", "100"]).ended(0);
    assert_eq!(said.out, "combo.txt is right: 200,000 states, 200,000 frames, 2000.000 s at 100 fps\n");
    assert_eq!(said.err, "");
}

#[test]
fn what_is_wrong_is_shown_at_its_place() {
    for text in [
        "2 1\r\n\t3,xp 1\r\n",
        "2",
        "2 0",
        "4,6 1",
        "<loop 2>\n2 1\n",
        "2 1\n</loop>",
        "2 \0",
        "# nothing\n",
        "<loop 1000000>\n<loop 1000000>\n2 1\n2 1\n</loop>\n</loop>",
    ] {
        let place = with(text);
        let said = place.kumite(&["play", "combo.txt"]).ended(2);
        printed!(said.notes());
        for how in ["--check", "--dry-run", "--json"] {
            let other = place.kumite(&["play", "combo.txt", how]).ended(2);
            assert_eq!(
                (other.err.as_str(), other.out.as_str()),
                (said.err.as_str(), ""),
                "nothing is played of it"
            );
        }
    }
    let said = from_stdin(&Place::new("", &[]), &["play", "-", "--check"], b"2 1\n2,\xe3\x81 1").ended(2);
    printed!(said.notes());
}

#[test]
fn what_cannot_be_is_said_before_anything_is_played() {
    let place = with(FIREBALL);
    place.write("long.txt", &"#".repeat((16 << 20) + 1));
    for (arguments, code) in [
        (&[][..], 2),
        (&["missing.txt"], 2),
        (&["experiments"], 2),
        (&["long.txt"], 2),
        (&["combo.txt", "--fps", "0.9"], 2),
        (&["combo.txt", "--fps", "1001"], 2),
        (&["combo.txt", "--fps", "NaN"], 2),
        (&["combo.txt", "--fps", "fast"], 2),
        (&["combo.txt", "--device", "joystick"], 2),
        (&["combo.txt", "--device", "gcapi"], 2),
        (&["combo.txt", "--library", "gcdapi.dll"], 2),
        (&["combo.txt", "--device", "gcapi", "--library", "missing.so"], 3),
        (&["combo.txt", "--serve"], 2),
        (&["--serve", "--json"], 2),
        (&["combo.txt", "--port", "8081"], 2),
        (&["--port", "8081"], 2),
        (&["combo.txt", "--check", "--dry-run"], 2),
    ] {
        let said = place.kumite(&[&["play"], arguments].concat()).ended(code);
        printed!(said.notes());
        assert_eq!(said.out, "", "{arguments:?}");
    }
}

#[test]
fn a_signal_in_the_middle_releases_all() {
    for which in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGTSTP] {
        let place = with(ENDLESS);
        let mut child = start(&place, &["play", "combo.txt"], Stdio::piped());
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
        assert_eq!(state(&lines.next().unwrap()), "lp");
        signal(&child, which);
        let last = lines.last().unwrap();
        let said = Said::of(child.wait_with_output().unwrap()).ended(3);
        assert_eq!(state(&last), "5", "all is released");
        printed!(said.timeless());
    }
}

#[test]
fn a_signal_in_the_middle_is_in_the_document() {
    let place = with(ENDLESS);
    let child = start(&place, &["play", "combo.txt", "--json"], Stdio::piped());
    plays(&child);
    signal(&child, Signal::SIGINT);
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    let did = said.json();
    assert_eq!((&did["ended"], &did["states"]), (&"stopped".into(), &200_001.into()));
    assert!(did["played_states"].as_u64().unwrap() < 200_001, "{did}");
    assert_eq!(said.err, "error: it was interrupted\n");
}

#[test]
fn a_device_that_takes_nothing_does_not_keep_it_from_ending() {
    let (reader, writer) = std::io::pipe().unwrap();
    fill(&writer);
    let place = with(ENDLESS);
    let child = start(&place, &["play", "combo.txt"], writer.into());
    plays(&child);
    signal(&child, Signal::SIGINT);
    let said = Said::of(child.wait_with_output().unwrap()).ended(3);
    assert_eq!(said.err, "error: it was interrupted, and nobody reads the log\n");
    drop(reader);
}

/// So that not a byte more goes in.
fn fill(pipe: &PipeWriter) {
    let mut options = File::options();
    // Opened anew, for whoever gets the pipe is to wait.
    let again = options.write(true).custom_flags(nix::libc::O_NONBLOCK);
    let mut again = again.open(format!("/proc/self/fd/{}", pipe.as_raw_fd())).unwrap();
    for size in [4096, 1] {
        while again.write(&vec![b'\n'; size]).is_ok() {}
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_error() {
    for arguments in [&["--dry-run"][..], &["--dry-run", "--json"], &["--fps", "1000"]] {
        let place = with(ENDLESS);
        let mut child = start(&place, &[&["play", "combo.txt"], arguments].concat(), Stdio::piped());
        let mut some = [0; 10];
        child.stdout.take().unwrap().read_exact(&mut some).unwrap();
        let said = Said::of(child.wait_with_output().unwrap()).ended(0);
        assert_eq!(said.err, "", "{arguments:?}");
    }
}

/// Its player has begun, and so it acts on signals: that SIGINT is caught, as its status says, is so a moment before.
fn plays(child: &Child) {
    eventually(|| {
        let threads = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap().flatten();
        let mut names = threads.filter_map(|thread| std::fs::read_to_string(thread.path().join("comm")).ok());
        names.any(|name| name == "player\n")
    });
}

#[test]
fn the_examples_of_the_help_are_right() {
    let place = Place::new("", &[]);
    let help = place.kumite(&["play", "--help"]).ended(0).out;
    assert!(help.contains("Never use them online or in ranked play"), "{help}");
    let from = help.find("  2,mk 8").unwrap();
    let to = help.find("  </loop>").unwrap();
    place.write("combo.txt", &help[from..to + "  </loop>".len()]);
    let said = place.kumite(&["play", "combo.txt", "--check"]).ended(0);
    printed!(said.report());
}
