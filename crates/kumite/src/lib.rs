//! The kumite command: flags, wiring, exit codes, with a file for each subcommand. It is a library, so that a test
//! program can be the same command in another [`World`]; the command itself has only this machine.

mod again;
mod build;
mod check;
mod closing;
mod compare;
mod contenders;
mod disk;
mod doctor;
mod documents;
mod duration;
mod ending;
mod exit;
mod export;
mod exported;
mod for_review;
mod function;
mod gate;
mod help;
mod init;
mod kept;
mod kit_test;
mod list;
mod load;
mod manifest;
mod measure;
mod merge;
mod near_ties;
mod nodes;
mod output;
mod planning;
mod play;
mod progress;
mod replicate;
mod report;
mod resume;
mod run;
mod schema;
mod seed;
mod selfcheck;
mod sittings;
mod stop;
mod store;
mod stub;
mod task;
mod wait;

use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use clap::error::{ContextKind, ContextValue};
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
pub use kumite_lab::{ThisMachine, World};
use kumite_record::near;

use crate::wait::Wait;

/// The version, with the commit that it was built from if that is known.
const VERSION: &str = env!("KUMITE_VERSION");

/// Settles performance arguments about concurrency: interleaved, paired, checked trials, and verdicts with intervals.
#[derive(Parser)]
#[command(name = "kumite", version = VERSION, propagate_version = true, after_help = exit::HELP)]
struct Cli {
    /// Say all to the agent that started this, in frames
    #[arg(long, hide = true, global = true)]
    in_frames: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run an experiment: build its contenders, measure them in interleaved blocks, judge its claims
    Run(Box<run::Args>),
    /// Try here what somebody else measured, and compare claim by claim
    Replicate(Box<replicate::Args>),
    /// Continue a run that ended early
    Resume(kept::KeptFlags),
    /// Measure a kept run once more, in another sitting, and judge all of its sittings together
    Again(kept::KeptFlags),
    /// Do on this node what a driver asks by standard input
    #[command(hide = true)]
    Agent,
    /// Merge shards into a run, or whole runs as its sittings, and judge its claims
    Merge(merge::Args),
    /// Print the Kubernetes objects that run an experiment in shards, and merge them
    Manifest(manifest::Args),
    /// Put an HTTP server under load, and report throughput, response times and failures
    Load(Box<load::Args>),
    /// Compare commands or HTTP servers in interleaved runs, until it is decided which is faster
    Compare(Box<compare::Args>),
    /// Build the contenders of an experiment, and show their versions
    Build(build::Args),
    /// Build and start every contender of an experiment, and check its answer; nothing is timed
    Check(check::Args),
    /// Give a contender one job, and show every message
    Task(task::Args),
    /// Test a kit of the task protocol by its conformance worker
    KitTest(kit_test::Args),
    /// Make a small experiment to start from, or add a contender to one
    Init(init::Args),
    /// List experiments, or the runs in the results store
    List(list::Args),
    /// Show the report of a run again, or write it to files
    Report(report::Args),
    /// Write a run as JSON or CSV, for other programs
    Export(export::Args),
    /// Show how well this machine can measure, and how to mend what limits it; nothing is changed
    Doctor(doctor::Args),
    /// Measure how far kumite can be trusted on this machine: false verdicts, smallest difference, clock, load engine
    Selfcheck(selfcheck::Args),
    /// Serve HTTP with known delays and failures: a backend for experiments, a check for load generators
    Stub(stub::Args),
    /// Mount a mirror of a folder on which each seek takes a set time: a slow disk for experiments
    Disk(disk::Args),
    /// Play a macro on a game controller, each state at its frame
    Play(play::Args),
    /// Host functions as AWS Lambda does: a Runtime API for them, an Invoke API for their callers
    Function(function::Args),
    /// Print the JSON Schema of a file or document, for editors and programs
    Schema(schema::Args),
}

/// The command line as clap knows it, for manual pages and completions.
pub fn command() -> clap::Command {
    Cli::command()
}

