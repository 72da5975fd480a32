//! A directory for a process tree under test, and what tests and their programs ask about processes.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use kumite_process::{Error, Spawn, Tree, spawn_unmarked};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, listen, socket_with, sockopt};
use tempfile::TempDir;

use crate::{LONG, example};

/// A command whose child leaves the group and the session of its root, and has no environment that tells whose it is.
/// The child writes its id to `escaped`.
pub const ESCAPES: &str = "setsid env -i sh -c 'sh -c \"echo \\$\\$ > escaped; exec sleep 300\" & exit' &";

/// A directory for process trees under test, and their environment.
pub struct Bench {
    dir: TempDir,
    env: Vec<(String, String)>,
}

impl Bench {
    /// An empty directory, with `GREETING` and `KUMITE_BENCH` in the environment.
    #[expect(clippy::new_without_default, reason = "it makes a directory")]
    pub fn new() -> Bench {
        let dir = tempfile::tempdir().unwrap();
        let env = vec![
            ("GREETING".to_owned(), "hello world".to_owned()),
            ("KUMITE_BENCH".to_owned(), dir.path().display().to_string()),
        ];
        Bench { dir, env }
    }

    /// The directory in which the trees run.
    pub fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// The path of the trees' log.
    pub fn log(&self) -> PathBuf {
        self.dir().join("log")
    }

    /// A command to be started in this directory, on these CPUs (if none, on those of the calling thread), with its
    /// output in this log. It is not started yet.
    pub fn spawn<'a>(&'a self, cores: &'a [usize], log: &'a Path, command: &'a str) -> Spawn<'a> {
        Spawn { command, dir: self.dir(), env: &self.env, keeps: None, cores, log, group: None }
    }

    /// Starts a command on any CPU. Panics if that fails.
    pub fn start(&self, command: &str) -> Tree {
        self.try_start(&[], command).unwrap()
    }

    /// Starts a command on these CPUs. Panics if that fails.
    pub fn start_on(&self, cores: &[usize], command: &str) -> Tree {
        self.try_start(cores, command).unwrap()
    }

    /// Starts a command on these CPUs. An error if it cannot be started.
    pub fn try_start(&self, cores: &[usize], command: &str) -> Result<Tree, Error> {
        Tree::start(&self.spawn(cores, &self.log(), command))
    }

    /// Starts a command in another directory. An error if it cannot be started.
    pub fn try_start_in(&self, dir: &Path, command: &str) -> Result<Tree, Error> {
        Tree::start(&Spawn { dir, ..self.spawn(&[], &self.log(), command) })
    }

    /// Starts a command with another log. An error if it cannot be started.
    pub fn try_start_logged(&self, log: &Path, command: &str) -> Result<Tree, Error> {
        Tree::start(&self.spawn(&[], log, command))
    }

    /// The text of a file that a tree has written. Panics if there is none.
    pub fn read(&self, name: &str) -> String {
        fs::read_to_string(self.dir().join(name)).unwrap()
    }

    /// The process id that a tree writes into this file. Waits for it; panics after [`LONG`].
    pub fn pid(&self, name: &str) -> u32 {
        let written = || fs::read_to_string(self.dir().join(name)).ok()?.trim().parse().ok();
        let began = Instant::now();
        loop {
            match written() {
                Some(pid) => return pid,
                None if began.elapsed() >= LONG => panic!("no '{name}' after {LONG:?}:{}", self.all_files()),
                None => std::thread::sleep(Duration::from_millis(2)),
            }
        }
    }

    fn all_files(&self) -> String {
        let files = fs::read_dir(self.dir()).into_iter().flatten().flatten();
        let file = |file: fs::DirEntry| {
            format!(" {:?} {:?}", file.file_name(), fs::read_to_string(file.path()).unwrap_or_default())
        };
        files.map(file).collect()
    }
}

/// The path of the helper program of kumite-process's tests.
pub fn helper() -> PathBuf {
    example("process_helper")
}

