//! A process whose own peak is small: a child inherits ours, and only what is above it is known to be the child's.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_testing::LONG;
use kumite_testing::process::Bench;

pub fn of_a_command_that_nobody_looked_at_is_known_at_its_end() {
    let bench = Bench::new();
    let mut tree = bench.start("x=$(head -c 60000000 /dev/zero | tr '\\0' x)");
    tree.wait(LONG, &AtomicBool::new(false)).unwrap().unwrap();
    let peak = tree.stop(Duration::from_secs(1)).usage.peak_rss_bytes;
    assert!((60_000_000..400_000_000).contains(&peak), "{peak}");
}
