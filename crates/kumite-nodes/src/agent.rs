//! `kumite agent`: does on a node what a driver asks on its standard input, and ends with that input.
//!
//! One thread reads, one gives a sign of life a second, and the main one answers one question at a time, in the order
//! in which they came. The reader's channel is short, so a driver that asks ahead waits. When the driver is gone (its
//! end of the pipe is closed, or 30 s have passed without a sign), the reader sets `gone` and drops the channel;
//! whatever runs is ended, and then the agent.
//!
//! What a driver sends, and results and logs, lie below `kumite/nodes/KEY` in the user's cache, whatever paths the
//! driver names; builds and tools lie where they do without an agent. A request that fails is answered by its
//! [`Refusal`] and leaves the agent at work; only the driver's end, or an answer that cannot be written, ends it. It
//! measures nothing beside another kumite: a role takes the machine's lock, and a run takes it itself.

mod refusal;

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
    ADDRESSES, Ask, Error, LONGEST, PROTOCOL, Patient, Received, SIGN_EVERY, SILENCE_LIMIT, Tell, Worked,
    below, decode, encode, own_file, pieces,
};
use kumite_host::{Lock, facts};
use kumite_lab::chain;
use kumite_process::{Heard, Spawn, Talk, Tree};
use kumite_record::{Run, Store};

use self::refusal::{Busy, Refusal};
use crate::failure::Failure;
use crate::frames::{IN_FRAMES, RELAYED, tell};
use crate::shard::node_name;

/// The limit of three waits for a run: for its end once its output has ended, for its end after SIGTERM, and for it
/// to take a relayed answer.
const GRACE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(50);
/// The most bytes of a frame from a run here, and the most characters of a line of its log that the driver gets.
const LONGEST_NOTE: usize = LONGEST / 2;

/// Takes the lock of this machine for measuring.
type Begin<'a> = &'a dyn Fn() -> Result<Lock, Busy>;

/// Answers a driver's questions until the driver is gone. `version` is this kumite's, for the driver to compare.
/// `begin` takes this machine's lock, so that no other kumite measures meanwhile. An error only if standard input
/// cannot be duplicated.
pub fn agent(version: &str, begin: Begin) -> Result<(), Failure> {
    let asked = listen().map_err(Failure::Input)?;
    let mut agent = Agent { run: None, begin };
    let hello = Tell::Hello { protocol: PROTOCOL, kumite: version.to_owned(), addresses: addresses() };
    let began = Instant::now();
    let mut ended = tell(&hello).is_err();
    std::thread::spawn(move || give_signs(began));
    while !ended {
        let Ok(line) = asked.lines.recv() else { break };
        let answer = decode::<Ask>(&line).map_err(Refusal::from).and_then(|ask| agent.answer(ask, &asked));
        let told = match answer {
            Ok(None) => Ok(()),
            Ok(Some(answer)) => tell(&answer),
            Err(refusal) => tell(&Tell::Failed { why: chain(&refusal) }),
        };
        ended = told.is_err();
    }
    Ok(())
}

/// The questions of the driver, as a thread reads them.
struct Asked {
    lines: Receiver<Vec<u8>>,
    /// Set once the driver is gone; `lines` ends then.
    gone: Arc<AtomicBool>,
}

/// Starts the thread that reads standard input. It ends if the input does, if a line is too long, or if the driver
/// has given no sign for 30 s.
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

/// Gives the driver a sign of life each second. It needs a thread of its own, since the main one may be at work for
/// long.
fn give_signs(began: Instant) {
    loop {
        std::thread::sleep(SIGN_EVERY);
        let at_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
        if tell(&Tell::Alive { at_ms }).is_err() {
            return;
        }
    }
}

/// Sends all that can be read from `from`, in frames. `file` is its name in errors.
fn send(from: impl Read, file: &Path) -> Result<(), Refusal> {
    for piece in pieces(from) {
        let piece = piece.map_err(Error::cannot("read", file))?;
        tell(&Tell::Data { data: piece.encoded(), more: piece.more }).map_err(Refusal::Deaf)?;
    }
    Ok(())
}

/// The run that the agent has made room for.
struct OfRun {
    folder: PathBuf,
    received: Received,
}

struct Agent<'a> {
    run: Option<OfRun>,
    begin: Begin<'a>,
}

