//! The protocol between a runner and its helper: numbers of eight bytes, and strings after their length. Both ends
//! are the same program, so that there is one version.

use std::ffi::{CString, OsStr, OsString};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;

use crate::counters::{Counter, Counts};
use crate::ending::is_interrupt;

/// The longest string in bytes, and the most elements of a list: a command line and an environment fit in the
/// kernel's limit for both.
const LONGEST: u64 = 1 << 24;

pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new() -> Message {
        Message(Vec::new())
    }

    pub(crate) fn number(&mut self, number: u64) {
        self.0.extend_from_slice(&number.to_le_bytes());
    }

    pub(crate) fn count(&mut self, count: usize) {
        self.number(count as u64);
    }

    pub(crate) fn string(&mut self, string: &OsStr) {
        self.count(string.len());
        self.0.extend_from_slice(string.as_bytes());
    }

    pub(crate) fn path(&mut self, path: Option<&Path>) {
        self.string(path.map_or(OsStr::new(""), Path::as_os_str));
    }

    pub(crate) fn strings<'a>(&mut self, strings: impl ExactSizeIterator<Item = &'a OsStr>) {
        self.count(strings.len());
        strings.for_each(|string| self.string(string));
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

/// Reads what a [`Message`] has written.
pub(crate) trait Wire: Read {
    fn number(&mut self) -> io::Result<u64> {
        let mut bytes = [0; 8];
        self.read_exact(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }

    fn count(&mut self) -> io::Result<usize> {
        match self.number()? {
            count if count <= LONGEST => Ok(count as usize),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }

    fn string(&mut self) -> io::Result<OsString> {
        let mut bytes = vec![0; self.count()?];
        self.read_exact(&mut bytes)?;
        Ok(OsString::from_vec(bytes))
    }

    /// Reads a path; `None` if it is empty.
    fn path(&mut self) -> io::Result<Option<PathBuf>> {
        Ok(Some(self.string()?).filter(|path| !path.is_empty()).map(PathBuf::from))
    }

    fn text(&mut self) -> io::Result<CString> {
        Ok(CString::new(self.string()?.into_vec())?)
    }

    fn strings(&mut self) -> io::Result<Vec<CString>> {
        let count = self.count()?;
        (0..count).map(|_| self.text()).collect()
    }
}

impl<R: Read> Wire for R {}

/// The number of numbers in an answer.
pub(crate) const ANSWER: usize = FIGURES + Counter::ALL.len();
/// The number of those before the counts.
const FIGURES: usize = 11;

/// The figures of a command that has ended. Times are in nanoseconds; `began` and `ended` are on the monotonic clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Figures {
    pub began: u64,
    pub ended: u64,
    pub user: u64,
    pub system: u64,
    pub peak_rss_bytes: u64,
    /// The peak memory that even a command without memory of its own would show.
    pub floor_bytes: u64,
    pub status: i32,
    pub involuntary_switches: u64,
    pub left_behind: u64,
    /// The command wanted the terminal, and was lent it.
    pub had_terminal: bool,
    pub counts: Counts,
}

impl Figures {
    /// `true` if the user has ended the command by Ctrl-C, at the terminal that it was lent: the signal then did not
    /// reach us.
    pub(crate) fn is_interrupted(&self) -> bool {
        self.had_terminal && is_interrupt(ExitStatus::from_raw(self.status))
    }
}

/// The reason why a command could not be run: the stage, and the system's error number or, if the command was stopped,
/// the signal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Failure {
    pub stage: Stage,
    pub errno: i32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    Cores,
    Directory,
    Stdin,
    Output,
    /// The counters could not be opened or read.
    Counters,
    Program,
    /// The command wanted the terminal, and could not have it.
    Terminal,
    /// The command was stopped, and nobody let it go on.
    Stopped,
    /// The command was not run, because one before it in the queue did not pass.
    Skipped,
}

const STAGES: [Stage; 9] = [
    Stage::Cores,
    Stage::Directory,
    Stage::Stdin,
    Stage::Output,
    Stage::Counters,
    Stage::Program,
    Stage::Terminal,
    Stage::Stopped,
    Stage::Skipped,
];

/// The figures of a run that has ended, or why it could not be made.
pub(crate) type Answer = Result<Figures, Failure>;

pub(crate) fn encode(answer: Answer) -> [u64; ANSWER] {
    match answer {
        Ok(it) => {
            let figures: [u64; FIGURES] = [
                0,
                it.began,
                it.ended,
                it.user,
                it.system,
                it.peak_rss_bytes,
                it.floor_bytes,
                u64::from(it.status.cast_unsigned()),
                it.involuntary_switches,
                it.left_behind,
                it.had_terminal.into(),
            ];
            let mut numbers = [0; ANSWER];
            numbers[..FIGURES].copy_from_slice(&figures);
            numbers[FIGURES..].copy_from_slice(&it.counts);
            numbers
        }
        Err(Failure { stage, errno }) => {
            let mut numbers = [0; ANSWER];
            numbers[..3].copy_from_slice(&[1, stage as u64, u64::from(errno.cast_unsigned())]);
            numbers
        }
    }
}

pub(crate) fn decode(numbers: [u64; ANSWER]) -> Answer {
    let [
        failed,
        began,
        ended,
        user,
        system,
        peak_rss_bytes,
        floor_bytes,
        status,
        involuntary_switches,
        left_behind,
        had_terminal,
        counts @ ..,
    ] = numbers;
    if failed != 0 {
        let stage = STAGES.into_iter().find(|&stage| stage as u64 == began).unwrap_or(Stage::Program);
        return Err(Failure { stage, errno: ended as i32 });
    }
    let status = status as i32;
    Ok(Figures {
        began,
        ended,
        user,
        system,
        peak_rss_bytes,
        floor_bytes,
        status,
        involuntary_switches,
        left_behind,
        had_terminal: had_terminal != 0,
        counts,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_read_as_it_was_written() {
        let mut message = Message::new();
        message.number(7);
        message.string(OsStr::new("one\ntwo"));
        message.path(None);
        message.strings([OsStr::new("a"), OsStr::new("")].into_iter());
        let mut bytes = message.bytes();
        assert_eq!((bytes.number().unwrap(), bytes.string().unwrap()), (7, "one\ntwo".into()));
        assert_eq!(bytes.path().unwrap(), None);
        assert_eq!(bytes.strings().unwrap(), [c"a".to_owned(), c"".to_owned()]);
        assert_eq!(bytes.number().unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_answer_is_decoded_as_it_was_encoded() {
        for stage in STAGES {
            let Err(failure) = decode(encode(Err(Failure { stage, errno: 13 }))) else { panic!("{stage:?}") };
            assert_eq!((failure.stage, failure.errno), (stage, 13));
        }
        let numbers = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 10, 11, 12, 13, 14, 15];
        assert_eq!(encode(decode(numbers)), numbers);
    }
}
