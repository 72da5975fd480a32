//! A neighbour, for `bench/probes`: `neighbour storm|cache SECONDS`, on every CPU that it may use.
//!
//! *storm*: threads that wake each other over and over, and others that sleep for 50 µs at a time. *cache*: threads that
//! write through 64 MiB each, a line at a time.

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Duration, Instant};

const NAP: Duration = Duration::from_micros(50);
const BYTES: usize = 64 << 20;
const LINE: usize = 64;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let seconds = args.get(1).and_then(|seconds| seconds.parse().ok());
    let (Some(what), Some(seconds)) = (args.first(), seconds) else {
        eprintln!("usage: neighbour storm|cache SECONDS");
        return ExitCode::FAILURE;
    };
    let until = Instant::now() + Duration::from_secs(seconds);
    let work: &(dyn Fn() + Sync) = match what.as_str() {
        "storm" => &|| storm(until),
        "cache" => &|| thrash(until),
        _ => {
            eprintln!("there is no neighbour {what}: it is storm or cache");
            return ExitCode::FAILURE;
        }
    };
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..cpus {
            scope.spawn(work);
        }
    });
    ExitCode::SUCCESS
}

/// A pair that hands a turn to and fro, and a third that naps.
fn storm(until: Instant) {
    let (there, at_there) = sync_channel(0);
    let (back, at_back) = sync_channel(0);
    thread::scope(|scope| {
        scope.spawn(move || while at_there.recv().is_ok() && back.send(()).is_ok() {});
        scope.spawn(move || {
            while Instant::now() < until {
                thread::sleep(NAP);
            }
        });
        while Instant::now() < until && there.send(()).is_ok() && at_back.recv().is_ok() {}
        drop(there);
    });
}

fn thrash(until: Instant) {
    let mut memory = vec![0_u8; BYTES];
    while Instant::now() < until {
        memory.iter_mut().step_by(LINE).for_each(|byte| *byte = byte.wrapping_add(1));
        black_box(&memory);
    }
}
