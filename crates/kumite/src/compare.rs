//! `kumite compare`: commands, or running servers, against each other.

mod baseline;
mod counts;
mod gate;
mod revisions;
mod servers;
mod shell_flag;

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;
use kumite_compare::{
    Allowed, Bench, CompareError, Counts, GATE_ALPHA, GATE_MARGIN, HELPER, Imported, Margin, Output,
    Parameter, Progressed, Rules, Setting, Shell, Stdin, Templates, Twice, compare, import,
};
use kumite_host::{Clock, CpuList, RealClock, cores, machine};
use kumite_record::{Comparison, ComparisonEnd, Named, Store, there_are, without_secrets};
use kumite_report::{NamedMetrics, Shown, TimeUnit, Units};

use crate::exit::Failure;
use crate::for_review::ForReview;
use crate::progress::Progress;
use crate::store::{Save, default_db, noise_floor};
use crate::wait::Wait;
use crate::{duration, output, seed, stop};

const ALPHA: f64 = 0.05;
const MARGIN: f64 = 0.0025;
const BUDGET: Duration = Duration::from_secs(60);
/// The time after which progress is shown: a shorter comparison needs none.
const SHOW_AFTER: Duration = Duration::from_secs(1);
const SHOW_EVERY: Duration = Duration::from_millis(250);

use baseline::{Keeping, Opened};
use gate::refuse_undecidable;
pub use shell_flag::as_meant;

#[derive(Parser)]
#[command(next_help_heading = "What is compared")]
pub struct Args {
    /// Commands, or URLs, of which the first is the reference; one command is timed alone
    #[arg(value_name = "COMMAND|URL")]
    commands: Vec<String>,
    /// Reference in place of the first: one of the commands, or its name, or another command, which is added
    #[arg(long, value_name = "COMMAND")]
    reference: Option<String>,
    /// Name of the command of --reference in reports
    #[arg(long, value_name = "NAME", requires = "reference")]
    reference_name: Option<String>,
    /// Name of a command in reports (once for each, in their order)
    #[arg(short = 'n', long = "command-name", value_name = "NAME")]
    names: Vec<String>,
    /// Run each command with each of these values in place of {VAR} (several: every combination)
    #[arg(short = 'L', long, value_names = ["VAR", "A,B,C"], num_args = 2, action = clap::ArgAction::Append, allow_hyphen_values = true)]
    parameter_list: Vec<String>,
    /// Run each command with every number of a range in place of {VAR} (several: every combination)
    #[arg(short = 'P', long, value_names = ["VAR", "FROM", "TO"], num_args = 3, allow_hyphen_values = true, conflicts_with = "parameter_list")]
    parameter_scan: Vec<String>,
    /// Step of --parameter-scan (once for all of them, or once for each) [default: 1]
    #[arg(short = 'D', long, value_name = "STEP", requires = "parameter_scan")]
    parameter_step_size: Vec<String>,
    /// File of hyperfine --export-json: compare its commands, and show its ratios beside ours
    #[arg(long, value_name = "FILE", conflicts_with_all = ["parameter_list", "parameter_scan", "revs", "build"])]
    import: Option<PathBuf>,

    #[command(flatten)]
    revisions: revisions::RevisionArgs,
    #[command(flatten)]
    baseline: baseline::BaselineArgs,
    #[command(flatten)]
    amount: Amount,
    #[command(flatten)]
    gate: gate::GateArgs,
    #[command(flatten)]
    around: Around,
    #[command(flatten)]
    counts: counts::CountArgs,
    #[command(flatten)]
    load: servers::LoadArgs,
    #[command(flatten)]
    documents: Documents,
    #[command(flatten)]
    wait: Wait,
    #[command(flatten)]
    save: Save,
}

