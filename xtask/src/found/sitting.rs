//! `cargo xtask found NAME`: one sitting of an experiment, written down before it begins, kept, and judged with the others.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;

use anyhow::{Context, Result, anyhow, bail};
use jiff::Timestamp;
use kumite_host::{boot, cores, machine};
use kumite_lab::{MEASURES, common_fault, join_documents, rejudge};
use kumite_record::{Export, SITTINGS_APART, apart};
use kumite_report::{ClaimRow, thinned, without_courses};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::log::{COUNT, Entry, Kind, Log, NOT_ENDED, digest};
use super::rejudge::renew;
use super::{
    LOG, MOST_BYTES, MOST_BYTES_OF_SITTING, PROFILE, RECORD, everyone, is_ended, packed, quiet, sources,
};
use crate::project::show;

const USAGE: &str = "usage: cargo xtask found NAME [--dry-run | --everyone | --rehearse KUMITE]";

/// Makes a sitting of the experiment that is named.
pub fn run(root: &Path, arguments: &[&str]) -> ExitCode {
    let done = match arguments {
        [name, "--dry-run"] => Experiment::at(root, name).and_then(|of| of.dry_run(quiet::busy)),
        [name, "--rehearse", program] => {
            Experiment::at(root, name).and_then(|of| of.measured_by(Path::new(program), true))
        }
        [name, "--everyone"] => Experiment::at(root, name).and_then(|of| {
            let program = of.built()?;
            of.refuse_busy(quiet::busy)?;
            of.of_everyone(&|seed| of.run(&program, everyone::PROFILE, &[], seed))
        }),
        [name] if !name.starts_with('-') => Experiment::at(root, name).and_then(|of| {
            of.is_apart(&of.read_log()?, &here(Timestamp::now()))?;
            let program = of.built()?;
            of.refuse_busy(quiet::busy)?;
            of.measured_by(&program, false)
        }),
        _ => Err(anyhow!(USAGE)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why:#}");
            ExitCode::FAILURE
        }
    }
}

/// An experiment as it is now.
struct Experiment<'a> {
    root: &'a Path,
    name: &'a str,
    folder: PathBuf,
    log: PathBuf,
    kind: Kind,
    /// True if the file names a control, which `--control` would replace by the first contender.
    has_control: bool,
}

