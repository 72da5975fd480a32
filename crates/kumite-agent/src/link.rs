//! A driver's link to an agent: one question at a time, with a limit for each wait.
//!
//! A [`Link`] is an agent that has said who it is and is the same version of kumite. Every wait ends with an answer,
//! with the `stop` that it is given, or with an error that names the node. The error quotes the last lines of the way
//! there, such as ssh's "Permission denied". A time limit counts the wait for an answer: signs of life do not prolong
//! it. What a node says is shown without control characters, whoever wrote it.
//!
//! After an error nothing more may be asked. [`close`](Link::close), and dropping a link, end the way there, and the
//! agent with it.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use kumite_process::{Heard, Spawn, Tree, last_lines};

use crate::bootstrap::{Program, WANTED};
use crate::error::{Error, Misdeed};
use crate::files::{Folder, decoded};
use crate::frame::{LONGEST, decode, encode};
use crate::life::SILENCE_LIMIT;
use crate::message::{Ask, PROTOCOL, Tell, Worked};
use crate::node::Node;
use crate::wire::Wire;

/// The most time for the agent's first frame, for kumite itself to be sent, and for any answer but those of a run and
/// of work.
const PATIENCE: Duration = Duration::from_secs(120);
/// The most time for a frame to be taken.
const SAYING: Duration = Duration::from_secs(60);
/// The most lines before the first frame. A login shell prints fewer.
const MOST_BANNER_LINES: usize = 10_000;
/// The most bytes of a run's store.
const MOST_BYTES: u64 = 4 << 30;
const MOST_BYTES_OF_FACTS: u64 = 1 << 20;
/// The time that the way gets to end with its input, and then from SIGTERM to SIGKILL.
const GRACE: Duration = Duration::from_secs(5);
/// The longest time for which a stop goes unseen.
const LOOK: Duration = Duration::from_millis(200);

/// The way to an agent.
pub enum Way<'a> {
    /// The way to a node. The node is sent the program if it does not have it.
    To(&'a Node, &'a Program),
    /// A shell command that becomes an agent on this machine or leads to one. No program is sent.
    Command(&'a str),
}

/// A link to an agent that has given its first frame. Dropping it ends the agent.
pub struct Link {
    node: String,
    tree: Tree,
    wire: Wire,
    silence_limit: Duration,
    log: PathBuf,
    addresses: Option<(Ipv4Addr, Ipv4Addr)>,
    /// The time from the start of connecting to the agent's first frame. For a new node it includes the sending of
    /// kumite.
    pub connected_in: Duration,
}

/// News of a run that a node executes.
#[derive(Debug, PartialEq)]
pub enum Event {
    /// A line of news for the user.
    Note(String),
    /// The end of the run. Has the exit status of kumite on the node, or -1 if a signal ended it; `None` if nothing had
    /// to be started.
    Done(Option<i32>),
    /// The run asks another node for work, and waits for [`Ask::Relayed`].
    Relay {
        /// The name of the other node's host.
        node: String,
        /// The question, as JSON of kumite-lab.
        work: String,
    },
}

impl Link {
    /// Starts an agent, sends it the program if the node asks for it, and waits for the agent's first frame. The
    /// standard error of the command that leads to the agent, such as ssh's complaints, is written to `log`. An error
    /// if the command cannot be started, the agent has another version than `version` or gives no frame within 120 s,
    /// or `stop` is set.
    pub fn open(node: &str, way: &Way, version: &str, log: &Path, stop: &AtomicBool) -> Result<Link, Error> {
        let began = Instant::now();
        let (command, program) = match way {
            Way::To(node, program) => (node.command(&program.script()), Some(*program)),
            Way::Command(command) => ((*command).to_owned(), None),
        };
        let spawn = Spawn {
            command: &command,
            dir: Path::new("/"),
            env: &[],
            keeps: None,
            cores: &[],
            log,
            group: None,
        };
        let started = Tree::start_talking(&spawn, LONGEST);
        let (tree, talk) = started.map_err(|source| Error::Start { node: node.to_owned(), source })?;
        let (node, log) = (node.to_owned(), log.to_owned());
        let mut link = Link {
            node,
            tree,
            wire: Wire::new(talk),
            silence_limit: SILENCE_LIMIT,
            log,
            addresses: None,
            connected_in: Duration::ZERO,
        };
        link.greeted(program, version, stop)?;
        link.wire.keep_alive();
        link.connected_in = began.elapsed();
        Ok(link)
    }

