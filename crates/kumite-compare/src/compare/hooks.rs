//! What goes around runs, and running once more what failed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{CommandLine, Error, Spawn, Stdin, how_it_ended, last_lines, run};
use tempfile::TempDir;

use super::bench::{Bench, CompareError, Setting};

/// Nobody waits longer for a build.
const HOOK_LIMIT: Duration = Duration::from_secs(3600);
/// What failed is not run once more for longer than this.
const AGAIN_LIMIT: Duration = Duration::from_secs(10);

static NEVER: AtomicBool = AtomicBool::new(false);

/// Runs commands that are not timed.
pub(crate) struct Hooks<'a> {
    setting: &'a Setting,
    folder: TempDir,
}

impl<'a> Hooks<'a> {
    pub(crate) fn new(setting: &'a Setting) -> Result<Hooks<'a>, CompareError> {
        let folder = tempfile::tempdir()
            .map_err(|error| CompareError::Failed(format!("cannot make a folder for outputs: {error}")))?;
        Ok(Hooks { setting, folder })
    }

    /// A file in a folder that is gone afterwards.
    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// All that is to be done once before; what it was begun for is to be cleaned up.
    pub(crate) fn setup(&self, stop: &AtomicBool) -> Result<(), CompareError> {
        self.setting.benches.iter().try_for_each(|bench| self.hook(bench, "--setup", &bench.setup, stop))
    }

    /// All that is to be done once after, whatever came before; the first failure, if there is one.
    pub(crate) fn cleanup(&self) -> Result<(), CompareError> {
        let cleanup = |bench: &Bench| self.hook(bench, "--cleanup", &bench.cleanup, &NEVER);
        let all: Vec<_> = self.setting.benches.iter().map(cleanup).collect();
        all.into_iter().collect()
    }

    pub(crate) fn prepare(&self, bench: &Bench, stop: &AtomicBool) -> Result<(), CompareError> {
        self.hook(bench, "--prepare", &bench.prepare, stop)
    }

    /// Is not stopped: it ends what `prepare` began.
    pub(crate) fn conclude(&self, bench: &Bench) -> Result<(), CompareError> {
        self.hook(bench, "--conclude", &bench.conclude, &NEVER)
    }

    fn hook(
        &self,
        bench: &Bench,
        flag: &str,
        text: &Option<String>,
        stop: &AtomicBool,
    ) -> Result<(), CompareError> {
        let Some(text) = text else { return Ok(()) };
        let line = CommandLine::new(text, &self.setting.shell).map_err(CompareError::Usage)?;
        let typed = line.typed().map_err(|why| CompareError::Usage(format!("{flag} {text:?}: {why}")))?;
        let log = self.file("hook.log");
        let status = match run(&spawn(&typed, &log), HOOK_LIMIT, stop) {
            Ok(finished) => finished.status,
            Err(Error::Interrupted { .. }) => return Err(CompareError::Interrupted),
            Err(Error::TimedOut { limit, .. }) => {
                let said = last_lines(&log);
                return Err(CompareError::Failed(format!(
                    "{flag} `{text}` did not end within {limit:?}: {said}"
                )));
            }
            Err(error) => return Err(error.into()),
        };
        match status.success() {
            true => Ok(()),
            false => Err(CompareError::Failed(format!(
                "{flag} `{text}` for `{}` {}: {}",
                bench.command,
                how_it_ended(status),
                last_lines(&log)
            ))),
        }
    }

    /// The output of a failed run is not kept, so that all runs are alike: it is run once more, untimed.
    pub(crate) fn said_once_more(&self, bench: &Bench, line: &CommandLine) -> String {
        let log = self.file("again.log");
        let input = match &self.setting.stdin {
            Stdin::File(path) => shlex::try_quote(&path.to_string_lossy()).map(|path| format!(" < {path}")),
            _ => Ok(String::new()),
        };
        let typed = match line.typed().and_then(|typed| Ok(typed + &input?)) {
            Ok(typed) => typed,
            Err(why) => return format!("it could not be run once more: {why}"),
        };
        if let Err(error) = self.prepare(bench, &NEVER) {
            return format!("it could not be run once more: {error}");
        }
        let again = run(&spawn(&typed, &log), AGAIN_LIMIT, &NEVER);
        let concluded = self.conclude(bench);
        let how = match again {
            Ok(finished) => how_it_ended(finished.status),
            Err(Error::TimedOut { .. }) => "did not end".to_owned(),
            Err(error) => return format!("it could not be run once more: {error}"),
        };
        let doubt = concluded.err().map_or(String::new(), |error| format!("; then {error}"));
        format!("run once more, it {how}: {}{doubt}", last_lines(&log))
    }
}

fn spawn<'a>(command: &'a str, log: &'a Path) -> Spawn<'a> {
    Spawn { command, dir: Path::new("."), env: &[], keeps: None, cores: &[], log, group: None }
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
