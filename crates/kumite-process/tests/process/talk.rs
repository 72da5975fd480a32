//! Lines to a process and from it.

use std::io::ErrorKind;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Heard, Talk, Tree};
use kumite_testing::LONG;
use kumite_testing::process::Bench;

const MOST: usize = 1 << 20;
static NEVER: AtomicBool = AtomicBool::new(false);

fn start(bench: &Bench, command: &str) -> (Tree, Talk) {
    Tree::start_talking(&bench.spawn(&[], &bench.log(), command), MOST).unwrap()
}

fn line(talk: &mut Talk) -> Vec<u8> {
    match talk.hear(LONG).unwrap() {
        Heard::Line(line, _) => line,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_go_there_and_back_and_the_log_has_the_rest() {
    let bench = Bench::new();
    let (mut tree, mut talk) = start(&bench, "echo to the log >&2; exec cat");
    assert!(talk.say(b"one\ntwo\n\nthr", LONG, &NEVER).unwrap());
    assert_eq!(
        [line(&mut talk), line(&mut talk), line(&mut talk)],
        [b"one".to_vec(), b"two".to_vec(), Vec::new()]
    );
    assert_eq!(talk.hear(Duration::from_millis(50)).unwrap(), Heard::Nothing);
    assert!(talk.say(b"ee\nleft", LONG, &NEVER).unwrap());
    assert_eq!(line(&mut talk), b"three");
    talk.close();
    assert_eq!(talk.hear(LONG).unwrap(), Heard::Ended(b"left".to_vec()));
    // It has closed its output, and is about to end.
    assert!(tree.wait(LONG, &NEVER).unwrap().unwrap().success());
    tree.stop(LONG);
    assert_eq!(bench.read("log"), "to the log\n");
}

#[test]
fn a_line_comes_with_the_time_of_its_last_byte() {
    let bench = Bench::new();
    let before = Instant::now();
    let (_tree, mut talk) = start(&bench, "printf early; sleep 0.2; echo; exec sleep 300");
    let Heard::Line(line, came) = talk.hear(LONG).unwrap() else { panic!("a line") };
    assert_eq!(line, b"early");
    assert!(before + Duration::from_millis(200) <= came && came <= Instant::now());
    assert_eq!(talk.hear(Duration::ZERO).unwrap(), Heard::Nothing);
}

/// More than both pipes hold is on its way at once.
#[test]
fn two_sides_that_both_write_do_not_wait_for_each_other() {
    let bench = Bench::new();
    let (_tree, mut talk) = start(&bench, "exec cat");
    let long = [vec![b'x'; MOST - 1], vec![b'\n']].concat();
    assert!(talk.say(&long, LONG, &NEVER).unwrap());
    assert_eq!(line(&mut talk).len(), MOST - 1);
}

#[test]
fn a_process_that_does_not_read_is_not_waited_for() {
    let bench = Bench::new();
    let (_tree, mut talk) = start(&bench, "exec sleep 300");
    let long = vec![b'x'; MOST];
    assert!(!talk.say(&long, Duration::from_millis(100), &NEVER).unwrap());
    let began = Instant::now();
    assert!(!talk.say(&long, LONG, &AtomicBool::new(true)).unwrap());
    assert!(began.elapsed() < LONG, "nor when all is to stop");
}

#[test]
fn a_line_without_an_end_is_not_kept() {
    let bench = Bench::new();
    let (_tree, mut talk) = start(&bench, "exec tr '\\0' x < /dev/zero");
    assert_eq!(talk.hear(LONG).unwrap(), Heard::TooLong);
}

#[test]
fn a_process_that_has_ended_hears_nothing() {
    let bench = Bench::new();
    let (_tree, mut talk) = start(&bench, "true");
    assert_eq!(talk.hear(LONG).unwrap(), Heard::Ended(Vec::new()));
    // A process that another test is just starting holds copies of all our pipes until it is executed.
    let until = Instant::now() + LONG;
    let closed = loop {
        match talk.say(b"x", LONG, &NEVER) {
            Ok(_) if Instant::now() < until => std::thread::sleep(Duration::from_millis(1)),
            said => break said,
        }
    };
    assert_eq!(closed.unwrap_err().kind(), ErrorKind::BrokenPipe);
}
