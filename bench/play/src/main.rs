//! `cargo run --release -p bench-play`: prints the table; `--write` keeps it in RESULTS.md.
//!
//! Plays 600 frames on a device that only stores when it was written to: by the player, by the player without real-time
//! priority, and by a loop that sleeps until each state is due, with that priority and without. With nothing beside it, and
//! with a busy thread on each core.

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Parser;
use kumite_lab::Busy;
use kumite_limits::RealTime;
use kumite_play::{
    Control, Device, DeviceError, FPS, Held, Pacing, PadState, PlayEnd, Schedule, play, play_as_is,
};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rustix::time::{ClockId, clock_gettime};

/// Measure how exactly the macro player is in time
#[derive(Parser)]
struct Args {
    /// Plays in each way, idle and loaded
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    plays: u32,
    /// Frames of a play
    #[arg(long, value_name = "N", default_value_t = 600, value_parser = clap::value_parser!(u32).range(1..=60_000))]
    frames: u32,
    /// Of the order in which they come
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Replace bench/play/RESULTS.md
    #[arg(long)]
    write: bool,
}

/// A way to play, and what it is called.
struct Way {
    name: &'static str,
    plays: fn(&Schedule, &mut Instants) -> Result<()>,
}

const WAYS: [Way; 4] = [
    Way {
        name: "the player, SCHED_FIFO",
        plays: |schedule, device| {
            let played = play(schedule, FPS, device, &AtomicBool::new(false), &AtomicUsize::new(0));
            ensure!(matches!(played.ended, PlayEnd::Whole) && played.real_time, "{played:?}");
            Ok(())
        },
    },
    Way {
        name: "the player without it",
        plays: |schedule, device| {
            let played = play_as_is(schedule, FPS, device, &AtomicBool::new(false), &AtomicUsize::new(0));
            ensure!(matches!(played.ended, PlayEnd::Whole), "{played:?}");
            Ok(())
        },
    },
    Way {
        name: "plain sleep, SCHED_FIFO",
        plays: |schedule, device| {
            let _real_time = RealTime::take().context("SCHED_FIFO is not permitted any more")?;
            sleeping(schedule, device)
        },
    },
    Way { name: "plain sleep", plays: sleeping },
];

/// A loop that sleeps for the time that is left.
fn sleeping(schedule: &Schedule, device: &mut Instants) -> Result<()> {
    let start = Instant::now();
    for (due, state) in schedule.due(FPS) {
        thread::sleep(due.saturating_sub(start.elapsed()));
        device.write(state, start.elapsed())?;
    }
    Ok(())
}

/// Stores when it was written to.
struct Instants {
    writes: usize,
    /// Filled before, so that its memory is there.
    at: Vec<Instant>,
    /// The earliest that a write speaks of: the way to here takes time, the first time more than later.
    start: Instant,
}

impl Instants {
    fn new(writes: usize) -> Instants {
        let now = Instant::now();
        Instants { writes: 0, at: vec![now; writes], start: now }
    }
}

impl Device for Instants {
    fn write(&mut self, _state: PadState, since_start: Duration) -> Result<(), DeviceError> {
        let now = Instant::now();
        let start = now - since_start;
        self.start = if self.writes == 0 { start } else { start.min(self.start) };
        self.at[self.writes] = now;
        self.writes += 1;
        Ok(())
    }
}

/// The result of one play.
struct Found {
    pacing: Pacing,
    /// Of the thread, per second of play.
    cpu_ms: f64,
}

