use kumite_record::{DiskResult, Lateness, PlayResult, StubConnections, StubResult};
use kumite_report::{disk_line, play_lines, stub_line};

#[test]
fn a_stub_and_a_disk_say_what_they_did_and_how_late() {
    let stub = StubResult {
        requests: 12,
        answers: 9,
        errors: 2,
        resets: 1,
        unanswered: 2,
        malformed: 3,
        connections: StubConnections { accepted: 4, most: 2, refused: 5 },
        late_us: Some(Lateness { p50: Some(10.25), p99: None, max: 99.0 }),
        ..StubResult::default()
    };
    let late = Some(Lateness { p50: Some(1.0), p99: Some(2.0), max: 3.0 });
    let disk =
        DiskResult { opens: 1, reads: 7, seeks: 3, bytes: 4096, late_us: late, ..DiskResult::default() };
    let idle = DiskResult { late_us: None, ..disk.clone() };
    insta::assert_snapshot!("instruments", stub_line(&stub) + &disk_line(&disk) + &disk_line(&idle));
}

#[test]
fn a_macro_says_how_exactly_it_was_played() {
    let played = PlayResult {
        fps: 50.0,
        states: 4,
        frames: 10,
        played_states: 3,
        real_time: true,
        error_p50_us: Some(1.0),
        error_p90_us: Some(2.0),
        error_p99_us: Some(3.0),
        error_p99_9_us: Some(4.0),
        error_max_us: Some(5.25),
        error_first_60_frames_mean_us: Some(-0.5),
        error_last_60_frames_mean_us: Some(0.25),
        drift_us: Some(0.75),
        missed_frames: Some(1),
        ..PlayResult::default()
    };
    let stopped = PlayResult { fps: 59.94, states: 4, frames: 1, ..PlayResult::default() };
    insta::assert_snapshot!("play", format!("{}\n\n{}", play_lines(&played), play_lines(&stopped)));
}
