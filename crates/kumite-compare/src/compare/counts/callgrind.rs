//! Callgrind's command line, and the files that it writes for each process: `log.PID`, and `out.PID` with `out.PID.N`
//! for the parts that were written before.
//!
//! A forked process begins with the counts of the one that forked it. So callgrind is told to write and clear its
//! counts at each fork; a process whose counts were not cleared is found by its log, which has the sum of all that it
//! ever counted.
//!
//! A part that begins within a call has the call's inclusive cost with `calls=0`, which `callgrind_annotate` takes
//! for the caller's own. In the files that are kept this cost is 0 ([`keep`]).

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use kumite_process::last_lines_of;
use kumite_record::Uncounted;

/// The file for the standard error of the command and of valgrind itself.
pub(super) const STDERR: &str = "stderr";

/// The functions at whose beginning counts are written and cleared. A version may follow a name.
const FORKS: &[&str] =
    &["fork", "fork@*", "__libc_fork", "_Fork", "_Fork@*", "vfork", "vfork@*", "posix_spawn*"];
/// The most bytes that are read of a log, and ([`TAIL`]) of the end of a file of counts, which has the total.
const LOG: u64 = 1 << 20;
const TAIL: u64 = 1024;
/// The most lines of a file before its first function.
const HEAD: usize = 100;

/// A run whose processes were all counted.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    /// The instructions of all processes but the shell's.
    pub instructions: u64,
    /// The number of the processes that were counted.
    pub processes: usize,
    /// The files of counts of these processes, those with the most instructions first.
    pub files: Vec<PathBuf>,
    /// The name and version of the tool that counted.
    pub tool: String,
}

/// The arguments of valgrind that count this command and leave the files in this folder.
pub(super) fn arguments(folder: &Path, command: &[String]) -> Vec<String> {
    // A per cent sign is its own escape there.
    let file = |name: &str| format!("{}/{name}", folder.display().to_string().replace('%', "%%"));
    // Neither variables nor files of the user's add to these.
    let fixed = ["--tool=callgrind", "--command-line-only=yes", "--trace-children=yes", "--vgdb=no"];
    let files =
        [format!("--callgrind-out-file={}", file("out.%p")), format!("--log-file={}", file("log.%p"))];
    let forks = FORKS.iter().map(|name| format!("--dump-before={name}"));
    let fixed = fixed.map(str::to_owned).into_iter();
    fixed.chain(files).chain(forks).chain(command.iter().cloned()).collect()
}

/// Adds up the counts in a folder. `shell` is the whole command line of the shell around the command: processes that
/// carry it are the shell and its forks. What a shell becomes by `exec` carries another, and counts.
pub(super) fn read(folder: &Path, shell: Option<&str>) -> Result<Counted, Uncounted> {
    let processes = processes(folder).map_err(|error| Uncounted::Error { error: error.to_string() })?;
    let number = |is: &dyn Fn(&Process) -> bool| processes.values().filter(|it| is(it)).count();
    if let Some(program) = processes.values().find_map(|it| it.log.privileged.clone()) {
        return Err(Uncounted::Privileged { program });
    }
    let lost = number(&|it| it.log.collected.is_none());
    if lost > 0 {
        return Err(Uncounted::Lost { processes: lost });
    }
    let is_shell = |process: &Process| {
        shell.is_some_and(|shell| process.outs.iter().any(|out| is_command(&out.command, shell)))
    };
    let counted = || processes.values().filter(|it| !it.outs.is_empty() && !is_shell(it));
    let repeated = counted().filter(|it| it.log.is_forked && Some(it.total()) == it.log.collected).count();
    if repeated > 0 {
        return Err(Uncounted::Repeated { processes: repeated });
    }
    let mut outs: Vec<&Out> = counted().flat_map(|process| &process.outs).collect();
    outs.sort_by_key(|out| std::cmp::Reverse(out.instructions));
    let Some(first) = outs.first() else { return Err(Uncounted::NoProcess) };
    Ok(Counted {
        instructions: outs.iter().map(|out| out.instructions).sum(),
        processes: counted().count(),
        files: outs.iter().map(|out| out.path.clone()).collect(),
        tool: first.tool.clone(),
    })
}

