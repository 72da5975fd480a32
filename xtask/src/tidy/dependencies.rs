//! Each of our crates uses only those of ours that it may.

use std::path::Path;

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// A crate, and those of ours that it may use outside of tests.
type Allowed<'a> = (&'a str, &'a [&'a str]);

const ALLOWED: &[Allowed] = &[
    ("kumite-record", &[]),
    ("kumite-stats", &[]),
    ("kumite-process", &[]),
    ("kumite-cache", &[]),
    ("kumite-ring", &[]),
    ("kumite-limits", &[]),
    ("kumite-guard", &[]),
    ("kumite-har", &[]),
    ("kumite-agent", &["kumite-process"]),
    ("kumite-revision", &["kumite-cache", "kumite-process"]),
    ("kumite-play", &["kumite-guard", "kumite-limits"]),
    ("kumite-probe", &["kumite-process", "kumite-record"]),
    ("kumite-disk", &["kumite-process"]),
    ("kumite-function", &["kumite-guard", "kumite-process"]),
    ("kumite-load", &["kumite-limits", "kumite-ring"]),
    ("kumite-stub", &["kumite-limits"]),
    ("kumite-host", &["kumite-limits", "kumite-process", "kumite-record"]),
    ("kumite-judge", &["kumite-record", "kumite-stats"]),
    ("kumite-rate", &["kumite-load", "kumite-record", "kumite-stats"]),
    ("kumite-report", &["kumite-record"]),
    (
        "kumite-compare",
        &[
            "kumite-host",
            "kumite-load",
            "kumite-probe",
            "kumite-process",
            "kumite-rate",
            "kumite-record",
            "kumite-stats",
        ],
    ),
    (
        "kumite-lab",
        &[
            "kumite-cache",
            "kumite-disk",
            "kumite-function",
            "kumite-host",
            "kumite-judge",
            "kumite-limits",
            "kumite-load",
            "kumite-play",
            "kumite-probe",
            "kumite-process",
            "kumite-rate",
            "kumite-record",
            "kumite-stats",
            "kumite-stub",
        ],
    ),
    (
        "kumite-nodes",
        &["kumite-agent", "kumite-host", "kumite-lab", "kumite-process", "kumite-record", "kumite-report"],
    ),
    (
        "kumite",
        &[
            "kumite-agent",
            "kumite-cache",
            "kumite-compare",
            "kumite-disk",
            "kumite-function",
            "kumite-har",
            "kumite-host",
            "kumite-lab",
            "kumite-load",
            "kumite-nodes",
            "kumite-play",
            "kumite-probe",
            "kumite-process",
            "kumite-record",
            "kumite-report",
            "kumite-revision",
            "kumite-stub",
        ],
    ),
    ("kumite-testing", &["kumite-process"]),
    ("bench-compare", &["kumite-process"]),
    ("bench-floor", &[]),
    ("bench-function", &["kumite-process"]),
    ("bench-gate", &["bench-judge", "kumite-compare", "kumite-record", "kumite-stats"]),
    (
        "bench-judge",
        &["kumite-host", "kumite-judge", "kumite-lab", "kumite-process", "kumite-record", "kumite-stats"],
    ),
    ("bench-load", &["kumite-host", "kumite-lab", "kumite-process", "kumite-record", "kumite-stats"]),
    ("bench-play", &["kumite-lab", "kumite-limits", "kumite-play", "kumite-process"]),
    ("bench-rate", &["bench-judge", "kumite-record", "kumite-stub"]),
    ("xtask", &["kumite-host", "kumite-lab", "kumite-record", "kumite-report"]),
];

/// Adds what the workspace's crates use and may not.
pub fn check(root: &Path, wrong: &mut Vec<String>) {
    match MetadataCommand::new().manifest_path(root.join("Cargo.toml")).no_deps().exec() {
        Ok(metadata) => wrong.extend(refused(&metadata, ALLOWED)),
        Err(error) => wrong.push(format!("Cargo.toml: {error}")),
    }
}

