//! The Titan One: `examples/titan_one.rs` in its place, played on by the real player.
//!
//! The library is told by the environment what to do, and has one adapter: each play is a process of its own, which is
//! `examples/titan_one_player.rs`.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX, EXE_SUFFIX};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use kumite_play::{DeviceError, Gcapi, Macro, Schedule};

/// Faster than a game looks, so that a play is short.
const FPS: f64 = 240.0;

/// 20 lines of 3 frames, each with other buttons.
fn combo() -> String {
    let (buttons, directions) = (["share", "save", "mp", "mk", "lk", "lp"], ["8", "2", "4", "6"]);
    (0..20).map(|nth| format!("{},{} 3\n", buttons[nth % 6], directions[nth % 4])).collect()
}

fn schedule() -> Schedule {
    Macro::parse(combo().as_bytes()).unwrap().schedule()
}

/// Where cargo has put an example.
fn example(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let example = test.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(example.is_file(), "{}: `cargo test` or `cargo build --examples` makes it", example.display());
    example
}

fn library(name: &str) -> PathBuf {
    example(&format!("{DLL_PREFIX}{name}{DLL_SUFFIX}"))
}

/// A process's end, and the calls of its library meanwhile.
struct Play {
    said: String,
    calls: Vec<Call>,
}

#[derive(Debug)]
struct Call {
    /// Since `gcdapi_Load`.
    at: Duration,
    name: String,
    values: Vec<i8>,
}

