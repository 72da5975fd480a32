//! `kumite agent`: does on a node what a driver asks by its standard input, and ends with that.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use kumite_agent::{
    ADDRESSES, Ask, LONGEST, PROTOCOL, Patient, Received, SIGN_EVERY, SILENCE_LIMIT, Tell, Worked, below,
    decode, encode, pieces,
};
use kumite_host::{Lock, facts};
use kumite_lab::chain;
use kumite_process::{Heard, Spawn, Talk, Tree};
use kumite_record::{Run, Store};

use crate::frames::{IN_FRAMES, RELAYED, tell};
use crate::shard::node_name;

/// For a run to end its trial and what it started.
const GRACE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// A frame of a run here.
const LONGEST_NOTE: usize = LONGEST / 2;

/// How this machine is taken for measuring.
type Begin<'a> = &'a dyn Fn() -> Result<Lock, String>;

/// Does what a driver of this version asks. `begin` makes sure that nobody else measures here.
pub fn agent(version: &str, begin: Begin) -> Result<(), String> {
    let asked = listen().map_err(|error| error.to_string())?;
    let mut agent = Agent { run: None, begin };
    let hello = Tell::Hello { protocol: PROTOCOL, kumite: version.to_owned(), addresses: addresses() };
    let began = Instant::now();
    let mut ended = tell(&hello).is_err();
    std::thread::spawn(move || give_signs(began));
    while !ended {
        let Ok(line) = asked.lines.recv() else { break };
        let answer = decode::<Ask>(&line).and_then(|ask| agent.does(ask, &asked));
        let said = match answer {
            Ok(None) => Ok(()),
            Ok(Some(answer)) => tell(&answer),
            Err(why) => tell(&Tell::Failed { why }),
        };
        ended = said.is_err();
    }
    Ok(())
}

/// What a driver asks.
struct Asked {
    lines: Receiver<Vec<u8>>,
    /// Set once it is gone.
    gone: Arc<AtomicBool>,
}

/// The lines of standard input, until it ends, one is too long, or the driver has not been heard for long.
fn listen() -> std::io::Result<Asked> {
    let input = File::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let (send, lines) = sync_channel(4);
    let gone = Arc::new(AtomicBool::new(false));
    let asked = Asked { lines, gone: Arc::clone(&gone) };
    std::thread::spawn(move || {
        let mut input = BufReader::new(Patient::new(input, SILENCE_LIMIT));
        let sign = encode(&Ask::Alive);
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LONGEST as u64).read_until(b'\n', &mut line);
            if line == sign {
                continue;
            }
            let is_whole = line.pop() == Some(b'\n');
            if read.is_err() || !is_whole || send.send(line).is_err() {
                gone.store(true, Ordering::Relaxed);
                return;
            }
        }
    });
    Ok(asked)
}

/// From a thread of their own: this one may be at work for long.
fn give_signs(began: Instant) {
    loop {
        std::thread::sleep(SIGN_EVERY);
        let at_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if tell(&Tell::Alive { at_ms }).is_err() {
            return;
        }
    }
}

fn send(from: impl Read) -> Result<(), String> {
    pieces(from, &mut |data, more| tell(&Tell::Data { data, more }).map_err(|error| error.to_string()))
}

/// What an agent has of the run that it was asked to make room for.
struct OfRun {
    folder: PathBuf,
    received: Received,
}

struct Agent<'a> {
    run: Option<OfRun>,
    begin: Begin<'a>,
}

