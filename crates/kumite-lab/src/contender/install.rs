//! What gets tools: the system's package manager.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, how_it_ended, last_lines, run};

use super::Install;
use super::tools::runs;

const INSTALL_LIMIT: Duration = Duration::from_secs(20 * 60);
const QUERY_LIMIT: Duration = Duration::from_secs(60);

/// Installs the packages through the system's package manager, as root or through sudo. It is not broken off: a package
/// manager that is killed leaves the system half done.
pub(crate) fn install(packages: &Install, log: &Path) -> Result<(), String> {
    if !is_on_path("apt-get") {
        return Err("this system has no apt-get, the package manager that --install knows".into());
    }
    let sudo = if is_root() { "" } else { "sudo -n " };
    let names = packages.apt.join(" ");
    let command = format!(
        "{sudo}apt-get -q update && {sudo}env DEBIAN_FRONTEND=noninteractive apt-get -q install -y --no-install-recommends {names}"
    );
    let spawn = Spawn { command: &command, dir: Path::new("."), env: &[], cores: &[], log, group: None };
    let finished = run(&spawn, INSTALL_LIMIT, &AtomicBool::new(false)).map_err(|error| error.to_string())?;
    if finished.status.success() {
        return Ok(());
    }
    let how = how_it_ended(finished.status);
    Err(format!("`{command}` {how}: {}; as root: apt-get update && apt-get install {names}", last_lines(log)))
}

/// Whether one of them is not installed, where Debian's package manager knows that.
pub(crate) fn is_any_missing(packages: &Install, log: &Path) -> bool {
    let (names, count) = (packages.apt.join(" "), packages.apt.len());
    let installed = format!("dpkg-query -W -f '${{db:Status-Status}}\\n' {names} | grep -cx installed");
    let command = format!("test $({installed}) -eq {count}");
    let spawn = Spawn { command: &command, dir: Path::new("."), env: &[], cores: &[], log, group: None };
    let all = || run(&spawn, QUERY_LIMIT, &AtomicBool::new(false)).is_ok_and(|asked| asked.status.success());
    count > 0 && is_on_path("dpkg-query") && !all()
}

fn is_root() -> bool {
    std::fs::read_to_string("/proc/self/status")
        .is_ok_and(|status| status.lines().any(|line| line.starts_with("Uid:\t0\t")))
}

fn is_on_path(tool: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| runs(&folder.join(tool)))
}

/// Where its tools are to be had.
pub(crate) fn remedy(packages: &Install) -> String {
    match (packages.apt.is_empty(), &packages.get) {
        (false, Some(page)) => format!("--install gets it (apt: {}), or see {page}", packages.apt.join(" ")),
        (false, None) => format!("--install gets it (apt: {})", packages.apt.join(" ")),
        (true, Some(page)) => format!("see {page}"),
        (true, None) => "install it and put it on PATH".to_owned(),
    }
}