fn refused(metadata: &Metadata, allowed: &[Allowed]) -> Vec<String> {
    let is_ours = |name: &str| metadata.packages.iter().any(|package| package.name == name);
    let mut wrong = Vec::new();
    for package in &metadata.packages {
        let file = package.manifest_path.strip_prefix(&metadata.workspace_root);
        let file = file.unwrap_or(&package.manifest_path);
        let Some((_, allowed)) = allowed.iter().find(|(name, _)| package.name == name) else {
            wrong.push(format!("{file}: {}: say in {} what it may use", package.name, file!()));
            continue;
        };
        let used = package.dependencies.iter().filter(|it| it.kind != DependencyKind::Development);
        for used in used.map(|it| it.name.as_str()).filter(|name| is_ours(name) && !allowed.contains(name)) {
            wrong.push(format!(
                "{file}: {} may not use {used}: do without it, or allow it in {}",
                package.name,
                file!()
            ));
        }
    }
    let gone = allowed.iter().filter(|(name, _)| !is_ours(name));
    wrong.extend(gone.map(|(name, _)| format!("{}: there is no crate {name}: take it out", file!())));
    wrong
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The findings on a crate `app` with these dependencies, beside crates `lib` and `tool`.
    fn refused_of(dependencies: &str, allowed: &[Allowed]) -> Vec<String> {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let file = folder.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        };
        write("Cargo.toml", "[workspace]\nresolver = \"3\"\nmembers = [\"app\", \"lib\", \"tool\"]\n");
        for (name, dependencies) in [("app", dependencies), ("lib", ""), ("tool", "")] {
            write(
                &format!("{name}/Cargo.toml"),
                &format!("[package]\nname = \"{name}\"\nedition = \"2024\"\n{dependencies}"),
            );
            write(&format!("{name}/src/lib.rs"), "");
        }
        let root = folder.path().join("Cargo.toml");
        refused(&MetadataCommand::new().manifest_path(root).no_deps().exec().unwrap(), allowed)
    }

    const ALL: &[Allowed] = &[("app", &["tool"]), ("lib", &[]), ("tool", &[])];

    #[test]
    fn a_dependency_that_is_not_allowed_is_found_however_it_is_written() {
        for dependencies in [
            "[dependencies]\nlib = { path = \"../lib\" }",
            "[dependencies.lib]\npath = \"../lib\"",
            "[dependencies]\nother = { package = \"lib\", path = \"../lib\" }",
            "[dependencies]\nlib = { path = \"../lib\", optional = true }",
            "[target.'cfg(windows)'.dependencies]\nlib = { path = \"../lib\" }",
            "[build-dependencies]\nlib = { path = \"../lib\" }",
            "[dev-dependencies]\ntool = { path = \"../tool\" }\n[dependencies]\nlib = { path = \"../lib\" }",
        ] {
            let wrong = refused_of(dependencies, ALL);
            assert_eq!(
                wrong,
                [
                    "app/Cargo.toml: app may not use lib: do without it, or allow it in xtask/src/tidy/dependencies.rs"
                ],
                "{dependencies}"
            );
        }
    }

    #[test]
    fn what_is_allowed_or_only_for_tests_is_not_refused() {
        for dependencies in [
            "",
            "[dependencies]\ntool = { path = \"../tool\" }\nserde = \"1\"",
            "[dev-dependencies]\nlib = { path = \"../lib\" }",
            "[target.'cfg(unix)'.dev-dependencies]\nlib = { path = \"../lib\" }",
        ] {
            assert_eq!(refused_of(dependencies, ALL), [""; 0], "{dependencies}");
        }
    }

    #[test]
    fn a_crate_that_the_list_does_not_know_or_that_is_gone_is_refused() {
        let wrong = refused_of("", &[("app", &[]), ("lib", &[]), ("gone", &[])]);
        assert!(wrong[0].starts_with("tool/Cargo.toml: tool: say in "), "{wrong:?}");
        assert!(wrong[1].contains("there is no crate gone"), "{wrong:?}");
        assert_eq!(wrong.len(), 2);
    }
}