impl Agent<'_> {
    fn does(&mut self, ask: Ask, asked: &Asked) -> Result<Option<Tell>, String> {
        match ask {
            Ask::Forget => {
                let folder = self.run.take().map(|of_run| of_run.folder);
                folder.map_or(Ok(()), |folder| removed(&folder))?;
                Ok(Some(Tell::Done { status: None }))
            }
            Ask::Begin { key } => self.begin(&key).map(|()| None),
            Ask::File { path, executable, first, data } => {
                self.of_run()?.received.write(&path, executable, first, &data).map(|()| None)
            }
            Ask::Run { experiment, arguments } => {
                let of_run = self.of_run()?;
                let status = execute(&of_run.folder, &experiment, &arguments, asked)?;
                Ok(Some(Tell::Done { status }))
            }
            Ask::Role { experiment } => self.role(&experiment, asked).map(|()| None),
            Ask::Work { .. } => Err("it has no role".to_owned()),
            Ask::Relayed { .. } => Err("nothing runs".to_owned()),
            Ask::Alive => Ok(None),
            Ask::Store => {
                let file = self.of_run()?.folder.join(STORE);
                // What is in the journal comes into the file.
                drop(Store::open_existing(&file).map_err(|error| error.to_string())?);
                let failed = |error| format!("{}: {error}", file.display());
                send(File::open(&file).map_err(failed)?).map(|()| None)
            }
            Ask::Facts => {
                let facts = serde_json::to_vec(&facts()).map_err(|error| error.to_string())?;
                send(&facts[..]).map(|()| None)
            }
        }
    }

    /// Has a role in another's run until the driver is gone.
    fn role(&mut self, experiment: &str, asked: &Asked) -> Result<(), String> {
        let host = addresses().map_or(Ipv4Addr::LOCALHOST, |(own, _)| own);
        let folder = self.of_run()?.folder.clone();
        let experiment = below(&folder.join(FILES), experiment)?;
        let experiment = experiment.to_str().ok_or("the experiment's path is not UTF-8")?;
        // Whoever measures here now would disturb, and be disturbed.
        let _lock = (self.begin)()?;
        tell(&Tell::Done { status: None }).map_err(|error| error.to_string())?;
        let mut next = |answered: Option<Result<String, kumite_lab::Error>>| {
            let worked = answered.map(|answered| match answered {
                Ok(answer) => Worked::Answer(answer),
                Err(why) => Worked::Failed(chain(&why)),
            });
            let told = worked.map_or(Ok(()), |worked| tell(&Tell::Worked { worked }));
            match (told, decode(&asked.lines.recv().ok()?)) {
                (Ok(()), Ok(Ask::Work { work })) => Some(work),
                _ => None,
            }
        };
        let mut note = |text: &str| drop(tell(&Tell::Note { text: text.to_owned() }));
        kumite_lab::serve_station(experiment, host, &folder, &asked.gone, &mut note, &mut next);
        // Builds and tools are in the cache; nothing else is worth keeping.
        removed(&folder)
    }

    fn of_run(&mut self) -> Result<&mut OfRun, String> {
        self.run.as_mut().ok_or_else(|| "nobody said which run it is".to_owned())
    }

    /// The results of a run that was broken off stay; its files come anew.
    fn begin(&mut self, key: &str) -> Result<(), String> {
        let is_key = (16..=64).contains(&key.len()) && key.chars().all(|c| c.is_ascii_hexdigit());
        if !is_key {
            return Err("that is no key of a run".to_owned());
        }
        let folder = nodes_folder()?.join(key);
        let files = folder.join(FILES);
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        match std::fs::remove_dir_all(&files) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(failed(error)),
            _ => {}
        }
        std::fs::create_dir_all(&files).map_err(failed)?;
        self.run = Some(OfRun { folder, received: Received::below(files) });
        Ok(())
    }
}

/// The node's address and the driver's, from what the driver or sshd says of the way here.
fn addresses() -> Option<(Ipv4Addr, Ipv4Addr)> {
    let told = |name: &str, own: usize, driver: usize| {
        let told = std::env::var(name).ok()?;
        let fields: Vec<&str> = told.split_whitespace().collect();
        let address = |nth: usize| fields.get(nth)?.parse().ok();
        address(own).zip(address(driver))
    };
    told(ADDRESSES, 0, 1).or_else(|| told("SSH_CONNECTION", 2, 0))
}

fn removed(folder: &Path) -> Result<(), String> {
    std::fs::remove_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))
}

const STORE: &str = "results.db";
const FILES: &str = "files";

fn nodes_folder() -> Result<PathBuf, String> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("kumite/nodes")).ok_or_else(|| "HOME is not set".to_owned())
}

