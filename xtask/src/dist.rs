//! `cargo xtask dist`: the packages that people install. For each processor one binary, for every glibc from 2.31 on (Debian 11), wrapped
//! as tar.gz, Debian package and Python wheel, each with experiments, kits, manual pages and completions.

mod licences;

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::{env, fs, io};

/// A processor, as Rust, Debian and Python call it.
struct Processor {
    target: &'static str,
    debian: &'static str,
    python: &'static str,
}

/// The first is this machine's, which makes manual pages and completions for both.
const PROCESSORS: [Processor; 2] = [
    Processor { target: "x86_64-unknown-linux-gnu", debian: "amd64", python: "x86_64" },
    Processor { target: "aarch64-unknown-linux-gnu", debian: "arm64", python: "aarch64" },
];
/// Debian 11 has it.
const GLIBC: &str = "2.31";
/// Zig's linker, by way of cargo, builds for an older glibc than this machine's.
const BUILD_TOOLS: [&str; 2] = ["cargo-zigbuild==0.23.0", "ziglang==0.15.2"];
/// Its contender kumite is built from kumite's sources, which are in no package.
const NEEDS_SOURCES: &str = "experiments/frame-pacing/";
/// A stripped binary is no larger.
const MOST_BYTES: u64 = 20 << 20;

type Done<T = ()> = Result<T, String>;

