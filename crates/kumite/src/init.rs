//! `kumite init`: an experiment that runs, to be made one's own; or one more contender of the experiment one is in.

mod templates;

use std::io::{IsTerminal, Write};
use std::path::{Path, PathBuf};

use clap::{Parser, ValueEnum};
use kumite_lab::{Experiment, SCHEMAS};

use crate::exit::Failure;
use crate::output;
use templates::{Language, Template};

#[derive(Parser)]
pub struct Args {
    /// Folder to make; its name is the experiment's
    #[arg(required_unless_present = "contender")]
    name: Option<String>,
    /// Kind of contenders [default: asked for on a terminal, else command]
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// Add a contender in this language to the experiment that this folder is in
    #[arg(long, value_enum, value_name = "LANGUAGE", conflicts_with_all = ["name", "kind"])]
    contender: Option<Language>,
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

/// The text of `.gitignore`: results are kept in this folder.
const IGNORED: &str = ".kumite/\n";

pub fn run(args: &Args) -> Result<(), Failure> {
    match (args.contender, &args.name) {
        (Some(language), _) => add_contender(language),
        (None, Some(name)) => make_experiment(name, args.kind),
        (None, None) => Err(Failure::Usage("name the experiment: kumite init NAME".to_owned())),
    }
}

fn make_experiment(given: &str, kind: Option<Kind>) -> Result<(), Failure> {
    let folder = Path::new(given);
    let name =
        folder.file_name().and_then(|name| name.to_str()).filter(|name| is_name(name)).ok_or_else(|| {
            Failure::Usage(format!(
                "'{given}' is not a name: use letters, digits, - and _, and begin with a letter"
            ))
        })?;
    if folder.exists() {
        return Err(Failure::Usage(format!("{} exists already: choose another name", folder.display())));
    }
    let kind = match kind {
        Some(kind) => kind,
        None if std::io::stdin().is_terminal() => asked()?,
        None => Kind::Command,
    };
    let mut files = templates::experiment(word(kind).get_name(), name);
    if kind == Kind::Task {
        let kit = templates::kit(Language::Python).into_iter();
        files.extend(kit.map(|it| Template { file: format!("kits/python/{}", it.file), ..it }));
    }
    for schema in SCHEMAS.iter().filter(|of| ["experiment", "contender"].contains(&of.name)) {
        let text = output::json(&(schema.schema)())?;
        files.push(Template { file: format!("schema/{}.json", schema.name), text });
    }
    files.push(Template { file: ".gitignore".to_owned(), text: IGNORED.to_owned() });
    write(folder, &files)?;
    let given = folder.display();
    output::print(&format!(
        "made {given}: experiment.toml, and two contenders that run\n\n  \
         kumite check {given}     do they build, start and answer right?\n  \
         kumite run {given}       measure until its claim is decided\n  \
         $EDITOR {given}/experiment.toml\n"
    ))
}

fn add_contender(language: Language) -> Result<(), Failure> {
    let here = std::env::current_dir().unwrap_or_default();
    let experiment = here.ancestors().find(|folder| folder.join("experiment.toml").is_file());
    let experiment = experiment.ok_or_else(|| {
        Failure::Usage(
            "there is no experiment.toml here or above: `kumite init NAME` makes an experiment".to_owned(),
        )
    })?;
    let kind = Experiment::load(&experiment.to_string_lossy(), "standard")?.kind();
    let name = language.name();
    let files = templates::contender(language, kind.as_str()).ok_or_else(|| {
        Failure::Usage(format!(
            "a contender of kind {kind} is no program: docs/kinds/{kind}.md has what it is"
        ))
    })?;
    let at = |folder: &str| {
        let folder = experiment.join(folder).join(name);
        folder.strip_prefix(&here).map_or(folder.clone(), Path::to_owned)
    };
    let (contender, kit) = (at("contenders"), at("kits"));
    if contender.exists() {
        let folder = contender.display();
        return Err(Failure::Usage(format!("{folder} exists already: rename it, and its variant, first")));
    }
    if kind == "task" && !kit.exists() {
        std::fs::create_dir_all(experiment.join("kits")).map_err(|error| cannot_make(&kit, &error))?;
        write(&kit, &templates::kit(language))?;
    }
    write(&contender, &files)?;
    let (folder, main) = (contender.display(), language.main(kind.as_str()));
    output::print(&format!(
        "made {folder}: it builds and runs, and its answer is still to be written\n\n  \
         $EDITOR {folder}/{main}\n  \
         kumite check {}     do all contenders answer right?\n",
        match experiment.strip_prefix(&here) {
            Ok(below) if below == Path::new("") => PathBuf::from("."),
            _ => experiment.to_owned(),
        }
        .display()
    ))
}

/// Writes all files of a folder, or none.
fn write(folder: &Path, files: &[Template]) -> Result<(), Failure> {
    let written = || {
        let parent = folder.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let new = tempfile::Builder::new().prefix(".kumite-init-").tempdir_in(parent)?;
        let made = new.path().join("made");
        for Template { file, text } in files {
            let file = made.join(file);
            std::fs::create_dir_all(file.parent().unwrap_or(&made))?;
            std::fs::write(file, text)?;
        }
        std::fs::rename(made, folder)
    };
    written().map_err(|error| cannot_make(folder, &error))
}

fn cannot_make(folder: &Path, error: &std::io::Error) -> Failure {
    Failure::Incomplete(format!("cannot make {}: {error}", folder.display()))
}

/// The word for a kind on the command line, with its help.
fn word(kind: Kind) -> clap::builder::PossibleValue {
    kind.to_possible_value().expect("none of them is hidden")
}

fn asked() -> Result<Kind, Failure> {
    let words = |error: std::io::Error| Failure::Incomplete(error.to_string());
    for value in Kind::value_variants().iter().copied().map(word) {
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
