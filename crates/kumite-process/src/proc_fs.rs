//! Facts about a process from `/proc`. A fact is absent once the process has gone, or if the process is another
//! user's and hidden.

use std::fs;
use std::thread;
use std::time::Duration;

/// The clock tick of `/proc`: USER_HZ is 100 on every architecture that both Rust and Linux still support.
const TICK: Duration = Duration::from_millis(10);

/// The fields of `/proc/PID/stat` that we need. A process of the same id with another `started` is another process.
#[derive(Debug, PartialEq)]
pub(crate) struct Stat {
    state: char,
    pub parent: i32,
    pub group: i32,
    pub session: i32,
    /// The start of the process, in ticks after boot.
    pub started: u64,
    /// The CPU time of the children that the process has waited for, and of those that they had waited for.
    pub waited: Duration,
    pub threads: u64,
    /// The address at which the process's environment ends: another one after each exec (as far as addresses are
    /// random); 0 during an exec, and if we may not look.
    environ_end: u64,
}

impl Stat {
    pub(crate) fn read(pid: i32) -> Option<Stat> {
        Stat::read_file(&format!("/proc/{pid}/stat"))
    }

    /// Reads the stat of the process's first thread: time and state are that thread's alone, so that a hundred
    /// threads cost no more than one.
    pub(crate) fn read_leader(pid: i32) -> Option<Stat> {
        Stat::read_file(&format!("/proc/{pid}/task/{pid}/stat"))
    }

    fn read_file(file: &str) -> Option<Stat> {
        Stat::parse(&String::from_utf8_lossy(&fs::read(file).ok()?))
    }

    fn parse(text: &str) -> Option<Stat> {
        // The name comes second, in parentheses, and may itself hold spaces and parentheses.
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_ascii_whitespace().collect();
        let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
        Some(Stat {
            state: fields.first()?.chars().next()?,
            parent: fields.get(1)?.parse().ok()?,
            group: fields.get(2)?.parse().ok()?,
            session: fields.get(3)?.parse().ok()?,
            waited: TICK * u32::try_from(number(13)? + number(14)?).ok()?,
            threads: number(17)?,
            started: number(19)?,
            environ_end: number(48).unwrap_or(0),
        })
    }

    /// `true` if the process has ended, and only waits for its parent to ask how. (If only its first thread has
    /// ended, the state says the same, but there are other threads.)
    pub(crate) fn is_zombie(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }

    /// `true` if a signal, and not a tracer, stopped the process.
    pub(crate) fn is_stopped_by_signal(&self) -> bool {
        self.state == 'T'
    }

    /// `true` if a signal or a tracer stopped the process.
    pub(crate) fn is_stopped(&self) -> bool {
        matches!(self.state, 'T' | 't')
    }
}

/// `true` if a process that was sent SIGSTOP does nothing before a SIGCONT. Each of its threads has ended, is
/// stopped, or is in an uninterruptible sleep of the kernel (such as a parent that waits for its vfork), after which
/// it stops before its next instruction. Also `true` if the process has gone.
pub(crate) fn stands_still(pid: i32) -> bool {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut threads = threads.filter_map(|entry| Stat::read(entry.file_name().to_str()?.parse().ok()?));
    threads.all(|thread| matches!(thread.state, 'T' | 't' | 'D' | 'Z' | 'X'))
}

/// The resident memory of a process now, and its highest until now, in bytes. `None` for a zombie, which has no
/// memory, and for a process that has gone.
pub(crate) fn resident(pid: &str) -> Option<(u64, u64)> {
    let status = fs::read(format!("/proc/{pid}/status")).ok()?;
    let status = String::from_utf8_lossy(&status);
    let bytes = |key: &str| {
        let value = status.lines().find_map(|line| line.strip_prefix(key))?;
        value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kib| kib * 1024)
    };
    Some((bytes("VmRSS:")?, bytes("VmHWM:")?))
}

/// `true` if this `NAME=VALUE` is in the environment that the process was started with.
pub(crate) fn carries(pid: i32, variable: &str) -> bool {
    environ(pid).split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes())
}

