//! The search for the tools that contenders need: on PATH, in JAVA_HOME, where the system keeps several Javas and
//! PostgreSQLs, and among npm's packages.
//!
//! The first tool that is new enough is taken, and its folder goes to the front of PATH for that contender alone. A
//! tool is asked for its version once for each way to it. Nothing is installed here.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use kumite_process::{Spawn, run};

use super::entries::entries_of;
use super::need::{Need, dotted, is_older, parse_version, version_said};
use super::npm;
use crate::error::{Error, Fault, MissingTool};
use crate::parameter::LEADS_TO_TOOLS;

const ASK_LIMIT: Duration = Duration::from_secs(30);
/// The folder in which Linux distributions keep each Java in a folder of its own.
const JVMS: &str = "/usr/lib/jvm";
/// The folder in which Debian keeps each PostgreSQL in a folder of its own.
const POSTGRESQLS: &str = "/usr/lib/postgresql";

/// The versions that tools printed, by the tool and the way to it, so that no tool has to print its version twice. They
/// are forgotten after an installation, since it may change them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Versions(Arc<Mutex<HashMap<Asked, Vec<u64>>>>);

type Asked = (String, Vec<(String, String)>);

/// The tools of one contender, and the way to them.
pub(crate) struct Tools {
    way: Way,
    versions: Versions,
    jvms: PathBuf,
    postgresqls: PathBuf,
    /// The folders of npm's packages that may hold tools.
    npm: Vec<PathBuf>,
    /// The tools that were found: each command, with its version if it was asked for one.
    pub found: Vec<(String, Option<String>)>,
}

/// The folders in which a command finds its tools: those of PATH in their order, and Java's.
#[derive(Clone)]
struct Way {
    path: Vec<PathBuf>,
    /// The value for JAVA_HOME. None if that is not set, and no Java was found.
    java_home: Option<PathBuf>,
}

impl Tools {
    /// A search for tools that has found none yet.
    pub fn new(versions: &Versions) -> Tools {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let java_home = std::env::var_os("JAVA_HOME").map(PathBuf::from);
        let way = Way { path: std::env::split_paths(&path).collect(), java_home };
        Tools {
            way,
            versions: versions.clone(),
            jvms: JVMS.into(),
            postgresqls: POSTGRESQLS.into(),
            npm: npm::folder().map(|kept| npm::tool_folders(&kept)).unwrap_or_default(),
            found: Vec::new(),
        }
    }

    /// The version of the first tool that was asked for one. None if no tool was asked.
    pub fn version(&self) -> Option<String> {
        self.found.iter().find_map(|(_, version)| version.clone())
    }

    /// The path of the file that commands run for this tool. None if it is nowhere on the way.
    pub fn file(&self, tool: &str) -> Option<PathBuf> {
        self.way.path.iter().map(|folder| folder.join(tool)).find(|file| runs(file))
    }

    /// The found tools whose file is a short shell script that starts the real tool each time (pyenv, rbenv, asdf),
    /// with that file.
    pub fn shims(&self) -> Vec<(&str, PathBuf)> {
        let found = self.found.iter().map(|(tool, _)| tool.as_str());
        found.filter_map(|tool| Some((tool, self.file(tool).filter(|file| is_shim(file))?))).collect()
    }

    /// The variables to set on top of our own environment for commands that use these tools. An error if a variable is
    /// not UTF-8, or if PATH would have a folder with a colon in its name.
    pub fn env(&self) -> Result<Vec<(String, String)>, Error> {
        self.way.env()
    }

    /// Finds the first tool that meets the need, and adds it. The error is about the newest tool that was too old; if
    /// there was none, about the first tool that did not tell its version; and if there was no such tool either, it
    /// says that the tool is absent. A tool that is asked for its version while `stop` is set counts as one that did not
    /// tell it: so after an error, look at `stop` before you call the tool missing. `log` gets what tools print.
    pub fn find(&mut self, need: &Need, log: &Path, stop: &AtomicBool) -> Result<(), MissingTool> {
        let mut newest: Option<(Vec<u64>, PathBuf)> = None;
        let mut silent = None;
        for folder in self.folders(&need.tool) {
            let way = self.way.through(&folder, &need.tool);
            let version = match &need.at_least {
                None => None,
                Some(wanted) => match self.versions.version(&need.tool, &way, log, stop) {
                    Ok(version) if is_older(&version, wanted) => {
                        if newest.as_ref().is_none_or(|(newest, _)| is_older(newest, &version)) {
                            newest = Some((version, folder));
                        }
                        continue;
                    }
                    Ok(version) => Some(dotted(&version)),
                    Err(why) => {
                        let (file, error) = (folder.join(&need.tool), Box::new(why));
                        silent.get_or_insert(MissingTool::Silent { need: need.to_string(), file, error });
                        continue;
                    }
                },
            };
            self.way = way;
            self.found.push((need.tool.clone(), version));
            return Ok(());
        }
        let need = need.to_string();
        Err(match newest {
            Some((version, folder)) => MissingTool::Old { need, found: dotted(&version), folder },
            None => silent.unwrap_or(MissingTool::Absent { need }),
        })
    }