/// For these targets, or for all.
pub fn run(only: &[&str]) -> ExitCode {
    match dist(only) {
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
fn dist(only: &[&str]) -> Done<Vec<PathBuf>> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .canonicalize()
        .map_err(error_of("the project"))?;
    let out = root.join("target/dist");
    let known = |target: &&str| PROCESSORS.iter().any(|processor| processor.target == *target);
    if let Some(other) = only.iter().find(|target| !known(target)) {
        let targets = PROCESSORS.map(|processor| processor.target).join(" and ");
        return Err(format!("{other}: the targets are {targets}"));
    }
    let wanted: Vec<&Processor> =
        PROCESSORS.iter().filter(|processor| only.is_empty() || only.contains(&processor.target)).collect();
    check_first(&root, &wanted)?;
    let common = out.join("common");
    progress("what is the same for every processor: manual pages, licences");
    remove(&common)?;
    common_files(&root, &common.join("share"))?;
    progress("zig's linker");
    let tools = tools(&root, &out)?;
    let mut made = Vec::new();
    for (nth, processor) in (1..).zip(&wanted) {
        let (of, target) = (wanted.len(), processor.target);
        progress(&format!("{target}, {nth} of {of}: optimised as a whole, which takes ten minutes or more"));
        made.extend(packages(&root, &out, &common, &tools, processor)?);
    }
    let names: Vec<&str> = made.iter().filter_map(|file| file.file_name()?.to_str()).collect();
    let sums =
        Command::new("sha256sum").args(names).current_dir(&out).output().map_err(error_of("sha256sum"))?;
    let file = out.join("SHA256SUMS");
    fs::write(&file, sums.stdout).map_err(error_of("SHA256SUMS"))?;
    made.push(file);
    Ok(made)
}

/// Refuses at once if a tool is missing that a build of many minutes would end without.
fn check_first(root: &Path, wanted: &[&Processor]) -> Done {
    let lib = sysroot(root)?.join("lib/rustlib");
    let is_missing = |processor: &&&Processor| !lib.join(processor.target).join("lib").is_dir();
    if let Some(missing) = wanted.iter().find(is_missing) {
        let (target, others) = (missing.target, wanted.iter().filter(|other| other.target != missing.target));
        let only =
            others.map(|other| format!(", or `cargo xtask dist {}`", other.target)).collect::<String>();
        return Err(format!("Rust has no {target} here: `rustup target add {target}`{only}"));
    }
    for tool in ["git", "python3", "tar", "dpkg-deb", "sha256sum", "cp"] {
        let paths = env::var_os("PATH").unwrap_or_default();
        if !env::split_paths(&paths).any(|folder| folder.join(tool).is_file()) {
            return Err(format!("there is no `{tool}` on PATH, which packages are made with"));
        }
    }
    Ok(())
}

fn progress(what: &str) {
    eprintln!("dist: {what}");
}

/// Writes the files that are the same for every processor.
fn common_files(root: &Path, share: &Path) -> Done {
    tracked(root, &["experiments", "kits"], &share.join("kumite"))?;
    let doc = share.join("doc/kumite");
    for file in ["README.md", "METHODOLOGY.md", "BIAS.md", "LICENSE-APACHE", "LICENSE-MIT", "CHANGELOG.md"] {
        copy(&root.join(file), &doc.join(file))?;
    }
    tracked(root, &["docs"], &doc)?;
    write(&doc.join("THIRD-PARTY-LICENSES"), &licences::of_dependencies(root)?)?;
    cargo(root, &["run", "--release", "-q", "-p", "kumite", "--example", "dist_files", "--"], share)
}

fn packages(root: &Path, out: &Path, common: &Path, tools: &Path, of: &Processor) -> Done<Vec<PathBuf>> {
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("kumite-{version}-{}", of.target);
    let prefix = out.join(&name);
    remove(&prefix)?;
    run_in(out, Command::new("cp").arg("-a").arg(common).arg(&prefix))?;
    let debug = out.join(format!("{name}.debug"));
    binary(root, tools, of.target, &prefix.join("bin/kumite"), &debug)?;
    let tar = out.join(format!("{name}.tar.gz"));
    // The same bytes from the same files, whoever makes them and when.
    let steady = ["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "-czf"];
    run_in(out, Command::new("tar").args(steady).arg(&tar).arg(&name))?;
    let deb = deb(out, &prefix, version, of.debian)?;
    let wheel = wheel(root, out, &prefix, version, of.python)?;
    Ok(vec![tar, deb, wheel, debug])
}

/// The folder of programs that build for an older glibc, and for another processor.
fn tools(root: &Path, out: &Path) -> Done<PathBuf> {
    let tools = out.join("tools");
    if !tools.join("bin/cargo-zigbuild").is_file() {
        run_in(root, Command::new("python3").args(["-m", "venv"]).arg(&tools))?;
        let pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"];
        run_in(root, Command::new(tools.join("bin/python")).args(pip).args(BUILD_TOOLS))?;
    }
    Ok(tools.join("bin"))
}

/// The binary without debug information, and that in a file of its own.
fn binary(root: &Path, tools: &Path, target: &str, binary: &Path, debug: &Path) -> Done {
    let paths = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([tools.to_owned()].into_iter().chain(env::split_paths(&paths)));
    let for_glibc = format!("--target={target}.{GLIBC}");
    let build = root.join("target/dist/build");
    let arguments = ["zigbuild", "--release", "--locked", "-p", "kumite", &for_glibc];
    run_in(
        root,
        Command::new("cargo")
            .args(arguments)
            .env("PATH", path.map_err(|error| error.to_string())?)
            // Optimised as a whole, which takes minutes, and a fifth off its size.
            .env("CARGO_PROFILE_RELEASE_LTO", "fat")
            .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "1")
            .env("CARGO_PROFILE_RELEASE_DEBUG", "line-tables-only")
            .env("CARGO_TARGET_DIR", &build),
    )?;
    let built = build.join(target).join("release/kumite");
    fs::create_dir_all(binary.parent().unwrap_or(binary)).map_err(error_of("the binary"))?;
    let objcopy = || objcopy(root);
    run_in(
        root,
        objcopy()?.args(["--only-keep-debug", "--compress-debug-sections"]).args([built.as_path(), debug]),
    )?;
    run_in(root, objcopy()?.arg("--strip-all").args([built.as_path(), binary]))?;
    let size = fs::metadata(binary).map_err(error_of("the binary"))?.len();
    match size > MOST_BYTES {
        true => Err(format!("{} has {size} bytes, more than {MOST_BYTES}", binary.display())),
        false => Ok(()),
    }
}

/// The folder of the Rust that builds.
fn sysroot(root: &Path) -> Done<PathBuf> {
    let asked = Command::new("rustc").args(["--print", "sysroot"]).current_dir(root).output();
    let sysroot =
        String::from_utf8(asked.map_err(error_of("rustc"))?.stdout).map_err(|error| error.to_string())?;
    Ok(PathBuf::from(sysroot.trim()))
}

/// The one that comes with Rust: binutils' knows one processor alone.
fn objcopy(root: &Path) -> Done<Command> {
    let lib = sysroot(root)?.join("lib");
    let mut objcopy = Command::new(lib.join("rustlib").join(PROCESSORS[0].target).join("bin/rust-objcopy"));
    objcopy.env("LD_LIBRARY_PATH", lib);
    Ok(objcopy)
}

fn deb(out: &Path, prefix: &Path, version: &str, processor: &str) -> Done<PathBuf> {
    let tree = out.join("deb");
    remove(&tree)?;
    fs::create_dir_all(&tree).map_err(error_of("the package"))?;
    run_in(out, Command::new("cp").arg("-a").arg(prefix).arg(tree.join("usr")))?;
    let control = [
        "Package: kumite".to_owned(),
        format!("Version: {version}"),
        format!("Architecture: {processor}"),
        "Maintainer: The kumite developers <kumite@example.invalid>".to_owned(),
        format!("Depends: libc6 (>= {GLIBC})"),
        "Recommends: fuse3, python3".to_owned(),
        "Section: devel".to_owned(),
        "Priority: optional".to_owned(),
        "Description: settles performance arguments about concurrency and runtimes".to_owned(),
        " Interleaved, paired, checked trials, and verdicts with intervals.\n".to_owned(),
    ]
    .join("\n");
    write(&tree.join("DEBIAN/control"), &control)?;
    let deb = out.join(format!("kumite_{version}_{processor}.deb"));
    run_in(out, Command::new("dpkg-deb").args(["--root-owner-group", "--build"]).args([&tree, &deb]))?;
    Ok(deb)
}

fn wheel(root: &Path, out: &Path, prefix: &Path, version: &str, processor: &str) -> Done<PathBuf> {
    let glibc = GLIBC.replace('.', "_");
    let wheel = out.join(format!("kumite-{version}-py3-none-manylinux_{glibc}_{processor}.whl"));
    let script = root.join("xtask/src/dist/wheel.py");
    run_in(root, Command::new("python3").arg(script).args([prefix, &wheel]).arg(version))?;
    Ok(wheel)
}

/// Copies the files below these folders that git tracks: nothing that a build or a run has left.
fn tracked(root: &Path, folders: &[&str], to: &Path) -> Done {
    let git_error = error_of("git");
    let listed = Command::new("git").args(["ls-files", "-z", "--"]).args(folders).current_dir(root).output();
    let listed = listed.map_err(git_error)?.stdout;
    for name in listed.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let name = std::str::from_utf8(name).map_err(|error| error.to_string())?;
        if name.starts_with(NEEDS_SOURCES) {
            continue;
        }
        copy(&root.join(name), &to.join(name))?;
    }
    Ok(())
}

