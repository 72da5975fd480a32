//! Says nonsense to both ends of the protocol, for some seconds: `fuzz KUMITE SECONDS [SEED]`. Frames that one end would say
//! are changed here and there, cut, doubled and put in another order. A driver must end with an error, and an agent must
//! answer or end, without a panic, in time, and without a file outside of its folder.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_agent::{Ask, Event, Link, PROTOCOL, Tell, Way, Worked, encode};
use kumite_process::{Spawn, run};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Without a bound, doubling would make frames of any length, and a round of any time.
const LONGEST: usize = 1 << 20;
/// More than any of what is said here takes.
const LIMIT: Duration = Duration::from_secs(20);

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().collect();
    let (Some(kumite), Some(seconds)) = (words.get(1), words.get(2).and_then(|word| word.parse().ok()))
    else {
        eprintln!("fuzz KUMITE SECONDS [SEED]");
        return ExitCode::from(2);
    };
    // It is started in other folders.
    let Ok(kumite) = Path::new(kumite).canonicalize() else {
        eprintln!("{kumite}: no such file");
        return ExitCode::from(2);
    };
    let seed = words.get(3).and_then(|word| word.parse().ok()).unwrap_or(1);
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut agents, mut drivers) = (0_u64, 0_u64);
    while Instant::now() < until {
        let asked = spoiled(&asks(), &mut random);
        if let Err(why) = agent(&kumite, &asked) {
            eprintln!("the agent {why}, when it was asked:\n{}", String::from_utf8_lossy(&asked));
            return ExitCode::FAILURE;
        }
        agents += 1;
        // A driver costs less, and has more to misunderstand.
        for _ in 0..10 {
            let told = spoiled(&tells(), &mut random);
            if let Err(why) = driver(&told) {
                eprintln!("the driver {why}, when it was told:\n{}", String::from_utf8_lossy(&told));
                return ExitCode::FAILURE;
            }
            drivers += 1;
        }
    }
    println!("seed {seed}: {agents} agents and {drivers} drivers in {seconds} s, all as they should");
    ExitCode::SUCCESS
}

fn asks() -> Vec<Vec<u8>> {
    let text = str::to_owned;
    let file =
        |path: &str, first| Ask::File { path: text(path), executable: true, first, data: text("eA==") };
    [
        Ask::Begin { key: text("0123456789abcdef") },
        file("mine/experiment.toml", true),
        file("mine/experiment.toml", false),
        file("../outside", true),
        file("/tmp/outside", true),
        Ask::Run { experiment: text("mine"), arguments: vec![text("--blocks=1"), text("--db=/outside")] },
        Ask::Role { experiment: text("mine") },
        Ask::Work { work: text(r#"{"do":"look"}"#) },
        Ask::Work { work: text(r#"{"do":"start-server","contender":"a","host":"127.0.0.1","env":[],"cores":[0],"log":"../x"}"#) },
        Ask::Relayed { worked: Worked::Answer(text("1")), cut_off_ms: 0 },
        Ask::Store,
        Ask::Forget,
    ]
    .map(|ask| encode(&ask))
    .into()
}

fn tells() -> Vec<Vec<u8>> {
    let text = str::to_owned;
    [
        Tell::Hello { protocol: PROTOCOL, kumite: text("1"), addresses: None },
        Tell::Note { text: text("1/2 \u{1b}[2J") },
        Tell::Data { data: text("eHl6"), more: true },
        Tell::Data { data: text(""), more: false },
        Tell::Worked { worked: Worked::Answer(text("{}")) },
        Tell::Worked { worked: Worked::Failed(text("no")) },
        Tell::Relay { node: text("n9"), work: text("{}") },
        Tell::Done { status: Some(3) },
        Tell::Failed { why: text("full") },
    ]
    .map(|tell| encode(&tell))
    .into()
}

/// Some of these frames, in some order, each perhaps with some bytes changed, left out or doubled; the first is mostly whole,
/// or one would never come further.
fn spoiled(frames: &[Vec<u8>], random: &mut impl Rng) -> Vec<u8> {
    let mut said = if random.random_bool(0.8) { frames[0].clone() } else { Vec::new() };
    for _ in 0..random.random_range(0..12) {
        let mut frame = frames[random.random_range(0..frames.len())].clone();
        for _ in 0..random.random_range(0..4) {
            let at = random.random_range(0..frame.len());
            match random.random_range(0..5) {
                0 => frame[at] = random.random(),
                1 => drop(frame.remove(at)),
                2 => frame.truncate(at.max(1)),
                3 => {
                    let piece = frame[at..].to_vec();
                    let times = random.random_range(1..200);
                    (0..times).take(LONGEST / piece.len()).for_each(|_| frame.extend(&piece));
                }
                _ => frame.insert(at, *b"\"{}[],:\n\\0".get(random.random_range(0..10)).unwrap_or(&0)),
            }
            if frame.is_empty() {
                frame.push(b'\n');
            }
        }
        said.extend(frame);
    }
    said.truncate(LONGEST);
    said
}

/// A real agent in a home of its own.
fn agent(kumite: &Path, asked: &[u8]) -> Result<(), String> {
    let home = tempfile::tempdir().map_err(|error| error.to_string())?;
    let at = |name: &str| home.path().join(name);
    std::fs::write(at("asked"), asked).map_err(|error| error.to_string())?;
    let env = [("HOME", at("home")), ("KUMITE_LOCK", at("lock")), ("XDG_CACHE_HOME", at("cache"))];
    let env = env.map(|(name, value)| (name.to_owned(), value.display().to_string()));
    let (command, log) = (format!("exec '{}' agent < asked", kumite.display()), at("log"));
    let spawn = Spawn {
        command: &command,
        dir: home.path(),
        env: &env,
        keeps: None,
        cores: &[],
        log: &log,
        group: None,
    };
    let done = run(&spawn, LIMIT, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    let said = std::fs::read_to_string(&log).unwrap_or_default();
    if said.contains("panicked") || done.status.code().is_none() {
        return Err(format!("ended with {}: {said}", done.status));
    }
    let mut places = std::fs::read_dir(home.path()).map_err(|error| error.to_string())?.flatten();
    match places.find(|place| {
        !["asked", "cache", "home", "lock", "log"].contains(&&*place.file_name().to_string_lossy())
    }) {
        Some(place) => Err(format!("wrote {}", place.path().display())),
        None if Path::new("/tmp/outside").exists() => Err("wrote /tmp/outside".to_owned()),
        None => Ok(()),
    }
}

/// A driver that is told this, and asks for all that it may ask for.
fn driver(told: &[u8]) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let (file, log) = (folder.path().join("told"), folder.path().join("log"));
    std::fs::write(&file, told).map_err(|error| error.to_string())?;
    let command = format!("cat {}", file.display());
    let began = Instant::now();
    let stop = AtomicBool::new(false);
    if let Ok(mut link) = Link::open("n1", &Way::Command(&command), "1", &log, &stop) {
        let _ = link.role("mine", &stop);
        let _ = link.work("{}", LIMIT, &mut |_| (), &stop);
        let _ = link.store(&folder.path().join("store"), &stop);
        let _ = link.facts(&stop);
        while let Ok(Some(event)) = link.next(LIMIT, &stop) {
            if matches!(event, Event::Done(_)) {
                break;
            }
        }
        link.close();
    }
    if began.elapsed() > LIMIT { Err(format!("took {:?}", began.elapsed())) } else { Ok(()) }
}
