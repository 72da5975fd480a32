//! A kit keeps to the protocol: its conformance worker is built as its README says, and tried by `kumite kit-test`.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::checkout::{Checkout, run};
use anyhow::{Context, Result, anyhow};

/// Builds the kit's conformance worker and tries it.
pub fn conforms(checkout: &Checkout, kit: &str) -> Result<()> {
    let built = checkout.binaries.join("kits");
    std::fs::create_dir_all(&built).with_context(|| built.display().to_string())?;
    let (build, worker) = commands(kit, &built)?;
    let java = newest_jdk(Path::new("/usr/lib/jvm"));
    let command = |command: &mut Command| {
        command.current_dir(checkout.root.join("kits").join(kit));
        if let Some(java) = &java {
            command.env("JAVA_HOME", java);
        }
        run(command)
    };
    command(Command::new("sh").args(["-c", &build]))?;
    command(Command::new(checkout.binaries.join("kumite")).args(["kit-test", &worker]))
}

/// The commands that build a kit's worker, and start it.
fn commands(kit: &str, built: &Path) -> Result<(String, String)> {
    let built = built.display();
    let jvm = |main: &str| {
        let classes = "target/classes:target/test-classes:target/lib/*";
        let run = format!("exec \"$JAVA_HOME/bin/java\" -cp '{classes}' {main}");
        ("mvn -q -B clean package".to_owned(), run)
    };
    let script = |run: &str| ("true".to_owned(), run.to_owned());
    Ok(match kit {
        "cpp" => (format!("g++ -std=c++20 -O2 -o {built}/cpp conformance.cpp"), format!("exec {built}/cpp")),
        "elixir" => (
            "./build.sh _build".to_owned(),
            "exec env ERL_LIBS=_build elixir --erl -noinput conformance.exs".to_owned(),
        ),
        "go" => (format!("go build -o {built}/go ./conformance"), format!("exec {built}/go")),
        "java" => jvm("Conformance"),
        "kotlin" => jvm("ConformanceKt"),
        "node" => script("exec node conformance.mjs"),
        "python" => script("exec python3 conformance.py"),
        "rust" => (
            format!("cargo build -q --release --example conformance --target-dir {built}/rust"),
            format!("exec {built}/rust/release/examples/conformance"),
        ),
        other => return Err(anyhow!("xtask/src/ci/kits.rs does not know how to build the kit {other}")),
    })
}

/// The newest JDK there is, which what runs as `java` need not be.
fn newest_jdk(folder: &Path) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let given = std::env::var_os("JAVA_HOME").map(PathBuf::from);
    let homes = entries.chain(given).filter(|home| home.join("bin/javac").is_file());
    homes.filter_map(|home| Some((version(&home)?, home))).max().map(|(_, home)| home)
}

/// The first number of what is said about a JDK in its `release` file.
fn version(home: &Path) -> Option<u32> {
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let line = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
    line.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kit_can_be_built() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let kits = super::super::catalogue::Catalogue::read(root).unwrap().kits;
        assert_eq!(kits.len(), 8);
        for kit in kits {
            commands(&kit, Path::new("built")).unwrap();
        }
    }

    #[test]
    fn the_newest_jdk_is_found_by_number_and_not_by_name() {
        let place = tempfile::tempdir().unwrap();
        for (name, version) in [("java-9", "9.0.4"), ("temurin", "25.0.1"), ("java-17", "17.0.15")] {
            let home = place.path().join(name);
            std::fs::create_dir_all(home.join("bin")).unwrap();
            std::fs::write(home.join("bin/javac"), "").unwrap();
            std::fs::write(home.join("release"), format!("OS=\"x\"\nJAVA_VERSION=\"{version}\"\n")).unwrap();
        }
        std::fs::create_dir(place.path().join("zulu-30")).unwrap();
        assert_eq!(version(&newest_jdk(place.path()).unwrap()), Some(25));
    }
}