/// The command line that was typed, parsed. A wrong one ends the process, and so does `--help`. clap's guesses at the
/// word that was meant are often wrong: only a guess that is a typing error away is shown.
fn parsed() -> Cli {
    let matches = help::grouped(Cli::command()).try_get_matches_from(compare::as_meant(std::env::args_os()));
    let parsed = matches.and_then(|matches| Cli::from_arg_matches(&matches));
    parsed.unwrap_or_else(|mut error| {
        error.remove(ContextKind::Suggested);
        for (guess, typed) in [
            (ContextKind::SuggestedArg, ContextKind::InvalidArg),
            (ContextKind::SuggestedSubcommand, ContextKind::InvalidSubcommand),
        ] {
            let typed = error.get(typed).map(words).unwrap_or_default().concat();
            let mut guesses = error.get(guess).map(words).unwrap_or_default();
            if guess == ContextKind::SuggestedSubcommand {
                guesses.extend(subcommands(&Cli::command()));
            }
            let near = near(&typed, guesses.iter().map(String::as_str)).map(str::to_owned);
            error.remove(guess);
            near.map(|near| error.insert(guess, ContextValue::String(near)));
        }
        let acts = |argument: std::ffi::OsString| argument.to_string_lossy().contains(char::is_control);
        if error.use_stderr() && std::env::args_os().any(acts) {
            output::note(error.render().to_string().trim_end());
            std::process::exit(error.exit_code());
        }
        error.exit()
    })
}

/// The names of all visible subcommands, at any depth.
fn subcommands(of: &clap::Command) -> Vec<String> {
    let shown = of.get_subcommands().filter(|command| !command.is_hide_set());
    shown.flat_map(|command| [vec![command.get_name().to_owned()], subcommands(command)].concat()).collect()
}

fn words(value: &ContextValue) -> Vec<String> {
    match value {
        ContextValue::String(word) => vec![word.clone()],
        ContextValue::Strings(words) => words.clone(),
        _ => Vec::new(),
    }
}

/// Does what the command line of this process says, in this world. Returns the exit code. A wrong command line, or one
/// that asks for help, ends the process itself.
pub fn main(world: &dyn World) -> ExitCode {
    // These come before anything takes memory: a command begins with the peak memory of the process that starts it.
    if std::env::args_os().nth(1).is_some_and(|first| first == kumite_compare::HELPER) {
        return kumite_compare::runner_main();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == kumite_probe::PROBER) {
        return kumite_probe::probe_main();
    }
    if std::env::args_os().nth(1).is_some_and(|first| first == selfcheck::WORKER) {
        return selfcheck::work();
    }
    stop::survive_full_files();
    let cli = parsed();
    if cli.in_frames {
        output::in_frames();
    }
    let done = match cli.command {
        Command::Run(args) => run::run(&args, world),
        Command::Replicate(args) => replicate::run(&args, world),
        Command::Again(args) => again::run(&args, world),
        Command::Resume(args) => resume::run(&args, world),
        Command::Merge(args) => merge::run(&args),
        Command::Manifest(args) => manifest::run(&args),
        Command::Agent => {
            let begin =
                || measure::begin_measuring(Wait::default(), &AtomicBool::default()).map_err(Into::into);
            kumite_nodes::agent(VERSION, &begin).map_err(Into::into)
        }
        Command::Load(args) => load::run(&args),
        Command::Compare(args) => compare::run(*args),
        Command::Build(args) => build::run(&args),
        Command::Check(args) => check::run(&args),
        Command::Task(args) => task::run(&args),
        Command::KitTest(args) => kit_test::run(&args),
        Command::Init(args) => init::run(&args),
        Command::List(args) => list::run(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Selfcheck(args) => selfcheck::run(&args),
        Command::Stub(args) => stub::run(&args),
        Command::Disk(args) => disk::run(&args),
        Command::Play(args) => play::run(&args),
        Command::Function(args) => function::run(&args),
        Command::Schema(args) => schema::run(&args),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            if !matches!(failure, exit::Failure::Shut) {
                output::error(&failure);
            }
            failure.code()
        }
    }
}