impl<'a> Experiment<'a> {
    fn at(root: &'a Path, name: &'a str) -> Result<Experiment<'a>> {
        let folder = root.join("experiments").join(name);
        let file = folder.join("experiment.toml");
        let text = std::fs::read_to_string(&file).with_context(|| show(root, &file))?;
        let kind = Kind { specification: digest(&text)?, measures: MEASURES };
        let table: toml::Table = toml::from_str(&text)?;
        let has_control = table.contains_key("control");
        Ok(Experiment { root, name, log: folder.join(LOG), folder, kind, has_control })
    }

    fn read_log(&self) -> Result<Log> {
        Log::read(&self.log).with_context(|| show(self.root, &self.log))
    }

    /// Says what a sitting would be, and whether it could begin.
    fn dry_run(&self, busy: impl Fn() -> Option<String>) -> Result<()> {
        let log = self.read_log()?;
        println!("{}: {}", self.name, self.standing(&log));
        println!(
            "would run: kumite {}",
            self.words(PROFILE, &self.of_sitting(), 0, Path::new("FILES"))
                .join(" ")
                .replace("--seed 0", "--seed N")
        );
        println!("would log: {}, sitting {}", show(self.root, &self.log), log.sittings.len() + 1);
        let refused = self.changed().and_then(|()| self.is_apart(&log, &here(Timestamp::now())));
        match refused.err().map(|why| format!("{why:#}")).or_else(busy) {
            Some(why) => println!("would be refused now: {why}"),
            None => println!("the machine is quiet"),
        }
        Ok(())
    }

    fn refuse_busy(&self, busy: impl Fn() -> Option<String>) -> Result<()> {
        self.changed()?;
        match busy() {
            Some(why) => Err(anyhow!("the machine is busy: {why}; nothing was begun, and nothing is logged")),
            None => Ok(()),
        }
    }

    /// An error if what would be measured is in no commit, or is not what the sittings before have measured.
    fn changed(&self) -> Result<()> {
        let status = git(self.root, &["status", "--porcelain"])?;
        let is_aside = |line: &str| line.contains("/found/") || line.ends_with(".md");
        if let Some(line) = status.lines().find(|line| !is_aside(line)) {
            bail!(
                "the tree differs from its commit ({}): commit it, so that the log can name it",
                line.trim()
            );
        }
        sources::wrong(&self.folder).into_iter().next().map_or(Ok(()), |why| Err(anyhow!(why)))
    }

    /// An error if a sitting that begins now, and is this entry, would be one with an earlier one.
    fn is_apart(&self, log: &Log, now: &Entry) -> Result<()> {
        let near = log.of_kind(&self.kind).into_iter().rfind(|of| {
            let both = [of.as_sitting(), now.as_sitting()];
            of.changed_since.is_none() && apart(&both).len() < both.len()
        });
        let Some(near) = near else { return Ok(()) };
        let ended = near.finished.unwrap_or(near.began);
        bail!(
            "the last sitting ended at {}: one that begins before {} would be one with it",
            ended.strftime("%H:%M:%S UTC"),
            (ended + SITTINGS_APART).strftime("%H:%M:%S")
        )
    }

    fn built(&self) -> Result<PathBuf> {
        let built = Command::new(env!("CARGO"))
            .args(["build", "--release", "-p", "kumite"])
            .current_dir(self.root)
            .status();
        match built {
            Ok(status) if status.success() => Ok(self.root.join("target/release/kumite")),
            Ok(status) => Err(anyhow!("cargo build --release -p kumite: {status}")),
            Err(error) => Err(error).context("cargo build --release -p kumite"),
        }
    }

    /// Makes the sitting with this kumite.
    fn measured_by(&self, kumite: &Path, rehearsal: bool) -> Result<()> {
        // Ctrl-C is for kumite, which ends its run in order; then the log is completed here.
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            signal_hook::flag::register(signal, Arc::default())?;
        }
        let facts = machine(cores());
        let entry = Entry {
            kumite: git(self.root, &["rev-parse", "--short=12", "HEAD"])?.trim().to_owned(),
            seed: drawn_seed(),
            machine: facts.cpu,
            kernel: facts.kernel,
            rehearsal,
            ..here(Timestamp::now())
        };
        self.sit(entry, &|entry| self.run(kumite, PROFILE, &self.of_sitting(), entry.seed))
    }

    /// Runs a profile by this kumite, and reads what it measured.
    fn run(&self, kumite: &Path, profile: &str, options: &[&str], seed: u32) -> Result<Export> {
        let files = self.root.join("target/found").join(format!("{}-{seed}", self.name));
        std::fs::create_dir_all(&files)
            .with_context(|| format!("cannot make {}", show(self.root, &files)))?;
        let words = self.words(profile, options, seed, &files);
        let status = Command::new(kumite).args(words).current_dir(self.root).status();
        let status = status.with_context(|| format!("cannot start {}", kumite.display()))?;
        // A run that was cut short has a document too, and says itself why.
        Export::read(&files.join("run.json")).with_context(|| format!("kumite ended with {status}"))
    }

    /// The options of a sitting.
    fn of_sitting(&self) -> Vec<&'static str> {
        let control = (!self.has_control).then_some("--control");
        ["--sittings", "1", "--strict"].into_iter().chain(control).chain(["--budget", "20m"]).collect()
    }

    fn words(&self, profile: &str, options: &[&str], seed: u32, files: &Path) -> Vec<String> {
        let file = |name: &str| files.join(name).display().to_string();
        let (seed, results, run) = (seed.to_string(), file("results.db"), file("run.json"));
        let before = ["run", self.name, "--profile", profile];
        let after = ["--seed", &seed, "--db", &results, "--json", &run];
        before.iter().chain(options).chain(&after).map(|word| (*word).to_owned()).collect()
    }

    /// Keeps what each contender took once, and renews what shows it.
    fn of_everyone(&self, measure: &dyn Fn(u32) -> Result<Export>) -> Result<()> {
        let export = measure(drawn_seed())?;
        if let Some(why) = everyone::unfit(&export) {
            bail!("nothing is kept: {why}");
        }
        let found = self.folder.join("found");
        std::fs::create_dir_all(&found)
            .with_context(|| format!("cannot make {}", show(self.root, &found)))?;
        self.write(everyone::RECORD, &fitting(&export, MOST_BYTES_OF_SITTING)?)?;
        let is_shown = [RECORD, "README.md"].iter().all(|file| self.folder.join(file).is_file());
        if is_shown { renew(self.root, &self.folder) } else { Ok(()) }
    }

    /// Writes the sitting down, has it measured, completes what was written, and judges it with those that count.
    fn sit(&self, entry: Entry, measure: &dyn Fn(&Entry) -> Result<Export>) -> Result<()> {
        let mut log = self.read_log()?;
        let Kind { specification, measures } = self.kind.clone();
        let begun =
            Entry { specification, measures, complete: false, why: Some(NOT_ENDED.to_owned()), ..entry };
        log.sittings.push(begun.clone());
        let nth = log.sittings.len();
        let found = self.log.parent().unwrap_or(&self.folder);
        std::fs::create_dir_all(found).with_context(|| format!("cannot make {}", show(self.root, found)))?;
        log.write(&self.log)?;
        println!("sitting {nth} of {} is in {}", self.name, show(self.root, &self.log));

        let measured = measure(&begun);
        let completed = measured.and_then(|export| self.keep(nth, &begun, &export));
        let completed = completed.unwrap_or_else(|why| Entry { why: Some(format!("{why:#}")), ..begun });
        let why = completed.why.clone();
        log.sittings[nth - 1] = completed;
        log.write(&self.log)?;
        if let Some(why) = why {
            bail!("sitting {nth} is not complete: {why}");
        }
        println!("sitting {nth} is complete; {}", self.standing(&log));
        self.judge(&log)
    }

    /// Keeps the record of a sitting that is complete, and returns its entry.
    fn keep(&self, nth: usize, begun: &Entry, export: &Export) -> Result<Entry> {
        let ended = export.run.finished;
        let minutes = ended.map(|ended| ended.duration_since(export.run.started).as_secs_f64() / 60.0);
        let entry = Entry {
            run: Some(export.run.id.clone()),
            started: Some(export.run.started),
            finished: ended,
            trials: Some(export.trials.len()),
            minutes: minutes.map(|minutes| (minutes * 10.0).round() / 10.0),
            ..begun.clone()
        };
        if let Some(why) = incomplete(export) {
            return Ok(Entry { why: Some(why), ..entry });
        }
        let name = format!("sitting-{nth}.json.gz");
        self.write(&format!("found/{name}"), &fitting(export, MOST_BYTES_OF_SITTING)?)?;
        Ok(Entry { complete: true, why: None, file: Some(name), ..entry })
    }

    /// Makes the found run of the sittings that count, and all that is made of it. Before all of them are there, there is
    /// none: who looks at fewer may be led by them.
    fn judge(&self, log: &Log) -> Result<()> {
        if log.counted(&self.kind) < COUNT {
            return Ok(());
        }
        let counting = log.counting(&self.kind);
        let found = self.folder.join("found");
        let read = |of: &&Entry| {
            let file = found.join(of.file.as_deref().unwrap_or_default());
            Ok(Export::read(&file)?)
        };
        let sittings: Vec<Export> = counting.iter().map(read).collect::<Result<_>>()?;
        let joined = joined(sittings)?;
        self.write(RECORD, &fitting(&joined, MOST_BYTES)?)?;
        joined.claims.iter().for_each(|claim| println!("  {}", ClaimRow::new(&joined.run, claim).line()));
        if self.folder.join("README.md").is_file() { renew(self.root, &self.folder) } else { Ok(()) }
    }

    /// Writes a file in the experiment's folder, and says so.
    fn write(&self, file: &str, bytes: &[u8]) -> Result<()> {
        let file = self.folder.join(file);
        std::fs::write(&file, bytes).with_context(|| format!("cannot write {}", show(self.root, &file)))?;
        println!("wrote {}: {} bytes", show(self.root, &file), bytes.len());
        Ok(())
    }

    /// How many sittings count, and what became of the others.
    fn standing(&self, log: &Log) -> String {
        let count = log.counted(&self.kind);
        let begun = log.sittings.len();
        let mut said = format!("{count} of {COUNT} that count are there, {begun} were begun");
        let numbers = |of: &[&Entry]| {
            let nth = |of: &&Entry| {
                log.sittings.iter().position(|other| std::ptr::eq(*of, other)).unwrap_or_default() + 1
            };
            of.iter().map(|of| nth(of).to_string()).collect::<Vec<_>>().join(", ")
        };
        let earlier = log.of_other_kinds(&self.kind);
        if !earlier.is_empty() {
            said += &format!(
                "; of an earlier specification, source or MEASURES, so that they no longer count: {}",
                numbers(&earlier)
            );
        }
        let further = log.further(&self.kind);
        if !further.is_empty() {
            said += &format!(
                "; beyond the first {COUNT}, so kept and used for no verdict: {}",
                numbers(&further)
            );
        }
        said
    }
}

