//! `cargo xtask tidy`: checks that no compiler makes, of crates and modules that use each other, of documents that repeat
//! code, and of markers of unfinished work.

mod dependencies;
mod links;
pub mod measures;
mod modules;
mod tables;

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::found;
use crate::project::{folders, read, root, show};

/// Words that no source file has, each with the remedy. Each is put together, so that it is not found here.
const BANNED: [(&str, &str); 6] = [
    (concat!("TO", "DO"), "file an issue"),
    (concat!("FIX", "ME"), "fix it, or file an issue"),
    (concat!("todo", "!("), "write it, or leave it out"),
    (concat!("unimple", "mented!("), "write it, or leave it out"),
    (concat!("db", "g!("), "take it out"),
    (concat!("allow(", "unsafe_code)"), "unsafe code needs a module of its own that says why"),
];

/// Words that only one crate may say, or that one (`!`) may not, each with the reason.
const ONLY_IN: [(&str, &str, &str); 10] = [
    (concat!("process::", "Command"), "crates/kumite-process", "only kumite-process starts processes"),
    (concat!("Command", "::new("), "crates/kumite-process", "only kumite-process starts processes"),
    (concat!("Instant", "::now("), "!crates/kumite-stats", "kumite-stats has no clock"),
    (concat!("std", "::fs"), "!crates/kumite-report", "kumite-report reads no file"),
    (concat!("Instant", "::"), "!crates/kumite-judge", "kumite-judge has no clock"),
    (concat!("System", "Time"), "!crates/kumite-judge", "kumite-judge has no clock"),
    (concat!("std", "::fs"), "!crates/kumite-judge", "kumite-judge reads no file"),
    (concat!("std", "::env"), "!crates/kumite-judge", "kumite-judge reads no environment"),
    (concat!("std", "::process"), "!crates/kumite-judge", "kumite-judge knows no process"),
    (concat!("rustix::", "mount"), "crates/kumite-disk", "only kumite-disk mounts anything"),
];

/// Prints what is wrong, a line each, and ends with 1 if anything is.
pub fn run() -> ExitCode {
    let root = root();
    let mut wrong = Vec::new();
    let tracked = tracked(root, &mut wrong);
    dependencies::check(root, &mut wrong);
    modules::check(root, &tracked, &mut wrong);
    sources(root, &tracked, &mut wrong);
    documents(root, &mut wrong);
    found::check(root, &mut wrong);
    measures::check(root, &mut wrong);
    links::check(root, &tracked, &mut wrong);
    for line in &wrong {
        println!("{line}");
    }
    println!("tidy: {} findings", wrong.len());
    if wrong.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tracked(root: &Path, wrong: &mut Vec<String>) -> Vec<String> {
    let names = Command::new("git").args(["ls-files"]).current_dir(root).output();
    let names = names.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if names.is_empty() {
        wrong.push("git ls-files names no file: is this a checkout?".to_owned());
    }
    names.lines().map(str::to_owned).collect()
}

fn sources(root: &Path, tracked: &[String], wrong: &mut Vec<String>) {
    for name in tracked {
        let is_ours = name.ends_with(".rs") && name.starts_with("crates/");
        // A build script is no part of its crate.
        let is_build = name.ends_with("/build.rs") && !name.contains("/src/");
        let is_test = is_build
            || ["/tests/", "/examples/"].iter().any(|folder| name.contains(folder))
            || name.starts_with("crates/kumite-testing/");
        let is_source = [".rs", ".go", ".js", ".mjs", ".ex", ".exs", ".sh", ".toml", ".java", ".kt", ".py"]
            .iter()
            .any(|end| name.ends_with(end));
        if !is_source {
            continue;
        }
        let text = read(&root.join(name), wrong);
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        for (word, instead) in BANNED {
            for line in lines_with(&text, word) {
                wrong.push(format!("{name}:{line}: {word}: {instead}"));
            }
        }
        for (word, place, why) in ONLY_IN.iter().filter(|_| is_ours && !is_test) {
            let elsewhere = match place.strip_prefix('!') {
                Some(place) => name.starts_with(place),
                None => !name.starts_with(place),
            };
            for line in lines_with(code, word).filter(|_| elsewhere) {
                wrong.push(format!("{name}:{line}: {word}: {why}"));
            }
        }
    }
}

/// Documents that repeat code say what the code says; every experiment and contender has its README.
fn documents(root: &Path, wrong: &mut Vec<String>) {
    let grammar = read(&root.join("crates/kumite-judge/src/claim/grammar.txt"), wrong);
    if !read(&root.join("docs/claims.md"), wrong).contains(grammar.trim()) {
        wrong.push(
            "docs/claims.md: its claim grammar is not crates/kumite-judge/src/claim/grammar.txt".to_owned(),
        );
    }
    let example = ["run", "-q", "-p", "kumite-lab", "--example", "reference"];
    match Command::new(env!("CARGO")).args(example).current_dir(root).output() {
        Ok(made) if made.status.success() => {
            if read(&root.join("docs/reference.md"), wrong).as_bytes() != made.stdout {
                let remedy =
                    "`cargo run -p kumite-lab --example reference > docs/reference.md` makes it anew";
                wrong.push(format!("docs/reference.md: it is not what the code declares; {remedy}"));
            }
        }
        Ok(made) => wrong.push(String::from_utf8_lossy(&made.stderr).into_owned()),
        Err(error) => wrong.push(format!("cannot make docs/reference.md: {error}")),
    }
    let rust = concat!("Rust ", env!("CARGO_PKG_RUST_VERSION"), " ");
    if !read(&root.join("CONTRIBUTING.md"), wrong).contains(rust) {
        wrong.push(format!("CONTRIBUTING.md: it does not say {rust:?}, the rust-version of Cargo.toml"));
    }
    for experiment in folders(&root.join("experiments")) {
        let contenders = folders(&experiment.join("contenders"));
        for folder in std::iter::once(&experiment).chain(&contenders) {
            if !folder.join("README.md").is_file() {
                wrong.push(format!("{}: no README.md", show(root, folder)));
            }
        }
    }
}

fn lines_with<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    (1..).zip(text.lines()).filter(move |(_, line)| line.contains(word)).map(|(number, _)| number)
}
