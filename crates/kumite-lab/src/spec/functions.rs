//! The file `functions.toml`, which says what `kumite function serve` serves.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kumite_function::{Billing, Cpu, Function, Routing, unfit_variable};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::toml_source::{SpecError, TomlSource};

/// functions.toml: functions that `kumite function serve` serves. Defaults are those of AWS.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Functions")]
pub(crate) struct FunctionsFile {
    /// The functions, by name.
    #[serde(default)]
    functions: BTreeMap<String, OneFunction>,
}

/// A function and the rules it runs under.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(rename = "Function")]
struct OneFunction {
    /// The command that starts an instance, a runtime client; goes through `sh -c`.
    command: String,
    /// The folder in which the command runs, relative to the folder of this file; that folder if it is not given.
    dir: Option<PathBuf>,
    /// The name that the runtime client is to call (`_HANDLER`); the function's name if it is not given.
    handler: Option<String>,
    /// The environment variables of the instances. Names that AWS reserves, such as `AWS_REGION`, are refused.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The memory of an instance, in MB; 128 if it is not given.
    #[schemars(range(min = 128, max = 10240))]
    memory_mb: Option<u32>,
    /// The CPU share: that of the memory (1,769 MB are one core), or no limit; `by-memory` if it is not given.
    cpu: Option<CpuFile>,
    /// The longest time of a call, in seconds; 3 if it is not given.
    #[schemars(range(min = 0.1, max = 900))]
    timeout_s: Option<f64>,
    /// The longest time of the init phase, in seconds; 10 if it is not given.
    #[schemars(range(min = 0.1, max = 900))]
    init_limit_s: Option<f64>,
    /// The largest number of instances at a time; 10 if it is not given. A call that finds all of them busy is
    /// refused.
    #[schemars(range(min = 1, max = 1000))]
    max_instances: Option<u32>,
    /// The choice among instances for a call: a warm one first, or any by chance; `warm-first` if it is not given.
    routing: Option<RoutingFile>,
    /// The rule for the billed time in REPORT lines; `2025` if it is not given.
    billing: Option<BillingFile>,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum CpuFile {
    /// A whole core in the init phase, and the share of the memory in the invoke phase.
    ByMemory,
    /// All CPU time that the machine has.
    Unlimited,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum RoutingFile {
    /// An instance that is warm and free, if there is one.
    WarmFirst,
    /// Any instance that is free, by chance.
    Spread,
}

#[derive(Clone, Copy, Deserialize, JsonSchema)]
enum BillingFile {
    /// The invoke phase in steps of 100 ms.
    #[serde(rename = "2016")]
    Y2016,
    /// The init phase and the invoke phase in steps of 1 ms.
    #[serde(rename = "2025")]
    Y2025,
}

/// Reads functions.toml. `seed` determines the choices of the routing `spread`. An error if the file cannot be read,
/// declares no function, or has a wrong value; the last two have their place in the file.
pub fn read_functions(file: &Path, seed: u64) -> Result<Vec<Function>, SpecError> {
    let source = TomlSource::read(file)?;
    let parsed: FunctionsFile = source.parse()?;
    if parsed.functions.is_empty() {
        return Err(source.error(0, "no [functions.NAME]: there is nothing to serve"));
    }
    let folder = file.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    let function = |(name, one): (String, OneFunction)| {
        let at = |key: &str, what: String| source.error_at(&["functions", &name, key], what);
        let is_name = (1..=64).contains(&name.len())
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
        if !is_name {
            let what = format!("'{name}' is not a function's name: letters, digits, - and _, at most 64");
            return Err(source.error_at(&["functions", &name], what));
        }
        let dir = folder.join(one.dir.unwrap_or_default());
        if !dir.is_dir() {
            return Err(at("dir", format!("no such folder: {}", dir.display())));
        }
        let unfit: Vec<_> =
            one.env.keys().filter_map(|name| Some((name.as_str(), unfit_variable(name)?))).collect();
        if let Some((first, why)) = unfit.first() {
            let alike = unfit.iter().filter(|(_, other)| other == why).map(|(name, _)| format!("`{name}`"));
            let what = format!("env: {}: {why}", alike.collect::<Vec<_>>().join(", "));
            return Err(source.error_at(&["functions", &name, "env", first], what));
        }
        let within = |key: &str, value: f64, low: f64, high: f64| {
            if (low..=high).contains(&value) {
                return Ok(value);
            }
            Err(at(key, format!("{key} is a number from {low} to {high}, not {value}")))
        };
        let memory_mb = within("memory_mb", f64::from(one.memory_mb.unwrap_or(128)), 128.0, 10_240.0)?;
        let instances = within("max_instances", f64::from(one.max_instances.unwrap_or(10)), 1.0, 1000.0)?;
        let seconds = |key: &str, value: Option<f64>, default: f64| {
            within(key, value.unwrap_or(default), 0.1, 900.0).map(Duration::from_secs_f64)
        };
        Ok(Function {
            command: one.command,
            dir,
            env: one.env.into_iter().collect(),
            handler: one.handler.unwrap_or_else(|| name.clone()),
            memory_mb: memory_mb as u32,
            cpu: match one.cpu.unwrap_or(CpuFile::ByMemory) {
                CpuFile::ByMemory => Cpu::ByMemory,
                CpuFile::Unlimited => Cpu::Unlimited,
            },
            timeout: seconds("timeout_s", one.timeout_s, 3.0)?,
            init_limit: seconds("init_limit_s", one.init_limit_s, 10.0)?,
            max_instances: instances as u32,
            routing: match one.routing.unwrap_or(RoutingFile::WarmFirst) {
                RoutingFile::WarmFirst => Routing::WarmFirst,
                RoutingFile::Spread => Routing::Spread(seed),
            },
            billing: match one.billing.unwrap_or(BillingFile::Y2025) {
                BillingFile::Y2016 => Billing::Y2016,
                BillingFile::Y2025 => Billing::Y2025,
            },
            cores: Vec::new(),
            name,
        })
    };
    parsed.functions.into_iter().map(function).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Vec<Function>, SpecError> {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("functions.toml");
        std::fs::write(&file, text).unwrap();
        read_functions(&file, 7)
    }

    #[test]
    fn what_is_not_given_is_as_on_aws() {
        let [function] = read("[functions.hello]\ncommand = './bootstrap'").unwrap().try_into().unwrap();
        assert_eq!((function.name.as_str(), function.handler.as_str()), ("hello", "hello"));
        assert_eq!((function.memory_mb, function.max_instances), (128, 10));
        assert_eq!(
            (function.timeout, function.init_limit),
            (Duration::from_secs(3), Duration::from_secs(10))
        );
        assert_eq!((function.cpu, function.routing), (Cpu::ByMemory, Routing::WarmFirst));
        assert_eq!(function.billing, Billing::Y2025);
    }

    #[test]
    fn all_can_be_set() {
        let text = "[functions.x]\ncommand = 'x'\nmemory_mb = 192\ncpu = 'unlimited'\ntimeout_s = 0.5\nrouting = 'spread'\nbilling = '2016'\nhandler = 'a.b'\nenv = { A = 'b' }";
        let [function] = read(text).unwrap().try_into().unwrap();
        assert_eq!((function.routing, function.billing), (Routing::Spread(7), Billing::Y2016));
        assert_eq!((function.cpu, function.timeout), (Cpu::Unlimited, Duration::from_millis(500)));
        assert_eq!(function.env, [("A".to_owned(), "b".to_owned())]);
    }

    #[test]
    fn what_is_wrong_has_a_place() {
        let cases = [
            ("", "functions.toml:1:1: no [functions.NAME]"),
            ("[functions.x]\n", "functions.toml:1:1: missing key `command`"),
            ("[functions.x]\ncommand = 'x'\nmemory = 1", "functions.toml:3:1: unknown key `memory`"),
            (
                "[functions.x]\ncommand = 'x'\nmemory_mb = 64",
                "functions.toml:3:1: memory_mb is a number from 128 to 10240, not 64",
            ),
            ("[functions.x]\ncommand = 'x'\ndir = 'gone'", "functions.toml:3:1: no such folder: "),
            ("[functions.x]\ncommand = 'x'\ncpu = 'half'", "functions.toml:3:7: unknown variant `half`"),
            (
                "[functions.x]\ncommand = 'x'\nenv = { A = 'b', AWS_REGION = 'b', _HANDLER = 'h' }",
                "functions.toml:3:18: env: `AWS_REGION`, `_HANDLER`: reserved for the host, as on Lambda: leave it out",
            ),
            (
                "[functions.x]\ncommand = 'x'\n[functions.x.env]\nA = 'b'\nAWS_SESSION_TOKEN = 't'",
                "functions.toml:5:1: env: `AWS_SESSION_TOKEN`: reserved",
            ),
            (
                "[functions.x]\ncommand = 'x'\nenv = { 'A=B' = 'b' }",
                "env: `A=B`: no name that a variable can have",
            ),
            ("[functions.'a b']\ncommand = 'x'", "functions.toml:1:12: 'a b' is not a function's name"),
        ];
        for (text, expected) in cases {
            let found = read(text).unwrap_err().to_string();
            assert!(found.contains(expected), "{found}");
        }
    }
}
