//! Builds, skipped when nothing they depend on has changed.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, run};

use crate::contender::Contender;
use crate::needs::{Tools, ended, last_lines};

const BUILD_LIMIT: Duration = Duration::from_secs(30 * 60);
const VERSION_LIMIT: Duration = Duration::from_secs(60);

/// Where builds of a contender are remembered and logged: below the folder of the store.
pub(crate) struct Builds {
    folder: PathBuf,
}

impl Builds {
    pub fn open(state: &Path) -> Result<Builds, String> {
        let folder = state.join("builds");
        std::fs::create_dir_all(&folder)
            .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        Ok(Builds { folder })
    }

    /// A file of this contender; two contenders of one name in different places do not share it.
    pub fn file(&self, contender: &Contender, ending: &str) -> PathBuf {
        let full = contender.folder.canonicalize().unwrap_or_else(|_| contender.folder.clone());
        let name = full.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let place = blake3::hash(full.to_string_lossy().as_bytes()).to_hex();
        self.folder.join(format!("{name}-{}.{ending}", &place[..8]))
    }

    /// The log of what belongs to no contender.
    pub fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    /// Builds the contender unless it is built, and returns what its version command prints, the receipt, and a digest of
    /// what it is built from.
    pub fn receipt(
        &self,
        contender: &Contender,
        tools: &Tools,
        stop: &AtomicBool,
        building: &mut dyn FnMut(),
    ) -> Result<(String, String), String> {
        let stamp = self.file(contender, "stamp");
        let env = tools.env()?;
        let content = content(contender, tools).map_err(|error| format!("cannot read its files: {error}"))?;
        let is_current = std::fs::read_to_string(&stamp).is_ok_and(|found| found == content);
        if is_current && let Ok(version) = self.version(contender, &env, stop) {
            return Ok((version, content));
        }
        if let Some(command) = &contender.build {
            building();
            // A build that is broken off must not pass for one that was finished before.
            let _ = std::fs::remove_file(&stamp);
            self.command("build", command, contender, &env, BUILD_LIMIT, stop)?;
        }
        let version = self.version(contender, &env, stop)?;
        std::fs::write(&stamp, &content)
            .map_err(|error| format!("cannot write {}: {error}", stamp.display()))?;
        Ok((version, content))
    }

    fn version(
        &self,
        contender: &Contender,
        env: &[(String, String)],
        stop: &AtomicBool,
    ) -> Result<String, String> {
        let said = self.command("version", &contender.version, contender, env, VERSION_LIMIT, stop)?;
        let text = String::from_utf8_lossy(&said);
        let line = text.lines().map(str::trim).find(|line| !line.is_empty());
        line.map(str::to_owned)
            .ok_or_else(|| format!("its version command `{}` printed nothing", contender.version))
    }

    fn command(
        &self,
        what: &str,
        command: &str,
        contender: &Contender,
        env: &[(String, String)],
        limit: Duration,
        stop: &AtomicBool,
    ) -> Result<Vec<u8>, String> {
        let log = self.file(contender, &format!("{what}.log"));
        let spawn = Spawn { command, dir: &contender.folder, env, cores: &[], log: &log, group: None };
        let finished = run(&spawn, limit, stop).map_err(|error| format!("its {what} command: {error}"))?;
        if finished.status.success() {
            return Ok(finished.stdout);
        }
        let how = ended(finished.status);
        Err(format!("its {what} command `{command}` {how}: {} (log: {})", last_lines(&log), log.display()))
    }
}

/// A digest of all that a build depends on: the files that are not ignored by git, the command, and the tools.
fn content(contender: &Contender, tools: &Tools) -> Result<String, String> {
    let mut files: Vec<PathBuf> = Vec::new();
    let used = contender.uses.iter().map(|used| contender.folder.join(used));
    for folder in std::iter::once(contender.folder.clone()).chain(used) {
        for entry in ignore::WalkBuilder::new(folder).hidden(false).require_git(false).build() {
            let entry = entry.map_err(|error| error.to_string())?;
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                files.push(entry.into_path());
            }
        }
    }
    files.sort();
    let mut hasher = blake3::Hasher::new();
    let mut add = |bytes: &[u8]| {
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
    };
    for file in files {
        add(file.strip_prefix(&contender.folder).unwrap_or(&file).as_os_str().as_encoded_bytes());
        add(&std::fs::read(&file).map_err(|error| format!("{}: {error}", file.display()))?);
    }
    add(contender.build.as_deref().unwrap_or_default().as_bytes());
    for (tool, version) in &tools.found {
        add(tool.as_bytes());
        add(version.as_deref().unwrap_or_default().as_bytes());
    }
    Ok(hasher.finalize().to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Bench {
        folder: tempfile::TempDir,
        builds: Builds,
        contender: Contender,
    }

    fn bench(build: &str) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("fake");
        std::fs::create_dir(&home).unwrap();
        std::fs::create_dir(folder.path().join("kit")).unwrap();
        std::fs::write(home.join(".gitignore"), "/out\n/count\n").unwrap();
        std::fs::write(home.join("source"), "one").unwrap();
        let contender = Contender {
            folder: home,
            needs: Vec::new(),
            install: Default::default(),
            build: Some(build.to_owned()),
            uses: vec![PathBuf::from("../kit")],
            version: "cat out".to_owned(),
            variants: Vec::new(),
        };
        let builds = Builds::open(&folder.path().join("state")).unwrap();
        Bench { folder, builds, contender }
    }

    impl Bench {
        /// The version, and whether it was built.
        fn receipt(&self) -> (Result<String, String>, bool) {
            let mut built = false;
            let version =
                self.builds
                    .receipt(&self.contender, &Tools::new(), &AtomicBool::new(false), &mut || built = true);
            (version.map(|(version, _)| version), built)
        }
    }

    #[test]
    fn it_is_built_once_and_again_when_something_changed() {
        let bench = bench("cp source out; echo x >> count");
        assert_eq!(bench.receipt(), (Ok("one".into()), true));
        assert_eq!(bench.receipt(), (Ok("one".into()), false));
        std::fs::write(bench.contender.folder.join("source"), "two").unwrap();
        assert_eq!(bench.receipt(), (Ok("two".into()), true));
        // What the build made is gone, though nothing it was made from changed.
        std::fs::remove_file(bench.contender.folder.join("out")).unwrap();
        assert_eq!(bench.receipt(), (Ok("two".into()), true));
        assert_eq!(bench.receipt(), (Ok("two".into()), false));
        std::fs::write(bench.folder.path().join("kit/part"), "x").unwrap();
        assert_eq!(bench.receipt(), (Ok("two".into()), true), "what it uses has changed");
        let count = std::fs::read_to_string(bench.contender.folder.join("count")).unwrap();
        assert_eq!(count.lines().count(), 4);
        assert!(bench.folder.path().join("state/builds").is_dir());
    }

    #[test]
    fn a_failed_build_says_how_and_is_tried_again() {
        let bench = bench("echo no such thing >&2; exit 3");
        for _ in 0..2 {
            let (failed, built) = bench.receipt();
            let failed = failed.unwrap_err();
            assert!(built);
            assert!(failed.contains("its build command"), "{failed}");
            assert!(failed.contains("ended with status 3: no such thing (log: "), "{failed}");
        }
    }
}
