//! A driver's link to an agent.

use std::io::Write;
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use kumite_process::{Heard, Spawn, Tree, last_lines};

use crate::bootstrap::{Program, WANTED};
use crate::files::{Folder, decoded};
use crate::frame::{LONGEST, decode, encode, shown};
use crate::life::SILENCE_LIMIT;
use crate::message::{Ask, PROTOCOL, Tell, Worked};
use crate::node::Node;
use crate::wire::Wire;

/// From the start of the way to the agent's first frame, and for kumite itself to arrive.
const PATIENCE: Duration = Duration::from_secs(120);
/// For a frame to be taken.
const SAYING: Duration = Duration::from_secs(60);
/// What a login shell may print before that.
const MOST_BANNER_LINES: usize = 10_000;
/// A store of a run has less.
const MOST_BYTES: u64 = 4 << 30;
const MOST_BYTES_OF_FACTS: u64 = 1 << 20;
/// Between SIGTERM and SIGKILL, for a way that does not end with its input.
const GRACE: Duration = Duration::from_secs(5);

/// How an agent is reached.
pub enum Way<'a> {
    /// To a node, with the kumite that is to be there.
    To(&'a Node, &'a Program),
    /// By a command that becomes an agent.
    Command(&'a str),
}

/// An agent that said who it is.
pub struct Link {
    node: String,
    tree: Tree,
    wire: Wire,
    silence_limit: Duration,
    log: std::path::PathBuf,
    addresses: Option<(Ipv4Addr, Ipv4Addr)>,
    /// How long it took from nothing to its first frame.
    pub connected_in: Duration,
}

/// What an agent says while it works.
#[derive(Debug, PartialEq)]
pub enum Said {
    /// A line.
    Note(String),
    /// That it is done, and how kumite ended.
    Done(Option<i32>),
    /// That a run there asks another node to do something.
    Relay {
        /// Which.
        node: String,
        /// What.
        work: String,
    },
}