#[derive(clap::Args)]
#[command(next_help_heading = "How much, and when it is enough")]
struct Amount {
    /// Runs of each command before counting begins
    #[arg(short, long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    warmup: u64,
    /// Fewest runs of each command before a verdict [default: the fewest with which there can be one]
    #[arg(short, long, value_name = "N", value_parser = count())]
    min_runs: Option<u64>,
    /// Most runs of each command [default: as many as the budget has room for]
    #[arg(short = 'M', long, value_name = "N", value_parser = count())]
    max_runs: Option<u64>,
    /// Exact number of runs of each command
    #[arg(short, long, value_name = "N", conflicts_with_all = ["min_runs", "max_runs"], value_parser = count())]
    runs: Option<u64>,
    /// Begin no block that would end after this time, and end what still runs then; --min-runs and --runs take
    /// precedence [default: 1m, which ends no running command, and waits until a verdict is possible]
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    budget: Option<Duration>,
    /// Longest time of a run: one that takes longer is stopped, and ends the comparison with what there is (with
    /// --ignore-failure it is left out); of servers, of an answer, which is then a failure [default: none; of servers 1s]
    #[arg(short, long, value_name = "TIME", value_parser = duration::parse)]
    timeout: Option<Duration>,
    /// Ratios this near to 1 are no difference [default: 0.25%; with --gate 1%]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    margin: Option<Margin>,
    /// Metrics of commands to judge and show, each with a verdict of its own: time_wall_clock, time_cpu, time_user,
    /// time_system, memory_peak_resident, and where the machine has them cpu_cycles, instructions, cache_references,
    /// cache_misses, branch_misses, page_faults (in user mode), with units for the table as in time_wall_clock:ms,memory_peak_resident:MiB; or default
    /// (time_wall_clock,memory_peak_resident), time (the times) or all. Less is better of each. They share the level and the
    /// runs: the comparison goes on until each is decided, and each can shut --gate [default: wall time decides, and CPU time
    /// and memory are judged beside it]
    #[arg(long, value_name = "METRIC[:UNIT],…")]
    metrics: Option<NamedMetrics>,
    /// Run the reference twice in each block, or the command of that name: how far it is from itself says what to trust.
    /// --gate does so with the reference anyway
    #[arg(long, value_name = "NAME", num_args = 0..=1, require_equals = true, conflicts_with = "duet")]
    control: Option<Option<String>>,
    /// Seed of the order: an earlier comparison's repeats it [default: a fresh one]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Run both commands at once, each on half of the CPUs: for machines whose noise hits all CPUs alike
    #[arg(long)]
    duet: bool,
    /// CPUs that commands are kept to, e.g. 1 or 0,2-3 [default: any]
    #[arg(long, value_name = "LIST")]
    cores: Option<CpuList>,
}

#[derive(clap::Args)]
#[command(next_help_heading = "How commands are run")]
struct Around {
    /// Command to run once for each command, before everything
    #[arg(short, long, value_name = "COMMAND")]
    setup: Option<String>,
    /// Command to run before each run (once for all commands, or once for each)
    #[arg(short, long, value_name = "COMMAND")]
    prepare: Vec<String>,
    /// Command to run after each run (once for all commands, or once for each)
    #[arg(short = 'C', long, value_name = "COMMAND")]
    conclude: Vec<String>,
    /// Command to run once for each command, after everything
    #[arg(short, long, value_name = "COMMAND")]
    cleanup: Option<String>,
    /// Shell that runs the commands, such as 'bash --norc'; default, or none; -S alone is default [default: sh, where one is needed]
    #[arg(short = 'S', long, value_name = "SHELL", value_parser = Shell::parse)]
    shell: Option<Shell>,
    /// Run commands without a shell, as --shell none does
    #[arg(short = 'N', conflicts_with = "shell")]
    no_shell: bool,
    /// Variables of commands and of what goes around them, split as by a shell: 'A=1 B="x y"' (once for all commands, or
    /// once for each)
    #[arg(long, value_name = "NAME=VALUE")]
    env: Vec<String>,
    /// Standard input of commands: null or a file [default: null]
    #[arg(long, value_name = "WHAT")]
    input: Option<String>,
    /// Standard output of commands: null, pipe, inherit or a file (once for all commands, or once for each) [default: null]
    #[arg(long, value_name = "WHERE")]
    output: Vec<String>,
    /// Show the output of commands, as --output inherit does
    #[arg(long, conflicts_with_all = ["output", "same_output"])]
    show_output: bool,
    /// Fail unless all runs write the same to standard output, which then goes to a file
    #[arg(long, conflicts_with = "output")]
    same_output: bool,
    /// Accept failing commands: any exit code, or only these (-i=1,2). Runs that fail all the same, were killed, or took
    /// longer than --timeout are left out, and the comparison goes on
    #[arg(short, long, value_name = "CODES", num_args = 0..=1, default_missing_value = "all-non-zero", require_equals = true, value_parser = Allowed::parse)]
    ignore_failure: Option<Allowed>,
}