/// Executes the share, or goes on with it, or has it already; how kumite ended, if it was started.
fn execute(
    folder: &Path,
    experiment: &str,
    arguments: &[String],
    asked: &Asked,
) -> Result<Option<i32>, String> {
    let experiment = below(&folder.join(FILES), experiment)?;
    let store = folder.join(STORE);
    let mut words = match before(&store)? {
        Some(run) if run.finished.is_some() && run.cut_short.is_none() => return Ok(None),
        // A share that is begun on another node is its own; with a home that nodes share, it is seen here.
        Some(run) if run.shard.as_ref().is_none_or(|shard| shard.node == node_name()) => {
            let nodes = arguments.iter().filter(|word| word.starts_with(RELAYED)).cloned();
            ["resume".to_owned(), run.id].into_iter().chain(nodes).collect()
        }
        _ => [&["run".to_owned(), experiment.to_string_lossy().into_owned()], arguments].concat(),
    };
    words.extend([IN_FRAMES.to_owned(), "--db".to_owned(), store.to_string_lossy().into_owned()]);
    let kumite = std::env::current_exe().map_err(|error| format!("where kumite is: {error}"))?;
    let mut command = vec![kumite.to_string_lossy().into_owned()];
    command.append(&mut words);
    let command = shlex::try_join(command.iter().map(String::as_str)).map_err(|error| error.to_string())?;
    let log = folder.join("log");
    let spawn = Spawn {
        command: &format!("exec {command}"),
        dir: folder,
        env: &[],
        keeps: None,
        cores: &[],
        log: &log,
        group: None,
    };
    let (mut tree, mut talk) =
        Tree::start_talking(&spawn, LONGEST_NOTE).map_err(|error| error.to_string())?;
    let heard = attend(&mut talk, asked);
    let status = match heard {
        true => tree.wait(GRACE, &AtomicBool::new(false)).map_err(|error| error.to_string())?,
        false => None,
    };
    let _ = tree.stop(GRACE);
    // What it said in no frame: clap's words, a panic's.
    for line in std::fs::read_to_string(&log).unwrap_or_default().lines() {
        let _ = tell(&Tell::Note { text: line.chars().take(LONGEST_NOTE).collect() });
    }
    match (heard, status) {
        (false, _) => Err("the driver is gone".to_owned()),
        (true, None) => Err("kumite did not end".to_owned()),
        (true, Some(status)) => Ok(Some(status.code().unwrap_or(-1))),
    }
}

/// Passes on what kumite says until it ends; whether the driver was there until then.
fn attend(talk: &mut Talk, asked: &Asked) -> bool {
    loop {
        // A driver has nothing to say now, unless it was asked to relay.
        if !matches!(asked.lines.try_recv(), Err(TryRecvError::Empty)) {
            return false;
        }
        let line = match talk.hear(LOOK) {
            Ok(Heard::Line(line, _)) => line,
            Ok(Heard::Nothing) => continue,
            Ok(Heard::TooLong) | Ok(Heard::Ended(_)) | Err(_) => return true,
        };
        let is_there = match decode(&line) {
            Ok(relay @ Tell::Relay { .. }) => tell(&relay).is_ok() && answer(talk, asked),
            Ok(note @ Tell::Note { .. }) => tell(&note).is_ok(),
            // What is no frame was printed by what kumite started, or is not meant for the driver.
            _ => true,
        };
        if !is_there {
            return false;
        }
    }
}

/// Waits for what came of a relayed work, as the run does that asked for it, and gives it to that; whether the driver is there.
fn answer(talk: &mut Talk, asked: &Asked) -> bool {
    let said = asked.lines.recv().map(|line| decode::<Ask>(&line));
    let Ok(Ok(relayed @ Ask::Relayed { .. })) = said else { return false };
    matches!(talk.say(&encode(&relayed), GRACE, &asked.gone), Ok(true))
}

/// What was made of it before.
fn before(store: &Path) -> Result<Option<Run>, String> {
    if !store.is_file() {
        return Ok(None);
    }
    let store = Store::open_existing(store).map_err(|error| error.to_string())?;
    Ok(store.runs().map_err(|error| error.to_string())?.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_gone_is_named_with_its_cause() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let received = Received::below(run.join(FILES));
        let begin = || -> Result<Lock, String> { Err("nobody measures here".to_owned()) };
        let mut agent = Agent { run: Some(OfRun { folder: run.clone(), received }), begin: &begin };
        let (_send, lines) = sync_channel(1);
        let asked = Asked { lines, gone: Arc::default() };
        let why = agent.does(Ask::Forget, &asked).err().unwrap();
        assert!(why.starts_with(&format!("{}: No such file", run.display())), "{why}");
    }
}
