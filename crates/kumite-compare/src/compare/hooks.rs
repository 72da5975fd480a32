//! Hooks: commands that are run before and after runs, and the processes that they leave.
//!
//! A hook is never timed, and runs on any CPU. Processes that it leaves live on until [`Hooks::finish`], or until the
//! hooks are dropped, because one may be the server that runs talk to. Once `--setup` has begun, `--cleanup` is run
//! for each command, whatever comes between.

use std::cell::{Cell, RefCell};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{CommandLine, Error, Shell, Spawn, Tree, last_lines, run_leaving};
use tempfile::TempDir;

use super::bench::{Bench, Setting};
use super::deadline::{with_grace, within};
use super::error::{CompareError, UsageError};

/// The longest time that a hook may take: nobody waits longer for a build.
const HOOK_LIMIT: Duration = Duration::from_secs(3600);
/// The time that processes left by hooks have to end by themselves once they are asked to, and that a `--conclude`
/// has once the budget is over.
const GRACE: Duration = Duration::from_secs(1);

static NEVER: AtomicBool = AtomicBool::new(false);

/// The name and the value of a variable that a hook has on top of our environment.
type Variable<'v> = (&'v str, &'v str);

/// The hooks of a comparison. It runs them, and ends what they leave.
pub(crate) struct Hooks<'a> {
    setting: &'a Setting,
    folder: TempDir,
    /// The trees of hooks that have left a process which still runs.
    left: RefCell<Vec<Tree>>,
    /// The number of hooks that were run.
    hooks: Cell<u64>,
}

impl<'a> Hooks<'a> {
    pub(crate) fn new(setting: &'a Setting) -> Result<Hooks<'a>, CompareError> {
        let folder = tempfile::tempdir().map_err(CompareError::Folder)?;
        Ok(Hooks { setting, folder, left: RefCell::default(), hooks: Cell::new(0) })
    }

    /// The path of a file of this name, in a folder that is removed when the hooks are dropped.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// An error if the text of a hook is no command line. To be called before a command or a hook is run.
    pub(crate) fn check(&self) -> Result<(), UsageError> {
        self.setting.benches.iter().try_for_each(|bench| {
            let hooks = [
                ("--setup", &bench.setup),
                ("--prepare", &bench.prepare),
                ("--conclude", &bench.conclude),
                ("--cleanup", &bench.cleanup),
            ];
            hooks.iter().try_for_each(|(flag, text)| match text {
                Some(text) => typed(flag, &bench.in_place(text), &self.setting.shell).map(drop),
                None => Ok(()),
            })
        })
    }

    /// Runs the setup of each command, all together within `budget`. Once this was called, [`Hooks::cleanup`] is to
    /// be called, too.
    pub(crate) fn setup(&self, budget: Option<Duration>, stop: &AtomicBool) -> Result<(), CompareError> {
        let mut last = None;
        let (done, is_over) = within(budget, stop, |stop| {
            self.setting.benches.iter().try_for_each(|bench| {
                last = bench.setup.as_deref();
                self.hook(bench, "--setup", &bench.setup, None, stop)
            })
        });
        match (done, budget.filter(|_| is_over)) {
            (Err(CompareError::Interrupted), Some(budget)) => {
                Err(CompareError::SetupTooLong { text: last.unwrap_or_default().to_owned(), budget })
            }
            (done, _) => done,
        }
    }

    /// Runs the cleanup of each command, whatever came before. Returns the first failure.
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

    /// Runs the `--conclude` of a command. The user's stop does not end this hook, because the hook ends what
    /// `--prepare` began. Once `is_cut_off` says that the budget is over, the hook has still [`GRACE`].
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

    /// Ends all processes that hooks have left, and returns their command lines.
    pub(crate) fn finish(&self) -> Vec<String> {
        let mut left = Vec::new();
        for mut tree in self.left.take() {
            left.extend(tree.left());
            tree.stop(GRACE);
        }
        left
    }

    /// Keeps the tree of a hook, if a process of it still runs.
    fn keep(&self, mut tree: Tree) {
        if !tree.left().is_empty() {
            let mut left = self.left.borrow_mut();
            // A later hook may have ended them, as --conclude does with what --prepare leaves.
            left.retain_mut(|tree| !tree.left().is_empty());
            left.push(tree);
        }
    }

    fn hook(
        &self,
        bench: &Bench,
        flag: &'static str,
        text: &Option<String>,
        variable: Option<Variable>,
        stop: &AtomicBool,
    ) -> Result<(), CompareError> {
        let Some(text) = text else { return Ok(()) };
        let typed = typed(flag, &bench.in_place(text), &self.setting.shell)?;
        // A process that is left may still write to the log of its own hook.
        let nth = self.hooks.replace(self.hooks.get() + 1);
        let log = self.file(&format!("hook-{nth}.log"));
        let variable = variable.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let env: Vec<_> = bench.env().into_iter().chain(variable).collect();
        let spawn = Spawn {
            command: &typed,
            dir: bench.folder(),
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
                return Err(CompareError::HookTooLong {
                    flag,
                    text: text.clone(),
                    limit,
                    log: last_lines(&log),
                });
            }
            Err(error) => return Err(error.into()),
        };
        let done = match status.success() {
            true => Ok(()),
            false => Err(CompareError::Hook {
                flag,
                text: text.clone(),
                command: bench.called(),
                status,
                log: last_lines(&log),
            }),
        };
        let _ = std::fs::remove_file(&log);
        done
    }
}

/// The text of a hook, or of a build, as a line for `sh`. Hooks and builds are not timed, so they may have a shell even
/// with `--shell=none`. An error if the text is no command line; `flag` is the flag that gave the text, which the error
/// names.
pub fn typed(flag: &'static str, text: &str, shell: &Shell) -> Result<String, UsageError> {
    let shell = match shell {
        Shell::Never => &Shell::IfNeeded,
        shell => shell,
    };
    let typed = CommandLine::new(text, shell).and_then(|line| line.typed());
    typed.map_err(|source| UsageError::Hook { flag, text: text.to_owned(), source })
}

/// An error if the file is a folder or cannot be opened. To be called before a command or a hook is run.
pub(crate) fn check_readable(path: &Path) -> Result<(), UsageError> {
    let file = File::open(path).and_then(|file| file.metadata());
    match file {
        Ok(metadata) if metadata.is_dir() => Err(UsageError::InputIsFolder { path: path.to_owned() }),
        Ok(_) => Ok(()),
        Err(source) => Err(UsageError::Input { path: path.to_owned(), source }),
    }
}