    /// The folders that have this tool, in the order in which they are tried. One file counts once, whatever links
    /// lead to it.
    fn folders(&self, tool: &str) -> Vec<PathBuf> {
        let mut jvms = entries_of(&self.jvms);
        jvms.sort();
        jvms.sort_by_cached_key(|home| Reverse(java_version(home)));
        let mut postgresqls = entries_of(&self.postgresqls);
        postgresqls.sort_by_cached_key(|home| Reverse(of_folder(home)));
        let homes = self.way.java_home.iter().chain(&jvms).chain(&postgresqls).map(|home| home.join("bin"));
        let mut seen = HashSet::new();
        self.way
            .path
            .iter()
            .cloned()
            .chain(homes)
            .chain(self.npm.iter().cloned())
            // One that is not absolute is another folder to commands that run elsewhere.
            .filter(|folder| folder.is_absolute() && runs(&folder.join(tool)))
            .filter(|folder| seen.insert(folder.join(tool).canonicalize().ok()))
            .collect()
    }
}

impl Versions {
    /// Forgets all versions, since an installation may have changed them.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    fn version(&self, tool: &str, way: &Way, log: &Path, stop: &AtomicBool) -> Result<Vec<u64>, Error> {
        let asked = (tool.to_owned(), way.env()?);
        let said = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(version) = said().get(&asked) {
            return Ok(version.clone());
        }
        let version = way.ask(tool, log, stop)?;
        said().insert(asked, version.clone());
        Ok(version)
    }
}

impl Way {
    /// The way that leads to the tool in this folder.
    fn through(&self, folder: &Path, tool: &str) -> Way {
        let mut way = self.clone();
        let first = self.path.iter().find(|folder| runs(&folder.join(tool)));
        if first.is_none_or(|first| first != folder) {
            way.path.insert(0, folder.to_owned());
        }
        if let Some(home) = jdk_home(&folder.join(tool)) {
            way.java_home = Some(home);
        }
        way
    }

    /// The variables that differ from our own environment. An error if one is not UTF-8, or PATH cannot be put
    /// together.
    fn env(&self) -> Result<Vec<(String, String)>, Error> {
        let path = std::env::join_paths(&self.path).map_err(Error::step("PATH cannot be set"))?;
        let java_home = self.java_home.clone().unwrap_or_default().into_os_string();
        LEADS_TO_TOOLS
            .into_iter()
            .zip([path, java_home])
            .filter(|(name, value)| std::env::var_os(name).unwrap_or_default() != *value)
            .map(|(name, value)| match value.into_string() {
                Ok(value) => Ok((name.to_owned(), value)),
                Err(value) => Err(Error::NotUtf8 { name, value: value.into() }),
            })
            .collect()
    }

    /// Asks the tool that commands find on this way for its version. An error if it cannot be run, does not end
    /// within 30 s, or prints none.
    fn ask(&self, tool: &str, log: &Path, stop: &AtomicBool) -> Result<Vec<u64>, Error> {
        let argument = match tool {
            "go" => "version",
            "java" | "javac" => "-version",
            _ => "--version",
        };
        let command = format!("{tool} {argument} 2>&1");
        let env = self.env()?;
        let spawn = Spawn {
            command: &command,
            dir: Path::new("."),
            env: &env,
            keeps: None,
            cores: &[],
            log,
            group: None,
        };
        let said = run(&spawn, ASK_LIMIT, stop).map_err(Error::step("fails"))?;
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        version_said(tool, &said).ok_or_else(|| Fault::new("does not say its version").into())
    }
}

/// The home of the JDK or JRE that a file belongs to. None if it belongs to none.
fn jdk_home(file: &Path) -> Option<PathBuf> {
    let home = file.canonicalize().ok()?.parent()?.parent()?.to_owned();
    (home.join("release").is_file() && runs(&home.join("bin/java"))).then_some(home)
}

/// The version that a folder is named after. None if its name is no version.
fn of_folder(home: &Path) -> Option<Vec<u64>> {
    parse_version(home.file_name()?.to_str()?)
}

/// The version of the Java in this folder, from its file `release`. None if that cannot be read, or has no version of
/// numbers and dots.
fn java_version(home: &Path) -> Option<Vec<u64>> {
    let release = std::fs::read_to_string(home.join("release")).ok()?;
    let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?;
    parse_version(version.trim_matches('"'))
}

