//! Every command of the README, of the FAQ and of the tutorial is one that works.

use std::fmt::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::place::{Place, Said};
use crate::stub::Stub;

/// The commands of a document's blocks, without what a `#` after them says.
fn commands(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut found = Vec::new();
    for line in text.lines() {
        let command = if line.starts_with("```") {
            in_block = !in_block;
            None
        } else if in_block {
            line.strip_prefix("$ ")
        } else {
            line.strip_prefix("    ").filter(|line| line.starts_with(|c: char| c.is_ascii_lowercase()))
        };
        found.extend(command.map(|line| line.split("   #").next().unwrap_or_default().trim().to_owned()));
    }
    found
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README's commands work: one that takes long is made short or only planned, and one that needs the network or another
/// program is read and not begun.
#[test]
fn the_commands_of_the_readme_work() {
    let place = Place::new("", &[]);
    let stub = Stub::start(&place, &[]);
    let address = stub.url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    place.write("functions.toml", "");
    std::fs::copy(root().join("Cargo.lock"), place.path("Cargo.lock")).unwrap();
    let commands = commands(&std::fs::read_to_string(root().join("README.md")).unwrap());
    assert!(commands.len() > 12, "{commands:?}");
    for line in commands {
        // These tests are that command.
        if line == "cargo test --workspace" {
            continue;
        }
        let ours = line.replace("cargo run --release --", "kumite").replace("127.0.0.1:3000", &address);
        let ours = ours.replace(" URL ", &format!(" {} ", stub.url));
        let mut words = shlex::split(&ours).unwrap();
        assert_eq!(words.remove(0), "kumite", "{line}");
        if let Some(at) = words.iter().position(|word| word == "-z") {
            words.drain(at..at + 2);
        }
        let more: &[&str] = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["run", "compress" | "chatbot", ..] => &["--dry-run"],
            ["run", "mine", ..] => &["--blocks", "1"],
            ["check" | "init", "mine", ..] => &[],
            // There is no repository with two revisions to build.
            ["compare", "--rev", ..] => &["--help"],
            ["compare", ..] => &["--max-runs", "2"],
            ["load", .., "--find-rate", "--slo", _] => &["-z", "20ms", "--budget", "100ms"],
            ["load", .., "--repeat", _, "--gate"] => &["-z", "600ms"],
            ["load", .., "--from-har", _] => &["--help"],
            ["load", ..] => &["-z", "50ms"],
            ["function", "serve", _] | ["play", _] => &["--help"],
            _ => panic!("README.md: nobody has thought of `{line}`"),
        };
        let ended = run(&place, &words, more);
        // A request that the stub does not answer, a machine that is too busy, and a file that is not there.
        let why: &[&str] = match (ended.code, words.iter().map(String::as_str).collect::<Vec<_>>().as_slice())
        {
            (0, _) => continue,
            (1, ["load", .., "--find-rate", "--slo", _]) => &["no rate was found that meets "],
            (3, ["load", .., "--find-rate", "--slo", _]) => {
                &["the budget was spent: give more with --budget", "the load engine was the limit"]
            }
            (1 | 3, ["load", .., "--repeat", _, "--gate"]) => &["load 1 of at most 6: "],
            (code, _) => panic!("`{line}` ended with {code}:\n{}", ended.err),
        };
        let is_said = why.iter().any(|why| ended.err.contains(why));
        assert!(is_said, "`{line}` ended with {}:\n{}", ended.code, ended.err);
    }
}