/// A sitting that begins at this moment on this machine.
fn here(began: Timestamp) -> Entry {
    Entry { began, boot: boot().unwrap_or_default(), ..Entry::default() }
}

/// Why a run is no complete sitting, if it is none. Rounds that its budget left no time for are no reason.
fn incomplete(export: &Export) -> Option<String> {
    let run = &export.run;
    let cut_short = run.cut_short.as_deref().filter(|_| !is_ended(run.cut_short.as_deref()));
    let unfinished = run.finished.is_none().then(|| NOT_ENDED.to_owned());
    cut_short.map(str::to_owned).or_else(|| common_fault(&export.trials)).or(unfinished)
}

/// The run that these sittings make together.
fn joined(sittings: Vec<Export>) -> Result<Export> {
    let [one] = sittings.as_slice() else {
        let ids = sittings.iter().map(|of| of.run.id.as_str());
        let command = format!("kumite merge {}", ids.collect::<Vec<_>>().join(" "));
        let id = format!("{}-sittings", sittings.first().map_or("no", |of| &of.run.id));
        return Ok(join_documents(sittings, id, command)?);
    };
    Ok(rejudge(one)?)
}

/// The packed record of a run with the course of one trial for each cell, or of none if it would have more bytes.
fn fitting(run: &Export, most: u64) -> Result<Vec<u8>> {
    let bytes = packed(&thinned(run))?;
    if bytes.len() as u64 <= most {
        return Ok(bytes);
    }
    packed(&without_courses(run))
}

/// A seed that nobody chose.
fn drawn_seed() -> u32 {
    let now = Timestamp::now().as_nanosecond().to_le_bytes();
    let digest = blake3::hash(&now);
    u32::from_le_bytes(digest.as_bytes()[..4].try_into().unwrap_or_default())
}

fn git(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").args(arguments).current_dir(root).output();
    let output = output.with_context(|| format!("git {}", arguments.join(" ")))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => {
            Err(anyhow!("git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
        }
    }
}

#[cfg(test)]
pub use tests::measured as made_up;

#[cfg(test)]
mod tests;