fn is_shim(file: &Path) -> bool {
    // A script that is a tool itself (mvn, elixir) is longer.
    const LONGEST: u64 = 1024;
    let is_short = || file.metadata().is_ok_and(|found| found.len() <= LONGEST);
    let first_line = || {
        let text = std::fs::read(file).unwrap_or_default();
        String::from_utf8_lossy(text.split(|byte| *byte == b'\n').next().unwrap_or_default()).into_owned()
    };
    is_short()
        && Some(first_line()).is_some_and(|line| line.starts_with("#!") && line.trim_end().ends_with("sh"))
}

/// True if the path is a file that somebody may execute.
pub(super) fn runs(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.metadata().is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;
    use crate::contender::{Builds, Contender};
    use crate::error::chain;

    /// A made-up machine with two folders on PATH, `first` and `second`.
    struct Machine {
        root: tempfile::TempDir,
        tools: Tools,
    }

    fn machine() -> Machine {
        let root = tempfile::tempdir().unwrap();
        let path = ["first", "second"].map(|folder| root.path().join(folder)).to_vec();
        let way = Way { path, java_home: None };
        let tools = Tools {
            way,
            versions: Versions::default(),
            jvms: root.path().join("jvm"),
            postgresqls: root.path().join("postgresql"),
            npm: vec![root.path().join("npm")],
            found: Vec::new(),
        };
        Machine { root, tools }
    }

    impl Machine {
        fn add(&self, file: &str, says: &str) {
            let file = self.root.path().join(file);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            let (text, log) = (file.with_extension("sh"), file.with_extension("log"));
            std::fs::write(&text, format!("#!/bin/sh\necho '{says}'\n")).unwrap();
            // Copied by another process: a child that another test is just starting has open what we write, and what is
            // open to be written cannot be executed.
            let copy = format!("install -m 755 '{}' '{}'", text.display(), file.display());
            let spawn = Spawn {
                command: &copy,
                dir: self.root.path(),
                env: &[],
                keeps: None,
                cores: &[],
                log: &log,
                group: None,
            };
            assert!(run(&spawn, Duration::from_secs(60), &AtomicBool::new(false)).unwrap().status.success());
        }

        fn add_jdk(&self, home: &str, version: &str) {
            self.add(&format!("{home}/bin/java"), &format!("openjdk version \"{version}\""));
            self.add(&format!("{home}/bin/javac"), &format!("javac {version}"));
            let release = self.root.path().join(home).join("release");
            std::fs::write(release, format!("JAVA_VERSION=\"{version}\"\n")).unwrap();
        }

        /// Finds a tool. Returns its version, the folders that were put before PATH, and JAVA_HOME, all relative to
        /// the root.
        fn find(&mut self, need: &str) -> Result<(Option<String>, String, String), String> {
            let log = tempfile::NamedTempFile::new().unwrap();
            let root = format!("{}/", self.root.path().display());
            self.tools
                .find(&need.parse().unwrap(), log.path(), &AtomicBool::new(false))
                .map_err(|why| chain(&why).replace(&root, ""))?;
            let env = self.tools.env().unwrap();
            let get = |name| env.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value.as_str());
            let path = get("PATH").replace(&root, "");
            let front = path.strip_suffix("first:second").unwrap().to_owned();
            let home = self.tools.way.java_home.as_ref().map(|home| home.display().to_string());
            let (_, version) = self.tools.found.last().unwrap().clone();
            Ok((version, front, home.unwrap_or_default().replace(&root, "")))
        }
    }

    fn found(version: &str, front: &str, home: &str) -> Result<(Option<String>, String, String), String> {
        Ok((Some(version.into()), front.into(), home.into()))
    }

    #[test]
    fn the_first_on_path_wins_if_it_will_do() {
        let mut machine = machine();
        machine.add("first/x", "x 1.2");
        machine.add("second/x", "x 3.4");
        assert_eq!(machine.find("x >= 1"), found("1.2", "", ""));
        assert_eq!(machine.find("x"), Ok((None, "".into(), "".into())));
        assert_eq!(machine.find("x >= 2"), found("3.4", "second:", ""));
        assert_eq!(machine.find("x >= 4"), Err("x >= 4, found 3.4 in second".into()));
        assert_eq!(machine.find("y >= 4"), Err("y >= 4, which is not on PATH".into()));
    }

    #[test]
    fn what_npm_brought_comes_last() {
        let mut machine = machine();
        machine.add("first/x", "x 1.2");
        machine.add("npm/x", "x 3.4");
        assert_eq!(machine.find("x >= 1"), found("1.2", "", ""));
        assert_eq!(machine.find("x >= 2"), found("3.4", "npm:", ""));
    }

    #[test]
    fn one_that_says_no_version_is_passed_over() {
        let mut machine = machine();
        machine.add("first/x", "no version is set for x");
        assert_eq!(machine.find("x >= 1"), Err("x >= 1, and first/x does not say its version".into()));
        machine.add("second/x", "x 3.4");
        assert_eq!(machine.find("x >= 1"), found("3.4", "second:", ""));
    }

    #[test]
    fn a_java_is_looked_for_where_the_system_keeps_several_the_newest_first() {
        let mut machine = machine();
        for (home, version) in [("jvm/a", "21.0.9"), ("jvm/b", "21.0.10"), ("jvm/c", "17.0.15")] {
            machine.add_jdk(home, version);
        }
        assert_eq!(machine.find("java >= 25"), Err("java >= 25, found 21.0.10 in jvm/b/bin".into()));
        assert_eq!(machine.find("java >= 21"), found("21.0.10", "jvm/b/bin:", "jvm/b"));
        // The search for the second need starts from the tools that the first one found.
        assert_eq!(machine.find("javac >= 17"), found("21.0.10", "jvm/b/bin:", "jvm/b"));
    }

    #[test]
    fn java_home_comes_before_what_the_system_keeps_and_after_path() {
        let mut machine = machine();
        machine.add_jdk("jvm/a", "25");
        machine.add_jdk("mine", "22.0.1");
        machine.tools.way.java_home = Some(machine.root.path().join("mine"));
        assert_eq!(machine.find("java >= 21"), found("22.0.1", "mine/bin:", "mine"));
        assert_eq!(machine.find("java >= 25"), found("25", "jvm/a/bin:mine/bin:", "jvm/a"));
    }

    #[test]
    fn a_link_on_path_leads_to_the_home_and_is_not_asked_twice() {
        let mut machine = machine();
        machine.add_jdk("jvm/a", "17.0.15");
        std::fs::create_dir(machine.root.path().join("first")).unwrap();
        symlink(machine.root.path().join("jvm/a/bin/java"), machine.root.path().join("first/java")).unwrap();
        symlink("a", machine.root.path().join("jvm/default")).unwrap();
        assert_eq!(machine.tools.folders("java"), [machine.root.path().join("first")]);
        assert_eq!(machine.find("java >= 17"), found("17.0.15", "", "jvm/a"));
        assert_eq!(machine.find("java >= 21"), Err("java >= 21, found 17.0.15 in first".into()));
    }

    #[test]
    fn build_and_version_get_what_was_found() {
        let mut machine = machine();
        machine.add("first/x", "x 1.2");
        machine.add("second/x", "x 3.4");
        machine.find("x >= 2").unwrap().0.unwrap();
        let folder = machine.root.path().join("contender");
        std::fs::create_dir(&folder).unwrap();
        let contender = Contender {
            folder,
            needs: Vec::new(),
            install: Default::default(),
            deps: None,
            build: Some("x > built".to_owned()),
            uses: Vec::new(),
            version: "read -r built < built; echo \"$built, $(x)\"".to_owned(),
            variants: Vec::new(),
        };
        let stop = AtomicBool::new(false);
        let builds = Builds::below(machine.root.path());
        let receipt = builds.receipt(&contender, &machine.tools, false, &stop, &mut |_| {});
        assert_eq!(receipt.unwrap().version, "x 3.4, x 3.4");
    }

    #[test]
    fn a_short_script_of_the_shell_is_a_shim_and_a_program_or_a_tool_that_is_a_script_is_none() {
        let mut machine = machine();
        machine.add("first/python3", "Python 3.11.2");
        machine.find("python3 >= 3.9").unwrap();
        let file = machine.root.path().join("first/python3");
        assert_eq!(machine.tools.shims(), [("python3", file.clone())]);
        for (text, expected) in [
            ("#!/usr/bin/env bash\nexec pyenv exec python3\n".to_owned(), true),
            ("#!/usr/bin/env python3\n".to_owned(), false),
            ("\u{7f}ELF".to_owned(), false),
            (format!("#!/bin/sh\n{}", "# a tool\n".repeat(200)), false),
        ] {
            std::fs::write(machine.root.path().join("text"), &text).unwrap();
            assert_eq!(is_shim(&machine.root.path().join("text")), expected, "{text}");
        }
    }

    #[test]
    fn a_tool_is_asked_once() {
        let mut machine = machine();
        machine.add("first/x", "x 1.2");
        assert_eq!(machine.find("x >= 1"), found("1.2", "", ""));
        machine.add("first/x", "x 3.4");
        assert_eq!(machine.find("x >= 1"), found("1.2", "", ""));
        machine.tools.versions = Versions::default();
        assert_eq!(machine.find("x >= 1"), found("3.4", "", ""));
    }
}
