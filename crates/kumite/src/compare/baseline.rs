//! `--save-baseline` and `--baseline`: a command that is kept as it is today, to be measured again on another day beside
//! what there is then.

mod flags;
mod keeping;
mod kept;
mod libraries;
mod shelf;

use kumite_compare::{At, Bench, Earlier, Setting};
use kumite_record::ComparedBaseline;

use crate::exit::Failure;
use crate::output;

use super::Args;
pub use flags::BaselineArgs;
pub use keeping::Keeping;
use kept::{Baseline, Source};
use shelf::{Shelf, digest};

/// A baseline that the new command is compared with.
pub struct Opened {
    baseline: Baseline,
    earlier: Earlier,
    /// The lock that keeps the kept program as long as this lives.
    _held: Option<std::fs::File>,
}

impl Opened {
    /// Fills in the arguments that were not typed: the command, the flags around it and the build are taken from the
    /// baseline. If the baseline is of a revision and no revision was typed, the files as they are are compared with
    /// it.
    pub fn fill(&self, args: &mut Args) {
        let Baseline { command, flags, source, .. } = &self.baseline;
        if args.commands.is_empty() {
            args.commands.push(command.clone());
        }
        flags.fill(&mut args.around);
        if let Source::Revision { build, build_env, .. } = source {
            args.revisions.fill(build.as_deref(), build_env);
        }
    }

    /// The command of the baseline, as the reference of a comparison. None if it cannot be measured again.
    pub fn earlier(&self) -> Option<Earlier> {
        let is_there = !matches!(self.baseline.source, Source::Nothing { .. });
        is_there.then(|| self.earlier.clone())
    }

    /// The baseline, if it cannot be measured again, so that only its counts of that day are compared. None if it can.
    pub fn counted(&self) -> Option<ComparedBaseline> {
        self.earlier().is_none().then(|| self.earlier.baseline.clone())
    }

    /// Notes each command that runs the very program that was kept. Such a command is compared with itself; perhaps it
    /// was not built again.
    pub fn note_same(&self, benches: &[Bench]) {
        let Source::Program { program, .. } = &self.baseline.source else { return };
        let is_same = |bench: &&Bench| {
            let file = bench.program_file().filter(|_| bench.baseline.is_none());
            file.and_then(|file| std::fs::read(file).ok())
                .is_some_and(|bytes| digest(&bytes) == program.digest)
        };
        for bench in benches.iter().filter(is_same) {
            output::note(&format!(
                "{} runs the same program as {}: it is compared with itself",
                bench.name, self.earlier.name
            ));
        }
    }

    /// The revision of the baseline: its name in the comparison, and its commit. None if it has none.
    pub fn revision(&self) -> Option<(&str, &str)> {
        match &self.baseline.source {
            Source::Revision { commit, .. } => Some((&self.earlier.name, commit)),
            _ => None,
        }
    }
}

impl BaselineArgs {
    /// The baseline that `--baseline` names; `None` without that flag. An error if the baseline cannot be read, if it
    /// was saved in another folder, or if it cannot be measured again. The last is no error if counts are asked for and
    /// the baseline has some: then only counts are compared.
    pub fn opened(&self, has_counts: bool) -> Result<Option<Opened>, Failure> {
        let Some(name) = &self.baseline else { return Ok(None) };
        let shelf = Shelf::of_project()?;
        let (baseline, program, held) = shelf.open(name)?;
        shelf.check_folder(name, &baseline.folder)?;
        let then = baseline.comparison.commands.first();
        let counts = then.and_then(|command| command.counts.clone());
        if let Source::Nothing { why } = &baseline.source
            && !(has_counts && counts.is_some())
        {
            let by_counts = counts.map_or("", |_| "; its instructions can be compared: --counts");
            return Err(Failure::Usage(format!(
                "baseline {name} cannot be run again, and times of another day are not compared: {why}{by_counts}"
            )));
        }
        let called = format!("baseline {name}");
        let at = match &baseline.source {
            Source::Revision { build, .. } => Some(At { revision: called.clone(), build: build.clone() }),
            _ => None,
        };
        let record = ComparedBaseline {
            name: name.clone(),
            saved: baseline.comparison.started,
            machine: baseline.comparison.machine.clone(),
            wall_s: then.and_then(|command| command.wall_s.clone()),
            counts,
            program: match &baseline.source {
                Source::Program { program, .. } => Some(program.clone()),
                _ => None,
            },
        };
        let earlier =
            Earlier { name: called, command: baseline.command.clone(), at, program, baseline: record };
        Ok(Some(Opened { baseline, earlier, _held: held }))
    }

    /// Begins to keep the command under the name that `--save-baseline` gives; `None` without that flag. An error if
    /// there is not exactly one command, if its texts have a secret, or if it could neither be measured again nor is
    /// counted.
    pub fn keeping(&self, setting: &Setting, build_env: &[String]) -> Result<Option<Keeping>, Failure> {
        let Some(name) = &self.save_baseline else { return Ok(None) };
        let [bench] = &setting.benches[..] else { return Err(several(name, setting.benches.len())) };
        let shelf = Shelf::of_project()?;
        Keeping::begin(shelf, name, bench, setting, build_env).map(Some)
    }

    /// An error if `--save-baseline` is given and there is not exactly one command.
    pub fn check(&self, benches: &[Bench]) -> Result<(), Failure> {
        match &self.save_baseline {
            Some(name) if benches.len() != 1 => Err(several(name, benches.len())),
            _ => Ok(()),
        }
    }
}

fn several(name: &str, commands: usize) -> Failure {
    Failure::Usage(format!(
        "--save-baseline {name} keeps one command, at one revision, and there are {commands}: save each on its own"
    ))
}