    /// Skips what a login shell prints, sends kumite if the node asks for it, and waits for the agent's first frame.
    fn greeted(&mut self, program: Option<&Program>, version: &str, stop: &AtomicBool) -> Result<(), Error> {
        let until = Instant::now() + PATIENCE;
        for _ in 0..MOST_BANNER_LINES {
            let line = self.line(until, stop)?;
            if line.ends_with(WANTED) {
                let Some(program) = program else { return Err(self.wrong(Misdeed::NoProgram)) };
                match self.wire.say(&program.bytes, PATIENCE, stop) {
                    Ok(true) => continue,
                    Ok(false) => return Err(self.not_taken(Misdeed::TookNoProgram, stop)),
                    Err(_) => return Err(self.wrong(Misdeed::BrokeOffWhileSent)),
                }
            }
            match decode::<Tell>(from_hello(&line)) {
                Ok(Tell::Hello { protocol: PROTOCOL, kumite, addresses }) if kumite == version => {
                    self.addresses = addresses;
                    return Ok(());
                }
                Ok(Tell::Hello { protocol, kumite, .. }) => {
                    let own = version.to_owned();
                    return Err(self.wrong(Misdeed::OtherVersion { kumite, protocol, own }));
                }
                // A banner.
                _ => {}
            }
        }
        Err(self.wrong(Misdeed::OnlyBanner(MOST_BANNER_LINES)))
    }