fn main() -> ExitCode {
    match measure(&Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn measure(args: &Args) -> Result<()> {
    RealTime::take().context("SCHED_FIFO is not permitted: try it as root")?;
    let states = [Control::Up, Control::Cross].map(|control| PadState::RELEASED.with(control));
    let held = states.into_iter().cycle().map(|state| Held { frames: 1, state });
    let schedule = Schedule(held.take(args.frames as usize).collect());
    let mut order: Vec<(usize, bool)> = (0..WAYS.len()).flat_map(|way| [(way, false), (way, true)]).collect();
    let mut random = ChaCha8Rng::seed_from_u64(args.seed);
    let mut found: [[Vec<Found>; 2]; WAYS.len()] = Default::default();
    let load = fs::read_to_string("/proc/loadavg").context("/proc/loadavg")?;
    let (all_before, stolen_before) = ticks()?;
    let cores = kumite_process::available_cores();
    for nth in 1..=args.plays {
        order.shuffle(&mut random);
        for &(way, loaded) in &order {
            let _busy = loaded.then(|| Busy::on(&cores)).transpose()?;
            found[way][usize::from(loaded)].push(played(&WAYS[way], &schedule)?);
        }
        eprintln!("{nth} of {}", args.plays);
    }
    let (all, stolen) = ticks()?;
    let circumstances = format!(
        "Load average at the start {}; the host took {:.1} % of the CPUs' time.",
        load.split(' ').next().unwrap_or("unknown"),
        (stolen - stolen_before) / (all - all_before) * 100.0
    );
    let text = format!("{}\n{}", table(&found, args, &circumstances), acceptance(&found[0][0]));
    print!("{text}");
    if args.write {
        fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("RESULTS.md"), text)?;
    }
    Ok(())
}

/// One play, on a thread that had no other.
fn played(way: &Way, schedule: &Schedule) -> Result<Found> {
    let due: Vec<Duration> = schedule.due(FPS).map(|(due, _)| due).collect();
    let play = || {
        let mut device = Instants::new(due.len());
        let before = clock_gettime(ClockId::ThreadCPUTime);
        (way.plays)(schedule, &mut device)?;
        let cpu = Duration::try_from(clock_gettime(ClockId::ThreadCPUTime) - before)?;
        let error = |(at, due): (&Instant, &Duration)| {
            (*due, (*at - device.start).as_nanos() as i64 - due.as_nanos() as i64)
        };
        let arrivals: Vec<_> = device.at.iter().zip(&due).map(error).collect();
        let pacing = Pacing::from_arrivals(&arrivals, FPS).context("nothing was played")?;
        let time = due.last().context("nothing was played")?;
        Ok(Found { pacing, cpu_ms: cpu.as_secs_f64() * 1e3 / time.as_secs_f64() })
    };
    thread::scope(|scope| scope.spawn(play).join()).expect("no way panics")
}

/// Of all CPUs since the machine was started: in all, and what its host took.
fn ticks() -> Result<(f64, f64)> {
    let text = fs::read_to_string("/proc/stat").context("/proc/stat")?;
    let first = text.lines().next().unwrap_or_default();
    let ticks: Vec<f64> = first.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    // The time of guests, behind it, is in the first two too.
    let ticks = ticks.get(..8).context("/proc/stat has no such line")?;
    Ok((ticks.iter().sum(), ticks[7]))
}

fn table(found: &[[Vec<Found>; 2]], args: &Args, circumstances: &str) -> String {
    let mut text = format!(
        "# How exactly the macro player is in time\n\n\
         {} frames at {FPS} a second, on a device that only stores when it was written to. Median of {} plays (least–most), in\n\
         random order, seed {}; magnitudes of errors in µs, mean errors of the first and last 60 frames, CPU time of the thread\n\
         per second. Loaded: a busy thread on each of {} CPUs. {circumstances}\n\
         `cargo run --release -p bench-play -- --plays {} --write`, {}.\n\n\
         | way | machine | p50 | p99 | max | first 60 | last 60 | CPU ms/s |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        args.frames,
        args.plays,
        args.seed,
        kumite_process::available_cores().len(),
        args.plays,
        jiff::Timestamp::now().strftime("%Y-%m-%d"),
    );
    for (loaded, machine) in ["idle", "loaded"].into_iter().enumerate() {
        for (way, found) in WAYS.iter().zip(found) {
            let of = |value: fn(&Found) -> f64, digits: usize| {
                let mut values: Vec<f64> = found[loaded].iter().map(value).collect();
                values.sort_by(f64::total_cmp);
                let (least, most) = (values[0], values[values.len() - 1]);
                format!("{:.digits$} ({least:.digits$}–{most:.digits$})", values[values.len() / 2])
            };
            let cells = [
                of(|found| found.pacing.p50_us, 2),
                of(|found| found.pacing.p99_us, 1),
                of(|found| found.pacing.max_us, 0),
                of(|found| found.pacing.first_mean_us, 1),
                of(|found| found.pacing.last_mean_us, 1),
                of(|found| found.cpu_ms, 1),
            ];
            text += &format!("| {} | {machine} | {} |\n", way.name, cells.join(" | "));
        }
    }
    text
}

/// The promises of the player on an idle machine.
fn acceptance(found: &[Found]) -> String {
    let exact = |found: &&Found| found.pacing.p99_us <= 50.0;
    let close = |found: &&Found| found.pacing.max_us <= 2000.0;
    let steady = |found: &&Found| (found.pacing.last_mean_us - found.pacing.first_mean_us).abs() <= 50.0;
    let count = |is: &dyn Fn(&&Found) -> bool| found.iter().filter(is).count();
    let all = count(&|found| exact(found) && close(found) && steady(found));
    format!(
        "With SCHED_FIFO on the idle machine: p99 at most 50 µs in {} of {plays} plays, no error over 2 ms in {}, the last 60\n\
         frames' mean error within 50 µs of the first 60's in {}; all three in {all}, and 9 of 10 are wanted: {}.\n",
        count(&exact),
        count(&close),
        count(&steady),
        if all * 10 >= found.len() * 9 { "met" } else { "not met" },
        plays = found.len(),
    )
}