/// The flags for the files that a comparison is written to, beside the terminal.
#[derive(clap::Args)]
#[command(next_help_heading = "Where it is written")]
struct Documents {
    /// Write everything as JSON (- for standard output, in place of the report)
    #[arg(long, visible_alias = "export-json", value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write a row for each command as CSV
    #[arg(long, visible_alias = "export-csv", value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the report as Markdown
    #[arg(long, visible_alias = "export-markdown", value_name = "FILE")]
    markdown: Option<PathBuf>,
    /// Write the table as AsciiDoc
    #[arg(long, value_name = "FILE")]
    export_asciidoc: Option<PathBuf>,
    /// Write the table as an Org table
    #[arg(long, value_name = "FILE")]
    export_orgmode: Option<PathBuf>,
    /// Write the report as one self-contained HTML file
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Order of the table's rows: as given, or by median time
    #[arg(long, value_name = "ORDER", value_enum, default_value = "command")]
    sort: Order,
    /// Unit of times [default: each its own]
    #[arg(short = 'u', long, value_name = "UNIT", value_enum)]
    time_unit: Option<Times>,
    #[command(flatten)]
    review: ForReview,
}

#[derive(Clone, Copy, PartialEq, clap::ValueEnum)]
enum Order {
    #[value(alias = "auto")]
    Command,
    #[value(name = "time", alias = "mean-time")]
    Time,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Times {
    #[value(alias = "us")]
    Microsecond,
    #[value(alias = "ms")]
    Millisecond,
    #[value(alias = "s")]
    Second,
}

impl Documents {
    fn files(&self) -> impl Iterator<Item = &PathBuf> {
        let files =
            [&self.json, &self.csv, &self.markdown, &self.export_asciidoc, &self.export_orgmode, &self.html];
        files.into_iter().flatten().chain(self.review.files())
    }

    fn check(&self) -> Result<(), Failure> {
        output::check_files(self.files())?;
        self.review.check(self.is_on_terminal())
    }

    /// False if a document goes to standard output, in place of the report.
    fn is_on_terminal(&self) -> bool {
        !self.files().any(|file| file == Path::new("-"))
    }

    /// Writes the forms for machines and reviewers. Annotations come before the report, whose last line may be the
    /// gate's.
    fn review(&self, comparison: &Comparison, shown: Shown) -> Result<(), Failure> {
        let review = || kumite_report::compare_review(comparison);
        self.review.annotate(&review, &|| kumite_report::compare_markdown(comparison, shown))?;
        self.review.write(&review)
    }

    /// Writes the forms for machines and reviewers of a comparison that could not begin.
    fn review_failure(&self, why: &str) -> Result<(), Failure> {
        let started = RealClock::default().timestamp();
        let (command, why) = (output::command_line_without_files(), without_secrets(why));
        let review = || kumite_report::compare_failure(&why, &command, crate::VERSION, started);
        self.review.annotate(&review, &String::new)?;
        self.review.write(&review)
    }

