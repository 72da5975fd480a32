//! Any program as a service. Its keys say how it is started, and when it is ready.

use std::collections::BTreeMap;
use std::net::SocketAddrV4;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use kumite_process::{Spawn, run};
use schemars::JsonSchema;
use serde::Deserialize;

use super::process::{GRACE, Process};
use super::ready::{Ready, Watch};
use super::registration::{Given, Registration, schema_of};
use super::user::User;
use super::{Counts, Service, Serving, StartOrder, Variables, variable};
use crate::contender::Install;
use crate::contender::{Need, Tools};
use crate::error::{Error, Fault};
use crate::halt::Halt;
use crate::parameter::Parameters;
use crate::port::free_port;
use crate::toml_source::SpecError;
use crate::unfit::Unfit;
use kumite_process::{how_it_ended, last_lines};

/// The longest time that the command that stops the program may take.
const STOP_LIMIT: Duration = Duration::from_secs(10);

pub(super) static KIND: Registration = Registration {
    name: "command",
    schema: schema_of::<Command>,
    read: |given| {
        let mut command: Command = given.keys()?;
        command.check(given)?;
        command.name = given.name.to_owned();
        command.folder = given.folder.to_owned();
        Ok(Arc::new(command))
    },
};

/// Any program. Its commands go through `sh -c`, in the experiment's folder; they find its port as `$PORT`, and as
/// `$SCRATCH` an empty folder that is removed after the trial.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Command {
    /// The command that runs the program.
    run: String,
    /// The sign that contenders may be started: `{ tcp = true }`, `{ http = "/path" }` or `{ line = "text" }`.
    ready: Ready,
    /// The longest time until the program is ready, in seconds; 10 if it is not given.
    #[serde(default = "ten")]
    #[schemars(range(min = 0.1, max = 600))]
    ready_s: f64,
    /// The command that ends the program; SIGTERM if it is not given.
    stop: Option<String>,
    /// The variables for contenders, beside the program's address and port, each with the service's name before it:
    /// `$HOST`, `$PORT` and `$SCRATCH` are filled in.
    #[serde(default)]
    variables: BTreeMap<String, String>,
    /// Tools that the program needs: a command, or a command and its oldest version, as in `redis-server >= 6`.
    #[serde(default)]
    needs: Vec<String>,
    /// The packages that bring the tools.
    #[serde(default)]
    #[schemars(default)]
    install: Install,
    /// True for a program that refuses to be run by root: if kumite is root, the user `postgres` or `nobody` runs it.
    #[serde(default)]
    refuses_root: bool,
    /// The service's name in experiment.toml.
    #[serde(skip)]
    name: String,
    /// The folder of the experiment, in which the command runs.
    #[serde(skip)]
    folder: PathBuf,
}

fn ten() -> f64 {
    10.0
}

impl Command {
    fn check(&self, given: &Given) -> Result<(), SpecError> {
        if !(0.1..=600.0).contains(&self.ready_s) {
            return Err(given.wrong(&["ready_s"], format!("write 0.1 to 600 seconds, not {}", self.ready_s)));
        }
        for (name, value) in &self.variables {
            let wrong = |what: Unfit| given.wrong(&["variables", name], what.to_string());
            let is_name = name.starts_with(|c: char| c.is_ascii_uppercase())
                && name.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_');
            if !is_name {
                let what = format!("'{name}' is not a variable's name: use upper-case letters, digits and _");
                return Err(wrong(Unfit::new(what)));
            }
            if name == "HOST" || name == "PORT" {
                return Err(wrong(Unfit::new(format!("{name} is given anyway: leave it out"))));
            }
            filled(value, &BTreeMap::from(FILLED.map(|name| (name, String::new())))).map_err(wrong)?;
        }
        for (index, need) in self.needs.iter().enumerate() {
            need.parse::<Need>()
                .map_err(|what| given.wrong(&["needs", &index.to_string()], what.to_string()))?;
        }
        Ok(())
    }
}

/// The names that may be filled into a value.
const FILLED: [&str; 3] = ["HOST", "PORT", "SCRATCH"];

/// A value with the address and the folder filled in. An error for a `$name` that is not known.
fn filled(value: &str, known: &BTreeMap<&str, String>) -> Result<String, Unfit> {
    let mut parts = value.split('$');
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        match known.get(name) {
            Some(value) => filled.push_str(value),
            None if name.is_empty() => filled.push('$'),
            None => {
                return Err(Unfit::new(format!("there is no ${name} here: use $HOST, $PORT and $SCRATCH")));
            }
        }
        filled.push_str(rest);
    }
    Ok(filled)
}

struct RunningCommand {
    variables: Variables,
    /// Dropped before the process, so that the program is stopped by its own command first.
    stopping: Stopping,
    process: Process,
}

/// The command that stops the program, until it has been executed.
struct Stopping {
    /// The command. None if there is none, or once it has been executed.
    command: Option<String>,
    folder: PathBuf,
    env: Variables,
    log: PathBuf,
}

impl Stopping {
    /// Executes the command if that was not done before. True if it was executed now; an error if it failed, or took
    /// longer than [`STOP_LIMIT`].
    fn execute(&mut self) -> Result<bool, Error> {
        let Some(command) = self.command.take() else { return Ok(false) };
        let Stopping { folder: dir, env, log, .. } = self;
        let spawn = Spawn { command: &command, dir, env, keeps: None, cores: &[], log, group: None };
        let done = run(&spawn, STOP_LIMIT, &AtomicBool::new(false))
            .map_err(Error::step("was not stopped by its command"))?;
        if done.status.success() {
            return Ok(true);
        }
        let why = format!("{}; its log: {}", how_it_ended(done.status), last_lines(log));
        Err(Fault::new(format!("was not stopped by its command, which {why}")).into())
    }
}