/// The last words of a command that failed under valgrind. They are the lines in which valgrind says why it cannot go
/// on, or else the command's own.
pub(super) fn last_words(folder: &Path) -> String {
    let stderr = fs::read(folder.join(STDERR)).unwrap_or_default();
    let stderr = String::from_utf8_lossy(&stderr);
    let logs = entries(folder).unwrap_or_default().into_iter().filter(|(name, _)| name.starts_with("log."));
    let logs: Vec<String> = logs.filter_map(|(_, path)| read_log(&path).ok()).collect();
    let lines =
        logs.iter().flat_map(|log| log.lines()).map(without_pid).chain(stderr.lines().map(without_pid));
    let fatal: Vec<&str> = lines.filter(|line| is_fatal(line)).collect();
    if fatal.is_empty() { last_lines_of(&stderr) } else { last_lines_of(&fatal.join("\n")) }
}

/// True if valgrind says on this line why a program cannot go on.
fn is_fatal(line: &str) -> bool {
    ["valgrind: ", "vex ", "Process terminating", "Warning: Can't execute"]
        .iter()
        .any(|beginning| line.starts_with(beginning))
}

/// Copies a file of counts, without what `callgrind_annotate` would misread.
pub(super) fn keep(file: &Path, to: &Path) -> io::Result<()> {
    let mut from = BufReader::new(File::open(file)?);
    let mut kept = BufWriter::new(File::create(to)?);
    let (mut line, mut is_inclusive) = (Vec::new(), false);
    while from.read_until(b'\n', &mut line)? > 0 {
        match line.iter().position(|&byte| byte == b' ').filter(|_| is_inclusive) {
            // The position stays: those below are relative to it.
            Some(position) => {
                kept.write_all(&line[..position])?;
                kept.write_all(b" 0\n")?;
            }
            None => kept.write_all(&line)?,
        }
        is_inclusive = line.starts_with(b"calls=0 ");
        line.clear();
    }
    kept.flush()
}

/// All that callgrind has left of a process.
struct Process {
    outs: Vec<Out>,
    log: Log,
}

impl Process {
    fn total(&self) -> u64 {
        self.outs.iter().map(|out| out.instructions).sum()
    }
}

/// A file of counts.
struct Out {
    path: PathBuf,
    command: String,
    instructions: u64,
    tool: String,
}

/// The facts in the log of a process.
#[derive(Debug, Default, PartialEq)]
struct Log {
    /// The sum of all that the process ever counted; `None` if it did not come to its end.
    collected: Option<u64>,
    is_forked: bool,
    /// The program that the process was to become, and that valgrind may not run; `None` if there was none.
    privileged: Option<String>,
}

fn processes(folder: &Path) -> io::Result<BTreeMap<String, Process>> {
    let mut processes: BTreeMap<String, Process> = BTreeMap::new();
    let entries = entries(folder)?;
    for (name, path) in &entries {
        if let Some(pid) = name.strip_prefix("log.") {
            processes.insert(pid.to_owned(), Process { outs: Vec::new(), log: log(&read_log(path)?) });
        }
    }
    for (name, path) in entries {
        let pid = name.strip_prefix("out.").and_then(|rest| rest.split('.').next());
        // A process that was killed may have left half a file.
        let process = pid.and_then(|pid| processes.get_mut(pid)).filter(|it| it.log.collected.is_some());
        if let Some(process) = process {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("{name}: {error}"));
            process.outs.push(out(path).map_err(named)?);
        }
    }
    Ok(processes)
}

fn entries(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let entry = |entry: io::Result<fs::DirEntry>| {
        entry.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
    };
    fs::read_dir(folder)?.map(entry).collect()
}

fn read_log(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LOG).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn log(text: &str) -> Log {
    let mut log = Log { is_forked: true, ..Log::default() };
    for line in text.lines().map(without_pid) {
        if let Some(counts) = line.strip_prefix("Collected : ") {
            log.collected = counts.split(' ').next().and_then(|count| count.parse().ok());
        } else if line.starts_with("For interactive control") {
            // A process says this when it begins; a fork of it does not.
            log.is_forked = false;
        } else if let Some((_, program)) = line.split_once("Can't execute setuid/setgid/setcap executable: ")
        {
            log.privileged = Some(program.to_owned());
        }
    }
    log
}