/// The FAQ's commands work in its order, in a folder where a run was cut short; what takes long is made short.
#[test]
fn the_commands_of_the_faq_work() {
    let place = Place::new("", &[]);
    std::fs::copy(root().join("Cargo.lock"), place.path("Cargo.lock")).unwrap();
    for side in ["before", "after"] {
        place.write(side, "exit 0\n");
        std::fs::set_permissions(place.path(side), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(place.kumite(&["init", "mine"]).code, 0);
    assert_eq!(place.kumite(&["run", "mine", "--budget", "100ms"]).code, 0);
    let commands = commands(&std::fs::read_to_string(root().join("docs/faq.md")).unwrap());
    assert!(commands.len() >= 10, "{commands:?}");
    for line in commands {
        let mut words = shlex::split(&line).unwrap();
        assert_eq!(words.remove(0), "kumite", "{line}");
        let (more, statuses): (&[&str], &[i32]) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..]
        {
            ["compare", .., "--gate"] => (&["--max-runs", "8"], &[0, 1]),
            ["compare", ..] => (&["--max-runs", "2"], &[0]),
            ["run", "mine", "--blocks" | "--sittings" | "--wait", _] => (&["--dry-run"], &[0]),
            ["resume" | "again"] => (&["--budget", "100ms"], &[0]),
            ["selfcheck"] | ["check", "."] | ["replicate", _] | ["report", _, "last"] => (&["--help"], &[0]),
            ["run", "mine", "--dry-run"] | ["report"] | ["doctor"] | ["init", "--contender", _] => {
                (&[], &[0])
            }
            _ => panic!("docs/faq.md: nobody has thought of `{line}`"),
        };
        let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
        let mut command = place.command(&words);
        if words[0] == "init" {
            command.current_dir(place.path("mine"));
        }
        let ended = Said::of(command.output().unwrap());
        assert!(statuses.contains(&ended.code), "`{line}` ended with {}:\n{}", ended.code, ended.err);
    }
}

/// Below the repository's own experiments, in a folder of ours.
fn run(place: &Place, words: &[String], more: &[&str]) -> Said {
    let words: Vec<&str> = words.iter().map(String::as_str).chain(more.iter().copied()).collect();
    let mut command = place.command(&words);
    Said::of(command.env("KUMITE_EXPERIMENTS", root().join("experiments")).output().unwrap())
}

/// A block of the tutorial: what is typed, and what was printed.
struct Block {
    /// Where its output begins and ends in the text.
    lines: std::ops::Range<usize>,
    command: String,
    /// True if its output has figures of a measurement, and is another one each time.
    measured: bool,
}

/// Blocks begin with ```` ```console ````, or ```` ```console measured ````.
fn blocks(text: &str) -> Vec<Block> {
    let lines: Vec<&str> = text.lines().collect();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let Some(start) = lines[at..].iter().position(|line| line.starts_with("```console")) {
        let start = at + start;
        let end = start + lines[start..].iter().position(|line| *line == "```").expect("a block ends");
        let starts: Vec<usize> = (start + 1..end).filter(|&line| lines[line].starts_with("$ ")).collect();
        for (nth, &line) in starts.iter().enumerate() {
            let ends = starts.get(nth + 1).copied().unwrap_or(end);
            // Text that is written into a file goes up to END.
            let typed = (line..ends).find(|&line| lines[line] == "END").unwrap_or(line) + 1;
            blocks.push(Block {
                lines: typed..ends,
                command: lines[line..typed].join("\n")[2..].to_owned(),
                measured: lines[start].ends_with("measured"),
            });
        }
        at = end;
    }
    blocks
}

/// Makes everything that the tutorial says, in its order. With `KUMITE_PASTE` set it writes down what was printed; else that
/// must be what the tutorial has, but for what was measured.
#[test]
fn the_tutorial_is_what_happens() {
    let file = root().join("docs/tutorial.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let paste = std::env::var_os("KUMITE_PASTE").is_some();
    let place = Place::new("", &[]);
    std::fs::remove_dir_all(place.path("experiments")).unwrap();
    let bin = Path::new(env!("CARGO_BIN_EXE_kumite")).parent().unwrap().to_owned();
    let path = std::env::join_paths([bin, "/usr/bin".into(), "/bin".into()]).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut wrong = String::new();
    let blocks = blocks(&text);
    assert!(blocks.len() > 8);
    // From the last: what is pasted moves what comes after it.
    let printed: Vec<String> = blocks.iter().map(|block| typed(&place, &path, block, paste)).collect();
    for (block, printed) in blocks.iter().zip(printed).rev() {
        let has = lines[block.lines.clone()].join("\n");
        if paste {
            lines.splice(block.lines.clone(), printed.lines().map(str::to_owned));
        } else if !block.measured && has.trim_end() != printed.trim_end() {
            let _ = write!(wrong, "$ {}\nhas:\n{has}\nprints:\n{printed}\n", block.command);
        }
    }
    if paste {
        std::fs::write(&file, lines.join("\n") + "\n").unwrap();
    }
    assert!(wrong.is_empty(), "{wrong}KUMITE_PASTE=1 writes down what is printed");
}

/// The output of a command.
fn typed(place: &Place, path: &std::ffi::OsStr, block: &Block, paste: bool) -> String {
    let mut shell = Command::new("sh");
    // A measurement has to be understood, and takes as long as it has to only where it is pasted.
    let command = match block.measured && !paste {
        true => block.command.replace("kumite run mine", "kumite run mine --blocks 1"),
        false => block.command.clone(),
    };
    shell.args(["-c", &format!("exec 2>&1\n{command}")]).current_dir(place.path(".")).env("PATH", path);
    shell.env("KUMITE_LOCK", place.path("measuring.lock")).env_remove("KUMITE_EXPERIMENTS");
    shell.env("XDG_CACHE_HOME", place.path("cache")).env("XDG_DATA_HOME", place.path("data"));
    String::from_utf8(shell.output().unwrap().stdout).unwrap()
}
