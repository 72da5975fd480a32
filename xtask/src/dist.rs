//! `cargo xtask dist`: what people install. One binary for x86-64 Linux and every glibc from 2.31 on (Debian 11), wrapped as
//! tar.gz, Debian package and Python wheel, each with experiments, kits, manual pages and completions.

mod licences;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

const TARGET: &str = "x86_64-unknown-linux-gnu";
/// That of Debian 11.
const GLIBC: &str = "2.31";
/// What builds for an older glibc than the one that is here: zig's linker, by way of cargo.
const BUILD_TOOLS: [&str; 2] = ["cargo-zigbuild==0.23.0", "ziglang==0.15.2"];
/// Of a stripped binary.
const MOST_BYTES: u64 = 20 << 20;

type Done<T = ()> = Result<T, String>;

pub fn run() -> ExitCode {
    match dist() {
        Ok(made) => {
            for file in made {
                println!("{}", file.display());
            }
            ExitCode::SUCCESS
        }
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

/// The files that were made, below target/dist/.
fn dist() -> Done<Vec<PathBuf>> {
    let root =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().map_err(said("the project"))?;
    let out = root.join("target/dist");
    let prefix = out.join("prefix");
    remove(&prefix)?;
    let (binary, debug) = binary(&root, &out)?;
    let share = prefix.join("share/kumite");
    copy(&binary, &prefix.join("bin/kumite"))?;
    tracked(&root, &["experiments", "kits"], &share)?;
    let doc = prefix.join("share/doc/kumite");
    for file in ["README.md", "METHODOLOGY.md", "LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        copy(&root.join(file), &doc.join(file))?;
    }
    let third = licences::of_dependencies(&root)?;
    write(&doc.join("THIRD-PARTY-LICENSES"), &third)?;
    cargo(
        &root,
        &["run", "--release", "-q", "-p", "kumite", "--example", "dist_files", "--"],
        &prefix.join("share"),
    )?;

    let version = env!("CARGO_PKG_VERSION");
    let name = format!("kumite-{version}-{TARGET}");
    let tar = out.join(format!("{name}.tar.gz"));
    // The same bytes from the same files, whoever makes them and when.
    let steady = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"];
    run_in(
        &out,
        Command::new("tar")
            .args(steady)
            .arg(&tar)
            .arg(format!("--transform=s,^prefix,{name},"))
            .arg("prefix"),
    )?;
    let deb = deb(&out, &prefix, version)?;
    let wheel = wheel(&root, &out, &prefix, version)?;
    let made = vec![tar, deb, wheel, debug];
    let names: Vec<&str> = made.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let sums = Command::new("sha256sum").args(names).current_dir(&out).output().map_err(said("sha256sum"))?;
    let file = out.join("SHA256SUMS");
    fs::write(&file, sums.stdout).map_err(said("SHA256SUMS"))?;
    Ok(made.into_iter().chain([file]).collect())
}

/// The binary without debug information, and that in a file of its own.
fn binary(root: &Path, out: &Path) -> Done<(PathBuf, PathBuf)> {
    let tools = out.join("tools");
    if !tools.join("bin/cargo-zigbuild").is_file() {
        run_in(root, Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run_in(root, Command::new(tools.join("bin/python")).args(pip).args(BUILD_TOOLS))?;
    }
    let path = env::join_paths(
        [tools.join("bin")].into_iter().chain(env::split_paths(&env::var_os("PATH").unwrap_or_default())),
    );
    let target = format!("--target={TARGET}.{GLIBC}");
    let build = ["zigbuild", "--release", "--locked", "-p", "kumite", &target];
    run_in(
        root,
        Command::new("cargo")
            .args(build)
            .env("PATH", path.map_err(|error| error.to_string())?)
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only"),
    )?;
    let built = root.join("target").join(TARGET).join("release/kumite");
    let (binary, debug) = (out.join("kumite"), out.join("kumite.debug"));
    run_in(
        root,
        Command::new("objcopy")
            .args(["--only-keep-debug", "--compress-debug-sections"])
            .args([&built, &debug]),
    )?;
    run_in(root, Command::new("objcopy").arg("--strip-all").args([&built, &binary]))?;
    let size = fs::metadata(&binary).map_err(said("the binary"))?.len();
    if size > MOST_BYTES {
        return Err(format!("{} has {size} bytes, more than {MOST_BYTES}", binary.display()));
    }
    Ok((binary, debug))
}

fn deb(out: &Path, prefix: &Path, version: &str) -> Done<PathBuf> {
    let tree = out.join("deb");
    remove(&tree)?;
    fs::create_dir_all(&tree).map_err(said("the package"))?;
    run_in(out, Command::new("cp").arg("-a").arg(prefix).arg(tree.join("usr")))?;
    let control = format!(
        "Package: kumite\\nVersion: {version}\\nArchitecture: amd64\\nMaintainer: The kumite developers <kumite@example.invalid>\\n\\
         Depends: libc6 (>= {GLIBC})\\nRecommends: fuse3, python3\\nSection: devel\\nPriority: optional\\n\\
         Description: settles performance arguments about concurrency and runtimes\\n \\
         Interleaved, paired, checked trials, and verdicts with intervals.\\n"
    );
    write(&tree.join("DEBIAN/control"), &control)?;
    let deb = out.join(format!("kumite_{version}_amd64.deb"));
    run_in(out, Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).args([&tree, &deb]))?;
    Ok(deb)
}

fn wheel(root: &Path, out: &Path, prefix: &Path, version: &str) -> Done<PathBuf> {
    let wheel =
        out.join(format!("kumite-{version}-py3-none-manylinux_{}_x86_64.whl", GLIBC.replace('.', "_")));
    let script = root.join("xtask/src/dist/wheel.py");
    run_in(root, Command::new("python3").arg(script).args([prefix, &wheel]).arg(version))?;
    Ok(wheel)
}

/// What git knows below these folders: nothing that a build or a run has left.
fn tracked(root: &Path, folders: &[&str], to: &Path) -> Done {
    let said_git = said("git");
    let listed = Command::new("git").args(["ls-files", "-z", "--"]).args(folders).current_dir(root).output();
    let listed = listed.map_err(said_git)?.stdout;
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).map_err(|error| error.to_string())?;
        copy(&root.join(name), &to.join(name))?;
    }
    Ok(())
}

/// With a last argument.
fn cargo(root: &Path, arguments: &[&str], last: &Path) -> Done {
    run_in(root, Command::new(env!("CARGO")).args(arguments).arg(last))
}

fn copy(from: &Path, to: &Path) -> Done {
    let what = || from.display().to_string();
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(said(&what()))?;
    fs::copy(from, to).map(|_| ()).map_err(said(&what()))
}

fn write(file: &Path, text: &str) -> Done {
    fs::create_dir_all(file.parent().unwrap_or(file)).map_err(said(&file.display().to_string()))?;
    fs::write(file, text).map_err(said(&file.display().to_string()))
}

fn remove(folder: &Path) -> Done {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(said(&folder.display().to_string())(error))
        }
        _ => Ok(()),
    }
}

fn run_in(folder: &Path, command: &mut Command) -> Done {
    let status = command.current_dir(folder).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

fn said(what: &str) -> impl Fn(io::Error) -> String + use<> {
    let what = what.to_owned();
    move |error| format!("{what}: {error}")
}
