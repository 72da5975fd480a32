//! The places where results go: the terminal, files, standard output.

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use flate2::Compression;
use flate2::write::GzEncoder;
use kumite_nodes::{IN_FRAMES, RELAYED, tell_note};
use kumite_record::{Export, without_secrets};
use kumite_report::Style;
use terminal_size::{Height, Width};

use crate::exit::Failure;

/// True if an agent started this process: then notes are frames on standard output, and nothing else is written
/// there.
static FRAMES: AtomicBool = AtomicBool::new(false);

/// Writes all further notes as frames on standard output, for the agent that started this process. Reports are no
/// longer written.
pub fn in_frames() {
    FRAMES.store(true, Ordering::Relaxed);
}

/// The style of standard output: in colour only on a terminal, and not if `NO_COLOR` is set and not empty; as wide as
/// the terminal, or 120 columns without one.
pub fn style() -> Style {
    style_of(std::io::stdout().is_terminal(), terminal_size::terminal_size())
}

/// The style of standard error: in colour only on a terminal, and not if `NO_COLOR` is set and not empty; as wide as
/// the terminal, or 120 columns without one.
pub fn style_of_stderr() -> Style {
    style_of(std::io::stderr().is_terminal(), terminal_size::terminal_size_of(std::io::stderr()))
}

fn style_of(is_terminal: bool, size: Option<(Width, Height)>) -> Style {
    let is_refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { color: is_terminal && !is_refused, width: size.map_or(120, |(width, _)| usize::from(width.0)) }
}

/// Writes a text to standard output, without control characters, because names, logs and reasons in it may come from
/// others. An error if standard output cannot be written.
pub fn print(text: &str) -> Result<(), Failure> {
    raw(&kumite_report::plain(text))
}

/// Writes a report to standard output, without control characters, except for its colours. An error if standard output
/// cannot be written.
pub fn report(text: &str) -> Result<(), Failure> {
    raw(&kumite_report::plain_but_colours(text))
}

/// Writes a document for programs to standard output, byte for byte; on a terminal, without control characters. An
/// error if standard output cannot be written.
pub fn document(text: &str) -> Result<(), Failure> {
    if std::io::stdout().is_terminal() { print(text) } else { raw(text) }
}

/// Writes to standard output; nothing if that is for frames. A reader that has had enough (`| head`) is no error.
fn raw(text: &str) -> Result<(), Failure> {
    if FRAMES.load(Ordering::Relaxed) {
        return Ok(());
    }
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::Incomplete(format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

/// Writes a file, or standard output for `-`. A file whose name ends in `.gz` is compressed. An error if it cannot be
/// written.
pub fn write(file: &Path, text: &str) -> Result<(), Failure> {
    if file == Path::new("-") {
        return document(text);
    }
    let written = match file.extension().is_some_and(|ending| ending == "gz") {
        true => gzip(text).and_then(|bytes| std::fs::write(file, bytes)),
        false => std::fs::write(file, text),
    };
    written.map_err(|error| Failure::Incomplete(format!("cannot write {}: {error}", file.display())))
}

fn gzip(text: &str) -> std::io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()
}

/// The flag for how much of a run's report the terminal gets.
#[derive(clap::Args)]
pub struct Length {
    /// Print the whole report at the end [default: verdicts, one table and doubts]
    #[arg(long)]
    verbose: bool,
}

impl Length {
    pub fn report(&self) -> Report {
        if self.verbose { kumite_report::terminal } else { kumite_report::summary }
    }
}

/// A function that makes a run's report for a terminal.
pub type Report = fn(&Export, &Style) -> String;

/// Prints the report, unless the JSON document goes to standard output, and writes the document if its file is named.
/// An error if either cannot be written.
pub fn report_or_json(
    json_file: &Option<PathBuf>,
    document: &impl serde::Serialize,
    make: impl Fn() -> String,
) -> Result<(), Failure> {
    if json_file.as_deref() != Some(Path::new("-")) {
        report(&make())?;
    }
    write_each([(json_file, &|| json(document))])
}

/// Makes the text of a document. It is called only if the document's file is named.
pub type Make<'a> = &'a dyn Fn() -> Result<String, Failure>;

/// Makes and writes each document whose file is named, in this order. Ends at the first one that cannot be made or
/// written, with its error.
pub fn write_each<const N: usize>(documents: [(&Option<PathBuf>, Make); N]) -> Result<(), Failure> {
    let named = documents.into_iter().filter_map(|(file, make)| Some((file.as_ref()?, make)));
    named.into_iter().try_for_each(|(file, make)| write(file, &make()?))
}

/// Refuses a file that is a folder, or whose folder does not exist, and one file (or standard output, `-`) for two
/// documents. Permissions are not looked at. A device or a pipe may be named several times.
pub fn check_files<'f>(files: impl Iterator<Item = &'f PathBuf>) -> Result<(), Failure> {
    let mut seen: Vec<PathBuf> = Vec::new();
    for file in files {
        if file != Path::new("-") {
            check_writable(file)?;
        }
        if file.exists() && !file.is_file() {
            continue;
        }
        // A file is the same by whatever name.
        let folder = file.parent().and_then(|folder| folder.join(".").canonicalize().ok());
        let whole =
            file.canonicalize().ok().or(folder.zip(file.file_name()).map(|(folder, name)| folder.join(name)));
        let whole = whole.unwrap_or(file.clone());
        if seen.contains(&whole) {
            let what = if file == Path::new("-") {
                "standard output".to_owned()
            } else {
                file.display().to_string()
            };
            return Err(Failure::Usage(format!(
                "two documents cannot both go to {what}: give each a file of its own"
            )));
        }
        seen.push(whole);
    }
    Ok(())
}

