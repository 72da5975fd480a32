//! All that kumite prints, in whole outputs that can be read: a file of `tests/said` for each file of tests. What is no more
//! than a word of a message is asserted nowhere else, so a message is reworded where it stands, and then
//!
//!     RENEW=1 cargo test -p kumite --test cli
//!
//! writes what has become another, to be read as any other change. (With the snapshots of kumite-report: CONTRIBUTING.md.)

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::sync::{LazyLock, Mutex, PoisonError};

use regex::Regex;

use crate::place::Said;

/// Asserts that a text is what its test's file has. It stands in the test itself, for that names the place in the file.
macro_rules! printed {
    ($text:expr) => {{
        fn here() {}
        crate::printed::assert(std::any::type_name_of_val(&here), &$text);
    }};
}
pub(crate) use printed;

impl Said {
    /// Its standard error, but for the live lines of trials, and what is said of a busy machine and of
    /// what others left on it. Lines of several
    /// nodes come in any order, and so node by node here.
    pub fn notes(&self) -> String {
        let notes = steady(&self.err);
        let mut lines: Vec<&str> = notes.lines().filter(|line| !LIVE.is_match(line)).collect();
        lines.sort_by_key(|line| NODE.find(line).map(|node| node.as_str()));
        self.session(&lines.iter().fold(String::new(), |text, line| text + line + "\n"))
    }

    /// The same without figures, where they are measured.
    pub fn timeless(&self) -> String {
        without_figures(&self.notes())
    }

    /// Its standard output, where no figure is measured.
    pub fn report(&self) -> String {
        self.session(&steady(&self.out))
    }

    /// The same without figures, where trials are real, and without the lines that are nothing but figures.
    pub fn words(&self) -> String {
        let text = without_figures(&self.out);
        let lines = text.lines().filter(|line| !MEASURED.is_match(line));
        self.session(&lines.fold(String::new(), |text, line| text + line + "\n"))
    }

    /// Of a comparison of real commands the sentence on top and what is said below its tables: how clear it was, the machine
    /// decides.
    pub fn outcome(&self) -> String {
        let text = without_figures(&self.out);
        let (top, below) = text.split_once("\n\n").unwrap_or((&text, ""));
        let (warnings, top): (Vec<&str>, Vec<&str>) = top.lines().partition(|line| line.starts_with("! "));
        let top = top.join(" ");
        let top =
            if top.contains("undecided after") { top.split(':').next().unwrap_or_default() } else { &top };
        let below = below.lines().filter(|line| OUTCOME.is_match(line));
        let lines: Vec<&str> = warnings.into_iter().chain([top]).chain(below).collect();
        self.session(&(lines.join("\n") + "\n"))
    }

    fn session(&self, text: &str) -> String {
        let mut session = String::new();
        if let Some(line) = &self.line {
            let _ = writeln!(session, "$ kumite {}", steady(line));
        }
        session += text;
        if self.code != 0 {
            let _ = writeln!(session, "[{}]", self.code);
        }
        session
    }
}

/// Without figures, and without what follows from their lengths.
pub fn without_figures(text: &str) -> String {
    let text = replaced(&steady(text), &FIGURES);
    text.lines().fold(String::new(), |text, line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let indent = line.len() - line.trim_start().len();
        text + &" ".repeat(indent) + &words.join(" ") + "\n"
    })
}

/// Without what names a place, a day, a process, a port or a version.
pub fn steady(text: &str) -> String {
    replaced(text, &NAMES)
}

type Patterns = LazyLock<Vec<(Regex, &'static str)>>;

static NAMES: Patterns = LazyLock::new(|| {
    patterns(&[
        (r#"[^\s'"`=:(]*/examples/(fake_\w+)(-[0-9a-f]{16})?"#, "$1"),
        (r#"[^\s'"`=:(]*/tests/smoke/"#, "SMOKE/"),
        (r#"(/[^\s'"`=:(/]+)*/\.tmp[A-Za-z0-9]{6}"#, "PLACE"),
        (r"\.tmp[A-Za-z0-9]{6}", "PLACE"),
        (r"\b20\d{6}-\d{6}-[0-9a-f]{4}\b", "RUN"),
        (r"\b[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "UUID"),
        (r"\b20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?( ?UTC|Z)?", "DATE"),
        (r"((?:127\.0\.0\.\d+|0\.0\.0\.0|\[::1\]|localhost):)\d{4,5}\b", "${1}PORT"),
        (r"(\bprocess(?:es)? |\bpid )\d+", "${1}PID"),
        (r"(connected in |will take about |do for about )[\d.]+ (ms|s|min|h)", "${1}TIME"),
        (r"\b[0-9a-f]{20,}\b", "HASH"),
        (r"-[0-9a-f]{8}(\.build\.log)", "-HASH$1"),
        (r"\bcommit [0-9a-f]{12}\b", "commit HASH"),
        (r"-[0-9a-f]{16}\b", "-HASH"),
        (r"\(\d+ (body|refused|status)\b", "(N $1"),
        (r"held by process PID \([^)]*\)", "held by process PID (COMMAND)"),
        (r"\b\d+ was free", "PORT was free"),
        (r"(--port )\d{4,5}\b", "${1}PORT"),
        (r"has [\d.]+ GB: make room", "has SPACE: make room"),
        (r"(\(MEASURES\) has changed from )\d+ to \d+", "${1}N to N"),
        (r"(\(MEASURES\): )\d+, and \d+", "${1}N, and N"),
        (r"(\.kumite-init-)\w{6}", "${1}XXXXXX"),
        (r"up to \d+ trials will", "up to N trials will"),
        (r"(no CPU \d+ here, it has )[\d, -]+", "${1}CPUS"),
        (r"may use \d+ here", "may use CPUS here"),
        (r"(kumite-services-)\w{6}", "${1}XXXXXX"),
        (r"\b0\.1\.0(\+[0-9a-z.-]+)?", "VERSION"),
        (r"(--seed |seed: )\d+", "${1}SEED"),
        (r"(?m)^(\W*)(machine|system|cores|time)(\W*): .*(\n {4}.*)*$", "$1$2$3: THIS MACHINE"),
    ])
});

static FIGURES: Patterns = LazyLock::new(|| {
    patterns(&[
        (r"\d[\d,]*(\.\d+)?(e-?\d+)?", "N"),
        (r"\bN (ns|µs|ms|s|min)\b", "N s"),
        (r"\bN (B|KiB|MiB|GiB)\b", "N B"),
    ])
});

static LIVE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(\w+: )?\d+/\d+ |^\d+ s: |^\d+ blocks in |measured again|is not limited|ended process |removed /tmp/kumite-|^with(out)? real-time priority")
        .unwrap()
});
static NODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^h\d: ").unwrap());
static MEASURED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(≤ |void: |load engine: |reconnects: |throughput: |[nµm]?s$| *mean pN|pN N s|N s, |receive lag|lag pN|at most N|(response|first byte|service|ready after|fake on) )|a run, N s").unwrap()
});
static OUTCOME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"^(.*: (\S+, )?commit |it ended |both ran |h\.json: |gate: [os]|! (cut|budget|.* runs did))")
        .unwrap()
});