impl Agent<'_> {
    /// Answers a question. Returns the last frame of the answer, or none if it was sent already or there is no
    /// answer.
    fn answer(&mut self, ask: Ask, asked: &Asked) -> Result<Option<Tell>, Refusal> {
        match ask {
            Ask::Forget => {
                let folder = self.run.take().map(|of_run| of_run.folder);
                folder.map_or(Ok(()), |folder| removed(&folder))?;
                Ok(Some(Tell::Done { status: None }))
            }
            Ask::Begin { key } => self.begin(&key).map(|()| None),
            Ask::File { path, executable, first, data } => {
                self.of_run()?.received.write(&path, executable, first, &data)?;
                Ok(None)
            }
            Ask::Run { experiment, arguments } => {
                let of_run = self.of_run()?;
                let status = execute(&of_run.folder, &experiment, &arguments, asked)?;
                Ok(Some(Tell::Done { status }))
            }
            Ask::Role { experiment } => self.role(&experiment, asked).map(|()| None),
            Ask::Work { .. } => Err(Refusal::NoRole),
            Ask::Relayed { .. } => Err(Refusal::NothingRuns),
            Ask::Alive => Ok(None),
            Ask::Store => {
                let file = self.of_run()?.folder.join(STORE);
                // To open and close it brings the journal into the file.
                drop(Store::open_existing(&file)?);
                send(File::open(&file).map_err(Error::cannot("read", &file))?, &file).map(|()| None)
            }
            Ask::Facts => {
                let facts = serde_json::to_vec(&facts()).expect("findings are plain values");
                send(&facts[..], Path::new("findings")).map(|()| None)
            }
        }
    }

    /// Serves a role in a run that another node measures, until the driver is gone or asks for anything but work.
    /// Then removes the run's folder.
    fn role(&mut self, experiment: &str, asked: &Asked) -> Result<(), Refusal> {
        let host = addresses().map_or(Ipv4Addr::LOCALHOST, |(own, _)| own);
        let folder = self.of_run()?.folder.clone();
        let experiment = below(&folder.join(FILES), experiment)?;
        let Some(experiment) = experiment.to_str() else { return Err(Refusal::NotUtf8 { path: experiment }) };
        // Another kumite that measures here would disturb, and be disturbed.
        let _lock = (self.begin)()?;
        tell(&Tell::Done { status: None }).map_err(Refusal::Deaf)?;
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

    fn of_run(&mut self) -> Result<&mut OfRun, Refusal> {
        self.run.as_mut().ok_or(Refusal::NoRun)
    }

    /// Makes room for a run. If the run was begun here before, its results stay; its files are sent anew. Refuses a
    /// key that is not 16 to 64 hexadecimal digits.
    fn begin(&mut self, key: &str) -> Result<(), Refusal> {
        let is_key = (16..=64).contains(&key.len()) && key.chars().all(|c| c.is_ascii_hexdigit());
        if !is_key {
            return Err(Refusal::NoKey);
        }
        let folder = nodes_folder()?.join(key);
        let files = folder.join(FILES);
        match std::fs::remove_dir_all(&files) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::cannot("remove", &files)(error).into());
            }
            _ => {}
        }
        std::fs::create_dir_all(&files).map_err(Error::cannot("make", &files))?;
        self.run = Some(OfRun { folder, received: Received::below(files) });
        Ok(())
    }
}

/// The node's address and the driver's, in this order, as the driver or sshd put them into the environment; none if
/// neither gives two addresses of IPv4.
fn addresses() -> Option<(Ipv4Addr, Ipv4Addr)> {
    let variable = |name: &str, own: usize, driver: usize| {
        let value = std::env::var(name).ok()?;
        let fields: Vec<&str> = value.split_whitespace().collect();
        let address = |nth: usize| fields.get(nth)?.parse().ok();
        address(own).zip(address(driver))
    };
    variable(ADDRESSES, 0, 1).or_else(|| variable("SSH_CONNECTION", 2, 0))
}

fn removed(folder: &Path) -> Result<(), Refusal> {
    Ok(std::fs::remove_dir_all(folder).map_err(Error::cannot("remove", folder))?)
}

const STORE: &str = "results.db";
const FILES: &str = "files";

fn nodes_folder() -> Result<PathBuf, Refusal> {
    let named = |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let cache = named("XDG_CACHE_HOME").or_else(|| Some(named("HOME")?.join(".cache")));
    cache.map(|cache| cache.join("kumite/nodes")).ok_or(Refusal::NoHome)
}