impl Link {
    /// Starts the agent there, of this version. What the way there says is written to `log`.
    pub fn open(node: &str, way: &Way, version: &str, log: &Path, stop: &AtomicBool) -> Result<Link, String> {
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
        let (tree, talk) = Tree::start_talking(&spawn, LONGEST).map_err(|error| error.to_string())?;
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

    /// Skips what a login shell prints, sends kumite if it is wanted, and waits for the agent's first frame.
    fn greeted(&mut self, program: Option<&Program>, version: &str, stop: &AtomicBool) -> Result<(), String> {
        let until = Instant::now() + PATIENCE;
        for _ in 0..MOST_BANNER_LINES {
            let line = self.line(until, stop)?;
            if line.ends_with(WANTED) {
                let program = program.ok_or("it wants kumite, and nobody has it")?;
                let sent = self.wire.say(&program.bytes, PATIENCE, stop);
                match sent {
                    Ok(true) => continue,
                    Ok(false) => return Err(self.wrong("did not take kumite in time")),
                    Err(_) => return Err(self.wrong("broke off while kumite was sent")),
                }
            }
            match decode::<Tell>(from_hello(&line)) {
                Ok(Tell::Hello { protocol: PROTOCOL, kumite, addresses }) if kumite == version => {
                    self.addresses = addresses;
                    return Ok(());
                }
                Ok(Tell::Hello { protocol, kumite, .. }) => {
                    return Err(self.wrong(&format!(
                        "has kumite {}, which speaks version {protocol} of its protocol; this is {version}, with version {PROTOCOL}",
                        shown(kumite.as_bytes())
                    )));
                }
                // A banner.
                _ => {}
            }
        }
        Err(self.wrong(&format!("wrote {MOST_BANNER_LINES} lines, and none is an agent's")))
    }

    /// Asks for something that has no answer but its end.
    pub fn ask(&mut self, ask: &Ask, stop: &AtomicBool) -> Result<(), String> {
        match self.wire.say(&encode(ask), SAYING, stop) {
            Ok(true) => Ok(()),
            Ok(false) => Err(self.wrong("does not take what it is told")),
            Err(_) => Err(self.wrong("broke off")),
        }
    }

    /// Makes room for a run there, and sends it folders.
    pub fn prepare(&mut self, key: &str, folders: &[Folder], stop: &AtomicBool) -> Result<(), String> {
        self.ask(&Ask::Begin { key: key.to_owned() }, stop)?;
        folders.iter().try_for_each(|folder| folder.send(&mut |ask| self.ask(&ask, stop)))
    }

    /// What it says next; none if it said nothing in that time.
    pub fn next(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<Said>, String> {
        let Some(line) = self.line_or_none(limit, stop)? else { return Ok(None) };
        match decode::<Tell>(&line).map_err(|what| self.wrong(&format!("said what it should not: {what}")))? {
            Tell::Note { text } => Ok(Some(Said::Note(plain(&text)))),
            Tell::Done { status } => Ok(Some(Said::Done(status))),
            Tell::Relay { node, work } => Ok(Some(Said::Relay { node, work })),
            Tell::Failed { why } => Err(self.wrong(&format!("cannot do that: {}", plain(&why)))),
            other => Err(self.wrong(&format!("said {other:?} when nobody asked for it"))),
        }
    }

    /// Its address, and ours as it sees it.
    pub fn addresses(&self) -> Result<(Ipv4Addr, Ipv4Addr), String> {
        let why = "does not say by which of its addresses one comes to it: it knows none of IPv4";
        self.addresses.ok_or_else(|| self.wrong(why))
    }

    /// Gives it a role in a run of the experiment that was sent to this folder.
    pub fn role(&mut self, experiment: &str, stop: &AtomicBool) -> Result<(), String> {
        self.ask(&Ask::Role { experiment: experiment.to_owned() }, stop)?;
        let line = self.line(Instant::now() + PATIENCE, stop)?;
        match decode::<Tell>(&line) {
            Ok(Tell::Done { .. }) => Ok(()),
            Ok(Tell::Failed { why }) => Err(self.wrong(&format!("cannot have a role: {}", plain(&why)))),
            _ => Err(self.wrong("said something else than whether it can have a role")),
        }
    }

    /// Has it do something for its role. `note` is told what it says meanwhile. It may say nothing for so long.
    pub fn work(
        &mut self,
        work: &str,
        limit: Duration,
        note: &mut dyn FnMut(&str),
        stop: &AtomicBool,
    ) -> Worked {
        let mut work = || {
            self.ask(&Ask::Work { work: work.to_owned() }, stop)?;
            loop {
                let line = self.line(Instant::now() + limit, stop)?;
                match decode::<Tell>(&line) {
                    Ok(Tell::Note { text }) => note(&plain(&text)),
                    Ok(Tell::Worked { worked: Worked::Failed(why) }) => {
                        return Ok(Worked::Failed(plain(&why)));
                    }
                    Ok(Tell::Worked { worked }) => return Ok(worked),
                    _ => return Err(self.wrong("said something else than what came of its work")),
                }
            }
        };
        work().unwrap_or_else(Worked::Lost)
    }

    /// For how long the node could not be reached, since this was asked last.
    pub fn cut_off(&mut self) -> Duration {
        self.wire.cut_off()
    }

    /// Gets its results store, and writes it to this file.
    pub fn store(&mut self, file: &Path, stop: &AtomicBool) -> Result<(), String> {
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        let mut to = std::fs::File::create(file).map_err(failed)?;
        self.sent(&Ask::Store, MOST_BYTES, &mut |piece| to.write_all(&piece).map_err(failed), stop)
    }

    /// Gets what the node can and cannot give: JSON.
    pub fn facts(&mut self, stop: &AtomicBool) -> Result<Vec<u8>, String> {
        let mut facts = Vec::new();
        let mut take = |mut piece: Vec<u8>| {
            facts.append(&mut piece);
            Ok(())
        };
        self.sent(&Ask::Facts, MOST_BYTES_OF_FACTS, &mut take, stop)?;
        Ok(facts)
    }

    /// Asks for something, and takes it piece after piece.
    fn sent(
        &mut self,
        ask: &Ask,
        most: u64,
        take: &mut dyn FnMut(Vec<u8>) -> Result<(), String>,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        self.ask(ask, stop)?;
        let mut left = most;
        loop {
            let line = self.line(Instant::now() + PATIENCE, stop)?;
            match decode::<Tell>(&line) {
                Ok(Tell::Data { data, more }) => {
                    let piece = decoded(&data)?;
                    let rest = left.checked_sub(piece.len() as u64);
                    left = rest.ok_or_else(|| self.wrong(&format!("sent more than {most} bytes")))?;
                    take(piece)?;
                    if !more {
                        return Ok(());
                    }
                }
                Ok(Tell::Failed { why }) => {
                    return Err(self.wrong(&format!("cannot do that: {}", plain(&why))));
                }
                Ok(Tell::Note { .. }) => {}
                _ => return Err(self.wrong("sent something else than was asked for")),
            }
        }
    }

    /// Ends it, with all that it started: it ends with its input.
    pub fn close(mut self) {
        self.wire.close();
        let _ = self.tree.wait(GRACE, &AtomicBool::new(false));
        let _ = self.tree.stop(GRACE);
    }

    fn line(&mut self, until: Instant, stop: &AtomicBool) -> Result<Vec<u8>, String> {
        loop {
            let limit = until.saturating_duration_since(Instant::now());
            if limit.is_zero() {
                return Err(self.wrong("says nothing"));
            }
            if let Some(line) = self.line_or_none(limit, stop)? {
                return Ok(line);
            }
        }
    }

    fn line_or_none(&mut self, limit: Duration, stop: &AtomicBool) -> Result<Option<Vec<u8>>, String> {
        if stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err("it was interrupted".to_owned());
        }
        match self.wire.hear(limit.min(Duration::from_millis(200))) {
            Ok(Heard::Line(line, _)) => Ok(Some(line)),
            Ok(Heard::Nothing) => match self.wire.silence() {
                Some(silence) if silence > self.silence_limit => Err(self.wrong(&format!(
                    "has not been heard for {} s: the way to it is cut, or its node stands still",
                    silence.as_secs()
                ))),
                _ => Ok(None),
            },
            Ok(Heard::TooLong) => Err(self.wrong("wrote a line that is no frame of ours, and does not end")),
            Ok(Heard::Ended(_)) => Err(self.wrong("ended")),
            Err(error) => Err(self.wrong(&format!("cannot be heard: {error}"))),
        }
    }

    /// With what the way there said last.
    fn wrong(&self, what: &str) -> String {
        let has_said = std::fs::metadata(&self.log).is_ok_and(|log| log.len() > 0);
        let said = if has_said { format!(": {}", plain(&last_lines(&self.log))) } else { String::new() };
        format!("{}: the agent {what}{said}", self.node)
    }
}

/// From where an agent's first frame begins: what a start file printed may have no end of a line.
fn from_hello(line: &[u8]) -> &[u8] {
    const HELLO: &[u8] = br#"{"tell":"hello","#;
    let begins = line.windows(HELLO.len()).position(|part| part == HELLO);
    &line[begins.unwrap_or(0)..]
}

/// Without what would move the cursor.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect::<String>().trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A link to a script that says these lines after its first frame.
    fn link(first: &str, script: &str) -> Result<Link, String> {
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
        let other = |hello: &str| link(hello, "cat > /dev/null").err().unwrap();
        assert_eq!(
            other(&HELLO.replace("1.0", "2.0")),
            "n1: the agent has kumite 2.0, which speaks version 3 of its protocol; this is 1.0, with version 3"
        );
        assert!(other(&HELLO.replace(":3,", ":9,")).contains("speaks version 9 of its protocol"));
    }