/// A line of valgrind's without the `==PID== ` before it.
fn without_pid(line: &str) -> &str {
    let rest = line.strip_prefix("==").and_then(|rest| rest.split_once("== "));
    rest.filter(|(pid, _)| pid.bytes().all(|digit| digit.is_ascii_digit())).map_or(line, |(_, rest)| rest)
}

fn out(path: PathBuf) -> io::Result<Out> {
    let mut file = BufReader::new(File::open(&path)?);
    let (mut command, mut tool, mut is_of_instructions) = (String::new(), String::new(), false);
    for _ in 0..HEAD {
        let mut line = Vec::new();
        if file.read_until(b'\n', &mut line)? == 0 || line.starts_with(b"fn=") {
            break;
        }
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end_matches('\n');
        if let Some(rest) = line.strip_prefix("cmd: ") {
            command = rest.trim_start().to_owned();
        } else if let Some(rest) = line.strip_prefix("creator: ") {
            tool = rest.to_owned();
        } else if let Some(events) = line.strip_prefix("events: ") {
            is_of_instructions = events.split(' ').next() == Some("Ir");
        }
    }
    let end = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(end.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail)?;
    let tail = String::from_utf8_lossy(&tail);
    let total = tail.lines().rev().find_map(|line| line.strip_prefix("totals: "));
    let instructions = total.and_then(|total| total.split(' ').next()?.parse().ok());
    match instructions.filter(|_| is_of_instructions) {
        Some(instructions) => Ok(Out { path, command, instructions, tool }),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "it has no total of instructions")),
    }
}