/// Runs a command as [`Command::output`] does, with the same errors, but the end of another test's tree does not end
/// it: tests of one process run beside each other.
pub fn output(command: &mut Command) -> io::Result<Output> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    spawn_unmarked(command)?.wait_with_output()
}

/// Has the helper program do `what`: a test of a whole process or a whole machine, whose assertions the helper makes
/// itself. The helper runs in a pid namespace of its own if the machine allows that: otherwise any other kumite may
/// find the processes that the test leaves behind, and end them. Panics if the helper fails.
pub fn in_a_namespace(what: &str) {
    let mut apart = Command::new("unshare");
    apart.args(["--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"]);
    let can = output(Command::new("unshare").args(apart.get_args()).arg("true"));
    let mut command = match can {
        Ok(can) if can.status.success() => {
            apart.arg(helper());
            apart
        }
        _ => Command::new(helper()),
    };
    let ended = output(command.arg(what)).unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// The id of the guardian of the process `of`: the shell that ends what that process leaves behind. None if there is
/// no guardian.
pub fn guardian(of: u32) -> Option<u32> {
    let is_guardian = |pid: &u32| {
        let command = fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        command.contains("kumite-guardian") && command.contains(&format!("-{of}-"))
    };
    let pids = fs::read_dir("/proc").unwrap().flatten();
    pids.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).find(is_guardian)
}

/// The folders of the control groups that the process with this id has made.
pub fn groups_of(pid: u32) -> Vec<PathBuf> {
    fn below(folder: &Path, named: &str, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                below(&entry.path(), named, found);
                if entry.file_name().to_string_lossy().contains(named) {
                    found.push(entry.path());
                }
            }
        }
    }
    let mut found = Vec::new();
    let namespace = fs::metadata("/proc/self/ns/pid").unwrap().ino();
    below(Path::new("/sys/fs/cgroup"), &format!("kumite-{namespace}-{pid}-"), &mut found);
    found
}

/// True if the process runs, and is not only a zombie that waits to be reaped.
pub fn alive(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
}

/// True if the process has become the `sleep` that it executes. During the exec its environment cannot be seen.
pub fn sleeps(pid: u32) -> bool {
    fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"sleep\0"))
}

/// True if any process has this `NAME=VALUE` in its environment.
pub fn anyone_carries(variable: &str) -> bool {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let mut environments = processes.filter_map(|entry| fs::read(entry.path().join("environ")).ok());
    environments.any(|environ| environ.split(|&byte| byte == 0).any(|entry| entry == variable.as_bytes()))
}

/// A TCP listener on all IPv4 addresses, and on a port that other sockets of this user may listen on, too
/// (SO_REUSEPORT). Panics if there can be none.
pub fn shared(port: u16) -> TcpListener {
    let flags = SocketFlags::CLOEXEC;
    let listener = socket_with(AddressFamily::INET, SocketType::STREAM, flags, None).unwrap();
    sockopt::set_socket_reuseport(&listener, true).unwrap();
    bind(&listener, &SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port)).unwrap();
    listen(&listener, 8).unwrap();
    TcpListener::from(listener)
}

/// A command that runs awk, which burns this many seconds of CPU time, and then appends a line with the seconds that it
/// has used to the file `account`. It counts its own CPU time, so the load of the machine does not matter. `before` and
/// `after` are awk code for before the burning and after the line.
pub fn awk(before: &str, seconds: f64, after: &str) -> String {
    format!(
        "awk 'BEGIN {{ {before}; while (i++ < 1e9) if (i % 10000 == 0) {{ getline s < \"/proc/self/stat\"; \
             close(\"/proc/self/stat\"); split(s, f, \" \"); if (f[14] + f[15] >= {}) break }} \
             used = (f[14] + f[15]) / 100; print used >> \"account\"; close(\"account\"); {after} }}'",
        seconds * 100.0
    )
}

/// A command that burns this many seconds of CPU time, and then appends a line with the seconds that it has used to the
/// file `account`.
pub fn burn(seconds: f64) -> String {
    awk("", seconds, "")
}