    #[test]
    fn who_ends_before_the_first_frame_is_quoted() {
        let error = link("", "echo 'Permission denied (publickey).' >&2; exit 255").err().unwrap();
        assert_eq!(error, "n1: the agent ended: Permission denied (publickey).");
    }

    #[test]
    fn what_it_says_is_heard_without_what_would_move_the_cursor() {
        let stop = AtomicBool::new(false);
        let script = r#"printf '{"tell":"note","text":"1 of 2\\u001b[2J"}\n{"tell":"done","status":3}\n'; cat > /dev/null"#;
        let mut link = link(HELLO, script).unwrap();
        let limit = Duration::from_secs(20);
        assert_eq!(link.next(limit, &stop), Ok(Some(Said::Note("1 of 2 [2J".to_owned()))));
        assert_eq!(link.next(limit, &stop), Ok(Some(Said::Done(Some(3)))));
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
                Err(error) => break error,
            }
        };
        let expected = "has not been heard for 0 s: the way to it is cut, or its node stands still";
        assert!(error.contains(expected), "{error}");
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
    fn what_it_should_not_say_is_an_error() {
        let stop = AtomicBool::new(false);
        for (script, expected) in [
            ("echo hello", "said what it should not: 'hello' is no frame of ours"),
            (r#"echo '{"tell":"data","data":"","more":false}'"#, "when nobody asked for it"),
            (r#"echo '{"tell":"failed","why":"the disk is full"}'"#, "cannot do that: the disk is full"),
            ("head -c 2000000 /dev/zero", "wrote a line that is no frame of ours, and does not end"),
        ] {
            let mut link = link(HELLO, &format!("{script}; cat > /dev/null")).unwrap();
            let error = loop {
                match link.next(Duration::from_secs(20), &stop) {
                    Ok(None) => {}
                    Ok(said) => panic!("{said:?}"),
                    Err(error) => break error,
                }
            };
            assert!(error.contains(expected), "{error}");
            link.close();
        }
    }
}
