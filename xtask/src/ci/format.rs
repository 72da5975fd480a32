//! Contenders, kits and scripts are formatted, each by its language's own formatter.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use super::checkout::{Checkout, run};
use super::git;
use super::language::Language;
use anyhow::{Context, Result, anyhow};

const RUFF: &str = "ruff==0.17.5";
const PRETTIER: &str = "prettier@3.6.2";
const KTLINT: &str = "com.github.gantsign.maven:ktlint-maven-plugin:3.5.0:check";
const JAVA_FORMAT: &str = "com.spotify.fmt:fmt-maven-plugin:2.29:check";

/// Tries every formatter that has files in this folder, and names the languages that are not formatted.
pub fn check(checkout: &Checkout, folder: &str) -> Result<()> {
    let root = &checkout.root;
    let files = git::files(root)?;
    let files: Vec<&str> =
        files.iter().filter_map(|file| file.strip_prefix(folder)?.strip_prefix('/')).collect();
    let folder = root.join(folder);
    let mut wrong = Vec::new();
    let languages: BTreeSet<Language> = files.iter().filter_map(|file| Language::of_file(file)).collect();
    for language in languages {
        let its: Vec<&str> =
            files.iter().copied().filter(|file| Language::of_file(file) == Some(language)).collect();
        let done = match language {
            Language::Go => gofmt(&folder, &its),
            Language::Python => ruff(checkout, &folder, &its),
            Language::Node => {
                let arguments = ["--yes", PRETTIER, "--check"];
                run(Command::new("npx").args(arguments).args(&its).current_dir(&folder))
            }
            // Formatted as each program's own settings say.
            Language::Rust => in_each(&folder, &files, "Cargo.toml", &its, &["cargo", "fmt", "--check"]),
            Language::Elixir => {
                in_each(&folder, &files, ".formatter.exs", &its, &["mix", "format", "--check-formatted"])
            }
            Language::Java => in_each(&folder, &files, "pom.xml", &its, &["mvn", "-q", "-B", JAVA_FORMAT]),
            Language::Kotlin => in_each(&folder, &files, "pom.xml", &its, &["mvn", "-q", "-B", KTLINT]),
            // Its formatter comes in as many versions as there are compilers, and they differ.
            Language::Cpp => Ok(()),
        };
        if let Err(why) = done {
            wrong.push(format!("{}: {why:#}", language.name()));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(anyhow!("not formatted: {}", wrong.join("; "))) }
}

/// Runs the command in each folder that has this file, if one of these is below it.
fn in_each(folder: &Path, files: &[&str], file: &str, its: &[&str], command: &[&str]) -> Result<()> {
    for home in homes(files, file, its) {
        run(Command::new(command[0]).args(&command[1..]).current_dir(folder.join(home)))
            .with_context(|| format!("{}/{home}", folder.display()))?;
    }
    Ok(())
}

/// The folders that have this file, and one of these below them.
fn homes<'a>(files: &[&'a str], file: &str, its: &[&str]) -> Vec<&'a str> {
    let homes = files
        .iter()
        .filter_map(|path| path.strip_suffix(file)?.strip_suffix('/').or(Some("").filter(|_| *path == file)));
    homes
        .filter(|home| {
            its.iter().any(|path| {
                home.is_empty() || path.strip_prefix(home).is_some_and(|rest| rest.starts_with('/'))
            })
        })
        .collect()
}

fn gofmt(folder: &Path, files: &[&str]) -> Result<()> {
    let output = Command::new("gofmt").arg("-l").args(files).current_dir(folder).output();
    let output = output.context("gofmt cannot be started")?;
    let named = String::from_utf8_lossy(&output.stdout).trim().replace('\n', ", ");
    if output.status.success() && named.is_empty() { Ok(()) } else { Err(anyhow!(named)) }
}

/// Formats and lints; it is had from PyPI once for each target folder.
fn ruff(checkout: &Checkout, folder: &Path, files: &[&str]) -> Result<()> {
    let home = checkout.binaries.join(RUFF);
    let ruff = home.join("bin/ruff");
    if !ruff.is_file() {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home))?;
        let pip = ["install", "--quiet", "--disable-pip-version-check", RUFF];
        run(Command::new(home.join("bin/pip")).args(pip))?;
    }
    // It tells a program's own imports from others by the folder that it is started in.
    let parents: BTreeSet<&Path> = files.iter().filter_map(|file| Path::new(file).parent()).collect();
    for parent in parents {
        let here = files.iter().map(Path::new).filter(|file| file.parent() == Some(parent));
        let names: Vec<_> = here.filter_map(Path::file_name).collect();
        for what in [&["format", "--check"][..], &["check"]] {
            let command = &mut Command::new(&ruff);
            run(command.args(what).arg("--no-cache").args(&names).current_dir(folder.join(parent)))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_formatter_goes_where_its_settings_and_its_language_are() {
        let files = ["pom.xml", "a/pom.xml", "a/src/A.java", "b/pom.xml", "b/src/B.kt", "c/D.java"];
        assert_eq!(homes(&files, "pom.xml", &["a/src/A.java", "c/D.java"]), ["", "a"]);
        assert_eq!(homes(&files[1..], "pom.xml", &["a/src/A.java", "c/D.java"]), ["a"]);
    }
}
