//! The installation of missing tools, by the system's package manager and by npm.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, how_it_ended, last_lines, run};

use super::tools::runs;
use super::{Install, npm};
use crate::error::{Error, Fault, MissingTool, chain};

const INSTALL_LIMIT: Duration = Duration::from_secs(20 * 60);
const QUERY_LIMIT: Duration = Duration::from_secs(60);

/// A search for tools, with the packages that may be installed for it.
pub(crate) struct Obtaining<'a> {
    /// The subject and verb of a message about a missing tool: `needs`, `the service 'db' needs`.
    pub who_needs: &'a str,
    pub packages: &'a Install,
    pub may_install: bool,
    pub log: &'a Path,
}

impl Obtaining<'_> {
    /// Calls `look`. While it fails, and if installing is permitted, installs the packages of one source after the
    /// other (apt and npm) and calls `look` again. `look` is told whether something was installed, because tools may
    /// answer otherwise then. If `look` fails to the end, the error has its last error and the remedy; if an
    /// installation fails, the error has the last error of `look` and that of the installation.
    pub fn obtain<T>(
        &self,
        note: &mut dyn FnMut(&str),
        look: impl Fn(bool) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut installed = Vec::new();
        let mut found = look(false);
        for source in self.sources() {
            let missing = match found {
                Ok(found) => return Ok(found),
                Err(why) => self.missing(Vec::new(), why),
            };
            let names = source.packages(self.packages).join(" ");
            note(&format!("installing {names} ({})", chain(&missing)));
            if let Err(why) = source.install(self.packages, self.log) {
                let then = format!("installing {names} failed");
                return Err(Error::Mending { first: Box::new(missing), then, source: Box::new(why) });
            }
            installed.push(names);
            found = look(true);
        }
        found.map_err(|why| {
            let get = self.packages.get.as_deref().map(|page| format!(": see {page}")).unwrap_or_default();
            let remedy = match installed.is_empty() {
                true => remedy(self.packages),
                false => format!("get a newer one{get}"),
            };
            self.missing(installed, why).remedied(remedy)
        })
    }

    fn missing(&self, installed: Vec<String>, why: Error) -> Error {
        Error::Missing { who_needs: self.who_needs.to_owned(), installed, error: Box::new(why) }
    }

    /// The sources of packages in the order in which they are tried. npm comes first if it is there, because Debian's
    /// npm would bring a Node.js of its own.
    fn sources(&self) -> Vec<Source> {
        let mut sources = vec![Source::Apt, Source::Npm];
        if is_on_path("npm") {
            sources.reverse();
        }
        sources.retain(|source| {
            let is_done = *source == Source::Npm && npm::are_installed(&self.packages.npm);
            self.may_install && !source.packages(self.packages).is_empty() && !is_done
        });
        sources
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Source {
    Apt,
    Npm,
}

impl Source {
    fn packages(self, all: &Install) -> &[String] {
        match self {
            Source::Apt => &all.apt,
            Source::Npm => &all.npm,
        }
    }

    fn install(self, all: &Install, log: &Path) -> Result<(), Error> {
        match self {
            Source::Apt => install_apt(all, log),
            Source::Npm => npm::install(&all.npm, log),
        }
    }
}

/// Installs the packages through the system's package manager, as root or through sudo. It cannot be interrupted: a
/// package manager that is killed leaves the system half done. An error if there is no `apt-get`, it fails, or it
/// takes longer than 20 minutes, after which it is killed all the same.
pub(crate) fn install_apt(packages: &Install, log: &Path) -> Result<(), Error> {
    if !is_on_path("apt-get") {
        return Err(Error::NoAptGet);
    }
    let sudo = if is_root() { "" } else { "sudo -n " };
    let names = packages.apt.join(" ");
    let command = format!(
        "{sudo}apt-get -q update && {sudo}env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends {names}"
    );
    let spawn =
        Spawn { command: &command, dir: Path::new("."), env: &[], keeps: None, cores: &[], log, group: None };
    let finished = run(&spawn, INSTALL_LIMIT, &AtomicBool::new(false))?;
    if finished.status.success() {
        return Ok(());
    }
    let how = how_it_ended(finished.status);
    let failed = Error::from(Fault::new(format!("`{command}` {how}: {}", last_lines(log))));
    Err(failed.remedied(by_hand(&names)))
}

/// The absolute path of a tool, looked for on PATH. If it is missing, the error names `package`, the Debian package
/// that brings the tool, and its text begins with `who_needs`, for example `--counts needs`.
pub fn tool_on_path(who_needs: &str, tool: &str, package: &str) -> Result<PathBuf, Error> {
    on_path(tool).ok_or_else(|| {
        let error = Box::new(MissingTool::Absent { need: tool.to_owned() }.into());
        let missing = Error::Missing { who_needs: who_needs.to_owned(), installed: Vec::new(), error };
        missing.remedied(by_hand(package))
    })
}

fn by_hand(packages: &str) -> String {
    format!("as root: apt-get update && apt-get install {packages}")
}

/// True unless Debian's `dpkg-query` says that all of the packages for apt are installed. False if there are no
/// packages for apt, or no `dpkg-query` to be asked.
pub(crate) fn is_any_missing(packages: &Install, log: &Path) -> bool {
    let (names, count) = (packages.apt.join(" "), packages.apt.len());
    let installed = format!("dpkg-query -W -f '${{db:Status-Status}}\\n' {names} | grep -cx installed");
    let command = format!("test $({installed}) -eq {count}");
    let spawn =
        Spawn { command: &command, dir: Path::new("."), env: &[], keeps: None, cores: &[], log, group: None };
    let all = || run(&spawn, QUERY_LIMIT, &AtomicBool::new(false)).is_ok_and(|asked| asked.status.success());
    count > 0 && is_on_path("dpkg-query") && !all()
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")))
}

fn is_on_path(tool: &str) -> bool {
    on_path(tool).is_some()
}

/// The absolute path of the first file on PATH that is executable and has this name. None if there is none.
fn on_path(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|file| runs(file));
    // It may be run from another folder.
    found.and_then(|file| std::path::absolute(file).ok())
}

/// The remedy for a missing tool, as a clause: the option and the packages that bring it, or the page that tells of
/// it; without either, to put it on PATH.
pub(crate) fn remedy(packages: &Install) -> String {
    let sources: Vec<String> = [("apt", &packages.apt), ("npm", &packages.npm)]
        .into_iter()
        .filter(|(_, names)| !names.is_empty())
        .map(|(source, names)| format!("{source}: {}", names.join(" ")))
        .collect();
    match (sources.is_empty(), &packages.get) {
        (false, Some(page)) => format!("--install gets it ({}), or see {page}", sources.join("; ")),
        (false, None) => format!("--install gets it ({})", sources.join("; ")),
        (true, Some(page)) => format!("see {page}"),
        (true, None) => "install it and put it on PATH".to_owned(),
    }
}
