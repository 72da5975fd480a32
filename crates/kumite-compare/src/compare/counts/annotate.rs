//! Callgrind's files by function, as `callgrind_annotate` tells them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{STDOUT_LIMIT, Spawn, last_lines, run};

/// The time that one file may take.
const LIMIT: Duration = Duration::from_secs(60);
/// The name under which functions without a name are counted together.
const NAMELESS: &str = "functions without a name";

/// The reason why the functions of a command are not known.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unknown {
    /// `callgrind_annotate` is not on PATH.
    #[error("callgrind_annotate, which comes with valgrind, is not on PATH")]
    NoTool,
    /// `callgrind_annotate` could not be run to its end.
    #[error(transparent)]
    Process(#[from] kumite_process::Error),
    /// `callgrind_annotate` ended with another status than 0.
    #[error("callgrind_annotate fails: {log}")]
    Failed { log: String },
    /// A path that is not UTF-8, or cannot be typed.
    #[error("{}: its path cannot be typed", .0.display())]
    Path(PathBuf),
}

/// The instructions of each function in all these files together, without those of the functions that it calls.
pub(super) fn functions<'a>(
    annotate: &Path,
    files: impl Iterator<Item = &'a PathBuf>,
    log: &Path,
    stop: &AtomicBool,
) -> Result<BTreeMap<String, u64>, Unknown> {
    let mut all = BTreeMap::new();
    for file in files {
        let text = |path: &'a Path| path.to_str().ok_or_else(|| Unknown::Path(path.to_owned()));
        let annotate = annotate.to_str().ok_or_else(|| Unknown::Path(annotate.to_owned()))?;
        // All functions, and no sources.
        let words = [annotate, "--threshold=100", "--auto=no", text(file)?];
        let command = shlex::try_join(words).map_err(|_| Unknown::Path(file.clone()))?;
        let spawn = Spawn {
            command: &command,
            dir: Path::new("."),
            env: &[],
            keeps: None,
            cores: &[],
            log,
            group: None,
        };
        let finished = run(&spawn, LIMIT, stop)?;
        if !finished.status.success() {
            return Err(Unknown::Failed { log: last_lines(log) });
        }
        let said = String::from_utf8_lossy(&finished.stdout);
        // The line that was cut off is of a function of next to no instructions.
        let is_cut = finished.stdout.len() >= STDOUT_LIMIT;
        let whole = if is_cut { said.rsplit_once('\n').map_or("", |(whole, _)| whole) } else { &said };
        for (name, count) in whole.lines().filter_map(function) {
            *all.entry(name).or_default() += count;
        }
    }
    Ok(all)
}

/// A function with its instructions, of a line such as `2,000,017 (94.20%)  loop.c:main [/tmp/loop]`; `None` of any
/// other line.
fn function(line: &str) -> Option<(String, u64)> {
    let (count, rest) = line.trim_start().split_once(' ')?;
    let count: u64 = count.replace(',', "").parse().ok()?;
    let rest = match rest.trim_start().strip_prefix('(') {
        Some(share) => share.split_once(')').filter(|(share, _)| share.ends_with('%'))?.1,
        None => rest,
    };
    // A file has no colon as a rule; names of functions have.
    let (_, name) = rest.trim().split_once(':')?;
    Some((plain(name), count))
}

/// A function's name as it is in all builds of a program: without the program's path, the hash that rustc puts behind
/// it, and the depth of a recursion. A function without a symbol has only an address, which is another in each build:
/// it becomes one of [`NAMELESS`].
fn plain(name: &str) -> String {
    let name = match name.rsplit_once(" [") {
        Some((name, object)) if object.ends_with(']') => name,
        _ => name,
    };
    let name = match name.rsplit_once('\'') {
        Some((name, depth)) if depth.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => name,
    };
    let name = match name.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|digit| digit.is_ascii_hexdigit()) => name,
        _ => name,
    };
    if name.starts_with("0x") || name == "???" { NAMELESS.to_owned() } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_functions_are_read_and_others_are_not() {
        let of = |line: &str| function(line).map(|(name, count)| format!("{count} {name}"));
        for (line, read) in [
            ("2,000,017 (94.20%)  ???:main [/tmp/counts/loop]", Some("2000017 main")),
            (
                "   21,039 ( 0.99%)  ./elf/./elf/dl-lookup.c:do_lookup_x [/usr/lib/ld.so.2]",
                Some("21039 do_lookup_x"),
            ),
            ("        7  src/a.rs:app::run::h0123456789abcdef [/x y/app]", Some("7 app::run")),
            ("  512 (0.1%)  a.cc:std::vector<int>::at(int)'2", Some("512 std::vector<int>::at(int)")),
            ("  99 (0.1%)  ???:0x0000000000001050 [/bin/ls]", Some("99 functions without a name")),
            (
                "  99 (0.1%)  ???:operator new[](unsigned long) [/lib/c.so]",
                Some("99 operator new[](unsigned long)"),
            ),
            ("2,123,096 (100.0%)  PROGRAM TOTALS", None),
            ("Profile data file 'o.819' (creator: callgrind-3.19.0)", None),
            ("Timerange: Basic block 0 - 1028220", None),
            ("Ir                  file:function", None),
            ("", None),
        ] {
            assert_eq!(of(line).as_deref(), read, "{line}");
        }
    }
}