/// Plays in a process of its own: `how` is for that, `misbehaviour` for the library.
fn in_a_process(how: &str, name: &str, misbehaviour: &str) -> Play {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let output = Command::new(example(&format!("titan_one_player{EXE_SUFFIX}")))
        .arg(how)
        .arg(library(name))
        .args([combo(), FPS.to_string()])
        .env("TITAN_ONE", misbehaviour)
        .env("TITAN_ONE_LOG", &log)
        .output()
        .unwrap();
    let Output { stdout, stderr, .. } = output;
    let said = format!("{}{}", String::from_utf8_lossy(&stdout), String::from_utf8_lossy(&stderr));
    let calls = match std::fs::read_to_string(&log) {
        Ok(log) => log.lines().map(call).collect(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        Err(error) => panic!("{error}"),
    };
    Play { said, calls }
}

fn call(line: &str) -> Call {
    let (at_us, rest) = line.split_once(' ').unwrap();
    let (name, values) = rest.split_once(' ').unwrap_or((rest, "[]"));
    let values = values.trim_matches(['[', ']']).split(", ").filter(|value| !value.is_empty());
    Call {
        at: Duration::from_micros(at_us.parse().unwrap()),
        name: name.to_owned(),
        values: values.map(|value| value.parse().unwrap()).collect(),
    }
}

impl Play {
    fn named(&self, name: &str) -> Vec<&Call> {
        self.calls.iter().filter(|call| call.name == name).collect()
    }

    fn written(&self) -> Vec<&[i8]> {
        self.named("gcapi_Write").iter().map(|call| &call.values[..]).collect()
    }

    /// Everything is released, and then the library is unloaded.
    fn assert_over(&self) {
        let [.., release, unload] = &self.calls[..] else { panic!("{}", self.said) };
        assert_eq!((&release.name[..], &release.values[..]), ("gcapi_Write", &[0; 36][..]), "{}", self.said);
        assert_eq!(unload.name, "gcdapi_Unload");
        assert_eq!(self.named("gcdapi_Unload").len(), 1);
    }
}

/// The values that a whole play writes.
fn whole() -> Vec<[i8; 36]> {
    schedule().due(FPS).map(|(_, state)| state.values()).collect()
}

#[test]
fn the_adapter_receives_each_state_in_order_when_it_is_due() {
    let play = in_a_process("whole", "titan_one", "");
    assert!(play.said.contains("ended: Whole"), "{}", play.said);
    assert_eq!(play.written(), whole());
    for (call, (due, _)) in play.named("gcapi_Write").iter().zip(schedule().due(FPS)) {
        // The schedule begins after the library is loaded: no state may come before it is due.
        assert!(call.at + Duration::from_micros(1) >= due, "{call:?}: due at {due:?}");
    }
    let before: Vec<&str> = play.calls[..4].iter().map(|call| &call.name[..]).collect();
    assert_eq!(before, ["gcdapi_Load", "gcapi_IsConnected", "gcapi_GetFWVer", "gcapi_Read"]);
    play.assert_over();
    assert_eq!(play.calls.len(), 4 + 21 + 1, "it is not released twice");
    let device = "Titan One, firmware 0x0115, at a PlayStation 4, with a PlayStation 4's controller";
    assert!(play.said.contains(device), "{}", play.said);
}

#[test]
fn a_stop_releases_and_unloads() {
    let play = in_a_process("stop", "titan_one", "");
    assert!(play.said.contains("ended: Stopped"), "{}", play.said);
    let written = play.written();
    let (release, played) = written.split_last().unwrap();
    assert_eq!(*release, [0; 36]);
    assert!((4..=20).contains(&played.len()), "{}", played.len());
    assert_eq!(played, &whole()[..played.len()]);
    play.assert_over();
}

#[test]
fn a_panic_releases_and_unloads() {
    let play = in_a_process("panic", "titan_one", "");
    assert!(play.said.contains("with a button pressed"), "{}", play.said);
    assert_eq!(play.written().len(), 2);
    play.assert_over();
}

#[test]
fn a_write_that_fails_is_named_and_all_is_released() {
    let play = in_a_process("whole", "titan_one", "refuses=3");
    assert!(play.said.contains("failed: the Titan One did not take state 3, at "), "{}", play.said);
    let mut expected = whole()[..3].to_vec();
    expected.push([0; 36]);
    assert_eq!(play.written(), expected);
    play.assert_over();
}

#[test]
fn a_release_that_fails_is_tried_again() {
    let play = in_a_process("whole", "titan_one", "refuses=21");
    assert!(play.said.contains("failed: the Titan One did not take state 21, at "), "{}", play.said);
    assert_eq!(play.written()[20..], [[0; 36], [0; 36]]);
    play.assert_over();
}

#[test]
fn an_adapter_may_connect_at_the_third_look() {
    let play = in_a_process("whole", "titan_one", "connects=3");
    assert!(play.said.contains("ended: Whole"), "{}", play.said);
    assert_eq!(play.written(), whole());
}

#[test]
fn an_adapter_that_is_not_there_is_looked_for_three_times() {
    let play = in_a_process("whole", "titan_one", "connects=0");
    assert!(play.said.contains("not connected: no Titan One is connected (tried 3 times)"), "{}", play.said);
    let looks = play.named("gcapi_IsConnected");
    assert_eq!(looks.len(), 3);
    for pair in looks.windows(2) {
        assert!(pair[1].at - pair[0].at >= Duration::from_millis(100), "{looks:?}");
    }
    let names: Vec<&str> = play.calls.iter().map(|call| &call.name[..]).collect();
    assert_eq!((names[0], &names[4..]), ("gcdapi_Load", &["gcdapi_Unload"][..]));
}

#[test]
fn a_library_that_does_not_start_is_left_alone() {
    let play = in_a_process("whole", "titan_one", "unloadable");
    assert!(play.said.contains("gcdapi_Load failed"), "{}", play.said);
    assert_eq!(play.calls.len(), 1, "{:?}", play.calls);
}

#[test]
fn nothing_is_called_where_an_entry_point_is_missing() {
    let play = in_a_process("whole", "titan_one_in_part", "");
    // The library would end the process.
    let library = library("titan_one_in_part");
    let error = format!(
        "{} is not the Titan One's library, or another version of it: it has no gcdapi_Unload",
        library.display()
    );
    assert!(play.said.contains(&error), "{}", play.said);
}

#[test]
fn what_is_no_library_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("gcdapi.dll");
    let error = Gcapi::connect(&path).unwrap_err();
    assert!(matches!(&error, DeviceError::NoLibrary { path: named } if *named == path), "{error}");
    std::fs::write(&path, "something else").unwrap();
    let error = Gcapi::connect(&path).unwrap_err();
    assert!(matches!(&error, DeviceError::NotALibrary { path: named, .. } if *named == path), "{error}");
    assert!(matches!(Gcapi::connect(folder.path()).unwrap_err(), DeviceError::NoLibrary { .. }));
    assert!(matches!(Gcapi::connect(Path::new("")).unwrap_err(), DeviceError::NoLibrary { .. }));
}