impl Drop for Stopping {
    fn drop(&mut self) {
        // The trial is lost already, and the process is killed next.
        let _ = self.execute();
    }
}

impl Service for Command {
    fn needs(&self) -> Vec<String> {
        let setpriv = self.refuses_root.then(|| "setpriv".to_owned());
        self.needs.iter().cloned().chain(setpriv).collect()
    }

    fn install(&self) -> Install {
        self.install.clone()
    }

    fn version(&self, tools: &Tools) -> String {
        let said = |(tool, version): &(String, Option<String>)| Some(format!("{tool} {}", version.as_ref()?));
        let versions: Vec<String> = tools.found.iter().filter_map(said).collect();
        if versions.is_empty() { "unknown".to_owned() } else { versions.join(", ") }
    }

    fn start(&self, _: &Parameters, order: &StartOrder) -> Result<Box<dyn Serving>, Halt> {
        let address = SocketAddrV4::new(order.host, free_port(order.host)?);
        let (host, port) = (address.ip().to_string(), address.port().to_string());
        let mut variables = vec![("HOST".to_owned(), host), ("PORT".to_owned(), port)];
        let mut own = variables.clone();
        own.push(("SCRATCH".to_owned(), order.folder.display().to_string()));
        let known = own.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
        for (name, value) in &self.variables {
            variables.push((name.clone(), filled(value, &known)?));
        }
        let mut env = order.env.to_vec();
        env.extend(variables.iter().map(|(end, value)| (variable(&self.name, end), value.clone())));
        env.extend(own);
        let user = if self.refuses_root { User::instead_of_root()? } else { None };
        let mut command = self.run.clone();
        if let Some(user) = user {
            user.give(&order.folder)?;
            env.push(("RUN".to_owned(), command));
            command = format!("exec {}sh -c \"$RUN\"", user.prefix());
        }
        let process = Process::start(&command, &self.folder, &env, order)?;
        let stopping = Stopping {
            command: self.stop.clone(),
            folder: self.folder.clone(),
            env,
            log: order.log.with_extension("stop.log"),
        };
        let mut started = RunningCommand { variables, stopping, process };
        let mut watch = Watch::new(&self.ready, address, &order.log);
        let limit = Duration::from_secs_f64(self.ready_s);
        started.process.wait_ready(limit, order.stop, || watch.is_ready())?;
        Ok(Box::new(started))
    }
}

impl Serving for RunningCommand {
    fn variables(&self) -> Variables {
        self.variables.clone()
    }

    fn process(&mut self) -> Option<&mut Process> {
        Some(&mut self.process)
    }

    fn end(self: Box<Self>) -> Result<Counts, Error> {
        let RunningCommand { mut stopping, mut process, .. } = *self;
        process.runs("before the end")?;
        if stopping.execute()? {
            process.wait(GRACE)?;
        }
        process.stop();
        Ok(Counts::new())
    }
}

#[cfg(test)]
mod tests {
    use super::super::spec::read_service;
    use super::*;

    const KEYS: &str = "kind = 'command'\nrun = 'serve'\nready = { tcp = true }\n";

    #[test]
    fn a_variable_has_the_address_and_the_folder_filled_in() {
        let known = [("HOST", "a"), ("PORT", "10"), ("SCRATCH", "/b")];
        let known = known.map(|(name, value)| (name, value.to_owned())).into();
        assert_eq!(
            filled("redis://$HOST:$PORT/0?$SCRATCH/a&$ $", &known).unwrap(),
            "redis://a:10/0?/b/a&$ $"
        );
        let why = filled("$PORTS", &known).unwrap_err().to_string();
        assert_eq!(why, "there is no $PORTS here: use $HOST, $PORT and $SCRATCH");
    }

    #[test]
    fn a_key_that_makes_no_sense_is_refused_with_its_place() {
        let cases = [
            ("ready = { tcp = true }", "", "1:1: service 'backend' (command): missing key `ready`"),
            (
                "{ tcp = true }",
                "{ tcp = false }",
                "4:9: service 'backend' (command): write one of { tcp = true }",
            ),
            (
                "{ tcp = true }",
                "{ http = 'x' }",
                "4:9: service 'backend' (command): write a path from / on, not 'x'",
            ),
            ("{ tcp = true }", "{ line = '' }", "4:9: service 'backend' (command): write a text of one line"),
            ("{ tcp = true }", "{ udp = true }", "unknown key `udp` (known: `tcp`, `http`, `line`)"),
            (
                "{ tcp = true }",
                "{ tcp = true }\nready_s = 0",
                "5:1: service 'backend' (command): write 0.1 to 600",
            ),
            ("{ tcp = true }", "{ tcp = true }\nbody = 'x'", "unknown key `body` (known: `run`, `ready`"),
            (
                "{ tcp = true }",
                "{ tcp = true }\nneeds = ['a;b']",
                "5:10: service 'backend' (command): 'a;b' is not a need",
            ),
            (
                "{ tcp = true }",
                "{ tcp = true }\nvariables = { a = '' }",
                "5:15: service 'backend' (command): 'a' is not a",
            ),
            ("{ tcp = true }", "{ tcp = true }\nvariables = { PORT = '1' }", "PORT is given anyway"),
            ("{ tcp = true }", "{ tcp = true }\nvariables = { A = '$B' }", "there is no $B here"),
        ];
        read_service(KEYS).unwrap();
        for (from, to, expected) in cases {
            let found = read_service(&KEYS.replace(from, to)).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