fn patterns(pairs: &[(&str, &'static str)]) -> Vec<(Regex, &'static str)> {
    pairs.iter().map(|(pattern, by)| (Regex::new(pattern).unwrap(), *by)).collect()
}

fn replaced(text: &str, by: &[(Regex, &'static str)]) -> String {
    by.iter().fold(text.to_owned(), |text, (pattern, by)| pattern.replace_all(&text, *by).into_owned())
}

/// The number of texts that each test has printed so far; and the lock of whoever reads or writes a file.
static COUNTS: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

const HEAD: &str = "════ ";

#[track_caller]
pub fn assert(here: &str, text: &str) {
    let (module, test) = named(here);
    let text = format!("{}\n", text.trim_end());
    let mut counts = COUNTS.lock().unwrap_or_else(PoisonError::into_inner);
    let nth = counts.entry(here_of(&module, &test)).and_modify(|nth| *nth += 1).or_insert(1);
    let file = folder().join(format!("{module}.txt"));
    let mut sections = sections(&std::fs::read_to_string(&file).unwrap_or_default());
    if std::env::var_os("RENEW").is_some() {
        if *nth == 1 {
            sections.retain(|(of, _), _| *of != test);
        }
        sections.insert((test, *nth), text);
        std::fs::write(file, written(&sections)).unwrap();
        return;
    }
    let found = sections.get(&(test.clone(), *nth)).cloned().unwrap_or_default();
    drop(counts);
    assert!(
        found == text,
        "{} has of {test}:\n{found}\nand it printed:\n{text}\nIf that is right: RENEW=1 cargo test -p kumite --test cli {test}",
        file.display()
    );
}

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/said"))
}

fn here_of(module: &str, test: &str) -> String {
    format!("{module}::{test}")
}

/// The file of tests, and the test.
fn named(here: &str) -> (String, String) {
    let parts: Vec<&str> = here.split("::").filter(|part| !part.starts_with('{')).collect();
    let [_, module @ .., test, _] = &parts[..] else { panic!("{here} is no test's") };
    (module.join("-"), (*test).to_owned())
}

/// The texts of each test, by their number.
type Sections = BTreeMap<(String, usize), String>;

fn sections(text: &str) -> Sections {
    let section = |section: &str| {
        let (head, text) = section.split_once("\n\n")?;
        let (test, nth) = head.split_once(' ').unwrap_or((head, "1"));
        Some(((test.to_owned(), nth.parse().ok()?), format!("{}\n", text.trim_end())))
    };
    text.split(HEAD).filter_map(section).collect()
}

fn written(sections: &Sections) -> String {
    let head = |test: &str, nth: usize| if nth == 1 { test.to_owned() } else { format!("{test} {nth}") };
    let all = sections.iter().map(|((test, nth), text)| format!("{HEAD}{}\n\n{text}", head(test, *nth)));
    all.collect::<Vec<_>>().join("\n")
}

#[test]
fn every_text_is_printed_by_a_test() {
    for file in std::fs::read_dir(folder()).unwrap() {
        let file = file.unwrap().path();
        let module = file.file_stem().unwrap().to_str().unwrap().replace('-', "/");
        let tests = format!("{}/tests/cli/{module}.rs", env!("CARGO_MANIFEST_DIR"));
        let tests =
            std::fs::read_to_string(&tests).unwrap_or_else(|_| panic!("{}: no {tests}", file.display()));
        for ((test, _), text) in sections(&std::fs::read_to_string(&file).unwrap()) {
            assert!(
                tests.contains(&format!("#[test]\nfn {test}()")),
                "{}: {test} is no test",
                file.display()
            );
            assert!(text.len() > 1, "{}: {test} prints nothing", file.display());
        }
    }
}