/// Refuses a file that is a folder, or whose folder does not exist. Permissions are not looked at.
pub fn check_writable(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    if folder.is_dir() && !file.is_dir() {
        return Ok(());
    }
    let what = if file.is_dir() { "it is a folder" } else { "there is no such folder" };
    Err(Failure::Usage(format!("cannot write {}: {what}", file.display())))
}

/// The command as it was typed, for a shell, without secrets.
pub fn command_line() -> String {
    shell_words(std::env::args().skip(1))
}

/// The command as it was typed, for a shell, without secrets. Flags for files and for GitHub are left out, because
/// whoever repeats the command has other files; so are flags that an agent has added.
pub fn command_line_without_files() -> String {
    shell_words(without_files(std::env::args().skip(1)))
}

fn without_files(arguments: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    const FILES: [&str; 13] = [
        "--json",
        "--html",
        "--markdown",
        "--svg",
        "--csv",
        "--export-json",
        "--export-csv",
        "--export-markdown",
        "--export-asciidoc",
        "--export-orgmode",
        "--junit",
        "--comment",
        "--db",
    ];
    let mut is_file = false;
    arguments.filter(move |argument| {
        let is_value = std::mem::take(&mut is_file);
        is_file = !is_value && FILES.contains(&argument.as_str());
        let is_of_agent = argument == IN_FRAMES || argument.starts_with(RELAYED) || argument == "--github";
        let is_both = argument.split_once('=').is_some_and(|(flag, _)| FILES.contains(&flag));
        !(is_value || is_file || is_both || is_of_agent)
    })
}

fn shell_words(arguments: impl Iterator<Item = String>) -> String {
    let arguments: Vec<String> = arguments.map(|argument| without_secrets(&argument)).collect();
    let words = ["kumite"].into_iter().chain(arguments.iter().map(String::as_str));
    shlex::try_join(words).expect("the system gives no argument with a NUL byte")
}

/// A value as indented JSON, with a line feed at its end. An error if the value has no form in JSON.
pub fn json(value: &impl serde::Serialize) -> Result<String, Failure> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Failure::Incomplete(error.to_string()))?;
    Ok(text + "\n")
}

/// Writes a note to standard error, for the user and not for programs; as frames if an agent started this process.
/// Control characters are left out, since words of others in the note must not act on a terminal.
pub fn note(text: &str) {
    say(&wrapped(text));
}

/// Writes a note as [`note`] does, but keeps its colours.
pub fn coloured_note(text: &str) {
    say(&folded(&kumite_report::plain_but_colours(text)));
}

fn say(text: &str) {
    // Whoever watched may have gone; that is no reason to stop.
    if FRAMES.load(Ordering::Relaxed) {
        tell_note(text);
    } else {
        let _ = writeln!(std::io::stderr(), "{text}");
    }
}

/// A text without control characters, broken into lines as wide as the terminal of standard error; not broken if
/// there is none.
pub fn wrapped(text: &str) -> String {
    folded(&kumite_report::plain(text))
}

/// A text broken into lines as wide as the terminal of standard error; not broken if there is none. Control
/// characters stay.
pub fn folded(text: &str) -> String {
    match std::io::stderr().is_terminal() {
        true => textwrap::fill(text, style_of_stderr().width.max(40)),
        false => text.to_owned(),
    }
}

/// Writes the failure of a command to standard error, as its last line.
pub fn error(failure: &Failure) {
    if style_of_stderr().color {
        let failure = kumite_report::plain(&failure.to_string());
        coloured_note(&format!("\x1b[31merror:\x1b[0m {failure}"));
    } else {
        note(&format!("error: {failure}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_a_run_are_no_part_of_its_command() {
        let kept =
            |line: &str| without_files(line.split(' ').map(str::to_owned)).collect::<Vec<_>>().join(" ");
        assert_eq!(
            kept("run x --json /a/b --budget 30m --html=/c --svg - --seed 7"),
            "run x --budget 30m --seed 7"
        );
        assert_eq!(kept("run --db --json x"), "run x");
        assert_eq!(kept("run x --gate=holds"), "run x --gate=holds");
        assert_eq!(kept("compare a b --junit=r.xml --github --comment c.md --csv -"), "compare a b");
        assert_eq!(kept("run x --shard=1/2 --relayed={} --in-frames --db y"), "run x --shard=1/2");
    }
}