/// Executes the run or the share, or goes on with it. Returns kumite's exit status, -1 after a signal; none if all of
/// it is complete already. An error if the driver goes meanwhile, or if kumite does not end within 30 s of its
/// output.
fn execute(
    folder: &Path,
    experiment: &str,
    arguments: &[String],
    asked: &Asked,
) -> Result<Option<i32>, Refusal> {
    let experiment = below(&folder.join(FILES), experiment)?;
    let store = folder.join(STORE);
    let mut words = match last_run(&store)? {
        Some(run) if run.finished.is_some() && run.cut_short.is_none() => return Ok(None),
        // Only what this node has begun is resumed. Where nodes have one home folder, another node's share is seen
        // here, too.
        Some(run) if run.shard.as_ref().is_none_or(|shard| shard.node == node_name()) => {
            let nodes = arguments.iter().filter(|word| word.starts_with(RELAYED)).cloned();
            ["resume".to_owned(), run.id].into_iter().chain(nodes).collect()
        }
        _ => [&["run".to_owned(), experiment.to_string_lossy().into_owned()], arguments].concat(),
    };
    words.extend([IN_FRAMES.to_owned(), "--db".to_owned(), store.to_string_lossy().into_owned()]);
    let mut command = vec![own_file()?.to_string_lossy().into_owned()];
    command.append(&mut words);
    let command = shlex::try_join(command.iter().map(String::as_str))?;
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
    let (mut tree, mut talk) = Tree::start_talking(&spawn, LONGEST_NOTE)?;
    let is_there = attend(&mut talk, asked);
    let status = match is_there {
        true => tree.wait(GRACE, &AtomicBool::new(false))?,
        false => None,
    };
    let _ = tree.stop(GRACE);
    // Standard error has the words that are no frames: clap's, a panic's.
    for line in std::fs::read_to_string(&log).unwrap_or_default().lines() {
        let _ = tell(&Tell::Note { text: line.chars().take(LONGEST_NOTE).collect() });
    }
    // A run that has kept nothing has made no store. The driver fetches one in any case, and an empty file is a store
    // without runs.
    if !store.exists() {
        std::fs::File::create(&store).map_err(Error::cannot("make", &store))?;
    }
    match (is_there, status) {
        (false, _) => Err(Refusal::DriverGone),
        (true, None) => Err(Refusal::NotEnded),
        (true, Some(status)) => Ok(Some(status.code().unwrap_or(-1))),
    }
}

/// Passes on the frames of the run until its output ends or has a line that is too long. False if the driver was gone
/// or spoke unasked before that, or if a relayed answer did not come or was not taken.
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
            Ok(relay @ Tell::Relay { .. }) => tell(&relay).is_ok() && pass_answer(talk, asked),
            Ok(note @ Tell::Note { .. }) => tell(&note).is_ok(),
            // A line that is no frame was printed by a program that kumite started.
            _ => true,
        };
        if !is_there {
            return false;
        }
    }
}

/// Waits for the driver's answer to a relayed question, and passes it on to the run. False if no such answer comes,
/// or if the run does not take it.
fn pass_answer(talk: &mut Talk, asked: &Asked) -> bool {
    let answer = asked.lines.recv().map(|line| decode::<Ask>(&line));
    let Ok(Ok(relayed @ Ask::Relayed { .. })) = answer else { return false };
    matches!(talk.say(&encode(&relayed), GRACE, &asked.gone), Ok(true))
}

/// The last run in a store; none if the store does not exist or has none.
fn last_run(store: &Path) -> Result<Option<Run>, Refusal> {
    if !store.is_file() {
        return Ok(None);
    }
    Ok(Store::open_existing(store)?.runs()?.pop())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words with which an agent that has this run's folder refuses a question.
    fn refusal(run: &Path, ask: Ask) -> String {
        let received = Received::below(run.join(FILES));
        let begin = || Err("another kumite is measuring on this machine".into());
        let mut agent = Agent { run: Some(OfRun { folder: run.to_owned(), received }), begin: &begin };
        let (_send, lines) = sync_channel(1);
        let asked = Asked { lines, gone: Arc::default() };
        chain(&agent.answer(ask, &asked).err().unwrap())
    }

    #[test]
    fn a_file_that_is_gone_is_named_with_its_cause_once() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        let why = refusal(&run, Ask::Forget);
        assert_eq!(why, format!("cannot remove {}: No such file or directory (os error 2)", run.display()));
        let store = run.join(STORE).display().to_string();
        let why = refusal(&run, Ask::Store);
        let remedy = "`kumite run` makes it, --db FILE names another";
        assert_eq!(why, format!("cannot open the results store {store}: there is no such file; {remedy}"));
        // Its folder is a file.
        std::fs::write(&run, "").unwrap();
        let file = Ask::File { path: "a/b".to_owned(), executable: false, first: true, data: String::new() };
        let why = refusal(&run, file);
        let expected =
            format!("cannot make {}: Not a directory (os error 20)", run.join(FILES).join("a").display());
        assert_eq!(why, expected);
    }

    #[test]
    fn a_machine_that_is_taken_is_said_in_its_holders_words() {
        let folder = tempfile::tempdir().unwrap();
        let why = refusal(folder.path(), Ask::Role { experiment: "mine".to_owned() });
        assert_eq!(why, "another kumite is measuring on this machine");
    }
}
