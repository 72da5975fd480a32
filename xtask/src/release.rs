//! `cargo xtask release --dry-run`: what is missing before a release can be made. It makes none.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::found::why_not_settled;
use crate::project::{folders, read, show};

/// What people install, as its files' names end.
const PACKAGES: [&str; 6] = [
    "amd64.deb",
    "arm64.deb",
    "x86_64-unknown-linux-gnu.tar.gz",
    "aarch64-unknown-linux-gnu.tar.gz",
    "x86_64.whl",
    "aarch64.whl",
];

/// Says what is missing. Fails if anything is.
pub fn dry_run(root: &Path) -> ExitCode {
    let version = env!("CARGO_PKG_VERSION");
    let mut missing = Vec::new();
    let changes = read(&root.join("CHANGELOG.md"), &mut missing);
    missing.extend(unfit_changelog(&changes, version));
    for experiment in folders(&root.join("experiments")) {
        let why = why_not_settled(&experiment);
        missing.extend(why.map(|why| format!("{}: {why}", show(root, &experiment))));
    }
    missing.extend(unmade_packages(&root.join("target/dist"), version));
    missing.extend(denied(root));
    for what in &missing {
        println!("{what}");
    }
    println!("release {version}: {} things are missing", missing.len());
    if missing.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Why this changelog is not that of a release of this version. What is unreleased belongs below the version.
fn unfit_changelog(changes: &str, version: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    let heading = changes.lines().find_map(|line| line.strip_prefix(&format!("## [{version}]")));
    match heading.map(|rest| rest.trim_start_matches([' ', '-'])) {
        None => wrong.push(format!("CHANGELOG.md: it has no section [{version}]")),
        Some(date) if date.parse::<jiff::civil::Date>().is_err() => {
            wrong.push(format!("CHANGELOG.md: [{version}] has no date: {date}"));
        }
        Some(_) => {}
    }
    let unreleased = changes.split("## [Unreleased]").nth(1).unwrap_or_default();
    let unreleased = unreleased.split("\n## ").next().unwrap_or_default();
    let lines = unreleased.lines().filter(|line| line.starts_with("- ")).count();
    if lines > 0 {
        wrong.push(format!("CHANGELOG.md: {lines} lines are unreleased: put them below [{version}]"));
    }
    wrong
}

/// The packages that `cargo xtask dist` has not made of this version.
fn unmade_packages(dist: &Path, version: &str) -> Vec<String> {
    let entries = std::fs::read_dir(dist).into_iter().flatten().flatten();
    let made: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let is_made = |end: &&str| made.iter().any(|name| name.contains(version) && name.ends_with(*end));
    let missing = PACKAGES.iter().filter(|end| !is_made(end));
    missing.map(|end| format!("target/dist: no kumite {version} …{end}: `cargo xtask dist`")).collect()
}

/// What cargo-deny finds in the crates that kumite is built from, by `deny.toml`, or that it is not here. Advisories are a
/// question of their own: they have to be fetched, and the others can be told without a network.
fn denied(root: &Path) -> Vec<String> {
    let asked = [&["advisories"][..], &["bans", "licenses", "sources"]];
    asked.into_iter().filter_map(|checks| denied_by(root, checks)).collect()
}

fn denied_by(root: &Path, checks: &[&str]) -> Option<String> {
    let mut command = Command::new("cargo");
    command.args(["deny", "--log-level", "error", "check"]).args(checks).current_dir(root);
    let what = format!("cargo deny check {}", checks.join(" "));
    match command.output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(format!("{what}: {}", why_denied(&String::from_utf8_lossy(&output.stderr)))),
        Err(error) => Some(format!("{what}: {error}")),
    }
}

/// The first thing that cargo-deny says, or the remedy if it was cargo that said it.
fn why_denied(said: &str) -> &str {
    if said.contains("no such command") {
        return "it is not here: `cargo install --locked cargo-deny`";
    }
    said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no reason given")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changelog_is_fit_with_a_date_and_nothing_unreleased() {
        let dated = "## [Unreleased]\n\n## [0.1.0] - 2026-12-24\n\n- A\n";
        assert_eq!(unfit_changelog(dated, "0.1.0"), [""; 0]);
        let undated = "## [Unreleased]\n\n- B\n- C\n\n## [0.1.0] - not yet\n\n- A\n";
        assert_eq!(
            unfit_changelog(undated, "0.1.0"),
            [
                "CHANGELOG.md: [0.1.0] has no date: not yet",
                "CHANGELOG.md: 2 lines are unreleased: put them below [0.1.0]"
            ]
        );
        assert_eq!(unfit_changelog(dated, "0.2.0"), ["CHANGELOG.md: it has no section [0.2.0]"]);
    }

    #[test]
    fn what_cargo_deny_says_first_is_missing_and_so_is_cargo_deny() {
        let said = "\nerror[rejected]: failed to satisfy license requirements\n  ┌─ Cargo.toml:4:12\n";
        assert_eq!(why_denied(said), "error[rejected]: failed to satisfy license requirements");
        let by_cargo =
            "error: no such command: `deny`\n\nhelp: view all installed commands with `cargo --list`\n";
        assert_eq!(why_denied(by_cargo), "it is not here: `cargo install --locked cargo-deny`");
    }

    #[test]
    fn packages_of_another_version_are_none() {
        let folder = tempfile::tempdir().unwrap();
        for name in [
            "kumite_0.1.0_amd64.deb",
            "kumite_0.0.9_arm64.deb",
            "kumite-0.1.0-x86_64-unknown-linux-gnu.tar.gz",
            "kumite-0.1.0-aarch64-unknown-linux-gnu.tar.gz",
            "kumite-0.1.0-py3-none-manylinux_2_31_x86_64.whl",
            "kumite-0.1.0-py3-none-manylinux_2_31_aarch64.whl",
        ] {
            std::fs::write(folder.path().join(name), "").unwrap();
        }
        let missing = unmade_packages(folder.path(), "0.1.0");
        assert_eq!(missing, ["target/dist: no kumite 0.1.0 …arm64.deb: `cargo xtask dist`"]);
    }
}