/// True if `written`, the command line in a file, is this one. Callgrind escapes backslashes and line ends there; an
/// older one ends at the first line.
fn is_command(written: &str, command: &str) -> bool {
    let escaped = command.replace('\\', "\\\\").replace('\n', "\\n");
    let first = command.lines().next().unwrap_or_default();
    written.trim_end() == escaped.trim_end() || written.trim_end() == first.trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ENDED: &str = "==7== Command: ./a\n==7== Parent PID: 6\n==7== \n==7== For interactive control, run \
                         'callgrind_control -h'.\n==7== \n==7== Events    : Ir\n==7== Collected : 300\n";

    /// A folder with these files.
    fn folder(files: &[(&str, String)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn out_of(command: &str, total: u64) -> String {
        format!(
            "# callgrind format\nversion: 1\ncreator: callgrind-3.19.0\npid: 7\ncmd:  {command}\npart: 1\n\n\
             positions: line\nevents: Ir\nsummary: 1\n\n\nob=(5) /tmp/a\nfn=(1) main\n0 {total}\n\ntotals: {total}\n"
        )
    }

    fn ended(collected: u64) -> String {
        ENDED.replace("300", &collected.to_string())
    }

    fn forked(collected: u64) -> String {
        ended(collected)
            .lines()
            .filter(|line| !line.contains("interactive"))
            .fold(String::new(), |text, line| text + line + "\n")
    }

    fn sum(files: &[(&str, String)], shell: Option<&str>) -> Result<(u64, usize), Uncounted> {
        read(folder(files).path(), shell).map(|counted| (counted.instructions, counted.processes))
    }

    #[test]
    fn the_counts_of_all_processes_and_of_all_their_parts_are_added() {
        let files = [
            ("log.7", ended(300)),
            ("out.7", out_of("./a", 100)),
            ("out.7.1", out_of("./a", 200)),
            ("log.8", ended(50)),
            ("out.8", out_of("./b", 50)),
            ("stderr", "a: words of its own\n".to_owned()),
        ];
        assert_eq!(sum(&files, None), Ok((350, 2)));
        let folder = folder(&files);
        let counted = read(folder.path(), None).unwrap();
        let names: Vec<_> = counted.files.iter().map(|path| path.file_name().unwrap()).collect();
        assert_eq!(
            (names, counted.tool.as_str()),
            (vec!["out.7.1".as_ref(), "out.7".as_ref(), "out.8".as_ref()], "callgrind-3.19.0")
        );
    }

    #[test]
    fn the_shell_and_its_forks_do_not_count_and_what_it_becomes_does() {
        let shell = "sh -c a \\ b\n(c)";
        let written = "sh -c a \\\\ b\\n(c)";
        let files = [
            ("log.7", ended(300)),
            ("out.7", out_of(written, 300)),
            ("log.8", forked(300)),
            ("out.8", out_of(written, 300)),
            ("log.9", ended(5)),
            ("out.9", out_of("a b", 5)),
        ];
        assert_eq!(sum(&files, Some(shell)), Ok((5, 1)));
        assert_eq!(sum(&files[..2], Some(shell)), Err(Uncounted::NoProcess));
        assert_eq!(sum(&files[..2], Some("sh -c other")), Ok((300, 1)));
        // Another shell that the command starts is its own.
        assert_eq!(sum(&files[..2], None), Ok((300, 1)));
    }

    #[test]
    fn a_fork_counts_from_its_fork_on_and_is_refused_if_it_repeats_what_was_before() {
        let parent = [("log.7", ended(300)), ("out.7", out_of("./a", 100)), ("out.7.1", out_of("./a", 200))];
        let with = |total| {
            let fork = [("log.8", forked(900)), ("out.8", out_of("./a", total))];
            sum(&[parent.as_slice(), &fork].concat(), None)
        };
        assert_eq!(with(600), Ok((900, 2)));
        assert_eq!(with(900), Err(Uncounted::Repeated { processes: 1 }));
    }

    #[test]
    fn a_process_that_was_killed_or_may_not_run_leaves_no_sum() {
        let killed = ended(300).lines().take(4).collect::<Vec<_>>().join("\n");
        let rest = [("log.7", ended(300)), ("out.7", out_of("./a", 300))];
        let with = |log: String| sum(&[rest.as_slice(), &[("log.8", log)]].concat(), None);
        assert_eq!(with(killed), Err(Uncounted::Lost { processes: 1 }));
        let warned = "==8== Warning: Can't execute setuid/setgid/setcap executable: /bin/su\n".to_owned();
        assert_eq!(with(warned + &ended(5)), Err(Uncounted::Privileged { program: "/bin/su".to_owned() }));
        assert_eq!(sum(&[], None), Err(Uncounted::NoProcess));
        let half = out_of("./a", 300).replace("totals", "");
        let left = [("log.8", "==8== Command: ./a\n".to_owned()), ("out.8", half.clone())];
        assert_eq!(sum(&[rest.as_slice(), &left].concat(), None), Err(Uncounted::Lost { processes: 1 }));
        let cut = [("log.7", ended(300)), ("out.7", half)];
        assert!(matches!(sum(&cut, None), Err(Uncounted::Error { .. })));
    }

    #[test]
    fn a_call_that_began_in_an_earlier_part_costs_its_caller_nothing_in_what_is_kept() {
        let text =
            "fn=(1) main\n5 7\ncfn=(2) work\ncalls=0 41 \n-3 6000\n+1 2\ncalls=1 41\n+1 50\n\ntotals: 59\n";
        let folder = folder(&[("out.7", text.to_owned())]);
        let [from, to] = ["out.7", "kept"].map(|name| folder.path().join(name));
        keep(&from, &to).unwrap();
        assert_eq!(fs::read_to_string(to).unwrap(), text.replace("-3 6000", "-3 0"));
    }

    #[test]
    fn the_last_words_are_valgrinds_if_it_could_not_go_on_and_else_the_commands() {
        let words = |log: &str, stderr: &str| {
            last_words(folder(&[("log.7", log.to_owned()), ("stderr", stderr.to_owned())]).path())
        };
        assert_eq!(words(&ended(1), "first\nno such row\n"), "first ⏎ no such row");
        assert_eq!(words("", "valgrind: ./a: Permission denied\n"), "valgrind: ./a: Permission denied");
        let illegal = "vex amd64->IR: unhandled instruction bytes: 0x62 0xF1\n==7== \n\
                       ==7== Process terminating with default action of signal 4 (SIGILL)\n==7==  Illegal opcode\n";
        assert_eq!(
            words(illegal, "x\n"),
            "vex amd64->IR: unhandled instruction bytes: 0x62 0xF1 ⏎ Process terminating with default action of signal 4 \
             (SIGILL)"
        );
    }
}