    fn write(&self, comparison: &Comparison, units: Units) -> Result<(), Failure> {
        let shown = Shown {
            by_time: self.sort == Order::Time,
            time_unit: self.time_unit.map(|unit| match unit {
                Times::Microsecond => TimeUnit::Microsecond,
                Times::Millisecond => TimeUnit::Millisecond,
                Times::Second => TimeUnit::Second,
            }),
            units,
        };
        self.review(comparison, shown)?;
        if self.is_on_terminal() {
            output::report(&kumite_report::compare_terminal(comparison, shown, &output::style()))?;
        }
        output::write_each([
            (&self.json, &|| output::json(comparison)),
            (&self.csv, &|| Ok(kumite_report::compare_csv(comparison))),
            (&self.markdown, &|| Ok(kumite_report::compare_markdown(comparison, shown))),
            (&self.export_asciidoc, &|| Ok(kumite_report::compare_asciidoc(comparison, shown))),
            (&self.export_orgmode, &|| Ok(kumite_report::compare_orgmode(comparison, shown))),
            (&self.html, &|| Ok(kumite_report::compare_html(comparison, shown))),
        ])
    }
}

fn count() -> clap::builder::RangedU64ValueParser {
    clap::value_parser!(u64).range(1..=1_000_000)
}

pub fn run(mut args: Args) -> Result<(), Failure> {
    args.documents.check()?;
    args.save.check()?;
    let opened = args.baseline.opened(args.counts.is_given())?;
    if let Some(opened) = &opened {
        opened.fill(&mut args);
    }
    let (args, mut keeping) = (&args, None);
    let (comparison, error) = match compared(args, opened.as_ref(), &mut keeping) {
        Err(Failure::Incomplete(why)) => {
            args.documents.review_failure(&why)?;
            return Err(Failure::Incomplete(why));
        }
        compared => compared?,
    };
    let comparison = fit_to_show(args, comparison);
    let has_runs = comparison.commands.iter().any(|command| !command.times.is_empty());
    let has_any = has_runs || comparison.pairs.iter().any(|pair| pair.blocks > 0);
    if has_any {
        // First, for a gate's line is to be the last.
        let kept = args.save.keep(|| Named::Comparison(Box::new(comparison.clone())));
        let units = args.amount.metrics.as_ref().map(|named| named.units);
        args.documents.write(&comparison, units.unwrap_or_default())?;
        kept?;
    } else {
        // There are no figures, and a test report says why.
        args.documents.review(&comparison, Shown::default())?;
    }
    match (error, kumite_report::cut_short(comparison.ended)) {
        (Some(error), _) => Err(failure(error)),
        (None, Some(why)) => Err(Failure::Incomplete(why.to_owned())),
        (None, None) if comparison.ended == ComparisonEnd::Budget && !has_any => {
            Err(Failure::Incomplete(format!(
                "--budget {:?} ended before every command had run once; what still ran was stopped",
                args.amount.budget.unwrap_or(BUDGET)
            )))
        }
        (None, None) => {
            keeping.map_or(Ok(()), |keeping| keeping.put(&comparison))?;
            args.gate.conclude(&comparison, args.documents.is_on_terminal())
        }
    }
}

/// Compares what the flags name: URLs, or commands. With `--save-baseline` the baseline is put into `keeping`, without its
/// place.
fn compared(
    args: &Args,
    baseline: Option<&Opened>,
    keeping: &mut Option<Keeping>,
) -> Result<(Comparison, Option<CompareError>), Failure> {
    if let (Some(min), Some(max)) = (args.amount.min_runs, args.amount.max_runs)
        && min > max
    {
        return Err(Failure::Usage(format!("--min-runs {min} is more than --max-runs {max}")));
    }
    match args.commands.iter().filter(|command| servers::is_url(command)).count() {
        0 => commands(args, baseline, keeping),
        n if n == args.commands.len() => servers::compared(args),
        _ => Err(Failure::Usage(
            "a URL can only be compared with a URL, and a command with a command".to_owned(),
        )),
    }
}

/// The comparison with what is known of it here, and without secrets.
fn fit_to_show(args: &Args, comparison: Comparison) -> Comparison {
    let store = Store::open_read_only(&default_db()).ok();
    let mut comparison = Comparison {
        command: seed::named(output::command_line_without_files(), args.amount.seed, comparison.seed),
        kumite: crate::VERSION.to_owned(),
        noise_floor: store.as_ref().and_then(noise_floor),
        ..comparison
    };
    remove_secrets(&mut comparison);
    comparison
}

/// Removes secrets from the texts that have commands, or are names of them.
fn remove_secrets(comparison: &mut Comparison) {
    let commands = comparison.commands.iter_mut().flat_map(|of| [&mut of.command, &mut of.name]);
    let pairs = comparison.pairs.iter_mut().flat_map(|pair| [&mut pair.a, &mut pair.b]);
    let control =
        comparison.control.iter_mut().flat_map(|control| [&mut control.contender, &mut control.twin]);
    let warnings = comparison.warnings.iter_mut().flat_map(|warning| [&mut warning.place, &mut warning.what]);
    let texts = commands.chain(pairs).chain(control).chain(warnings).chain(&mut comparison.failure);
    texts.for_each(|text| *text = without_secrets(text));
}

/// Compares commands. With `--save-baseline` the baseline is put into `keeping`, without its place.
fn commands(
    args: &Args,
    baseline: Option<&Opened>,
    keeping: &mut Option<Keeping>,
) -> Result<(Comparison, Option<CompareError>), Failure> {
    args.load.refuse()?;
    let (stop, clock) = (stop::flag()?, RealClock::default());
    let needs_base = baseline.is_none() && is_gate_of_one(args);
    let revisions = args.revisions.found(needs_base, baseline.and_then(Opened::revision), &stop)?;
    let names = revisions.as_ref().map_or(Vec::new(), |revisions| revisions.names());
    let (mut setting, reference) = setting(args, names, baseline)?;
    args.baseline.check(&setting.benches)?;
    if args.gate.is_set() && setting.benches.len() == 1 {
        return Err(Failure::Usage(
            "--gate compares, and there is one command: give two, or --rev".to_owned(),
        ));
    }
    if args.gate.is_on_counts() && setting.counts.is_none() {
        return Err(Failure::Usage(
            "--gate-on counts judges what --counts counts: give that, too".to_owned(),
        ));
    }
    let names = setting.benches.iter().map(|bench| bench.name.as_str());
    let control = control(args, &names.collect::<Vec<_>>(), reference)?;
    if let Some(twice) = control {
        // What is done once for each command is done.
        let second = Bench { setup: None, cleanup: None, ..setting.benches[twice.of].clone() };
        setting.benches.push(second);
    }
    let rules = rules(args, &clock, setting.benches.len(), reference, control);
    refuse_undecidable(args, &rules, setting.benches.len(), None)?;
    let _turn = args.wait.turn(&stop)?;
    let trees = revisions.as_ref().map(|revisions| revisions.place(&mut setting.benches, &setting.shell));
    let _trees = trees.transpose()?;
    if let Some(baseline) = baseline {
        baseline.note_same(&setting.benches);
    }
    *keeping = args.baseline.keeping(&setting, args.revisions.build_env())?;
    let compared = watched(|watch| compare(&setting, &rules, machine(cores()), &clock, &stop, watch));
    keeping.iter_mut().for_each(Keeping::look_again);
    compared.map_err(failure)
}

/// True if a gate has one command alone, and so no reference but where its revision comes from.
fn is_gate_of_one(args: &Args) -> bool {
    let is_parametric = !args.parameter_list.is_empty() || !args.parameter_scan.is_empty();
    args.gate.is_set() && args.commands.len() == 1 && args.reference.is_none() && !is_parametric
}

fn watched<T>(work: impl FnOnce(&mut dyn FnMut(Progressed)) -> T) -> T {
    let mut progress = Progress::new(0);
    let mut shown = Duration::ZERO;
    let done = work(&mut |at: Progressed| match at {
        Progressed::Blocks { blocks, elapsed, ratio } if elapsed >= SHOW_AFTER.max(shown + SHOW_EVERY) => {
            shown = elapsed;
            let interval = match (ratio.low, ratio.high) {
                (Some(low), Some(high)) => format!("; still undecided ({low:.3}–{high:.3}×)"),
                _ => String::new(),
            };
            progress.step(0, 0, &format!("{blocks} blocks in {:.0} s{interval}", elapsed.as_secs_f64()));
        }
        Progressed::Blocks { .. } => {}
        Progressed::Counting { name, run } => {
            progress.show(&format!("counting instructions under valgrind: run {run} of {name}"));
        }
    });
    progress.clear();
    done
}

fn usage(error: impl std::error::Error) -> Failure {
    Failure::Usage(error.to_string())
}

pub fn failure(error: CompareError) -> Failure {
    match error {
        CompareError::Usage(error) => usage(error),
        CompareError::Differs(difference) => Failure::Gate(without_secrets(&difference.to_string())),
        error => Failure::Incomplete(without_secrets(&error.to_string())),
    }
}

fn setting(
    args: &Args,
    revisions: Vec<String>,
    baseline: Option<&Opened>,
) -> Result<(Setting, usize), Failure> {
    let around = &args.around;
    let helper = std::env::current_exe()
        .map_err(|error| Failure::Incomplete(format!("cannot find kumite's own program: {error}")))?;
    let imported = imported(args)?;
    let earlier = baseline.and_then(Opened::earlier);
    let templates = Templates { revisions, earlier, ..templates(args, &imported)? };
    let (mut benches, reference) = templates.benches().map_err(usage)?;
    // A reference that was added comes before them.
    let first = benches.len().saturating_sub(templates.commands.len());
    for (bench, of) in benches.iter_mut().skip(first).zip(imported) {
        bench.parameters = of.parameters.clone();
        if args.around.env.is_empty() {
            bench.env = of.environment.clone().into_iter().collect();
        }
        bench.imported = Some(of);
    }
    for bench in &benches {
        if let Output::File(file) = &bench.output {
            output::check_writable(file)?;
        }
    }
    let cpus = args.amount.cores.as_ref().map_or(Vec::new(), |cpus| cpus.0.clone());
    if args.amount.duet {
        if benches.len() != 2 {
            return Err(Failure::Usage(format!(
                "--duet runs two commands at once, and there are {}",
                benches.len()
            )));
        }
        if cpus.len() == 1 || machine(cores()).cpus < 2 {
            return Err(Failure::Usage("--duet needs two CPUs or more".to_owned()));
        }
    }
    let setting = Setting {
        benches,
        shell: if around.no_shell { Shell::Never } else { around.shell.clone().unwrap_or(Shell::IfNeeded) },
        stdin: match around.input.as_deref() {
            None | Some("null") => Stdin::Null,
            Some(file) => Stdin::File(file.into()),
        },
        same_output: around.same_output,
        allowed: around.ignore_failure.clone().unwrap_or_default(),
        cores: cpus,
        duet: args.amount.duet,
        timeout: args.amount.timeout,
        warm_up: args.amount.warmup as usize,
        counts: args
            .counts
            .counts()?
            .map(|counts| Counts { since: baseline.and_then(Opened::counted), ..counts }),
        helper: (helper, HELPER.to_owned()),
    };
    Ok((setting, reference))
}

fn templates(args: &Args, imported: &[Imported]) -> Result<Templates, Failure> {
    let mut commands: Vec<String> = imported.iter().map(|of| of.command.clone()).collect();
    commands.extend(args.commands.iter().cloned());
    let names = match args.names.is_empty() {
        true => imported.iter().map(|of| of.name.clone().unwrap_or(of.command.clone())).collect(),
        false => args.names.clone(),
    };
    let around = &args.around;
    Ok(Templates {
        commands,
        names,
        reference: args.reference.clone(),
        reference_name: args.reference_name.clone(),
        earlier: None,
        parameters: parameters(args)?,
        revisions: Vec::new(),
        build: args.revisions.build(),
        setup: around.setup.clone(),
        prepare: around.prepare.clone(),
        conclude: around.conclude.clone(),
        cleanup: around.cleanup.clone(),
        env: around.env.clone(),
        output: if around.show_output { vec!["inherit".to_owned()] } else { around.output.clone() },
    })
}

fn imported(args: &Args) -> Result<Vec<Imported>, Failure> {
    let Some(file) = &args.import else { return Ok(Vec::new()) };
    let unread =
        |error: &dyn std::fmt::Display| Failure::Usage(format!("cannot import {}: {error}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| unread(&error))?;
    import(&file.to_string_lossy(), &text).map_err(|error| unread(&error))
}

fn parameters(args: &Args) -> Result<Vec<Parameter>, Failure> {
    let (scans, steps) = (args.parameter_scan.chunks(3), &args.parameter_step_size);
    if steps.len() > 1 && steps.len() != scans.len() {
        return Err(Failure::Usage(format!(
            "{} times --parameter-step-size for {} times --parameter-scan: give one for all, or one for each",
            steps.len(),
            scans.len()
        )));
    }
    if scans.len() > 0 {
        let step = |nth: usize| steps.get(nth).or(steps.first()).map(String::as_str);
        let scan = |(nth, scan): (usize, &[String])| Parameter::scan(&scan[0], &scan[1], &scan[2], step(nth));
        return scans.enumerate().map(scan).collect::<Result<_, _>>().map_err(usage);
    }
    let lists = args.parameter_list.chunks(2).map(|list| Parameter::list(&list[0], &list[1]));
    lists.collect::<Result<_, _>>().map_err(usage)
}

/// The command or URL of `names` that stands in each block twice: that of `--control`, or the reference of a gate. None
/// without either, and where two run at once.
fn control(args: &Args, names: &[&str], reference: usize) -> Result<Option<Twice>, Failure> {
    let of_gate = args.gate.is_on_runs() && !args.amount.duet;
    let Some(name) = args.amount.control.as_ref().or(of_gate.then_some(&None)) else { return Ok(None) };
    if names.len() < 2 {
        return Err(Failure::Usage(
            "--control stands beside a comparison: give two commands, or two URLs".to_owned(),
        ));
    }
    let of = match name {
        None => reference,
        Some(name) => names.iter().position(|other| other == name).ok_or_else(|| {
            Failure::Usage(format!("--control {name}: there is no such{}", there_are(name, names)))
        })?,
    };
    if of_gate && of != reference {
        return Err(Failure::Usage(format!(
            "--control={} stands beside no gate: with --gate it is the reference that runs twice, `{}`; leave one of the two \
             out",
            names[of], names[reference]
        )));
    }
    Ok(Some(Twice { of, at: names.len() }))
}

fn rules(args: &Args, clock: &RealClock, of: usize, reference: usize, control: Option<Twice>) -> Rules {
    let amount = &args.amount;
    let mut rules = Rules {
        // A gate asks about one end of an interval, and so each end is at its level.
        alpha: if args.gate.is_on_runs() { 2.0 * GATE_ALPHA } else { ALPHA },
        margin: amount
            .margin
            .map_or(if args.gate.is_on_runs() { GATE_MARGIN } else { MARGIN }, |margin| margin.0),
        min_blocks: 0,
        max_blocks: amount.max_runs.or(amount.runs).map(|runs| runs as usize),
        budget: amount.budget.unwrap_or(BUDGET),
        ends_blocks: amount.budget.is_some(),
        seed: amount.seed.unwrap_or_else(|| seed::fresh(clock)),
        reference,
        control,
        gate: args.gate.rules(args.around.ignore_failure.is_some()),
        metrics: amount.metrics.as_ref().map_or(Vec::new(), |named| named.metrics.clone()),
    };
    let fewest = if rules.ends_blocks { 0 } else { rules.fewest(of) };
    rules.min_blocks = amount.min_runs.or(amount.runs).map_or(fewest, |runs| runs as usize);
    rules
}
