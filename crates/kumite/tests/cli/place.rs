//! A folder of its own for each test, with an experiment and fake contenders in it.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use kumite_testing::process::output;
use kumite_testing::{build_example, example};
use serde_json::Value;

/// Forty requests to a server, at one point. They come at a rate, and each waits as long as it takes: so their number is
/// the same on every machine, and little CPU time is used.
pub const EXPERIMENT: &str = r#"
question = "Which fake is faster?"
kind = "http"
blocks = 6
[workload]
method = "POST"
body = "ping"
rate_rps = 200
duration_s = 0.2
warm_up_s = 0
connections = 40
timeout_ms = 20000
[answer]
status = 200
equals = "pong"
"#;

pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    /// An experiment called `fake` with this text behind [`EXPERIMENT`], and a contender for each name and mode.
    pub fn new(more: &str, contenders: &[(&str, &str)]) -> Place {
        let place = Place { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(place.path(".kumite")).unwrap();
        place.write("experiments/fake/experiment.toml", &format!("{EXPERIMENT}{more}"));
        for (name, mode) in contenders {
            place.contender(name, mode, "");
        }
        place
    }

    pub fn contender(&self, name: &str, mode: &str, more: &str) {
        // The mark in its command finds its processes again.
        let run = format!("exec {} {mode} {}", fake().display(), self.mark());
        let text = format!(
            "version = 'echo fake 1.0'\n{more}\n[[variant]]\nname = '{name}'\nmodel = 'threads'\nrun = '{run}'\n"
        );
        self.write(&format!("experiments/fake/contenders/{name}/contender.toml"), &text);
    }

    pub fn write(&self, file: &str, text: &str) {
        let file = self.path(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    pub fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.path(file)).unwrap()
    }

    pub fn path(&self, file: &str) -> PathBuf {
        self.folder.path().join(file)
    }

    /// The results store, and all that is beside it.
    pub fn kept(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.path(".kumite")).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    }

    pub fn mark(&self) -> String {
        self.folder.path().file_name().unwrap().to_string_lossy().into_owned()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        self.begun_here(Command::new(env!("CARGO_BIN_EXE_kumite")), arguments)
    }

    /// With a cache of its own, too.
    fn begun_here(&self, mut program: Command, arguments: &[&str]) -> Command {
        program.args(arguments).current_dir(self.folder.path()).env_remove("NO_COLOR").env_remove("COLUMNS");
        program.env("XDG_CACHE_HOME", self.path("cache")).env("XDG_DATA_HOME", self.path("data"));
        program.env("KUMITE_LOCK", self.path("measuring.lock")).env_remove("KUMITE_EXPERIMENTS");
        program.env_remove("GITHUB_STEP_SUMMARY");
        program
    }

    pub fn kumite(&self, arguments: &[&str]) -> Said {
        Said::after(arguments, self.command(arguments).output().unwrap())
    }

    /// kumite whose trials are what `script.toml` says; nothing is started for them.
    pub fn scripted_command(&self, arguments: &[&str]) -> Command {
        self.begun_here(Command::new(scripted_kumite()), arguments)
    }

    pub fn scripted(&self, arguments: &[&str]) -> Said {
        Said::after(arguments, self.scripted_command(arguments).output().unwrap())
    }

    /// Trials that have begun, of all runs that start their contenders.
    pub fn begun(&self) -> usize {
        let folders = std::fs::read_dir(self.path(".kumite/logs")).into_iter().flatten().flatten();
        folders.flat_map(|run| std::fs::read_dir(run.path()).into_iter().flatten()).count()
    }

    /// Processes that still run below this test's folder: contenders, builds, and what they started.
    pub fn left(&self) -> Vec<String> {
        let folder = self.folder.path().canonicalize().unwrap();
        let here = std::fs::read_dir("/proc").unwrap().flatten().filter(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(&folder))
        });
        let command_line = |entry: std::fs::DirEntry| {
            String::from_utf8_lossy(&std::fs::read(entry.path().join("cmdline")).unwrap_or_default())
                .into_owned()
        };
        here.map(command_line).collect()
    }
}

/// A command that has ended, and all that it said.
pub struct Said {
    /// Its arguments, where a test has not made the command by itself.
    pub line: Option<String>,
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Said {
    pub fn after(arguments: &[&str], output: Output) -> Said {
        Said { line: Some(shlex::try_join(arguments.iter().copied()).unwrap()), ..Said::of(output) }
    }

    pub fn of(output: Output) -> Said {
        Said {
            line: None,
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }

    #[track_caller]
    pub fn ended(self, code: i32) -> Said {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}", self.out))
    }
}

/// Where nobody listens, nor can as long as it is held: it is a client's.
pub fn nobody() -> (SocketAddr, impl Sized) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (client.local_addr().unwrap(), (listener, client))
}

pub fn fake() -> PathBuf {
    example("fake_contender")
}

/// The trials of an export that count: a busy machine may void a block, which is then measured again.
pub fn standing(export: &Value) -> Vec<&Value> {
    let trials = export["trials"].as_array().unwrap();
    let block = |trial: &Value| ["block", "point", "node"].map(|key| trial[key].clone());
    let is_replaced = |trial: &Value| {
        let is_later = |other: &&Value| other["attempt"].as_u64() > trial["attempt"].as_u64();
        trials.iter().filter(is_later).any(|other| block(other) == block(trial))
    };
    trials.iter().filter(|trial| trial["void"].is_null() && !is_replaced(trial)).collect()
}

/// The trial of a contender that counts: the first, where there are several blocks.
#[track_caller]
pub fn trial<'a>(export: &'a Value, name: &str) -> &'a Value {
    let mut trials = standing(export).into_iter();
    trials.find(|trial| trial["contender"] == name).unwrap_or_else(|| panic!("no trial of {name}"))
}

/// The scripted kumite, of the version that the command has: after a commit `cargo test --test cli` makes the command anew, and
/// no example.
fn scripted_kumite() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let version = |program: &Path| output(Command::new(program).arg("--version")).unwrap().stdout;
        let (kumite, scripted) = (Path::new(env!("CARGO_BIN_EXE_kumite")), example("scripted_kumite"));
        if version(&scripted) != version(kumite) {
            build_example("scripted_kumite", kumite.parent().unwrap());
        }
        assert_eq!(
            version(&scripted),
            version(kumite),
            "`cargo build --examples` makes {}",
            scripted.display()
        );
        scripted
    })
}