/// The value of this variable in the environment that the process was started with. `None` if it is not there or no
/// UTF-8, or the environment is not to be seen.
pub(crate) fn variable(pid: i32, name: &str) -> Option<String> {
    let value = |entry: &[u8]| Some(entry.strip_prefix(name.as_bytes())?.strip_prefix(b"=")?.to_vec());
    String::from_utf8(environ(pid).split(|&byte| byte == 0).find_map(value)?).ok()
}

/// `true` if this variable is certainly not in the process's environment. During an exec no environment is to be
/// seen, so this waits some milliseconds for the one of before or after. `false` if none is to be seen then, either.
pub(crate) fn lacks(pid: i32, name: &str) -> bool {
    let environ_end = || Stat::read(pid).map(|stat| stat.environ_end).filter(|&end| end != 0);
    for _ in 0..20 {
        let (before, value, after) = (environ_end(), variable(pid, name), environ_end());
        if before.is_some() && before == after {
            return value.is_none();
        }
        thread::sleep(Duration::from_millis(1));
    }
    false
}

/// The environment that the process was started with, as the kernel shows it. Empty during an exec, and if we may not
/// look (another user's process).
fn environ(pid: i32) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/environ")).unwrap_or_default()
}

/// The inodes of the sockets that the process holds. There are none if we may not look (another user's process).
pub(crate) fn sockets(pid: i32) -> impl Iterator<Item = u64> {
    let descriptors = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    descriptors.filter_map(|entry| {
        let target = fs::read_link(entry.path()).ok()?;
        target.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    })
}

/// The arguments of a process, joined by spaces and without control characters; for a process without arguments, its
/// name in brackets. `None` if the process has gone.
pub(crate) fn command_line(pid: i32) -> Option<String> {
    let arguments = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
    let line = String::from_utf8_lossy(&arguments).replace(char::is_control, " ");
    match line.trim_end() {
        "" => Some(format!("[{}]", name(pid)?)),
        line => Some(line.to_owned()),
    }
}

/// The kernel's name for a process, of at most 15 bytes.
pub(crate) fn name(pid: i32) -> Option<String> {
    Some(fs::read_to_string(format!("/proc/{pid}/comm")).ok()?.trim_end().to_owned())
}

/// The ids of all processes that are to be seen.
pub(crate) fn pids() -> Vec<i32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// The id of the process or thread made last. While it stays the same, no new one was made.
pub(crate) fn newest() -> Option<i32> {
    fs::read_to_string("/proc/loadavg").ok()?.split_ascii_whitespace().last()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let text = "42 (a ) R 1 (b) S 7 8 9 0 -1 4194560 1 2 3 4 150 50 200 100 20 0 1 0 98765 1 2";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.group, stat.session), ('S', 7, 8, 9));
        assert_eq!((stat.waited, stat.started), (Duration::from_secs(3), 98765));
    }

    #[test]
    fn a_process_in_state_t_of_either_case_is_stopped_and_no_other() {
        let stopped = |state| {
            let text = format!("42 (T) {state} 7 8 9 0 -1 0 1 2 3 4 150 50 200 100 20 0 1 0 98765 1 2");
            Stat::parse(&text).unwrap().is_stopped()
        };
        assert!(stopped('T') && stopped('t'));
        assert!(['R', 'S', 'D', 'Z', 'X', 'I'].into_iter().all(|state| !stopped(state)));
    }

    #[test]
    fn a_process_whose_first_thread_has_ended_still_runs() {
        let text =
            |threads| format!("42 (a) Z 7 8 9 0 -1 0 1 2 3 4 150 50 200 100 20 0 {threads} 0 98765 1 2");
        assert!(Stat::parse(&text(1)).unwrap().is_zombie());
        assert!(!Stat::parse(&text(3)).unwrap().is_zombie());
    }

    #[test]
    fn an_environment_is_lacking_only_if_it_can_be_seen() {
        let us = std::process::id().cast_signed();
        assert!(lacks(us, "KUMITE_NO_SUCH_VARIABLE"));
        assert!(!lacks(us, "PATH"), "and it is there");
        let mut ended = crate::spawn_unmarked(&mut std::process::Command::new("true")).unwrap();
        let pid = ended.id().cast_signed();
        ended.wait().unwrap();
        assert!(!lacks(pid, "PATH"));
    }

    #[test]
    fn a_torn_line_is_nothing() {
        assert_eq!(Stat::parse("42 (sh) S 7 8"), None);
        assert_eq!(Stat::parse(""), None);
    }
}