/// Runs cargo, with one more argument.
fn cargo(root: &Path, arguments: &[&str], last: &Path) -> Done {
    run_in(root, Command::new(env!("CARGO")).args(arguments).arg(last))
}

fn copy(from: &Path, to: &Path) -> Done {
    let what = || from.display().to_string();
    fs::create_dir_all(to.parent().unwrap_or(to)).map_err(error_of(&what()))?;
    fs::copy(from, to).map(|_| ()).map_err(error_of(&what()))
}

fn write(file: &Path, text: &str) -> Done {
    fs::create_dir_all(file.parent().unwrap_or(file)).map_err(error_of(&file.display().to_string()))?;
    fs::write(file, text).map_err(error_of(&file.display().to_string()))
}

fn remove(folder: &Path) -> Done {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error_of(&folder.display().to_string())(error))
        }
        _ => Ok(()),
    }
}

fn run_in(folder: &Path, command: &mut Command) -> Done {
    let status = command.current_dir(folder).status().map_err(|error| format!("{command:?}: {error}"))?;
    if status.success() { Ok(()) } else { Err(format!("{command:?}: {status}")) }
}

fn error_of(what: &str) -> impl Fn(io::Error) -> String + use<> {
    let what = what.to_owned();
    move |error| format!("{what}: {error}")
}
