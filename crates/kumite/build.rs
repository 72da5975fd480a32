//! Makes kumite's version, with the commit that it was built from.

#![allow(clippy::disallowed_methods, reason = "no tree is started in another thread")]

use std::path::Path;
use std::process::Command;

fn main() {
    // It grows with each commit and each checkout. In a work tree of a clone it is elsewhere than in the clone.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]).filter(|log| Path::new(log).exists()) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-env-changed=KUMITE_COMMIT");
    let commit = std::env::var("KUMITE_COMMIT").ok().or_else(|| git(&["rev-parse", "--short=8", "HEAD"]));
    let commit = commit.filter(|commit| !commit.is_empty());
    let commit = commit.map_or(String::new(), |commit| format!("+{commit}"));
    println!("cargo::rustc-env=KUMITE_VERSION={}{commit}", env!("CARGO_PKG_VERSION"));
}

/// None outside of a clone.
fn git(arguments: &[&str]) -> Option<String> {
    let said = Command::new("git").args(arguments).output().ok()?;
    said.status.success().then(|| String::from_utf8_lossy(&said.stdout).trim().to_owned())
}
