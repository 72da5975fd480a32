//! What goes around runs, and what that leaves.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{CommandLine, Error, Shell, Spawn, Tree, how_it_ended, last_lines, run_leaving};
use tempfile::TempDir;

use super::bench::{Bench, CompareError, Setting};
use super::deadline::{with_grace, within};

/// Nobody waits longer for a build.
const HOOK_LIMIT: Duration = Duration::from_secs(3600);
/// What hooks have left has so long to end by itself, once it is asked to; and so long a conclusion has once the budget is
/// over.
const GRACE: Duration = Duration::from_secs(1);

static NEVER: AtomicBool = AtomicBool::new(false);

/// A variable that a hook has beside ours.
type Variable<'v> = (&'v str, &'v str);

/// Runs commands that are not timed.
pub(crate) struct Hooks<'a> {
    setting: &'a Setting,
    folder: TempDir,
    /// Those that have left somebody who still runs.
    left: RefCell<Vec<Tree>>,
    /// How many were run.
    hooks: Cell<u64>,
}

impl<'a> Hooks<'a> {
    pub(crate) fn new(setting: &'a Setting) -> Result<Hooks<'a>, CompareError> {
        let folder = tempfile::tempdir()
            .map_err(|error| CompareError::Failed(format!("cannot make a folder for outputs: {error}")))?;
        Ok(Hooks { setting, folder, left: RefCell::default(), hooks: Cell::new(0) })
    }

    /// A file in a folder that is gone afterwards.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Whether all of them can be run, said before anything is.
    pub(crate) fn check(&self) -> Result<(), CompareError> {
        self.setting.benches.iter().try_for_each(|bench| {
            let hooks = [
                ("--setup", &bench.setup),
                ("--prepare", &bench.prepare),
                ("--conclude", &bench.conclude),
                ("--cleanup", &bench.cleanup),
            ];
            hooks.iter().try_for_each(|(flag, text)| match text {
                Some(text) => self.typed(flag, text).map(drop),
                None => Ok(()),
            })
        })
    }

    /// To be typed in `sh`. A hook is never timed, and so may always have a shell.
    fn typed(&self, flag: &str, text: &str) -> Result<String, CompareError> {
        let shell = match &self.setting.shell {
            Shell::Never => &Shell::IfNeeded,
            shell => shell,
        };
        let usage = |why: String| CompareError::Usage(format!("{flag} {text:?}: {why}"));
        let line = CommandLine::new(text, shell).map_err(usage)?;
        line.typed().map_err(|why| usage(why.to_string()))
    }

    /// All that is to be done once before, within this time; what it was begun for is to be cleaned up.
    pub(crate) fn setup(&self, budget: Option<Duration>, stop: &AtomicBool) -> Result<(), CompareError> {
        let mut last = None;
        let (done, is_over) = within(budget, stop, |stop| {
            self.setting.benches.iter().try_for_each(|bench| {
                last = bench.setup.as_deref();
                self.hook(bench, "--setup", &bench.setup, None, stop)
            })
        });
        match (done, budget.filter(|_| is_over)) {
            (Err(CompareError::Interrupted), Some(budget)) => Err(CompareError::Failed(format!(
                "--setup `{}` still ran when --budget was over ({budget:?}), and was ended: give a longer one, or do \
                 that before",
                last.unwrap_or_default()
            ))),
            (done, _) => done,
        }
    }

    /// All that is to be done once after, whatever came before; the first failure, if there is one.
    pub(crate) fn cleanup(&self) -> Result<(), CompareError> {
        let cleanup = |bench: &Bench| self.hook(bench, "--cleanup", &bench.cleanup, None, &NEVER);
        let all: Vec<_> = self.setting.benches.iter().map(cleanup).collect();
        all.into_iter().collect()
    }

    pub(crate) fn prepare(
        &self,
        bench: &Bench,
        variable: Variable,
        stop: &AtomicBool,
    ) -> Result<(), CompareError> {
        self.hook(bench, "--prepare", &bench.prepare, Some(variable), stop)
    }

    /// Is not stopped by the user: it ends what `prepare` began. Where the budget has cut off the run before it, or itself, it
    /// has a little longer.
    pub(crate) fn conclude(
        &self,
        bench: &Bench,
        variable: Variable,
        is_cut_off: Option<&(dyn Fn() -> bool + Sync)>,
    ) -> Result<(), CompareError> {
        let conclude =
            |stop: &AtomicBool| self.hook(bench, "--conclude", &bench.conclude, Some(variable), stop);
        match is_cut_off.filter(|_| bench.conclude.is_some()) {
            Some(is_cut_off) => with_grace(GRACE, is_cut_off, conclude),
            None => conclude(&NEVER),
        }
    }

    /// Ends what all of them have left, and says what that was.
    pub(crate) fn finish(&self) -> Vec<String> {
        let mut left = Vec::new();
        for mut tree in self.left.take() {
            left.extend(tree.left());
            tree.stop(GRACE);
        }
        left
    }

    /// If somebody of it still runs.
    fn keep(&self, mut tree: Tree) {
        if !tree.left().is_empty() {
            let mut left = self.left.borrow_mut();
            // Who was ended by a later hook, as what --prepare leaves by --conclude.
            left.retain_mut(|tree| !tree.left().is_empty());
            left.push(tree);
        }
    }

    fn hook(
        &self,
        bench: &Bench,
        flag: &str,
        text: &Option<String>,
        variable: Option<Variable>,
        stop: &AtomicBool,
    ) -> Result<(), CompareError> {
        let Some(text) = text else { return Ok(()) };
        let typed = self.typed(flag, text)?;
        // Who is left may still write to that of its own.
        let nth = self.hooks.replace(self.hooks.get() + 1);
        let log = self.file(&format!("hook-{nth}.log"));
        let variable = variable.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env: Vec<_> = bench.env.iter().cloned().chain(variable).collect();
        let spawn = Spawn {
            command: &typed,
            dir: Path::new("."),
            env: &env,
            keeps: None,
            cores: &[],
            log: &log,
            group: None,
        };
        let status = match run_leaving(&spawn, HOOK_LIMIT, stop) {
            Ok((status, tree)) => {
                self.keep(tree);
                status
            }
            Err(Error::Interrupted { .. }) => return Err(CompareError::Interrupted),
            Err(Error::TimedOut { limit, .. }) => {
                let said = last_lines(&log);
                return Err(CompareError::Failed(format!(
                    "{flag} `{text}` did not end within {limit:?}: {said}"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        let done = match status.success() {
            true => Ok(()),
            false => Err(CompareError::Failed(format!(
                "{flag} `{text}` for `{}` {}: {}",
                bench.command,
                how_it_ended(status),
                last_lines(&log)
            ))),
        };
        let _ = std::fs::remove_file(&log);
        done
    }
}

/// Whether a file can be read, said before anything is run.
pub(crate) fn check_readable(path: &Path) -> Result<(), CompareError> {
    let file = File::open(path).and_then(|file| file.metadata());
    match file {
        Ok(metadata) if metadata.is_dir() => {
            Err(CompareError::Usage(format!("--input {}: it is a folder", path.display())))
        }
        Ok(_) => Ok(()),
        Err(error) => Err(CompareError::Usage(format!("--input {}: {error}", path.display()))),
    }
}
