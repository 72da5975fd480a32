//! `kumite init`: an experiment that runs, to be made one's own.

use std::io::{IsTerminal, Write};
use std::path::Path;

use clap::{Parser, ValueEnum};
use kumite_lab::SCHEMAS;

use crate::exit::Failure;
use crate::output;

#[derive(Parser)]
pub struct Args {
    /// The folder to make, which is the experiment's name
    name: String,
    /// What its contenders are; asked for on a terminal, `command` elsewhere
    #[arg(long, value_enum)]
    kind: Option<Kind>,
}

#[derive(Clone, Copy, Debug, PartialEq, ValueEnum)]
enum Kind {
    /// Commands, timed from their start to their end
    Command,
    /// Servers under load
    Http,
    /// Workers that are given jobs
    Task,
    /// Functions as on AWS Lambda
    Function,
}

/// A file of an experiment, below its folder, and its text.
type File = (&'static str, &'static str);

const COMMAND: [File; 5] = [
    ("experiment.toml", include_str!("init/command/experiment.toml")),
    ("contenders/awk/contender.toml", include_str!("init/command/awk.toml")),
    ("contenders/awk/sum.awk", include_str!("init/command/sum.awk")),
    ("contenders/shell/contender.toml", include_str!("init/command/shell.toml")),
    ("contenders/shell/sum.sh", include_str!("init/command/sum.sh")),
];
const HTTP: [File; 5] = [
    ("experiment.toml", include_str!("init/http/experiment.toml")),
    ("contenders/threads/contender.toml", include_str!("init/http/threads.toml")),
    ("contenders/threads/server.py", include_str!("init/http/threads.py")),
    ("contenders/event-loop/contender.toml", include_str!("init/http/event-loop.toml")),
    ("contenders/event-loop/server.py", include_str!("init/http/event_loop.py")),
];
const TASK: [File; 7] = [
    ("experiment.toml", include_str!("init/task/experiment.toml")),
    ("contenders/sequential/contender.toml", include_str!("init/task/sequential.toml")),
    ("contenders/sequential/worker.py", include_str!("init/task/sequential.py")),
    ("contenders/together/contender.toml", include_str!("init/task/together.toml")),
    ("contenders/together/worker.py", include_str!("init/task/together.py")),
    ("kit/kumite_kit.py", include_str!("../../../kits/python/kumite_kit.py")),
    ("kit/README.md", include_str!("../../../kits/python/README.md")),
];
const FUNCTION: [File; 5] = [
    ("experiment.toml", include_str!("init/function/experiment.toml")),
    ("contenders/in-the-call/contender.toml", include_str!("init/function/function.toml")),
    ("contenders/in-the-call/function.py", include_str!("init/function/in_the_call.py")),
    ("contenders/before-the-call/contender.toml", include_str!("init/function/function.toml")),
    ("contenders/before-the-call/function.py", include_str!("init/function/before_the_call.py")),
];
const README: &str = include_str!("init/README.md");
/// Where what is measured is kept.
const IGNORED: &str = ".kumite/\n";

pub fn run(args: &Args) -> Result<(), Failure> {
    let folder = Path::new(&args.name);
    let name =
        folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
            Failure::Usage(format!(
                "'{}' is no name: use letters, digits, - and _, and begin with a letter",
                args.name
            ))
        })?;
    if folder.exists() {
        return Err(Failure::Usage(format!("{} is there already: choose another name", folder.display())));
    }
    let kind = match args.kind {
        Some(kind) => kind,
        None if std::io::stdin().is_terminal() => asked()?,
        None => Kind::Command,
    };
    let cannot =
        |error: std::io::Error| Failure::Incomplete(format!("cannot make {}: {error}", folder.display()));
    write(folder, name, kind).map_err(cannot)?;
    let given = folder.display();
    output::print(&format!(
        "made {given}: experiment.toml, and two contenders that run\n\n  \
         kumite check {given}     do they build, start and answer right?\n  \
         kumite run {given}       measure until its claim is decided\n  \
         $EDITOR {given}/experiment.toml\n"
    ))
}

/// All of it, or nothing.
fn write(folder: &Path, name: &str, kind: Kind) -> std::io::Result<()> {
    let parent = folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
    let new = tempfile::Builder::new().prefix(".kumite-init-").tempdir_in(parent)?;
    let put = |file: &str, text: &str| {
        let file = new.path().join(file);
        std::fs::create_dir_all(file.parent().unwrap_or(parent))?;
        std::fs::write(file, text)
    };
    for (file, text) in files(kind) {
        // Two functions share a file of which only the name differs.
        let of = file.split('/').nth(1).unwrap_or_default();
        put(
            file,
            &if kind == Kind::Function {
                text.replace("\"NAME\"", &format!("\"{of}\""))
            } else {
                text.to_string()
            },
        )?;
    }
    for schema in SCHEMAS.iter().filter(|of| ["experiment", "contender"].contains(&of.name)) {
        let text = serde_json::to_string_pretty(&(schema.schema)())?;
        put(&format!("schema/{}.json", schema.name), &(text + "\n"))?;
    }
    put("README.md", &README.replace("NAME", name))?;
    put(".gitignore", IGNORED)?;
    // A temporary folder is its owner's alone; this one is like any other that is made.
    let mode = std::fs::metadata(new.path().join("schema"))?.permissions();
    std::fs::set_permissions(new.path(), mode)?;
    std::fs::rename(new.keep(), folder)
}

fn files(kind: Kind) -> &'static [File] {
    match kind {
        Kind::Command => &COMMAND,
        Kind::Http => &HTTP,
        Kind::Task => &TASK,
        Kind::Function => &FUNCTION,
    }
}

fn asked() -> Result<Kind, Failure> {
    let words = |error: std::io::Error| Failure::Incomplete(error.to_string());
    let about = Kind::value_variants().iter().filter_map(Kind::to_possible_value);
    for value in about {
        let help = value.get_help().map(ToString::to_string).unwrap_or_default();
        output::note(&format!("  {:9} {help}", value.get_name()));
    }
    loop {
        eprint!("kind [command]: ");
        std::io::stderr().flush().map_err(words)?;
        let mut line = String::new();
        if std::io::stdin().read_line(&mut line).map_err(words)? == 0 || line.trim().is_empty() {
            return Ok(Kind::Command);
        }
        match Kind::from_str(line.trim(), true) {
            Ok(kind) => return Ok(kind),
            Err(_) => output::note("command, http, task or function"),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}
