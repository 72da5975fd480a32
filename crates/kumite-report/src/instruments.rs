//! The closing lines of the instruments: the delay stub, the slow disk and the macro player.

use kumite_record::{DiskResult, Lateness, PlayResult, StubResult};

use crate::words::number::plural;

/// The closing line of `kumite stub`, with a line feed: its requests, answers and connections, and the lateness of
/// answers and resets if there were any.
pub fn stub_line(of: &StubResult) -> String {
    format!(
        "{} requests, {} answers ({} with an error status), {} resets, {} unanswered, {} malformed; {} connections, at \
         most {} at once, {} refused{}\n",
        of.requests,
        of.answers,
        of.errors,
        of.resets,
        of.unanswered,
        of.malformed,
        of.connections.accepted,
        of.connections.most,
        of.connections.refused,
        late(&of.late_us)
    )
}

/// The closing line of `kumite disk`, with a line feed: the numbers of opens, seeks, reads and bytes, and the lateness
/// of answers if a reader waited for one.
pub fn disk_line(of: &DiskResult) -> String {
    let late = late(&of.late_us);
    format!(
        "{} opens, {} seeks that waited, {} reads, {} bytes{late}\n",
        of.opens, of.seeks, of.reads, of.bytes
    )
}

/// The lateness at the end of a closing line; empty if it is not known.
fn late(late: &Option<Lateness>) -> String {
    let Some(late) = late else { return String::new() };
    let known = [("p50", late.p50), ("p99", late.p99), ("max", Some(late.max))];
    let known = known.into_iter().filter_map(|(name, us)| Some(format!("{name} {:.1} µs", us?)));
    format!("; late by {}", known.collect::<Vec<_>>().join(", "))
}

/// The closing lines of `kumite play`, without a line feed at the end: the states played, their errors, and the
/// priority.
pub fn play_lines(of: &PlayResult) -> String {
    let frames = plural(of.frames as usize, "frame");
    let (done, all, fps) = (of.played_states, of.states, of.fps);
    let mut lines =
        vec![format!("played {done} of {all} states, the release included; {frames} at {fps} fps")];
    lines.extend(errors(of));
    lines.push(match of.real_time {
        true => "with real-time priority".to_owned(),
        false => "without real-time priority, so that other work could delay it: run it as root, or raise the limit rtprio \
                  to 10; `kumite doctor` says what is missing"
            .to_owned(),
    });
    lines.join("\n")
}

/// The line on the errors and the drift of states; none if no state was played.
fn errors(of: &PlayResult) -> Option<String> {
    let (p50, p90, p99) = (of.error_p50_us?, of.error_p90_us?, of.error_p99_us?);
    let (p99_9, max, missed) = (of.error_p99_9_us?, of.error_max_us?, of.missed_frames?);
    let (first, last) = (of.error_first_60_frames_mean_us?, of.error_last_60_frames_mean_us?);
    let drift = of.drift_us?;
    Some(format!(
        "off by p50 {p50:.1} µs, p90 {p90:.1} µs, p99 {p99:.1} µs, p99.9 {p99_9:.1} µs, max {max:.1} µs; {missed} missed \
         frames\non average {first:+.1} µs in the first 60 frames, {last:+.1} µs in the last 60: drift {drift:+.1} µs"
    ))
}