    /// Sends a question, and waits until the agent has taken it, but not for the answer. An error if the agent has not
    /// taken it within 60 s, the link breaks, or `stop` is set.
    pub fn ask(&mut self, ask: &Ask, stop: &AtomicBool) -> Result<(), Error> {
        match self.wire.say(&encode(ask), SAYING, stop) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.not_taken(Misdeed::TakesNothing, stop)),
            Err(_) => Err(self.wrong(Misdeed::BrokeOff)),
        }
    }

    /// Has the agent make room for a run, named by `key`, and sends it these folders. An error if a file cannot be
    /// sent, the link breaks, or `stop` is set. A refusal of the agent is not waited for: it comes in place of the next
    /// answer.
    pub fn prepare(&mut self, key: &str, folders: &[Folder], stop: &AtomicBool) -> Result<(), Error> {
        self.ask(&Ask::Begin { key: key.to_owned() }, stop)?;
        folders.iter().try_for_each(|folder| folder.send(&mut |ask| self.ask(&ask, stop)))
    }

    /// The next event of the run that the agent executes. `None` if no event came within `limit`, or within 200 ms if
    /// that is less. An error if the run failed there, the agent sent something else, the link broke, or `stop` is set.
    pub fn next(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<Event>, Error> {
        let Some(line) = self.line_or_none(limit, stop)? else { return Ok(None) };
        match decode::<Tell>(&line).map_err(|what| self.wrong(Misdeed::Garbled(what)))? {
            Tell::Note { text } => Ok(Some(Event::Note(plain(&text)))),
            Tell::Done { status } => Ok(Some(Event::Done(status))),
            Tell::Relay { node, work } => Ok(Some(Event::Relay { node, work })),
            Tell::Failed { why } => Err(self.wrong(Misdeed::Refused(plain(&why)))),
            other => Err(self.wrong(Misdeed::Unasked(Box::new(other)))),
        }
    }

    /// The node's address, and the driver's address as the node sees it. An error if the agent does not know both as
    /// IPv4.
    pub fn addresses(&self) -> Result<(Ipv4Addr, Ipv4Addr), Error> {
        self.addresses.ok_or_else(|| self.wrong(Misdeed::NoAddress))
    }

    /// Gives the node a role in a run. `experiment` is the folder of the experiment among those that were sent. An
    /// error if the agent refuses the role or answers otherwise, the link breaks, or `stop` is set.
    pub fn role(&mut self, experiment: &str, stop: &AtomicBool) -> Result<(), Error> {
        self.ask(&Ask::Role { experiment: experiment.to_owned() }, stop)?;
        let line = self.line(Instant::now() + PATIENCE, stop)?;
        match decode::<Tell>(&line) {
            Ok(Tell::Done { .. }) => Ok(()),
            Ok(Tell::Failed { why }) => Err(self.wrong(Misdeed::RefusedRole(plain(&why)))),
            _ => Err(self.wrong(Misdeed::NotARole)),
        }
    }

    /// Has the node do something for its role, and returns the outcome, which may be a failure. `note` is called with
    /// each note that comes before it. An error if no note and no outcome comes for `limit`, something else comes, the
    /// link breaks, or `stop` is set.
    pub fn work(
        &mut self,
        work: &str,
        limit: Duration,
        note: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Result<Worked, Error> {
        self.ask(&Ask::Work { work: work.to_owned() }, stop)?;
        loop {
            let line = self.line(Instant::now() + limit, stop)?;
            match decode::<Tell>(&line) {
                Ok(Tell::Note { text }) => note(&plain(&text)),
                Ok(Tell::Worked { worked: Worked::Failed(why) }) => return Ok(Worked::Failed(plain(&why))),
                Ok(Tell::Worked { worked }) => return Ok(worked),
                _ => return Err(self.wrong(Misdeed::NotWorked)),
            }
        }
    }

    /// The time for which the node could not be reached since the last call of this method. An interruption that delays
    /// a sign of life by 2 s or less is not counted.
    pub fn cut_off(&mut self) -> Duration {
        self.wire.cut_off()
    }

    /// Fetches the run's store, and writes it to this file. An error if the file cannot be written, the agent has no
    /// store or sends more than 4 GiB, the link breaks, or `stop` is set; the file is then not whole.
    pub fn store(&mut self, file: &Path, stop: &AtomicBool) -> Result<(), Error> {
        let failed = Error::cannot("write", file);
        let mut to = std::fs::File::create(file).map_err(failed)?;
        self.sent(&Ask::Store, MOST_BYTES, &mut |piece| to.write_all(&piece).map_err(failed), stop)
    }

    /// Fetches the findings of the node's diagnosis, as JSON of at most 1 MiB. An error if the agent cannot give them,
    /// the link breaks, or `stop` is set.
    pub fn facts(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, Error> {
        let mut facts = Vec::new();
        let mut take = |mut piece: Vec<u8>| {
            facts.append(&mut piece);
            Ok(())
        };
        self.sent(&Ask::Facts, MOST_BYTES_OF_FACTS, &mut take, stop)?;
        Ok(facts)
    }

    /// Asks for something, and takes the answer piece by piece: at most `most` bytes.
    fn sent(
        &mut self,
        ask: &Ask,
        most: u64,
        take: &mut dyn FnMut(Vec<u8>) -> Result<(), Error>,
        stop: &AtomicBool,
    ) -> Result<(), Error> {
        self.ask(ask, stop)?;
        let mut left = most;
        loop {
            let line = self.line(Instant::now() + PATIENCE, stop)?;
            match decode::<Tell>(&line) {
                Ok(Tell::Data { data, more }) => {
                    let piece = decoded(&data).map_err(|what| self.wrong(Misdeed::NotBase64(what)))?;
                    let rest = left.checked_sub(piece.len() as u64);
                    left = rest.ok_or_else(|| self.wrong(Misdeed::TooMuch(most)))?;
                    take(piece)?;
                    if !more {
                        return Ok(());
                    }
                }
                Ok(Tell::Failed { why }) => return Err(self.wrong(Misdeed::Refused(plain(&why)))),
                Ok(Tell::Note { .. }) => {}
                _ => return Err(self.wrong(Misdeed::NotData)),
            }
        }
    }

    /// Closes the connection. The agent then ends, and ends all that it started. Waits at most 5 s for the command that
    /// leads to the agent, and then stops it.
    pub fn close(mut self) {
        self.wire.close();
        let _ = self.tree.wait(GRACE, &AtomicBool::new(false));
        let _ = self.tree.stop(GRACE);
    }

    fn line(&mut self, until: Instant, stop: &AtomicBool) -> Result<Vec<u8>, Error> {
        loop {
            let limit = until.saturating_duration_since(Instant::now());
            if limit.is_zero() {
                return Err(self.wrong(Misdeed::NoAnswer));
            }
            if let Some(line) = self.line_or_none(limit, stop)? {
                return Ok(line);
            }
        }
    }

    fn line_or_none(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<Vec<u8>>, Error> {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        match self.wire.hear(limit.min(LOOK)) {
            Ok(Heard::Line(line, _)) => Ok(Some(line)),
            Ok(Heard::Nothing) => match self.wire.silence() {
                Some(silence) if silence > self.silence_limit => Err(self.wrong(Misdeed::Silent(silence))),
                _ => Ok(None),
            },
            Ok(Heard::TooLong) => Err(self.wrong(Misdeed::Endless)),
            Ok(Heard::Ended(_)) => Err(self.wrong(Misdeed::Ended)),
            Err(error) => Err(self.wrong(Misdeed::Unheard(error))),
        }
    }

    /// The error of a frame that was not taken: an interruption if `stop` is set, else the misdeed.
    fn not_taken(&self, misdeed: Misdeed, stop: &AtomicBool) -> Error {
        if stop.load(Ordering::Relaxed) { Error::Interrupted } else { self.wrong(misdeed) }
    }

    fn wrong(&self, misdeed: Misdeed) -> Error {
        let has_log = std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0);
        let log = has_log.then(|| plain(&last_lines(&self.log)));
        Error::Agent { node: self.node.clone(), misdeed, log }
    }
}

/// The line from the agent's first frame on, or all of it if that frame is not in it. What a start file printed
/// before may have no line feed at its end.
fn from_hello(line: &[u8]) -> &[u8] {
    const HELLO: &[u8] = br#"{"tell":"hello","#;
    let begins = line.windows(HELLO.len()).position(|part| part == HELLO);
    &line[begins.unwrap_or(0)..]
}

/// The text of a node without control characters.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link to a script that prints `first` before anything else.
    fn link(first: &str, script: &str) -> Result<Link, Error> {
        let log = tempfile::NamedTempFile::new().unwrap();
        let command = format!("printf '%s\\n' {}; {script}", shlex::try_quote(first).unwrap());
        Link::open("n1", &Way::Command(&command), "1.0", log.path(), &AtomicBool::new(false))
    }

    const HELLO: &str = r#"{"tell":"hello","protocol":3,"kumite":"1.0","addresses":null}"#;

    #[test]
    fn a_banner_is_skipped_and_another_version_is_said() {
        let said = format!("Welcome to node 7\n\n{{\"motd\": true}}\n{HELLO}");
        link(&said, "cat > /dev/null").unwrap().close();
        link(&format!("\x1b]0;a title\x07{HELLO}"), "cat > /dev/null").unwrap().close();
        let other = |hello: &str| link(hello, "cat > /dev/null").err().unwrap().to_string();
        assert_eq!(
            other(&HELLO.replace("1.0", "2.0")),
            "n1: the agent has kumite 2.0, which speaks version 3 of its protocol; this is 1.0, with version 3"
        );
        assert_eq!(
            other(&HELLO.replace(":3,", ":9,")),
            "n1: the agent has kumite 1.0, which speaks version 9 of its protocol; this is 1.0, with version 3"
        );
    }

    #[test]
    fn an_agent_that_ends_before_its_first_frame_is_quoted() {
        let error = link("", "echo 'Permission denied (publickey).' >&2; exit 255").err().unwrap();
        assert_eq!(error.to_string(), "n1: the agent ended: Permission denied (publickey).");
    }

    #[test]
    fn an_agents_words_are_heard_without_what_would_move_the_cursor() {
        let stop = AtomicBool::new(false);
        let script = r#"printf '{"tell":"note","text":"1 of 2\\u001b[2J"}\n{"tell":"done","status":3}\n'; cat > /dev/null"#;
        let mut link = link(HELLO, script).unwrap();
        let limit = Duration::from_secs(20);
        assert_eq!(link.next(limit, &stop).unwrap(), Some(Event::Note("1 of 2 [2J".to_owned())));
        assert_eq!(link.next(limit, &stop).unwrap(), Some(Event::Done(Some(3))));
        link.close();
    }

    #[test]
    fn an_agent_that_is_not_heard_any_more_is_given_up_and_signs_are_no_answers() {
        let stop = AtomicBool::new(false);
        let mut link = link(HELLO, r#"echo '{"tell":"alive","at_ms":5}'; cat > /dev/null"#).unwrap();
        link.silence_limit = Duration::from_millis(50);
        let error = loop {
            match link.next(Duration::from_secs(20), &stop) {
                Ok(None) => {}
                Ok(said) => panic!("{said:?}"),
                Err(error) => break error.to_string(),
            }
        };
        let expected = "has not been heard for 0 s: the way to it is cut, or its node stands still";
        assert!(error.contains(expected), "{error}");
        link.close();
    }

    #[test]
    fn a_frame_that_nobody_waits_for_any_more_was_interrupted_and_not_refused() {
        let mut link = link(HELLO, "exec sleep 60").unwrap();
        let ask = Ask::Work { work: "x".repeat(LONGEST) };
        let error = link.ask(&ask, &AtomicBool::new(true)).unwrap_err();
        assert!(matches!(error, Error::Interrupted), "{error}");
        link.close();
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named() {
        let file = Path::new("/proc/no-such-folder/store");
        let mut link = link(HELLO, "cat > /dev/null").unwrap();
        let error = link.store(file, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(&error, Error::File { doing: "write", path, .. } if path == file), "{error}");
        link.close();
    }

    #[test]
    fn an_agent_hears_that_its_driver_is_there_while_nobody_asks_it_anything() {
        let folder = tempfile::tempdir().unwrap();
        let heard = folder.path().join("heard");
        let link = link(HELLO, &format!("exec cat > {}", heard.display())).unwrap();
        let began = Instant::now();
        while std::fs::read(&heard).unwrap_or_default() != b"{\"ask\":\"alive\"}\n" {
            assert!(began.elapsed() < Duration::from_secs(60), "it heard nothing");
            std::thread::sleep(Duration::from_millis(5));
        }
        link.close();
    }

    #[test]
    fn a_frame_out_of_order_is_an_error() {
        let stop = AtomicBool::new(false);
        for (script, expected) in [
            ("echo hello", "said what it should not: 'hello' is no frame of ours"),
            (
                r#"echo '{"tell":"data","data":"","more":false}'"#,
                r#"said {"tell":"data","data":"","more":false} when nobody asked for it"#,
            ),
            (r#"echo '{"tell":"failed","why":"the disk is full"}'"#, "cannot do that: the disk is full"),
            ("head -c 2000000 /dev/zero", "wrote a line that is no frame of ours, and does not end"),
        ] {
            let mut link = link(HELLO, &format!("{script}; cat > /dev/null")).unwrap();
            let error = loop {
                match link.next(Duration::from_secs(20), &stop) {
                    Ok(None) => {}
                    Ok(said) => panic!("{said:?}"),
                    Err(error) => break error.to_string(),
                }
            };
            assert!(error.contains(expected), "{error}");
            link.close();
        }
    }
}
